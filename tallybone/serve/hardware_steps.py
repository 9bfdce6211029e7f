"""A walk through all parts of a table: each is opened for its step, and let go whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

from hardware.buttons.panel import ButtonError
from hardware.config.config import ButtonsPart, DisplayPart, HardwareConfig, KnockPart, LedsDriver, LedsPart
from hardware.display.display import DisplayError
from hardware.knock.errors import KnockError
from hardware.leds.lamps import LedError
from hardware.leds.safety import off_at_exit
from hardware.parts import OpensParts
from hardware.pin_factory import PinError
from tallybone.serve.hardware_walk import Leaves, Outcome, Result, Walk

_CANNOT = (LedError, ButtonError, KnockError, DisplayError, PinError)


def walked(hardware: HardwareConfig, steps: Steps) -> Iterator[Result]:
    """Yield what came of each part, until somebody wants no more."""
    try:
        for leds in hardware.leds:
            yield steps.leds(leds)
        if hardware.buttons is not None:
            yield steps.buttons(hardware.buttons)
        if hardware.knock is not None:
            yield steps.knock(hardware.knock)
        for display in hardware.displays:
            yield steps.display(display)
    except Leaves:
        yield Result("the rest", Outcome.SKIPPED, "ended with q")


class Steps:
    """Opens each part for its step. A part that cannot be had or read has failed."""

    def __init__(self, opener: OpensParts, walk: Walk, clock: Callable[[], int]) -> None:
        """Let *walk* ask for parts that *opener* opens; *clock* is monotonic, in nanoseconds."""
        self._opener, self._walk, self._clock = opener, walk, clock

    def leds(self, part: LedsPart) -> Result:
        """Test LEDs."""
        name = f"LEDs ({part.shows})"
        try:
            with off_at_exit(self._opener.leds(part)) as lamps:
                return self._walk.leds(name, lamps, has_colours=part.driver is not LedsDriver.SINGLE)
        except _CANNOT as error:
            return Result(name, Outcome.FAILED, str(error))

    def buttons(self, part: ButtonsPart) -> Result:
        """Test the buttons."""
        try:
            with closing(self._opener.buttons(part)) as buttons:
                return self._walk.buttons(buttons, {one.name: one.pin for one in part.pins})
        except _CANNOT as error:
            return Result("buttons", Outcome.FAILED, str(error))

    def knock(self, part: KnockPart) -> Result:
        """Test the knock sensor."""
        try:
            with closing(self._opener.knock(part)) as sensor:
                return self._walk.knock(sensor, self._clock())
        except _CANNOT as error:
            return Result("knock", Outcome.FAILED, str(error))

    def display(self, part: DisplayPart) -> Result:
        """Test a display."""
        name = f"display {part.driver}"
        try:
            with closing(self._opener.display(part)) as display:
                return self._walk.display(name, display)
        except _CANNOT as error:
            return Result(name, Outcome.FAILED, str(error))
