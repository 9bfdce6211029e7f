"""Tell what happened while nobody saw the table from what lies there now, or ask the table, a few actions at a time.

A question offers how it may have begun, each choice as much of it as leaves about as much to all the others: so one tap
tells as much as one tap can. The rest is asked among the courses that began so. Who drew how many tiles is not asked.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import assert_never

from engine import Call, Confirmed, Decline, Draw, Game, Knock, Lead, Play, State, entries
from engine.phrases import Phrase, listed, phrase
from engine.state.problems import tiles_text
from tallybone.session.referee.belief import SURE, shares
from tallybone.session.referee.courses import UnseenCourse, courses, undrawn
from tallybone.session.referee.places import Beginning, ByTurn, Places, Unseen
from tallybone.session.referee.questions import Decided, Question, Unclear

# So many beginnings are offered, and "something else"; one with less than this share is not.
_MOST_CHOICES, _LEAST_SHARE = 6, 0.01
# Of what is asked the weights count as much as this: most courses are not followed to their end.
_TRUST = 0.5
# Of more tiles than these nobody is asked what was laid when: of those that nobody saw, and of those of one look.
_MOST_ASKED, _MOST_AT_ONCE = 8, 4
# So many actions are named to be confirmed.
_MOST_NAMED = 4
# With this share what was done around one tile, or the order of tiles of one look, is as certain as if it was watched.
_CERTAIN = 0.98


@dataclass(frozen=True, slots=True)
class _Alike:
    """Courses that began alike.

    Attributes:
        courses: Each with its share of the weight of all.
        told: What all began with.
    """

    courses: tuple[tuple[UnseenCourse, float], ...]
    told: tuple[ByTurn, ...]

    @classmethod
    def of(cls, weighed: Iterable[tuple[UnseenCourse, float]]) -> _Alike:
        """Return some courses, of which there is one at least."""
        listed = tuple(weighed)
        turns = zip(*(one.told for one, _ in listed), strict=False)
        return cls(listed, tuple(turn[0] for turn in takewhile(lambda turn: len(set(turn)) == 1, turns)))

    @property
    def share(self) -> float:
        """The share of all of them."""
        return math.fsum(share for _, share in self.courses)

    @property
    def whole(self) -> UnseenCourse | None:
        """The likeliest of them where all is told with what they began with; None where there is more to ask."""
        likeliest = self.courses[0][0]
        return likeliest if likeliest.is_whole and all(one.told == self.told for one, _ in self.courses) else None

    def split(self) -> list[_Alike]:
        """Return those that went on alike, at the first turn in which they differ."""
        after: dict[Hashable, list[tuple[UnseenCourse, float]]] = defaultdict(list)
        for course, share in self.courses:
            after[course.told[: len(self.told) + 1]].append((course, share))
        return [_Alike.of(one) for one in after.values()]


def is_ready(places: Places) -> bool:
    """Return whether the table has been seen well enough: a boneyard that has changed has to be counted twice."""
    yard = places.around.yard
    return yard.agreed is None or yard.count == yard.agreed or yard.looks > 1


def caught_up(places: Places, state: State) -> Decided | Question | None:
    """Return what happened in a time that nobody saw, or the question what it was; None where nothing is to be told.

    Tiles that a later look shows are explained after it, so that the question stays as it is while the players go on.
    Where those courses that leave the same points, the same turn and the same players of the tiles have nearly all the
    weight, the likeliest of them is taken. It is taken in any case of many tiles, whose order nobody is asked for, and
    where the players have gone on without an answer.
    """
    unseen = places.unseen
    assert unseen is not None
    assert state.game is not None  # without a match nothing is judged
    seen = replace(places, unseen=None)
    if unseen.boneyard is None and not unseen.is_watched:
        return Decided((), replace(places, unseen=replace(unseen, boneyard=places.around.yard.count)))
    if places.looks == unseen.look and not (unseen.is_watched or is_ready(places)):
        return None
    is_unanswered = places.is_played_on or any(places.around.open_counts)
    last = places.looks if unseen.is_watched and is_unanswered else max(unseen.look, unseen.until)
    group = tuple(one for one in places.waiting if unseen.look <= one.look <= last)
    start = UnseenCourse.of(unseen, seen, state, group)
    is_long = is_unanswered or len(group) > (_MOST_AT_ONCE if unseen.is_watched else _MOST_ASKED)
    is_told = unseen.begun or unseen.not_so
    if len(group) <= 1 and not (start.knocks or start.presses or is_told or (group and undrawn(start))):
        # At most one tile, as if its play had been seen.
        return None if unseen.is_watched else Decided((), seen)
    found = courses(start, unseen, is_long=is_long)
    if not found and unseen.begun:  # the record was corrected since
        return Decided((), replace(places, unseen=replace(unseen, begun=(), not_so=())))
    if not any(one.actions for one in found):
        return None if unseen.is_watched else Decided((), seen)
    weighed = tuple(zip(found, shares(one.log_weight for one in found), strict=True))
    by_result: dict[Hashable, float] = defaultdict(float)
    results = [one.shows if unseen.is_watched else one.came_to for one in found]
    for result, (_, share) in zip(results, weighed, strict=True):
        by_result[result] += share
    best = max(by_result, key=lambda one: by_result[one])
    likeliest = found[results.index(best)]
    if unseen.is_watched and likeliest.is_whole and not likeliest.actions:
        return None
    # What is left after the table has rejected the likely ones is asked in any case, and what is left to tell after an
    # answer if it is not certain.
    enough = _CERTAIN if unseen.begun else SURE
    if is_long or (by_result[best] >= enough and likeliest.is_whole and not unseen.not_so):
        is_plain = unseen.is_watched or sum(isinstance(one, Play) for one in likeliest.actions) <= 1
        is_sure = is_plain and not unseen.begun and (by_result[best] >= _CERTAIN or len(likeliest.actions) == 1)
        return Decided(likeliest.actions, likeliest.places_left, is_inferred=is_long or not is_sure)
    by_share = shares(_TRUST * one.log_weight for one in found)
    return _ask(places, unseen, state.game, _beginnings(tuple(zip(found, by_share, strict=True))))


def ask_to_confirm(places: Places, state: State) -> Question:
    """Return the question whether what was inferred is right."""
    assert state.game is not None  # the actions of a match
    marked = [one.action for one in entries(state) if one.inferred]
    told = [one for one in marked if isinstance(one, ByTurn)]
    if len(told) < len(marked):
        words = phrase("a hand ended while nobody saw it: are the points right?")
    elif len(told) <= _MOST_NAMED:
        words = phrase("while nobody saw it: {actions}. Is that right?", actions=_told(state.game, told))
    else:
        laid = tiles_text(sum(isinstance(one, Play) for one in told))
        words = phrase("{tiles} came at once: are the points right?", tiles=laid)
    unclear = Unclear(None, words, holds_up=False, choices=(phrase("that is right"),))
    return Question(unclear, (Decided((Confirmed(state.inferred),), places),))


def _beginnings(weighed: Sequence[tuple[UnseenCourse, float]]) -> list[_Alike]:
    """Return the beginnings of which a choice tells most, the likeliest first."""
    offered = [_Alike.of(weighed)]
    while True:
        finer = [
            sorted((*(other for other in offered if other is not one), *one.split()), key=lambda part: -part.share)
            for one in offered
            if len(one.courses) > 1
        ]
        kept = [[one for one in parts[:_MOST_CHOICES] if one.share >= _LEAST_SHARE] for parts in finer]
        best = max(kept, key=_told_by, default=offered)
        if _told_by(best) <= _told_by(offered):
            return offered
        offered = best


def _told_by(offered: Sequence[_Alike]) -> float:
    """Return how much a choice of these, or of none of them, is expected to tell, in nats."""
    parts = [one.share for one in offered]
    return -math.fsum(part * math.log(part) for part in (*parts, 1.0 - math.fsum(parts)) if part > 0.0)


def _ask(places: Places, unseen: Unseen, game: Game, offered: Sequence[_Alike]) -> Question:
    """Return the question which of the beginnings it was, or none of them."""
    answers: dict[str, Decided] = {}
    not_so, known = unseen.not_so, len(unseen.begun)
    for one in offered:
        words = _told(game, one.told[known:])
        if one.whole is not None:
            words = words if one.told else _told(game, one.whole.actions)
            # The whole of it is to be confirmed once more: one wrong tap would be a wrong score that nothing tells.
            answers[words] = Decided(one.whole.actions, one.whole.places_left, is_inferred=True)
        elif len(one.told) > known:
            further = replace(unseen, begun=one.told, not_so=())
            answers[phrase("{actions} …", actions=words)] = Decided((), replace(places, unseen=further))
        else:
            continue
        not_so = (*not_so, Beginning(one.told, is_whole=one.whole is not None))
    # A hand may have hidden a tile in the first look.
    other = replace(unseen, until=places.looks, boneyard=None, not_so=not_so)
    answers[phrase("something else")] = Decided((), replace(places, unseen=other))
    several = phrase("several tiles came at once: what happened?")
    words = several if unseen.is_watched else phrase("what happened while nobody saw the table?")
    return Question(Unclear(None, words, holds_up=True, choices=tuple(answers)), tuple(answers.values()))


def _told(game: Game, actions: Iterable[ByTurn]) -> Phrase:
    """Return who did what, in their order."""
    said: list[Phrase] = []
    # Who leads is told by the first play, and draws matter to nobody beside it.
    others: list[Phrase] = []
    for one in actions:
        match one:
            case Play():
                said.append(phrase("{name} {tile}", name=game.players[one.seat], tile=one.tile))
            case Draw():
                others.append(phrase("{name} draws {tiles}", name=game.players[one.seat], tiles=tiles_text(one.tiles)))
            case Knock():
                said.append(phrase("{name} passes", name=game.players[one.seat]))
            case Lead():
                others.append(phrase("{name} leads", name=game.players[one.seat]))
            case Call() | Decline():
                pass  # it was pressed: nobody asks for that
            case _:
                assert_never(one)
    return listed(said or others) if said or others else phrase("nothing happened")
