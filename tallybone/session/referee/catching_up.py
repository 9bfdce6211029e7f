"""Explain what happened while nobody saw the table: plays, draws and passes that lead from the last look to this one.

Every course that the turn allows is followed, the likeliest first: a tile laid where it lies now, tiles drawn as long
as the boneyard has fewer than the rules say, a pass. Knocks that were heard meanwhile are passes, or tiles that were
put down hard; a pass that nobody heard costs.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count

from engine import Action, Draw, Drawing, Game, Knock, NodeId, Play, Seat, State, Tile, apply, entries, problem_with
from engine.phrases import Phrase, listed, phrase
from engine.problems import tiles_text
from tallybone.session.referee.belief import SURE, ways_of
from tallybone.session.referee.places import Places, Waiting
from tallybone.session.referee.plays import LEFT_OUT, laid_so, result_of, shares_by_result
from tallybone.session.referee.questions import Decided, Question, Unclear

# What it costs, in log odds: a tile too many or too few in the boneyard; a pass, and one that nobody heard; a tile that
# nobody heard; a knock that was neither.
_MISCOUNTED, _PASS, _UNHEARD_PASS, _UNHEARD_TILE, _NOTHING = 3.0, 2.5, 3.0, 0.7, 6.0
# Courses this much less likely than the best are not followed; nor more than so many, which takes a fifth of a second.
# Those that have laid one more tile are followed before those that weigh up to so much more.
_NEGLIGIBLE, _MOST_COURSES, _AHEAD = 6.0, 200, 1.0
# So many ways to lay each tile are tried, and so many answers are offered.
_WAYS, _MOST_CHOICES = 2, 4


@dataclass(frozen=True, slots=True)
class _Course:
    """What may have happened so far.

    Attributes:
        actions: In their order.
        places, state: Where the tiles lie and how the match stands then.
        left: The tiles that are not laid yet.
        knocks: The knocks that were heard later, each with the seat if that is known.
        log_weight: How much speaks for it.
        is_whole: Whether nothing more has happened.
    """

    actions: tuple[Action, ...]
    places: Places
    state: State
    left: tuple[Waiting, ...]
    knocks: tuple[Seat | None, ...]
    log_weight: float = 0.0
    is_whole: bool = False

    @property
    def reached(self) -> Hashable:
        """All that matters of it to the players: two courses with the same have come to the same."""
        return (result_of(self.state), self.laid, self.left, self.knocks, self.has_drawn)

    @property
    def laid(self) -> frozenset[tuple[Seat, Tile]]:
        """Who has laid which tiles."""
        return frozenset((one.seat, one.tile) for one in self.actions if isinstance(one, Play))

    @property
    def has_drawn(self) -> bool:
        """Whether the last action was a draw of the player in turn."""
        return bool(self.actions) and isinstance(self.actions[-1], Draw)


def is_ready(places: Places) -> bool:
    """Return whether the table has been seen well enough: a boneyard that has changed has to be counted twice."""
    yard = places.around.yard
    return yard.agreed is None or yard.count == yard.agreed or yard.looks > 1


def caught_up(places: Places, state: State) -> Decided | Question:
    """Return what happened while nobody saw the table, or the question what it was.

    Where those courses that leave the same points and the same turn have nearly all the weight, the likeliest of them
    is taken; the table is asked to check it if more than one tile was laid.
    """
    game = state.game
    assert places.unseen is not None
    assert game is not None  # without a match nothing is judged
    seen = replace(places, unseen=None)
    group = tuple(one for one in places.waiting if one.look >= places.unseen.look)
    if len(places.unseen.knocks) <= len(group) <= 1:
        return Decided((), seen)  # as if it had been seen: at most one tile, whose turn it is
    found = sorted(_courses(_Course((), seen, state, group, places.unseen.knocks)), key=lambda one: -one.log_weight)
    if not any(one.actions for one in found):
        return Decided((), seen)
    by_result = shares_by_result([(one.state, one.log_weight) for one in found])
    best = max(by_result, key=lambda one: by_result[one])
    if by_result[best] >= SURE:
        return _taken(next(one for one in found if result_of(one.state) == best))
    # Who laid what matters more than who drew how many: what is offered first differs in that.
    by_plays: dict[Hashable, _Course] = {}
    for course in found:
        by_plays.setdefault(course.laid, course)
    choices: dict[str, Decided] = {}
    for course in (*by_plays.values(), *found):
        if len(choices) < _MOST_CHOICES:
            choices.setdefault(_told(game, course.actions), _taken(course))
    words = phrase("what happened while nobody saw the table?")
    return Question(Unclear(None, words, holds_up=True, choices=tuple(choices)), tuple(choices.values()))


def ask_about_unseen(places: Places, state: State) -> Decided | Question:
    """Return the question whether the tiles that were laid while nobody saw it were laid so."""
    told = replace(places, laid_unseen=())
    plays = [one.action for one in entries(state) if NodeId(one.seq) in places.laid_unseen]
    if state.game is None or not plays:
        return Decided((), told)
    words = phrase("laid while nobody saw it: {plays}. Is that right?", plays=_told(state.game, plays))
    unclear = Unclear(None, words, holds_up=False, choices=(phrase("that is right"),))
    return Question(unclear, (Decided((), told),))


def _courses(start: _Course) -> Iterator[_Course]:
    """Yield whole courses, about the likeliest first; of those that come to the same, one."""
    order, reached = count(), set[Hashable]()
    waiting = [(0.0, next(order), start)]
    best = -math.inf
    for _ in range(_MOST_COURSES):
        if not waiting:
            return
        _, _, course = heappop(waiting)
        if course.is_whole:
            best = max(best, course.log_weight)
            yield course
        elif course.log_weight >= best - _NEGLIGIBLE and course.reached not in reached:
            reached.add(course.reached)
            for longer in (_ended(course), *_next(course)):
                heappush(waiting, (_AHEAD * len(longer.left) - longer.log_weight, next(order), longer))


def _ended(course: _Course) -> _Course:
    """Return the course if nothing more has happened."""
    cost = LEFT_OUT * len(course.left) + _NOTHING * len(course.knocks) + _MISCOUNTED * abs(_undrawn(course))
    return replace(course, log_weight=course.log_weight - cost, is_whole=True)


def _undrawn(course: _Course) -> int:
    """Return how many more tiles are gone from the boneyard than the course has drawn."""
    game, yard = course.state.game, course.places.around.yard
    if game is None or game.hand is None or game.hand.turn is None or game.rules.draw is Drawing.NONE:
        return 0
    return game.hand.boneyard - yard.missing - yard.count if yard.looks and yard.agreed is not None else 0


def _next(course: _Course) -> Iterator[_Course]:
    """Yield the course with one more play, draw or pass of the player in turn."""
    hand = None if course.state.game is None else course.state.game.hand
    if hand is None or hand.turn is None:
        return
    seat = hand.turn
    for one in course.left:
        yield from _with_play(course, one)
    for tiles in () if course.has_drawn else range(1, _undrawn(course) + 1):
        yield from _with(course, Draw(seat, tiles), 0.0)
    knocks = _after_sound(course, seat)
    if knocks is None:
        yield from _with(course, Knock(seat), _PASS + _UNHEARD_PASS)
    else:
        yield from _with(replace(course, knocks=knocks), Knock(seat), _PASS)


def _after_sound(course: _Course, seat: Seat) -> tuple[Seat | None, ...] | None:
    """Return the knocks that are left where a player makes the next of them; None where it is another's or none."""
    return course.knocks[1:] if course.knocks and course.knocks[0] in (None, seat) else None


