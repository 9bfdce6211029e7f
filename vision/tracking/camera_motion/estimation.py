"""Estimate camera motion from everything that stayed in place: tiles, print and the texture of the table.

Patches of the image are registered with a reference image by phase correlation of their fine detail. Patches that agree
on a rotation and translation give the camera motion. Hands and moved tiles do not agree and are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import GreyImage, Image, Motion
from vision.tracking.camera_motion.alignment import Alignment

Detail = NDArray[np.float32]

# Long sides of the images for the global search, for the usual comparison, and for the final estimate.
_COARSE_PX, _USUAL_PX, _FINE_PX = 320, 640, 1280
# Detail coarser than this is treated as light and shadow. Contrast is clipped, so that the edges of a few tiles do not
# outweigh the texture of the cloth.
_GRAIN_PX, _MOST_CONTRAST = 4.0, 0.15
_DARK = 8.0
# Size and spacing of patches, at the usual and at the fine resolution.
_PART_PX, _STEP_PX = {_USUAL_PX: 96, _FINE_PX: 128}, {_USUAL_PX: 64, _FINE_PX: 96}
# Minimum response of a patch. Correct matches on felt, walnut and linen reach 0.3 to 0.6, wrong ones 0.05.
_LEAST_RESPONSE = 0.1
# Tolerance for agreement, and minimum number and share of the usable patches that must agree.
_AGREES_PX, _LEAST_PARTS, _LEAST_SHARE = 1.5, 6, 0.35
# Rotations tried in the global search, and number of the best ones that are refined.
_TURNS_DEG, _REFINED_GUESSES = np.arange(-15.0, 15.25, 0.5), 4
_ROUNDS = 3
# Minimum correlation of the detail in agreeing patches: 0.3 to 0.6 for correct motions, below 0.1 for wrong ones.
_LEAST_LIKENESS = 0.15
# The camera has not moved if no corner of the image moved by more than this, in full-resolution pixels: in the usual
# comparison, and in the final estimate.
_SUSPECT_PX, _LEAST_MOVE_PX = 1.0, 1.25


class Agreement(Enum):
    """Result of an estimate: the camera is steady, it has moved, or the patches do not agree."""

    STEADY = "steady"
    MOVED = "moved"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class AlignmentEstimate:
    """Camera alignment estimated from an image.

    Attributes:
        agreement: Kind of result.
        aim: Estimated alignment if the camera has moved, otherwise the previous one.
        parts: Number of patches that agree.
    """

    agreement: Agreement
    aim: Alignment
    parts: int


@dataclass(frozen=True, slots=True, eq=False)
class Anchor:
    """Reference image of the table. Changed regions keep their first appearance after the change.

    Attributes:
        grey: Grey image, shape (h, w), at most 1280 px long.
        scale: Size of a pixel of *grey* in full-resolution pixels.
        usual: Fine detail of *grey* at the usual resolution.
    """

    grey: GreyImage
    scale: float
    usual: Detail

    @classmethod
    def of(cls, image: Image) -> Anchor:
        """Create a reference from a BGR image of shape (H, W, 3)."""
        scale = max(1.0, max(image.shape[:2]) / _FINE_PX)
        return cls._with(_grey(image, scale), scale)

    @classmethod
    def _with(cls, grey: GreyImage, scale: float) -> Anchor:
        return cls(grey, scale, _detail(grey, _USUAL_PX))

    def renewed(self, image: Image, where: NDArray[np.bool_]) -> Anchor:
        """Return the reference with the pixels of an aligned image at the mask *where*, of any resolution."""
        if not where.any():
            return self
        now = _grey(image, self.scale)
        there = cv2.resize(where.view(np.uint8), now.shape[::-1], interpolation=cv2.INTER_NEAREST)
        return Anchor._with(np.asarray(cv2.copyTo(now, there, self.grey.copy()), np.uint8), self.scale)

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height at full resolution."""
        height, width = self.grey.shape
        return round(width * self.scale), round(height * self.scale)


