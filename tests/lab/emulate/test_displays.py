"""Tests of the display emulators, including pitfalls of the firmware."""

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
from lab.emulate.displays import EmulatedNextion, EmulatedSegment, EmulatedSerLcd
from tests.hardware.display.parts import S, opened


def _serlcd() -> EmulatedSerLcd:
    emulated = EmulatedSerLcd(16, 2)
    emulated.power_on(0)
    return emulated


def _segment() -> EmulatedSegment:
    emulated = EmulatedSegment()
    emulated.power_on(0)
    return emulated


def test_a_serlcd_ignores_input_during_its_splash_screen() -> None:
    emulated = _serlcd()
    emulated.receive(b"lost", 0)
    assert emulated.screen(S // 10)[0] == "SparkFun OpenLCD"
    assert emulated.screen(S) == (" " * 16, " " * 16)


def test_a_serlcd_prints_at_the_cursor_and_clears() -> None:
    emulated = _serlcd()
    emulated.receive(b"Hello\xfe\xc3you", S)
    assert emulated.screen(2 * S) == ("Hello           ", "   you          ")
    emulated.receive(b"|-||", 2 * S)
    assert emulated.screen(3 * S)[0] == "|               "


def test_a_serlcd_setting_shows_a_message_and_writes_eeprom() -> None:
    emulated = _serlcd()
    emulated.receive(b"|\x0d", S)
    assert emulated.screen(S + S // 4)[0].startswith("Setting")
    assert emulated.eeprom_writes == 1
    assert emulated.screen(2 * S)[0] == " " * 16


def test_a_serlcd_keeps_its_colour_without_power() -> None:
    emulated = _serlcd()
    emulated.receive(b"|+\x01\x02\x03", S)
    emulated.screen(2 * S)
    emulated.power_on(3 * S)
    assert emulated.backlight == (1, 2, 3)
    assert emulated.eeprom_writes == 3


def test_a_serlcd_stores_eight_bytes_after_a_misread_blank() -> None:
    emulated = _serlcd()
    emulated.receive(b"| 12345678ok", S)
    assert emulated.screen(2 * S)[0] == "ok              "
    assert emulated.eeprom_writes == 8


def test_a_serlcd_drops_bytes_beyond_its_ring_buffer() -> None:
    emulated = _serlcd()
    emulated.receive(b"|," + b"x" * 100, S)
    assert emulated.screen(3 * S)[0] == "x" * 16
    assert 30 <= emulated.lost_bytes <= 40


def test_a_segment_display_starts_with_1234_and_wraps() -> None:
    emulated = _segment()
    assert emulated.screen(S) == ("1234", "")
    emulated.receive(b" 12856", S)
    assert emulated.screen(2 * S) == ("5628", "")


def test_decimals_cursor_and_clear_of_a_segment_display() -> None:
    emulated = _segment()
    emulated.receive(b"\x76\x79\x02\x05\x77\x15", S)
    assert emulated.screen(2 * S) == ("  5 ", "024")


def test_setting_the_same_brightness_of_a_segment_display_writes_eeprom() -> None:
    emulated = _segment()
    emulated.receive(b"\x7a\x32" * 3, S)
    emulated.screen(2 * S)
    assert (emulated.brightness, emulated.eeprom_writes) == (50, 3)


def test_a_segment_display_misreads_a_clear_after_a_lost_byte() -> None:
    emulated = _segment()
    emulated.receive(b"\x79\x76\x39", S)
    assert emulated.screen(2 * S) == ("9234", "")


def test_a_nextion_executes_at_the_terminator_and_reports_errors() -> None:
    emulated = EmulatedNextion()
    emulated.power_on(0)
    assert emulated.replies() == b""
    emulated.screen(S)
    assert emulated.replies() == b"\x00\x00\x00\xff\xff\xff\x88\xff\xff\xff"
    emulated.receive(b'n0.txt="Ann"', S)
    assert emulated.screen(2 * S)[0] == ""
    emulated.receive(b'\xff\xff\xffq9.txt="x"\xff\xff\xffrubbish\xff\xff\xffsendme\xff\xff\xff', 2 * S)
    assert emulated.screen(3 * S)[0] == "Ann"
    assert emulated.replies() == b"\x1a\xff\xff\xff\x00\xff\xff\xff\x66\x00\xff\xff\xff"


def test_a_nextion_reports_a_buffer_overflow() -> None:
    emulated = EmulatedNextion(baud=921_600)
    emulated.power_on(0)
    emulated.screen(S)
    emulated.replies()
    emulated.receive(b'n0.txt="a"\xff\xff\xff' * 200, S)
    assert emulated.lost_bytes > 0
    assert emulated.replies().startswith(b"\x24\xff\xff\xff")


# Tests of `tallybone emulate-display`, which shows the data sent to its port.


_PAGE = DisplayPage((ScoreLine("Ann", 35, is_provisional=True), ScoreLine("Ben", 128, is_turn=True)), "Hi")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "driver", "shown", "is_terminal"),
    [
        ("serlcd-20x4", "serlcd-20x4", " Ann             *35\n>Ben             128\nHi", False),
        ("segment", "segment", "1.  3'5", False),
        ("nextion", "nextion", "  Ann            ~35\n> Ben            128", True),
    ],
)
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
