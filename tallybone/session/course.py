"""A possible course of a match, and how the likeliest one is written into the log. Pure.

A log is append-only, and its numbers name plays for good: crops, recordings and the page refer to them. Where another
course is likelier, actions that both courses have in common therefore keep their numbers. Others are removed or
inserted.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import count
from typing import NamedTuple

from engine import (
    Abandon,
    Action,
    Amend,
    Confirmed,
    Entry,
    Event,
    Game,
    Inferred,
    Insert,
    Irregular,
    ItStands,
    MatchStart,
    NewHand,
    NodeId,
    Outcome,
    Phase,
    Play,
    Redeal,
    Remove,
    RevealPips,
    Revised,
    Seat,
    Seq,
    Spot,
    Stack,
    State,
    Turn,
    Undo,
    apply,
    entries,
    unseen,
)
from engine.game.fold import entries_in
from engine.value import changed, value
from tallybone.session.inputs import Button, KnockHeard, Press
from tallybone.session.observations import Piece
from tallybone.session.places import Laid

# Cost of a look, beyond one for each action, from which totals are provisional. Undisturbed hands reach 3, and of the
# hands that were decoded wrongly, nearly all reach 5.
SURPRISING = 4.7


class Named(NamedTuple):
    """An action of a course, and for a play the name of its piece. Otherwise 0."""

    action: Action
    name: int = 0


@value
class MatchCourse:
    """A possible course of the match up to a look, or while the actions before a look are added.

    Attributes:
        game: The match.
        laid: Names and places of the layout's tiles.
        left: Pieces that are not explained.
        sounds, presses: Sounds and presses of the look that are not explained.
        missing: Number of tiles of the boneyard that are not detected. None before the first count of a hand.
        missing_first: The same at the first count of the hand.
        own, other: Number of hands that came from their player's side, and from another.
        log_weight: Log weight.
        actions: Actions since the look before, in order.
        before: The course at the look before.
        is_swept: The layout of a finished hand is gone from the table.
        awaited: Presses that may still follow their actions: button, seat, time, and by how much that is likelier.
        refused: Number of presses in this hand that are not explained.
        untaken: Number of tiles drawn by a press and not taken yet, and the time of the press.
        surprise: Highest cost of a look in this hand, beyond one for each of its actions.
        is_showing: Tiles are open in front of a player although the hand is in play.
    """

    game: Game
    laid: tuple[Laid, ...] = ()
    left: tuple[Piece, ...] = ()
    sounds: tuple[KnockHeard, ...] = ()
    presses: tuple[Press | Action, ...] = ()
    missing: int | None = None
    missing_first: int | None = None
    own: int = 0
    other: int = 0
    log_weight: float = 0.0
    actions: tuple[Named, ...] = ()
    before: MatchCourse | None = None
    is_swept: bool = False
    awaited: tuple[tuple[Button, Seat, int, float], ...] = ()
    refused: int = 0
    untaken: tuple[int, int] = (0, 0)
    surprise: float = 0.0
    is_showing: bool = False

    @property
    def key(self) -> Hashable:
        """Everything on which later actions depend. Of two courses with the same key, the likelier is followed."""
        game, hand = self.game, self.game.hand
        if hand is None:
            return (game.phase, self.left, self.sounds, self.presses)
        return (
            game.totals,
            game.phase,
            hand.turn,
            hand.sizes,
            hand.boneyard,
            hand.out,
            hand.chance,
            hand.course,
            game.layout.once,
            game.layout.twice,
            game.layout.ends,
            game.layout.stacked,
            self.left,
            self.sounds,
            self.presses,
            self.awaited,
            hand.claims,
        )

    def chain(self) -> list[MatchCourse]:
        """Return the courses from before the hand to this one. Each but the first has the actions before a look."""
        found = [self]
        while found[-1].before is not None:
            found.append(found[-1].before)
            if any(isinstance(each.action, NewHand) for each in found[-2].actions):
                break
        return found[::-1]

    @property
    def is_odd(self) -> bool:
        """True if something on the table is not explained: pieces, sounds, or the boneyard's count."""
        is_in_play = self.game.phase in (Phase.LEAD, Phase.PLAY, Phase.REVEAL)
        is_miscounted = self.missing is not None and self.missing != self.missing_first
        is_odd = bool(self.left) or self.is_showing or self.surprise >= SURPRISING
        return is_odd or (is_in_play and is_miscounted)


def _likely_pips(game: Game, seat: Seat) -> int:
    """Return the expected pips of a hand that was not shown: exact if no other tile is unknown, else the average."""
    tiles, hand = unseen(game), game.hand
    assert hand is not None
    for holding in hand.holdings:
        gone = (holding.tiles if holding is not None else None) or ()
        left = list(tiles)
        for tile in gone:
            if tile in left:
                left.remove(tile)
        tiles = tuple(left)
    return round(sum(tile.pips for tile in tiles) * hand.sizes[seat] / max(1, len(tiles)))


