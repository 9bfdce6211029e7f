"""Paint the top of a table: wood, felt, cloths, leather, stone, printed boards."""

from __future__ import annotations

import math
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.render import noise
from vision.render.look_types import Bgr, TableKind, TableLook
from vision.render.patterns import Points
from vision.render.view import View

Picture = NDArray[np.uint8]
Plane = NDArray[np.floating[Any]]

# Clouds and grain stay soft anyway; print needs edges as sharp as those of tiles.
_SOFT_PX = 800
_PRINT_PX = 1100
_PRINTED = (TableKind.STRIPES, TableKind.CHECKS, TableKind.FLOWERS, TableKind.BOARD, TableKind.PRINT)


def _mix(base: Bgr, other: Bgr, share: Plane) -> Picture:
    """Return *base* and *other* mixed by *share*, shape (H, W); -0.5 and 1.5 go beyond both."""
    steps = np.linspace(-0.5, 1.5, 256)[:, None]
    colors = np.asarray(base) + steps * np.subtract(other, base)
    table = np.clip(np.round(colors), 0, 255).astype(np.uint8)[None]
    index = cv2.convertScaleAbs(share + np.float32(0.5), alpha=127.5)
    return cv2.LUT(cv2.merge([index, index, index]), table).astype(np.uint8, copy=False)


