"""Read all tiles in an image: detect, refine, select, classify pips, and find joins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vision.arrays import Image, Points
from vision.geometry.odds import log_odds, probability, softmax
from vision.geometry.plane import find_plane
from vision.geometry.poses import Poses, corners, empty_poses, half_centers
from vision.geometry.sets import numbers_in_play
from vision.image.pyramid import Level, build_pyramid
from vision.layout.joins import find_joins
from vision.layout.touches import find_touches
from vision.networks.detector import Detector, Focus, load_detector
from vision.networks.hard_case_classifier import HardCaseClassifier, load_hard_case_classifier
from vision.networks.pip_classifier import PipClassifier, load_pip_classifier
from vision.networks.pip_features import PipFeatures, load_pip_features
from vision.networks.refiner import DOWN, UP, Refiner, load_refiner
from vision.reader.agreement import JointReading, agree
from vision.reader.candidates import Candidates, Filter, beside
from vision.reader.custom_set import CustomSet
from vision.reader.pose_refinement import relocate
from vision.reader.unsure import FARTHEST_BELOW, looks_like_a_tile
from vision.reading import Face, Guess, Half, PointPx, Reading, SeenTile

# Weight and cap of the log odds of the less certain half in a candidate's score. Clear pips are strong evidence of a
# tile. Three quarters of the weight fitted by logistic regression to 3435 candidates of 220 rendered tables, before the
# refiner was a network: with the full weight, half a tile beside cloth becomes a tile.
_PIPS_COUNT, _PIPS_ADD_AT_MOST = 0.15, 0.9
# Among nothing but tiles those may be that far below 0, in log odds, and that far below the middle of those above 0. Of
# 840 tiles with signs on pictures of whole sets 803 are found then, 761 without; of 1740 with pips 1720 and 1722.
_LEAST_AMONG_TILES, _BELOW_MOST = 2.0, 5.0
# Tiles with a half less sure than this are looked at again from beside: of 3342 halves of rendered tables 1.5 % are
# misread then, 1.8 % after one look, 1.6 % where sizes are a little off instead of places.
_SURE_AT_ONCE = 0.99
# Halves below this confidence go to the hard-case classifier. Of 44,484 halves of rendered tables 103 are misread, and
# 110 with a limit of 0.99; on others no fewer are misread, but 1.8 % more reach 0.99.
_RECHECK_BELOW = 0.998
# Log odds from which a tile has a say in which set lies there; or half of those of the surest.
_SURE_TILE = 1.5
# Weights of the log probabilities of the pip classifier and of the hard-case classifier; or of a custom set, which is
# more reliable, and of the hard-case classifier. Their errors are correlated, so the first pair sums to 1. Alone, the
# hard-case classifier misreads half of the hand-painted pips, which it was not trained on; both, 30 %, and 0.09 % of
# usual halves. Weights of 0.6 and 0.4 give 25 and 0.2 %.
_CLASSIFIER_WEIGHT, _HARD_CASE_WEIGHT = 0.5, 0.5
_CUSTOM_SET_WEIGHT, _HARD_CASE_WEIGHT_BESIDE_SET = 0.8, 0.25


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """What `Reader.find_tiles` returns, and the poses of what looks like a tile but cannot be read, shape (M, 6)."""

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
        halves: Extracts pip features from the halves.
        pips: Classifies the features as pips.
        hard_cases: Classifies halves that are in doubt after that.
        max_pips: Highest number of the set, 6 to 18, or None if unknown.
        own_set: Correction for the tile set on the table, or None.
    """

    detector: Detector
    refiner: Refiner
    halves: PipFeatures
    pips: PipClassifier
    hard_cases: HardCaseClassifier
    max_pips: int | None = None
    own_set: CustomSet | None = None

    def read(self, image: Image, plausible: Filter | None = None, focus: Focus | None = None) -> Reading:
        """Return what lies on the table, and what looks like a tile there but cannot be read.

        Args:
            image: Shape (H, W, 3), BGR, upright.
            plausible: Says of poses, shape (N, 6), which can be tiles at all, shape (N,); None where all can.
            focus: Where something has happened, which is looked at more finely; None where nobody knows.

        Raises:
            ValueError: If the image has another shape or type.
        """
        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
            raise ValueError(f"image must have shape (H, W, 3) and be uint8, but got {image.shape} {image.dtype}")
        levels = build_pyramid(image)
        found = self._find(levels, plausible, focus, only_tiles=False)
        reading = self._reading_of(levels, found.poses, found.faces, found.chances)
        return reading.with_unsure(tuple(_unsure_tile(outline) for outline in corners(found.unsure)))

    def read_again(self, image: Image, poses: Poses) -> tuple[SeenTile, ...]:
        """Return the tiles that are known to lie face up at some poses, their pips read from this picture.

        Args:
            image: Shape (H, W, 3), BGR, upright.
            poses: Shape (N, 6); all that lie there, because together they tell which set this is.
        """
        levels = build_pyramid(image)
        chances = self._doubts_settled(levels, poses, self._read_pips(levels, poses))
        chances = self._of_set(chances, np.full(len(poses), np.inf), np.full(len(poses), UP))
        return self._reading_of(levels, poses, np.full(len(poses), UP), chances).tiles

    def _reading_of(
        self, levels: tuple[Level, ...], poses: Poses, faces: NDArray[np.int64], chances: NDArray[np.float64]
    ) -> Reading:
        """Return the reading of tiles with some poses, (N, 6), faces, (N,), and chances of pips, (N, 2, K)."""
        touches = find_touches(poses, faces == UP)
        agreed = agree(chances, faces == UP, touches, set_is_told=self.max_pips is not None)
        outlines, centers = corners(poses), half_centers(poses)
        tiles = tuple(
            _tile(outlines[i], faces[i], _halves(chances[i], agreed, i, centers[i])) for i in range(len(poses))
        )
        return Reading(*levels[0].full_size_px, tiles, *find_joins(touches, agreed.pips, agreed.plays))

    def find_tiles(
        self,
        levels: tuple[Level, ...],
        plausible: Filter | None = None,
        focus: Focus | None = None,
        *,
        only_tiles: bool = False,
    ) -> tuple[Poses, NDArray[np.int64], NDArray[np.float64]]:
        """Return the tiles, row by row: poses, shape (N, 6), faces, (N,), and chances of the pips of halves, (N, 2, K).

        Args:
            levels: Pyramid of the picture.
            plausible: Says which poses can be tiles at all; None where all can.
            focus: Where something has happened; None where nobody knows.
            only_tiles: Whether nothing else lies there but tiles of one set: then some may be as unsure as most are.
        """
        found = self._find(levels, plausible, focus, only_tiles=only_tiles)
        return found.poses, found.faces, found.chances

    def _find(
        self, levels: tuple[Level, ...], plausible: Filter | None, focus: Focus | None, *, only_tiles: bool
    ) -> _Found:
        """Return the tiles, as `find_tiles` does, and what cannot be read: nothing among tiles alone."""
        candidates = Candidates(self.detector, self.refiner)
        spare = _PIPS_ADD_AT_MOST + (_LEAST_AMONG_TILES if only_tiles else 0.0)
        farthest = 0.0 if only_tiles else FARTHEST_BELOW
        every, looks, every_odds = candidates.judge(levels, plausible, focus, spare=spare, beside=farthest)
        hoped, every_face = every_odds > -spare, UP + looks[:, UP:].argmax(axis=1)
        poses, probabilities, odds = every[hoped], looks[hoped], every_odds[hoped]
        faces, chances = every_face[hoped], self._read_pips(levels, poses)
        of_set = self._of_set(chances, odds, faces)
        least_sure = log_odds(of_set.max(axis=2).min(axis=1))
        # Two blanks show no pips: cloth shows as few.
        most = np.where((of_set.argmax(axis=2) > 0).any(axis=1), _PIPS_ADD_AT_MOST, 0.0)
        odds = odds + np.where(faces == UP, np.minimum(_PIPS_COUNT * least_sure, most), 0.0)
        is_tile = odds > (_least_among_tiles(odds) if only_tiles else 0.0)
        every_odds[hoped] = np.where(is_tile, -np.inf, odds)
        doubtful = empty_poses() if only_tiles else every[looks_like_a_tile(every_odds, every_face)]
        tiles = np.nonzero(is_tile)[0]
        order = tiles[np.lexsort((poses[tiles, 0], poses[tiles, 1]))]
        poses, faces, chances, odds = poses[order], faces[order], chances[order], odds[order]
        unsure = np.nonzero((faces == UP) & _leave_doubt(chances))[0]
        if len(unsure):
            plane = find_plane(poses, probability(odds), levels[0].full_size_px)
            seen = poses[unsure], probabilities[order[unsure]]
            placed = relocate(levels, candidates, plane, seen, partial(self._pips_at, levels))
            moved = unsure[(placed != poses[unsure]).any(axis=1)]
            poses[unsure] = placed
            chances[moved] = self._read_pips(levels, poses[moved])
        up = faces == UP
        chances[up] = self._doubts_settled(levels, poses[up], chances[up])
        return _Found(poses, faces, self._of_set(chances, odds, faces), doubtful)

    def _of_set(
        self, chances: NDArray[np.float64], odds: NDArray[np.float64], faces: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the chances of the numbers that can lie here, (N, 2, K), from those of 0 to 18, (N, 2, 19).

        Which set lies here is told by what is surely a tile: a cloth can have more flowers that look a little like one
        than there are tiles on it. And by those that lie face up: a boneyard looks like many blanks.

        Args:
            chances: What is seen of each.
            odds: Shape (N,), the log odds of each being a tile.
            faces: Shape (N,), which side of each is seen.
        """
        up = faces == UP
        sure = up & (odds > min(_SURE_TILE, odds.max(initial=0.0, where=up) / 2))
        seen = chances[sure].reshape(-1, chances.shape[2])
        numbers = numbers_in_play(seen) if self.max_pips is None else np.ones(self.max_pips + 1)
        chances = chances[..., : len(numbers)] * numbers + 1e-9
        return np.asarray(chances / chances.sum(axis=2, keepdims=True))

    def _read_pips(self, levels: tuple[Level, ...], poses: Poses) -> NDArray[np.float64]:
        """Return the probability of each number from 0 to 18 for both halves, shape (N, 2, 19), as a first look says.

        Where one half leaves doubt, both are looked at from five places a little apart.
        """
        chances = self._pips_at(levels, poses)
        unsure = np.nonzero(_leave_doubt(chances))[0]
        if len(unsure):
            shifted = beside(poses[unsure])
            looks = self._pips_at(levels, np.concatenate(shifted)).reshape(len(shifted), len(unsure), 2, -1)
            chances[unsure] = softmax(np.log(np.concatenate([chances[None, unsure], looks])).mean(axis=0))
        return chances

    def _doubts_settled(
        self, levels: tuple[Level, ...], poses: Poses, chances: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the probabilities of pips, (N, 2, 19), with the hard-case classifier where the first is in doubt."""
        tiles, halves = np.nonzero(chances.max(axis=2) < _RECHECK_BELOW)
        views = [poses[tiles], *beside(poses[tiles])]
        logs = self.hard_cases.logs(levels, np.concatenate(views), np.tile(halves, len(views)))
        logs = logs.reshape(len(views), len(tiles), chances.shape[2]).mean(axis=0)
        counts, counts_again = _CLASSIFIER_WEIGHT, _HARD_CASE_WEIGHT
        if self.own_set is not None:
            counts, counts_again = _CUSTOM_SET_WEIGHT, _HARD_CASE_WEIGHT_BESIDE_SET * self.own_set.believed
        settled = chances.copy()
        settled[tiles, halves] = softmax(counts * np.log(chances[tiles, halves]) + counts_again * logs)
        return settled

    def _pips_at(self, levels: tuple[Level, ...], poses: Poses) -> NDArray[np.float64]:
        """Return the probability of each number from 0 to 18 for both halves at one look, shape (N, 2, 19)."""
        if self.own_set is None:
            described = self.halves.describe(levels, poses)
            probabilities = self.pips.probabilities(described).astype(np.float64)
        else:
            described = self.halves.describe_with_pictures(levels, poses)
            probabilities = self.own_set.probabilities(self.pips, described)
        return probabilities.reshape(2, len(poses), probabilities.shape[1]).swapaxes(0, 1)


def load_reader(max_pips: int | None = None, own_set: CustomSet | None = None) -> Reader:
    """Return the eye with what the package ships.

    Args:
        max_pips: The highest number of the set, 6 to 18, or None where it is not known, or is that of *own_set*.
        own_set: What was learned of the set on the table. It is not used where *max_pips* is a higher number: then
            another set lies there.

    Raises:
        ModelError: If a file of it is absent or of another version.
    """
    if own_set is not None and max_pips is not None and max_pips > own_set.max_pips:
        own_set = None
    if own_set is not None and max_pips is None:
        max_pips = own_set.max_pips
    parts = (load_detector(), load_refiner(), load_pip_features(), load_pip_classifier(), load_hard_case_classifier())
    return Reader(*parts, max_pips, own_set)


def _least_among_tiles(odds: NDArray[np.float64]) -> float:
    """Return the log odds from which something is a tile where nothing else lies, from those of candidates, (N,)."""
    usual = float(np.median(odds[odds > 0])) if (odds > 0).any() else np.inf
    return float(np.clip(usual - _BELOW_MOST, -_LEAST_AMONG_TILES, 0.0))


def _leave_doubt(chances: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which tiles have a half that leaves doubt, (N,), from the chances of their pips, (N, 2, K)."""
    return np.asarray((chances.max(axis=2) < _SURE_AT_ONCE).any(axis=1))


def _tile(outline: Points, face: np.int64, halves: tuple[Half, Half]) -> SeenTile:
    """Return one tile as plain values."""
    return SeenTile(Face.DOWN, _corners(outline), ()) if face == DOWN else SeenTile(Face.UP, _corners(outline), halves)


def _unsure_tile(outline: Points) -> SeenTile:
    """Return what looks like a tile but cannot be read."""
    return SeenTile(Face.UNSURE, _corners(outline), ())


def _corners(outline: Points) -> tuple[PointPx, PointPx, PointPx, PointPx]:
    """Return the corners of a tile from the top left."""
    points = [_point(xy) for xy in outline.tolist()]
    start = min(range(4), key=lambda corner: sum(points[corner]))
    a, b, c, d = points[start:] + points[:start]
    return a, b, c, d


def _halves(chances: NDArray[np.float64], agreed: JointReading, index: int, centers: Points) -> tuple[Half, Half]:
    """Return both halves of a tile; *chances*, shape (2, K), are theirs by themselves."""
    first, second = (
        _half(chances[h], int(agreed.pips[index, h]), agreed.chances[index, h], _point(centers[h].tolist()))
        for h in (0, 1)
    )
    return first, second


def _half(alone: NDArray[np.float64], pips: int, together: NDArray[np.float64], center_px: PointPx) -> Half:
    """Return one half with its best two numbers; *alone* and *together* have shape (K,)."""
    others = together.copy()
    others[pips] = -1.0
    other = int(others.argmax())
    second = Guess(other, float(together[other]))
    return Half(pips, float(together[pips]), center_px, second, tuple(alone.tolist()))


def _point(xy: list[float]) -> PointPx:
    return (xy[0], xy[1])
