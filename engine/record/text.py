"""Game records (DGR): their values, parser and formatter. See docs/reference/game_record.md.

The values represent the text of a record. Its moves may be illegal. Constructors reject values that cannot be written,
or would change when they are parsed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, NamedTuple

from engine.errors import EngineError
from engine.tiles import HIGHEST_PIPS, Tile

VERSION = "1"  # Version of the format, the value of the tag DGR.
# Thirty hands with a note at every tile have 50,000 characters. Parsing takes 10 us per move, so at most 1.5 s.
MAX_CHARACTERS = 300_000
MAX_NUMBER = 999_999  # Six digits: far above the scores of any domino match.
LINE_WIDTH = 100
EXCERPT_WIDTH = 20
TAG_ORDER = ("DGR", "Rules", "Options", "Seats", "Set", "Date", "Event", "Source", "Result")
SEATS = "ABCDEFGHIJKLMNOP"

# Parts of the grammar. All repetitions are possessive or bounded, so parsing is linear in the length of the text.
UNPRINTABLE = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"  # For [...]: control characters, line ends, surrogates.
BIDI_MARKS = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # They turn the text around them.
_PIPS = "(?:1[0-8]|[0-9])"  # up to HIGHEST_PIPS
_NAME = "[A-Za-z][A-Za-z0-9_]*+"
_KEY_VALUE = rf"[^\s;#{UNPRINTABLE}]++"
_END_TEXT = rf"[^;#{UNPRINTABLE}]*+"
_NOTE_TEXT = rf"[^(){UNPRINTABLE}]*+"
_PORT = rf"(?:[WENS*]|{_PIPS}-{_PIPS}'?:[WENS]|[1-6])"
_TILE = rf"({_PIPS})-({_PIPS})(?![0-9])('?)"
_GAP = r"(?:[ \t\n]++|;[^\n]*+)*+"
_QUOTED = rf'(?:[^"\\{UNPRINTABLE}]++|\\["\\])*+'
_KEY = f"({_NAME})=({_KEY_VALUE})"
_SEAT = "([A-P]):"
_COUNT = "(?!0{1,6}(?![0-9]))[0-9]{1,6}(?![0-9])"
_TURN_STOP = r"[A-P]:|#|\[DGR\b|\Z"
_MOVE_START = r"(?=[0-9])|redeal(?![a-z])|[dknuhx](?![a-z])|H(?=<)|[=~+(]"

_compiled = cache(re.compile)


class Place(NamedTuple):
    """A position in a text. Lines and columns count from 1. Columns are in characters."""

    line: int
    column: int


NOWHERE = Place(0, 0)  # of a value that was not parsed from a text


class RecordError(EngineError):
    """A text is not a game record, or the record is inconsistent. *line* and *column* count from 1, in characters."""

    def __init__(self, place: Place, problem: str) -> None:
        super().__init__(f"line {place.line}, column {place.column}: {problem}")
        self.line, self.column = place.line, place.column


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A part of a record with its place in the text. Comparisons ignore the place."""

    place: Place = field(default=NOWHERE, compare=False, repr=False)

    def __post_init__(self) -> None:
        names: tuple[str, ...] = self.__match_args__
        for name in names:
            value, limits = getattr(self, name), _LIMITS.get(name)
            if limits is not None and value not in limits:
                raise EngineError(f"{name} must be {limits[0]} to {limits[-1]}, got {value}")
            if value is not None and name in _FORMS:
                _require_match(*_FORMS[name], value)


@dataclass(frozen=True, slots=True)
class RecordTile(_Placed):
    """A tile as written, *inner* number against the layout, if any. *second* is the mark ' for the second copy."""

    inner: int
    outer: int
    second: bool = field(default=False, kw_only=True)

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
        _require_match(_NAME, "the name of a tag", self.name)
        _require_match(rf"[^{UNPRINTABLE}]*+", "a text without controls", self.text)


@dataclass(frozen=True, slots=True)
class RecordTurn(_Placed):
    """Consecutive moves of one seat. *seat* is a letter from A to P."""

    seat: str
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordHand(_Placed):
    """A hand, with its turns in order."""

    number: int  # Numbers in a record may be out of order.
    keys: tuple[tuple[str, str], ...] = ()  # names and values in the first line, in the order given
    turns: tuple[RecordTurn, ...] = ()
    closed: bool = field(default=False, kw_only=True)  # whether the hand has `#end`
    end: str = field(default="", kw_only=True)  # text after `#end`

    def __post_init__(self) -> None:
        _Placed.__post_init__(self)
        _require_match(rf"(?! ){_END_TEXT}(?<! )", 'a text without "#", ";", controls and blanks around it', self.end)
        if self.end and not self.closed:
            raise EngineError(f'a hand that is not closed has no end, got "{self.end}"')
        for name, value in self.keys:
            _require_match(_NAME, "the name of a key", name)
            _require_match(_KEY_VALUE, "a value without blanks", value)
        _require_once([name for name, _ in self.keys], "key")

    def key(self, name: str) -> str | None:
        """Return the value of the key *name*, or None if it is missing."""
        return dict(self.keys).get(name)


