"""Read all tiles in an image: detect, refine, select, classify pips, re-align, find joins, and list unsure objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vision.arrays import Image, Points, log_odds, probability, softmax
from vision.image.picture import Level, build_pyramid
from vision.networks import network
from vision.networks.detector import Detector, Focus, load_detector
from vision.poses import Poses, corners, empty_poses, half_centers, sides_px
from vision.reader.agreement import agree, find_joins, find_touches
from vision.reader.candidates import Candidates, Filter, Looks, Plane, find_plane, shifted_poses, tile_odds
from vision.reader.custom_set import CustomSet, Exemplars
from vision.reading import Face, Guess, Half, PointPx, Reading, SeenTile

# Highest number of each common set, with its prior probability.
SETS = {6: 0.6, 9: 0.14, 12: 0.18, 15: 0.05, 18: 0.03}
# Probability that a half is misread despite high confidence, because of glare or an unknown tile design. Of 41,600
# halves of rendered tables with a confidence of 0.99 or more, one in 3000 was misread.
_MISREAD = 0.0005
# Sets with a posterior probability below this are excluded.
_EXCLUDED_BELOW = 1e-3


def numbers_in_play(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the prior probability of each number of pips on this table, shape (K,), with a sum of 1.

    All numbers in a set are about equally common. Many halves without a high number indicate a small set, and a single
    confident high number indicates a large one. Without such evidence, numbers that only larger sets have are less
    likely. K is the highest number in any set that is not excluded, plus 1.

    Args:
        probabilities: Probabilities of 0 to 18 pips for each half, shape (N, 19).

    >>> len(numbers_in_play(np.eye(19)[[0, 6, 3, 5] * 9]))
    7
    >>> len(numbers_in_play(np.eye(19)[[0, 12, 3, 11] * 9]))
    13
    """
    numbers, highest = np.arange(probabilities.shape[1]), np.array(list(SETS))
    shares = (numbers <= highest[:, None]) / (highest[:, None] + 1)
    logs = np.log(list(SETS.values())) + np.log(probabilities @ shares.T + _MISREAD / len(numbers)).sum(axis=0)
    sets = np.exp(logs - logs.max())
    sets /= sets.sum()
    sets[sets < _EXCLUDED_BELOW] = 0.0
    in_play = (sets @ shares)[: highest[sets > 0].max() + 1]
    return np.asarray(in_play / in_play.sum())


# Offsets on the table plane from which each tile is refined again: sides along the tile, and radians.
_STARTS = ((0.0, 0.0), (0.2, 0.0), (-0.2, 0.0), (0.0, 0.1), (0.0, -0.1))
_ROUNDS = 3
# Weight of the log probability of the pips, relative to the log odds of being a tile.
_CLARITY_WEIGHT = 3.0
# Maximum displacement in sides. Farther away is a neighbour.
_FARTHEST = 0.5

PipsAt = Callable[[Poses], NDArray[np.float64]]
"""Function from poses, shape (N, 6), to the probabilities of the pips of both halves, shape (N, 2, 19)."""


def relocate(levels: tuple[Level, ...], candidates: Candidates, plane: Plane, seen: Looks, pips_at: PipsAt) -> Poses:
    """Return for each tile the nearby pose at which it looks most like a tile with clear pips, shape (N, 6)."""
    poses, probabilities = seen
    if not len(poses):
        return poses
    middles, thetas = plane.on_table(poses)
    starts = [
        plane.tiles_at(middles + along * np.column_stack([np.cos(thetas), np.sin(thetas)]), thetas + turned)
        for along, turned in _STARTS
    ]
    refined = candidates.refined(levels, np.concatenate(starts), rounds=_ROUNDS)
    looked_at, tile_probabilities = np.concatenate([poses, refined[0]]), np.concatenate([probabilities, refined[1]])
    pip_clarity = np.log(pips_at(looked_at).max(axis=2)).sum(axis=1)
    scores = tile_odds(tile_probabilities) - plane.doubt(looked_at) + _CLARITY_WEIGHT * pip_clarity
    by_start = looked_at.reshape(-1, *poses.shape)
    distance = np.linalg.norm(by_start[..., :2] - poses[:, :2], axis=2)
    scores = np.where(distance > _FARTHEST * sides_px(poses), -np.inf, scores.reshape(-1, len(poses)))
    return np.asarray(by_start[scores.argmax(axis=0), np.arange(len(poses))])


