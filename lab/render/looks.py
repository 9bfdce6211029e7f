"""Random colours and looks of tile sets, tables, light and cameras, and a few named plain looks."""

from __future__ import annotations

import colorsys
import math
from dataclasses import replace

import numpy as np

from lab.render.scene import (
    MAX_PIPS,
    BarKind,
    CameraLook,
    LightLook,
    PipKind,
    TableKind,
    TableLook,
    TileLook,
    style_count,
)
from vision.arrays import Bgr

# Random colours of tiles, pips and tables.


# Approximate pip colours of commercial coloured sets: hue (turns), saturation, value, indexed by number of pips.
_SOLD_PIPS: tuple[tuple[float, float, float], ...] = (
    (0.0, 0.0, 0.2),
    (0.56, 0.75, 0.75),
    (0.36, 0.85, 0.55),
    (0.98, 0.85, 0.8),
    (0.04, 0.75, 0.45),
    (0.6, 0.9, 0.7),
    (0.11, 0.9, 0.95),
    (0.87, 0.8, 0.75),
    (0.46, 0.85, 0.6),
    (0.76, 0.75, 0.5),
    (0.05, 0.85, 0.95),
    (0.97, 0.8, 0.5),
    (0.0, 0.0, 0.62),
    (0.58, 0.5, 0.85),
    (0.3, 0.6, 0.45),
    (0.9, 0.5, 0.85),
    (0.14, 0.75, 0.85),
    (0.66, 0.6, 0.6),
    (0.0, 0.0, 0.35),
)
# Another common order: red, green, purple, light blue, pink, orange, grey, yellow, turquoise, blue and so on.
_OTHER_SOLD_PIPS: tuple[tuple[float, float, float], ...] = (
    (0.0, 0.0, 0.2),
    (0.0, 0.9, 0.8),
    (0.3, 0.5, 0.5),
    (0.76, 0.55, 0.7),
    (0.5, 0.5, 0.8),
    (0.92, 0.6, 0.95),
    (0.09, 0.95, 0.82),
    (0.0, 0.0, 0.44),
    (0.13, 0.85, 0.9),
    (0.5, 0.95, 0.6),
    (0.67, 0.75, 0.9),
    (0.08, 0.7, 0.42),
    (0.55, 0.25, 0.6),
    (0.95, 0.8, 0.6),
    (0.37, 0.7, 0.4),
    (0.62, 0.6, 0.5),
    (0.03, 0.8, 0.75),
    (0.8, 0.6, 0.45),
    (0.0, 0.0, 0.15),
)
# Colours of sets with few colours: black and two or three others.
_FEW_PIPS: tuple[tuple[float, float, float], ...] = (
    (0.0, 0.0, 0.12),
    (0.6, 0.9, 0.65),
    (0.99, 0.85, 0.7),
    (0.38, 0.8, 0.45),
)
# Minimum difference of pips and face in at least one channel, of 255.
_MIN_CONTRAST = 45.0


def from_hsv(hue: float, saturation: float, value: float) -> Bgr:
    """Convert HSV to BGR. Hue is in turns. Saturation and value are clipped to 0 to 1."""
    red, green, blue = colorsys.hsv_to_rgb(hue % 1.0, min(max(saturation, 0.0), 1.0), min(max(value, 0.0), 1.0))
    return (255 * blue, 255 * green, 255 * red)


def any_color(
    rng: np.random.Generator, saturation: tuple[float, float] = (0.0, 1.0), value: tuple[float, float] = (0.0, 1.0)
) -> Bgr:
    """Return a colour of any hue within the given ranges."""
    return from_hsv(rng.uniform(0, 1), rng.uniform(*saturation), rng.uniform(*value))


def near(rng: np.random.Generator, bgr: Bgr, spread: float) -> Bgr:
    """Return *bgr* with normal noise of standard deviation *spread* added to each channel."""
    blue, green, red = np.clip(np.asarray(bgr) + rng.normal(0, spread, 3), 0, 255)
    return (float(blue), float(green), float(red))


