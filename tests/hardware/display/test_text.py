"""Texts are reduced to what a display can show."""

from __future__ import annotations

import random

import pytest

from hardware.display.text import LCD_CHARACTERS, NEXTION_CHARACTERS, TERMINAL_CHARACTERS, reduce_text
from tests.hardware.display.texts import hostile_text


def test_letters_with_accents_become_plain_ones() -> None:
    assert reduce_text("Žofie Ångström", LCD_CHARACTERS) == "Zofie Angstrom"
    assert reduce_text("e\u0301té", LCD_CHARACTERS) == "ete"
    assert reduce_text("Weiß Łukasz Bjørn", LCD_CHARACTERS) == "Weiss Lukasz Bjorn"


def test_what_cannot_be_shown_is_a_question_mark_and_controls_are_nothing() -> None:
    assert reduce_text("李雷", LCD_CHARACTERS) == "??"
    assert reduce_text("a\x1b\x00\u202eb\ud800", LCD_CHARACTERS) == "ab?"


def test_bytes_that_a_serlcd_obeys_or_shows_as_other_signs_are_replaced() -> None:
    assert reduce_text("a|b\\c~d", LCD_CHARACTERS) == "a/b/c-d"


def test_a_text_for_a_nextion_has_no_quote_and_no_backslash() -> None:
    assert reduce_text('";page 1\\', NEXTION_CHARACTERS) == "';page 1/"


def test_a_megabyte_is_cut_before_anything_is_done_with_it() -> None:
    assert reduce_text("x" * 1_000_000, LCD_CHARACTERS) == "x" * 200


@pytest.mark.parametrize("permitted", [LCD_CHARACTERS, NEXTION_CHARACTERS, TERMINAL_CHARACTERS])
def test_nothing_else_is_left_of_any_text(permitted: frozenset[str]) -> None:
    rng = random.Random(1)
    for _ in range(2000):
        assert set(reduce_text(hostile_text(rng), permitted)) <= permitted
