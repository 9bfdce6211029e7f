"""Explain a gap by its likeliest course, or ask the players about it, a few actions at a time.

A question offers beginnings of the possible courses, chosen for the most information per answer. The next question is
about the courses that continue the chosen beginning. Draws are not asked about.
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
from tallybone.session.referee.passes import undecided_action
from tallybone.session.referee.places import Beginning, ByTurn, Places, Unseen
from tallybone.session.referee.questions import Ambiguity, Question, Resolution

# Maximum number of beginnings to offer beside "something else", and minimum share of each.
_MAX_CHOICES, _MIN_SHARE = 6, 0.01
# Factor for the courses' log weights when a question is chosen. They are unreliable: most courses are not followed to
# the end.
_TRUST = 0.5
# Maximum number of tiles to ask about, after an unwatched gap and in a single look. With more, the likeliest course is
# taken.
_MAX_ASKED, _MAX_AT_ONCE = 8, 4
# Maximum number of actions listed in a request for confirmation. With more, it gives only the number of tiles.
_MAX_LISTED = 4
# Minimum share of a course for a gap with one play, or the order of tiles in a look, to need no confirmation.
_CERTAIN = 0.98


@dataclass(frozen=True, slots=True)
class _Group:
    """Courses with a common beginning.

    Attributes:
        courses: Courses, likeliest first, each with its share of the total weight.
        prefix: Longest beginning that the courses' lists of actions to ask about (`UnseenCourse.asked`) have in common.
    """

    courses: tuple[tuple[UnseenCourse, float], ...]
    prefix: tuple[ByTurn, ...]

    @classmethod
    def of(cls, weighed: Iterable[tuple[UnseenCourse, float]]) -> _Group:
        """Return the group of one or more courses."""
        courses = tuple(weighed)
        turns = zip(*(course.asked for course, _ in courses), strict=False)
        return cls(courses, tuple(turn[0] for turn in takewhile(lambda turn: len(set(turn)) == 1, turns)))

    @property
    def share(self) -> float:
        """Sum of the shares of the courses."""
        return math.fsum(share for _, share in self.courses)

    @property
    def whole(self) -> UnseenCourse | None:
        """The likeliest course if it is whole and all courses end with the prefix, or None if there is more to ask."""
        best = self.courses[0][0]
        return best if best.is_whole and all(course.asked == self.prefix for course, _ in self.courses) else None

    def split(self) -> list[_Group]:
        """Return the groups of courses that agree in the next action after the prefix."""
        groups: dict[Hashable, list[tuple[UnseenCourse, float]]] = defaultdict(list)
        for course, share in self.courses:
            groups[course.asked[: len(self.prefix) + 1]].append((course, share))
        return [_Group.of(courses) for courses in groups.values()]


def is_ready(places: Places) -> bool:
    """Return False while a change of the boneyard has been counted only once."""
    yard = places.around.yard
    return yard.agreed is None or yard.count == yard.agreed or yard.looks > 1


def caught_up(places: Places, state: State) -> Resolution | Question | None:
    """Return the actions in a gap, a question about them, or None if there is nothing to decide yet.

    The likeliest course is taken if courses with the same points, turn and players have nearly all the weight. It is
    also taken if there are too many tiles to ask about, or if the players go on without an answer. Tiles that appear in
    later looks are explained separately, so the question does not change while the players go on.
    """
    unseen = places.unseen
    assert unseen is not None
    assert state.game is not None  # checked by the callers
    seen = replace(places, unseen=None)
    if unseen.boneyard is None and not unseen.is_watched:
        return Resolution((), replace(places, unseen=replace(unseen, boneyard=places.around.yard.count)))
    if places.looks == unseen.look and not (unseen.is_watched or is_ready(places)):
        return None
    is_unanswered = places.is_played_on or any(places.around.open_counts)
    last = places.looks if unseen.is_watched and is_unanswered else max(unseen.look, unseen.until)
    tiles = tuple(waiting for waiting in places.waiting if unseen.look <= waiting.look <= last)
    start = UnseenCourse.of(unseen, seen, state, tiles)
    is_long = is_unanswered or len(tiles) > (_MAX_AT_ONCE if unseen.is_watched else _MAX_ASKED)
    is_answered = unseen.begun or unseen.not_so
    if len(tiles) <= 1 and not (start.knocks or start.presses or is_answered or (tiles and undrawn(start))):
        # At most one tile and no other evidence: judge the tile as if its play had been watched.
        return None if unseen.is_watched else Resolution((), seen)
    ranked = courses(start, unseen, is_long=is_long)
    if not ranked and unseen.begun:  # the log has been corrected since
        return Resolution((), replace(places, unseen=replace(unseen, begun=(), not_so=())))
    if not any(course.actions for course in ranked):
        return None if unseen.is_watched else Resolution((), seen)
    weights = shares(course.log_weight for course in ranked)
    result_shares: dict[Hashable, float] = defaultdict(float)
    results = [course.joint_result if unseen.is_watched else course.result for course in ranked]
    for result, share in zip(results, weights, strict=True):
        result_shares[result] += share
    best = max(result_shares, key=lambda result: result_shares[result])
    likeliest = ranked[results.index(best)]
    if unseen.is_watched and likeliest.is_whole and not likeliest.actions:
        return None
    # After the players have rejected a choice, always ask. After they have accepted one, the likeliest course needs a
    # larger share to be taken without asking. Neither applies to long gaps and unanswered questions.
    enough = _CERTAIN if unseen.begun else SURE
    if is_long or (result_shares[best] >= enough and likeliest.is_whole and not unseen.not_so):
        is_plain = unseen.is_watched or sum(isinstance(action, Play) for action in likeliest.actions) <= 1
        is_sure = is_plain and not unseen.begun and (result_shares[best] >= _CERTAIN or len(likeliest.actions) == 1)
        return Resolution(likeliest.actions, likeliest.places_left, is_inferred=is_long or not is_sure)
    tempered = shares(_TRUST * course.log_weight for course in ranked)
    return _ask(places, unseen, state.game, _beginnings(tuple(zip(ranked, tempered, strict=True))))


def ask_to_confirm(places: Places, state: State) -> Question | None:
    """Return a question to confirm all inferred actions at once, with a single answer.

    None if they only depend on undecided passes, which have their own question.
    """
    assert state.game is not None  # checked by the caller
    own = (undecided_action(places, state), *(() if places.undecided is None else places.undecided.knocks))
    seqs = tuple(seq for seq in state.inferred if seq not in own)
    if not seqs:
        return None
    marked = [entry.action for entry in entries(state) if entry.seq in seqs]
    actions = [action for action in marked if isinstance(action, ByTurn)]
    if len(actions) < len(marked):
        words = phrase("a hand ended unseen: are the points right?")
    elif len(actions) <= _MAX_LISTED:
        words = phrase("unseen: {actions}. Is that right?", actions=_in_words(state.game, actions))
    else:
        laid = tiles_text(sum(isinstance(action, Play) for action in actions))
        words = phrase("{tiles} appeared at once: are the points right?", tiles=laid)
    ambiguity = Ambiguity(None, words, holds_up=False, choices=(phrase("that is right"),))
    return Question(ambiguity, (Resolution((Confirmed(seqs),), places),))


def _beginnings(weighed: Sequence[tuple[UnseenCourse, float]]) -> list[_Group]:
    """Return the groups of courses to offer, with the most information per choice, likeliest first.

    Greedy: splits one group at a time while that adds information.
    """
    offered = [_Group.of(weighed)]
    while True:
        finer = [
            sorted((*(other for other in offered if other is not group), *group.split()), key=lambda part: -part.share)
            for group in offered
            if len(group.courses) > 1
        ]
        options = [[group for group in groups[:_MAX_CHOICES] if group.share >= _MIN_SHARE] for groups in finer]
        best = max(options, key=_entropy, default=offered)
        if _entropy(best) <= _entropy(offered):
            return offered
        offered = best


def _entropy(offered: Sequence[_Group]) -> float:
    """Return the entropy of a choice among these groups and "something else", in nats."""
    parts = [group.share for group in offered]
    return -math.fsum(part * math.log(part) for part in (*parts, 1.0 - math.fsum(parts)) if part > 0.0)


def _ask(places: Places, unseen: Unseen, game: Game, offered: Sequence[_Group]) -> Question:
    """Return a question that offers the groups' beginnings, without the confirmed actions, and "something else"."""
    answers: dict[str, Resolution] = {}
    not_so, known = unseen.not_so, len(unseen.begun)
    for group in offered:
        words = _in_words(game, group.prefix[known:])
        if group.whole is not None:
            words = words if group.prefix else _in_words(game, group.whole.actions)
            # Marked as inferred for another confirmation, because a wrong tap would give a wrong score unnoticed.
            answers[words] = Resolution(group.whole.actions, group.whole.places_left, is_inferred=True)
        elif len(group.prefix) > known:
            further = replace(unseen, begun=group.prefix, not_so=())
            answers[phrase("{actions} …", actions=words)] = Resolution((), replace(places, unseen=further))
        else:
            continue
        not_so = (*not_so, Beginning(group.prefix, is_whole=group.whole is not None))
    # Extend the gap to the latest look, because a hand may have hidden a tile in the first look after it.
    other = replace(unseen, until=places.looks, boneyard=None, not_so=not_so)
    answers[phrase("something else")] = Resolution((), replace(places, unseen=other))
    several = phrase("several tiles appeared at once: what happened?")
    words = several if unseen.is_watched else phrase("what happened while the table was hidden?")
    return Question(Ambiguity(None, words, holds_up=True, choices=tuple(answers)), tuple(answers.values()))


def _in_words(game: Game, actions: Iterable[ByTurn]) -> Phrase:
    """Return the plays and passes as text, in order. If there are none, the draws and leads, or "nothing happened"."""
    shown: list[Phrase] = []
    # The first play implies the leader, and draws do not matter beside plays.
    others: list[Phrase] = []
    for action in actions:
        name = game.players[action.seat]
        match action:
            case Play():
                shown.append(phrase("{name} {tile}", name=name, tile=action.tile))
            case Draw():
                others.append(phrase("{name} draws {tiles}", name=name, tiles=tiles_text(action.tiles)))
            case Knock():
                shown.append(phrase("{name} passes", name=name))
            case Lead():
                others.append(phrase("{name} leads", name=name))
            case Call() | Decline():
                pass  # pressed, so not in question
            case _:
                assert_never(action)
    return listed(shown or others) if shown or others else phrase("nothing happened")
