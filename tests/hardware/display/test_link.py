"""Tests of displays on a pty with pyserial: after unplugging and replugging they show the last page."""

from __future__ import annotations

import os
import random
import socket
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import serial

from hardware.display.display import LinkedDisplay, serial_port
from hardware.display.drivers.nextion import NextionDriver
from hardware.display.page import DisplayEncoder, DisplayLook, DisplayPage, ScoreLine, WireTiming
from hardware.part import PartState
from lab.emulate.command import PtyPort
from lab.emulate.displays import EmulatedNextion, EmulatedSegment, EmulatedSerLcd
from tests.hardware.display.parts import KINDS, Kind, on_no_port
from tests.waiting import until

_BACK_WITHIN_S = 2.0
_LONG_S = 20.0
_PAUSE = threading.Event()
SERLCD = on_no_port("serlcd-16x2")


@contextmanager
def _plugged(port: PtyPort, part: DisplayEncoder, path: Path) -> Iterator[LinkedDisplay]:
    port.plug()
    display = LinkedDisplay(part, serial_port(str(path), part.wire.baud), name=str(path))
    try:
        yield display
    finally:
        display.close()
        port.close()


def _seconds_until(port: PtyPort, look: DisplayLook) -> float:
    """Wait until the display shows *look*, and return the waiting time."""
    return until(lambda: port.screen() == look, seen=lambda: (port.screen(), look))


def _page(number: int) -> DisplayPage:
    return DisplayPage((ScoreLine(f"Ann{number}", number), ScoreLine("Ben", 2 * number, is_turn=number % 2 == 0)))


def _look(kind: Kind, number: int) -> DisplayLook:
    return kind.part.look(_page(number), 0)


_STILL = tuple(kind for kind in KINDS if kind.name != "segment in turns")


def _replug(kind: Kind, folder: Path, times: int, rng: random.Random) -> list[float]:
    """Unplug and replug at random bytes, and return the times until the last page was shown."""
    path = folder / "display"
    port = PtyPort(kind.emulate(), path)
    back_s, shown_s = [], []
    with _plugged(port, kind.part, path) as display:
        display.show(_page(0))
        _seconds_until(port, _look(kind, 0))
        for number in range(1, times + 1):
            if rng.random() < 0.5:
                port.cut_after(rng.randrange(1, 24 if kind.name == "segment of a seat" else 120))
                display.show(_page(1000 + number))
                assert port.unplugged.wait(_LONG_S)
                _PAUSE.wait(rng.uniform(0, 0.3))
                began = time.perf_counter()
                display.show(_page(number))
                shown_s.append(time.perf_counter() - began)
                port.close()
                port.plug()
            else:  # the display loses power without an error of the port
                display.show(_page(number))
                _PAUSE.wait(rng.uniform(0, 0.2))
                port.lose_power()
            back_s.append(_seconds_until(port, _look(kind, number)))
    assert max(shown_s, default=0.0) < 0.1
    return back_s


@pytest.mark.slow
@pytest.mark.parametrize("kind", _STILL, ids=lambda kind: kind.name)
def test_a_display_unplugged_at_any_byte_recovers_within_two_seconds(kind: Kind, tmp_path: Path) -> None:
    assert max(_replug(kind, tmp_path, 6, random.Random(kind.name))) < _BACK_WITHIN_S


def test_a_cut_requested_during_transfer_counts_from_the_next_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, read = PtyPort(EmulatedSerLcd(), tmp_path / "display"), os.read

    def cut_meanwhile(file: int, count: int) -> bytes:
        monkeypatch.setattr(os, "read", read)
        data = read(file, count)
        port.cut_after(10)
        return data

    monkeypatch.setattr(os, "read", cut_meanwhile)
    port.plug()
    with serial.Serial(str(tmp_path / "display"), SERLCD.wire.baud) as wire:
        wire.write(b"x" * 50)
        until(lambda: port.received_bytes == 50)
        assert not port.unplugged.is_set()
        wire.write(b"y" * 9)
        until(lambda: port.received_bytes == 59)
        assert not port.unplugged.is_set()
        wire.write(b"z" * 20)
        assert port.unplugged.wait(_LONG_S)
        assert port.received_bytes == 60
    port.close()