# Candidates above these log odds are clear.
_CLEAR = 3.0
# Log odds by which a double blank must exceed those of other tiles, because plain parts of a table look like one. A set
# has only one, so each less likely one needs more, up to _MAX_BLANKS times as much. Logistic regression on 2765
# held-out candidates of rendered tables gives 1.0 to 1.2.
_BLANK_DOUBT = 1.0
_MAX_BLANKS = 3
# Minimum log odds of a candidate where no other is clear, because cards, keys and labels look like a lone tile. In 250
# held-out pictures, 8 of 30 such candidates above 0 are tiles, and 2603 of 2715 of the others.
_LONE_DOUBT = 2.5
# A candidate that is not clear is unsure if its reading is right with a probability below this.
_READABLE = 0.4
# Minimum log odds for reporting a candidate as unsure, face up and face down. From 0 on it is reported as a tile.
_REPORT_UP = -1.2
_REPORT_DOWN = -1.2
FARTHEST_BELOW = -min(_REPORT_UP, _REPORT_DOWN)
"""Largest distance below 0 of the log odds of a reported candidate."""


def looks_like_a_tile(odds: NDArray[np.float64], faces: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return a mask of the rejected candidates to report as unsure, shape (N,).

    Args:
        odds: Log odds of each being a tile, shape (N,). -inf for a candidate that was accepted as a tile.
        faces: Visible side of each, `network.UP` or `DOWN`, shape (N,).
    """
    return np.asarray(odds > np.where(faces == network.DOWN, _REPORT_DOWN, _REPORT_UP))


def min_odds(odds: NDArray[np.float64], is_blank: NDArray[np.bool_], *, others_known: bool) -> NDArray[np.float64]:
    """Return the minimum log odds from which each candidate is reported as a tile, shape (N,).

    Args:
        odds: Log odds of each being a tile, shape (N,).
        is_blank: True for double blanks, shape (N,).
        others_known: Whether the other tiles on the table are known, so that a lone candidate needs no more.
    """
    needed, blank, is_clear = np.zeros(len(odds)), np.nonzero(is_blank)[0], odds > _CLEAR
    needed[blank[np.argsort(-odds[blank])]] = _BLANK_DOUBT * np.minimum(np.arange(len(blank)) + 1, _MAX_BLANKS)
    is_lone = is_clear.sum() - is_clear == 0
    return needed if others_known else needed + _LONE_DOUBT * is_lone


def is_readable(odds: NDArray[np.float64], chances: NDArray[np.float64], is_up: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask of the tiles that are clear, or face down, or have pips that can be read at all, shape (N,).

    Args:
        odds: Log odds of each being a tile, shape (N,).
        chances: Probabilities of pips, shape (N, 2, K).
        is_up: True for tiles that lie face up, shape (N,).
    """
    is_right = probability(odds) * chances.max(axis=2).prod(axis=1)
    return np.asarray((is_right > _READABLE) | (odds > _CLEAR) | ~is_up)


# Weight and cap of the log odds of the less certain half in a candidate's score. Clear pips are strong evidence of a
# tile. The weight is three quarters of that fitted to 3435 candidates of rendered tables, because with the full weight
# half a tile beside cloth becomes a tile.
_PIPS_WEIGHT = 0.15
_MAX_PIPS_BONUS = 0.9
# In an image of tiles only, the minimum log odds are _RELAXED_BELOW_MEDIAN below the median of the positive ones, but
# at most 0 and at least _RELAXED_BELOW_ZERO below 0. This finds 803 of 840 tiles with symbols (761 without) and 1720 of
# 1740 with pips (1722).
_RELAXED_BELOW_ZERO = 2.0
_RELAXED_BELOW_MEDIAN = 5.0
# Tiles with a half below this confidence are classified again at shifted poses. This reduces the misreads among 3342
# halves of rendered tables from 1.8 to 1.5 %.
_RECHECK_SHIFTED_BELOW = 0.99
# Halves below this confidence go to the hard-case classifier. Of 44,484 halves of rendered tables, 103 are misread, and
# 110 with a limit of 0.99.
_HARD_CASE_BELOW = 0.998
# Halves that remain below this confidence are classified at shifted poses too. Classifying all of them takes three
# times as long, and misreads as many.
_HARD_CASE_SHIFTED_BELOW = 0.9
# Minimum log odds for a tile to be used in estimating the set, or half of the maximum log odds if that is lower.
_SURE_TILE = 1.5
# Weights of the log probabilities of the pip classifier and the hard-case classifier, or of a custom set, which is more
# reliable, and the hard-case classifier. The errors of the first pair are correlated, so the weights sum to 1. These
# misread 2.8 % of 2636 held-out halves, 0.5 and 0.5 misread 3.0 %, and 0.1 and 0.9 misread 2.6 %. On tables like other
# people's photos, the last misread 0.68 % of halves confidently, against 0.46 %.
_CLASSIFIER_WEIGHT = 0.25
_HARD_CASE_WEIGHT = 0.75
_CUSTOM_SET_WEIGHT = 0.8
_HARD_CASE_WEIGHT_BESIDE_SET = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """Result of `Reader.find_tiles`, plus the poses of objects to report as unsure, shape (M, 6)."""

    poses: Poses
    faces: NDArray[np.int64]
    chances: NDArray[np.float64]
    unsure: Poses


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """Reads single images at any scale.

    Attributes:
        detector: Proposes tiles.
        refiner: Scores and corrects the proposals.
        hard_cases: Classifies halves that remain uncertain.
        max_pips: Highest number in the set, 6 to 18. None if unknown.
        own_set: Correction for a custom tile set, or None.
        exemplars: Halves of tiles that players have corrected, or None.
    """

    detector: Detector
    refiner: network.Refiner
    halves: network.PipFeatures
    pips: network.PipClassifier
    hard_cases: network.HardCaseClassifier
    max_pips: int | None = None
    own_set: CustomSet | None = None
    exemplars: Exemplars | None = None

    def read(self, image: Image, plausible: Filter | None = None, focus: Focus | None = None) -> Reading:
        """Read an image. The result includes objects that look like tiles but cannot be read.

        Args:
            image: Upright image, shape (H, W, 3), uint8, BGR.
            plausible: Filter for poses that can be tiles. None for all.
            focus: Region that changed, to be searched at finer resolution. None if unknown.

        Raises:
            ValueError: If the image has another shape or type.
        """
        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
            raise ValueError(f"image must have shape (H, W, 3) and be uint8, but got {image.shape} {image.dtype}")
        levels = build_pyramid(image)
        found = self._find(levels, plausible, focus, only_tiles=False)
        reading = self._reading_of(levels, found.poses, found.faces, found.chances)
        return reading.with_unsure(
            tuple(SeenTile(Face.UNSURE, _corners(outline), ()) for outline in corners(found.unsure))
        )

    def read_again(self, image: Image, poses: Poses) -> tuple[SeenTile, ...]:
        """Read the pips of tiles that are known to lie face up at *poses*.

        Args:
            image: Upright image, shape (H, W, 3), BGR.
            poses: Shape (N, 6). Should include all tiles on the table, from which the set is estimated.
        """
        levels = build_pyramid(image)
        chances = self._recheck_hard_cases(levels, poses, self._read_pips(levels, poses))
        chances = self._correct_by_exemplars(levels, poses, chances)
        chances = self._limit_to_set(chances, np.full(len(poses), np.inf), np.full(len(poses), network.UP))
        return self._reading_of(levels, poses, np.full(len(poses), network.UP), chances).tiles

    def _reading_of(
        self, levels: tuple[Level, ...], poses: Poses, faces: NDArray[np.int64], chances: NDArray[np.float64]
    ) -> Reading:
        """Return the reading for tiles with poses, (N, 6), faces, (N,), and probabilities of pips, (N, 2, K)."""
        touches = find_touches(poses, faces == network.UP)
        agreed = agree(chances, faces == network.UP, touches, set_is_given=self.max_pips is not None)
        outlines, centers = corners(poses), half_centers(poses)
        tiles = []
        for i, outline in enumerate(outlines):
            if faces[i] == network.DOWN:
                tiles.append(SeenTile(Face.DOWN, _corners(outline), ()))
                continue
            first, second = (
                _half(chances[i, h], int(agreed.pips[i, h]), agreed.chances[i, h], _point(centers[i, h].tolist()))
                for h in (0, 1)
            )
            tiles.append(SeenTile(Face.UP, _corners(outline), (first, second)))
        return Reading(*levels[0].full_size_px, tuple(tiles), *find_joins(touches, agreed.pips, agreed.plays))

    def find_tiles(
        self,
        levels: tuple[Level, ...],
        plausible: Filter | None = None,
        focus: Focus | None = None,
        *,
        only_tiles: bool = False,
    ) -> tuple[Poses, NDArray[np.int64], NDArray[np.float64]]:
        """Find tiles and classify their pips, without considering touches.

        Args:
            levels: Pyramid of the image.
            plausible: Filter for poses that can be tiles. None for all.
            focus: Region that changed, to be searched at finer resolution. None if unknown.
            only_tiles: Whether the image contains only tiles of one set, which allows a lower threshold.

        Returns:
            Poses, shape (N, 6), faces (`network.UP` or `DOWN`), (N,), and probabilities of pips, (N, 2, K). Sorted from
            top to bottom, then left to right.
        """
        found = self._find(levels, plausible, focus, only_tiles=only_tiles)
        return found.poses, found.faces, found.chances

    def _find(
        self, levels: tuple[Level, ...], plausible: Filter | None, focus: Focus | None, *, only_tiles: bool
    ) -> _Found:
        """Return the result of `find_tiles`, and objects to report as unsure (none if *only_tiles*)."""
        candidates = Candidates(self.detector, self.refiner)
        spare = _MAX_PIPS_BONUS + (_RELAXED_BELOW_ZERO if only_tiles else 0.0)
        farthest = 0.0 if only_tiles else FARTHEST_BELOW
        every, looks, every_odds = candidates.judge(levels, plausible, focus, spare=spare, spare_apart=farthest)
        hoped, every_face = every_odds > -spare, network.UP + looks[:, network.UP :].argmax(axis=1)
        poses, probabilities, odds = every[hoped], looks[hoped], every_odds[hoped]
        faces, chances = every_face[hoped], self._read_pips(levels, poses)
        in_set = self._limit_to_set(chances, odds, faces)
        least_sure = log_odds(in_set.max(axis=2).min(axis=1))
        is_blank = (faces == network.UP) & (in_set.argmax(axis=2) == 0).all(axis=1)
        most = np.where(is_blank, 0.0, _MAX_PIPS_BONUS)
        odds = odds + np.where(faces == network.UP, np.minimum(_PIPS_WEIGHT * least_sure, most), 0.0)
        known = focus is not None and focus.is_all
        needed = _relaxed_threshold(odds) if only_tiles else min_odds(odds, is_blank, others_known=known)
        is_tile = odds > needed
        every_odds[hoped] = np.where(is_tile, -np.inf, odds)
        doubtful = empty_poses() if only_tiles else every[looks_like_a_tile(every_odds, every_face)]
        tiles = np.nonzero(is_tile)[0]
        order = tiles[np.lexsort((poses[tiles, 0], poses[tiles, 1]))]
        poses, faces, chances, odds = poses[order], faces[order], chances[order], odds[order]
        unsure = np.nonzero((faces == network.UP) & _is_uncertain(chances))[0]
        if len(unsure):
            plane = find_plane(poses, probability(odds), levels[0].full_size_px)
            seen = poses[unsure], probabilities[order[unsure]]
            placed = relocate(levels, candidates, plane, seen, partial(self._pips_at, levels))
            moved = unsure[(placed != poses[unsure]).any(axis=1)]
            poses[unsure] = placed
            chances[moved] = self._read_pips(levels, poses[moved])
        up = faces == network.UP
        chances[up] = self._recheck_hard_cases(levels, poses[up], chances[up])
        chances[up] = self._correct_by_exemplars(levels, poses[up], chances[up])
        chances = self._limit_to_set(chances, odds, faces)
        if only_tiles:
            return _Found(poses, faces, chances, doubtful)
        kept = is_readable(odds, chances, up)
        return _Found(poses[kept], faces[kept], chances[kept], np.concatenate([doubtful, poses[~kept]]))

    def _limit_to_set(
        self, chances: NDArray[np.float64], odds: NDArray[np.float64], faces: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Apply the prior of the set to probabilities of pips, and drop numbers that the set does not have.

        The set is estimated only from confident tiles, because a patterned cloth can have more false candidates than
        there are tiles, and only from face-up tiles, because a boneyard would look like many blanks.

        Args:
            chances: Probabilities of 0 to 18 pips, shape (N, 2, 19).
            odds: Log odds of each being a tile, shape (N,).
            faces: Visible side of each, shape (N,).

        Returns:
            Shape (N, 2, K).
        """
        up = faces == network.UP
        sure = up & (odds > min(_SURE_TILE, odds.max(initial=0.0, where=up) / 2))
        seen = chances[sure].reshape(-1, chances.shape[2])
        numbers = numbers_in_play(seen) if self.max_pips is None else np.ones(self.max_pips + 1)
        chances = chances[..., : len(numbers)] * numbers + 1e-9
        return np.asarray(chances / chances.sum(axis=2, keepdims=True))

    def _read_pips(self, levels: tuple[Level, ...], poses: Poses) -> NDArray[np.float64]:
        """Return the probabilities of 0 to 18 pips for both halves, shape (N, 2, 19)."""
        # If a half is uncertain, the log probabilities of its tile are averaged over its pose and four shifted ones.
        chances = self._pips_at(levels, poses)
        unsure = np.nonzero(_is_uncertain(chances))[0]
        if len(unsure):
            shifted = shifted_poses(poses[unsure])
            looks = self._pips_at(levels, np.concatenate(shifted)).reshape(len(shifted), len(unsure), 2, -1)
            chances[unsure] = softmax(np.log(np.concatenate([chances[None, unsure], looks])).mean(axis=0))
        return chances

    def _recheck_hard_cases(
        self, levels: tuple[Level, ...], poses: Poses, chances: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Combine the probabilities of uncertain halves, (N, 2, 19), with those of the hard-case classifier."""
        weight, hard_case_weight = _CLASSIFIER_WEIGHT, _HARD_CASE_WEIGHT
        if self.own_set is not None:
            weight, hard_case_weight = _CUSTOM_SET_WEIGHT, _HARD_CASE_WEIGHT_BESIDE_SET * self.own_set.believed
        tiles, halves = np.nonzero(chances.max(axis=2) < _HARD_CASE_BELOW)
        own = weight * np.log(chances[tiles, halves])
        logs = hard_case_weight * self.hard_cases.logs(levels, poses[tiles], halves)
        again = np.nonzero(softmax(own + logs).max(axis=1, initial=0.0) < _HARD_CASE_SHIFTED_BELOW)[0]
        views = shifted_poses(poses[tiles[again]])
        more = self.hard_cases.logs(levels, np.concatenate(views), np.tile(halves[again], len(views)))
        more = hard_case_weight * more.reshape(len(views), len(again), chances.shape[2])
        logs[again] = np.mean([logs[again], *more], axis=0)
        combined = chances.copy()
        combined[tiles, halves] = softmax(own + logs)
        return combined

    def _correct_by_exemplars(
        self, levels: tuple[Level, ...], poses: Poses, chances: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Correct the probabilities of halves, (N, 2, 19), by the tiles that players have corrected."""
        if self.exemplars is None or not len(poses):
            return chances
        described = self.halves.describe_with_pictures(levels, poses)
        return _by_tile(self.exemplars.corrected(self.pips, described, np.concatenate(chances.swapaxes(0, 1))))

    def _pips_at(self, levels: tuple[Level, ...], poses: Poses) -> NDArray[np.float64]:
        """Classify the pips of both halves at *poses* once. Returns probabilities, shape (N, 2, 19)."""
        if self.own_set is None:
            probabilities = self.pips.probabilities(self.halves.describe(levels, poses)).astype(np.float64)
        else:
            probabilities = self.own_set.probabilities(self.pips, self.halves.describe_with_pictures(levels, poses))
        return _by_tile(probabilities)


def load_reader(max_pips: int | None = None, own_set: CustomSet | None = None) -> Reader:
    """Load a reader with the built-in models.

    Args:
        max_pips: Highest number in the set, 6 to 18. None if unknown, or to use that of *own_set*.
        own_set: Correction for a custom tile set. Ignored if *max_pips* exceeds its highest number, because another set
            is in use then.

    Raises:
        ModelError: If a model file is missing, damaged or of another version.
    """
    if own_set is not None and max_pips is not None and max_pips > own_set.max_pips:
        own_set = None
    if own_set is not None and max_pips is None:
        max_pips = own_set.max_pips
    parts = (
        load_detector(),
        network.load_refiner(),
        network.load_pip_features(),
        network.load_pip_classifier(),
        network.load_hard_case_classifier(),
    )
    return Reader(*parts, max_pips, own_set)


def _by_tile(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert values of all first halves, then all second ones, shape (2 * N, K), to shape (N, 2, K)."""
    return chances.reshape(2, len(chances) // 2, chances.shape[1]).swapaxes(0, 1)


def _relaxed_threshold(odds: NDArray[np.float64]) -> float:
    """Return the minimum log odds of a tile in an image of tiles only, from those of all candidates, shape (N,)."""
    usual = float(np.median(odds[odds > 0])) if (odds > 0).any() else np.inf
    return float(np.clip(usual - _RELAXED_BELOW_MEDIAN, -_RELAXED_BELOW_ZERO, 0.0))


def _is_uncertain(chances: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a mask of the tiles with an uncertain half, (N,), from the probabilities of their pips, (N, 2, K)."""
    return np.asarray((chances.max(axis=2) < _RECHECK_SHIFTED_BELOW).any(axis=1))


def _corners(outline: Points) -> tuple[PointPx, PointPx, PointPx, PointPx]:
    """Return the corners of a tile, starting at the top left."""
    points = [_point(xy) for xy in outline.tolist()]
    start = min(range(4), key=lambda corner: sum(points[corner]))
    a, b, c, d = points[start:] + points[:start]
    return a, b, c, d


def _half(alone: NDArray[np.float64], pips: int, together: NDArray[np.float64], center_px: PointPx) -> Half:
    """Return a half with its decided number and the most likely other one."""
    # *alone* are the probabilities of this half alone, *together* those given all tiles, both of shape (K,).
    others = together.copy()
    others[pips] = -1.0
    other = int(others.argmax())
    second = Guess(other, float(together[other]))
    return Half(pips, float(together[pips]), center_px, second, tuple(alone.tolist()))


def _point(xy: list[float]) -> PointPx:
    return (xy[0], xy[1])
