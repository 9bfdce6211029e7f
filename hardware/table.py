"""All parts of a table: virtual parts, the table [hardware] of table.toml, opening parts, and running them in a game.

Each part has its own thread, so no call except `Parts.close` waits for a device that hangs or is missing. A part is
reopened after failures.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Generic, Literal, Protocol, Self, TypeAlias, TypeVar

from pydantic import Field, ValidationInfo, field_validator, model_validator

from hardware.buttons.drivers import BUTTONS, ButtonsDriver
from hardware.buttons.panel import ButtonError, ButtonPress, Buttons, PressKind, VirtualButtons
from hardware.display.display import DisplayError, ScoreDisplay, VirtualDisplay
from hardware.display.drivers import DISPLAYS, DisplayDriver
from hardware.display.page import DisplayPage
from hardware.knock.classifier import Classifier
from hardware.knock.detector import KnockDetector
from hardware.knock.drivers import KNOCKS, KnockDriver
from hardware.knock.sensor import ClassifiedSound, KnockError, KnockSensor, VirtualKnock
from hardware.leds.drivers import LEDS, LEDS_FOR, MIN_FOR_ALL, LedCount, LedsDriver, LedsRole, Shows, lit
from hardware.leds.lamps import Lamps, LedError, TableState, VirtualLeds, glow_at
from hardware.libraries import OpenPins, PinError, PinLibrary, SharedPins, open_pins
from hardware.part import (
    OFF,
    ByDriver,
    Clock,
    Lax,
    PartSettings,
    PartState,
    Rgb,
    SettingsTable,
    conflicts,
    listed_faults,
    same_ports,
)


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
        screen: Rows of the display. Empty if there is no display.
        pressed: Buttons pressed within the last 0.7 s.
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


P = TypeVar("P", bound=PartSettings)
ButtonsSettings: TypeAlias = ButtonsDriver | VirtualSettings
KnockSettings: TypeAlias = KnockDriver | VirtualSettings
DisplaySettings: TypeAlias = DisplayDriver | VirtualSettings


class HardwareSettings(SettingsTable):
    """The table [hardware]."""

    leds: Annotated[tuple[Annotated[LedsDriver, ByDriver("NoLeds", LEDS, VirtualLedsSettings)], ...], Lax] = ()
    buttons: Annotated[ButtonsSettings, ByDriver("NoButtons", BUTTONS, VirtualSettings)] | None = None
    knock: Annotated[KnockSettings, ByDriver("NoKnock", KNOCKS, VirtualSettings)] | None = None
    displays: Annotated[
        tuple[Annotated[DisplaySettings, ByDriver("NoDisplay", DISPLAYS, VirtualSettings)], ...], Lax
    ] = ()
    pins: Annotated[PinLibrary, Lax, Field(description="pin library")] = PinLibrary.AUTO

    @property
    def parts(self) -> tuple[PartSettings, ...]:
        """All configured parts."""
        return tuple(part for part in (*self.leds, self.buttons, self.knock, *self.displays) if part is not None)

    def without(self, driver: str) -> Self:
        """Return a copy without parts of the given driver, such as `OFF`."""

        def is_kept(part: PartSettings | None) -> bool:
            return part is not None and part.driver != driver

        parts = {
            "leds": tuple(filter(is_kept, self.leds)),
            "buttons": self.buttons if is_kept(self.buttons) else None,
            "knock": self.knock if is_kept(self.knock) else None,
            "displays": tuple(filter(is_kept, self.displays)),
        }
        return self.model_copy(update=parts)

    @field_validator("leds", "displays")
    @classmethod
    def _name_each(cls, parts: tuple[P, ...], info: ValidationInfo) -> tuple[P, ...]:
        name = f"hardware.{info.field_name}"
        if len(parts) == 1:
            return (parts[0].named(name),)
        return tuple(part.named(f"{name} {number}") for number, part in enumerate(parts, start=1))

    @field_validator("buttons", "knock")
    @classmethod
    def _name_single(cls, part: P | None, info: ValidationInfo) -> P | None:
        return None if part is None else part.named(f"hardware.{info.field_name}")

    @model_validator(mode="after")
    def _check_conflicts(self) -> Self:
        active = self.without(OFF)
        messages = (*conflicts(active.parts), *same_ports(active.displays))
        if messages:
            raise listed_faults(messages)
        return self


class PartOpener:
    """Opens parts. Parts on pins share a pin factory. Exceptions of drivers propagate."""

    def __init__(
        self,
        library: PinLibrary,
        panel: VirtualPanel,
        clock: Clock,
        classifier: Classifier | None = None,
    ) -> None:
        """Create an opener.

        Args:
            library: Library that drives the pins.
            panel: Panel to which virtual parts are added.
            clock: Monotonic clock in nanoseconds.
            classifier: Classifier for sensors that record sound, by default the shipped one.
        """
        self._classifier = classifier
        self._detectors: list[KnockDetector] = []
        self._panel, self._clock = panel, clock
        self._pins = SharedPins(lambda: open_pins(library))

    def leds(self, part: LedsDriver) -> Lamps:
        """Open LEDs."""
        if isinstance(part, VirtualLedsSettings):
            return Lamps(self._panel.open_leds(part))
        return Lamps(part.open(self._pins))

    def buttons(self, part: ButtonsSettings) -> Buttons:
        """Open buttons."""
        if isinstance(part, VirtualSettings):
            return self._panel.open_buttons()
        return part.open(self._pins, self._clock)

    def knock(self, part: KnockSettings) -> KnockSensor:
        """Open and start a knock sensor."""
        if isinstance(part, VirtualSettings):
            sensor: KnockSensor = self._panel.open_knock()
        else:
            sensor = part.open(self._pins, self._clock, self._new_detector)
        sensor.start()
        return sensor

    def use(self, classifier: Classifier) -> None:
        """Use another classifier for sensors that record sound: those open now, and those opened later. Thread-safe."""
        self._classifier = classifier
        for detector in tuple(self._detectors):
            detector.use(classifier)

    def _new_detector(self) -> KnockDetector:
        """Return a detector. A table has one sensor, so an earlier detector is no longer used."""
        detector = KnockDetector(self._classifier)
        self._detectors = [detector]
        if self._classifier is not None:  # It may have changed meanwhile.
            detector.use(self._classifier)
        return detector

    def display(self, part: DisplaySettings) -> ScoreDisplay:
        """Open a display, even if it is unplugged."""
        return self._panel.open_display() if isinstance(part, VirtualSettings) else part.open(self._clock)


# Delays before reopening a part.
_BACK_OFF_S = (0.5, 1.0, 2.0, 5.0)
# Maximum time to wait for a part to close. A hung device must not prevent the program from ending.
CLOSES_S = 3.0
_PART_ERRORS = (OSError, ValueError, PinError, LedError, ButtonError, KnockError, DisplayError)


class OpenedPart(Protocol):
    """A part that can be closed."""

    def close(self) -> None:
        """Release the part."""


OpenedT = TypeVar("OpenedT", bound=OpenedPart)


class SupervisedPart(Generic[OpenedT]):
    """A part that is opened, used, and reopened after failures, until it is closed. Its thread runs all functions.

    Args:
        name: Name for users.
        open_part: Opens the part, or raises an error of the part. May block.
        use: Performs the current work and returns the state. If it raises an error of the part, the part is reopened.
        every_s: Interval between calls of *use*.
        back_off_s: Delays after consecutive failures. The last one repeats.
    """

    def __init__(
        self,
        name: str,
        open_part: Callable[[], OpenedT],
        use: Callable[[OpenedT], PartState],
        every_s: float,
        *,
        back_off_s: tuple[float, ...] = _BACK_OFF_S,
    ) -> None:
        self._open, self._use, self._every_s, self._back_off_s = open_part, use, every_s, back_off_s
        self.name, self.state = name, PartState(is_opening=True)
        self._stops = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"part {name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Request the thread to stop, without waiting."""
        self._stops.set()

    def close(self, within_s: float = CLOSES_S) -> None:
        """Stop the thread, and wait up to *within_s* until the part is closed."""
        self._stops.set()
        self._thread.join(within_s)

    def _run(self) -> None:
        failures = 0
        try:
            while not self._stops.is_set():
                try:
                    part = self._open()
                except _PART_ERRORS as error:
                    self.state = PartState(str(error))
                else:
                    failures = 0 if self._use_until_failure(part) else failures
                self._stops.wait(self._back_off_s[min(failures, len(self._back_off_s) - 1)])
                failures += 1
        finally:
            if not self._stops.is_set():  # An unexpected exception ends the thread, and is reported here.
                self.state = PartState("it has stopped permanently: restart the program")

    def _use_until_failure(self, part: OpenedT) -> bool:
        """Use the part until it fails or is stopped. Return True if it has worked at least once."""
        has_worked = False
        try:
            while not self._stops.is_set():
                self.state = self._use(part)
                has_worked = True
                self._stops.wait(self._every_s)
        except _PART_ERRORS as error:
            self.state = PartState(str(error))
        finally:
            part.close()
        return has_worked


