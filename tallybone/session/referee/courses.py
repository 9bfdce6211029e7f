"""Search for the courses of a gap: sequences of plays, draws and passes that lead to the table as it is now.

A course is extended by every action that the turn allows: a play of a new tile at its place, a draw while the boneyard
has fewer tiles than expected, or a pass. Only the likeliest courses are followed. A knock heard in the gap is a pass or
a tile put down hard. A pass without a knock has a cost.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace

import engine
from engine import Call, Decline, Draw, Drawing, Hand, Knock, Lead, Phase, Play, Seat, State, Tile, apply, problem_with
from tallybone.session.referee.belief import log_side, ways_of
from tallybone.session.referee.passes import without_doubt
from tallybone.session.referee.places import ByTurn, Places, Pressed, Unseen, Waiting
from tallybone.session.referee.plays import LEFT_OUT, result_of, with_play

# Costs in log odds. A tile too many or too few in the boneyard; a pass; the surcharge for a pass that the knock sensor
# should have heard; a tile that it should have heard; a knock without an explanation or an irregular press.
_MISCOUNTED, _PASS, _UNHEARD_PASS, _UNHEARD_TILE, _UNEXPLAINED = 3.0, 2.5, 3.0, 0.7, 6.0
# Cost of a press left over after the last tile. It is implausible, because the press was made before that tile was
# seen.
_PRESS_LEFT = 9.0
# Costs of a draw, and of a play that exposes an earlier draw or pass as a revoke, in addition to the cost of an
# irregular play.
_DRAW, _REVOKE = 1.0, 2.0
# Costs for points that must be called: of a call that could not be recorded, and of a missing call.
_CALL, _UNCALLED = 0.1, 3.0
# Maximum log odds of the best course to one that is followed, and number of courses tried after which the search stops.
# The search takes 0.1 s, and at most 1 s on a busy machine, for gaps of 5 plays in 6 games.
_NEGLIGIBLE, _MAX_TRIED = 6.0, 300
# Maximum number of ways to play each tile that the search tries.
_WAYS = 2
# For long gaps, the number of courses kept at each step is this divided by the number of new tiles, but at least 4.
_BEAM = 120


@dataclass(frozen=True, slots=True)
class UnseenCourse:
    """A possible sequence of actions in a gap, complete or not.

    Attributes:
        actions: Actions in their order.
        places: Tracked layout after these actions.
        state: Match after these actions.
        left: New tiles that are not played yet.
        knocks: Knocks that are not explained yet, in order, each with its seat if known.
        presses: Presses that are not explained yet, in order.
        boneyard: Number of tiles in the boneyard at the end of the gap.
        asked: Actions that questions are about: leads, passes, and plays without their spots, because node numbers
            depend on the actions before them. Calls were pressed, and draws are not asked about.
        log_weight: Log weight.
        is_whole: Nothing more happened in the gap.
        is_heard: Knocks and presses were recorded in the gap.
        is_silent: Tiles played without a knock add no cost.
    """

    actions: tuple[ByTurn, ...]
    places: Places
    state: State
    left: tuple[Waiting, ...]
    knocks: tuple[Seat | None, ...]
    presses: tuple[Pressed, ...] = ()
    boneyard: int = 0
    asked: tuple[ByTurn, ...] = ()
    log_weight: float = 0.0
    is_whole: bool = False
    is_heard: bool = True
    is_silent: bool = False

    @classmethod
    def of(cls, unseen: Unseen, places: Places, state: State, tiles: tuple[Waiting, ...]) -> UnseenCourse:
        """Return the empty course of a gap.

        Args:
            unseen: The gap.
            places: The tracked layout before it.
            state: The match before it.
            tiles: New tiles that it has to explain.
        """
        is_heard, is_silent = not unseen.is_deaf, unseen.is_deaf or unseen.is_watched
        last = places.looks if unseen.is_watched else max(unseen.look, unseen.until)
        pressed = tuple(press for press in places.pressed if press.look < last)
        places = replace(places, pressed=places.pressed[len(pressed) :])
        count = max(unseen.boneyard or 0, places.around.yard.count)
        return cls((), places, state, tiles, unseen.knocks, pressed, count, is_heard=is_heard, is_silent=is_silent)

    @property
    def result(self) -> Hashable:
        """Result for the players: points, turn, who is out, and the tiles that each player laid."""
        return (result_of(self.state), self.laid)

    @property
    def joint_result(self) -> Hashable:
        """Result for the players, as in `result`, but regardless of which player laid each tile."""
        return (result_of(self.state), frozenset(Counter(tile for _, tile in self.laid).items()))

    @property
    def hand(self) -> Hand:
        """The hand in play."""
        assert self.state.game is not None
        assert self.state.game.hand is not None
        return self.state.game.hand

    @property
    def search_key(self) -> Hashable:
        """Everything that affects later actions. Of two courses with the same key, only the likelier is followed."""
        return (
            self.result,
            sum(self.hand.sizes),
            min(self.hand.sizes),
            self.left,
            self.knocks,
            self.presses,
            self.has_drawn,
            self.places.pass_chances,
        )

    @property
    def laid(self) -> frozenset[tuple[Seat, Tile]]:
        """Tiles played in this course, each with its player."""
        return frozenset((action.seat, action.tile) for action in self.actions if isinstance(action, Play))

    @property
    def has_drawn(self) -> bool:
        """True if the last action was a draw."""
        return bool(self.actions) and isinstance(self.actions[-1], Draw)

    @property
    def places_left(self) -> Places:
        """Tracked layout after the course, with its unexplained presses still waiting."""
        return replace(without_doubt(self.places), pressed=(*self.presses, *self.places.pressed))


def courses(start: UnseenCourse, unseen: Unseen, *, is_long: bool = False) -> list[UnseenCourse]:
    """Return the courses of a gap, likeliest first. Courses that were not followed to their end are not whole.

    All begin with the actions that the players have confirmed, and none is a beginning that they have rejected. Of
    courses with the same result and the same actions still possible, only the likeliest is followed.

    Args:
        start: The empty course.
        unseen: The gap.
        is_long: Follow only the likeliest courses at each step, but all of these to their end.
    """
    begun, rejected = unseen.begun, {(beginning.actions, beginning.is_whole) for beginning in unseen.not_so}
    # Of courses with equal results only the likeliest is kept. Prefixes of rejected beginnings are kept apart, because
    # one could displace another course and then itself be rejected.
    prefixes = {old.actions[:length] for old in unseen.not_so for length in range(len(old.actions) + 1)}
    ended, open_courses, keys = list[UnseenCourse](), [start], set[Hashable]()
    tried = 0
    while open_courses and (is_long or tried <= _MAX_TRIED):
        longer = [extended for course in open_courses for extended in (_ended(course), *_next(course))]
        tried += sum(len(course.asked) > len(begun) for course in longer)
        longer = [
            course
            for course in longer
            if course.asked[: len(begun)] == begun[: len(course.asked)]
            and (not course.is_whole or len(course.asked) >= len(begun))
            and (course.asked, course.is_whole) not in rejected
        ]
        ended += [course for course in longer if course.is_whole]
        least = max((course.log_weight for course in longer), default=0.0) - _NEGLIGIBLE
        open_courses = []
        for course in sorted(longer, key=_sort_key):
            key = (course.search_key, course.asked if course.asked in prefixes else ())
            if not course.is_whole and course.log_weight >= least and key not in keys:
                keys.add(key)
                open_courses.append(course)
        if is_long:
            open_courses = open_courses[: max(4, _BEAM // max(1, len(start.left)))]
    ranked = sorted((*ended, *open_courses), key=_sort_key)
    return [course for course in ranked if course.log_weight >= ranked[0].log_weight - _NEGLIGIBLE]


def _sort_key(course: UnseenCourse) -> tuple[float, int]:
    """Return a key that sorts the likeliest course first, and of equals the one whose smallest hand is largest."""
    return (-round(course.log_weight, 6), -min(course.hand.sizes))


def _ended(course: UnseenCourse) -> UnseenCourse:
    """Return the course as a whole one, with the cost of everything that it leaves unexplained."""
    cost = (
        LEFT_OUT * len(course.left)
        + _UNEXPLAINED * len(course.knocks)
        + _PRESS_LEFT * len(course.presses)
        + _MISCOUNTED * _miscounted(course)
        + _DRAW * course.has_drawn
    )
    return replace(course, log_weight=course.log_weight - cost, is_whole=True)


def undrawn(course: UnseenCourse) -> int:
    """Return the number of tiles gone from the boneyard minus those drawn in the course. 0 without a count or draws."""
    game, hand, yard = course.state.game, course.hand, course.places.around.yard
    if game is None or game.rules.draw is Drawing.NONE or (hand.turn is None and game.phase is not Phase.REVEAL):
        return 0
    return hand.boneyard - yard.missing - course.boneyard if yard.looks and yard.agreed is not None else 0


def _miscounted(course: UnseenCourse) -> int:
    """Return by how many tiles the boneyard and the course differ. Forced draws may not have been taken yet."""
    gone = undrawn(course)
    return gone if gone > 0 else max(0, -gone - sum(course.hand.course.owed))


def _next(course: UnseenCourse) -> Iterator[UnseenCourse]:
    """Yield the course extended by each possible next action: the next press, a call, lead, play, draw or pass.

    While the leader is unknown, presses, calls and leads only.
    """
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
    # A hand may have hidden a tile in one look that the next one shows.
    last = 1 + min((waiting.look for waiting in course.left), default=0)
    for waiting in course.left:
        if waiting.look <= last:
            yield from _with_play(course, waiting)
    for tiles in () if course.has_drawn else range(1, undrawn(course) + 1):
        yield from _with(course, Draw(seat, tiles), course.knocks, _DRAW)
    knocks = _after_sound(course, seat)
    if course.places.pass_chances and course.places.knocked_early is None:
        chance = course.places.pass_chances[0]
        later = replace(course.places, pass_chances=course.places.pass_chances[1:])
        yield from _with(replace(course, places=later), Knock(seat), course.knocks, math.log((1 - chance) / chance))
    elif knocks is None:
        yield from _with(course, Knock(seat), course.knocks, _PASS + (_UNHEARD_PASS if course.is_heard else 0.0))
    else:
        yield from _with(course, Knock(seat), knocks, _PASS)


def _uncalled(course: UnseenCourse) -> Seat | None:
    """Return the player who has points left to call, or None."""
    chance = course.hand.chance
    return None if chance is None or chance.called else chance.seat


def _after_sound(course: UnseenCourse, seat: Seat) -> tuple[Seat | None, ...] | None:
    """Return the knocks without the first if *seat* may have made it. None if not, or if there are no knocks."""
    return course.knocks[1:] if course.knocks and course.knocks[0] in (None, seat) else None


def _with(
    course: UnseenCourse, action: Lead | Call | Draw | Knock, knocks: tuple[Seat | None, ...], cost: float
) -> Iterator[UnseenCourse]:
    """Yield the course extended by an action if it is legal. *knocks* are those left, and *cost* is subtracted."""
    if problem_with(course.state, action) is None:
        state, _ = apply(course.state, action)
        actions, log_weight = (*course.actions, action), course.log_weight - cost
        places = course.places if isinstance(action, Knock | Call) else without_doubt(course.places)
        asked = (*course.asked, action) if isinstance(action, Lead | Knock) else course.asked
        yield replace(
            course, actions=actions, asked=asked, places=places, state=state, knocks=knocks, log_weight=log_weight
        )


def _with_press(course: UnseenCourse, meant: Call | Knock | Draw | Decline) -> Iterator[UnseenCourse]:
    """Yield the course extended by the next press. An irregular press is only possible before its first play."""
    problem = problem_with(course.state, meant)
    if problem is None or not (problem.weight is engine.Weight.IMPOSSIBLE or course.laid):
        state, _ = apply(course.state, meant)
        yield replace(
            course,
            actions=(*course.actions, meant),
            asked=(*course.asked, meant) if isinstance(meant, Knock) else course.asked,
            state=state,
            presses=course.presses[1:],
            log_weight=course.log_weight - (0.0 if problem is None else _UNEXPLAINED),
        )


def _with_play(course: UnseenCourse, waiting: Waiting) -> Iterator[UnseenCourse]:
    """Yield the course extended by each of the _WAYS likeliest plays of a new tile."""
    left = tuple(other for other in course.left if other != waiting)
    for way in ways_of(course.places, course.state, waiting.tile)[:_WAYS]:
        places, state, play_weight = with_play(without_doubt(course.places), course.state, waiting, way, left)
        problem = problem_with(course.state, way.play)
        is_revoke = problem is not None and problem.kind is engine.ProblemKind.REVOKE
        log_weight = course.log_weight + play_weight - (_REVOKE if is_revoke else 0.0)
        log_weight -= 0.0 if _uncalled(course) is None else _UNCALLED
        if waiting.came_from:
            around = course.places.around
            is_own = way.play.seat in waiting.came_from
            log_weight += log_side(around.came_from_own, around.came_from_other, is_own=is_own)
        actions = (*course.actions, way.play)
        knocks = _after_sound(course, way.play.seat)
        if knocks is None:
            knocks = course.knocks
            log_weight -= 0.0 if course.is_silent else _UNHEARD_TILE
        yield replace(
            course,
            actions=actions,
            asked=(*course.asked, replace(way.play, at=None, inner=None)),
            places=places,
            state=state,
            left=left,
            knocks=knocks,
            log_weight=log_weight,
        )
