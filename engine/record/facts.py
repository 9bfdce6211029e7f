"""Compare recorded results, such as `=10` or `+20`, with the score, and look ahead to the results of a hand."""

from dataclasses import dataclass, replace
from typing import Self

from engine.record import values as dgr
from engine.record.opening import Opening
from engine.record.values import STANDS, NoteMove, Place, action_of
from engine.state.events import Adjust, Seat, Swap
from engine.state.match import Game
from engine.state.outcomes import Forfeited, HandOver, Outcome, Reason, Scored


@dataclass(frozen=True, slots=True)
class MadeMove:
    """A move of a hand, and the seat that made it.

    Attributes:
        at: Index among the moves of the hand.
        seat: Seat that made the move.
        letter: Letter of that seat.
        place: Place of the turn in the record.
        move: The move, as written.
        is_accepted: Whether a note accepts the move despite its problems.
    """

    at: int
    seat: Seat
    letter: str
    place: Place
    move: dgr.Move
    is_accepted: bool = False

    @property
    def gives_points(self) -> bool:
        """True if the move gives points that are not scored by a play."""
        move = self.move
        return isinstance(move, dgr.BonusMove) or (
            isinstance(move, NoteMove) and isinstance(action_of(move, self.seat), Adjust)
        )


@dataclass(frozen=True, slots=True)
class HandMoves:
    """Moves of a hand in order, with look-ahead.

    Attributes:
        made: All moves except notes without an effect.
        last_shows: For each seat, index of the last move that shows its tiles or pips. -1 for none.
        last_bonuses: For each seat, index of the last move that gives it points for the hand. -1 for none.
        lead_stands: Whether a note before all moves accepts the lead.
    """

    made: tuple[MadeMove, ...]
    last_shows: tuple[int, ...]
    last_bonuses: tuple[int, ...]
    lead_stands: bool = False

    @classmethod
    def of(cls, hand: dgr.RecordHand, opening: Opening) -> Self:
        """Return the moves of a hand.

        Raises:
            RecordError: If a move names a seat without a player.
        """
        found: list[MadeMove] = []
        lead_stands = False
        for turn in hand.turns:
            seat = opening.seat(turn.seat, turn.place)
            for move in turn.moves:
                if move == STANDS and found:
                    found[-1] = replace(found[-1], is_accepted=True)
                elif move == STANDS:
                    lead_stands = True
                elif not isinstance(move, NoteMove) or action_of(move, seat) is not None:
                    found.append(MadeMove(len(found), seat, turn.seat, turn.place, move))
        shows, bonuses = [-1] * len(opening.players), [-1] * len(opening.players)
        for made in found:
            if isinstance(made.move, dgr.ShowMove | dgr.ShowPipsMove):
                shows[made.seat] = made.at
            elif isinstance(made.move, dgr.BonusMove):
                bonuses[made.seat] = made.at
        return cls(tuple(found), tuple(shows), tuple(bonuses), lead_stands)

    @property
    def before_lead(self) -> int:
        """Number of moves before the lead: the notes up to the last swap of places, if only notes precede it."""
        early = 0
        for made in self.made:
            if not isinstance(made.move, NoteMove):
                break
            early = made.at + 1 if isinstance(action_of(made.move, made.seat), Swap) else early
        return early

    def shown_from(self, made: MadeMove) -> tuple[Seat, ...]:
        """Return the seats that show their tiles or pips in *made* or later."""
        return tuple(Seat(seat) for seat, last in enumerate(self.last_shows) if last >= made.at)

    def shows_follow(self, made: MadeMove) -> bool:
        """Return True if any player shows tiles or pips after *made*."""
        return max(self.last_shows) > made.at

    def bonus_follows(self, made: MadeMove, seat: Seat) -> bool:
        """Return True if the record gives *seat* points for the hand after *made*."""
        return self.last_bonuses[seat] > made.at


