"""Apply the effects of a camera to a picture: tone, lens, blur, sharpening, noise and compression."""

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

# What the automatic exposure of a Raspberry Pi's camera aims at, in shares of the most light that a pixel holds: the
# mean, and the brightest fiftieth at least and at most, as `hardware.camera.picamera_light` asks for it (libcamera,
# src/ipa/rpi/vc4/data/imx708.json, rpi.agc, constraint "highlight").
_MEAN, _BRIGHTEST, _LEAST_BRIGHT, _MOST_BRIGHT = 0.16, 0.02, 0.2, 0.8
_GAMMA = 2.2
# White in a light that leaves it as it is: a level of 255 times 128.
_WHITE = 255 * 128
# How wide spread light is: near its source, in pixels of a picture so many times smaller, and far, in picture widths.
_SMALLER, _NEAR_PX, _FAR = 8, 1.2, 1 / 160


def _metered(lit: NDArray[np.uint16], camera: CameraLook) -> float:
    """Return the factor by which the camera's automatic exposure brightens or darkens what it sees."""
    if camera.metering == 0:
        return 1.0
    grey = cv2.cvtColor(np.ascontiguousarray(lit[::8, ::8]), cv2.COLOR_BGR2GRAY)
    light = np.sort((grey.ravel() / _WHITE) ** _GAMMA) + 1e-4
    brightest = light[-max(1, round(_BRIGHTEST * len(light))) :].mean()
    gain = min(max(_MEAN / light.mean(), _LEAST_BRIGHT / brightest), _MOST_BRIGHT / brightest)
    return float(gain ** (camera.metering / _GAMMA))


def expose(picture: Image, field: Image, light: LightLook, camera: CameraLook) -> Image:
    """Return *picture* in the light of *field* (128 = unchanged) with colour cast, exposure and contrast.

    What reaches the sensor can be up to twice as bright as white: nothing is cut off before the camera has exposed.
    """
    lit = np.multiply(picture, field, dtype=np.uint16)
    gain = light.exposure * _metered(lit, camera)
    blue, green, red = (
        _tone(gain * cast, light.contrast)[lit[..., channel]] for channel, cast in enumerate(light.cast_bgr)
    )
    return cv2.merge([blue, green, red]).astype(np.uint8, copy=False)


@lru_cache(maxsize=6)
def _tone(gain: float, contrast: float) -> NDArray[np.uint8]:
    """Return what the camera makes of each level, shape (65536,): brighter by *gain*, soft where it is nearly white."""
    tone = (np.arange(2**16) / _WHITE * gain) ** contrast
    shoulder = np.where(tone > 0.85, 0.85 + 0.15 * np.tanh((tone - 0.85) / 0.15), tone)
    return np.round(shoulder * 255).astype(np.uint8)


def _motion_kernel(length_px: float, angle_rad: float) -> NDArray[np.float32]:
    """Return a line of *length_px* as a kernel of sum 1."""
    side = math.ceil(length_px / 2) * 2 + 1
    kernel = np.zeros((side, side), np.float32)
    middle = (side - 1) / 2
    step = np.array([math.cos(angle_rad), math.sin(angle_rad)]) * length_px / 2
    ends = np.round((np.array([middle - step, middle + step])) * 16).astype(int)
    cv2.line(kernel, tuple(ends[0].tolist()), tuple(ends[1].tolist()), 1.0, 1, cv2.LINE_8, 4)
    total: NDArray[np.float32] = kernel / max(float(kernel.sum()), 1e-6)
    return total


def _add_noise(picture: Image, camera: CameraLook, rng: np.random.Generator) -> None:
    """Add sensor noise to *picture* in place, mostly of brightness and a little of colour."""
    side = 160  # repeats; fresh noise for every pixel would cost 40 ms
    patch = rng.standard_normal((side, side, 3), dtype=np.float32)
    patch = np.float32(0.75) * patch[..., :1] + np.float32(0.65) * patch
    if camera.noise_grain_px > 0:
        patch = cv2.GaussianBlur(patch, (0, 0), camera.noise_grain_px) * (1 + 3.0 * camera.noise_grain_px)
    noise.add_repeated(picture, patch * np.float32(camera.noise))


def _with_fringes(picture: Image, fringe_px: float) -> Image:
    """Return *picture* with red drawn a little larger and blue a little smaller than green."""
    height, width = picture.shape[:2]
    grow = fringe_px / math.hypot(width / 2, height / 2)
    channels = list(cv2.split(picture))
    for channel, factor in ((0, 1 - grow), (2, 1 + grow)):
        about = np.array(
            [[factor, 0, (1 - factor) * (width - 1) / 2], [0, factor, (1 - factor) * (height - 1) / 2]], np.float64
        )
        channels[channel] = cv2.warpAffine(channels[channel], about, (width, height), borderMode=cv2.BORDER_REPLICATE)
    return cv2.merge(channels).astype(np.uint8, copy=False)


def _with_bloom(picture: Image, share: float) -> Image:
    """Return *picture* with *share* of its light spread by the lens, half of it near, half of it far.

    Grey levels are taken for square roots of the light, which is near enough to `_GAMMA`.
    """
    height, width = picture.shape[:2]
    small_px = (max(2, width // _SMALLER), max(2, height // _SMALLER))
    small = cv2.resize(picture, small_px, interpolation=cv2.INTER_AREA).astype(np.float32)
    near, far = (cv2.GaussianBlur(small * small, (0, 0), width_px) for width_px in (_NEAR_PX, max(2.0, width * _FAR)))
    spread = cv2.resize((near + far) * np.float32(share / 2), (width, height), interpolation=cv2.INTER_LINEAR)
    straight = picture.astype(np.float32)
    straight *= straight
    straight *= np.float32(1 - share)
    return cv2.convertScaleAbs(cv2.sqrt(straight + spread)).astype(np.uint8, copy=False)


def take(picture: Image, camera: CameraLook, view: View, rng: np.random.Generator) -> Image:
    """Return the picture that *camera* delivers of the pinhole picture."""
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
        assert decoded is not None  # what was just encoded
        picture = decoded.astype(np.uint8, copy=False)
    return picture
