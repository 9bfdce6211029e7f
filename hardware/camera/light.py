"""Decide when to lock exposure and white balance, and detect pictures without new content. Pure."""

from __future__ import annotations

from enum import Enum, auto
from typing import TypeAlias

import cv2
import numpy as np

from hardware.camera.device import NS_PER_S, Blind, Light, Picture, Pixels

SMALL_PX = (320, 180)
"""Width and height of the small grey picture in which light and faults are measured."""

# A picture is black if at least half of its pixels are at most _BLACK, and at most 1 % exceed _DIM. Tiles in a dim room
# are brighter.
_BLACK, _DIM, _MAX_DIM = 12, 32, 0.01
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
    dark, dim = np.count_nonzero(grey > _BLACK), np.count_nonzero(grey > _DIM)
    return bool(2 * dark <= grey.size and dim <= _MAX_DIM * grey.size)


Levels: TypeAlias = tuple[float, float, float]
"""Median blue, green and red of a picture, from 0 to 255."""

# Time to adapt for a camera that does not report it. Webcams need about a second.
_ADAPTS_NS = 2 * NS_PER_S
# Maximum time to adapt for a camera that reports it. It may not converge while somebody moves over the table.
_LONGEST_NS = 4 * NS_PER_S
# Time after which new settings are visible in pictures.
_SHOWS_NS = 1 * NS_PER_S
# Maximum ratio of brightness before and after locking. Moving hands change the median by less than this.
_MAX_CHANGE = 1.25
_TRIES = 3
# If the median is outside these bounds for 3 s, a lamp was probably switched, and the camera adapts again. Hands do not
# cover half the table that long.
_DARK, _BRIGHT, _LOST_NS = 12.0, 245.0, 3 * NS_PER_S
_STEP_PX = 16


class Order(Enum):
    """Order to a camera."""

    HOLD = auto()
    FREE = auto()


class LightKeeper:
    """Lets a camera adapt, locks its light, and checks that the picture did not change."""

    def __init__(self) -> None:
        """Start with the light free."""
        self._is_wanted = False
        self._light = Light.FREE
        self._since_ns: int | None = None
        self._before: Levels | None = None
        self._lost_since_ns: int | None = None
        self._tries = 0

    @property
    def light(self) -> Light:
        """State of exposure and white balance: automatic, settling or locked."""
        return self._light

    @property
    def is_ready(self) -> bool:
        """True unless the light is settling."""
        return self._light is not Light.SETTLING

    def want(self, light: Light) -> Order | None:
        """Request that the light is HELD or FREE, and return an order for the camera, if any."""
        self._is_wanted = light is Light.HELD
        if self._is_wanted:
            self.reopened()
            return None
        was_free, self._light = self._light is Light.FREE, Light.FREE
        return None if was_free else Order.FREE

    def reopened(self) -> None:
        """Restart, after the camera was reopened and adapts automatically."""
        self._settle()
        self._tries = 0

    def after(self, picture: Picture) -> Order | None:
        """Process a picture, and return an order for the camera, if any."""
        match self._light:
            case Light.SETTLING if self._before is None:
                return self._hold_if_settled(picture)
            case Light.SETTLING:
                return self._check_hold(picture)
            case Light.HELD:
                return self._free_if_lost(picture)
            case _:
                return None

    def _settle(self) -> None:
        self._light = Light.SETTLING if self._is_wanted else Light.FREE
        self._since_ns = self._before = self._lost_since_ns = None

    def _hold_if_settled(self, picture: Picture) -> Order | None:
        """Hold the light once the camera has adapted, but never to darkness, which would overexpose later pictures."""
        if is_black(picture.grey):
            self._since_ns = None
            return None
        if self._since_ns is None:
            self._since_ns = picture.t_ns
        since_ns = picture.t_ns - self._since_ns
        wait_ns = _ADAPTS_NS if picture.is_light_settled is None else _LONGEST_NS
        if not picture.is_light_settled and since_ns < wait_ns:
            return None
        self._before, self._since_ns = levels_of(picture.image), picture.t_ns
        return Order.HOLD

    def _check_hold(self, picture: Picture) -> Order | None:
        """Check that locking did not change the picture: some cameras jump to old settings. Gives up after 3 tries."""
        assert self._before is not None
        assert self._since_ns is not None
        if picture.t_ns - self._since_ns < _SHOWS_NS:
            return None
        if is_similar(self._before, levels_of(picture.image)):
            self._light = Light.HELD
            return None
        self._tries += 1
        self._settle()
        if self._tries == _TRIES:
            self._light = Light.CANNOT_BE_HELD
        return Order.FREE

    def _free_if_lost(self, picture: Picture) -> Order | None:
        """Let the camera adapt again if the picture has been too dark or too bright for 3 s."""
        level = float(np.median(picture.grey))
        if _DARK <= level <= _BRIGHT:
            self._lost_since_ns = None
            return None
        if self._lost_since_ns is None:
            self._lost_since_ns = picture.t_ns
        if picture.t_ns - self._lost_since_ns < _LOST_NS:
            return None
        self.reopened()
        return Order.FREE


def levels_of(image: Pixels) -> Levels:
    """Return the median of each colour of a picture of shape (H, W, 3), subsampled by 16."""
    blue, green, red = np.median(image[::_STEP_PX, ::_STEP_PX].reshape(-1, 3), axis=0)
    return float(blue), float(green), float(red)


def is_similar(before: Levels, after: Levels) -> bool:
    """Return True if two pictures have similar brightness in each colour, with a tolerance for moving hands."""
    # Adding eight levels suppresses noise, which alone can double a level in the dark.
    return all(
        max(first, second) + 8 <= _MAX_CHANGE * (min(first, second) + 8)
        for first, second in zip(before, after, strict=True)
    )
