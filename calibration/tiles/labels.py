"""Label the tiles of a picture, using that each tile of a set exists once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.tiles.assignment import cheapest_columns

# Cost that excludes a label, as log odds.
_CERTAIN = 1e4
# Cost of a second tile with the same pips, as log odds. Mixed sets are rare.
_TWICE = 9.0


@dataclass(frozen=True, slots=True)
class TileCount:
    """Missing and duplicate tiles of a set.

    Attributes:
        missing: Missing tiles, lower number first.
        twice: Tiles that occur more than once, lower number first.
    """

    missing: tuple[tuple[int, int], ...]
    twice: tuple[tuple[int, int], ...]


def all_pairs(max_pips: int) -> NDArray[np.int64]:
    """Return all tiles of a set as pairs with the lower number first, shape (P, 2).

    >>> len(all_pairs(6)), all_pairs(6)[1].tolist()
    (28, [0, 1])
    """
    return np.array([(low, high) for low in range(max_pips + 1) for high in range(low, max_pips + 1)], np.int64)


def label_tiles(
    logs: NDArray[np.float64], hand_labels: Mapping[int, tuple[int, int]] | None = None, twice: float = _TWICE
) -> NDArray[np.int64]:
    """Return the most likely joint labels of tiles: pips of both halves, shape (N, 2).

    Args:
        logs: Log probabilities of the numbers 0 to K - 1 for both halves, shape (N, 2, K).
        hand_labels: Labels entered by hand, by tile index.
        twice: Cost of a duplicate tile, as log odds.
    """
    pairs, either = all_pairs(logs.shape[2] - 1), _both_orientations(logs, hand_labels or {})
    chosen = cheapest_columns(_with_copies(-either.max(axis=0), twice)) % len(pairs)
    turned = either[1, np.arange(len(logs)), chosen] > either[0, np.arange(len(logs)), chosen]
    return np.where(turned[:, None], pairs[chosen][:, ::-1], pairs[chosen])


def margins(
    logs: NDArray[np.float64],
    pips: NDArray[np.int64],
    indices: Sequence[int],
    hand_labels: Mapping[int, tuple[int, int]] | None = None,
    twice: float = _TWICE,
) -> NDArray[np.float64]:
    """Return the log odds of the joint labels against the best joint labels with another label for a given tile.

    Args:
        logs: Log probabilities, shape (N, 2, K).
        pips: Result of `label_tiles`, shape (N, 2).
        indices: Tiles to evaluate.
        hand_labels: Labels entered by hand, by tile index.
        twice: Cost of a duplicate tile, as log odds.

    Returns:
        Log odds for each of *indices*.
    """
    pairs, either = all_pairs(logs.shape[2] - 1), _both_orientations(logs, hand_labels or {})
    costs = -either.max(axis=0)

    def minimum(costs: NDArray[np.float64]) -> float:
        copied = _with_copies(costs, twice)
        return float(copied[np.arange(len(copied)), cheapest_columns(copied)].sum())

    odds, overall_minimum = [], minimum(costs)
    for at in indices:
        other = costs.copy()
        other[at, (pairs == np.sort(pips[at])).all(axis=1)] += _CERTAIN
        odds.append(minimum(other) - overall_minimum)
    return np.array(odds)


def _both_orientations(logs: NDArray[np.float64], hand_labels: Mapping[int, tuple[int, int]]) -> NDArray[np.float64]:
    """Return log probabilities of all tiles of the set in both orientations, shape (2, N, P)."""
    low, high = all_pairs(logs.shape[2] - 1).T
    either = np.stack([logs[:, 0, low] + logs[:, 1, high], logs[:, 0, high] + logs[:, 1, low]])
    for at, (first, second) in hand_labels.items():
        is_label = (low == min(first, second)) & (high == max(first, second))
        either[:, at] -= np.where(is_label, 0.0, _CERTAIN)
    return either


def _with_copies(costs: NDArray[np.float64], twice: float) -> NDArray[np.float64]:
    """Return the costs, shape (N, P), followed by those of a second copy of each tile, and of more if N requires it."""
    copies = max(2, -(-len(costs) // costs.shape[1]))
    return np.concatenate([costs + copy * twice for copy in range(copies)], axis=1)


def count_tiles(pips: NDArray[np.int64], max_pips: int) -> TileCount:
    """Return the missing and duplicate tiles of a set.

    >>> count_tiles(all_pairs(6)[[0, 0, *range(2, 28)]], 6)
    TileCount(missing=((0, 1),), twice=((0, 0),))
    """
    present = [tuple(pair) for pair in np.sort(pips, axis=1).tolist()]
    every = [(low, high) for low, high in all_pairs(max_pips).tolist()]
    return TileCount(
        tuple(pair for pair in every if pair not in present), tuple(pair for pair in every if present.count(pair) > 1)
    )
