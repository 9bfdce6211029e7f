"""Virtual LEDs, knock sensor and display, thread-safe, and all of them as one object for terminals and pages."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from hardware.buttons.panel import PressKind, VirtualButtons
from hardware.colour import Rgb
from hardware.config.part import PartSettings
from hardware.display.display import refuse_if_closed
from hardware.display.encoder import TERMINAL_CHARACTERS, screen_at
from hardware.display.page import DisplayPage
from hardware.knock.heard import ClassifiedSound
from hardware.knock.sensor import SensorLifecycle
from hardware.leds.driver import LEDS_FOR, MIN_FOR_ALL, LedCount, LedsDriver, LedsRole, Shows
from hardware.leds.lamps import LedError
from hardware.leds.patterns import OFF
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
        usual = MIN_FOR_ALL + 3 if self.shows is LedsRole.ALL else LEDS_FOR.get(self.shows, 4)
        return self.count or usual

    def open(self, pins: OpenPins | None = None) -> VirtualLeds:
        """Create the LEDs."""
        return VirtualLeds(self.led_count)


# Time for which presses and knocks stay visible.
_SEEN_NS = 700_000_000


@dataclass(frozen=True, slots=True)
class LedsLook:
    """Role and colours of a set of LEDs."""

    shows: LedsRole
    colours: tuple[Rgb, ...]


@dataclass(frozen=True, slots=True)
class PanelLook:
    """Visible state of the panel.

    Attributes:
        leds: Sets of LEDs.
        screen: Rows of the display. Empty if there is no display.
        buttons: Names of the buttons.
        pressed: Buttons pressed within the last 0.7 s.
        detects_knocks: Whether there is a knock sensor.
        is_knocked: Whether there was a knock within the last 0.7 s.
    """

    leds: tuple[LedsLook, ...]
    screen: tuple[str, ...]
    buttons: tuple[str, ...]
    pressed: frozenset[str]
    detects_knocks: bool
    is_knocked: bool


class VirtualPanel:
    """Panel of virtual parts, each available once it is opened. Thread-safe."""

    def __init__(self, buttons: tuple[str, ...]) -> None:
        """Create a panel without parts. *buttons* are the names used by `open_buttons`."""
        self._lock = threading.Lock()
        self._names = buttons
        self._leds: dict[str, tuple[LedsRole, VirtualLeds]] = {}
        self._buttons: VirtualButtons | None = None
        self._knock: VirtualKnock | None = None
        self._display: VirtualDisplay | None = None
        self._pressed_ns: dict[str, int] = {}
        self._knocked_ns: int | None = None

    def open_leds(self, part: VirtualLedsSettings) -> VirtualLeds:
        """Add a set of LEDs. It replaces a set with the same name."""
        leds = part.open()
        with self._lock:
            self._leds[part.name] = (part.shows, leds)
        return leds

    def open_buttons(self) -> VirtualButtons:
        """Add the buttons."""
        self._buttons = VirtualButtons(self._names)
        return self._buttons

    def open_knock(self) -> VirtualKnock:
        """Add the knock sensor."""
        self._knock = VirtualKnock()
        return self._knock

    def open_display(self) -> VirtualDisplay:
        """Add the display."""
        self._display = VirtualDisplay()
        return self._display

    def has_button(self, name: str) -> bool:
        """Return True if the button exists and buttons were opened."""
        return self._buttons is not None and name in self._names

    @property
    def detects_knocks(self) -> bool:
        """True if there is a knock sensor."""
        return self._knock is not None

    def press(self, button: str, t_ns: int, kind: PressKind = PressKind.SHORT) -> None:
        """Press a button. Does nothing if buttons were never opened.

        Raises:
            ButtonError: If there is no such button, or the buttons are closed.
        """
        if self._buttons is not None:
            self._buttons.press(button, t_ns, kind)
            with self._lock:
                self._pressed_ns[button] = t_ns

    def knock(self, t_ns: int, seat: int | None = None, *, strength: float = 0.5, confidence: float = 1.0) -> None:
        """Simulate a knock. Does nothing without a knock sensor."""
        if self._knock is not None:
            self._knock.knock(t_ns, seat, strength=strength, confidence=confidence)
            self._knocked_ns = t_ns

    def look(self, t_ns: int) -> PanelLook:
        """Return the visible state at time *t_ns*."""
        with self._lock:
            leds = tuple(LedsLook(shows, leds.colours) for shows, leds in self._leds.values())
            pressed = frozenset(name for name, at_ns in self._pressed_ns.items() if t_ns - at_ns < _SEEN_NS)
        return PanelLook(
            leds,
            () if self._display is None else self._display.rows(t_ns),
            () if self._buttons is None else self._names,
            pressed,
            self.detects_knocks,
            self._knocked_ns is not None and t_ns - self._knocked_ns < _SEEN_NS,
        )
