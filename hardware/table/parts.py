"""Run all parts of a table during a game: update LEDs and displays, collect presses and knocks, report problems.

Each part has its own thread, so no call except `close` waits for a device that hangs or is missing. A part is reopened
after failures.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from hardware.buttons.panel import ButtonError, ButtonPress, Buttons
from hardware.clock import Clock
from hardware.display.display import DisplayError, ScoreDisplay
from hardware.display.page import DisplayPage
from hardware.knock.heard import ClassifiedSound
from hardware.knock.sensor import KnockError, KnockSensor
from hardware.leds.driver import LedsDriver, lit
from hardware.leds.lamps import Lamps, LedError
from hardware.leds.patterns import TableState, glow_at
from hardware.libraries.pin_factory import PinError
from hardware.part_state import PartState
from hardware.table.settings import ButtonsSettings, DisplaySettings, HardwareSettings, KnockSettings

DeviceT = TypeVar("DeviceT")

_PART_ERRORS = (OSError, ValueError, PinError, LedError, ButtonError, KnockError, DisplayError)
# Delays before reopening a part.
_BACK_OFF_S = (0.5, 1.0, 2.0, 5.0)
# Maximum time to wait for a part to close. A hung device must not prevent the program from ending.
CLOSES_S = 3.0


@dataclass(frozen=True, slots=True)
class PartDriver(Generic[DeviceT]):
    """Functions that open, use and close a part. All run in the same thread and may block.

    Attributes:
        name: Name for users.
        open: Opens the part, or raises an error of the part.
        use: Performs the current work and returns the state. If it raises an error of the part, the part is reopened.
        close: Releases the part.
        every_s: Interval between calls of `use`.
    """

    name: str
    open: Callable[[], DeviceT]
    use: Callable[[DeviceT], PartState]
    close: Callable[[DeviceT], None]
    every_s: float


class SupervisedPart(Generic[DeviceT]):
    """A part that is opened, used, and reopened after failures, until it is closed."""

    def __init__(self, driver: PartDriver[DeviceT], *, back_off_s: tuple[float, ...] = _BACK_OFF_S) -> None:
        """Start the thread. *back_off_s* are the delays after consecutive failures. The last one repeats."""
        self._driver, self._back_off_s = driver, back_off_s
        self.name, self.state = driver.name, PartState(is_opening=True)
        self._stops = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"part {driver.name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Request the thread to stop, without waiting."""
        self._stops.set()

    def close(self, within_s: float = CLOSES_S) -> None:
        """Stop the thread, and wait up to *within_s* until the part is closed."""
        self._stops.set()
        self._thread.join(within_s)

    def _run(self) -> None:
        try:
            self._supervise()
        finally:
            if not self._stops.is_set():  # An unexpected exception ends the thread, and is reported here.
                self.state = PartState("it has stopped permanently: restart the program")

    def _supervise(self) -> None:
        failures = 0
        while not self._stops.is_set():
            try:
                device = self._driver.open()
            except _PART_ERRORS as error:
                self.state = PartState(str(error))
            else:
                failures = 0 if self._use(device) else failures
            self._stops.wait(self._back_off_s[min(failures, len(self._back_off_s) - 1)])
            failures += 1

    def _use(self, device: DeviceT) -> bool:
        """Use the part until it fails or is stopped. Return True if it has worked at least once."""
        has_worked = False
        try:
            while not self._stops.is_set():
                self.state = self._driver.use(device)
                has_worked = True
                self._stops.wait(self._driver.every_s)
        except _PART_ERRORS as error:
            self.state = PartState(str(error))
        finally:
            self._driver.close(device)
        return has_worked


PartInput: TypeAlias = ButtonPress | ClassifiedSound
"""Input from parts: a press, a knock, or a sound that may have been a pass or that the table may learn from."""

# Polling intervals. LEDs blink at most twice a second, and a press is detected 15 ms after release.
_LEDS_S, _BUTTONS_S, _KNOCK_S, _DISPLAY_S = 0.05, 0.02, 0.02, 0.05
_MAX_WAITING = 256


class OpensParts(Protocol):
    """Interface that opens parts, such as `hardware.table.settings.PartOpener`."""

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
