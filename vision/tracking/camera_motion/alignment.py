"""Camera alignment relative to the first image of the table."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import Image, Motion

AlignmentNumbers = tuple[float, float, float, float, float, float]
"""Coefficients of an affine map, row by row."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Affine map from the first image to the current one.

    Attributes:
        numbers: Coefficients (a, b, c, d, e, f) of x' = a x + b y + c and y' = d x + e y + f, in pixels.
    """

    numbers: AlignmentNumbers = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)

    @classmethod
    def of(cls, motion: Motion) -> Alignment:
        """Return the alignment for an image motion, shape (2, 3). Rounded as in recordings, to replay identically."""
        a, b, c, d, e, f = motion.ravel().tolist()
        return cls((round(a, 7), round(b, 7), round(c, 4), round(d, 7), round(e, 7), round(f, 4)))

    @property
    def motion(self) -> Motion:
        """The map, shape (2, 3)."""
        return np.array(self.numbers, np.float64).reshape(2, 3)

    @property
    def is_straight(self) -> bool:
        """True if the camera has not moved since the first image."""
        return self == STRAIGHT_ON

    @property
    def degrees(self) -> float:
        """Rotation in degrees, clockwise in the image."""
        return math.degrees(math.atan2(self.numbers[3], self.numbers[0]))

    def shift_px(self, size_px: tuple[int, int]) -> float:
        """Return the displacement of the centre of an image of this size, in pixels."""
        middle = np.array([size_px[0] / 2, size_px[1] / 2])
        return float(np.linalg.norm(self.motion[:, :2] @ middle + self.motion[:, 2] - middle))

    def farthest_px(self, other: Alignment, size_px: tuple[int, int]) -> float:
        """Return the maximum distance between the two alignments at the corners of an image of this size, in pixels."""
        width, height = size_px
        corners = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1]], np.float64)
        return float(np.linalg.norm(corners @ (self.motion - other.motion).T, axis=1).max())

    def since(self, other: Alignment) -> Motion:
        """Return the image motion from the *other* alignment to this one, shape (2, 3)."""
        back = np.linalg.inv(np.vstack([other.motion, [0.0, 0.0, 1.0]]))
        return np.asarray(self.motion @ back)

    def straightened(self, image: Image) -> Image:
        """Warp an image to the coordinates of the first one. Regions outside the image repeat its border pixels."""
        if self.is_straight:
            return image
        size = (image.shape[1], image.shape[0])
        how = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
        return np.asarray(
            cv2.warpAffine(image, self.motion, size, flags=how, borderMode=cv2.BORDER_REPLICATE), np.uint8
        )

    def unseen(self, shape: tuple[int, int], scale: float) -> NDArray[np.bool_]:
        """Return a mask of the parts of the first image that are outside the current one.

        Args:
            shape: Height and width of the mask.
            scale: Size of a pixel of the mask in full-resolution pixels.
        """
        nothing = np.zeros(shape, np.bool_)
        if self.is_straight:
            return nothing
        motion = self.motion * np.array([1.0, 1.0, 1 / scale])
        how = cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
        shown = cv2.warpAffine(np.ones(shape, np.uint8), motion, shape[::-1], flags=how, borderValue=(0,))
        return np.asarray(cv2.erode(shown, np.ones((3, 3), np.uint8), borderValue=(1,)) == 0)


STRAIGHT_ON = Alignment()
"""Alignment of a camera that has not moved."""
