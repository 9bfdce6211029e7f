"""Tests of the gettext catalogues: complete, current, and with the placeholders of the English."""

from __future__ import annotations

import re
from collections.abc import Iterator

import polib
import pytest

from tallybone.texts import LANGUAGES, catalogue, catalogue_path
from tests.tallybone.texts.every_text import every_text, files, updated

OTHERS = tuple(language for language in LANGUAGES if language != "en")
# These translate texts that arrive in English: the options of a match.
OFFERING = ("game_field.js", "match_view.js", "option_fields.js")
PLACEHOLDER = re.compile(r"\{(\w+)\}")


def faults(entry: polib.POEntry) -> Iterator[str]:
    """Yield the differences in placeholders and space between a text and its translation."""
    expected = set(PLACEHOLDER.findall(entry.msgid_plural or entry.msgid))
    if set(entry.msgstr_plural) != ({0, 1} if entry.msgid_plural else set()):
        yield f"{entry.msgid}: has the plural forms {sorted(entry.msgstr_plural)}"
    for form, text in entry.msgstr_plural.items() or ((1, entry.msgstr),):
        found = set(PLACEHOLDER.findall(text))
        # A singular may omit the number.
        if found != expected and not (form == 0 and found == expected - {"number"}):
            yield f"{entry.msgid}: form {form} has {sorted(found)}"
        if not text.strip() or text != text.strip():
            yield f"{entry.msgid}: form {form} is empty or has outer space"


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_is_translated(language: str) -> None:
    assert sorted({text.plural or text.key for text in every_text()} - catalogue(language).keys()) == []


@pytest.mark.parametrize("language", OTHERS)
def test_catalogues_are_current(language: str) -> None:
    """`make texts` would not change them."""
    assert catalogue_path(language).read_text("utf-8") == str(updated(language))


@pytest.mark.parametrize("language", OTHERS)
def test_translations_have_the_placeholders_of_the_english(language: str) -> None:
    file = polib.pofile(str(catalogue_path(language)), check_for_duplicates=True)
    assert [fault for entry in file for fault in faults(entry)] == []


def test_a_translation_that_loses_a_value_is_found() -> None:
    assert list(faults(polib.POEntry(msgid="{name} knocks", msgstr="pasa"))) == ["{name} knocks: form 1 has []"]
    assert list(faults(polib.POEntry(msgid="1 tile", msgid_plural="{number} tiles", msgstr_plural={0: "una ficha"})))


def test_scripts_translate_literals_only() -> None:
    """Exceptions: a table of texts marked with `later`, and options that arrive in English."""
    for path in files("*.js"):
        if path.name not in ("say.js", *OFFERING):
            arguments = re.findall(r"\bsay\(\s*([^\"\s][^,)]*)", path.read_text())
            assert [argument for argument in arguments if not re.match(r"[A-Z_]+\[", argument)] == [], path.name