def scaled(bgr: Bgr, factor: float) -> Bgr:
    """Return *bgr* multiplied by *factor*, at most 255 per channel."""
    return (min(255.0, bgr[0] * factor), min(255.0, bgr[1] * factor), min(255.0, bgr[2] * factor))


def mixed(bgr: Bgr, other: Bgr, share: float) -> Bgr:
    """Return the blend of *bgr* and *other*. A *share* of 1 is *other*."""
    return (
        bgr[0] + share * (other[0] - bgr[0]),
        bgr[1] + share * (other[1] - bgr[1]),
        bgr[2] + share * (other[2] - bgr[2]),
    )


def brightness(bgr: Bgr) -> float:
    """Return the luma of *bgr*, 0 to 255."""
    return 0.114 * bgr[0] + 0.587 * bgr[1] + 0.299 * bgr[2]


def ivory(rng: np.random.Generator) -> Bgr:
    """Return a white, ivory or bone colour."""
    return from_hsv(
        rng.uniform(0.1, 0.16),
        float(rng.choice([rng.uniform(0, 0.08), rng.uniform(0.08, 0.4)])),
        rng.uniform(0.78, 0.96),
    )


def usual_pips() -> tuple[Bgr, ...]:
    """Return the most common pip colour for each number in coloured sets."""
    return tuple(from_hsv(*color) for color in _SOLD_PIPS)


def sold_pips(rng: np.random.Generator) -> tuple[Bgr, ...]:
    """Return a pip colour for each number of a random coloured set, sometimes shuffled, sometimes with few colours."""
    table = _SOLD_PIPS if rng.random() < 0.6 else _OTHER_SOLD_PIPS
    order = np.arange(1, MAX_PIPS + 1)
    kind = rng.random()
    if kind < 0.35:
        order = rng.permutation(order)
    elif kind < 0.5:
        table, order = _FEW_PIPS, rng.integers(0, len(_FEW_PIPS), MAX_PIPS)
    spread = float(rng.choice([0.03, 0.12]))
    muted = float(rng.choice([1.0, rng.uniform(0.3, 1.0)]))
    colors = [from_hsv(*table[0])]
    for number in order:
        hue, saturation, value = table[int(number)]
        colors.append(
            from_hsv(
                hue + rng.normal(0, spread * 0.4),
                saturation * muted + rng.normal(0, spread),
                min(0.95, value * rng.uniform(0.75, 1.1)),
            )
        )
    return tuple(colors)


def seen_on(face_bgr: Bgr, bgr: Bgr) -> Bgr:
    """Return a pip colour, darkened until it contrasts with the face. Sets with invisible pips are not sold."""
    while np.abs(np.subtract(bgr, face_bgr)).max() < _MIN_CONTRAST:
        bgr = scaled(bgr, 0.85)
    return bgr


def contrasting_pips(rng: np.random.Generator, face_bgr: Bgr) -> Bgr:
    """Return a random pip colour with good contrast on *face_bgr*: white, black, yellow, gold or any other."""
    choices = [
        (235.0, 238.0, 240.0),
        (20.0, 20.0, 20.0),
        (40.0, 200.0, 240.0),
        (90.0, 170.0, 205.0),
        any_color(rng, (0.4, 1.0), (0.2, 1.0)),
    ]
    weights = np.array([0.45, 0.2, 0.15, 0.1, 0.1])
    for _ in range(20):
        bgr = near(rng, choices[int(rng.choice(5, p=weights))], 8)
        # Below a difference of 70, a commercial set would be a misprint.
        if np.abs(np.subtract(bgr, face_bgr)).max() > 70 and abs(brightness(bgr) - brightness(face_bgr)) > 28:
            return bgr
    return (240.0, 240.0, 240.0) if brightness(face_bgr) < 128 else (20.0, 20.0, 20.0)


