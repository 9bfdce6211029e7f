"""Shadows, light falloff across a scene, and reflections of lamps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.render import noise
from lab.render.look_types import LightLook
from lab.render.scene import Scene
from lab.render.view import View
from vision.arrays import FloatImage, GreyImage, Image, Points


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A body that casts a shadow.

    Attributes:
        outline_mm: Convex outline on the table, shape (N, 2).
        bottom_mm, top_mm: Heights over the table.
    """

    outline_mm: Points
    bottom_mm: float
    top_mm: float


def to_lamp(light: LightLook) -> NDArray[np.float64]:
    """Return the unit vector towards the main light, shape (3,), with z up from the table."""
    flat = math.cos(light.elevation_rad)
    return np.array(
        [flat * math.cos(light.azimuth_rad), flat * math.sin(light.azimuth_rad), math.sin(light.elevation_rad)]
    )


def add_light(picture: NDArray[np.generic], shine: NDArray[np.generic]) -> Image:
    """Add a reflection *shine*, shape (H, W), to *picture*, shape (H, W, 3), both in grey levels 0 to 255.

    Light is additive but grey levels are not. They are treated as square roots of light, as in `view`.
    """
    total = cv2.magnitude(picture.astype(np.float32), cv2.merge([shine.astype(np.float32)] * 3))
    return cv2.convertScaleAbs(total).astype(np.uint8, copy=False)


def _fill(mask: GreyImage, points_px: Points, scale: float) -> None:
    """Fill the convex hull of *points_px*, in full-size pixels, in a mask reduced by *scale*."""
    hull = cv2.convexHull(np.round(points_px * (scale * 16)).astype(np.int32))
    cv2.fillConvexPoly(mask, hull, 255, cv2.LINE_AA, 4)


def shade_table(picture: Image, solids: Sequence[Solid], scene: Scene, view: View, rng: np.random.Generator) -> Image:
    """Return a picture of the bare table with large soft stains, cloth folds and the shadows of *solids*."""
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
    """Return the brightness of a cloth with ironing creases and soft waves, lit from one side."""
    rows, columns = shape[0], shape[1]
    waves = noise.cloud(rng, rows, columns, columns / rng.uniform(3, 8))
    creases = np.zeros((rows, columns), np.float32)
    x, y = _unit_grid(rows, columns)
    for _ in range(int(rng.integers(1, 5))):
        angle = rng.uniform(0, math.pi)
        distance = x * math.cos(angle) + y * math.sin(angle) - rng.uniform(-0.8, 0.8) + np.float32(0.05) * waves
        creases += np.exp(-np.abs(distance) * np.float32(rng.uniform(20, 60)))
    height = waves + np.float32(0.6) * creases
    step = math.cos(light.azimuth_rad), math.sin(light.azimuth_rad)
    slope = step[0] * np.gradient(height, axis=1) + step[1] * np.gradient(height, axis=0)
    shade: FloatImage = np.clip(1 - np.float32(0.05 * strength * columns / 8) * slope, 0.4, 1.0).astype(np.float32)
    return shade


def shade_plane(solids: Sequence[Solid], scene: Scene, view: View, height_mm: float) -> GreyImage:
    """Return the brightness of the plane at *height_mm* in the shadow of *solids*, shape (H, W), 255 if unshaded."""
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
    """Return the brightness of a plane, 0 to 1, in the shadow of *solids*, in a picture reduced by *scale*."""
    cast, contact = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    lamp = to_lamp(light)
    slide = -lamp[:2] / max(float(lamp[2]), 0.25)
    for solid in solids:
        low = solid.outline_mm + slide * max(solid.bottom_mm - plane_mm, 0.0)
        high = solid.outline_mm + slide * (solid.top_mm - plane_mm)
        hull = cv2.convexHull(np.concatenate([low, high]).astype(np.float32))[:, 0].astype(np.float64)
        visible = view.cut_near(hull, plane_mm)
        if len(visible) > 2:
            _fill(cast, view.project(visible, plane_mm), scale)
        if plane_mm == 0.0 and solid.bottom_mm < 1.0:
            middle = solid.outline_mm.mean(axis=0)
            grown = middle + (solid.outline_mm - middle) * 1.02
            _fill(contact, view.project(grown, 0.0), scale)
    soft = cv2.GaussianBlur(cast, (0, 0), max(0.4, light.shadow_blur_mm * px_per_mm * scale))
    close = cv2.GaussianBlur(contact, (0, 0), max(0.5, 1.0 * px_per_mm * scale))
    shade: FloatImage = (1 - soft * np.float32(light.shadow / 255)) * (1 - close * np.float32(light.contact / 255))
    return shade


def _unit_grid(rows: int, columns: int) -> tuple[FloatImage, FloatImage]:
    """Return x and y coordinates from -1 to 1, shapes (1, columns) and (rows, 1)."""
    return (
        np.linspace(-1, 1, columns, dtype=np.float32)[None, :],
        np.linspace(-1, 1, rows, dtype=np.float32)[:, None],
    )


def light_field(light: LightLook, vignette: float, shape: tuple[int, int], rng: np.random.Generator) -> Image:
    """Return the light factor of every pixel, shape (H, W, 3). 128 leaves the picture unchanged."""
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
    """Return the reflection of a window with panes and bars, 0 to 1. The window spans -1 to 1 in both directions."""
    sharp = rng.uniform(4, 25)
    inside = np.clip(0.5 + sharp * (1 - np.maximum(np.abs(along), np.abs(across))), 0, 1)
    panes = int(rng.integers(1, 4))
    bars = np.abs((along + 1) * panes / 2 - np.round((along + 1) * panes / 2)) * 2 / panes
    sill = np.minimum(np.abs(across) if panes > 1 else 1.0, np.where(np.abs(along) < 1 - 0.5 / panes, bars, 1.0))
    shine: FloatImage = (inside * np.clip(sharp * (sill - 0.05), 0.15, 1)).astype(np.float32)
    return shine


def glare_field(light: LightLook, shape: tuple[int, int], rng: np.random.Generator) -> GreyImage | None:
    """Return the light that glossy surfaces reflect into the camera, shape (H, W), or None without glare."""
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
