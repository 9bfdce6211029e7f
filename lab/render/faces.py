"""Paint a tile face with pips, numerals or signs, seen from directly above, as a texture with transparency."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.render import looks, view
from lab.render.looks import mixed
from lab.render.scene import BarKind, PipKind, Polygon, TileLook, TileMark, largest_radius, pip_centers
from vision.arrays import Bgr, FloatImage, Points

# Pixel grid of a tile texture with squares around the pips, and marks beside them: holes, rivets, names, cracks.


_PAD_PX = 3
# Oversampling factor for drawing pip outlines.
_OVERSAMPLING = 8


@dataclass(frozen=True, slots=True, eq=False)
class FaceGrid:
    """Texture pixels and tile shape shared by all faces of a set.

    Attributes:
        scale: Texture pixels per millimetre.
        x_mm, y_mm: Pixel positions from the middle of the tile, shapes (1, W) and (H, 1).
        alpha: Coverage of each pixel, 0 to 1.
        normal_x, normal_y, normal_z: Surface normal of the face and rounded edge.
        edge: 1 at the outline, decreasing to 0 inwards.
        spots: Cached pips by (number, half), shared by most tiles of a picture.
    """

    scale: float
    x_mm: FloatImage
    y_mm: FloatImage
    alpha: FloatImage
    normal_x: FloatImage
    normal_y: FloatImage
    normal_z: FloatImage
    edge: FloatImage
    spots: dict[tuple[int, int], Spots] = field(default_factory=dict)

    def to_tile(self) -> NDArray[np.float64]:
        """Return the homography, shape (3, 3), from texture pixels to millimetres of the tile frame."""
        height, width = self.alpha.shape
        step = 1 / self.scale
        return np.array([[step, 0.0, -(width - 1) / 2 * step], [0.0, step, -(height - 1) / 2 * step], [0.0, 0.0, 1.0]])


def grid_of(look: TileLook, scale: float) -> FaceGrid:
    """Return the grid of a tile set at *scale* texture pixels per millimetre."""
    width = math.ceil(look.length_mm * scale) + 2 * _PAD_PX
    height = math.ceil(look.width_mm * scale) + 2 * _PAD_PX
    x_mm = ((np.arange(width, dtype=np.float32) - (width - 1) / 2) / scale)[None, :]
    y_mm = ((np.arange(height, dtype=np.float32) - (height - 1) / 2) / scale)[:, None]
    radius = min(look.corner_radius_mm, look.width_mm / 2)
    over_x = np.abs(x_mm) - np.float32(look.length_mm / 2 - radius)
    over_y = np.abs(y_mm) - np.float32(look.width_mm / 2 - radius)
    outside_x, outside_y = np.maximum(over_x, 0), np.maximum(over_y, 0)
    corner = np.hypot(outside_x, outside_y)
    depth = radius - corner - np.minimum(np.maximum(over_x, over_y), 0)  # millimetres inside the outline
    in_corner = corner > 0
    along_x = np.where(in_corner, outside_x / np.maximum(corner, 1e-6), (over_x > over_y).astype(np.float32))
    along_y = np.where(in_corner, outside_y / np.maximum(corner, 1e-6), (over_y >= over_x).astype(np.float32))
    bend = np.clip(1 - depth / max(look.bevel_mm, 1e-3), 0, 1) ** 1.5 * (look.bevel_depth * 1.25)
    bend = bend.astype(np.float32)
    tilt = np.sin(bend)
    return FaceGrid(
        scale,
        x_mm,
        y_mm,
        np.clip(depth * scale + 0.5, 0, 1).astype(np.float32),
        (tilt * along_x * np.sign(x_mm)).astype(np.float32),
        (tilt * along_y * np.sign(y_mm)).astype(np.float32),
        np.cos(bend).astype(np.float32),
        np.exp(-np.maximum(depth, 0) / max(0.35, 0.8 / scale)).astype(np.float32),
    )


def blend(face: FloatImage, cover: FloatImage, bgr: Bgr, shade: FloatImage | float = 1.0) -> None:
    """Blend a colour into *face*, channels first, in place. *cover* is its opacity, 0 to 1."""
    for channel in range(3):
        face[channel] += cover * (bgr[channel] * shade - face[channel])


def disc(distance: FloatImage, radius: float, scale: float) -> FloatImage:
    """Return the anti-aliased coverage of a disc from the distances to its centre, in the unit of *radius*."""
    cover = np.float32(radius * scale + 0.5) - distance * np.float32(scale)
    np.minimum(cover, 1, out=cover)
    np.maximum(cover, 0, out=cover)
    return cover


def pip_places_mm(look: TileLook, pips: int, half: int) -> tuple[Points, NDArray[np.float64]]:
    """Return the pip centres of a half in the tile frame, shape (N, 2), and their radii, (N,), in millimetres."""
    if pips < len(look.placed_pips):
        placed = look.placed_pips[pips]
        centers = np.array([(pip.x, pip.y) for pip in placed], np.float64).reshape(-1, 2)
        radii = np.array([pip.radius for pip in placed], np.float64)
    else:
        centers = pip_centers(pips, look.pip_style[pips]) * look.pip_spread
        radii = np.full(pips, min(look.pip_radius, largest_radius(centers)))
    unit_x, unit_y = look.length_mm / 4, look.width_mm / 2
    side = -1.0 if half == 0 else 1.0
    lateral = -1.0 if look.is_mirrored else side
    along = side * (look.length_mm / 4 + centers[:, 1] * unit_x)
    across = -lateral * centers[:, 0] * unit_y
    return np.column_stack([along, across]), radii * min(unit_x, unit_y)


@dataclass(frozen=True, slots=True, eq=False)
class Spots:
    """Small pixel squares around the pips of a half.

    Attributes:
        rows, columns: Position of each square in the texture.
        x, y, distance: Offset and distance from the pip centre, in pip radii. *distance* has shape (N, K, K).
        cover: Coverage by the pip, 0 to 1, shape (N, K, K).
        sharp: Texture pixels per pip radius.
    """

    rows: tuple[slice, ...]
    columns: tuple[slice, ...]
    x: FloatImage
    y: FloatImage
    distance: FloatImage
    cover: FloatImage
    sharp: float


def spots_of(grid: FaceGrid, places_mm: Points, radius_mm: float, outline: Polygon = ()) -> Spots:
    """Return the pixel squares around pips at *places_mm*. Pips are round if *outline*, in pip radii, is empty."""
    height, width = grid.alpha.shape
    sharp = radius_mm * grid.scale
    side = min(2 * math.ceil(sharp + 1) + 1, height)
    exact = places_mm * grid.scale + ((width - 1) / 2, (height - 1) / 2)
    corner = np.clip(np.round(exact).astype(int) - side // 2, 0, (width - side, height - side))
    steps = np.arange(side, dtype=np.float64)
    x = ((corner[:, :1] + steps - exact[:, :1]) / sharp).astype(np.float32)[:, None, :]
    y = ((corner[:, 1:] + steps - exact[:, 1:]) / sharp).astype(np.float32)[:, :, None]
    distance = np.sqrt(x * x + y * y)
    return Spots(
        tuple(slice(top, top + side) for top in corner[:, 1].tolist()),
        tuple(slice(left, left + side) for left in corner[:, 0].tolist()),
        x,
        y,
        distance,
        _outlined(x, y, outline, sharp) if outline else disc(distance, 1.0, sharp),
        sharp,
    )


def _outlined(x: FloatImage, y: FloatImage, outline: Polygon, sharp: float) -> FloatImage:
    """Return the anti-aliased coverage of pips with an outline, shape (N, K, K)."""
    cover = np.empty((len(x), y.shape[1], x.shape[2]), np.float32)
    for at, corner in enumerate(zip(x[:, 0, 0].tolist(), y[:, 0, 0].tolist(), strict=True)):
        corners = (np.array(outline) - corner) * (sharp * _OVERSAMPLING) + (_OVERSAMPLING - 1) / 2
        cover[at] = filled([corners], cover.shape[1:], _OVERSAMPLING)
    return cover


def filled(outlines: Iterable[Points], size: tuple[int, ...], oversampling: int) -> FloatImage:
    """Return the anti-aliased coverage of the union of outlines, shape *size*, 0 to 1.

    Args:
        outlines: Corners of each outline, shape (N, 2), in oversampled pixels.
        oversampling: Oversampled pixels per pixel.
    """
    fine = np.zeros((oversampling * size[0], oversampling * size[1]), np.uint8)
    for corners in outlines:
        cv2.fillPoly(fine, [np.round(corners).astype(np.int32)], (255,))
    return cv2.resize(fine, size[::-1], interpolation=cv2.INTER_AREA) / np.float32(255)


_LETTERS = np.array(list("ABCDEFGHIKLMNOPRSTUVWXYZaeinorstu&*0123456789"))
_FONTS = (cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_TRIPLEX, cv2.FONT_HERSHEY_SCRIPT_COMPLEX)
# Fractional bits of the coordinates of outlines.
_BITS = 4


def marked(rng: np.random.Generator, look: TileLook) -> TileLook:
    """Return a tile set with random marks: on most sets a few kinds, each the same on all its tiles."""
    face = looks.mixed(look.face_bgr, look.bar_bgr, 0.5)
    marks: tuple[TileMark, ...] = ()
    if rng.random() < 0.35:
        marks += _holes(rng, look)
    if rng.random() < 0.2:
        marks += _rivets(rng, look)
    if rng.random() < 0.2:
        marks += (_name(rng, (rng.uniform(-0.9, 0.9), float(rng.choice([-0.86, 0.86]))), (0.03, 0.09), face),)
    if rng.random() < 0.1:  # a name or sign in the middle, small enough to fit between the pips
        at = (float(rng.choice([-0.5, 0.0, 0.5])), 0.0)
        marks += (_name(rng, at, (0.05, 0.12), face) if rng.random() < 0.5 else _shape(rng, at, (0.04, 0.1), face),)
    return replace(
        look,
        marks=marks,
        back_marks=_emblem(rng, look) if rng.random() < 0.7 else (),
        bar_worn=rng.uniform(0.3, 1.2) if rng.random() < 0.25 else 0.0,
        cracks=rng.uniform(0.2, 1.5) if rng.random() < 0.2 else 0.0,
        blobs=rng.uniform(0.3, 1.5) if rng.random() < 0.3 else 0.0,
        streaks=rng.uniform(0.6, 3.0) if rng.random() < 0.2 else 0.0,
    )


def _holes(rng: np.random.Generator, look: TileLook) -> tuple[TileMark, ...]:
    """Return a small hole on one or both halves: at the bar, the end or a corner, as left by a mould."""
    x, y = float(rng.choice([rng.uniform(0.06, 0.16), rng.uniform(0.84, 0.94), 0.5])), 0.0
    if x > 0.2:
        y = float(rng.choice([0.0, -0.86, 0.86])) if x > 0.6 else float(rng.choice([-0.9, 0.9]))
    size = 0.5 * look.pip_radius * rng.uniform(0.25, 0.6)
    bgr = look.pip_bgr[1] if rng.random() < 0.4 else looks.scaled(look.face_bgr, rng.uniform(0.1, 0.7))
    sides = (-1, 1) if rng.random() < 0.7 else (1,)
    turned = 1 if rng.random() < 0.5 else -1
    return tuple(TileMark(side * x, y if side > 0 else turned * y, size, bgr, rng.uniform(0.5, 1.0)) for side in sides)


def _rivets(rng: np.random.Generator, look: TileLook) -> tuple[TileMark, ...]:
    """Return metal pins at odd places: at the ends of the bar, in the corners or at the ends of the tile."""
    places = (((0.0, -0.6), (0.0, 0.6)), ((-0.9, -0.8), (0.9, 0.8)), ((-0.92, 0.0), (0.92, 0.0)), ((0.0, 0.0),))
    bgr = looks.near(rng, (90.0, 170.0, 205.0) if rng.random() < 0.5 else (180.0, 185.0, 188.0), 20)
    size = rng.uniform(0.03, 0.09)
    return tuple(TileMark(x, y, size, bgr, is_raised=True) for x, y in places[int(rng.integers(len(places)))])


def _name(rng: np.random.Generator, at: tuple[float, float], sizes: tuple[float, float], bgr: Bgr) -> TileMark:
    text = "".join(rng.choice(_LETTERS, int(rng.integers(1, 9))))
    turn_rad = float(rng.choice([0.0, math.pi / 2, math.pi, -math.pi / 2]))
    return TileMark(*at, rng.uniform(*sizes), bgr, rng.uniform(0.3, 1.0), turn_rad=turn_rad, text=text)


def _shape(rng: np.random.Generator, at: tuple[float, float], sizes: tuple[float, float], bgr: Bgr) -> TileMark:
    """Return an ornament: a star, a polygon, a leaf or a silhouette with mirror symmetry."""
    count = int(rng.integers(3, 14))
    turns = 2 * math.pi * np.arange(count) / count
    kind = rng.random()
    if kind < 0.4:
        reach = np.where(np.arange(count) % 2 == 0, 1.0, rng.uniform(0.3, 0.9))
    else:
        reach = rng.uniform(0.25, 1.0, count)
        reach[1:] = (reach[1:] + reach[1:][::-1]) / 2
    outline = np.column_stack([reach * np.cos(turns), reach * np.sin(turns) * rng.uniform(0.5, 1.0)])
    outlines: tuple[Polygon, ...] = (tuple(map(tuple, outline.tolist())),)
    strength, turn_rad = rng.uniform(0.3, 1.0), rng.uniform(-math.pi, math.pi)
    return TileMark(*at, rng.uniform(*sizes), bgr, strength, turn_rad=turn_rad, outlines=outlines)


def _emblem(rng: np.random.Generator, look: TileLook) -> tuple[TileMark, ...]:
    """Return the print of a back: ornaments, rings and letters around the middle, or repeated along the tile."""
    inks = [looks.mixed(look.back_bgr, looks.any_color(rng), rng.uniform(0.3, 1.0)) for _ in range(3)]
    marks: list[TileMark] = []
    for _ in range(int(rng.integers(1, 6))):
        ink = inks[int(rng.integers(len(inks)))]
        x = float(rng.choice([0.0, 0.0, rng.uniform(0.3, 0.75)]))
        kind, size = rng.random(), (0.08, 0.42 if x == 0 else 0.25)
        if kind < 0.35:
            mark = _shape(rng, (x, 0.0), size, ink)
        elif kind < 0.6:
            mark = _name(rng, (x, 0.0), (0.06, 0.3), ink)
        elif kind < 0.8:
            mark = TileMark(x, 0.0, rng.uniform(*size), ink, rng.uniform(0.3, 1.0), hollow=rng.uniform(0.6, 0.95))
        else:
            mark = TileMark(x, rng.uniform(-0.5, 0.5), rng.uniform(0.02, 0.12), ink, rng.uniform(0.3, 1.0))
        marks.append(mark)
        if x > 0:
            marks.append(replace(mark, x=-x, y=-mark.y, turn_rad=mark.turn_rad + math.pi))
    return tuple(marks)


def paint_marks(
    face: FloatImage, grid: FaceGrid, look: TileLook, marks: tuple[TileMark, ...], light: NDArray[np.float64]
) -> None:
    """Paint marks on a face or back in place. *light* points to the lamp in the frame of the tile, shape (3,)."""
    height, width = grid.alpha.shape
    light_x, light_y = np.float32(light[0]), np.float32(light[1])
    for mark in marks:
        size_px = mark.size * look.width_mm * grid.scale
        center = np.array(
            [width / 2 + mark.x * look.length_mm / 2 * grid.scale, height / 2 + mark.y * look.width_mm / 2 * grid.scale]
        )
        reach = math.ceil(size_px * (1 + len(mark.text))) + 2
        left, top = (int(value) for value in np.maximum(center - reach, 0))
        right, bottom = min(width, int(center[0]) + reach + 1), min(height, int(center[1]) + reach + 1)
        if right <= left or bottom <= top:
            continue
        part = face[:, top:bottom, left:right]
        at = center - (left, top)
        ink = _ink(mark, (bottom - top, right - left), at, size_px) * np.float32(mark.strength)
        x = (np.arange(right - left, dtype=np.float32) - np.float32(at[0])) / np.float32(size_px)
        y = (np.arange(bottom - top, dtype=np.float32) - np.float32(at[1])) / np.float32(size_px)
        shade = 0.9 + 0.5 * (x[None] * light_x + y[:, None] * light_y) if mark.is_raised else 1.0
        blend(part, ink, mark.bgr, shade)


def _ink(mark: TileMark, shape: tuple[int, int], at: NDArray[np.float64], size_px: float) -> FloatImage:
    """Return the opacity of a mark, 0 to 1, with its centre at *at* in an image of *shape*."""
    ink = np.zeros(shape, np.uint8)
    cos, sin = math.cos(mark.turn_rad), math.sin(mark.turn_rad)
    turn = np.array([[cos, -sin], [sin, cos]])
    if mark.text:
        font = _FONTS[len(mark.text) % len(_FONTS)]
        thick = max(1, round(size_px / 4))
        (wide, high), _ = cv2.getTextSize(mark.text, font, 1.0, 1)
        scale = 2 * size_px / high
        line = np.zeros((math.ceil(2.6 * size_px) + 2, math.ceil(wide * scale) + 4), np.uint8)
        cv2.putText(line, mark.text, (1, math.ceil(2.2 * size_px)), font, scale, 255, thick, cv2.LINE_AA)
        middle = np.array([line.shape[1] / 2, line.shape[0] / 2])
        warp = np.column_stack([turn, at - turn @ middle])
        return cv2.warpAffine(line, warp, shape[::-1]).astype(np.float32) / 255
    if mark.outlines:
        corners = [at + size_px * np.array(outline) @ turn.T for outline in mark.outlines]
        fixed = [np.round(points * 2**_BITS).astype(np.int32) for points in corners]
        cv2.fillPoly(ink, fixed, 255, cv2.LINE_AA, _BITS)
        return ink.astype(np.float32) / 255
    y, x = np.ogrid[: shape[0], : shape[1]]
    distance = np.hypot(x - at[0], y - at[1]).astype(np.float32)
    outer = np.clip(size_px - distance + 0.5, 0, 1)
    return np.asarray(outer - np.clip(mark.hollow * size_px - distance + 0.5, 0, 1) * (mark.hollow > 0), np.float32)


def paint_cracks(face: FloatImage, grid: FaceGrid, look: TileLook, rng: np.random.Generator) -> None:
    """Paint dark jagged cracks on a face in place, from the edge inwards."""
    height, width = grid.alpha.shape
    lines = np.zeros((height, width), np.uint8)
    for _ in range(rng.poisson(look.cracks)):
        at = rng.uniform(0, 1, 2) * (width, height)
        at[int(rng.integers(2))] *= rng.integers(2)
        heading = np.array([width, height]) / 2 - at
        steps = rng.normal(0, 0.1, (int(rng.integers(3, 9)), 2)) * min(width, height) + heading * rng.uniform(0.02, 0.2)
        path = np.round(np.concatenate([[at], at + np.cumsum(steps, axis=0)]) * 2**_BITS).astype(np.int32)
        thick = max(1, round(rng.uniform(0.1, 0.5) * grid.scale))
        cv2.polylines(lines, [path], isClosed=False, color=255, thickness=thick, lineType=cv2.LINE_AA, shift=_BITS)
    blend(face, lines.astype(np.float32) * np.float32(rng.uniform(0.3, 0.9) / 255), looks.scaled(look.face_bgr, 0.3))


def paint_reflections(face: FloatImage, grid: FaceGrid, look: TileLook, rng: np.random.Generator) -> None:
    """Add white spots of lamps, and the straight and bent streaks of a tight film, to a shaded face in place."""
    x, y = grid.x_mm / np.float32(look.width_mm), grid.y_mm / np.float32(look.width_mm)
    for _ in range(rng.poisson(look.blobs)):
        at, turn, size = rng.uniform(-1, 1, 2) * (1, 0.5), rng.uniform(0, math.pi), rng.uniform(0.05, 0.35)
        along = (x - at[0]) * math.cos(turn) + (y - at[1]) * math.sin(turn)
        across = (y - at[1]) * math.cos(turn) - (x - at[0]) * math.sin(turn)
        distance = np.hypot(along / size, across / (size * rng.uniform(0.3, 1.0))).astype(np.float32)
        soft = rng.uniform(0.1, 1.0)
        cover = np.clip((1 - distance) / soft + 0.5, 0, 1) * np.float32(rng.uniform(0.3, 1.0))
        blend(face, cover, (255.0, 255.0, 255.0))
    for _ in range(rng.poisson(look.streaks)):
        turn, bend = rng.uniform(0, math.pi), rng.normal(0, 0.4)
        along, across = x * math.cos(turn) + y * math.sin(turn), y * math.cos(turn) - x * math.sin(turn)
        wide = rng.uniform(0.01, 0.08)
        off = np.abs(across - rng.uniform(-0.7, 0.7) - bend * along**2) / wide
        cover = np.clip(1.5 - off, 0, 1) * np.clip(
            1.3 - np.abs(along - rng.uniform(-1, 1)) / rng.uniform(0.2, 1.5), 0, 1
        )
        blend(face, (cover * rng.uniform(0.3, 1.0)).astype(np.float32), (255.0, 255.0, 255.0))


def worn_bar(grid: FaceGrid, look: TileLook, rng: np.random.Generator) -> FloatImage:
    """Return the share of the bar's paint that is left, 0 to 1, shape (H, W)."""
    height, width = grid.alpha.shape
    paint = 1.2 - look.bar_worn + 0.6 * view.cloud(rng, height, width, 2 * grid.scale)
    return np.asarray(np.clip(paint, 0, 1), np.float32)


