"""Ten tile sets with pips that are not round, which are not part of any training.

The rest of each look is drawn as for training, with separate seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from lab.bench.material.outlines import corners, star
from lab.render.look_types import PipKind, Polygon, TileLook
from lab.render.looks import draw_tile_look

_SETS = (6, 9, 12)
_SEED = 73


def unseen_looks() -> Iterator[tuple[str, int, TileLook]]:
    """Yield the name of each kind, the highest number of its set, and its look."""
    for at, (name, outline) in enumerate(_outlines().items()):
        look = _drawn(at)
        kind = PipKind.FLAT if at % 2 else PipKind.ENGRAVED
        yield name, _highest(at), replace(look, numerals=None, pip_kind=kind, pip_outline=outline)


def _highest(at: int) -> int:
    return _SETS[at % len(_SETS)]


def _drawn(at: int) -> TileLook:
    return draw_tile_look(np.random.default_rng([_SEED, at]), max_pips=_highest(at))


def _outlines() -> dict[str, Polygon]:
    """Return the outlines of pips by name."""
    turn = np.linspace(0, 2 * math.pi, 48, endpoint=False)
    down = -13 * np.cos(turn) + 5 * np.cos(2 * turn) + 2 * np.cos(3 * turn) + np.cos(4 * turn)
    heart = 16 * np.sin(turn) ** 3 + 1j * down
    arc = np.linspace(0.7, 2 * math.pi - 0.7, 40)
    inner = 0.45 + 0.75 * np.exp(1j * arc[::-1])
    arm = np.array([-0.3 - 0.95j, 0.3 - 0.95j, 0.3 - 0.3j])
    return {
        "triangles": _regular(3),
        "squares": _regular(4, 0.25 * math.pi),
        "diamonds": _regular(4),
        "hexagons": _regular(6),
        "stars": star(5, 0.42),
        "flowers": star(6, 0.55),
        "hearts": corners(heart / 17.1),
        "crosses": corners(np.concatenate([arm * quarter for quarter in (1, 1j, -1, -1j)])),
        "crescents": corners(np.concatenate([np.exp(1j * arc), inner])),
        "strokes": corners(np.array([-0.28 - 0.95j, 0.28 - 0.95j, 0.28 + 0.95j, -0.28 + 0.95j])),
    }


def _regular(count: int, turned_rad: float = 0.0) -> Polygon:
    return corners(np.exp(1j * (2 * math.pi * np.arange(count) / count - math.pi / 2 + turned_rad)))
