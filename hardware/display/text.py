"""Reduce texts to characters that a display can show and does not interpret as commands."""

from __future__ import annotations

import unicodedata

# Longer texts are cut first. No display shows more, and a name may be a megabyte long.
_MOST_CHARACTERS = 200
_UNKNOWN = "?"
# Characters without a Unicode decomposition.
_WRITTEN_OUT = {
    "Æ": "AE", "æ": "ae", "Ø": "O", "ø": "o", "Œ": "OE", "œ": "oe", "ß": "ss", "ẞ": "SS", "Ł": "L", "ł": "l", "Đ": "D",
    "đ": "d", "Ð": "D", "ð": "d", "Þ": "Th", "þ": "th", "ı": "i", "–": "-", "—": "-", "−": "-", "‘": "'", "’": "'",
    "“": "'", "”": "'", "„": "'", "«": "'", "»": "'", "×": "x", "·": ".", "•": "*", '"': "'", "|": "/", "\\": "/",
    "~": "-", "[": "(", "]": ")", "{": "(", "}": ")", "`": "'",
}  # fmt: skip

# HD44780 with the usual character set (A00) shows a yen sign for \ and an arrow for ~. A SerLCD interprets |.
LCD_CHARACTERS = frozenset(map(chr, range(0x20, 0x7E))) - {"|", "\\"}
# In a Nextion text " is the terminator and \ the escape character.
NEXTION_CHARACTERS = frozenset(map(chr, range(0x20, 0x7F))) - {'"', "\\"}
TERMINAL_CHARACTERS = frozenset(map(chr, range(0x20, 0x7F)))


def reduce_text(text: str, permitted: frozenset[str]) -> str:
    r"""Return a text without accents, with whitespace collapsed, and with "?" for unsupported characters.

    Everything after the first 200 characters is dropped.

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
    """Return the replacement for an unsupported character, of up to four characters."""
    if character in _WRITTEN_OUT:
        return "".join(c for c in _WRITTEN_OUT[character] if c in permitted) or _UNKNOWN
    if character.isspace():
        return " "
    kind = unicodedata.category(character)
    if kind.startswith("M") or kind in ("Cc", "Cf"):  # combining accents, control and formatting characters
        return ""
    plain = "".join(c for c in unicodedata.normalize("NFKD", character) if c in permitted)
    return plain[:4] or _UNKNOWN
