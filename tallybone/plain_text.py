"""Sanitize text from people for display: remove control characters and limit its length."""

from __future__ import annotations

import unicodedata

from engine.phrases import Phrase

MAX_NAME = 40
MAX_TEXT = 300
"""Maximum number of characters displayed for a name and for a sentence."""

# Format characters that are kept. They are needed for letters of some scripts and for emoji of several characters.
_JOINERS = "\u200c\u200d"


def plain(text: str, most: int = MAX_TEXT) -> str:
    r"""Return a text on one line, cut to *most* characters, without control, most format, and unassigned characters.

    Right-to-left letters are kept, but marks that override the direction are removed. A `Phrase` is returned as a
    `Phrase`, with its values sanitized too.

    >>> plain("<b>Tom\u202e\x1b[31m\ud800</b>"), plain("abcdef", 4)
    ('<b>Tom[31m</b>', 'abc…')
    """
    if isinstance(text, Phrase):
        values = {name: plain(value) if isinstance(value, str) else value for name, value in text.values.items()}
        return Phrase(plain(str(text), most), text.key, values)
    # Look at only part of a long text, because names can have any length.
    kept = "".join(_kept(character) for character in text[: 4 * most])
    return kept if len(kept) <= most else f"{kept[: most - 1]}…"


def capitalized(text: str) -> str:
    """Return a text of its own, such as a choice, with a capital first letter, unless it starts with a name.

    >>> capitalized(Phrase("something else")), capitalized(Phrase("de Vries is out", "{name} is out"))
    ('Something else', 'de Vries is out')
    """
    is_name = isinstance(text, Phrase) and text.key.startswith("{")
    return text if is_name else text[:1].upper() + text[1:]


def names_of(players: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of players for display."""
    return tuple(plain(name, MAX_NAME) for name in players)


def _kept(character: str) -> str:
    if character.isspace():
        return " "
    is_shown = unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn") or character in _JOINERS
    return character if is_shown else ""