# Oversampling factor for drawing signs.
_SIGN_OVERSAMPLING = 4


def paint_numeral(face: FloatImage, grid: FaceGrid, look: TileLook, number: int, half: int) -> None:
    """Print a number on a half in place, as the set's sign for it, or as a numeral if it has no sign."""
    if look.numerals is None:
        return
    height, width = grid.alpha.shape
    side = min(height, width // 2)
    if number < len(look.signs):
        scale = (_SIGN_OVERSAMPLING * side - 1) / 2
        corners = ((np.array(outline) + 1) * scale for outline in look.signs[number])
        ink = filled(corners, (side, side), _SIGN_OVERSAMPLING)
    else:
        ink = _numeral(side, number, look.pip_radius)
    turned = np.rot90(ink, look.numerals + (2 if half == 1 and not look.is_mirrored else 0))
    top = (height - side) // 2
    left = width // 4 - side // 2 if half == 0 else width - width // 4 - side + side // 2
    blend(face[:, top : top + side, left : left + side], turned, look.pip_bgr[number])


def _numeral(side: int, number: int, bold: float) -> FloatImage:
    """Return the ink of a numeral, shape (side, side), 0 to 1. 0 is blank. 6 and 9 are underlined."""
    ink = np.zeros((side, side), np.uint8)
    if number == 0:
        return ink.astype(np.float32)
    text, thick = str(number), max(1, round(side * bold * 0.5))
    (wide, high), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_DUPLEX, 1.0, 1)
    size = min(0.62 * side / high, 0.72 * side / wide)
    origin = (round((side - size * wide) / 2), round((side + size * high) / 2))
    cv2.putText(ink, text, origin, cv2.FONT_HERSHEY_DUPLEX, size, 255, thick, cv2.LINE_AA)
    if number in (6, 9):
        cv2.line(ink, (side // 3, side * 8 // 9), (side - side // 3, side * 8 // 9), 255, thick)
    return ink.astype(np.float32) / 255


Texture = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Glint:
    """Directions to the lamp and the camera in the frame of a tile.

    Attributes:
        lamp, camera: Unit vectors, shape (3,), with z up.
    """

    lamp: NDArray[np.float64]
    camera: NDArray[np.float64]


OVERHEAD_GLINT = Glint(np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0]))


