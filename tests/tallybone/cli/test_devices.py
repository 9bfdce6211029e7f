"""Tests of the commands for devices: `tallybone cameras`, `listen` and `hardware test`, with a simulated user."""

from __future__ import annotations

import io
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from hardware import table as parts
from hardware.buttons.panel import Buttons, VirtualButtons
from hardware.camera.open_device import CameraKind, FoundCamera, FoundCameras
from hardware.camera.v4l2 import NodeMode
from hardware.knock.sensor import KnockSensor, Sound, VirtualKnock
from hardware.leds.drivers import LedsDriver
from hardware.leds.lamps import OFF, Lamps, LedError
from hardware.libraries import PinLibrary, open_pins
from hardware.part import Rgb
from hardware.table import ButtonsSettings, DisplaySettings, KnockSettings
from tallybone.cli.devices import list_cameras, listen, walk_through
from tallybone.serve.parts_test import TEST_PAGE
from tests.hardware.fakes import FakeDisplay, FakeLeds
from tests.hardware.knock.sounds import with_hits, write_wav

_SIZES = ((640, 360), (1920, 1080), (640, 480), (1280, 720), (320, 240), (160, 120))
_MODES = (
    *(NodeMode("MJPG", width, height, (30.0, 7.5)) for width, height in _SIZES),
    NodeMode("YUYV", 640, 480, ()),
)
_LASTING = Path("/dev/v4l/by-id/usb-Acme-video-index0")
_PI = FoundCamera("pi:0", CameraKind.PI, "Camera Module 3 (imx708)")
_USB = FoundCamera("usb:0", CameraKind.USB, "Acme\x1b[31m Cam", Path("/dev/video2"), _LASTING, _MODES)
_OTHER = FoundCamera("/dev/video0", CameraKind.OTHER, "a card", Path("/dev/video0"))


def _listed(*cameras: FoundCamera, problems: tuple[str, ...] = (), as_json: bool = False) -> tuple[int, list[str], str]:
    out, err = StringIO(), StringIO()
    code = list_cameras(as_json=as_json, find=lambda: FoundCameras(cameras, problems), out=out, err=err)
    return code, out.getvalue().splitlines(), err.getvalue()


def test_each_line_starts_with_the_value_for_the_camera_option() -> None:
    code, lines, err = _listed(_PI, _USB, _OTHER)
    assert (code, err) == (0, "")
    assert lines == [
        "pi:0         Camera Module 3 (imx708): any size up to the sensor's",
        "usb:0        Acme\\x1b[31m Cam at /dev/v4l/by-id/usb-Acme-video-index0: MJPG 1920x1080 30/s, 1280x720 30/s,"
        " 640x480 30/s, 640x360 30/s, and 2 smaller; YUYV 640x480",
        "/dev/video0  a card at /dev/video0: image sizes unknown",
    ]


def test_json_output_has_a_complete_line_per_camera() -> None:
    code, lines, _ = _listed(_PI, _USB, as_json=True)
    pi, usb = map(json.loads, lines)
    assert code == 0
    named = {"url": "pi:0", "kind": "pi", "name": "Camera Module 3 (imx708)"}
    assert pi == {**named, "device": None, "lasting": None, "modes": []}
    assert (usb["url"], usb["device"], usb["lasting"]) == ("usb:0", "/dev/video2", str(_LASTING))
    assert usb["modes"][0] == {"coding": "MJPG", "width": 640, "height": 360, "per_s": [30.0, 7.5]}
    assert len(usb["modes"]) == len(_MODES)


def test_without_cameras_advice_goes_to_stderr() -> None:
    for as_json in (False, True):
        code, lines, err = _listed(problems=("/dev/video0 may not be used",), as_json=as_json)
        assert (code, lines) == (1, [])
        assert "tallybone cameras: /dev/video0 may not be used\nNo camera was found" in err
        assert "--camera simulated" in err


def run_listen(path: Path, *, as_json: bool = False, says_all: bool = False) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = listen(path, as_json=as_json, says_all=says_all, out=out, err=err)
    return code, out.getvalue(), err.getvalue()


@pytest.fixture
def knocks(tmp_path: Path) -> Path:
    return write_wav(tmp_path / "knocks.wav", with_hits(Sound.KNOCK, (0.6, 1.8), seed=3))


def test_knocks_are_sentences_or_one_line_of_json_each(knocks: Path) -> None:
    code, out, err = run_listen(knocks, as_json=True)
    assert (code, err) == (0, "")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [list(line) for line in lines] == [["t_s", "strength", "confidence", "kind"]] * 2
    assert [line["t_s"] for line in lines] == pytest.approx([0.6, 1.8], abs=0.02)
    assert {line["kind"] for line in lines} == {"knock"}
    assert all(0.3 < line["strength"] < 0.5 and 0.3 < line["confidence"] <= 1 for line in lines)
    code, out, _ = run_listen(knocks)
    assert code == 0
    assert out.count("s  a knock (strength 0.4") == 2