def test_a_missing_display_is_reported_without_blocking(tmp_path: Path) -> None:
    path = tmp_path / "display"
    display = LinkedDisplay(SERLCD, serial_port(str(path), 9600), name="the box")
    began = time.perf_counter()
    for number in range(1000):
        display.show(_page(number))
    assert time.perf_counter() - began < 0.5
    until(lambda: display.state.problem is not None)
    assert display.state.problem is not None
    assert not display.state.works
    assert display.state.problem.startswith("the display on the box does not respond: check that it is plugged in")
    port = PtyPort(EmulatedSerLcd(), path)
    port.plug()
    _seconds_until(port, SERLCD.look(_page(999), 0))
    assert display.state == PartState()
    display.close()
    port.close()


def test_only_the_newest_page_is_sent_and_the_last_before_closing(tmp_path: Path) -> None:
    port = PtyPort(EmulatedSerLcd(), tmp_path / "display")
    with _plugged(port, SERLCD, tmp_path / "display") as display:
        for number in range(2000):
            display.show(_page(number))
        _seconds_until(port, SERLCD.look(_page(1999), 0))
        assert port.received_bytes < 400
        display.show(DisplayPage((), "Good bye"))
        display.close()
        _seconds_until(port, SERLCD.look(DisplayPage((), "Good bye"), 0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "emulated", "writes"),
    [
        (on_no_port("serlcd-16x2", backlight=[0, 80, 0]), EmulatedSerLcd(), 3),
        (on_no_port("segment", seat=0, brightness=40), EmulatedSegment(), 1),
    ],
    ids=["serlcd", "segment"],
)
def test_eeprom_settings_are_written_once(
    part: DisplayEncoder, emulated: EmulatedSerLcd | EmulatedSegment, writes: int, tmp_path: Path
) -> None:
    path = tmp_path / "display"
    port = PtyPort(emulated, path)
    with _plugged(port, part, path) as display:
        display.show(_page(4))
        until(lambda: (port.screen(), emulated.eeprom_writes >= writes)[1])
        port.close()
        port.plug()
        _seconds_until(port, part.look(_page(4), 0))
        _PAUSE.wait(1.7)  # the settings would follow after 1.5 s
    assert emulated.eeprom_writes == writes
    assert emulated.backlight == (0, 80, 0) if isinstance(emulated, EmulatedSerLcd) else emulated.brightness == 40


class _WithoutRefresh(NextionDriver):
    """A Nextion driver without periodic refresh."""

    @property
    def wire(self) -> WireTiming:
        return replace(super().wire, refresh_ns=None)


def test_a_restarted_nextion_gets_the_page_immediately(tmp_path: Path) -> None:
    port, part = PtyPort(EmulatedNextion(), tmp_path / "display"), _WithoutRefresh(driver="nextion", url="port")
    with _plugged(port, part, tmp_path / "display") as display:
        display.show(_page(3))
        _seconds_until(port, part.look(_page(3), 0))
        port.lose_power()
        assert port.screen() != part.look(_page(3), 0)
        _seconds_until(port, part.look(_page(3), 0))


def test_a_display_behind_a_socket_is_reconnected() -> None:
    part = SERLCD
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(_LONG_S)
        url = f"socket://127.0.0.1:{server.getsockname()[1]}"
        display = LinkedDisplay(part, serial_port(url, 9600), name=url)
        display.show(_page(1))
        for number in (1, 2):
            display.show(_page(number))
            emulated = EmulatedSerLcd()
            emulated.power_on(0)
            connection, _ = server.accept()
            connection.settimeout(_LONG_S)
            t_ns = 1_000_000_000
            while emulated.screen(t_ns) != part.look(_page(number), 0):
                emulated.receive(connection.recv(100), t_ns)
                t_ns += 1_000_000_000
            connection.close()
        display.close()


def test_a_port_lost_during_opening_is_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = threading.Semaphore(0)
    make = serial.serial_for_url

    def fails(url: str, **options: object) -> object:
        if "do_not_open" in options:
            return make(url, **options)
        tried.release()
        raise termios.error(5, "Input/output error")

    monkeypatch.setattr(serial, "serial_for_url", fails)
    display = LinkedDisplay(SERLCD, serial_port("/dev/ttyUSB0", 9600), name="/dev/ttyUSB0")
    for _ in range(3):
        assert tried.acquire(timeout=_LONG_S)
    assert display.state.problem is not None
    display.close()
