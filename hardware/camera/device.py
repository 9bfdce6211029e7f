"""The camera interface, the interface of camera drivers and their clocks, and a null camera."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Protocol, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.part import Clock, PartState

NS_PER_S = 1_000_000_000

Pixels: TypeAlias = NDArray[np.uint8]
"""Pixels of a picture, uint8: BGR of shape (H, W, 3), or grey of shape (h, w)."""


class CameraError(OSError):
    """A camera cannot be used, or is used incorrectly. The message names the camera and suggests a fix."""


@dataclass(frozen=True, slots=True)
class CameraTurn:
    """A correction of the pictures of a turned or mirrored camera.

    Attributes:
        rotate: Clockwise rotation in degrees: 0, 90, 180 or 270.
        flip: Whether pictures are mirrored left to right, before they are rotated.
    """

    rotate: int = 0
    flip: bool = False

    def upright(self, image: Pixels) -> Pixels:
        """Return the corrected picture."""
        image = np.asarray(cv2.flip(image, 1), np.uint8) if self.flip else image
        turns = {90: cv2.ROTATE_90_CLOCKWISE, 180: cv2.ROTATE_180, 270: cv2.ROTATE_90_COUNTERCLOCKWISE}
        return np.asarray(cv2.rotate(image, turns[self.rotate]), np.uint8) if self.rotate else image


@dataclass(frozen=True, slots=True)
class CameraRequest:
    """Mode requested from a camera, which may choose another.

    Attributes:
        width_px: Width of the pictures, an even number from 160 to 8192, before they are rotated.
        height_px: Height of the pictures, an even number from 160 to 6144.
        per_s: Pictures per second, from 1 to 120.
        mains: Mains frequency in Hz, to avoid bands of flickering light: "50", "60" or "off". None to leave the camera
            as it is.
        orientation: Correction of the pictures.

    Raises:
        ValueError: If a value is out of range.
    """

    width_px: int = 1280
    height_px: int = 720
    per_s: float = 20.0
    mains: str | None = None
    orientation: CameraTurn = field(default_factory=CameraTurn)

    def __post_init__(self) -> None:
        for name, length_px, most in (("width", self.width_px, 8192), ("height", self.height_px, 6144)):
            if not 160 <= length_px <= most or length_px % 2:
                raise ValueError(f"{name} of pictures: expected an even number from 160 to {most}, got {length_px}")
        if not 1 <= self.per_s <= 120:
            raise ValueError(f"pictures per second: expected 1 to 120, got {self.per_s:g}")


@dataclass(frozen=True, slots=True)
class CameraMode:
    """Actual mode of a camera.

    Attributes:
        per_s: Nominal pictures per second. Many cameras deliver fewer in dim light.
        coding: Pixel format, such as MJPG.
    """

    width_px: int
    height_px: int
    per_s: float
    coding: str


SMALL_PX = (320, 180)
"""Width and height of the small grey picture in which light and faults are measured."""


def reduced_to_grey(image: Pixels) -> Pixels:
    """Reduce a BGR picture to the small grey picture."""
    small = cv2.resize(image, SMALL_PX, interpolation=cv2.INTER_NEAREST)
    return np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A picture of the table. Its arrays are not shared with the camera.

    Attributes:
        t_ns: Start of the exposure, on the clock of the game.
        image: BGR image, shape (H, W, 3).
        grey: Small grey image, shape (h, w), used to check the light.
        is_light_settled: Whether the camera has adapted to the light. None if the camera does not report this.
    """

    t_ns: int
    image: Pixels
    grey: Pixels
    is_light_settled: bool | None = None


class Light(StrEnum):
    """State of a camera's exposure, gain, white balance and focus: automatic or locked."""

    FREE = "free"
    """The camera adapts automatically."""
    SETTLING = "settling"
    """The camera adapts automatically. The settings will be locked once it has adapted."""
    HELD = "held"
    """The settings are locked, to keep colours constant when a hand is over the table."""
    CANNOT_BE_HELD = "cannot be held"
    """Locking changed the picture, so the camera adapts automatically."""


class Blind(Enum):
    """Reason why pictures show nothing new. The value follows the camera's name in the message."""

    BLACK = "shows only black: is its lens covered, or the light off?"
    SAME = "is frozen and repeats the same picture; if it does not recover, unplug it and plug it in again"


