"""Convert the log of a match to a record."""

from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from engine.errors import EngineError
from engine.game.fold import history
from engine.record import values as dgr
from engine.record.moves import written_move
from engine.record.opening import tags_of
from engine.record.values import MAX_NUMBER, SEATS, STANDS, Move
from engine.state import events
from engine.state.events import Action, MatchStart, NewHand, Seat
from engine.state.match import Game, Phase, State
from engine.state.outcomes import Drew, Forfeited, HandOver, Irregular, Outcome, Reason, Scored

_SHOWS = (dgr.ShowMove, dgr.ShowPipsMove)


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
    for step, told, game in zip(state.steps, history(state), (*games, state.game), strict=False):
        action, before = step.entry.action, step.before
        if game is None or any(isinstance(outcome, Irregular) and not outcome.stands for outcome in told.outcomes):
            continue
        if isinstance(action, MatchStart):
            tags, hands = tags_of(action), [_Hand(0)]
        elif isinstance(action, NewHand):
            assert game.hand is not None  # it was dealt by the action
            hand = _Hand(game.hand.number, game.hand.sizes, game.hand.boneyard)
            if hands[-1].number == 0:
                early = hands.pop().moves
                hand.moves = [(seat, move) for seat, move in early if move != dgr.note_of(events.MatchClose())]
            hands.append(hand)
        elif before is not None:
            hands[-1].write(before, game, action, told.outcomes, is_accepted=step.entry.accepted)
    return dgr.Record(tags, tuple(hand.closed() for hand in hands if hand.number or hand.moves))


@dataclass(slots=True)
class _Hand:
    """A hand of the record while the record is written.

    Attributes:
        number: Number of the hand. 0 for the moves before the first deal.
        dealt: Number of tiles dealt to each seat. Empty before the first deal.
        boneyard: Number of tiles left after the deal.
        lead: Seat that leads. None if no event names it.
        lead_stands: Whether the lead needs the note that accepts it.
        moves: Moves, each with its seat.
        after_tile: Index in *moves* after the last tile and the note that accepts it.
        end: Text after `#end`. None until the hand is counted.
    """

    number: int
    dealt: tuple[int, ...] = ()
    boneyard: int = 0
    lead: Seat | None = None
    lead_stands: bool = False
    moves: list[tuple[Seat, Move]] = field(default_factory=list)
    after_tile: int = 0
    end: str | None = None

    def write(
        self, before: Game, game: Game, action: Action, outcomes: tuple[Outcome, ...], *, is_accepted: bool
    ) -> None:
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
        seat, moves = _seat_of(before, action, outcomes), _moves(before, game, action, outcomes)
        self.moves += ((seat, move) for move in (*moves, *((STANDS,) if is_accepted and moves else ())))
        if isinstance(action, events.Play | events.Stack):
            self.after_tile = len(self.moves)
        self.moves += ((seat, move) for move in _points(action, outcomes))
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
        kept: list[tuple[Seat, Move]] = []
        is_left_out = False
        for who, move in self.moves:
            counted = dgr.action_of(move, who) if isinstance(move, dgr.NoteMove) else None
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
        if not isinstance(move, dgr.NoteMove) or move.text not in ("out", "end"):
            return False
        is_shown = [isinstance(other, _SHOWS) for _, other in self.moves]
        if any(is_shown[:at]) or not any(is_shown[at + 1 : at + 2]):
            return False
        hidden = set(range(len(self.dealt))) - {who for who, later in after if isinstance(later, _SHOWS)}
        return hidden == {seat} if move.text == "out" else len(hidden) != 1


def _seat_of(before: Game, action: Action, outcomes: tuple[Outcome, ...]) -> Seat:
    """Return the seat of an action. If it belongs to no seat, return the seat to move, or 0 if there is none."""
    drew = [outcome.seat for outcome in outcomes if isinstance(outcome, Drew) and isinstance(action, events.Boneyard)]
    turn = None if before.hand is None else before.hand.turn
    seat: Seat | None = drew[0] if drew else getattr(action, "seat", turn)
    return Seat(0) if seat is None else seat


def _moves(before: Game, game: Game, action: Action, outcomes: tuple[Outcome, ...]) -> tuple[Move, ...]:
    """Return the moves that represent an action. Empty if the tags or the first line of a hand imply it."""
    match action:
        case events.Play() | events.Stack() | events.Draw() | events.Knock() | events.Decline():
            inner = game.layout.nodes[-1].inner if isinstance(action, events.Play) else 0
            return (written_move(before.layout, before.rules, action, inner),)
        case events.Boneyard():
            drawn = tuple(dgr.DrawMove(outcome.tiles) for outcome in outcomes if isinstance(outcome, Drew))
            return drawn or _notes(action if before.hand and before.hand.boneyard != action.tiles else None)
        case events.Redeal():
            return (dgr.RedealMove(),)
        case events.Reveal(tiles=tiles):
            return (dgr.ShowMove(tuple(dgr.RecordTile(tile.high, tile.low) for tile in tiles)),)
        case events.RevealPips(pips=pips):
            return (dgr.ShowPipsMove(min(pips, MAX_NUMBER)),)
        case events.Call():
            return _called(_paid(outcomes))
        case _:  # Others are notes, or implied by the tags or by the first line of a hand.
            return _notes(action)


def _notes(action: Action | None) -> tuple[Move, ...]:
    note = None if action is None else dgr.note_of(action)
    return () if note is None else (note,)


def _paid(outcomes: tuple[Outcome, ...]) -> list[Scored]:
    """Return the points scored or lost by a play, a stack or a call."""
    return [each for each in outcomes if isinstance(each, Scored) and each.reason in (Reason.PLAY, Reason.STEAL)]


def _called(paid: list[Scored]) -> tuple[Move, ...]:
    return tuple(dgr.CalledMove(gain.points) for gain in paid if gain.points > 0)


def _points(action: Action, outcomes: tuple[Outcome, ...]) -> tuple[Move, ...]:
    """Return the moves that repeat the points scored and taken by a tile or a call."""
    paid = _paid(outcomes)
    gains = () if isinstance(action, events.Call) else _called(paid)
    return (*gains, *(dgr.TakenMove(SEATS[loss.seat], -loss.points) for loss in paid if loss.points < 0))