def _paint_pips(
    face: FloatImage,
    grid: FaceGrid,
    look: TileLook,
    pips: int,
    half: int,
    light: NDArray[np.float64],
    rng: np.random.Generator,
) -> None:
    """Paint the pips of a half in place. *light* points to the lamp in the tile frame."""
    if pips == 0:
        return
    is_placed = pips < len(look.placed_pips)
    if is_placed or look.pip_jitter > 0:
        separate = _placed(grid, look, pips, half) if is_placed else _by_hand(grid, look, pips, half, rng)
        for spots in separate:
            _paint_spots(face, spots, look, look.pip_bgr[pips], light)
        return
    if (pips, half) not in grid.spots:
        places_mm, radii_mm = pip_places_mm(look, pips, half)
        grid.spots[pips, half] = spots_of(grid, places_mm, float(radii_mm[0]), look.pip_outline)
    _paint_spots(face, grid.spots[pips, half], look, look.pip_bgr[pips], light)


def _placed(grid: FaceGrid, look: TileLook, pips: int, half: int) -> Iterator[Spots]:
    """Yield the pips of a half at the positions that the look specifies."""
    places = zip(*pip_places_mm(look, pips, half), look.placed_pips[pips], strict=True)
    for place_mm, radius_mm, pip in places:
        yield spots_of(grid, place_mm[None], float(radius_mm), pip.outline)


