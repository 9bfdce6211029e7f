"""Tests of reducing texts to the characters of a display."""

from __future__ import annotations

import random

import pytest

from hardware.display.page import LCD_CHARACTERS, NEXTION_CHARACTERS, TERMINAL_CHARACTERS, reduce_text
from tests.hardware.display.texts import hostile_text


def test_accents_are_removed() -> None:
    assert reduce_text("Žofie Ångström", LCD_CHARACTERS) == "Zofie Angstrom"
    assert reduce_text("e\u0301té", LCD_CHARACTERS) == "ete"
    assert reduce_text("Weiß Łukasz Bjørn", LCD_CHARACTERS) == "Weiss Lukasz Bjorn"


def test_unknown_characters_are_replaced_and_controls_removed() -> None:
    assert reduce_text("李雷", LCD_CHARACTERS) == "??"
    assert reduce_text("a\x1b\x00\u202eb\ud800", LCD_CHARACTERS) == "ab?"


def test_special_characters_of_a_serlcd_are_replaced() -> None:
    assert reduce_text("a|b\\c~d", LCD_CHARACTERS) == "a/b/c-d"


def test_text_for_a_nextion_has_no_quotes_or_backslashes() -> None:
    assert reduce_text('";page 1\\', NEXTION_CHARACTERS) == "';page 1/"


def test_a_long_text_is_truncated_first() -> None:
    assert reduce_text("x" * 1_000_000, LCD_CHARACTERS) == "x" * 200


@pytest.mark.parametrize("permitted", [LCD_CHARACTERS, NEXTION_CHARACTERS, TERMINAL_CHARACTERS])
def test_any_text_only_has_permitted_characters(permitted: frozenset[str]) -> None:
    rng = random.Random(1)
    for _ in range(2000):
        assert set(reduce_text(hostile_text(rng), permitted)) <= permitted
