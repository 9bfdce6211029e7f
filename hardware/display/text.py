"""Texts reduced to the characters that a display can show. Whatever is left cannot be taken for a command."""

from __future__ import annotations

import unicodedata

# Longer texts are cut before anything else looks at them: no display shows more, and a name may be a megabyte long.
_MOST_CHARACTERS = 200
_UNKNOWN = "?"
# Letters and signs that Unicode does not take apart.
_WRITTEN_OUT = {
    "Æ": "AE", "æ": "ae", "Ø": "O", "ø": "o", "Œ": "OE", "œ": "oe", "ß": "ss", "ẞ": "SS", "Ł": "L", "ł": "l", "Đ": "D",
    "đ": "d", "Ð": "D", "ð": "d", "Þ": "Th", "þ": "th", "ı": "i", "–": "-", "—": "-", "−": "-", "‘": "'", "’": "'",
    "“": "'", "”": "'", "„": "'", "«": "'", "»": "'", "×": "x", "·": ".", "•": "*", '"': "'", "|": "/", "\\": "/",
    "~": "-", "[": "(", "]": ")", "{": "(", "}": ")", "`": "'",
}  # fmt: skip

# HD44780 with the usual character set (A00) shows a yen sign for \ and an arrow for ~; | begins a setting of a SerLCD.
LCD_CHARACTERS = frozenset(map(chr, range(0x20, 0x7E))) - {"|", "\\"}
# " ends a text of a Nextion, \ begins an escape there.
NEXTION_CHARACTERS = frozenset(map(chr, range(0x20, 0x7F))) - {'"', "\\"}
TERMINAL_CHARACTERS = frozenset(map(chr, range(0x20, 0x7F)))


def reduce_text(text: str, permitted: frozenset[str]) -> str:
    r"""Return a text with accents taken off, gaps as single blanks, and a question mark for what cannot be shown.

    >>> reduce_text("José\t|\x1b[2J Öl", LCD_CHARACTERS)
    'Jose /[2J Ol'
    """
    shown: list[str] = []
    for character in text[:_MOST_CHARACTERS]:
        if character in permitted:
            shown.append(character)
        else:
            shown.extend(_replaced(character, permitted))
    return " ".join("".join(shown).split())


def _replaced(character: str, permitted: frozenset[str]) -> str:
    """Return what stands for a character that cannot be shown."""
    if character in _WRITTEN_OUT:
        return "".join(c for c in _WRITTEN_OUT[character] if c in permitted) or _UNKNOWN
    if character.isspace():
        return " "
    kind = unicodedata.category(character)
    if kind.startswith("M") or kind in ("Cc", "Cf"):  # accents of their own, controls, marks of direction
        return ""
    plain = "".join(c for c in unicodedata.normalize("NFKD", character) if c in permitted)
    return plain[:4] or _UNKNOWN
