"""The texts of page and program in every language: one catalogue for both, a JSON file for each language.

The key of a text is its English, with {names} where values go. A translation is a text with the same names, or, where
it depends on the value `number`, ``{"one": ..., "other": ...}`` with the plural forms of that language. `en.json` has
only those: all else is English already.
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
"""The languages that there are texts for; everything is written in English."""
TextEntry: TypeAlias = str | dict[str, str]
"""A translation: one text, or its plural forms."""
_HOLE = re.compile(r"\{(\w+)\}")
# The plural rules of CLDR for en, es, pt-PT and fr, as browsers have them: in French nothing counts like one.
_ONES: Mapping[str, frozenset[int]] = {
    "en": frozenset({1}),
    "es": frozenset({1}),
    "pt": frozenset({1}),
    "fr": frozenset({0, 1}),
}

_FOLDER = Path(__file__).parent


@cache
def catalogue(language: str) -> dict[str, TextEntry]:
    """Return the texts of one of `LANGUAGES`, by their English."""
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, but got {language!r}")
    texts: dict[str, TextEntry] = json.loads((_FOLDER / f"{language}.json").read_bytes())
    return texts


def in_language(text: str, language: str) -> str:
    """Return a phrase in one of `LANGUAGES`: in English where nobody has translated it; any other text as it is.

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

    def said(hole: re.Match[str]) -> str:
        one = values.get(hole[1], hole[0])
        return in_language(one, language) if isinstance(one, str) else str(one)

    return _HOLE.sub(said, found)  # in one go: a value is never taken for a hole
