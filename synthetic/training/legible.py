"""Find the legible pips of a rendered picture. Glare, darkness or blur can hide them."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.render.face_grid import pip_places_mm
from synthetic.render.paint import RenderedPicture
from synthetic.render.scene import Scene
from synthetic.render.view import View, view_of
from vision.arrays import Points

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
