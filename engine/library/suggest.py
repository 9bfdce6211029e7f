"""Rank the plays of a shown hand by their score, for practice at the table."""

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
    """One legal play and its outcomes.

    Attributes:
        play: The tile and where it goes, or what it is stacked on.
        points: What it pays them, when they call it where points have to be called; what a stack steals is in it.
        count: The open ends behind the points; None in a game where plays do not score, or when they are not counted.
        outcomes: All that would follow, as the table would tell it; where points have to be called, the call as well.
    """

    play: Play | Stack
    points: int
    count: Count | None
    outcomes: tuple[Outcome, ...]


def best_plays(state: State, tiles: Iterable[Tile], *, seat: Seat | None = None) -> tuple[Suggestion, ...]:
    """Return every legal play and stack of *tiles*, the best first.

    The best play pays most now. Of plays that pay the same it is the one that takes more from another; then the
    one that lays the tile with more pips, which would count against the hand; then the one that keeps more different
    numbers in it; then the one that lays a double, which fits fewer ends. Equal plays stay in the order of
    *tiles* and of the open ends. That a play empties the hand does not rank it: each lays one tile, so all do or none.

    Args:
        state: Where the match stands.
        tiles: All that the player holds.
        seat: Who they are; None for whose turn it is, or for everybody while nobody knows who leads.
    """
    held = tuple(tiles)
    plays: tuple[Play | Stack, ...] = legal_plays(state, held, seat=seat)
    plays = (*plays, *legal_stacks(state, held, seat=seat))
    return tuple(sorted((_tried(state, play) for play in plays), key=lambda one: _merit(one, held), reverse=True))


def _tried(state: State, play: Play | Stack) -> Suggestion:
    """Return *play* with its outcomes, its points called."""
    after, outcomes = apply(state, play)
    if any(isinstance(outcome, Claimable) for outcome in outcomes):
        _, called = apply(after, Call(play.seat))
        outcomes = (*(outcome for outcome in outcomes if not isinstance(outcome, Turn)), *called)
    points = sum(outcome.points for outcome in outcomes if isinstance(outcome, Scored) and outcome.seat == play.seat)
    count = next((outcome.count for outcome in outcomes if isinstance(outcome, Counted)), None)
    return Suggestion(play, points, count, outcomes)


def _merit(one: Suggestion, held: tuple[Tile, ...]) -> tuple[int, int, int, int, bool]:
    """Return the sort key of a suggestion; higher is better."""
    seat, tile = one.play.seat, one.play.tile
    taken = -sum(outcome.points for outcome in one.outcomes if isinstance(outcome, Scored) and outcome.seat != seat)
    kept = list(held)
    kept.remove(tile)
    numbers = {number for other in kept for number in (other.low, other.high)}
    return one.points, taken, tile.pips, len(numbers), tile.is_double
