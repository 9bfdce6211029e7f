"""Parse and format game records (DGR)."""

import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from engine.errors import EngineError
from engine.record import values as dgr
from engine.record.values import Place, Record, RecordError, RecordHand, RecordTile, RecordTurn, Tag

# Thirty hands with a note at every tile have 50,000 characters. Parsing takes 10 us per move, so at most 1.5 s.
MAX_CHARACTERS = 300_000
LINE_WIDTH = 100
EXCERPT_WIDTH = 20

# One expression per token. All repetitions are possessive or bounded, so parsing is linear in the length of the text.
_GAP = re.compile(r"(?:[ \t\n]++|;[^\n]*+)*+")
_WORD = re.compile(rf"\t|[^ \t\n]{{1,{EXCERPT_WIDTH + 1}}}")
_QUOTED = re.compile(rf'(?:[^"\\{dgr.UNPRINTABLE}]++|\\["\\])*+')
_ESCAPED = re.compile(r'\\(["\\])')
_HAND = re.compile(r"#(?!end)")
_NEXT_MATCH = re.compile(r"\[DGR\b")
_KEY = re.compile(rf"({dgr.NAME.pattern})=({dgr.KEY_VALUE.pattern})")
_SEAT = re.compile(r"([A-P]):")
_SEAT_LETTER = re.compile(r"[A-P]")
_TURN_STOP = re.compile(r"[A-P]:|#|\[DGR\b|\Z")
_END = re.compile(r"#end(?=[ \t\n;]|\Z)")
_MOVE_START = re.compile(r"(?=[0-9])|redeal(?![a-z])|[dknuhx](?![a-z])|H(?=<)|[=~+(]")
_DIGIT_NEXT = re.compile(r"(?=[0-9])")
_NUMBER = re.compile(r"[0-9]{1,6}(?![0-9])")
_COUNT = re.compile(r"(?!0{1,6}(?![0-9]))[0-9]{1,6}(?![0-9])")
_TILE = re.compile(rf"({dgr.PIPS})-({dgr.PIPS})(?![0-9])('?)")
_AT = re.compile("[@^]")


