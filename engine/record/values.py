"""Define the values of a game record (DGR): tags, hands, turns, moves and notes.

A value holds the text of a record, whether or not the game is legal.
"""

import re
from dataclasses import dataclass, field

from engine.errors import EngineError
from engine.state.events import Action, Adjust, Boneyard, Domino, HandEnd, MatchClose, Seat
from engine.tiles import HIGHEST_PIPS, Tile

VERSION = "1"  # of the format; value of the tag DGR
MAX_NUMBER = 999_999  # six digits: far above any domino match, and cheap to read
TAG_ORDER = ("DGR", "Rules", "Options", "Seats", "Set", "Date", "Event", "Source", "Result")
SEATS = "ABCDEFGHIJKLMNOP"

# Parts of the grammar; the parser uses them, too.
UNPRINTABLE = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"  # for [...]: controls, line ends, halves of a character
PIPS = "(?:" + "|".join(str(pips) for pips in range(HIGHEST_PIPS, -1, -1)) + ")"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*+")
KEY_VALUE = re.compile(rf"[^\s;#{UNPRINTABLE}]++")
END_TEXT = re.compile(rf"[^;#{UNPRINTABLE}]*+")
NOTE_TEXT = re.compile(rf"[^(){UNPRINTABLE}]*+")
PORT = re.compile(rf"(?:{PIPS}-{PIPS}'?:[WENS]|[WENS1-6*])")

_TAG_TEXT = re.compile(rf"[^{UNPRINTABLE}]*+")
_UNWRITABLE_IN_NOTE = re.compile(rf"[(){UNPRINTABLE}]")
_NOTE_OF_POINTS = re.compile(r"points=([+-]?[0-9]{1,6})(?: (.*))?")
_NOTE_OF_YARD = re.compile(r"yard=([0-9]{1,3})")


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a text; lines and columns count from 1, columns in characters."""

    line: int
    column: int


NOWHERE = Place(0, 0)
"""The place of a value that does not come from a text."""


class RecordError(EngineError):
    """A text is not a game record, or the record makes no sense.

    Attributes:
        line: Line of the text, from 1.
        column: Column in characters, from 1.
    """

    def __init__(self, place: Place, problem: str) -> None:
        """Name the place of *problem*, then the problem."""
        super().__init__(f"line {place.line}, column {place.column}: {problem}")
        self.line = place.line
        self.column = place.column


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A part of a record with its place in the text; the place does not count in comparisons."""

    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class _Tiled(_Placed):
    """A tile as written; *inner* touches the layout, *second* is the mark ' of the second set."""

    inner: int
    outer: int
    second: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Reject numbers that no tile has."""
        if not (0 <= self.inner <= HIGHEST_PIPS and 0 <= self.outer <= HIGHEST_PIPS):
            raise EngineError(f"a tile needs numbers of 0 to {HIGHEST_PIPS}, got {self.inner} and {self.outer}")

    @property
    def tile(self) -> Tile:
        """The tile, of whichever set."""
        return Tile.of(self.inner, self.outer)

    @property
    def tile_text(self) -> str:
        """The text of the tile, inner number first."""
        return f"{self.inner}-{self.outer}" + ("'" if self.second else "")


@dataclass(frozen=True, slots=True)
class _Numbered(_Placed):
    """A move that names a number of points."""

    points: int

    def __post_init__(self) -> None:
        """Reject values that cannot be written."""
        _require_number(self.points, "points")


@dataclass(frozen=True, slots=True)
class RecordTile(_Tiled):
    """A tile in `<` and `>`; the order of its numbers has no meaning there, but is kept."""


@dataclass(frozen=True, slots=True)
class TileMove(_Tiled):
    """`6-3@W`: a tile laid at *port*, None for the first tile of the hand."""

    port: str | None = None

    def __post_init__(self) -> None:
        """Reject numbers and ports that cannot be written."""
        _Tiled.__post_init__(self)
        if self.port is not None:
            _require_match(PORT, self.port, "a port")


@dataclass(frozen=True, slots=True)
class StackMove(_Tiled):
    """`2-4'^E`: a tile laid on its copy at *port*."""

    port: str

    def __post_init__(self) -> None:
        """Reject numbers and ports that cannot be written."""
        _Tiled.__post_init__(self)
        _require_match(PORT, self.port, "a port")


@dataclass(frozen=True, slots=True)
class DrawMove(_Placed):
    """`d`, `d2!`, `d<2-0>`: tiles drawn, *forced* by another player or not; *tiles* are the known ones, or None."""

    count: int = 1
    forced: bool = field(default=False, kw_only=True)
    tiles: tuple[RecordTile, ...] | None = None

    def __post_init__(self) -> None:
        """Reject a draw of no tiles, and more known tiles than drawn ones."""
        _require_number(self.count, "count", least=1)
        if self.tiles is not None and not 1 <= len(self.tiles) <= self.count:
            raise EngineError(f"tiles must be None or 1 to {self.count}, got {len(self.tiles)}")


@dataclass(frozen=True, slots=True)
class KnockMove(_Placed):
    """`k`: a knock."""


@dataclass(frozen=True, slots=True)
class DeclineMove(_Placed):
    """`n`: an extra turn declined."""


@dataclass(frozen=True, slots=True)
class CalledMove(_Numbered):
    """`=10`: points called or scored."""


@dataclass(frozen=True, slots=True)
class ForfeitedMove(_Numbered):
    """`~5`: points forfeited because nobody called them."""


@dataclass(frozen=True, slots=True)
class BonusMove(_Numbered):
    """`+20`: points of the hand."""


@dataclass(frozen=True, slots=True)
class TakenMove(_Placed):
    """`xC10`: points taken from the player in *seat*."""

    seat: str
    points: int

    def __post_init__(self) -> None:
        """Reject values that cannot be written."""
        _require_seat(self.seat)
        _require_number(self.points, "points")


@dataclass(frozen=True, slots=True)
class ShowMove(_Placed):
    """`H<4-4 6-6>`: a hand laid open."""

    tiles: tuple[RecordTile, ...]


@dataclass(frozen=True, slots=True)
class ShowPipsMove(_Placed):
    """`h12`: a hand of which only the pips are known."""

    pips: int

    def __post_init__(self) -> None:
        """Reject values that cannot be written."""
        _require_number(self.pips, "pips")


@dataclass(frozen=True, slots=True)
class RedealMove(_Placed):
    """`redeal`: all players give their tiles back."""


@dataclass(frozen=True, slots=True)
class UndoMove(_Placed):
    """`u`, `u2`: the last *count* moves are undone."""

    count: int = 1

    def __post_init__(self) -> None:
        """Reject a count of 0."""
        _require_number(self.count, "count", least=1)


@dataclass(frozen=True, slots=True)
class NoteMove(_Placed):
    """`(t=3.1 c=.99)`: a note, by a machine: t seconds, c confidence, s source."""

    text: str

    def __post_init__(self) -> None:
        """Reject text that would end the note, or read back differently."""
        _require_match(NOTE_TEXT, self.text, "a note without parentheses and controls")
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
    """`[Rules "bones"]`: a statement about the whole record."""

    name: str
    text: str

    def __post_init__(self) -> None:
        """Reject values that cannot be written."""
        _require_match(NAME, self.name, "the name of a tag")
        _require_match(_TAG_TEXT, self.text, "a text without controls")


@dataclass(frozen=True, slots=True)
class RecordTurn(_Placed):
    """A run of moves of one seat; *seat* is a letter, A to P."""

    seat: str
    moves: tuple[Move, ...] = ()

    def __post_init__(self) -> None:
        """Reject a seat that does not exist."""
        _require_seat(self.seat)


@dataclass(frozen=True, slots=True)
class RecordHand(_Placed):
    """One deal.

    Attributes:
        number: Number of the hand; the numbers of a record may be out of order.
        keys: Names and values of the first line, in the order given.
        turns: The turns, in order.
        closed: Whether the hand has `#end`.
        end: Text after `#end`.
    """

    number: int
    keys: tuple[tuple[str, str], ...] = ()
    turns: tuple[RecordTurn, ...] = ()
    closed: bool = field(default=False, kw_only=True)
    end: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Reject values that cannot be written, or would read back differently."""
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
        """Return the value of the key *name*, None without that key."""
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
        """Sort the tags; reject a record of another version."""
        _require_once([tag.name for tag in self.tags], "tag")
        if self.tag("DGR") != VERSION:
            raise EngineError(f'a record needs the tag [DGR "{VERSION}"], got {self.tag("DGR")!r}')
        object.__setattr__(self, "tags", tuple(sorted(self.tags, key=_tag_rank)))

    def tag(self, name: str) -> str | None:
        """Return the text of the tag *name*, None without that tag."""
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


