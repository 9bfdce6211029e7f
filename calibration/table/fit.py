"""Measure a table by corner blocks, by tiles of known size, or by its four corners clicked by a user."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.errors import RefusedError
from calibration.lens.model import Lens, LensSource
from calibration.sheets.boards import BLOCKS, marker_corners_mm, marker_outward
from calibration.table.corner_marks import SeenMarker
from calibration.table.plane_fit import FlatTarget, TablePlane, fit_plane
from calibration.table.table import BlockPose, Table, TableSource
from engine.phrases import plural
from vision.reading import PointPx, SeenTile

_LEAST_BLOCKS, _LEAST_TILES = 2, 4
# Typical errors of clicked corners, and of the reader's tile corners.
_CLICKED_PX, _TILE_PX = 3.0, 1.5
# Typical errors of marker corners. They are dominated by the distortion of a lens that is not measured.
_MARKER_PX = {LensSource.MEASURED: 0.2, LensSource.KNOWN_CAMERA: 0.7, LensSource.GUESS: 1.0}
_MOST_ERROR_PX = {TableSource.MARKERS: 1.5, TableSource.TILES: 5.0, TableSource.CORNERS: 12.0}
_LEAST_FITTING = 0.6
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
    """Measure a table by corner blocks.

    Args:
        markers: Detected markers.
        lens: Lens for the picture.
        thickness_mm: Thickness of a tile.
        print_scale: Scale of the print: 0.97 if the ruler on the sheet measures 97 mm.

    Raises:
        RefusedError: If fewer than two blocks are detected, or they do not fit a plane.
    """
    blocks = sorted({marker.block for marker in markers})
    if len(blocks) < _LEAST_BLOCKS:
        raise RefusedError(
            plural(
                "1 of the {blocks} corner blocks is visible, but at least {least} are needed: check that they"
                " are in the picture, well lit, and at least 60 px wide",
                "{number} of the {blocks} corner blocks are visible, but at least {least} are needed: check"
                " that they are in the picture, well lit, and at least 60 px wide",
                number=len(blocks),
                blocks=BLOCKS,
                least=_LEAST_BLOCKS,
            )
        )
    targets = [_block_target([marker for marker in markers if marker.block == block], print_scale) for block in blocks]
    plane = fit_plane(targets, lens, spread_px=_MARKER_PX[lens.source])
    middles, turns = _target_poses(plane, targets, lens)
    origin, right = middles.mean(), _right(blocks, middles)
    marks = tuple(
        _mark(block, (middle - origin) / right, turn / right)
        for block, middle, turn in zip(blocks, middles.tolist(), turns.tolist(), strict=True)
    )
    return _table(plane, (origin, right), thickness_mm, TableSource.MARKERS, marks)


def table_from_tiles(tiles: Sequence[SeenTile], lens: Lens, size: TileSize) -> Table:
    """Measure a table by tiles. Its origin is at the centre of the picture, and its y axis points up in the picture.

    Raises:
        RefusedError: If there are fewer than four tiles, or they do not fit the size.
    """
    if len(tiles) < _LEAST_TILES:
        raise RefusedError(
            plural(
                "1 tile is visible, but at least {least} are needed: spread more over the table",
                "{number} tiles are visible, but at least {least} are needed: spread more over the table",
                number=len(tiles),
                least=_LEAST_TILES,
            )
        )
    plane = fit_plane([_tile_target(tile, size) for tile in tiles], lens, spread_px=_TILE_PX)
    return _table(plane, (_picture_center(plane, lens), 1.0), size.thickness_mm, TableSource.TILES)


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

    Args:
        tiles: At least one tile.
        table: Table that was not measured by these tiles.
        lens: Lens for the picture.
    """
    lengths = []
    for tile in tiles:
        a, b, c, d = table.tops_to_table(np.array(tile.corners_px), lens)
        lengths.append(
            max(np.linalg.norm(a - b) + np.linalg.norm(d - c), np.linalg.norm(b - c) + np.linalg.norm(a - d))
        )
    return float(np.median(lengths)) / 2


def _block_target(markers: Sequence[SeenMarker], print_scale: float) -> FlatTarget:
    shape = np.concatenate([marker_corners_mm(marker.place) for marker in markers]) * print_scale
    seen_px = np.concatenate([np.array(marker.corners_px) for marker in markers])
    return FlatTarget(shape, seen_px, outward=np.tile(marker_outward(), (len(markers), 1)))


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


def _mark(block: int, at: complex, turn: complex) -> BlockPose:
    return BlockPose(block, at.real, at.imag, math.atan2(turn.imag, turn.real))


def _picture_center(plane: TablePlane, lens: Lens) -> complex:
    """Return the point of the table at the centre of the picture."""
    middle_px = np.array([((lens.width_px - 1) / 2, (lens.height_px - 1) / 2)])
    x_mm, y_mm = (plane.spots(lens.to_rays(middle_px), 0.0) @ plane.axes()[:2].T)[0].tolist()
    return complex(x_mm, y_mm)


def _table(
    plane: TablePlane,
    frame: tuple[complex, complex],
    thickness_mm: float,
    source: TableSource,
    marks: tuple[BlockPose, ...] = (),
) -> Table:
    """Return the table with the given origin and x direction (*frame*) on the plane. Reject a poor fit."""
    if plane.error_px > _MOST_ERROR_PX[source] or plane.fitting < _LEAST_FITTING:
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
