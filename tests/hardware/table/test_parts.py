"""Tests of all parts of a table together: output, input, and no waiting for broken parts."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from hardware.buttons.panel import ButtonPress, Buttons, PinPress, PressKind
from hardware.display.display import ScoreDisplay
from hardware.display.page import DisplayPage, ScoreLine
from hardware.knock.sensor import DOUBTFUL, ClassifiedSound, KnockSensor, Sound
from hardware.leds.drivers import LedsDriver, LedsRole, lit
from hardware.leds.drivers.gpio import SingleSettings
from hardware.leds.drivers.strip import StripSettings
from hardware.leds.lamps import OFF, Lamps, LedError, Mood, TableState, glow_at
from hardware.libraries import PinLibrary
from hardware.table import (
    CLOSES_S,
    ButtonsSettings,
    DisplaySettings,
    HardwareSettings,
    KnockSettings,
    PartOpener,
    Parts,
    VirtualLedsSettings,
    VirtualPanel,
    VirtualSettings,
)
from tests.hardware.fakes import FakeButtons, FakeDisplay, FakeKnockSensor, FakeLeds
from tests.hardware.table.reading import read_hardware
from tests.waiting import soon

VIRTUAL = VirtualSettings(driver="virtual")
LEDS = StripSettings(driver="strip", shows=LedsRole.ALL, count=6).named("hardware.leds")
ALL = HardwareSettings(leds=(LEDS,), buttons=VIRTUAL, knock=VIRTUAL, displays=(VIRTUAL,))
STATE = TableState(2, turn=1, mood=Mood.PLAYING)
PAGE = DisplayPage((ScoreLine("Ann", 5), ScoreLine("Ben", 10, is_turn=True)), "Ann +5")
SHINES = lit(LedsRole.ALL, 6, glow_at(STATE, 0))
STOPPED = "it has stopped permanently: restart the program"
_SOON_S = 5.0


def read_inputs(parts: Parts, count: int) -> list[object]:
    """Wait for a number of presses and knocks, and return them."""
    inputs: list[object] = []

    def is_enough() -> bool:
        inputs.extend(parts.read())
        return len(inputs) >= count

    soon(is_enough)
    return inputs


@dataclass
class Fakes:
    """Opens fake parts, keeps them, and fails on request."""

    problem: LedError | None = None
    gate: threading.Event = field(default_factory=threading.Event)
    lit: list[FakeLeds] = field(default_factory=list)
    pressed: FakeButtons = field(default_factory=lambda: FakeButtons(("undo",)))
    sensor: FakeKnockSensor = field(default_factory=FakeKnockSensor)
    shown: FakeDisplay = field(default_factory=FakeDisplay)
    is_unplugged: bool = False

    def leds(self, part: LedsDriver) -> Lamps:
        if self.problem is not None:
            raise self.problem
        driver = FakeLeds(part.led_count)
        if self.is_unplugged:
            driver.unplug()
        self.lit.append(driver)
        return Lamps(driver)

    def buttons(self, part: ButtonsSettings) -> Buttons:
        return self.pressed

    def knock(self, part: KnockSettings) -> KnockSensor:
        self.sensor.start()
        return self.sensor

    def display(self, part: DisplaySettings) -> ScoreDisplay:
        return self.shown


@contextmanager
def opened(config: HardwareSettings, fakes: Fakes) -> Iterator[Parts]:
    parts = Parts(config, fakes, clock=lambda: 0)
    try:
        yield parts
    finally:
        parts.close()


def test_outputs_reach_all_parts_and_presses_are_read_once() -> None:
    fakes = Fakes()
    with opened(ALL, fakes) as parts:
        parts.show(STATE, PAGE)
        soon(lambda: bool(fakes.lit) and fakes.lit[0].shown[-1] == SHINES and PAGE in fakes.shown.pages)
        assert parts.problems == {}
    assert fakes.lit[0].shown[-1] == (OFF,) * 6
    assert fakes.shown.is_closed
    fakes = Fakes()
    with opened(ALL, fakes) as parts:
        fakes.pressed.press("undo", 7, PressKind.DOUBLE)
        inputs = read_inputs(parts, 1)
        assert inputs == [ButtonPress("undo", PinPress(7, 7, PressKind.DOUBLE))]
        assert parts.read() == ()


def test_other_sounds_are_ignored_unless_they_may_be_a_pass_or_learnable() -> None:
    fakes = Fakes()
    with opened(ALL, fakes) as parts:
        tile = ClassifiedSound(5, None, 0.5, 0.9, Sound.TILE, in_row=0)
        knock = ClassifiedSound(6, 1, 0.5, 0.9)
        soon(lambda: fakes.sensor._is_started)
        doubtful = replace(tile, hit=DOUBTFUL)
        faint = replace(tile, t_ns=7, hit=0.9 * DOUBTFUL, embedding=(1.0,))
        fakes.sensor.hear(replace(tile, hit=0.9 * DOUBTFUL), doubtful, knock, replace(faint, hit=0.05), faint)
        inputs = read_inputs(parts, 3)
        assert inputs == [doubtful, knock, faint]


def test_unplugged_leds_are_reported_and_recover() -> None:
    fakes = Fakes()
    with opened(ALL, fakes) as parts:
        parts.show(STATE, PAGE)
        soon(lambda: bool(fakes.lit) and fakes.lit[0].shown[-1] == SHINES)
        fakes.is_unplugged = True
        fakes.lit[0].unplug()
        parts.show(replace(STATE, turn=0), PAGE)
        soon(lambda: bool(parts.problems))
        problems = parts.problems
        assert problems["hardware.leds"].startswith("the LEDs do not respond")
        soon(lambda: len(fakes.lit) >= 2)
        assert parts.problems == problems
        fakes.is_unplugged = False
        soon(lambda: parts.problems == {})
        soon(lambda: fakes.lit[-1].shown[-1] == lit(LedsRole.ALL, 6, glow_at(replace(STATE, turn=0), 0)))


def test_an_unopenable_part_is_retried_less_and_less_often() -> None:
    fakes = Fakes(problem=LedError("there is no /dev/spidev0.0"))
    with opened(ALL, fakes) as parts:
        soon(lambda: parts.problems == {"hardware.leds": "there is no /dev/spidev0.0"})
        fakes.pressed.press("undo", 7)
        soon(lambda: bool(parts.read()))
        fakes.problem = None
        assert soon(lambda: parts.problems == {}) > 0.1


def test_a_hanging_part_blocks_no_call() -> None:
    class Hangs(Fakes):
        def leds(self, part: LedsDriver) -> Lamps:
            self.gate.wait(_SOON_S)
            return super().leds(part)

    fakes = Hangs()
    with opened(ALL, fakes) as parts:
        longest_s = 0.0
        for number in range(200):
            began = time.perf_counter()
            parts.show(replace(STATE, turn=number % 2), PAGE)
            parts.read()
            assert parts.problems == {}
            longest_s = max(longest_s, time.perf_counter() - began)
        assert longest_s < 0.05  # microseconds on an idle machine
        soon(lambda: PAGE in fakes.shown.pages)
        fakes.gate.set()


@pytest.mark.slow
def test_several_hanging_parts_do_not_add_up_when_closing() -> None:
    class Hangs(Fakes):
        def leds(self, part: LedsDriver) -> Lamps:
            self.gate.wait(60.0)
            return super().leds(part)

    fakes = Hangs()
    config = ALL.model_copy(update={"leds": tuple(LEDS.named(f"hardware.leds {number}") for number in range(1, 5))})
    with opened(config, fakes) as parts:
        began = time.perf_counter()
        parts.close()
        assert time.perf_counter() - began < 2 * CLOSES_S
        fakes.gate.set()
    assert fakes.shown.is_closed


def test_an_unexpected_error_is_a_problem_too_and_no_thread_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: seen.append(args.exc_type))

    class Broken(Fakes):
        def buttons(self, part: ButtonsSettings) -> Buttons:
            raise ZeroDivisionError

    with opened(ALL, Broken()) as parts:
        soon(lambda: parts.problems == {"hardware.buttons": STOPPED})
    assert seen == [ZeroDivisionError]
    with opened(ALL, Fakes()) as parts:
        parts.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("part ")]


ON_PINS = read_hardware(
    {
        "leds": [
            {"driver": "single", "pins": [5, 6]},
            {"driver": "rgb", "shows": "status", "pins": [[12, 13, 16]]},
        ],
        "buttons": {"driver": "gpio", "call": [22], "undo": 23},
        "knock": {"driver": "piezo-pin", "pin": 17},
        "pins": "mock",
    }
)


def test_parts_on_mock_pins() -> None:
    opener = PartOpener(PinLibrary.MOCK, VirtualPanel(()), time.monotonic_ns)
    parts = Parts(ON_PINS, opener, clock=time.monotonic_ns)
    try:
        factory = opener._pins()
        parts.show(STATE, PAGE)
        soon(lambda: factory.pin(6).state == 1 and factory.pin(13).state > 0)
        assert (factory.pin(5).state, factory.pin(12).state) == (0, 0)
        soon(lambda: factory.pin(23).function == "input" and factory.pin(17).function == "input")
        threading.Event().wait(0.05)
        factory.pin(23).drive_low()
        threading.Event().wait(0.05)
        factory.pin(23).drive_high()
        factory.pin(17).drive_high()
        inputs = read_inputs(parts, 2)
        assert {type(event).__name__ for event in inputs} == {"ButtonPress", "ClassifiedSound"}
        assert parts.problems == {}
    finally:
        parts.close()
    assert factory.pin(6).state == 0


@pytest.mark.skipif(Path("/dev/gpiochip0").exists(), reason="this machine has pins")
@pytest.mark.parametrize(
    ("part", "text"),
    [
        (SingleSettings(driver="single", pins=(5,)), "lgpio"),
        (LEDS, "spi"),
    ],
)
def test_without_a_pi_the_parts_report_missing_requirements(part: LedsDriver, text: str) -> None:
    opener = PartOpener(PinLibrary.LGPIO, VirtualPanel(()), time.monotonic_ns)
    parts = Parts(HardwareSettings(leds=(part,)), opener, clock=time.monotonic_ns)
    try:
        soon(lambda: bool(parts.problems))
        assert text in str(parts.problems)
    finally:
        parts.close()


def test_virtual_parts_are_on_the_panel() -> None:
    panel = VirtualPanel(("undo",))
    leds = VirtualLedsSettings(driver="virtual", count=6).named("hardware.leds")
    config = ALL.model_copy(update={"leds": (leds,)})
    parts = Parts(config, PartOpener(PinLibrary.LGPIO, panel, lambda: 0), clock=lambda: 0)
    try:
        parts.show(STATE, PAGE)
        soon(lambda: panel.has_button("undo") and panel.detects_knocks)
        panel.press("undo", 3)
        panel.knock(4)
        assert len(read_inputs(parts, 2)) == 2
        soon(lambda: bool(panel.look(0).leds) and panel.look(0).leds[0].colours == SHINES)
        soon(lambda: panel.look(0).screen[1] == ">Ben              10")
    finally:
        parts.close()
    assert panel.look(0).leds[0].colours == (OFF,) * 6
