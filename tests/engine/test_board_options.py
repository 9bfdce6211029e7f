"""Tests that a board plays each value of each option as `apply` does: `test_board.py` hardly meets some of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress

import pytest

from engine import OptionsError, Rules, with_options
from engine.rules.options import allowed_words, matters
from engine.rules.rules import OPTIONS
from tests.engine.test_board import GAMES, play_match


def other_values(rules: Rules) -> Iterator[Rules]:
    """Yield the game with each other value of each of its options that is a word."""
    for option in OPTIONS:
        values = allowed_words(option) if matters(rules, option) and option.key != "set" else ()
        for value in values:
            with suppress(OptionsError):
                yield with_options(rules, {option.key: value, "hand": "4", "target": "30"})


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_games_with_any_other_value_are_those_of_the_engine(rules: Rules) -> None:
    made = [
        play_match(other, max(other.seats_min, 4), random.Random(1), 2)
        for other in other_values(rules)
        if not (other.cutthroat and other.effects)
    ]
    assert len(made) > 40
    assert min(made) > 10
