"""Paint tiles as solid bodies: side walls, then the warped texture of the top."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.render.face_grid import FaceGrid
from lab.render.faces import Texture
from lab.render.lighting import add_light, to_lamp
from lab.render.look_types import LightLook, TileLook
from lab.render.scene import PlacedTile
from lab.render.view import View
from vision.arrays import Bgr, GreyImage, Image, Points

_CORNER_STEPS = 4


def rounded_outline(length_mm: float, width_mm: float, radius_mm: float) -> Points:
    """Return the outline of a rounded rectangle around (0, 0), shape (N, 2), clockwise in the picture."""
    radius = min(radius_mm, length_mm / 2, width_mm / 2)
    points = []
    for quarter, (side_x, side_y) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))):
        for step in range(_CORNER_STEPS):
            angle = (quarter + step / (_CORNER_STEPS - 1)) * math.pi / 2
            points.append(
                (
                    side_x * (length_mm / 2 - radius) + radius * math.cos(angle),
                    side_y * (width_mm / 2 - radius) + radius * math.sin(angle),
                )
            )
    return np.array(points, dtype=np.float64)


def corners_of(look: TileLook) -> Points:
    """Return the corners of a tile in its own frame, shape (4, 2), clockwise from (-x, -y)."""
    half_length, half_width = look.length_mm / 2, look.width_mm / 2
    return np.array(
        [[-half_length, -half_width], [half_length, -half_width], [half_length, half_width], [-half_length, half_width]]
    )


def paint_walls(
    picture: Image,
    outline_mm: Points,
    heights_mm: tuple[float, float],
    bgr: Bgr,
    light: LightLook,
    view: View,
) -> None:
    """Paint the visible sides of a convex body between two heights, in place."""
    low, high = view.project(outline_mm, heights_mm[0]), view.project(outline_mm, heights_mm[1])
    lamp = to_lamp(light)
    following = np.roll(np.arange(len(outline_mm)), -1)
    edge = outline_mm[following] - outline_mm
    length = np.maximum(np.linalg.norm(edge, axis=1), 1e-9)
    facing = (edge[:, 1] * lamp[0] - edge[:, 0] * lamp[1]) / length  # outward normal of a clockwise outline
    shade = 0.8 * (light.ambient + (1 - light.ambient) * np.clip(facing, -0.2, 1))
    colors = np.clip(shade[:, None] * np.asarray(bgr), 0, 255).tolist()
    quads = np.stack([high, high[following], low[following], low], axis=1)
    along, down = quads[:, 1] - quads[:, 0], quads[:, 3] - quads[:, 0]
    is_visible = along[:, 0] * down[:, 1] - along[:, 1] * down[:, 0] < 0
    fixed = np.round(quads * 16).astype(np.int32)
    for index in np.flatnonzero(is_visible):
        cv2.fillConvexPoly(picture, fixed[index], colors[index], cv2.LINE_AA, 4)


def paint_texture(
    picture: Image,
    texture: Texture,
    warp: NDArray[np.float64],
    *,
    glare: GreyImage | None = None,
    gloss: float = 0.0,
    lean_px: tuple[float, float] = (0.0, 0.0),
    shadow: GreyImage | None = None,
) -> None:
    """Paint *texture* over a picture in place.

    Args:
        picture: BGR, shape (H, W, 3).
        texture: BGR premultiplied by the alpha in its last channel.
        warp: Homography, shape (3, 3), from texture pixels to the picture.
        glare: Reflections over the picture, shape (H, W), or None.
        gloss: Share of the glare that the surface reflects, 0 to 1.
        lean_px: Displacement of the glare, because the surface is not quite level.
        shadow: Brightness of the surface, shape (H, W), 255 if unshaded, or None.
    """
    rows, columns = texture.shape[:2]
    frame = np.array([[[0, 0], [columns, 0], [columns, rows], [0, rows]]], dtype=np.float64)
    corners = cv2.perspectiveTransform(frame, warp)[0]
    left, top = (int(value) for value in np.maximum(np.floor(corners.min(axis=0)).astype(int) - 1, 0))
    right = min(picture.shape[1], int(np.ceil(corners[:, 0].max())) + 2)
    bottom = min(picture.shape[0], int(np.ceil(corners[:, 1].max())) + 2)
    if right <= left or bottom <= top:
        return
    shift = np.array([[1.0, 0.0, -left], [0.0, 1.0, -top], [0.0, 0.0, 1.0]])
    patch = cv2.warpPerspective(texture, shift @ warp, (right - left, bottom - top), flags=cv2.INTER_LINEAR)
    blue, green, red, alpha = cv2.split(patch)
    color = cv2.merge([blue, green, red])
    if shadow is not None:
        color = cv2.multiply(color, cv2.merge([shadow[top:bottom, left:right]] * 3), scale=1 / 255)
    if glare is not None and gloss > 0:
        shine = cv2.multiply(_shifted(glare, lean_px, (top, bottom, left, right)), alpha, scale=gloss / 255)
        color = add_light(color, shine)
    region = picture[top:bottom, left:right]
    uncovered = cv2.bitwise_not(alpha)
    region[:] = cv2.add(color, cv2.multiply(region, cv2.merge([uncovered] * 3), scale=1 / 255))


def _shifted(field: GreyImage, lean_px: tuple[float, float], box: tuple[int, int, int, int]) -> GreyImage:
    """Return the part of *field* at *box* (top, bottom, left, right), shifted by *lean_px* but kept inside."""
    top, bottom, left, right = box
    down = int(np.clip(round(lean_px[1]), -top, field.shape[0] - bottom))
    aside = int(np.clip(round(lean_px[0]), -left, field.shape[1] - right))
    return field[top + down : bottom + down, left + aside : right + aside]


def top_warp(placed: PlacedTile, look: TileLook, grid: FaceGrid, view: View) -> NDArray[np.float64]:
    """Return the homography from the texture of a tile to the pinhole picture."""
    cos, sin = math.cos(placed.theta_rad), math.sin(placed.theta_rad)
    center_x, center_y = placed.center_mm
    to_table = np.array([[cos, -sin, center_x], [sin, cos, center_y], [0.0, 0.0, 1.0]])
    warp: NDArray[np.float64] = view.plane(placed.height_mm + look.thickness_mm) @ to_table @ grid.to_tile()
    return warp
