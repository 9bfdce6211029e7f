"""A part that is looked after in a thread of its own: opened, used, and opened again when it failed. Nobody waits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from hardware.buttons.panel import ButtonError
from hardware.display.display import DisplayError
from hardware.knock.errors import KnockError
from hardware.leds.lamps import LedError
from hardware.pin_factory import PinError

Device = TypeVar("Device")

_PART_ERRORS = (OSError, ValueError, PinError, LedError, ButtonError, KnockError, DisplayError)
# So long is waited before a part is tried again.
_BACK_OFF_S = (0.5, 1.0, 2.0, 5.0)
# A device that hangs is left behind by then: it must not keep the program from ending.
CLOSES_S = 3.0


@dataclass(frozen=True, slots=True)
class Care(Generic[Device]):
    """What is done with a part. All of it happens in one thread, and may take its time.

    Attributes:
        name: What people know it as.
        open: Opens it; may raise what parts raise.
        use: Does what is to be done now, and returns what is wrong with it, if it mends that itself; None for nothing.
            What it raises means that it has to be opened again.
        close: Lets it go, its lights off.
        every_s: How often it is used.
    """

    name: str
    open: Callable[[], Device]
    use: Callable[[Device], str | None]
    close: Callable[[Device], None]
    every_s: float


@dataclass(frozen=True, slots=True)
class PartProblem:
    """What is wrong with a part.

    Attributes:
        part: Its name.
        words: Why it does not work.
    """

    part: str
    words: str

    def __str__(self) -> str:
        return f"{self.part}: {self.words}"


class Kept(Generic[Device]):
    """Looks after a part until it is closed."""

    def __init__(self, care: Care[Device], *, back_off_s: tuple[float, ...] = _BACK_OFF_S) -> None:
        """Begin at once; *back_off_s* is waited after the first failure, the second, and so on."""
        self._care, self._back_off_s = care, back_off_s
        self._problem: str | None = None
        self._stops = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"part {care.name}", daemon=True)
        self._thread.start()

    @property
    def problem(self) -> PartProblem | None:
        """What is wrong with it; None for nothing."""
        words = self._problem
        return None if words is None else PartProblem(self._care.name, words)

    def stop(self) -> None:
        """Tell it to end, and do not wait."""
        self._stops.set()

    def close(self, within_s: float = CLOSES_S) -> None:
        """End, and wait a little until the part was let go."""
        self._stops.set()
        self._thread.join(within_s)

    def _run(self) -> None:
        try:
            self._look_after()
        finally:
            if not self._stops.is_set():  # an error that no part should have ends the thread, and is not hidden
                self._problem = "it has stopped for good: start the program again"

    def _look_after(self) -> None:
        failures = 0
        while not self._stops.is_set():
            try:
                device = self._care.open()
            except _PART_ERRORS as error:
                self._problem = str(error)
            else:
                failures = 0 if self._use(device) else failures
            self._stops.wait(self._back_off_s[min(failures, len(self._back_off_s) - 1)])
            failures += 1

    def _use(self, device: Device) -> bool:
        """Use it until it fails or this ends; return whether it has worked at all."""
        has_worked = False
        try:
            while not self._stops.is_set():
                self._problem = self._care.use(device)
                has_worked = True
                self._stops.wait(self._care.every_s)
        except _PART_ERRORS as error:
            self._problem = str(error)
        finally:
            self._care.close(device)
        return has_worked
