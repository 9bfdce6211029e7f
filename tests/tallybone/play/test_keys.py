"""Tests of the meaning of key sequences."""

from __future__ import annotations

import pytest

from engine import BONES, Adjust, Phase, Rename, RevealPips, Seat, Swap
from tallybone.play.keys import HELP, KeyCommand, KeyMeaning, Keys, footer
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, Button, Press
from tallybone.session.session import Session
from tallybone.session.sitting import opened
from tests.tallybone.in_question import asked

SESSION = opened(BONES, ("Ann", "Ben"))[0]


def intended(keys: str, session: Session = SESSION) -> list[KeyMeaning]:
    """Return the meanings of a sequence of keys."""
    found, waiting = [], Keys()
    for key in keys:
        waiting, meaning = waiting.after(key, session)
        found += [] if meaning is None else [meaning]
    return found


def prompt(keys: str) -> str:
    waiting = Keys()
    for key in keys:
        waiting, _ = waiting.after(key, SESSION)
    return waiting.prompt


@pytest.mark.parametrize(
    ("key", "button"),
    [
        (" ", Button.NEXT),
        ("\n", Button.NEXT),
        ("k", Button.KNOCK),
        ("c", Button.CALL),
        ("d", Button.DRAW),
        ("u", Button.UNDO),
        ("s", Button.STANDS),
        ("h", Button.HAND_END),
        ("r", Button.REDEAL),
        ("t", Button.STACK),
        ("o", Button.DONE),
        ("a", Button.TABLE),
    ],
)
def test_a_lower_case_letter_is_a_shared_button(key: str, button: Button) -> None:
    assert intended(key) == [Press(button)]


def test_a_capital_letter_and_a_number_are_a_players_button() -> None:
    assert intended("K2D1") == [Press(Button.KNOCK, Seat(1)), Press(Button.DRAW, Seat(0))]
    assert intended("K3") == []
    assert "2 Ben" in prompt("K")


def test_remaining_pips_are_entered_with_the_player_and_can_be_edited() -> None:
    assert intended("p217\n") == [RevealPips(Seat(1), 17)]
    assert intended("p219\x7f7\r") == [RevealPips(Seat(1), 17)]
    assert intended("p2\n ") == [Press(Button.NEXT)]
    assert intended("p3") == []
    assert "Ben: 17_" in prompt("p217")


def test_a_total_is_corrected_with_the_player_and_the_new_total() -> None:
    assert SESSION.state.game is not None
    now = SESSION.state.game.totals[1]
    assert intended(f"e2{now + 15}\n") == [Adjust(Seat(1), 15, "corrected total")]
    assert intended(f"e2{now}\n") == []
    assert "Ben: 35_" in prompt("e235")


def test_a_player_is_renamed_with_their_key_a_name_and_enter() -> None:
    assert intended("n2Zoë Q\n") == [Rename(Seat(1), "Zoë Q")]
    assert intended("n2Zoo\x7fe \r") == [Rename(Seat(1), "Zoe")]
    assert intended("n2 \nk") == [Press(Button.KNOCK)]
    assert "Ben: Zo_" in prompt("n2Zo")


def test_two_players_change_places_with_their_keys() -> None:
    assert intended("w12\n") == [Swap(Seat(0), Seat(1))]
    assert "change places with: Ann: 2_" in prompt("w12")


def test_quitting_needs_confirmation() -> None:
    assert intended("q") == []
    assert intended("qq") == intended("qy") == [KeyCommand.QUIT]
    assert intended("qnk") == [Press(Button.KNOCK)]
    assert intended("?") == [KeyCommand.HELP]


def test_a_number_only_answers_an_open_question() -> None:
    assert intended("1") == []
    session = asked()
    question = session.open_question
    assert question is not None
    assert intended("2", session) == [Answer(1, question.topic)]
    assert intended(str(len(question.choices) + 1), session) == []
    assert "answer" in footer(session)


def test_unknown_keys_are_ignored() -> None:
    assert intended("xyz\x00é²") == []


def test_the_footer_depends_on_the_phase_and_fits_a_small_terminal() -> None:
    assert "dealt" in footer(SESSION)
    led, _ = feed(SESSION, Press(Button.NEXT))
    assert led.state.game is not None
    assert led.state.game.phase is Phase.LEAD
    assert "knock" in footer(led)
    assert all(len(line) <= 79 for line in (footer(SESSION), footer(led), *HELP))
