"""The plane of a table from flat things of known size that lie anywhere on it: blocks of markers, tiles, a table top.

Few numbers are sought: two of the tilt, the distance, and by how much what is black looks smaller or larger than it is
(ink runs, and bright parts of a picture bleed). For each guess at them every thing is projected onto the plane and
moved onto its true shape as well as it goes; what is left is the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.errors import RefusedError
from calibration.lens.model import Lens
from engine.phrases import phrase
from vision.arrays import Points

# The camera may look at the table from anywhere; from these tilts, both ways, the search begins.
_STARTS = (-0.4, 0.0, 0.4)
_FIRST_SPREAD_PX, _ROUNDS, _STARTING_ROUNDS = 8.0, 25, 8
_STEP = 1e-5
# How strongly tilts and growth are held at 0, as residuals in pixels: hardly, but for what nothing else tells.
_PRIOR = np.diag([1.0, 1.0, 1e-9, 1.0])
_LEAST_ERROR_PX = 0.02
# Paper is never quite flat: 0.5 mm of it at 3 px to the millimetre.
_FITS_PX = 1.5


@dataclass(frozen=True, slots=True, eq=False)
class FlatTarget:
    """A flat thing of known shape somewhere on the table.

    Attributes:
        shape_mm: Shape (N, 2), its points, x right and y up, N at least 2.
        seen_px: Shape (N, 2), where they are in the picture.
        height_mm: How high its points are over the table.
        outward: Shape (N, 2), which way the points move by one where black grows by one; None where nothing grows.
    """

    shape_mm: Points
    seen_px: Points
    height_mm: float = 0.0
    outward: Points | None = None

    def __post_init__(self) -> None:
        if self.shape_mm.shape != self.seen_px.shape or self.shape_mm.ndim != 2 or len(self.shape_mm) < 2:
            raise ValueError(f"expected points of shape (N, 2), got {self.shape_mm.shape} and {self.seen_px.shape}")


@dataclass(frozen=True, slots=True, eq=False)
class TablePlane:
    """The plane of a table in the frame of the camera.

    Attributes:
        normal: Shape (3,), from the table to the camera's side, length 1, in the camera's frame.
        distance_mm: Of the camera from the table, along the normal.
        error_px: Root mean square of what is left over, in which points far off hardly count.
        fitting: Share of the points that fit.
        doubt: One standard deviation of the distance, as a share of it.
        growth_px: By how much edges of what is black lie outside of where they should.
    """

    normal: NDArray[np.float64]
    distance_mm: float
    growth_px: float = 0.0
    error_px: float = 0.0
    fitting: float = 1.0
    doubt: float = 0.0

    def axes(self) -> NDArray[np.float64]:
        """Return the directions x (right in the picture), y (up) and z (to the camera) of the table, shape (3, 3)."""
        right = np.array([1.0, 0, 0]) - self.normal[0] * self.normal
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(self.normal, right), self.normal])

    def spots(self, rays: Points, height_mm: NDArray[np.float64] | float) -> Points:
        """Return where rays, shape (N, 2), meet a plane over the table, in the camera's frame, shape (N, 3)."""
        directions = np.column_stack([rays, np.ones(len(rays))])
        return np.asarray(directions * ((height_mm - self.distance_mm) / (directions @ self.normal))[:, None])


