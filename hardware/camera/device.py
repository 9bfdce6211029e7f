"""The camera interface: newest picture, light held or free, state, close."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hardware.part_state import PartState

NS_PER_S = 1_000_000_000

Pixels: TypeAlias = NDArray[np.uint8]
"""What a camera gives: shape (H, W, 3), BGR, or (h, w), grey; uint8."""


class CameraError(OSError):
    """A camera that cannot be used, or is used wrongly; the message names it and says what helps."""


@dataclass(frozen=True, slots=True)
class CameraWish:
    """What a camera is asked for; it may give something else.

    Attributes:
        width_px: Width of its pictures.
        height_px: Their height.
        per_s: How many a second.

    Raises:
        ValueError: If no camera can be so.
    """

    width_px: int = 1280
    height_px: int = 720
    per_s: float = 20.0

    def __post_init__(self) -> None:
        for name, length_px, most in (("width", self.width_px, 8192), ("height", self.height_px, 6144)):
            if not 160 <= length_px <= most or length_px % 2:
                raise ValueError(f"{name} of pictures: expected an even number from 160 to {most}, got {length_px}")
        if not 1 <= self.per_s <= 120:
            raise ValueError(f"pictures a second: expected 1 to 120, got {self.per_s:g}")


@dataclass(frozen=True, slots=True)
class CameraMode:
    """What a camera really gives.

    Attributes:
        width_px: Width of its pictures.
        height_px: Their height.
        per_s: How many a second it says; in dim light many give fewer.
        coding: How they come over the wire, such as MJPG.
    """

    width_px: int
    height_px: int
    per_s: float
    coding: str


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A picture of the table; it belongs to whoever has it.

    Attributes:
        t_ns: When its exposure began, on the clock of the game.
        image: Shape (H, W, 3), BGR.
        grey: The same in grey and small, shape (h, w); its light is watched on it.
        is_light_settled: Whether the camera has adapted to the light; None where it does not say.
    """

    t_ns: int
    image: Pixels
    grey: Pixels
    is_light_settled: bool | None = None


class Light(StrEnum):
    """What a camera does about light: its exposure, gain, white balance and focus."""

    FREE = "free"
    """It adapts by itself."""
    SETTLING = "settling"
    """It adapts, and is about to be held."""
    HELD = "held"
    """It stays as it is, so that a hand over the table changes no colours."""
    CANNOT_BE_HELD = "cannot be held"
    """It was tried, and the picture changed; so it adapts by itself."""


class Blind(Enum):
    """Why pictures show nothing new. The value is what is said of a camera that is so for long."""

    BLACK = "shows nothing but black: is its lens covered, or the light off?"
    SAME = "shows the same picture again and again: it hangs; if it does not come back, unplug it and plug it in again"


class CameraDevice(Protocol):
    """A camera that is asked, never waits, and calls nobody back. Only its newest picture waits."""

    @property
    def state(self) -> PartState:
        """Its state. A camera that was unplugged is a problem here, and is looked for again by itself."""

    @property
    def mode(self) -> CameraMode | None:
        """The mode of its pictures; None before the first."""

    @property
    def light(self) -> Light:
        """Its present reaction to light."""

    @property
    def blind(self) -> Blind | None:
        """Why its pictures show nothing new, if that is its problem."""

    @property
    def hangs(self) -> bool:
        """Whether nothing looks for it any more, because its driver does not come back."""

    @property
    def pictures(self) -> int:
        """Number of pictures it has given, decoded or not, except those that only show it how its light settles."""

    def take(self, since_ns: int = 0) -> Picture | None:
        """Return the newest picture, once and at once; None while there is no new one.

        Only pictures that a call has asked for are decoded: after None the next one taken at *since_ns* or later.

        Raises:
            CameraError: If it is closed.
        """

    def hold_light(self) -> None:
        """Let it adapt to the light, then stay so, for a game. No picture is given before that is done (about 3 s)."""

    def free_light(self) -> None:
        """Let it adapt to the light all the time, to set a table up."""

    def close(self) -> None:
        """Let it go; further calls do nothing."""


class Feed(Protocol):
    """An open camera, used from one thread. Everything but `close` may raise CameraError: then it is gone."""

    @property
    def mode(self) -> CameraMode:
        """What it gives."""

    def grab(self) -> int:
        """Wait for a new picture and return its time, without decoding it; skip pictures that are no longer new."""

    def read(self) -> Picture:
        """Return the grabbed picture, decoded; grab one first if the last one was read already."""

    def hold_light(self) -> None:
        """Keep exposure, gain, white balance and focus as they are now."""

    def free_light(self) -> None:
        """Let it adapt by itself."""

    def close(self) -> None:
        """Let it go, adapting by itself as it was found."""


OpenFeed: TypeAlias = Callable[[], Feed]
"""Opens a camera. Raises CameraError if it cannot be had now."""
