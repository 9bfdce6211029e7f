"""Weigh what a new tile may be: pips, touch and rules as log odds, so that they add up.

The log odds of a play are those of the numbers that the eye sees, of how well its edge meets the end, and of what the
rules allow. So the rules help the eye where it is in doubt, and a play against the rules is still seen where it is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine import (
    Draw,
    Game,
    Irregular,
    ItStands,
    Play,
    ProblemKind,
    Seat,
    State,
    Tile,
    Weight,
    copies_left,
    history,
    problem_with,
)
from tallybone.session.referee.places import Places
from tallybone.session.touching import Footprint, Joint, halves_of, joints
from vision.reading import Half, SeenTile

# No eye is surer than this of a number, whatever it says; it leaves the rules something to say.
_LEAST_CHANCE = 0.001
# Numbers this much less likely than the likeliest are not looked at, unless an end asks for them.
_PLAUSIBLE = math.log(0.0002)
# How often players do what the rules forbid, against what they allow. That one tile lies on the table more often than
# the set has it is no player's fault: then one of its readings is wrong, and this says how sure those are.
_ILLEGAL, _NOTED = math.log(0.005), math.log(0.2)
_BY_KIND = {
    ProblemKind.ALREADY_USED: math.log(0.0005),
    ProblemKind.NOT_IN_SET: math.log(0.0001),
    ProblemKind.WRONG_SEAT: math.log(0.02),
}
# A play that happened but was refused cannot stand as the tiles are taken to lie.
_REFUSED_PLAY, _REFUSED = math.log(1e-8), math.log(0.005)
NEVER = -math.inf
# Before anybody has been seen to play: hands come from another's side as often as this in so many plays. People reach
# across, and lay tiles for one another.
_WRONG_SIDES, _SIDES = 1.0, 20.0
# A hand from the wrong side may come from any of so many others.
_OTHER_SIDES = 3.0

# A way is believed when it has this share of the weight of all.
SURE = 0.9


def log_chances(half: Half, max_pips: int) -> tuple[float, ...]:
    """Return the log probability of each number from 0 to *max_pips*, of a half seen by itself.

    >>> [round(math.exp(one), 3) for one in log_chances(Half(1, 0.8, (0.0, 0.0)), 2)]
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
    least = _LEAST_CHANCE / max(1, max_pips)
    floored = [max(chance, least) for chance in raw]
    total = math.fsum(floored)
    return tuple(math.log(chance / total) for chance in floored)


def plausible(chances: Sequence[float]) -> frozenset[int]:
    """Return the numbers worth looking at, given their log probabilities."""
    least = max(chances) + _PLAUSIBLE
    return frozenset(number for number, chance in enumerate(chances) if chance >= least)


def log_lawful(state: State, action: Play | Draw) -> float:
    """Return how much the rules speak against a play, 0 for nothing; a tile with more copies left is likelier."""
    problem = problem_with(state, action)
    if problem is not None:
        return _log_odds(problem.kind, problem.weight)
    game = state.game
    assert game is not None  # without a match everything is a problem
    return 0.0 if isinstance(action, Draw) else math.log(max(1, copies_left(game, action.tile)) / game.rules.copies)


def log_side(own: int, other: int, *, is_own: bool) -> float:
    """Return the log probability that a hand came clearly from one side, whether it is its player's own or another.

    Args:
        own: How often hands have come from the side of their players at this table.
        other: How often they have come from another.
        is_own: Whether it is the own side.
    """
    share = (other + _WRONG_SIDES) / (own + other + _SIDES)
    return math.log(1.0 - share) if is_own else math.log(share / _OTHER_SIDES)


def log_unseen(copies: int) -> float:
    """Return how much speaks against a tile of which so many copies are not seen elsewhere; 0 for nothing."""
    return 0.0 if copies > 0 else _BY_KIND[ProblemKind.ALREADY_USED]


