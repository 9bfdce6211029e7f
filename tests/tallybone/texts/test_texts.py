"""Every text has every translation, with the same values in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from tallybone.texts import LANGUAGES, TextEntry, catalogue
from tests.tallybone.texts.every_text import STATIC, every_text, files

OTHERS = tuple(one for one in LANGUAGES if one != "en")
# They say what comes in English: what can be agreed on.
OFFERING = ("game_field.js", "match_view.js", "option_fields.js")
HOLE = re.compile(r"\{(\w+)\}")


def forms(said: TextEntry) -> Iterator[tuple[str, str]]:
    yield from said.items() if isinstance(said, dict) else (("other", said),)


def faults(said: TextEntry, key: str) -> Iterator[str]:
    """What is wrong with a translation."""
    wanted = set(HOLE.findall(key))
    if isinstance(said, dict) and set(said) != {"one", "other"}:
        yield f"{key}: has the forms {sorted(said)}"
    for form, text in forms(said):
        found = set(HOLE.findall(text))
        # Who says "one tile" need not say the number.
        if found != wanted and not (form == "one" and found == wanted - {"number"}):
            yield f"{key}: {form} has {sorted(found)}"
        if not text.strip() or text != text.strip():
            yield f"{key}: {form} is empty, or has space around it"


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_is_translated(language: str) -> None:
    assert sorted(every_text() - catalogue(language).keys()) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_translation_is_of_a_text_that_nobody_says(language: str) -> None:
    assert sorted(catalogue(language).keys() - every_text()) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_translation_has_the_values_of_its_english(language: str) -> None:
    assert [fault for key, said in catalogue(language).items() for fault in faults(said, key)] == []


def test_a_translation_that_loses_a_value_would_be_found() -> None:
    assert list(faults("pasa", "{name} knocks")) == ["{name} knocks: other has []"]
    assert list(faults({"one": "una ficha"}, "{number} tiles"))


def test_texts_that_scripts_say_can_all_be_found() -> None:
    """What is said is a text, one of a table of such that `later` marks, or what the page offers to agree on."""
    for path in files("*.js"):
        if path.name not in ("say.js", *OFFERING):
            said = re.findall(r"\bsay\(\s*([^\"\s][^,)]*)", path.read_text())
            assert [one for one in said if not re.match(r"[A-Z_]+\[", one)] == [], path.name


def test_catalogues_are_sorted_and_said_once() -> None:
    for language in LANGUAGES:
        pairs = json.loads((STATIC.parents[1] / "texts" / f"{language}.json").read_text(), object_pairs_hook=list)
        keys = [key for key, _ in pairs]
        assert keys == sorted(set(keys))
