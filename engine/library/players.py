"""Plays ranked by score, and computer players: functions of a seat's view that return a legal move.

`TreeSearch` is Information Set Monte Carlo Tree Search with a single observer (Cowling, Powley and Whitehouse, 2012):
each round takes a deal that agrees with all that the player knows, and all deals share one tree of moves.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import log, sqrt
from random import Random
from time import monotonic

from engine.errors import EngineError
from engine.game.fold import apply
from engine.game.questions import legal_plays, legal_stacks
from engine.library.board import HandBoard
from engine.library.table import LegalMove, SeatView
from engine.state.events import Call, Play, Seat, Stack
from engine.state.layout import Count
from engine.state.match import State
from engine.state.outcomes import Claimable, Counted, Outcome, Scored, Turn
from engine.tiles import Tile
from engine.value import value

_DEALS = 40
_CURIOSITY = 0.7  # Weight of the unexplored, as a share of the range of gains. 0.3 to 1.2 are about as strong.


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


def greedy(view: SeatView) -> LegalMove:
    """Return the first of `best_plays`, or of the other legal moves if nothing can be played."""
    plays = best_plays(view.state, view.tiles, seat=view.seat)
    return plays[0].play if plays else _moves_of(view)[0]


@dataclass(frozen=True)
class TreeSearch:
    """Player that searches for the largest gain of its side in the hand. What others gain counts against it.

    Attributes:
        rng: Random generator.
        seconds: Time for a move, from about 0.02. A move without a choice takes none.
        rounds: Number of hands played to the end for a move, instead of *seconds*, so that a match can be repeated.
        depth: Number of moves in the tree. All further ones are random. 1 is flat Monte Carlo.
    """

    rng: Random
    seconds: float = 0.1
    rounds: int | None = None
    depth: int = 60

    def __call__(self, view: SeatView) -> LegalMove:
        """Return a move.

        Raises:
            EngineError: If it is not the player's turn, or the rules combine stacking with effects.
        """
        moves, end = _moves_of(view), monotonic() + self.seconds
        if len(moves) == 1:
            return moves[0]
        deals = view.samples(self.rng, _DEALS)
        boards = [HandBoard(deal.game, deal.hands, deal.boneyard) for deal in deals]
        tree, played = _Tree(self.rng, self.depth), 0
        while not played or (monotonic() < end if self.rounds is None else played < self.rounds):
            tree.grow(boards[played % _DEALS])
            played += 1
        return boards[0].event(tree.best(), deals[0].game.layout)


@dataclass(slots=True)
class _Node:
    """A move: rounds through it, rounds in which it could be chosen, sum of its side's gains, and the moves after."""

    visits: int = 0
    offers: int = 0
    gain: float = 0.0
    after: dict[int, "_Node"] = field(default_factory=dict)


@dataclass(slots=True)
class _Tree:
    rng: Random
    depth: int
    root: _Node = field(default_factory=_Node)
    least: float = 0.0
    most: float = 1.0

    def best(self) -> int:
        """Return the move tried most often."""
        after = self.root.after
        return max(after, key=lambda move: after[move].visits)

    def grow(self, board: HandBoard) -> None:
        """Play a hand to its end, learn from it, and take it back."""
        before, made, path, random = board.totals, 0, list[tuple[_Node, int]](), self.rng.random
        node: _Node | None = self.root
        while not board.is_over:
            legal = board.moves()
            if node is None or made >= self.depth:
                move = legal[int(random() * len(legal))]
            else:
                move = self._chosen(node, legal)
                after = node.after[move]
                path.append((after, board.turn))
                node = after if after.visits else None
            board.push(move)
            made += 1
        gains = [now - old for now, old in zip(board.totals, before, strict=True)]
        for _ in range(made):
            board.pop()
        if board.rules.partners:
            gains = [own + partner for own, partner in zip(gains, (*gains[2:], *gains[:2]), strict=True)]
        for node, seat in path:
            gain = gains[seat] - (sum(gains) - gains[seat]) / (len(gains) - 1)
            node.visits += 1
            node.gain += gain
            self.least, self.most = min(self.least, gain), max(self.most, gain)

    def _chosen(self, node: _Node, legal: list[int]) -> int:
        """Return a legal move that was not tried yet, or the one with the highest upper confidence bound."""
        after, span = node.after, _CURIOSITY * (self.most - self.least)
        for move in legal:
            after.setdefault(move, _Node()).offers += 1
        if new := [move for move in legal if not after[move].visits]:
            return new[int(self.rng.random() * len(new))]

        def bound(move: int) -> float:
            found = after[move]
            return found.gain / found.visits + span * sqrt(log(found.offers) / found.visits)

        return max(legal, key=bound)


def _moves_of(view: SeatView) -> tuple[LegalMove, ...]:
    if not (moves := view.moves):
        raise EngineError(f"it is not the turn of seat {view.seat}")
    return moves
