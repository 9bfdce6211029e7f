"""Camera model: pinhole projection, tone, lens, blur, noise and compression; shadows and reflections of lamps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.render.scene import CameraLook, LightLook, Scene
from vision.arrays import FloatImage, GreyImage, Image, Points

# Seeded noise of several grain sizes, generated at low resolution and enlarged to save time.


def white(rng: np.random.Generator, height: int, width: int) -> FloatImage:
    """Return independent normal values with standard deviation 1."""
    return rng.standard_normal((height, width), dtype=np.float32)


def cloud(rng: np.random.Generator, height: int, width: int, cell: float | tuple[float, float]) -> FloatImage:
    """Return smooth noise with standard deviation about 1.

    Args:
        cell: Size of a bump in pixels, or its height and width.
    """
    cell_y, cell_x = cell if isinstance(cell, tuple) else (cell, cell)
    rows = max(2, round(height / max(cell_y, 1.0)) + 1)
    columns = max(2, round(width / max(cell_x, 1.0)) + 1)
    seed = rng.standard_normal((rows, columns), dtype=np.float32)
    return cv2.resize(seed, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.float32, copy=False)


def add_repeated(picture: Image, patch: FloatImage) -> None:
    """Add *patch*, shape (h, w, 3) in grey levels, to *picture* in place, tiled to cover it.

    Saturating byte sums, block by block, take a fifth of the time of a single mixed-type sum.
    """
    lighter, darker = (np.rint(np.clip(part, 0, 255)).astype(np.uint8) for part in (patch, -patch))
    rows, columns = patch.shape[:2]
    for top in range(0, picture.shape[0], rows):
        for left in range(0, picture.shape[1], columns):
            block = picture[top : top + rows, left : left + columns]
            height, width = block.shape[:2]
            cv2.add(block, lighter[:height, :width], dst=block)
            cv2.subtract(block, darker[:height, :width], dst=block)


# Minimum depth of anything painted, as a share of the camera's distance to the table.
NEAREST = 0.2
# Beyond this multiple of the distance at the middle of the picture, the plane counts as reaching the horizon, where its
# extent is meaningless. A seat camera reaches 9 at most. Pictures with a horizon show details up to CLEAR.
_FARTHEST = 12.0
CLEAR = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Projection of a camera at a fixed position.

    Attributes:
        matrix: Projection, shape (3, 4), from (x, y, z, 1) in millimetres to pixels. x points right, y down the
            picture, z up from the table.
        lens: Radial distortion, as in `CameraLook`.
    """

    matrix: NDArray[np.float64]
    center_px: tuple[float, float]
    lens: float

    def project(self, points_mm: Points, height_mm: float) -> Points:
        """Return the undistorted picture positions of points at the same height, shape (N, 2)."""
        points = points_mm @ self.matrix[:, :2].T + (self.matrix[:, 2] * height_mm + self.matrix[:, 3])
        flat: Points = points[:, :2] / points[:, 2:]
        return flat

    def cut_near(self, outline_mm: Points, height_mm: float) -> Points:
        """Clip an outline at the given height, shape (N, 2), to the part farther than `NEAREST` from the camera.

        Points behind the camera have no projection. The result may be empty.
        """
        depth = outline_mm @ self.matrix[2, :2] + (self.matrix[2, 2] * height_mm + self.matrix[2, 3])
        depth = depth - NEAREST * self.matrix[2, 3]
        if (depth > 0).all():
            return outline_mm
        following, next_depth = np.roll(outline_mm, -1, axis=0), np.roll(depth, -1)
        crosses = (depth > 0) != (next_depth > 0)
        share = (depth / np.where(crosses, depth - next_depth, 1.0))[:, None]
        crossings = (outline_mm + share * (following - outline_mm))[crosses]
        return np.concatenate([outline_mm[depth > 0], crossings])

    def frame_mm(self, width_px: int, height_px: int, height_mm: float) -> Points:
        """Return the outline of the visible part of the plane at *height_mm*, shape (N, 2).

        If the picture shows the horizon, the outline ends at `CLEAR` times the distance of the picture's middle.
        """
        frame = np.array([[0, 0], [width_px, 0], [width_px, height_px], [0, height_px]], dtype=np.float64)
        to_plane = np.linalg.inv(self.plane(height_mm))
        if self.shows_horizon(width_px, height_px, height_mm):
            nearness = self.nearness(frame, height_mm)
            following, next_nearness = np.roll(frame, -1, axis=0), np.roll(nearness, -1)
            crosses = (nearness > 1 / CLEAR) != (next_nearness > 1 / CLEAR)
            share = (nearness - 1 / CLEAR) / np.where(crosses, nearness - next_nearness, 1.0)
            crossings = (frame + share[:, None] * (following - frame))[crosses]
            hull = cv2.convexHull(np.concatenate([frame[nearness > 1 / CLEAR], crossings]).astype(np.float32))
            frame = hull[:, 0].astype(np.float64)
        outline: Points = cv2.perspectiveTransform(frame[None], to_plane)[0].astype(np.float64, copy=False)
        return outline

    def shows_horizon(self, width_px: int, height_px: int, height_mm: float) -> bool:
        """Return True if a corner of the picture is near or above the horizon of the plane at *height_mm*."""
        frame = np.array([[0, 0], [width_px, 0], [width_px, height_px], [0, height_px]], dtype=np.float64)
        return bool((self.nearness(frame, height_mm) < 1 / _FARTHEST).any())

    def nearness(self, points_px: Points, height_mm: float) -> NDArray[np.float64]:
        """Return the inverse relative depth of the plane at *height_mm* for picture points of shape (N, 2).

        1 is the depth at the middle of the picture, 0.5 is twice as far, 0 is the horizon, and less is above it.
        """
        row = np.linalg.inv(self.plane(height_mm))[2]
        near: NDArray[np.float64] = (points_px @ row[:2] + row[2]) / (np.asarray(self.center_px) @ row[:2] + row[2])
        return near

    def plane(self, height_mm: float) -> NDArray[np.float64]:
        """Return the homography, shape (3, 3), from the plane at *height_mm* to undistorted pixels."""
        return np.column_stack(
            [self.matrix[:, 0], self.matrix[:, 1], height_mm * self.matrix[:, 2] + self.matrix[:, 3]]
        )

    def camera_mm(self) -> NDArray[np.float64]:
        """Return the camera position, shape (3,): x, y and height over the table."""
        position: NDArray[np.float64] = -np.linalg.inv(self.matrix[:, :3]) @ self.matrix[:, 3]
        return position

    def nadir_mm(self) -> tuple[float, float]:
        """Return the point of the table directly below the camera."""
        position = self.camera_mm()
        return (float(position[0]), float(position[1]))

    def slant(self, points_mm: Points) -> float:
        """Return the tangent of the viewing angle from the vertical, at the mean of table points of shape (N, 2)."""
        position = self.camera_mm()
        return float(np.linalg.norm(points_mm.mean(axis=0) - position[:2]) / position[2])

    def distort(self, points_px: Points) -> Points:
        """Apply the lens distortion to points of the pinhole picture, shape (N, 2)."""
        if self.lens == 0.0:
            return points_px
        center = np.asarray(self.center_px)
        diagonal_px = math.hypot(*self.center_px)
        offset = (points_px - center) / diagonal_px
        source = np.linalg.norm(offset, axis=1) / self._zoom
        radius = source.copy()
        for _ in range(6):  # Newton converges to 1e-12 in 5 steps for |lens| <= 0.1
            radius -= (radius + self.lens * radius**3 - source) / (1 + 3 * self.lens * radius**2)
        factor = np.where(source > 1e-12, radius / np.maximum(source, 1e-12), 1.0) / self._zoom
        distorted: Points = center + offset * factor[:, None] * diagonal_px
        return distorted

    @property
    def _zoom(self) -> float:
        return 1.0 / (1.0 + max(self.lens, 0.0))

    def lens_maps(self, width_px: int, height_px: int) -> tuple[NDArray[np.int16], NDArray[np.uint16]]:
        """Return the `cv2.remap` maps that apply the lens distortion to the pinhole picture."""
        diagonal_px = math.hypot(*self.center_px)
        center_x, center_y = self.center_px
        target = np.array([[diagonal_px, 0, center_x], [0, diagonal_px, center_y], [0, 0, 1]])
        source = target.copy()
        source[0, 0] = source[1, 1] = diagonal_px * self._zoom
        lens = np.array([self.lens, 0.0, 0.0, 0.0])
        return cv2.initUndistortRectifyMap(source, lens, np.eye(3), target, (width_px, height_px), cv2.CV_16SC2)  # type: ignore[return-value]  # untyped arrays in the stub