def estimate_alignment(anchor: Anchor, image: Image, before: Alignment) -> AlignmentEstimate:
    """Estimate the camera alignment of an image.

    Args:
        anchor: Reference image of the table.
        image: Shape (H, W, 3), BGR.
        before: Previous alignment.
    """
    now = _grey(image, anchor.scale)
    usual = _PicturePair.of(anchor, now, _USUAL_PX)
    near: _Fit | None = None
    for every in (2, 1):  # For a steady camera, every second patch is usually enough.
        near = usual.fit(before.motion, rounds=1, every=every)
        if near is not None and before.farthest_px(Alignment.of(near.motion), anchor.size_px) < _SUSPECT_PX:
            return AlignmentEstimate(Agreement.STEADY, before, near.parts)
    # Wood grain is self-similar, so a local match must also beat the best global one.
    fits = [near, *(usual.fit(guess, rounds=_ROUNDS) for guess in _PicturePair.of(anchor, now, _COARSE_PX).guesses())]
    best = max((fit for fit in fits if fit is not None), key=lambda fit: fit.likeness, default=None)
    if best is None:
        return AlignmentEstimate(Agreement.NONE, before, 0)
    best = _PicturePair.of(anchor, now, _FINE_PX).fit(best.motion, rounds=2) or best
    aim = Alignment.of(best.motion)
    if before.farthest_px(aim, anchor.size_px) < _LEAST_MOVE_PX:
        return AlignmentEstimate(Agreement.STEADY, before, best.parts)
    return AlignmentEstimate(Agreement.MOVED, aim, best.parts)


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """A motion, the number of patches that agree with it, and the correlation of their detail, -1 to 1."""

    motion: Motion
    parts: int
    likeness: float


