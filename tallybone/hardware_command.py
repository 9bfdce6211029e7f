"""`tallybone hardware test`: a walk through LEDs, buttons, knock and displays, with somebody at the table."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from rich.console import Console

from hardware.buttons.panel import ButtonError
from hardware.config.config import (
    ButtonsDriver,
    ButtonsPart,
    DisplayDriver,
    DisplayPart,
    HardwareConfig,
    KnockDriver,
    KnockPart,
    LedsDriver,
    LedsPart,
)
from hardware.display.display import DisplayError
from hardware.knock.errors import KnockError
from hardware.leds.lamps import LedError
from hardware.leds.safety import off_at_exit
from hardware.open_parts import PartOpener
from hardware.parts import OpensParts
from hardware.pin_factory import PinError
from hardware.virtual.panel import VirtualPanel
from tallybone.hardware_walk import Leaves, Outcome, Result, Walk
from tallybone.keyboard import keyboard_on
from tallybone.table_file import TableFileError, load_table
from tallybone.terminal import printable

_CANNOT = (LedError, ButtonError, KnockError, DisplayError, PinError)
_STYLES = {Outcome.WELL: "green", Outcome.FAILED: "bold red", Outcome.SKIPPED: "dim"}


def walk_through(
    path: Path | None,
    *,
    opener: OpensParts | None = None,
    fd: int | None = None,
    out: TextIO | None = None,
    clock: Callable[[], int] = time.monotonic_ns,
) -> int:
    """Walk through the parts of a table.

    Args:
        path: Of its table.toml; None for the usual one.
        opener: What gives the driver of each part, by default the real ones.
        fd: What is typed, by default at the terminal.
        out: Where it is printed, by default stdout.
        clock: Monotonic, in nanoseconds.

    Returns:
        The exit code: 0, or 1 if a part failed or the file is wrong.
    """
    console = Console(file=out or sys.stdout, highlight=False, soft_wrap=True)
    try:
        hardware = load_table(path).hardware
    except (TableFileError, OSError) as error:
        console.print(printable(str(error)).replace("\\n", "\n"), markup=False, style="red")
        return 1
    if hardware == HardwareConfig():
        console.print("There are no parts in table.toml; docs/wiring.md shows how to say some.")
        return 0
    if opener is None:
        opener = PartOpener(hardware.pins, VirtualPanel(()), clock)
        hardware = _wired(hardware)
    console.print("Each part in turn. Keys need no Enter; q ends the walk.\n")
    with keyboard_on(sys.stdin.fileno() if fd is None else fd) as keyboard:
        steps = _Steps(opener, Walk(keyboard, lambda words: _write(console, words)), clock)
        results = tuple(_walked(hardware, steps))
    console.print()
    for result in results:
        console.print(f"{result.outcome.value:<9}", end="", style=_STYLES[result.outcome])
        console.print(f"{result.part:<21} {printable(result.words)}", markup=False)
    return 1 if any(result.outcome is Outcome.FAILED for result in results) else 0


def _write(console: Console, words: str) -> None:
    console.file.write(words)
    console.file.flush()


def _wired(hardware: HardwareConfig) -> HardwareConfig:
    """Return the parts that somebody can see and press; of virtual ones there is nothing to test."""
    buttons, knock = hardware.buttons, hardware.knock
    return replace(
        hardware,
        leds=tuple(part for part in hardware.leds if part.driver is not LedsDriver.VIRTUAL),
        buttons=None if buttons is None or buttons.driver is ButtonsDriver.VIRTUAL else buttons,
        knock=None if knock is None or knock.driver is KnockDriver.VIRTUAL else knock,
        displays=tuple(part for part in hardware.displays if part.driver is not DisplayDriver.VIRTUAL),
    )


def _walked(hardware: HardwareConfig, steps: _Steps) -> Iterator[Result]:
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


class _Steps:
    """Opens each part for its step, and lets it go whatever happens. A part that cannot be had or read has failed."""

    def __init__(self, opener: OpensParts, walk: Walk, clock: Callable[[], int]) -> None:
        self._opener, self._walk, self._clock = opener, walk, clock

    def leds(self, part: LedsPart) -> Result:
        name = f"LEDs ({part.shows})"
        try:
            with off_at_exit(self._opener.leds(part)) as lamps:
                return self._walk.leds(name, lamps, has_colours=part.driver is not LedsDriver.SINGLE)
        except _CANNOT as error:
            return Result(name, Outcome.FAILED, str(error))

    def buttons(self, part: ButtonsPart) -> Result:
        try:
            with closing(self._opener.buttons(part)) as buttons:
                return self._walk.buttons(buttons, {one.name: one.pin for one in part.pins})
        except _CANNOT as error:
            return Result("buttons", Outcome.FAILED, str(error))

    def knock(self, part: KnockPart) -> Result:
        try:
            with closing(self._opener.knock(part)) as sensor:
                return self._walk.knock(sensor, self._clock())
        except _CANNOT as error:
            return Result("knock", Outcome.FAILED, str(error))

    def display(self, part: DisplayPart) -> Result:
        name = f"display {part.driver}"
        try:
            with closing(self._opener.display(part)) as display:
                return self._walk.display(name, display)
        except _CANNOT as error:
            return Result(name, Outcome.FAILED, str(error))
