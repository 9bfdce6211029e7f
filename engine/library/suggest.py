"""Rank the plays of a known hand by score, for practice."""

from collections.abc import Iterable

from engine.game.fold import apply
from engine.game.questions import legal_plays, legal_stacks
from engine.state.counting import Count
from engine.state.events import Call, Play, Seat, Stack
from engine.state.match import State
from engine.state.outcomes import Claimable, Counted, Outcome, Scored, Turn
from engine.tiles import Tile
from engine.value import value


@value
class Suggestion:
    """A legal play or stack, and its outcomes.

    Attributes:
        play: The play or stack.
        points: Points for the player, including stolen ones. Assumes that they are called, if the rules require it.
        count: Count after the play. None if it is not counted, as in games where plays do not score.
        outcomes: Outcomes of the play and of the call, if the rules require one.
    """

    play: Play | Stack
    points: int
    count: Count | None
    outcomes: tuple[Outcome, ...]


def best_plays(state: State, tiles: Iterable[Tile], *, seat: Seat | None = None) -> tuple[Suggestion, ...]:
    """Return every legal play and stack of *tiles*, best first.

    Plays are ranked by points. Ties are broken by the points taken from others, then by the pips of the tile, which
    would count against the hand, then by the number of different numbers left in the hand, and then in favour of
    doubles, which fit fewer ends. Equal plays stay in the order of *tiles* and of the open ends. Going out is not
    ranked, because either all plays empty the hand or none does.

    Args:
        state: State of the match.
        tiles: All tiles in the player's hand.
        seat: Seat of the player. None for the seat to move, or for every seat while the leader is unknown.
    """
    held = tuple(tiles)
    plays: tuple[Play | Stack, ...] = legal_plays(state, held, seat=seat)
    plays = (*plays, *legal_stacks(state, held, seat=seat))
    suggestions = (_evaluate(state, play) for play in plays)
    return tuple(sorted(suggestions, key=lambda suggestion: _merit(suggestion, held), reverse=True))


def _evaluate(state: State, play: Play | Stack) -> Suggestion:
    """Return *play* with its outcomes, after its points are called."""
    after, outcomes = apply(state, play)
    if any(isinstance(outcome, Claimable) for outcome in outcomes):
        _, called = apply(after, Call(play.seat))
        outcomes = (*(outcome for outcome in outcomes if not isinstance(outcome, Turn)), *called)
    points = sum(outcome.points for outcome in outcomes if isinstance(outcome, Scored) and outcome.seat == play.seat)
    count = next((outcome.count for outcome in outcomes if isinstance(outcome, Counted)), None)
    return Suggestion(play, points, count, outcomes)


def _merit(suggestion: Suggestion, held: tuple[Tile, ...]) -> tuple[int, int, int, int, bool]:
    """Return the sort key of a suggestion. Higher is better."""
    seat, tile = suggestion.play.seat, suggestion.play.tile
    scored = (outcome for outcome in suggestion.outcomes if isinstance(outcome, Scored))
    taken = -sum(outcome.points for outcome in scored if outcome.seat != seat)
    kept = list(held)
    kept.remove(tile)
    numbers = {number for other in kept for number in (other.low, other.high)}
    return suggestion.points, taken, tile.pips, len(numbers), tile.is_double
