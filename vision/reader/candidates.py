"""Propose, refine and score candidate tiles on the table plane, and select the best non-overlapping set.

The plane is estimated from the tiles on it, which all have the same size and are twice as long as wide. In an oblique
view, near tiles look larger than distant ones, and tiles are squeezed or slanted depending on their direction. A few
confident tiles determine the plane. It then predicts the size and shape of a tile anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.arrays import Points, log_odds, probability
from vision.image.picture import Level
from vision.networks.detector import Detector, Focus
from vision.networks.network import NOTHING, UP, Refiner
from vision.poses import Poses, move, select_more_tiles, select_tiles, sides_px, to_image

# Only poses of at least this confidence determine the plane, or the most confident ones if none reaches it.
_SURE = 0.8
# Spread of the residuals of a real tile (log lengths, cosine of the angle) in the first and last iteration.
_FIRST_SPREAD = 0.3
_LAST_SPREAD = 0.07
_PLANE_ROUNDS = 6
_MAX_TILES = 100
_MIN_TRUST = 1e-3
_CUT_OFF = 4.0  # Outlier limit, in spreads.
# Prior spread of the parameters: log scale, squeeze, slant, and growth along x and y.
_PRIOR_SPREAD = np.array([5.0, 0.15, 0.15, 0.3, 0.3])
_FARTHEST = np.array([2.0, 1.5, 1.5, 1.2, 1.2])
# Offsets for the numerical Jacobian: none, then a small step in each parameter.
_STEP = 1e-5
_PROBES = np.vstack([np.zeros(5), _STEP * np.eye(5)])
# Residuals up to _FREE are not penalised. Beyond it, each tenth costs _DOUBT_PER_TENTH in log odds.
_FREE = 0.12
_DOUBT_PER_TENTH = 2.0
_EDGE_MIDDLES_UV = np.array([(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """Homography from the image to the table, in units of a half's side. The homography contains no rotation.

    Attributes:
        homography: Shape (3, 3), image to table.
        support: Number of confident tiles whose size and shape fit the plane.
    """

    homography: NDArray[np.float64]
    support: int

    def to_table(self, points_px: Points) -> Points:
        """Map image points in pixels, shape (..., 2), to the table, in sides of a half."""
        return _project(self.homography, points_px)

    def to_picture(self, points: Points) -> Points:
        """Map table points in sides of a half, shape (..., 2), to image pixels."""
        return _project(np.asarray(np.linalg.inv(self.homography), np.float64), points)

    def tiles_at(self, center: Points, theta_rad: NDArray[np.float64]) -> Poses:
        """Return the image poses of tiles on the table, shape (N, 6).

        Args:
            center: Centres on the table, shape (N, 2), in sides of a half.
            theta_rad: Directions of the long axes on the table, shape (N,).
        """
        cos, sin = np.cos(theta_rad), np.sin(theta_rad)
        flat = np.column_stack([center, cos, sin, -sin / 2, cos / 2])
        edges = self.to_picture(to_image(flat, _EDGE_MIDDLES_UV))
        u, v = (edges[:, 0] - edges[:, 1]) / 2, (edges[:, 2] - edges[:, 3]) / 2
        return np.column_stack([edges.mean(axis=1), u, v])

    def on_table(self, poses: Poses) -> tuple[Points, NDArray[np.float64]]:
        """Return the positions of tiles on the table: centres, shape (N, 2), and directions of the long axes, (N,)."""
        ends = self.to_table(to_image(poses, _EDGE_MIDDLES_UV[:2]))
        along = ends[:, 0] - ends[:, 1]
        return self.to_table(poses[:, :2]), np.arctan2(along[:, 1], along[:, 0])

    def doubt(self, poses: Poses) -> NDArray[np.float64]:
        """Return the penalty in log odds for poses with the wrong size or shape, shape (N,)."""
        excess = np.maximum(np.abs(_residuals(self.homography, poses)) - _FREE, 0)
        return np.asarray(excess.sum(axis=1) * 10 * _DOUBT_PER_TENTH)


def find_plane(poses: Poses, probabilities: NDArray[np.float64], size_px: tuple[int, int]) -> Plane:
    """Return the plane on which the confident poses are 2:1 and of equal size.

    With few tiles, the plane stays close to one that a camera sees from straight above.

    Args:
        poses: Shape (N, 6), with N at least 1.
        probabilities: Probability that each pose is a tile, shape (N,).
        size_px: Width and height of the image.
    """
    sure = np.argsort(-probabilities, kind="stable")[:_MAX_TILES]
    sure = sure[probabilities[sure] >= min(_SURE, float(probabilities.max()))]
    tiles, trust = poses[sure], np.maximum(log_odds(probabilities[sure]), _MIN_TRUST)
    middle, span = np.array(size_px) / 2, float(max(size_px))
    normal = np.array([[1 / span, 0, -middle[0] / span], [0, 1 / span, -middle[1] / span], [0, 0, 1]])
    # The weighted mean of the values within 10 % of the one with the most support. Support is weighted, because
    # textures and letters produce many unsure small detections that would outnumber a few real tiles.
    values = np.log(sides_px(tiles) / span)
    support = trust**2 * np.sqrt(sides_px(tiles))
    mass = (support * (np.abs(values[:, None] - values[None]) < 0.1)).sum(axis=1)
    near = np.abs(values - values[mass.argmax()]) < 0.1
    log_scale = -float(np.average(values[near], weights=support[near]))
    parameters = np.array([log_scale, 0, 0, 0, 0])
    start = parameters.copy()
    for spread in np.geomspace(_FIRST_SPREAD, _LAST_SPREAD, _PLANE_ROUNDS):
        parameters = _stepped(parameters, start, tiles, normal, trust, spread)
    homography = _homographies(parameters) @ normal
    fits = np.abs(_residuals(homography, tiles)).max(axis=1) < 3 * _LAST_SPREAD
    return Plane(homography, int(fits.sum()))


def _stepped(
    parameters: NDArray[np.float64],
    prior: NDArray[np.float64],
    tiles: Poses,
    normal: NDArray[np.float64],
    trust: NDArray[np.float64],
    spread: float,
) -> NDArray[np.float64]:
    """Return the parameters after a Gauss-Newton step on weighted residuals and the prior."""
    residuals = _residuals(_homographies(parameters + _PROBES) @ normal, tiles)
    # Cauchy weights reduce the influence of outliers. Extreme ones are ignored.
    off = (residuals[0] ** 2).sum(axis=1) / spread**2
    weight = np.clip(trust, 0.1, 6) / 6 / (1 + off) * (off < _CUT_OFF**2)
    residuals = residuals.reshape(len(_PROBES), -1)
    base = residuals[0]
    jacobian, rows = (residuals[1:] - base).T / _STEP, np.repeat(weight, 3) / _LAST_SPREAD**2
    gram = (jacobian * rows[:, None]).T @ jacobian + np.diag(1 / _PRIOR_SPREAD**2)
    gradient = jacobian.T @ (rows * base) + (parameters - prior) / _PRIOR_SPREAD**2
    change = np.clip(np.linalg.solve(gram, -gradient), -0.3, 0.3)
    return np.asarray(np.clip(parameters + change, prior - _FARTHEST, prior + _FARTHEST))


def _homographies(parameters: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return homographies (..., 3, 3) for log scale, squeeze, slant, and growth along x and y, shape (..., 5)."""
    scale, squeeze = np.exp(parameters[..., 0]), np.exp(parameters[..., 1])
    maps = np.zeros((*parameters.shape[:-1], 3, 3))
    maps[..., 0, 0], maps[..., 0, 1], maps[..., 1, 1] = scale / squeeze, scale * parameters[..., 2], scale * squeeze
    maps[..., 2, :2], maps[..., 2, 2] = parameters[..., 3:], 1
    return maps


