"""Camera pose relative to the first picture of the table."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import Image, Motion

AlignmentNumbers = tuple[float, float, float, float, float, float]
"""The numbers of an affine map, row by row."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Where the camera points: what takes places of the first picture to where they appear now.

    Attributes:
        numbers: Of the map, row by row: x' = a x + b y + c, y' = d x + e y + f, in pixels.
    """

    numbers: AlignmentNumbers = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)

    @classmethod
    def of(cls, motion: Motion) -> Alignment:
        """Return the aim of a motion of the picture, shape (2, 3); rounded, so that a recording holds all of it."""
        a, b, c, d, e, f = motion.ravel().tolist()
        return cls((round(a, 7), round(b, 7), round(c, 4), round(d, 7), round(e, 7), round(f, 4)))

    @property
    def motion(self) -> Motion:
        """The map, shape (2, 3)."""
        return np.array(self.numbers, np.float64).reshape(2, 3)

    @property
    def is_straight(self) -> bool:
        """Whether the camera points as it did at the start."""
        return self == STRAIGHT_ON

    @property
    def degrees(self) -> float:
        """How far it is turned, clockwise as the picture shows it."""
        return math.degrees(math.atan2(self.numbers[3], self.numbers[0]))

    def shift_px(self, size_px: tuple[int, int]) -> float:
        """Return how far the middle of a picture of such a size has moved."""
        middle = np.array([size_px[0] / 2, size_px[1] / 2])
        return float(np.linalg.norm(self.motion[:, :2] @ middle + self.motion[:, 2] - middle))

    def farthest_px(self, other: Alignment, size_px: tuple[int, int]) -> float:
        """Return how far apart the two put a corner of a picture of such a size, at most."""
        width, height = size_px
        corners = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1]], np.float64)
        return float(np.linalg.norm(corners @ (self.motion - other.motion).T, axis=1).max())

    def since(self, other: Alignment) -> Motion:
        """Return what takes places of the picture at the *other* aim to where they appear at this one, shape (2, 3)."""
        back = np.linalg.inv(np.vstack([other.motion, [0.0, 0.0, 1.0]]))
        return np.asarray(self.motion @ back)

    def straightened(self, image: Image) -> Image:
        """Return a picture as the camera would show it had it never moved; what it does not show is smeared."""
        if self.is_straight:
            return image
        size = (image.shape[1], image.shape[0])
        how = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
        return np.asarray(
            cv2.warpAffine(image, self.motion, size, flags=how, borderMode=cv2.BORDER_REPLICATE), np.uint8
        )

    def unseen(self, shape: tuple[int, int], scale: float) -> NDArray[np.bool_]:
        """Return what of the first picture the camera does not show now.

        Args:
            shape: Height and width of the answer.
            scale: Size of its pixel in pixels of the picture.
        """
        nothing = np.zeros(shape, np.bool_)
        if self.is_straight:
            return nothing
        motion = self.motion * np.array([1.0, 1.0, 1 / scale])
        how = cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
        shown = cv2.warpAffine(np.ones(shape, np.uint8), motion, shape[::-1], flags=how, borderValue=(0,))
        return np.asarray(cv2.erode(shown, np.ones((3, 3), np.uint8), borderValue=(1,)) == 0)


STRAIGHT_ON = Alignment()
"""As at the start."""
