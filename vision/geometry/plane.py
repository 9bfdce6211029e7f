"""Estimate the table plane from the tiles on it, which all have the same size and are twice as long as wide.

In an oblique view, near tiles look larger than distant ones, and tiles are squeezed or slanted depending on their
direction. A few confident tiles determine the plane. It then predicts the size and shape of a tile anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.arrays import Points
from vision.geometry.odds import log_odds
from vision.geometry.poses import Poses, sides_px, to_image

# Only poses of at least this confidence determine the plane, or the most confident ones if none reaches it.
_SURE = 0.8
# Spread of the residuals of a real tile (log lengths, cosine of the angle) in the first and last iteration.
_FIRST_SPREAD, _LAST_SPREAD = 0.3, 0.07
_ROUNDS, _MAX_TILES = 6, 100
_MIN_TRUST = 1e-3
_CUT_OFF = 4.0  # Outlier limit, in spreads.
# Prior spread of the parameters: log scale, squeeze, slant, and growth along x and y.
_PRIOR_SPREAD = np.array([5.0, 0.15, 0.15, 0.3, 0.3])
_FARTHEST = np.array([2.0, 1.5, 1.5, 1.2, 1.2])
# Offsets for the numerical Jacobian: none, then a small step in each parameter.
_STEP = 1e-5
_PROBES = np.vstack([np.zeros(5), _STEP * np.eye(5)])
# Residuals up to _FREE are not penalised. Beyond it, each tenth costs _DOUBT_PER_TENTH in log odds.
_FREE, _DOUBT_PER_TENTH = 0.12, 2.0
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
    log_scale = -_most_supported(np.log(sides_px(tiles) / span), trust**2 * np.sqrt(sides_px(tiles)))
    parameters = np.array([log_scale, 0, 0, 0, 0])
    start = parameters.copy()
    for spread in np.geomspace(_FIRST_SPREAD, _LAST_SPREAD, _ROUNDS):
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
    """Return homographies from normalised pixels, shape (..., 3, 3).

    Args:
        parameters: Shape (..., 5): log scale, squeeze, slant, and growth along x and y.
    """
    scale, squeeze = np.exp(parameters[..., 0]), np.exp(parameters[..., 1])
    maps = np.zeros((*parameters.shape[:-1], 3, 3))
    maps[..., 0, 0], maps[..., 0, 1], maps[..., 1, 1] = scale / squeeze, scale * parameters[..., 2], scale * squeeze
    maps[..., 2, :2], maps[..., 2, 2] = parameters[..., 3:], 1
    return maps


def _residuals(homography: NDArray[np.float64], poses: Poses) -> NDArray[np.float64]:
    """Return the log ratios of each pose's length and width to a tile's, and the cosine between its axes.

    Args:
        homography: Shape (..., 3, 3).
        poses: Shape (N, 6).

    Returns:
        Shape (..., N, 3).
    """
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


def _most_supported(values: NDArray[np.float64], support: NDArray[np.float64]) -> float:
    """Return the weighted mean of the values within 10 % of the one with the most support.

    Support is weighted, because textures and letters produce many unsure small detections that would outnumber a few
    real tiles.
    """
    mass = (support * (np.abs(values[:, None] - values[None]) < 0.1)).sum(axis=1)
    near = np.abs(values - values[mass.argmax()]) < 0.1
    return float(np.average(values[near], weights=support[near]))
