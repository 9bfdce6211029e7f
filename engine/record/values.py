"""Values of a game record (DGR): tags, hands, turns, moves and notes.

The values represent the text of a record. Its moves may be illegal. Constructors reject values that cannot be written,
or would change when they are parsed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from engine.errors import EngineError
from engine.state.events import Action, Adjust, Boneyard, Domino, HandEnd, MatchClose, Rename, Seat, Swap
from engine.tiles import HIGHEST_PIPS, Tile

VERSION = "1"  # Version of the format, the value of the tag DGR.
MAX_NUMBER = 999_999  # Six digits: far above the scores of any domino match.
TAG_ORDER = ("DGR", "Rules", "Options", "Seats", "Set", "Date", "Event", "Source", "Result")
SEATS = "ABCDEFGHIJKLMNOP"

# Parts of the grammar, shared with the parser.
UNPRINTABLE = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"  # For [...]: control characters, line ends, surrogates.
PIPS = "(?:" + "|".join(str(pips) for pips in range(HIGHEST_PIPS, -1, -1)) + ")"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*+")
KEY_VALUE = re.compile(rf"[^\s;#{UNPRINTABLE}]++")
END_TEXT = re.compile(rf"[^;#{UNPRINTABLE}]*+")
NOTE_TEXT = re.compile(rf"[^(){UNPRINTABLE}]*+")
PORT = re.compile(rf"(?:{PIPS}-{PIPS}'?:[WENS]|[WENS1-6*])")

BIDI_MARKS = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # They turn the text around them.
_TAG_TEXT = re.compile(rf"[^{UNPRINTABLE}]*+")
_UNWRITABLE_IN_NOTE = re.compile(rf"[(){UNPRINTABLE}]")
_NOTES: dict[str, tuple[re.Pattern[str], Callable[[re.Match[str], Seat, str], Action]]] = {
    "points=": (
        re.compile("([+-]?[0-9]{1,6})(?: (.*))?"),
        lambda note, seat, _: Adjust(seat, int(note[1]), note[2] or ""),
    ),
    "yard=": (re.compile("([0-9]{1,3})"), lambda note, *_: Boneyard(int(note[1]))),
    "name=": (re.compile("(.+)"), lambda note, seat, _: Rename(seat, note[1])),
    "swap=": (re.compile("([A-P])"), lambda note, seat, letters: Swap(seat, Seat(letters.find(note[1])))),
    "out": (re.compile(""), lambda _, seat, letters: Domino(seat)),
    "end": (re.compile(""), lambda *_: HandEnd()),
    "close": (re.compile(""), lambda *_: MatchClose()),
}
"""Actions written as notes: the rest of the note, and the action of a seat, given the letters of all seats."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a text. Lines and columns count from 1. Columns are in characters."""

    line: int
    column: int


NOWHERE = Place(0, 0)
"""Place of a value that was not parsed from a text."""


class RecordError(EngineError):
    """A text is not a game record, or the record is inconsistent.

    Attributes:
        line: Line of the text, from 1.
        column: Column in characters, from 1.
    """

    def __init__(self, place: Place, problem: str) -> None:
        super().__init__(f"line {place.line}, column {place.column}: {problem}")
        self.line = place.line
        self.column = place.column


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A part of a record with its place in the text. Comparisons ignore the place."""

    place: Place = field(default=NOWHERE, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in self.__slots__:  # the fields of the class itself
            if name in _REQUIRED:
                _REQUIRED[name](getattr(self, name))


@dataclass(frozen=True, slots=True)
class RecordTile(_Placed):
    """A tile as written, *inner* number against the layout, if any. *second* is the mark ' for the second copy."""

    inner: int
    outer: int
    second: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _Placed.__post_init__(self)
        if not (0 <= self.inner <= HIGHEST_PIPS and 0 <= self.outer <= HIGHEST_PIPS):
            raise EngineError(f"a tile needs numbers of 0 to {HIGHEST_PIPS}, got {self.inner} and {self.outer}")

    @property
    def tile(self) -> Tile:
        """The tile, regardless of its orientation and copy."""
        return Tile.of(self.inner, self.outer)

    @property
    def tile_text(self) -> str:
        """Text of the tile, inner number first."""
        return f"{self.inner}-{self.outer}" + ("'" if self.second else "")


@dataclass(frozen=True, slots=True)
class TileMove(RecordTile):
    """`6-3@W`: a tile laid at *port*, which is None for the first tile of the hand or if no port is written."""

    port: str | None = None


