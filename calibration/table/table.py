"""Pose of the table relative to the camera, which maps pixels to millimetres on the cloth or on tile tops.

A table is measured by corner blocks, by tiles of known size, or by its four corners clicked by a user. All of them are
flat targets of known size in the plane of the table. Its fit has four parameters: two tilts, the distance, and the
apparent growth of black areas, caused by spreading ink and by bleeding of bright areas. For given parameters every
target is projected onto the plane and aligned with its true shape. The remaining distances are the residuals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from calibration import RefusedError
from calibration.lens.lens import Lens, LensSource
from calibration.sheets.prints import BLOCKS, marker_corners_mm, marker_outward
from calibration.table.picture import SeenMarker
from engine.phrases import phrase, plural
from vision.arrays import Points
from vision.reading import PointPx, SeenTile


class TableSource(StrEnum):
    """Features by which the table was measured."""

    MARKERS = "markers"
    TILES = "tiles"
    CORNERS = "corners"


@dataclass(frozen=True, slots=True)
class BlockPose:
    """Pose of a corner block: its centre on the table, and its rotation, anticlockwise seen from above."""

    block: int
    x_mm: float
    y_mm: float
    turn_rad: float


@dataclass(frozen=True, slots=True)
class Table:
    """A table in front of a camera.

    Positions are in millimetres from the origin of the table: x right and y away from the first seat, z up from the
    cloth.

    Attributes:
        axes: Directions of x, y and z in the camera's frame (x right, y down, z away), nine numbers, row by row.
        origin_mm: Origin of the table, usually its centre, in the camera's frame.
        thickness_mm: Thickness of a tile, and so the height of tile tops above the cloth.
        source: Features by which it was measured.
        error_px: Root mean square reprojection error.
        doubt: Relative standard deviation of the scale.
        marks: Poses of the detected corner blocks.
    """

    axes: tuple[float, float, float, float, float, float, float, float, float]
    origin_mm: tuple[float, float, float]
    thickness_mm: float
    source: TableSource
    error_px: float
    doubt: float
    marks: tuple[BlockPose, ...] = ()

    def __post_init__(self) -> None:
        rotation = self._axes()
        if not np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-6):
            raise ValueError(f"axes: expected three directions at right angles, got {self.axes}")
        if not 0 <= self.thickness_mm <= 50:
            raise ValueError(f"thickness_mm: expected 0 to 50, got {self.thickness_mm}")

    def _axes(self) -> NDArray[np.float64]:
        return np.array(self.axes).reshape(3, 3)

    @property
    def height_mm(self) -> float:
        """Height of the camera above the cloth."""
        return -float(self._axes()[2] @ np.array(self.origin_mm))

    @property
    def tilt_rad(self) -> float:
        """Angle between the optical axis and the vertical."""
        return math.acos(min(1.0, abs(float(self._axes()[2, 2]))))

    def to_table(self, points_px: Points, lens: Lens, *, height_mm: float = 0.0) -> Points:
        """Map pixels to the table, for points at a given height above the cloth.

        Args:
            points_px: Pixels with lens distortion, shape (N, 2).
            lens: Lens for pictures of this size.
            height_mm: Height of the points above the cloth.

        Returns:
            Positions in millimetres from the centre of the table, shape (N, 2).
        """
        rays = lens.to_rays(points_px)
        directions = np.column_stack([rays, np.ones(len(rays))])
        axes, origin = self._axes(), np.array(self.origin_mm)
        depth = (axes[2] @ origin + height_mm) / (directions @ axes[2])
        return np.asarray((directions * depth[:, None] - origin) @ axes[:2].T)

    def tops_to_table(self, points_px: Points, lens: Lens) -> Points:
        """Map pixels on tile tops to the table, shape (N, 2)."""
        return self.to_table(points_px, lens, height_mm=self.thickness_mm)

    def to_picture(self, points_mm: Points, lens: Lens, *, height_mm: float = 0.0) -> Points:
        """Map points at a given height above the cloth, shape (N, 2), to pixels."""
        points = np.column_stack([points_mm, np.full(len(points_mm), height_mm)])
        in_camera = points @ self._axes() + np.array(self.origin_mm)
        return lens.to_picture(in_camera[:, :2] / in_camera[:, 2:])

    def homography(self, lens: Lens, *, height_mm: float = 0.0) -> NDArray[np.float64]:
        """Return the homography from millimetres at a given height to pixels, shape (3, 3). Ignores lens distortion."""
        axes = self._axes()
        origin = np.array(self.origin_mm) + height_mm * axes[2]
        return np.asarray(lens.matrix() @ np.column_stack([axes[0], axes[1], origin]))


# Initial tilts of the search, tried in every combination for x and y.
_STARTS = (-0.4, 0.0, 0.4)
_FIRST_SPREAD_PX = 8.0
_ROUNDS = 25
_STARTING_ROUNDS = 8
_STEP = 1e-5
# Weak prior that keeps tilts and growth near 0, for parameters that the targets do not determine.
_PRIOR = np.diag([1.0, 1.0, 1e-9, 1.0])
_MIN_ERROR_PX = 0.02
# A point within this distance always counts as fitting: paper is uneven by 0.5 mm, at 3 px per millimetre.
_FITS_PX = 1.5


@dataclass(frozen=True, slots=True, eq=False)
class FlatTarget:
    """A flat target of known shape on the table.

    Attributes:
        shape_mm: Points of the target, x right and y up, shape (N, 2) with N at least 2.
        seen_px: Positions of the points in the picture, shape (N, 2).
        height_mm: Height of the points above the table.
        outward: Displacement of the points if black areas grow by 1, shape (N, 2). None if they do not move.
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
        normal: Unit normal towards the camera, shape (3,).
        growth_px: Outward displacement of the edges of black areas.
        error_px: Weighted root mean square residual, with low weights for outliers.
        fitting: Share of points that fit.
        doubt: Relative standard deviation of the distance.
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
        """Return the intersections of rays, shape (N, 2), with the plane at *height_mm* above the table.

        The intersections are in the camera's frame, shape (N, 3).
        """
        directions = np.column_stack([rays, np.ones(len(rays))])
        return np.asarray(directions * ((height_mm - self.distance_mm) / (directions @ self.normal))[:, None])


