"""Tests of parts in a live game: buttons and their meanings, answers, lights and displays, failures, and recording."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

import engine
from engine import BONES, Knock, Lead, Reason, Scored, Seat
from engine import NodeId as Id
from engine.rules.options import SUPER
from engine.state.match import Course, Spell
from hardware.buttons.drivers.gpio import GpioSettings
from hardware.buttons.panel import SEAT_BUTTONS, SHARED_BUTTONS, ButtonPress, PinPress, PressKind
from hardware.display.page import DisplayPage, ScoreLine, screens_of
from hardware.knock.sensor import ClassifiedSound, Sound
from hardware.leds.drivers.gpio import SingleSettings
from hardware.leds.lamps import Gain, Mood, TableState
from hardware.libraries import PinLibrary
from hardware.table import HardwareSettings, PartInput, Parts, VirtualPanel
from tallybone.json_values import JsonValueError
from tallybone.play.game import Listeners, LiveGame, LiveState
from tallybone.play.keys import SHOWN_NS, Choosing
from tallybone.play.parts import (
    FromTable,
    LiveParts,
    buttons_of,
    configured_name,
    gain_of,
    knock_of,
    open_parts,
    page_of,
    presses_of,
    table_state,
    with_panel,
)
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, Button, KnockHeard, Press
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Sitting, Step, opened
from tallybone.show.scoreboard import describe_pending
from tallybone.sources.camera import Shown
from tallybone.sources.source import RecordedInput
from tests.hardware.table.reading import read_hardware
from tests.tallybone.in_question import asked
from tests.tallybone.play.test_game import MS, Apart, Script, shot
from tests.tallybone.session.test_referee import line, plays, seen
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


def intended(name: str, kind: PressKind = PressKind.SHORT) -> tuple[Press, ...]:
    return presses_of(ButtonPress(name, PinPress(5, 5, kind)), 2)


def test_every_configurable_button_has_a_meaning() -> None:
    pins = {button: pin for pin, button in enumerate((*SEAT_BUTTONS, *SHARED_BUTTONS), start=2)}
    shared = read_hardware({"buttons": {"driver": "gpio", **pins}})
    own = read_hardware({"buttons": {"driver": "gpio", "call": [2, 3], "knock": [4, 5], "draw": [6, 7], "done": [8]}})
    assert isinstance(shared.buttons, GpioSettings)
    assert isinstance(own.buttons, GpioSettings)
    for config in (shared.buttons, own.buttons):
        for name in config.wired:
            button, _, player = name.partition(" ")
            assert intended(name) == (Press(Button(button), Seat(int(player) - 1) if player else None),)
    assert set(shared.buttons.wired) == set(Button)


def test_names_of_buttons_round_trip_and_unoccupied_seats_are_ignored() -> None:
    buttons = buttons_of(3)
    assert all(configured_name(press) == name for name, press in buttons.items())
    assert buttons["draw 3"] == Press(Button.DRAW, Seat(2))
    assert intended("call 3") == ()


@pytest.mark.parametrize(
    ("kind", "button"),
    [(PressKind.SHORT, Button.CALL), (PressKind.LONG, Button.KNOCK), (PressKind.DOUBLE, Button.DRAW)],
)
def test_a_single_button_per_player_has_three_meanings(kind: PressKind, button: Button) -> None:
    assert intended("call 2", kind) == (Press(button, Seat(1)),)
    assert intended("call", kind) == (Press(button),)


def test_other_presses_and_knocks_have_one_meaning() -> None:
    assert intended("undo", PressKind.DOUBLE) == (Press(Button.UNDO), Press(Button.UNDO))
    assert intended("undo", PressKind.LONG) == (Press(Button.UNDO),)
    assert knock_of(ClassifiedSound(5, 1, 0.25, 0.75), 2) == KnockHeard(Seat(1), 0.25, 0.75)
    assert knock_of(ClassifiedSound(5, 2, 0.25, 0.75), 2) == KnockHeard(None, 0.25, 0.75)
    assert knock_of(ClassifiedSound(5, None, 0.25, 0.75), 2) == KnockHeard(None, 0.25, 0.75)
    nail = ClassifiedSound(5, None, 0.25, 0.75, Sound.NAIL, 0, hit=0.3)
    assert knock_of(nail, 2) == KnockHeard(None, 0.25, 0.3)


ASKED = asked()
assert ASKED.open_question is not None
TOPIC, CHOICES = ASKED.open_question.topic, ASKED.open_question.choices
NEXT, CALL, STANDS = Press(Button.NEXT), Press(Button.CALL, Seat(1)), Press(Button.STANDS)


def after(*presses: Press, session: Session = ASKED, t_ns: int = 0) -> tuple[Choosing, list[Press | Answer]]:
    choosing, intended = Choosing(), list[Press | Answer]()
    for press in presses:
        choosing, input_ = choosing.after(press, session, t_ns)
        intended += [] if input_ is None else [input_]
    return choosing, intended


def test_next_cycles_through_the_choices() -> None:
    for steps in range(1, 2 * len(CHOICES) + 1):
        choosing, intended = after(*[NEXT] * steps)
        assert intended == []
        assert choosing.shown(ASKED, 1) == (steps - 1) % len(CHOICES)


def test_a_call_of_any_seat_or_it_stands_takes_the_shown_choice() -> None:
    for call in (CALL, Press(Button.CALL, Seat(0)), Press(Button.CALL)):
        choosing, intended = after(NEXT, NEXT, call)
        assert intended == [Answer(1, TOPIC)]
        assert choosing.shown(ASKED, 1) is None
    assert after(STANDS)[1] == [Answer(0, TOPIC)]
    assert after(NEXT, NEXT, STANDS)[1] == [Answer(1, TOPIC)]


def test_a_call_without_a_shown_choice_is_an_ordinary_call() -> None:
    assert after(CALL)[1] == [CALL]
    choosing, _ = after(NEXT)
    assert choosing.shown(ASKED, SHOWN_NS - 1) == 0
    assert choosing.shown(ASKED, SHOWN_NS) is None
    assert choosing.after(CALL, ASKED, SHOWN_NS) == (choosing, CALL)


def test_other_buttons_and_those_without_a_question_keep_their_meaning() -> None:
    for button in set(Button) - {Button.NEXT, Button.CALL, Button.STANDS}:
        choosing, intended = after(NEXT, Press(button))
        assert intended == [Press(button)]
        assert choosing.shown(ASKED, 1) == 0
    plain = line(seen((3, 5), (0, 0)))
    assert after(*map(Press, Button), session=plain)[1] == [*map(Press, Button)]


def test_a_choice_belongs_to_a_single_question() -> None:
    choosing, _ = after(NEXT)
    answered, _ = feed(ASKED, Answer(0))
    assert choosing.shown(answered, 1) is None
    assert choosing.after(CALL, answered, 1)[1] == CALL


def test_between_hands_next_deals_and_a_held_next_shows_the_choices() -> None:
    between = replace(opened(BONES, ("Ann", "Ben"))[0], questions=ASKED.questions)
    assert Choosing().after(NEXT, between, 0)[1] == NEXT
    choosing, intended = Choosing().after(NEXT, between, 0, is_held=True)
    assert intended is None
    assert choosing.shown(between, 1) == 0


@pytest.mark.parametrize("take", ["call 2", "stands"])
def test_a_question_is_answered_with_buttons_alone(take: str) -> None:
    wanted, _ = feed(ASKED, Answer(1))
    script = KeepingScript()
    parts = open_parts(HardwareSettings(), seats=2, clock=time.monotonic_ns, has_panel=True)
    listener = Listeners((parts.listener(), Apart(script)))
    game = LiveGame(script, Sitting(script.look, ASKED), script, listener, clock=time.monotonic_ns, max_per_s=10)

    def press(button: str) -> None:
        parts.panel.press(button, time.monotonic_ns())
        received: list[FromTable] = []

        def has_received() -> bool:
            received.extend(parts.read())
            return bool(received)

        soon(has_received)
        for each in received:
            game.pressed(each.item, is_held=each.is_held)
        game.show()

    def screen() -> str:
        return " ".join(" ".join(parts.panel.look(time.monotonic_ns()).screen).split())

    try:
        soon(lambda: parts.panel.has_button("next"))
        press("next")
        soon(lambda: CHOICES[0] in screen())
        press("next")
        soon(lambda: CHOICES[1] in screen())
        assert script.kept == []
        press(take)
    finally:
        parts.close()
    assert script.kept == [Answer(1, TOPIC)]
    assert game.session.open_question is None
    assert plays(game.session) == plays(wanted)
    assert game.now.chosen is None


def test_a_display_shows_the_choice_and_the_buttons_for_it() -> None:
    first, second, *_ = CHOICES
    assert page_of(ASKED, "", chosen=1).message == f"2/{len(CHOICES)} {second}? Call: yes. Next: another answer."
    assert first not in page_of(ASKED, "", chosen=1).message


START = (engine.MatchStart(engine.BONES, ("Ann", "Ben")), engine.NewHand())
LED = (*START, engine.Play(engine.Seat(0), engine.Tile.parse("5-5")))


def session(*events: engine.Event) -> Session:
    return Session(engine.replay(events))


def now(at: Session, *, is_healthy: bool = True) -> LiveState:
    return LiveState(at, (1280, 720), "settled", "recorded", is_healthy)


def state(*events: engine.Event) -> TableState:
    found = table_state(now(session(*events)), None)
    assert found is not None
    return found


def test_without_a_match_there_is_no_state() -> None:
    assert table_state(now(Session()), None) is None
    assert page_of(Session(), "hello") == DisplayPage((), "hello")


def test_the_turn_is_shown_during_a_hand_and_waiting_between_hands() -> None:
    assert state(*LED) == TableState(2, turn=1, mood=Mood.PLAYING)
    assert state(*LED, engine.Knock(engine.Seat(1))).turn == 0
    assert state(START[0]) == TableState(2, mood=Mood.WAITING)


def test_the_last_mistake_is_shown_at_its_seat_until_the_next_action() -> None:
    wrong = (*LED, engine.Knock(engine.Seat(0)))
    shown = state(*wrong)
    assert (shown.mood, shown.concerns) == (Mood.PROBLEM, 0)
    assert (
        state(*wrong, engine.Play(engine.Seat(1), engine.Tile.parse("5-0"), engine.Spot(Id(2), engine.Port.E))).mood
        is Mood.PLAYING
    )
    shown = state(START[0], engine.Lead(engine.Seat(1)))
    assert (shown.mood, shown.concerns) == (Mood.PROBLEM, None)
    assert table_state(now(session(*LED), is_healthy=False), None) == TableState(2, turn=1, mood=Mood.PROBLEM)


def test_a_question_takes_precedence_over_a_problem_and_is_shown_once() -> None:
    shown = table_state(now(asked(), is_healthy=False), None)
    assert shown is not None
    assert (shown.mood, shown.concerns) == (Mood.ASKING, None)
    assert page_of(asked(), "Ann plays 3-5").message == "What is the score?"
    page = page_of(asked(), "Ann plays 5-3")
    screens = screens_of(page, 20, 2, frozenset(map(chr, range(32, 126))))
    assert [row.strip() for screen in screens for row in screen].count("What is the score?") == 1


def test_points_are_a_gain_of_their_player() -> None:
    _, announcements = feed(session(*START), engine.Play(engine.Seat(0), engine.Tile.parse("5-5")))
    assert gain_of(announcements, 7) == Gain(0, 10, 7)
    _, nothing = feed(session(*LED), engine.Knock(engine.Seat(1)))
    assert gain_of(nothing, 7) is None


@pytest.mark.parametrize(("rules", "is_clockwise"), [(engine.BONES, None), (SUPER, True)])
def test_a_direction_is_only_shown_if_it_can_reverse(rules: engine.Rules, is_clockwise: bool | None) -> None:
    shown = state(engine.MatchStart(rules, ("Ann", "Ben", "Cleo")), engine.NewHand(), engine.Lead(engine.Seat(0)))
    assert (shown.is_clockwise, shown.is_spell) == (is_clockwise, False)


def test_a_reversed_direction_and_a_spell_are_shown() -> None:
    at = session(engine.MatchStart(SUPER, ("Ann", "Ben", "Cleo")), engine.NewHand(), engine.Lead(engine.Seat(0)))
    game = at.state.game
    assert game is not None
    assert game.hand is not None
    course = Course(direction=-1, spell=Spell(engine.Seat(0), None))
    cast = replace(game, hand=replace(game.hand, course=course))
    shown = table_state(now(replace(at, state=replace(at.state, game=cast))), None)
    assert shown is not None
    assert (shown.is_clockwise, shown.is_spell) == (False, True)


def test_a_page_has_names_marked_totals_the_turn_and_the_last_event() -> None:
    scores = (ScoreLine("Ann", 10), ScoreLine("Ben", 0, is_turn=True))
    assert page_of(session(*LED), "Ann plays 5-5") == DisplayPage(scores, "Ann plays 5-5")
    marked = session(*LED, engine.Inferred((engine.Seq(len(LED) - 1),)))
    assert [score.is_provisional for score in page_of(marked, "").scores] == [True, True]


def test_between_hands_a_page_shows_the_pending_action() -> None:
    assert page_of(session(START[0]), "Ann plays 5-5").message == "deal the next hand"
    game = session(*START).state.game
    assert game is not None
    assert page_of(session(*START), "").message == describe_pending(game)
