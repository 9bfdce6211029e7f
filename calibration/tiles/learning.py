"""Learn a set of tiles from pictures: label its tiles, fit weights to read them, and draw them with their labels.

Labelling uses that each tile exists once. Labels train a classifier, which corrects the labels, until they no longer
change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration import RefusedError
from calibration.table.picture import beside_blocks, find_corner_marks
from engine.phrases import phrase
from vision.arrays import Image
from vision.image.picture import build_pyramid
from vision.networks.network import UP
from vision.networks.tile_sheet import TileSheet, cut_cells, cut_out
from vision.poses import Poses
from vision.reader.custom_set import (
    RESTRAINTS,
    RESTRAINTS_OF_SIGNS,
    CustomSet,
    Restraint,
    Views,
    best_restraint,
    fit,
    held_out,
    look,
    misread,
    read_by,
    surprises,
)
from vision.reader.reader import Reader


def cheapest_columns(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Assign each row a different column with minimum total cost. Column of each row, shape (N,).

    Uses shortest augmenting paths (the Jonker-Volgenant variant of the Hungarian algorithm). 91 rows take 0.1 s.

    Args:
        costs: Finite costs, shape (N, M) with N <= M.

    Raises:
        ValueError: If there are more rows than columns.

    >>> cheapest_columns(np.array([[1.0, 2.0, 9.0], [1.0, 5.0, 9.0]])).tolist()
    [1, 0]
    """
    rows, columns = costs.shape
    if rows > columns:
        raise ValueError(f"expected at most as many rows as columns, got {costs.shape}")
    # An additional last column, at which each augmenting path starts.
    row_price, column_price = np.zeros(rows), np.zeros(columns + 1)
    row_of = np.full(columns + 1, -1)
    for row in range(rows):
        row_of[columns] = row
        _augment(costs, row_price, column_price, row_of)
    column_of = np.empty(rows, np.int64)
    assigned = np.nonzero(row_of[:columns] >= 0)[0]
    column_of[row_of[assigned]] = assigned
    return column_of


def _augment(
    costs: NDArray[np.float64],
    row_price: NDArray[np.float64],
    column_price: NDArray[np.float64],
    row_of: NDArray[np.int64],
) -> None:
    """Assign the row in the last column, in place, by moving rows along the shortest augmenting path."""
    columns = costs.shape[1]
    least = np.full(columns, np.inf)
    previous = np.full(columns, columns)
    is_done = np.zeros(columns + 1, np.bool_)
    at = columns
    while row_of[at] >= 0:
        is_done[at] = True
        row, is_open = row_of[at], ~is_done[:columns]
        reduced = costs[row] - row_price[row] - column_price[:columns]
        better = is_open & (reduced < least)
        least[better], previous[better] = reduced[better], at
        following = int(np.where(is_open, least, np.inf).argmin())
        step = least[following]
        row_price[row_of[is_done]] += step
        column_price[is_done] -= step
        least[is_open] -= step
        at = following
    while at != columns:
        row_of[at] = row_of[previous[at]]
        at = int(previous[at])


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
    logs: NDArray[np.float64], hand_labels: Mapping[int, tuple[int, int]] | None = None
) -> NDArray[np.int64]:
    """Return the most likely joint labels of tiles: pips of both halves, shape (N, 2).

    Args:
        logs: Log probabilities of the numbers 0 to K - 1 for both halves, shape (N, 2, K).
        hand_labels: Labels entered by hand, by tile index.
    """
    pairs, either = all_pairs(logs.shape[2] - 1), _both_orientations(logs, hand_labels or {})
    chosen = cheapest_columns(_with_copies(-either.max(axis=0))) % len(pairs)
    turned = either[1, np.arange(len(logs)), chosen] > either[0, np.arange(len(logs)), chosen]
    return np.where(turned[:, None], pairs[chosen][:, ::-1], pairs[chosen])


def margins(
    logs: NDArray[np.float64],
    pips: NDArray[np.int64],
    indices: Sequence[int],
    hand_labels: Mapping[int, tuple[int, int]] | None = None,
) -> NDArray[np.float64]:
    """Return the log odds of the joint labels against the best joint labels with another label for a given tile.

    Args:
        logs: Log probabilities, shape (N, 2, K).
        pips: Result of `label_tiles`, shape (N, 2).
        indices: Tiles to evaluate.
        hand_labels: Labels entered by hand, by tile index.

    Returns:
        Log odds for each of *indices*.
    """
    pairs, either = all_pairs(logs.shape[2] - 1), _both_orientations(logs, hand_labels or {})
    costs = -either.max(axis=0)

    def minimum(costs: NDArray[np.float64]) -> float:
        copied = _with_copies(costs)
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


