"""Emulate a score display in the terminal, connected to programs by a virtual serial port."""

from __future__ import annotations

import contextlib
import os
import select
import tempfile
import termios
import threading
import time
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
from hardware.part import Clock
from lab.emulate.displays import EmulatedNextion, EmulatedSegment, EmulatedSerLcd, Firmware
from tallybone.files import reason_of
from tallybone.terminal import Output

# An emulated display behind a pseudo-terminal, which programs open like /dev/ttyUSB0.


_MAX_BYTES = 4096
_TICK_S = 0.02
_CLOSES_S = 2.0
# Index of the output speed in the result of `termios.tcgetattr`.
_OUT_SPEED = 5


class PtyPort:
    """An emulated display that can be unplugged after any byte and plugged in again."""

    def __init__(self, emulated: Firmware, path: Path, *, clock: Clock = time.monotonic_ns) -> None:
        """Create an unplugged display. `plug` creates *path*, which must not exist."""
        self._emulated, self._path, self._clock = emulated, path, clock
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stops = threading.Event()
        self._cut_after: int | None = None
        self.received_bytes = 0
        self.unplugged = threading.Event()

    def plug(self) -> None:
        """Power on the display and create its path.

        Raises:
            OSError: If the path exists.
        """
        master, slave = os.openpty()
        os.set_blocking(master, False)
        self._stops.clear()
        self.unplugged.clear()
        with self._lock:
            self._emulated.power_on(self._clock())
        try:
            self._path.symlink_to(os.ttyname(slave))
        except OSError:
            os.close(slave)
            os.close(master)
            raise
        self._thread = threading.Thread(target=self._pump, args=(master, slave), name="pty", daemon=True)
        self._thread.start()

    def cut_after(self, count: int) -> None:
        """Unplug the display after *count* more bytes."""
        with self._lock:
            self._cut_after = count

    def lose_power(self) -> None:
        """Restart the display without closing the port, which other programs cannot notice."""
        with self._lock:
            self._emulated.power_on(self._clock())

    def screen(self) -> tuple[str, ...]:
        """Return the visible content."""
        with self._lock:
            return self._emulated.screen(self._clock())

    def close(self) -> None:
        """Unplug the display."""
        self._stops.set()
        if self._thread is not None:
            self._thread.join(_CLOSES_S)

    def _pump(self, master: int, slave: int) -> None:
        """Transfer bytes until the display is unplugged."""
        try:
            while not self._stops.is_set() and self._transfer(master):
                pass
        finally:
            self._path.unlink(missing_ok=True)
            # Programs that still write now get an error, as from an unplugged adapter.
            os.close(slave)
            os.close(master)
            self.unplugged.set()

    def _transfer(self, master: int) -> bool:
        """Pass received bytes to the display and send its replies. Return False once it is to be unplugged."""
        ready, _, _ = select.select([master], [], [], _TICK_S)
        data = b""
        with self._lock:
            left = self._cut_after  # A cut requested during this transfer counts from the next one.
        if ready:
            with contextlib.suppress(BlockingIOError):
                data = os.read(master, _MAX_BYTES if left is None else min(_MAX_BYTES, left))
        is_understood = _has_speed(master, self._emulated.baud)
        with self._lock:
            t_ns = self._clock()
            # At another baud rate only framing errors arrive, in both directions.
            self._emulated.receive(data if is_understood else b"", t_ns)
            self._emulated.screen(t_ns)
            self.received_bytes += len(data)
            replies = self._emulated.replies() if is_understood else b""
            if left is not None:
                self._cut_after = left - len(data)
            is_cut = self._cut_after == 0
            self._cut_after = None if is_cut else self._cut_after
        with contextlib.suppress(BlockingIOError):
            os.write(master, replies)
        return not is_cut


def _has_speed(master: int, baud: int) -> bool:
    """Return True if the program at the other end has set *baud*. Also True if termios has no constant for it."""
    constant = getattr(termios, f"B{baud}", None)
    return constant is None or termios.tcgetattr(master)[_OUT_SPEED] == constant


_COMMAND_TICK_S = 0.1


@dataclass(frozen=True, slots=True)
class DisplayEmulation:
    """An emulated display.

    Attributes:
        make: Creates an emulated display; its keyword *baud* is in bits per second.
        draw: Converts its screen to lines of text.
    """

    title: str
    make: Callable[..., Firmware]
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
"""Firmware displays, by their names for the command."""


def emulate_display(
    kind: str, *, at: Path | None, baud: int, console: Console | None = None, stops: threading.Event | None = None
) -> int:
    """Emulate a display until Ctrl-C.

    Args:
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


def _show(model: DisplayEmulation, port: PtyPort, emulated: Firmware, console: Console, stops: threading.Event) -> None:
    """Draw the display until *stops* is set."""
    if console.is_terminal:
        with Live(console=console, auto_refresh=False) as live:
            while not stops.wait(_COMMAND_TICK_S):
                live.update(_panel(model, model.draw(port.screen()), port, emulated), refresh=True)
        return
    before: tuple[str, ...] = ()
    while not stops.wait(_COMMAND_TICK_S):
        lines = model.draw(port.screen())
        if lines != before:
            console.print("\n".join((*lines, "")), markup=False, soft_wrap=True)
        before = lines


def _panel(model: DisplayEmulation, lines: tuple[str, ...], port: PtyPort, emulated: Firmware) -> Panel:
    figures = f"{port.received_bytes} bytes, {emulated.lost_bytes} lost, {emulated.eeprom_writes} EEPROM writes"
    return Panel(Group(Text("\n".join(lines)), Text(figures, style="dim")), title=model.title, expand=False)
