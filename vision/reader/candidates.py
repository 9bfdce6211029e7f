"""Propose, refine and score candidate tiles, and select the best non-overlapping set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.arrays import Points
from vision.geometry.odds import log_odds, probability
from vision.geometry.plane import Plane, find_plane
from vision.geometry.poses import Poses, move
from vision.geometry.selection import select_more_tiles, select_tiles
from vision.image.picture import Level
from vision.networks.detector import Detector, Focus
from vision.networks.network import NOTHING, UP, Refiner

# Rounds of refinement before and after the table plane is known.
_ROUNDS, _ROUNDS_ON_PLANE = 2, 2
# Bonus in log odds per round of refinement, because refined poses are more accurate at equal confidence.
_ROUND_BONUS = 3.0
# A pose is final if its correction is below this, in half-axes.
_AT_REST = 0.01
# Candidates below these log odds are refined again on the table plane, from their detected and from their refined pose,
# because refinement without the plane can go astray. Above it, this changes neither recall nor misreads.
_CONFIDENT_ODDS = 6.0
# Candidates below these log odds are dropped.
_HOPELESS = -7.0
# Weights of the log odds of detector and refiner, and their offset. Logistic regression on 6233 held-out candidates of
# rendered tables gives 1.2, 1.05 and -0.9, with 2.5 % errors. Real tables have more objects that look like a tile from
# close up, such as the squares of a ruled board, so the detector, which sees more context, has a higher weight.
_DETECTOR_WEIGHT, _REFINER_WEIGHT, _OFFSET = 2.2, 0.9, -0.9
# Maximum log odds that a candidate loses for its size or shape, because the plane can be wrong far from the tiles that
# determine it. Without a limit, a clear near tile was lost in a photo of a block of distant ones. On 250 rendered
# tables, the limit adds one false tile.
_MAX_PLANE_DOUBT = 5.0
# Shifts in half-axes at which doubtful candidates are evaluated again, because poses are inexact.
_SHIFTS = ((0.03, 0, 0, 0, 0, 0), (-0.03, 0, 0, 0, 0, 0), (0, 0.06, 0, 0, 0, 0), (0, -0.06, 0, 0, 0, 0))
# Candidates within this distance of log odds 0 are doubtful. Shifted views lose some log odds on average, which are
# added back. Averaging reduces the log loss of 1778 such candidates from 0.275 to 0.267.
_IN_DOUBT, _SHIFT_LOSS = 3.0, 0.25

# Distances between the centres of tiles, in sides. Tiles closer than _NEIGHBOURS may be parallel neighbours. A
# candidate at most _WITHIN along a tile and _WITHIN / 2 across it is the same tile.
_NEIGHBOURS, _WITHIN = 2.2, 0.8

Looks = tuple[Poses, NDArray[np.float64]]
"""Poses, shape (N, 6), and their probabilities of no tile, face up and face down, shape (N, 3)."""
Filter = Callable[[Poses], NDArray[np.bool_]]
"""Function that returns a mask, shape (N,), of the poses, shape (N, 6), that can be tiles."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Finds and scores candidate tiles.

    Attributes:
        detector: Proposes tiles.
        refiner: Scores and corrects the proposals.
    """

    detector: Detector
    refiner: Refiner

    def judge(
        self,
        levels: tuple[Level, ...],
        plausible: Filter | None = None,
        focus: Focus | None = None,
        *,
        spare: float = 0.0,
        spare_apart: float = 0.0,
    ) -> tuple[Poses, NDArray[np.float64], NDArray[np.float64]]:
        """Return the best set of non-overlapping candidates, without considering pips.

        Candidates are dropped here if they are not *plausible*, hopeless after the first refinement, overlapped by a
        better one, or below the thresholds *spare* and *spare_apart*. All are refined without the table plane. Those
        that are not confident are then refined again on it, because it determines the size and shape of tiles.

        Args:
            levels: Pyramid of the image.
            plausible: Filter for poses that can be tiles. None for all.
            focus: Region that changed, as for `Detector.find`.
            spare: Log odds below 0 at which a candidate is still selected, as its pips may confirm it.
            spare_apart: Log odds below 0 at which a candidate is added if it overlaps no selected one.

        Returns:
            Poses, shape (N, 6), probabilities of no tile, face up and face down, (N, 3), and log odds of being a tile,
            (N,).
        """
        found = self.detector.find(levels, focus)
        proposed, odds = found.poses, _DETECTOR_WEIGHT * log_odds(found.likely)
        if plausible is not None:
            proposed, odds = (values[plausible(found.poses)] for values in (proposed, odds))
        poses, probabilities = self.refined(levels, proposed, rounds=_ROUNDS)
        hoped = odds + _refiner_odds(probabilities) > _HOPELESS
        proposed, odds, poses, probabilities = (values[hoped] for values in (proposed, odds, poses, probabilities))
        if not len(poses):
            return poses, probabilities, odds
        seen, size_px = (poses, probabilities), levels[0].full_size_px
        plane, unsure = _on_plane(seen, odds, size_px)
        seen = self._refine_on_plane(levels, plane, plane.on_table(proposed[unsure]), unsure, seen)
        plane, unsure = _on_plane(seen, odds, size_px)
        seen = self._refine_on_plane(levels, plane, plane.on_table(seen[0][unsure]), unsure, seen)
        poses, probabilities = self._align_with_neighbours(levels, plane, proposed, odds, seen)
        odds = odds - np.minimum(plane.doubt(poses), _MAX_PLANE_DOUBT)
        odds = odds + self._average_shifted(levels, poses, _refiner_odds(probabilities), odds)
        chosen = select_tiles(poses, odds + spare)
        chosen = np.concatenate([chosen, select_more_tiles(chosen, poses, odds + spare_apart)])
        return poses[chosen], probabilities[chosen], odds[chosen]

    def _align_with_neighbours(
        self, levels: tuple[Level, ...], plane: Plane, proposed: Poses, odds: NDArray[np.float64], seen: Looks
    ) -> Looks:
        """Refine doubtful candidates in the direction of the nearest confident one, and keep better results.

        In rows and blocks, the pips of two neighbours can look like a tile across them, which the detector proposes.

        Args:
            levels: Pyramid of the image.
            plane: Plane of the table.
            proposed: Poses from the detector, shape (N, 6).
            odds: Weighted log odds of the detector, shape (N,).
            seen: Current poses and class probabilities.
        """
        poses, probabilities = seen
        refiner_odds = odds + _refiner_odds(probabilities) - plane.doubt(poses)
        sure, unsure = np.nonzero(refiner_odds > _IN_DOUBT)[0], np.nonzero(refiner_odds < _IN_DOUBT)[0]
        if not len(sure) or not len(unsure):
            return seen
        middles, thetas = plane.on_table(poses[sure])
        centers, _ = plane.on_table(proposed[unsure])
        offsets = centers[:, None] - middles
        nearest = np.linalg.norm(offsets, axis=2).argmin(axis=1)
        offset, theta = offsets[np.arange(len(unsure)), nearest], thetas[nearest]
        along = np.abs(offset[:, 0] * np.cos(theta) + offset[:, 1] * np.sin(theta))
        across = np.abs(offset[:, 1] * np.cos(theta) - offset[:, 0] * np.sin(theta))
        is_near = (np.hypot(along, across) < _NEIGHBOURS) & ((along > _WITHIN) | (across > _WITHIN / 2))
        if not is_near.any():
            return seen
        return self._refine_on_plane(levels, plane, (centers[is_near], theta[is_near]), unsure[is_near], seen)

    def _refine_on_plane(
        self,
        levels: tuple[Level, ...],
        plane: Plane,
        resting: tuple[Points, NDArray[np.float64]],
        which: NDArray[np.intp],
        seen: Looks,
    ) -> Looks:
        """Refine some candidates from new poses on the plane, and keep the results that look more like a tile.

        Args:
            levels: Pyramid of the image.
            plane: Plane of the table.
            resting: Centres and directions on the table, as for `Plane.tiles_at`.
            which: Indices of the candidates, shape (M,).
            seen: Current poses and class probabilities.
        """
        candidates = self.refined(levels, plane.tiles_at(*resting), rounds=_ROUNDS_ON_PLANE)
        poses, probabilities = seen[0].copy(), seen[1].copy()
        poses[which], probabilities[which] = _better(plane, candidates, (poses[which], probabilities[which]))
        return poses, probabilities

    def _average_shifted(
        self, levels: tuple[Level, ...], poses: Poses, refiner_odds: NDArray[np.float64], odds: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the log odds of the refiner, shape (N,). For doubtful candidates, average them over five views.

        Args:
            levels: Pyramid of the image.
            poses: Refined poses, shape (N, 6).
            refiner_odds: Log odds of the refiner at these poses, shape (N,).
            odds: All other log odds, shape (N,).
        """
        unsure = np.nonzero(np.abs(odds + refiner_odds) < _IN_DOUBT)[0]
        if not len(unsure):
            return refiner_odds
        looks = [_refiner_odds(self.refiner.look(levels, shifted)[0]) for shifted in shifted_poses(poses[unsure])]
        seen = refiner_odds.copy()
        seen[unsure] = np.mean([refiner_odds[unsure], *looks], axis=0) + _SHIFT_LOSS
        return seen

    def refined(self, levels: tuple[Level, ...], poses: Poses, *, rounds: int) -> tuple[Poses, NDArray[np.float64]]:
        """Refine poses iteratively.

        Refinement can go astray, so the iterate that looks most like a tile is returned.

        Args:
            levels: Pyramid of the image.
            poses: Initial poses, shape (N, 6).
            rounds: Maximum number of iterations.

        Returns:
            Refined poses, shape (N, 6), and their probabilities of no tile, face up and face down, shape (N, 3).
        """
        poses, refined = poses.copy(), poses.copy()
        probabilities, corrections = self.refiner.look(levels, poses)
        ranked, moving = tile_odds(probabilities), np.arange(len(poses))
        for done in range(1, rounds + 1):
            still = np.abs(corrections).max(axis=1, initial=0.0) < _AT_REST
            moving, corrections = moving[~still], corrections[~still]
            if not len(moving):
                break
            poses[moving] = move(poses[moving], corrections)
            seen, corrections = self.refiner.look(levels, poses[moving])
            rank = tile_odds(seen) + _ROUND_BONUS * done
            better = rank > ranked[moving]
            which = moving[better]
            refined[which], probabilities[which], ranked[which] = poses[which], seen[better], rank[better]
        return refined, probabilities


