"""Hand-painted pips: uneven in position, size and shape, and different on every tile."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from synthetic.render.look_types import PlacedPip, Polygon, TileLook
from synthetic.render.patterns import pip_centers, style_count
from synthetic.render.scene import Scene
from vision.arrays import Points

# Highest number with hand-painted pips. Higher numbers keep the look's pips.
_HIGHEST = 9
# A half spans -1 to 1 in half units. Minimum margin at the edge in half units, and minimum distance of the centres of
# two pips, relative to the sum of their radii.
_EDGE, _MIN_DISTANCE = 0.07, 1.15
# Minimum pip radius in half units, and factor by which pips shrink if they do not fit.
_MIN_RADIUS, _SHRINK = 0.08, 0.97


@dataclass(frozen=True, slots=True)
class _Painter:
    """Style of a hand that paints pips.

    Attributes:
        radius: Pip radius in half units.
        uneven: Standard deviation of the logarithm of pip sizes.
        off: Maximum displacement of a pip from its usual position, in half units. None for random positions.
        shrunk: Minimum factor by which the pips of a half are drawn together.
        corners: Number of corners of a pip, 0 for a round pip.
        ragged: Maximum inset of the corners, 0 to 1.
        slim: Maximum reduction of the width of a pip relative to its length, 0 to 1.
    """

    radius: float
    uneven: float
    off: float | None
    shrunk: float
    corners: int
    ragged: float
    slim: float


def painted_by_hand(rng: np.random.Generator, scene: Scene) -> Scene:
    """Return *scene* with pips in a random hand-painted style, drawn separately for each tile."""
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
    """Return *number* pips that do not touch."""
    radius, shrunk = hand.radius, rng.uniform(hand.shrunk, 1.0)
    while True:
        radii = np.maximum(radius * np.exp(rng.normal(0, hand.uneven, number)), _MIN_RADIUS)
        places = _places(rng, hand, number) * shrunk + rng.uniform(-1, 1, 2) * (1 - shrunk)
        reach = 1 - _EDGE - radii[:, None]
        places = np.clip(places, -reach, reach)
        gaps = np.linalg.norm(places[:, None] - places[None], axis=2) + 9 * np.eye(number)
        if (gaps > _MIN_DISTANCE * (radii[:, None] + radii)).all():
            break
        radius, shrunk = radius * _SHRINK, min(1.0, shrunk / _SHRINK)
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
    """Return the corners of a pip, scaled to a maximum distance of 1 from its middle. Empty for a round pip."""
    if hand.corners == 0 and hand.slim == 0:
        return ()
    count = hand.corners or 24
    turns = 2 * math.pi * (np.arange(count) + rng.uniform(-0.25, 0.25, count) * (hand.corners > 0)) / count
    reach = 1 - hand.ragged * rng.uniform(0, 1, count) * (hand.corners > 0)
    shape = reach * np.exp(1j * turns)
    shape = shape.real + 1j * shape.imag * (1 - hand.slim * rng.uniform(0.5, 1))
    shape = shape * np.exp(1j * rng.uniform(0, 2 * math.pi)) / np.abs(shape).max()
    return tuple(zip(shape.real.tolist(), shape.imag.tolist(), strict=True))
