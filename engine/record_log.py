"""The way back: the log of a match as a game record, without what was undone or refused."""

from dataclasses import dataclass, field
from typing import assert_never

from engine.events import (
    Abandon,
    Action,
    Adjust,
    Boneyard,
    Call,
    Decline,
    Domino,
    Draw,
    HandEnd,
    Knock,
    Lead,
    MatchClose,
    MatchStart,
    NewHand,
    Play,
    Redeal,
    Reveal,
    RevealPips,
    Seat,
    Stack,
)
from engine.fold import entries
from engine.outcomes import Drew, Forfeited, HandOver, Outcome, Reason, Scored
from engine.record import (
    MAX_NUMBER,
    SEATS,
    STANDS,
    VERSION,
    BonusMove,
    CalledMove,
    DeclineMove,
    DrawMove,
    ForfeitedMove,
    KnockMove,
    Move,
    NoteMove,
    Record,
    RecordHand,
    RecordTile,
    RecordTurn,
    RedealMove,
    ShowMove,
    ShowPipsMove,
    StackMove,
    Tag,
    TakenMove,
    TileMove,
    note_of,
    port_of_play,
    port_of_stack,
)
from engine.record_table import RecordTable
from engine.record_text import tags_of
from engine.state import Game, State
from engine.tiles import Tile

_SHOWS = (ShowMove, ShowPipsMove)


def record_of(state: State) -> Record:
    """Return the match of *state*, the last one if there were more, as a record that plays to the same points.

    Raises:
        EngineError: If no profile is called as its rules are.
    """
    table, writing = RecordTable(), _Writing()
    for entry in entries(state):
        before = table.game
        taken = table.take(entry.action, is_accepted=entry.accepted, trusted=(), seq=entry.seq)
        if taken.stands and table.game is not None:
            writing.write(before, table.game, entry.action, taken.outcomes, is_accepted=entry.accepted)
    if writing.waiting and not writing.hands:  # the match was closed before the first deal
        writing.hands.append(_Hand(1, moves=writing.waiting))
    return Record(writing.tags, tuple(hand.closed() for hand in writing.hands))


@dataclass(slots=True)
class _Hand:
    """A hand that is being written."""

    number: int
    dealt: tuple[int, ...] = ()
    boneyard: int = 0
    lead: Seat | None = None
    moves: list[tuple[Seat, Move]] = field(default_factory=list)
    last_tile: int = 0
    end: str | None = None

    def add(self, seat: Seat, *moves: Move) -> None:
        """Write moves of *seat*."""
        self.moves += ((seat, move) for move in moves)

    def forget_knocks(self) -> None:
        """Leave out the knocks before it was said who leads: that is written first, and they would pass the lead on."""
        kept: list[tuple[Seat, Move]] = []
        is_left_out = False
        for seat, move in self.moves:
            is_left_out = isinstance(move, KnockMove) or (is_left_out and move == STANDS)
            if not is_left_out:
                kept.append((seat, move))
        self.moves = kept

    def forfeit(self, seat: Seat, points: int) -> None:
        """Write points that were not called where the tile was laid."""
        self.moves.insert(self.last_tile + 1, (seat, ForfeitedMove(points)))

    def closed(self) -> RecordHand:
        """Return the hand with its moves gathered in turns."""
        turns: list[tuple[Seat, list[Move]]] = []
        for at, (seat, move) in enumerate(self.moves):
            if self._says_itself(at):
                continue
            if not turns or turns[-1][0] != seat:
                turns.append((seat, []))
            turns[-1][1].append(move)
        keys = [("deal", ",".join(map(str, self.dealt))), ("yard", str(self.boneyard))] if self.dealt else []
        keys += [] if self.lead is None else [("lead", SEATS[self.lead])]
        written = tuple(RecordTurn(SEATS[seat], tuple(moves)) for seat, moves in turns)
        return RecordHand(self.number, tuple(keys), written, closed=self.end is not None, end=self.end or "")

    def _says_itself(self, at: int) -> bool:
        """Return whether the hands that are laid open after a note say what it says: that the hand is over, and how."""
        seat, move = self.moves[at]
        after = self.moves[at + 1 :]
        if not isinstance(move, NoteMove) or move.text not in ("out", "end"):
            return False
        if (
            not after
            or not isinstance(after[0][1], _SHOWS)
            or any(isinstance(one, _SHOWS) for _, one in self.moves[:at])
        ):
            return False
        hidden = set(range(len(self.dealt))) - {who for who, one in after if isinstance(one, _SHOWS)}
        return hidden == {seat} if move.text == "out" else len(hidden) != 1