@dataclass(frozen=True, slots=True)
class HandFacts:
    """Latest results in a hand, which later moves of a record may repeat.

    Attributes:
        player: Seat that laid the last tile.
        scored: Points that *player* scored with the tile.
        victim: Seat that lost points to *player*. None if nobody did.
        loss: Points that the victim lost.
        lost: Seat that forfeited points because of the last tile, and the points. None if nobody did.
        bonus: Winner of the hand and the points won. None until the hand is counted.
        held: Winner and points of a counted hand, left out of the lines' totals until the record states them.
        promised: Seats, and points for the hand, that the record states before the hand is counted.
        is_sheet: Whether the record has points for the hand, but no plays.
    """

    player: Seat | None = None
    scored: int = 0
    victim: Seat | None = None
    loss: int = 0
    lost: tuple[Seat, int] | None = None
    bonus: tuple[Seat | None, int] | None = None
    held: tuple[Seat, int] | None = None
    promised: tuple[tuple[Seat, int], ...] = ()
    is_sheet: bool = False

    def with_play(self, seat: Seat) -> Self:
        """Return the facts after *seat* lays a tile, before its outcomes are known."""
        return replace(self, player=seat, scored=0, victim=None, loss=0, lost=None)

    def after(self, outcomes: tuple[Outcome, ...], made: MadeMove, moves: HandMoves) -> Self:
        """Return the facts after a move with these outcomes."""
        facts = self
        for outcome in outcomes:
            match outcome:
                case Scored(seat=seat, points=points, reason=Reason.STEAL) if points < 0:
                    facts = replace(facts, victim=seat, loss=-points)
                case Scored(seat=seat, points=points, reason=Reason.PLAY | Reason.STEAL) if seat == facts.player:
                    facts = replace(facts, scored=points)
                case Scored(seat=seat, reason=Reason.PLAY | Reason.STEAL) if facts.lost == (seat, outcome.points):
                    facts = replace(facts, lost=None)  # the players accepted a late call
                case Forfeited(seat=seat, points=points):
                    facts = replace(facts, lost=(seat, points))
                case HandOver(result=result):
                    facts = replace(facts, bonus=(result.winner, result.points))
                case Scored(seat=seat, points=points, reason=Reason.BONUS) if moves.bonus_follows(made, seat):
                    facts = replace(facts, held=(seat, points))
                case _:
                    pass
        return facts

    def shown(self, totals: tuple[int, ...]) -> tuple[int, ...]:
        """Return *totals* for a line. Points for the hand are included only from the move that states them."""
        if self.held is None:
            return totals
        winner, points = self.held
        return tuple(total - points if seat == winner else total for seat, total in enumerate(totals))

    def wrong_promises(self, outcomes: tuple[Outcome, ...], players: tuple[str, ...]) -> tuple[str, ...]:
        """Return the problems with points for the hand that the record stated before *outcomes* counted it."""
        if not self.promised or not any(isinstance(outcome, HandOver) for outcome in outcomes):
            return ()
        problems = (self.bonus_problem(seat, points, players) for seat, points in self.promised)
        return tuple(problem for problem in problems if problem is not None)

    def called_problem(self, seat: Seat, points: int) -> str | None:
        """Return the problem with `=points` in a game without calls, or None."""
        scored = self.scored if seat == self.player else 0
        return None if points == scored else f"={points} is written, but the play scores {scored}"

    def forfeited_problem(self, game: Game, seat: Seat, points: int) -> str | None:
        """Return the problem with `~points`, or None.

        A record may have `~points` before or after the tile that ends the time to call.
        """
        if not game.rules.call_required:
            return f"~{points} is written, but points count by themselves in this game"
        chance = None if game.hand is None else game.hand.chance
        lost = self.lost
        if chance is not None and not chance.called and chance.seat == seat:
            lost = (seat, chance.points)
        if lost is None or lost[0] != seat:
            return f"~{points} is written, but {game.players[seat]} forfeits nothing"
        return None if lost[1] == points else f"~{points} is written, but {lost[1]} are forfeited"

    def taken_problem(self, game: Game, seat: Seat, victim: Seat, move: dgr.TakenMove) -> str | None:
        """Return the problem with `xC10`, or None. *seat* took the points from *victim*."""
        loss = self.loss if self.player == seat and self.victim == victim else 0
        chance = None if game.hand is None else game.hand.chance
        if chance is not None and not chance.called and chance.seat == seat and chance.victim == victim:
            loss = chance.loss
        if move.points == loss:
            return None
        name = game.players[victim]
        paid = f"nothing was taken from {name}" if loss == 0 else f"{loss} were taken from {name}"
        return f"x{move.seat}{move.points} is written, but {paid}"

    def bonus_problem(self, seat: Seat, points: int, players: tuple[str, ...]) -> str | None:
        """Return the problem with `+points` for *seat* in a counted hand, or None."""
        assert self.bonus is not None  # the hand is counted
        winner, paid = self.bonus
        if winner == seat:
            return None if points == paid else f"+{points} is written, but the hand pays {paid}"
        return f"+{points} is written, but {'nobody' if winner is None else players[winner]} wins the hand"
