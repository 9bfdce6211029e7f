"""Format and parse positions: a `Table` as one line of text, like FEN in chess. See docs/reference/positions.md."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from engine.errors import EngineError
from engine.library.table import SeatView, Table
from engine.record.conversion import opening_of, tags_of
from engine.record.text import SEATS, Record, format_record, parse_record
from engine.rules.rules import Rules
from engine.state.events import Holding, MatchStart, Seat
from engine.state.layout import Layout, NodeId, Port, Spot, attach, count, is_locked, points_for, stack_on
from engine.state.match import NO_COURSE, Chance, Claim, ClaimKind, Course, Game, Hand, LeadTile, Phase, Spell, State
from engine.state.outcomes import Ending
from engine.tiles import Tile, set_bits

MAX_CHARACTERS = 20_000  # Longer texts are rejected. A double-eighteen set with every tile laid takes 4,000.
_SHOWN = 20  # Texts quoted in a message are cut to this many characters.
_TAGS = re.compile(r'(?:\[[A-Za-z]\w*+ "(?:[^"\\\n]|\\["\\])*+"\] )+')
_WORD = re.compile(r"[A-Za-z]+<[^<>]*>|[^ <>]+")
_NAME = re.compile(r"[A-P](?=[+|-]|\Z)|[A-P]<|[a-z]+[<=]|#|[a-z_]+\Z")
_NUMBER = "[0-9]{1,6}"
_BITS = "[0-9a-f]{1,60}"
_PAYMENT = f"[+-]{_NUMBER}"
_LAID = rf"\^({_NUMBER})|({_NUMBER})-({_NUMBER})(?:@({_NUMBER}):([WENS1-8]))?"
_CLAIM = f"([A-P])/([dkoln])/({_NUMBER}(?:,{_NUMBER})*)?/({_NUMBER})/({_BITS})"

_Scores = tuple[tuple[int, ...], ...]
_Choice = TypeVar("_Choice", bound=StrEnum)

Held = tuple[Tile, ...] | int  # the tiles of a hand or boneyard, or only their number


def format_position(table: Table) -> str:
    """Return *table* as one line of text. `parse_position` restores the table without its log.

    Raises:
        EngineError: If there is no profile with the name of its rules, or the state cannot occur between steps of a
            `Table`.
    """
    return _position_text(table.game, table.hands, table.boneyard)


def format_view(view: SeatView) -> str:
    """Return *view* as one line of text, without hidden tiles. `parse_view` restores it without its log."""
    hand, hands = view.game.hand, list[Held]([()] * len(view.game.players))
    if hand is not None:
        known = zip(hand.holdings, hand.sizes, strict=True)
        hands = [size if holding is None or holding.tiles is None else holding.tiles for holding, size in known]
        hands[view.seat] = view.tiles
    return f"{_position_text(view.game, hands, 0 if hand is None else hand.boneyard)} sees={SEATS[view.seat]}"


def _position_text(game: Game, hands: Sequence[Held], boneyard: Held) -> str:
    tags = format_record(Record(tags_of(MatchStart(game.rules, game.players)))).replace("\n", " ")
    fields = [str(game.phase)]
    for seat, scores in enumerate(game.scores):
        before = () if game.hand is None else game.hand.scores_before[seat]
        if scores[: len(before)] != before:
            raise EngineError("a position cannot contain points added by hand during a hand")
        since = "".join(f"{points:+}" for points in scores[len(before) :])
        fields.append(SEATS[seat] + "".join(f"{points:+}" for points in before) + ("|" + since if since else ""))
    fields += _named({"won=": _letter(game.hand_winner), "wins=": _letter(game.winner)})
    if game.hand is not None:
        fields += _hand_fields(hands, boneyard, game.hand)
    return tags + " ".join(fields)


def _named(values: dict[str, str | int | tuple[str | int, ...] | None]) -> Iterator[str]:
    """Yield a word for each value by its name. None, 0, False and empty values have no word, and True has no value."""
    for name, value in values.items():
        if value:
            parts = value if isinstance(value, tuple) else () if value is True else (value,)
            yield name + ",".join(map(str, parts))


def _letter(seat: Seat | None) -> str:
    return "" if seat is None else SEATS[seat]


def _hand_fields(hands: Sequence[Held], boneyard: Held, hand: Hand) -> Iterator[str]:
    """Yield the words for a hand."""
    shown = [holding is not None for at, holding in enumerate(hand.holdings) if at != hand.out]
    course, spell, chance = hand.course, hand.course.spell, hand.chance
    if hand.lapsed is not None or (any(shown) and not all(shown)) or not (chance is None or chance.called):
        raise EngineError("a position is written between the steps of a table: call the points, show all hands")
    stolen = "" if chance is None or chance.victim is None else f"x{SEATS[chance.victim]}{chance.loss}"
    yield from _named(
        {
            "#": hand.number,
            "turn=": _letter(hand.turn),
            "lead=": hand.lead,
            "passes=": hand.passes,
            "right": course.direction < 0,
            "spell=": None if spell is None else f"{SEATS[spell.caster]}{spell.arm or ''}/{spell.returns}",
            "again": course.extra,
            "skip": course.skip,
            "drawn=": course.drawn,
            "without=": course.without_double,
            "owed=": course.owed,
            "known=": tuple(f"{bits:x}" for bits in hand.held) if any(hand.held) else (),
            "chance=": None if chance is None else f"{SEATS[chance.seat]}{chance.points}{stolen}",
            "end=": hand.ending,
            "out=": _letter(hand.out),
            "open": hand.ending is not None and all(shown),
        }
    )
    for name, held in zip((*SEATS[: len(hands)], "yard"), (*hands, boneyard), strict=True):
        yield f"{name}<{held or '' if isinstance(held, int) else ' '.join(map(str, held))}>"
    places = {node.id: place for place, node in enumerate(hand.layout.nodes, start=1)}
    laid = [
        f"{node.inner}-{node.outer}" + ("" if node.joins is None else f"@{places[node.joins.host]}:{node.joins.port}")
        for node in hand.layout.nodes
    ]
    yield f"laid<{' '.join((*laid, *(f'^{places[below]}' for below in hand.layout.stacked)))}>"
    claims = (
        f"{letter}/{claim.kind}/{','.join(map(str, claim.numbers))}/{claim.allowed}/{claim.denied:x}"
        for letter, claimed in zip(SEATS, hand.claims, strict=False)
        for claim in claimed
    )
    yield f"said<{' '.join(claims)}>"


def _size(held: Held) -> int:
    return held if isinstance(held, int) else len(held)


# ---- parsing ----


def parse_position(text: str) -> Table:
    """Return the table for a position. Play can continue, but there is no log to undo or to record.

    Raises:
        EngineError: If *text* is not a valid position. The error states what was expected.
    """
    state, hands, boneyard = _reader(text).read()
    if isinstance(boneyard, int) or any(isinstance(held, int) for held in hands):
        raise EngineError("expected the tiles of every hand and of the boneyard, got only a number: a view of one seat")
    return Table(state, tuple(held for held in hands if not isinstance(held, int)), boneyard)


def parse_view(text: str) -> SeatView:
    """Return the view for a text of `format_view`."""
    reader = _reader(text)
    seat = reader.seat("sees=")
    if seat is None:
        raise EngineError("expected sees= with the seat of the view")
    state, hands, _ = reader.read()
    tiles = hands[seat]
    if isinstance(tiles, int):
        raise EngineError(f"expected the tiles of {SEATS[seat]}, got {tiles}")
    return SeatView(seat, tiles, state)


def _reader(text: str) -> "_PositionReader":
    """Return a parser for the words after the tags: the rest of each by its name, such as "turn=", "yard<" or "#"."""
    if len(text) > MAX_CHARACTERS:
        raise EngineError(f"expected a position of at most {MAX_CHARACTERS} characters, got {len(text)}")
    tags = _TAGS.match(text)
    if tags is None:
        raise EngineError('expected a position that begins with tags such as [DGR "1"] [Rules "bones"] [Seats "A B"]')
    opening = opening_of(parse_record(tags[0]), strict=False)
    start = Table.start(opening.rules, opening.players).game
    text = text[tags.end() :].rstrip("\n")
    found = _WORD.findall(text)
    _require(" ".join(found) == text, "words with one blank between them after the tags")
    fields: dict[str, str] = {}
    for word in found:
        name = _NAME.match(word)
        if name is None or name[0] in fields:
            raise EngineError(f'expected a word of a position, each once, got "{word[:_SHOWN]}"')
        fields[name[0]] = word[name.end() :].removesuffix(">")
    return _PositionReader(start.rules, start.players, fields)


@dataclass(slots=True)
class _PositionReader:
    """Parser of a position. Methods remove the entries of *fields* that they consume."""

    rules: Rules
    players: tuple[str, ...]
    fields: dict[str, str]

    def read(self) -> tuple[State, tuple[Held, ...], Held]:
        """Return the state, the hands and the boneyard."""
        phases = [phase for phase in Phase if str(phase) in self.fields and phase is not Phase.REVEAL]
        _require(len(phases) == 1, "one of deal, lead, play, match_over")
        (phase,) = phases
        del self.fields[str(phase)]
        letters = SEATS[: len(self.players)]
        paid = [self._paid(letter) for letter in letters]
        hands = tuple(self._tiles(f"{letter}<") for letter in letters)
        boneyard = self._tiles("yard<")
        hand = self._hand(phase, hands, _size(boneyard), tuple(before for before, _ in paid))
        scores = tuple((*before, *since) for before, since in paid)
        totals, hand_winner = tuple(map(sum, scores)), self.seat("won=")
        game = Game(self.rules, self.players, phase, scores, totals, hand, hand_winner, self.seat("wins="))
        _require(not self.fields, f"nothing more here, got {', '.join(name[:_SHOWN] for name in self.fields)}")
        _require(hand is not None or not any((boneyard, *hands)), "the number of a hand, such as #1, with its tiles")
        parts = (() if hand is None else hand.layout.tiles, boneyard, *hands)
        total = sum(map(_size, parts))
        _require(total <= self.rules.tiles, f"at most {self.rules.tiles} tiles, got {total}")
        highest, copies = self.rules.max_pips, self.rules.copies
        for tile, number in Counter(tile for part in parts if not isinstance(part, int) for tile in part).items():
            _require(tile.high <= highest, f"tiles up to {highest}-{highest}, got {tile}")
            _require(number <= copies, f"{tile} at most {copies} times, got {number}")
        return State(game=game, start=game), hands, boneyard

    def _hand(self, phase: Phase, hands: tuple[Held, ...], boneyard: int, scores_before: _Scores) -> Hand | None:
        """Return the hand; None before the first."""
        number, is_played = self._number("#"), phase in (Phase.LEAD, Phase.PLAY)
        if not number:
            _require(not is_played, "the number of a hand, such as #1")
            return None
        layout, turn = self._layout(), self.seat("turn=")
        ending, out = self._choice("end=", Ending), self.seat("out=")
        _require((turn is not None) == is_played, "turn= while a hand is played, and only then")
        _require(bool(layout.nodes) or phase is not Phase.PLAY, "tiles in laid<> while a hand is played")
        _require(not layout.nodes or phase is not Phase.LEAD, "no tile in laid<> before the lead")
        is_open = self._flag("open")
        _require(ending is not None or not (is_open or out is not None), "end= if open or out= is given")
        known = self._by_seat("known=", _BITS, 16) or (0,) * len(self.players)
        _require(max(known) <= set_bits(self.rules.max_pips), "tiles of the set in known=")
        return Hand(
            number=number,
            layout=layout,
            sizes=tuple(map(_size, hands)),
            boneyard=boneyard,
            turn=turn,
            lead=self._choice("lead=", LeadTile) or LeadTile.ANY,
            scores_before=scores_before,
            claims=self._claims(layout),
            held=known,
            holdings=tuple(
                Holding.of(held) if not isinstance(held, int) and (is_open or seat == out) else None
                for seat, held in enumerate(hands)
            ),
            passes=self._number("passes="),
            locked=bool(layout.nodes) and is_locked(layout, self.rules),
            course=self._course(layout),
            chance=self._chance(layout),
            ending=ending,
            out=out,
        )

    def _paid(self, letter: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the scores of a seat before the current hand, and since."""
        text = self.fields.pop(letter, None)
        _require(text is not None, f"the points that {letter} got, such as {letter}+10-5, or {letter} alone")
        before, _, since = _matched(rf"(?:{_PAYMENT})*(?:\|(?:{_PAYMENT})*)?", text or "")[0].partition("|")
        return tuple(map(int, re.findall(_PAYMENT, before))), tuple(map(int, re.findall(_PAYMENT, since)))

    def _layout(self) -> Layout:
        """Return the layout. Its tiles have negative ids, which no play in a log has."""
        layout, laid = Layout(), self._list("laid<")
        before_first = -1 - sum(not word.startswith("^") for word in laid)
        for word in laid:
            stacked, inner, outer, host, port = _matched(_LAID, word).groups()
            if stacked is not None:
                below = layout.find(NodeId(before_first + int(stacked)))
                if below is None:
                    raise EngineError(f"expected one of the {len(layout.nodes)} tiles on the table, from 1, got {word}")
                layout = stack_on(layout, below.tile, below.id)
                continue
            at = None if host is None else Spot(NodeId(before_first + int(host)), Port(port))
            _require((at is None) == (not layout.nodes), f'"{word}" with its place, of all but the first tile')
            tile, node = Tile.of(int(inner), int(outer)), NodeId(before_first + 1 + len(layout.nodes))
            layout = attach(layout, tile, at, node=node, rules=self.rules, inner=int(inner))
        return layout

    def _claims(self, layout: Layout) -> tuple[tuple[Claim, ...], ...]:
        claims: list[list[Claim]] = [[] for _ in self.players]
        is_asked = self.rules.redeal_if_doubles_over is not None
        for word in self._list("said<"):
            letter, kind, numbers, allowed, denied = _matched(_CLAIM, word).groups()
            on = tuple(map(int, re.findall(_NUMBER, numbers or "")))
            claim = Claim(ClaimKind(kind), int(denied, 16), int(allowed), on)
            _require(claim.denied <= set_bits(self.rules.max_pips), f'tiles of the set in "{word}"')
            _require(is_asked or kind != ClaimKind.KEPT_DEAL, "/o/ only in a game with redeal_if_doubles_over")
            _require(bool(layout.nodes) or kind != ClaimKind.LET_ANOTHER_LEAD, "/l/ only after the lead")
            claims[self._index(letter)].append(claim)
        return tuple(map(tuple, claims))

    def _course(self, layout: Layout) -> Course:
        spell, cast = None, self._match("spell=", rf"([A-P])([WENS1-8])?/({_NUMBER})")
        if cast is not None:
            letter, arm, returns = cast.groups()
            _require(bool(layout.nodes) and self.rules.effects is not None, "a spell only in a game with effects")
            spell = Spell(self._index(letter), None if arm is None else Port(arm), int(returns))
        course = Course(
            direction=-1 if self._flag("right") else 1,
            spell=spell,
            extra=self._flag("again"),
            skip=self._flag("skip"),
            drawn=self._number("drawn="),
            without_double=self._number("without="),
            owed=self._by_seat("owed=", _NUMBER, 10),
        )
        return NO_COURSE if course == NO_COURSE else course  # Other code compares with `is NO_COURSE`.

    def _chance(self, layout: Layout) -> Chance | None:
        """Return the points of the last play, which were called and may be stolen, or None."""
        found = self._match("chance=", f"([A-P])({_NUMBER})(?:x([A-P])({_NUMBER}))?")
        if found is None:
            return None
        letter, points, victim, loss = found.groups()
        _require(bool(layout.stacked if victim else layout.nodes), "chance= only after a play, with x after a stack")
        counted = count(layout, self.rules.spinner_count)
        seat, worth = self._index(letter), points_for(counted.total, self.rules)
        loser = None if victim is None else self._index(victim)
        return Chance(seat, worth, int(points), counted, called=True, victim=loser, loss=int(loss or 0))

    # Each returns the rest of the word *name*. If the word is missing, it is None, empty, 0 or False.

    def _tiles(self, name: str) -> Held:
        fields = self._list(name)
        is_number = len(fields) == 1 and re.fullmatch("[1-9][0-9]{0,2}", fields[0]) is not None
        return int(fields[0]) if is_number else tuple(map(Tile.parse, fields))

    def _list(self, name: str) -> tuple[str, ...]:
        return tuple(self.fields.pop(name, "").split())

    def _flag(self, name: str) -> bool:
        return self.fields.pop(name, None) is not None

    def _number(self, name: str) -> int:
        found = self._match(name, _NUMBER)
        return 0 if found is None else int(found[0])

    def _by_seat(self, name: str, form: str, base: int) -> tuple[int, ...]:
        found = self._match(name, f"{form}(?:,{form})*")
        numbers = () if found is None else tuple(int(number, base) for number in found[0].split(","))
        _require(len(numbers) in (0, len(self.players)), f"{name} with a number for each seat")
        return numbers

    def _match(self, name: str, form: str) -> re.Match[str] | None:
        text = self.fields.pop(name, "")
        return _matched(form, text) if text else None

    def seat(self, name: str) -> Seat | None:
        letter = self.fields.pop(name, None)
        return None if letter is None else self._index(letter)

    def _choice(self, name: str, choices: type[_Choice]) -> _Choice | None:
        text = self.fields.pop(name, None)
        _require(text is None or text in list(choices), f"{name} with one of {', '.join(choices)}")
        return None if text is None else choices(text)

    def _index(self, letter: str) -> Seat:
        letters = SEATS[: len(self.players)]
        _require(len(letter) == 1 and letter in letters, f"one of the seats {', '.join(letters)}")
        return Seat(letters.index(letter))


def _require(holds: bool, expected: str) -> None:  # noqa: FBT001 - reads as an assertion
    if not holds:
        raise EngineError(f"expected {expected}")


def _matched(form: str, text: str) -> re.Match[str]:
    found = re.fullmatch(form, text)
    if found is None:
        raise EngineError(f'expected a word as docs/reference/positions.md has it, got "{text[:_SHOWN]}"')
    return found