STANDS = NoteMove("stands")
"""The note that lets the move before it stand, whatever the rules say."""


def action_of(note: NoteMove, seat: Seat) -> Action | None:
    """Return the action of a note in the turn of *seat*; None for a note that does nothing.

    Notes are the moves of actions without a move of their own. All other notes, such as `(t=3.1 c=.99)`, are for
    machines.

    >>> action_of(NoteMove("points=-5 peeked"), Seat(1))
    Adjust(seat=1, points=-5, why='peeked')
    >>> action_of(NoteMove("t=3.1 c=.99"), Seat(1)) is None
    True
    """
    points, yard = _NOTE_OF_POINTS.fullmatch(note.text), _NOTE_OF_YARD.fullmatch(note.text)
    if points is not None:
        return Adjust(seat, int(points[1]), points[2] or "")
    if yard is not None:
        return Boneyard(int(yard[1]))
    match note.text:
        case "out":
            return Domino(seat)
        case "end":
            return HandEnd()
        case "close":
            return MatchClose()
        case _:
            return None


def note_of(action: Action) -> NoteMove | None:
    """Return the note of *action*; None if the action has another move.

    >>> note_of(Adjust(Seat(1), -5, "peeked"))
    NoteMove(text='points=-5 peeked')
    """
    match action:
        case Adjust(points=points, why=why) if abs(points) <= MAX_NUMBER:
            return NoteMove(f"points={points} {_UNWRITABLE_IN_NOTE.sub(' ', why)}".strip(" "))
        case Boneyard(tiles=tiles):
            return NoteMove(f"yard={tiles}")
        case Domino():
            return NoteMove("out")
        case HandEnd():
            return NoteMove("end")
        case MatchClose():
            return NoteMove("close")
        case _:
            return None
