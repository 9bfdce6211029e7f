"""Draw and paint the edge of a table: its outline, its rim, and the floor beyond."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from synthetic.render import colors
from synthetic.render.looks import draw_table_look
from synthetic.render.placements import Area
from synthetic.render.scene import Floor
from synthetic.render.tabletop import paint_table
from synthetic.render.view import View
from vision.arrays import Bgr, GreyImage, Image, Points

# Width at which the floor is painted before it is enlarged. A small picture is cheap and looks out of focus.
_FLOOR_PX = 360
_STEPS = 7


def draw_floor(
    rng: np.random.Generator,
    area: Area,
    centers_mm: Sequence[tuple[float, float]] = (),
    *,
    margin_mm: float = 60.0,
    table_bgr: Bgr | None = None,
) -> Floor:
    """Return a random floor around a rectangular table with one to three visible sides, or around a round table.

    The far side of a rectangular table is visible most often.

    Args:
        area: Part of the table in the middle of the picture.
        centers_mm: Centres of everything that must be on the table.
        margin_mm: Minimum distance of these centres from the edge, such as the length of a tile.
        table_bgr: Colour of the table top, used for most rims. None for a random wood colour.
    """
    centers = np.array([(0.0, 0.0), *centers_mm])
    outline = _round(rng, area, centers, margin_mm) if rng.random() < 0.12 else _straight(rng, area, centers, margin_mm)
    wood = colors.from_hsv(rng.uniform(0.04, 0.11), rng.uniform(0.1, 0.7), rng.uniform(0.1, 0.8))
    rim_bgr = wood if table_bgr is None or rng.random() < 0.3 else colors.scaled(table_bgr, rng.uniform(0.5, 1.0))
    look = draw_table_look(rng)
    return Floor(
        look=replace(look, pattern_mm=look.pattern_mm * rng.uniform(1.0, 4.0)),
        outline_mm=tuple((float(x), float(y)) for x, y in outline),
        drop=rng.uniform(0.1, 0.75),
        rim_bgr=rim_bgr,
        rim_mm=float(
            rng.choice([rng.uniform(12, 45), rng.uniform(100, 280)], p=[0.8, 0.2])
        ),  # the second range is a hanging cloth
        below_mm=rng.uniform(350, 760),
    )


def _straight(rng: np.random.Generator, area: Area, centers: Points, margin_mm: float) -> Points:
    """Return the outline of a rectangular table, one to three of whose sides are near the area."""
    theta = rng.normal(0, 0.12) if rng.random() < 0.65 else rng.uniform(-math.pi, math.pi)
    sides = rng.permutation(4)[: int(rng.choice([1, 2, 3], p=[0.5, 0.35, 0.15]))]
    if rng.random() < 0.6:
        sides = np.union1d(sides[:-1], [3])  # the far one
    distances_mm = []
    for side in range(4):
        normal = np.array([math.cos(theta + side * math.pi / 2), math.sin(theta + side * math.pi / 2)])
        half_mm = (abs(normal[0]) * area.width_mm + abs(normal[1]) * area.height_mm) / 2
        share = rng.uniform(0.5, 1.3) if side in sides else rng.uniform(4, 7)
        distances_mm.append(max(share * half_mm, float((centers @ normal).max()) + margin_mm))
    right, near, left, far = distances_mm
    radius_mm = rng.uniform(0.2, 1.0) * margin_mm if rng.random() < 0.4 else 0.0
    inner = np.array([[right, near], [-left, near], [-left, -far], [right, -far]])
    angles = np.linspace(0, math.pi / 2, _STEPS if radius_mm > 0 else 1)
    corners = []
    for quarter, (corner, signs) in enumerate(zip(inner, ((1, 1), (-1, 1), (-1, -1), (1, -1)), strict=True)):
        turns = angles + quarter * math.pi / 2
        arc = radius_mm * np.column_stack([np.cos(turns), np.sin(turns)]) if radius_mm > 0 else np.zeros((1, 2))
        corners.append(corner - radius_mm * np.array(signs) + arc)
    cos, sin = math.cos(theta), math.sin(theta)
    rotated: Points = np.concatenate(corners) @ np.array([[cos, sin], [-sin, cos]])
    return rotated


def _round(rng: np.random.Generator, area: Area, centers: Points, margin_mm: float) -> Points:
    """Return the outline of a round table centred near the middle of the area."""
    middle = rng.uniform(-0.35, 0.35, 2) * (area.width_mm, area.height_mm)
    reach_mm = float(np.linalg.norm(centers - middle, axis=1).max()) + margin_mm
    radius_mm = max(reach_mm, rng.uniform(0.35, 0.75) * math.hypot(area.width_mm, area.height_mm))
    angles = np.linspace(0, 2 * math.pi, 72, endpoint=False)
    # The chords between the outline's points must not cut into the circle.
    radius_mm /= math.cos(math.pi / 72)
    outline: Points = middle + radius_mm * np.column_stack([np.cos(angles), np.sin(angles)])
    return outline


def paint_beyond(picture: Image, floor: Floor, view: View, rng: np.random.Generator) -> GreyImage:
    """Paint the floor and the table's rim over a picture of the table, in place.

    Returns:
        Coverage of each pixel by the table top, 0 to 255, shape (H, W).
    """
    height, width = picture.shape[:2]
    outline = np.array(floor.outline_mm)
    top = _cover(outline, (0.0,), view, (height, width))
    if top.min() == 255:
        return top
    beyond = _floor_picture(floor, view, (height, width), rng)
    body = _cover(outline, (0.0, -floor.rim_mm), view, (height, width))
    for cover, painted in ((body, np.full_like(picture, np.array(floor.rim_bgr, np.uint8))), (top, picture)):
        share = cv2.merge([cover, cover, cover])
        beyond = cv2.add(
            cv2.multiply(painted, share, scale=1 / 255), cv2.multiply(beyond, cv2.bitwise_not(share), scale=1 / 255)
        ).astype(np.uint8, copy=False)
    picture[top < 255] = beyond[top < 255]
    return top


def _cover(outline_mm: Points, heights_mm: tuple[float, ...], view: View, shape: tuple[int, int]) -> GreyImage:
    """Return the coverage of each pixel, shape (H, W), by the convex body that spans *heights_mm*."""
    cover = np.zeros(shape, np.uint8)
    clipped = [(view.cut_near(outline_mm, height_mm), height_mm) for height_mm in heights_mm]
    points_px = np.concatenate([view.project(points, height_mm) for points, height_mm in clipped])
    if len(points_px) > 2:
        hull = cv2.convexHull(points_px.astype(np.float32))[:, 0]
        cv2.fillConvexPoly(cover, np.round(hull * 16).astype(np.int32), 255, cv2.LINE_AA, 4)
    return cover


def _floor_picture(floor: Floor, view: View, shape: tuple[int, int], rng: np.random.Generator) -> Image:
    """Return a picture of the floor alone, blurred and darkened, shape (H, W, 3)."""
    shrink = min(1.0, _FLOOR_PX / shape[1])
    width, height = max(8, round(shape[1] * shrink)), max(8, round(shape[0] * shrink))
    matrix = view.matrix.copy()
    matrix[:, 3] -= floor.below_mm * matrix[:, 2]
    matrix[:2] *= np.array([[width / shape[1]], [height / shape[0]]])
    center = (view.center_px[0] * width / shape[1], view.center_px[1] * height / shape[0])
    small = paint_table(floor.look, View(matrix, center, 0.0), width, height, rng)
    small = cv2.GaussianBlur(small, (0, 0), rng.uniform(0.8, 3.0)).astype(np.uint8, copy=False)
    dark = cv2.convertScaleAbs(small, alpha=1 - floor.drop)
    return cv2.resize(dark, (shape[1], shape[0]), interpolation=cv2.INTER_LINEAR).astype(np.uint8, copy=False)
