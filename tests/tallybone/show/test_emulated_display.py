"""`tallybone emulate-display` shows what a program sends to the port it makes."""

from __future__ import annotations

import io
import re
import threading
import time
from pathlib import Path

import pytest
from rich.console import Console

from hardware.display.page import DisplayPage, ScoreLine
from tallybone.show.emulated_display import emulate_display
from tests.hardware.display.parts import opened

_PAGE = DisplayPage((ScoreLine("Ann", 35, is_provisional=True), ScoreLine("Ben", 128, is_turn=True)), "Hi")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "driver", "shown"),
    [
        ("serlcd", "serlcd-16x2", " Ann *35>Ben 128\nHi"),
        ("serlcd-20x4", "serlcd-20x4", " Ann             *35\n>Ben             128\nHi"),
        ("segment", "segment", "1.  3'5"),
        ("nextion", "nextion", "  Ann            ~35\n> Ben            128"),
    ],
)
@pytest.mark.parametrize("is_terminal", [False, True])
def test_what_is_sent_is_shown(kind: str, driver: str, shown: str, is_terminal: bool, tmp_path: Path) -> None:
    out, stops, path = io.StringIO(), threading.Event(), tmp_path / "display"
    console = Console(file=out, force_terminal=is_terminal, width=80, highlight=False)
    running = threading.Thread(
        target=emulate_display, args=(kind,), kwargs={"at": path, "baud": 9600, "console": console, "stops": stops}
    )
    running.start()
    display = opened(driver, path)
    display.show(_PAGE)
    began = time.perf_counter()
    while not all(line in out.getvalue() for line in shown.split("\n")):
        assert time.perf_counter() - began < 20.0, out.getvalue()
    display.close()
    stops.set()
    running.join(10.0)
    assert f"at {path}, 9600 baud" in out.getvalue()
    if is_terminal:
        assert re.search(r"\d+ bytes, 0 lost, 0 EEPROM writes", out.getvalue())
    assert not path.exists()


def test_a_path_that_is_taken_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken = tmp_path / "display"
    taken.touch()
    assert emulate_display("segment", at=taken, baud=9600) == 1
    assert "display" in capsys.readouterr().err
    assert taken.exists()
