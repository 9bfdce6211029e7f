"""A written game record (DGR) as values: what stands in the text, before anybody asks whether it is a legal game."""

import re
from dataclasses import dataclass, field

from engine.errors import EngineError
from engine.tiles import HIGHEST_PIPS

VERSION = "1"  # of the format, as the tag DGR says it
MAX_NUMBER = 999_999  # six digits: no domino match comes near, and no number in a file can cost time
TAG_ORDER = ("DGR", "Rules", "Options", "Seats", "Set", "Date", "Event", "Source", "Result")
SEATS = "ABCDEFGHIJKLMNOP"

# Pieces of the grammar that reading and checking share.
UNPRINTABLE = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"  # for [...]: controls, line ends, halves of a character
NAME = r"[A-Za-z][A-Za-z0-9_]*+"
KEY_VALUE = rf"[^\s;#{UNPRINTABLE}]++"
END_TEXT = rf"[^;#{UNPRINTABLE}]*+"
NOTE_TEXT = rf"[^(){UNPRINTABLE}]*+"
PIPS = "(?:" + "|".join(str(pips) for pips in range(HIGHEST_PIPS, -1, -1)) + ")"
PORT = rf"(?:{PIPS}-{PIPS}'?:[WENS]|[WENS1-6*])"

_NAME = re.compile(NAME)
_TAG_TEXT = re.compile(rf"[^{UNPRINTABLE}]*+")
_KEY_VALUE = re.compile(KEY_VALUE)
_END_TEXT = re.compile(END_TEXT)
_NOTE_TEXT = re.compile(NOTE_TEXT)
_PORT = re.compile(PORT)


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a text, both counted from 1, columns in characters."""

    line: int
    column: int


NOWHERE = Place(0, 0)
"""The place of what was not read from a text."""


class RecordError(EngineError):
    """A text that is no game record.

    Attributes:
        line: Line of the text, from 1.
        column: Column in characters, from 1.
    """

    def __init__(self, place: Place, problem: str) -> None:
        """Say *problem* and where it is."""
        super().__init__(f"line {place.line}, column {place.column}: {problem}")
        self.line = place.line
        self.column = place.column


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """What stands somewhere in a text; two that say the same are equal wherever they stand."""

    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class _Tiled(_Placed):
    """A tile as it was written; *inner* touches the layout, *second* is the mark ' of the second set."""

    inner: int
    outer: int
    second: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse numbers that no tile has."""
        if not (0 <= self.inner <= HIGHEST_PIPS and 0 <= self.outer <= HIGHEST_PIPS):
            raise EngineError(f"a tile needs numbers of 0 to {HIGHEST_PIPS}, got {self.inner} and {self.outer}")

    @property
    def tile_text(self) -> str:
        """The tile alone, inner number first."""
        return f"{self.inner}-{self.outer}" + ("'" if self.second else "")


@dataclass(frozen=True, slots=True)
class _Numbered(_Placed):
    """A move that is a number of points."""

    points: int

    def __post_init__(self) -> None:
        """Refuse what cannot be written."""
        _require_number(self.points, "points")


@dataclass(frozen=True, slots=True)
class RecordTile(_Tiled):
    """A tile in `<` and `>`; which number comes first says nothing there, but is kept."""


@dataclass(frozen=True, slots=True)
class TileMove(_Tiled):
    """`6-3@W`: a tile laid at *port*, None for the first tile of the hand."""

    port: str | None = None

    def __post_init__(self) -> None:
        """Refuse numbers and ports that cannot be written."""
        _Tiled.__post_init__(self)
        if self.port is not None:
            _require_match(_PORT, self.port, "a port")


@dataclass(frozen=True, slots=True)
class StackMove(_Tiled):
    """`2-4'^E`: a tile laid on the equal one at *port*."""

    port: str

    def __post_init__(self) -> None:
        """Refuse numbers and ports that cannot be written."""
        _Tiled.__post_init__(self)
        _require_match(_PORT, self.port, "a port")


@dataclass(frozen=True, slots=True)
class DrawMove(_Placed):
    """`d`, `d2!`, `d<2-0>`: tiles drawn; *forced* by another player, *tiles* as far as they are known, else None."""

    count: int = 1
    forced: bool = field(default=False, kw_only=True)
    tiles: tuple[RecordTile, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse a draw of nothing, and more tiles than were drawn."""
        _require_number(self.count, "count", least=1)
        if self.tiles is not None and not 1 <= len(self.tiles) <= self.count:
            raise EngineError(f"tiles must be None or 1 to {self.count}, got {len(self.tiles)}")


@dataclass(frozen=True, slots=True)
class KnockMove(_Placed):
    """`k`: knocked."""


@dataclass(frozen=True, slots=True)
class DeclineMove(_Placed):
    """`n`: an extra turn was not taken."""


@dataclass(frozen=True, slots=True)
class CalledMove(_Numbered):
    """`=10`: points called, or credited."""


