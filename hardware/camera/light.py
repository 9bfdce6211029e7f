"""Decide when to lock exposure and white balance, and check that the lock holds; pure, from picture to picture."""

from __future__ import annotations

from enum import Enum, auto
from typing import TypeAlias

import numpy as np

from hardware.camera.device import NS_PER_S, Light, Picture, Pixels
from hardware.camera.sight import is_black

Levels: TypeAlias = tuple[float, float, float]
"""Blue, green and red of a picture, 0 to 255."""

# A camera that does not say whether it has adapted surely has by then: webcams take about a second.
_ADAPTS_NS = 2 * NS_PER_S
# One that says so, and still searches by then (somebody moves over the table), is taken as it is.
_LONGEST_NS = 4 * NS_PER_S
# What is told to a camera shows some pictures later.
_SHOWS_NS = 1 * NS_PER_S
# Holding is not to change the picture. A median moves less than that while hands move.
_MOST_CHANGE = 1.25
_TRIES = 3
# A lamp was turned off or on, so that hardly anything is left to see; a hand does not cover half the table so long.
_DARK, _BRIGHT, _LOST_NS = 12.0, 245.0, 3 * NS_PER_S
_STEP_PX = 16


class Order(Enum):
    """What a camera is told."""

    HOLD = auto()
    FREE = auto()


class LightKeeper:
    """Lets a camera adapt, holds its light, and looks whether the picture stayed the same."""

    def __init__(self) -> None:
        """Leave the camera alone at first."""
        self._is_wanted = False
        self._light = Light.FREE
        self._since_ns: int | None = None
        self._before: Levels | None = None
        self._lost_since_ns: int | None = None
        self._tries = 0

    @property
    def light(self) -> Light:
        """What the camera does about light."""
        return self._light

    @property
    def is_ready(self) -> bool:
        """Whether the camera's pictures look as they will look from now on."""
        return self._light is not Light.SETTLING

    def want(self, light: Light) -> Order | None:
        """Return what to tell the camera, if it is to be HELD, or FREE, from now on."""
        self._is_wanted = light is Light.HELD
        if self._is_wanted:
            self.reopened()
            return None
        was_free, self._light = self._light is Light.FREE, Light.FREE
        return None if was_free else Order.FREE

    def reopened(self) -> None:
        """Begin again: the camera was opened anew, and adapts by itself."""
        self._settle()
        self._tries = 0

    def after(self, picture: Picture) -> Order | None:
        """Return what to tell the camera after a picture."""
        match self._light:
            case Light.SETTLING if self._before is None:
                return self._settled(picture)
            case Light.SETTLING:
                return self._checked(picture)
            case Light.HELD:
                return self._watched(picture)
            case _:
                return None

    def _settle(self) -> None:
        self._light = Light.SETTLING if self._is_wanted else Light.FREE
        self._since_ns = self._before = self._lost_since_ns = None

    def _settled(self, picture: Picture) -> Order | None:
        """Hold when the camera has adapted, and not to the dark: then all would be too bright later."""
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

    def _checked(self, picture: Picture) -> Order | None:
        """Look whether holding has changed the picture: some cameras jump to what was set long ago."""
        assert self._before is not None
        assert self._since_ns is not None
        if picture.t_ns - self._since_ns < _SHOWS_NS:
            return None
        if is_alike(self._before, levels_of(picture.image)):
            self._light = Light.HELD
            return None
        self._tries += 1
        self._settle()
        if self._tries == _TRIES:
            self._light = Light.CANNOT_BE_HELD
        return Order.FREE

    def _watched(self, picture: Picture) -> Order | None:
        """Let it adapt again where the light has changed so much that nothing can be seen."""
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
    """Return the median of each colour of a picture, shape (H, W, 3)."""
    blue, green, red = np.median(image[::_STEP_PX, ::_STEP_PX].reshape(-1, 3), axis=0)
    return float(blue), float(green), float(red)


def is_alike(before: Levels, after: Levels) -> bool:
    """Return whether two pictures are equally bright in each colour, as far as can be told beside moving hands."""
    # Eight levels more: in the dark noise alone doubles a level.
    return all(
        max(one, other) + 8 <= _MOST_CHANGE * (min(one, other) + 8) for one, other in zip(before, after, strict=True)
    )