def _residuals(homography: NDArray[np.float64], poses: Poses) -> NDArray[np.float64]:
    """Return log ratios of length and width to a tile's, and the cosine between the axes, shape (..., N, 3)."""
    maps = homography[..., None, None]
    # Map the centre and both half-axes at once, shape (..., 3, N).
    parts_x, parts_y = poses[:, 0::2].T, poses[:, 1::2].T
    x, y, grow = (maps[..., row, 0, :, :] * parts_x + maps[..., row, 1, :, :] * parts_y for row in range(3))
    w = grow[..., :1, :] + maps[..., 2, 2, :, :]
    w = np.where(np.abs(w) < 1e-3, 1e-3, w)
    # Derivative of the projection at the centre, applied to both half-axes, shape (..., 2, N).
    x, y = (
        (part[..., 1:, :] - (part[..., :1, :] + maps[..., row, 2, :, :]) / w * grow[..., 1:, :]) / w
        for row, part in enumerate((x, y))
    )
    lengths = np.hypot(x, y) + 1e-9
    cosine = (x[..., 0, :] * x[..., 1, :] + y[..., 0, :] * y[..., 1, :]) / (lengths[..., 0, :] * lengths[..., 1, :])
    return np.stack([np.log(lengths[..., 0, :]), np.log(2 * lengths[..., 1, :]), cosine], axis=-1)


