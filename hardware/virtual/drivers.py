"""LEDs, a knock sensor and a display that are only thought of; each does what its protocol says, from any thread."""

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
from hardware.part_state import PartState
from hardware.pin_factory import OpenPins

COLUMNS, ROWS = 20, 4
"""What the virtual display shows: as much as the larger SerLCD."""


class VirtualLeds:
    """LEDs that keep their colours."""

    def __init__(self, count: int) -> None:
        """Have *count* LEDs, dark at first."""
        self._colours: tuple[Rgb, ...] = (OFF,) * count
        self._is_released = False

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._colours)

    @property
    def colours(self) -> tuple[Rgb, ...]:
        """What they show."""
        return self._colours

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Keep what is to be shown.

        Raises:
            LedError: If they were let go.
        """
        if self._is_released:
            raise LedError("the virtual LEDs were let go: they cannot shine any more")
        self._colours = colours

    def require_connected(self) -> None:
        """Do nothing: they are always there."""

    def release(self) -> None:
        """Take no more colours."""
        self._is_released = True


class VirtualKnock:
    """A sensor that hears what it is told."""

    def __init__(self) -> None:
        self._life = SensorLifecycle("virtual knock sensor")
        self._lock = threading.Lock()
        self._waiting: deque[ClassifiedSound] = deque()

    @property
    def state(self) -> PartState:
        """Never a problem."""
        return PartState()

    def start(self) -> None:
        """Begin."""
        self._life.start()

    def knock(self, t_ns: int, seat: int | None = None, *, strength: float = 0.5, confidence: float = 1.0) -> None:
        """Hear a knock, *strength* and *confidence* of 0 to 1; before it was started it is heard too."""
        with self._lock:
            self._waiting.append(ClassifiedSound(t_ns, seat, strength, confidence))

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return what was heard, in the order of time."""
        self._life.require_open()
        with self._lock:
            heard = tuple(sorted(self._waiting, key=lambda one: one.t_ns))
            self._waiting.clear()
        return heard

    def close(self) -> None:
        """End."""
        self._life.end()


class VirtualDisplay:
    """A display of 20x4 characters that is always plugged in."""

    def __init__(self) -> None:
        self._page = DisplayPage()
        self._is_closed = False

    state = PartState()

    def show(self, page: DisplayPage) -> None:
        """Take a page."""
        refuse_if_closed(is_closed=self._is_closed)
        self._page = page

    def rows(self, t_ns: int) -> tuple[str, ...]:
        """Return what can be read on it at a time, `ROWS` texts of `COLUMNS` characters."""
        return screen_at(self._page, COLUMNS, ROWS, t_ns, TERMINAL_CHARACTERS)

    def close(self) -> None:
        """Take no more pages."""
        self._is_closed = True


class VirtualSettings(PartSettings):
    """A part of the panel in the terminal or on the page."""

    driver: Literal["virtual"]


class VirtualLedsSettings(LedsDriver):
    """LEDs on the panel of the terminal or the page."""

    driver: Literal["virtual"]
    count: Annotated[LedCount | None, Field(description="how many; else as many as they are for")] = None
    shows: Shows = LedsRole.ALL

    @property
    def led_count(self) -> int:
        """As many as they are for, unless the file says how many."""
        usual = LEAST_FOR_ALL + 3 if self.shows is LedsRole.ALL else LEDS_FOR.get(self.shows, 4)
        return self.count or usual

    def open(self, pins: OpenPins | None = None) -> VirtualLeds:
        """Return the LEDs."""
        return VirtualLeds(self.led_count)