def view_of(camera: CameraLook) -> View:
    """Return the view of *camera*, whose optical axis meets the table at (0, 0)."""
    distance_mm = camera.width_px / camera.px_per_mm / (2 * math.tan(camera.fov_rad / 2))
    focal_px = camera.px_per_mm * distance_mm
    tilt_cos, tilt_sin = math.cos(camera.tilt_rad), math.sin(camera.tilt_rad)
    roll_cos, roll_sin = math.cos(camera.roll_rad), math.sin(camera.roll_rad)
    to_camera = np.array(
        [[1.0, 0.0, 0.0, 0.0], [0.0, tilt_cos, -tilt_sin, 0.0], [0.0, -tilt_sin, -tilt_cos, distance_mm]]
    )
    center_px = ((camera.width_px - 1) / 2, (camera.height_px - 1) / 2)
    to_pixels = np.array(
        [
            [focal_px * roll_cos, -focal_px * roll_sin, center_px[0]],
            [focal_px * roll_sin, focal_px * roll_cos, center_px[1]],
            [0.0, 0.0, 1.0],
        ]
    )
    return View(to_pixels @ to_camera, center_px, camera.lens)


# Targets of a Raspberry Pi camera's automatic exposure, as shares of a pixel's full well: the mean of the picture, and
# the lower and upper bound for the brightest 2 %. `hardware.camera.picamera` requests the same constraint
# (libcamera, src/ipa/rpi/vc4/data/imx708.json, rpi.agc, constraint "highlight").
_MEAN_TARGET = 0.16
_HIGHLIGHT_SHARE = 0.02
_MIN_HIGHLIGHT = 0.2
_MAX_HIGHLIGHT = 0.8
_GAMMA = 2.2
# White (255) under neutral light (128).
_WHITE = 255 * 128
# Bloom is computed on a picture reduced by this factor. Its inner radius is in reduced pixels, its outer radius in
# picture widths.
_BLOOM_REDUCTION = 8
_INNER_BLOOM_PX = 1.2
_OUTER_BLOOM = 1 / 160


