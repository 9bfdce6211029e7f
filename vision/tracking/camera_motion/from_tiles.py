"""Re-estimate the camera pose from tiles that did not move."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from vision.arrays import Motion, Points
from vision.reading import SeenTile
from vision.tracking.tracks import has_same_pips, side_px

# A half that is found within this of where it should be, in sides, agrees.
_AGREES = 0.35
# How much nearer or farther, and how far turned, the camera may be.
_MOST_GROWTH, _MOST_TURN_RAD = 1.25, 0.5
# So many tiles, and this share of those known, must lie as they lay to each other.
_LEAST_TILES, _LEAST_SHARE = 3, 0.5


def find_motion(before: Sequence[SeenTile], after: Sequence[SeenTile]) -> Motion | None:
    """Return the motion of the picture, shape (2, 3), that takes most tiles to where they are seen now.

    Every pair of tiles with the same pips says how the picture may have moved; the one that most others agree with is
    taken and fitted to all of them. None where fewer than three tiles, or half of those that were known, agree.

    Args:
        before: The tiles as they lay.
        after: What is seen now.
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
    """Yield the half centres, shape (2, 2), of each known tile and of each seen one with its pips, half on half."""
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
    """Return the turn, growth and shift that take two points to two others; None where no camera moves so far."""
    a, b = (complex(*(pair[1] - pair[0])) for pair in (start, end))
    factor = b / a
    if not 1 / _MOST_GROWTH < abs(factor) < _MOST_GROWTH or abs(np.angle(factor)) > _MOST_TURN_RAD:
        return None
    turn = np.array([[factor.real, -factor.imag], [factor.imag, factor.real]])
    return np.column_stack([turn, end.mean(axis=0) - turn @ start.mean(axis=0)])


def _agreeing(motion: Motion, known: Sequence[SeenTile], seen: Sequence[SeenTile]) -> list[tuple[Points, Points]]:
    """Return the half centres of the known tiles that a motion takes to where one with their pips is seen."""
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
    """Return the affine motion that takes points to others with the least squares of error."""
    rows = np.column_stack([start, np.ones(len(start))])
    return np.asarray(np.linalg.lstsq(rows, end, rcond=None)[0].T)
