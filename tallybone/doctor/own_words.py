"""Sentences of which only those words are kept that the program itself has: whatever came from outside goes.

It is a list of what may stay, not of what must go: nobody can list all secrets, but the words of a program are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

GONE = "…"
"""Stands for what was taken out."""

_PACKAGES = ("engine", "vision", "hardware", "calibration", "tallybone")
_WORD = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"\w+")
_SHORT_NUMBER = re.compile(r"\d{1,4}(?:[a-z]{1,2})?", re.ASCII)
"""A measure; the page's PIN has six digits."""
_LEAST = 3
"""Shorter ones of the values outside are found in every other word."""


class OwnWords:
    """Takes out of sentences what the program does not say itself."""

    def __init__(self, known: frozenset[str], foreign: Iterable[str] = ()) -> None:
        """Keep *known* words, in small letters; a *foreign* value goes as a whole, whatever it is made of."""
        self._known = known
        self._foreign = sorted((one for one in foreign if len(one) > _LEAST), key=len, reverse=True)

    def kept(self, text: str) -> str:
        """Return a text without what came from outside.

        >>> OwnWords(frozenset({"mm", "at"}), ["no camera"]).kept("no camera: 12 mm at hunter2, PIN 123456")
        '…: 12 mm at …, … …'
        """
        for value in self._foreign:
            text = text.replace(value, GONE)
        return _TOKEN.sub(lambda found: found[0] if self._is_own(found[0]) else GONE, text)

    def is_kept(self, text: str) -> bool:
        """Return whether nothing has to be taken out."""
        return self.kept(text) == text

    def _is_own(self, token: str) -> bool:
        if _SHORT_NUMBER.fullmatch(token):
            return True
        return all(word in self._known for word in _WORD.findall(token.lower()))


@cache
def words_of_program() -> frozenset[str]:
    """Return every word in the sources of the program, in small letters: what it can say, it says with these."""
    root = Path(__file__).resolve().parents[2]
    files = (path for package in _PACKAGES for path in (root / package).rglob("*.py"))
    return frozenset(word for path in files for word in _WORD.findall(path.read_text(encoding="utf-8").lower()))