# Sets with numerals instead of pips exist from double-twelve on.
_NUMERALS_FROM = 12


def _pick_styles(rng: np.random.Generator) -> tuple[int, ...]:
    """Return a random pip arrangement for each number, mostly the common one, with the same orientation."""
    across = int(rng.random() < 0.3)
    styles = []
    for pips in range(_NUMBERS):
        count = style_count(pips)
        if rng.random() < 0.3:
            styles.append(int(rng.integers(0, count)))
        else:
            styles.append(across if count > 1 and pips > 3 else 0)
    diagonal = int(rng.random() < 0.5)
    styles[2], styles[3] = diagonal, diagonal if rng.random() < 0.85 else 1 - diagonal
    return tuple(styles)


def _pick_colors(rng: np.random.Generator) -> tuple[Bgr, tuple[Bgr, ...], Bgr]:
    """Return random colours for the face, the pips of each number, and the bar."""
    kind = rng.random()
    if kind < 0.40:
        face = ivory(rng)
        ink = any_color(rng, (0.0, 0.5), (0.02, 0.22))
        return face, (ink,) * _NUMBERS, ink
    if kind < 0.65:
        face = ivory(rng)
        dark = any_color(rng, (0.0, 0.3), (0.02, 0.4))
        return face, tuple(seen_on(face, pip) for pip in sold_pips(rng)), dark
    if kind < 0.77:
        face = any_color(rng, (0.0, 0.3), (0.03, 0.2))
        ink = near(rng, (228.0, 232.0, 234.0), 10)
        return face, (ink,) * _NUMBERS, ink
    if kind < 0.82:  # bare wood
        face = from_hsv(rng.uniform(0.06, 0.11), rng.uniform(0.25, 0.6), rng.uniform(0.5, 0.85))
    else:
        face = any_color(rng, (0.3, 1.0), (0.15, 0.95))
    ink = contrasting_pips(rng, face)
    if rng.random() < 0.15:
        return face, tuple(contrasting_pips(rng, face) for _ in range(_NUMBERS)), ink
    return face, (ink,) * _NUMBERS, ink


