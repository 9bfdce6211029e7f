"""Tests of switching off the LEDs at any end of the program."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hardware.leds.drivers.strip import spi_bytes
from hardware.leds.lamps import OFF, Lamps, off_at_exit
from hardware.part import Rgb
from tests.hardware.fakes import FakeLeds

_ROOT = Path(__file__).resolve().parents[3]
_LONG_S = 30.0
_DARK = spi_bytes([OFF, OFF]).hex()
# A strip with a file as its bus. Each line is a transfer.
_PROGRAM = """
import ctypes, os, signal, sys, threading
# Background processes of a shell ignore the first signal, and processes of nohup the second.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from hardware.part import Rgb
from hardware.leds.lamps import Lamps
from hardware.leds.lamps import off_at_exit
from hardware.leds.drivers.strip import Strip

class Bus:
    def writebytes2(self, values):
        os.write(bus, bytes(values).hex().encode() + b"\\n")
    def close(self):
        pass

def blink(lamps):
    level = 0
    while True:
        level = level % 255 + 1
        lamps.light((Rgb(level, level, level), Rgb(255, 0, 0)))

bus = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
how = sys.argv[2]
block = off_at_exit(Lamps(Strip(2, Bus(), percent=100)))
lamps = block.__enter__() if how in ("leaves", "sys.exit") else None
if lamps is not None:  # prevents an end by garbage collection
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(block.gen))
def work(lamps):
    lamps.light((Rgb(9, 9, 9), Rgb(255, 0, 0)))
    print("on", flush=True)
    if how == "raises":
        raise RuntimeError("broken")
    if how == "sys.exit":
        sys.exit(3)
    if how == "thread":
        threading.Thread(target=blink, args=(lamps,), daemon=True).start()
    if how == "main":
        blink(lamps)
    if how not in ("leaves", "sys.exit", "ends"):
        threading.Event().wait(60)
if lamps is not None:
    work(lamps)
else:
    with block as lamps:
        work(lamps)
"""


def _run(tmp_path: Path, how: str, number: signal.Signals | None = None) -> tuple[int, str]:
    """Run the program, optionally send a signal, and return the exit code and the last transfer."""
    bus = tmp_path / "bus"
    command = [sys.executable, "-c", _PROGRAM, str(bus), how]
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"on\n"
        if number is not None:
            process.send_signal(number)
        code = process.wait(_LONG_S)
    lines = bus.read_text().splitlines()
    assert lines[1] != _DARK
    return code, lines[-1]


@pytest.mark.parametrize(
    ("how", "number"),
    [("waits", signal.SIGTERM), ("main", signal.SIGTERM), ("thread", signal.SIGHUP), ("main", signal.SIGINT)],
)
def test_a_signal_switches_the_leds_off(how: str, number: signal.Signals, tmp_path: Path) -> None:
    code, last = _run(tmp_path, how, number)
    assert last == _DARK
    assert code == -number


@pytest.mark.parametrize(("how", "expected"), [("raises", 1), ("sys.exit", 3), ("leaves", 0), ("ends", 0)])
def test_a_program_that_ends_switches_the_leds_off(how: str, expected: int, tmp_path: Path) -> None:
    assert _run(tmp_path, how) == (expected, _DARK)


def test_sigkill_leaves_the_leds_on(tmp_path: Path) -> None:
    code, last = _run(tmp_path, "waits", signal.SIGKILL)
    assert last != _DARK
    assert code == -signal.SIGKILL


def test_other_signal_handlers_are_called_and_restored() -> None:
    called: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: called.append(number))
    mine = signal.getsignal(signal.SIGTERM)
    try:
        fake = FakeLeds(1)
        with off_at_exit(Lamps(fake)) as lamps:
            lamps.light((Rgb(1, 2, 3),))
            signal.raise_signal(signal.SIGTERM)
            assert fake.shown[-1] == (OFF,)
        assert called == [signal.SIGTERM]
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)


def test_the_leds_are_switched_off_in_other_threads_too() -> None:
    fake = FakeLeds(1)

    def use() -> None:
        with off_at_exit(Lamps(fake)) as lamps:
            lamps.light((Rgb(1, 2, 3),))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join(_LONG_S)
    assert fake.shown[-1] == (OFF,)
