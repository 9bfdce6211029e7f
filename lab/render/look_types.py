"""Value types for the appearance of a picture: tile set, table, light and camera."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lab.render.patterns import MAX_PIPS
from vision.arrays import Bgr

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
            variation in size. 0 for machine-made pips.
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
        exposure: Brightness factor.
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
        sharpen: Strength of in-camera sharpening.
        noise: Standard deviation of the noise in grey levels.
        noise_grain_px: Sigma of the noise grain, 0 for independent pixels.
        vignette: Relative darkening of the corners.
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