def _by_hand(grid: FaceGrid, look: TileLook, pips: int, half: int, rng: np.random.Generator) -> Iterator[Spots]:
    """Yield the pips of a half as painted by hand: displaced, uneven in size, and rarely touching."""
    places_mm, radii_mm = pip_places_mm(look, pips, half)
    usual_mm = float(radii_mm[0])
    moved_mm = places_mm + rng.normal(0, look.pip_jitter * look.width_mm / 2, places_mm.shape)
    # Displaced pips stay on their half.
    middle_mm = np.array([(-1.0 if half == 0 else 1.0) * look.length_mm / 4, 0.0])
    reach_mm = np.array([look.length_mm / 4, look.width_mm / 2]) - usual_mm
    moved_mm = np.clip(moved_mm, middle_mm - reach_mm, middle_mm + reach_mm)
    gaps_mm = np.linalg.norm(moved_mm[:, None] - moved_mm[None], axis=2) + 1e9 * np.eye(pips)
    room_mm = np.minimum(gaps_mm.min(axis=1) * 0.48, usual_mm)
    radii_mm = room_mm * np.exp(rng.normal(-1.5 * look.pip_jitter, 2 * look.pip_jitter, pips))
    for place_mm, radius_mm in zip(moved_mm, np.clip(radii_mm, 0.35 * usual_mm, 1.3 * usual_mm), strict=True):
        yield spots_of(grid, place_mm[None], float(radius_mm), look.pip_outline)


