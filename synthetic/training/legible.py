"""Decide which pips of a rendered picture are legible; some are lost in glare, dark or blur."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.render.face_grid import pip_places_mm
from synthetic.render.paint import RenderedPicture
from synthetic.render.scene import Scene
from synthetic.render.view import View, view_of
from vision.arrays import Points

# What people can just tell apart, in CIE76 (Mahy, Van Eycken and Oosterlinck, Color Research and Application 19, 1994).
_JUST_NOTICEABLE = 2.3
# The middle of a pip and the face around it, in pip radii; of the eight places around, neighbours cover few.
_MIDDLE, _AROUND, _PLACES = 0.4, 1.35, 8


def legible_halves(scene: Scene, rendered: RenderedPicture) -> NDArray[np.bool_]:
    """Return of which halves of the true tiles that lie face up a picture shows every pip, shape (N, 2).

    A pip is shown where a person could tell it from the face around it. Blanks and numerals always count as shown.
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
        seen = view.distort(view.project(placed.to_table(spots_mm), height_mm))
        return _at(lab, seen).reshape(len(centers_mm), -1, 3)

    inside = colors(_MIDDLE * circles_mm).mean(axis=1, keepdims=True)
    differences = np.linalg.norm(colors(_AROUND * circles_mm) - inside, axis=-1)
    return bool((np.median(differences, axis=1) >= _JUST_NOTICEABLE).all())


def _at(picture: NDArray[np.float32], points_px: Points) -> NDArray[np.float32]:
    """Return the values of a picture at points, shape (N, 2), between its pixels."""
    x, y = points_px.astype(np.float32).T
    seen = cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(seen, np.float32).reshape(-1, 3)
