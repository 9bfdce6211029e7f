"""Emulate a score display in the terminal, connected to programs by a virtual serial port."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from hardware.display.driver import DisplayEmulation, emulations
from hardware.display.emulation.firmware import Emulated
from hardware.display.emulation.pty_port import PtyPort
from tallybone.files import reason_of
from tallybone.terminal import Output

_TICK_S = 0.1


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
    model, console = emulations()[kind], console or Console(highlight=False)
    with tempfile.TemporaryDirectory(prefix="tallybone-") as folder:
        path = at or Path(folder) / "display"
        emulated = model.make(baud)
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
