"""Detect pictures without new content, as from a covered lens or a hung driver. Pure."""

from __future__ import annotations

import cv2
import numpy as np

from hardware.camera.device import Blind, Picture, Pixels

SMALL_PX = (320, 180)
"""Width and height of the small grey picture in which light and faults are measured."""

# A picture is black if at least half of its pixels are at most _DARK, and at most 1 % exceed _DIM. Tiles in a dim room
# are brighter.
_DARK, _DIM, _MOST_DIM = 12, 32, 0.01
# Uniform pictures may repeat, because overexposed areas have no noise. This is their maximum range of grey levels.
_EVEN = 8


class Sight:
    """Compares each picture with the previous one. Sensor noise makes any two pictures differ.

    On a still table at least 28 % of the pixels differ with a usual webcam. With a tenth of its noise and strong JPEG
    compression (quality 30) it is still 3 %.
    """

    def __init__(self) -> None:
        self._before: Pixels | None = None

    def after(self, picture: Picture) -> Blind | None:
        """Return the reason why *picture* shows nothing new compared with the previous one, or None if it does."""
        before, self._before = self._before, picture.grey
        if is_black(picture.grey):
            return Blind.BLACK
        is_same = before is not None and np.array_equal(before, picture.grey)
        return Blind.SAME if is_same and int(np.ptp(picture.grey)) > _EVEN else None


def reduced_to_grey(image: Pixels) -> Pixels:
    """Reduce a BGR picture to the small grey picture."""
    small = cv2.resize(image, SMALL_PX, interpolation=cv2.INTER_NEAREST)
    return np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), np.uint8)


def is_black(grey: Pixels) -> bool:
    """Return True if a grey picture of shape (h, w) is black."""
    dark, dim = np.count_nonzero(grey > _DARK), np.count_nonzero(grey > _DIM)
    return bool(2 * dark <= grey.size and dim <= _MOST_DIM * grey.size)