@dataclass(frozen=True, slots=True)
class Record:
    """A game record. Its tags, one of which is `DGR`, are sorted by TAG_ORDER, with others last in the order given."""

    tags: tuple[Tag, ...]
    hands: tuple[RecordHand, ...] = ()

    def __post_init__(self) -> None:
        _require_once([tag.name for tag in self.tags], "tag")
        if self.tag("DGR") != VERSION:
            raise EngineError(f'a record needs the tag [DGR "{VERSION}"], got {self.tag("DGR")!r}')
        in_order = sorted(self.tags, key=lambda tag: (*TAG_ORDER, tag.name).index(tag.name))
        object.__setattr__(self, "tags", tuple(in_order))

    def tag(self, name: str) -> str | None:
        """Return the text of the tag *name*, or None if it is missing."""
        return next((tag.text for tag in self.tags if tag.name == name), None)


_LIMITS = {"count": range(1, MAX_NUMBER + 1), "inner": range(HIGHEST_PIPS + 1), "outer": range(HIGHEST_PIPS + 1)}
_LIMITS |= dict.fromkeys(("number", "pips", "points"), range(MAX_NUMBER + 1))
"""Allowed values of a number, by the name of its field."""

_FORMS = {
    "port": (_PORT, "a port"),
    "seat": ("[A-P]", "a seat from A to P"),
    "text": (rf"(?! ){_NOTE_TEXT}(?<! )", "a note without parentheses, controls and blanks around it"),
}
"""Regular expression of a text and its description, by the name of its field."""


def _require_match(pattern: str, expected: str, text: str) -> None:
    if _compiled(pattern).fullmatch(text) is None:
        raise EngineError(f"expected {expected}, got {text!r}")


def _require_once(names: list[str], kind: str) -> None:
    if len(set(names)) != len(names):
        raise EngineError(f"expected each {kind} once, got {', '.join(names)}")


