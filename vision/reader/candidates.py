"""Propose, refine and score candidate tiles, and select the best set without overlaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.arrays import Points
from vision.geometry.odds import log_odds, probability
from vision.geometry.plane import Plane, find_plane
from vision.geometry.poses import Poses, move
from vision.geometry.selection import choose, chosen_beside
from vision.image.pyramid import Level
from vision.networks.detector import Detector, Focus
from vision.networks.refiner import NOTHING, UP, Refiner

# Rounds of refinement before and after the plane of the table is known.
_REFINED, _REFINED_ON_PLANE = 2, 2
# Bonus in log odds for each round of refinement: of equally likely poses the one refined more often is better.
_REFINED_IS_BETTER = 3.0
# What would be moved by less than this, in half-axes, is where it should be.
_AT_REST = 0.01
# On the plane of the table all candidates are refined again, from their detected and from their refined poses, because
# refinement without the plane can go astray. Candidates with log odds above this are not: recall and misreads stay.
_SURE_AT_ONCE = 6.0
# Log odds below which no further view makes a tile.
_HOPELESS = -7.0
# Weights of the log odds of detector and refiner, and their common offset. A logistic
# regression on 6233 candidates of rendered tables kept back says 1.2, 1.05 and -0.9, and misjudges 2.5 %; real tables
# have more that looks like a tile close up (the squares of a ruled board), so the detector, which sees what is around,
# has more of a say.
_DETECTOR_WEIGHT, _REFINER_WEIGHT, _AHEAD = 2.2, 0.9, -0.9
# What is in doubt is looked at again from a little beside, in half-axes, because a pose is never exact.
_SHIFTS = ((0.03, 0, 0, 0, 0, 0), (-0.03, 0, 0, 0, 0, 0), (0, 0.06, 0, 0, 0, 0), (0, -0.06, 0, 0, 0, 0))
# Candidates whose log odds are nearer to 0 than this; what looks from beside lose of them on average is given back. The
# log loss of 1778 such candidates falls from 0.275 to 0.267.
_IN_DOUBT, _LOST_BESIDE = 3.0, 0.25

# In sides of a half: tiles nearer than this may lie as each other; what is nearer to the middle along the tile (half of
# it across) is that tile itself.
_NEIGHBOURS, _WITHIN = 2.2, 0.8

Looks = tuple[Poses, NDArray[np.float64]]
"""Poses, shape (N, 6), and what looks at them say: the probabilities of nothing, up and down, (N, 3)."""
Filter = Callable[[Poses], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What finds tiles and looks at them one by one.

    Attributes:
        detector: What finds tiles, see `vision.networks.detector.load_detector`.
        refiner: Scores and corrects its proposals, see `vision.networks.refiner.load_refiner`.
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
        beside: float = 0.0,
    ) -> tuple[Poses, NDArray[np.float64], NDArray[np.float64]]:
        """Return the candidates that lie on the table together, without looking at their pips.

        Looks once without knowing how the table lies, and again in the shape of tiles on the plane that the first show.

        Args:
            levels: Pyramid of the picture.
            plausible: Says which poses can be tiles at all; None where all can.
            focus: Where something has happened, see `Detector.find`.
            spare: How far below 0 the log odds of a candidate may be that is still worth a look at its pips.
            beside: How far below 0 they may be of those that lie beside all of these.

        Returns:
            Their poses, shape (N, 6), their probabilities of nothing, up and down, (N, 3), and the log odds that they
            are tiles, (N,), above -*spare*, or above -*beside* for the last ones.
        """
        found = self.detector.find(levels, focus)
        proposed, odds = found.poses, _DETECTOR_WEIGHT * log_odds(found.likely)
        if plausible is not None:
            proposed, odds = (values[plausible(found.poses)] for values in (proposed, odds))
        poses, probabilities = self.refined(levels, proposed, rounds=_REFINED)
        hoped = odds + _refiner_odds(probabilities) > _HOPELESS
        proposed, odds, poses, probabilities = (values[hoped] for values in (proposed, odds, poses, probabilities))
        if not len(poses):
            return poses, probabilities, odds
        seen, size_px = (poses, probabilities), levels[0].full_size_px
        plane, unsure = _on_plane(seen, odds, size_px)
        seen = self._looked_anew(levels, plane, plane.on_table(proposed[unsure]), unsure, seen)
        plane, unsure = _on_plane(seen, odds, size_px)
        seen = self._looked_anew(levels, plane, plane.on_table(seen[0][unsure]), unsure, seen)
        poses, probabilities = self._as_neighbours_lie(levels, plane, proposed, odds, seen)
        odds = odds - plane.doubt(poses)
        odds = odds + self._seen_from_beside(levels, poses, _refiner_odds(probabilities), odds)
        chosen = choose(poses, odds + spare)
        chosen = np.concatenate([chosen, chosen_beside(chosen, poses, odds + beside)])
        return poses[chosen], probabilities[chosen], odds[chosen]

    def _as_neighbours_lie(
        self, levels: tuple[Level, ...], plane: Plane, proposed: Poses, odds: NDArray[np.float64], seen: Looks
    ) -> Looks:
        """Return the looks after one more at what is in doubt beside a sure tile, turned as that one lies.

        In rows and blocks the pips of neighbours look like tiles that lie across, and the detector proposes those.

        Args:
            levels: Pyramid of the picture.
            plane: On which the tiles lie.
            proposed: Shape (N, 6), where the detector sees something.
            odds: Shape (N,), what it says of it, in log odds.
            seen: What the looks so far give.
        """
        poses, probabilities = seen
        refiner_odds = odds + _refiner_odds(probabilities) - plane.doubt(poses)
        sure, unsure = np.nonzero(refiner_odds > _IN_DOUBT)[0], np.nonzero(refiner_odds < _IN_DOUBT)[0]
        if not len(sure) or not len(unsure):
            return seen
        middles, thetas = plane.on_table(poses[sure])
        centers, _ = plane.on_table(proposed[unsure])
        away = centers[:, None] - middles
        nearest = np.linalg.norm(away, axis=2).argmin(axis=1)
        away, theta = away[np.arange(len(unsure)), nearest], thetas[nearest]
        along = np.abs(away[:, 0] * np.cos(theta) + away[:, 1] * np.sin(theta))
        across = np.abs(away[:, 1] * np.cos(theta) - away[:, 0] * np.sin(theta))
        is_near = (np.hypot(along, across) < _NEIGHBOURS) & ((along > _WITHIN) | (across > _WITHIN / 2))
        if not is_near.any():
            return seen
        return self._looked_anew(levels, plane, (centers[is_near], theta[is_near]), unsure[is_near], seen)

    def _looked_anew(
        self,
        levels: tuple[Level, ...],
        plane: Plane,
        lying: tuple[Points, NDArray[np.float64]],
        which: NDArray[np.intp],
        seen: Looks,
    ) -> Looks:
        """Return the looks after one more at some, as they may lie on the plane, where that shows more of a tile.

        Args:
            levels: Pyramid of the picture.
            plane: On which the tiles lie.
            lying: Where on the table and in which direction, see `Plane.tiles_at`.
            which: Shape (M,), which of the looks so far are at them.
            seen: What the looks so far give.
        """
        tried = self.refined(levels, plane.tiles_at(*lying), rounds=_REFINED_ON_PLANE)
        poses, probabilities = seen[0].copy(), seen[1].copy()
        poses[which], probabilities[which] = _better(plane, tried, (poses[which], probabilities[which]))
        return poses, probabilities

    def _seen_from_beside(
        self, levels: tuple[Level, ...], poses: Poses, refiner_odds: NDArray[np.float64], odds: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the log odds of the refiner, shape (N,); for doubtful candidates the mean of five shifted views.

        Args:
            levels: Pyramid of the picture.
            poses: Shape (N, 6), refined.
            refiner_odds: Shape (N,), the log odds of one view.
            odds: Shape (N,), what is known besides, in log odds.
        """
        unsure = np.nonzero(np.abs(odds + refiner_odds) < _IN_DOUBT)[0]
        if not len(unsure):
            return refiner_odds
        looks = [_refiner_odds(self.refiner.look(levels, shifted)[0]) for shifted in beside(poses[unsure])]
        seen = refiner_odds.copy()
        seen[unsure] = np.mean([refiner_odds[unsure], *looks], axis=0) + _LOST_BESIDE
        return seen

    def refined(self, levels: tuple[Level, ...], poses: Poses, *, rounds: int) -> tuple[Poses, NDArray[np.float64]]:
        """Return poses put right, shape (N, 6), and their probabilities of nothing, face up and face down, (N, 3).

        Mending can go wrong, so of the poses on the way the one that looks most like a tile is taken.

        Args:
            levels: Pyramid of the picture.
            poses: Shape (N, 6), where tiles may be.
            rounds: How often they are refined.
        """
        poses, refined = poses.copy(), poses.copy()
        probabilities, corrections = self.refiner.look(levels, poses)
        ranked, moving = sure_tile(probabilities), np.arange(len(poses))
        for done in range(1, rounds + 1):
            still = np.abs(corrections).max(axis=1, initial=0.0) < _AT_REST
            moving, corrections = moving[~still], corrections[~still]
            if not len(moving):
                break
            poses[moving] = move(poses[moving], corrections)
            seen, corrections = self.refiner.look(levels, poses[moving])
            rank = sure_tile(seen) + _REFINED_IS_BETTER * done
            better = rank > ranked[moving]
            which = moving[better]
            refined[which], probabilities[which], ranked[which] = poses[which], seen[better], rank[better]
        return refined, probabilities


