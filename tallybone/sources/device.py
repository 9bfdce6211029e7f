"""Use a real camera for a live game. Its light is locked during the game."""

from __future__ import annotations

from engine.phrases import phrase
from hardware.camera.device import Blind, CameraDevice
from hardware.camera.open_device import open_device
from hardware.clock import Clock
from tallybone.sources.camera import shot_of
from tallybone.sources.shots import Shot
from tallybone.terminal import quiet_libraries


def problem_of(name: str, camera: CameraDevice) -> str | None:
    """Return the reason why *camera* gives no pictures, or None. *name* is its name for users."""
    match camera.blind:
        case Blind.BLACK:
            return phrase(
                "{camera} shows only black: uncover the lens or switch on the light. The game then goes on",
                camera=name,
            )
        case Blind.SAME:
            return phrase(
                "{camera} is frozen: it repeats the same picture. If it does not recover, unplug it and plug it"
                " in again. The game then goes on",
                camera=name,
            )
        case None:
            return camera.state.problem


class DeviceCamera:
    """A camera of `hardware.camera`."""

    is_over = False

    def __init__(self, name: str, device: CameraDevice, clock: Clock) -> None:
        """Use *device*, and lock its light. *name* is its name for users, and *clock* the clock of its pictures."""
        self._name, self._device, self._clock = name, device, clock
        device.hold_light()

    @property
    def problem(self) -> str | None:
        """Reason why there are no pictures, or None."""
        return problem_of(self._name, self._device)

    @property
    def size_px(self) -> tuple[int, int] | None:
        """Width and height of the pictures. None if unknown."""
        mode = self._device.mode
        return None if mode is None else (mode.width_px, mode.height_px)

    @property
    def pictures(self) -> int:
        """Number of pictures so far."""
        return self._device.pictures

    def take(self, since_ns: int = 0) -> Shot | None:
        """Return the newest picture once, or None."""
        picture = self._device.take(since_ns)
        return None if picture is None else shot_of(picture.image, picture.t_ns, self._name)

    def now_ns(self) -> int:
        """Return the current time of the clock."""
        return self._clock()

    def close(self) -> None:
        """Close the camera."""
        self._device.close()


class LentCamera(DeviceCamera):
    """A borrowed camera, which stays open after the game."""

    def close(self) -> None:
        """Free exposure and white balance, but leave the camera open."""
        self._device.free_light()


def open_plugged_in(source: str, clock: Clock) -> DeviceCamera:
    """Open a camera for a game. *source* is a setting for `hardware.camera.open_device`.

    Raises:
        CameraError: If there is no such camera, or it cannot be used.
    """
    with quiet_libraries():  # OpenCV and libcamera repeat errors on stderr.
        return DeviceCamera(source, open_device(source, clock), clock)
