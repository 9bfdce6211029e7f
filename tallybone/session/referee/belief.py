"""Rank the plays that a new tile may be, by summed log weights of pips, touch and rules.

The log weight of a play adds up the pips as read, the fit of its edge to the port, and its legality. The rules thus
resolve uncertain readings, but a confident reading of an illegal play is still accepted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import engine
from engine import ActionResult, Draw, Game, Irregular, Play, ProblemKind, Seat, State, Weight, history, problem_with
from tallybone.session.referee.places import Places
from tallybone.session.touching import Footprint, Joint, halves_of, joints
from vision.reading import Half, SeenTile

# Minimum probability that a half is misread, shared by all other numbers. It keeps the rules relevant at any
# confidence.
_MIN_ERROR = 0.001
# Log odds of a number to the likeliest one below which the number is ignored, unless an open end needs it.
_PLAUSIBLE = math.log(0.0002)
# Log odds of irregular plays, compared with legal ones. ALREADY_USED and NOT_IN_SET are misreadings rather than fouls,
# so their weights reflect the reliability of readings.
_ILLEGAL, _NOTED = math.log(0.005), math.log(0.2)
_BY_KIND = {
    ProblemKind.ALREADY_USED: math.log(0.0005),
    ProblemKind.NOT_IN_SET: math.log(0.0001),
    ProblemKind.WRONG_SEAT: math.log(0.02),
}
# Log odds of a rejected play and of another rejected action. A rejected play contradicts a tile that is on the table,
# so a history with one is nearly impossible.
_REJECTED_PLAY, _REJECTED = math.log(1e-8), math.log(0.005)
NEVER = -math.inf
# Prior counts of hands that came from another player's side, and of all hands. People reach across and play for one
# another.
_WRONG_SIDES, _SIDES = 1.0, 20.0
# Number of other sides that share the probability of a hand from a wrong side.
_OTHER_SIDES = 3.0

# Minimum share of the total weight for an explanation to be accepted without a question.
SURE = 0.9


def log_chances(half: Half, max_pips: int) -> tuple[float, ...]:
    """Return the log probability of each number from 0 to *max_pips* for a half, regardless of the tiles next to it.

    >>> [round(math.exp(chance), 3) for chance in log_chances(Half(1, 0.8, (0.0, 0.0)), 2)]
    [0.1, 0.8, 0.1]
    """
    numbers = range(max_pips + 1)
    if half.chances:
        raw = [half.chances[number] if number < len(half.chances) else 0.0 for number in numbers]
    else:
        known = {half.pips: half.confidence}
        if half.second is not None:
            known.setdefault(half.second.pips, min(half.second.confidence, 1.0 - half.confidence))
        left = max(0.0, 1.0 - sum(known.values())) / max(1, max_pips + 1 - len(known))
        raw = [known.get(number, left) for number in numbers]
    least = _MIN_ERROR / max(1, max_pips)
    floored = [max(chance, least) for chance in raw]
    total = math.fsum(floored)
    return tuple(math.log(chance / total) for chance in floored)


def plausible(chances: Sequence[float]) -> frozenset[int]:
    """Return the numbers that are likely enough to consider, given their log probabilities."""
    least = max(chances) + _PLAUSIBLE
    return frozenset(number for number, chance in enumerate(chances) if chance >= least)


def log_legality(state: State, action: Play | Draw) -> float:
    """Return the log weight of an action under the rules, `NEVER` if it is impossible.

    A legal draw weighs 0. A legal play is weighted by the share of copies of its tile that are left.
    """
    problem = problem_with(state, action)
    if problem is not None:
        return log_fault(problem.kind, problem.weight)
    game = state.game
    assert game is not None  # without a match, every action has a problem
    return (
        0.0 if isinstance(action, Draw) else math.log(max(1, engine.copies_left(game, action.tile)) / game.rules.copies)
    )


def log_side(own: int, other: int, *, is_own: bool) -> float:
    """Return the log probability of the side from which a hand came.

    Args:
        own: Number of earlier hands from their own player's side.
        other: Number of earlier hands from another side.
        is_own: Whether this hand came from its player's own side.
    """
    share = (other + _WRONG_SIDES) / (own + other + _SIDES)
    return math.log(1.0 - share) if is_own else math.log(share / _OTHER_SIDES)


def log_unseen(copies: int) -> float:
    """Return the log weight of a tile with this many copies not seen elsewhere: 0 for at least one, else negative."""
    return 0.0 if copies > 0 else _BY_KIND[ProblemKind.ALREADY_USED]


def log_history(state: State) -> float:
    """Return the log weight of the match under the rules: 0, or less for irregular actions that are not accepted."""
    return sum(log_weights(state, history(state)))


def log_weights(state: State, results: Iterable[ActionResult]) -> Iterator[float]:
    """Yield the log weight of each action under the rules: 0, or less if it is irregular and not accepted."""
    accepted = {event.seq for event in state.log if isinstance(event, engine.ItStands)}
    for step in results:
        faults = [outcome for outcome in step.outcomes if isinstance(outcome, Irregular)]
        is_play = isinstance(step.entry.action, Play)
        costs = (_log_cost(fault, is_play=is_play) for fault in faults)
        yield 0.0 if step.entry.seq in accepted else min(costs, default=0.0)


def shares(log_weights: Iterable[float]) -> tuple[float, ...]:
    """Normalise log weights to shares that sum to 1. All shares are 0 if every log weight is `NEVER`.

    >>> shares([math.log(3.0), 0.0])
    (0.75, 0.25)
    """
    listed = tuple(log_weights)
    best = max(listed, default=NEVER)
    if best == NEVER:
        return (0.0,) * len(listed)
    weights = [math.exp(log_weight - best) for log_weight in listed]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


def log_fault(kind: ProblemKind, weight: Weight) -> float:
    """Return the log weight of an action with a problem, `NEVER` if it is impossible."""
    if weight is Weight.IMPOSSIBLE:
        return NEVER
    return _BY_KIND.get(kind, _NOTED if weight is Weight.NOTED else _ILLEGAL)


def _log_cost(fault: Irregular, *, is_play: bool) -> float:
    """Return the log weight of an irregular action: by its problem if it is in force, else a fixed one."""
    if not fault.stands:
        return _REJECTED_PLAY if is_play else _REJECTED
    return log_fault(fault.problem.kind, fault.problem.weight)


@dataclass(frozen=True, slots=True)
class Way:
    """A possible play of a tile.

    Attributes:
        play: The play.
        place: Footprint of the tile in that play.
        log_weight: Log weight.
    """

    play: Play
    place: Footprint
    log_weight: float


def ways_of(places: Places, state: State, tile: SeenTile, *, is_doubted: bool = False) -> tuple[Way, ...]:
    """Return every possible play of a tile, likeliest first. Empty while the turn is unknown.

    Args:
        places: The tracked layout.
        state: The match before the play.
        tile: The tile as read.
        is_doubted: Allow any number on either half, but not on both, because the tile cannot be as read.
    """
    game = state.game
    if game is None or game.hand is None or game.hand.turn is None:
        return ()
    found = [
        way for way in _ways(places, state, game, game.hand.turn, tile, is_doubted=is_doubted) if way.log_weight > NEVER
    ]
    return tuple(sorted(found, key=lambda way: -way.log_weight))


def _ways(places: Places, state: State, game: Game, seat: Seat, tile: SeenTile, *, is_doubted: bool) -> Iterator[Way]:
    """Yield every possible play of a tile by *seat* with likely numbers, including impossible ones."""
    chances = [log_chances(half, game.rules.max_pips) for half in halves_of(tile)]
    likely = [plausible(half_chances) for half_chances in chances]
    every = frozenset(range(game.rules.max_pips + 1))
    options = [(likely[0], every), (every, likely[1])] if is_doubted else [(likely[0], likely[1])]
    for is_double in (False, True):
        for joint in joints(game.layout, places.laid, tile, is_double=is_double):
            pairs = {pair for option in options for pair in _pairs(option, joint, is_double=is_double)}
            for first, second in sorted(pairs):
                inner = (first, second)[joint.inner_half]
                play = Play(seat, engine.Tile.of(first, second), joint.spot, inner)
                seen = chances[0][first] + chances[1][second]
                yield Way(play, joint.place, seen + log_legality(state, play) - joint.misfit)


def _pairs(
    likely: tuple[frozenset[int], frozenset[int]], joint: Joint, *, is_double: bool
) -> Iterator[tuple[int, int]]:
    """Yield the numbers of half 0 and half 1 to consider: the likely ones, and the number that the port needs."""
    needed = frozenset(() if joint.number is None else (joint.number,))
    if is_double:
        yield from ((number, number) for number in sorted(likely[0] | likely[1] | needed))
        return
    firsts, seconds = ((likely[half] | needed if half == joint.inner_half else likely[half]) for half in (0, 1))
    yield from ((first, second) for first in sorted(firsts) for second in sorted(seconds) if first != second)
