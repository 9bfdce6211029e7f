"""Parse and format game records (DGR); read and write the rules, players and deals in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from engine.errors import EngineError
from engine.record import values as dgr
from engine.record.values import Place, Record, RecordError, RecordHand, RecordTile, RecordTurn, Tag
from engine.rules.options import changed_options, option_named, parse_options, value_text, with_options
from engine.rules.profiles import PROFILES, profile
from engine.rules.rules import Policy, Rules, deal_problems
from engine.state.events import MatchStart, NewHand, Seat

# Thirty hands with a note at every tile are 50 000; reading takes 10 us per move, 1.5 s at most.
MAX_CHARACTERS = 300_000
LINE_WIDTH = 100
EXCERPT_WIDTH = 20

# One expression per token. Each repeats possessively or a bounded number of times, so reading is linear in the text.
_GAP = re.compile(r"(?:[ \t\n]++|;[^\n]*+)*+")
_WORD = re.compile(rf"\t|[^ \t\n]{{1,{EXCERPT_WIDTH + 1}}}")
_QUOTED = re.compile(rf'(?:[^"\\{dgr.UNPRINTABLE}]++|\\["\\])*+')
_ESCAPED = re.compile(r'\\(["\\])')
_HAND = re.compile(r"#(?!end)")
_KEY = re.compile(rf"({dgr.NAME.pattern})=({dgr.KEY_VALUE.pattern})")
_SEAT = re.compile(r"([A-P]):")
_SEAT_LETTER = re.compile(r"[A-P]")
_TURN_STOP = re.compile(r"[A-P]:|#|\Z")
_END = re.compile(r"#end(?=[ \t\n;]|\Z)")
_MOVE_START = re.compile(r"(?=[0-9])|redeal(?![a-z])|[dknuhx](?![a-z])|H<|[=~+(]")
_DIGIT_NEXT = re.compile(r"(?=[0-9])")
_NUMBER = re.compile(r"[0-9]{1,6}(?![0-9])")
_COUNT = re.compile(r"(?!0{1,6}(?![0-9]))[0-9]{1,6}(?![0-9])")
_TILE = re.compile(rf"({dgr.PIPS})-({dgr.PIPS})(?![0-9])('?)")
_AT = re.compile("[@^]")

# Texts of tags, and values in the first line of a hand.
_HAND_KEYS = ("deal", "yard", "lead")
_SEAT_NAME = re.compile(r"(?<!\S)([A-P]):")
_SEAT_ALONE = re.compile(r"(?<!\S)([A-P])(?!\S)")
_NUMBERS = re.compile(r"[0-9]{1,6}(?:,[0-9]{1,6})*")
_UNWRITABLE = re.compile(rf"[{dgr.UNPRINTABLE}]")
_SET = re.compile(r"(?:([0-9])\s*x?\s+)?(\S.*)")

_BARE: dict[str, type[dgr.KnockMove | dgr.DeclineMove | dgr.RedealMove]] = {
    "k": dgr.KnockMove,
    "n": dgr.DeclineMove,
    "redeal": dgr.RedealMove,
}
_POINTS: dict[str, type[dgr.CalledMove | dgr.ForfeitedMove | dgr.BonusMove]] = {
    "=": dgr.CalledMove,
    "~": dgr.ForfeitedMove,
    "+": dgr.BonusMove,
}


class _Cursor:
    """A position in a text that moves on token by token; only gaps contain line ends, so only they count lines."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._line_start = 0

    @property
    def place(self) -> Place:
        """The place of the next token."""
        return Place(self._line, self._at - self._line_start + 1)

    @property
    def at_end(self) -> bool:
        """Whether the text ends here."""
        return self._at == len(self._text)

    def sees(self, token: re.Pattern[str]) -> bool:
        """Return whether *token* is next."""
        return token.match(self._text, self._at) is not None

    def take(self, token: re.Pattern[str]) -> re.Match[str] | None:
        """Step over *token* if it is next."""
        found = token.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def expect(self, token: re.Pattern[str], expected: str) -> re.Match[str]:
        """Step over *token*, or raise RecordError: *expected* is missing here."""
        found = self.take(token)
        if found is None:
            raise self.failure(expected)
        return found

    def take_sign(self, sign: str) -> bool:
        """Step over *sign* and return whether it was next."""
        taken = self._text.startswith(sign, self._at)
        self._at += len(sign) if taken else 0
        return taken

    def expect_sign(self, sign: str, expected: str) -> None:
        """Step over *sign*, or raise RecordError: *expected* is missing here."""
        if not self.take_sign(sign):
            raise self.failure(expected)

    def skip_gap(self) -> None:
        """Step over blanks, line ends and comments."""
        start = self._at
        if self.take(_GAP) is None or start == self._at:
            return
        lines = self._text.count("\n", start, self._at)
        if lines:
            self._line += lines
            self._line_start = self._text.rindex("\n", start, self._at) + 1

    def end_word(self) -> None:
        """Step over the gap after a word, or raise RecordError: the word goes on."""
        start = self._at
        self.skip_gap()
        if start == self._at and not self.at_end:
            raise self.failure("a blank")

    def failure(self, expected: str) -> RecordError:
        """Return the error that *expected* is missing here."""
        return RecordError(self.place, f"expected {expected}, found {self._next_words()}")

    def _next_words(self) -> str:
        word = _WORD.match(self._text, self._at)
        if word is not None:
            return _excerpt(word[0])
        if self.at_end:
            return "the end of the text"
        return "the end of the line" if self._text[self._at] == "\n" else "a blank"


