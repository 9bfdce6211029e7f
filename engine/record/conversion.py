"""Convert between a match and its record: tags, deals, moves with their ports, notes, and the log.

A port, such as "E" or "5-5:N", names the spot of a tile in a record.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from operator import itemgetter

from engine.errors import EngineError
from engine.game.closing import name_problems
from engine.game.fold import history
from engine.library.table import LegalMove
from engine.record import text as dgr
from engine.record.text import MAX_NUMBER, SEATS, NoteMove, Place, Record, RecordError, RecordHand, Tag
from engine.rules import options as rule_options
from engine.rules.rules import Policy, Rules, deal_problems
from engine.state import events
from engine.state.events import Action, Decline, Draw, HandEnd, Knock, MatchStart, NewHand, Play, Seat, Stack
from engine.state.layout import ARMS, LINE, STARTER_PORTS, TIPS, Layout, NodeId, OpenEnd, Port, Spot
from engine.state.match import Game, Phase, State
from engine.state.outcomes import Drew, Forfeited, HandOver, Irregular, Outcome, Reason, Scored
from engine.tiles import Tile

_SEAT_NAME = re.compile(r"(?<!\S)([A-P]):")
_SEAT_ALONE = re.compile(r"(?<!\S)([A-P])(?!\S)")
_OPPOSITE = {Port.W: Port.E, Port.E: Port.W, Port.N: Port.S, Port.S: Port.N}
_NEW_ARM = "*"
_LATER = "'"  # Marks the second copy of a tile.
_SHORT = (*LINE, *TIPS, *ARMS)  # Arms with a short name.
_FITS = 2  # Best rank of an open end: the tile fits, and the end is playable.
_NO_NODE = NodeId(-1)  # Never on the table, so the judge rejects a play there with a reason.
_SHOWS = (dgr.ShowMove, dgr.ShowPipsMove)

Outcomes = tuple[Outcome, ...]


# ---- tags and deals ----


@dataclass(frozen=True, slots=True)
class Opening:
    """Rules and players of a record."""

    rules: Rules  # with the options of the record
    letters: str  # of the seats, clockwise
    players: tuple[str, ...]  # names, or the letters of the seats of players without a name

    def seat(self, letter: str, place: Place) -> Seat:
        """Return the seat of *letter*, or raise RecordError at *place* if it has no player."""
        if letter not in self.letters:
            raise RecordError(place, f'expected one of the seats {", ".join(self.letters)}, found "{letter}"')
        return Seat(self.letters.index(letter))


def opening_of(record: Record, *, strict: bool) -> Opening:
    """Return the rules and players of a record. If *strict*, its illegal moves are to be rejected.

    Raises:
        RecordError: If a tag is missing or invalid. The error gives its place.
    """
    rules, text = _rules(record), record.tag("Seats")
    with _in_tag(record, "Seats"):
        if text is None:
            letters = SEATS[: max([rules.seats_min, *_seats_used(record)])]
            players = tuple(letters)
        else:
            found = list((_SEAT_NAME if _SEAT_NAME.search(text) else _SEAT_ALONE).finditer(text))
            if not found or text[: found[0].start()].strip():
                raise EngineError(f'expected seats such as "A:Brian B:Tom" or "A B C D", found {_quoted(text)}')
            letters = "".join(seat[1] for seat in found)
            if len(set(letters)) != len(letters):
                raise EngineError(f"expected each seat once, found {_quoted(text)}")
            ends = [*(seat.start() for seat in found[1:]), len(text)]
            names = (text[seat.end() : end].strip() for seat, end in zip(found, ends, strict=True))
            players = tuple(name or letter for name, letter in zip(names, letters, strict=True))
        for problem in (*deal_problems(rules, len(players)), *name_problems(players)):
            raise EngineError(problem)
    return Opening(replace(rules, policy=Policy.STRICT) if strict else rules, letters, players)


def deal_of(opening: Opening, hand: RecordHand) -> NewHand:
    """Return the deal of a hand, or raise RecordError if the keys in its first line are invalid."""
    for name, _ in hand.keys:
        if name not in ("deal", "yard", "lead"):
            raise RecordError(hand.place, f'expected the keys deal, yard and lead, found "{name}"')
    tiles, seats = opening.rules.tiles, len(opening.players)
    dealt = _numbers(hand, "deal", tiles)
    if len(dealt) == 1:
        dealt *= seats
    if len(dealt) not in (0, seats):
        raise RecordError(hand.place, f"deal: expected 1 or {seats} numbers for {seats} players, found {len(dealt)}")
    if sum(dealt) > tiles:
        raise RecordError(hand.place, f"deal: expected at most the {tiles} tiles of the game, found {sum(dealt)}")
    yard = _numbers(hand, "yard", tiles)
    if len(yard) > 1:
        raise RecordError(hand.place, f"yard: expected one number, found {len(yard)}")
    return NewHand(dealt or None, yard[0] if yard else None)


def _numbers(hand: RecordHand, key: str, most: int) -> tuple[int, ...]:
    """Return the numbers of a key, each from 0 to *most*. Empty if the key is missing."""
    text = hand.key(key)
    if text is None:
        return ()
    is_valid = re.fullmatch("[0-9]{1,6}(?:,[0-9]{1,6})*", text) is not None
    numbers = tuple(map(int, text.split(","))) if is_valid else ()
    if not numbers or max(numbers) > most:
        raise RecordError(hand.place, f"{key}: expected a number from 0 to {most}, found {_quoted(text)}")
    return numbers


def tags_of(start: MatchStart) -> tuple[Tag, ...]:
    """Return the tags of a match, with names in which only characters are left that the tag Seats can hold."""
    options = " ".join(f"{key}={value}" for key, value in rule_options.changed_options(start.rules).items())
    shown = (re.sub(rf"[{dgr.UNPRINTABLE}]", " ", dgr.BIDI_MARKS.sub("", player)) for player in start.players)
    names = (_SEAT_NAME.sub(r"\1.", " ".join(name.split())) for name in shown)
    seats = " ".join(f"{letter}:{name}" for letter, name in zip(SEATS, names, strict=False))
    texts = {"DGR": dgr.VERSION, "Rules": start.rules.name, "Options": options, "Seats": seats}
    return tuple(Tag(name, text) for name, text in texts.items() if text or name != "Options")


@contextmanager
def _in_tag(record: Record, name: str) -> Iterator[None]:
    """Raise errors as those of the tag *name*, at its place. If the tag is missing, use the place of the tag DGR."""
    try:
        yield
    except EngineError as wrong:
        places = {tag.name: tag.place for tag in record.tags}
        raise RecordError(places.get(name, places["DGR"]), str(wrong)) from None


def _rules(record: Record) -> Rules:
    """Return the rules from the tags Rules, Options and Set. The set has to agree with the options."""
    name, set_text = record.tag("Rules"), record.tag("Set")
    with _in_tag(record, "Rules"):
        if name is None:
            known = ", ".join(rules.name for rules in rule_options.PROFILES)
            raise EngineError(f'expected a tag such as [Rules "bones"]; the games are {known}')
        rules = rule_options.profile(name)
    with _in_tag(record, "Options"):
        options = rule_options.parse_options(record.tag("Options") or "")
        rules = rule_options.with_options(rules, options)
    if set_text is None:
        return rules
    with _in_tag(record, "Set"):
        found = re.fullmatch(r"(?:([0-9])\s*x?\s+)?(\S.*)", set_text.strip())
        if found is None:
            raise EngineError(f"expected a set such as double-six, found {_quoted(set_text)}")
        copies = {} if found[1] is None else {"copies": found[1]}
        chosen = rule_options.with_options(rules, {"set": re.sub(r"\s+", "-", found[2]), **copies})
        if "set" in options and (chosen.max_pips, chosen.copies) != (rules.max_pips, rules.copies):
            expected = rule_options.value_text(rules, rule_options.option_named("set"))
            raise EngineError(f"expected the set of the options, which is {expected}, found {_quoted(set_text)}")
    return chosen


def _seats_used(record: Record) -> Iterator[int]:
    """Yield the minimum number of seats that each deal, lead and move implies."""
    for hand in record.hands:
        yield len((hand.key("deal") or "").split(","))
        lead = hand.key("lead")
        if lead is not None and len(lead) == 1:
            yield SEATS.find(lead) + 1
        for turn in hand.turns:
            yield SEATS.index(turn.seat) + 1
            yield from (SEATS.index(move.seat) + 1 for move in turn.moves if isinstance(move, dgr.TakenMove))


def _quoted(text: str) -> str:
    """Return *text* in quotes, shortened to 40 characters."""
    return f'"{text}"' if len(text) <= 40 else f'"{text[:40]}…"'


# ---- notes with an effect ----

STANDS = NoteMove("stands")  # accepts the previous move despite its problems


def action_of(note: NoteMove, seat: Seat, letters: str = SEATS) -> Action | None:
    """Return the action that a note in a turn of *seat* stands for, or None for a note without an effect.

    Actions without a move of their own are written as notes. *letters* are those of the seats, in order.

    >>> action_of(NoteMove("points=-5 peeked"), Seat(1))
    Adjust(seat=1, points=-5, why='peeked')
    >>> action_of(NoteMove("t=3.1 c=.99"), Seat(1)) is None
    True
    """
    name, equals, rest = note.text.partition("=")
    match name + equals:
        case "points=" if found := re.fullmatch("([+-]?[0-9]{1,6})(?: (.*))?", rest):
            return events.Adjust(seat, int(found[1]), found[2] or "")
        case "yard=" if re.fullmatch("[0-9]{1,3}", rest):
            return events.Boneyard(int(rest))
        case "name=" if rest:
            return events.Rename(seat, rest)
        case "swap=" if re.fullmatch("[A-P]", rest):
            return events.Swap(seat, Seat(letters.find(rest)))
        case "out":
            return events.Domino(seat)
        case "end":
            return HandEnd()
        case "close":
            return events.MatchClose()
        case _:
            return None


def note_of(action: Action) -> NoteMove | None:
    """Return the note for *action*, or None if it is not written as a note or adjusts by more than 999,999 points.

    >>> note_of(events.Adjust(Seat(1), -5, "peeked"))
    NoteMove(text='points=-5 peeked')
    """
    match action:
        case events.Adjust(points=points, why=why) if abs(points) <= MAX_NUMBER:
            return NoteMove(f"points={points} {_writable(why)}".strip(" "))
        case events.Boneyard(tiles=tiles):
            return NoteMove(f"yard={tiles}")
        case events.Rename(name=name):
            return NoteMove(f"name={_writable(name).strip() or '?'}")
        case events.Swap(other=other):
            return NoteMove(f"swap={SEATS[other]}")
        case events.Domino():
            return NoteMove("out")
        case HandEnd():
            return NoteMove("end")
        case events.MatchClose():
            return NoteMove("close")
        case _:
            return None


def _writable(text: str) -> str:
    """Return *text* without characters that a note cannot hold."""
    return re.sub(rf"[(){dgr.UNPRINTABLE}]", " ", dgr.BIDI_MARKS.sub("", text))


# ---- moves ----


def written_move(layout: Layout, rules: Rules, move: LegalMove, inner: int) -> dgr.PlayerMove:
    """Return *move* as a record has it. *inner* is the number of a played tile against its host.

    The port is the shortest one that names the spot. If each port is ambiguous, it is the last one.
    """
    is_second = isinstance(move, Play | Stack) and rules.copies > 1 and layout.used(move.tile) > 0
    match move:
        case Play(tile=tile, at=at):
            written = dgr.TileMove(inner, tile.low + tile.high - inner, second=is_second)
            if at is None or not layout.nodes:
                return written
            ports = [replace(written, port=name) for name in _names(layout, at)]
            return next((port for port in ports if _find_spot(layout, rules, port) == (at, None)), ports[-1])
        case Stack(tile=tile, on=on):
            spots = [end.spot for end in layout.ends if end.spot.host == on] or [Spot(on, Port.E)]
            names = [name for spot in spots for name in _names(layout, spot)]
            stacks = [dgr.StackMove(tile.high, tile.low, name, second=is_second) for name in names]
            return next((stack for stack in stacks if _find_stacked(layout, stack) == on), stacks[-1])
        case Draw(tiles=tiles, forced=forced, faces=faces):
            known = tuple(dgr.RecordTile(face.high, face.low) for face in faces)
            return dgr.DrawMove(tiles, known or None, forced=forced)
        case Knock():
            return dgr.KnockMove()
        case Decline():
            return dgr.DeclineMove()


def move_from(layout: Layout, rules: Rules, written: dgr.PlayerMove, seat: Seat) -> tuple[LegalMove, str | None]:
    """Return the move of *seat* that a record has as *written*, and a problem with its port as text, or None."""
    match written:
        case dgr.TileMove():
            spot, remark = _find_spot(layout, rules, written)
            return Play(seat, written.tile, spot, written.inner), remark
        case dgr.StackMove():
            return Stack(seat, written.tile, _find_stacked(layout, written)), None
        case dgr.DrawMove(count=count, forced=forced, tiles=tiles):
            faces = tuple(tile.tile for tile in tiles or ())
            return Draw(seat, count, forced, faces if len(faces) == count else ()), None
        case dgr.KnockMove():
            return Knock(seat), None
        case dgr.DeclineMove():
            return Decline(seat), None


def format_move(state: State, move: LegalMove | HandEnd) -> str:
    """Return *move* as a game record writes it. `parse_move` returns the move again.

    >>> from engine import BONES, MatchStart, NewHand, Tile, replay
    >>> state = replay([MatchStart(BONES, ("Ann", "Ben")), NewHand(), Play(Seat(0), Tile(5, 5))])
    >>> move = parse_move(state, "5-3@W")
    >>> format_move(state, move), format_move(state, Draw(Seat(1), 2)), format_move(state, Knock(Seat(1)))
    ('5-3@W', 'd2', 'k')
    """
    layout, rules, _ = _hand(state)
    if isinstance(move, HandEnd):
        return "(end)"
    inner = 0
    if isinstance(move, Play):
        end = None if move.at is None else layout.end_at(move.at)
        matching = end.number if end is not None and move.tile.has(end.number) else move.tile.low
        inner = matching if move.inner is None else move.inner
    return dgr.move_text(written_move(layout, rules, move, inner))


def parse_move(state: State, text: str, seat: Seat | None = None) -> LegalMove | HandEnd:
    """Return the move of *seat* for a text such as "5-3@W", "5-3", "d", "k", "n", "2-4'^E" or "(end)".

    The port may be missing if the tile fits only one open end. Legality is not checked.

    Args:
        state: State before the move.
        text: The move, as in a game record.
        seat: Seat of the player. None for the seat to move.

    Raises:
        EngineError: If *text* is not such a move, no tiles are dealt, or the place of the tile is ambiguous.
    """
    layout, rules, turn = _hand(state)
    written, who = dgr.parse_single_move(text), turn if seat is None else seat
    if written == note_of(HandEnd()):
        return HandEnd()
    if not isinstance(written, dgr.PlayerMove) or who is None:
        raise EngineError(f'expected a play, stack, draw, knock, decline or "(end)" of a seat, got "{text}"')
    move, remark = move_from(layout, rules, written, who)
    if isinstance(written, dgr.TileMove) and isinstance(move, Play):
        if written.port is None and layout.nodes and move.at is None:
            place = f'the place of the {move.tile}, such as "{text}@W"'
            raise EngineError(f"expected {place}, because it does not fit one end")
        if written.port is not None and remark is not None:
            raise EngineError(f"{text}: {remark}")
    return move


def _hand(state: State) -> tuple[Layout, Rules, Seat | None]:
    if state.game is None or state.game.hand is None:
        raise EngineError("a move is read and written during a hand, and no tiles have been dealt")
    return state.game.layout, state.game.rules, state.game.hand.turn


def _find_spot(layout: Layout, rules: Rules, move: dgr.TileMove) -> tuple[Spot | None, str | None]:
    """Return the spot where a tile is laid, and the problem with the written port, as text."""
    # The spot is None for the first tile, and for a tile without a port that does not fit exactly one end. It may be
    # covered or closed if the record names such a port.
    tile = move.tile
    if not layout.nodes:
        return None, f"there is nothing at {move.port}: this is the first tile" if move.port else None
    if move.port is None:
        fitting = [end for end in layout.ends if _rank(end, tile, move.inner) == _FITS]
        if not rules.refereed or len(fitting) != 1:
            return None, None
        return fitting[0].spot, f"the place of the {tile} is missing, and only {fitting[0].arm} fits"
    named, colon, port = move.port.partition(":")
    if colon:
        return _beside(layout, named, Port(port)), None
    if move.port == _NEW_ARM:  # The first free arm of the starter. If all six are taken, the judge rejects the seventh.
        first = layout.nodes[0]
        free = [arm for arm in (*STARTER_PORTS, Port.ARM_8) if arm not in layout.covered(first)]
        return Spot(first.id, free[0] if first.is_starter else Port.ARM_1), None
    arm = Port(move.port)
    ranks = [(_rank(end, tile, move.inner), end) for end in layout.ends if end.arm is arm]
    if not ranks:  # A closed tip belongs to the spinner or else the first double, any other port to the first tile.
        doubles = [node for node in layout.nodes if node.tile.is_double] if arm in TIPS else []
        host = next((node for node in doubles if node.branches), (doubles or layout.nodes)[0])
        return Spot(host.id, arm), None
    highest = max(rank for rank, _ in ranks)
    best = [end for rank, end in ranks if rank == highest]
    if len(best) == 1 or highest < _FITS:
        return best[0].spot, None
    on = layout.find(best[0].spot.host)
    return best[0].spot, f"{len(best)} ends are called {move.port}; taken as that of {'' if on is None else on.tile}"


def _find_stacked(layout: Layout, move: dgr.StackMove) -> NodeId:
    """Return the tile under a stacked one. Prefers the equal tile if the port is ambiguous. -1 if there is none."""
    named, colon, port = move.port.partition(":")
    if colon:
        return _beside(layout, named, Port(port)).host
    hosts = [host for end in layout.ends if end.arm.value == move.port and (host := layout.find(end.spot.host))]
    equal = [node for node in hosts or layout.nodes if node.tile == move.tile]
    return next((node.id for node in (*equal, *hosts)), _NO_NODE)


def _rank(end: OpenEnd, tile: Tile, inner: int) -> int:
    fits = tile.bit & end.fits != 0 and (end.number == inner or not tile.has(end.number))
    return (_FITS if end.playable else 1) if fits else 0


def _beside(layout: Layout, named: str, port: Port) -> Spot:
    """Return the free side of the tile *named*, at *port* or opposite."""
    # Of two copies, prefer the one with an open end. A name with ' means the later copy. If neither side is free, or
    # the tile is not on the table, return a spot that the judge rejects.
    tile = Tile.parse(named.removesuffix(_LATER))
    nodes = [node for node in layout.nodes if node.tile == tile]
    if named.endswith(_LATER):
        nodes = nodes[-1:]
    if not nodes:
        return Spot(_NO_NODE, port)
    first, ports = nodes[0], (port, _OPPOSITE[port])
    hosts = {side: {end.spot.host for end in layout.ends if end.spot.port is side} for side in ports}
    open_spots = (Spot(node.id, side) for side in ports for node in nodes if node.id in hosts[side])
    free = (Spot(first.id, side) for side in ports if side in first.ports and side not in layout.covered(first))
    return next(chain(open_spots, free), Spot(first.id, port))


def _names(layout: Layout, spot: Spot) -> list[str]:
    """Return the ports that name *spot*, shortest first."""
    end, host = layout.end_at(spot), layout.find(spot.host)
    names: list[str] = [end.arm.value] if end is not None and end.arm in _SHORT else []
    if host is None:
        return names or [Port.E.value]
    if spot.port in _OPPOSITE:
        sides = (spot.port, _OPPOSITE[spot.port]) if spot.port in LINE else (spot.port,)
        twin = next(node for node in layout.nodes if node.tile == host.tile)
        marked = f"{host.tile}{'' if twin is host else _LATER}"
        names += [f"{name}:{side}" for name in (marked, str(host.tile)) for side in sides]
    return names if host.tile.is_double and spot.port in TIPS else [*names, _NEW_ARM]


# ---- the log ----


def record_of(state: State) -> dgr.Record:
    """Return the last match of *state* as a record that leads to the same points.

    Undone and rejected actions are omitted.

    Raises:
        EngineError: If there is no profile with the name of the rules, or the log continues from a position.
    """
    if state.start is not None:
        raise EngineError("a record tells a match from its start, and this one goes on from a position")
    hands, games = [_Hand(0)], [step.before for step in state.steps][1:]
    tags: tuple[dgr.Tag, ...] = (dgr.Tag("DGR", dgr.VERSION),)
    for step, result, game in zip(state.steps, history(state), (*games, state.game), strict=False):
        action, before = step.entry.action, step.before
        if game is None or any(isinstance(outcome, Irregular) and not outcome.stands for outcome in result.outcomes):
            continue
        if isinstance(action, MatchStart):
            tags, hands = tags_of(action), [_Hand(0)]
        elif isinstance(action, NewHand):
            assert game.hand is not None  # it was dealt by the action
            hand = _Hand(game.hand.number, game.hand.sizes, game.hand.boneyard)
            if hands[-1].number == 0:
                early = hands.pop().moves
                hand.moves = [(seat, move) for seat, move in early if move != note_of(events.MatchClose())]
            hands.append(hand)
        elif before is not None:
            hands[-1].write(before, game, action, result.outcomes, is_accepted=step.entry.accepted)
    return dgr.Record(tags, tuple(hand.closed() for hand in hands if hand.number or hand.moves))


@dataclass(slots=True)
class _Hand:
    """A hand of the record while the record is written."""

    number: int  # 0 for the moves before the first deal
    dealt: tuple[int, ...] = ()  # tiles dealt to each seat; empty before the first deal
    boneyard: int = 0  # tiles left after the deal
    lead: Seat | None = None  # None if no event names it
    lead_stands: bool = False  # whether the lead needs the note that accepts it
    moves: list[tuple[Seat, dgr.Move]] = field(default_factory=list)
    after_tile: int = 0  # index in *moves* after the last tile and the note that accepts it
    end: str | None = None  # text after `#end`; None until the hand is counted

    def write(self, before: Game, game: Game, action: Action, outcomes: Outcomes, *, is_accepted: bool) -> None:
        """Add an action that counts and changed the match from *before* to *game*."""
        if isinstance(action, events.Lead):
            self.name_lead(action.seat, is_accepted=is_accepted)
        elif isinstance(action, events.Redeal):
            self.lead, self.lead_stands = None, False
        elif isinstance(action, events.Swap) and self.lead is not None and game.phase is Phase.LEAD:
            assert game.hand is not None  # the phase is LEAD
            self.lead = game.hand.turn  # A record exchanges places before the lead.
        for outcome in outcomes:
            if isinstance(outcome, Forfeited):  # The points were scored by the last tile.
                self.moves.insert(self.after_tile, (outcome.seat, dgr.ForfeitedMove(outcome.points)))
        paid = [each for each in outcomes if isinstance(each, Scored) and each.reason in (Reason.PLAY, Reason.STEAL)]
        called = [dgr.CalledMove(gain.points) for gain in paid if gain.points > 0]
        is_call = isinstance(action, events.Call)
        moves = called if is_call else list(_moves(before, game, action, outcomes))
        drew = [each.seat for each in outcomes if isinstance(each, Drew) and isinstance(action, events.Boneyard)]
        turn = None if before.hand is None else before.hand.turn
        seat = drew[0] if drew else getattr(action, "seat", turn) or Seat(0)
        self.moves += ((seat, move) for move in (*moves, *((STANDS,) if is_accepted and moves else ())))
        if isinstance(action, Play | Stack):
            self.after_tile = len(self.moves)
        taken = [dgr.TakenMove(SEATS[loss.seat], -loss.points) for loss in paid if loss.points < 0]
        self.moves += ((seat, move) for move in (*(() if is_call else called), *taken))
        for outcome in outcomes:
            if isinstance(outcome, HandOver):
                winner, points = outcome.result.winner, outcome.result.points
                self.end = "nobody" if winner is None else f"{SEATS[winner]}{points:+}"
                if winner is not None and 0 <= points <= MAX_NUMBER:
                    self.moves.append((winner, dgr.BonusMove(points)))

    def name_lead(self, seat: Seat, *, is_accepted: bool) -> None:
        """Set the seat that leads.

        A record names the lead before all moves. Knocks before the lead are removed because they would pass the lead
        on. The lead is then marked as accepted, as it may be another seat's turn. A count of the boneyard before the
        lead becomes part of the deal. After the lead, the count would be a draw by that seat.
        """
        kept: list[tuple[Seat, dgr.Move]] = []
        is_left_out = False
        for who, move in self.moves:
            counted = action_of(move, who) if isinstance(move, NoteMove) else None
            is_left_out = isinstance(move, dgr.KnockMove) or (is_left_out and move == STANDS)
            if isinstance(counted, events.Boneyard) and not kept:
                self.boneyard, is_left_out = counted.tiles, True
            if not is_left_out:
                kept.append((who, move))
        passed = any(isinstance(move, dgr.KnockMove) for _, move in self.moves)
        self.lead, self.lead_stands = seat, self.lead_stands or is_accepted or passed
        self.moves = kept

    def closed(self) -> dgr.RecordHand:
        """Return the hand, with its moves grouped into turns."""
        moves = [made for at, made in enumerate(self.moves) if not self._is_redundant(at)]
        if self.lead is not None and self.lead_stands:
            moves.insert(0, (self.lead, STANDS))
        by_seat = groupby(moves, key=itemgetter(0))
        turns = tuple(dgr.RecordTurn(SEATS[seat], tuple(move for _, move in made)) for seat, made in by_seat)
        keys = [("deal", ",".join(map(str, self.dealt))), ("yard", str(self.boneyard))] if self.dealt else []
        keys += [] if self.lead is None else [("lead", SEATS[self.lead])]
        is_closed = self.end is not None
        return dgr.RecordHand(self.number or 1, tuple(keys), turns, closed=is_closed, end=self.end or "")

    def _is_redundant(self, at: int) -> bool:
        """Return True if the move at index *at* is a note "out" or "end" that the hands shown after it imply."""
        (seat, move), after = self.moves[at], self.moves[at + 1 :]
        if not isinstance(move, NoteMove) or move.text not in ("out", "end"):
            return False
        is_shown = [isinstance(other, _SHOWS) for _, other in self.moves]
        if any(is_shown[:at]) or not any(is_shown[at + 1 : at + 2]):
            return False
        hidden = set(range(len(self.dealt))) - {who for who, later in after if isinstance(later, _SHOWS)}
        return hidden == {seat} if move.text == "out" else len(hidden) != 1


def _moves(before: Game, game: Game, action: Action, outcomes: Outcomes) -> tuple[dgr.Move, ...]:
    """Return the moves that represent an action. Empty if the tags or the first line of a hand imply it."""
    match action:
        case Play() | Stack() | Draw() | Knock() | Decline():
            inner = game.layout.nodes[-1].inner if isinstance(action, Play) else 0
            return (written_move(before.layout, before.rules, action, inner),)
        case events.Boneyard(tiles=tiles):
            drawn = tuple(dgr.DrawMove(outcome.tiles) for outcome in outcomes if isinstance(outcome, Drew))
            if drawn or before.hand is None or before.hand.boneyard == tiles:
                return drawn
        case events.Redeal():
            return (dgr.RedealMove(),)
        case events.Reveal(tiles=shown):
            return (dgr.ShowMove(tuple(dgr.RecordTile(tile.high, tile.low) for tile in shown)),)
        case events.RevealPips(pips=pips):
            return (dgr.ShowPipsMove(min(pips, MAX_NUMBER)),)
        case _:
            pass
    note = note_of(action)
    return () if note is None else (note,)
