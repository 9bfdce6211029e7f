"""Step through the game of a recording, also while it grows; score its log under other rules.

A recording may be damaged, cut, or written by somebody who means harm: events that cannot be followed are reported and
left out.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from engine import EngineError, Event, MatchStart, Outcome, State, apply
from engine.value import changed
from tallybone.json_values import JsonValueError
from tallybone.recording.evidence import Evidence, evidence_of
from tallybone.recording.format import RecordingError, SittingStart, Topic
from tallybone.recording.messages import places_of_record
from tallybone.recording.reader import RecordedMessage
from tallybone.recording.whereabouts import Whereabouts
from tallybone.replay.compare import Fact, differences
from tallybone.replay.export import Transcript
from tallybone.replay.lines import Score
from tallybone.replay.log import CAME_IN, Logged, applied, judged, log_in, match_in
from tallybone.session.referee import Places
from tallybone.sources.source import GameOverrides, match_of
from tallybone.terminal import counted

MOST_STEPS = 5000
"""So many events are followed: the longest evening has a third of it."""
MOST_NUMBER = 1_000_000_000
"""No number of an event or a place is larger in a game that was played."""
_MOST_COMPLAINTS = 20
_KEPT_EVERY = 16
SENSELESS = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors that the engine may raise at events that no game has."""

_MOST_DIFFERENCES = 500


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """An event of the log and its outcomes.

    Attributes:
        t_ns, since_ns: When it was, and how long after the first thing that came in.
        event: The event.
        outcomes: Those of the event.
        log: How long the log was then; the event has the place before.
        hand: The hand that was played then, from 1; 0 before the first.
        totals: The points by seat after it.
    """

    t_ns: int
    since_ns: int
    event: Event
    outcomes: tuple[Outcome, ...]
    log: int
    hand: int
    totals: tuple[int, ...]


