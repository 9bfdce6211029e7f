"""Pips that somebody painted by hand: anywhere on a half, uneven, of any shape, and on no two tiles alike."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from synthetic.render.look_types import PlacedPip, Polygon, TileLook
from synthetic.render.patterns import pip_centers, style_count
from synthetic.render.scene import Scene
from vision.arrays import Points

# Nobody paints more than nine pips on a half by hand.
_HIGHEST = 9
# Half units that stay free at the edge, and how many radii pips are apart at least.
_EDGE, _APART = 0.07, 1.15
_LEAST_RADIUS, _SMALLER = 0.08, 0.97


@dataclass(frozen=True, slots=True)
class _Painter:
    """How somebody paints.

    Attributes:
        radius: Half units.
        uneven: Standard deviation of the logarithm of the size of pips.
        off: How far a pip may be off its usual place, half units; None if it may lie anywhere.
        shrunk: The least factor by which the pips of a half are drawn together.
        corners: Of a pip; 0 if it is round.
        ragged: How far these corners may lie inside, 0 to 1.
        slim: How much narrower than long a pip may be, 0 to 1.
    """

    radius: float
    uneven: float
    off: float | None
    shrunk: float
    corners: int
    ragged: float
    slim: float


def painted_by_hand(rng: np.random.Generator, scene: Scene) -> Scene:
    """Return *scene* with pips painted by one hand, each tile by itself."""
    hand = _draw_painter(rng, scene.tile.pip_radius)
    looks = [_painted(rng, hand, scene.look_of(placed)) for placed in scene.tiles]
    tiles = tuple(replace(placed, look=1 + at) for at, placed in enumerate(scene.tiles))
    return replace(scene, tiles=tiles, more_looks=tuple(looks))


def _draw_painter(rng: np.random.Generator, radius: float) -> _Painter:
    return _Painter(
        radius=float(np.clip(radius * rng.uniform(0.6, 1.2), 0.09, 0.3)),
        uneven=rng.uniform(0, 0.35),
        off=rng.uniform(0.05, 0.3) if rng.random() < 0.5 else None,
        shrunk=rng.uniform(0.45, 1.0),
        corners=int(rng.choice([0, 0, 3, 4, 5, 7, 9, 14])),
        ragged=rng.uniform(0, 0.5),
        slim=rng.uniform(0, 0.6) if rng.random() < 0.5 else 0.0,
    )


def _painted(rng: np.random.Generator, hand: _Painter, look: TileLook) -> TileLook:
    pips = tuple(_half(rng, hand, number) for number in range(_HIGHEST + 1))
    return replace(look, placed_pips=pips, numerals=None)


def _half(rng: np.random.Generator, hand: _Painter, number: int) -> tuple[PlacedPip, ...]:
    """Return so many pips, apart from each other."""
    radius, shrunk = hand.radius, rng.uniform(hand.shrunk, 1.0)
    while True:
        radii = np.maximum(radius * np.exp(rng.normal(0, hand.uneven, number)), _LEAST_RADIUS)
        places = _places(rng, hand, number) * shrunk + rng.uniform(-1, 1, 2) * (1 - shrunk)
        reach = 1 - _EDGE - radii[:, None]
        places = np.clip(places, -reach, reach)
        gaps = np.linalg.norm(places[:, None] - places[None], axis=2) + 9 * np.eye(number)
        if (gaps > _APART * (radii[:, None] + radii)).all():
            break
        radius, shrunk = radius * _SMALLER, min(1.0, shrunk / _SMALLER)
    return tuple(
        PlacedPip(float(x), float(y), float(radius), _outline(rng, hand))
        for (x, y), radius in zip(places, radii, strict=True)
    )


def _places(rng: np.random.Generator, hand: _Painter, number: int) -> Points:
    if hand.off is None:
        return np.asarray(rng.uniform(-1, 1, (number, 2)))
    usual = pip_centers(number, int(rng.integers(style_count(number))))
    return np.asarray(usual + rng.uniform(-hand.off, hand.off, usual.shape))


def _outline(rng: np.random.Generator, hand: _Painter) -> Polygon:
    """Return the corners of one pip, its longest way 1 from its middle."""
    if hand.corners == 0 and hand.slim == 0:
        return ()
    count = hand.corners or 24
    turns = 2 * math.pi * (np.arange(count) + rng.uniform(-0.25, 0.25, count) * (hand.corners > 0)) / count
    reach = 1 - hand.ragged * rng.uniform(0, 1, count) * (hand.corners > 0)
    shape = reach * np.exp(1j * turns)
    shape = shape.real + 1j * shape.imag * (1 - hand.slim * rng.uniform(0.5, 1))
    shape = shape * np.exp(1j * rng.uniform(0, 2 * math.pi)) / np.abs(shape).max()
    return tuple(zip(shape.real.tolist(), shape.imag.tolist(), strict=True))