PartInput: TypeAlias = ButtonPress | ClassifiedSound
"""Input from parts: a press, a knock, or a sound that may have been a pass or that the table may learn from."""

# Polling intervals. LEDs blink at most twice a second, and a press is detected 15 ms after release.
_LEDS_S = 0.05
_BUTTONS_S = 0.02
_KNOCK_S = 0.02
_DISPLAY_S = 0.05
_MAX_WAITING = 256


class OpensParts(Protocol):
    """Interface that opens parts, such as `hardware.table.PartOpener`."""

    def leds(self, part: LedsDriver) -> Lamps:
        """Open LEDs."""

    def buttons(self, part: ButtonsSettings) -> Buttons:
        """Open buttons."""

    def knock(self, part: KnockSettings) -> KnockSensor:
        """Open and start a knock sensor."""

    def display(self, part: DisplaySettings) -> ScoreDisplay:
        """Open a display."""


class Parts:
    """All configured parts. Each is opened immediately, and reopened whenever it fails."""

    def __init__(self, config: HardwareSettings, opener: OpensParts, *, clock: Clock) -> None:
        """Start a thread for each part. *clock* is monotonic, in nanoseconds."""
        self._clock = clock
        self._state: TableState | None = None
        self._page: DisplayPage | None = None
        self._inputs: deque[PartInput] = deque(maxlen=_MAX_WAITING)
        self._supervised: list[SupervisedPart[Any]] = [
            SupervisedPart(leds.name, partial(opener.leds, leds), partial(self._shine, leds), _LEDS_S)
            for leds in config.leds
        ]
        if (buttons := config.buttons) is not None:
            open_buttons = partial(opener.buttons, buttons)
            self._supervised.append(SupervisedPart(buttons.name, open_buttons, self._read_buttons, _BUTTONS_S))
        if (knock := config.knock) is not None:
            self._supervised.append(SupervisedPart(knock.name, partial(opener.knock, knock), self._listen, _KNOCK_S))
        self._supervised += [
            SupervisedPart(display.name, partial(opener.display, display), self._show_page, _DISPLAY_S)
            for display in config.displays
        ]

    @property
    def problems(self) -> dict[str, str]:
        """Problem or warning of each part that has one, by name."""
        return {part.name: trouble for part in self._supervised if (trouble := part.state.trouble) is not None}

    def show(self, state: TableState, page: DisplayPage) -> None:
        """Set the state shown by LEDs and the page shown by displays. Does not wait."""
        self._state, self._page = state, page

    def read(self) -> tuple[PartInput, ...]:
        """Return the presses and sounds since the last call, without waiting. Only the last 256 are kept."""
        inputs: list[PartInput] = []
        while self._inputs:
            inputs.append(self._inputs.popleft())
        return tuple(inputs)

    def close(self) -> None:
        """Turn the LEDs off and release all parts. Waits up to 3 s in total. Further calls do nothing."""
        for part in self._supervised:
            part.stop()
        began_s = time.perf_counter()
        for part in self._supervised:
            part.close(max(0.0, CLOSES_S - (time.perf_counter() - began_s)))

    def _shine(self, part: LedsDriver, lamps: Lamps) -> PartState:
        if self._state is not None:
            lamps.light(lit(part.shows, part.led_count, glow_at(self._state, self._clock())))
        if lamps.state.problem is not None:
            raise OSError(lamps.state.problem)
        return lamps.state

    def _read_buttons(self, buttons: Buttons) -> PartState:
        self._inputs.extend(buttons.read())
        return buttons.state

    def _listen(self, sensor: KnockSensor) -> PartState:
        self._inputs.extend(heard for heard in sensor.read() if heard.may_be_pass or heard.is_learnable)
        return sensor.state

    def _show_page(self, display: ScoreDisplay) -> PartState:
        if self._page is not None:
            display.show(self._page)
        return display.state
