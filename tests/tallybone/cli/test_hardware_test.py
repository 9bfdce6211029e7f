"""Tests of `tallybone hardware test` with a simulated user, and without one."""

from __future__ import annotations

import io
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hardware import table as parts
from hardware.buttons.panel import Buttons, VirtualButtons
from hardware.knock.sensor import KnockSensor, VirtualKnock
from hardware.leds.drivers import LedsDriver
from hardware.leds.lamps import OFF, Lamps, LedError
from hardware.libraries import PinLibrary, open_pins
from hardware.part import Rgb
from hardware.table import ButtonsSettings, DisplaySettings, KnockSettings
from tallybone.cli.devices import walk_through
from tallybone.serve.parts_test import TEST_PAGE
from tests.hardware.fakes import FakeDisplay, FakeLeds

TABLE = """
[[hardware.leds]]
driver = "single"
pins = [5, 6]
[hardware.buttons]
driver = "gpio"
call = [17, 27]
next = 24
[hardware.knock]
driver = "microphone"
[[hardware.displays]]
driver = "segment"
url = "/dev/ttyUSB0"
"""
WHITE = Rgb(255, 255, 255)


class Table(io.StringIO):
    """A table with fake parts, and output whose lines trigger answers by their prefix."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Callable[[], None]] = {}
        self.leds_, self.sensor, self.screen = FakeLeds(2), VirtualKnock(), FakeDisplay()
        self.buttons_ = VirtualButtons(("call 1", "call 2", "next"))
        self.lacks = ""

    def write(self, text: str) -> int:
        for begin, answer in self.answers.items():
            if text.startswith(begin):
                answer()
        return super().write(text)

    def leds(self, part: LedsDriver) -> Lamps:
        if self.lacks == "leds":
            raise LedError("LED 0 cannot have its pin")
        return Lamps(self.leds_)

    def buttons(self, part: ButtonsSettings) -> Buttons:
        return self.buttons_

    def knock(self, part: KnockSettings) -> KnockSensor:
        self.sensor.start()
        return self.sensor

    def display(self, part: DisplaySettings) -> FakeDisplay:
        return self.screen


@dataclass
class TableUser:
    """A simulated user who types keys, presses buttons and knocks."""

    table: Table
    fd: int

    def types(self, keys: str) -> Callable[[], None]:
        def typed() -> None:
            os.write(self.fd, keys.encode())

        return typed

    def presses(self, *buttons: str) -> Callable[[], None]:
        def pressed() -> None:
            for button in buttons:
                self.table.buttons_.press(button, 1)

        return pressed

    def knocks(self, times: int) -> Callable[[], None]:
        def knocked() -> None:
            for _ in range(times):
                self.table.sensor.knock(time.monotonic_ns())

        return knocked


@pytest.fixture
def table_user() -> Iterator[tuple[Table, TableUser, int]]:
    """Return a table, its user, and the reading end of the user's keyboard pipe."""
    keys, typed = os.pipe()
    table = Table()
    yield table, TableUser(table, typed), keys
    os.close(keys)
    os.close(typed)


def cooperate(table: Table, user: TableUser) -> None:
    """Make the user do everything as asked."""
    table.answers |= {
        "  LED ": user.types("y"),
        "  call 1 (GPIO 17)": user.presses("call 1"),
        "  call 2 (GPIO 27)": user.presses("call 2"),
        "  next (GPIO 24)": user.presses("next"),
        "knock: ": user.knocks(3),
        "  what it shows": user.types("y"),
    }


def walk(table: Table, keys: int, folder: Path, text: str = TABLE) -> tuple[int, list[str]]:
    path = folder / "table.toml"
    path.write_text(text)
    code = walk_through(path, opener=table, fd=keys, out=table)
    return code, table.getvalue().rpartition("\n\n")[2].splitlines()


def test_a_working_table_passes(table_user: tuple[Table, TableUser, int], tmp_path: Path) -> None:
    table, person, keys = table_user
    cooperate(table, person)
    code, summary = walk(table, keys, tmp_path)
    assert (code, [line.split(None, 1)[0] for line in summary]) == (0, ["ok"] * 4)
    assert summary[0] == "ok       LEDs (seats)          2 seen"
    assert "3 of 3 heard, strength 0.50 to 0.50" in summary[2]
    assert [colours for colours in table.leds_.shown if colours != (OFF, OFF)] == [(WHITE, OFF), (OFF, WHITE)]
    assert table.leds_.shown[-1] == (OFF, OFF)
    assert table.screen.pages == (TEST_PAGE,)
    assert table.screen.is_closed


def test_swapped_buttons_are_reported(table_user: tuple[Table, TableUser, int], tmp_path: Path) -> None:
    table, person, keys = table_user
    cooperate(table, person)
    table.answers["  call 1 (GPIO 17)"] = person.presses("call 2", "call 1")
    table.answers["  call 2 (GPIO 27)"] = person.presses("call 1")
    table.answers["that was call 1: "] = person.types("n")
    table.answers["  next (GPIO 24)"] = person.types("n")
    code, summary = walk(table, keys, tmp_path)
    assert code == 1
    assert "  call 1 (GPIO 17): that was call 2: check for swapped wires\n" in table.getvalue()
    assert summary[1].split(None, 2)[2] == "call 1: call 2 came first; call 2: call 1 came; next: nothing came"