@dataclass(frozen=True, slots=True)
class StackMove(RecordTile):
    """`2-4'^E`: a tile stacked on its copy at *port*."""

    port: str


@dataclass(frozen=True, slots=True)
class DrawMove(_Placed):
    """`d`, `d2!`, `d<2-0>`: tiles drawn. *forced* means that another tile forced it. *tiles* are those known."""

    count: int = 1
    forced: bool = field(default=False, kw_only=True)
    tiles: tuple[RecordTile, ...] | None = None

    def __post_init__(self) -> None:
        _Placed.__post_init__(self)
        if self.tiles is not None and not 1 <= len(self.tiles) <= self.count:
            raise EngineError(f"expected 1 to {self.count} tiles in a draw of {self.count}, found {len(self.tiles)}")


@dataclass(frozen=True, slots=True)
class KnockMove(_Placed):
    """`k`: a knock."""


@dataclass(frozen=True, slots=True)
class DeclineMove(_Placed):
    """`n`: an extra turn declined."""


@dataclass(frozen=True, slots=True)
class CalledMove(_Placed):
    """`=10`: points called or scored."""

    points: int


@dataclass(frozen=True, slots=True)
class ForfeitedMove(_Placed):
    """`~5`: points forfeited because they were not called."""

    points: int


@dataclass(frozen=True, slots=True)
class BonusMove(_Placed):
    """`+20`: points for the hand."""

    points: int


@dataclass(frozen=True, slots=True)
class TakenMove(_Placed):
    """`xC10`: points taken from the player at *seat*."""

    seat: str
    points: int


@dataclass(frozen=True, slots=True)
class ShowMove(_Placed):
    """`H<4-4 6-6>`: a hand that was shown."""

    tiles: tuple[RecordTile, ...]


@dataclass(frozen=True, slots=True)
class ShowPipsMove(_Placed):
    """`h12`: a hand with only its pip total known."""

    pips: int


@dataclass(frozen=True, slots=True)
class RedealMove(_Placed):
    """`redeal`: the hand is dealt again."""


@dataclass(frozen=True, slots=True)
class UndoMove(_Placed):
    """`u`, `u2`: the last *count* moves are undone."""

    count: int = 1


@dataclass(frozen=True, slots=True)
class NoteMove(_Placed):
    """`(t=3.1 c=.99)`: a note. Programs write t (seconds), c (confidence) and s (source)."""

    text: str

    def __post_init__(self) -> None:
        _require_match(NOTE_TEXT, self.text, "a note without parentheses and controls")
        _require_stripped(self.text, "a note")


PlayerMove = TileMove | StackMove | DrawMove | KnockMove | DeclineMove
"""A move that a player chooses in their turn."""

_PointsMove = CalledMove | ForfeitedMove | TakenMove | BonusMove
Move = PlayerMove | _PointsMove | ShowMove | ShowPipsMove | RedealMove | UndoMove | NoteMove


@dataclass(frozen=True, slots=True)
class Tag(_Placed):
    """`[Rules "bones"]`: a tag for the whole record."""

    name: str
    text: str

    def __post_init__(self) -> None:
        _require_match(NAME, self.name, "the name of a tag")
        _require_match(_TAG_TEXT, self.text, "a text without controls")


@dataclass(frozen=True, slots=True)
class RecordTurn(_Placed):
    """Consecutive moves of one seat. *seat* is a letter from A to P."""

    seat: str
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordHand(_Placed):
    """A hand.

    Attributes:
        number: Number of the hand. Numbers in a record may be out of order.
        keys: Names and values in the first line, in the order given.
        turns: Turns in order.
        closed: Whether the hand has `#end`.
        end: Text after `#end`.
    """

    number: int
    keys: tuple[tuple[str, str], ...] = ()
    turns: tuple[RecordTurn, ...] = ()
    closed: bool = field(default=False, kw_only=True)
    end: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        _require_number(self.number, "number")
        _require_match(END_TEXT, self.end, 'a text without "#", ";" and controls')
        _require_stripped(self.end, "the end of a hand")
        if self.end and not self.closed:
            raise EngineError(f'a hand that is not closed has no end, got "{self.end}"')
        for name, value in self.keys:
            _require_match(NAME, name, "the name of a key")
            _require_match(KEY_VALUE, value, "a value without blanks")
        _require_once([name for name, _ in self.keys], "key")

    def key(self, name: str) -> str | None:
        """Return the value of the key *name*, or None if it is missing."""
        return next((value for known, value in self.keys if known == name), None)