def draw_tile_look(rng: np.random.Generator, *, max_pips: int = 6) -> TileLook:
    """Return a random tile set: mostly light with dark pips, then coloured pips, black tiles, or any colour.

    Args:
        max_pips: Highest number of the set. From 12 on, some sets have numerals.
    """
    face, pips, ink = _pick_colors(rng)
    side = scaled(face, rng.uniform(0.85, 1.0))
    two_colored = rng.random() < 0.12
    base = any_color(rng, (0.0, 0.8), (0.05, 0.7)) if two_colored else side
    back = base if two_colored and rng.random() < 0.5 else face
    if rng.random() < 0.08:
        back = any_color(rng)
    length_mm = rng.uniform(40, 56)
    return TileLook(
        face_bgr=face,
        back_bgr=back,
        side_bgr=side,
        base_bgr=base,
        pip_bgr=pips,
        pip_style=_pick_styles(rng),
        is_mirrored=bool(rng.random() < 0.35),
        pip_kind=PipKind(
            str(rng.choice(["flat", "engraved", "ring", "glossy", "drilled"], p=[0.3, 0.3, 0.05, 0.2, 0.15]))
        ),
        pip_radius=rng.uniform(0.13, 0.25),
        pip_spread=rng.uniform(0.85, 1.08),
        pip_depth=rng.uniform(0.1, 0.9),
        bar_kind=BarKind(str(rng.choice(list(BarKind), p=[0.05, 0.34, 0.29, 0.06, 0.22, 0.04]))),
        bar_bgr=_bar_color(rng, face, ink),
        bar_length=float(rng.choice([rng.uniform(0.6, 0.9), 1.0], p=[0.85, 0.15])),
        bar_thickness_mm=float(rng.choice([rng.uniform(0.4, 1.2), rng.uniform(1.2, 2.6)])),
        pin_bgr=near(rng, (90.0, 170.0, 205.0) if rng.random() < 0.7 else (180.0, 185.0, 188.0), 15),
        pin_radius_mm=rng.uniform(0.9, 2.4),
        length_mm=length_mm,
        width_mm=length_mm / rng.uniform(1.85, 2.1),
        thickness_mm=float(rng.choice([rng.uniform(5, 9), rng.uniform(9, 14)], p=[0.5, 0.5])),
        corner_radius_mm=float(rng.choice([rng.uniform(0.5, 2), rng.uniform(2, 5)], p=[0.3, 0.7])),
        bevel_mm=rng.uniform(0.3, 3.0),
        bevel_depth=rng.uniform(0.15, 1.0),
        crease=float(rng.choice([0.0, rng.uniform(0.03, 0.35), rng.uniform(0.35, 0.75)], p=[0.25, 0.5, 0.25])),
        border_mm=float(rng.choice([0.0, rng.uniform(0.8, 2.0)], p=[0.92, 0.08])),
        mottle=float(rng.choice([0.004, rng.uniform(0.01, 0.05)], p=[0.6, 0.4])),
        gloss=rng.uniform(0, 1),
        wear=float(rng.choice([0.0, rng.uniform(0.1, 1.0)], p=[0.6, 0.4])),
        wrap=float(rng.choice([0.0, rng.uniform(0.3, 1.0)], p=[0.93, 0.07])),
        has_emblem=bool(rng.random() < 0.2),
        numerals=int(rng.integers(0, 4)) if max_pips >= _NUMERALS_FROM and rng.random() < 0.12 else None,
    )


def _bar_color(rng: np.random.Generator, face: Bgr, ink: Bgr) -> Bgr:
    """Return a random colour for the bar: the colour of the pips, gold, or a blend of pips and face."""
    kind = rng.random()
    if kind < 0.75:
        return ink
    if kind < 0.88:
        return near(rng, (80.0, 150.0, 190.0), 15)
    return mixed(face, ink, rng.uniform(0.3, 0.7))


_BLACK: Bgr = (24.0, 24.0, 24.0)
_IVORY: Bgr = (205.0, 226.0, 232.0)
_NUMBERS = MAX_PIPS + 1

CLASSIC = TileLook(
    face_bgr=_IVORY,
    back_bgr=_IVORY,
    side_bgr=(175.0, 200.0, 208.0),
    base_bgr=(175.0, 200.0, 208.0),
    pip_bgr=(_BLACK,) * _NUMBERS,
    pip_style=(0,) * _NUMBERS,
)
COLORED = TileLook(
    face_bgr=(228.0, 230.0, 230.0),
    back_bgr=(228.0, 230.0, 230.0),
    side_bgr=(200.0, 203.0, 204.0),
    base_bgr=(200.0, 203.0, 204.0),
    pip_bgr=usual_pips(),
    pip_style=(0,) * _NUMBERS,
    pip_kind=PipKind.GLOSSY,
    pip_radius=0.2,
    bar_thickness_mm=2.0,
)
FELT = TableLook(TableKind.FELT, (58.0, 92.0, 38.0), (40.0, 70.0, 28.0), (80.0, 120.0, 60.0), roughness=0.35)
WALNUT = TableLook(
    TableKind.WOOD, (62.0, 96.0, 140.0), (38.0, 62.0, 98.0), (80.0, 120.0, 170.0), pattern_mm=110.0, gloss=0.2
)
LAMP = LightLook()
OVERHEAD = CameraLook(noise=1.5, blur_px=0.5, jpeg_quality=92)