def unseen_end(game: Game) -> tuple[Abandon | RevealPips, ...]:
    """Return actions that end the hand although nobody saw its end, without a tie. Empty if no hand is in progress."""
    hand = game.hand
    if hand is None or game.phase not in (Phase.LEAD, Phase.PLAY, Phase.REVEAL):
        return ()
    if game.phase is not Phase.REVEAL:
        return (Abandon(),)
    taken, ends = {held.pips for held in hand.holdings if held is not None}, list[RevealPips]()
    for at, held in enumerate(hand.holdings):
        if held is None and at != hand.out:
            pips = next(pips for pips in count(_likely_pips(game, Seat(at))) if pips not in taken)
            taken.add(pips)
            ends.append(RevealPips(Seat(at), pips))
    return tuple(ends)


_FINAL = (MatchStart, NewHand, Redeal, Abandon)
"""Events that clear the table. They can only be undone, not removed."""


def restored(old: Entry, now: Entry) -> tuple[Event, ...]:
    """Return events that change an action from *now* back to *old*."""
    if replace(now, inferred=old.inferred) == old:  # only the mark differs, so no score changes
        return (Inferred((old.seq,)) if old.inferred else Confirmed((old.seq,)),)
    return (Amend(old.seq, old.action), *marks_of(old, old.seq))


def repeated(entries: Iterable[Entry], next_seq: int) -> tuple[tuple[Event, ...], dict[Seq, Seq]]:
    """Return events, numbered from *next_seq*, that repeat actions, and the actions' new numbers by their old ones.

    Plays and stacks on repeated tiles refer to the new numbers.
    """
    names: dict[Seq, Seq] = {}
    events: list[Event] = []
    for entry in entries:
        names[entry.seq] = Seq(next_seq + len(events))
        events += (with_new_host(entry.action, names), *marks_of(entry, names[entry.seq]))
    return tuple(events), names


def marks_of(entry: Entry, seq: Seq) -> tuple[Event, ...]:
    """Return events that accept the action at *seq* and mark it as inferred, each only if *entry* has that mark."""
    accepted = (ItStands(seq),) if entry.accepted else ()
    return (*accepted, Inferred((seq,))) if entry.inferred else accepted


def with_new_host(action: Action, names: Mapping[Seq, Seq]) -> Action:
    """Return a play or stack with the number of its host replaced by *names*. Return other actions unchanged."""
    match action:
        case Play(at=Spot(host=host, port=port)) if Seq(host) in names:
            return changed(action, at=Spot(NodeId(names[Seq(host)]), port))
        case Stack(on=on) if Seq(on) in names:
            return changed(action, on=NodeId(names[Seq(on)]))
        case _:
            return action


def reversal_events(state: State, at: int) -> tuple[Event, ...]:
    """Return events that reverse the event at index *at* of the log. Empty if that is not possible."""
    if not 0 <= at < len(state.log):
        return ()
    event, before, now = state.log[at], entries_in(state.log[:at]), entries(state)
    match event:
        case Undo(seq=seq):
            # Only as the last event: repeated actions are appended, so they would come after later plays.
            return () if at + 1 < len(state.log) else _redone(before, seq, at + 1)
        case Remove(seq=seq):
            return _reinserted(before, now, seq, len(state.log))
        case Amend(seq=seq) | ItStands(seq=seq):
            old, current = _find(before, seq), _find(now, seq)
            return () if old is None or current is None else restored(old, current)
        case Confirmed(seqs=seqs):
            again = {entry.seq for entry in before if entry.inferred and entry.seq in seqs}
            marked = tuple(entry.seq for entry in now if entry.seq in again)
            return (Inferred(marked),) if marked else ()
        case Insert():
            return () if _find(now, at) is None else (Remove(Seq(at)),)
        case _:
            is_final = isinstance(event, _FINAL) or _find(now, at) is None
            return () if is_final else (Remove(Seq(at)),)


def _redone(before: tuple[Entry, ...], since: int, next_seq: int) -> tuple[Event, ...]:
    """Return events that repeat the actions of *before* from number *since* on."""
    undone = next((at for at, entry in enumerate(before) if entry.seq == since), len(before))
    return repeated(before[undone:], next_seq)[0]


def _reinserted(before: tuple[Entry, ...], now: tuple[Entry, ...], seq: int, next_seq: int) -> tuple[Event, ...]:
    """Return events that restore a removed action and move the tiles played on it to its new number."""
    # Empty if the action is in force, or its position among the others cannot be determined.
    place = next((at for at, entry in enumerate(before) if entry.seq == seq), None)
    if place is None or _find(now, seq) is not None:
        return ()
    old = before[place]
    later = next((entry for entry in before[place + 1 :] if _find(now, entry.seq) is not None), None)
    if later is None and now and now[-1].seq > seq:
        return ()
    events: list[Event] = [old.action if later is None else Insert(later.seq, old.action)]
    events += marks_of(old, Seq(next_seq))
    for entry in now:
        moved = with_new_host(entry.action, {Seq(seq): Seq(next_seq)})
        if moved is not entry.action:
            events += restored(replace(entry, action=moved), entry)
    return tuple(events)


def _find(kept: tuple[Entry, ...], seq: int) -> Entry | None:
    return next((entry for entry in kept if entry.seq == seq), None)


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

    *best* descends from one of *path*, the courses that the log holds, oldest first.
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