class RecordedGame:
    """A recording whose log is known, as far as it has been read."""

    def __init__(self, path: Path, start: SittingStart | None) -> None:
        """Know nothing yet of the recording in *path*."""
        self.path, self.start = path, start
        self.found = Whereabouts()
        self.match: MatchStart | None = None
        self.steps: list[LoggedStep] = []
        self.complaints: list[str] = []
        self.log: list[Logged] = []
        self.state = State()  # of the match after the last step
        self._kept: list[State] = []  # without their logs
        self._cameras, self._tables, self._places = array("q"), array("q"), array("q")
        self.crops: dict[int, int] = {}  # places of the newest crop of each action, by seq
        self.frame_times_ns: Sequence[int] = ()
        self._is_over = False
        self.begins_ns = 0  # when the first thing came in

    def look(self, file: BinaryIO, *, is_growing: bool) -> None:
        """Read the records that were written since the last look.

        Raises:
            EngineError: If this version has no such game.
            OSError: If it cannot be read, or another tool has packed it anew.
        """
        known = len(self.found)
        self.found.go_on(file, is_growing=is_growing)
        fresh = [place for place in self.found.of(Topic.EVENT) if place >= known]
        came = min((places[0] for topic in CAME_IN if (places := self.found.of(topic))), default=None)
        self.begins_ns = 0 if came is None else self.found.t_ns(came)
        self._cameras, self._tables = self.found.of(Topic.CAMERA), self.found.of(Topic.TABLE)
        self.frame_times_ns = array("q", (self.found.t_ns(place) for place in self._cameras))
        for place in self.found.of(Topic.EVIDENCE):
            crop = self._crop(file, place) if place >= known else None
            if crop is not None and isinstance(crop.of, int):
                self.crops[crop.of] = place
        self._follow(self._read(file, fresh))

    def frame_at(self, t_ns: int) -> int | None:
        """Return the number of the picture that was the newest at a time; None before the first."""
        at = bisect_right(self.frame_times_ns, t_ns) - 1
        return None if at < 0 else at

    def crop_of(self, number: int, file: BinaryIO) -> Evidence | None:
        """Return the crop of the picture from which a step was read; None if there is none."""
        place = self.crops.get(self.steps[number].log - 1) if 0 <= number < len(self.steps) else None
        return None if place is None else self._crop(file, place)

    def _crop(self, file: BinaryIO, place: int) -> Evidence | None:
        """Return the crop at a place; None if it is damaged: only pictures are lost."""
        try:
            return evidence_of(self.found.read(file, place))
        except (RecordingError, RecursionError):
            return None

    def frame_place(self, number: int) -> int | None:
        """Return the place of a picture; None where there is no such."""
        return self._cameras[number] if 0 <= number < len(self._cameras) else None

    def state_after(self, number: int) -> State:
        """Return the match after a step, from 0."""
        kept = min(number // _KEPT_EVERY, len(self._kept) - 1)
        log = self.state.log
        state = changed(self._kept[kept], log=log[: self.steps[kept * _KEPT_EVERY].log])
        for event in log[len(state.log) : self.steps[number].log]:
            state, _ = apply(state, event)
        return state

    def places_after(self, number: int, file: BinaryIO) -> Places:
        """Return where the tiles lay after a step, as far as that is known."""
        place = self._table_of(number)
        if place is None:
            return Places()
        try:
            record = self.found.read(file, place)
            return places_of_record(record) if is_sane(record.fact) else Places()
        except (RecordingError, JsonValueError, RecursionError):
            return Places()

    def _table_of(self, number: int) -> int | None:
        """Return the place of the record of the table that belongs to a step: the last before the next event."""
        event = self._places[number]
        later = self._places[number + 1] if number + 1 < len(self._places) else len(self.found)
        at = bisect_right(self._tables, later)
        if at and (self._tables[at - 1] > event or at == len(self._tables)):
            at -= 1
        return self._tables[at] if self._tables else None

    def _read(self, file: BinaryIO, fresh: Sequence[int]) -> list[tuple[int, Logged]]:
        """Return the events at some places."""
        room = max(0, MOST_STEPS - len(self.log))
        if len(fresh) > room and not self._is_over:
            self._stop(f"only the first {MOST_STEPS} events are followed")
        found: list[tuple[int, Logged]] = []
        for place in fresh[:room]:
            records = [self._record(file, place)]
            if self.found.damage or self.complaints:
                # Tiles are called by their places in the log; where events are lost, what was told says which.
                records += (self._record(file, at) for at in self.found.following(place, Topic.OUTCOME))
            log = log_in([one for one in records if one is not None], self.path, self._complain)
            found += ((place, one) for one in log)
        return found

    def _record(self, file: BinaryIO, place: int) -> RecordedMessage | None:
        try:
            record = self.found.read(file, place)
            if record.topic is Topic.OUTCOME:
                return record if is_sane(record.fact.get("node"), MOST_STEPS) else None
            if is_sane(record.fact):
                return record
            self._complain(f"record {place} has numbers that no game has")
        except (RecordingError, RecursionError) as error:
            self._complain(str(error))
        return None

    def _follow(self, fresh: Sequence[tuple[int, Logged]]) -> None:
        self.log += (one for _, one in fresh)
        if self.match is None:
            self.match = match_in(GameOverrides(), self.start, self.log)
            if self.match is None:
                return
            self.state, _ = apply(State(), self.match)
        for place, one in fresh:
            if self._is_over:
                return
            if isinstance(one.event, MatchStart):
                continue
            try:
                self.state, outcomes = applied(self.state, one)
            except SENSELESS:
                self._stop(f"record {place} cannot be followed, nor what comes after it")
                return
            self._add(place, one, outcomes)

    def _add(self, place: int, one: Logged, outcomes: tuple[Outcome, ...]) -> None:
        game = self.state.game
        totals = () if game is None else game.totals
        if any(abs(total) > MOST_NUMBER for total in totals):
            self._stop("the points are more than anybody ever had")
            return
        hand = 0 if game is None or game.hand is None else game.hand.number
        since_ns = max(0, one.t_ns - self.begins_ns)
        if len(self.steps) % _KEPT_EVERY == 0:
            self._kept.append(changed(self.state, log=()))
        self.steps.append(LoggedStep(one.t_ns, since_ns, one.event, outcomes, len(self.state.log), hand, totals))
        self._places.append(place)

    def _stop(self, why: str) -> None:
        self._is_over = True
        self._complain(why)

    def _complain(self, why: str) -> None:
        if len(self.complaints) < _MOST_COMPLAINTS:
            self.complaints.append(why.removeprefix(f"{self.path}: "))


def is_sane(said: object, most: int = MOST_NUMBER) -> bool:
    """Return whether all numbers of a JSON value are finite, and such as a game has.

    >>> is_sane({"points": [5, 1.5]}), is_sane({"points": 10**12}), is_sane([float("nan")])
    (True, False, False)
    """
    match said:
        case int() | float():
            return abs(said) <= most  # which is false of what is no number
        case Mapping():
            return all(is_sane(one, most) for one in said.values())
        case list():
            return all(is_sane(one, most) for one in said)
        case _:
            return True


class NoGameError(EngineError):
    """No score was kept in a recording, or its log cannot be followed by these rules."""


@dataclass(frozen=True, slots=True)
class Rescored:
    """A game by other rules.

    Attributes:
        match: The match by these rules.
        before, now: The score as it was played, and by these rules.
        sentences: The differences play by play, in words, at most 500.
        count: How many differences there are.
    """

    match: MatchStart
    before: Score
    now: Score
    sentences: tuple[str, ...]
    count: int


def transcript_of(game: RecordedGame, match: MatchStart | None = None) -> Transcript:
    """Return the transcript of a recording; *match* are other rules than those it was played by.

    Raises:
        NoGameError: If there was no game, or these rules cannot follow it.
    """
    begins = match or game.match
    if begins is None:
        raise NoGameError("no score was kept in this recording")
    log = [one for one in game.log[: len(game.steps) + 1] if not isinstance(one.event, MatchStart)]
    steps = judged(begins, log, game.begins_ns)
    story = Transcript()
    story.add(next(steps))
    try:
        for seen in steps:
            story.add(seen)
    except SENSELESS as error:
        raise NoGameError("these rules cannot follow the log of this recording") from error
    return story


def rescored(game: RecordedGame, wish: GameOverrides) -> Rescored:
    """Return the score of a game by other rules.

    Raises:
        EngineError: If there are no such rules, or so many cannot play by them, or there was no game.
    """
    before = transcript_of(game)
    assert game.match is not None  # or there would be no story
    given = GameOverrides(wish.rules, wish.options, game.match.players)
    match = match_of(given, game.start)
    if match is None and wish.rules is not None:
        raise NoGameError(f"{wish.rules} is no game to keep the score of")
    match = match or game.match
    now = transcript_of(game, match)
    found = differences(list(_facts(before)), list(_facts(now)))
    sentences = tuple(one.sentence(0) for one in found[:_MOST_DIFFERENCES])
    return Rescored(match, Score.of(before.state), Score.of(now.state), sentences, len(found))


def _facts(story: Transcript) -> Iterator[Fact]:
    """Yield the plays with their points: these can be compared under other rules."""
    players = () if story.state.game is None else story.state.game.players
    for play in story.plays:
        name = players[play.seat] if play.seat < len(players) else f"seat {play.seat + 1}"
        words = f"{name} plays {play.tile}, {counted(play.points, 'point')}"
        yield Fact(play.since_ns, words, words, {})
