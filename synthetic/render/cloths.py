"""Paint printed and woven patterns of table tops: stripes, checks, flowers, damask, boards and letters."""

from __future__ import annotations

import math
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.render import noise
from synthetic.render.look_types import TableLook
from vision.arrays import Bgr, FloatImage, Image


def mix(base: Bgr, other: Bgr, share: FloatImage) -> Image:
    """Blend *base* and *other* by *share*, shape (H, W), from -0.5 to 1.5. Shares outside 0 to 1 extrapolate."""
    steps = np.linspace(-0.5, 1.5, 256)[:, None]
    colors = np.asarray(base) + steps * np.subtract(other, base)
    table = np.clip(np.round(colors), 0, 255).astype(np.uint8)[None]
    index = cv2.convertScaleAbs(share + np.float32(0.5), alpha=127.5)
    return cv2.LUT(cv2.merge([index, index, index]), table).astype(np.uint8, copy=False)


def stripes(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Image:
    """Paint stripes of three colours and uneven widths."""
    height, width = shape
    count = int(rng.integers(3, 9))
    edges = np.sort(rng.uniform(0, 1, count))
    colors = np.array([look.base_bgr, look.second_bgr, look.third_bgr], np.uint8)[rng.integers(0, 3, count + 1)]
    place = (np.arange(height) / max(6.0, look.pattern_mm * 2 * scale)) % 1.0
    line = colors[np.searchsorted(edges, place)]
    return cv2.resize(line[:, None], (width, height), interpolation=cv2.INTER_NEAREST).astype(np.uint8, copy=False)


def checks(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Image:
    """Paint gingham: two perpendicular sets of stripes."""
    height, width = shape
    period = max(6.0, look.pattern_mm * scale)
    share = rng.uniform(0.3, 0.7)
    rows = ((np.arange(height) / period) % 1 < share).astype(np.float32)[:, None]
    columns = ((np.arange(width) / period) % 1 < share).astype(np.float32)[None, :]
    return mix(look.base_bgr, look.second_bgr, (rows + columns) / 2)


def flowers(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Image:
    """Paint a small repeated motif of petals and stems."""
    height, width = shape
    period = int(max(16, look.pattern_mm * 1.5 * scale))
    motif = np.zeros((period, period, 3), np.uint8)
    motif[:] = look.base_bgr
    for _ in range(int(rng.integers(2, 6))):
        center = rng.uniform(0.15, 0.85, 2) * period
        size = rng.uniform(0.05, 0.13) * period
        bgr = look.second_bgr if rng.random() < 0.6 else look.third_bgr
        petals = int(rng.integers(1, 8))
        for petal in range(petals):
            angle = 2 * math.pi * petal / petals
            place = center + size * np.array([math.cos(angle), math.sin(angle)]) * (petals > 1)
            cv2.circle(motif, _pixel(place), max(1, round(size * 0.55)), bgr, -1, cv2.LINE_AA)
        if rng.random() < 0.5:
            end = center + rng.normal(0, 0.3 * period, 2)
            cv2.line(motif, _pixel(center), _pixel(end), bgr, max(1, round(size * 0.2)), cv2.LINE_AA)
    repeats = (height // period + 2, width // period + 2, 1)
    shift = rng.integers(0, period, 2)
    return np.tile(motif, repeats)[shift[0] : shift[0] + height, shift[1] : shift[1] + width].copy()


def board(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Image:
    """Paint a game board: a grid with square or 2:1 cells, often with stars, digits and words."""
    height, width = shape
    picture = np.empty((height, width, 3), np.uint8)
    picture[:] = look.base_bgr
    step = max(8.0, look.pattern_mm * scale)
    line = max(1, round(rng.uniform(0.3, 1.2) * scale))
    for place in np.arange(step / 2, width, step * float(rng.choice([1.0, 1.0, 2.0]))):
        cv2.line(picture, (round(place), 0), (round(place), height), look.second_bgr, line)
    for place in np.arange(step / 2, height, step):
        cv2.line(picture, (0, round(place)), (width, round(place)), look.second_bgr, line)
    for _ in range(int(rng.integers(8, 40)) if rng.random() < 0.6 else 0):
        center = (rng.integers(0, (int(width / step) + 1, int(height / step) + 1)) + 0.0) * step
        bgr = _any_color(rng, look)
        size = step * 0.42
        inner = size * rng.uniform(0.35, 0.6)
        angles = np.arange(8) * (math.pi / 4)
        radii = np.where(np.arange(8) % 2 == 0, size, inner)
        star = center + radii[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
        cv2.fillPoly(picture, [np.round(star * 16).astype(np.int32)], bgr, cv2.LINE_AA, 4)
        _letter(picture, str(rng.integers(0, 10)), center, size * 0.5, (235.0, 235.0, 235.0), rng)
    _words(picture, look, scale, rng, int(rng.integers(0, 3)))
    return picture


def print_matter(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Image:
    """Paint boxes, bars and words, as on newspapers, cartons and place mats."""
    height, width = shape
    picture = np.empty((height, width, 3), np.uint8)
    picture[:] = look.base_bgr
    for _ in range(int(rng.integers(3, 16))):
        center = tuple(rng.uniform(0, 1, 2) * (width, height))
        size = tuple(rng.uniform(10, 160, 2) * scale)
        corners = cv2.boxPoints((center, size, float(rng.choice([0, 0, rng.uniform(0, 180)]))))
        if rng.random() < 0.8:
            cv2.fillPoly(picture, [np.round(corners).astype(np.int32)], _any_color(rng, look), cv2.LINE_AA)
        else:
            thick = max(1, round(rng.uniform(0.5, 5) * scale))
            outline = [np.round(corners).astype(np.int32)]
            cv2.polylines(
                picture, outline, isClosed=True, color=_any_color(rng, look), thickness=thick, lineType=cv2.LINE_AA
            )
    _words(picture, look, scale, rng, int(rng.integers(3, 20)))
    return picture


def _any_color(rng: np.random.Generator, look: TableLook) -> Bgr:
    if rng.random() < 0.5:
        return look.second_bgr if rng.random() < 0.5 else look.third_bgr
    blue, green, red = rng.uniform(15, 240, 3)
    return (float(blue), float(green), float(red))


def _words(picture: Image, look: TableLook, scale: float, rng: np.random.Generator, count: int) -> None:
    """Write *count* lines of random letters in place."""
    letters = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZaeioursntl0123456789 "))
    for _ in range(count):
        text = "".join(rng.choice(letters, int(rng.integers(3, 16))))
        place = rng.uniform(0, 1, 2) * (picture.shape[1], picture.shape[0])
        _letter(picture, text, place, rng.uniform(2, 16) * scale, _any_color(rng, look), rng)


def _letter(
    picture: Image, text: str, place: NDArray[np.floating[Any]], size_px: float, bgr: Bgr, rng: np.random.Generator
) -> None:
    font = int(rng.choice([cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_TRIPLEX]))
    origin = (round(float(place[0]) - size_px * 0.4), round(float(place[1]) + size_px * 0.5))
    thick = max(1, round(size_px * rng.uniform(0.06, 0.22)))
    cv2.putText(picture, text, origin, font, max(0.2, size_px / 22), bgr, thick, cv2.LINE_AA)


def _pixel(point: NDArray[np.floating[Any]]) -> tuple[int, int]:
    return (round(float(point[0])), round(float(point[1])))


def weave(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Image:
    """Paint canvas or linen: interlaced threads, each with its own tone."""
    height, width = shape
    period = max(2.0, min(look.pattern_mm, 3.0) * scale)
    rows, columns = int(height / period) + 2, int(width / period) + 2
    over = (np.add.outer(np.arange(rows), np.arange(columns)) % 2).astype(np.float32)
    tone = over * rng.normal(0, 1, (1, columns)) + (1 - over) * rng.normal(0, 1, (rows, 1))
    threads = (np.float32(0.5) * over + np.float32(0.16) * tone + np.float32(0.1)).astype(np.float32)
    large = cv2.resize(threads, (width, height), interpolation=cv2.INTER_LINEAR)
    return mix(look.base_bgr, look.second_bgr, (large * np.float32(0.3 + 0.6 * look.roughness)).astype(np.float32))


def damask(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Image:
    """Paint mirrored and repeated ornaments, in one or more colours."""
    height, width = shape
    side = int(max(12, look.pattern_mm * 1.3 * scale))
    quarter = noise.cloud(rng, side, side, side / rng.uniform(3, 7)) + 0.5 * noise.cloud(rng, side, side, side / 12)
    half = np.concatenate([quarter, quarter[:, ::-1]], axis=1)
    motif = np.concatenate([half, half[::-1]], axis=0).astype(np.float32)
    lines = np.clip(4 * (np.abs(motif) - rng.uniform(0.15, 0.6)) + 0.5, 0, 1)
    picture = mix(look.base_bgr, look.second_bgr, lines.astype(np.float32))
    if rng.random() < 0.5:
        inner = np.clip(5 * (motif - rng.uniform(0.7, 1.3)), 0, 1)[..., None]
        picture = (picture + inner * (np.asarray(look.third_bgr) - picture)).astype(np.uint8)
    tiled = np.tile(picture, (height // (2 * side) + 1, width // (2 * side) + 1, 1))
    return np.ascontiguousarray(tiled[:height, :width])


def ruled(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Image:
    """Paint lined or squared paper: thin lines, often with a margin or a stronger line every fifth or tenth."""
    height, width = shape
    picture = np.empty((height, width, 3), np.uint8)
    picture[:] = look.base_bgr
    pitch = max(5.0, look.pattern_mm * scale)
    thick, bold = max(1, round(rng.uniform(0.15, 0.6) * scale)), int(rng.choice([0, 5, 10]))
    for index, place in enumerate(np.arange(pitch / 2, height, pitch)):
        strong = thick + (bold > 0 and index % bold == 0)
        cv2.line(picture, (0, round(place)), (width, round(place)), look.second_bgr, strong)
    for index, place in enumerate(np.arange(pitch / 2, width, pitch) if rng.random() < 0.5 else ()):
        strong = thick + (bold > 0 and index % bold == 0)
        cv2.line(picture, (round(place), 0), (round(place), height), look.second_bgr, strong)
    if rng.random() < 0.5:
        place = int(rng.integers(width))
        cv2.line(picture, (place, 0), (place, height), look.third_bgr, thick)
    return picture