def _project(homography: NDArray[np.float64], points: Points) -> Points:
    flat = points @ homography[:, :2].T + homography[:, 2]
    return np.asarray(flat[..., :2] / np.where(np.abs(flat[..., 2:]) < 1e-9, 1e-9, flat[..., 2:]))


# Rounds of refinement before and after the table plane is known.
_ROUNDS = 2
_ROUNDS_ON_PLANE = 2
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
_DETECTOR_WEIGHT = 2.2
_REFINER_WEIGHT = 0.9
_OFFSET = -0.9
# Maximum log odds that a candidate loses for its size or shape, because the plane can be wrong far from the tiles that
# determine it. Without a limit, a clear near tile was lost in a photo of a block of distant ones. On 250 rendered
# tables, the limit adds one false tile.
_MAX_PLANE_DOUBT = 5.0
# Shifts in half-axes at which doubtful candidates are evaluated again, because poses are inexact.
_SHIFTS = ((0.03, 0, 0, 0, 0, 0), (-0.03, 0, 0, 0, 0, 0), (0, 0.06, 0, 0, 0, 0), (0, -0.06, 0, 0, 0, 0))
# Candidates within this distance of log odds 0 are doubtful. Shifted views lose some log odds on average, which are
# added back. Averaging reduces the log loss of 1778 such candidates from 0.275 to 0.267.
_IN_DOUBT = 3.0
_SHIFT_LOSS = 0.25

# Distances between the centres of tiles, in sides. Tiles closer than _NEIGHBOURS may be parallel neighbours. A
# candidate at most _WITHIN along a tile and _WITHIN / 2 across it is the same tile.
_NEIGHBOURS = 2.2
_WITHIN = 0.8

Looks = tuple[Poses, NDArray[np.float64]]
"""Poses, shape (N, 6), and their probabilities of no tile, face up and face down, shape (N, 3)."""
Filter = Callable[[Poses], NDArray[np.bool_]]
"""Function that returns a mask, shape (N,), of the poses, shape (N, 6), that can be tiles."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Finds and scores candidate tiles."""

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
        """Refine the candidates *which* from new poses on the plane, and keep results that look more like a tile."""
        new_poses, new_probabilities = self.refined(levels, plane.tiles_at(*resting), rounds=_ROUNDS_ON_PLANE)
        poses, probabilities = seen[0].copy(), seen[1].copy()
        gain = tile_odds(new_probabilities) - plane.doubt(new_poses)
        better = gain - tile_odds(probabilities[which]) + plane.doubt(poses[which]) > 0
        poses[which[better]], probabilities[which[better]] = new_poses[better], new_probabilities[better]
        return poses, probabilities

    def _average_shifted(
        self, levels: tuple[Level, ...], poses: Poses, refiner_odds: NDArray[np.float64], odds: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the log odds of the refiner, shape (N,). For doubtful candidates, average them over five views."""
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


def shifted_poses(poses: Poses) -> list[Poses]:
    """Return poses, shape (N, 6), shifted slightly in each of four directions."""
    return [move(poses, np.tile(shift, (len(poses), 1))) for shift in _SHIFTS]


def _refiner_odds(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the refiner's weighted log odds that each pose is a tile, shape (N,), to be added to the detector's."""
    # They include the log probability of the more likely face, because a tile with an ambiguous face cannot be
    # reported.
    sides = probabilities[:, UP:]
    which = np.log(sides.max(axis=1, initial=1e-9) / np.maximum(sides.sum(axis=1), 1e-9))
    return np.asarray(_REFINER_WEIGHT * tile_odds(probabilities) + _OFFSET + which)


def tile_odds(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log odds of being a tile, shape (N,), from the class probabilities, shape (N, 3)."""
    return log_odds(1 - probabilities[:, NOTHING])
