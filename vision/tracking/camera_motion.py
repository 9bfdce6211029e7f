"""Estimate camera motion from everything that stayed in place: tiles, print and the texture of the table.

Patches of the image are registered with a reference image by phase correlation of their fine detail. Patches that agree
on a rotation and translation give the camera motion. Hands and moved tiles do not agree and are ignored.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import GreyImage, Image, Motion, Points
from vision.reading import SeenTile
from vision.tracking.tracks import has_same_pips, side_px

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


# Maximum distance in sides between a half and its predicted position.
_AGREES = 0.35
# Maximum change of scale and rotation.
_MAX_GROWTH = 1.25
_MAX_TURN_RAD = 0.5
# Minimum number of tiles, and share of the known tiles, that must agree.
_MIN_TILES = 3
_MIN_STILL_SHARE = 0.5


def find_motion(before: Sequence[SeenTile], after: Sequence[SeenTile]) -> Motion | None:
    """Return the image motion, shape (2, 3), that explains the new positions of most tiles.

    Every pair of equal tiles gives a hypothesis. The motion is fitted to the tiles that agree with the best hypothesis.
    None if fewer than three, or less than half of the known ones, agree with it. Face-down tiles are ignored.

    Args:
        before: Known tiles, at their previous positions.
        after: Tiles read from the current image.
    """
    known, seen = ([tile for tile in tiles if tile.halves] for tiles in (before, after))
    if len(known) < _MIN_TILES:
        return None
    best: list[tuple[Points, Points]] = []
    for start, end in _pairs(known, seen):
        # The similarity transform between two pairs of points, or None if it exceeds the limits.
        a, b = (complex(*(pair[1] - pair[0])) for pair in (start, end))
        factor = b / a
        if not 1 / _MAX_GROWTH < abs(factor) < _MAX_GROWTH or abs(np.angle(factor)) > _MAX_TURN_RAD:
            motion = None
        else:
            turn = np.array([[factor.real, -factor.imag], [factor.imag, factor.real]])
            motion = np.column_stack([turn, end.mean(axis=0) - turn @ start.mean(axis=0)])
        if motion is not None:
            agreed = _agreeing(motion, known, seen)
            best = agreed if len(agreed) > len(best) else best
    if len(best) < max(_MIN_TILES, _MIN_STILL_SHARE * len(known)):
        return None
    return _fitted(np.concatenate([start for start, _ in best]), np.concatenate([end for _, end in best]))


def _pairs(known: Sequence[SeenTile], seen: Sequence[SeenTile]) -> Iterator[tuple[Points, Points]]:
    """Yield the half centres of each known tile and of each equal tile in the image, in matching order, (2, 2) each."""
    for tile, other in itertools.product(known, seen):
        if has_same_pips(tile, other):
            start, end = np.array(tile.half_centers_px), np.array(other.half_centers_px)
            pips = [half.pips for half in tile.halves]
            if pips == [half.pips for half in other.halves]:
                yield start, end
            if pips == [half.pips for half in other.halves[::-1]]:
                yield start, end[::-1]


def _agreeing(motion: Motion, known: Sequence[SeenTile], seen: Sequence[SeenTile]) -> list[tuple[Points, Points]]:
    """Return the half centres of the known tiles, and of equal tiles, that agree with a motion."""
    agreed = []
    for tile in known:
        limit_px = _AGREES * side_px(tile)
        pairs = _pairs([tile], seen)
        found = ((s, e) for s, e in pairs if np.abs(s @ motion[:, :2].T + motion[:, 2] - e).max() < limit_px)
        pair = next(found, None)
        if pair is not None:
            agreed.append(pair)
    return agreed


def _fitted(start: Points, end: Points) -> Motion:
    """Return the least-squares affine motion between points, shape (2, 3)."""
    rows = np.column_stack([start, np.ones(len(start))])
    return np.asarray(np.linalg.lstsq(rows, end, rcond=None)[0].T)


Detail = NDArray[np.float32]

# Long sides of the images for the global search, for the usual comparison, and for the final estimate.
_COARSE_PX = 320
_USUAL_PX = 640
_FINE_PX = 1280
# Detail coarser than this is treated as light and shadow. Contrast is clipped, so that the edges of a few tiles do not
# outweigh the texture of the cloth.
_GRAIN_PX = 4.0
_MAX_CONTRAST = 0.15
_DARK = 8.0
# Size and spacing of patches, at the usual and at the fine resolution.
_PART_PX = {_USUAL_PX: 96, _FINE_PX: 128}
_STEP_PX = {_USUAL_PX: 64, _FINE_PX: 96}
# Minimum response of a patch. Correct matches on felt, walnut and linen reach 0.3 to 0.6, wrong ones 0.05.
_MIN_RESPONSE = 0.1
# Tolerance for agreement, and minimum number and share of the usable patches that must agree.
_AGREES_PX = 1.5
_MIN_PARTS = 6
_MIN_SHARE = 0.35
# Rotations tried in the global search, and number of the best ones that are refined.
_TURNS_DEG = np.arange(-15.0, 15.25, 0.5)
_REFINED_GUESSES = 4
_ROUNDS = 3
# Minimum correlation of the detail in agreeing patches: 0.3 to 0.6 for correct motions, below 0.1 for wrong ones.
_MIN_LIKENESS = 0.15
# The camera has not moved if no corner of the image moved by more than this, in full-resolution pixels: in the usual
# comparison, and in the final estimate.
_SUSPECT_PX = 1.0
_MIN_MOVE_PX = 1.25


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
    """Estimate the camera alignment of an image."""
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
    if before.farthest_px(aim, anchor.size_px) < _MIN_MOVE_PX:
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
    """Fine detail (h, w) of the reference and the current image. *scale* is the size of a pixel at full resolution."""

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
            if len(places) < _MIN_PARTS:
                return None
            fit, within = cv2.estimateAffinePartial2D(places, places + shifts, ransacReprojThreshold=_AGREES_PX)
            if within.sum() < max(_MIN_PARTS, _MIN_SHARE * len(places)):
                return None
            agreed = within.ravel() > 0
            motion = (fit * np.array([1.0, 1.0, self.scale])) @ np.vstack([motion, [0.0, 0.0, 1.0]])
        likeness = self._likeness(motion, places[agreed])
        return None if likeness < _MIN_LIKENESS else _Fit(motion, int(agreed.sum()), likeness)

    def guesses(self) -> Iterator[Motion]:
        """Yield at most four likely motions of the whole image, best first, from a global search over rotations."""
        height, width = self.before.shape
        window = cv2.createHanningWindow((width, height), cv2.CV_32F)
        found: list[tuple[float, Motion]] = []
        for degrees in _TURNS_DEG.tolist():
            turn = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), -degrees, 1.0)
            turned = np.asarray(cv2.warpAffine(self.before, turn, (width, height)), np.float32)
            shift, response = cv2.phaseCorrelate(turned, self.now, window)
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
                if response > _MIN_RESPONSE:
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
    return np.asarray(np.clip(fine, -_MAX_CONTRAST, _MAX_CONTRAST), np.float32)
