"""Write the likeliest course of a match into its log, and revise the log where another course is likelier. Pure.

A log is append-only, and its numbers name plays for good: crops, recordings and the page refer to them. Actions that
both courses have in common therefore keep their numbers. Others are removed or inserted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from engine import (
    Amend,
    Event,
    Insert,
    Irregular,
    Outcome,
    Remove,
    Revised,
    Seq,
    State,
    Turn,
    Undo,
    apply,
    entries,
)
from tallybone.session.course import MatchCourse, Named
from tallybone.session.taking_back import with_new_host

_ActionKey = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A course that is in the log, and the number of each of its actions since the look before."""

    course: MatchCourse
    seqs: tuple[Seq, ...] = ()


def written_in(
    state: State, path: tuple[Written, ...], best: MatchCourse
) -> tuple[State, tuple[Outcome, ...], tuple[Written, ...]]:
    """Return the match after its log has been brought in line with *best*, the announcements, and the new path.

    Args:
        state: The match.
        path: The courses that its log holds, oldest first.
        best: The course to write. It descends from one of *path*.
    """
    known = {id(each.course): at for at, each in enumerate(path)}
    fresh: list[MatchCourse] = []
    at: MatchCourse | None = best
    while at is not None and id(at) not in known:
        fresh.append(at)
        at = at.before
    assert at is not None, "the course does not descend from the one in the log"
    fresh.reverse()
    kept, old = path[: known[id(at)] + 1], path[known[id(at)] + 1 :]
    before = [(seq, named) for each in old for seq, named in zip(each.seqs, each.course.actions, strict=True)]
    after = [named for course in fresh for named in course.actions]
    names = names_in(kept)
    events, seqs = _revisions(state, before, after, names)
    then, outcomes = _applied(state, events)
    if before and not _is_alike(then, best):  # revisions that depend on one another: write everything again
        events, seqs = _again(state, before[0][0], after, names)
        then, outcomes = _applied(state, events)
    left = iter(seqs)
    new = tuple(Written(course, tuple(next(left) for _ in course.actions)) for course in fresh)
    return then, outcomes, (*kept, *new)


def names_in(path: Iterable[Written]) -> dict[Seq, Seq]:
    """Return the number of each play of *path* by the name of its piece."""
    pairs = (pair for each in path for pair in zip(each.course.actions, each.seqs, strict=True))
    return {Seq(named.name): seq for named, seq in pairs if named.name}


def _is_alike(state: State, course: MatchCourse) -> bool:
    game, other = state.game, course.game
    return (
        game is not None
        and (game.totals, game.phase) == (other.totals, other.phase)
        and (
            (None if game.hand is None else (game.hand.turn, game.hand.sizes))
            == (None if other.hand is None else (other.hand.turn, other.hand.sizes))
        )
    )


def _applied(state: State, events: Iterable[Event]) -> tuple[State, tuple[Outcome, ...]]:
    outcomes: tuple[Outcome, ...] = ()
    for event in events:
        state, more = apply(state, event)
        outcomes = (*outcomes, *more)
    return state, as_one_correction(outcomes, state)


def _revisions(
    state: State, before: Sequence[tuple[Seq, Named]], after: Sequence[Named], names: Mapping[Seq, Seq]
) -> tuple[list[Event], list[Seq]]:
    """Return the events that turn the actions *before* into those *after*, and the number of each of those."""
    old, new = [_key(named) for _, named in before], [_key(named) for named in after]
    pairs: dict[int, int] = {}
    if before:
        for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            pairs |= {block.b + at: block.a + at for at in range(block.size)}
    stays = set(pairs.values())
    events: list[Event] = [Remove(before[at][0]) for at in reversed(range(len(before))) if at not in stays]
    seqs = _numbers(state, len(events), before, len(after), pairs)
    names = {**names, **{Seq(named.name): seq for named, seq in zip(after, seqs, strict=True) if named.name}}
    for at, named in enumerate(after):
        if at not in pairs:
            later = next((pairs[one] for one in range(at + 1, len(after)) if one in pairs), None)
            action = with_new_host(named.action, names)
            events.append(action if later is None else Insert(before[later][0], action))
    now = {entry.seq: entry.action for entry in entries(state)}
    for at, seq in enumerate(seqs):
        action = with_new_host(after[at].action, names)
        if at in pairs and now.get(seq) != action:
            events.append(Amend(seq, action))
    return events, seqs


def _numbers(
    state: State, removed: int, before: Sequence[tuple[Seq, Named]], length: int, pairs: Mapping[int, int]
) -> list[Seq]:
    following = iter(range(state.next_seq + removed, state.next_seq + removed + length))
    return [before[pairs[at]][0] if at in pairs else Seq(next(following)) for at in range(length)]


def _again(state: State, since: Seq, after: Sequence[Named], names: Mapping[Seq, Seq]) -> tuple[list[Event], list[Seq]]:
    """Return the events that take back everything from *since* on, and write *after* instead."""
    seqs = [Seq(state.next_seq + 1 + at) for at in range(len(after))]
    names = {**names, **{Seq(named.name): seq for named, seq in zip(after, seqs, strict=True) if named.name}}
    return [Undo(since), *(with_new_host(named.action, names) for named in after)], seqs


def _key(named: Named) -> _ActionKey:
    """Return the identity of an action, which corrections keep: its piece, or else its kind and player."""
    action = named.action
    return (named.name,) if named.name else (type(action), getattr(action, "seat", None))


def as_one_correction(outcomes: tuple[Outcome, ...], state: State) -> tuple[Outcome, ...]:
    """Return the announcements with several corrections merged.

    Omits problems that the last correction has solved, and all turns but the last.
    """
    revised = [outcome for outcome in outcomes if isinstance(outcome, Revised)]
    if not revised:
        return outcomes
    turns = [outcome for outcome in outcomes if isinstance(outcome, Turn)]
    others = (
        outcome
        for outcome in outcomes
        if not isinstance(outcome, Revised | Turn)
        and not (isinstance(outcome, Irregular) and outcome.seq not in state.irregular)
    )
    return (Revised(revised[0].before, revised[-1].after), *others, *turns[-1:])
