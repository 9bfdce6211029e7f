"""All parts of a table: lights and pages go out, presses and knocks come in, and nobody waits for what is broken."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from hardware.buttons.debounce import PinPress, PressKind
from hardware.buttons.panel import ButtonPress, Buttons, FakeButtons
from hardware.display.display import FakeDisplay, ScoreDisplay
from hardware.display.page import DisplayPage, ScoreLine
from hardware.knock.fake import FakeKnockSensor
from hardware.knock.heard import ClassifiedSound, Sound
from hardware.knock.sensor import KnockSensor
from hardware.leds.driver import LedsDriver
from hardware.leds.drivers.gpio import SingleSettings
from hardware.leds.drivers.strip import StripSettings
from hardware.leds.lamps import FakeLeds, Lamps, LedError
from hardware.leds.patterns import OFF, Mood, TableState, glow_at
from hardware.leds.shown import LedsRole
from hardware.libraries.pin_factory import PinLibrary
from hardware.table.open_parts import PartOpener
from hardware.table.parts import Parts
from hardware.table.settings import ButtonsSettings, DisplaySettings, HardwareSettings, KnockSettings
from hardware.table.supervision import CLOSES_S
from hardware.virtual.drivers import VirtualLedsSettings, VirtualSettings
from hardware.virtual.panel import VirtualPanel
from tests.hardware.table.reading import read_hardware
from tests.waiting import soon

VIRTUAL = VirtualSettings(driver="virtual")
LEDS = StripSettings(driver="strip", shows=LedsRole.ALL, count=6).named("hardware.leds")
ALL = HardwareSettings(leds=(LEDS,), buttons=VIRTUAL, knock=VIRTUAL, displays=(VIRTUAL,))
STATE = TableState(2, turn=1, mood=Mood.PLAYING)
PAGE = DisplayPage((ScoreLine("Ann", 5), ScoreLine("Ben", 10, is_turn=True)), "Ann +5")
SHINES = glow_at(STATE, 0).all
STOPPED = "it has stopped for good: start the program again"
_SOON_S = 5.0


def all_that_came(parts: Parts, count: int) -> list[object]:
    """Wait for so many presses and knocks, and return them."""
    came: list[object] = []

    def is_enough() -> bool:
        came.extend(parts.read())
        return len(came) >= count

    soon(is_enough)
    return came


@dataclass
class Fakes:
    """Opens fakes, keeps all of them, and fails where it is told to."""

    problem: LedError | None = None
    gate: threading.Event = field(default_factory=threading.Event)
    lit: list[FakeLeds] = field(default_factory=list)
    pressed: FakeButtons = field(default_factory=lambda: FakeButtons(("undo",)))
    heard: FakeKnockSensor = field(default_factory=FakeKnockSensor)
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
        self.heard.start()
        return self.heard

    def display(self, part: DisplaySettings) -> ScoreDisplay:
        return self.shown


@contextmanager
def opened(config: HardwareSettings, fakes: Fakes) -> Iterator[Parts]:
    parts = Parts(config, fakes, clock=lambda: 0)
    try:
        yield parts
    finally:
        parts.close()


def test_lights_and_pages_go_to_every_part() -> None:
    fakes = Fakes()
    with opened(ALL, fakes) as parts:
        parts.show(STATE, PAGE)
        soon(lambda: bool(fakes.lit) and fakes.lit[0].shown[-1] == SHINES and PAGE in fakes.shown.pages)
        assert parts.problems == {}
    assert fakes.lit[0].shown[-1] == (OFF,) * 6
    assert fakes.shown.is_closed


def test_presses_and_knocks_come_in_once() -> None:
    fakes = Fakes()
    with opened(ALL, fakes) as parts:
        fakes.pressed.press("undo", 7, PressKind.DOUBLE)
        came = all_that_came(parts, 1)
        assert came == [ButtonPress("undo", PinPress(7, 7, PressKind.DOUBLE))]
        assert parts.read() == ()


def test_only_knocks_count_among_sounds() -> None:
    fakes = Fakes()
    with opened(ALL, fakes) as parts:
        tile = ClassifiedSound(5, None, 0.5, 0.9, Sound.TILE, in_row=0)
        knock = ClassifiedSound(6, 1, 0.5, 0.9)
        soon(lambda: fakes.heard._life._is_started)
        fakes.heard.hear(tile, knock)
        came = all_that_came(parts, 1)
        assert came == [knock]


def test_leds_that_are_unplugged_are_told_and_shine_again_when_they_are_back() -> None:
    fakes = Fakes()
    with opened(ALL, fakes) as parts:
        parts.show(STATE, PAGE)
        soon(lambda: bool(fakes.lit) and fakes.lit[0].shown[-1] == SHINES)
        fakes.is_unplugged = True
        fakes.lit[0].unplug()
        parts.show(replace(STATE, turn=0), PAGE)
        soon(lambda: bool(parts.problems))
        problems = parts.problems
        assert problems["hardware.leds"].startswith("the LEDs do not answer")
        soon(lambda: len(fakes.lit) >= 2)
        assert parts.problems == problems
        fakes.is_unplugged = False
        soon(lambda: parts.problems == {})
        soon(lambda: fakes.lit[-1].shown[-1] == glow_at(replace(STATE, turn=0), 0).all)


def test_a_part_that_cannot_be_opened_is_tried_again_less_and_less_often() -> None:
    fakes = Fakes(problem=LedError("there is no /dev/spidev0.0"))
    with opened(ALL, fakes) as parts:
        soon(lambda: parts.problems == {"hardware.leds": "there is no /dev/spidev0.0"})
        fakes.pressed.press("undo", 7)
        soon(lambda: bool(parts.read()))
        fakes.problem = None
        assert soon(lambda: parts.problems == {}) > 0.1


def test_nobody_waits_for_a_part_that_hangs() -> None:
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
        assert longest_s < 0.05  # microseconds, and what a busy machine takes away
        soon(lambda: PAGE in fakes.shown.pages)
        fakes.gate.set()


@pytest.mark.slow
def test_several_parts_that_hang_hold_the_end_up_no_longer_than_one() -> None:
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


def test_an_error_that_no_part_should_have_is_a_problem_too(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: seen.append(args.exc_type))

    class Broken(Fakes):
        def buttons(self, part: ButtonsSettings) -> Buttons:
            raise ZeroDivisionError

    with opened(ALL, Broken()) as parts:
        soon(lambda: parts.problems == {"hardware.buttons": STOPPED})
    assert seen == [ZeroDivisionError]


def test_closing_leaves_no_thread_and_may_be_done_twice() -> None:
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


def test_parts_on_mock_pins_shine_and_are_pressed() -> None:
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
        came = all_that_came(parts, 2)
        assert {type(one).__name__ for one in came} == {"ButtonPress", "ClassifiedSound"}
        assert parts.problems == {}
    finally:
        parts.close()
    assert factory.pin(6).state == 0


@pytest.mark.skipif(Path("/dev/gpiochip0").exists(), reason="this machine has pins")
@pytest.mark.parametrize(
    ("part", "words"),
    [
        (SingleSettings(driver="single", pins=(5,)), "lgpio"),
        (LEDS, "spi"),
    ],
)
def test_where_there_is_no_pi_the_parts_say_what_is_missing(part: LedsDriver, words: str) -> None:
    opener = PartOpener(PinLibrary.LGPIO, VirtualPanel(()), time.monotonic_ns)
    parts = Parts(HardwareSettings(leds=(part,)), opener, clock=time.monotonic_ns)
    try:
        soon(lambda: bool(parts.problems))
        assert words in str(parts.problems)
    finally:
        parts.close()


def test_virtual_parts_are_those_of_the_panel() -> None:
    panel = VirtualPanel(("undo",))
    leds = VirtualLedsSettings(driver="virtual", count=6).named("hardware.leds")
    config = ALL.model_copy(update={"leds": (leds,)})
    parts = Parts(config, PartOpener(PinLibrary.LGPIO, panel, lambda: 0), clock=lambda: 0)
    try:
        parts.show(STATE, PAGE)
        soon(lambda: panel.has_button("undo") and panel.hears)
        panel.press("undo", 3)
        panel.knock(4)
        assert len(all_that_came(parts, 2)) == 2
        soon(lambda: bool(panel.look(0).leds) and panel.look(0).leds[0].colours == SHINES)
        soon(lambda: panel.look(0).screen[1] == ">Ben              10")
    finally:
        parts.close()
    assert panel.look(0).leds[0].colours == (OFF,) * 6
