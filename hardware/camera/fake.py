"""Cameras without a device: none at all, and one for tests that is stricter than any real one."""

from __future__ import annotations

from hardware.camera.device import CameraError, CameraMode, Light, Picture
from hardware.part_state import PartState


class NoCamera:
    """A table without a camera: `none`."""

    def __init__(self) -> None:
        self._is_closed = False

    state = PartState()
    """Never a problem: none is wanted."""
    mode: CameraMode | None = None
    light, blind, hangs, pictures = Light.FREE, None, False, 0

    def take(self, since_ns: int = 0) -> Picture | None:
        """Nothing is ever seen."""
        if self._is_closed:
            raise CameraError("none: it is closed, and gives no more pictures")
        return None

    def hold_light(self) -> None:
        """Do nothing."""

    def free_light(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """See nothing any more."""
        self._is_closed = True


class FakeCamera:
    """Shows what a test lets it; complains about time that runs backwards, other sizes, and use after it was closed."""

    blind, hangs = None, False

    def __init__(self, mode: CameraMode) -> None:
        """Show pictures of a size."""
        self.mode = mode
        self.light = Light.FREE
        self.state = PartState()
        self._newest: Picture | None = None
        self._last_ns: int | None = None
        self.pictures = 0
        self.is_closed = False

    def show(self, picture: Picture) -> None:
        """Let it see something.

        Raises:
            CameraError: If it cannot, or no camera would.
        """
        self._require_open("shown something")
        if self.state.problem is not None:
            raise CameraError(f"fake: told to see, but it cannot: {self.state.problem}")
        if self._last_ns is not None and picture.t_ns <= self._last_ns:
            raise CameraError(f"fake: expected times in order, but {picture.t_ns} ns came after {self._last_ns} ns")
        expected = (self.mode.height_px, self.mode.width_px, 3)
        if picture.image.shape != expected:
            raise CameraError(f"fake: pictures must have shape {expected}, but got {picture.image.shape}")
        self._newest, self._last_ns = picture, picture.t_ns
        self.pictures += 1

    def unplug(self, problem: str) -> None:
        """Let it fail from now on."""
        self.state = PartState(problem)

    def plug_in(self) -> None:
        """Let it work again."""
        self.state = PartState()

    def take(self, since_ns: int = 0) -> Picture | None:
        """Return what it was let see last."""
        self._require_open("asked for a picture")
        if self._newest is not None and self._newest.t_ns < since_ns:
            return None
        newest, self._newest = self._newest, None
        return newest

    def hold_light(self) -> None:
        """Hold it at once."""
        self._require_open("told to hold its light")
        self.light = Light.HELD

    def free_light(self) -> None:
        """Free it at once."""
        self._require_open("told to free its light")
        self.light = Light.FREE

    def close(self) -> None:
        """See nothing any more."""
        self.is_closed = True

    def _require_open(self, what: str) -> None:
        if self.is_closed:
            raise CameraError(f"fake: {what}, but it is closed")