@dataclass(frozen=True, slots=True)
class Record:
    """A game record.

    Attributes:
        tags: Tags with unique names, including `DGR`. Sorted by TAG_ORDER, with others last in the order given.
        hands: Hands in the order given.
    """

    tags: tuple[Tag, ...]
    hands: tuple[RecordHand, ...] = ()

    def __post_init__(self) -> None:
        _require_once([tag.name for tag in self.tags], "tag")
        if self.tag("DGR") != VERSION:
            raise EngineError(f'a record needs the tag [DGR "{VERSION}"], got {self.tag("DGR")!r}')
        object.__setattr__(
            self, "tags", tuple(sorted(self.tags, key=lambda tag: (*TAG_ORDER, tag.name).index(tag.name)))
        )

    def tag(self, name: str) -> str | None:
        """Return the text of the tag *name*, or None if it is missing."""
        return next((tag.text for tag in self.tags if tag.name == name), None)


def _writable(text: str) -> str:
    """Return *text* without characters that a note cannot hold."""
    return _UNWRITABLE_IN_NOTE.sub(" ", BIDI_MARKS.sub("", text))


def _require_number(value: int, name: str, *, least: int = 0) -> None:
    if not least <= value <= MAX_NUMBER:
        raise EngineError(f"{name} must be {least} to {MAX_NUMBER}, got {value}")


def _require_seat(seat: str) -> None:
    if len(seat) != 1 or seat not in SEATS:
        raise EngineError(f'expected a seat from A to P, got "{seat}"')


def _require_match(pattern: re.Pattern[str], text: str, expected: str) -> None:
    if pattern.fullmatch(text) is None:
        raise EngineError(f"expected {expected}, got {text!r}")


def _require_stripped(text: str, name: str) -> None:
    if text != text.strip(" "):
        raise EngineError(f'{name} has no blanks around it, got "{text}"')


def _require_once(names: list[str], kind: str) -> None:
    if len(set(names)) != len(names):
        raise EngineError(f"expected each {kind} once, got {', '.join(names)}")


_REQUIRED: dict[str, Callable[[Any], None]] = {
    "count": partial(_require_number, name="count", least=1),
    "pips": partial(_require_number, name="pips"),
    "points": partial(_require_number, name="points"),
    "port": lambda port: None if port is None else _require_match(PORT, port, "a port"),
    "seat": _require_seat,
}
"""Checks of the fields of a move by name."""

STANDS = NoteMove("stands")
"""The note that accepts the previous move despite its problems."""


def action_of(note: NoteMove, seat: Seat, letters: str = SEATS) -> Action | None:
    """Return the action that a note in a turn of *seat* stands for, or None for a note without an effect.

    *letters* are those of the seats, in order.

    Some actions have no move of their own and are written as notes. Other notes, such as `(t=3.1 c=.99)`, have no
    effect on the game.

    >>> action_of(NoteMove("points=-5 peeked"), Seat(1))
    Adjust(seat=1, points=-5, why='peeked')
    >>> action_of(NoteMove("t=3.1 c=.99"), Seat(1)) is None
    True
    """
    name, equals, rest = note.text.partition("=")
    if name + equals not in _NOTES:
        return None
    form, action = _NOTES[name + equals]
    found = form.fullmatch(rest)
    return None if found is None else action(found, seat, letters)


def note_of(action: Action) -> NoteMove | None:
    """Return the note for *action*, or None if it is not written as a note or adjusts by more than 999,999 points.

    >>> note_of(Adjust(Seat(1), -5, "peeked"))
    NoteMove(text='points=-5 peeked')
    """
    match action:
        case Adjust(points=points, why=why) if abs(points) <= MAX_NUMBER:
            return NoteMove(f"points={points} {_writable(why)}".strip(" "))
        case Boneyard(tiles=tiles):
            return NoteMove(f"yard={tiles}")
        case Rename(name=name):
            return NoteMove(f"name={_writable(name).strip() or '?'}")
        case Swap(other=other):
            return NoteMove(f"swap={SEATS[other]}")
        case Domino():
            return NoteMove("out")
        case HandEnd():
            return NoteMove("end")
        case MatchClose():
            return NoteMove("close")
        case _:
            return None