def fit_plane(targets: Sequence[FlatTarget], lens: Lens, *, spread_px: float = 0.5) -> TablePlane:
    """Return the plane on which the targets have the shapes that they should have.

    Args:
        targets: At least one.
        lens: Of the picture in which they are seen.
        spread_px: How far off their points usually are; what is much farther off hardly counts.

    Raises:
        RefusedError: If they fit no plane before the camera.
    """
    problem = _Problem.of(targets, lens)
    best, best_cost = None, np.inf
    for tilt_x in _STARTS:
        for tilt_y in _STARTS:
            start = np.array([tilt_x, tilt_y, problem.log_distance(tilt_x, tilt_y), 0.0])
            found = problem.solved(start, np.geomspace(_FIRST_SPREAD_PX, spread_px * 2, _STARTING_ROUNDS))
            cost = problem.cost(found, spread_px * 2)
            if cost < best_cost:
                best, best_cost = found, cost
    if best is None:
        raise RefusedError(phrase("what is seen fits no table before the camera"))
    found = problem.solved(best, np.geomspace(_FIRST_SPREAD_PX, spread_px, _ROUNDS))
    return problem.judged(found, spread_px)


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """All points of all targets, one after the other.

    Attributes:
        rays: Shape (N, 2), where they are seen.
        shape: Shape (N,), complex, points of the targets.
        outward: Shape (N,), complex, how it grows.
        height_mm: Shape (N,).
        first: Where each target begins.
        target: Shape (N,), which target each is of.
        focal_px: Pixels of a picture at distance 1.
    """

    rays: Points
    shape: NDArray[np.complex128]
    outward: NDArray[np.complex128]
    height_mm: NDArray[np.float64]
    first: NDArray[np.intp]
    target: NDArray[np.intp]
    focal_px: float

    @classmethod
    def of(cls, targets: Sequence[FlatTarget], lens: Lens) -> _Problem:
        if not targets:
            raise RefusedError(phrase("nothing of known size is seen"))
        counts = np.array([len(one.shape_mm) for one in targets])
        shape = np.concatenate([_complex(one.shape_mm) for one in targets])
        still = (np.zeros_like(one.shape_mm) if one.outward is None else one.outward for one in targets)
        return cls(
            lens.to_rays(np.concatenate([one.seen_px for one in targets])),
            shape,
            np.concatenate([_complex(one) for one in still]),
            np.repeat([one.height_mm for one in targets], counts),
            np.concatenate([[0], np.cumsum(counts)[:-1]]),
            np.repeat(np.arange(len(targets)), counts),
            float(np.mean(lens.focal_px)),
        )

    def _on_plane(self, parameters: NDArray[np.float64]) -> tuple[NDArray[np.complex128], NDArray[np.float64]]:
        """Return where the points are on the plane, and their distances from the camera."""
        plane = _plane(parameters)
        spots = plane.spots(self.rays, self.height_mm)
        flat = spots @ plane.axes()[:2].T
        return flat[:, 0] + 1j * flat[:, 1], spots[:, 2]

    def _from_middle(self, points: NDArray[np.complex128], weight: NDArray[np.float64]) -> NDArray[np.complex128]:
        """Return points from the middles of their targets, to which each adds its weight."""
        middle = np.add.reduceat(weight * points, self.first) / np.add.reduceat(weight, self.first)
        return np.asarray(points - middle[self.target])

    def residuals(self, parameters: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what is left when each target is moved onto its shape, in pixels, shape (2 N,).

        Args:
            parameters: Two tilts, log of the distance, growth.
            weight: Shape (N,), how much each point says about where its target is.
        """
        at, depth = self._on_plane(parameters)
        px_per_mm = self.focal_px / np.maximum(depth, 1.0)
        at = self._from_middle(at, weight)
        shape = self._from_middle(self.shape + parameters[3] / px_per_mm * self.outward, weight)
        turn = np.add.reduceat(weight * np.conj(shape) * at, self.first)
        turn /= np.maximum(np.abs(turn), 1e-12)
        left = (at - turn[self.target] * shape) * px_per_mm
        return np.concatenate([left.real, left.imag])

    def log_distance(self, tilt_x: float, tilt_y: float) -> float:
        """Return the distance at which the targets have about their size."""
        far = 1000.0
        at, _ = self._on_plane(np.array([tilt_x, tilt_y, np.log(far), 0.0]))
        even = np.ones(len(at))
        sizes = (np.abs(self._from_middle(one, even)) ** 2 for one in (self.shape, at))
        true, seen = (np.sqrt(np.add.reduceat(one, self.first)) for one in sizes)
        return float(np.log(far * np.median(true / np.maximum(seen, 1e-9))))

    def solved(self, parameters: NDArray[np.float64], spreads_px: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the parameters after a Gauss-Newton step for each spread."""
        weight = np.ones(len(self.target))
        for spread_px in spreads_px.tolist():
            base, jacobian = self._slopes(parameters, weight)
            weight = _weight(base, spread_px)
            counts = np.tile(weight, 2)
            gram = (jacobian * counts[:, None]).T @ jacobian + _PRIOR
            change = np.linalg.solve(gram, -jacobian.T @ (counts * base) - _PRIOR @ parameters)
            parameters = parameters + np.clip(change, -0.3, 0.3)
            parameters[:2] = np.clip(parameters[:2], -1.5, 1.5)
        return parameters

    def _slopes(
        self, parameters: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        base = self.residuals(parameters, weight)
        moved = [self.residuals(parameters + _STEP * one, weight) for one in np.eye(4)]
        return base, np.stack([(one - base) / _STEP for one in moved], axis=1)

    def weights(self, parameters: NDArray[np.float64], spread_px: float) -> NDArray[np.float64]:
        """Return how much each point counts, shape (N,), once targets lie where most of their points say."""
        weight = np.ones(len(self.target))
        for wide_px in np.geomspace(_FIRST_SPREAD_PX, spread_px, _STARTING_ROUNDS).tolist():
            weight = _weight(self.residuals(parameters, weight), wide_px)
        return weight

    def cost(self, parameters: NDArray[np.float64], spread_px: float) -> float:
        left = self.residuals(parameters, self.weights(parameters, spread_px))
        return float(np.log1p((left / spread_px) ** 2).sum()) if np.isfinite(left).all() else np.inf

    def judged(self, parameters: NDArray[np.float64], spread_px: float) -> TablePlane:
        """Return the plane with how well it fits."""
        weight = self.weights(parameters, spread_px)
        base, jacobian = self._slopes(parameters, weight)
        if not np.isfinite(base).all():
            raise RefusedError(phrase("what is seen fits no table before the camera"))
        fits = np.hypot(*base.reshape(2, -1)) < max(4 * spread_px, _FITS_PX)
        squares = (base.reshape(2, -1) ** 2).sum(axis=0)
        error_px = float(np.sqrt((weight * squares).sum() / weight.sum()))
        gram = (jacobian * np.tile(weight, 2)[:, None]).T @ jacobian
        spread = np.linalg.inv(gram + _PRIOR) * max(error_px, _LEAST_ERROR_PX) ** 2
        doubt = float(np.sqrt(max(spread[2, 2], 0.0)))
        return replace(_plane(parameters), error_px=error_px, fitting=float(fits.mean()), doubt=doubt)


def _weight(left: NDArray[np.float64], spread_px: float) -> NDArray[np.float64]:
    """Return how much each point counts, shape (N,): one that is far off hardly (Cauchy)."""
    return np.asarray(1 / (1 + (left.reshape(2, -1) ** 2).sum(axis=0) / spread_px**2))


def _plane(parameters: NDArray[np.float64]) -> TablePlane:
    """Return the plane of two tilts and the log of the distance."""
    normal = -np.array([parameters[0], parameters[1], 1.0])
    return TablePlane(normal / np.linalg.norm(normal), float(np.exp(parameters[2])), float(parameters[3]))


def _complex(points: Points) -> NDArray[np.complex128]:
    """Return points, shape (N, 2), as complex numbers, shape (N,)."""
    return np.asarray(points[:, 0] + 1j * points[:, 1])
