"""Estimate camera motion from tiles that did not move on the table."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from vision.arrays import Motion, Points
from vision.reading import SeenTile
from vision.tracking.tracks import has_same_pips, side_px

# Maximum distance in sides between a half and its predicted position.
_AGREES = 0.35
# Maximum change of scale and rotation.
_MOST_GROWTH, _MOST_TURN_RAD = 1.25, 0.5
# Minimum number of tiles, and share of the known tiles, that must agree.
_LEAST_TILES, _LEAST_SHARE = 3, 0.5


def find_motion(before: Sequence[SeenTile], after: Sequence[SeenTile]) -> Motion | None:
    """Return the image motion, shape (2, 3), that explains the new positions of most tiles.

    Every pair of equal tiles gives a hypothesis. The motion is fitted to the tiles that agree with the best hypothesis.
    None if fewer than three, or less than half of the known ones, agree with it. Face-down tiles are ignored.

    Args:
        before: Known tiles, at their previous positions.
        after: Tiles read from the current image.
    """
    known, seen = ([tile for tile in tiles if tile.halves] for tiles in (before, after))
    if len(known) < _LEAST_TILES:
        return None
    best: list[tuple[Points, Points]] = []
    for start, end in _pairs(known, seen):
        motion = _similarity(start, end)
        if motion is not None:
            agreed = _agreeing(motion, known, seen)
            best = agreed if len(agreed) > len(best) else best
    if len(best) < max(_LEAST_TILES, _LEAST_SHARE * len(known)):
        return None
    return _fitted(np.concatenate([start for start, _ in best]), np.concatenate([end for _, end in best]))


def _pairs(known: Sequence[SeenTile], seen: Sequence[SeenTile]) -> Iterator[tuple[Points, Points]]:
    """Yield the half centres of each known tile and of each equal tile in the image, in matching order, (2, 2) each."""
    for tile, other in itertools.product(known, seen):
        if has_same_pips(tile, other):
            yield from _half_on_half(tile, other)


def _half_on_half(tile: SeenTile, other: SeenTile) -> Iterator[tuple[Points, Points]]:
    start, end = np.array(tile.half_centers_px), np.array(other.half_centers_px)
    pips = [half.pips for half in tile.halves]
    if pips == [half.pips for half in other.halves]:
        yield start, end
    if pips == [half.pips for half in other.halves[::-1]]:
        yield start, end[::-1]


def _similarity(start: Points, end: Points) -> Motion | None:
    """Return the similarity transform between two pairs of points, or None if it exceeds the limits."""
    a, b = (complex(*(pair[1] - pair[0])) for pair in (start, end))
    factor = b / a
    if not 1 / _MOST_GROWTH < abs(factor) < _MOST_GROWTH or abs(np.angle(factor)) > _MOST_TURN_RAD:
        return None
    turn = np.array([[factor.real, -factor.imag], [factor.imag, factor.real]])
    return np.column_stack([turn, end.mean(axis=0) - turn @ start.mean(axis=0)])


def _agreeing(motion: Motion, known: Sequence[SeenTile], seen: Sequence[SeenTile]) -> list[tuple[Points, Points]]:
    """Return the half centres of the known tiles, and of equal tiles, that agree with a motion."""
    agreed = []
    for tile in known:
        limit_px = _AGREES * side_px(tile)
        pairs = _pairs([tile], seen)
        found = ((s, e) for s, e in pairs if np.abs(s @ motion[:, :2].T + motion[:, 2] - e).max() < limit_px)
        pair = next(found, None)
        if pair is not None:
            agreed.append(pair)
    return agreed


def _fitted(start: Points, end: Points) -> Motion:
    """Return the least-squares affine motion between points, shape (2, 3)."""
    rows = np.column_stack([start, np.ones(len(start))])
    return np.asarray(np.linalg.lstsq(rows, end, rcond=None)[0].T)