def log_history(state: State) -> float:
    """Return how much the rules speak against the whole history, except for actions that the table has accepted."""
    stands = {event.seq for event in state.log if isinstance(event, ItStands)}
    total = 0.0
    for told in history(state):
        if told.entry.seq not in stands:
            faults = [one for one in told.outcomes if isinstance(one, Irregular)]
            is_play = isinstance(told.entry.action, Play)
            total += min((_log_cost(fault, is_play=is_play) for fault in faults), default=0.0)
    return total


def shares(log_weights: Iterable[float]) -> tuple[float, ...]:
    """Return the share of each weight in all of them; nothing but zeros where none weighs anything.

    >>> shares([math.log(3.0), 0.0])
    (0.75, 0.25)
    """
    listed = tuple(log_weights)
    best = max(listed, default=NEVER)
    if best == NEVER:
        return (0.0,) * len(listed)
    weights = [math.exp(one - best) for one in listed]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


def _log_odds(kind: ProblemKind, weight: Weight) -> float:
    if weight is Weight.IMPOSSIBLE:
        return NEVER
    return _BY_KIND.get(kind, _NOTED if weight is Weight.NOTED else _ILLEGAL)


def _log_cost(fault: Irregular, *, is_play: bool) -> float:
    """Return how much one irregularity speaks against a history."""
    if not fault.stands:
        return _REFUSED_PLAY if is_play else _REFUSED
    return _log_odds(fault.problem.kind, fault.problem.weight)


@dataclass(frozen=True, slots=True)
class Way:
    """One play that may have happened.

    Attributes:
        play: The play.
        place: Where its tile lies then.
        log_weight: How much speaks for it.
    """

    play: Play
    place: Footprint
    log_weight: float


def ways_of(places: Places, state: State, tile: SeenTile, *, is_doubted: bool = False) -> tuple[Way, ...]:
    """Return every play that a tile may have been, the likeliest first; none while the turn is unknown.

    Args:
        places: Where the tiles lie.
        state: The match.
        tile: As it is seen.
        is_doubted: Whether one of its halves may be any number, because it cannot be what it looks like.
    """
    game = state.game
    if game is None or game.hand is None or game.hand.turn is None:
        return ()
    found = [
        way for way in _ways(places, state, game, game.hand.turn, tile, is_doubted=is_doubted) if way.log_weight > NEVER
    ]
    return tuple(sorted(found, key=lambda way: -way.log_weight))


def _ways(places: Places, state: State, game: Game, seat: Seat, tile: SeenTile, *, is_doubted: bool) -> Iterator[Way]:
    """Yield every play, each once."""
    chances = [log_chances(half, game.rules.max_pips) for half in halves_of(tile)]
    likely = [plausible(one) for one in chances]
    every = frozenset(range(game.rules.max_pips + 1))
    sights = [(likely[0], every), (every, likely[1])] if is_doubted else [(likely[0], likely[1])]
    for is_double in (False, True):
        for joint in joints(game.layout, places.laid, tile, is_double=is_double):
            for one, other in sorted({pair for sight in sights for pair in _pairs(sight, joint, is_double=is_double)}):
                inner = (one, other)[joint.inner_half]
                play = Play(seat, Tile.of(one, other), joint.spot, inner)
                seen = chances[0][one] + chances[1][other]
                yield Way(play, joint.place, seen + log_lawful(state, play) - joint.misfit)


def _pairs(
    likely: tuple[frozenset[int], frozenset[int]], joint: Joint, *, is_double: bool
) -> Iterator[tuple[int, int]]:
    """Yield the numbers of half 0 and half 1 that are worth looking at: those that are seen, and what the end asks."""
    asked = frozenset(() if joint.number is None else (joint.number,))
    if is_double:
        yield from ((number, number) for number in sorted(likely[0] | likely[1] | asked))
        return
    firsts, seconds = ((likely[half] | asked if half == joint.inner_half else likely[half]) for half in (0, 1))
    yield from ((one, other) for one in sorted(firsts) for other in sorted(seconds) if one != other)
