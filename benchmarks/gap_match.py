"""Follow the stream of a match, answer like players, and compare each hand with the truth."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Protocol

import numpy as np

from benchmarks.gap_streams import Item, Stream, hands_over
from engine import (
    Action,
    Adjust,
    Amend,
    Draw,
    Entry,
    Event,
    HandEnd,
    Insert,
    Lead,
    MatchStart,
    NewHand,
    NodeId,
    Phase,
    Play,
    Redeal,
    Remove,
    Reveal,
    Seat,
    Seq,
    Spot,
    Stack,
    State,
    describe,
    entries,
    replay,
)
from tallybone.evaluate.hands import HandJudged, HandScored, hand_scored, judge_hand
from tallybone.json_values import from_json, to_json
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer
from tallybone.session.referee import Ambiguity, Places, Question
from tallybone.session.session import Announcement, Input, Session
from tallybone.session.sitting import opened
from tallybone.session.taking_back import repeated
from tallybone.simulate.players import Path, answer_of, paths_of
from tests.tallybone.session.zoned_table import SIZE_PX
from vision.reading import SeenTile
from vision.tracking.table_view import Change, TableView, came_and_went, kept
from vision.tracking.tracks import KeptTile, Track, in_place_of

# Time to read a question before answering it, time until players investigate an open question, and maximum number of
# answers at a time. Players do not answer while hands are over the table.
_READS_NS = 1_500_000_000
_WONDERS_NS = 4_000_000_000
_MAX_ANSWERS = 12
# Number of plays of the next hand before a completed hand is evaluated.
_PLAYS_AFTER = 3
_WRONG_ANSWERS = 0.1
# Maximum number of events that players enter.
_MAX_KEYED = 80


class Answers(StrEnum):
    """Answering behaviour of the players."""

    TRUE = "true"
    WRONG = "wrong"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class HandFound:
    """Evaluation of a hand.

    Attributes:
        judged: Comparison with the truth.
        is_flagged: True if there is an open question, or an irregular or inferred action in the hand.
        is_derailed: True if the record was still wrong three plays into the next hand.
    """

    judged: HandJudged
    is_flagged: bool
    is_derailed: bool

    @property
    def is_right(self) -> bool:
        """True if the points and all plays are right."""
        judged = self.judged
        plays = all(play.is_tile_right and play.is_seat_right and play.is_place_right for play in judged.plays)
        return judged.are_totals_right and plays and not judged.spare

    @property
    def is_silent(self) -> bool:
        """True if the hand is wrong but not flagged."""
        return not self.is_right and not self.is_flagged


@dataclass(frozen=True, slots=True)
class MatchFound:
    """Evaluation of a match.

    Attributes:
        hands: Evaluation of each hand.
        are_totals_right: True if the match ended with the right totals.
        gaps: Number of gaps and disturbances.
        questions: Number of questions.
        answers: Number of answers.
        keyed: Number of events that players entered.
        slowest_ms: Longest processor time of a look.
        failure: Exception that ended the match. Empty if there was none.
    """

    hands: tuple[HandFound, ...]
    are_totals_right: bool
    gaps: int
    questions: int
    answers: int
    keyed: int
    slowest_ms: float
    failure: str = ""


class TableEye(Protocol):
    """Reads the pictures of a stream."""

    def resumed(self) -> TableEye:
        """Return the state after a restart of the table."""

    def view(self, item: Item) -> TableView:
        """Return the table after a picture."""


class PerfectEye:
    """Perfect reader that reports changes like the real one: by position, since the last settled picture."""

    def __init__(self) -> None:
        self._tracks: tuple[tuple[SeenTile, Track], ...] = ()  # with the true tile of each
        self._true_tiles: tuple[SeenTile, ...] | None = None
        self._tiles: tuple[SeenTile, ...] = ()
        self._first_ns: dict[int, tuple[SeenTile, int]] = {}

    def resumed(self) -> PerfectEye:
        """Return a reader with the same tiles, but without their observation counts."""
        again = PerfectEye()
        again._tracks = tuple((true, Track(track.tile)) for true, track in self._tracks)
        again._tiles = self._tiles
        return again

    def view(self, item: Item) -> TableView:
        """Return the view of a picture."""
        if not item.is_hidden:
            for tile in item.tiles:
                self._first_ns.setdefault(id(tile), (tile, item.t_ns))
        changes = self._changes(item.tiles) if item.is_settled and item.tiles is not self._true_tiles else ()
        dated = tuple(
            replace(change, since_ns=self._since(change.tile)) if change.kind.value == "placed" else change
            for change in changes
        )
        return TableView(self._tiles, (), dated, item.is_settled, item.moved_ns, item.came, size_px=SIZE_PX)

    def _since(self, tile: SeenTile) -> int | None:
        first = self._first_ns.get(id(tile))
        return None if first is None else first[1]

    def _changes(self, tiles: tuple[SeenTile, ...]) -> tuple[Change, ...]:
        now = {id(tile) for tile in tiles}
        left = [tile for tile in tiles if id(tile) not in {id(old) for old, _ in self._tracks}]
        stayed: list[tuple[SeenTile, Track]] = []
        changes: list[Change] = []
        gone: list[SeenTile] = []
        for old, track in self._tracks:
            place = None if id(old) in now else in_place_of(track.tile, left)
            if id(old) in now:
                stayed.append((old, track))
            elif place is None or left[place].face is not old.face:
                gone.append(track.tile)
            else:
                new = left.pop(place)
                after, more = kept(KeptTile(track, new, differs=True))
                stayed.append((new, after))
                changes += more
        self._tracks = (*stayed, *((tile, Track(tile)) for tile in left))
        self._true_tiles, self._tiles = tiles, tuple(track.tile for _, track in self._tracks)
        return (*changes, *came_and_went(tuple(gone), tuple(left)))


@dataclass(slots=True)
class Follower:
    """A sitting that follows a stream, and its players."""

    stream: Stream
    answers: Answers
    rng: np.random.Generator
    trace: bool = False
    session: Session = field(init=False)
    eye: TableEye = field(default_factory=PerfectEye)
    asked_ns: dict[str, int] = field(default_factory=dict)
    wrong: set[str] = field(default_factory=set)
    refused: object = None
    questions: int = 0
    answered: int = 0
    keyed: int = 0
    slowest_ms: float = 0.0
    t_ns: int = 0
    found: list[HandFound] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.session, _ = opened(self.stream.rules, self.stream.players, self.stream.zones)

    def follow(self) -> MatchFound:
        """Follow the stream and return the evaluation of the match."""
        ends = list(hands_over(self.stream.steps))
        judged_at = [self._judged_at(end) for end in ends]
        failure = ""
        try:
            for item in self.stream.items:
                is_settled = self._take(item)
                number = len(self.found)
                if is_settled and number < len(ends):
                    if item.done == ends[number]:
                        self._check(item, number)
                    at = judged_at[number]
                    if at is not None and item.done >= at:
                        self._judge(item, number, ends)
            while len(self.found) < len(ends):
                self._judge(self.stream.items[-1], len(self.found), ends)
        except Exception as error:  # a failure is a finding
            failure = f"{type(error).__name__}: {error}"
            if self.trace:
                raise
        true, now = self.stream.truth(len(self.stream.steps)).game, self.session.state.game
        return MatchFound(
            tuple(self.found),
            not failure and true is not None and now is not None and true.totals == now.totals,
            self.stream.gaps,
            self.questions,
            self.answered,
            self.keyed,
            self.slowest_ms,
            failure,
        )

    def _judged_at(self, end: int) -> int | None:
        """Return the number of steps at which a hand is evaluated, or None for the end of the match."""
        seen = {item.done for item in self.stream.items if item.event is None and item.is_settled}
        plays = sorted(done for done in seen if done > end and isinstance(self.stream.steps[done - 1].event, Play))
        return plays[_PLAYS_AFTER - 1] if len(plays) >= _PLAYS_AFTER else None

    def _take(self, item: Item) -> bool:
        """Follow an item, and return True if it is a settled picture."""
        if item.restarts:
            places: Places = from_json(to_json(self.session.places, Places), Places)
            log: list[Event] = [from_json(to_json(event, Event), Event) for event in self.session.state.log]
            self.session = Session.resumed(replay(log), places, t_ns=item.t_ns, zones=self.stream.zones)
            self.eye = self.eye.resumed()
            self._say(f"-- resumed with {len(log)} events")
        event = self.eye.view(item) if item.event is None else item.event
        self._feed(event, item.t_ns, item.done)
        is_settled = isinstance(event, TableView) and event.is_settled
        if is_settled:
            self._answer(item)
        return is_settled

    def _feed(self, event: Input, t_ns: int, done: int) -> None:
        self.t_ns = max(t_ns, self.t_ns)
        log = len(self.session.state.log)
        begins = time.process_time_ns()
        self.session, events = feed(self.session, event, t_ns=self.t_ns)
        took_ms = (time.process_time_ns() - begins) / 1e6
        if isinstance(event, TableView):
            self.slowest_ms = max(self.slowest_ms, took_ms)
        self.questions += sum(isinstance(event, Ambiguity) for event in events)
        self._trace(event, done, log, events, took_ms)

    def _answer(self, item: Item) -> None:
        """Answer questions after a reading time, and enter events that no answer offers."""
        for _ in range(_MAX_ANSWERS):
            questions = {question.ambiguity.topic: question for question in self.session.questions}
            self.asked_ns = {topic: self.asked_ns.get(topic, item.t_ns) for topic in questions}
            if self.answers is Answers.NONE or not questions:
                return
            if not any(item.t_ns - since >= _READS_NS for since in self.asked_ns.values()):
                return
            state = (self.session.questions, item.done)
            if state == self.refused:
                return
            answer = answer_of(self.session, self.stream.truth(item.done))
            before = self.session
            if answer is not None:
                self.answered += 1
                self._feed(self._maybe_wrong(answer, questions), item.t_ns, item.done)
            elif self._is_stuck(item, questions):
                self._key_in(item)
                self.refused = (self.session.questions, item.done)
                return
            if self.session == before:
                self.refused = state
                return

    def _is_stuck(self, item: Item, questions: dict[str, Question]) -> bool:
        """Return True if players investigate a question without a right answer: it persists or holds up the game."""
        holds_up = any(question.ambiguity.holds_up for question in questions.values())
        stays = any(item.t_ns - since >= _WONDERS_NS for since in self.asked_ns.values())
        return (holds_up or stays) and not is_alike(self.session.state, self.stream.truth(item.done))

    def _maybe_wrong(self, answer: Answer, questions: dict[str, Question]) -> Answer:
        """Return the answer, or sometimes a wrong one if the players answer wrongly."""
        question = questions.get(answer.topic or "")
        choices = 0 if question is None else len(question.answers)
        if self.answers is not Answers.WRONG or choices < 2 or self.rng.random() >= _WRONG_ANSWERS:
            return answer
        return replace(answer, choice=(answer.choice + 1 + int(self.rng.integers(choices - 1))) % choices)

    def _check(self, item: Item, number: int) -> None:
        """Correct a hand that has just ended, if it is flagged."""
        if self.answers is not Answers.TRUE or not self._flagged(number):
            return
        is_read = item.t_ns - (item.moved_ns or 0) >= _READS_NS
        if is_read and not is_alike(self.session.state, self.stream.truth(item.done)):
            self._key_in(item)

    def _key_in(self, item: Item) -> None:
        """Enter corrections like on the page, by amending, inserting, removing and adding single actions."""
        truth, last = self.stream.truth(item.done), None
        while self.keyed < _MAX_KEYED:
            event = correction(self.session.state, truth)
            if event is None or event == last:
                break
            last = event
            self.keyed += 1
            self._feed(event, item.t_ns, item.done)
        if is_alike(self.session.state, truth):
            return
        self._say("-- the corrections did not lead to the truth")
        self._adjust(item, truth)

    def _adjust(self, item: Item, truth: State) -> None:
        """Adjust the total of each player to the truth."""
        game = self.session.state.game
        assert truth.game is not None
        for seat, points in enumerate(truth.game.totals):
            missing = points - (0 if game is None else game.totals[seat])
            if missing and self.keyed < _MAX_KEYED:
                self.keyed += 1
                self._feed(Adjust(Seat(seat), missing, "counted by hand"), item.t_ns, item.done)

    def _judge(self, item: Item, number: int, ends: list[int]) -> None:
        if self.answers is Answers.TRUE and self._flagged(number) and self._is_wrong(item.done):
            self._key_in(item)
        truth, now = hand_states(self.stream.truth(ends[number])), hand_states(self.session.state)
        seen = _scored(now, number) if number < len(now) else None
        true = _scored(truth, number)
        assert true is not None
        judged = judge_hand(number + 1, true, seen, closed_ns=item.t_ns, is_flagged=self._flagged(number))
        is_derailed = number + 1 < len(ends) and self._is_wrong(item.done)
        hand = HandFound(judged, judged.is_flagged, is_derailed=is_derailed)
        self.found.append(hand)
        self._say(
            f"-- hand {number + 1}: {'right' if hand.is_right else 'WRONG'}, "
            f"{'flagged' if hand.is_flagged else 'not flagged'}, {'derailed' if hand.is_derailed else 'on track'}; "
            f"gained {None if seen is None else seen.gained}, expected {true.gained}"
        )
        for play in judged.plays if not hand.is_right else ():
            if not play.is_wholly_right:
                self._say(f"   {play}")
        if self.answers is Answers.TRUE and is_derailed:
            self._key_in(item)  # players notice that the record has derailed

    def _is_wrong(self, done: int) -> bool:
        """Return True if the current hand or the totals are wrong."""
        truth, now = self.stream.truth(done), self.session.state
        assert truth.game is not None
        if now.game is None or now.game.totals != truth.game.totals or now.game.phase is not truth.game.phase:
            return True
        return Counter(paths_of(now).values()) != Counter(paths_of(truth).values())

    def _flagged(self, number: int) -> bool:
        """Return True if the session indicates that a hand may be wrong."""
        if self.session.questions:
            return True
        state = self.session.state
        doubtful = {*state.irregular, *state.inferred}
        hands = hand_seqs(state)
        if state.game is not None and state.game.phase is Phase.REVEAL and len(hands) == number + 1:
            return True  # the table asks for the remaining tiles
        return bool(hands) and not doubtful.isdisjoint(hands[min(number, len(hands) - 1)])

    def _trace(self, event: Input, done: int, log: int, events: tuple[Announcement, ...], took_ms: float) -> None:
        if not self.trace:
            return
        fresh = self.session.state.log[log:]
        if isinstance(event, TableView) and not (event.changes or fresh or events):
            return
        shown = _view_words(event) if isinstance(event, TableView) else str(event)
        step = self.stream.steps[done - 1].event
        self._say(f"{self.t_ns / 1e9:7.1f} {shown}  [{took_ms:.1f} ms; true so far: {_short(step)}]")
        for logged in fresh:
            self._say(f"          log: {_short(logged)}")
        for announced in events:
            if isinstance(announced, Ambiguity):
                self._say(f"          ASKS: {announced.words} {list(announced.choices)}")
            else:
                self._say(f"          says: {describe(announced, self.stream.players)}")

    def _say(self, line: str) -> None:
        if self.trace:
            print(line)


def _view_words(view: TableView) -> str:
    changes = " ".join(
        f"{change.kind}:{'-'.join(str(half.pips) for half in change.tile.halves) or 'back'}" for change in view.changes
    )
    return f"view{'' if view.is_settled else ' unsettled'} of {len(view.tiles)}: {changes or 'no change'}"


def _short(event: Event) -> str:
    return str(event) if not isinstance(event, MatchStart) else "MatchStart"


def is_alike(state: State, truth: State) -> bool:
    """Return True if two records are equal, apart from the numbers of drawn tiles."""
    now, true = ([action.key for action in keyed_actions(match) if action.kind != "Draw"] for match in (state, truth))
    return now == true


def hand_seqs(state: State) -> list[set[Seq]]:
    """Return the log indices of the actions of each hand."""
    return [{entry.seq for entry in hand} for hand in _hands(state)]


def hand_states(state: State) -> list[State]:
    """Return the state at the end of each hand according to the current record. The last hand may be in progress."""
    return [end for end, _ in _ends(state)]


def _hands(state: State) -> list[list[Entry]]:
    """Return the effective actions of each hand."""
    hands: list[list[Entry]] = []
    for entry in entries(state):
        if isinstance(entry.action, NewHand):
            hands.append([])
        if hands:
            hands[-1].append(entry)
    return hands


def _ends(state: State) -> Iterator[tuple[State, dict[Seq, Seq]]]:
    """Yield the state at the end of each hand, and a map from log indices to those in that state."""
    in_force = entries(state)
    begins = [at for at, entry in enumerate(in_force) if isinstance(entry.action, NewHand)]
    for end in [*begins[1:], len(in_force)] if begins else []:
        events, names = repeated(in_force[:end], 0)
        yield replay(events), names


def _scored(states: list[State], number: int) -> HandScored | None:
    game = states[number - 1].game if number else None
    return hand_scored(states[number], () if game is None else game.totals)


@dataclass(frozen=True, slots=True)
class KeyedAction:
    """An action with a key that identifies it across records of the match.

    Attributes:
        key: Kind, player, and path to the tile from the first tile of the hand.
        seq: Index in the log.
        action: The action.
        hand: Number of the hand, from 1. 0 before the first hand.
        host: Path to the tile that it joins or is stacked on, or None.
    """

    key: tuple[object, ...]
    seq: Seq
    action: Action
    hand: int
    host: Path | None = None

    @property
    def kind(self) -> str:
        """Name of the action's class."""
        return type(self.action).__name__

    @property
    def is_needed(self) -> bool:
        """False for actions that follow from others, such as leads and forced draws."""
        is_forced = isinstance(self.action, Draw) and self.action.forced
        return not (isinstance(self.action, Lead | HandEnd | MatchStart) or is_forced)


