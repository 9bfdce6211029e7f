"""Translations for the page and the program, in a gettext catalogue per language.

The msgid of a text is its English template, with {names} as placeholders. A translation is a template with the same
names. If it depends on the value `number`, it has the plural forms of its language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

import polib

from engine.phrases import Phrase

LANGUAGES = ("en", "es", "pt", "fr")
"""Available languages. The source language is English."""
TextEntry: TypeAlias = str | dict[str, str]
"""A translation: a text, or its plural forms "one" and "other"."""
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
# Spanish, Portuguese and French have a decimal comma.
_DECIMAL = re.compile(r"-?\d+\.\d+")
# Numbers with the singular in CLDR, as in browsers, for es, pt-PT and fr. In French, 0 is singular too.
_ONES: Mapping[str, frozenset[int]] = {"es": frozenset({1}), "pt": frozenset({1}), "fr": frozenset({0, 1})}

_FOLDER = Path(__file__).parent


def catalogue_path(language: str) -> Path:
    """Return the path of a language's gettext catalogue."""
    return _FOLDER / language / "LC_MESSAGES" / "tallybone.po"


@cache
def catalogue(language: str) -> dict[str, TextEntry]:
    """Return the translations for one of `LANGUAGES`, by their English key. Empty for English.

    The key of a text with plural forms is its English plural. Untranslated, fuzzy and obsolete texts are omitted.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, but got {language!r}")
    if language == "en":
        return {}
    entries = polib.pofile(str(catalogue_path(language))).translated_entries()
    return {entry.msgid_plural or entry.msgid: _translation(entry) for entry in entries}


def _translation(entry: polib.POEntry) -> TextEntry:
    if not entry.msgid_plural:
        return entry.msgstr
    one, other = (entry.msgstr_plural[form] for form in (0, 1))
    return {"one": one, "other": other}


def in_language(text: str, language: str) -> str:
    """Translate a phrase to one of `LANGUAGES`, or leave it in English. Other text is returned unchanged.

    >>> from engine.phrases import phrase
    >>> in_language(phrase("{name} knocks", name="Ann"), "es"), in_language("Ann", "es")
    ('Ann pasa', 'Ann')
    >>> in_language(phrase("{room} GB free in {folder}", room="7.5", folder="/srv"), "fr")
    '7,5 Go libres dans /srv'
    """
    if not isinstance(text, Phrase):
        return text
    if language == "en":
        return str(text)
    values, found = text.values, catalogue(language).get(text.key, text.key)
    if not isinstance(found, str):
        found = found["one" if values.get("number") in _ONES[language] else "other"]

    def fill(placeholder: re.Match[str]) -> str:
        value = values.get(placeholder[1], placeholder[0])
        if isinstance(value, Phrase):
            return in_language(value, language)
        text = str(value)
        return text.replace(".", ",") if _DECIMAL.fullmatch(text) else text

    return _PLACEHOLDER.sub(fill, found)  # In a single pass: placeholders in values are not expanded.
