"""Run a part in its own thread, and reopen it after failures."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from hardware.buttons.panel import ButtonError
from hardware.display.display import DisplayError
from hardware.knock.errors import KnockError
from hardware.leds.lamps import LedError
from hardware.libraries.pin_factory import PinError
from hardware.part_state import PartState

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
