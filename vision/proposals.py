"""All kinds of evidence together: where tiles might be, before and after the plane of the table is known."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.bars import find_lines, tiles_around
from vision.plane import Plane
from vision.poses import Points, Poses
from vision.pyramid import Level
from vision.regions import region_proposals

# A bar is as long as this share of a tile's width.
_BAR_LENGTHS = (0.55, 1.15)
# No other tile has its centre this near to that of a tile, in sides.
_OWN_ROOM = 0.5
# Nor this near along and across it, touching loosely: half the tile and half the width of the other.
_KEEPS_OFF = (1.35, 0.85)
# Where a neighbour's centre can lie, along and across a tile in sides, and whether it lies crosswise: end to end,
# crosswise on an end, round a corner, off a side, and side by side.
_NEIGHBOURS = np.array(
    [(2, 0, 0), (1.5, 0, 1), (1.5, 0.5, 1), (1.5, -0.5, 1), (0, 1.5, 1), (0.5, 1.5, 1), (-0.5, 1.5, 1), (0, 1, 0)]
)


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What a picture shows that may be of tiles.

    Attributes:
        lines: Shape (L, 4), centre x and y, length and direction of what may be bars.
        poses: Shape (N, 6), every tile that bars or regions suggest: far more than there are, and repeatedly.
    """

    lines: NDArray[np.float64]
    poses: Poses


def find_evidence(levels: tuple[Level, ...]) -> Evidence:
    """Return the bars and regions of a picture, and the tiles that they suggest."""
    # OpenCV lets go of the interpreter while it works, so a second core finds the regions meanwhile.
    with ThreadPoolExecutor(max_workers=1) as aside:
        regions = aside.submit(region_proposals, levels)
        lines = find_lines(levels)
        return Evidence(lines, np.concatenate([tiles_around(lines), regions.result()]))


def shaped_by_plane(plane: Plane, lines: NDArray[np.float64], known: Poses) -> Poses:
    """Return tiles of the right size and shape around bars, and where tiles are known to lie; shape (M, 6).

    Args:
        plane: How the table lies.
        lines: Shape (L, 4), what may be bars.
        known: Shape (N, 6), tiles whose place is about right; bars on them are left out.
    """
    around = lines[:, 2:3] / 2 * np.column_stack([np.cos(lines[:, 3]), np.sin(lines[:, 3])])
    bar = plane.to_table(lines[:, :2] + around) - plane.to_table(lines[:, :2] - around)
    length = np.linalg.norm(bar, axis=1)
    center, theta = plane.on_table(known)
    middle = plane.to_table(lines[:, :2])
    fits = (length > _BAR_LENGTHS[0]) & (length < _BAR_LENGTHS[1]) & ~_in_room_of(middle, center)
    across = np.arctan2(bar[fits, 1], bar[fits, 0]) + np.pi / 2
    return plane.tiles_at(np.concatenate([center, middle[fits]]), np.concatenate([theta, across]))


def beside(plane: Plane, known: Poses) -> Poses:
    """Return tiles in all the places where players lay one against a known one, shape (M, 6)."""
    center, theta = plane.on_table(known)
    along = np.column_stack([np.cos(theta), np.sin(theta)])
    aside = np.column_stack([-along[:, 1], along[:, 0]])
    spots = np.concatenate([_NEIGHBOURS, _NEIGHBOURS * (-1, -1, 1)])
    places = np.concatenate([center + u * along + v * aside for u, v, _ in spots])
    directions = np.concatenate([theta + crosswise * np.pi / 2 for _, _, crosswise in spots])
    free = ~_covered(places, center, along, aside)
    return plane.tiles_at(places[free], directions[free])


def _covered(places: Points, centers: Points, along: Points, aside: Points) -> NDArray[np.bool_]:
    """Return at which places no tile can have its centre, whatever its direction, for the tiles that lie there."""
    gap = places[:, None] - centers[None]
    lengthwise, crosswise = np.abs((gap * along).sum(axis=2)), np.abs((gap * aside).sum(axis=2))
    return np.asarray(((lengthwise < _KEEPS_OFF[0]) & (crosswise < _KEEPS_OFF[1])).any(axis=1))


def _in_room_of(places: Points, centers: Points) -> NDArray[np.bool_]:
    """Return which places are too near to the centre of a tile for another one's centre, shape (N,)."""
    gap = np.linalg.norm(places[:, None] - centers[None], axis=2).min(axis=1, initial=np.inf)
    return np.asarray(gap < _OWN_ROOM)