_TABLE_SHARES = {
    TableKind.PLAIN: 0.13,
    TableKind.FELT: 0.10,
    TableKind.WOOD: 0.20,
    TableKind.LEATHER: 0.06,
    TableKind.STONE: 0.05,
    TableKind.STRIPES: 0.06,
    TableKind.CHECKS: 0.06,
    TableKind.FLOWERS: 0.07,
    TableKind.BOARD: 0.06,
    TableKind.PRINT: 0.05,
    TableKind.WEAVE: 0.06,
    TableKind.DAMASK: 0.07,
    TableKind.GLASS: 0.03,
}
_CLOTHS = (TableKind.STRIPES, TableKind.CHECKS, TableKind.FLOWERS, TableKind.WEAVE, TableKind.DAMASK, TableKind.PLAIN)
_POLISHED = (TableKind.GLASS, TableKind.WOOD, TableKind.STONE, TableKind.PLAIN)


def draw_table_look(rng: np.random.Generator, tile_bgr: Bgr | None = None) -> TableLook:
    """Return a random table, plain or patterned. 10 % are close in colour to *tile_bgr*, if given."""
    kind = list(_TABLE_SHARES)[int(rng.choice(len(_TABLE_SHARES), p=list(_TABLE_SHARES.values())))]
    if kind is TableKind.WOOD:
        base = from_hsv(rng.uniform(0.04, 0.11), rng.uniform(0.25, 0.75), rng.uniform(0.15, 0.85))
    elif kind is TableKind.LEATHER or (kind in (TableKind.PLAIN, TableKind.FELT) and rng.random() < 0.35):
        base = any_color(rng, (0.0, 0.4), (0.02, 0.25))
    else:
        # 90 % of tables and cloths have muted colours. The rest can be as saturated as felt and party cloths.
        max_saturation = 0.85 if rng.random() < 0.1 else 0.6
        base = from_hsv(rng.uniform(0, 1), max_saturation * rng.uniform(0, 1) ** 1.5, rng.uniform(0.15, 1.0))
    if tile_bgr is not None and rng.random() < 0.1:
        base = near(rng, scaled(tile_bgr, rng.uniform(0.7, 0.95)), 12)
    calm = kind in (TableKind.WOOD, TableKind.LEATHER, TableKind.PLAIN, TableKind.FELT, TableKind.WEAVE)
    second = scaled(base, rng.uniform(0.4, 1.5)) if calm or rng.random() < 0.3 else any_color(rng)
    return TableLook(
        kind=kind,
        base_bgr=base,
        second_bgr=second,
        third_bgr=any_color(rng) if rng.random() < 0.6 else (235.0, 235.0, 235.0),
        pattern_mm=rng.uniform(60, 160)
        if kind is TableKind.WOOD
        else float(np.exp(rng.uniform(np.log(8), np.log(80)))),
        roughness=rng.uniform(0.05, 1.0) ** (2 if kind is TableKind.PLAIN else 1),
        unevenness=rng.uniform(0, 1.0),
        theta_rad=rng.uniform(-math.pi, math.pi),
        gloss=float(rng.choice([0.0, rng.uniform(0.2, 1.0)])),
        folds=rng.uniform(0.1, 1.0) if kind in _CLOTHS and rng.random() < 0.5 else 0.0,
        mirror=rng.uniform(0.1, 0.6) if kind is TableKind.GLASS or (kind in _POLISHED and rng.random() < 0.15) else 0.0,
    )


