"""Detect pictures without new content: a covered lens or a driver that hangs. Pure."""

from __future__ import annotations

import numpy as np

from hardware.camera.device import Blind, Picture, Pixels

# In a picture that is black half is as dark as this, and hardly anything brighter than that. Tiles in a dim room are.
_DARK, _DIM, _MOST_DIM = 12, 32, 0.01
# A picture without anything on it may be the same as the one before: what is too bright has no noise.
_EVEN = 8


class Sight:
    """Compares each picture with the one before; two of a sensor are never the same, for they have noise.

    Of a still table 3 % of the samples differ where the noise is a tenth of a grey level and JPEG leaves little of it
    (quality 30); a usual webcam has ten times that noise, and 28 % and more differ.
    """

    def __init__(self) -> None:
        """Have seen nothing."""
        self._before: Pixels | None = None

    def after(self, picture: Picture) -> Blind | None:
        """Return why a picture shows nothing new; None where it does."""
        before, self._before = self._before, picture.grey
        if is_black(picture.grey):
            return Blind.BLACK
        is_same = before is not None and np.array_equal(before, picture.grey)
        return Blind.SAME if is_same and int(np.ptp(picture.grey)) > _EVEN else None


def is_black(grey: Pixels) -> bool:
    """Return whether a grey picture shows nothing at all; shape (h, w)."""
    dark, dim = np.count_nonzero(grey > _DARK), np.count_nonzero(grey > _DIM)
    return bool(2 * dark <= grey.size and dim <= _MOST_DIM * grey.size)
