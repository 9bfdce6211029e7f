"""A set of LEDs: what all kinds have in common, none, and a strict fake. They are off when they are let go."""

from __future__ import annotations

import threading
from typing import Protocol

from hardware.colour import Rgb
from hardware.leds.patterns import OFF
from hardware.part_state import PartState


class LedError(Exception):
    """LEDs that are set up or used wrongly."""


class LedDevice(Protocol):
    """One kind of LEDs."""

    @property
    def count(self) -> int:
        """How many there are."""

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Let each shine; may raise OSError."""

    def require_there(self) -> None:
        """Do nothing, or raise OSError where they have gone and that can be told without writing."""

    def release(self) -> None:
        """Let pins or buses go; may raise OSError."""


class Lamps:
    """LEDs of any kind. What they show is sent only when it changes, and again after it could not be sent."""

    def __init__(self, driver: LedDevice) -> None:
        """Use LEDs, which are dark at first."""
        self._driver = driver
        # A signal may come while the same thread is in here, so the lock must let it in again.
        self._lock = threading.RLock()
        self._shown: tuple[Rgb, ...] | None = None
        self._state = PartState()
        self._is_closed = False
        self.light((OFF,) * driver.count)

    @property
    def count(self) -> int:
        """How many there are."""
        return self._driver.count

    @property
    def state(self) -> PartState:
        """Their state after the last colours were sent."""
        return self._state

    def light(self, colours: tuple[Rgb, ...]) -> None:
        """Let each LED shine; where that fails it is a problem, no error, and is tried again at the next call.

        Raises:
            LedError: If there are more or fewer LEDs, or they were closed.
        """
        if len(colours) != self._driver.count:
            raise LedError(f"expected a colour for each of {self._driver.count} LEDs, but got {len(colours)}")
        with self._lock:
            if self._is_closed:
                raise LedError("the LEDs were closed: they cannot shine any more")
            self._send(colours)

    def close(self) -> None:
        """Turn them off and let them go. Once more does nothing."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._shown = None  # off is sent in any case, whatever is thought to be shown
            self._send((OFF,) * self._driver.count)
            try:
                self._driver.release()
            except OSError as error:
                self._state = PartState(f"the LEDs cannot be let go ({error})")

    def _send(self, colours: tuple[Rgb, ...]) -> None:
        try:
            if colours == self._shown:
                self._driver.require_there()
                return
            self._driver.write(colours)
        except OSError as error:
            self._shown = None
            self._state = PartState(f"the LEDs do not answer ({error}): are they wired, is SPI switched on?")
        else:
            self._shown, self._state = colours, PartState()


class NoLeds:
    """Where there are none: any number that never shines."""

    def __init__(self, count: int) -> None:
        self._count = count

    @property
    def count(self) -> int:
        """How many are left out."""
        return self._count

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Do nothing."""

    def require_there(self) -> None:
        """Do nothing."""

    def release(self) -> None:
        """Do nothing."""


class FakeLeds:
    """LEDs for tests: they keep what was shown, and take nothing after they were let go."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._is_released = self._is_unplugged = False
        self.shown: list[tuple[Rgb, ...]] = []

    @property
    def count(self) -> int:
        """How many there are."""
        return self._count

    def unplug(self) -> None:
        """Fail from now on."""
        self._is_unplugged = True

    def plug(self) -> None:
        """Work again."""
        self._is_unplugged = False

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Keep what is shown.

        Raises:
            OSError: If they are unplugged.
        """
        assert not self._is_released, "LEDs that were let go cannot shine"
        assert len(colours) == self._count, f"expected {self._count} colours, but got {len(colours)}"
        if self._is_unplugged:
            raise OSError("unplugged")
        self.shown.append(colours)

    def require_there(self) -> None:
        """Fail where they are unplugged.

        Raises:
            OSError: Then.
        """
        if self._is_unplugged:
            raise OSError("unplugged")

    def release(self) -> None:
        """Be let go, dark and only once."""
        assert not self._is_released, "let go twice"
        assert self._is_unplugged or self.shown[-1] == (OFF,) * self._count, "let go while they shine"
        self._is_released = True
