"""Random looks of commercial tile sets, new or worn, some in plastic film."""

from __future__ import annotations

import numpy as np

from synthetic.render import colors
from synthetic.render.look_types import BarKind, PipKind, TileLook
from synthetic.render.patterns import MAX_PIPS, style_count
from vision.arrays import Bgr

_NUMBERS = MAX_PIPS + 1
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
        face = colors.ivory(rng)
        ink = colors.any_color(rng, (0.0, 0.5), (0.02, 0.22))
        return face, (ink,) * _NUMBERS, ink
    if kind < 0.65:
        face = colors.ivory(rng)
        dark = colors.any_color(rng, (0.0, 0.3), (0.02, 0.4))
        return face, tuple(colors.seen_on(face, pip) for pip in colors.sold_pips(rng)), dark
    if kind < 0.77:
        face = colors.any_color(rng, (0.0, 0.3), (0.03, 0.2))
        ink = colors.near(rng, (228.0, 232.0, 234.0), 10)
        return face, (ink,) * _NUMBERS, ink
    if kind < 0.82:  # bare wood
        face = colors.from_hsv(rng.uniform(0.06, 0.11), rng.uniform(0.25, 0.6), rng.uniform(0.5, 0.85))
    else:
        face = colors.any_color(rng, (0.3, 1.0), (0.15, 0.95))
    ink = colors.contrasting_pips(rng, face)
    if rng.random() < 0.15:
        return face, tuple(colors.contrasting_pips(rng, face) for _ in range(_NUMBERS)), ink
    return face, (ink,) * _NUMBERS, ink


def draw_tile_look(rng: np.random.Generator, *, max_pips: int = 6) -> TileLook:
    """Return a random tile set: mostly light with dark pips, then coloured pips, black tiles, or any colour.

    Args:
        rng: Random generator.
        max_pips: Highest number of the set. From 12 on, some sets have numerals.
    """
    face, pips, ink = _pick_colors(rng)
    side = colors.scaled(face, rng.uniform(0.85, 1.0))
    two_colored = rng.random() < 0.12
    base = colors.any_color(rng, (0.0, 0.8), (0.05, 0.7)) if two_colored else side
    back = base if two_colored and rng.random() < 0.5 else face
    if rng.random() < 0.08:
        back = colors.any_color(rng)
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
        pin_bgr=colors.near(rng, (90.0, 170.0, 205.0) if rng.random() < 0.7 else (180.0, 185.0, 188.0), 15),
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
        return colors.near(rng, (80.0, 150.0, 190.0), 15)
    return colors.mixed(face, ink, rng.uniform(0.3, 0.7))
