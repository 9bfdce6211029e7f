"""Texts of people, whatever they write."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallybone.plain_text import MOST_NAME, names_of, plain


def test_what_turns_or_hides_its_neighbours_goes() -> None:
    assert plain("Tom\u202e\u2066\x00\x1b[2J\ud800\n Ann") == "Tom[2J  Ann"


def test_letters_from_the_right_and_joined_pictures_stay() -> None:
    assert plain("שרה أنا") == "שרה أنا"
    assert plain("👩\u200d👧") == "👩\u200d👧"


def test_markup_stays_what_it_is() -> None:
    assert plain("<script>alert(1)</script>") == "<script>alert(1)</script>"


def test_a_name_of_ten_thousand_characters_is_cut() -> None:
    (name,) = names_of(("x" * 10_000,))
    assert name == "x" * (MOST_NAME - 1) + "…"


@given(st.text(), st.integers(1, 50))
def test_nothing_is_ever_longer_or_cannot_be_written(text: str, most: int) -> None:
    shown = plain(text, most)
    assert len(shown) <= most
    assert shown.encode().decode() == shown
    assert "\n" not in shown
