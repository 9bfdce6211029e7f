"""Find regions that differ from an earlier image, despite small camera motions and changes of light."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import Image, Motion, Points
from vision.errors import VisionError
from vision.geometry.poses import Poses, to_image

_LONG_SIDE_PX = 640
# Smaller differences in 8-bit colour are due to noise, JPEG and soft shadows.
_MIN_DIFFERENCE = 22
# Points of a tile's face at which changes are measured, in half-axes.
_FACE_UV = np.stack(np.meshgrid(np.linspace(-0.85, 0.85, 10), np.linspace(-0.8, 0.8, 5)), axis=-1).reshape(-1, 2)
_MAX_CORNERS, _MIN_CORNERS = 300, 12
# Share of corners that must agree on a motion, and their tolerance.
_MIN_AGREEMENT, _TRACKING_ERROR_PX = 0.5, 1.0
_MAX_SHIFT = 0.1
_STILL = np.eye(2, 3)


class PictureSizeError(VisionError, ValueError):
    """An image has another size than the previous ones."""


@dataclass(frozen=True, slots=True, eq=False)
class TablePicture:
    """A small, smoothed image of the table, for comparison.

    Attributes:
        small: Shape (h, w, 3), BGR, at most 640 px long.
        scale: Size of a pixel of *small* in full-resolution pixels.
    """

    small: Image
    scale: float

    @classmethod
    def of(cls, image: Image) -> TablePicture:
        """Reduce a BGR image of shape (H, W, 3)."""
        scale = max(1.0, max(image.shape[:2]) / _LONG_SIDE_PX)
        size = (max(1, round(image.shape[1] / scale)), max(1, round(image.shape[0] / scale)))
        resized = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
        return cls(np.asarray(cv2.GaussianBlur(resized, (5, 5), 0), np.uint8), scale)

    def seen_by(self, motion: Motion) -> TablePicture:
        """Return the image after a *motion*, shape (2, 3), in full-resolution pixels."""
        if np.array_equal(motion, _STILL):
            return self
        return TablePicture(_warped(self.small, _scaled(motion, 1 / self.scale)), self.scale)

    def covered_by(self, other: TablePicture, where: NDArray[np.bool_]) -> TablePicture:
        """Return this image with the pixels of *other* at the mask *where*, shape (h, w)."""
        return TablePicture(np.asarray(cv2.copyTo(other.small, where.view(np.uint8), self.small.copy())), self.scale)


@dataclass(frozen=True, slots=True, eq=False)
class PictureDifference:
    """Difference between two images of a table.

    Attributes:
        mask: Mask of changed pixels, shape (h, w).
        motion: Motion from the earlier to the later image, shape (2, 3), in full-resolution pixels.
        scale: Size of a pixel of the mask in full-resolution pixels.
    """

    mask: NDArray[np.bool_]
    motion: Motion
    scale: float

    def share(self, poses: Poses) -> NDArray[np.float64]:
        """Return the changed fraction of the less changed half of each tile in the later image, shape (N,).

        A tile that appears or disappears changes both halves. A shadow, or a marker on a printed domino, rarely does.
        """
        return np.asarray(self.halves_within(self.mask, poses).min(axis=1))

    @property
    def box_px(self) -> tuple[float, float, float, float] | None:
        """Bounding box of the changes in full-resolution pixels: left, top, right and bottom. None if only specks."""
        solid = cv2.erode(self.mask.view(np.uint8), np.ones((3, 3), np.uint8))
        x, y, width, height = cv2.boundingRect(solid)
        if width == 0:
            return None
        left, top, right, bottom = (np.array([x - 1, y - 1, x + width + 1, y + height + 1]) * self.scale).tolist()
        return (left, top, right, bottom)

    def halves_within(self, mask: NDArray[np.bool_], poses: Poses) -> NDArray[np.float64]:
        """Return the fraction of each half that is inside *mask*, which has the shape of `self.mask`. Shape (N, 2)."""
        points = np.round((to_image(poses, _FACE_UV) + 0.5) / self.scale - 0.5).astype(int)
        height, width = mask.shape
        x, y = np.clip(points[..., 0], 0, width - 1), np.clip(points[..., 1], 0, height - 1)
        within, first = mask[y, x], _FACE_UV[:, 0] < 0
        return np.column_stack([within[:, first].mean(axis=1), within[:, ~first].mean(axis=1)])

    def moved(self, points: Points) -> Points:
        """Map points of the earlier image, shape (..., 2), to the later one."""
        return np.asarray(points @ self.motion[:, :2].T + self.motion[:, 2])


def differences_between(before: TablePicture, after: TablePicture, motion: Motion | None = None) -> PictureDifference:
    """Compare two images of a table.

    Args:
        before: Earlier image.
        after: Later image.
        motion: Known image motion, shape (2, 3), in full-resolution pixels. None to estimate it.

    Raises:
        PictureSizeError: If the images differ in size.
    """
    if before.small.shape != after.small.shape:
        raise PictureSizeError(
            f"pictures must have the same size, but got {before.small.shape} and {after.small.shape}"
        )
    if motion is None:
        motion = _scaled(_camera_motion(before.small, after.small), before.scale)
    aligned = before.seen_by(motion).small
    # A pixel counts as changed only if none of its neighbours explains it, because alignment is accurate to one pixel.
    around = np.ones((3, 3), np.uint8)
    brightest, darkest = _limits(aligned, after.small)
    outside = (after.small > cv2.LUT(cv2.dilate(aligned, around), brightest)) | (
        after.small < cv2.LUT(cv2.erode(aligned, around), darkest)
    )
    return PictureDifference(outside[..., 0] | outside[..., 1] | outside[..., 2], motion, before.scale)


def _limits(before: Image, after: Image) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return the maximum and minimum unchanged value for each value of *before*, in the light of *after*.

    They are look-up tables of shape (1, 256, 3), which are ten times as fast as computing each pixel.
    """
    ratios = (after[::3, ::3] + np.float32(8)) / (before[::3, ::3] + np.float32(8))
    gain = np.array([np.median(np.ascontiguousarray(ratios[..., channel])) for channel in range(3)], np.float64)
    expected = (np.arange(256)[:, None] + 8.0) * gain - 8  # shape (256, 3)
    brightest = np.clip(np.floor(expected + _MIN_DIFFERENCE), -1, 255)
    darkest = np.clip(np.ceil(expected - _MIN_DIFFERENCE), 0, 256)
    return brightest[None].astype(np.int16), darkest[None].astype(np.int16)


