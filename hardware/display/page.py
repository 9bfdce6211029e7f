"""Pages of scores, and their pure conversion to the look of a display and to bytes."""

from __future__ import annotations

import textwrap
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

_MAX_SCORES = 16


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """Line of a player or team.

    Attributes:
        name: Name as entered. Each display reduces it to characters that it can show.
        points: Current total.
        is_provisional: Whether the points depend on plays that were neither seen nor confirmed.
    """

    name: str
    points: int
    is_turn: bool = False
    is_provisional: bool = False


@dataclass(frozen=True, slots=True)
class DisplayPage:
    """Content of a score display.

    Attributes:
        scores: Lines clockwise from seat 0, at most 16.
        message: Last event or open question in words, or "".
    """

    scores: tuple[ScoreLine, ...] = ()
    message: str = ""

    def __post_init__(self) -> None:
        if len(self.scores) > _MAX_SCORES:
            raise ValueError(f"a page shows at most {_MAX_SCORES} scores, but got {len(self.scores)}")


# Longer texts are cut first. No display shows more, and a name may be a megabyte long.
_MAX_CHARACTERS = 200
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
    for character in text[:_MAX_CHARACTERS]:
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


DisplayLook: TypeAlias = tuple[str, ...]
"""Content of a display: the texts of its rows, digits or fields, reduced to characters that it can show."""

_BITS_PER_BYTE = 10  # 8N1: a start bit, eight data bits and a stop bit
_NS_PER_S = 1_000_000_000
# Allows for clock errors of a few percent, and for buffering in a USB adapter.
_SLACK = 1.1


@dataclass(frozen=True, slots=True)
class WireTiming:
    """Speed at which a display can receive data.

    Attributes:
        baud: Bits per second.
        buffer_bytes: Number of bytes that the display can buffer while it is busy.
        byte_ns: Maximum time that the display needs to process a byte.
        refresh_ns: Interval after which everything is sent again, in case the display was replugged unnoticed. None for
            never.
    """

    baud: int
    buffer_bytes: int
    byte_ns: int
    refresh_ns: int | None

    def __post_init__(self) -> None:
        if self.baud <= 0 or self.buffer_bytes <= 0:
            raise ValueError(f"baud and buffer_bytes must be above 0, but got {self.baud} and {self.buffer_bytes}")


@dataclass(frozen=True, slots=True)
class Burst:
    """Bytes sent together.

    Attributes:
        data: Bytes to send.
        busy_ns: Time that the display is busy after the last byte, in addition to `WireTiming.byte_ns` per byte.
    """

    data: bytes
    busy_ns: int = 0


class DisplayEncoder(ABC):
    """Encodes pages for one kind of display. Stateless."""

    @property
    @abstractmethod
    def wire(self) -> WireTiming:
        """Speed at which the display can receive data."""

    @property
    def setup(self) -> tuple[Burst, ...]:
        """Persistent settings, sent once per run because EEPROM wears out. Empty by default."""
        return ()

    @abstractmethod
    def look(self, page: DisplayPage, t_ns: int) -> DisplayLook:
        """Return the look of *page* at time *t_ns*. Content that does not fit on one screen alternates."""

    @abstractmethod
    def encode(self, look: DisplayLook, before: DisplayLook | None) -> tuple[Burst, ...]:
        """Return the data that changes the look *before* to *look*. *before* is None if it is unknown."""

    def is_lost(self, heard: bytes) -> bool:
        """Return True if bytes from the display show that it was restarted or lost data. By default always False."""
        return False


