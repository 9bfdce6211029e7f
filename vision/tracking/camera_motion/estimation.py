"""Estimate camera motion from everything that stayed in place: tiles, print and the grain of the cloth.

The picture is compared with a remembered one part by part, by what is finer than light and shadow. Parts that agree on
one turn and shift tell how the camera moved; a hand, or tiles that were moved, do not agree and count for nothing.
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

# Long sides of the pictures that are compared: to see whether anything moved, how, and exactly how.
_COARSE_PX, _USUAL_PX, _FINE_PX = 320, 640, 1280
# What is coarser than this is light and shadow; what differs by more than this share is as good as this: the edges of a
# few tiles do not drown the grain of the cloth.
_GRAIN_PX, _MOST_CONTRAST = 4.0, 0.15
_DARK = 8.0
# Parts are so large and lie so far apart, in pixels of the usual and of the fine picture.
_PART_PX, _STEP_PX = {_USUAL_PX: 96, _FINE_PX: 128}, {_USUAL_PX: 64, _FINE_PX: 96}
# A part that tells something correlates so well: right ones of felt, walnut and linen 0.3 to 0.6, wrong ones 0.05.
_LEAST_RESPONSE = 0.1
# Parts agree that are put within this many pixels. So many of them, and this share of those that tell something, must.
_AGREES_PX, _LEAST_PARTS, _LEAST_SHARE = 1.5, 6, 0.35
# Turns that are tried where the camera may point anywhere, and how many of the likeliest are looked at closely.
_TURNS_DEG, _LOOKED_AT = np.arange(-15.0, 15.25, 0.5), 4
_ROUNDS = 3
# Within parts that agree, the detail of right motions correlates with 0.3 to 0.6, of wrong ones with less than 0.1.
_LEAST_LIKENESS = 0.15
# The camera has not moved where no corner of the picture has by more, in pixels of the full picture.
_SUSPECT_PX, _LEAST_MOVE_PX = 1.0, 1.25


class Agreement(Enum):
    """What a picture says of the aim: as it was, another, or nothing that parts of it agree on."""

    STEADY = "steady"
    MOVED = "moved"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class AlignmentEstimate:
    """Where the camera points by one picture.

    Attributes:
        agreement: What the picture says.
        aim: Where it points now; as before, where the picture does not tell.
        parts: How many parts of the picture agree with that.
    """

    agreement: Agreement
    aim: Alignment
    parts: int


@dataclass(frozen=True, slots=True, eq=False)
class Anchor:
    """The table as it was seen first, and each change of it as it was seen first: what pictures are compared with.

    Attributes:
        grey: Shape (h, w), at most 1280 px long.
        scale: Size of its pixel in pixels of the full picture.
        usual: Its detail at the usual resolution: every picture is compared with that.
    """

    grey: GreyImage
    scale: float
    usual: Detail

    @classmethod
    def of(cls, image: Image) -> Anchor:
        """Return what a BGR picture of shape (H, W, 3) gives to compare others with."""
        scale = max(1.0, max(image.shape[:2]) / _FINE_PX)
        return cls._with(_grey(image, scale), scale)

    @classmethod
    def _with(cls, grey: GreyImage, scale: float) -> Anchor:
        return cls(grey, scale, _detail(grey, _USUAL_PX))

    def renewed(self, image: Image, where: NDArray[np.bool_]) -> Anchor:
        """Return it with what a straightened picture shows at the pixels *where*, of any resolution."""
        if not where.any():
            return self
        now = _grey(image, self.scale)
        there = cv2.resize(where.view(np.uint8), now.shape[::-1], interpolation=cv2.INTER_NEAREST)
        return Anchor._with(np.asarray(cv2.copyTo(now, there, self.grey.copy()), np.uint8), self.scale)

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of the full picture."""
        height, width = self.grey.shape
        return round(width * self.scale), round(height * self.scale)


