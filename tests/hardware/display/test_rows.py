"""Tests of laying out pages in rows and screens."""

from __future__ import annotations

import pytest

from hardware.display.page import LCD_CHARACTERS as ALL
from hardware.display.page import DisplayPage, ScoreLine, points_text, screen_at, screens_of

_FOUR = tuple(
    ScoreLine(name, points, points == 40) for name, points in (("Ann", 35), ("Ben", 40), ("Cleo", 5), ("Dora", 0))
)


def test_two_players_share_a_row_and_an_empty_page_is_blank() -> None:
    page = DisplayPage((ScoreLine("Ann", 35), ScoreLine("Ben", 120, is_turn=True)), "Ann scored 15")
    assert screens_of(page, 16, 2, ALL) == ((" Ann  35>Ben 120", "Ann scored 15   "),)
    assert screens_of(DisplayPage(), 16, 2, ALL) == ((" " * 16, " " * 16),)


def test_four_players_share_rows_with_a_message() -> None:
    (alone,) = screens_of(DisplayPage(_FOUR), 20, 4, ALL)
    assert alone == (" Ann              35", ">Ben              40", " Cleo              5", " Dora              0")
    (with_message,) = screens_of(DisplayPage(_FOUR, "Whose spinner?"), 20, 4, ALL)
    assert with_message == (" Ann    35>Ben    40", " Cleo    5 Dora    0", "Whose spinner?      ", " " * 20)


def test_long_pages_alternate_between_screens() -> None:
    page = DisplayPage(_FOUR, "The hand is blocked, Dora leads")
    scores, message, rest = screens_of(page, 16, 2, ALL)
    assert (message, rest) == (("The hand is     ", "blocked, Dora   "), ("leads           ", " " * 16))
    assert scores == (" Ann  35>Ben  40", " Cleo  5 Dora  0")
    assert screen_at(page, 16, 2, 0, ALL) == scores
    assert screen_at(page, 16, 2, 2_600_000_000, ALL) == message
    assert screen_at(page, 16, 2, 5_100_000_000, ALL) == rest
    assert screen_at(page, 16, 2, 7_500_000_000, ALL) == scores


def test_provisional_points_have_a_mark() -> None:
    scores = (ScoreLine("Ann", 35, is_provisional=True), ScoreLine("Benedict", 12345, is_provisional=True))
    assert screens_of(DisplayPage(scores), 20, 2, ALL)[0] == (" Ann             *35", " Benedict     *12345")
    assert screens_of(DisplayPage(scores, "Hi"), 16, 2, frozenset(map(chr, range(32, 127))))[0][0] == " Ann ~35 B ~####"


def test_points_without_space_are_replaced_by_signs_and_too_many_refused() -> None:
    assert points_text(9999, 4) == "9999"
    assert points_text(10_000, 4) == "####"
    assert points_text(-999, 4) == "-999"
    assert points_text(-1000, 4) == "####"
    assert points_text(10**6000, 4) == "####"
    with pytest.raises(ValueError, match="at most 16 scores, but got 17"):
        DisplayPage((ScoreLine("x", 0),) * 17)