def _excerpt(text: str) -> str:
    """Return the beginning of *text* in quotes: printable, at most EXCERPT_WIDTH characters between them."""
    shown = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
    return f'"{shown}"' if len(shown) <= EXCERPT_WIDTH else f'"{shown[: EXCERPT_WIDTH - 1]}…"'


def parse_record(text: str) -> Record:
    r"""Parse a game record; accept a byte order mark and Windows line ends, drop comments.

    >>> parse_record('[DGR "1"]\n#1 lead=A\nA: 5-3 ; a comment').hands[0].turns
    (RecordTurn(seat='A', moves=(TileMove(inner=5, outer=3, second=False, port=None),)),)

    Raises:
        RecordError: If *text* is no record; the error names the place, the expected token and the text there.
    """
    if len(text) > MAX_CHARACTERS:
        raise RecordError(Place(1, 1), f"expected at most {MAX_CHARACTERS} characters, found {len(text)}")
    cursor = _Cursor(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    cursor.skip_gap()
    tags = _parse_tags(cursor)
    hands: list[RecordHand] = []
    while not cursor.at_end:
        hands.append(_parse_hand(cursor))
    return Record(tags, tuple(hands))


def _parse_tags(cursor: _Cursor) -> tuple[Tag, ...]:
    tags: dict[str, Tag] = {}
    while cursor.take_sign("["):
        tag = _parse_tag(cursor, known=tags)
        tags[tag.name] = tag
        cursor.skip_gap()
    if "DGR" not in tags:
        raise cursor.failure(f'the tag [DGR "{dgr.VERSION}"]')
    return tuple(tags.values())


def _parse_tag(cursor: _Cursor, known: dict[str, Tag]) -> Tag:
    cursor.skip_gap()
    place = cursor.place
    name = cursor.expect(dgr.NAME, "the name of a tag")[0]
    if name in known:
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
    return Tag(name, text, place=place)


def _parse_hand(cursor: _Cursor) -> RecordHand:
    place = cursor.place
    cursor.expect(_HAND, 'a hand such as "#1"')
    number = _parse_number(cursor)
    cursor.end_word()
    keys = _parse_keys(cursor)
    turns: list[RecordTurn] = []
    while cursor.sees(_SEAT):  # nothing else ends the keys, or a turn, but the end of the hand
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


def _parse_move(cursor: _Cursor) -> dgr.Move:
    place = cursor.place
    start = cursor.expect(_MOVE_START, 'a move such as "5-3@W" or a seat such as "A:"')[0]
    match start:
        case "":
            return _parse_tile_move(cursor, place)
        case "d":
            return _parse_draw(cursor, place)
        case "k" | "n" | "redeal":
            return _BARE[start](place=place)
        case "=" | "~" | "+":
            return _POINTS[start](_parse_number(cursor), place=place)
        case "x":
            seat = cursor.expect(_SEAT_LETTER, "a seat from A to P")[0]
            return dgr.TakenMove(seat, _parse_number(cursor), place=place)
        case "H<":
            return dgr.ShowMove(_parse_tiles(cursor), place=place)
        case "h":
            return dgr.ShowPipsMove(_parse_number(cursor), place=place)
        case "u":
            return dgr.UndoMove(_parse_count(cursor), place=place)
        case _:  # "(", the only one left in _MOVE_START
            text = cursor.expect(dgr.NOTE_TEXT, "a note")[0].strip(" ")
            cursor.expect_sign(")", '")" on the same line')
            return dgr.NoteMove(text, place=place)


def _parse_tile_move(cursor: _Cursor, place: Place) -> dgr.TileMove | dgr.StackMove:
    tile = _parse_tile(cursor)
    joint = cursor.take(_AT)
    if joint is None:
        return dgr.TileMove(tile.inner, tile.outer, second=tile.second, place=place)
    port = cursor.expect(dgr.PORT, 'a port such as "E", "2", "*" or "5-5:N"')[0]
    if joint[0] == "@":
        return dgr.TileMove(tile.inner, tile.outer, port, second=tile.second, place=place)
    return dgr.StackMove(tile.inner, tile.outer, port, second=tile.second, place=place)


def _parse_draw(cursor: _Cursor, place: Place) -> dgr.DrawMove:
    count = _parse_count(cursor)
    forced = cursor.take_sign("!")
    tiles_place = cursor.place
    if not cursor.take_sign("<"):
        return dgr.DrawMove(count, forced=forced, place=place)
    tiles = _parse_tiles(cursor)
    if not 1 <= len(tiles) <= count:
        raise RecordError(tiles_place, f"expected 1 to {count} tiles in a draw of {count}, found {len(tiles)}")
    return dgr.DrawMove(count, tiles, forced=forced, place=place)


def _parse_tiles(cursor: _Cursor) -> tuple[RecordTile, ...]:
    """Parse tiles up to ">", after "<"."""
    cursor.skip_gap()
    tiles: list[RecordTile] = []
    while not cursor.take_sign(">"):
        tiles.append(_parse_tile(cursor))
        cursor.skip_gap()
    return tuple(tiles)


def _parse_tile(cursor: _Cursor) -> RecordTile:
    place = cursor.place
    tile = cursor.expect(_TILE, 'a tile from "0-0" to "18-18"')
    return RecordTile(int(tile[1]), int(tile[2]), second=tile[3] != "", place=place)


def _parse_number(cursor: _Cursor) -> int:
    return int(cursor.expect(_NUMBER, "a number of at most 6 digits")[0])


def _parse_count(cursor: _Cursor) -> int:
    if not cursor.sees(_DIGIT_NEXT):
        return 1
    return int(cursor.expect(_COUNT, f"a number from 1 to {dgr.MAX_NUMBER}")[0])


def format_record(record: Record) -> str:
    r"""Format *record* in its canonical form.

    Each tag has its own line; so has the first line of each hand. Turns follow two blanks apart, in lines of at most
    100 characters, broken between turns, or else between moves or tiles; only a note may be longer. The canonical form
    omits a count of 1: `d`, `d!`, `u`.

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
    """Yield the lines of *turns*; each turn is a list of words, and may be broken between them."""
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
        written = format_move(move)
        words += [written] if isinstance(move, dgr.NoteMove) else written.split(" ")
    return words


def format_move(move: dgr.Move) -> str:
    """Return the text of one move.

    >>> format_move(dgr.TileMove(6, 3, "W"))
    '6-3@W'
    """
    match move:
        case dgr.TileMove():
            return move.tile_text if move.port is None else f"{move.tile_text}@{move.port}"
        case dgr.StackMove():
            return f"{move.tile_text}^{move.port}"
        case dgr.DrawMove():
            tiles = "" if move.tiles is None else _format_tiles(move.tiles)
            return f"d{_format_count(move.count)}{'!' if move.forced else ''}{tiles}"
        case dgr.KnockMove():
            return "k"
        case dgr.DeclineMove():
            return "n"
        case dgr.CalledMove():
            return f"={move.points}"
        case dgr.ForfeitedMove():
            return f"~{move.points}"
        case dgr.TakenMove():
            return f"x{move.seat}{move.points}"
        case dgr.BonusMove():
            return f"+{move.points}"
        case dgr.ShowMove():
            return f"H{_format_tiles(move.tiles)}"
        case dgr.ShowPipsMove():
            return f"h{move.pips}"
        case dgr.RedealMove():
            return "redeal"
        case dgr.UndoMove():
            return f"u{_format_count(move.count)}"
        case dgr.NoteMove():
            return f"({move.text})"
        case _:
            assert_never(move)


def _format_tiles(tiles: tuple[RecordTile, ...]) -> str:
    return "<" + " ".join(tile.tile_text for tile in tiles) + ">"


def _format_count(count: int) -> str:
    return "" if count == 1 else str(count)


@dataclass(frozen=True, slots=True)
class Opening:
    """The game and the players that the tags of a record name.

    Attributes:
        rules: The game, with its options.
        letters: The letters of the seats, clockwise.
        players: The names of the players; a letter for a player without a name.
    """

    rules: Rules
    letters: str
    players: tuple[str, ...]

    @property
    def start(self) -> MatchStart:
        """The match as an event."""
        return MatchStart(self.rules, self.players)

    def seat(self, letter: str, place: Place) -> Seat:
        """Return the seat of *letter*.

        Raises:
            RecordError: If no player has that seat.
        """
        if letter not in self.letters:
            seats = ", ".join(self.letters)
            raise RecordError(place, f'expected one of the seats {seats}, found "{letter}"')
        return Seat(self.letters.index(letter))


def opening_of(record: Record, *, strict: bool) -> Opening:
    """Return the game and the players of a record.

    Raises:
        RecordError: If a tag is missing or wrong; the error names its place.
    """
    rules = _rules(record)
    if strict:
        rules = replace(rules, policy=Policy.STRICT)
    letters, players = _seats(record, rules)
    for problem in deal_problems(rules, len(players)):
        raise RecordError(_place_of(record, "Seats"), problem)
    return Opening(rules, letters, players)


def deal_of(opening: Opening, hand: RecordHand) -> NewHand:
    """Return the deal of a hand.

    Raises:
        RecordError: If no hand can begin as its first line says.
    """
    unknown = [name for name, _ in hand.keys if name not in _HAND_KEYS]
    if unknown:
        raise RecordError(hand.place, f'expected the keys deal, yard and lead, found "{unknown[0]}"')
    tiles, seats = opening.rules.tiles, len(opening.players)
    dealt = _numbers(hand, "deal", tiles)
    if dealt is not None and len(dealt) == 1:
        dealt *= seats
    if dealt is not None and len(dealt) != seats:
        raise RecordError(hand.place, f"deal: expected 1 or {seats} numbers for {seats} players, found {len(dealt)}")
    if dealt is not None and sum(dealt) > tiles:
        raise RecordError(hand.place, f"deal: expected at most the {tiles} tiles of the game, found {sum(dealt)}")
    yard = _numbers(hand, "yard", tiles)
    if yard is not None and len(yard) != 1:
        raise RecordError(hand.place, f"yard: expected one number, found {len(yard)}")
    return NewHand(dealt, None if yard is None else yard[0])


def lead_of(opening: Opening, hand: RecordHand) -> Seat | None:
    """Return the seat that leads a hand, None if the record does not say it.

    Raises:
        RecordError: If no player has that seat.
    """
    letter = hand.key("lead")
    return None if letter is None else opening.seat(letter, hand.place)


def tags_of(start: MatchStart) -> tuple[Tag, ...]:
    """Return the tags of a match."""
    tags = [Tag("DGR", dgr.VERSION), Tag("Rules", start.rules.name)]
    options = changed_options(start.rules)
    if options:
        tags.append(Tag("Options", " ".join(f"{key}={value}" for key, value in options.items())))
    seats = (f"{letter}:{_seat_name(player)}" for letter, player in zip(dgr.SEATS, start.players, strict=False))
    return (*tags, Tag("Seats", " ".join(seats)))


def _seat_name(player: str) -> str:
    """Return the name of a player in a form that the tag Seats can hold."""
    return _SEAT_NAME.sub(r"\1.", " ".join(_UNWRITABLE.sub(" ", player).split()))


def _place_of(record: Record, name: str) -> Place:
    """Return the place of a tag, or of the tag DGR if the record has no such tag."""
    places = {tag.name: tag.place for tag in record.tags}
    return places.get(name, places.get("DGR", dgr.NOWHERE))


def _rules(record: Record) -> Rules:
    """Return the game that the tags Rules, Options and Set describe."""
    name = record.tag("Rules")
    if name is None:
        known = ", ".join(rules.name for rules in PROFILES)
        raise RecordError(_place_of(record, "DGR"), f'expected a tag such as [Rules "bones"]; the games are {known}')
    try:
        rules = profile(name)
    except EngineError as refused:
        raise RecordError(_place_of(record, "Rules"), str(refused)) from None
    try:
        options = parse_options(record.tag("Options") or "")
        rules = with_options(rules, options)
    except EngineError as refused:
        raise RecordError(_place_of(record, "Options"), str(refused)) from None
    return _with_set(record, rules, is_chosen="set" in options)


def _with_set(record: Record, rules: Rules, *, is_chosen: bool) -> Rules:
    """Return *rules* with the tiles of the tag Set, which has to agree with the options."""
    text = record.tag("Set")
    if text is None:
        return rules
    place = _place_of(record, "Set")
    found = _SET.fullmatch(text.strip())
    if found is None:
        raise RecordError(place, f"expected a set such as double-six, found {_quoted(text)}")
    wanted = {"set": re.sub(r"\s+", "-", found[2])}
    if found[1] is not None:
        wanted["copies"] = found[1]
    try:
        chosen = with_options(rules, wanted)
    except EngineError as refused:
        raise RecordError(place, str(refused)) from None
    if is_chosen and (chosen.max_pips, chosen.copies) != (rules.max_pips, rules.copies):
        said = value_text(rules, option_named("set"))
        raise RecordError(place, f"expected the set of the options, which is {said}, found {_quoted(text)}")
    return chosen


def _seats(record: Record, rules: Rules) -> tuple[str, tuple[str, ...]]:
    """Return the letters of the seats and the names of the players, clockwise."""
    text = record.tag("Seats")
    if text is None:
        letters = dgr.SEATS[: max([rules.seats_min, *_seats_used(record)])]
        return letters, tuple(letters)
    place = _place_of(record, "Seats")
    found = list((_SEAT_NAME if _SEAT_NAME.search(text) else _SEAT_ALONE).finditer(text))
    if not found or text[: found[0].start()].strip():
        raise RecordError(place, f'expected seats such as "A:Brian B:Tom" or "A B C D", found {_quoted(text)}')
    letters = "".join(seat[1] for seat in found)
    ends = [*(seat.start() for seat in found[1:]), len(text)]
    names = [text[seat.end() : end].strip() for seat, end in zip(found, ends, strict=True)]
    if len(set(letters)) != len(letters):
        raise RecordError(place, f"expected each seat once, found {_quoted(text)}")
    return letters, tuple(name or letter for name, letter in zip(names, letters, strict=True))


def _seats_used(record: Record) -> Iterator[int]:
    """Yield the least number of seats for each deal, lead and move that names seats."""
    for hand in record.hands:
        yield len((hand.key("deal") or "").split(","))
        lead = hand.key("lead")
        if lead is not None and len(lead) == 1:
            yield dgr.SEATS.find(lead) + 1
        for turn in hand.turns:
            yield dgr.SEATS.index(turn.seat) + 1
            yield from (dgr.SEATS.index(move.seat) + 1 for move in turn.moves if isinstance(move, dgr.TakenMove))


def _numbers(hand: RecordHand, key: str, most: int) -> tuple[int, ...] | None:
    """Return the numbers of a key, each at most *most*; None without that key."""
    text = hand.key(key)
    if text is None:
        return None
    numbers = tuple(int(number) for number in text.split(",")) if _NUMBERS.fullmatch(text) else (-1,)
    if not all(0 <= number <= most for number in numbers):
        raise RecordError(hand.place, f"{key}: expected a number from 0 to {most}, found {_quoted(text)}")
    return numbers


def _quoted(text: str) -> str:
    """Return the beginning of *text* in quotes."""
    return f'"{text}"' if len(text) <= 40 else f'"{text[:40]}…"'
