"""Apply camera effects to a picture: tone, lens, blur, sharpening, noise and compression."""

from __future__ import annotations

import math
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.render import noise
from synthetic.render.look_types import CameraLook, LightLook
from synthetic.render.view import View
from vision.arrays import Image

# Targets of a Raspberry Pi camera's automatic exposure, as shares of a pixel's full well: the mean of the picture, and
# the lower and upper bound for the brightest 2 %. `hardware.camera.picamera_light` requests the same constraint
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