def keyed_actions(state: State) -> list[KeyedAction]:
    """Return the effective actions that do not follow from others."""
    paths: dict[Seq, Path] = {}
    for end, names in _ends(state):
        known = paths_of(end)
        paths |= {old: known[NodeId(new)] for old, new in names.items() if NodeId(new) in known}
    number, keyed = 0, []
    for entry in entries(state):
        number += isinstance(entry.action, NewHand)
        # A draw of several tiles is equal to several draws.
        keyed += [_keyed(entry, number, paths)] * (entry.action.tiles if isinstance(entry.action, Draw) else 1)
    return [entry for entry in keyed if entry.is_needed]


def _keyed(entry: Entry, number: int, paths: dict[Seq, Path]) -> KeyedAction:
    match entry.action:
        case Play(seat=seat, tile=tile, at=at):
            host = None if at is None else paths.get(Seq(at.host))
            return KeyedAction(("play", seat, tile, paths.get(entry.seq)), entry.seq, entry.action, number, host)
        case Stack(seat=seat, tile=tile, on=on):
            host = paths.get(Seq(on))
            return KeyedAction(("stack", seat, tile, host), entry.seq, entry.action, number, host)
        case Draw(seat=seat, forced=forced):
            return KeyedAction(("draw", seat), entry.seq, Draw(seat, forced=forced), number)
        case Reveal(seat=seat, tiles=tiles):
            return KeyedAction(("reveal", seat, *sorted(map(str, tiles))), entry.seq, entry.action, number)
        case NewHand():
            return KeyedAction(("deal",), entry.seq, entry.action, number)
        case Redeal():
            return KeyedAction(("redeal",), entry.seq, entry.action, number)
        case _:
            return KeyedAction((entry.action,), entry.seq, entry.action, number)


