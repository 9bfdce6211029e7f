"""Label the tiles of a set iteratively: labels train a classifier, which corrects the labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from calibration.tiles.labels import label_tiles, margins
from vision.reader.custom_set_fit import Restraint, Views, held_out, misread, read_by

HandLabels = Mapping[int, tuple[int, int]]
"""Labels (pips of both halves) entered by hand, by tile index over all pictures."""
ProgressCallback = Callable[[float], object]
"""Called with the completed share of the work, from 0 to 1. An exception cancels the work."""

# Maximum number of rounds.
_ROUNDS = 4
_FIRST = Restraint(0.01, 0.6)
# For signs, the shipped reader is ignored, and there are only a few labelled tiles.
_FIRST_OF_SIGNS = Restraint(0.001, 0.0)
# A label is doubtful if the held-out probability of either half is below _SURE and the margin of the joint labels
# (`margins`) is below _AHEAD.
_SURE, _AHEAD = 0.8, 3.0
# Share of misread hand labels above which a set is unknown to the shipped reader, and the number of labelled doubles
# that suffices for this decision.
_UNKNOWN, _DOUBLES_TELL = 0.5, 3


def are_signs(views: Views, hand_labels: HandLabels) -> bool:
    """Return True if a set uses signs for its numbers, and the hand labels determine all of them.

    The labels must determine the half that shows each number, and the shipped reader must misread most labels.

    Args:
        views: Views of all tiles, for the numbers of the set.
        hand_labels: Labels entered by hand.
    """
    return _identified_numbers(hand_labels) == set(range(views.logs.shape[3])) and _is_unknown(views, hand_labels)


def are_signs_so_far(views: Views, hand_labels: HandLabels) -> bool:
    """Return True if a set seems to use signs: three or more doubles are labelled, and most are misread."""
    doubles = _doubles(hand_labels)
    return len(doubles) >= _DOUBLES_TELL and _is_unknown(views, doubles)


def _doubles(hand_labels: HandLabels) -> HandLabels:
    return {at: pair for at, pair in hand_labels.items() if pair[0] == pair[1]}


def _is_unknown(views: Views, hand_labels: HandLabels) -> bool:
    """Return True if the shipped reader misreads most of the hand labels, in either order of their halves."""
    pairs, shipped = np.array(list(hand_labels.values()), np.int64), np.exp(views.logs[:, list(hand_labels)])
    return min(misread(shipped, pairs), misread(shipped, pairs[:, ::-1])) > _UNKNOWN


def are_unfounded(shipped_misread: float) -> bool:
    """Return True if the shipped reader misreads so many labels that these are arbitrary.

    Unlabelled signs can be distinguished, but any permutation of their labels fits equally well.
    """
    return shipped_misread > _UNKNOWN


def label_each_once(logs: NDArray[np.float64], counts: Sequence[int], hand_labels: HandLabels) -> NDArray[np.int64]:
    """Return the most likely joint labels of all tiles, shape (N, 2), with each tile once in a picture.

    Args:
        logs: Log probabilities of the numbers, shape (N, 2, K).
        counts: Number of tiles in each picture.
        hand_labels: Labels entered by hand.
    """
    pictures = _pictures(counts, hand_labels)
    return np.concatenate([label_tiles(logs[start:stop], labels) for start, stop, labels in pictures])


def label_known_set(
    logs: NDArray[np.float64],
    views: Views,
    counts: Sequence[int],
    hand_labels: HandLabels,
    progress: ProgressCallback,
) -> NDArray[np.int64]:
    """Return the labels of all tiles of a set whose numbers the shipped reader can read, shape (N, 2).

    The reader's labels are then corrected by predictions learned from the tiles' own views.

    Args:
        logs: Log probabilities of the numbers, from the shipped reader, shape (N, 2, K).
        views: Views of the tiles.
        counts: Number of tiles in each picture, without duplicates in a picture.
        hand_labels: Labels entered by hand.
        progress: Called with the fraction done.
    """
    pips = label_each_once(logs, counts, hand_labels)
    return _corrected(pips, views.without_pictures(), counts, hand_labels, _FIRST, progress)


def label_signs(
    views: Views, counts: Sequence[int], hand_labels: HandLabels, progress: ProgressCallback
) -> NDArray[np.int64]:
    """Return the labels of all tiles of a set with signs, shape (N, 2), learned from hand labels.

    Doubles are used first, because the order of the halves of other hand labels is unknown.

    Args:
        views: Views of the tiles.
        counts: Number of tiles in each picture, without duplicates in a picture.
        hand_labels: Labels entered by hand, which include every number.
        progress: Called with the fraction done.
    """
    pips = np.array([hand_labels.get(at, (0, 0)) for at in range(sum(counts))], np.int64)
    for examples in (_doubles(hand_labels), hand_labels):
        pips = _label_by_examples(views, counts, hand_labels, pips, examples)
    return _corrected(pips, views, counts, hand_labels, _FIRST_OF_SIGNS, progress)


def doubtful_tiles(
    chances: NDArray[np.float64], pips: NDArray[np.int64], counts: Sequence[int], hand_labels: HandLabels
) -> tuple[int, ...]:
    """Return the indices of tiles with doubtful labels. Tiles labelled by hand are never doubtful.

    Args:
        chances: Probabilities of held-out views, shape (V, N, 2, K).
        pips: Labels of the tiles, shape (N, 2).
        counts: Number of tiles in each picture.
        hand_labels: Labels entered by hand.
    """
    combined, doubtful = _combined(chances), []
    for start, stop, labels in _pictures(counts, hand_labels):
        confidence = np.take_along_axis(combined[start:stop], pips[start:stop, :, None], axis=2)[..., 0].min(axis=1)
        unsure = [at for at in np.nonzero(confidence < _SURE)[0].tolist() if at not in labels]
        ahead = margins(np.log(combined[start:stop]), pips[start:stop], unsure, labels)
        doubtful += [start + at for at, margin in zip(unsure, ahead.tolist(), strict=True) if margin < _AHEAD]
    return tuple(doubtful)


def _identified_numbers(hand_labels: HandLabels) -> set[int]:
    """Return the numbers for which hand labels determine the half that shows them.

    These are the numbers of doubles, and those of tiles whose other number is identified.

    >>> sorted(_identified_numbers({0: (4, 4), 1: (4, 6), 2: (2, 3)}))
    [4, 6]
    """
    known = {number for number, _ in _doubles(hand_labels).values()}
    while True:
        more = {number for pair in hand_labels.values() if known & set(pair) for number in pair} - known
        if not more:
            return known
        known |= more


def _label_by_examples(
    views: Views, counts: Sequence[int], hand_labels: HandLabels, pips: NDArray[np.int64], examples: HandLabels
) -> NDArray[np.int64]:
    """Return the labels of all tiles by a classifier trained on the *examples*, labelled as in *pips*.

    The classifier also determines the order of the halves of other hand labels.
    """
    known = np.isin(np.arange(len(pips)), list(examples))
    chances = read_by(views, views.of(known), pips[known], _FIRST_OF_SIGNS)
    return label_each_once(np.log(_combined(chances)), counts, hand_labels)


def _corrected(
    pips: NDArray[np.int64],
    views: Views,
    counts: Sequence[int],
    hand_labels: HandLabels,
    restraint: Restraint,
    progress: ProgressCallback,
) -> NDArray[np.int64]:
    """Return labels corrected by held-out predictions, repeated until they are stable, at most four times."""
    for done in range(_ROUNDS):
        progress(done / _ROUNDS)
        better = label_each_once(np.log(_combined(held_out(views, pips, restraint))), counts, hand_labels)
        if (better == pips).all():
            break
        pips = better
    return pips


def _pictures(counts: Sequence[int], hand_labels: HandLabels) -> Iterator[tuple[int, int, HandLabels]]:
    """Yield the index range of each picture's tiles, and their hand labels by index within the picture."""
    start = 0
    for count in counts:
        stop = start + count
        yield start, stop, {at - start: pips for at, pips in hand_labels.items() if start <= at < stop}
        start = stop


def _combined(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities combined over all views, shape (N, 2, K). The original view has half of the weight.

    Args:
        chances: Probabilities in each view, the original first, shape (V, N, 2, K) with V above 1.
    """
    logs = np.log(chances + 1e-9)
    combined = np.exp((logs[0] + logs[1:].mean(axis=0)) / 2)
    return np.asarray(combined / combined.sum(axis=2, keepdims=True))
