"""Shadows, the fall of the light over a scene, and reflections of lamps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.render import noise
from synthetic.render.look_types import LightLook
from synthetic.render.scene import Scene
from synthetic.render.view import View
from vision.arrays import FloatImage, GreyImage, Image, Points


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A body that throws a shadow.

    Attributes:
        outline_mm: Shape (N, 2), convex, on the table.
        bottom_mm, top_mm: Heights over the table.
    """

    outline_mm: Points
    bottom_mm: float
    top_mm: float


def to_lamp(light: LightLook) -> NDArray[np.float64]:
    """Return the unit vector to the main light, shape (3,), z up from the table."""
    flat = math.cos(light.elevation_rad)
    return np.array(
        [flat * math.cos(light.azimuth_rad), flat * math.sin(light.azimuth_rad), math.sin(light.elevation_rad)]
    )


def add_light(picture: NDArray[np.generic], shine: NDArray[np.generic]) -> Image:
    """Return *picture*, shape (H, W, 3), with *shine*, (H, W), reflected on it, both in grey levels, 0 to 255.

    Light adds up, grey levels do not: they are taken for square roots of the light, as in `lens`.
    """
    total = cv2.magnitude(picture.astype(np.float32), cv2.merge([shine.astype(np.float32)] * 3))
    return cv2.convertScaleAbs(total).astype(np.uint8, copy=False)


def _fill(mask: GreyImage, points_px: Points, scale: float) -> None:
    """Fill the convex hull of *points_px*, given in full size, in a smaller mask."""
    hull = cv2.convexHull(np.round(points_px * (scale * 16)).astype(np.int32))
    cv2.fillConvexPoly(mask, hull, 255, cv2.LINE_AA, 4)


def shade_table(picture: Image, solids: Sequence[Solid], scene: Scene, view: View, rng: np.random.Generator) -> Image:
    """Return *picture*, the bare table, with its large soft stains and the shadows of *solids* on it."""
    light, px_per_mm = scene.light, scene.camera.px_per_mm
    height, width = picture.shape[:2]
    scale = 0.25 if light.shadow_blur_mm * px_per_mm > 4 else 0.5
    shade = _shadows(solids, light, view, px_per_mm, (math.ceil(height * scale), math.ceil(width * scale)), scale)
    if scene.table.unevenness > 0:
        rows, columns = shade.shape
        stains = np.clip(noise.cloud(rng, rows, columns, columns / 5) + 1, 0, 3)
        shade *= 1 - np.float32(0.09 * scene.table.unevenness) * stains
    if scene.table.folds > 0:
        shade *= _folds(scene.table.folds, shade.shape, light, rng)
    field = cv2.resize(cv2.convertScaleAbs(shade, alpha=255), (width, height), interpolation=cv2.INTER_LINEAR)
    return cv2.multiply(picture, cv2.merge([field, field, field]), scale=1 / 255).astype(np.uint8, copy=False)


def _folds(strength: float, shape: tuple[int, ...], light: LightLook, rng: np.random.Generator) -> FloatImage:
    """Return the brightness of a cloth that does not lie flat: creases of ironing and soft waves, lit from one side."""
    rows, columns = shape[0], shape[1]
    waves = noise.cloud(rng, rows, columns, columns / rng.uniform(3, 8))
    creases = np.zeros((rows, columns), np.float32)
    x, y = _unit_grid(rows, columns)
    for _ in range(int(rng.integers(1, 5))):
        angle = rng.uniform(0, math.pi)
        away = x * math.cos(angle) + y * math.sin(angle) - rng.uniform(-0.8, 0.8) + np.float32(0.05) * waves
        creases += np.exp(-np.abs(away) * np.float32(rng.uniform(20, 60)))
    height = waves + np.float32(0.6) * creases
    step = math.cos(light.azimuth_rad), math.sin(light.azimuth_rad)
    slope = step[0] * np.gradient(height, axis=1) + step[1] * np.gradient(height, axis=0)
    shade: FloatImage = np.clip(1 - np.float32(0.05 * strength * columns / 8) * slope, 0.4, 1.0).astype(np.float32)
    return shade


def shade_plane(solids: Sequence[Solid], scene: Scene, view: View, height_mm: float) -> GreyImage:
    """Return the brightness, shape (H, W), 255 for no shadow, of a plane over the table below *solids*."""
    light, px_per_mm = scene.light, scene.camera.px_per_mm
    height, width = scene.camera.height_px, scene.camera.width_px
    small = (math.ceil(height / 4), math.ceil(width / 4))
    shade = _shadows(solids, light, view, px_per_mm, small, 0.25, plane_mm=height_mm)
    return cv2.resize(cv2.convertScaleAbs(shade, alpha=255), (width, height), interpolation=cv2.INTER_LINEAR).astype(
        np.uint8, copy=False
    )