def test_other_sounds_are_only_reported_on_request(tmp_path: Path) -> None:
    slams = write_wav(tmp_path / "slams.wav", with_hits(Sound.SLAM, (0.6, 1.8), seed=1))
    assert run_listen(slams, as_json=True) == (0, "", "")
    assert run_listen(slams) == (0, "No knock was heard.\n", "")
    code, out, _ = run_listen(slams, as_json=True, says_all=True)
    kinds = [json.loads(line)["kind"] for line in out.splitlines()]
    assert code == 0
    assert len(kinds) >= 2
    assert "knock" not in kinds


def test_a_knock_at_the_very_end_is_reported_and_silence_is_not(tmp_path: Path) -> None:
    samples = with_hits(Sound.KNOCK, (0.6,), seed=9)[: 16_000 * 7 // 10]
    assert run_listen(write_wav(tmp_path / "a.wav", samples), as_json=True)[1].count("\n") == 1
    silence = write_wav(tmp_path / "a.wav", np.zeros(16_000, np.float32))
    assert run_listen(silence, as_json=True, says_all=True) == (0, "", "")
    assert run_listen(silence, says_all=True)[1] == "Nothing was heard.\n"


def test_an_invalid_or_truncated_wav_file_is_named(tmp_path: Path, knocks: Path) -> None:
    path = tmp_path / "a\x1b.wav"
    path.write_bytes(b"no sound")
    code, out, err = run_listen(path, as_json=True)
    assert (code, out) == (1, "")
    assert err.endswith("a\\x1b.wav: expected a WAV file (RIFF ... WAVE), but the file starts differently\n")
    code, _, err = run_listen(tmp_path / "nowhere.wav")
    assert code == 1
    assert "nowhere.wav: there is no such file or folder" in err
    knocks.write_bytes(knocks.read_bytes()[:-20_000])
    code, out, err = run_listen(knocks, as_json=True)
    assert code == 1
    assert out.count("\n") == 2
    assert "the file is truncated" in err


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
    """A table with fake parts, and output whose lines trigger answers of its user by their prefix."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.leds_, self.sensor, self.screen = FakeLeds(2), VirtualKnock(), FakeDisplay()
        self.buttons_ = VirtualButtons(("call 1", "call 2", "next"))
        self.lacks, self.folder = "", folder
        self.keys, self.typed = os.pipe()
        self.answers: dict[str, Callable[[], object]] = {  # everything as asked
            "  LED ": self.types("y"),
            "  call 1 (GPIO 17)": self.presses("call 1"),
            "  call 2 (GPIO 27)": self.presses("call 2"),
            "  next (GPIO 24)": self.presses("next"),
            "knock: ": self.knocks,
            "  what it shows": self.types("y"),
        }

    def types(self, keys: str) -> Callable[[], object]:
        return lambda: os.write(self.typed, keys.encode())

    def presses(self, *buttons: str) -> Callable[[], object]:
        def pressed() -> None:
            for button in buttons:
                self.buttons_.press(button, 1)

        return pressed

    def knocks(self) -> None:
        for _ in range(3):
            self.sensor.knock(time.monotonic_ns())

    def walk(self) -> tuple[int, list[str]]:
        path = self.folder / "table.toml"
        path.write_text(TABLE)
        code = walk_through(path, opener=self, fd=self.keys, out=self)
        return code, self.getvalue().rpartition("\n\n")[2].splitlines()

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


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    table = Table(tmp_path)
    yield table
    os.close(table.keys)
    os.close(table.typed)


def test_a_working_table_passes(table: Table) -> None:
    code, summary = table.walk()
    assert (code, [line.split(None, 1)[0] for line in summary]) == (0, ["ok"] * 4)
    assert summary[0] == "ok       LEDs (seats)          2 seen"
    assert "3 of 3 heard, strength 0.50 to 0.50" in summary[2]
    assert [colours for colours in table.leds_.shown if colours != (OFF, OFF)] == [(WHITE, OFF), (OFF, WHITE)]
    assert table.leds_.shown[-1] == (OFF, OFF)
    assert table.screen.pages == (TEST_PAGE,)
    assert table.screen.is_closed


def test_swapped_buttons_are_reported(table: Table) -> None:
    table.answers["  call 1 (GPIO 17)"] = table.presses("call 2", "call 1")
    table.answers["  call 2 (GPIO 27)"] = table.presses("call 1")
    table.answers["that was call 1: "] = table.types("n")
    table.answers["  next (GPIO 24)"] = table.types("n")
    code, summary = table.walk()
    assert code == 1
    assert "  call 1 (GPIO 17): that was call 2: check for swapped wires\n" in table.getvalue()
    assert summary[1].split(None, 2)[2] == "call 1: call 2 came first; call 2: call 1 came; next: nothing came"


def test_an_unseen_led_and_a_dark_display_fail(table: Table) -> None:
    table.answers["  LED 2"] = table.types("n")
    del table.answers["  LED "]
    table.answers["  LED 1"] = table.types("y")
    table.answers["  what it shows"] = table.types("n")
    code, summary = table.walk()
    assert code == 1
    assert summary[0].startswith("failed   LEDs (seats)          not seen: 2;")
    assert summary[3].startswith("failed   display segment       not seen: check")


def test_leds_can_be_repeated_from_the_first(table: Table) -> None:
    replies = list("qnyay")
    table.answers["  LED "] = lambda: os.write(table.typed, replies.pop().encode())
    table.walk()
    asked = [line for line in table.getvalue().splitlines() if line.startswith("  LED")]
    replies_shown = ("1 of 2: seen", "2 of 2: again", "1 of 2: seen", "2 of 2: not seen")
    assert asked == [f"  LED {reply}" for reply in replies_shown]


def test_skipping_every_step_is_no_failure(table: Table) -> None:
    table.answers.clear()
    table.types("ssssss")()
    code, summary = table.walk()
    assert (code, [line.split(None, 1)[0] for line in summary]) == (0, ["skipped"] * 4)


def test_q_ends_the_test_with_the_results_so_far(table: Table) -> None:
    table.answers.clear()
    table.types("nnq")()
    code, summary = table.walk()
    assert (code, len(summary)) == (1, 2)
    assert summary[1].split() == ["skipped", "the", "rest", "ended", "with", "q"]
    assert table.leds_.shown[-1] == (OFF, OFF)
    path, out = table.folder / "table.toml", io.StringIO()
    with Path(os.devnull).open() as nothing:
        assert walk_through(path, opener=Table(table.folder), fd=nothing.fileno(), out=out) == 0, "no keyboard"
    assert out.getvalue().splitlines()[-1] == "skipped  the rest              ended with q"


def test_a_part_that_cannot_be_opened_fails_and_the_others_follow(table: Table) -> None:
    table.lacks = "leds"
    code, summary = table.walk()
    assert (code, summary[0]) == (1, "failed   LEDs (seats)          LED 0 cannot have its pin")
    assert [line.split(None, 1)[0] for line in summary[1:]] == ["ok"] * 3


def test_buttons_that_fail_during_the_test_are_reported(table: Table) -> None:
    table.answers["  call 2 (GPIO 27)"] = table.buttons_.close
    code, summary = table.walk()
    assert code == 1
    assert summary[1].startswith("failed   buttons               the buttons are closed")
    assert [line.split(None, 1)[0] for line in summary] == ["ok", "failed", "ok", "ok"]


def test_real_drivers_on_mock_pins_are_tested_and_virtual_parts_skipped(table: Table) -> None:
    table.answers.clear()
    path = table.folder / "table.toml"
    path.write_text(
        '[hardware]\npins = "mock"\n[[hardware.leds]]\ndriver = "single"\npins = [5, 6]\n'
        '[[hardware.leds]]\ndriver = "virtual"\n[hardware.buttons]\ndriver = "gpio"\nnext = 24\n'
        '[hardware.knock]\ndriver = "piezo-pin"\npin = 21\n[[hardware.displays]]\ndriver = "virtual"\n'
    )
    table.types("yysn")()
    out = io.StringIO()
    assert walk_through(path, fd=table.keys, out=out) == 1
    summary = out.getvalue().rpartition("\n\n")[2].splitlines()
    assert [" ".join(line.split(None, 2)[:2]) for line in summary] == ["ok LEDs", "skipped buttons", "failed knock"]


def test_a_press_on_a_mock_pin_is_recognised(table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table.answers.clear()
    factory = open_pins(PinLibrary.MOCK)
    monkeypatch.setattr(parts, "open_pins", lambda _: factory)

    def press() -> None:
        factory.pin(24).drive_low()
        threading.Timer(0.1, factory.pin(24).drive_high).start()

    table.answers["  next (GPIO 24): "] = press
    path = tmp_path / "table.toml"
    path.write_text('[hardware]\npins = "mock"\n[hardware.buttons]\ndriver = "gpio"\nnext = 24\n')
    assert walk_through(path, fd=table.keys, out=table) == 0
    assert table.getvalue().endswith("ok       buttons               all 1 arrived correctly\n")


def test_an_invalid_table_or_one_without_parts_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.toml"
    for text, code, message in (("", 0, "no parts"), ("[hardware.knock]\ndriver = 1\n", 1, "hardware.knock")):
        path.write_text(text)
        out = io.StringIO()
        assert walk_through(path, fd=0, out=out) == code
        assert message in out.getvalue() + capsys.readouterr().err
