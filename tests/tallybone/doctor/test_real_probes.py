"""The probes of parts, through the drivers of the game: mock pins, a display behind a pty, a folder for a camera."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest

from hardware.buttons.drivers.gpio import GpioSettings
from hardware.display.emulation.pty_port import PtyPort
from hardware.display.emulation.serlcd import EmulatedSerLcd
from hardware.knock.drivers.microphone import MicrophoneSettings
from hardware.knock.fake import FakeKnockSensor
from hardware.knock.heard import SoundBlock
from hardware.pin_factory import PinLibrary, open_pins
from hardware.table.settings import HardwareSettings
from tallybone.doctor import probes as real_probes
from tallybone.doctor.parts import Ear, listen_to
from tallybone.doctor.probes import RealProbes, drawn_tiles
from tests.hardware.table.reading import read_hardware
from tests.tallybone.recording.sittings import write
from vision.reader.reader import load_reader

MOCK = PinLibrary.MOCK
PARTS: HardwareSettings = read_hardware(
    {
        "pins": "mock",
        "leds": [{"driver": "rgb", "pins": [[5, 6, 13]], "shows": "status"}, {"driver": "strip", "count": 8}],
        "buttons": {"driver": "gpio", "call": [17, 27], "next": 24},
        "knock": {"driver": "piezo-pin", "pin": 21},
    }
)


def waits(seconds: float) -> None:
    threading.Event().wait(seconds)


class SteppingClock:
    """Goes on only while somebody waits."""

    def __init__(self) -> None:
        self.t_ns = 0

    def __call__(self) -> int:
        return self.t_ns

    def wait(self, seconds: float) -> None:
        self.t_ns += round(seconds * 1e9)


def buttons_of(config: HardwareSettings) -> GpioSettings:
    assert isinstance(config.buttons, GpioSettings)
    return config.buttons


def test_the_tiles_whose_reading_is_timed_are_all_read() -> None:
    assert len(load_reader(6).read(drawn_tiles()).tiles) == 28
    read_s = RealProbes(waits).reading()
    assert isinstance(read_s, float)
    assert 0.005 < read_s < 60


def test_leds_on_pins_can_be_had_and_are_let_go() -> None:
    probes = RealProbes(waits)
    for _ in range(2):
        opened = probes.leds(PARTS.leds[0], MOCK)
        assert (opened.trouble, opened.details[:20]) == ("", "1 for status (rgb); ")


def test_leds_that_cannot_be_had_say_why() -> None:
    assert "spidev" in RealProbes(waits).leds(PARTS.leds[1], MOCK).trouble
    assert RealProbes(waits).leds(PARTS.leds[0], PinLibrary.LGPIO).trouble


def test_buttons_that_are_held_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    factories: list[Any] = []

    def opened(library: PinLibrary) -> Any:
        factories.append(open_pins(library))
        return factories[-1]

    monkeypatch.setattr(real_probes, "open_pins", opened)
    free = RealProbes(waits).buttons(buttons_of(PARTS), MOCK)
    assert (free.trouble, free.held, free.details) == ("", (), "3, none of them held")
    held = RealProbes(lambda _: factories[-1].pin(24).drive_low()).buttons(buttons_of(PARTS), MOCK)
    assert held.held == ("next",)


def test_a_piezo_on_a_pin_can_be_had() -> None:
    assert PARTS.knock is not None
    assert RealProbes(waits).knock(PARTS.knock, MOCK).trouble == ""


def test_a_display_that_is_there_shows_a_word_and_one_that_is_not_says_why(tmp_path: Path) -> None:
    path = tmp_path / "display"
    (part,) = read_hardware({"displays": [{"driver": "serlcd-20x4", "url": str(path)}]}).displays
    assert "does not answer" in RealProbes(waits).display(part).trouble
    port = PtyPort(EmulatedSerLcd(20, 4, baud=9600), path)
    port.plug()
    try:
        opened = RealProbes(waits).display(part)
        assert opened.trouble == ""
        began = time.perf_counter()
        while not any("The doctor is here" in row for row in port.screen()):
            assert time.perf_counter() - began < 10.0, port.screen()
    finally:
        port.close()


def test_a_folder_of_pictures_is_looked_through_as_a_camera(tmp_path: Path) -> None:
    picture = np.full((720, 1280, 3), 90, np.uint8)
    cv2.rectangle(picture, (400, 300), (600, 400), (230, 230, 230), -1)
    cv2.imwrite(str(tmp_path / "1.png"), picture)
    clock = SteppingClock()
    seen = RealProbes(clock.wait, clock=clock).camera(str(tmp_path))
    assert (seen.error, seen.wide_px, seen.high_px) == ("", 1280, 720)
    assert seen.grey == pytest.approx(93, abs=1)


def test_a_camera_that_is_not_there_says_so(tmp_path: Path) -> None:
    assert "no such camera" in RealProbes(waits).camera("usb:97").error
    assert RealProbes(waits).camera(str(tmp_path / "absent")).error


def test_a_recording_that_is_damaged_further_on_is_a_camera_with_a_problem(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap", frames=20)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + bytes(200) + whole[len(whole) // 2 + 200 :])
    assert "a.mcap: record" in RealProbes(waits).camera(str(path)).error


def test_a_microphone_is_listened_to_for_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    streams: list[SimpleNamespace] = []

    def stream(**asked: Any) -> SimpleNamespace:
        streams.append(SimpleNamespace(**asked, active=True, start=lambda: None, close=lambda: None))
        return streams[-1]

    def hear(seconds: float) -> None:
        """Give as much sound as time goes by, half as loud as can be."""
        count = round(seconds * streams[-1].samplerate)
        times = SimpleNamespace(currentTime=5.0, inputBufferAdcTime=5.0 - seconds)
        samples = np.resize(np.array([0.5, -0.5], np.float32), count)
        streams[-1].callback(samples[:, None], count, times, SimpleNamespace(input_overflow=False))

    library = SimpleNamespace(InputStream=stream, PortAudioError=RuntimeError)
    monkeypatch.setitem(sys.modules, "sounddevice", library)
    part = read_hardware({"knock": {"driver": "microphone", "device": "USB"}}).knock
    assert isinstance(part, MicrophoneSettings)
    sounds = RealProbes(hear).microphone(part)
    assert (sounds.error, streams[0].device) == ("", "USB")
    assert sounds.share == pytest.approx(1.0)
    assert sounds.level_db == pytest.approx(-6.0, abs=0.1)


def test_a_microphone_is_closed_after_it_was_listened_to() -> None:
    ear, sensor = Ear(), FakeKnockSensor()
    loud = SoundBlock(np.full(1_600, 0.1, np.float32) * np.resize([1, -1], 1_600).astype(np.float32), 0, 16_000)
    sounds = listen_to(sensor, ear, lambda _: ear.blocks.append(loud))
    assert sounds.error == ""
    assert sounds.peak == pytest.approx(0.1, abs=1e-6)
    assert sounds.share == pytest.approx(2.0)
    with pytest.raises(Exception, match="closed"):
        sensor.read()
