"""Tests of reading single keys from a terminal, and of restoring it."""

from __future__ import annotations

import os
import pty
import termios
from collections.abc import Iterator

import pytest

from tallybone.play.keys import Keyboard, keyboard_on


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Return the user's and the program's end of a terminal."""
    person, program = pty.openpty()
    yield person, program
    os.close(person)
    os.close(program)


def test_a_key_is_read_without_enter(terminal: tuple[int, int]) -> None:
    person, program = terminal
    with keyboard_on(program) as keyboard:
        assert keyboard.pressed(0.0) == ""
        os.write(person, b"k")
        assert keyboard.pressed(10.0) == "k"
        os.write(person, b"2u")
        assert keyboard.pressed(10.0) == "2u"


def test_arrow_keys_are_ignored(terminal: tuple[int, int]) -> None:
    person, program = terminal
    with keyboard_on(program) as keyboard:
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
