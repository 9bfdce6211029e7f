"""All parts of a table while a game runs: lights and pages out, presses and knocks in, and what is wrong with them.

Each part has a thread of its own, so that nothing here ever waits for one: neither for a device that hangs nor for one
that is looked for.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any, Protocol, TypeAlias

from hardware.buttons.panel import ButtonPress, Buttons
from hardware.clock import Clock
from hardware.display.display import ScoreDisplay
from hardware.display.page import DisplayPage
from hardware.knock.heard import ClassifiedSound, Sound
from hardware.knock.sensor import KnockSensor
from hardware.leds.driver import LedsDriver
from hardware.leds.lamps import Lamps
from hardware.leds.patterns import TableState, glow_at
from hardware.leds.shown import lit
from hardware.part_state import PartState
from hardware.table.settings import ButtonsSettings, DisplaySettings, HardwareSettings, KnockSettings
from hardware.table.supervision import CLOSES_S, PartDriver, SupervisedPart

PartInput: TypeAlias = ButtonPress | ClassifiedSound
"""All that comes in from parts: presses and knocks."""

# Nothing blinks faster than twice a second, and a press is known 15 ms after the finger has left.
_LEDS_S, _BUTTONS_S, _KNOCK_S, _DISPLAY_S = 0.05, 0.02, 0.02, 0.05
_MOST_WAITING = 256


class OpensParts(Protocol):
    """What gives the driver of each part, such as `hardware.table.open_parts.PartOpener`."""

    def leds(self, part: LedsDriver) -> Lamps:
        """Return LEDs."""

    def buttons(self, part: ButtonsSettings) -> Buttons:
        """Return buttons."""

    def knock(self, part: KnockSettings) -> KnockSensor:
        """Return a knock sensor that is started."""

    def display(self, part: DisplaySettings) -> ScoreDisplay:
        """Return a display."""


class Parts:
    """The parts that a configuration names; each is opened at once, and again whenever it fails."""

    def __init__(self, config: HardwareSettings, opener: OpensParts, *, clock: Clock) -> None:
        """Open all parts; the clock is monotonic, in nanoseconds."""
        self._clock = clock
        self._state: TableState | None = None
        self._page: DisplayPage | None = None
        self._came: deque[PartInput] = deque(maxlen=_MOST_WAITING)
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
        """The problems of the parts that do not work as they should, by name."""
        return {one.name: trouble for one in self._supervised if (trouble := one.state.trouble) is not None}

    def show(self, state: TableState, page: DisplayPage) -> None:
        """Take what lights and displays are to show, at once."""
        self._state, self._page = state, page

    def came(self) -> tuple[PartInput, ...]:
        """Return what was pressed and which knocks were heard since the last call, at once."""
        came: list[PartInput] = []
        while self._came:
            came.append(self._came.popleft())
        return tuple(came)

    def close(self) -> None:
        """Turn all lights off and let every part go. Once more does nothing."""
        for one in self._supervised:
            one.stop()
        began_s = time.perf_counter()
        for one in self._supervised:
            one.close(max(0.0, CLOSES_S - (time.perf_counter() - began_s)))

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
            self._came.extend(buttons.read())
            return buttons.state

        return PartDriver(part.name, lambda: opener.buttons(part), read, lambda buttons: buttons.close(), _BUTTONS_S)

    def _driver_of_knock(self, part: KnockSettings, opener: OpensParts) -> PartDriver[KnockSensor]:
        def listen(sensor: KnockSensor) -> PartState:
            self._came.extend(one for one in sensor.read() if one.kind is Sound.KNOCK)
            return sensor.state

        return PartDriver(part.name, lambda: opener.knock(part), listen, lambda sensor: sensor.close(), _KNOCK_S)

    def _driver_of_display(self, part: DisplaySettings, opener: OpensParts) -> PartDriver[ScoreDisplay]:
        def show(display: ScoreDisplay) -> PartState:
            page = self._page
            if page is not None:
                display.show(page)
            return display.state

        return PartDriver(part.name, lambda: opener.display(part), show, lambda display: display.close(), _DISPLAY_S)
