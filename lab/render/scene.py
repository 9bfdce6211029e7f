"""Scene description: looks of tiles, table, light and camera, and the positions of tiles and objects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from vision.arrays import Bgr, Points
from vision.reading import Join

# Pip positions on a half, in the arrangements of real sets.


MAX_PIPS = 18

# Columns of pips perpendicular to the bar, as the height of each column. Each layout is also used rotated by a quarter
# turn. The second value is the extent of the inner columns relative to the outer ones. 1 aligns their ends, and less
# staggers them.
_COLUMNS: dict[int, tuple[tuple[tuple[int, ...], float], ...]] = {
    6: (((3, 3), 1.0),),
    7: (((3, 1, 3), 1.0), ((2, 1, 1, 1, 2), 1.0)),
    8: (((3, 2, 3), 1.0), ((4, 4), 1.0), ((3, 2, 3), 0.5)),
    9: (((3, 3, 3), 1.0), ((4, 1, 4), 1.0)),
    10: (((4, 2, 4), 1.0), ((3, 4, 3), 1.0), ((5, 5), 1.0), ((4, 2, 4), 1 / 3)),
    11: (((4, 3, 4), 1.0), ((5, 1, 5), 1.0), ((4, 3, 4), 2 / 3), ((3, 5, 3), 1.0)),
    12: (((4, 4, 4), 1.0), ((5, 2, 5), 1.0), ((6, 6), 1.0)),
    13: (((5, 3, 5), 1.0), ((4, 5, 4), 1.0), ((4, 1, 3, 1, 4), 1.0), ((5, 3, 5), 0.5)),
    14: (((5, 4, 5), 1.0), ((4, 3, 3, 4), 1.0), ((5, 4, 5), 0.75)),
    15: (((5, 5, 5), 1.0), ((6, 3, 6), 1.0)),
    16: (((4, 4, 4, 4), 1.0), ((5, 6, 5), 1.0), ((6, 4, 6), 1.0), ((6, 4, 6), 0.6)),
    17: (((6, 5, 6), 1.0), ((4, 3, 3, 3, 4), 1.0), ((6, 5, 6), 0.8)),
    18: (((6, 6, 6), 1.0), ((4, 5, 5, 4), 1.0)),
}
# Outermost pip centre in half units, by the number of pips in a line. Estimated by eye from commercial sets.
_REACH = {1: 0.0, 2: 0.58, 3: 0.6, 4: 0.66, 5: 0.7, 6: 0.74}


def _few(pips: int, style: int) -> Points:
    """Return the arrangement of 0 to 5 pips. *style* selects the diagonal of 2 and 3."""
    reach = _REACH[2]
    slope = -1.0 if style == 1 else 1.0
    diagonal = [(-reach, -reach * slope), (reach, reach * slope)]
    square = [(-reach, -reach), (reach, -reach), (-reach, reach), (reach, reach)]
    centers = {0: [], 1: [], 2: diagonal, 3: diagonal, 4: square, 5: square}[pips]
    if pips % 2 == 1:
        centers = [*centers, (0.0, 0.0)]
    return np.array(centers, dtype=np.float64).reshape(-1, 2)


def _line(count: int, reach: float) -> Points:
    """Return *count* evenly spaced positions from -reach to reach, or 0 if *count* is 1."""
    return np.zeros(1) if count == 1 else np.linspace(-reach, reach, count)


def _in_columns(heights: tuple[int, ...], inner_reach: float) -> Points:
    """Return pip centres in columns of *heights*. *inner_reach* is the relative extent of the inner columns."""
    columns_x = _line(len(heights), _REACH[len(heights)])
    reach_y = _REACH[max(heights)]
    reaches = [reach_y * (1.0 if index in (0, len(heights) - 1) else inner_reach) for index in range(len(heights))]
    columns = [
        np.column_stack([np.full(height, column_x), _line(height, reach)])
        for column_x, height, reach in zip(columns_x, heights, reaches, strict=True)
    ]
    return np.concatenate(columns)


def style_count(pips: int) -> int:
    """Return the number of known arrangements of *pips*, 0 to 18."""
    if not 0 <= pips <= MAX_PIPS:
        raise ValueError(f"pips: expected 0 to {MAX_PIPS}, got {pips}")
    if pips in _COLUMNS:
        return 2 * len(_COLUMNS[pips])
    return 2 if pips in (2, 3) else 1


def pip_centers(pips: int, style: int) -> Points:
    """Return the centres of the pips on a half.

    Args:
        pips: 0 to 18.
        style: Index of the arrangement, 0 to ``style_count(pips) - 1``. Style 0 is the most common in commercial sets.
            From 6 pips on, even styles have columns along the tile and odd styles have them across.

    Returns:
        Shape (pips, 2), in half units: x along the bar and y away from it, each from -1 to 1 across the half.
    """
    if not 0 <= style < style_count(pips):
        raise ValueError(f"style of {pips} pips: expected 0 to {style_count(pips) - 1}, got {style}")
    if pips not in _COLUMNS:
        return _few(pips, style)
    centers = _in_columns(*_COLUMNS[pips][style // 2])
    return centers[:, ::-1].copy() if style % 2 == 1 else centers


def largest_radius(centers: Points) -> float:
    """Return the largest pip radius, in half units, that keeps pips at *centers* separate and inside their half."""
    if len(centers) == 0:
        return 1.0
    inside = 0.97 - float(np.abs(centers).max())
    if len(centers) == 1:
        return inside
    apart = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    return min(inside, 0.46 * float(apart[~np.eye(len(centers), dtype=bool)].min()))


# Value types for the appearance of a picture: tile set, table, light and camera.


Polygon = tuple[tuple[float, float], ...]
"""Corners of a shape printed on a tile, as (x, y) from its middle, -1 to 1."""


class PipKind(StrEnum):
    """Finish of the pips."""

    FLAT = "flat"
    ENGRAVED = "engraved"
    RING = "ring"
    GLOSSY = "glossy"
    DRILLED = "drilled"


class BarKind(StrEnum):
    """Divider between the halves."""

    NONE = "none"
    LINE = "line"
    GROOVE = "groove"
    PIN = "pin"
    LINE_PIN = "line_pin"
    DOUBLE = "double"


class TableKind(StrEnum):
    """Material or pattern of the table top."""

    PLAIN = "plain"
    FELT = "felt"
    WOOD = "wood"
    LEATHER = "leather"
    STONE = "stone"
    STRIPES = "stripes"
    CHECKS = "checks"
    FLOWERS = "flowers"
    BOARD = "board"
    PRINT = "print"
    WEAVE = "weave"
    DAMASK = "damask"
    GLASS = "glass"
    RULED = "ruled"
    PHOTOGRAPH = "photograph"


@dataclass(frozen=True, slots=True)
class PlacedPip:
    """A pip with an individual position, size and shape.

    Attributes:
        x, y: Centre in half units, as in `pip_centers`: x along the bar, y away from it.
        radius: Radius in half units.
        outline: Corners, as in `TileLook.pip_outline`. Empty for a round pip.
    """

    x: float
    y: float
    radius: float
    outline: Polygon = ()


@dataclass(frozen=True, slots=True)
class TileMark:
    """Something on a tile beside its pips: a hole, rivet, name or ornament. By default a disc.

    Attributes:
        x, y: Centre, -1 to 1 along and across the tile.
        size: Radius, or half the height of letters, in widths of the tile.
        bgr, strength: Colour, and its opacity from 0 to 1.
        turn_rad: Direction of letters and outlines, clockwise.
        hollow: Inner radius of a ring, relative to the outer one. 0 for a disc.
        text: Letters instead of a disc.
        outlines: Shapes to fill instead of a disc, from -1 to 1.
        is_raised: True to shade the disc as a domed rivet.
    """

    x: float
    y: float
    size: float
    bgr: Bgr
    strength: float = 1.0
    turn_rad: float = 0.0
    hollow: float = 0.0
    text: str = ""
    outlines: tuple[Polygon, ...] = ()
    is_raised: bool = False


@dataclass(frozen=True, slots=True)
class TileLook:
    """Appearance of a tile set.

    Attributes:
        face_bgr, back_bgr, side_bgr: Colours, 0 to 255.
        base_bgr: Colour of the lower half of the sides. Equal to *side_bgr* unless tiles are two-coloured.
        pip_bgr: Pip colour of each number, 0 to 18.
        pip_style: Arrangement of each number, 0 to 18, as in `pip_centers`.
        is_mirrored: True if half 1 mirrors half 0 instead of being rotated by half a turn.
        pip_radius: Radius in half units (a half spans -1 to 1). Reduced where pips would touch.
        pip_spread: Factor on the distance of pips from the middle of the half.
        pip_depth: Strength of the shading in pips, 0 to 1.
        pip_outline: Corners of pips in pip radii, at most 1 from the centre. Empty for round pips.
        pip_jitter: Standard deviation of the position of hand-painted pips, in half units. It also scales their
            variation in size. 0 for uniform pips.
        placed_pips: Individual pips of each number from 0 on. Higher numbers use *pip_style*.
        bar_length: Length of the bar, as a fraction of the width of the tile.
        bevel_depth: Strength of the shading of the rounded edge, 0 to 1.
        crease: Darkening at the edge of the face, 0 to 1.
        border_mm: Inset of a printed line around each face, 0 for none.
        mottle: Relative unevenness of the face, such as marbling.
        gloss: Strength of glare on the face, 0 to 1.
        wear: Amount of scratches, dirt and chips, 0 to 1.
        wrap: Strength of the reflections of a plastic film, 0 for none.
        has_emblem: True if the back has an emblem.
        numerals: Orientation of numerals in quarter turns, or None for pips.
        signs: Signs for the numbers from 0 on, used in place of numerals if *numerals* is set. Each sign is a tuple of
            outlines from -1 to 1 across a half, x right and y down. An empty tuple is blank.
        marks, back_marks: Marks on every face, and on every back.
        bar_worn: Amount of paint that the bar has lost, from 0 to about 1.
        cracks, blobs, streaks: Mean numbers per tile of cracks, white reflections, and streaks on a film.
    """

    face_bgr: Bgr
    back_bgr: Bgr
    side_bgr: Bgr
    base_bgr: Bgr
    pip_bgr: tuple[Bgr, ...]
    pip_style: tuple[int, ...]
    is_mirrored: bool = False
    pip_kind: PipKind = PipKind.ENGRAVED
    pip_radius: float = 0.19
    pip_spread: float = 1.0
    pip_depth: float = 0.5
    pip_outline: Polygon = ()
    pip_jitter: float = 0.0
    placed_pips: tuple[tuple[PlacedPip, ...], ...] = ()
    bar_kind: BarKind = BarKind.GROOVE
    bar_bgr: Bgr = (25.0, 25.0, 25.0)
    bar_length: float = 0.8
    bar_thickness_mm: float = 1.4
    pin_bgr: Bgr = (90.0, 170.0, 205.0)
    pin_radius_mm: float = 1.6
    length_mm: float = 48.0
    width_mm: float = 24.0
    thickness_mm: float = 9.0
    corner_radius_mm: float = 3.0
    bevel_mm: float = 1.6
    bevel_depth: float = 0.6
    crease: float = 0.35
    border_mm: float = 0.0
    mottle: float = 0.01
    gloss: float = 0.4
    wear: float = 0.0
    wrap: float = 0.0
    has_emblem: bool = False
    numerals: int | None = None
    signs: tuple[tuple[Polygon, ...], ...] = ()
    marks: tuple[TileMark, ...] = ()
    back_marks: tuple[TileMark, ...] = ()
    bar_worn: float = 0.0
    cracks: float = 0.0
    blobs: float = 0.0
    streaks: float = 0.0

    def __post_init__(self) -> None:
        if len(self.pip_bgr) != MAX_PIPS + 1 or len(self.pip_style) != MAX_PIPS + 1:
            raise ValueError(
                f"pip_bgr and pip_style: expected {MAX_PIPS + 1} entries, "
                f"got {len(self.pip_bgr)} and {len(self.pip_style)}"
            )
        for number, placed in enumerate(self.placed_pips):
            if len(placed) != number:
                raise ValueError(f"placed_pips[{number}]: expected {number} pips, got {len(placed)}")


@dataclass(frozen=True, slots=True)
class TableLook:
    """Appearance of a table top.

    Attributes:
        base_bgr, second_bgr, third_bgr: Main colour, and colours of the grain or pattern, 0 to 255.
        pattern_mm: Size of the repeat, such as plank width, stripe or board square.
        roughness: Strength of the fine texture, 0 to 1.
        unevenness: Strength of large soft variations, 0 to 1.
        theta_rad: Direction of the grain or pattern, clockwise in the picture.
        gloss: Strength of glare on the table, 0 to 1.
        folds: Strength of the folds of a cloth, 0 to 1.
        mirror: Strength of the reflections of tiles in a polished top, 0 to 1.
        photograph: Image file of a photographed surface, for `TableKind.PHOTOGRAPH`.
    """

    kind: TableKind
    base_bgr: Bgr
    second_bgr: Bgr
    third_bgr: Bgr
    pattern_mm: float = 40.0
    roughness: float = 0.3
    unevenness: float = 0.2
    theta_rad: float = 0.0
    gloss: float = 0.1
    folds: float = 0.0
    mirror: float = 0.0
    photograph: Path | None = None


@dataclass(frozen=True, slots=True)
class LightLook:
    """Light in the room.

    Attributes:
        azimuth_rad: Direction of the main light, clockwise from x in the picture.
        elevation_rad: Elevation of the main light above the table.
        ambient: Share of ambient light, from 0 (hard shading) to 1 (no shading).
        shadow: Strength of cast shadows, 0 to 1.
        shadow_blur_mm: Width of the soft edges of cast shadows.
        contact: Strength of the dark line where a tile meets the table, 0 to 1.
        gradient: Relative change of the light across the picture.
        spot: Relative falloff of the light around a bright spot.
        band: Strength of a large shadow over part of the scene, 0 for none.
        cast_bgr: Colour cast, as a factor per channel.
        contrast: Exponent of the tone curve, 1 for linear.
        glare: Strength of reflections of lamps and windows, 0 to 1.
        glare_stretch: 1 for round reflections, more for streaks.
    """

    azimuth_rad: float = -2.2
    elevation_rad: float = 1.0
    ambient: float = 0.55
    shadow: float = 0.35
    shadow_blur_mm: float = 2.5
    contact: float = 0.5
    gradient: float = 0.1
    spot: float = 0.1
    band: float = 0.0
    cast_bgr: Bgr = (1.0, 1.0, 1.0)
    exposure: float = 1.0
    contrast: float = 1.0
    glare: float = 0.0
    glare_stretch: float = 1.0


@dataclass(frozen=True, slots=True)
class CameraLook:
    """Camera pose, lens and image quality.

    Attributes:
        px_per_mm: Scale on the table at the middle of the picture.
        fov_rad: Horizontal field of view. With a fixed scale, a small angle means a distant camera.
        tilt_rad: Angle from straight down. The camera moves towards a viewer at the lower edge.
        roll_rad: Rotation of the picture, clockwise.
        lens: Radial distortion, -0.1 to 0.1. The picture stays filled.
        blur_px, motion_px, motion_rad: Sigma of defocus, and length and direction of motion blur.
        noise: Standard deviation of the noise in grey levels.
        noise_grain_px: Sigma of the noise grain, 0 for independent pixels.
        bloom: Share of light spread as a soft glow by a dirty or cheap lens, 0 to 1. A thumbprint gives about 0.1.
        fringe_px: Displacement of the red and blue channels in the corners, as with a cheap lens.
        metering: Strength of automatic exposure, 0 to 1.
        jpeg_quality: 1 to 100, or None for no compression.
    """

    width_px: int = 1280
    height_px: int = 960
    px_per_mm: float = 2.0
    fov_rad: float = 0.9
    tilt_rad: float = 0.0
    roll_rad: float = 0.0
    lens: float = 0.0
    blur_px: float = 0.0
    motion_px: float = 0.0
    motion_rad: float = 0.0
    sharpen: float = 0.0
    noise: float = 0.0
    noise_grain_px: float = 0.0
    vignette: float = 0.0
    bloom: float = 0.0
    fringe_px: float = 0.0
    metering: float = 0.0
    jpeg_quality: int | None = None


@dataclass(frozen=True, slots=True)
class PlacedTile:
    """A tile on the table.

    Attributes:
        pips: Numbers of half 0 and half 1, or None for a face-down tile. Half 0 is towards -x of the tile.
        center_mm: Middle of the tile relative to the middle of the picture, x right and y down.
        theta_rad: Direction of the tile's x axis (its long axis), clockwise in the picture.
        height_mm: Height of the underside above the table.
        look: 0 for the scene's main look, n for its n-th additional look.
    """

    pips: tuple[int, int] | None
    center_mm: tuple[float, float]
    theta_rad: float
    height_mm: float = 0.0
    look: int = 0

    def __post_init__(self) -> None:
        if self.pips is not None and not all(0 <= pips <= MAX_PIPS for pips in self.pips):
            raise ValueError(f"pips: expected two of 0 to {MAX_PIPS} or None, got {self.pips}")

    def to_table(self, points_mm: Points) -> Points:
        """Transform points of the tile frame, shape (N, 2), to the table."""
        cos, sin = math.cos(self.theta_rad), math.sin(self.theta_rad)
        on_table: Points = points_mm @ np.array([[cos, sin], [-sin, cos]]) + np.asarray(self.center_mm)
        return on_table


class ClutterKind(StrEnum):
    """Kinds of objects other than readable tiles."""

    COIN = "coin"
    PEN = "pen"
    PHONE = "phone"
    PAPER = "paper"
    CARD = "card"
    DIE = "die"
    GLASS = "glass"
    PRINTED_TILE = "printed_tile"
    STANDING_TILE = "standing_tile"
    PICTURE = "picture"
    MUG = "mug"
    KEYBOARD = "keyboard"
    KEYPAD = "keypad"
    CHECKERBOARD = "checkerboard"
    PAGE = "page"
    DOTS = "dots"
    BARCODE = "barcode"
    RULER = "ruler"
    PLAYING_CARD = "playing_card"
    BANK_CARD = "bank_card"


@dataclass(frozen=True, slots=True)
class Clutter:
    """An object other than a readable tile.

    Attributes:
        center_mm, theta_rad: Position and direction, as in `PlacedTile`.
        length_mm, width_mm: Extent. For round objects, the length is the diameter.
        height_mm: Height of the top above the table.
        pips: Numbers on a standing or printed tile. The face of a standing tile is towards +y and its half 0 towards
            -x.
    """

    kind: ClutterKind
    center_mm: tuple[float, float]
    theta_rad: float
    length_mm: float
    width_mm: float
    height_mm: float
    bgr: Bgr
    pips: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """A player's hand and arm over the table.

    Attributes:
        heading_rad: Direction from the elbow to the fingertips, clockwise from x in the picture.
        height_mm: Height of the fingertips above the table.
        sleeve_bgr: Colour of the sleeve, or None for a bare arm.
        sleeve: Position of the cuff: 0 at the wrist, 1 at the elbow.
        is_left: True for a left hand, seen from above.
        spread: Spread of the fingers, 0 to 1.
        curl: Bend of the fingers, from 0 (flat) to 1.
        scale: Size relative to a hand of 190 mm.
    """

    tip_mm: tuple[float, float]
    heading_rad: float
    height_mm: float
    skin_bgr: Bgr
    sleeve_bgr: Bgr | None = None
    sleeve: float = 0.3
    is_left: bool = False
    spread: float = 0.5
    curl: float = 0.4
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Floor:
    """Edge of the table, and the floor beyond.

    Attributes:
        look: Look of the floor. Its pattern is not scaled with distance from the table.
        outline_mm: Outline of the table top as (x, y), convex, clockwise in the picture.
        drop: Darkness of the floor, from 0 (as bright as the table) to 1 (black).
        rim_bgr: Colour of the rim of the table.
        below_mm: Depth of the floor below the table top.
    """

    look: TableLook
    outline_mm: tuple[tuple[float, float], ...]
    drop: float = 0.4
    rim_bgr: Bgr = (40.0, 60.0, 85.0)
    rim_mm: float = 25.0
    below_mm: float = 720.0

    def __post_init__(self) -> None:
        if len(self.outline_mm) < 3:
            raise ValueError(f"outline_mm: expected at least 3 points, got {len(self.outline_mm)}")
        if not 0.0 <= self.drop <= 1.0:
            raise ValueError(f"drop: expected 0 to 1, got {self.drop}")

    def margin_mm(self, point_mm: tuple[float, float]) -> float:
        """Return the distance of a point from the edge of the table top. Negative outside."""
        corners = np.array(self.outline_mm)
        along = np.roll(corners, -1, axis=0) - corners
        offset = np.asarray(point_mm) - corners
        inwards = along[:, 0] * offset[:, 1] - along[:, 1] * offset[:, 0]
        return float((inwards / np.maximum(np.linalg.norm(along, axis=1), 1e-9)).min())


def joins_between(joins: Sequence[Join], kept: Sequence[int]) -> tuple[Join, ...]:
    """Return the joins whose tiles are both *kept*, renumbered."""
    place = {index: position for position, index in enumerate(kept)}
    return tuple(
        Join(place[join.a], join.a_half, place[join.b], join.b_half)
        for join in joins
        if join.a in place and join.b in place
    )


@dataclass(frozen=True, slots=True)
class Scene:
    """Contents and appearance of a picture.

    Attributes:
        joins: Joins, as indices into *tiles*.
        clutter: Other objects. They are not part of the ground truth.
        reaches: Players' hands, above everything else.
        more_looks: Additional looks of tiles, with the same size as *tile*.
        floor: Table edge and floor, or None for a table that fills the picture.
    """

    tiles: tuple[PlacedTile, ...]
    tile: TileLook
    table: TableLook
    light: LightLook
    camera: CameraLook
    joins: tuple[Join, ...] = ()
    clutter: tuple[Clutter, ...] = ()
    reaches: tuple[Reach, ...] = ()
    more_looks: tuple[TileLook, ...] = ()
    floor: Floor | None = None

    def __post_init__(self) -> None:
        for placed in self.tiles:
            if not 0 <= placed.look <= len(self.more_looks):
                raise ValueError(f"{placed}: expected a look up to {len(self.more_looks)}")
        for look in self.more_looks:
            if _size(look) != _size(self.tile):
                raise ValueError(f"more_looks: expected tiles of {_size(self.tile)} mm, got {_size(look)}")
        for join in self.joins:
            if not (0 <= join.a < len(self.tiles) and 0 <= join.b < len(self.tiles)):
                raise ValueError(f"{join}: expected indices below {len(self.tiles)}")

    def look_of(self, placed: PlacedTile) -> TileLook:
        """Return the look of a tile."""
        return self.tile if placed.look == 0 else self.more_looks[placed.look - 1]


def _size(look: TileLook) -> tuple[float, float, float]:
    return (look.length_mm, look.width_mm, look.thickness_mm)
