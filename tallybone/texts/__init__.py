"""The texts of page and program in every language: one catalogue for both, a JSON file for each language.

The key of a text is its English, with {names} where values go. A translation is a text with the same names, or, where
it depends on the value `number`, ``{"one": ..., "other": ...}`` with the plural forms of that language. `en.json` has
only those: all else is English already.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TypeAlias

LANGUAGES = ("en", "es", "pt", "fr")
"""The languages that there are texts for; English is what everything is written in."""

Said: TypeAlias = str | dict[str, str]
"""A translation: one text, or its plural forms."""

_FOLDER = Path(__file__).parent


@cache
def catalogue(language: str) -> dict[str, Said]:
    """Return the texts of one of `LANGUAGES`, by their English."""
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, but got {language!r}")
    texts: dict[str, Said] = json.loads((_FOLDER / f"{language}.json").read_bytes())
    return texts
