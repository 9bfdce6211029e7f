"""Tests of translating phrases: nested phrases, plurals, names and lists."""

from __future__ import annotations

import copy

import pytest

from engine.phrases import Phrase, both, either, listed, phrase, plural
from engine.state.outcomes import the_tile, tiles_text
from tallybone.plain_text import plain
from tallybone.texts import catalogue, in_language


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "Ann draws 2 tiles, 5 left"),
        ("es", "Ann roba 2 fichas, quedan 5"),
        ("pt", "Ann compra 2 peças, restam 5"),
        ("fr", "Ann pioche 2 dominos, reste 5"),
    ],
)
def test_a_phrase_is_translated_including_nested_ones(language: str, expected: str) -> None:
    sentence = phrase("{name} draws {tiles}, {left} left", name="Ann", tiles=tiles_text(2), left=5)
    assert in_language(sentence, language) == expected


@pytest.mark.parametrize(
    ("language", "zero", "singular"),
    [("es", "0 fichas", "1 ficha"), ("pt", "0 peças", "1 peça"), ("fr", "0 domino", "1 domino")],
)
def test_a_number_uses_the_plural_form_of_its_language(language: str, zero: str, singular: str) -> None:
    assert [in_language(tiles_text(number), language) for number in (0, 1)] == [zero, singular]


def test_a_name_is_neither_translated_nor_interpolated() -> None:
    for name in ("Undo", "{sum}", "{name}", "{0.__class__}", "%s", "\\1"):
        assert in_language(phrase("{name} knocks", name=name), "es") == f"{name} pasa"


def test_untranslated_text_stays_english_with_translated_parts() -> None:
    text = listed([phrase("{name} knocks", name="Ann"), "3 + 2 = 5"], "; ")
    assert text == "Ann knocks; 3 + 2 = 5"
    assert in_language(text, "es") == "Ann pasa; 3 + 2 = 5"
    assert in_language("Ann knocks", "es") == "Ann knocks", "plain strings must not be translated"


def test_choices_and_lists_are_joined_by_the_rules_of_the_language() -> None:
    tiles = [the_tile("5-4"), the_tile("6-4"), the_tile("5-5")]
    assert either(tiles) == "the 5-4, the 6-4 or the 5-5"
    assert in_language(either(tiles), "fr") == "le 5-4, le 6-4 ou le 5-5"
    assert in_language(both(["Ann", "Ben"]), "pt") == "Ann e Ben"
    assert either(["a"]) == both(["a"]) == "a"


def test_a_phrase_equals_its_english_and_survives_copies() -> None:
    text = plural("1 tile", "{number} tiles", number=3)
    assert text == "3 tiles"
    assert hash(text) == hash("3 tiles")
    twin = copy.deepcopy(text)
    assert isinstance(twin, Phrase)
    assert (twin, twin.key, dict(twin.values)) == (text, text.key, dict(text.values))


def test_a_hostile_name_in_a_phrase_is_sanitised_in_every_language() -> None:
    sentence = plain(phrase("{name} knocks", name="\u202eevil\u202c" + "x" * 1000))
    assert isinstance(sentence, Phrase)
    assert in_language(sentence, "es").startswith("evilxxx")
    assert len(in_language(sentence, "es")) <= 310


def test_rejects_an_unknown_language_by_name() -> None:
    with pytest.raises(ValueError, match=r"en, es, pt, fr, but got '\.\./secret'"):
        catalogue("../secret")
