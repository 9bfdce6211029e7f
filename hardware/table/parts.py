"""Run all parts of a table during a game: update LEDs and displays, collect presses and knocks, report problems.

Each part has its own thread, so no call except `close` waits for a device that hangs or is missing.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any, Protocol, TypeAlias

from hardware.buttons.panel import ButtonPress, Buttons
from hardware.clock import Clock
from hardware.display.display import ScoreDisplay
from hardware.display.page import DisplayPage
from hardware.knock.heard import ClassifiedSound
from hardware.knock.sensor import KnockSensor
from hardware.leds.driver import LedsDriver
from hardware.leds.lamps import Lamps
from hardware.leds.patterns import TableState, glow_at
from hardware.leds.shown import lit
from hardware.part_state import PartState
from hardware.table.settings import ButtonsSettings, DisplaySettings, HardwareSettings, KnockSettings
from hardware.table.supervision import CLOSES_S, PartDriver, SupervisedPart

PartInput: TypeAlias = ButtonPress | ClassifiedSound
"""Input from parts: a press, a knock, or a sound that may have been a pass or that the table may learn from."""

# Polling intervals. LEDs blink at most twice a second, and a press is detected 15 ms after release.
_LEDS_S, _BUTTONS_S, _KNOCK_S, _DISPLAY_S = 0.05, 0.02, 0.02, 0.05
_MOST_WAITING = 256


class OpensParts(Protocol):
    """Interface that opens parts, such as `hardware.table.open_parts.PartOpener`."""

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
        self._inputs: deque[PartInput] = deque(maxlen=_MOST_WAITING)
        self._supervised: list[SupervisedPart[Any]] = [
            SupervisedPart(self._driver_of_leds(part, opener)) for part in config.leds
        ]
        if config.buttons is not None:
            self._supervised.append(SupervisedPart(self._driver_of_buttons(config.buttons, opener)))
        if config.knock is not None:
            self._supervised.append(SupervisedPart(self._driver_of_knock(config.knock, opener)))
        self._supervised += [SupervisedPart(self._driver_of_display(part, opener)) for part in config.displays]

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

    def _driver_of_leds(self, part: LedsDriver, opener: OpensParts) -> PartDriver[Lamps]:
        def shine(lamps: Lamps) -> PartState:
            state = self._state
            if state is not None:
                lamps.light(lit(part.shows, part.led_count, glow_at(state, self._clock())))
            if lamps.state.problem is not None:
                raise OSError(lamps.state.problem)
            return lamps.state

        return PartDriver(part.name, lambda: opener.leds(part), shine, lambda lamps: lamps.close(), _LEDS_S)

    def _driver_of_buttons(self, part: ButtonsSettings, opener: OpensParts) -> PartDriver[Buttons]:
        def read(buttons: Buttons) -> PartState:
            self._inputs.extend(buttons.read())
            return buttons.state

        return PartDriver(part.name, lambda: opener.buttons(part), read, lambda buttons: buttons.close(), _BUTTONS_S)

    def _driver_of_knock(self, part: KnockSettings, opener: OpensParts) -> PartDriver[KnockSensor]:
        def listen(sensor: KnockSensor) -> PartState:
            self._inputs.extend(heard for heard in sensor.read() if heard.may_be_pass or heard.is_learnable)
            return sensor.state

        return PartDriver(part.name, lambda: opener.knock(part), listen, lambda sensor: sensor.close(), _KNOCK_S)

    def _driver_of_display(self, part: DisplaySettings, opener: OpensParts) -> PartDriver[ScoreDisplay]:
        def show(display: ScoreDisplay) -> PartState:
            page = self._page
            if page is not None:
                display.show(page)
            return display.state

        return PartDriver(part.name, lambda: opener.display(part), show, lambda display: display.close(), _DISPLAY_S)
