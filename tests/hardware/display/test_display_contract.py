"""Tests of all displays: fake, none, terminal, and each driver on a pty."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest

from hardware.display.display import BytePort, DisplayError, LinkedDisplay, ScoreDisplay, VirtualDisplay
from hardware.display.drivers import DISPLAYS
from hardware.display.page import DisplayPage, ScoreLine
from hardware.libraries import install_command
from lab.emulate.command import PtyPort
from lab.emulate.displays import EmulatedNextion, EmulatedSegment, EmulatedSerLcd, Firmware
from tests.hardware.display.parts import on_no_port, opened
from tests.hardware.fakes import FakeDisplay
from tests.waiting import until

_PAGE = DisplayPage((ScoreLine("Ann", 35), ScoreLine("Ben", 40, is_turn=True)), "Ann +5")
_EMULATED: dict[str, Callable[[], Firmware]] = {
    "serlcd-16x2": lambda: EmulatedSerLcd(16, 2),
    "serlcd-20x4": lambda: EmulatedSerLcd(20, 4),
    "segment": EmulatedSegment,
    "nextion": EmulatedNextion,
}
_DRIVERS = [name for driver in DISPLAYS.drivers() for name in get_args(driver.model_fields["driver"].annotation)]
_KINDS = ("fake", "virtual", *_DRIVERS, "loop://", "unplugged")


@pytest.fixture(params=_KINDS)
def display(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ScoreDisplay]:
    kind, path = str(request.param), tmp_path / "display"
    port = PtyPort(_EMULATED[kind](), path) if kind in _EMULATED else None
    if port is not None:
        port.plug()
    made: dict[str, Callable[[], ScoreDisplay]] = {
        "fake": FakeDisplay,
        "virtual": VirtualDisplay,
        "loop://": lambda: opened("nextion", "loop://"),
        "unplugged": lambda: opened("segment", path),
    }
    shown = made.get(kind, lambda: opened(kind, path))()
    yield shown
    shown.close()
    if port is not None:
        port.close()


def test_showing_does_not_block_and_ends_connected_or_with_a_problem(display: ScoreDisplay) -> None:
    began = time.perf_counter()
    for points in range(100):
        display.show(DisplayPage((ScoreLine("Ann", points),)))
    assert time.perf_counter() - began < 0.2
    display.show(_PAGE)
    until(lambda: not display.state.is_opening)
    state = display.state
    assert state.works == (state.problem is None)


def test_a_closed_display_shows_nothing_and_leaves_no_thread(display: ScoreDisplay) -> None:
    display.show(_PAGE)
    display.close()
    display.close()
    with pytest.raises(DisplayError, match="is closed"):
        display.show(_PAGE)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("display")]


def test_the_fake_keeps_pages_and_refuses_other_values() -> None:
    fake = FakeDisplay()
    fake.show(_PAGE)
    with pytest.raises(TypeError, match="expected a DisplayPage, but got 'Ann 35'"):
        fake.show("Ann 35")  # type: ignore[arg-type]
    fake.unplug()
    assert fake.state.problem == "the display was unplugged"
    fake.plug()
    fake.close()
    assert fake.pages == (_PAGE,)
    assert fake.is_closed


def test_the_terminal_prints_changed_pages_without_control_characters(tmp_path: Path) -> None:
    terminal = opened("terminal", tmp_path / "tty")
    terminal.show(DisplayPage((ScoreLine("A\x1b[31mnn", 35, is_turn=True),), "Ann\n+5"))
    terminal.close()
    assert (tmp_path / "tty").read_text() == "> A[31mnn                  35\nAnn +5\n\n"


def test_an_invalid_port_or_a_missing_pyserial_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DisplayError, match="expected a port such as /dev/ttyUSB0"):
        opened("nextion", "nowhere://x")
    monkeypatch.setitem(sys.modules, "serial", None)
    with pytest.raises(DisplayError, match=re.escape(f"need pyserial: {install_command('pi')}")):
        opened("nextion", "/dev/ttyUSB0")


def test_a_port_without_permission_names_the_group() -> None:
    def refuses() -> BytePort:
        raise PermissionError(13, "Permission denied")

    display = LinkedDisplay(on_no_port("nextion"), refuses, name="/dev/ttyUSB0")
    until(lambda: display.state.problem is not None)
    assert display.state.problem is not None
    assert "add this user to the group dialout" in display.state.problem
    display.close()