def _exposure_gain(lit: NDArray[np.uint16], camera: CameraLook) -> float:
    """Return the gain of the camera's automatic exposure for a lit scene. 1 without metering."""
    if camera.metering == 0:
        return 1.0
    grey = cv2.cvtColor(np.ascontiguousarray(lit[::8, ::8]), cv2.COLOR_BGR2GRAY)
    light = np.sort((grey.ravel() / _WHITE) ** _GAMMA) + 1e-4
    highlight = light[-max(1, round(_HIGHLIGHT_SHARE * len(light))) :].mean()
    gain = min(max(_MEAN_TARGET / light.mean(), _MIN_HIGHLIGHT / highlight), _MAX_HIGHLIGHT / highlight)
    return float(gain ** (camera.metering / _GAMMA))


def expose(picture: Image, field: Image, light: LightLook, camera: CameraLook) -> Image:
    """Return *picture* lit by *field* (128 = unchanged), with colour cast, exposure and contrast applied.

    Light can reach the sensor at up to twice the level of white. Nothing is clipped before exposure.
    """
    lit = np.multiply(picture, field, dtype=np.uint16)
    gain = light.exposure * _exposure_gain(lit, camera)
    blue, green, red = (
        _tone(gain * cast, light.contrast)[lit[..., channel]] for channel, cast in enumerate(light.cast_bgr)
    )
    return cv2.merge([blue, green, red]).astype(np.uint8, copy=False)


@lru_cache(maxsize=6)
def _tone(gain: float, contrast: float) -> NDArray[np.uint8]:
    """Return the tone curve, shape (65536,): *gain*, then *contrast*, with a soft shoulder near white."""
    tone = (np.arange(2**16) / _WHITE * gain) ** contrast
    shoulder = np.where(tone > 0.85, 0.85 + 0.15 * np.tanh((tone - 0.85) / 0.15), tone)
    return np.round(shoulder * 255).astype(np.uint8)


def _motion_kernel(length_px: float, angle_rad: float) -> NDArray[np.float32]:
    """Return a line of *length_px* as a convolution kernel with sum 1."""
    side = math.ceil(length_px / 2) * 2 + 1
    kernel = np.zeros((side, side), np.float32)
    middle = (side - 1) / 2
    step = np.array([math.cos(angle_rad), math.sin(angle_rad)]) * length_px / 2
    ends = np.round((np.array([middle - step, middle + step])) * 16).astype(int)
    cv2.line(kernel, tuple(ends[0].tolist()), tuple(ends[1].tolist()), 1.0, 1, cv2.LINE_8, 4)
    total: NDArray[np.float32] = kernel / max(float(kernel.sum()), 1e-6)
    return total