def fit_plane(targets: Sequence[FlatTarget], lens: Lens, *, spread_px: float = 0.5) -> TablePlane:
    """Return the plane on which the targets best match their known shapes.

    Points with errors much above *spread_px* get low weights.

    Raises:
        RefusedError: If there are no targets, or they do not fit a plane in front of the camera.
    """
    problem = _Problem.of(targets, lens)
    best, best_cost = None, np.inf
    for tilt_x in _STARTS:
        for tilt_y in _STARTS:
            start = np.array([tilt_x, tilt_y, problem.log_distance(tilt_x, tilt_y), 0.0])
            solution = problem.solved(start, np.geomspace(_FIRST_SPREAD_PX, spread_px * 2, _STARTING_ROUNDS))
            cost = problem.cost(solution, spread_px * 2)
            if cost < best_cost:
                best, best_cost = solution, cost
    if best is None:
        raise RefusedError(phrase("the markers and tiles in the picture fit no table in front of the camera"))
    solution = problem.solved(best, np.geomspace(_FIRST_SPREAD_PX, spread_px, _ROUNDS))
    return problem.evaluated(solution, spread_px)


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """Points of all targets: rays (N, 2), shape and displacement by growth (complex, N), height and target (N,)."""

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
            raise RefusedError(phrase("nothing of known size is visible"))
        counts = np.array([len(target.shape_mm) for target in targets])
        shape = np.concatenate([_complex(target.shape_mm) for target in targets])
        outward = (np.zeros_like(item.shape_mm) if item.outward is None else item.outward for item in targets)
        return cls(
            lens.to_rays(np.concatenate([target.seen_px for target in targets])),
            shape,
            np.concatenate([_complex(points) for points in outward]),
            np.repeat([target.height_mm for target in targets], counts),
            np.concatenate([[0], np.cumsum(counts)[:-1]]),
            np.repeat(np.arange(len(targets)), counts),
            float(np.mean(lens.focal_px)),
        )

    def _on_plane(self, parameters: NDArray[np.float64]) -> tuple[NDArray[np.complex128], NDArray[np.float64]]:
        """Return the positions of the points on the plane, and their depths along the optical axis."""
        plane = _plane(parameters)
        spots = plane.spots(self.rays, self.height_mm)
        flat = spots @ plane.axes()[:2].T
        return flat[:, 0] + 1j * flat[:, 1], spots[:, 2]

    def _centered(self, points: NDArray[np.complex128], weight: NDArray[np.float64]) -> NDArray[np.complex128]:
        """Return points relative to the weighted centres of their targets."""
        middle = np.add.reduceat(weight * points, self.first) / np.add.reduceat(weight, self.first)
        return np.asarray(points - middle[self.target])

    def residuals(self, parameters: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the residuals after aligning each target with its shape, in pixels, shape (2 N,).

        Args:
            parameters: Two tilts, log of the distance, growth.
            weight: Weight of each point in the alignment, shape (N,).
        """
        at, depth = self._on_plane(parameters)
        px_per_mm = self.focal_px / np.maximum(depth, 1.0)
        at = self._centered(at, weight)
        shape = self._centered(self.shape + parameters[3] / px_per_mm * self.outward, weight)
        turn = np.add.reduceat(weight * np.conj(shape) * at, self.first)
        turn /= np.maximum(np.abs(turn), 1e-12)
        difference = (at - turn[self.target] * shape) * px_per_mm
        return np.concatenate([difference.real, difference.imag])

    def log_distance(self, tilt_x: float, tilt_y: float) -> float:
        """Return the log of the distance at which the targets have approximately their true size."""
        trial_mm = 1000.0
        at, _ = self._on_plane(np.array([tilt_x, tilt_y, np.log(trial_mm), 0.0]))
        even = np.ones(len(at))
        squares = (np.abs(self._centered(points, even)) ** 2 for points in (self.shape, at))
        true, seen = (np.sqrt(np.add.reduceat(square, self.first)) for square in squares)
        return float(np.log(trial_mm * np.median(true / np.maximum(seen, 1e-9))))

    def solved(self, parameters: NDArray[np.float64], spreads_px: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the parameters after a Gauss-Newton step for each spread."""
        weight = np.ones(len(self.target))
        for spread_px in spreads_px.tolist():
            base, jacobian = self._linearized(parameters, weight)
            weight = _weight(base, spread_px)
            counts = np.tile(weight, 2)
            gram = (jacobian * counts[:, None]).T @ jacobian + _PRIOR
            change = np.linalg.solve(gram, -jacobian.T @ (counts * base) - _PRIOR @ parameters)
            parameters = parameters + np.clip(change, -0.3, 0.3)
            parameters[:2] = np.clip(parameters[:2], -1.5, 1.5)
        return parameters

    def _linearized(
        self, parameters: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the residuals and their Jacobian, by finite differences."""
        base = self.residuals(parameters, weight)
        shifted = [self.residuals(parameters + _STEP * unit, weight) for unit in np.eye(4)]
        return base, np.stack([(residuals - base) / _STEP for residuals in shifted], axis=1)

    def weights(self, parameters: NDArray[np.float64], spread_px: float) -> NDArray[np.float64]:
        """Return the weight of each point, shape (N,), with targets aligned robustly."""
        weight = np.ones(len(self.target))
        for wide_px in np.geomspace(_FIRST_SPREAD_PX, spread_px, _STARTING_ROUNDS).tolist():
            weight = _weight(self.residuals(parameters, weight), wide_px)
        return weight

    def cost(self, parameters: NDArray[np.float64], spread_px: float) -> float:
        """Return the robust cost (Cauchy loss). Infinite if a residual is not finite."""
        residuals = self.residuals(parameters, self.weights(parameters, spread_px))
        return float(np.log1p((residuals / spread_px) ** 2).sum()) if np.isfinite(residuals).all() else np.inf

    def evaluated(self, parameters: NDArray[np.float64], spread_px: float) -> TablePlane:
        """Return the plane with error, share of fitting points, and doubt."""
        weight = self.weights(parameters, spread_px)
        base, jacobian = self._linearized(parameters, weight)
        if not np.isfinite(base).all():
            raise RefusedError(phrase("the markers and tiles in the picture fit no table in front of the camera"))
        fits = np.hypot(*base.reshape(2, -1)) < max(4 * spread_px, _FITS_PX)
        squares = (base.reshape(2, -1) ** 2).sum(axis=0)
        error_px = float(np.sqrt((weight * squares).sum() / weight.sum()))
        gram = (jacobian * np.tile(weight, 2)[:, None]).T @ jacobian
        spread = np.linalg.inv(gram + _PRIOR) * max(error_px, _MIN_ERROR_PX) ** 2
        doubt = float(np.sqrt(max(spread[2, 2], 0.0)))
        return replace(_plane(parameters), error_px=error_px, fitting=float(fits.mean()), doubt=doubt)


def _weight(residuals: NDArray[np.float64], spread_px: float) -> NDArray[np.float64]:
    """Return the Cauchy weight of each point, shape (N,)."""
    return np.asarray(1 / (1 + (residuals.reshape(2, -1) ** 2).sum(axis=0) / spread_px**2))


def _plane(parameters: NDArray[np.float64]) -> TablePlane:
    """Return the plane for given parameters: two tilts, log of the distance, growth."""
    normal = -np.array([parameters[0], parameters[1], 1.0])
    return TablePlane(normal / np.linalg.norm(normal), float(np.exp(parameters[2])), float(parameters[3]))


def _complex(points: Points) -> NDArray[np.complex128]:
    """Return points, shape (N, 2), as complex numbers, shape (N,)."""
    return np.asarray(points[:, 0] + 1j * points[:, 1])


_MIN_BLOCKS = 2
_MIN_TILES = 4
# Typical errors of clicked corners, and of the reader's tile corners.
_CLICKED_PX = 3.0
_TILE_PX = 1.5
# Typical errors of marker corners. They are dominated by the distortion of a lens that is not measured.
_MARKER_PX = {LensSource.MEASURED: 0.2, LensSource.KNOWN_CAMERA: 0.7, LensSource.GUESS: 1.0}
_MAX_ERROR_PX = {TableSource.MARKERS: 1.5, TableSource.TILES: 5.0, TableSource.CORNERS: 12.0}
_MIN_FITTING = 0.6
# Direction between two blocks seen from the first seat, as a complex number. Diagonals assume a square table.
_WAYS = {(0, 1): 1.0, (3, 2): 1.0, (3, 0): 1j, (2, 1): 1j, (3, 1): 1 + 1j, (0, 2): 1 - 1j}


@dataclass(frozen=True, slots=True)
class TileSize:
    """Size of a tile in millimetres."""

    length_mm: float = 48.0
    width_mm: float = 24.0
    thickness_mm: float = 10.0

    def __post_init__(self) -> None:
        if not 10 <= self.width_mm <= self.length_mm <= 200:
            raise ValueError(f"expected a tile of 10 to 200 mm, got {self.length_mm} x {self.width_mm}")


def table_from_markers(
    markers: Sequence[SeenMarker], lens: Lens, *, thickness_mm: float = 10.0, print_scale: float = 1.0
) -> Table:
    """Measure a table by corner blocks. *print_scale* is 0.97 if the ruler on the sheet measures 97 mm.

    Raises:
        RefusedError: If fewer than two blocks are detected, or they do not fit a plane.
    """
    blocks = sorted({marker.block for marker in markers})
    if len(blocks) < _MIN_BLOCKS:
        raise RefusedError(
            plural(
                "1 of the {blocks} corner blocks is visible, but at least {least} are needed: check that they"
                " are in the picture, well lit, and at least 60 px wide",
                "{number} of the {blocks} corner blocks are visible, but at least {least} are needed: check"
                " that they are in the picture, well lit, and at least 60 px wide",
                number=len(blocks),
                blocks=BLOCKS,
                least=_MIN_BLOCKS,
            )
        )
    targets = []
    for block in blocks:
        own = [marker for marker in markers if marker.block == block]
        shape = np.concatenate([marker_corners_mm(marker.place) for marker in own]) * print_scale
        seen_px = np.concatenate([np.array(marker.corners_px) for marker in own])
        targets.append(FlatTarget(shape, seen_px, outward=np.tile(marker_outward(), (len(own), 1))))
    plane = fit_plane(targets, lens, spread_px=_MARKER_PX[lens.source])
    middles, turns = _target_poses(plane, targets, lens)
    origin, right = middles.mean(), _right(blocks, middles)
    places = zip(blocks, ((middles - origin) / right).tolist(), np.angle(turns / right).tolist(), strict=True)
    marks = tuple(BlockPose(block, at.real, at.imag, turn_rad) for block, at, turn_rad in places)
    return _table(plane, (origin, right), thickness_mm, TableSource.MARKERS, marks)


def table_from_tiles(tiles: Sequence[SeenTile], lens: Lens, size: TileSize) -> Table:
    """Measure a table by tiles. Its origin is at the centre of the picture, and its y axis points up in the picture.

    Raises:
        RefusedError: If there are fewer than four tiles, or they do not fit the size.
    """
    if len(tiles) < _MIN_TILES:
        raise RefusedError(
            plural(
                "1 tile is visible, but at least {least} are needed: spread more over the table",
                "{number} tiles are visible, but at least {least} are needed: spread more over the table",
                number=len(tiles),
                least=_MIN_TILES,
            )
        )
    plane = fit_plane([_tile_target(tile, size) for tile in tiles], lens, spread_px=_TILE_PX)
    middle_px = np.array([((lens.width_px - 1) / 2, (lens.height_px - 1) / 2)])
    x_mm, y_mm = (plane.spots(lens.to_rays(middle_px), 0.0) @ plane.axes()[:2].T)[0].tolist()
    return _table(plane, (complex(x_mm, y_mm), 1.0), size.thickness_mm, TableSource.TILES)


def table_from_corners(
    corners_px: Sequence[PointPx], lens: Lens, *, width_mm: float, depth_mm: float, thickness_mm: float = 10.0
) -> Table:
    """Measure a table by its clicked corners.

    Args:
        corners_px: Corners clockwise from the top left, seen from the first seat.
        lens: Lens for the picture.
        width_mm: Width from left to right.
        depth_mm: Depth away from the first seat.
        thickness_mm: Thickness of a tile.

    Raises:
        RefusedError: If there are not four corners, the size is not positive, or the corners do not fit the size.
    """
    if len(corners_px) != 4:
        raise RefusedError(f"four corners are needed, got {len(corners_px)}")
    if min(width_mm, depth_mm) <= 0:
        raise RefusedError(f"the table's size must be above 0, got {width_mm:g} x {depth_mm:g} mm")
    x_mm, y_mm = width_mm / 2, depth_mm / 2
    shape = np.array([(-x_mm, y_mm), (x_mm, y_mm), (x_mm, -y_mm), (-x_mm, -y_mm)])
    target = FlatTarget(shape, np.array(corners_px, np.float64))
    plane = fit_plane([target], lens, spread_px=_CLICKED_PX)
    (middle,), (turn,) = _target_poses(plane, [target], lens)
    return _table(plane, (middle, turn), thickness_mm, TableSource.CORNERS)


def tile_length_mm(tiles: Sequence[SeenTile], table: Table, lens: Lens) -> float:
    """Return the median length of tiles in millimetres, by the scale of the table.

    These *tiles* must not have served to measure the table.
    """
    lengths = []
    for tile in tiles:
        a, b, c, d = table.tops_to_table(np.array(tile.corners_px), lens)
        lengths.append(
            max(np.linalg.norm(a - b) + np.linalg.norm(d - c), np.linalg.norm(b - c) + np.linalg.norm(a - d))
        )
    return float(np.median(lengths)) / 2


def _tile_target(tile: SeenTile, size: TileSize) -> FlatTarget:
    x_mm, y_mm = size.length_mm / 2, size.width_mm / 2
    shape = np.array([(-x_mm, y_mm), (x_mm, y_mm), (x_mm, -y_mm), (-x_mm, -y_mm)])
    corners = np.array(tile.corners_px)
    a, b, c, d = corners
    if np.linalg.norm(a - b) + np.linalg.norm(d - c) < np.linalg.norm(b - c) + np.linalg.norm(a - d):
        corners = np.roll(corners, -1, axis=0)
    return FlatTarget(shape, corners, size.thickness_mm)


def _target_poses(
    plane: TablePlane, targets: Sequence[FlatTarget], lens: Lens
) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Return the position of each target's origin on the plane, and its rotation, as complex numbers."""
    middles, turns = [], []
    for target in targets:
        flat = plane.spots(lens.to_rays(target.seen_px), target.height_mm) @ plane.axes()[:2].T
        at, shape = flat[:, 0] + 1j * flat[:, 1], target.shape_mm[:, 0] + 1j * target.shape_mm[:, 1]
        turn = np.vdot(shape - shape.mean(), at - at.mean())
        turn /= abs(turn)
        turns.append(turn)
        middles.append(at.mean() - turn * shape.mean())
    return np.array(middles), np.array(turns)


def _right(blocks: Sequence[int], middles: NDArray[np.complex128]) -> complex:
    """Return the direction to the right on the plane, estimated from the positions of the blocks."""
    position = dict(zip(blocks, middles.tolist(), strict=True))
    pairs = [(a, b, way) for (a, b), way in _WAYS.items() if a in position and b in position]
    directions = [(position[b] - position[a]) / way for a, b, way in pairs]
    # Diagonals are used only if there are no sides, because the table need not be square.
    sides = [(position[b] - position[a]) / way for a, b, way in pairs if abs(way) == 1]
    total = complex(sum(direction / abs(direction) for direction in (sides or directions)))
    return total / abs(total)


def _table(
    plane: TablePlane,
    frame: tuple[complex, complex],
    thickness_mm: float,
    source: TableSource,
    marks: tuple[BlockPose, ...] = (),
) -> Table:
    """Return the table with the given origin and x direction (*frame*) on the plane. Reject a poor fit."""
    if plane.error_px > _MAX_ERROR_PX[source] or plane.fitting < _MIN_FITTING:
        targets = {"markers": "the corner blocks", "tiles": "the tiles", "corners": "the corners"}[source]
        raise RefusedError(
            f"{targets} do not fit one plane with their known sizes: {plane.error_px:.1f} px off, and"
            f" {100 * plane.fitting:.0f} % of the points fit; check that they are flat, and check size and lens"
        )
    (origin, right), axes = frame, plane.axes()
    x_axis = right.real * axes[0] + right.imag * axes[1]
    rotation = np.stack([x_axis, np.cross(plane.normal, x_axis), plane.normal])
    # Points of the plane have z = -distance along the normal.
    at = origin.real * axes[0] + origin.imag * axes[1] - plane.distance_mm * plane.normal
    nine = tuple(rotation.ravel().tolist())
    x_mm, y_mm, z_mm = at.tolist()
    assert len(nine) == 9
    return Table(nine, (x_mm, y_mm, z_mm), thickness_mm, source, plane.error_px, plane.doubt, marks)