def _shadows(
    solids: Sequence[Solid],
    light: LightLook,
    view: View,
    px_per_mm: float,
    shape: tuple[int, int],
    scale: float,
    *,
    plane_mm: float = 0.0,
) -> FloatImage:
    """Return the brightness of a plane between *solids*, 0 to 1, in a picture made smaller by *scale*."""
    cast, contact = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    lamp = to_lamp(light)
    slide = -lamp[:2] / max(float(lamp[2]), 0.25)
    for solid in solids:
        low = solid.outline_mm + slide * max(solid.bottom_mm - plane_mm, 0.0)
        high = solid.outline_mm + slide * (solid.top_mm - plane_mm)
        hull = cv2.convexHull(np.concatenate([low, high]).astype(np.float32))[:, 0].astype(np.float64)
        seen = view.cut_near(hull, plane_mm)
        if len(seen) > 2:
            _fill(cast, view.project(seen, plane_mm), scale)
        if plane_mm == 0.0 and solid.bottom_mm < 1.0:
            middle = solid.outline_mm.mean(axis=0)
            grown = middle + (solid.outline_mm - middle) * 1.02
            _fill(contact, view.project(grown, 0.0), scale)
    soft = cv2.GaussianBlur(cast, (0, 0), max(0.4, light.shadow_blur_mm * px_per_mm * scale))
    close = cv2.GaussianBlur(contact, (0, 0), max(0.5, 1.0 * px_per_mm * scale))
    shade: FloatImage = (1 - soft * np.float32(light.shadow / 255)) * (1 - close * np.float32(light.contact / 255))
    return shade


def _unit_grid(rows: int, columns: int) -> tuple[FloatImage, FloatImage]:
    """Return x and y from -1 to 1, shapes (1, columns) and (rows, 1)."""
    return (
        np.linspace(-1, 1, columns, dtype=np.float32)[None, :],
        np.linspace(-1, 1, rows, dtype=np.float32)[:, None],
    )


def light_field(light: LightLook, vignette: float, shape: tuple[int, int], rng: np.random.Generator) -> Image:
    """Return the brightness of every pixel, shape (H, W, 3), where 128 leaves the picture as it is."""
    rows, columns = max(2, shape[0] // 8), max(2, shape[1] // 8)
    x, y = _unit_grid(rows, columns)
    field = 1 + light.gradient * (x * math.cos(light.azimuth_rad) + y * math.sin(light.azimuth_rad))
    spot_x, spot_y = rng.uniform(-0.4, 0.4, 2).astype(np.float32)
    field = field * (1 - light.spot * np.clip(((x - spot_x) ** 2 + (y - spot_y) ** 2) / 2, 0, 1.5))
    field = field * (1 - vignette * ((x**2 + y**2) / 2) ** 2)
    if light.band > 0:
        angle = rng.uniform(0, 2 * math.pi)
        edge = x * math.cos(angle) + y * math.sin(angle) - rng.uniform(-0.6, 0.6)
        edge = edge + 0.08 * noise.cloud(rng, rows, columns, rows / 4)
        softness = float(rng.choice([0.02, 0.06, 0.2]))
        field = field * (1 - light.band / (1 + np.exp(-np.clip(edge / softness, -30, 30))))
    large = cv2.resize(field.astype(np.float32), (shape[1], shape[0]), interpolation=cv2.INTER_LINEAR)
    plane = cv2.convertScaleAbs(large, alpha=128)
    merged: Image = cv2.merge([plane, plane, plane]).astype(np.uint8, copy=False)
    return merged


def _window(along: FloatImage, across: FloatImage, rng: np.random.Generator) -> FloatImage:
    """Return the reflection of a window, 0 to 1, that spans -1 to 1 both ways: panes between bars."""
    sharp = rng.uniform(4, 25)
    inside = np.clip(0.5 + sharp * (1 - np.maximum(np.abs(along), np.abs(across))), 0, 1)
    panes = int(rng.integers(1, 4))
    bars = np.abs((along + 1) * panes / 2 - np.round((along + 1) * panes / 2)) * 2 / panes
    sill = np.minimum(np.abs(across) if panes > 1 else 1.0, np.where(np.abs(along) < 1 - 0.5 / panes, bars, 1.0))
    shine: FloatImage = (inside * np.clip(sharp * (sill - 0.05), 0.15, 1)).astype(np.float32)
    return shine


def glare_field(light: LightLook, shape: tuple[int, int], rng: np.random.Generator) -> GreyImage | None:
    """Return the light that gloss reflects into the camera, shape (H, W), or None without glare."""
    if light.glare <= 0:
        return None
    rows, columns = max(2, shape[0] // 4), max(2, shape[1] // 4)
    x, y = _unit_grid(rows, columns)
    total = np.zeros((rows, columns), np.float32)
    for _ in range(int(rng.integers(1, 4))):
        center_x, center_y = rng.uniform(-1, 1, 2).astype(np.float32)
        angle, size = rng.uniform(0, math.pi), rng.uniform(0.06, 0.4)
        along = (x - center_x) * math.cos(angle) + (y - center_y) * math.sin(angle)
        across = -(x - center_x) * math.sin(angle) + (y - center_y) * math.cos(angle)
        if rng.random() < 0.4:
            total += _window(along / size, across / (size * rng.uniform(0.4, 1.0)), rng)
        else:
            distance = (along / (size * light.glare_stretch)) ** 2 + (across / size) ** 2
            total += np.exp(-(distance ** rng.uniform(0.7, 2.5))).astype(np.float32)
    total *= 1 + 0.25 * noise.cloud(rng, rows, columns, rows / 12)
    bright = np.clip(total * (255 * light.glare), 0, 255).astype(np.uint8)
    large: GreyImage = cv2.resize(bright, (shape[1], shape[0]), interpolation=cv2.INTER_LINEAR).astype(
        np.uint8, copy=False
    )
    return large