def draw_light_look(rng: np.random.Generator) -> LightLook:
    """Return a random light: hard or soft, dim or bright, warm or cold."""
    warm = rng.normal(0, 0.12)
    green = rng.normal(0, 0.03)
    return LightLook(
        azimuth_rad=rng.uniform(-math.pi, math.pi),
        elevation_rad=rng.uniform(0.45, 1.45),
        ambient=rng.uniform(0.25, 0.9),
        shadow=rng.uniform(0.0, 0.75),
        shadow_blur_mm=float(np.exp(rng.uniform(np.log(0.4), np.log(8)))),
        contact=rng.uniform(0.05, 0.7),
        gradient=rng.uniform(0, 0.35),
        spot=float(rng.choice([rng.uniform(0, 0.15), rng.uniform(0.2, 0.7)], p=[0.7, 0.3])),
        band=float(rng.choice([0.0, rng.uniform(0.2, 0.65)], p=[0.85, 0.15])),
        cast_bgr=(1 - warm, 1 + green, 1 + warm),
        exposure=float(
            rng.choice([rng.uniform(0.9, 1.25), rng.uniform(0.5, 0.9), rng.uniform(1.25, 1.5)], p=[0.6, 0.25, 0.15])
        ),
        contrast=rng.uniform(0.75, 1.35),
        glare=float(rng.choice([0.0, rng.uniform(0.1, 1.0)], p=[0.65, 0.35])),
        glare_stretch=float(rng.choice([1.0, rng.uniform(2, 12)])),
    )


def draw_seat_camera(
    rng: np.random.Generator, *, width_px: int, height_px: int, px_per_mm: float, largest_tilt_rad: float
) -> CameraLook:
    """Return a random camera at a seat: oblique and close, with near tiles about twice as large as far ones."""
    camera = draw_camera_look(rng, width_px=width_px, height_px=height_px, px_per_mm=px_per_mm)
    tilt = min(rng.uniform(0.5, 1.0), largest_tilt_rad)
    return replace(camera, tilt_rad=float(tilt), fov_rad=rng.uniform(0.6, 1.1))


def draw_camera_look(
    rng: np.random.Generator,
    *,
    width_px: int = 1280,
    height_px: int = 960,
    px_per_mm: float = 2.0,
    largest_tilt_rad: float = 0.8,
) -> CameraLook:
    """Return a random camera, mostly looking straight down, sometimes from the side."""
    tilt = rng.choice([rng.uniform(0, 0.1), rng.uniform(0.1, 0.44), rng.uniform(0.44, 0.8)], p=[0.55, 0.33, 0.12])
    soft = px_per_mm / 2  # scale blur with tile size, to keep small tiles readable
    noisy = float(rng.choice([rng.uniform(0.3, 2.5), rng.uniform(2.5, 9)], p=[0.82, 0.18]))
    return CameraLook(
        width_px=width_px,
        height_px=height_px,
        px_per_mm=px_per_mm,
        fov_rad=rng.uniform(0.45, 1.2),
        tilt_rad=min(float(tilt), largest_tilt_rad),
        roll_rad=rng.normal(0, 0.05),
        lens=float(rng.choice([0.0, rng.uniform(-0.08, 0.08)])),
        blur_px=float(rng.choice([rng.uniform(0, 0.7), soft * rng.uniform(0.5, 1.6)], p=[0.7, 0.3])),
        motion_px=float(rng.choice([0.0, soft * rng.uniform(1.5, 5)], p=[0.9, 0.1])),
        motion_rad=rng.uniform(0, math.pi),
        sharpen=float(rng.choice([0.0, rng.uniform(0.2, 1.2)], p=[0.6, 0.4])),
        noise=noisy,
        # Cameras smooth strong noise, which leaves blotches.
        noise_grain_px=rng.uniform(0.5, 1.3) if rng.random() < (0.4 if noisy < 2.5 else 0.8) else 0.0,
        vignette=rng.uniform(0, 0.3),
        bloom=float(rng.choice([0.0, rng.uniform(0.01, 0.1)], p=[0.75, 0.25])),
        fringe_px=float(rng.choice([0.0, rng.uniform(0.3, 1.5)], p=[0.85, 0.15])),
        metering=float(rng.choice([rng.uniform(0, 0.4), rng.uniform(0.4, 1.0)])),
        jpeg_quality=int(rng.choice([rng.integers(25, 60), rng.integers(60, 97)], p=[0.25, 0.75])),
    )