def paced(bursts: tuple[Burst, ...], wire: WireTiming) -> Iterator[tuple[bytes, int]]:
    """Yield chunks to send, each with the time in nanoseconds to wait after it.

    The display has processed each chunk before the next one is sent. No chunk exceeds its buffer, so the buffer cannot
    overflow.
    """
    per_byte_ns = max(_BITS_PER_BYTE * _NS_PER_S // wire.baud, wire.byte_ns)
    for burst in bursts:
        for begin in range(0, len(burst.data), wire.buffer_bytes):
            chunk = burst.data[begin : begin + wire.buffer_bytes]
            is_last = begin + wire.buffer_bytes >= len(burst.data)
            yield chunk, round(len(chunk) * per_byte_ns * _SLACK) + (burst.busy_ns if is_last else 0)


# Time for which each of several screens is shown.
_SCREEN_NS = 2_500_000_000
_MIN_CELL_COLUMNS = 8
_TURN = ">"
_MARK = "~"
_MARK_WITHOUT_TILDE = "*"
_TOO_LARGE = "#"


def screen_at(page: DisplayPage, columns: int, rows: int, t_ns: int, permitted: frozenset[str]) -> DisplayLook:
    """Return the rows shown at time *t_ns*, each with exactly *columns* characters.

    >>> screen_at(
    ...     DisplayPage((ScoreLine("Ann", 35, is_turn=True), ScoreLine("Ben", 5)), "Ann +15"),
    ...     16,
    ...     2,
    ...     0,
    ...     frozenset(map(chr, range(32, 126))),
    ... )
    ('>Ann  35 Ben   5', 'Ann +15         ')
    """
    screens = screens_of(page, columns, rows, permitted)
    return screens[t_ns // _SCREEN_NS % len(screens)]


def screens_of(page: DisplayPage, columns: int, rows: int, permitted: frozenset[str]) -> tuple[DisplayLook, ...]:
    """Return the screens of a page, at least one."""
    message = reduce_text(page.message, permitted)
    wrapped = textwrap.wrap(message, columns)
    # One score a line if they fit, else as many as fit, at 8 columns or more each.
    is_fitting = len(page.scores) <= rows - bool(message)
    per_line = 1 if is_fitting else max(1, columns // _MIN_CELL_COLUMNS)
    cells = [_cell(score, columns // per_line, permitted) for score in page.scores]
    lines = ["".join(cells[begin : begin + per_line]) for begin in range(0, len(cells), per_line)]
    if message and lines and len(lines) + len(wrapped) <= rows:
        return (_padded([*lines, *wrapped], columns, rows),)
    chunks = [lines[begin : begin + rows] for begin in range(0, len(lines), rows)]
    chunks += [wrapped[begin : begin + rows] for begin in range(0, len(wrapped), rows)]
    return tuple(_padded(chunk, columns, rows) for chunk in chunks or [[]])


def points_text(points: int, columns: int) -> str:
    """Return points in at most *columns* characters, or that many "#" if they do not fit.

    >>> points_text(-5, 3), points_text(12345, 4)
    ('-5', '####')
    """
    # Checked first, because Python refuses to convert numbers with thousands of digits to text.
    text = str(points) if abs(points) < 10**columns else ""
    return text if 0 < len(text) <= columns else _TOO_LARGE * columns


def provisional_mark(score: ScoreLine, permitted: frozenset[str]) -> str:
    """Return the mark before provisional points, or "" if the points are final.

    >>> provisional_mark(ScoreLine("Ann", 35, is_provisional=True), frozenset("~"))
    '~'
    """
    if not score.is_provisional:
        return ""
    return _MARK if _MARK in permitted else _MARK_WITHOUT_TILDE


def _cell(score: ScoreLine, width: int, permitted: frozenset[str]) -> str:
    """Return a score in *width* characters: turn mark, name, and right-aligned points."""
    points = provisional_mark(score, permitted) + points_text(score.points, width // 2)
    room = width - len(_TURN) - len(points) - 1
    name = reduce_text(score.name, permitted)[:room]
    return f"{_TURN if score.is_turn else ' '}{name:<{room}} {points}"


def _padded(lines: list[str], columns: int, rows: int) -> DisplayLook:
    padded = [*lines, *[""] * (rows - len(lines))]
    return tuple(f"{line:<{columns}}"[:columns] for line in padded)
