"""Paint table tops: wood, felt, leather, stone, printed and woven patterns, and photographed surfaces."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.packages import Collection, files_of, require_packages
from lab.render.scene import TableKind, TableLook
from lab.render.view import CLEAR, View, add_repeated, cloud, white
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
    _text(picture, look, scale, rng, int(rng.integers(0, 3)))
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
    _text(picture, look, scale, rng, int(rng.integers(3, 20)))
    return picture


def _any_color(rng: np.random.Generator, look: TableLook) -> Bgr:
    if rng.random() < 0.5:
        return look.second_bgr if rng.random() < 0.5 else look.third_bgr
    blue, green, red = rng.uniform(15, 240, 3)
    return (float(blue), float(green), float(red))


def _text(picture: Image, look: TableLook, scale: float, rng: np.random.Generator, count: int) -> None:
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
    quarter = cloud(rng, side, side, side / rng.uniform(3, 7)) + 0.5 * cloud(rng, side, side, side / 12)
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


# Photographed and painted textures of walls, floors, machines and rocks (CC-BY-SA, CC-BY, CC0), and photographs of
# landscapes and plants (CC-BY-SA).
_COLLECTIONS = (
    Collection("redeclipse-data", "games/redeclipse/data/**/*.jpg"),
    Collection("redeclipse-data", "games/redeclipse/data/**/*.png"),
    Collection("mate-backgrounds", "backgrounds/mate/**/*.jpg"),
)
# Width of the shown part of a picture, relative to its size, and the longest side that is kept in memory.
_SHOWN = (0.2, 1.0)
_LONGEST_PX = 1024


def find_photographs(root: Path) -> tuple[Path, ...]:
    """Return the image files of the installed packages below *root*, in order."""
    return tuple(file for collection in _COLLECTIONS for file in files_of(root, collection))


def require_photographs(root: Path) -> None:
    """Check that all packages with photographs are installed below *root*.

    Raises:
        MissingPackagesError: If packages are missing.
    """
    require_packages(root, _COLLECTIONS, "photographs")


@lru_cache(maxsize=64)
def _load(path: Path) -> Image:
    picture = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if picture is None:
        raise OSError(f"{path}: not a readable picture; reinstall its package")
    shrink = max(1.0, max(picture.shape[:2]) / _LONGEST_PX)
    size = (max(1, round(picture.shape[1] / shrink)), max(1, round(picture.shape[0] / shrink)))
    return cv2.resize(picture, size, interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)


def photographed(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Image:
    """Return a part of the look's photograph, enlarged or repeated with alternate mirroring to fill *shape*.

    Args:
        look: Table with a photograph. The part is four times as wide as the pattern size.
        scale: Pixels per millimetre.
    """
    if look.photograph is None:
        raise ValueError("photograph: a table of kind PHOTOGRAPH needs one")
    picture = _load(look.photograph)
    height, width = picture.shape[:2]
    side = max(1, round(min(height, width) * rng.uniform(*_SHOWN)))
    top, left = int(rng.integers(height - side + 1)), int(rng.integers(width - side + 1))
    part: Image = picture[top : top + side, left : left + side]
    repeat_px = max(32, round(4 * look.pattern_mm * scale))
    interpolation = cv2.INTER_AREA if repeat_px < side else cv2.INTER_CUBIC
    part = np.asarray(cv2.resize(part, (repeat_px, repeat_px), interpolation=interpolation), np.uint8)
    rows, columns = -(-shape[0] // repeat_px), -(-shape[1] // repeat_px)
    both = np.concatenate([part, part[:, ::-1]], axis=1)
    motif = np.concatenate([both, both[::-1]], axis=0)
    tiled = np.tile(motif, (rows // 2 + 1, columns // 2 + 1, 1))
    return np.ascontiguousarray(tiled[: shape[0], : shape[1]], np.uint8)


# Longest side of the texture. Grain is soft anyway, but prints need edges as sharp as those of tiles.
_SOFT_PX = 800
_PRINT_PX = 1100
# Factor on the texture size if the picture shows the horizon.
_OBLIQUE = 1.6
_PRINTED = (
    TableKind.STRIPES,
    TableKind.CHECKS,
    TableKind.FLOWERS,
    TableKind.BOARD,
    TableKind.PRINT,
    TableKind.DAMASK,
    TableKind.RULED,
    TableKind.PHOTOGRAPH,
)


def _wood(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Image:
    height, width = shape
    plank_px = max(8.0, look.pattern_mm * scale)
    # Growth rings cut at a flat angle: long lines that bend together around knots, with varying density.
    bend = cloud(rng, height, width, (plank_px / 2, 260 * scale))
    plank = (np.arange(height) / plank_px).astype(int)
    tone = rng.normal(0, 1, plank.max() + 1).astype(np.float32)[plank][:, None]
    place = (np.arange(height, dtype=np.float32) / (max(2.0, 5 * scale)))[:, None]
    rings = np.sin(place * np.float32(rng.uniform(0.5, 1.5)) + np.float32(rng.uniform(1, 5)) * bend + 2 * tone)
    pores = cloud(rng, height, width, (max(1.0, 1.2 * scale), 60 * scale))
    share = np.float32(0.35) + np.float32(0.25 * look.roughness) * pores + np.float32(0.16) * rings
    share += np.float32(0.22 * look.unevenness) * tone + np.float32(0.1) * bend
    picture = mix(look.base_bgr, look.second_bgr, share)
    if look.unevenness > 0.3:
        seams = np.flatnonzero(np.diff(plank))
        picture[seams] //= 2
    return picture


def _leather(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Image:
    height, width = shape
    bumps = np.abs(cloud(rng, height, width, max(2.5, 2.2 * scale))) - np.float32(0.6)
    lit = bumps - np.roll(bumps, 2, axis=(0, 1))
    picture = mix(look.base_bgr, look.second_bgr, 0.3 + np.float32(0.7 * look.roughness) * lit)
    for _ in range(int(rng.integers(0, 3))):  # stitched seams
        row, dash = int(rng.integers(height)), max(2, round(3 * scale))
        picture[row : row + max(1, round(0.8 * scale))] //= 3
        stitch = picture[row + 2 * dash : row + 2 * dash + max(1, round(0.5 * scale))]
        stitch[:, (np.arange(width) // dash) % 3 > 0] = look.third_bgr
    return picture


def _pattern(look: TableLook, shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Image:
    """Return the texture of *look* without its fine grain, shape (H, W, 3)."""
    match look.kind:
        case TableKind.WOOD:
            return _wood(look, shape, scale, rng)
        case TableKind.LEATHER:
            return _leather(look, shape, scale, rng)
        case TableKind.STRIPES:
            return stripes(look, shape, scale, rng)
        case TableKind.CHECKS:
            return checks(look, shape, scale, rng)
        case TableKind.FLOWERS:
            return flowers(look, shape, scale, rng)
        case TableKind.BOARD:
            return board(look, shape, scale, rng)
        case TableKind.PRINT:
            return print_matter(look, shape, scale, rng)
        case TableKind.WEAVE:
            return weave(look, shape, scale, rng)
        case TableKind.DAMASK:
            return damask(look, shape, scale, rng)
        case TableKind.STONE:
            veins = np.abs(cloud(rng, *shape, 30 * scale) + 0.4 * cloud(rng, *shape, 8 * scale))
            return mix(look.base_bgr, look.second_bgr, np.clip(1 - 3 * veins, 0, 1) * look.roughness)
        case TableKind.RULED:
            return ruled(look, shape, scale, rng)
        case TableKind.PHOTOGRAPH:
            return photographed(look, shape, scale, rng)
        case TableKind.FELT | TableKind.PLAIN | TableKind.GLASS:
            share = np.float32(0.3 * look.roughness) * cloud(rng, *shape, 3 * scale + 1)
            return mix(look.base_bgr, look.second_bgr, share)


def paint_table(look: TableLook, view: View, width_px: int, height_px: int, rng: np.random.Generator) -> Image:
    """Return a pinhole picture of the empty table in even light, shape (H, W, 3)."""
    turn = np.array(
        [[math.cos(look.theta_rad), math.sin(look.theta_rad)], [-math.sin(look.theta_rad), math.cos(look.theta_rad)]]
    )
    outline = view.frame_mm(width_px, height_px, 0.0)
    low, high = outline.min(axis=0), outline.max(axis=0)
    box = np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]]) @ turn.T
    low, high = box.min(axis=0), box.max(axis=0)
    extent = high - low
    longest_px = _PRINT_PX if look.kind in _PRINTED else _SOFT_PX
    shows_horizon = view.shows_horizon(width_px, height_px, 0.0)
    if shows_horizon:  # the near part of the table fills most of the picture
        longest_px = round(_OBLIQUE * longest_px)
    scale = min(longest_px / float(extent.max()), width_px / float(extent.min()))
    shape = (max(16, math.ceil(float(extent[1]) * scale)), max(16, math.ceil(float(extent[0]) * scale)))
    texture = _pattern(look, shape, scale, rng)
    if look.roughness > 0 and look.kind is not TableKind.GLASS:
        strength = look.roughness * (14 if look.kind is TableKind.FELT else 8)
        grain = white(rng, 200, 200)[..., None] * np.float32(strength)
        add_repeated(texture, np.repeat(grain, 3, axis=2))
    to_mm = np.array([[1 / scale, 0, low[0]], [0, 1 / scale, low[1]], [0, 0, 1.0]])
    unturn = np.eye(3)
    unturn[:2, :2] = turn.T
    warp = view.plane(0.0) @ unturn @ to_mm
    picture = cv2.warpPerspective(
        texture, warp, (width_px, height_px), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT
    ).astype(np.uint8, copy=False)
    return _with_distance(picture, look, view, rng) if shows_horizon else picture


def _with_distance(picture: Image, look: TableLook, view: View, rng: np.random.Generator) -> Image:
    """Return the picture with distant parts out of focus, and a dim room above the horizon."""
    height, width = picture.shape[:2]
    corners = np.array([[0, 0], [width, 0], [0, height], [width, height]], dtype=np.float64)
    near = view.nearness(corners, 0.0)
    # Nearness is linear in pixel coordinates, so it is interpolated from the corners.
    x, y = np.arange(width, dtype=np.float32)[None, :], np.arange(height, dtype=np.float32)[:, None]
    nearness = np.float32(near[0]) + x * np.float32((near[1] - near[0]) / width)
    nearness = nearness + y * np.float32((near[2] - near[0]) / height)
    room = mix(look.base_bgr, (70.0, 80.0, 85.0), 0.8 + 0.5 * cloud(rng, height, width, (height / 3, width / 6)))
    is_room = np.clip((0.03 - nearness) / 0.02, 0, 1)[..., None]
    far = cv2.GaussianBlur((picture + is_room * (room.astype(np.float32) - picture)), (0, 0), 0.012 * width)
    share = np.clip((1 / CLEAR - nearness) * CLEAR * 1.5, 0, 1)[..., None]
    distant: Image = (picture + share * (far - picture)).astype(np.uint8)
    return distant
