"""Ten tile sets with signs instead of pips, which are not part of any training.

Such sets exist with pictures, shapes and colours for children, with fractions and Roman numerals for schools, and with
the numerals of many scripts. Each is a double-six. The rest of its look is drawn as for training, with separate seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from lab.bench.material.outlines import corners, star
from lab.render.look_types import Polygon, TileLook
from lab.render.looks import draw_tile_look
from vision.arrays import Bgr

_SEED = 79
HIGHEST = 6
Sign = tuple[Polygon, ...]
# Points are complex numbers from -1 to 1 across a half, with x right and y down.
Line = Sequence[complex]
Strokes = Sequence[Line]


def sign_looks() -> Iterator[tuple[str, TileLook]]:
    """Yield the name of each kind and its look."""
    for at, (name, signs) in enumerate(_kinds().items()):
        look = draw_tile_look(np.random.default_rng([_SEED, at]), max_pips=HIGHEST)
        if name == "colours":
            look = replace(look, pip_bgr=(*_COLOURS, *look.pip_bgr[len(_COLOURS) :]))
        yield name, replace(look, numerals=at % 4, signs=signs, is_mirrored=at % 3 == 0)


# Segments of a digital clock, and the segments of the digits 0 to 6.
_SEGMENTS: tuple[Line, ...] = (
    (-0.25 - 0.65j, 0.25 - 0.65j),
    (0.35 - 0.6j, 0.35 - 0.05j),
    (0.35 + 0.05j, 0.35 + 0.6j),
    (-0.25 + 0.65j, 0.25 + 0.65j),
    (-0.35 + 0.05j, -0.35 + 0.6j),
    (-0.35 - 0.6j, -0.35 - 0.05j),
    (-0.25, 0.25),
)
_LIT = ((0, 1, 2, 3, 4, 5), (1, 2), (0, 1, 6, 4, 3), (0, 1, 6, 2, 3), (5, 6, 1, 2), (0, 5, 6, 2, 3), (0, 5, 4, 3, 2, 6))

# Crayon colours: red, orange, yellow, green, blue, violet and black.
_COLOURS: tuple[Bgr, ...] = (
    (40.0, 30.0, 190.0),
    (30.0, 120.0, 235.0),
    (50.0, 210.0, 240.0),
    (70.0, 140.0, 40.0),
    (170.0, 80.0, 30.0),
    (140.0, 45.0, 110.0),
    (25.0, 25.0, 25.0),
)

# Strokes of the numbers 1 to 6. Scripts without a sign for 0 use a blank.
_I, _V = (-0.6j, 0.6j), (-0.35 - 0.6j, 0.6j, 0.35 - 0.6j)
_TALLIES = tuple((x - 0.6j, x + 0.6j) for x in (-0.63, -0.31, 0.01, 0.33))
_FIVE_TALLIES = (*_TALLIES, (-0.8 + 0.4j, 0.5 - 0.4j))
_ROMAN: Sequence[Strokes] = (
    (_I,),
    ((-0.25 - 0.6j, -0.25 + 0.6j), (0.25 - 0.6j, 0.25 + 0.6j)),
    ((-0.45 - 0.6j, -0.45 + 0.6j), _I, (0.45 - 0.6j, 0.45 + 0.6j)),
    ((-0.5 - 0.6j, -0.5 + 0.6j), (-0.15 - 0.6j, 0.2 + 0.6j, 0.55 - 0.6j)),
    (_V,),
    ((-0.55 - 0.6j, -0.2 + 0.6j, 0.15 - 0.6j), (0.5 - 0.6j, 0.5 + 0.6j)),
)
_CHINESE: Sequence[Strokes] = (
    ((-0.7, 0.7 - 0.05j),),
    ((-0.45 - 0.4j, 0.45 - 0.4j), (-0.7 + 0.5j, 0.7 + 0.5j)),
    ((-0.55 - 0.6j, 0.55 - 0.6j), (-0.45, 0.45), (-0.7 + 0.6j, 0.7 + 0.6j)),
    (
        (-0.65 - 0.55j, 0.65 - 0.55j, 0.65 + 0.6j, -0.65 + 0.6j, -0.65 - 0.55j),
        (-0.2 - 0.5j, -0.2, -0.45 + 0.2j),
        (0.15 - 0.5j, 0.15 + 0.05j, 0.5 + 0.05j),
    ),
    (
        (-0.55 - 0.6j, 0.55 - 0.6j),
        (-0.05 - 0.6j, -0.25 + 0.6j),
        (-0.4 - 0.05j, 0.4 - 0.05j, 0.35 + 0.6j),
        (-0.7 + 0.6j, 0.7 + 0.6j),
    ),
    ((-0.1 - 0.75j, 0.1 - 0.5j), (-0.7 - 0.2j, 0.7 - 0.2j), (-0.2, -0.6 + 0.7j), (0.2, 0.6 + 0.7j)),
)
_ARABIC: Sequence[Strokes] = (
    ((-0.1 - 0.6j, 0.1 + 0.6j),),
    ((-0.35 - 0.6j, 0.05 + 0.65j), (-0.3 - 0.4j, 0, 0.3 - 0.1j, 0.35 - 0.6j)),
    ((-0.5 - 0.6j, 0.65j), (-0.5 - 0.6j, -0.35 - 0.3j, -0.1 - 0.55j, 0.05 - 0.3j, 0.35 - 0.6j)),
    ((0.3 - 0.6j, -0.25 - 0.35j, 0.2 - 0.05j, -0.35 + 0.3j, 0.35 + 0.6j),),
    ((-0.4 + 0.1j, -0.1 - 0.45j, 0.2 - 0.3j, 0.4 + 0.2j, 0.1 + 0.5j, -0.25 + 0.45j, -0.4 + 0.1j),),
    ((-0.4 - 0.55j, 0.3 - 0.55j, 0.3 + 0.65j),),
)
_TALLY: Sequence[Strokes] = (
    *(_TALLIES[:count] for count in range(1, 5)),
    _FIVE_TALLIES,
    (*_FIVE_TALLIES, (0.72 - 0.6j, 0.72 + 0.6j)),
)


def _kinds() -> dict[str, tuple[Sign, ...]]:
    """Return the signs of 0 to 6 for each kind, by name."""
    in_a_row = ((0.0,), (-0.25, 0.25), (-0.45, 0.0, 0.45), (-0.6, -0.2, 0.2, 0.6))
    five = _line((-0.65 + 0.55j, 0.65 + 0.55j), 0.3)
    return {
        "roman": ((), *_written(_ROMAN, 0.16)),
        "chinese": ((), *_written(_CHINESE, 0.15)),
        "arabic": ((_disc(0, 0.18),), *_written(_ARABIC, 0.16)),
        "tally": ((), *_written(_TALLY, 0.12)),
        "maya": (
            (),
            *(tuple(_disc(x, 0.16) for x in places) for places in in_a_row),
            (five,),
            (five, _disc(-0.1j, 0.16)),
        ),
        "digital": _written([[_SEGMENTS[segment] for segment in lit] for lit in _LIT], 0.17),
        "fractions": (_ring(0.08), *(_pie(count / 6) for count in range(1, 7))),
        "shapes": _shapes(),
        "colours": ((_disc(0, 0.68),),) * (HIGHEST + 1),
        "pictures": _pictures(),
    }


def _shapes() -> tuple[Sign, ...]:
    """Return a ring, a disc, a triangle, a square, a star, a cross and a crescent."""
    return (
        _ring(0.2),
        (_disc(0, 0.65),),
        (star(3, 0.5, 0.75),),
        (corners([-0.57 - 0.57j, 0.57 - 0.57j, 0.57 + 0.57j, -0.57 + 0.57j]),),
        (star(5, 0.42, 0.8),),
        (_line((-0.6, 0.6), 0.36), _line((-0.6j, 0.6j), 0.36)),
        (corners([*_arc(0, 0.7, 0.7, 5.6), *_arc(0.35, 0.5, 5.3, 1.0)]),),
    )


def _pictures() -> tuple[Sign, ...]:
    """Return a house, a fish, a tree, a boat, a cat, an umbrella and a flower."""
    door = (0.15 + 0.65j, 0.15 + 0.2j, -0.15 + 0.2j, -0.15 + 0.65j)
    fir = (-0.8j, 0.45 - 0.2j, 0.2 - 0.2j, 0.6 + 0.35j, -0.6 + 0.35j, -0.2 - 0.2j, -0.45 - 0.2j)
    sails = ((-0.05 - 0.75j, -0.05 + 0.2j, -0.6 + 0.2j), (0.05 - 0.5j, 0.5 + 0.2j, 0.05 + 0.2j))
    ears = ((-0.45, -0.5 - 0.7j, -0.05 - 0.3j), (0.45, 0.5 - 0.7j, 0.05 - 0.3j))
    return (
        (corners([-0.6 - 0.05j, -0.75j, 0.6 - 0.05j, 0.6 + 0.65j, *door, -0.6 + 0.65j]),),
        (_disc(-0.15, 0.4), corners([0.1, 0.7 - 0.4j, 0.7 + 0.4j])),
        (corners(fir), _line((0.35j, 0.75j), 0.2)),
        (corners([-0.75 + 0.3j, 0.75 + 0.3j, 0.45 + 0.7j, -0.45 + 0.7j]), *map(corners, sails)),
        (_disc(0.1j, 0.45), *map(corners, ears)),
        (corners(_arc(0, 0.7, math.pi, 2 * math.pi)), *_lines([(0, 0.6j, 0.3 + 0.6j)], 0.1)),
        tuple(_disc(complex(0.45 * np.exp(2j * math.pi * turn / 5)), 0.26) for turn in range(5)),
    )


def _arc(middle: complex, radius: float, start: float, stop: float) -> list[complex]:
    return [complex(middle + radius * np.exp(1j * turn)) for turn in np.linspace(start, stop, 32)]


def _disc(middle: complex, radius: float) -> Polygon:
    return corners(_arc(middle, radius, 0, 2 * math.pi))


def _ring(width: float) -> Sign:
    return _lines([_arc(0, 0.7 - width / 2, 0, 2 * math.pi)], width)


def _pie(share: float) -> Sign:
    top = -math.pi / 2
    return (corners([0, *_arc(0, 0.7, top, top + 2 * math.pi * share)]), *_ring(0.08))


def _written(signs: Sequence[Strokes], width: float) -> tuple[Sign, ...]:
    return tuple(_lines(strokes, width) for strokes in signs)


def _lines(lines: Strokes, width: float) -> Sign:
    return tuple(_line(part, width) for line in lines for part in pairwise(line))


def _line(ends: Line, width: float) -> Polygon:
    """Return a stroke between two points, extended at each end by half its width to join other strokes."""
    start, stop = ends
    along = (stop - start) / abs(stop - start) * width / 2
    across = along * 1j
    return corners([start - along + across, start - along - across, stop + along - across, stop + along + across])