def _with(course: _Course, action: Draw | Knock, cost: float) -> Iterator[_Course]:
    if problem_with(course.state, action) is None:
        state, _ = apply(course.state, action)
        log_weight = course.log_weight - cost
        yield replace(course, actions=(*course.actions, action), state=state, log_weight=log_weight)


def _with_play(course: _Course, one: Waiting) -> Iterator[_Course]:
    left = tuple(other for other in course.left if other != one)
    for way in ways_of(course.places, course.state, one.tile)[:_WAYS]:
        places, state, speaks = laid_so(course.places, course.state, one, way, left)
        log_weight = course.log_weight + speaks
        silent = _Course((*course.actions, way.play), places, state, left, course.knocks, log_weight - _UNHEARD_TILE)
        knocks = _after_sound(course, way.play.seat)
        yield silent if knocks is None else replace(silent, knocks=knocks, log_weight=log_weight)


def _taken(course: _Course) -> Decided:
    """Return the decision that a course tells; who laid several tiles is to be checked."""
    plays = sum(isinstance(one, Play) for one in course.actions)
    nodes = tuple(known.node for known in course.places.known[len(course.places.known) - plays :])
    return Decided(course.actions, replace(course.places, laid_unseen=nodes if plays > 1 else ()))


def _told(game: Game, actions: Iterable[Action]) -> Phrase:
    """Return who did what, in their order."""
    said: list[Phrase] = []
    for one in actions:
        match one:
            case Play():
                said.append(phrase("{name} {tile}", name=game.players[one.seat], tile=one.tile))
            case Draw():
                said.append(phrase("{name} draws {tiles}", name=game.players[one.seat], tiles=tiles_text(one.tiles)))
            case Knock():
                said.append(phrase("{name} passes", name=game.players[one.seat]))
            case _:
                raise ValueError(f"actions: expected plays, draws and passes, got {one}")
    return listed(said) if said else phrase("nothing happened")
