"""Phrases in the language of who reads them."""

from __future__ import annotations

import copy

import pytest

from engine.phrases import Phrase, both, either, listed, phrase, plural
from engine.state.problems import the_tile, tiles_text
from tallybone.plain_text import plain
from tallybone.texts import catalogue, in_language


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "Ann draws 2 tiles, 5 left"),
        ("es", "Ann roba 2 fichas, quedan 5"),
        ("pt", "Ann compra 2 peças, restam 5"),
        ("fr", "Ann pioche 2 dominos, reste 5"),
    ],
)
def test_a_phrase_is_said_in_each_language_with_the_phrases_in_it(language: str, words: str) -> None:
    said = phrase("{name} draws {tiles}, {left} left", name="Ann", tiles=tiles_text(2), left=5)
    assert in_language(said, language) == words


@pytest.mark.parametrize(
    ("language", "none", "one"),
    [("es", "0 fichas", "1 ficha"), ("pt", "0 peças", "1 peça"), ("fr", "0 domino", "1 domino")],
)
def test_a_number_takes_the_form_of_its_language(language: str, none: str, one: str) -> None:
    assert [in_language(tiles_text(number), language) for number in (0, 1)] == [none, one]


def test_a_name_is_never_translated_nor_filled_in() -> None:
    for name in ("Undo", "{sum}", "{name}", "{0.__class__}", "%s", "\\1"):
        assert in_language(phrase("{name} knocks", name=name), "es") == f"{name} pasa"


def test_what_nobody_translated_is_said_in_english_with_its_parts_translated() -> None:
    told = listed([phrase("{name} knocks", name="Ann"), "3 + 2 = 5"], "; ")
    assert told == "Ann knocks; 3 + 2 = 5"
    assert in_language(told, "es") == "Ann pasa; 3 + 2 = 5"
    assert in_language("Ann knocks", "es") == "Ann knocks", "what is no phrase stays as it is"


def test_choices_and_lists_are_joined_as_the_language_does() -> None:
    tiles = [the_tile("5-4"), the_tile("6-4"), the_tile("5-5")]
    assert either(tiles) == "the 5-4, the 6-4 or the 5-5"
    assert in_language(either(tiles), "fr") == "le 5-4, le 6-4 ou le 5-5"
    assert in_language(both(["Ann", "Ben"]), "pt") == "Ann e Ben"
    assert either(["a"]) == both(["a"]) == "a"


def test_a_phrase_equals_its_english_and_outlives_copies() -> None:
    told = plural("1 tile", "{number} tiles", number=3)
    assert told == "3 tiles"
    assert hash(told) == hash("3 tiles")
    twin = copy.deepcopy(told)
    assert isinstance(twin, Phrase)
    assert (twin, twin.key, dict(twin.values)) == (told, told.key, dict(told.values))


def test_a_hostile_name_in_a_phrase_is_made_plain_in_every_language() -> None:
    said = plain(phrase("{name} knocks", name="\u202eevil\u202c" + "x" * 1000))
    assert isinstance(said, Phrase)
    assert in_language(said, "es").startswith("evilxxx")
    assert len(in_language(said, "es")) <= 310


def test_a_language_that_nobody_wrote_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"en, es, pt, fr, but got '\.\./secret'"):
        catalogue("../secret")
