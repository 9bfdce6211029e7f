"""Scenes that a calibration asks for, and its cameras: a real camera, a picture, or a simulated table."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from calibration.knock import KNOCKS_PER_SEAT
from engine.phrases import phrase
from hardware.camera.device import CameraDevice, CameraError, Light
from hardware.camera.open_device import is_device, open_device
from hardware.part import Clock
from tallybone.laboratory import SIMULATED, SIMULATIONS, from_lab
from tallybone.terminal import quiet_libraries
from vision.arrays import Image
from vision.image.picture import load_picture

_QUIET_S = 10
_TILES_S = 20
_SEAT_S = 8
# Pause before each part, for reading its instruction. Sounds during a pause are ignored.
_READ_S = 2


class AskedScene(StrEnum):
    """Scene in front of the camera during a step."""

    BOARD = "the board for the lens"
    TABLE = "corner blocks or mat"
    TILES = "open tiles all over the table"
    SET = "the whole set, face up"


@dataclass(frozen=True, slots=True)
class TimetablePart:
    """A part of the timetable.

    Attributes:
        text: Instruction for users.
        from_s, to_s: Start and end, relative to the start of the timetable.
    """

    text: str
    from_s: int
    to_s: int


def timetable(seats: int) -> tuple[TimetablePart, ...]:
    """Return the parts of the timetable: silence, tiles, then each seat, with a pause before each part.

    >>> [(part.from_s, part.to_s) for part in timetable(2)]
    [(2, 12), (14, 34), (36, 44), (46, 54)]
    """
    instructions = [
        (phrase("Be quiet."), _QUIET_S),
        (phrase("Shuffle the tiles, and put many of them down, some gently and some hard."), _TILES_S),
        *(
            (
                phrase("Seat {seat}: knock {times} times, about once a second.", seat=seat + 1, times=KNOCKS_PER_SEAT),
                _SEAT_S,
            )
            for seat in range(seats)
        ),
    ]
    parts, at_s = [], 0
    for text, duration_s in instructions:
        parts.append(TimetablePart(text, at_s + _READ_S, at_s + _READ_S + duration_s))
        at_s = parts[-1].to_s
    return tuple(parts)


_NS_PER_S = 1_000_000_000
# Maximum time to wait for a picture. Adapting to the light takes three seconds, and opening some cameras takes another
# three.
_LONGEST_S = 15.0
_POLL_S = 0.02


class CalibrationCamera(Protocol):
    """A camera used for calibration. Its calls do not wait, and it holds only its newest picture."""

    @property
    def problem(self) -> str | None:
        """Reason why there are no pictures, or None."""

    @property
    def light(self) -> Light:
        """State of exposure and white balance: free, settling, held, or impossible to hold."""

    def take(self) -> Image | None:
        """Return the newest BGR picture once, shape (H, W, 3), or None."""

    def present(self, scene: AskedScene) -> None:
        """Show a scene, if the camera is simulated. In front of a real camera, users lay out the scene."""

    def hold_light(self) -> None:
        """Let the camera adapt, then lock exposure and white balance."""

    def close(self) -> None:
        """Close the camera."""


class DeviceLook:
    """A real camera. It adapts to the light until `hold_light` is called."""

    def __init__(self, device: CameraDevice) -> None:
        """Use *device*, with exposure and white balance free."""
        self._device = device
        device.free_light()

    @property
    def problem(self) -> str | None:
        """Reason why there are no pictures, or None."""
        return self._device.state.problem

    @property
    def light(self) -> Light:
        """State of exposure and white balance: free, settling, held, or impossible to hold."""
        return self._device.light

    def take(self) -> Image | None:
        """Return the newest picture once, or None."""
        picture = self._device.take()
        return None if picture is None else picture.image

    def present(self, scene: AskedScene) -> None:
        """Do nothing: users lay out the scene."""

    def hold_light(self) -> None:
        """Let the camera adapt, then lock its light."""
        self._device.hold_light()

    def close(self) -> None:
        """Close the camera."""
        self._device.close()


class LentLook(DeviceLook):
    """A borrowed camera, which stays open after the calibration."""

    def close(self) -> None:
        """Free exposure and white balance, but leave the camera open."""
        self._device.free_light()


class StillLook:
    """A still picture, returned repeatedly."""

    problem: str | None = None
    light = Light.FREE

    def __init__(self, image: Image) -> None:
        """Show *image*."""
        self._image = image

    def take(self) -> Image | None:
        """Return the picture."""
        return self._image

    def present(self, scene: AskedScene) -> None:
        """Do nothing: the picture is fixed."""

    def hold_light(self) -> None:
        """Do nothing: the picture is fixed."""

    def close(self) -> None:
        """Do nothing."""


def open_look(source: str, clock: Clock) -> CalibrationCamera:
    """Open a camera or a picture for calibration.

    Args:
        source: Camera such as `usb:0`, path of a picture, or `simulated`, such as `simulated:seats=3,mat=no,seed=2`.
        clock: Monotonic clock in nanoseconds.

    Raises:
        CameraError: If there is no such camera, or it cannot be used.
        VisionError: If the file is not a picture.
        OSError: If the file cannot be read.
    """
    if source.partition(":")[0] == SIMULATED:
        look: CalibrationCamera = from_lab(SIMULATIONS, "calibration", wanted="a simulated camera")(source)
        return look
    with quiet_libraries():
        if is_device(source):
            return DeviceLook(open_device(source, clock))
        return StillLook(load_picture(Path(source)))


def wait_for_picture(look: CalibrationCamera, clock: Clock, *, pause: Callable[[float], object] | None = None) -> Image:
    """Start locking exposure and white balance, if the camera supports that, and return the next picture.

    Args:
        look: Camera.
        clock: Monotonic clock in nanoseconds.
        pause: Sleep function that takes seconds, by default in real time.

    Raises:
        CameraError: If no picture arrives within 15 s. The message includes the reason, if known.
    """
    pause = pause or threading.Event().wait
    look.hold_light()
    began_ns = clock()
    while clock() - began_ns < _LONGEST_S * _NS_PER_S:
        image = look.take()
        if image is not None:
            return image
        pause(_POLL_S)
    raise CameraError(look.problem or f"the camera sent no picture within {_LONGEST_S:.0f} seconds")
