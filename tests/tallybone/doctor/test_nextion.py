"""A Nextion is asked whether it is one, at its speed and at others."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from hardware.display.drivers.nextion import nextion_problem
from hardware.display.emulation.nextion import EmulatedNextion
from hardware.display.emulation.pty_port import PtyPort
from hardware.display.link import BytePort
from hardware.display.serial_port import serial_port

END = b"\xff\xff\xff"


class FakeNextion:
    """A wire to a display that understands only its own speed; each wire is closed before the next is opened."""

    def __init__(self, baud: int) -> None:
        self.baud = baud
        self.heard = b""
        self.is_open, self.is_heard = False, False

    def open_at(self, baud: int) -> FakeNextion:
        assert not self.is_open, "two wires at once"
        self.is_open, self.is_heard, self.heard = True, baud == self.baud, b""
        return self

    def write(self, data: bytes) -> None:
        self.heard += data

    def read(self) -> bytes:
        is_asked = self.is_heard and self.heard.endswith(END + b"connect" + END)
        return b"comok 1,30601-0,NX4832T035_011R,163,61488,D264B8204F0E1828,16777216" + END if is_asked else b""

    def close(self) -> None:
        self.is_open = False


@pytest.mark.parametrize(
    ("baud", "doubt"),
    [(9600, ""), (115_200, "it talks at 115200 baud: write baud = 115200 in table.toml"), (1, "it does not answer")],
)
def test_a_nextion_answers_at_its_speed(baud: int, doubt: str) -> None:
    nextion = FakeNextion(baud)
    waited: list[float] = []
    found = nextion_problem(nextion.open_at, 9600, waited.append)
    assert found.startswith(doubt)
    assert bool(found) == (len(waited) > 2)
    assert not nextion.is_open


@pytest.mark.parametrize(
    ("baud", "doubt"), [(9600, ""), (19_200, "it talks at 19200 baud: write baud = 19200 in table.toml")]
)
def test_the_emulated_one_answers_at_its_speed_and_at_no_other(baud: int, doubt: str, tmp_path: Path) -> None:
    emulated, path, later_ns = EmulatedNextion(baud=baud), tmp_path / "display", 0
    port = PtyPort(emulated, path, clock=lambda: time.monotonic_ns() + later_ns)
    port.plug()
    later_ns = 1_000_000_000  # it has started by then

    def open_at(speed: int) -> BytePort:
        return serial_port(str(path), speed)()

    def wait(wait_s: float) -> None:
        threading.Event().wait(wait_s + 0.3)  # a busy machine is slower than a wire

    try:
        assert nextion_problem(open_at, 9600, wait) == doubt
    finally:
        port.close()
    assert emulated.commands == ()
