"""Give a calibration its pictures: from a camera, a file, or a simulated table."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from hardware.camera.device import CameraDevice, CameraError, Light
from hardware.camera.open_device import is_device, open_device
from hardware.clock import Clock
from tallybone.calibrate.scenes import AskedScene
from tallybone.terminal import quiet_libraries
from vision.arrays import Image
from vision.image.picture import load_picture

_NS_PER_S = 1_000_000_000
# Adapting to the light takes three seconds, opening some cameras as long.
_LONGEST_S, _POLL_S = 15.0, 0.02


class Onlooker(Protocol):
    """A camera while a table is measured. It never waits; only its newest picture counts."""

    @property
    def problem(self) -> str | None:
        """Why it gives no pictures, in words."""

    @property
    def light(self) -> Light:
        """Whether it adapts to the light or holds it."""

    def take(self) -> Image | None:
        """Return the newest picture, once; shape (H, W, 3), BGR."""

    def present(self, scene: AskedScene) -> None:
        """Show a scene, if it can make one; before a real camera people lay it out."""

    def hold_light(self) -> None:
        """Let it adapt, then keep exposure and white balance."""

    def close(self) -> None:
        """Close it."""


class DeviceLook:
    """A camera that is plugged in; it adapts to the light until that is held."""

    def __init__(self, device: CameraDevice) -> None:
        """Look through *device*."""
        self._device = device
        device.free_light()

    @property
    def problem(self) -> str | None:
        """Why it gives no pictures."""
        return self._device.state.problem

    @property
    def light(self) -> Light:
        """Whether it adapts to the light or holds it."""
        return self._device.light

    def take(self) -> Image | None:
        """Return the newest picture."""
        picture = self._device.take()
        return None if picture is None else picture.image

    def present(self, scene: AskedScene) -> None:
        """Do nothing: people lay it out."""

    def hold_light(self) -> None:
        """Let it adapt, then keep the light."""
        self._device.hold_light()

    def close(self) -> None:
        """Close the camera."""
        self._device.close()


class LentLook(DeviceLook):
    """A camera that is open before a table is measured, and stays so after it."""

    def close(self) -> None:
        """Give it back; its light is free again."""
        self._device.free_light()


class StillLook:
    """A picture that was taken, again and again."""

    problem: str | None = None
    light = Light.FREE

    def __init__(self, image: Image) -> None:
        """Show *image*."""
        self._image = image

    def take(self) -> Image | None:
        """Return it."""
        return self._image

    def present(self, scene: AskedScene) -> None:
        """Do nothing: the picture stays as it is."""

    def hold_light(self) -> None:
        """Do nothing: the picture stays as it is."""

    def close(self) -> None:
        """Do nothing."""


def open_look(source: str, clock: Clock) -> Onlooker:
    """Return the camera or picture that shows the table.

    Args:
        source: `usb:0` and the like, the path of a picture, or `simulated`, `simulated:seats=3,mat=no,seed=2`.
        clock: Monotonic, in nanoseconds.

    Raises:
        CameraError: If there is no such camera, or it cannot be used.
        VisionError: If it is no picture.
        OSError: If the picture cannot be read.
    """
    if source.partition(":")[0] == "simulated":
        from tallybone.calibrate.simulated import open_simulated_look  # a table without it loads no renderer

        return open_simulated_look(source)
    with quiet_libraries():
        if is_device(source):
            return DeviceLook(open_device(source, clock))
        return StillLook(load_picture(Path(source)))


def wait_for_picture(look: Onlooker, clock: Clock, *, pause: Callable[[float], object] | None = None) -> Image:
    """Return the next picture, with the light held where the camera can.

    Args:
        look: The camera.
        clock: Monotonic, in nanoseconds.
        pause: Waits a number of seconds, by default of real time.

    Raises:
        CameraError: If none comes for some seconds; with the reason.
    """
    pause = pause or threading.Event().wait
    look.hold_light()
    began_ns = clock()
    while clock() - began_ns < _LONGEST_S * _NS_PER_S:
        image = look.take()
        if image is not None:
            return image
        pause(_POLL_S)
    raise CameraError(look.problem or f"the camera gives no picture within {_LONGEST_S:.0f} seconds")
