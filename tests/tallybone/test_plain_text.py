"""Tests of sanitising texts of users."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallybone.plain_text import MAX_NAME, names_of, plain


def test_control_characters_are_removed() -> None:
    assert plain("Tom\u202e\u2066\x00\x1b[2J\ud800\n Ann") == "Tom[2J  Ann"


def test_right_to_left_letters_joined_emoji_and_markup_stay_but_long_names_do_not() -> None:
    assert plain("שרה أنا") == "שרה أنا"
    assert plain("👩\u200d👧") == "👩\u200d👧"
    assert plain("<script>alert(1)</script>") == "<script>alert(1)</script>"
    assert names_of(("x" * 10_000,)) == ("x" * (MAX_NAME - 1) + "…",)


@given(st.text(), st.integers(1, 50))
def test_any_text_is_limited_and_encodable(text: str, limit: int) -> None:
    shown = plain(text, limit)
    assert len(shown) <= limit
    assert shown.encode().decode() == shown
    assert "\n" not in shown
