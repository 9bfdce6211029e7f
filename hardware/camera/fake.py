"""Cameras without a device: a null camera, and a strict fake for tests."""

from __future__ import annotations

from hardware.camera.device import CameraError, CameraMode, Light, Picture
from hardware.part_state import PartState


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


class FakeCamera:
    """Camera for tests that returns given pictures. Rejects times out of order, other sizes, and use after closing."""

    blind, hangs = None, False

    def __init__(self, mode: CameraMode) -> None:
        """Create a camera with the given mode."""
        self.mode = mode
        self.light = Light.FREE
        self.state = PartState()
        self._newest: Picture | None = None
        self._last_ns: int | None = None
        self.pictures = 0
        self.is_closed = False

    def show(self, picture: Picture) -> None:
        """Set the newest picture.

        Raises:
            CameraError: If the camera is closed or unplugged, or time or shape of the picture are wrong.
        """
        self._require_open("shown something")
        if self.state.problem is not None:
            raise CameraError(f"fake: asked to show a picture, but it cannot: {self.state.problem}")
        if self._last_ns is not None and picture.t_ns <= self._last_ns:
            raise CameraError(f"fake: expected times in order, but {picture.t_ns} ns came after {self._last_ns} ns")
        expected = (self.mode.height_px, self.mode.width_px, 3)
        if picture.image.shape != expected:
            raise CameraError(f"fake: pictures must have shape {expected}, but got {picture.image.shape}")
        self._newest, self._last_ns = picture, picture.t_ns
        self.pictures += 1

    def unplug(self, problem: str) -> None:
        """Simulate *problem*."""
        self.state = PartState(problem)

    def plug_in(self) -> None:
        """End the simulated problem."""
        self.state = PartState()

    def take(self, since_ns: int = 0) -> Picture | None:
        """Return the newest picture once, if it was taken at *since_ns* or later."""
        self._require_open("asked for a picture")
        if self._newest is not None and self._newest.t_ns < since_ns:
            return None
        newest, self._newest = self._newest, None
        return newest

    def hold_light(self) -> None:
        """Hold the light immediately."""
        self._require_open("told to hold its light")
        self.light = Light.HELD

    def free_light(self) -> None:
        """Free the light immediately."""
        self._require_open("told to free its light")
        self.light = Light.FREE

    def close(self) -> None:
        """Reject further use."""
        self.is_closed = True

    def _require_open(self, action: str) -> None:
        if self.is_closed:
            raise CameraError(f"fake: {action}, but it is closed")
