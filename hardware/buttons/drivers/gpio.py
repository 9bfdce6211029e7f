"""Buttons wired between pins of a Raspberry Pi and ground."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from hardware.buttons import panel
from hardware.buttons.drivers import ButtonsDriver, Tap
from hardware.libraries import OpenPins, close_devices, pin_errors
from hardware.part import Clock, PartState, Pin, PinNames, Pins


class GpioButtons:
    """Buttons driven by gpiozero. Callbacks timestamp edges, and reads poll all pins to catch dropped edges."""

    state = PartState()

    def __init__(
        self,
        pins: Mapping[str, int],
        factory: Any,
        *,
        timing: panel.PressTiming | None = None,
        clock: Clock = time.monotonic_ns,
        tap: Tap | None = None,
    ) -> None:
        """Start watching pins.

        Args:
            pins: BCM number of each button, by name.
            factory: gpiozero pin factory (`hardware.libraries`), never gpiozero's default.
            timing: Thresholds for detecting presses.
            clock: Monotonic clock in nanoseconds.
            tap: Called with every sample.

        Raises:
            ButtonError: If two buttons share a pin, or a pin is in use.
        """
        from gpiozero import DigitalInputDevice

        if len(set(pins.values())) < len(pins):
            raise panel.ButtonError(f"each button needs a pin of its own, but got {dict(pins)}")
        self._timing, self._clock, self._tap = timing or panel.PressTiming(), clock, tap
        self._factory = factory
        self.names = tuple(pins)
        self._edges: deque[tuple[str, panel.PinSample]] = deque()
        self._states = dict.fromkeys(pins, panel.Debouncing())
        self._devices: dict[str, Any] = {}
        self._is_closed = False
        for name, pin in pins.items():
            try:
                # gpiozero's own debouncing (bounce_time) drops edges: see hardware/buttons/panel.py.
                device = DigitalInputDevice(pin, pull_up=True, bounce_time=None, pin_factory=factory)
            except pin_errors() as error:
                self.close()
                raise panel.ButtonError(f"the button {name} cannot have pin {pin}: {error}") from None
            self._devices[name] = device
            self._listen(name, device)
        self._poll()

    def read(self) -> tuple[panel.ButtonPress, ...]:
        """Return the presses since the last call, in order of time."""
        panel.refuse_if_closed(is_closed=self._is_closed)
        return tuple(sorted(self._poll(), key=lambda pressed: pressed.press.t_ns))

    def close(self) -> None:
        """Release the pins."""
        self._is_closed = True
        close_devices(self._devices.values(), self._factory)

    def _listen(self, name: str, device: Any) -> None:
        """Queue each edge with its time. gpiozero calls back from its own thread."""
        device.when_activated = lambda: self._edges.append((name, panel.PinSample(self._clock(), is_down=True)))
        device.when_deactivated = lambda: self._edges.append((name, panel.PinSample(self._clock(), is_down=False)))

    def _poll(self) -> list[panel.ButtonPress]:
        presses: list[panel.ButtonPress] = []
        while self._edges:
            presses += self._feed(*self._edges.popleft())
        for name, device in self._devices.items():
            try:
                is_down = bool(device.value)
            except pin_errors() as error:
                raise panel.ButtonError(f"the pin of the button {name} cannot be read: {error}") from None
            presses += self._feed(name, panel.PinSample(self._clock(), is_down=is_down))
        return presses

    def _feed(self, name: str, sample: panel.PinSample) -> list[panel.ButtonPress]:
        if self._tap is not None:
            self._tap(name, sample)
        self._states[name], presses = panel.feed(self._states[name], sample, self._timing)
        return [panel.ButtonPress(name, press) for press in presses]


ButtonPins = Annotated[Pin | Pins | None, Field(title="BCM pins 2 to 27, one or a list by seat")]


class GpioSettings(ButtonsDriver):
    """Buttons between a pin and ground."""

    driver: Literal["gpio"]
    call: ButtonPins = None
    knock: ButtonPins = None
    draw: ButtonPins = None
    done: ButtonPins = None
    next: Pin | None = None
    undo: Pin | None = None
    stands: Pin | None = None
    hand_end: Pin | None = None
    redeal: Pin | None = None
    stack: Pin | None = None
    table: Pin | None = None

    @property
    def wired(self) -> dict[str, int]:
        """The pin of each button, by name."""
        wired: dict[str, int] = {}
        for button in (*panel.SEAT_BUTTONS, *panel.SHARED_BUTTONS):
            pins: int | tuple[int, ...] | None = getattr(self, button)
            by_seat = enumerate(pins) if isinstance(pins, tuple) else [(None, pins)]
            wired |= {panel.button_name(button, seat): pin for seat, pin in by_seat if pin is not None}
        return wired

    @property
    def pin_uses(self) -> PinNames:
        """The pin of each button."""
        return [(pin, f"button {name}") for name, pin in self.wired.items()]

    def open(self, pins: OpenPins, clock: Clock, tap: Tap | None = None) -> GpioButtons:
        """Open the buttons."""
        return GpioButtons(self.wired, pins(), clock=clock, tap=tap)
