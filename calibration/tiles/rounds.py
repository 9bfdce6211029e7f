"""Identify the tiles of a set in rounds: labels train the classifier, which corrects the labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from calibration.tiles.labels import label_tiles, margins
from vision.reader.custom_set_fit import Restraint, Views, held_out, misread, read_by

HandLabels = Mapping[int, tuple[int, int]]
"""Pips of tiles that were said by hand, by their index over all pictures."""
ReportShare = Callable[[float], object]
"""Is told which share of the work is done, 0 to 1; what it raises ends the work."""

# How often labels and what is learned from them are put right by each other.
_ROUNDS = 4
_FIRST = Restraint(0.01, 0.6)
# Signs are learned from a few tiles that were said, and the shipped eye has nothing to say of them.
_FIRST_OF_SIGNS = Restraint(0.001, 0.0)
# A tile is asked for where a half is told with less than this by what was learned of the other tiles, and where all
# labels together are not that much likelier, in log odds, than with another one for it.
_SURE, _AHEAD = 0.8, 3.0
# Halves show what the shipped eye does not know where it misreads so many of those that were said; that many doubles
# tell it before every number was said.
_UNKNOWN, _DOUBLES_TELL = 0.5, 3


def are_signs(views: Views, said: HandLabels) -> bool:
    """Return whether a set has signs for its numbers that are all known from what was said by hand.

    Of every number it must have been said which half shows it, and the shipped eye must misread most of them.

    Args:
        views: Of all tiles, for the numbers of the set.
        said: What was said.
    """
    return _told_apart(said) == set(range(views.logs.shape[3])) and _is_unknown(views, said)


def are_signs_so_far(views: Views, said: HandLabels) -> bool:
    """Return whether a set seems to have signs before all of them were said: of three doubles most are misread."""
    doubles = _doubles(said)
    return len(doubles) >= _DOUBLES_TELL and _is_unknown(views, doubles)


def _doubles(said: HandLabels) -> HandLabels:
    return {at: pair for at, pair in said.items() if pair[0] == pair[1]}


def _is_unknown(views: Views, said: HandLabels) -> bool:
    """Return whether the shipped eye misreads most of what was said."""
    pairs, shipped = np.array(list(said.values()), np.int64), np.exp(views.logs[:, list(said)])
    return min(misread(shipped, pairs), misread(shipped, pairs[:, ::-1])) > _UNKNOWN


def are_unfounded(shipped_misread: float) -> bool:
    """Return whether labels are nothing that the shipped eye sees: it misreads that share of what they say.

    Signs that nobody has named can be told apart, so that any order of them fits what is learned of it.
    """
    return shipped_misread > _UNKNOWN


def each_once(logs: NDArray[np.float64], counts: Sequence[int], said: HandLabels) -> NDArray[np.int64]:
    """Return the pips of all tiles, shape (N, 2), that are together the likeliest, each tile once in a picture.

    Args:
        logs: Shape (N, 2, K), log probabilities of the numbers.
        counts: How many of the tiles each picture shows.
        said: What was said by hand.
    """
    return np.concatenate([label_tiles(logs[start:stop], here) for start, stop, here in _pictures(counts, said)])


def labelled(
    logs: NDArray[np.float64], views: Views, counts: Sequence[int], said: HandLabels, told: ReportShare
) -> NDArray[np.int64]:
    """Return the pips of all tiles of a set that the shipped eye knows, shape (N, 2).

    Args:
        logs: Shape (N, 2, K), log probabilities of the numbers as it reads them.
        views: Of the tiles.
        counts: How many of the tiles each picture shows; no tile is twice in one of them.
        said: What was said by hand.
        told: Is told how far it is.
    """
    return _put_right(each_once(logs, counts, said), views.without_pictures(), counts, said, _FIRST, told)


def labelled_signs(views: Views, counts: Sequence[int], said: HandLabels, told: ReportShare) -> NDArray[np.int64]:
    """Return the pips of all tiles of a set of signs, shape (N, 2), from those that were said by hand.

    Doubles come first, for of another tile it is not said which half shows which number.

    Args:
        views, counts, said, told: As of `labelled`; *said* has every number.
    """
    pips = np.array([said.get(at, (0, 0)) for at in range(sum(counts))], np.int64)
    for examples in (_doubles(said), said):
        pips = _by_examples(views, counts, said, pips, examples)
    return _put_right(pips, views, counts, said, _FIRST_OF_SIGNS, told)


def doubtful_tiles(
    chances: NDArray[np.float64], pips: NDArray[np.int64], counts: Sequence[int], said: HandLabels
) -> tuple[int, ...]:
    """Return the tiles that may be another one.

    Args:
        chances: Shape (V, N, 2, K), what was learned of the other tiles says of each.
        pips: Shape (N, 2), what they were taken for.
        counts, said: As of `labelled`.
    """
    together, found = _together(chances), []
    for start, stop, here in _pictures(counts, said):
        sure = np.take_along_axis(together[start:stop], pips[start:stop, :, None], axis=2)[..., 0].min(axis=1)
        unsure = [at for at in np.nonzero(sure < _SURE)[0].tolist() if at not in here]
        ahead = margins(np.log(together[start:stop]), pips[start:stop], unsure, here)
        found += [start + at for at, margin in zip(unsure, ahead.tolist(), strict=True) if margin < _AHEAD]
    return tuple(found)


def _told_apart(said: HandLabels) -> set[int]:
    """Return the numbers of which it is known which half shows them.

    A double tells it, and a tile whose other number is known.

    >>> sorted(_told_apart({0: (4, 4), 1: (4, 6), 2: (2, 3)}))
    [4, 6]
    """
    known = {number for number, _ in _doubles(said).values()}
    while True:
        more = {number for pair in said.values() if known & set(pair) for number in pair} - known
        if not more:
            return known
        known |= more


def _by_examples(
    views: Views, counts: Sequence[int], said: HandLabels, pips: NDArray[np.int64], examples: HandLabels
) -> NDArray[np.int64]:
    """Return the pips of all tiles as those of some tell, which half of a tile that was said shows what among them."""
    known = np.isin(np.arange(len(pips)), list(examples))
    chances = read_by(views, views.of(known), pips[known], _FIRST_OF_SIGNS)
    return each_once(np.log(_together(chances)), counts, said)


def _put_right(
    pips: NDArray[np.int64],
    views: Views,
    counts: Sequence[int],
    said: HandLabels,
    restraint: Restraint,
    told: ReportShare,
) -> NDArray[np.int64]:
    """Return labels that fit what is learned of them: it tells of tiles that were kept back, until labels stay."""
    for done in range(_ROUNDS):
        told(done / _ROUNDS)
        better = each_once(np.log(_together(held_out(views, pips, restraint))), counts, said)
        if (better == pips).all():
            break
        pips = better
    return pips


def _pictures(counts: Sequence[int], said: HandLabels) -> Iterator[tuple[int, int, HandLabels]]:
    """Yield where the tiles of each picture begin and end, and what was said of them, by their index there."""
    start = 0
    for count in counts:
        stop = start + count
        yield start, stop, {at - start: pips for at, pips in said.items() if start <= at < stop}
        start = stop


def _together(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what all views say together, shape (N, 2, K); the first, the picture itself, counts as much as all others.

    Args:
        chances: Shape (V, N, 2, K), V above 1.
    """
    logs = np.log(chances + 1e-9)
    together = np.exp((logs[0] + logs[1:].mean(axis=0)) / 2)
    return np.asarray(together / together.sum(axis=2, keepdims=True))
