"""Tests of detecting a Nextion and its speed."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from hardware.display.display import BytePort, serial_port
from hardware.display.drivers.nextion import nextion_problem
from lab.emulate.command import PtyPort
from lab.emulate.displays import EmulatedNextion

END = b"\xff\xff\xff"


class FakeNextion:
    """A port of a display with a fixed speed. Only one port may be open at a time."""

    def __init__(self, baud: int) -> None:
        self.baud = baud
        self.received = b""
        self.is_open, self.has_speed = False, False

    def open_at(self, baud: int) -> FakeNextion:
        assert not self.is_open, "two open ports"
        self.is_open, self.has_speed, self.received = True, baud == self.baud, b""
        return self

    def write(self, data: bytes) -> None:
        self.received += data

    def read(self) -> bytes:
        is_asked = self.has_speed and self.received.endswith(END + b"connect" + END)
        return b"comok 1,30601-0,NX4832T035_011R,163,61488,D264B8204F0E1828,16777216" + END if is_asked else b""

    def close(self) -> None:
        self.is_open = False


@pytest.mark.parametrize(
    ("baud", "doubt"),
    [(9600, ""), (115_200, "it talks at 115200 baud: write baud = 115200 in table.toml"), (1, "no response")],
)
def test_a_nextion_answers_at_its_speed(baud: int, doubt: str) -> None:
    nextion = FakeNextion(baud)
    waited: list[float] = []
    found = nextion_problem(nextion.open_at, 9600, waited.append)
    assert found.startswith(doubt)
    assert bool(found) == (len(waited) > 2)
    assert not nextion.is_open


@pytest.mark.parametrize(
    ("baud", "doubt"),
    [
        (9600, ""),
        pytest.param(19_200, "it talks at 19200 baud: write baud = 19200 in table.toml", marks=pytest.mark.slow),
    ],
)
def test_an_emulated_nextion_answers_only_at_its_speed(baud: int, doubt: str, tmp_path: Path) -> None:
    emulated, path, later_ns = EmulatedNextion(baud=baud), tmp_path / "display", 0
    port = PtyPort(emulated, path, clock=lambda: time.monotonic_ns() + later_ns)
    port.plug()
    later_ns = 1_000_000_000  # after its start

    def open_at(speed: int) -> BytePort:
        return serial_port(str(path), speed)()

    def wait(wait_s: float) -> None:
        threading.Event().wait(wait_s + 0.3)  # extra time for a busy machine

    try:
        assert nextion_problem(open_at, 9600, wait) == doubt
    finally:
        port.close()
    assert emulated.commands == []
