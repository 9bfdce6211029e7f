"""Virtual LEDs, knock sensor and display. All implement the protocol of their part, and are thread-safe."""

from __future__ import annotations

import threading
from collections import deque
from typing import Annotated, Literal

from pydantic import Field

from hardware.colour import Rgb
from hardware.config.part import PartSettings
from hardware.display.display import refuse_if_closed
from hardware.display.page import DisplayPage
from hardware.display.rows import screen_at
from hardware.display.text import TERMINAL_CHARACTERS
from hardware.knock.heard import ClassifiedSound
from hardware.knock.sensor import SensorLifecycle
from hardware.leds.driver import LedCount, LedsDriver, Shows
from hardware.leds.lamps import LedError
from hardware.leds.patterns import OFF
from hardware.leds.shown import LEAST_FOR_ALL, LEDS_FOR, LedsRole
from hardware.libraries.pin_factory import OpenPins
from hardware.part_state import PartState

COLUMNS, ROWS = 20, 4
"""Size of the virtual display, the same as the larger SerLCD."""


class VirtualLeds:
    """LEDs that store their colours."""

    def __init__(self, count: int) -> None:
        """Create *count* LEDs, which are off."""
        self._colours: tuple[Rgb, ...] = (OFF,) * count
        self._is_released = False

    @property
    def count(self) -> int:
        """Number of LEDs."""
        return len(self._colours)

    @property
    def colours(self) -> tuple[Rgb, ...]:
        """Current colours."""
        return self._colours

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Set the colour of each LED.

        Raises:
            LedError: If the LEDs were released.
        """
        if self._is_released:
            raise LedError("the virtual LEDs are closed")
        self._colours = colours

    def require_connected(self) -> None:
        """Do nothing: virtual LEDs are always connected."""

    def release(self) -> None:
        """Reject further colours."""
        self._is_released = True


class VirtualKnock:
    """A sensor that returns simulated knocks."""

    def __init__(self) -> None:
        self._life = SensorLifecycle("virtual knock sensor")
        self._lock = threading.Lock()
        self._waiting: deque[ClassifiedSound] = deque()

    @property
    def state(self) -> PartState:
        """State without a problem."""
        return PartState()

    def start(self) -> None:
        """Start the sensor."""
        self._life.start()

    def knock(self, t_ns: int, seat: int | None = None, *, strength: float = 0.5, confidence: float = 1.0) -> None:
        """Queue a knock, even before the sensor is started. *strength* and *confidence* are from 0 to 1."""
        with self._lock:
            self._waiting.append(ClassifiedSound(t_ns, seat, strength, confidence))

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return the queued knocks, in order of time."""
        self._life.require_open()
        with self._lock:
            knocks = tuple(sorted(self._waiting, key=lambda knock: knock.t_ns))
            self._waiting.clear()
        return knocks

    def close(self) -> None:
        """Close the sensor."""
        self._life.end()


class VirtualDisplay:
    """A display with 20x4 characters that is always connected."""

    def __init__(self) -> None:
        self._page = DisplayPage()
        self._is_closed = False

    state = PartState()

    def show(self, page: DisplayPage) -> None:
        """Show a page."""
        refuse_if_closed(is_closed=self._is_closed)
        self._page = page

    def rows(self, t_ns: int) -> tuple[str, ...]:
        """Return the content at time *t_ns*: `ROWS` texts of `COLUMNS` characters."""
        return screen_at(self._page, COLUMNS, ROWS, t_ns, TERMINAL_CHARACTERS)

    def close(self) -> None:
        """Reject further pages."""
        self._is_closed = True


class VirtualSettings(PartSettings):
    """A part of the panel in the terminal or on the page."""

    driver: Literal["virtual"]


class VirtualLedsSettings(LedsDriver):
    """LEDs on the panel of the terminal or the page."""

    driver: Literal["virtual"]
    count: Annotated[LedCount | None, Field(description="number of LEDs; default: as many as needed")] = None
    shows: Shows = LedsRole.ALL

    @property
    def led_count(self) -> int:
        """Configured number, or else the usual number for their role."""
        usual = LEAST_FOR_ALL + 3 if self.shows is LedsRole.ALL else LEDS_FOR.get(self.shows, 4)
        return self.count or usual

    def open(self, pins: OpenPins | None = None) -> VirtualLeds:
        """Create the LEDs."""
        return VirtualLeds(self.led_count)
