"""Camera model: a pinhole projection of the table, and effects of the camera: tone, lens, blur, noise, compression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.render import noise
from lab.render.look_types import CameraLook, LightLook
from vision.arrays import Image, Points

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
        center_px: Middle of the picture.
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
        [
            [1.0, 0.0, 0.0, 0.0],
            [0.0, tilt_cos, -tilt_sin, 0.0],
            [0.0, -tilt_sin, -tilt_cos, distance_mm],
        ]
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
_MEAN_TARGET, _HIGHLIGHT_SHARE, _MIN_HIGHLIGHT, _MAX_HIGHLIGHT = 0.16, 0.02, 0.2, 0.8
_GAMMA = 2.2
# White (255) under neutral light (128).
_WHITE = 255 * 128
# Bloom is computed on a picture reduced by this factor. Its inner radius is in reduced pixels, its outer radius in
# picture widths.
_BLOOM_REDUCTION, _INNER_BLOOM_PX, _OUTER_BLOOM = 8, 1.2, 1 / 160


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


def _add_noise(picture: Image, camera: CameraLook, rng: np.random.Generator) -> None:
    """Add sensor noise to *picture* in place, stronger in brightness than in colour."""
    side = 160  # side of the tiled patch; independent noise for every pixel would take 40 ms
    patch = rng.standard_normal((side, side, 3), dtype=np.float32)
    patch = np.float32(0.75) * patch[..., :1] + np.float32(0.65) * patch
    if camera.noise_grain_px > 0:
        patch = cv2.GaussianBlur(patch, (0, 0), camera.noise_grain_px) * (1 + 3.0 * camera.noise_grain_px)
    noise.add_repeated(picture, patch * np.float32(camera.noise))


def _with_fringes(picture: Image, fringe_px: float) -> Image:
    """Return *picture* with the red channel slightly enlarged and the blue channel slightly reduced."""
    height, width = picture.shape[:2]
    grow = fringe_px / math.hypot(width / 2, height / 2)
    channels = list(cv2.split(picture))
    for channel, factor in ((0, 1 - grow), (2, 1 + grow)):
        scaling = np.array(
            [[factor, 0, (1 - factor) * (width - 1) / 2], [0, factor, (1 - factor) * (height - 1) / 2]], np.float64
        )
        channels[channel] = cv2.warpAffine(channels[channel], scaling, (width, height), borderMode=cv2.BORDER_REPLICATE)
    return cv2.merge(channels).astype(np.uint8, copy=False)


def _with_bloom(picture: Image, share: float) -> Image:
    """Return *picture* with *share* of its light spread by the lens, half over a small and half over a large radius.

    Grey levels are treated as square roots of light, which is close enough to `_GAMMA`.
    """
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
        picture = _with_fringes(picture, camera.fringe_px)
    if camera.bloom > 0:
        picture = _with_bloom(picture, camera.bloom)
    if camera.motion_px > 1:
        picture = cv2.filter2D(picture, -1, _motion_kernel(camera.motion_px, camera.motion_rad)).astype(
            np.uint8, copy=False
        )
    if camera.blur_px > 0.2:
        picture = cv2.GaussianBlur(picture, (0, 0), camera.blur_px).astype(np.uint8, copy=False)
    if camera.noise > 0:
        _add_noise(picture, camera, rng)
    if camera.sharpen > 0:
        soft = cv2.GaussianBlur(picture, (5, 5), 1.1)
        picture = cv2.addWeighted(picture, 1 + camera.sharpen, soft, -camera.sharpen, 0).astype(np.uint8, copy=False)
    if camera.jpeg_quality is not None:
        _, code = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, camera.jpeg_quality])
        decoded = cv2.imdecode(code, cv2.IMREAD_COLOR)
        assert decoded is not None  # just encoded, so it can be decoded
        picture = decoded.astype(np.uint8, copy=False)
    return picture
