"""Tests of parts in a live game: failures reported once, presses in order, and their recording."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

from engine import BONES, Knock, Lead, Reason, Scored, Seat
from hardware.buttons.drivers.gpio import GpioSettings
from hardware.buttons.panel import ButtonPress, PinPress, PressKind
from hardware.display.page import DisplayPage
from hardware.knock.sensor import ClassifiedSound, Sound
from hardware.leds.drivers.gpio import SingleSettings
from hardware.leds.lamps import Gain, Mood, TableState
from hardware.libraries import PinLibrary
from hardware.table import HardwareSettings, PartInput, Parts, VirtualPanel
from tallybone.json_values import JsonValueError
from tallybone.play.game import Listeners, LiveGame, LiveState
from tallybone.play.parts import FromTable, LiveParts, open_parts, with_panel
from tallybone.session.inputs import Button, KnockHeard, Press
from tallybone.session.sitting import ByHand, Sitting, Step, opened
from tallybone.sources.camera import Shown
from tallybone.sources.source import RecordedInput
from tests.tallybone.play.test_game import MS, Apart, Script, shot
from tests.tallybone.sources.test_camera import Clock
from tests.waiting import soon

SESSION, SAID = opened(BONES, ("Ann", "Ben"))
NOW = LiveState(SESSION, (1280, 720), "settled", "recorded in a.mcap", is_healthy=True)
LCD = {"hardware.displays": "check that it is plugged in"}
_SOON_S = 5.0


class Table(Parts):
    """Parts without any device or thread."""

    def __init__(self) -> None:
        self.failing: dict[str, str] = {}
        self.coming: list[PartInput] = []
        self.shown: list[tuple[TableState, DisplayPage]] = []

    @property
    def problems(self) -> dict[str, str]:
        return self.failing

    def show(self, state: TableState, page: DisplayPage) -> None:
        self.shown.append((state, page))

    def read(self) -> tuple[PartInput, ...]:
        coming, self.coming = tuple(self.coming), []
        return coming


class KeepingScript(Script):
    """A recorder that keeps its inputs."""

    def __init__(self, *given: Shown) -> None:
        super().__init__(*given)
        self.kept: list[ByHand] = []

    def input(self, given: ByHand, t_ns: int, *, by: str = "") -> None:
        self.kept.append(given)


def game_at(table: Table, script: Script, *, clock: Clock | None = None) -> tuple[LiveGame, Apart]:
    """Return a game with the parts of a table, and a separate display of it."""
    parts, shown = live_parts(table, clock or Clock()), Apart(script)
    listener = Listeners((parts.listener(), shown))
    sitting = Sitting(script.look, SESSION)
    return LiveGame(script, sitting, script, listener, clock=Clock(), max_per_s=10, parts=parts), shown


def test_a_failed_part_is_reported_once_and_shown_until_it_works_again() -> None:
    table = Table()
    game, shown = game_at(table, Script())
    game.show()
    for text in ("the LEDs do not respond", "the LEDs do not respond (again)"):
        table.failing = {"hardware.leds": text} | LCD
        game.show()
        game.show()
    assert shown.notes == ["hardware.leds: the LEDs do not respond", "hardware.displays: check that it is plugged in"]
    assert shown.shown is not None
    assert shown.shown.parts == (
        "hardware.leds: the LEDs do not respond (again)",
        "hardware.displays: check that it is plugged in",
    )
    table.failing = LCD
    game.show()
    assert shown.notes[2:] == ["hardware.leds works again"]
    assert list(shown.shown.parts) == ["hardware.displays: check that it is plugged in"]


def test_lights_and_pages_follow_the_game() -> None:
    table = Table()
    game, shown = game_at(table, Script())
    game.feed(Press(Button.NEXT), 5)
    game.show()
    state, page = table.shown[-1]
    assert (state.mood, state.turn) == (Mood.PLAYING, None)
    assert [score.name for score in page.scores] == ["Ann", "Ben"]
    assert page.message == "hand 1, 14 tiles in the boneyard"
    assert shown.log == ["keep input 0", "followed", "show"]


def test_score_displays_first_show_the_pin_and_then_the_game() -> None:
    table, clock = Table(), Clock()
    display = live_parts(table, clock).listener("PIN 123456")
    display.show(NOW)
    assert table.shown[-1][1].message == "PIN 123456"
    assert [score.name for score in table.shown[-1][1].scores] == ["Ann", "Ben"]
    clock.t_ns += 60_000 * MS
    display.show(NOW)
    assert table.shown[-1][1].message != "PIN 123456"


def test_points_flash_from_the_time_they_were_scored() -> None:
    table, clock = Table(), Clock()
    display = live_parts(table, clock).listener()
    clock.t_ns = 3
    display.happened(Step(5, SESSION, (Scored(Seat(1), 15, Reason.PLAY, ""),)))
    clock.t_ns = 9
    display.happened(Step(9, SESSION, SAID))
    display.show(NOW)
    assert table.shown[-1][0].gain == Gain(1, 15, 3)


def live_parts(table: Table, clock: Clock) -> LiveParts:
    return LiveParts(table, VirtualPanel(()), 2, clock)


def test_input_from_the_table_has_its_age() -> None:
    table, clock = Table(), Clock()
    clock.t_ns = 100 * MS
    table.coming = [
        ButtonPress("call 1", PinPress(70 * MS, 5 * MS, PressKind.LONG)),
        ClassifiedSound(40 * MS, None, 0.5, 0.75),
    ]
    assert live_parts(table, clock).read() == (
        FromTable(Press(Button.KNOCK, Seat(0)), 30 * MS, is_held=True),
        FromTable(KnockHeard(None, 0.5, 0.75), 60 * MS),
    )


def test_faint_sounds_are_learned_but_no_input_of_the_game() -> None:
    table, clock = Table(), Clock()
    clock.t_ns = 100 * MS
    faint = ClassifiedSound(40 * MS, None, 0.5, 0.75, Sound.TILE, 0, 0.15, (1.0,))
    table.coming = [faint, replace(faint, hit=0.3), replace(faint, hit=0.3, embedding=None)]
    parts = live_parts(table, clock)
    assert [each.item for each in parts.read()] == [KnockHeard(None, 0.5, 0.3)] * 2
    assert parts.take_sounds() == ((faint, 60 * MS), (replace(faint, hit=0.3), 60 * MS))
    assert parts.take_sounds() == ()


def test_a_panel_is_added_to_the_tables_parts() -> None:
    leds = SingleSettings(driver="single", pins=(5,))
    buttons = GpioSettings(driver="gpio", undo=6)
    config = with_panel(HardwareSettings(leds=(leds,), buttons=buttons, pins=PinLibrary.MOCK), 3)
    assert [(leds.driver, leds.led_count) for leds in config.leds] == [("single", 1), ("virtual", 7)]
    assert config.buttons == buttons.named("hardware.buttons")
    assert config.knock is not None
    assert len(config.displays) == 1
    assert config.pins is PinLibrary.MOCK


def given(item: ByHand, t_ms: int) -> RecordedInput:
    return RecordedInput(t_ms * MS, "it", lambda: item)


def test_simulated_presses_go_through_the_panel_in_order() -> None:
    inputs: list[ByHand] = [
        Press(Button.NEXT),
        Lead(Seat(1)),
        KnockHeard(Seat(0), 3.0, 0.5),
        Press(Button.UNDO),
        Knock(Seat(0)),
    ]
    script = KeepingScript(*(given(item, 10 * at) for at, item in enumerate(inputs, start=1)), shot(100))
    parts = open_parts(HardwareSettings(), seats=2, clock=time.monotonic_ns, has_panel=True)
    soon(lambda: parts.panel.detects_knocks and parts.panel.has_button("undo"))
    listener = Listeners((parts.listener(), Apart(script)))
    sitting = Sitting(script.look, SESSION)
    game = LiveGame(script, sitting, script, listener, clock=time.monotonic_ns, max_per_s=10, parts=parts)

    def keys(wait_s: float) -> bool:
        for received in parts.read():
            assert 0 <= received.ago_ns < _SOON_S * 1e9
            game.feed(received.item, script.now_ns() - received.ago_ns)
        threading.Event().wait(0.001)
        return True

    try:
        game.run(keys, lambda: False)
        assert parts.panel.look(time.monotonic_ns()).pressed == {"next", "undo"}
    finally:
        parts.close()
    assert script.kept == [inputs[0], inputs[1], KnockHeard(Seat(0), 1.0, 0.5), inputs[3], inputs[4]]
    assert script.log[-2:] == ["look 100", "followed"]
    assert game.session.state.log[-1] == inputs[4]


def test_without_a_panel_inputs_are_fed_directly() -> None:
    parts = open_parts(HardwareSettings(), seats=2, clock=time.monotonic_ns, has_panel=False)
    assert not parts.pressed(Press(Button.UNDO))
    assert not parts.pressed(KnockHeard())
    script = KeepingScript(given(Press(Button.UNDO), 10))
    assert game_with(script, parts).look()
    assert script.kept == [Press(Button.UNDO)]
    parts.close()


def test_an_unreadable_input_is_reported_and_dropped() -> None:
    def fails() -> ByHand:
        raise JsonValueError("of a later version")

    script = KeepingScript(RecordedInput(0, "it", fails))
    assert game_with(script, live_parts(Table(), Clock())).look()
    assert script.notes == ["it: of a later version"]
    assert script.kept == []


def test_a_lost_press_does_not_block_the_game() -> None:
    clock, panel = Clock(), VirtualPanel(("undo",))
    panel.open_buttons()
    script = KeepingScript(given(Press(Button.UNDO), 10), shot(20))
    game = game_with(script, LiveParts(Table(), panel, 2, clock))
    assert not game.look()
    assert not game.look()
    assert list(script.given) != []
    clock.t_ns += 300 * MS
    assert game.look()
    assert script.log == ["keep 20", "look 20", "followed"]


def test_a_game_waits_for_the_last_press() -> None:
    clock, panel = Clock(), VirtualPanel(("undo",))
    panel.open_buttons()
    script, turns = KeepingScript(given(Press(Button.UNDO), 10)), list[int]()
    game = game_with(script, LiveParts(Table(), panel, 2, clock))

    def keys(wait_s: float) -> bool:
        turns.append(clock.t_ns)
        clock.t_ns += 100 * MS
        return len(turns) < 20

    game.run(keys, lambda: False)
    assert script.is_over
    # The press in the first turn is awaited for 200 ms.
    assert turns == [0, 100 * MS, 200 * MS]


def game_with(script: KeepingScript, parts: LiveParts) -> LiveGame:
    return LiveGame(
        script, Sitting(script.look, SESSION), script, Apart(script), clock=Clock(), max_per_s=10, parts=parts
    )
