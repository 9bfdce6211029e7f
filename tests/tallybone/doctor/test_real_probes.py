"""Tests of the probes of parts with mock pins, an emulated display, and a folder as camera."""

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
from hardware.knock.drivers.microphone import MicrophoneSettings
from hardware.knock.sensor import SoundBlock
from hardware.libraries import PinLibrary, open_pins
from hardware.table import HardwareSettings
from lab.emulate.command import PtyPort
from lab.emulate.displays import EmulatedSerLcd
from tallybone.doctor import examine as real_probes
from tallybone.doctor.examine import Probes, drawn_tiles
from tallybone.doctor.parts import Ear, listen_to
from tests.hardware.fakes import FakeKnockSensor
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


def wait_for(seconds: float) -> None:
    threading.Event().wait(seconds)


class SteppingClock:
    """A clock that advances only by waiting."""

    def __init__(self) -> None:
        self.t_ns = 0

    def __call__(self) -> int:
        return self.t_ns

    def wait(self, seconds: float) -> None:
        self.t_ns += round(seconds * 1e9)


def buttons_of(config: HardwareSettings) -> GpioSettings:
    assert isinstance(config.buttons, GpioSettings)
    return config.buttons


@pytest.mark.slow
def test_all_tiles_of_the_speed_check_are_read() -> None:
    assert len(load_reader(6).read(drawn_tiles()).tiles) == 28
    read_s = Probes(SteppingClock().wait).reading()
    assert isinstance(read_s, float)
    assert 0.005 < read_s < 60


def test_parts_on_pins_are_opened_and_released() -> None:
    probes = Probes(SteppingClock().wait)
    for _ in range(2):
        opened = probes.leds(PARTS.leds[0], MOCK)
        assert (opened.trouble, opened.details[:20]) == ("", "1 for status (rgb); ")
    assert "spidev" in probes.leds(PARTS.leds[1], MOCK).trouble
    assert probes.leds(PARTS.leds[0], PinLibrary.LGPIO).trouble
    assert PARTS.knock is not None
    assert probes.knock(PARTS.knock, MOCK).trouble == ""


def test_held_buttons_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    factories: list[Any] = []

    def opened(library: PinLibrary) -> Any:
        factories.append(open_pins(library))
        return factories[-1]

    monkeypatch.setattr(real_probes, "open_pins", opened)
    free = Probes(SteppingClock().wait).buttons(buttons_of(PARTS), MOCK)
    assert (free.trouble, free.held, free.details) == ("", (), "3, none of them held")
    held = Probes(lambda _: factories[-1].pin(24).drive_low()).buttons(buttons_of(PARTS), MOCK)
    assert held.held == ("next",)


def test_a_display_shows_a_message_or_reports_an_error(tmp_path: Path) -> None:
    path = tmp_path / "display"
    (part,) = read_hardware({"displays": [{"driver": "serlcd-20x4", "url": str(path)}]}).displays
    assert "does not respond" in Probes(wait_for).display(part).trouble
    port = PtyPort(EmulatedSerLcd(20, 4, baud=9600), path)
    port.plug()
    try:
        opened = Probes(wait_for).display(part)
        assert opened.trouble == ""
        began = time.perf_counter()
        while not any("The doctor is here" in row for row in port.screen()):
            assert time.perf_counter() - began < 10.0, port.screen()
    finally:
        port.close()


def test_a_folder_of_pictures_is_tested_as_a_camera(tmp_path: Path) -> None:
    picture = np.full((720, 1280, 3), 90, np.uint8)
    cv2.rectangle(picture, (400, 300), (600, 400), (230, 230, 230), -1)
    cv2.imwrite(str(tmp_path / "1.png"), picture)
    clock = SteppingClock()
    seen = Probes(clock.wait, clock=clock).camera(str(tmp_path))
    assert (seen.error, seen.wide_px, seen.high_px) == ("", 1280, 720)
    assert seen.grey == pytest.approx(93, abs=1)
    assert "no such camera" in Probes(clock.wait, clock=clock).camera("usb:97").error
    assert Probes(clock.wait, clock=clock).camera(str(tmp_path / "absent")).error


def test_a_damaged_recording_is_an_error_of_the_camera(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap", frames=20)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + bytes(200) + whole[len(whole) // 2 + 200 :])
    clock = SteppingClock()
    assert "a.mcap: record" in Probes(clock.wait, clock=clock).camera(str(path)).error


def test_a_microphone_is_recorded_for_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    streams: list[SimpleNamespace] = []

    def stream(**options: Any) -> SimpleNamespace:
        streams.append(SimpleNamespace(**options, active=True, start=lambda: None, close=lambda: None))
        return streams[-1]

    def deliver(seconds: float) -> None:
        """Deliver sound of this length at half amplitude."""
        count = round(seconds * streams[-1].samplerate)
        times = SimpleNamespace(currentTime=5.0, inputBufferAdcTime=5.0 - seconds)
        samples = np.resize(np.array([0.5, -0.5], np.float32), count)
        streams[-1].callback(samples[:, None], count, times, SimpleNamespace(input_overflow=False))

    library = SimpleNamespace(InputStream=stream, PortAudioError=RuntimeError)
    monkeypatch.setitem(sys.modules, "sounddevice", library)
    part = read_hardware({"knock": {"driver": "microphone", "device": "USB"}}).knock
    assert isinstance(part, MicrophoneSettings)
    sounds = Probes(deliver).microphone(part)
    assert (sounds.error, streams[0].device) == ("", "USB")
    assert sounds.share == pytest.approx(1.0)
    assert sounds.quality is not None
    assert sounds.quality.level_db == pytest.approx(-6.0, abs=0.1)


def test_a_microphone_is_closed_after_the_test() -> None:
    recorder, sensor = Ear(), FakeKnockSensor()
    loud = SoundBlock(np.full(1_600, 0.1, np.float32) * np.resize([1, -1], 1_600).astype(np.float32), 0, 16_000)
    sounds = listen_to(sensor, recorder, lambda _: recorder.blocks.append(loud))
    assert sounds.error == ""
    assert sounds.quality is not None
    assert sounds.quality.peak == pytest.approx(0.1, abs=1e-6)
    assert sounds.share == pytest.approx(2.0)
    with pytest.raises(Exception, match="closed"):
        sensor.read()