class CameraDevice(Protocol):
    """A camera that is polled, and holds only its newest picture. No method except `close` blocks."""

    @property
    def state(self) -> PartState:
        """State of the camera. A lost camera is reported as a problem, and is reopened automatically."""

    @property
    def mode(self) -> CameraMode | None:
        """Mode of the camera. None if there is no camera."""

    @property
    def light(self) -> Light:
        """State of exposure and white balance: automatic, settling or locked."""

    @property
    def blind(self) -> Blind | None:
        """Reason why pictures show nothing new, if this is the current problem."""

    @property
    def hangs(self) -> bool:
        """True if the driver no longer responds, so that the camera cannot be reopened."""

    @property
    def pictures(self) -> int:
        """Number of pictures, decoded or not, except those taken while the light settled."""

    def take(self, since_ns: int = 0) -> Picture | None:
        """Return the newest picture once, without waiting, or None if there is no new one.

        Only requested pictures are decoded: returning None requests the next one taken at *since_ns* or later.

        Raises:
            CameraError: If the camera is closed.
        """

    def hold_light(self) -> None:
        """Let the camera adapt to the light, then lock it for a game. Takes about 3 s without pictures."""

    def free_light(self) -> None:
        """Let the camera adapt to the light continuously, for setup."""

    def close(self) -> None:
        """Release the camera. Further calls do nothing."""


class Feed(Protocol):
    """An open camera, used from a single thread. All methods but `close` raise CameraError if the camera is lost."""

    @property
    def mode(self) -> CameraMode:
        """Negotiated mode."""

    def grab(self) -> int:
        """Wait for a new picture and return its time without decoding it. Skips outdated pictures."""

    def read(self) -> Picture:
        """Decode the grabbed picture. Grabs one first if the last one was already read."""

    def hold_light(self) -> None:
        """Lock exposure, gain, white balance and focus at their current values."""

    def free_light(self) -> None:
        """Let the camera adapt automatically."""

    def close(self) -> None:
        """Release the camera, with automatic settings for the next program."""


OpenFeed: TypeAlias = Callable[[], Feed]
"""Opens a camera. Raises CameraError if it cannot be opened."""


# Maximum plausible age of a picture. A larger age means that the timestamp is from another clock.
_OLDEST_NS = 10 * NS_PER_S
# Tolerance for reading the clocks one after the other.
_ROUNDING_NS = 1_000_000


def _boot_ns() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clock of the game, and the two Linux clocks used by drivers.

    libcamera documents CLOCK_BOOTTIME, but the drivers of a Raspberry Pi use CLOCK_MONOTONIC (libcamera bug 254). The
    two clocks differ by the time that the machine was suspended: none on a Raspberry Pi, hours on a laptop.
    """

    game: Clock
    monotonic: Clock = time.monotonic_ns
    boot: Clock = _boot_ns

    def age_ns(self, stamp_ns: int) -> int | None:
        """Return the age of a driver timestamp, or None if it belongs to neither clock.

        A CLOCK_BOOTTIME timestamp is recognised because it is in the future of CLOCK_MONOTONIC. If the machine was
        suspended for less than the age of the picture, it is mistaken for CLOCK_MONOTONIC. The error is then no larger
        than that age.
        """
        for clock in (self.monotonic, self.boot):
            age_ns = clock() - stamp_ns
            if -_ROUNDING_NS <= age_ns <= _OLDEST_NS:
                return max(0, age_ns)
        return None

    def game_ns(self, stamp_ns: int) -> int | None:
        """Return a driver timestamp on the clock of the game, or None if it belongs to neither clock."""
        age_ns = self.age_ns(stamp_ns)
        return None if age_ns is None else self.game() - age_ns


class NoCamera:
    """Null camera, for a table without a camera (`none`)."""

    def __init__(self) -> None:
        self._is_closed = False

    state = PartState()
    """State without a problem."""
    mode: CameraMode | None = None
    light, blind, hangs, pictures = Light.FREE, None, False, 0

    def take(self, since_ns: int = 0) -> Picture | None:
        """Return None. Raises CameraError if the camera is closed."""
        if self._is_closed:
            raise CameraError("none: it is closed, and gives no more pictures")
        return None

    def hold_light(self) -> None:
        """Do nothing."""

    def free_light(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Reject further calls of `take`."""
        self._is_closed = True