def estimate_alignment(anchor: Anchor, image: Image, before: Alignment) -> AlignmentEstimate:
    """Return where the camera points.

    Args:
        anchor: What the table looked like.
        image: Shape (H, W, 3), BGR, what the camera shows now.
        before: Where it pointed.
    """
    now = _grey(image, anchor.scale)
    usual = _PicturePair.of(anchor, now, _USUAL_PX)
    near: _Fit | None = None
    for every in (2, 1):  # where nothing moved, every other part says so
        near = usual.fit(before.motion, rounds=1, every=every)
        if near is not None and before.farthest_px(Alignment.of(near.motion), anchor.size_px) < _SUSPECT_PX:
            return AlignmentEstimate(Agreement.STEADY, before, near.parts)
    # Wood looks alike along its grain: what agrees nearby is compared with what agrees anywhere.
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
    """A motion on which parts agree: how many, and how alike their detail is then, -1 to 1."""

    motion: Motion
    parts: int
    likeness: float


@dataclass(frozen=True, slots=True, eq=False)
class _PicturePair:
    """What two pictures show in detail, at one resolution.

    Attributes:
        before, now: Shape (h, w).
        scale: Size of a pixel in pixels of the full picture; motions are in those.
        long_px: Which resolution it is.
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
        """Return the motion that parts, or *every* second one, agree on near a guessed one; None where too few do."""
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
        """Yield the likeliest turns and shifts of the picture as a whole."""
        height, width = self.before.shape
        window = cv2.createHanningWindow((width, height), cv2.CV_32F)
        found: list[tuple[float, Motion]] = []
        for degrees in _TURNS_DEG.tolist():
            turn = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), -degrees, 1.0)
            shift, response = cv2.phaseCorrelate(self._turned(np.asarray(turn, np.float64)), self.now, window)
            found.append((response, turn + np.array([[0.0, 0.0, shift[0]], [0.0, 0.0, shift[1]]])))
        # Turns beside a likely one are likely, too: of neighbours the likeliest is looked at.
        peaks = [
            one for at, one in enumerate(found) if one[0] == max(near for near, _ in found[max(0, at - 2) : at + 3])
        ]
        peaks.sort(key=lambda one: -one[0])
        for _, motion in peaks[:_LOOKED_AT]:
            yield np.asarray(motion * np.array([1.0, 1.0, self.scale]))

    def _turned(self, motion: Motion) -> Detail:
        return np.asarray(cv2.warpAffine(self.before, motion, self.before.shape[::-1]), np.float32)

    def _shifts(self, motion: Motion, every: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the parts that tell something, by their middles, and how far off a motion puts them; both (N, 2)."""
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
        """Return how the detail of parts, by their middles, correlates after a motion."""
        back, half = self._straightened(motion), _PART_PX[self.long_px] // 2
        among = np.zeros(self.before.shape, np.bool_)
        for x, y in places.astype(int).tolist():
            among[y - half : y + half, x - half : x + half] = True
        one, other = self.before[among].astype(np.float64), back[among].astype(np.float64)
        strength = float(np.sqrt((one @ one) * (other @ other)))
        return float(one @ other) / strength if strength else 0.0

    def _straightened(self, motion: Motion) -> Detail:
        """Return the later picture as it would be without a motion, which is in full pixels."""
        own = motion * np.array([1.0, 1.0, 1 / self.scale])
        how = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        return np.asarray(cv2.warpAffine(self.now, own, self.before.shape[::-1], flags=how), np.float32)


def _grey(image: Image, scale: float) -> GreyImage:
    size = (max(1, round(image.shape[1] / scale)), max(1, round(image.shape[0] / scale)))
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_AREA), np.uint8)


def _times_smaller(grey: GreyImage, long_px: int) -> float:
    """Return by how much a picture is made smaller, so that its long side is at most *long_px*."""
    return max(1.0, float(max(grey.shape)) / long_px)


def _detail(grey: GreyImage, long_px: int) -> Detail:
    """Return what is finer than light and shadow at a resolution, in shares of the brightness there."""
    by = _times_smaller(grey, long_px)
    size = (round(grey.shape[1] / by), round(grey.shape[0] / by))
    logs = cv2.log(cv2.resize(grey, size, interpolation=cv2.INTER_AREA).astype(np.float32) + np.float32(_DARK))
    fine = logs - cv2.GaussianBlur(logs, (0, 0), _GRAIN_PX)
    return np.asarray(np.clip(fine, -_MOST_CONTRAST, _MOST_CONTRAST), np.float32)


def _after(first: Motion, then: Motion) -> Motion:
    """Return two motions, one after the other, as one."""
    return np.asarray(then @ np.vstack([first, [0.0, 0.0, 1.0]]))