def _with_bloom(picture: Image, share: float) -> Image:
    """Return *picture* with *share* of its light spread by the lens, half over a small and half over a large radius."""
    # Grey levels are treated as square roots of light, which is close enough to `_GAMMA`.
    height, width = picture.shape[:2]
    small_px = (max(2, width // _BLOOM_REDUCTION), max(2, height // _BLOOM_REDUCTION))
    small = cv2.resize(picture, small_px, interpolation=cv2.INTER_AREA).astype(np.float32)
    sigmas_px = (_INNER_BLOOM_PX, max(2.0, width * _OUTER_BLOOM))
    inner, outer = (cv2.GaussianBlur(small * small, (0, 0), sigma_px) for sigma_px in sigmas_px)
    spread = cv2.resize((inner + outer) * np.float32(share / 2), (width, height), interpolation=cv2.INTER_LINEAR)
    direct = picture.astype(np.float32)
    direct *= direct
    direct *= np.float32(1 - share)
    return cv2.convertScaleAbs(cv2.sqrt(direct + spread)).astype(np.uint8, copy=False)


def take(picture: Image, camera: CameraLook, view: View, rng: np.random.Generator) -> Image:
    """Return the picture that *camera* delivers for a pinhole picture."""
    height, width = picture.shape[:2]
    if camera.lens != 0:
        map_x, map_y = view.lens_maps(width, height)
        picture = cv2.remap(picture, map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE).astype(
            np.uint8, copy=False
        )
    if camera.fringe_px > 0:
        height, width = picture.shape[:2]
        grow = camera.fringe_px / math.hypot(width / 2, height / 2)
        channels = list(cv2.split(picture))
        for channel, factor in ((0, 1 - grow), (2, 1 + grow)):
            scaling = np.array(
                [[factor, 0, (1 - factor) * (width - 1) / 2], [0, factor, (1 - factor) * (height - 1) / 2]], np.float64
            )
            channels[channel] = cv2.warpAffine(
                channels[channel], scaling, (width, height), borderMode=cv2.BORDER_REPLICATE
            )
        picture = cv2.merge(channels).astype(np.uint8, copy=False)
    if camera.bloom > 0:
        picture = _with_bloom(picture, camera.bloom)
    if camera.motion_px > 1:
        picture = cv2.filter2D(picture, -1, _motion_kernel(camera.motion_px, camera.motion_rad)).astype(
            np.uint8, copy=False
        )
    if camera.blur_px > 0.2:
        picture = cv2.GaussianBlur(picture, (0, 0), camera.blur_px).astype(np.uint8, copy=False)
    if camera.noise > 0:
        # Sensor noise is stronger in brightness than in colour.
        side = 160  # side of the tiled patch; independent noise for every pixel would take 40 ms
        patch = rng.standard_normal((side, side, 3), dtype=np.float32)
        patch = np.float32(0.75) * patch[..., :1] + np.float32(0.65) * patch
        if camera.noise_grain_px > 0:
            patch = cv2.GaussianBlur(patch, (0, 0), camera.noise_grain_px) * (1 + 3.0 * camera.noise_grain_px)
        add_repeated(picture, patch * np.float32(camera.noise))
    if camera.sharpen > 0:
        soft = cv2.GaussianBlur(picture, (5, 5), 1.1)
        picture = cv2.addWeighted(picture, 1 + camera.sharpen, soft, -camera.sharpen, 0).astype(np.uint8, copy=False)
    if camera.jpeg_quality is not None:
        _, code = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, camera.jpeg_quality])
        decoded = cv2.imdecode(code, cv2.IMREAD_COLOR)
        assert decoded is not None  # just encoded, so it can be decoded
        picture = decoded.astype(np.uint8, copy=False)
    return picture


# Shadows, light falloff across a scene, and reflections of lamps.


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A body that casts a shadow.

    Attributes:
        outline_mm: Convex outline on the table, shape (N, 2).
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
        stains = np.clip(cloud(rng, rows, columns, columns / 5) + 1, 0, 3)
        shade *= 1 - np.float32(0.09 * scene.table.unevenness) * stains
    if scene.table.folds > 0:
        shade *= _folds(scene.table.folds, shade.shape, light, rng)
    field = cv2.resize(cv2.convertScaleAbs(shade, alpha=255), (width, height), interpolation=cv2.INTER_LINEAR)
    return cv2.multiply(picture, cv2.merge([field, field, field]), scale=1 / 255).astype(np.uint8, copy=False)


def _folds(strength: float, shape: tuple[int, ...], light: LightLook, rng: np.random.Generator) -> FloatImage:
    """Return the brightness of a cloth with ironing creases and soft waves, lit from one side."""
    rows, columns = shape[0], shape[1]
    waves = cloud(rng, rows, columns, columns / rng.uniform(3, 8))
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
    return (np.linspace(-1, 1, columns, dtype=np.float32)[None, :], np.linspace(-1, 1, rows, dtype=np.float32)[:, None])


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
        edge = edge + 0.08 * cloud(rng, rows, columns, rows / 4)
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
    total *= 1 + 0.25 * cloud(rng, rows, columns, rows / 12)
    bright = np.clip(total * (255 * light.glare), 0, 255).astype(np.uint8)
    large: GreyImage = cv2.resize(bright, (shape[1], shape[0]), interpolation=cv2.INTER_LINEAR).astype(
        np.uint8, copy=False
    )
    return large
