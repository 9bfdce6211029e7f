"""Emulate a score display in the terminal: a serial port for programs that have no real one."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from hardware.display.emulation.intake import Emulated
from hardware.display.emulation.nextion import EmulatedNextion
from hardware.display.emulation.pty_port import PtyPort
from hardware.display.emulation.segment import EmulatedSegment
from hardware.display.emulation.serlcd import EmulatedSerLcd
from hardware.display.nextion import PLAYERS
from tallybone.choices import DisplayKind
from tallybone.files import reason_of
from tallybone.terminal import Output

_TICK_S = 0.1
_NAME_COLUMNS, _POINTS_COLUMNS = 12, 5
_APOSTROPHE = "5"


@dataclass(frozen=True, slots=True)
class _DisplayModel:
    """A display: its name, its emulation, and how it is drawn."""

    name: str
    make: Callable[[int], Emulated]
    draw: Callable[[tuple[str, ...]], tuple[str, ...]]


def _draw_digits(screen: tuple[str, ...]) -> tuple[str, ...]:
    """Return the four digits with their dots on one line; the apostrophe is left of the last digit."""
    digits, lit = screen
    gaps = ["." if str(place) in lit else " " for place in range(len(digits))]
    if _APOSTROPHE in lit:
        gaps[-2] = "'"
    return ("".join(f"{digit}{gap}" for digit, gap in zip(digits, gaps, strict=True)),)


def _draw_fields(screen: tuple[str, ...]) -> tuple[str, ...]:
    """Return a line for each player, and the message."""
    lines = []
    for first in range(0, 3 * PLAYERS, 3):
        name, points, turn = screen[first : first + 3]
        lines.append(f"{turn:1} {name:<{_NAME_COLUMNS}} {points:>{_POINTS_COLUMNS}}")
    return (*lines, screen[-1])


_MODELS = {
    DisplayKind.SERLCD: _DisplayModel("SerLCD 16x2", lambda baud: EmulatedSerLcd(16, 2, baud=baud), tuple),
    DisplayKind.SERLCD_20X4: _DisplayModel("SerLCD 20x4", lambda baud: EmulatedSerLcd(20, 4, baud=baud), tuple),
    DisplayKind.SEGMENT: _DisplayModel("Serial 7-Segment", lambda baud: EmulatedSegment(baud=baud), _draw_digits),
    DisplayKind.NEXTION: _DisplayModel("Nextion", lambda baud: EmulatedNextion(baud=baud), _draw_fields),
}


def emulate_display(
    kind: DisplayKind,
    *,
    at: Path | None,
    baud: int,
    console: Console | None = None,
    stops: threading.Event | None = None,
) -> int:
    """Emulate a display until Ctrl-C.

    Args:
        kind: Which one.
        at: The path at which programs find it; None for one in a temporary folder.
        baud: Bits a second on its wire.
        console: Where it is shown, by default stdout: drawn again and again in a terminal, otherwise once a change.
        stops: Ends it.

    Returns:
        The exit code: 0, or 1 if there is something at *at* already.
    """
    model, console = _MODELS[kind], console or Console(highlight=False)
    with tempfile.TemporaryDirectory(prefix="tallybone-") as folder:
        path = at or Path(folder) / "display"
        emulated = model.make(baud)
        port = PtyPort(emulated, path)
        try:
            port.plug()
        except OSError as error:
            why = f": {reason_of(error)}" if isinstance(error, FileExistsError) else ""
            return Output("emulate-display").complain(f"--at {path}: the port cannot be made there{why}")
        console.print(f"{model.name} at {path}, {baud} baud. Ctrl-C unplugs it.", markup=False, soft_wrap=True)
        try:
            _show(model, port, emulated, console, stops or threading.Event())
        except KeyboardInterrupt:
            pass
        finally:
            port.close()
    return 0


def _show(model: _DisplayModel, port: PtyPort, emulated: Emulated, console: Console, stops: threading.Event) -> None:
    """Draw the display until it is to end."""
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


def _panel(model: _DisplayModel, lines: tuple[str, ...], port: PtyPort, emulated: Emulated) -> Panel:
    figures = f"{port.received_bytes} bytes, {emulated.lost_bytes} lost, {emulated.eeprom_writes} EEPROM writes"
    return Panel(Group(Text("\n".join(lines)), Text(figures, style="dim")), title=model.name, expand=False)
