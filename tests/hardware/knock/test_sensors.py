"""Tests of all knock sensors: the common contract, lost sound, unplugged parts, pulses and levels."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpiozero.pins.mock import MockFactory

from hardware.knock.drivers.microphone import MicrophoneKnockSensor
from hardware.knock.drivers.piezo import (
    Hit,
    HitMerger,
    PeakFinder,
    PinKnockSensor,
    SpiKnockSensor,
    parse_level,
    read_command,
)
from hardware.knock.drivers.wav import WavKnockSensor
from hardware.knock.sensor import (
    NS_PER_S,
    ClassifiedSound,
    KnockError,
    KnockSensor,
    SensorDevice,
    Sound,
    VirtualKnock,
)
from hardware.part import PartState
from tests.hardware.fakes import FakeKnockSensor
from tests.hardware.knock.faulty_sounds import clipped, gated, knocks
from tests.hardware.knock.sounds import with_hits, write_wav
from tests.waiting import soon

ROOT = Path(__file__).resolve().parent.parent.parent.parent
MS = 1_000_000


class Clock:
    """A clock that only advances on request."""

    def __init__(self) -> None:
        self.t_ns = 10 * NS_PER_S

    def __call__(self) -> int:
        return self.t_ns


class PortAudioError(Exception):
    """The error of sounddevice."""


class Stream:
    """An open stream of the fake library."""

    def __init__(self, callback: Callable[..., None]) -> None:
        self.callback, self.active = callback, False

    def start(self) -> None:
        self.active = True

    def close(self) -> None:
        self.active = False


class Library:
    """The parts of sounddevice used by the adapter, with a removable microphone."""

    PortAudioError = PortAudioError

    def __init__(self) -> None:
        self.is_plugged_in = True
        self.is_listed = True
        self.streams: list[Stream] = []
        self.options: dict[str, Any] = {}

    def InputStream(self, *, callback: Callable[..., None], **options: Any) -> Stream:  # noqa: N802 - external name
        if not self.is_listed:
            raise PortAudioError("Error querying device -1")
        self.options = options
        self.streams.append(Stream(callback))
        return self.streams[-1]

    def _terminate(self) -> None:
        self.is_listed = False

    def _initialize(self) -> None:
        self.is_listed = self.is_plugged_in

    def hear(self, samples: np.ndarray, clock: Clock, *, overflow: bool = False) -> None:
        """Deliver the samples like PortAudio, in blocks of 64 ms that end now."""
        for first in range(0, len(samples), 1_024):
            part = samples[first : first + 1_024]
            clock.t_ns += len(part) * NS_PER_S // 16_000
            times = SimpleNamespace(currentTime=5.0, inputBufferAdcTime=5.0 - len(part) / 16_000)
            self.streams[-1].callback(part[:, None], len(part), times, SimpleNamespace(input_overflow=overflow))


class Spi:
    """The parts of spidev used by the adapter. Writes are checked, and reads return preset levels."""

    def __init__(self) -> None:
        self.level = 20
        self.levels: dict[int, int] = {}
        self.is_there = True
        self.reads = 0
        self.max_speed_hz = 0
        self.is_open = False

    def SpiDev(self) -> Spi:  # noqa: N802 - external name
        return self

    def open(self, bus: int, chip: int) -> None:
        if not self.is_there:
            raise FileNotFoundError(2, "No such file or directory")
        self.is_open = True

    def xfer2(self, values: list[int]) -> list[int]:
        assert self.is_open
        assert 0 < self.max_speed_hz <= 1_350_000
        assert values in ([1, 0xB0, 0], [1, 0x90, 0])  # channels 3 and 1
        if not self.is_there:
            raise OSError(5, "Input/output error")
        self.reads += 1
        level = self.levels.get((values[1] >> 4) - 8, self.level)
        return [255, 0xF8 | level >> 8, level & 255]

    def close(self) -> None:
        self.is_open = False


@pytest.fixture
def clock() -> Clock:
    return Clock()


Made = Callable[[Clock, Path], KnockSensor]


SENSORS: dict[str, Made] = {
    "fake": lambda clock, folder: FakeKnockSensor(),
    "file": lambda clock, folder: WavKnockSensor(write_wav(folder / "a.wav", np.zeros(9, np.float32)), clock=clock),
    "microphone": lambda clock, folder: MicrophoneKnockSensor(clock=clock, library=Library),
    "pin": lambda clock, folder: PinKnockSensor((17,), clock=clock, pin_factory=MockFactory()),
    "spi": lambda clock, folder: SpiKnockSensor((3,), clock=clock, library=Spi),
    "virtual": lambda clock, folder: VirtualKnock(),
}


@pytest.fixture(params=list(SENSORS))
def sensor(request: pytest.FixtureRequest, clock: Clock, tmp_path: Path) -> KnockSensor:
    """Return each sensor in turn."""
    return SENSORS[request.param](clock, tmp_path)


def test_a_sensor_is_started_once_and_read_while_open(sensor: KnockSensor) -> None:
    with pytest.raises(KnockError, match="not started"):
        sensor.read()
    sensor.start()
    assert sensor.read() == ()
    assert (sensor.state.problem, sensor.state.lost) == (None, 0)
    with pytest.raises(KnockError, match="started again"):
        sensor.start()
    sensor.close()
    sensor.close()
    with pytest.raises(KnockError, match="closed"):
        sensor.read()
    with pytest.raises(KnockError, match="started again"):
        sensor.start()


def test_a_sensor_that_was_never_started_can_be_closed(sensor: KnockSensor) -> None:
    sensor.close()


def knocking(seed: int = 9) -> np.ndarray:
    return with_hits(Sound.KNOCK, (0.6,), seed=seed)


class TestFake:
    def test_it_returns_given_sounds_in_order_and_while_plugged_in(self) -> None:
        fake = FakeKnockSensor()
        fake.start()
        knock = ClassifiedSound(5, 1, 0.5, 0.9)
        fake.hear(knock)
        assert fake.read() == (knock,)
        assert fake.read() == ()
        with pytest.raises(KnockError, match="4 ns came after 5 ns"):
            fake.hear(ClassifiedSound(4, None, 0.5, 0.9))
        fake.unplug("pulled out")
        assert fake.state.problem == "pulled out"
        with pytest.raises(KnockError, match="pulled out"):
            fake.hear(ClassifiedSound(5, None, 0.5, 0.9))
        fake.plug_in()
        assert fake.state == PartState()
        fake.hear(ClassifiedSound(5, None, 0.5, 0.9))
        with pytest.raises(KnockError, match="1 sounds were never read"):
            fake.close()


class TestMicrophone:
    def started(self, clock: Clock) -> tuple[MicrophoneKnockSensor, Library]:
        library = Library()
        sensor = MicrophoneKnockSensor(clock=clock, device="USB", library=lambda: library)
        sensor.start()
        return sensor, library

    def test_a_knock_has_its_recording_time(self, clock: Clock) -> None:
        sensor, library = self.started(clock)
        library.hear(knocking(), clock)
        (knock,) = sensor.read()
        assert knock.kind is Sound.KNOCK
        assert knock.t_ns == pytest.approx(10.6 * NS_PER_S, abs=20 * MS)
        assert library.options == {
            "samplerate": 16_000, "blocksize": 1_024, "latency": 1.0, "device": "USB", "channels": 1, "dtype": "float32"
        }  # fmt: skip

    def test_missing_sound_is_counted(self, clock: Clock) -> None:
        sensor, library = self.started(clock)
        library.hear(np.zeros(2_048, np.float32), clock, overflow=True)
        assert sensor.state.lost == 2
        library.hear(np.zeros(1_024 * 70, np.float32), clock)
        assert sensor.state.lost == 2 + 8  # the queue holds 64, with two from before
        sensor, library = self.started(clock)
        library.hear(np.zeros(16_000 * 8, np.float32), clock)  # the queue holds 64 of 125 blocks
        assert "sound is lost, 49%" in str(sensor.state.warning)  # 61 of 124

    def test_missing_sound_is_detected_by_the_clock(self, clock: Clock) -> None:
        sensor, library = self.started(clock)
        for _ in range(150):  # blocks of 64 ms; every third is lost without a driver error
            library.hear(np.zeros(2_048, np.float32), clock)
            clock.t_ns += 64 * MS
            sensor.read()
        state = sensor.state
        assert (state.problem, state.lost) == (None, 0)
        assert "sound is lost, 33% in the last ten seconds" in str(state.warning)
        assert state.trouble == state.warning
        noise = np.random.default_rng(1).normal(0, 0.001, 2_048).astype(np.float32)
        for _ in range(80):
            library.hear(noise, clock)
            sensor.read()
        assert sensor.state.trouble is None

    @pytest.mark.parametrize(
        ("samples", "text"),
        [
            (clipped(knocks((0.5, 1.5, 2.5, 3.5))), "clips"),
            (gated(knocks((0.5, 1.5, 2.5, 3.5)), by_db=200), "noise gate"),
            (np.zeros(16_000 * 4, np.float32), "muted"),
            (knocks((0.5, 1.5, 2.5, 3.5)), None),
        ],
        ids=["clipped", "gated", "muted", "good"],
    )
    def test_clipping_gating_and_silence_are_warnings(
        self, clock: Clock, samples: np.ndarray, text: str | None
    ) -> None:
        sensor, library = self.started(clock)
        for part in np.array_split(np.concatenate([samples] * 3), 20):
            library.hear(part, clock)
            sensor.read()
        state = sensor.state
        assert state.problem is None
        assert state.warning is None if text is None else text in str(state.warning)

    def test_an_unplugged_or_stopped_microphone_is_reported_and_reopened(self, clock: Clock) -> None:
        sensor, library = self.started(clock)
        library.is_plugged_in = False
        library.streams[0].active = False
        assert sensor.read() == ()
        assert "plugged in" in str(sensor.state.problem)
        for _ in range(20):
            clock.t_ns += NS_PER_S
            sensor.read()
        assert "cannot be opened" in str(sensor.state.problem)
        library.is_plugged_in = True
        clock.t_ns += 31 * NS_PER_S
        sensor.read()
        assert sensor.state.problem is None
        library.hear(knocking(), clock)
        assert len(sensor.read()) == 1
        sensor.close()
        assert not library.streams[-1].active

    def test_a_stopped_or_missing_microphone_is_only_a_problem(self, clock: Clock) -> None:
        sensor, library = self.started(clock)
        clock.t_ns += 3 * NS_PER_S
        sensor.read()
        assert "plugged in" in str(sensor.state.problem)
        assert not library.streams[0].active
        library = Library()
        library.is_listed = library.is_plugged_in = False
        sensor = MicrophoneKnockSensor(clock=clock, library=lambda: library)
        sensor.start()
        assert "cannot be opened" in str(sensor.state.problem)
        assert sensor.read() == ()
        sensor.close()


class TestFile:
    def test_the_file_plays_at_the_pace_of_the_clock(self, clock: Clock, tmp_path: Path) -> None:
        sensor = WavKnockSensor(write_wav(tmp_path / "a.wav", knocking()), clock=clock)
        sensor.start()
        clock.t_ns += NS_PER_S // 2
        assert sensor.read() == ()
        clock.t_ns += NS_PER_S
        (knock,) = sensor.read()
        assert knock.t_ns == pytest.approx(10.6 * NS_PER_S, abs=20 * MS)
        assert sensor.state.problem is None
        clock.t_ns += NS_PER_S
        assert sensor.read() == ()
        assert str(sensor.state.problem).endswith("a.wav: at its end")

    def test_a_missing_or_invalid_file_is_only_a_problem(self, clock: Clock, tmp_path: Path) -> None:
        for data, text in ((None, "No such file"), (b"text", "expected a WAV file")):
            path = tmp_path / "b.wav"
            if data is not None:
                path.write_bytes(data)
            sensor = WavKnockSensor(path, clock=clock)
            sensor.start()
            assert text in str(sensor.state.problem)
            assert sensor.read() == ()


class TestPin:
    def test_a_pulse_is_a_knock_with_its_time(self, clock: Clock) -> None:
        factory = MockFactory()
        sensor = PinKnockSensor((17,), clock=clock, pin_factory=factory, seats=(3,))
        sensor.start()
        pin = factory.pin(17)
        for wait_ms in (500, 5, 30, 300, 2_000):
            clock.t_ns += wait_ms * MS
            pin.drive_high()
            pin.drive_low()
        clock.t_ns += 30 * MS
        sounds = sensor.read()
        assert [(sound.t_ns // MS - 10_000, sound.in_row) for sound in sounds] == [(500, 1), (835, 2), (2835, 1)]
        assert {sound.seat for sound in sounds} == {3}
        sensor.close()

    def test_a_busy_pin_is_reported_and_retried(self, clock: Clock) -> None:
        factory = MockFactory()
        first, second = (PinKnockSensor((17,), clock=clock, pin_factory=factory) for _ in range(2))
        first.start()
        second.start()
        assert "pin 17 cannot be used" in str(second.state.problem)
        first.close()
        clock.t_ns += NS_PER_S
        second.read()
        assert second.state.problem is None
        second.close()


class TestSpi:
    def test_the_bytes_match_the_data_sheet_and_an_invalid_channel_is_refused(self) -> None:
        assert read_command(0) == [1, 0x80, 0]
        assert read_command(7) == [1, 0xF0, 0]
        assert parse_level([255, 0xFB, 0xFF]) == 1023
        assert parse_level([0, 0xFC, 0x05]) == 5
        with pytest.raises(ValueError, match="channel must be 0 to 7, but got 8"):
            SpiKnockSensor((0, 8), clock=Clock())

    def test_it_polls_reports_failures_and_recovers(self) -> None:
        spi = Spi()
        sensor = SpiKnockSensor((3,), clock=time.perf_counter_ns, library=lambda: spi)
        sensor.start()
        soon(lambda: spi.reads > 3)
        spi.level = 600
        soon(lambda: any(sound.strength == pytest.approx(600 / 1023) for sound in sensor.read()))
        spi.is_there = False
        soon(lambda: sensor.state.problem is not None)
        assert sensor.state.problem == "SPI 0.0 cannot be read: Input/output error"
        spi.is_there = True
        soon(lambda: sensor.state.problem is None)
        sensor.close()
        assert not spi.is_open


class TestPeaks:
    def levels(self, *hits: tuple[int, int], rest: int = 20) -> list[ClassifiedSound]:
        """Return the sounds found at 500 levels per second. Hits are (time in ms, height) and halve every 20 ms."""
        finder, row = PeakFinder(full_level=1023), HitMerger([None])
        found: list[ClassifiedSound | None] = []
        for t_ms in range(0, 3_000, 2):
            held = [height * 0.5 ** ((t_ms - at_ms) / 20) for at_ms, height in hits if t_ms >= at_ms]
            hit = finder.feed(t_ms * MS, round(min(1023, rest + max(held, default=0))))
            found += [row.until(t_ms * MS), None if hit is None else row.feed(hit)]
        return [finding for finding in found if finding is not None]

    def test_a_hit_has_its_time_and_height(self) -> None:
        (sound,) = self.levels((500, 400))
        assert sound.t_ns == 500 * MS
        assert sound.strength == pytest.approx(420 / 1023)

    def test_only_hits_are_found(self) -> None:
        assert [level.in_row for level in self.levels((500, 900), (700, 300))] == [1, 2]
        assert len(self.levels((500, 300), (560, 800))) == 1
        assert self.levels(rest=700) == []
        assert self.levels((500, 20)) == []


class TestSeveralPiezos:
    def merged(self, *hits: Hit, seats: tuple[int | None, ...] = (0, 1, 2, 3)) -> list[tuple[int, int | None]]:
        """Return the start times in ms and the seats of the knocks."""
        row = HitMerger(seats)
        found = [*(row.feed(hit) for hit in hits), row.until(hits[-1].t_ns + NS_PER_S)]
        return [(finding.t_ns // MS, finding.seat) for finding in found if finding is not None]

    def test_the_strongest_or_else_first_piezo_determines_the_seat(self) -> None:
        hits = (Hit(5 * MS, 1, 0.2), Hit(6 * MS, 2, 0.7), Hit(8 * MS, 0, 0.3), Hit(21 * MS, 3, 0.1))
        assert self.merged(*hits) == [(5, 2)]
        assert self.merged(Hit(5 * MS, 3), Hit(6 * MS, 2), Hit(7 * MS, 0)) == [(5, 3)]
        assert self.merged(Hit(5 * MS, 3), Hit(5 * MS + 100_000, 2)) == [(5, None)]
        assert self.merged(Hit(5 * MS, 3, 0.5), Hit(5 * MS, 2, 0.4)) == [(5, None)]

    def test_an_echo_at_another_piezo_is_no_knock_but_a_knock_of_another_seat_is(self) -> None:
        hits = (Hit(5 * MS, 1, 0.9), Hit(40 * MS, 0, 0.4), Hit(110 * MS, 2, 0.95), Hit(140 * MS, 0, 0.9))
        assert self.merged(*hits) == [(5, 1), (140, 0)]
        hits = (Hit(5 * MS, 1, 0.9), Hit(6 * MS, 0, 0.4), Hit(305 * MS, 0, 0.9), Hit(306 * MS, 1, 0.4))
        assert self.merged(*hits) == [(5, 1), (305, 0)]

    def test_pins_determine_the_seat(self, clock: Clock) -> None:
        factory = MockFactory()
        sensor = PinKnockSensor((17, 27, 22), clock=clock, pin_factory=factory, seats=(0, 1, 2))
        sensor.start()
        for pin in (27, 22, 17):
            factory.pin(pin).drive_high()
            clock.t_ns += MS
        assert sensor.read() == ()
        clock.t_ns += 30 * MS
        (knock,) = sensor.read()
        assert (knock.t_ns, knock.seat) == (10 * NS_PER_S, 1)
        sensor.close()

    def test_a_busy_pin_releases_the_others(self, clock: Clock) -> None:
        factory = MockFactory()
        other = PinKnockSensor((22,), clock=clock, pin_factory=factory)
        other.start()
        sensor = PinKnockSensor((17, 22), clock=clock, pin_factory=factory)
        sensor.start()
        assert "pin 22 cannot be used" in str(sensor.state.problem)
        third = PinKnockSensor((17,), clock=clock, pin_factory=factory)
        third.start()
        assert third.state.problem is None
        for each_sensor in (other, sensor, third):
            each_sensor.close()

    def test_channels_determine_the_seat(self) -> None:
        spi = Spi()
        sensor = SpiKnockSensor((3, 1), clock=time.perf_counter_ns, seats=(0, 1), library=lambda: spi)
        sensor.start()
        soon(lambda: spi.reads > 6)
        sounds: list[ClassifiedSound] = []

        def has_sound() -> bool:
            sounds.extend(sensor.read())
            return bool(sounds)

        spi.levels = {3: 200, 1: 700}
        soon(has_sound)
        sensor.close()
        assert [sound.seat for sound in sounds] == [1]
        assert sounds[0].strength == pytest.approx(700 / 1023)


def test_retries_back_off() -> None:
    clock, tried = Clock(), []
    device = SensorDevice("device", clock=clock, library=lambda: None, comes_with="pip")
    for t_s in range(200):
        clock.t_ns = t_s * NS_PER_S
        if device.is_due():
            tried.append(t_s)
            device.failed("it is broken")
    assert tried == [0, 1, 2, 4, 8, 16, 32, 62, 92, 122, 152, 182]
    assert device.state.problem == "it is broken"
    device.worked()
    assert device.is_due()


def test_adapters_can_be_imported_without_their_libraries() -> None:
    code = """
import sys
for name in ("sounddevice", "gpiozero", "spidev"):
    sys.modules[name] = None
from hardware.knock.drivers.microphone import MicrophoneKnockSensor as A
from hardware.knock.drivers.piezo import PinKnockSensor as B
from hardware.knock.drivers.piezo import SpiKnockSensor as C
from hardware.knock.sensor import KnockSensorError
clock = lambda: 0
for sensor in (A(clock=clock), B((17,), clock=clock, pin_factory=None), C((3,), clock=clock)):
    try:
        sensor.start()
    except KnockSensorError as error:
        assert "it comes with" in str(error), error
    else:
        raise SystemExit("started without its library")
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
