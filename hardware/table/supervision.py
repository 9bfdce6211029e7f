"""Supervise a part in a thread of its own: open it, use it, open it again when it has failed. Nobody waits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from hardware.buttons.panel import ButtonError
from hardware.display.display import DisplayError
from hardware.knock.errors import KnockError
from hardware.leds.lamps import LedError
from hardware.part_state import PartState
from hardware.pin_factory import PinError

DeviceT = TypeVar("DeviceT")

_PART_ERRORS = (OSError, ValueError, PinError, LedError, ButtonError, KnockError, DisplayError)
# So long is waited before a part is tried again.
_BACK_OFF_S = (0.5, 1.0, 2.0, 5.0)
# A device that hangs is left behind by then: it must not keep the program from ending.
CLOSES_S = 3.0


@dataclass(frozen=True, slots=True)
class PartDriver(Generic[DeviceT]):
    """How to open, use and close a part. All of it happens in one thread, and may take its time.

    Attributes:
        name: What people know it as.
        open: Opens it; may raise what parts raise.
        use: Does what is to be done now, and returns the state of a part that mends problems itself. What it raises
            means that it has to be opened again.
        close: Lets it go, its lights off.
        every_s: How often it is used.
    """

    name: str
    open: Callable[[], DeviceT]
    use: Callable[[DeviceT], PartState]
    close: Callable[[DeviceT], None]
    every_s: float


class SupervisedPart(Generic[DeviceT]):
    """Opens a part, uses it, and opens it again when it has failed, until it is closed."""

    def __init__(self, driver: PartDriver[DeviceT], *, back_off_s: tuple[float, ...] = _BACK_OFF_S) -> None:
        """Begin at once; *back_off_s* is waited after the first failure, the second, and so on."""
        self._driver, self._back_off_s = driver, back_off_s
        self.name, self.state = driver.name, PartState(is_opening=True)
        self._stops = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"part {driver.name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Tell it to end, and do not wait."""
        self._stops.set()

    def close(self, within_s: float = CLOSES_S) -> None:
        """End, and wait a little until the part was let go."""
        self._stops.set()
        self._thread.join(within_s)

    def _run(self) -> None:
        try:
            self._supervise()
        finally:
            if not self._stops.is_set():  # an error that no part should have ends the thread, and is not hidden
                self.state = PartState("it has stopped for good: start the program again")

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
        """Use it until it fails or this ends; return whether it has worked at all."""
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