@dataclass(frozen=True, slots=True, eq=False)
class _PicturePair:
    """Fine detail of the reference and of the current image, at one resolution.

    Attributes:
        before, now: Shape (h, w).
        scale: Size of a pixel in full-resolution pixels. Motions are in full-resolution pixels.
        long_px: Resolution, as the long side in pixels.
    """

    before: Detail
    now: Detail
    scale: float
    long_px: int

    @classmethod
    def of(cls, anchor: Anchor, now: GreyImage, long_px: int) -> _PicturePair:
        before = anchor.usual if long_px == _USUAL_PX else _detail(anchor.grey, long_px)
        return cls(before, _detail(now, long_px), _times_smaller(now, long_px) * anchor.scale, long_px)

    def fit(self, motion: Motion, *, rounds: int, every: int = 1) -> _Fit | None:
        """Refine a motion with all patches, or *every* n-th one. None if too few agree."""
        agreed = np.zeros(0, np.bool_)
        places = np.zeros((0, 2))
        for _ in range(rounds):
            places, shifts = self._shifts(motion, every)
            if len(places) < _LEAST_PARTS:
                return None
            fit, within = cv2.estimateAffinePartial2D(places, places + shifts, ransacReprojThreshold=_AGREES_PX)
            if within.sum() < max(_LEAST_PARTS, _LEAST_SHARE * len(places)):
                return None
            agreed = within.ravel() > 0
            motion = _after(fit * np.array([1.0, 1.0, self.scale]), motion)
        likeness = self._likeness(motion, places[agreed])
        return None if likeness < _LEAST_LIKENESS else _Fit(motion, int(agreed.sum()), likeness)

    def guesses(self) -> Iterator[Motion]:
        """Yield at most four likely motions of the whole image, best first, from a global search over rotations."""
        height, width = self.before.shape
        window = cv2.createHanningWindow((width, height), cv2.CV_32F)
        found: list[tuple[float, Motion]] = []
        for degrees in _TURNS_DEG.tolist():
            turn = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), -degrees, 1.0)
            shift, response = cv2.phaseCorrelate(self._turned(np.asarray(turn, np.float64)), self.now, window)
            found.append((response, turn + np.array([[0.0, 0.0, shift[0]], [0.0, 0.0, shift[1]]])))
        # Keep local maxima, because rotations next to a likely one respond too.
        peaks = [
            guess
            for at, guess in enumerate(found)
            if guess[0] == max(near for near, _ in found[max(0, at - 2) : at + 3])
        ]
        peaks.sort(key=lambda guess: -guess[0])
        for _, motion in peaks[:_REFINED_GUESSES]:
            yield np.asarray(motion * np.array([1.0, 1.0, self.scale]))

    def _turned(self, motion: Motion) -> Detail:
        return np.asarray(cv2.warpAffine(self.before, motion, self.before.shape[::-1]), np.float32)

    def _shifts(self, motion: Motion, every: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the centres of usable patches, and their residual shifts after a motion, shape (N, 2) each."""
        back, size = self._straightened(motion), self.before.shape[::-1]
        part, step = _PART_PX[self.long_px], _STEP_PX[self.long_px]
        window = cv2.createHanningWindow((part, part), cv2.CV_32F)
        places, shifts = [], []
        for row, y in enumerate(range(0, size[1] - part + 1, step)):
            for x in range(row % every * step, size[0] - part + 1, every * step):
                here = (slice(y, y + part), slice(x, x + part))
                shift, response = cv2.phaseCorrelate(self.before[here], back[here], window)
                if response > _LEAST_RESPONSE:
                    places.append((x + part / 2, y + part / 2))
                    shifts.append(shift)
        return np.array(places, np.float64).reshape(-1, 2), np.array(shifts, np.float64).reshape(-1, 2)

    def _likeness(self, motion: Motion, places: NDArray[np.float64]) -> float:
        """Return the correlation of the detail in patches, given by their centres, after a motion."""
        back, half = self._straightened(motion), _PART_PX[self.long_px] // 2
        among = np.zeros(self.before.shape, np.bool_)
        for x, y in places.astype(int).tolist():
            among[y - half : y + half, x - half : x + half] = True
        reference, current = self.before[among].astype(np.float64), back[among].astype(np.float64)
        strength = float(np.sqrt((reference @ reference) * (current @ current)))
        return float(reference @ current) / strength if strength else 0.0

    def _straightened(self, motion: Motion) -> Detail:
        """Return the current image with a motion undone. The motion is in full-resolution pixels."""
        own = motion * np.array([1.0, 1.0, 1 / self.scale])
        how = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        return np.asarray(cv2.warpAffine(self.now, own, self.before.shape[::-1], flags=how), np.float32)


def _grey(image: Image, scale: float) -> GreyImage:
    size = (max(1, round(image.shape[1] / scale)), max(1, round(image.shape[0] / scale)))
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_AREA), np.uint8)


def _times_smaller(grey: GreyImage, long_px: int) -> float:
    """Return the factor that reduces the long side of an image to at most *long_px*."""
    return max(1.0, float(max(grey.shape)) / long_px)


def _detail(grey: GreyImage, long_px: int) -> Detail:
    """Return the fine detail of an image at a resolution, as relative brightness without light and shadow."""
    by = _times_smaller(grey, long_px)
    size = (round(grey.shape[1] / by), round(grey.shape[0] / by))
    logs = cv2.log(cv2.resize(grey, size, interpolation=cv2.INTER_AREA).astype(np.float32) + np.float32(_DARK))
    fine = logs - cv2.GaussianBlur(logs, (0, 0), _GRAIN_PX)
    return np.asarray(np.clip(fine, -_MOST_CONTRAST, _MOST_CONTRAST), np.float32)


def _after(first: Motion, then: Motion) -> Motion:
    """Return the composition of two motions."""
    return np.asarray(then @ np.vstack([first, [0.0, 0.0, 1.0]]))