@dataclass(frozen=True, slots=True)
class ForfeitedMove(_Numbered):
    """`~5`: points lost because nobody called them."""


@dataclass(frozen=True, slots=True)
class BonusMove(_Numbered):
    """`+20`: points of the hand."""


@dataclass(frozen=True, slots=True)
class TakenMove(_Placed):
    """`xC10`: points taken from the player in *seat*."""

    seat: str
    points: int

    def __post_init__(self) -> None:
        """Refuse what cannot be written."""
        _require_seat(self.seat)
        _require_number(self.points, "points")


@dataclass(frozen=True, slots=True)
class ShowMove(_Placed):
    """`H<4-4 6-6>`: a hand laid open."""

    tiles: tuple[RecordTile, ...]


@dataclass(frozen=True, slots=True)
class ShowPipsMove(_Placed):
    """`h12`: of a hand, only its pips are known."""

    pips: int

    def __post_init__(self) -> None:
        """Refuse what cannot be written."""
        _require_number(self.pips, "pips")


@dataclass(frozen=True, slots=True)
class RedealMove(_Placed):
    """`redeal`: everybody gives the tiles back."""


@dataclass(frozen=True, slots=True)
class UndoMove(_Placed):
    """`u`, `u2`: the last *count* moves are taken back."""

    count: int = 1

    def __post_init__(self) -> None:
        """Refuse to undo nothing."""
        _require_number(self.count, "count", least=1)


@dataclass(frozen=True, slots=True)
class NoteMove(_Placed):
    """`(t=3.1 c=.99)`: a machine's note: t seconds, c confidence, s source."""

    text: str

    def __post_init__(self) -> None:
        """Refuse text that would end the note, or come back different."""
        _require_match(_NOTE_TEXT, self.text, "a note without parentheses and controls")
        _require_stripped(self.text, "a note")


Move = (
    TileMove
    | StackMove
    | DrawMove
    | KnockMove
    | DeclineMove
    | CalledMove
    | ForfeitedMove
    | TakenMove
    | BonusMove
    | ShowMove
    | ShowPipsMove
    | RedealMove
    | UndoMove
    | NoteMove
)


@dataclass(frozen=True, slots=True)
class Tag(_Placed):
    """`[Rules "bones"]`: something said about the whole record."""

    name: str
    text: str

    def __post_init__(self) -> None:
        """Refuse what cannot be written."""
        _require_match(_NAME, self.name, "the name of a tag")
        _require_match(_TAG_TEXT, self.text, "a text without controls")


@dataclass(frozen=True, slots=True)
class RecordTurn(_Placed):
    """What one player did in one go; *seat* is a letter, A to P."""

    seat: str
    moves: tuple[Move, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a seat that does not exist."""
        _require_seat(self.seat)


@dataclass(frozen=True, slots=True)
class RecordHand(_Placed):
    """One deal.

    Attributes:
        number: What it is called; nothing says that hands are numbered in order.
        keys: Names and values of its first line, in the order given.
        turns: Who did what, in order.
        closed: Whether `#end` was written.
        end: What was written after `#end`.
    """

    number: int
    keys: tuple[tuple[str, str], ...] = ()
    turns: tuple[RecordTurn, ...] = ()
    closed: bool = field(default=False, kw_only=True)
    end: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Refuse what cannot be written, or would come back different."""
        _require_number(self.number, "number")
        _require_match(_END_TEXT, self.end, 'a text without "#", ";" and controls')
        _require_stripped(self.end, "the end of a hand")
        if self.end and not self.closed:
            raise EngineError(f'a hand that is not closed has no end, got "{self.end}"')
        for name, value in self.keys:
            _require_match(_NAME, name, "the name of a key")
            _require_match(_KEY_VALUE, value, "a value without blanks")
        _require_once([name for name, _ in self.keys], "key")

    def key(self, name: str) -> str | None:
        """Return the value of the key *name*, None if it was not given."""
        return next((value for known, value in self.keys if known == name), None)


@dataclass(frozen=True, slots=True)
class Record:
    """A whole record.

    Attributes:
        tags: Each name once, `DGR` among them; kept in TAG_ORDER, others after those in the order given.
        hands: In the order given.
    """

    tags: tuple[Tag, ...]
    hands: tuple[RecordHand, ...] = ()

    def __post_init__(self) -> None:
        """Put the tags in order, and refuse a record of another version."""
        _require_once([tag.name for tag in self.tags], "tag")
        if self.tag("DGR") != VERSION:
            raise EngineError(f'a record needs the tag [DGR "{VERSION}"], got {self.tag("DGR")!r}')
        object.__setattr__(self, "tags", tuple(sorted(self.tags, key=_tag_rank)))

    def tag(self, name: str) -> str | None:
        """Return the text of the tag *name*, None if there is none."""
        return next((tag.text for tag in self.tags if tag.name == name), None)


def _tag_rank(tag: Tag) -> int:
    return TAG_ORDER.index(tag.name) if tag.name in TAG_ORDER else len(TAG_ORDER)


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
