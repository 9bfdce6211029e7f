"""Random colours of tiles, pips and tables."""

from __future__ import annotations

import colorsys

import numpy as np

from lab.render.patterns import MAX_PIPS
from vision.arrays import Bgr

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
