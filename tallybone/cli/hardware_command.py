"""`tallybone hardware test`: a walk through LEDs, buttons, knock and displays, with somebody at the table."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from rich.console import Console

from hardware.config.config import ButtonsDriver, DisplayDriver, HardwareConfig, KnockDriver, LedsDriver
from hardware.open_parts import PartOpener
from hardware.parts import OpensParts
from hardware.virtual.panel import VirtualPanel
from tallybone.play.keys import keyboard_on
from tallybone.serve.parts_test import Outcome, Steps, Walk, walked
from tallybone.store.table_file import TableFileError, load_table
from tallybone.terminal import printable

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
        steps = Steps(opener, Walk(keyboard, lambda words: _write(console, words)), clock)
        results = tuple(walked(hardware, steps))
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
