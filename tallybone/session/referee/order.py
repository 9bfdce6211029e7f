"""Tiles that came at once, because something hid the table: in which order they were laid, as far as that matters.

Every order that hands and rules allow is played through; what was to be seen earlier was most likely laid earlier.
Where all likely orders leave the same points and the same turn the likeliest is taken; where they do not, the table is
asked which tile was first.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from engine import Event, NodeId, State, apply
from engine.phrases import either, phrase
from engine.problems import the_tile, tiles_text
from tallybone.session.referee.belief import SURE, shares, ways_of
from tallybone.session.referee.places import Known, Places, Waiting, numbers_of
from tallybone.session.referee.questions import Decided, Question, Unclear
from tallybone.session.touching import Laid

# Up to this many tiles every order is tried: 24 of 4, in a tenth of a second.
MOST_IN_ANY_ORDER = 4
# What it costs, in log odds, to leave a tile out: more than a play against the rules.
_LEFT_OUT = 12.0
# What it costs to lay a tile before one that was to be seen so much earlier: people take longer than that to lay two,
# and pictures come faster.
_SEEN_EARLIER, _EARLIER_NS = 4.0, 200_000_000


@dataclass(frozen=True, slots=True)
class _Run:
    """Some of the tiles laid one after the other.

    Attributes:
        order: The tiles, as they were laid.
        events: Their plays.
        places, state: What is known then.
        log_weight: How much speaks for it.
    """

    order: tuple[Waiting, ...]
    events: tuple[Event, ...]
    places: Places
    state: State
    log_weight: float


def first_of(places: Places, state: State, group: Sequence[Waiting]) -> Waiting | Question | None:
    """Return which tile of a group was laid first, the question that tells it, or None where none touches anything."""
    runs = list(_every_order(_Run((), (), places, state, 0.0), tuple(group)))
    runs = [run for run in runs if run.order]
    if not runs:
        return None
    by_result: dict[Hashable, float] = {}
    for run, share in zip(runs, shares(run.log_weight for run in runs), strict=True):
        by_result[_result(run.state)] = by_result.get(_result(run.state), 0.0) + share
    best = max(runs, key=lambda run: (by_result[_result(run.state)], run.log_weight))
    firsts = {numbers_of(run.order[0].tile): run.order[0] for run in runs if by_result[_result(run.state)] > 1 - SURE}
    if by_result[_result(best.state)] >= SURE or len(firsts) < 2:
        return best.order[0]
    tiles = [f"{high}-{low}" for low, high in firsts]
    choices = tuple(the_tile(one) for one in tiles)
    words = phrase("which was laid first, {tiles}?", tiles=either(choices))
    unclear = Unclear(None, words, holds_up=True, choices=choices)
    return Question(unclear, tuple(Decided((), _put_first(places, one)) for one in firsts.values()))


def lay_all(places: Places, state: State, group: Sequence[Waiting]) -> Decided | None:
    """Return many tiles laid in the likeliest order, such as a game that was begun unseen; None where none touches."""
    start = _Run((), (), places, state, 0.0)
    firsts = group if state.game is not None and not state.game.layout.nodes else ()
    begun = [run for one in firsts for run in _with(start, one, group)] or [start]
    runs = [_greedy(run, tuple(one for one in group if one not in run.order)) for run in begun]
    best = max(runs, key=lambda run: run.log_weight)
    if not best.events:
        return None
    scores = state.game is not None and state.game.rules.unit is not None
    return Decided(best.events, replace(best.places, unchecked=len(best.events) if scores else 0))


def ask_to_check(places: Places) -> Question:
    """Return the question whether the points are right after many tiles came at once."""
    words = phrase("{tiles} came at once: are the points right?", tiles=tiles_text(places.unchecked))
    unclear = Unclear(None, words, holds_up=False, choices=(phrase("the points are right"),))
    return Question(unclear, (Decided((), replace(places, unchecked=0)),))


def _every_order(run: _Run, left: tuple[Waiting, ...]) -> Iterator[_Run]:
    """Yield every order of laying what is left, as far as it goes."""
    went_on = False
    for one in left:
        for longer in _with(run, one, left):
            went_on = True
            yield from _every_order(longer, tuple(other for other in left if other != one))
    if not went_on:
        yield replace(run, log_weight=run.log_weight - _LEFT_OUT * len(left))


def _greedy(run: _Run, left: tuple[Waiting, ...]) -> _Run:
    """Return what is left laid, at every step the tile that fits best."""
    while left:
        steps = [longer for one in left for longer in _with(run, one, left)]
        if not steps:
            break
        run = max(steps, key=lambda step: step.log_weight)
        left = tuple(one for one in left if one != run.order[-1])
    return replace(run, log_weight=run.log_weight - _LEFT_OUT * len(left))


def _with(run: _Run, one: Waiting, left: Sequence[Waiting]) -> Iterator[_Run]:
    """Yield the run with one more tile of those that are *left* laid as it was most likely laid, where it touches."""
    ways = ways_of(run.places, run.state, one.tile)
    if ways:
        way = ways[0]
        known = Known(Laid(NodeId(run.state.next_seq), way.place), one.tile)
        places = replace(run.places.without_waiting(one.tile), known=(*run.places.known, known))
        state, _ = apply(run.state, way.play)
        log_weight = run.log_weight + way.log_weight - _SEEN_EARLIER * sum(_is_earlier(other, one) for other in left)
        yield _Run((*run.order, one), (*run.events, way.play), places, state, log_weight)


def _is_earlier(one: Waiting, other: Waiting) -> bool:
    """Return whether a tile was clearly to be seen before another one."""
    if one.since_ns is None or other.since_ns is None:
        return False
    return one.since_ns + _EARLIER_NS <= other.since_ns


def _result(state: State) -> Hashable:
    """Return all that can differ for the players between two orders."""
    game = state.game
    assert game is not None
    assert game.hand is not None
    hand, spinner = game.hand, game.layout.spinner
    chance = None if hand.chance is None else (hand.chance.seat, hand.chance.points)
    course = (hand.course.direction, hand.course.spell, hand.course.extra, hand.sizes)
    return (game.totals, game.phase, hand.turn, chance, course, None if spinner is None else spinner.tile)


def _put_first(places: Places, first: Waiting) -> Places:
    """Return the places with one tile seen before all others of its look."""
    later = tuple(
        one if one == first or one.look < first.look else replace(one, look=one.look + 1) for one in places.waiting
    )
    return replace(places, waiting=later, looks=places.looks + 1)