def correction(state: State, truth: State) -> Event | None:
    """Return the first event to enter to correct a record, or None if it is right or cannot be corrected."""
    now, true = keyed_actions(state), keyed_actions(truth)
    matcher = SequenceMatcher(None, [action.key for action in now], [action.key for action in true], autojunk=False)
    for tag, at, at_end, missing, missing_end in matcher.get_opcodes():
        if tag == "equal":
            continue
        if tag == "delete" or (tag == "replace" and missing == missing_end):
            return Remove(now[at].seq)
        action = _named(true[missing], now, truth)
        if action is None:
            return None
        if at == len(now):
            return action
        is_same_kind = tag == "replace" and now[at].kind == true[missing].kind
        is_shorter = at_end - at < missing_end - missing
        if is_same_kind and (now[at].key[1:2] == true[missing].key[1:2] or not is_shorter):
            return Amend(now[at].seq, action)
        return Insert(now[at].seq, action)
    return None


def _named(missing: KeyedAction, now: list[KeyedAction], truth: State) -> Action | None:
    """Return an action with the node ids of another record, or None if that record lacks its host."""
    action = missing.action
    if missing.host is None or not isinstance(action, Play | Stack):
        return action if not isinstance(action, Play) else replace(action, inner=_inner(missing.seq, truth))
    host = next((action for action in now if action.hand == missing.hand and action.key[-1] == missing.host), None)
    if host is None:
        return None
    if isinstance(action, Stack):
        return replace(action, on=NodeId(host.seq))
    assert action.at is not None
    return replace(action, at=Spot(NodeId(host.seq), action.at.port), inner=_inner(missing.seq, truth))


def _inner(seq: Seq, truth: State) -> int | None:
    """Return the inner number of a tile of the last layout, or None if the tile is not in it."""
    node = None if truth.game is None else truth.game.layout.find(NodeId(seq))
    return None if node is None else node.inner
