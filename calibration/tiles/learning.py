"""Learn a set of tiles from pictures: label its tiles, fit weights to read them, and draw them with their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.errors import RefusedError
from calibration.table.corner_marks import beside_blocks, find_corner_marks
from calibration.tiles.labels import (
    HandLabels,
    ProgressCallback,
    are_signs,
    are_signs_so_far,
    are_unfounded,
    doubtful_tiles,
    label_each_once,
    label_known_set,
    label_signs,
)
from engine.phrases import phrase
from vision.arrays import Image
from vision.geometry.poses import Poses
from vision.image.picture import build_pyramid
from vision.networks.network import UP
from vision.networks.tile_sheet import TileSheet, cut_cells, cut_out
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
    surprises,
)
from vision.reader.reader import Reader

# Minimum number of tiles, for every number to be seen at least twice.
MIN_TILES = 10
# Highest numbers of commercial sets, and maximum ratio of detected to existing tiles, to allow for false detections.
_SETS, _SPARE = (6, 9, 12, 15, 18), 1.1
# Maximum share of doubtful tiles. With more, other labels are wrong too and learning does harm. In one case 10 of 18
# tiles were doubtful, 9 were mislabelled, and a game had 28 reading errors instead of 8. In 27 other sets at most one
# of 28 tiles was doubtful.
_MAX_DOUBTED = 0.2
# Progress after detecting tiles, rendering views, labelling, choosing the restraint, and cross-validation.
_FOUND, _LOOKED, _LABELLED, _CHOSEN, _JUDGED = 0.02, 0.3, 0.5, 0.65, 0.9


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
        is_given: Whether *max_pips* was given.
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


def learn_set(
    pictures: Sequence[Image],
    reader: Reader,
    hand_labels: HandLabels | None = None,
    *,
    rng: np.random.Generator | None = None,
) -> LearningResult:
    """Learn a set from pictures. Each tile should occur at most once in a picture.

    Args:
        pictures: BGR pictures, shape (H, W, 3).
        reader: Shipped reader. If its *max_pips* is None, it is estimated.
        hand_labels: Labels entered by hand, by tile index over all pictures.
        rng: Random generator for the augmented views.

    Raises:
        RefusedError: If fewer than ten tiles are detected, or a hand label is invalid.
    """
    return learn(examine_set(pictures, reader, rng=rng), hand_labels)


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
    seen, max_pips = _detect_tiles(pictures, reader)
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
    return SetPictures(seen, max_pips, reader.max_pips is not None, sheet, views)


def learn(
    shown: SetPictures, hand_labels: HandLabels | None = None, *, progress: ProgressCallback = lambda _: None
) -> LearningResult:
    """Label the tiles of a set, and learn to read them.

    A set may show numbers by signs unknown to the shipped reader, such as pictures or numerals of another script. It is
    then learned from the hand labels alone, which must determine the halves of every number.

    Args:
        shown: Detected tiles.
        hand_labels: Labels entered by hand, by tile index over all pictures.
        progress: Called with the progress.

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


def _detect_tiles(pictures: Sequence[Image], reader: Reader) -> tuple[tuple[FaceUpTiles, ...], int]:
    """Return the tiles of each picture, and the highest number of their set."""
    detected = [_detect_in(picture, reader) for picture in pictures]
    highest = max(tiles.logs.shape[2] for tiles in detected) - 1
    if any(tiles.logs.shape[2] != highest + 1 for tiles in detected):
        detected = [_detect_in(picture, replace(reader, max_pips=highest)) for picture in pictures]
    return tuple(detected), highest


def _detect_in(picture: Image, reader: Reader) -> FaceUpTiles:
    markers = find_corner_marks(picture)
    poses, faces, chances = reader.find_tiles(
        build_pyramid(picture), lambda proposals: beside_blocks(markers, proposals[:, :2]), only_tiles=True
    )
    up = faces == UP
    return FaceUpTiles(poses[up], int((~up).sum()), cut_out(picture, poses[up]), np.log(chances[up]))


_LARGER, _PER_ROW, _CAPTION_PX = 2, 6, 26
_PAPER, _INK, _DOUBT = (245, 245, 245), (30, 30, 30), (0, 90, 215)


def draw_tiles(learned: LearningResult) -> NDArray[np.uint8]:
    """Return a BGR picture of shape (H, W, 3). Doubtful tiles have a question mark and another colour."""
    cells = [
        _captioned(cell, at, learned.pips[at].tolist(), is_doubtful=at in learned.doubtful)
        for at, cell in enumerate(cut_cells(learned.sheet))
    ]
    cells += [np.full_like(cells[0], _PAPER[0])] * (-len(cells) % _PER_ROW)
    rows = [np.hstack(cells[start : start + _PER_ROW]) for start in range(0, len(cells), _PER_ROW)]
    return np.asarray(np.vstack(rows), np.uint8)


def _captioned(cell: NDArray[np.uint8], at: int, pips: list[int], *, is_doubtful: bool) -> NDArray[np.uint8]:
    large = cv2.resize(cell, None, fx=_LARGER, fy=_LARGER, interpolation=cv2.INTER_CUBIC)
    caption = np.full((_CAPTION_PX, large.shape[1], 3), _PAPER, np.uint8)
    text = f"{at + 1}: {pips[0]}-{pips[1]}" + (" ?" if is_doubtful else "")
    cv2.putText(caption, text, (8, 19), cv2.FONT_HERSHEY_SIMPLEX, 0.6, _DOUBT if is_doubtful else _INK, 1, cv2.LINE_AA)
    return np.asarray(np.vstack([caption, large]), np.uint8)
