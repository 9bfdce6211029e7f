"""Tests of keys: their meaning, reading single ones from a terminal, and restoring it."""

from __future__ import annotations

import os
import pty
import termios
from collections.abc import Iterator

import pytest

from engine import BONES, Adjust, Phase, Rename, RevealPips, Seat, Swap
from tallybone.play.keys import HELP, Keyboard, KeyCommand, KeyMeaning, Keys, footer, keyboard_on
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


def test_a_lower_case_letter_is_a_shared_button() -> None:
    buttons = "next next knock call draw undo stands hand_end redeal stack done table"
    assert [intended(key) for key in " \nkcdushrtoa"] == [[Press(Button(name))] for name in buttons.split()]


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


def test_names_and_places_of_players_are_changed_with_their_keys() -> None:
    assert intended("n2Zoë Q\n") == [Rename(Seat(1), "Zoë Q")]
    assert intended("n2Zoo\x7fe \r") == [Rename(Seat(1), "Zoe")]
    assert intended("n2 \nk") == [Press(Button.KNOCK)]
    assert "Ben: Zo_" in prompt("n2Zo")
    assert intended("w12\n") == [Swap(Seat(0), Seat(1))]
    assert "change places with: Ann: 2_" in prompt("w12")


def test_quitting_needs_confirmation_and_unknown_keys_are_ignored() -> None:
    assert intended("q") == []
    assert intended("qq") == intended("qy") == [KeyCommand.QUIT]
    assert intended("qnk") == [Press(Button.KNOCK)]
    assert intended("?") == [KeyCommand.HELP]
    assert intended("xyz\x00é²") == []


def test_a_number_only_answers_an_open_question() -> None:
    assert intended("1") == []
    session = asked()
    question = session.open_question
    assert question is not None
    assert intended("2", session) == [Answer(1, question.topic)]
    assert intended(str(len(question.choices) + 1), session) == []
    assert "answer" in footer(session)


def test_the_footer_depends_on_the_phase_and_fits_a_small_terminal() -> None:
    assert "dealt" in footer(SESSION)
    led, _ = feed(SESSION, Press(Button.NEXT))
    assert led.state.game is not None
    assert led.state.game.phase is Phase.LEAD
    assert "knock" in footer(led)
    assert all(len(line) <= 79 for line in (footer(SESSION), footer(led), *HELP))


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Return the user's and the program's end of a terminal."""
    person, program = pty.openpty()
    yield person, program
    os.close(person)
    os.close(program)


def test_keys_are_read_without_enter_and_arrow_keys_ignored(terminal: tuple[int, int]) -> None:
    person, program = terminal
    with keyboard_on(program) as keyboard:
        assert keyboard.pressed(0.0) == ""
        os.write(person, b"k")
        assert keyboard.pressed(10.0) == "k"
        os.write(person, b"2u")
        assert keyboard.pressed(10.0) == "2u"
        os.write(person, b"\x1b[A")
        assert keyboard.pressed(10.0) == ""
        os.write(person, b"k")
        assert keyboard.pressed(10.0) == "k"


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_the_terminal_is_restored_after_an_error(terminal: tuple[int, int], error: type[BaseException]) -> None:
    _, program = terminal
    before = termios.tcgetattr(program)

    def fail() -> None:
        with keyboard_on(program):
            assert not termios.tcgetattr(program)[3] & termios.ICANON
            raise error

    with pytest.raises(error):
        fail()
    assert termios.tcgetattr(program) == before


def test_keys_are_read_from_a_pipe_until_it_ends() -> None:
    reading, writing = os.pipe()
    with keyboard_on(reading) as keyboard:
        os.write(writing, b"  ")
        assert keyboard.pressed(10.0) == "  "
        os.close(writing)
        assert keyboard.pressed(0.0) == ""
        assert keyboard.is_over
    os.close(reading)


def test_a_closed_terminal_gives_no_keys_and_no_error() -> None:
    person, program = pty.openpty()
    os.close(person)
    keyboard = Keyboard(program)
    assert keyboard.pressed(10.0) == ""
    assert keyboard.is_over
    os.close(program)