def _with_copies(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the costs, shape (N, P), followed by those of a second copy of each tile, and of more if N requires it."""
    copies = max(2, -(-len(costs) // costs.shape[1]))
    return np.concatenate([costs + copy * _TWICE for copy in range(copies)], axis=1)


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
_SURE = 0.8
_AHEAD = 3.0
# Share of misread hand labels above which a set is unknown to the shipped reader, and the number of labelled doubles
# that suffices for this decision.
_UNKNOWN = 0.5
_DOUBLES_TELL = 3


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
        # The classifier also determines the order of the halves of other hand labels.
        known = np.isin(np.arange(len(pips)), list(examples))
        chances = read_by(views, views.of(known), pips[known], _FIRST_OF_SIGNS)
        pips = label_each_once(np.log(_combined(chances)), counts, hand_labels)
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
    """Return probabilities (V, N, 2, K) combined over all views, (N, 2, K). The original view has half the weight."""
    logs = np.log(chances + 1e-9)
    combined = np.exp((logs[0] + logs[1:].mean(axis=0)) / 2)
    return np.asarray(combined / combined.sum(axis=2, keepdims=True))


# Minimum number of tiles, for every number to be seen at least twice.
MIN_TILES = 10
# Highest numbers of commercial sets, and maximum ratio of detected to existing tiles, to allow for false detections.
_SETS = (6, 9, 12, 15, 18)
_SPARE = 1.1
# Maximum share of doubtful tiles. With more, other labels are wrong too and learning does harm. In one case 10 of 18
# tiles were doubtful, 9 were mislabelled, and a game had 28 reading errors instead of 8. In 27 other sets at most one
# of 28 tiles was doubtful.
_MAX_DOUBTED = 0.2
# Progress after detecting tiles, rendering views, labelling, choosing the restraint, and cross-validation.
_FOUND = 0.02
_LOOKED = 0.3
_LABELLED = 0.5
_CHOSEN = 0.65
_JUDGED = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class FaceUpTiles:
    """Face-up tiles of a picture.

    Attributes:
        poses: Poses in pixels, shape (N, 6).
        backs: Number of face-down tiles.
        sheet: Images of the tiles.
        logs: Log probabilities of the numbers of both halves by the shipped reader, shape (N, 2, K).
    """

    poses: Poses
    backs: int
    sheet: TileSheet
    logs: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SetPictures:
    """Detected tiles of a set.

    Attributes:
        seen: Tiles of each picture.
        max_pips: Highest number of the set, given or estimated by the shipped reader.
        sheet: Images of all tiles.
        views: Augmented views of all tiles, for the numbers up to 18.
    """

    seen: tuple[FaceUpTiles, ...]
    max_pips: int
    is_given: bool
    sheet: TileSheet
    views: Views


@dataclass(frozen=True, slots=True, eq=False)
class LearningResult:
    """Result of learning a set.

    Attributes:
        seen: Tiles of each picture.
        max_pips: Highest number of the set.
        sheet: Images of all tiles.
        pips: Labels of the tiles, shape (N, 2).
        doubtful: Indices of tiles with doubtful labels.
        own_set: Learned weights. None if they are no better than the shipped reader, too many labels are doubtful, or
            the hand labels do not determine all signs yet.
        restraint: Regularisation towards the shipped reader.
        misread: Shares of misread halves in views of held-out tiles, by the shipped reader and by the learned weights.
    """

    seen: tuple[FaceUpTiles, ...]
    max_pips: int
    sheet: TileSheet
    pips: NDArray[np.int64]
    doubtful: tuple[int, ...]
    own_set: CustomSet | None
    restraint: Restraint
    misread: tuple[float, float]


def learn_set(pictures: Sequence[Image], reader: Reader, hand_labels: HandLabels | None = None) -> LearningResult:
    """Learn a set from pictures. Each tile should occur at most once in a picture.

    Args:
        pictures: BGR pictures, shape (H, W, 3).
        reader: Shipped reader. If its *max_pips* is None, it is estimated.
        hand_labels: Labels entered by hand, by tile index over all pictures.

    Raises:
        RefusedError: If fewer than ten tiles are detected, or a hand label is invalid.
    """
    return learn(examine_set(pictures, reader), hand_labels)


def examine_set(
    pictures: Sequence[Image],
    reader: Reader,
    *,
    rng: np.random.Generator | None = None,
    progress: ProgressCallback = lambda _: None,
) -> SetPictures:
    """Detect the tiles of a set in pictures, and create augmented views of them.

    Args:
        pictures: BGR pictures, shape (H, W, 3).
        reader: Shipped reader.
        rng: Random generator for the augmented views.
        progress: Called with the progress.

    Raises:
        RefusedError: If fewer than ten tiles are detected.
    """
    rng = np.random.default_rng(1) if rng is None else rng
    progress(0.0)
    seen = [_detect_in(picture, reader) for picture in pictures]
    max_pips = max(tiles.logs.shape[2] for tiles in seen) - 1
    if any(tiles.logs.shape[2] != max_pips + 1 for tiles in seen):
        seen = [_detect_in(picture, replace(reader, max_pips=max_pips)) for picture in pictures]
    sheet = reduce(TileSheet.joined, (picture.sheet for picture in seen))
    if sheet.count < MIN_TILES:
        raise RefusedError(
            phrase(
                "{seen} tiles are visible face up, but at least {least} are needed: lay out the whole set",
                seen=sheet.count,
                least=MIN_TILES,
            )
        )

    def report_views(share: float) -> None:
        progress(_FOUND + share * (_LOOKED - _FOUND))

    views = look(sheet, reader.halves, reader.pips, _SETS[-1], rng, progress=report_views)
    return SetPictures(tuple(seen), max_pips, reader.max_pips is not None, sheet, views)


def learn(
    shown: SetPictures, hand_labels: HandLabels | None = None, *, progress: ProgressCallback = lambda _: None
) -> LearningResult:
    """Label the tiles of a set, and learn to read them.

    A set may show numbers by signs unknown to the shipped reader, such as pictures or numerals of another script. It is
    then learned from the hand labels alone, which must determine the halves of every number.
    *hand_labels* are by tile index over all pictures.

    Raises:
        RefusedError: If a hand label is for a missing tile, or exceeds a given *max_pips*.
    """
    hand_labels, counts = hand_labels or {}, [len(picture.poses) for picture in shown.seen]
    _check(shown, hand_labels)
    highest = max((max(pair) for pair in hand_labels.values()), default=0)

    def report_labelling(share: float) -> None:
        progress(_LOOKED + share * (_LABELLED - _LOOKED))

    def report_validation(share: float) -> None:
        progress(_CHOSEN + share * (_JUDGED - _CHOSEN))

    max_pips = shown.max_pips if shown.is_given else smallest_set(max(counts), highest)
    views = shown.views.up_to(max_pips)
    has_signs = are_signs(views, hand_labels)
    if has_signs:
        pips, evaluated = label_signs(views, counts, hand_labels, report_labelling), views
        candidates = RESTRAINTS_OF_SIGNS
    elif are_signs_so_far(views, hand_labels):
        return _incomplete_result(shown, max_pips, hand_labels)
    else:
        max_pips = max(shown.max_pips, smallest_set(0, highest))
        views = shown.views.up_to(max_pips)
        pips = label_known_set(_shipped_logs(shown.seen, max_pips), views, counts, hand_labels, report_labelling)
        evaluated, candidates = views.without_pictures(), RESTRAINTS
    restraint = best_restraint(evaluated, pips, candidates, progress=lambda _: progress(_LABELLED))
    chances = held_out(views, pips, restraint, progress=report_validation)
    progress(_JUDGED)
    own, shares = custom_set_if_better(views, pips, restraint, chances)
    unfounded = not has_signs and are_unfounded(shares[0])
    doubtful = _unlabelled(pips, hand_labels) if unfounded else doubtful_tiles(chances, pips, counts, hand_labels)
    own = None if is_too_doubtful(len(doubtful), len(pips)) else own
    return LearningResult(shown.seen, max_pips, shown.sheet, pips, doubtful, own, restraint, shares)


def _incomplete_result(shown: SetPictures, max_pips: int, hand_labels: HandLabels) -> LearningResult:
    """Return the result for a set with signs that are not all labelled yet. All other labels are doubtful."""
    counts = [len(picture.poses) for picture in shown.seen]
    pips = label_each_once(_shipped_logs(shown.seen, max_pips), counts, hand_labels)
    share = misread(np.exp(shown.views.up_to(max_pips).logs), pips)
    doubtful = _unlabelled(pips, hand_labels)
    return LearningResult(
        shown.seen, max_pips, shown.sheet, pips, doubtful, None, RESTRAINTS_OF_SIGNS[0], (share, share)
    )


def _unlabelled(pips: NDArray[np.int64], hand_labels: HandLabels) -> tuple[int, ...]:
    return tuple(at for at in range(len(pips)) if at not in hand_labels)


def smallest_set(tiles: int, highest: int = 0) -> int:
    """Return the highest number of the smallest commercial set with a number of tiles and with *highest*.

    Up to 10 % more tiles are accepted, to allow for false detections. 18 if no set is large enough.

    >>> smallest_set(28), smallest_set(28, 7), smallest_set(91)
    (6, 9, 12)
    """
    fitting = (pips for pips in _SETS if pips >= highest and tiles <= _SPARE * (pips + 1) * (pips + 2) / 2)
    return next(fitting, _SETS[-1])


def _check(shown: SetPictures, hand_labels: HandLabels) -> None:
    for at, pair in hand_labels.items():
        if at not in range(shown.sheet.count):
            raise RefusedError(phrase("there is no tile {number}", number=at + 1))
        if shown.is_given and max(pair) > shown.max_pips:
            raise RefusedError(
                phrase(
                    "this set has no {pips}: its highest number is {highest}", pips=max(pair), highest=shown.max_pips
                )
            )


def _shipped_logs(seen: tuple[FaceUpTiles, ...], max_pips: int) -> NDArray[np.float64]:
    """Return log probabilities by the shipped reader for the numbers up to *max_pips*, shape (N, 2, K)."""
    logs = np.concatenate([picture.logs for picture in seen])
    missing = max(0, max_pips + 1 - logs.shape[2])
    return np.pad(logs, ((0, 0), (0, 0), (0, missing)), constant_values=logs.min(initial=0.0))[..., : max_pips + 1]


def is_too_doubtful(doubtful: int, tiles: int) -> bool:
    """Return True if too many labels are doubtful to learn from them."""
    return doubtful > _MAX_DOUBTED * tiles


def custom_set_if_better(
    views: Views, pips: NDArray[np.int64], restraint: Restraint, chances: NDArray[np.float64] | None = None
) -> tuple[CustomSet | None, tuple[float, float]]:
    """Return weights that read the set better than the shipped reader, or None, and the shares of misread halves.

    The shares are those of the shipped reader and of the learned weights.

    Args:
        views: Views of the tiles.
        pips: Labels of the tiles, shape (N, 2).
        restraint: Regularisation towards the shipped reader.
        chances: Result of `held_out`. Computed if None.
    """
    chances = held_out(views, pips, restraint) if chances is None else chances
    shipped = np.exp(views.logs)
    shares = misread(shipped, pips), misread(chances, pips)
    gains = surprises(shipped, pips) - surprises(chances, pips)
    # The gain must exceed its standard error. A set that is already read well has little to gain.
    is_better = shares[1] <= shares[0] and gains.mean() > gains.std() / np.sqrt(len(gains))
    return (fit(views, pips, restraint) if is_better else None), shares


def _detect_in(picture: Image, reader: Reader) -> FaceUpTiles:
    markers = find_corner_marks(picture)
    poses, faces, chances = reader.find_tiles(
        build_pyramid(picture), lambda proposals: beside_blocks(markers, proposals[:, :2]), only_tiles=True
    )
    up = faces == UP
    return FaceUpTiles(poses[up], int((~up).sum()), cut_out(picture, poses[up]), np.log(chances[up]))


_LARGER = 2
_PER_ROW = 6
_CAPTION_PX = 26
_PAPER = (245, 245, 245)
_INK = (30, 30, 30)
_DOUBT = (0, 90, 215)


def draw_tiles(learned: LearningResult) -> NDArray[np.uint8]:
    """Return a BGR picture of shape (H, W, 3). Doubtful tiles have a question mark and another colour."""
    cells = []
    for at, (cell, (first, second)) in enumerate(zip(cut_cells(learned.sheet), learned.pips.tolist(), strict=True)):
        large = cv2.resize(cell, None, fx=_LARGER, fy=_LARGER, interpolation=cv2.INTER_CUBIC)
        caption = np.full((_CAPTION_PX, large.shape[1], 3), _PAPER, np.uint8)
        mark, colour = (" ?", _DOUBT) if at in learned.doubtful else ("", _INK)
        text = f"{at + 1}: {first}-{second}{mark}"
        cv2.putText(caption, text, (8, 19), cv2.FONT_HERSHEY_SIMPLEX, 0.6, colour, 1, cv2.LINE_AA)
        cells.append(np.vstack([caption, large]))
    cells += [np.full_like(cells[0], _PAPER[0])] * (-len(cells) % _PER_ROW)
    rows = [np.hstack(cells[start : start + _PER_ROW]) for start in range(0, len(cells), _PER_ROW)]
    return np.asarray(np.vstack(rows), np.uint8)