def _warped(picture: Image, motion: Motion) -> Image:
    size = (picture.shape[1], picture.shape[0])
    return np.asarray(cv2.warpAffine(picture, motion, size, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def _scaled(motion: Motion, scale: float) -> Motion:
    """Convert a motion, shape (2, 3), to pixels of 1 / *scale* the size."""
    return np.asarray(motion * np.array([1.0, 1.0, scale]))


def _camera_motion(before: Image, after: Image) -> NDArray[np.float64]:
    """Estimate the affine motion of the whole image, shape (2, 3). The identity if too few corners agree."""
    first, second = (cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY) for picture in (before, after))
    corners = np.asarray(cv2.goodFeaturesToTrack(first, _MAX_CORNERS, 0.02, 8))  # size 0 if there are none
    if corners.size < 2 * _MIN_CORNERS:
        return _STILL
    tracked, found, _ = cv2.calcOpticalFlowPyrLK(first, second, corners, np.empty_like(corners))
    kept = found.ravel() == 1
    if kept.sum() < _MIN_CORNERS:
        return _STILL
    start, end = corners.reshape(-1, 2)[kept], tracked.reshape(-1, 2)[kept]
    motion, agreed = cv2.estimateAffine2D(start, end, ransacReprojThreshold=_TRACKING_ERROR_PX)
    if agreed.mean() < _MIN_AGREEMENT:
        return _STILL
    shift = np.abs(motion - _STILL)
    if shift[:, :2].max() > _MAX_SHIFT or shift[:, 2].max() > _MAX_SHIFT * max(before.shape):
        return _STILL
    return np.asarray(motion, np.float64)
