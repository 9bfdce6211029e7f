"""Use a camera that is plugged in for a live game: its light is held while a game is played."""

from __future__ import annotations

from engine.phrases import phrase
from hardware.camera.device import Blind, CameraDevice
from hardware.camera.open_device import open_device
from hardware.clock import Clock
from tallybone.sources.camera import shot_of
from tallybone.sources.shots import Shot
from tallybone.terminal import quiet_libraries


def problem_of(name: str, camera: CameraDevice) -> str | None:
    """Return why *camera*, which people call *name*, gives no pictures; None while it gives some."""
    match camera.blind:
        case Blind.BLACK:
            return phrase(
                "{camera} shows nothing but black: is its lens covered, or the light off? The game goes on when it can"
                " see again",
                camera=name,
            )
        case Blind.SAME:
            return phrase(
                "{camera} shows the same picture again and again: it hangs. If it does not come back, unplug it and"
                " plug it in again; the game goes on then",
                camera=name,
            )
        case None:
            return camera.state.problem


class DeviceCamera:
    """A camera of `hardware.camera`."""

    is_over = False

    def __init__(self, name: str, device: CameraDevice, clock: Clock) -> None:
        """Look through *device*, which people call *name*; its pictures are stamped with *clock*."""
        self._name, self._device, self._clock = name, device, clock
        device.hold_light()

    @property
    def problem(self) -> str | None:
        """Why it gives no pictures."""
        return problem_of(self._name, self._device)

    @property
    def size_px(self) -> tuple[int, int] | None:
        """Width and height of its pictures; None where that is not known yet."""
        mode = self._device.mode
        return None if mode is None else (mode.width_px, mode.height_px)

    @property
    def pictures(self) -> int:
        """Number of pictures it has given."""
        return self._device.pictures

    def take(self, since_ns: int = 0) -> Shot | None:
        """Return the newest picture, once."""
        picture = self._device.take(since_ns)
        return None if picture is None else shot_of(picture.image, picture.t_ns, self._name)

    def now_ns(self) -> int:
        """Return the time."""
        return self._clock()

    def close(self) -> None:
        """Close the camera."""
        self._device.close()


class LentCamera(DeviceCamera):
    """A camera that is open before a game, and stays so after it."""

    def close(self) -> None:
        """Give it back; its light is free again."""
        self._device.free_light()


def open_plugged_in(source: str, clock: Clock) -> DeviceCamera:
    """Open a camera for a game; *source* is as `hardware.camera.open_device` takes it.

    Raises:
        CameraError: If there is none, or it cannot be used; with a hint.
    """
    with quiet_libraries():  # OpenCV and libcamera repeat the error on stderr
        return DeviceCamera(source, open_device(source, clock), clock)
