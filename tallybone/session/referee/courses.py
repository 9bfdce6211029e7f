"""Search what may have happened while nobody saw the table: plays, draws and passes that lead to what lies there now.

Every course that the turn allows is followed, the likeliest first: a tile laid where it lies now, tiles drawn as long
as the boneyard has fewer than the rules say, a pass. Knocks that were heard meanwhile are passes, or tiles that were
put down hard; a pass that nobody heard costs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace

from engine import (
    Call,
    Decline,
    Draw,
    Drawing,
    Hand,
    Knock,
    Lead,
    Phase,
    Play,
    ProblemKind,
    Seat,
    State,
    Tile,
    Weight,
    apply,
    problem_with,
)
from tallybone.session.referee.belief import log_side, ways_of
from tallybone.session.referee.places import ByTurn, Places, Pressed, Unseen, Waiting
from tallybone.session.referee.plays import LEFT_OUT, laid_so, result_of

# What it costs, in log odds: a tile too many or too few in the boneyard; a pass, and one that nobody heard though
# somebody listened; a tile that nobody heard; a knock or a press that was for nothing.
_MISCOUNTED, _PASS, _UNHEARD_PASS, _UNHEARD_TILE, _NOTHING = 3.0, 2.5, 3.0, 0.7, 6.0
# A press that was for nothing after the last tile: it was made before that lay there.
_LATER = 9.0
# To have to draw, and to have drawn or passed before a tile that would have fitted, beside what the rules say to that.
_DRAW, _REVOKE = 1.0, 2.0
# Points that have to be called: that they were, where no button could be pressed, and that they were not.
_CALL, _UNCALLED = 0.1, 3.0
# Courses this much less likely than the best are not followed; none is followed further after so many were tried, which
# takes a second at most on a busy machine, and 0.1 s mostly: 6 games, gaps of 5 plays.
_NEGLIGIBLE, _MOST_TRIED = 6.0, 300
# So many ways to lay each tile are tried.
_WAYS = 2
# Where there are too many tiles to follow every course, so many are followed for each of them.
_BEAM = 120


@dataclass(frozen=True, slots=True)
class UnseenCourse:
    """What may have happened so far.

    Attributes:
        actions: In their order.
        told: What the table is asked about: leads, passes, and plays without their places, as the names of the tiles
            there depend on the rest. Calls were pressed, and who has drawn how many tiles is not asked.
        places, state: Where the tiles lie and how the match stands then.
        left: The tiles that are not laid yet.
        knocks: The knocks that were heard later, each with the seat if that is known.
        presses: What players pressed later.
        boneyard: Tiles of the boneyard after all that is explained.
        log_weight: How much speaks for it.
        is_whole: Whether nothing more has happened.
        is_heard: Whether the players were heard meanwhile, and what they pressed was noted.
        is_silent: Whether it says nothing that a tile was not heard.
    """

    actions: tuple[ByTurn, ...]
    places: Places
    state: State
    left: tuple[Waiting, ...]
    knocks: tuple[Seat | None, ...]
    presses: tuple[Pressed, ...] = ()
    boneyard: int = 0
    told: tuple[ByTurn, ...] = ()
    log_weight: float = 0.0
    is_whole: bool = False
    is_heard: bool = True
    is_silent: bool = False

    @classmethod
    def of(cls, unseen: Unseen, places: Places, state: State, tiles: tuple[Waiting, ...]) -> UnseenCourse:
        """Return the course in which nothing has happened yet, at a table that stands as it did before."""
        heard, is_silent = not unseen.is_deaf, unseen.is_deaf or unseen.is_watched
        last = places.looks if unseen.is_watched else max(unseen.look, unseen.until)
        pressed = tuple(one for one in places.pressed if one.look < last)
        places = replace(places, pressed=places.pressed[len(pressed) :])
        count = max(unseen.boneyard or 0, places.around.yard.count)
        return cls((), places, state, tiles, unseen.knocks, pressed, count, is_heard=heard, is_silent=is_silent)

    @property
    def came_to(self) -> Hashable:
        """What matters of it to the players at its end: points, turn, who is out, and who laid which tiles."""
        return (result_of(self.state), self.laid)

    @property
    def shows(self) -> Hashable:
        """What matters of it at its end where it does not matter who laid which tiles."""
        return (result_of(self.state), frozenset(Counter(tile for _, tile in self.laid).items()))

    @property
    def hand(self) -> Hand:
        """The hand at its end: a course begins in one."""
        assert self.state.game is not None
        assert self.state.game.hand is not None
        return self.state.game.hand

    @property
    def reached(self) -> Hashable:
        """All that matters of it to what may come next: of two courses with the same, one is followed."""
        return (
            self.came_to,
            sum(self.hand.sizes),
            min(self.hand.sizes),
            self.left,
            self.knocks,
            self.presses,
            self.has_drawn,
        )

    @property
    def laid(self) -> frozenset[tuple[Seat, Tile]]:
        """Who has laid which tiles."""
        return frozenset((one.seat, one.tile) for one in self.actions if isinstance(one, Play))

    @property
    def has_drawn(self) -> bool:
        """Whether the last action was a draw of the player in turn."""
        return bool(self.actions) and isinstance(self.actions[-1], Draw)

    @property
    def places_left(self) -> Places:
        """Where the tiles lie then, with what was pressed for nothing so far."""
        return replace(self.places, pressed=(*self.presses, *self.places.pressed))


def courses(start: UnseenCourse, unseen: Unseen, *, is_long: bool = False) -> list[UnseenCourse]:
    """Return what may have happened, the likeliest first: whole courses, and how others began where there are too many.

    Of courses that come to the same there is one. All began as the table has said, and none as it has rejected. Where
    it *is_long* only the likeliest are followed at each step, and all to their end.
    """
    begun, rejected = unseen.begun, {(one.actions, one.is_whole) for one in unseen.not_so}
    # Courses on the way to what was rejected are not those that others with the same result are dropped for.
    halfway = {one.actions[:many] for one in unseen.not_so for many in range(len(one.actions) + 1)}
    ended, waiting, reached = list[UnseenCourse](), [start], set[Hashable]()
    tried = 0
    while waiting and (is_long or tried <= _MOST_TRIED):
        longer = [one for course in waiting for one in (_ended(course), *_next(course))]
        told = [one.told for one in longer]
        tried += sum(len(done) > len(begun) for done in told)
        longer = [
            one
            for one, done in zip(longer, told, strict=True)
            if done[: len(begun)] == begun[: len(done)]
            and (not one.is_whole or len(done) >= len(begun))
            and (done, one.is_whole) not in rejected
        ]
        ended += [one for one in longer if one.is_whole]
        least = max((one.log_weight for one in longer), default=0.0) - _NEGLIGIBLE
        waiting = []
        for one in sorted(longer, key=_likelier):
            reaches = (one.reached, one.told if one.told in halfway else ())
            if not one.is_whole and one.log_weight >= least and reaches not in reached:
                reached.add(reaches)
                waiting.append(one)
        if is_long:
            waiting = waiting[: max(4, _BEAM // max(1, len(start.left)))]
    found = sorted((*ended, *waiting), key=_likelier)
    return [one for one in found if one.log_weight >= found[0].log_weight - _NEGLIGIBLE]


def _likelier(course: UnseenCourse) -> tuple[float, int]:
    """Return what is less for a likelier course; of draws as likely, for those after which nobody has few tiles."""
    return (-round(course.log_weight, 6), -min(course.hand.sizes))


def _ended(course: UnseenCourse) -> UnseenCourse:
    """Return the course if nothing more has happened."""
    cost = (
        LEFT_OUT * len(course.left)
        + _NOTHING * len(course.knocks)
        + _LATER * len(course.presses)
        + _MISCOUNTED * _miscounted(course)
        + _DRAW * course.has_drawn
    )
    return replace(course, log_weight=course.log_weight - cost, is_whole=True)


def undrawn(course: UnseenCourse) -> int:
    """Return how many more tiles are gone from the boneyard than the course has drawn; below 0 how many fewer."""
    game, hand, yard = course.state.game, course.hand, course.places.around.yard
    if game is None or game.rules.draw is Drawing.NONE or (hand.turn is None and game.phase is not Phase.REVEAL):
        return 0
    return hand.boneyard - yard.missing - course.boneyard if yard.looks and yard.agreed is not None else 0


def _miscounted(course: UnseenCourse) -> int:
    """Return by how many tiles the boneyard is wrong; those that a play has forced on a player may lie there still."""
    gone = undrawn(course)
    return gone if gone > 0 else max(0, -gone - sum(course.hand.course.owed))


def _next(course: UnseenCourse) -> Iterator[UnseenCourse]:
    """Yield the course with one more play, draw or pass of the player in turn, or with what was pressed next."""
    hand = course.hand
    meant = course.presses[0].meant(course.state) if course.presses else None
    if meant is not None:
        yield from _with_press(course, meant)
    caller = _uncalled(course)
    if caller is not None and not course.is_heard:
        yield from _with(course, Call(caller), course.knocks, _CALL)
    if hand.turn is None:
        for at in range(len(hand.sizes)):
            yield from _with(course, Lead(Seat(at)), course.knocks, math.log(len(hand.sizes)))
        return
    seat = hand.turn
    # A hand may still have hidden, in the first of two looks, what the second one shows.
    last = 1 + min((one.look for one in course.left), default=0)
    for one in course.left:
        if one.look <= last:
            yield from _with_play(course, one)
    for tiles in () if course.has_drawn else range(1, undrawn(course) + 1):
        yield from _with(course, Draw(seat, tiles), course.knocks, _DRAW)
    knocks = _after_sound(course, seat)
    if knocks is None:
        yield from _with(course, Knock(seat), course.knocks, _PASS + (_UNHEARD_PASS if course.is_heard else 0.0))
    else:
        yield from _with(course, Knock(seat), knocks, _PASS)


def _uncalled(course: UnseenCourse) -> Seat | None:
    """Return the player of whose last play the points are not called yet; None for none."""
    chance = course.hand.chance
    return None if chance is None or chance.called else chance.seat


def _after_sound(course: UnseenCourse, seat: Seat) -> tuple[Seat | None, ...] | None:
    """Return the knocks that are left where a player makes the next of them; None where it is another's or none."""
    return course.knocks[1:] if course.knocks and course.knocks[0] in (None, seat) else None


