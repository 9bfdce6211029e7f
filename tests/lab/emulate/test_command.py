"""Tests of `tallybone emulate-display`, which shows the data sent to its port."""

from __future__ import annotations

import io
import re
import threading
import time
from pathlib import Path

import pytest
from rich.console import Console

from hardware.display.page import DisplayPage, ScoreLine
from lab.emulate.command import emulate_display
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
def test_shows_the_page_sent(kind: str, driver: str, shown: str, is_terminal: bool, tmp_path: Path) -> None:
    out, stop_event, path = io.StringIO(), threading.Event(), tmp_path / "display"
    console = Console(file=out, force_terminal=is_terminal, width=80, highlight=False)
    running = threading.Thread(
        target=emulate_display, args=(kind,), kwargs={"at": path, "baud": 9600, "console": console, "stops": stop_event}
    )
    running.start()
    display = opened(driver, path)
    display.show(_PAGE)
    started_at = time.perf_counter()
    while not all(line in out.getvalue() for line in shown.split("\n")):
        assert time.perf_counter() - started_at < 20.0, out.getvalue()
    display.close()
    stop_event.set()
    running.join(10.0)
    assert f"at {path}, 9600 baud" in out.getvalue()
    if is_terminal:
        assert re.search(r"\d+ bytes, 0 lost, 0 EEPROM writes", out.getvalue())
    assert not path.exists()


def test_names_a_path_already_in_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken = tmp_path / "display"
    taken.touch()
    assert emulate_display("segment", at=taken, baud=9600) == 1
    assert "display" in capsys.readouterr().err
    assert taken.exists()
