"""Augmented crops of rendered tables for the detector: rotated, scaled, slanted and recoloured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import Image, Points
from vision.geometry.poses import Poses, sides_px

CROP_PX = 256
_SIDE_PX = (5.5, 110.0)
_ZOOM = (0.3, 2.0)


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPicture:
    """A picture and its tiles.

    Attributes:
        image: BGR, shape (H, W, 3).
        poses: Poses of the readable tiles, shape (N, 6).
        faces: `vision.networks.refiner.UP` or `DOWN` for each pose, shape (N,).
        unread_px: Outlines of tiles that are cut off, covered or on edge. Training ignores these areas.
    """

    image: Image
    poses: Poses
    faces: NDArray[np.int64]
    unread_px: tuple[Points, ...]


def draw_crop(rng: np.random.Generator, picture: LabelledPicture) -> LabelledPicture:
    """Return a random square crop of `CROP_PX` with a random warp and random changes of colour and quality."""
    warp = _warp(rng, picture)
    border = cv2.BORDER_CONSTANT if rng.random() < 0.5 else cv2.BORDER_REPLICATE
    image = cv2.warpPerspective(picture.image, warp, (CROP_PX, CROP_PX), flags=cv2.INTER_LINEAR, borderMode=border)
    poses = warp_poses(picture.poses, warp)
    inside = ((poses[:, :2] > 0) & (poses[:, :2] < CROP_PX - 1)).all(axis=1)
    unread = tuple(_projected(outline, warp) for outline in picture.unread_px)
    return LabelledPicture(_change_colors(rng, image), poses[inside], picture.faces[inside], unread)


def warp_poses(poses: Poses, warp: NDArray[np.float64]) -> Poses:
    """Apply a homography, shape (3, 3), to poses, shape (N, 6)."""
    center, u, v = poses[:, :2], poses[:, 2:4], poses[:, 4:]
    right, left, down, up = (_projected(center + offset, warp) for offset in (u, -u, v, -v))
    return np.column_stack([(right + left + down + up) / 4, (right - left) / 2, (down - up) / 2])


def _projected(points: Points, warp: NDArray[np.float64]) -> Points:
    if not len(points):
        return points
    return np.asarray(cv2.perspectiveTransform(points.reshape(-1, 1, 2).astype(np.float64), warp).reshape(-1, 2))


def _warp(rng: np.random.Generator, picture: LabelledPicture) -> NDArray[np.float64]:
    """Return a random homography from the picture to the crop: scaled, rotated, mirrored, squeezed and slanted."""
    height, width = picture.image.shape[:2]
    middle = rng.uniform(0.1, 0.9, 2) * (width, height)
    side = 30.0
    if len(picture.poses):
        side = float(np.median(sides_px(picture.poses)))
        if rng.random() < 0.92:
            middle = picture.poses[rng.integers(len(picture.poses)), :2]
    zoom = float(np.clip(np.exp(rng.uniform(*np.log(_SIDE_PX))) / side, *_ZOOM))
    turn = rng.uniform(-np.pi, np.pi) if rng.random() < 0.6 else rng.normal(0, 0.1)
    axis = rng.uniform(0, np.pi) if rng.random() < 0.3 else 0.0
    squeeze = rng.uniform(0.55, 1.0) if rng.random() < 0.3 else 1.0
    slant = rng.normal(0, 0.25 / CROP_PX, 2) if rng.random() < 0.5 else np.zeros(2)
    shift = CROP_PX / 2 + rng.uniform(-0.25, 0.25, 2) * CROP_PX
    flip = np.diag([rng.choice([-1.0, 1.0]), 1.0, 1.0])
    to_middle = np.array([[1, 0, -middle[0]], [0, 1, -middle[1]], [0, 0, 1.0]])
    squeezed = _turned(-axis) @ np.diag([1.0, squeeze, 1.0]) @ _turned(axis)
    slanted = np.array([[1, 0, 0], [0, 1, 0], [slant[0], slant[1], 1.0]])
    placed = np.array([[1, 0, shift[0]], [0, 1, shift[1]], [0, 0, 1.0]])
    return np.asarray(placed @ slanted @ squeezed @ _turned(turn) @ np.diag([zoom, zoom, 1.0]) @ flip @ to_middle)


def _turned(angle_rad: float) -> NDArray[np.float64]:
    cos, sin = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1.0]])


def _change_colors(rng: np.random.Generator, image: NDArray[np.generic]) -> Image:
    """Return the picture with random changes of colour, contrast, sharpness, noise and compression."""
    changes: list[tuple[float, Callable[[np.random.Generator, Image], Image]]] = [
        (0.15, _channels_swapped),
        (0.07, _grey),
        (0.04, _negative),
        (0.3, _faded),
        (0.15, _equalized),
        (0.7, _toned),
        (0.2, _softened),
        (0.35, _noisy),
        (0.25, _compressed),
    ]
    changed = np.asarray(image, np.uint8)
    for share, change in changes:
        if rng.random() < share:
            changed = np.asarray(change(rng, changed), np.uint8)
    return changed


def _channels_swapped(rng: np.random.Generator, image: Image) -> Image:
    return np.ascontiguousarray(image[..., rng.permutation(3)])


def _grey(_: np.random.Generator, image: Image) -> Image:
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.merge([grey, grey, grey]), np.uint8)


def _negative(_: np.random.Generator, image: Image) -> Image:
    return np.asarray(255 - image, np.uint8)


def _faded(rng: np.random.Generator, image: Image) -> Image:
    """Return the picture with less contrast, as in haze or soft light."""
    contrast, grey = rng.uniform(0.25, 0.8), rng.uniform(40, 215)
    return np.asarray(cv2.convertScaleAbs(image, alpha=contrast, beta=(1 - contrast) * grey), np.uint8)


def _equalized(rng: np.random.Generator, image: Image) -> Image:
    """Return the picture with local contrast equalisation, as in phone photos."""
    lightness, *colors = cv2.split(cv2.cvtColor(image, cv2.COLOR_BGR2LAB))
    equalized = cv2.createCLAHE(rng.uniform(1, 4), (4, 4)).apply(lightness)
    return np.asarray(cv2.cvtColor(cv2.merge([equalized, *colors]), cv2.COLOR_LAB2BGR), np.uint8)


def _toned(rng: np.random.Generator, image: Image) -> Image:
    level = np.linspace(0, 1, 256)[:, None] ** np.exp(rng.normal(0, 0.3))
    gain = np.exp(rng.normal(0, 0.1, 3) + rng.normal(0, 0.15))
    lift = rng.uniform(0, 0.15) if rng.random() < 0.3 else 0.0
    curve = np.clip(lift + (1 - lift) * level * gain, 0, 1) * 255
    return np.asarray(cv2.LUT(image, curve.astype(np.uint8)[None]), np.uint8)


def _softened(rng: np.random.Generator, image: Image) -> Image:
    return np.asarray(cv2.GaussianBlur(image, (0, 0), rng.uniform(0.4, 1.6)), np.uint8)


def _noisy(rng: np.random.Generator, image: Image) -> Image:
    noise = rng.standard_normal(image.shape, np.float32) * np.float32(rng.uniform(1, 9))
    return np.asarray(cv2.add(image, noise, dtype=cv2.CV_8U), np.uint8)


def _compressed(rng: np.random.Generator, image: Image) -> Image:
    _, encoded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(25, 80))])
    return np.asarray(cv2.imdecode(encoded, cv2.IMREAD_COLOR), np.uint8)