def _with(
    course: UnseenCourse, action: Lead | Call | Draw | Knock, knocks: tuple[Seat | None, ...], cost: float
) -> Iterator[UnseenCourse]:
    if problem_with(course.state, action) is None:
        state, _ = apply(course.state, action)
        actions, log_weight = (*course.actions, action), course.log_weight - cost
        told = (*course.told, action) if isinstance(action, Lead | Knock) else course.told
        yield replace(course, actions=actions, told=told, state=state, knocks=knocks, log_weight=log_weight)


def _with_press(course: UnseenCourse, meant: Call | Knock | Draw | Decline) -> Iterator[UnseenCourse]:
    """Yield the course with what was pressed next: as the rules allow it, or against them before any tile was laid."""
    problem = problem_with(course.state, meant)
    if problem is None or not (problem.weight is Weight.IMPOSSIBLE or course.laid):
        state, _ = apply(course.state, meant)
        yield replace(
            course,
            actions=(*course.actions, meant),
            told=(*course.told, meant) if isinstance(meant, Knock) else course.told,
            state=state,
            presses=course.presses[1:],
            log_weight=course.log_weight - (0.0 if problem is None else _NOTHING),
        )


def _with_play(course: UnseenCourse, one: Waiting) -> Iterator[UnseenCourse]:
    left = tuple(other for other in course.left if other != one)
    for way in ways_of(course.places, course.state, one.tile)[:_WAYS]:
        places, state, speaks = laid_so(course.places, course.state, one, way, left)
        problem = problem_with(course.state, way.play)
        is_revoke = problem is not None and problem.kind is ProblemKind.REVOKE
        log_weight = course.log_weight + speaks - (_REVOKE if is_revoke else 0.0)
        log_weight -= 0.0 if _uncalled(course) is None else _UNCALLED
        if one.came_from:
            around = course.places.around
            is_own = way.play.seat in one.came_from
            log_weight += log_side(around.came_from_own, around.came_from_other, is_own=is_own)
        actions = (*course.actions, way.play)
        knocks = _after_sound(course, way.play.seat)
        if knocks is None:
            knocks = course.knocks
            log_weight -= 0.0 if course.is_silent else _UNHEARD_TILE
        yield replace(
            course,
            actions=actions,
            told=(*course.told, replace(way.play, at=None, inner=None)),
            places=places,
            state=state,
            left=left,
            knocks=knocks,
            log_weight=log_weight,
        )
