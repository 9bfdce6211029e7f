"""What a new tile may have been: every play it can be, weighed by pips, touch and rules together.

The log odds of a play are those of the numbers that the eye sees, of how well its edge meets the end, and of what the
rules allow. So the rules help the eye where it is in doubt, and a play against the rules is still seen where it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine import Game, Play, Seat, State, Tile
from tallybone.session.referee.belief import NEVER, log_chances, log_lawful, plausible, shares
from tallybone.session.referee.places import Places
from tallybone.session.touching import Footprint, Joint, halves_of, joints
from vision.reading import Tile as SeenTile

# A way is believed when it has this share of the weight of all.
SURE = 0.9
# Numbers that touch, and those that do not: pairs of them are worth looking at.
_Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Way:
    """One thing that may have happened.

    Attributes:
        play: The play.
        place: Where its tile lies then.
        log_weight: How much speaks for it.
    """

    play: Play
    place: Footprint
    log_weight: float


def ways_of(places: Places, state: State, tile: SeenTile, *, is_doubted: bool = False) -> tuple[Way, ...]:
    """Return every play that a tile may have been, the likeliest first; nothing while nobody knows whose turn it is.

    Args:
        places: What is known about the table.
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


def surest(ways: Sequence[Way]) -> float:
    """Return the share of the first way in the weight of all, 0 where there is none."""
    return shares(way.log_weight for way in ways)[0] if ways else 0.0


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


def _pairs(likely: tuple[frozenset[int], frozenset[int]], joint: Joint, *, is_double: bool) -> Iterator[_Pair]:
    """Yield the numbers of half 0 and half 1 that are worth looking at: those that are seen, and what the end asks."""
    asked = frozenset(() if joint.number is None else (joint.number,))
    if is_double:
        yield from ((number, number) for number in sorted(likely[0] | likely[1] | asked))
        return
    firsts, seconds = ((likely[half] | asked if half == joint.inner_half else likely[half]) for half in (0, 1))
    yield from ((one, other) for one in sorted(firsts) for other in sorted(seconds) if one != other)