def _on_plane(seen: Looks, odds: NDArray[np.float64], size_px: tuple[int, int]) -> tuple[Plane, NDArray[np.intp]]:
    """Return the plane that looks show, and which of them leave some doubt there, (M,)."""
    refiner_odds = odds + _refiner_odds(seen[1])
    plane = find_plane(seen[0], probability(refiner_odds), size_px)
    return plane, np.nonzero(refiner_odds - plane.doubt(seen[0]) < _SURE_AT_ONCE)[0]


def _better(plane: Plane, tried: Looks, seen: Looks) -> Looks:
    """Return of each pose the look that shows more of a tile on the table."""
    gain = sure_tile(tried[1]) - plane.doubt(tried[0]) - sure_tile(seen[1]) + plane.doubt(seen[0])
    better = (gain > 0)[:, None]
    return np.where(better, tried[0], seen[0]), np.where(better, tried[1], seen[1])


def beside(poses: Poses) -> list[Poses]:
    """Return poses, shape (N, 6), shifted a little, each way once."""
    return [move(poses, np.tile(shift, (len(poses), 1))) for shift in _SHIFTS]


def _refiner_odds(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log odds of the refiner that each is a tile; they add to those of the detector.

    A tile of which nobody can say which face is up is no tile that can be said.
    """
    sides = probabilities[:, UP:]
    which = np.log(sides.max(axis=1, initial=1e-9) / np.maximum(sides.sum(axis=1), 1e-9))
    return np.asarray(_REFINER_WEIGHT * sure_tile(probabilities) + _AHEAD + which)


def sure_tile(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log odds that something is a tile, (N,), from its probabilities of nothing, up and down, (N, 3)."""
    return log_odds(1 - probabilities[:, NOTHING])
