"""Emulate a score display in the terminal, connected to programs by a virtual serial port."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from hardware.display.drivers.nextion import NAME_CHARACTERS, PLAYERS, POINTS_CHARACTERS
from hardware.display.drivers.segment import PROVISIONAL_DOT
from lab.emulate.firmware import Emulated
from lab.emulate.nextion import EmulatedNextion
from lab.emulate.pty_port import PtyPort
from lab.emulate.segment import EmulatedSegment
from lab.emulate.serlcd import EmulatedSerLcd
from tallybone.files import reason_of
from tallybone.terminal import Output

_TICK_S = 0.1


@dataclass(frozen=True, slots=True)
class DisplayEmulation:
    """An emulated display.

    Attributes:
        title: Name for users.
        make: Creates an emulated display; its keyword *baud* is in bits per second.
        draw: Converts its screen to lines of text.
    """

    title: str
    make: Callable[..., Emulated]
    draw: Callable[[tuple[str, ...]], tuple[str, ...]] = tuple


def _draw_nextion(screen: tuple[str, ...]) -> tuple[str, ...]:
    """Return a line for each player, then the message."""
    lines = []
    for first in range(0, 3 * PLAYERS, 3):
        name, points, turn = screen[first : first + 3]
        lines.append(f"{turn:1} {name:<{NAME_CHARACTERS}} {points:>{POINTS_CHARACTERS}}")
    return (*lines, screen[-1])


def _draw_segment(screen: tuple[str, ...]) -> tuple[str, ...]:
    """Return the four digits with their dots on one line. The apostrophe is left of the last digit."""
    digits, lit = screen
    gaps = ["." if str(position) in lit else " " for position in range(len(digits))]
    if str(PROVISIONAL_DOT) in lit:
        gaps[-2] = "'"
    return ("".join(f"{digit}{gap}" for digit, gap in zip(digits, gaps, strict=True)),)


EMULATIONS = {
    "nextion": DisplayEmulation("Nextion", EmulatedNextion, _draw_nextion),
    "segment": DisplayEmulation("Serial 7-Segment", EmulatedSegment, _draw_segment),
    "serlcd": DisplayEmulation("SerLCD 16x2", partial(EmulatedSerLcd, 16, 2)),
    "serlcd-20x4": DisplayEmulation("SerLCD 20x4", partial(EmulatedSerLcd, 20, 4)),
}
"""Emulated displays, by their names for the command."""


def emulate_display(
    kind: str,
    *,
    at: Path | None,
    baud: int,
    console: Console | None = None,
    stops: threading.Event | None = None,
) -> int:
    """Emulate a display until Ctrl-C.

    Args:
        kind: Name of the emulation.
        at: Path of the virtual serial port. None for a path in a temporary folder.
        baud: Speed of the port in bits per second.
        console: Console to draw on. None for stdout. A terminal is redrawn continuously, other outputs on each change.
        stops: Event that ends the emulation. None to run until Ctrl-C.

    Returns:
        Exit code: 0, or 1 if the port cannot be created.
    """
    model, console = EMULATIONS[kind], console or Console(highlight=False)
    with tempfile.TemporaryDirectory(prefix="tallybone-") as folder:
        path = at or Path(folder) / "display"
        emulated = model.make(baud=baud)
        port = PtyPort(emulated, path)
        try:
            port.plug()
        except OSError as error:
            reason = f": {reason_of(error)}" if isinstance(error, FileExistsError) else ""
            return Output("emulate-display").complain(f"--at {path}: the port cannot be made there{reason}")
        console.print(f"{model.title} at {path}, {baud} baud. Ctrl-C unplugs it.", markup=False, soft_wrap=True)
        try:
            _show(model, port, emulated, console, stops or threading.Event())
        except KeyboardInterrupt:
            pass
        finally:
            port.close()
    return 0


def _show(model: DisplayEmulation, port: PtyPort, emulated: Emulated, console: Console, stops: threading.Event) -> None:
    """Draw the display until *stops* is set."""
    if console.is_terminal:
        with Live(console=console, auto_refresh=False) as live:
            while not stops.wait(_TICK_S):
                live.update(_panel(model, model.draw(port.screen()), port, emulated), refresh=True)
        return
    before: tuple[str, ...] = ()
    while not stops.wait(_TICK_S):
        lines = model.draw(port.screen())
        if lines != before:
            console.print("\n".join((*lines, "")), markup=False, soft_wrap=True)
        before = lines


def _panel(model: DisplayEmulation, lines: tuple[str, ...], port: PtyPort, emulated: Emulated) -> Panel:
    figures = f"{port.received_bytes} bytes, {emulated.lost_bytes} lost, {emulated.eeprom_writes} EEPROM writes"
    return Panel(Group(Text("\n".join(lines)), Text(figures, style="dim")), title=model.title, expand=False)
