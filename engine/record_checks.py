"""What a game record says twice, held against what the play gave: points called, forfeited, taken, paid for a hand."""

from dataclasses import dataclass, replace

from engine.events import Seat
from engine.outcomes import HandOver, Outcome, Reason, Scored
from engine.record import TakenMove
from engine.record_steps import Step, Steps
from engine.record_table import Taken
from engine.state import Game


@dataclass(frozen=True, slots=True)
class Facts:
    """What happened last in a hand, for what is written about it afterwards.

    Attributes:
        player: Who laid a tile last.
        scored: What he was paid for it.
        victim: From whom he took points; None for nobody.
        loss: How many.
        bonus: Winner of the hand and what he is paid, once it is counted.
        held: Whose points of the hand are only shown where they are written, and how many.
        promised: Points of the hand that were written before it was counted: whose, and how many.
    """

    player: Seat | None = None
    scored: int = 0
    victim: Seat | None = None
    loss: int = 0
    bonus: tuple[Seat | None, int] | None = None
    held: tuple[Seat, int] | None = None
    promised: tuple[tuple[Seat, int], ...] = ()

    def with_play(self, seat: Seat) -> "Facts":
        """Return the facts when *seat* lays a tile; what it scores is in its outcomes."""
        return replace(self, player=seat, scored=0, victim=None, loss=0)

    def after(self, outcomes: tuple[Outcome, ...], step: Step, steps: Steps) -> "Facts":
        """Return the facts after a move with these outcomes."""
        facts = self
        for outcome in outcomes:
            match outcome:
                case Scored(seat=seat, points=points, reason=Reason.STEAL) if points < 0:
                    facts = replace(facts, victim=seat, loss=-points)
                case Scored(seat=seat, points=points, reason=Reason.PLAY | Reason.STEAL) if seat == facts.player:
                    facts = replace(facts, scored=points)
                case HandOver(result=result):
                    facts = replace(facts, bonus=(result.winner, result.points))
                case Scored(seat=seat, points=points, reason=Reason.BONUS) if steps.bonus_follows(step, seat):
                    facts = replace(facts, held=(seat, points))
                case _:
                    pass
        return facts

    def shown(self, totals: tuple[int, ...]) -> tuple[int, ...]:
        """Return *totals* as the lines show them: points of the hand where they are written."""
        if self.held is None:
            return totals
        winner, points = self.held
        return tuple(total - points if seat == winner else total for seat, total in enumerate(totals))

    def wrong_promises(self, outcomes: tuple[Outcome, ...], players: tuple[str, ...]) -> tuple[str, ...]:
        """Return which points of the hand were written before these outcomes counted it, but are not paid."""
        if not self.promised or not any(isinstance(outcome, HandOver) for outcome in outcomes):
            return ()
        problems = (bonus_problem(self, seat, points, players) for seat, points in self.promised)
        return tuple(problem for problem in problems if problem is not None)


def told(problem: str | None) -> Taken:
    """Return a move that does nothing but say the same twice, with what is wrong with it."""
    return Taken((), () if problem is None else (problem,))


def called_problem(facts: Facts, seat: Seat, points: int) -> str | None:
    """Return what is wrong with `=points` in a game where points count by themselves."""
    scored = facts.scored if seat == facts.player else 0
    return None if points == scored else f"={points} is written, but the play scores {scored}"


def forfeited_problem(game: Game, seat: Seat, points: int) -> str | None:
    """Return what is wrong with `~points`, written when the next tile lies, or just before."""
    if not game.rules.call_required:
        return f"~{points} is written, but points count by themselves in this game"
    hand = game.hand
    lost = None if hand is None else hand.lapsed
    if hand is not None and hand.chance is not None and not hand.chance.called:
        lost = hand.chance
    if lost is None or lost.seat != seat:
        return f"~{points} is written, but {game.players[seat]} forfeits nothing"
    return None if lost.points == points else f"~{points} is written, but {lost.points} are forfeited"


def taken_problem(game: Game, facts: Facts, seats: tuple[Seat, Seat], move: TakenMove) -> str | None:
    """Return what is wrong with `xC10`, where *seats* are who took and who lost."""
    seat, victim = seats
    loss = facts.loss if facts.player == seat and facts.victim == victim else 0
    chance = None if game.hand is None else game.hand.chance
    if chance is not None and not chance.called and chance.seat == seat and chance.victim == victim:
        loss = chance.loss
    if move.points == loss:
        return None
    name = game.players[victim]
    paid = f"nothing was taken from {name}" if loss == 0 else f"{loss} were taken from {name}"
    return f"x{move.seat}{move.points} is written, but {paid}"


def bonus_problem(facts: Facts, seat: Seat, points: int, players: tuple[str, ...]) -> str | None:
    """Return what is wrong with `+points` for *seat*, in a hand that is counted."""
    assert facts.bonus is not None  # the hand is counted
    winner, paid = facts.bonus
    if winner == seat:
        return None if points == paid else f"+{points} is written, but the hand pays {paid}"
    return f"+{points} is written, but {'nobody' if winner is None else players[winner]} wins the hand"
