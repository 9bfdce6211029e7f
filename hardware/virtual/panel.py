"""All virtual parts of a table as one object: what a terminal or a page shows of them, and what it presses."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from hardware.buttons.debounce import PressKind
from hardware.buttons.panel import VirtualButtons
from hardware.colour import Rgb
from hardware.leds.shown import LedsRole
from hardware.virtual.drivers import VirtualDisplay, VirtualKnock, VirtualLeds, VirtualLedsSettings

# Somebody who looks at the panel sees for so long what was pressed.
_SEEN_NS = 700_000_000


@dataclass(frozen=True, slots=True)
class LedsLook:
    """What a set of LEDs shows, and what it is for."""

    shows: LedsRole
    colours: tuple[Rgb, ...]


@dataclass(frozen=True, slots=True)
class PanelLook:
    """What the panel looks like at a time.

    Attributes:
        leds: Each set of LEDs.
        screen: The rows of the display; none where there is no display.
        buttons: Which buttons there are.
        pressed: Those that were pressed just now.
        hears: Whether there is a knock sensor.
        is_knocked: Whether it has just heard a knock.
    """

    leds: tuple[LedsLook, ...]
    screen: tuple[str, ...]
    buttons: tuple[str, ...]
    pressed: frozenset[str]
    hears: bool
    is_knocked: bool


class VirtualPanel:
    """Parts that are there once something has opened them; any thread may look, press and knock."""

    def __init__(self, buttons: tuple[str, ...]) -> None:
        """Have *buttons*, by their names, where buttons are opened."""
        self._lock = threading.Lock()
        self._names = buttons
        self._leds: dict[str, tuple[LedsRole, VirtualLeds]] = {}
        self._buttons: VirtualButtons | None = None
        self._knock: VirtualKnock | None = None
        self._display: VirtualDisplay | None = None
        self._pressed_ns: dict[str, int] = {}
        self._knocked_ns: int | None = None

    def open_leds(self, part: VirtualLedsSettings) -> VirtualLeds:
        """Return a set of LEDs; another one of the same name takes its place."""
        leds = part.open()
        with self._lock:
            self._leds[part.name] = (part.shows, leds)
        return leds

    def open_buttons(self) -> VirtualButtons:
        """Return the buttons."""
        self._buttons = VirtualButtons(self._names)
        return self._buttons

    def open_knock(self) -> VirtualKnock:
        """Return the knock sensor."""
        self._knock = VirtualKnock()
        return self._knock

    def open_display(self) -> VirtualDisplay:
        """Return the display."""
        self._display = VirtualDisplay()
        return self._display

    def has_button(self, name: str) -> bool:
        """Return whether a button can be pressed."""
        return self._buttons is not None and name in self._names

    @property
    def hears(self) -> bool:
        """Whether a knock is heard."""
        return self._knock is not None

    def press(self, button: str, t_ns: int, kind: PressKind = PressKind.SHORT) -> None:
        """Press a button that is there (`has_button`).

        Raises:
            ButtonError: If there is no such button, or the buttons were closed.
        """
        if self._buttons is not None:
            self._buttons.press(button, t_ns, kind)
            with self._lock:
                self._pressed_ns[button] = t_ns

    def knock(self, t_ns: int, seat: int | None = None, *, strength: float = 0.5, confidence: float = 1.0) -> None:
        """Knock on the table, if something hears it."""
        if self._knock is not None:
            self._knock.knock(t_ns, seat, strength=strength, confidence=confidence)
            self._knocked_ns = t_ns

    def look(self, t_ns: int) -> PanelLook:
        """Return what can be seen at a time."""
        with self._lock:
            leds = tuple(LedsLook(shows, one.colours) for shows, one in self._leds.values())
            pressed = frozenset(name for name, at_ns in self._pressed_ns.items() if t_ns - at_ns < _SEEN_NS)
        return PanelLook(
            leds,
            () if self._display is None else self._display.rows(t_ns),
            () if self._buttons is None else self._names,
            pressed,
            self.hears,
            self._knocked_ns is not None and t_ns - self._knocked_ns < _SEEN_NS,
        )
