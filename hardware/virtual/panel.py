"""All virtual parts of a table as a single object for terminals and pages."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from hardware.buttons.debounce import PressKind
from hardware.buttons.panel import VirtualButtons
from hardware.colour import Rgb
from hardware.leds.shown import LedsRole
from hardware.virtual.drivers import VirtualDisplay, VirtualKnock, VirtualLeds, VirtualLedsSettings

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
        hears: Whether there is a knock sensor.
        is_knocked: Whether there was a knock within the last 0.7 s.
    """

    leds: tuple[LedsLook, ...]
    screen: tuple[str, ...]
    buttons: tuple[str, ...]
    pressed: frozenset[str]
    hears: bool
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
    def hears(self) -> bool:
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
            self.hears,
            self._knocked_ns is not None and t_ns - self._knocked_ns < _SEEN_NS,
        )