def _on_plane(seen: Looks, odds: NDArray[np.float64], size_px: tuple[int, int]) -> tuple[Plane, NDArray[np.intp]]:
    """Return the table plane, and the indices of the candidates that are not confident on it, shape (M,)."""
    refiner_odds = odds + _refiner_odds(seen[1])
    plane = find_plane(seen[0], probability(refiner_odds), size_px)
    return plane, np.nonzero(refiner_odds - plane.doubt(seen[0]) < _CONFIDENT_ODDS)[0]


def _better(plane: Plane, candidates: Looks, seen: Looks) -> Looks:
    """Return for each candidate the pose, with its probabilities, that looks more like a tile on the plane."""
    gain = tile_odds(candidates[1]) - plane.doubt(candidates[0]) - tile_odds(seen[1]) + plane.doubt(seen[0])
    better = (gain > 0)[:, None]
    return np.where(better, candidates[0], seen[0]), np.where(better, candidates[1], seen[1])


def shifted_poses(poses: Poses) -> list[Poses]:
    """Return poses, shape (N, 6), shifted slightly in each of four directions."""
    return [move(poses, np.tile(shift, (len(poses), 1))) for shift in _SHIFTS]


def _refiner_odds(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the refiner's weighted log odds that each pose is a tile, shape (N,), to be added to the detector's.

    They include the log probability of the more likely face, because a tile with an ambiguous face cannot be reported.
    """
    sides = probabilities[:, UP:]
    which = np.log(sides.max(axis=1, initial=1e-9) / np.maximum(sides.sum(axis=1), 1e-9))
    return np.asarray(_REFINER_WEIGHT * tile_odds(probabilities) + _OFFSET + which)


def tile_odds(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log odds of being a tile, shape (N,), from the class probabilities, shape (N, 3)."""
    return log_odds(1 - probabilities[:, NOTHING])