class _Cursor:
    """A position in a text, advanced by tokens. Line ends occur only in gaps, so only gaps count lines."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._line_start = 0

    @property
    def place(self) -> Place:
        """Place of the next token."""
        return Place(self._line, self._at - self._line_start + 1)

    @property
    def at_end(self) -> bool:
        """True at the end of the text."""
        return self._at == len(self._text)

    def sees(self, token: re.Pattern[str]) -> bool:
        """Return True if *token* is next."""
        return token.match(self._text, self._at) is not None

    def take(self, token: re.Pattern[str]) -> re.Match[str] | None:
        """Consume *token* if it is next. Returns its match, or None."""
        found = token.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def expect(self, token: re.Pattern[str], expected: str) -> re.Match[str]:
        """Consume *token* and return its match, or raise RecordError with what was *expected*."""
        found = self.take(token)
        if found is None:
            raise self.failure(expected)
        return found

    def take_sign(self, sign: str) -> bool:
        """Consume *sign* if it is next. Return True if it was consumed."""
        taken = self._text.startswith(sign, self._at)
        self._at += len(sign) if taken else 0
        return taken

    def expect_sign(self, sign: str, expected: str) -> None:
        """Consume *sign*, or raise RecordError with what was *expected*."""
        if not self.take_sign(sign):
            raise self.failure(expected)

    def skip_gap(self) -> None:
        """Skip blanks, line ends and comments."""
        start = self._at
        if self.take(_GAP) is None or start == self._at:
            return
        lines = self._text.count("\n", start, self._at)
        if lines:
            self._line += lines
            self._line_start = self._text.rindex("\n", start, self._at) + 1

    def end_word(self) -> None:
        """Skip the gap after a word, or raise RecordError if the word continues."""
        start = self._at
        self.skip_gap()
        if start == self._at and not self.at_end:
            raise self.failure("a blank")

    def failure(self, expected: str) -> RecordError:
        """Return an error with what was *expected* here and what was found."""
        word = _WORD.match(self._text, self._at)
        if word is not None:
            found = _excerpt(word[0])
        elif self.at_end:
            found = "the end of the text"
        else:
            found = "the end of the line" if self._text[self._at] == "\n" else "a blank"
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
        while not cursor.at_end and not (hands and cursor.sees(_NEXT_MATCH)):
            hands.append(_parse_hand(cursor))
        records.append(Record(tags, tuple(hands)))
    return tuple(records)


def _parse_tags(cursor: _Cursor) -> tuple[Tag, ...]:
    tags: dict[str, Tag] = {}
    while cursor.take_sign("["):
        cursor.skip_gap()
        place = cursor.place
        name = cursor.expect(dgr.NAME, "the name of a tag")[0]
        if name in tags:
            raise RecordError(place, f"expected each tag once, found {_excerpt(name)} again")
        cursor.skip_gap()
        text_place = cursor.place
        cursor.expect_sign('"', "a text in double quotes")
        text = _ESCAPED.sub(r"\1", cursor.expect(_QUOTED, "a text")[0])
        cursor.expect_sign('"', r'a closing ", or \" or \\')
        if name == "DGR" and text != dgr.VERSION:
            raise RecordError(text_place, f'expected version "{dgr.VERSION}" of DGR, found {_excerpt(text)}')
        cursor.skip_gap()
        cursor.expect_sign("]", '"]"')
        tags[name] = Tag(name, text, place=place)
        cursor.skip_gap()
    if "DGR" not in tags:
        raise cursor.failure(f'the tag [DGR "{dgr.VERSION}"]')
    return tuple(tags.values())


def _parse_hand(cursor: _Cursor) -> RecordHand:
    place = cursor.place
    cursor.expect(_HAND, 'a hand such as "#1"')
    number = _parse_number(cursor)
    cursor.end_word()
    keys = _parse_keys(cursor)
    turns: list[RecordTurn] = []
    while cursor.sees(_SEAT):  # The keys and each turn end only at a seat or at the end of the hand.
        turns.append(_parse_turn(cursor))
    closed = cursor.take(_END) is not None
    end = ""
    if closed:
        end = cursor.expect(dgr.END_TEXT, "a text")[0].strip(" ")
        cursor.skip_gap()
    return RecordHand(number, keys, tuple(turns), closed=closed, end=end, place=place)


def _parse_keys(cursor: _Cursor) -> tuple[tuple[str, str], ...]:
    keys: dict[str, str] = {}
    while not cursor.sees(_TURN_STOP):
        place = cursor.place
        key = cursor.expect(_KEY, 'a key such as "lead=A" or a seat such as "A:"')
        if key[1] in keys:
            raise RecordError(place, f"expected each key once, found {_excerpt(key[1])} again")
        keys[key[1]] = key[2]
        cursor.end_word()
    return tuple(keys.items())


def _parse_turn(cursor: _Cursor) -> RecordTurn:
    place = cursor.place
    seat = cursor.expect(_SEAT, 'a seat such as "A:"')[1]
    moves: list[dgr.Move] = []
    cursor.skip_gap()
    while not cursor.sees(_TURN_STOP):
        moves.append(_parse_move(cursor))
        cursor.end_word()
    return RecordTurn(seat, tuple(moves), place=place)


def parse_single_move(text: str) -> dgr.Move:
    """Parse the text of one move."""
    cursor = _Cursor(text.strip(" "))
    move = _parse_move(cursor)
    if not cursor.at_end:
        raise cursor.failure("the end of a single move")
    return move


def _parse_move(cursor: _Cursor) -> dgr.Move:
    place = cursor.place
    start = cursor.expect(_MOVE_START, 'a move such as "5-3@W" or a seat such as "A:"')[0]
    if start == "":
        return _parse_tile_move(cursor, place)
    kind = _KINDS[start]
    values: dict[str, Any] = {}
    at = place
    for name in _NAMES[kind]:
        at = cursor.place
        values[name] = _FIELDS[name][0](cursor)
    try:
        return kind(**values, place=place)
    except EngineError as wrong:  # The last field has more tiles than were drawn.
        raise RecordError(at, str(wrong)) from None


def _parse_tile_move(cursor: _Cursor, place: Place) -> dgr.TileMove | dgr.StackMove:
    tile = _parse_tile(cursor)
    joint = cursor.take(_AT)
    if joint is None:
        return dgr.TileMove(tile.inner, tile.outer, second=tile.second, place=place)
    port = cursor.expect(dgr.PORT, 'a port such as "E", "2", "*" or "5-5:N"')[0]
    kind = dgr.TileMove if joint[0] == "@" else dgr.StackMove
    return kind(tile.inner, tile.outer, port, second=tile.second, place=place)


def _parse_tile(cursor: _Cursor) -> RecordTile:
    place = cursor.place
    tile = cursor.expect(_TILE, 'a tile from "0-0" to "18-18"')
    return RecordTile(int(tile[1]), int(tile[2]), second=tile[3] != "", place=place)


def _parse_tiles(cursor: _Cursor) -> tuple[RecordTile, ...] | None:
    if not cursor.take_sign("<"):
        return None
    cursor.skip_gap()
    tiles: list[RecordTile] = []
    while not cursor.take_sign(">"):
        tiles.append(_parse_tile(cursor))
        cursor.skip_gap()
    return tuple(tiles)


def _format_tiles(tiles: tuple[RecordTile, ...] | None) -> str:
    return "" if tiles is None else "<" + " ".join(tile.tile_text for tile in tiles) + ">"


def _parse_note(cursor: _Cursor) -> str:
    text = cursor.expect(dgr.NOTE_TEXT, "a note")[0].strip(" ")
    cursor.expect_sign(")", '")" on the same line')
    return text


def _parse_number(cursor: _Cursor) -> int:
    return int(cursor.expect(_NUMBER, "a number of at most 6 digits")[0])


def _parse_count(cursor: _Cursor) -> int:
    if not cursor.sees(_DIGIT_NEXT):
        return 1
    return int(cursor.expect(_COUNT, f"a number from 1 to {dgr.MAX_NUMBER}")[0])


_FIELDS: dict[str, tuple[Callable[[_Cursor], Any], Callable[[Any], str]]] = {
    "count": (_parse_count, lambda count: "" if count == 1 else str(count)),
    "forced": (lambda cursor: cursor.take_sign("!"), lambda forced: "!" if forced else ""),
    "pips": (_parse_number, str),
    "points": (_parse_number, str),
    "seat": (lambda cursor: cursor.expect(_SEAT_LETTER, "a seat from A to P")[0], str),
    "text": (_parse_note, "{})".format),
    "tiles": (_parse_tiles, _format_tiles),
}
"""Parser and formatter of each field of a move."""

_KINDS: dict[str, type[dgr.Move]] = {
    "(": dgr.NoteMove,
    "+": dgr.BonusMove,
    "=": dgr.CalledMove,
    "H": dgr.ShowMove,
    "d": dgr.DrawMove,
    "h": dgr.ShowPipsMove,
    "k": dgr.KnockMove,
    "n": dgr.DeclineMove,
    "redeal": dgr.RedealMove,
    "u": dgr.UndoMove,
    "x": dgr.TakenMove,
    "~": dgr.ForfeitedMove,
}
"""Moves by the sign that they begin with. Their fields follow in order."""

_SIGNS = {kind: sign for sign, kind in _KINDS.items()}
_NAMES = {kind: [each.name for each in fields(kind) if each.name in _FIELDS] for kind in _SIGNS}


def format_record(record: Record) -> str:
    r"""Format *record* in its canonical form.

    Each tag and the keys of each hand have their own line. Turns are separated by two blanks, in lines of at most 100
    characters. Lines are broken between turns if possible, else between moves or tiles. Only a note may be longer. A
    count of 1 is omitted: `d`, `d!`, `u`.

    >>> format_record(parse_record('[Rules "bones"] [DGR "1"] #1 lead=A A: 5-3 B: d1! 3-3@E'))
    '[DGR "1"]\n[Rules "bones"]\n#1 lead=A\nA: 5-3  B: d! 3-3@E\n'
    """
    lines = [f'[{tag.name} "{_escaped(tag.text)}"]' for tag in record.tags]
    for hand in record.hands:
        lines.append(" ".join([f"#{hand.number}", *(f"{name}={value}" for name, value in hand.keys)]))
        lines.extend(_wrap([_turn_words(turn) for turn in hand.turns]))
        if hand.closed:
            lines.append(f"#end {hand.end}".rstrip(" "))
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _wrap(turns: list[list[str]]) -> Iterator[str]:
    """Yield the lines of *turns*. Each turn is a list of words, between which it may be broken."""
    line = ""
    for words in turns:
        whole = " ".join(words)
        if line and len(line) + 2 + len(whole) <= LINE_WIDTH:
            line += "  " + whole
            continue
        if line:
            yield line
        line = words[0]
        for word in words[1:]:
            if len(line) + 1 + len(word) > LINE_WIDTH:
                yield line
                line = "  " + word
            else:
                line += " " + word
    if line:
        yield line


def _turn_words(turn: RecordTurn) -> list[str]:
    words = [f"{turn.seat}:"]
    for move in turn.moves:
        written = move_text(move)
        words += [written] if isinstance(move, dgr.NoteMove) else written.split(" ")
    return words


def move_text(move: dgr.Move) -> str:
    """Return the text of a move.

    >>> move_text(dgr.TileMove(6, 3, "W"))
    '6-3@W'
    """
    if isinstance(move, dgr.TileMove | dgr.StackMove):
        joint = "^" if isinstance(move, dgr.StackMove) else "@"
        return move.tile_text if move.port is None else f"{move.tile_text}{joint}{move.port}"
    written = (_FIELDS[name][1](getattr(move, name)) for name in _NAMES[type(move)])
    return _SIGNS[type(move)] + "".join(written)
