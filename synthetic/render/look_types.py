"""Appearance of a picture: tile set, table, light and camera, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from synthetic.render.patterns import MAX_PIPS
from vision.arrays import Bgr

Polygon = tuple[tuple[float, float], ...]
"""The corners of a shape that is printed on a tile, as x and y from its middle, -1 to 1."""


class PipKind(StrEnum):
    """How a pip is made."""

    FLAT = "flat"
    ENGRAVED = "engraved"
    RING = "ring"
    GLOSSY = "glossy"
    DRILLED = "drilled"


class BarKind(StrEnum):
    """What divides the halves."""

    NONE = "none"
    LINE = "line"
    GROOVE = "groove"
    PIN = "pin"
    LINE_PIN = "line_pin"
    DOUBLE = "double"


class TableKind(StrEnum):
    """What the tiles lie on."""

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


@dataclass(frozen=True, slots=True)
class PlacedPip:
    """A pip with a place, a size and a shape of its own.

    Attributes:
        x, y: Its middle in half units, as `pip_centers` has them: x along the bar, y away from it.
        radius: Half units.
        outline: Its corners, as `TileLook.pip_outline`; empty where it is round.
    """

    x: float
    y: float
    radius: float
    outline: Polygon = ()


@dataclass(frozen=True, slots=True)
class TileLook:
    """A set of tiles.

    Attributes:
        face_bgr, back_bgr, side_bgr: Colours, 0 to 255.
        base_bgr: Lower half of the sides of two-coloured tiles, equal to *side_bgr* otherwise.
        pip_bgr: Colour of the pips of each number, 0 to 18.
        pip_style: Arrangement of each number, 0 to 18, see `pip_centers`.
        is_mirrored: Whether half 1 is the mirror image of half 0, not its half turn.
        pip_radius: Half units (the half spans -1 to 1); many pips are made smaller so that they stay apart.
        pip_spread: Factor on the distance of pips from the middle of the half.
        pip_depth: Strength of the shading in pips, 0 to 1.
        pip_outline: Corners of a pip that is not round, none of them farther than 1 from its middle, in pip radii.
        pip_jitter: How far pips that somebody painted are off their places, as a standard deviation in half units; they
            are as uneven in size. 0 for pips made by a machine.
        placed_pips: Where somebody put the pips of each number from 0 on; those of higher numbers are as usual.
        bar_length: Fraction of the width of the tile.
        bevel_depth: Strength of the shading of the rounded edge, 0 to 1.
        crease: How much the very edge of the face is darkened, 0 to 1.
        border_mm: Inset of a printed line around each face, 0 for none.
        mottle: Relative unevenness of the face, such as marbling.
        gloss: How much glare the face shows, 0 to 1.
        wear: Scratches, dirt and worn pips, 0 to 1.
        wrap: Strength of the reflections of a plastic film, 0 for none.
        has_emblem: Whether the back shows one.
        numerals: None for pips; else halves show numerals, turned so many quarter turns.
        signs: What stands for the numbers from 0 on instead of numerals, where *numerals* is said: the outlines of
            what each sign is made of, from -1 to 1 of a half, x right and y down. None for a blank.
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
    """The top of a table.

    Attributes:
        base_bgr, second_bgr, third_bgr: Main colour and those of grain or pattern, 0 to 255.
        pattern_mm: Size of the repeat: plank width, stripe, square of a board.
        roughness: Strength of the fine texture, 0 to 1.
        unevenness: Strength of large soft variations, 0 to 1.
        theta_rad: Direction of grain or pattern, clockwise in the picture.
        gloss: How much glare the table shows, 0 to 1.
        folds: Strength of the folds of a cloth, 0 to 1.
        mirror: How much of what lies on it a polished top mirrors, 0 to 1.
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


@dataclass(frozen=True, slots=True)
class LightLook:
    """The light in the room.

    Attributes:
        azimuth_rad: Where the main light stands, clockwise from x in the picture.
        elevation_rad: Its height over the table.
        ambient: Share of light from everywhere, 0 (hard) to 1 (no shading at all).
        shadow: Strength of the cast shadow, 0 to 1.
        shadow_blur_mm: Width of its edge.
        contact: Strength of the dark line where a tile meets the table, 0 to 1.
        gradient: Relative fall of the light across the picture.
        spot: Relative fall of the light from a bright spot outwards.
        band: Strength of a large shadow over part of the scene, 0 for none.
        cast_bgr: Factor per channel.
        exposure: Factor on everything.
        contrast: Exponent of the tone curve, 1 for none.
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
    """The camera and its picture.

    Attributes:
        px_per_mm: Scale at the middle of the picture, on the table.
        fov_rad: Angle of view across the width; a small one means a camera far away.
        tilt_rad: Angle from looking straight down, towards a viewer at the lower edge.
        roll_rad: Turn of the picture, clockwise.
        lens: Radial distortion, -0.1 to 0.1; the picture always stays filled.
        blur_px, motion_px, motion_rad: Sigma of defocus, length and direction of motion blur.
        sharpen: Strength of the camera's own sharpening.
        noise: Standard deviation in grey levels.
        noise_grain_px: Sigma of the grain; 0 for independent pixels.
        vignette: Relative darkening of the corners.
        bloom: Share of the light that a dirty or cheap lens spreads as a soft glow, 0 to 1; 0.1 is a thumb on it.
        fringe_px: How far red and blue are apart in the corners, of a cheap lens.
        metering: How far automatic exposure makes up for a dark or bright scene, 0 to 1.
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
