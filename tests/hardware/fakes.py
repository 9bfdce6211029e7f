"""Strict fakes of all parts: they record what they are given, and reject what a device would not do."""

from __future__ import annotations

from collections import deque

from hardware.buttons.panel import VirtualButtons
from hardware.camera.device import CameraError, CameraMode, Light, Picture
from hardware.display.display import refuse_if_closed
from hardware.display.page import DisplayPage
from hardware.knock.sensor import ClassifiedSound, KnockError, SensorLifecycle
from hardware.leds.lamps import OFF
from hardware.part import PartState, Rgb


class FakeButtons(VirtualButtons):
    """Buttons for tests, which can simulate a problem and check that all presses were read."""

    def break_down(self, problem: str) -> None:
        """Report *problem* as state."""
        self.state = PartState(problem)

    def check_all_read(self) -> None:
        """Check that every press was read.

        Raises:
            AssertionError: If a press was not read. The message lists the presses.
        """
        assert not self._waiting, f"never read: {list(self._waiting)}"


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


class FakeDisplay:
    """A display for tests. It records every page, and rejects anything else."""

    def __init__(self) -> None:
        self._pages: list[DisplayPage] = []
        self._is_closed = False
        self._state = PartState()

    @property
    def pages(self) -> tuple[DisplayPage, ...]:
        """All pages passed to `show`, oldest first."""
        return tuple(self._pages)

    @property
    def is_closed(self) -> bool:
        """True if the display was closed."""
        return self._is_closed

    @property
    def state(self) -> PartState:
        """State set by the test."""
        return self._state

    def unplug(self) -> None:
        """Simulate that the display is unplugged."""
        self._state = PartState("the display was unplugged")

    def plug(self) -> None:
        """Simulate that the display is plugged in again."""
        self._state = PartState()

    def show(self, page: DisplayPage) -> None:
        """Record a page.

        Raises:
            DisplayError: If the display is closed.
            TypeError: If *page* is not a `DisplayPage`.
        """
        refuse_if_closed(is_closed=self._is_closed)
        if not isinstance(page, DisplayPage):
            raise TypeError(f"expected a DisplayPage, but got {page!r}")
        self._pages.append(page)

    def close(self) -> None:
        """Reject further pages."""
        self._is_closed = True


class FakeLeds:
    """LEDs for tests. They record all colours in `shown`, and reject colours after `release`."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._is_released = self._is_unplugged = False
        self.shown: list[tuple[Rgb, ...]] = []

    @property
    def count(self) -> int:
        """Number of LEDs."""
        return self._count

    def unplug(self) -> None:
        """Start failing."""
        self._is_unplugged = True

    def plug(self) -> None:
        """Stop failing."""
        self._is_unplugged = False

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Record the colours.

        Raises:
            OSError: If the LEDs are unplugged.
        """
        assert not self._is_released, "written after release"
        assert len(colours) == self._count, f"expected {self._count} colours, but got {len(colours)}"
        if self._is_unplugged:
            raise OSError("unplugged")
        self.shown.append(colours)

    def require_connected(self) -> None:
        """Check that the LEDs are plugged in.

        Raises:
            OSError: If they are not.
        """
        if self._is_unplugged:
            raise OSError("unplugged")

    def release(self) -> None:
        """Release the LEDs. Asserts that they are off (unless unplugged), and that it is called once."""
        assert not self._is_released, "released twice"
        assert self._is_unplugged or self.shown[-1] == (OFF,) * self._count, "released while lit"
        self._is_released = True


class FakeKnockSensor(SensorLifecycle):
    """Sensor for tests that returns given sounds. It rejects times out of order, and unread sounds on closing."""

    def __init__(self) -> None:
        super().__init__("fake")
        self.state = PartState()
        self._waiting: deque[ClassifiedSound] = deque()
        self._last_ns: int | None = None

    def hear(self, *sounds: ClassifiedSound) -> None:
        """Queue sounds for `read`.

        Raises:
            KnockError: If the sensor is not open, is unplugged, or a sound is older than the previous one.
        """
        self.require_open()
        if self.state.problem is not None:
            raise KnockError(f"fake: asked to queue a sound, but it cannot: {self.state.problem}")
        for sound in sounds:
            if self._last_ns is not None and sound.t_ns < self._last_ns:
                raise KnockError(f"fake: expected times in order, but {sound.t_ns} ns came after {self._last_ns} ns")
            self._last_ns = sound.t_ns
            self._waiting.append(sound)

    def unplug(self, problem: str) -> None:
        """Simulate *problem*."""
        self.state = PartState(problem)

    def plug_in(self) -> None:
        """End the simulated problem."""
        self.state = PartState()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return the queued sounds."""
        self.require_open()
        sounds = tuple(self._waiting)
        self._waiting.clear()
        return sounds

    def close(self) -> None:
        """Close the sensor.

        Raises:
            KnockError: If queued sounds were not read.
        """
        if self.end() and self._waiting:
            raise KnockError(f"fake: closed, but {len(self._waiting)} sounds were never read")
