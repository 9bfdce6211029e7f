"""Ground truth of rendered tables: poses, the distance of other poses from them, and legible pips."""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.render.face_grid import pip_places_mm
from synthetic.render.paint import RenderedPicture
from synthetic.render.scene import Scene
from synthetic.render.view import View, view_of
from vision.arrays import Points
from vision.geometry.poses import Poses, corners, sides_px, swap_halves
from vision.networks.network import DOWN, UP
from vision.reading import Face, Reading, SeenTile


def true_pips(truth: Reading) -> NDArray[np.int64]:
    """Return the pips of both halves of the face-up tiles, shape (N, 2)."""
    return np.array([[half.pips for half in tile.halves] for tile in truth.tiles if tile.halves], np.int64).reshape(
        -1, 2
    )


def truth_poses(truth: Reading) -> tuple[Poses, NDArray[np.int64]]:
    """Return the poses, shape (N, 6), and classes, shape (N,), of true tiles. Half 0 is towards -u."""
    rows = [_pose_of(tile) for tile in truth.tiles]
    faces = [UP if tile.face is Face.UP else DOWN for tile in truth.tiles]
    return np.array(rows, np.float64).reshape(-1, 6), np.array(faces, np.int64)


def _pose_of(tile: SeenTile) -> NDArray[np.float64]:
    """Return the affine pose through the edge middles of a tile's outline, whose first edge is a long one.

    The longer edge in the picture need not be a long one: a tile that points away from a low camera looks wider than
    long.
    """
    outline = np.array(tile.corners_px)
    u, v = outline[[1, 2]].mean(axis=0) - outline.mean(axis=0), outline[[2, 3]].mean(axis=0) - outline.mean(axis=0)
    if tile.halves and np.dot(u, np.subtract(tile.halves[1].center_px, tile.halves[0].center_px)) < 0:
        u, v = -u, -v
    return np.concatenate([outline.mean(axis=0), u, v])


def corner_errors(poses: Poses, truth: Poses) -> tuple[NDArray[np.float64], NDArray[np.intp], Poses]:
    """Compare poses with the nearest true tiles.

    Returns:
        For each pose: the largest distance of corresponding corners in sides of the true tile, the index of the true
        tile, and its pose in the orientation that matches better. Without true tiles, errors are infinite and the
        poses themselves are returned.
    """
    if not len(truth):
        return np.full(len(poses), np.inf), np.zeros(len(poses), np.intp), poses.copy()
    turned = swap_halves(truth)
    both = np.concatenate([truth, turned])
    gaps = np.linalg.norm(corners(poses)[:, None] - corners(both)[None], axis=-1).max(axis=-1) / sides_px(both)
    nearest = gaps.argmin(axis=1)
    return gaps[np.arange(len(poses)), nearest], nearest % len(truth), both[nearest]


def with_half_0_first(poses: Poses, target: Poses, truth: Poses) -> Poses:
    """Return poses, shape (N, 6), rotated by half a turn where needed to match half 0 of the true tile.

    Args:
        poses: Poses to orient.
        target: True tiles in the orientation of *poses*, from `corner_errors`.
        truth: True tiles.
    """
    same = (target[:, 2:4] * truth[:, 2:4]).sum(axis=1) > 0
    return np.where(same[:, None], poses, swap_halves(poses))


def near_any(poses: Poses, outlines_px: Iterable[Points]) -> NDArray[np.bool_]:
    """Return a mask of the poses on or next to any of the outlines, shape (N,)."""
    near = np.zeros(len(poses), bool)
    for outline in outlines_px:
        middle = outline.mean(axis=0)
        radius = np.linalg.norm(outline - middle, axis=1).max()
        near |= np.linalg.norm(poses[:, :2] - middle, axis=1) < radius + sides_px(poses)
    return near


# Just noticeable difference in CIE76 (Mahy, Van Eycken and Oosterlinck, Color Research and Application 19, 1994).
_JUST_NOTICEABLE = 2.3
# Radii of the sampled circles inside a pip and on the face around it, in pip radii, and points per circle. The median
# over the outer points ignores the few that neighbouring pips cover.
_MIDDLE, _AROUND, _PLACES = 0.4, 1.35, 8


def legible_halves(scene: Scene, rendered: RenderedPicture) -> NDArray[np.bool_]:
    """Return a mask of the legible halves of the face-up true tiles, shape (N, 2).

    A half is legible if a person could distinguish every pip from the face around it. Blanks and numerals always count
    as legible.
    """
    lab = np.asarray(cv2.cvtColor(rendered.image.astype(np.float32) / 255, cv2.COLOR_BGR2LAB), np.float32)
    view = view_of(scene.camera)
    return np.array(
        [
            [_is_legible(lab, scene, view, index, half) for half in (0, 1)]
            for index, tile in zip(rendered.tile_index, rendered.truth.tiles, strict=True)
            if tile.halves
        ],
        np.bool_,
    ).reshape(-1, 2)


def _is_legible(lab: NDArray[np.float32], scene: Scene, view: View, index: int, half: int) -> bool:
    placed = scene.tiles[index]
    look = scene.look_of(placed)
    if placed.pips is None or placed.pips[half] == 0 or look.numerals is not None:
        return True
    centers_mm, radii_mm = pip_places_mm(look, placed.pips[half], half)
    ring = np.arange(_PLACES) / _PLACES * 2 * np.pi
    circles_mm = radii_mm[:, None, None] * np.column_stack([np.cos(ring), np.sin(ring)])
    height_mm = placed.height_mm + look.thickness_mm

    def colors(around: Points) -> NDArray[np.float32]:
        spots_mm = (centers_mm[:, None] + around).reshape(-1, 2)
        points_px = view.distort(view.project(placed.to_table(spots_mm), height_mm))
        return _at(lab, points_px).reshape(len(centers_mm), -1, 3)

    inside = colors(_MIDDLE * circles_mm).mean(axis=1, keepdims=True)
    differences = np.linalg.norm(colors(_AROUND * circles_mm) - inside, axis=-1)
    return bool((np.median(differences, axis=1) >= _JUST_NOTICEABLE).all())


def _at(picture: NDArray[np.float32], points_px: Points) -> NDArray[np.float32]:
    """Return the interpolated values of a picture at points of shape (N, 2)."""
    x, y = points_px.astype(np.float32).T
    values = cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(values, np.float32).reshape(-1, 3)
