"""Translations for the page and the program, in a JSON file per language.

The key of a text is its English template, with {names} as placeholders. A translation is a template with the same
names. If it depends on the value `number`, it is ``{"one": ..., "other": ...}`` with the plural forms of the language.
`en.json` contains only those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

from engine.phrases import Phrase

LANGUAGES = ("en", "es", "pt", "fr")
"""Available languages. The source language is English."""
TextEntry: TypeAlias = str | dict[str, str]
"""A translation: a text, or its plural forms."""
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
# Numbers with the singular in CLDR, as in browsers, for en, es, pt-PT and fr. In French, 0 is singular too.
_ONES: Mapping[str, frozenset[int]] = {
    "en": frozenset({1}),
    "es": frozenset({1}),
    "pt": frozenset({1}),
    "fr": frozenset({0, 1}),
}

_FOLDER = Path(__file__).parent


@cache
def catalogue(language: str) -> dict[str, TextEntry]:
    """Return the translations for one of `LANGUAGES`, by their English key."""
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, but got {language!r}")
    texts: dict[str, TextEntry] = json.loads((_FOLDER / f"{language}.json").read_bytes())
    return texts


def in_language(text: str, language: str) -> str:
    """Translate a phrase to one of `LANGUAGES`, or leave it in English. Other text is returned unchanged.

    >>> from engine.phrases import phrase
    >>> in_language(phrase("{name} knocks", name="Ann"), "es"), in_language("Ann", "es")
    ('Ann pasa', 'Ann')
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
        return in_language(value, language) if isinstance(value, str) else str(value)

    return _PLACEHOLDER.sub(fill, found)  # In a single pass: placeholders in values are not expanded.