def test_an_unseen_led_and_a_dark_display_fail(table_user: tuple[Table, TableUser, int], tmp_path: Path) -> None:
    table, person, keys = table_user
    cooperate(table, person)
    table.answers["  LED 2"] = person.types("n")
    del table.answers["  LED "]
    table.answers["  LED 1"] = person.types("y")
    table.answers["  what it shows"] = person.types("n")
    code, summary = walk(table, keys, tmp_path)
    assert code == 1
    assert summary[0].startswith("failed   LEDs (seats)          not seen: 2;")
    assert summary[3].startswith("failed   display segment       not seen: check")


def test_leds_can_be_repeated_from_the_first(table_user: tuple[Table, TableUser, int], tmp_path: Path) -> None:
    table, person, keys = table_user
    cooperate(table, person)
    del table.answers["  LED "]
    replies = list("qnyay")

    def reply() -> None:
        person.types(replies.pop())()

    table.answers["  LED "] = reply
    walk(table, keys, tmp_path)
    asked = [line for line in table.getvalue().splitlines() if line.startswith("  LED")]
    replies_shown = ("1 of 2: seen", "2 of 2: again", "1 of 2: seen", "2 of 2: not seen")
    assert asked == [f"  LED {reply}" for reply in replies_shown]


def test_skipping_every_step_is_no_failure(table_user: tuple[Table, TableUser, int], tmp_path: Path) -> None:
    table, person, keys = table_user
    person.types("ssssss")()
    code, summary = walk(table, keys, tmp_path)
    assert (code, [line.split(None, 1)[0] for line in summary]) == (0, ["skipped"] * 4)


def test_q_ends_the_test_with_the_results_so_far(table_user: tuple[Table, TableUser, int], tmp_path: Path) -> None:
    table, person, keys = table_user
    person.types("nnq")()
    code, summary = walk(table, keys, tmp_path)
    assert (code, len(summary)) == (1, 2)
    assert summary[1].split() == ["skipped", "the", "rest", "ended", "with", "q"]
    assert table.leds_.shown[-1] == (OFF, OFF)


def test_without_a_keyboard_the_test_ends(tmp_path: Path) -> None:
    with Path(os.devnull).open() as nothing:
        code, summary = walk(Table(), nothing.fileno(), tmp_path)
    assert (code, summary) == (0, ["skipped  the rest              ended with q"])


def test_a_part_that_cannot_be_opened_fails_and_the_others_follow(
    table_user: tuple[Table, TableUser, int], tmp_path: Path
) -> None:
    table, person, keys = table_user
    cooperate(table, person)
    table.lacks = "leds"
    code, summary = walk(table, keys, tmp_path)
    assert (code, summary[0]) == (1, "failed   LEDs (seats)          LED 0 cannot have its pin")
    assert [line.split(None, 1)[0] for line in summary[1:]] == ["ok"] * 3


def test_buttons_that_fail_during_the_test_are_reported(
    table_user: tuple[Table, TableUser, int], tmp_path: Path
) -> None:
    table, person, keys = table_user
    cooperate(table, person)
    table.answers["  call 2 (GPIO 27)"] = table.buttons_.close
    code, summary = walk(table, keys, tmp_path)
    assert code == 1
    assert summary[1].startswith("failed   buttons               the buttons are closed")
    assert [line.split(None, 1)[0] for line in summary] == ["ok", "failed", "ok", "ok"]


def test_real_drivers_on_mock_pins_are_tested_and_virtual_parts_skipped(
    table_user: tuple[Table, TableUser, int], tmp_path: Path
) -> None:
    _, person, keys = table_user
    path = tmp_path / "table.toml"
    path.write_text(
        '[hardware]\npins = "mock"\n[[hardware.leds]]\ndriver = "single"\npins = [5, 6]\n'
        '[[hardware.leds]]\ndriver = "virtual"\n[hardware.buttons]\ndriver = "gpio"\nnext = 24\n'
        '[hardware.knock]\ndriver = "piezo-pin"\npin = 21\n[[hardware.displays]]\ndriver = "virtual"\n'
    )
    person.types("yysn")()
    out = io.StringIO()
    assert walk_through(path, fd=keys, out=out) == 1
    summary = out.getvalue().rpartition("\n\n")[2].splitlines()
    assert [line.split(None, 2)[:2] for line in summary] == [
        ["ok", "LEDs"],
        ["skipped", "buttons"],
        ["failed", "knock"],
    ]


def test_a_press_on_a_mock_pin_is_recognised(
    table_user: tuple[Table, TableUser, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, _, keys = table_user
    factory = open_pins(PinLibrary.MOCK)
    monkeypatch.setattr(parts, "open_pins", lambda _: factory)

    def press() -> None:
        factory.pin(24).drive_low()
        threading.Timer(0.1, factory.pin(24).drive_high).start()

    table.answers["  next (GPIO 24): "] = press
    path = tmp_path / "table.toml"
    path.write_text('[hardware]\npins = "mock"\n[hardware.buttons]\ndriver = "gpio"\nnext = 24\n')
    assert walk_through(path, fd=keys, out=table) == 0
    assert table.getvalue().endswith("ok       buttons               all 1 arrived correctly\n")


def test_an_invalid_table_or_one_without_parts_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.toml"
    for text, code, message in (("", 0, "no parts"), ("[hardware.knock]\ndriver = 1\n", 1, "hardware.knock")):
        path.write_text(text)
        out = io.StringIO()
        assert walk_through(path, fd=0, out=out) == code
        assert message in out.getvalue() + capsys.readouterr().err
