"""Texts that come from people, made fit to be shown anywhere: no control characters, no endless names."""

from __future__ import annotations

import unicodedata

from engine.phrases import Phrase

MOST_NAME, MOST_WORDS = 40, 300
"""So many characters of a name, and of a sentence, are shown."""

# Joiners make letters of some scripts and pictures of people out of several characters.
_JOINERS = "\u200c\u200d"


def plain(text: str, most: int = MOST_WORDS) -> str:
    r"""Return a text on one line, not longer than *most*, without characters that would turn or hide their neighbours.

    Letters that are written from the right stay as they are; marks that force a direction on what follows go. A phrase
    stays one, and so do those in it.

    >>> plain("<b>Tom\u202e\x1b[31m\ud800</b>"), plain("abcdef", 4)
    ('<b>Tom[31m</b>', 'abc…')
    """
    if isinstance(text, Phrase):
        values = {name: plain(one) if isinstance(one, str) else one for name, one in text.values.items()}
        return Phrase(plain(str(text), most), text.key, values)
    # Only so much is looked at: a name may be as long as somebody likes.
    kept = "".join(_kept(one) for one in text[: 4 * most])
    return kept if len(kept) <= most else f"{kept[: most - 1]}…"


def names_of(players: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of players as they are shown."""
    return tuple(plain(name, MOST_NAME) for name in players)


def _kept(one: str) -> str:
    if one.isspace():
        return " "
    is_shown = unicodedata.category(one) not in ("Cc", "Cf", "Cs", "Co", "Cn") or one in _JOINERS
    return one if is_shown else ""