def _wood(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Picture:
    height, width = shape
    plank_px = max(8.0, look.pattern_mm * scale)
    grain = noise.cloud(rng, height, width, (max(1.0, 1.2 * scale), 60 * scale))
    rings = np.sin(5 * noise.cloud(rng, height, width, (plank_px / 3, 450 * scale)))
    plank = (np.arange(height) / plank_px).astype(int)
    tone = rng.normal(0, 1, plank.max() + 1).astype(np.float32)[plank][:, None]
    share = np.float32(0.35) + np.float32(0.3 * look.roughness) * grain + np.float32(0.2) * rings
    share += np.float32(0.25 * look.unevenness) * tone
    picture = _mix(look.base_bgr, look.second_bgr, share)
    if look.unevenness > 0.3:
        seams = np.flatnonzero(np.diff(plank))
        picture[seams] //= 2
    return picture


def _leather(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Picture:
    height, width = shape
    bumps = np.abs(noise.cloud(rng, height, width, max(2.5, 2.2 * scale))) - np.float32(0.6)
    lit = bumps - np.roll(bumps, 2, axis=(0, 1))
    return _mix(look.base_bgr, look.second_bgr, 0.3 + np.float32(0.7 * look.roughness) * lit)


def _stripes(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Picture:
    height, width = shape
    count = int(rng.integers(3, 9))
    edges = np.sort(rng.uniform(0, 1, count))
    colors = np.array([look.base_bgr, look.second_bgr, look.third_bgr], np.uint8)[rng.integers(0, 3, count + 1)]
    place = (np.arange(height) / max(6.0, look.pattern_mm * 2 * scale)) % 1.0
    line = colors[np.searchsorted(edges, place)]
    return cv2.resize(line[:, None], (width, height), interpolation=cv2.INTER_NEAREST).astype(np.uint8, copy=False)


def _checks(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Picture:
    height, width = shape
    period = max(6.0, look.pattern_mm * scale)
    share = rng.uniform(0.3, 0.7)
    rows = ((np.arange(height) / period) % 1 < share).astype(np.float32)[:, None]
    columns = ((np.arange(width) / period) % 1 < share).astype(np.float32)[None, :]
    return _mix(look.base_bgr, look.second_bgr, (rows + columns) / 2)


def _flowers(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Picture:
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


def _board(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Picture:
    height, width = shape
    picture = np.empty((height, width, 3), np.uint8)
    picture[:] = look.base_bgr
    step = max(8.0, look.pattern_mm * scale)
    line = max(1, round(0.4 * scale))
    for place in np.arange(step / 2, max(height, width), step):
        cv2.line(picture, (round(place), 0), (round(place), height), look.second_bgr, line)
        cv2.line(picture, (0, round(place)), (width, round(place)), look.second_bgr, line)
    for _ in range(int(rng.integers(8, 40))):
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


def _print(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Picture:
    """Boxes, bars and words: newspapers, cartons, place mats."""
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


def _words(picture: Picture, look: TableLook, scale: float, rng: np.random.Generator, count: int) -> None:
    """Write *count* lines of letters in place."""
    letters = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZaeioursntl0123456789 "))
    for _ in range(count):
        text = "".join(rng.choice(letters, int(rng.integers(3, 16))))
        place = rng.uniform(0, 1, 2) * (picture.shape[1], picture.shape[0])
        _letter(picture, text, place, rng.uniform(2, 16) * scale, _any_color(rng, look), rng)


def _letter(picture: Picture, text: str, place: Plane, size_px: float, bgr: Bgr, rng: np.random.Generator) -> None:
    font = int(rng.choice([cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_TRIPLEX]))
    origin = (round(float(place[0]) - size_px * 0.4), round(float(place[1]) + size_px * 0.5))
    thick = max(1, round(size_px * rng.uniform(0.06, 0.22)))
    cv2.putText(picture, text, origin, font, max(0.2, size_px / 22), bgr, thick, cv2.LINE_AA)


def _pixel(point: Plane) -> tuple[int, int]:
    return (round(float(point[0])), round(float(point[1])))


def _pattern(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Picture:
    """Return the texture of *look*, shape (H, W, 3), before its fine grain."""
    match look.kind:
        case TableKind.WOOD:
            return _wood(look, shape, scale, rng)
        case TableKind.LEATHER:
            return _leather(look, shape, scale, rng)
        case TableKind.STRIPES:
            return _stripes(look, shape, scale, rng)
        case TableKind.CHECKS:
            return _checks(look, shape, scale, rng)
        case TableKind.FLOWERS:
            return _flowers(look, shape, scale, rng)
        case TableKind.BOARD:
            return _board(look, shape, scale, rng)
        case TableKind.PRINT:
            return _print(look, shape, scale, rng)
        case TableKind.STONE:
            veins = np.abs(noise.cloud(rng, *shape, 30 * scale) + 0.4 * noise.cloud(rng, *shape, 8 * scale))
            return _mix(look.base_bgr, look.second_bgr, np.clip(1 - 3 * veins, 0, 1) * look.roughness)
        case TableKind.FELT | TableKind.PLAIN:
            share = np.float32(0.3 * look.roughness) * noise.cloud(rng, *shape, 3 * scale + 1)
            return _mix(look.base_bgr, look.second_bgr, share)


def _extent_mm(view: View, width_px: int, height_px: int) -> Points:
    """Return the bounding box of the visible table in pattern coordinates, as (2, 2): low and high."""
    frame = np.array([[[0, 0], [width_px, 0], [width_px, height_px], [0, height_px]]], dtype=np.float64)
    seen = cv2.perspectiveTransform(frame, np.linalg.inv(view.plane(0.0)))[0]
    return np.array([seen.min(axis=0), seen.max(axis=0)], dtype=np.float64)


def _add_grain(picture: Picture, look: TableLook, rng: np.random.Generator) -> None:
    """Add the fine grain of *look* to *picture* in place."""
    if look.roughness > 0:
        strength = look.roughness * (14 if look.kind is TableKind.FELT else 8)
        grain = noise.white(rng, 200, 200)[..., None] * np.float32(strength)
        noise.add_repeated(picture, np.repeat(grain, 3, axis=2))


def paint_table(look: TableLook, view: View, width_px: int, height_px: int, rng: np.random.Generator) -> Picture:
    """Return the empty table as the pinhole camera sees it in even light, shape (H, W, 3)."""
    turn = np.array(
        [[math.cos(look.theta_rad), math.sin(look.theta_rad)], [-math.sin(look.theta_rad), math.cos(look.theta_rad)]]
    )
    low, high = _extent_mm(view, width_px, height_px)
    box = np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]]) @ turn.T
    low, high = box.min(axis=0), box.max(axis=0)
    extent = high - low
    longest_px = _PRINT_PX if look.kind in _PRINTED else _SOFT_PX
    scale = min(longest_px / float(extent.max()), width_px / float(extent.min()))
    shape = (max(16, math.ceil(float(extent[1]) * scale)), max(16, math.ceil(float(extent[0]) * scale)))
    texture = _pattern(look, shape, scale, rng)
    _add_grain(texture, look, rng)
    to_mm = np.array([[1 / scale, 0, low[0]], [0, 1 / scale, low[1]], [0, 0, 1.0]])
    unturn = np.eye(3)
    unturn[:2, :2] = turn.T
    warp = view.plane(0.0) @ unturn @ to_mm
    return cv2.warpPerspective(
        texture, warp, (width_px, height_px), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT
    ).astype(np.uint8, copy=False)
