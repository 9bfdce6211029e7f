"""Tests of answering questions with the table's buttons. Only the answer is recorded."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from engine import BONES, Seat
from hardware.table import HardwareSettings
from tallybone.play.game import Listeners, LiveGame
from tallybone.play.keys import SHOWN_NS, Choosing
from tallybone.play.parts import FromTable, open_parts, page_of
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, Button, Press
from tallybone.session.session import Session
from tallybone.session.sitting import Sitting, opened
from tests.tallybone.in_question import asked
from tests.tallybone.play.test_game import Apart
from tests.tallybone.play.test_parts import KeepingScript
from tests.tallybone.session.test_referee import line, plays, seen
from tests.waiting import soon

ASKED = asked()
NEXT, CALL, STANDS = Press(Button.NEXT), Press(Button.CALL, Seat(1)), Press(Button.STANDS)


def question(session: Session = ASKED) -> tuple[str, ...]:
    ambiguity = session.open_question
    assert ambiguity is not None
    assert len(ambiguity.choices) >= 2
    return ambiguity.choices


def after(*presses: Press, session: Session = ASKED, t_ns: int = 0) -> tuple[Choosing, list[Press | Answer]]:
    choosing, intended = Choosing(), list[Press | Answer]()
    for press in presses:
        choosing, input_ = choosing.after(press, session, t_ns)
        intended += [] if input_ is None else [input_]
    return choosing, intended


def topic() -> str:
    ambiguity = ASKED.open_question
    assert ambiguity is not None
    return ambiguity.topic


def test_next_cycles_through_the_choices() -> None:
    for steps in range(1, 2 * len(question()) + 1):
        choosing, intended = after(*[NEXT] * steps)
        assert intended == []
        assert choosing.shown(ASKED, 1) == (steps - 1) % len(question())


def test_a_call_of_any_seat_takes_the_shown_choice() -> None:
    for call in (CALL, Press(Button.CALL, Seat(0)), Press(Button.CALL)):
        choosing, intended = after(NEXT, NEXT, call)
        assert intended == [Answer(1, topic())]
        assert choosing.shown(ASKED, 1) is None


def test_a_call_without_a_shown_choice_is_an_ordinary_call() -> None:
    assert after(CALL)[1] == [CALL]
    choosing, _ = after(NEXT)
    assert choosing.shown(ASKED, SHOWN_NS - 1) == 0
    assert choosing.shown(ASKED, SHOWN_NS) is None
    assert choosing.after(CALL, ASKED, SHOWN_NS) == (choosing, CALL)


def test_it_stands_takes_the_likeliest_or_the_shown_choice() -> None:
    assert after(STANDS)[1] == [Answer(0, topic())]
    assert after(NEXT, NEXT, STANDS)[1] == [Answer(1, topic())]


def test_other_buttons_keep_their_meaning() -> None:
    for button in set(Button) - {Button.NEXT, Button.CALL, Button.STANDS}:
        choosing, intended = after(NEXT, Press(button))
        assert intended == [Press(button)]
        assert choosing.shown(ASKED, 1) == 0


def test_without_a_question_every_button_keeps_its_meaning() -> None:
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


@pytest.mark.parametrize("take", ["call 1", "call 2", "stands"])
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
        soon(lambda: question()[0] in screen())
        press("next")
        soon(lambda: question()[1] in screen())
        assert script.kept == []
        press(take)
    finally:
        parts.close()
    assert script.kept == [Answer(1, topic())]
    assert game.session.open_question is None
    assert plays(game.session) == plays(wanted)
    assert game.now.chosen is None


def test_a_display_shows_the_choice_and_the_buttons_for_it() -> None:
    first, second, *_ = question()
    assert page_of(ASKED, "", chosen=1).message == f"2/{len(question())} {second}? Call: yes. Next: another answer."
    assert first not in page_of(ASKED, "", chosen=1).message