@dataclass(slots=True)
class _Writing:
    """A record that is being written; *waiting* are moves for which there is no hand yet."""

    tags: tuple[Tag, ...] = (Tag("DGR", VERSION),)
    hands: list[_Hand] = field(default_factory=list)
    waiting: list[tuple[Seat, Move]] = field(default_factory=list)

    def write(
        self, before: Game | None, game: Game, action: Action, outcomes: tuple[Outcome, ...], *, is_accepted: bool
    ) -> None:
        """Write an action that stands, between the match *before* it and *game*."""
        if isinstance(action, MatchStart):
            self.tags, self.hands = tags_of(action), []
            return
        if isinstance(action, NewHand):
            hand = game.hand
            assert hand is not None  # it has just been dealt
            waiting = [(seat, move) for seat, move in self.waiting if move != note_of(MatchClose())]
            self.hands.append(_Hand(hand.number, hand.sizes, hand.boneyard, moves=waiting))
            self.waiting = []
            return
        assert before is not None  # a match has started
        seat = _seat_of(before, action, outcomes)
        moves = _moves(before, game, action, outcomes)
        if is_accepted and moves:
            moves = (*moves, STANDS)
        if not self.hands:
            self.waiting += ((seat, move) for move in moves)
            return
        self._write_in_hand(self.hands[-1], seat, action, moves, outcomes)

    def _write_in_hand(
        self, hand: _Hand, seat: Seat, action: Action, moves: tuple[Move, ...], outcomes: tuple[Outcome, ...]
    ) -> None:
        for outcome in outcomes:
            if isinstance(outcome, Forfeited):
                hand.forfeit(outcome.seat, outcome.points)
        if isinstance(action, Redeal):
            hand.lead = None
        if isinstance(action, Lead):
            hand.lead = action.seat
            hand.forget_knocks()
        if isinstance(action, Play | Stack):
            hand.last_tile = len(hand.moves)
        hand.add(seat, *moves)
        hand.add(seat, *_points(action, outcomes))
        for outcome in outcomes:
            if not isinstance(outcome, HandOver):
                continue
            winner, points = outcome.result.winner, outcome.result.points
            hand.end = "nobody" if winner is None else f"{SEATS[winner]}{points:+}"
            if winner is not None and 0 <= points <= MAX_NUMBER:
                hand.add(winner, BonusMove(points))


def _seat_of(before: Game, action: Action, outcomes: tuple[Outcome, ...]) -> Seat:
    """Return in whose turn an action is written: his own, or that of whose turn it is when it is nobody's."""
    if isinstance(action, Boneyard):
        drew = [outcome.seat for outcome in outcomes if isinstance(outcome, Drew)]
        if drew:
            return drew[0]
    if not isinstance(action, Abandon | Boneyard | HandEnd | MatchClose | MatchStart | NewHand | Redeal):
        return action.seat
    return Seat(0) if before.hand is None or before.hand.turn is None else before.hand.turn


def _moves(before: Game, game: Game, action: Action, outcomes: tuple[Outcome, ...]) -> tuple[Move, ...]:
    """Return how an action is written."""
    match action:
        case Play():
            return (_tile_move(before, game, action),)
        case Stack(tile=tile, on=on):
            port = port_of_stack(before.layout, tile, on)
            return (StackMove(tile.high, tile.low, port, second=_is_second(before, tile)),)
        case Draw(tiles=tiles, forced=forced, faces=faces):
            known = tuple(RecordTile(face.high, face.low) for face in faces)
            return (DrawMove(tiles, known or None, forced=forced),)
        case Boneyard():
            drawn = tuple(DrawMove(outcome.tiles) for outcome in outcomes if isinstance(outcome, Drew))
            return drawn or _notes(action if before.hand and before.hand.boneyard != action.tiles else None)
        case Knock():
            return (KnockMove(),)
        case Decline():
            return (DeclineMove(),)
        case Redeal():
            return (RedealMove(),)
        case Reveal(tiles=tiles):
            return (ShowMove(tuple(RecordTile(tile.high, tile.low) for tile in tiles)),)
        case RevealPips(pips=pips):
            return (ShowPipsMove(min(pips, MAX_NUMBER)),)
        case Call():
            return tuple(CalledMove(outcome.points) for outcome in _paid(outcomes) if outcome.points > 0)
        case Adjust() | Domino() | HandEnd() | MatchClose():
            return _notes(action)
        case Abandon() | Lead() | MatchStart() | NewHand():
            return ()  # the next hand, or its deal, says it
        case _:
            assert_never(action)


def _tile_move(before: Game, game: Game, play: Play) -> TileMove:
    laid = game.layout.nodes[-1]
    port = port_of_play(before.layout, before.rules, play, laid.inner)
    return TileMove(laid.inner, laid.outer, port, second=_is_second(before, play.tile))


def _is_second(before: Game, tile: Tile) -> bool:
    return before.rules.copies > 1 and before.layout.used(tile) > 0


def _notes(action: Action | None) -> tuple[Move, ...]:
    note = None if action is None else note_of(action)
    return () if note is None else (note,)


def _paid(outcomes: tuple[Outcome, ...]) -> list[Scored]:
    """Return what was paid for a tile, and taken."""
    return [one for one in outcomes if isinstance(one, Scored) and one.reason in (Reason.PLAY, Reason.STEAL)]


def _points(action: Action, outcomes: tuple[Outcome, ...]) -> tuple[Move, ...]:
    """Return what is written behind a tile or a call of the points that it gave and took."""
    if not isinstance(action, Play | Stack | Call):
        return ()
    paid = _paid(outcomes)
    gains = () if isinstance(action, Call) else tuple(CalledMove(one.points) for one in paid if one.points > 0)
    return (*gains, *(TakenMove(SEATS[one.seat], -one.points) for one in paid if one.points < 0))
