"""Sentences of the program in the language of who reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.phrases import Phrase, Value
from tallybone.texts import catalogue

_HOLE = re.compile(r"\{(\w+)\}")
# The plural rules of CLDR for en, es, pt-PT and fr, as browsers have them: in French nothing counts like one.
_ONES: Mapping[str, frozenset[int]] = {
    "en": frozenset({1}),
    "es": frozenset({1}),
    "pt": frozenset({1}),
    "fr": frozenset({0, 1}),
}


def in_language(text: str, language: str) -> str:
    """Return a phrase in one of `LANGUAGES`; English where nobody has translated it, and what is no phrase as it is.

    >>> from engine.phrases import phrase
    >>> in_language(phrase("{name} knocks", name="Ann"), "es"), in_language("Ann", "es")
    ('Ann pasa', 'Ann')
    """
    if not isinstance(text, Phrase):
        return text
    if language == "en":
        return str(text)
    found = catalogue(language).get(text.key, text.key)
    return _filled(found if isinstance(found, str) else _form(found, text.values, language), text.values, language)


def _form(forms: Mapping[str, str], values: Mapping[str, Value], language: str) -> str:
    """Return the form that goes with the value `number`."""
    return forms["one"] if values.get("number") in _ONES[language] else forms["other"]


def _filled(template: str, values: Mapping[str, Value], language: str) -> str:
    """Return a text with its holes filled in; what a value says is never taken for a hole."""

    def said(hole: re.Match[str]) -> str:
        one = values.get(hole[1], hole[0])
        return in_language(one, language) if isinstance(one, str) else str(one)

    return _HOLE.sub(said, template)
