"""How a hand and a match end: hands laid open, the winner paid, the target looked at. RULES.md 2.4, 2.5."""

from dataclasses import replace

from engine.events import Seat
from engine.outcomes import Ending, HandOver, MatchOver, Outcome, Reason, Scored, ShowHands
from engine.rules import MatchEnd, TargetTest, TieBreak
from engine.settle import Holding, settle, winners
from engine.state import Game, Hand, Phase

Step = tuple[Game, tuple[Outcome, ...]]
"""The match after something happened, and what follows from it."""


def close_hand(game: Game, hand: Hand, ending: Ending, out: Seat | None) -> Step:
    """Return the match waiting for the hands to be laid open."""
    holdings = tuple(Holding(0, ()) if seat == out else None for seat in range(len(game.players)))
    hand = replace(hand, turn=None, ending=ending, out=out, holdings=holdings)
    return replace(game, phase=Phase.REVEAL, hand=hand), (ShowHands(ending, out, _hidden(hand)),)


def reveal(game: Game, hand: Hand, seat: Seat, holding: Holding) -> Step:
    """Return the match with one hand open, and the hand counted when it was the last and leaves no doubt."""
    hand = replace(hand, holdings=tuple(holding if at == seat else old for at, old in enumerate(hand.holdings)))
    game = replace(game, hand=hand)
    holdings = tuple(holding for holding in hand.holdings if holding is not None)
    assert hand.ending is not None  # the phase is REVEAL
    if len(holdings) < len(hand.holdings):
        return game, (ShowHands(hand.ending, hand.out, _hidden(hand)),)
    best = winners(holdings, hand.out, game.rules.hand_points.tie)
    unknown = tuple(at for at in best if len(best) > 1 and holdings[at].tiles is None)
    if unknown and game.rules.hand_points.tie is not TieBreak.NONE:
        return game, (ShowHands(hand.ending, hand.out, unknown),)
    return count_hand(game, hand)


def count_hand(game: Game, hand: Hand) -> Step:
    """Return the match with the winner of the hand paid."""
    holdings = tuple(holding for holding in hand.holdings if holding is not None)
    assert hand.ending is not None  # the phase is REVEAL
    result = settle(holdings, hand.out, game.rules.hand_points)
    game = replace(game, phase=Phase.DEAL, hand_winner=result.winner)
    outcomes: tuple[Outcome, ...] = (HandOver(hand.ending, result),)
    if result.winner is not None:
        game, paid = pay(game, result.winner, result.points, Reason.BONUS, result.arithmetic)
        outcomes = (*outcomes, *paid)
    if game.phase is not Phase.MATCH_OVER and game.rules.match_end is MatchEnd.END_OF_HAND:
        return following(outcomes, _leader_wins(game))
    return game, outcomes


def pay(game: Game, seat: Seat, points: int, reason: Reason, because: str) -> Step:
    """Return the match with *points* paid, and over when that reaches the target and the rules look at once."""
    if points == 0:
        return game, ()
    scores = tuple((*old, points) if at == seat else old for at, old in enumerate(game.scores))
    game = replace(game, scores=scores)
    outcomes = (Scored(seat, points, reason, because),)
    if game.rules.match_end is MatchEnd.IMMEDIATE and _is_enough(game, game.totals[seat]):
        return following(outcomes, _win(game, seat))
    return game, outcomes


def _leader_wins(game: Game) -> Step:
    """Return the match won by the highest total when that is enough; equal totals play another hand."""
    best = max(game.totals)
    leaders = [Seat(seat) for seat, total in enumerate(game.totals) if total == best]
    return _win(game, leaders[0]) if len(leaders) == 1 and _is_enough(game, best) else (game, ())


def _win(game: Game, seat: Seat) -> Step:
    """Return the match won by *seat*."""
    hand = None if game.hand is None else replace(game.hand, turn=None)
    return replace(game, phase=Phase.MATCH_OVER, hand=hand, winner=seat), (MatchOver(seat, game.totals),)


def _is_enough(game: Game, total: int) -> bool:
    """Return whether *total* ends the match."""
    if game.rules.target_test is TargetTest.REACH:
        return total >= game.rules.target
    return total > game.rules.target


def following(before: tuple[Outcome, ...], then: Step) -> Step:
    """Return *then* with the outcomes *before* it in front."""
    return then[0], (*before, *then[1])


def _hidden(hand: Hand) -> tuple[Seat, ...]:
    """Return the seats that have not shown their tiles."""
    return tuple(Seat(seat) for seat, holding in enumerate(hand.holdings) if holding is None)