def _paint_spots(face: FloatImage, spots: Spots, look: TileLook, bgr: Bgr, light: NDArray[np.float64]) -> None:
    side = spots.x.shape[2]
    part = np.empty((3, len(spots.rows), side, side), face.dtype)
    for index, (rows, columns) in enumerate(zip(spots.rows, spots.columns, strict=True)):
        part[:, index] = face[:, rows, columns]
    _shade_pips(part, spots, look, bgr, light.astype(np.float32))
    for index, (rows, columns) in enumerate(zip(spots.rows, spots.columns, strict=True)):
        face[:, rows, columns] = part[:, index]


def _shine(spots: Spots, place: NDArray[np.float32], width: float, strength: float) -> FloatImage:
    """Return the reflection of the lamp in pips. *place* and *width* are in pip radii."""
    distance = (spots.x - place[0]) ** 2 + (spots.y - place[1]) ** 2
    shine: FloatImage = spots.cover * np.exp(distance * np.float32(-1 / width**2)) * np.float32(strength)
    return shine


def _shade_pips(part: FloatImage, spots: Spots, look: TileLook, bgr: Bgr, light: NDArray[np.float32]) -> None:
    """Paint pips of the same colour into *part*, shape (3, N, K, K), in place."""
    cover, distance, depth = spots.cover, spots.distance, np.float32(look.pip_depth)
    side = np.float32(np.hypot(light[0], light[1])) + np.float32(1e-6)
    facing = spots.x * (light[0] / side) + spots.y * (light[1] / side)
    match look.pip_kind:
        case PipKind.FLAT:
            blend(part, cover, bgr)
        case PipKind.ENGRAVED:
            blend(part, cover, bgr, 1 - 0.7 * depth * side * facing)
            rim = cover * np.clip((distance - 0.72) / 0.28, 0, 1) * (0.6 * depth)
            blend(part, rim * (facing > 0), (15.0, 15.0, 15.0))
            blend(part, rim * (facing < -0.35), (215.0, 220.0, 220.0))
            blend(part, _shine(spots, -0.35 * light, 0.2, 0.8 * look.gloss), (245.0, 245.0, 245.0))
        case PipKind.RING:
            blend(part, cover - disc(distance, 0.62, spots.sharp), bgr)
            blend(part, disc(distance, 0.3, spots.sharp) * depth, bgr)
        case PipKind.GLOSSY:
            blend(part, cover, bgr, 1 + 0.55 * depth * side * facing - 0.35 * distance**2)
            blend(part, _shine(spots, 0.3 * light, 0.18, look.gloss), (250.0, 250.0, 250.0))
        case PipKind.DRILLED:
            blend(part, cover, bgr, 1 - 0.45 * depth * side * facing)
            blend(part, disc(distance, 0.34, spots.sharp) * depth, mixed(bgr, look.face_bgr, 0.45))


