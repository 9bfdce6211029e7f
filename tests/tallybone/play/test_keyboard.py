"""Keys of a terminal come one by one, and the terminal is afterwards as it was."""

from __future__ import annotations

import os
import pty
import termios
from collections.abc import Iterator

import pytest

from tallybone.play.keys import Keyboard, keyboard_on


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """A terminal: what a person types goes into the first end, a program has the second."""
    person, program = pty.openpty()
    yield person, program
    os.close(person)
    os.close(program)


def test_a_key_comes_without_enter(terminal: tuple[int, int]) -> None:
    person, program = terminal
    with keyboard_on(program) as keyboard:
        assert keyboard.pressed(0.0) == ""
        os.write(person, b"k")
        assert keyboard.pressed(10.0) == "k"
        os.write(person, b"2u")
        assert keyboard.pressed(10.0) == "2u"


def test_arrows_are_no_keys(terminal: tuple[int, int]) -> None:
    person, program = terminal
    with keyboard_on(program) as keyboard:
        os.write(person, b"\x1b[A")
        assert keyboard.pressed(10.0) == ""
        os.write(person, b"k")
        assert keyboard.pressed(10.0) == "k"


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_the_terminal_is_as_it_was_whatever_happens(terminal: tuple[int, int], error: type[BaseException]) -> None:
    _, program = terminal
    before = termios.tcgetattr(program)

    def fail() -> None:
        with keyboard_on(program):
            assert not termios.tcgetattr(program)[3] & termios.ICANON
            raise error

    with pytest.raises(error):
        fail()
    assert termios.tcgetattr(program) == before


def test_a_pipe_says_keys_until_it_ends() -> None:
    reading, writing = os.pipe()
    with keyboard_on(reading) as keyboard:
        os.write(writing, b"  ")
        assert keyboard.pressed(10.0) == "  "
        os.close(writing)
        assert keyboard.pressed(0.0) == ""
        assert keyboard.is_over
    os.close(reading)


def test_a_terminal_that_was_closed_gives_no_keys_and_no_error() -> None:
    person, program = pty.openpty()
    os.close(person)
    keyboard = Keyboard(program)
    assert keyboard.pressed(10.0) == ""
    assert keyboard.is_over
    os.close(program)
