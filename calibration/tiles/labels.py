"""Assign the tiles of a picture to the tiles of a set; each exists once, which exposes misreadings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.tiles.assignment import cheapest_columns

# Said by hand, or told by nothing: as log odds against all else.
_CERTAIN = 1e4
# A second tile with the same pips is that much less likely than a first, in log odds: sets are hardly ever mixed up.
_TWICE = 9.0


@dataclass(frozen=True, slots=True)
class TileCount:
    """Which tiles of a set are there.

    Attributes:
        missing: Those that are not, lower number first.
        twice: Those that are there twice.
    """

    missing: tuple[tuple[int, int], ...]
    twice: tuple[tuple[int, int], ...]


def all_pairs(max_pips: int) -> NDArray[np.int64]:
    """Return all tiles of a set, shape (P, 2), lower number first.

    >>> len(all_pairs(6)), all_pairs(6)[1].tolist()
    (28, [0, 1])
    """
    return np.array([(low, high) for low in range(max_pips + 1) for high in range(low, max_pips + 1)], np.int64)


def label_tiles(
    logs: NDArray[np.float64], said: Mapping[int, tuple[int, int]] | None = None, twice: float = _TWICE
) -> NDArray[np.int64]:
    """Return the pips of both halves of tiles, shape (N, 2), so that together they are likeliest.

    Args:
        logs: Shape (N, 2, K), log probabilities of the numbers 0 to K - 1 for both halves.
        said: Tiles that were said by hand, by their index.
        twice: How unlikely it is, in log odds, that a tile is there twice.
    """
    pairs, either = all_pairs(logs.shape[2] - 1), _either_way(logs, said or {})
    chosen = cheapest_columns(_copied(-either.max(axis=0), twice)) % len(pairs)
    turned = either[1, np.arange(len(logs)), chosen] > either[0, np.arange(len(logs)), chosen]
    return np.where(turned[:, None], pairs[chosen][:, ::-1], pairs[chosen])


def margins(
    logs: NDArray[np.float64],
    pips: NDArray[np.int64],
    which: Sequence[int],
    said: Mapping[int, tuple[int, int]] | None = None,
    twice: float = _TWICE,
) -> NDArray[np.float64]:
    """Return how much likelier the labels of all tiles are than the best in which one is another tile, in log odds.

    Args:
        logs: Shape (N, 2, K).
        pips: Shape (N, 2), what `label_tiles` returned.
        which: Tiles that are asked about, by their index.
        said: Tiles that were said by hand.
        twice: As of `label_tiles`.

    Returns:
        One for each of *which*.
    """
    pairs, either = all_pairs(logs.shape[2] - 1), _either_way(logs, said or {})
    costs = -either.max(axis=0)

    def least(costs: NDArray[np.float64]) -> float:
        copied = _copied(costs, twice)
        return float(copied[np.arange(len(copied)), cheapest_columns(copied)].sum())

    found, least_of_all = [], least(costs)
    for at in which:
        other = costs.copy()
        other[at, (pairs == np.sort(pips[at])).all(axis=1)] += _CERTAIN
        found.append(least(other) - least_of_all)
    return np.array(found)


def _either_way(logs: NDArray[np.float64], said: Mapping[int, tuple[int, int]]) -> NDArray[np.float64]:
    """Return log probabilities of all tiles of the set, shape (2, N, P): as they lie, and turned round."""
    low, high = all_pairs(logs.shape[2] - 1).T
    either = np.stack([logs[:, 0, low] + logs[:, 1, high], logs[:, 0, high] + logs[:, 1, low]])
    for at, (first, second) in said.items():
        is_said = (low == min(first, second)) & (high == max(first, second))
        either[:, at] -= np.where(is_said, 0.0, _CERTAIN)
    return either


def _copied(costs: NDArray[np.float64], twice: float) -> NDArray[np.float64]:
    """Return the costs, shape (N, P), beside those of a second copy of each tile, and of more where N needs them."""
    copies = max(2, -(-len(costs) // costs.shape[1]))
    return np.concatenate([costs + copy * twice for copy in range(copies)], axis=1)


def count_tiles(pips: NDArray[np.int64], max_pips: int) -> TileCount:
    """Return what is missing and what is there twice.

    >>> count_tiles(all_pairs(6)[[0, 0, *range(2, 28)]], 6)
    TileCount(missing=((0, 1),), twice=((0, 0),))
    """
    there = [tuple(pair) for pair in np.sort(pips, axis=1).tolist()]
    every = [(low, high) for low, high in all_pairs(max_pips).tolist()]
    return TileCount(
        tuple(pair for pair in every if pair not in there), tuple(pair for pair in every if there.count(pair) > 1)
    )