class _Cursor:
    """A position in a text, advanced by tokens, which are regular expressions. Only gaps contain line ends."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._line, self._line_start = 1, 0

    @property
    def place(self) -> Place:
        return Place(self._line, self._at - self._line_start + 1)

    @property
    def at_end(self) -> bool:
        return self._at == len(self._text)

    def sees(self, token: str) -> bool:
        return _compiled(token).match(self._text, self._at) is not None

    def take(self, token: str) -> re.Match[str] | None:
        """Consume *token* if it is next. Returns its match, or None."""
        found = _compiled(token).match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def expect(self, token: str, expected: str) -> re.Match[str]:
        """Consume *token* and return its match, or raise RecordError with what was *expected*."""
        found = self.take(token)
        if found is None:
            raise self.failure(expected)
        return found

    def skip_gap(self) -> bool:
        """Skip blanks, line ends and comments. Returns True if there are any."""
        start = self._at
        self.take(_GAP)
        if lines := self._text.count("\n", start, self._at):
            self._line += lines
            self._line_start = self._text.rindex("\n", start, self._at) + 1
        return self._at > start

    def end_word(self) -> None:
        """Skip the gap after a word, or raise RecordError if the word continues."""
        if not self.skip_gap() and not self.at_end:
            raise self.failure("a blank")

    def failure(self, expected: str) -> RecordError:
        """Return an error with what was *expected* here and what was found."""
        rest = self._text[self._at : self._at + EXCERPT_WIDTH + 1]
        word = re.match(r"\t|[^ \t\n]+", rest)
        ends = {"": "the end of the text", "\n": "the end of the line", " ": "a blank"}
        found = ends[rest[:1]] if word is None else _excerpt(word[0])
        return RecordError(self.place, f"expected {expected}, found {found}")


def _excerpt(text: str) -> str:
    """Return *text* in quotes, with unprintable characters escaped, shortened to EXCERPT_WIDTH characters."""
    shown = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
    return f'"{shown}"' if len(shown) <= EXCERPT_WIDTH else f'"{shown[: EXCERPT_WIDTH - 1]}…"'


def parse_record(text: str) -> Record:
    r"""Parse a game record. A byte order mark and any line ends are accepted. Comments are dropped.

    >>> parse_record('[DGR "1"]\n#1 lead=A\nA: 5-3 ; a comment').hands[0].turns
    (RecordTurn(seat='A', moves=(TileMove(inner=5, outer=3, second=False, port=None),)),)

    Raises:
        RecordError: If *text* is not a valid record. The error gives the place, the expected token and the text found.
    """
    first, *more = parse_records(text)
    if more:
        raise RecordError(more[0].tags[0].place, "expected one match, found another")
    return first


def parse_records(text: str) -> tuple[Record, ...]:
    """Parse a file of one or more matches. The tags of each begin with `DGR`."""
    if len(text) > MAX_CHARACTERS:
        raise RecordError(Place(1, 1), f"expected at most {MAX_CHARACTERS} characters, found {len(text)}")
    cursor = _Cursor(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    cursor.skip_gap()
    records: list[Record] = []
    while not records or not cursor.at_end:
        tags = _parse_tags(cursor)
        hands: list[RecordHand] = []
        while not cursor.at_end and not (hands and cursor.sees(r"\[DGR\b")):
            hands.append(_parse_hand(cursor))
        records.append(Record(tags, tuple(hands)))
    return tuple(records)


def _parse_tags(cursor: _Cursor) -> tuple[Tag, ...]:
    tags: dict[str, Tag] = {}
    while cursor.take(r"\["):
        cursor.skip_gap()
        place = cursor.place
        name = cursor.expect(_NAME, "the name of a tag")[0]
        if name in tags:
            raise RecordError(place, f"expected each tag once, found {_excerpt(name)} again")
        cursor.skip_gap()
        text_place = cursor.place
        cursor.expect('"', "a text in double quotes")
        text = re.sub(r'\\(["\\])', r"\1", cursor.expect(_QUOTED, "a text")[0])
        cursor.expect('"', r'a closing ", or \" or \\')
        if name == "DGR" and text != VERSION:
            raise RecordError(text_place, f'expected version "{VERSION}" of DGR, found {_excerpt(text)}')
        cursor.skip_gap()
        cursor.expect("]", '"]"')
        tags[name] = Tag(name, text, place=place)
        cursor.skip_gap()
    if "DGR" not in tags:
        raise cursor.failure(f'the tag [DGR "{VERSION}"]')
    return tuple(tags.values())


def _parse_hand(cursor: _Cursor) -> RecordHand:
    place = cursor.place
    cursor.expect("#(?!end)", 'a hand such as "#1"')
    number = _parse_number(cursor)
    cursor.end_word()
    keys: dict[str, str] = {}
    while not cursor.sees(_TURN_STOP):
        key_place = cursor.place
        key = cursor.expect(_KEY, 'a key such as "lead=A" or a seat such as "A:"')
        if key[1] in keys:
            raise RecordError(key_place, f"expected each key once, found {_excerpt(key[1])} again")
        keys[key[1]] = key[2]
        cursor.end_word()
    turns: list[RecordTurn] = []
    while cursor.sees(_SEAT):  # The keys and each turn end only at a seat or at the end of the hand.
        turn_place, moves = cursor.place, list[Move]()
        seat = cursor.expect(_SEAT, 'a seat such as "A:"')[1]
        cursor.skip_gap()
        while not cursor.sees(_TURN_STOP):
            moves.append(_parse_move(cursor))
            cursor.end_word()
        turns.append(RecordTurn(seat, tuple(moves), place=turn_place))
    closed = cursor.take(r"#end(?=[ \t\n;]|\Z)") is not None
    end = cursor.expect(_END_TEXT, "a text")[0].strip(" ") if closed else ""
    cursor.skip_gap()
    return RecordHand(number, tuple(keys.items()), tuple(turns), closed=closed, end=end, place=place)


def parse_single_move(text: str) -> Move:
    """Parse the text of one move."""
    cursor = _Cursor(text.strip(" "))
    move = _parse_move(cursor)
    if not cursor.at_end:
        raise cursor.failure("the end of a single move")
    return move


def _parse_move(cursor: _Cursor) -> Move:
    place = cursor.place
    start = cursor.expect(_MOVE_START, 'a move such as "5-3@W" or a seat such as "A:"')[0]
    if start == "":
        values = _parse_tile(cursor)
        joint = cursor.take("[@^]")
        if joint is not None:
            values["port"] = cursor.expect(_PORT, 'a port such as "E", "2", "*" or "5-5:N"')[0]
        return StackMove(**values) if joint and joint[0] == "^" else TileMove(**values)
    kind, at, values = _KINDS[start], place, {}
    for name in _NAMES[kind]:
        at = cursor.place
        values[name] = _FIELDS[name][0](cursor)
    try:
        return kind(**values, place=place)
    except EngineError as wrong:  # The last field has more tiles than were drawn.
        raise RecordError(at, str(wrong)) from None


def _parse_tile(cursor: _Cursor) -> dict[str, Any]:
    """Return the fields of a `RecordTile`."""
    place, found = cursor.place, cursor.expect(_TILE, 'a tile from "0-0" to "18-18"')
    return {"inner": int(found[1]), "outer": int(found[2]), "second": found[3] != "", "place": place}


def _parse_tiles(cursor: _Cursor) -> tuple[RecordTile, ...] | None:
    if not cursor.take("<"):
        return None
    cursor.skip_gap()
    tiles: list[RecordTile] = []
    while not cursor.take(">"):
        tiles.append(RecordTile(**_parse_tile(cursor)))
        cursor.skip_gap()
    return tuple(tiles)


def _parse_note(cursor: _Cursor) -> str:
    text = cursor.expect(_NOTE_TEXT, "a note")[0].strip(" ")
    cursor.expect(r"\)", '")" on the same line')
    return text


def _parse_number(cursor: _Cursor) -> int:
    return int(cursor.expect("[0-9]{1,6}(?![0-9])", "a number of at most 6 digits")[0])


def _parse_count(cursor: _Cursor) -> int:
    expected = f"a number from 1 to {MAX_NUMBER}"
    return int(cursor.expect(_COUNT, expected)[0]) if cursor.sees("[0-9]") else 1


_FIELDS: dict[str, tuple[Callable[[_Cursor], Any], Callable[[Any], str]]] = {
    "count": (_parse_count, lambda count: "" if count == 1 else str(count)),
    "forced": (lambda cursor: cursor.take("!") is not None, lambda forced: "!" if forced else ""),
    "pips": (_parse_number, str),
    "points": (_parse_number, str),
    "seat": (lambda cursor: cursor.expect("[A-P]", "a seat from A to P")[0], str),
    "text": (_parse_note, "{})".format),
    "tiles": (
        _parse_tiles,
        lambda tiles: "" if tiles is None else "<" + " ".join(tile.tile_text for tile in tiles) + ">",
    ),
}
"""Parser and formatter of each field of a move."""

_KINDS: dict[str, type[Move]] = {
    "(": NoteMove,
    "+": BonusMove,
    "=": CalledMove,
    "H": ShowMove,
    "d": DrawMove,
    "h": ShowPipsMove,
    "k": KnockMove,
    "n": DeclineMove,
    "redeal": RedealMove,
    "u": UndoMove,
    "x": TakenMove,
    "~": ForfeitedMove,
}
"""Moves by the sign that they begin with. Their fields follow in order."""

_SIGNS = {kind: sign for sign, kind in _KINDS.items()}
_NAMES = {kind: [each.name for each in fields(kind) if each.name in _FIELDS] for kind in _SIGNS}


def move_text(move: Move) -> str:
    """Return the text of a move.

    >>> move_text(TileMove(6, 3, "W"))
    '6-3@W'
    """
    if isinstance(move, TileMove | StackMove):
        joint = "^" if isinstance(move, StackMove) else "@"
        return move.tile_text if move.port is None else f"{move.tile_text}{joint}{move.port}"
    written = (_FIELDS[name][1](getattr(move, name)) for name in _NAMES[type(move)])
    return _SIGNS[type(move)] + "".join(written)


def format_record(record: Record) -> str:
    r"""Format *record* in its canonical form.

    Each tag and the keys of each hand have their own line. Turns are separated by two blanks, in lines of at most 100
    characters. Lines are broken between turns if possible, else between moves or tiles. Only a note may be longer. A
    count of 1 is omitted: `d`, `d!`, `u`.

    >>> format_record(parse_record('[Rules "bones"] [DGR "1"] #1 lead=A A: 5-3 B: d1! 3-3@E'))
    '[DGR "1"]\n[Rules "bones"]\n#1 lead=A\nA: 5-3  B: d! 3-3@E\n'
    """
    lines: list[str] = []
    for tag in record.tags:
        escaped = tag.text.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'[{tag.name} "{escaped}"]')
    for hand in record.hands:
        lines.append(" ".join([f"#{hand.number}", *(f"{name}={value}" for name, value in hand.keys)]))
        lines += _wrapped(hand.turns)
        if hand.closed:
            lines.append(f"#end {hand.end}".rstrip(" "))
    return "\n".join(lines) + "\n"


def _wrapped(turns: tuple[RecordTurn, ...]) -> list[str]:
    """Return the lines of *turns*. A turn may be broken between moves and between tiles."""
    lines: list[str] = []
    for turn in turns:
        text = [f"{turn.seat}:"]
        for move in turn.moves:
            text += [move_text(move)] if isinstance(move, NoteMove) else move_text(move).split(" ")
        whole = " ".join(text)
        if lines and len(lines[-1]) + 2 + len(whole) <= LINE_WIDTH:
            lines[-1] += "  " + whole
            continue
        lines.append(text[0])
        for word in text[1:]:
            if len(lines[-1]) + 1 + len(word) <= LINE_WIDTH:
                lines[-1] += " " + word
            else:
                lines.append("  " + word)
    return lines