def _middle(grid: FaceGrid, half_width_mm: float) -> slice:
    """Return the texture columns within *half_width_mm* of the middle line, with a margin."""
    width = grid.alpha.shape[1]
    reach = math.ceil((half_width_mm + 1.0) * grid.scale) + 2
    return slice(max(0, width // 2 - reach), min(width, width // 2 + reach))


def _paint_bar(
    face: FloatImage, grid: FaceGrid, look: TileLook, light: NDArray[np.float64], rng: np.random.Generator
) -> None:
    """Paint the bar in place. A groove has a lit and a dark wall."""
    if look.bar_kind in (BarKind.NONE, BarKind.PIN):
        return
    half_mm = look.bar_thickness_mm / 2
    columns = _middle(grid, half_mm)
    part, x_mm = face[:, :, columns], grid.x_mm[:, columns]
    ends = disc(np.abs(grid.y_mm), look.bar_length * look.width_mm / 2, grid.scale)
    if look.bar_worn > 0:
        ends = ends * worn_bar(grid, look, rng)[:, columns]
    distance_mm = np.abs(x_mm)
    if look.bar_kind is BarKind.DOUBLE:
        distance_mm, half_mm = np.abs(distance_mm - np.float32(0.75 * half_mm)), 0.3 * half_mm
    blend(part, disc(distance_mm, half_mm, grid.scale) * ends, look.bar_bgr)
    if look.bar_kind is BarKind.GROOVE:
        wall_mm = math.copysign(0.8 * half_mm, light[0])
        strength = np.float32(0.5 * abs(light[0]))
        lit = disc(np.abs(x_mm + wall_mm), 0.45 * half_mm, grid.scale) * ends
        blend(part, lit * strength, (200.0, 205.0, 205.0))
        dark = disc(np.abs(x_mm - wall_mm), 0.4 * half_mm, grid.scale) * ends
        blend(part, dark * strength, (10.0, 10.0, 10.0))


def _paint_pin(face: FloatImage, grid: FaceGrid, look: TileLook, light: NDArray[np.float64]) -> None:
    """Paint the central pin in place."""
    if look.bar_kind not in (BarKind.PIN, BarKind.LINE_PIN):
        return
    columns = _middle(grid, 1.3 * look.pin_radius_mm)
    part, x_mm = face[:, :, columns], grid.x_mm[:, columns]
    distance = np.hypot(x_mm, grid.y_mm) / np.float32(look.pin_radius_mm)
    sharp = look.pin_radius_mm * grid.scale
    facing = (x_mm * np.float32(light[0]) + grid.y_mm * np.float32(light[1])) / np.float32(look.pin_radius_mm)
    blend(part, disc(distance, 1.25, sharp) * np.float32(0.35), (20.0, 20.0, 20.0))
    blend(part, disc(distance, 1.0, sharp), look.pin_bgr, 0.85 + 0.5 * facing)


def _paint_border(face: FloatImage, grid: FaceGrid, look: TileLook) -> None:
    """Paint the printed line around the face in place."""
    distance_mm = np.maximum(
        np.abs(grid.x_mm) - (look.length_mm / 2 - look.border_mm),
        np.abs(grid.y_mm) - (look.width_mm / 2 - look.border_mm),
    )
    blend(face, disc(np.abs(distance_mm).astype(np.float32), 0.35, grid.scale), look.bar_bgr)


def _paint_back(face: FloatImage, grid: FaceGrid, look: TileLook) -> None:
    """Paint the emblem of the back in place, if the set has one."""
    if not look.has_emblem:
        return
    distance = np.hypot(grid.x_mm / 1.5, grid.y_mm)
    ring = disc(np.abs(distance - look.width_mm * 0.3), 0.5, grid.scale)
    star = disc(np.abs(grid.x_mm * grid.y_mm) / (0.12 * look.width_mm), 1.0, grid.scale)
    blend(face, np.maximum(ring, star * (distance < look.width_mm * 0.24)), mixed(look.back_bgr, look.bar_bgr, 0.4))


def _age(face: FloatImage, grid: FaceGrid, look: TileLook, rng: np.random.Generator) -> None:
    """Add cracks, stains, scratches and chips to the face in place."""
    if look.cracks > 0:
        paint_cracks(face, grid, look, rng)
    if look.wear == 0:
        return
    height, width = grid.alpha.shape
    stain = np.clip(view.cloud(rng, height, width, 5 * grid.scale) - 0.8, 0, 1) * (0.35 * look.wear)
    blend(face, stain, (60.0, 85.0, 100.0))
    scratches = np.zeros((height, width), np.uint8)
    for _ in range(rng.poisson(6 * look.wear)):
        start = rng.uniform(0, 1, 2) * (width, height)
        end = start + rng.normal(0, 6 * grid.scale, 2)
        cv2.line(scratches, _pixel(start), _pixel(end), int(rng.integers(40, 160)), 1, cv2.LINE_AA)
    blend(face, scratches.astype(np.float32) * (look.wear / 255), (170.0, 175.0, 180.0))
    chips = np.clip(view.cloud(rng, height, width, 1.5 * grid.scale) - 2.2, 0, 1) * look.wear
    blend(face, chips, look.face_bgr)


def _wrap(face: FloatImage, grid: FaceGrid, look: TileLook, rng: np.random.Generator) -> None:
    """Add the reflections of a wrinkled plastic film in place."""
    height, width = grid.alpha.shape
    fold = np.abs(view.cloud(rng, height, width, (7 * grid.scale, 3.5 * grid.scale)))
    patch = np.clip(view.cloud(rng, height, width, 9 * grid.scale), 0, 1)
    blend(face, np.clip(0.35 - fold * 3, 0, 1) * patch * look.wrap, (255.0, 255.0, 255.0))


def _pixel(point: NDArray[np.float64]) -> tuple[int, int]:
    return (round(float(point[0])), round(float(point[1])))


def paint_face(
    grid: FaceGrid, look: TileLook, pips: tuple[int, int] | None, glint: Glint, ambient: float, rng: np.random.Generator
) -> Texture:
    """Return the texture of a tile's face, or of its back if *pips* is None.

    Returns:
        Shape (H, W, 4): BGR premultiplied by the alpha in the last channel.
    """
    light = glint.lamp
    height, width = grid.alpha.shape
    face = np.empty((3, height, width), np.float32)
    face[:] = np.array(look.face_bgr if pips is not None else look.back_bgr, np.float32)[:, None, None]
    if look.mottle > 0:
        face *= 1 + np.float32(look.mottle) * view.cloud(rng, height, width, 3 * grid.scale)
    if look.border_mm > 0 and pips is not None:
        _paint_border(face, grid, look)
    if pips is None:
        _paint_back(face, grid, look)
        paint_marks(face, grid, look, look.back_marks, light)
    else:
        _paint_bar(face, grid, look, light, rng)
        _paint_pin(face, grid, look, light)
        for half in range(2):
            if look.numerals is None:
                _paint_pips(face, grid, look, pips[half], half, light, rng)
            else:
                paint_numeral(face, grid, look, pips[half], half)
        paint_marks(face, grid, look, look.marks, light)
    _age(face, grid, look, rng)
    face *= _shading(grid, look, light.astype(np.float32), np.float32(ambient))
    shine = _edge_shine(grid, look, glint, np.float32(1 - ambient))
    np.sqrt(face * face + shine * shine, out=face)  # sums light, as in `lighting.add_light`
    if look.wrap > 0:
        _wrap(face, grid, look, rng)
    if look.blobs > 0 or look.streaks > 0:
        paint_reflections(face, grid, look, rng)
    face *= grid.alpha
    np.minimum(face, 255, out=face)
    np.maximum(face, 0, out=face)
    planes = face.astype(np.uint8)
    return cv2.merge([*planes, (grid.alpha * 255).astype(np.uint8)]).astype(np.uint8, copy=False)


def _shading(grid: FaceGrid, look: TileLook, light: NDArray[np.float32], ambient: np.float32) -> FloatImage:
    """Return the brightness of the face and rounded edge, relative to the flat face."""
    diffuse = grid.normal_x * light[0] + grid.normal_y * light[1] + grid.normal_z * light[2]
    diffuse *= (1 - ambient) / max(light[2], np.float32(0.3))
    np.clip(diffuse, 0, 1.8 * (1 - ambient), out=diffuse)
    diffuse += ambient
    shading: FloatImage = diffuse * (1 - np.float32(look.crease) * grid.edge)
    return shading


def _edge_shine(grid: FaceGrid, look: TileLook, glint: Glint, direct: np.float32) -> FloatImage:
    """Return the lamp's reflection on the face and rounded edge, in grey levels."""
    half = glint.lamp + glint.camera
    half = (half / np.linalg.norm(half)).astype(np.float32)
    facing = grid.normal_x * half[0] + grid.normal_y * half[1] + grid.normal_z * half[2]
    np.maximum(facing, 0, out=facing)
    for _ in range(6):  # power of 64, for the highlight of polished plastic, about 10 degrees wide
        facing *= facing
    shine: FloatImage = facing * (np.float32(150 * look.gloss) * direct)
    return shine
