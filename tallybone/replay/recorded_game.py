"""Step through the game of a recording, even while it is written, and score its log under other rules.

A log takes milliseconds, because no picture is read. A recording may be damaged, cut or malicious. Events that cannot
be applied are reported and left out.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from engine import EngineError, Event, ItStands, MatchStart, Outcome, Seq, State, apply
from engine.value import Trail
from tallybone.json_values import JsonValueError
from tallybone.recording.format import Damage, RecordingError, SittingStart, Topic
from tallybone.recording.index import first_ns, records_on
from tallybone.recording.reader import RecordedMessage, event_of_record, places_of_record, read_recording, whole_only
from tallybone.recording.resume import Evidence, evidence_of
from tallybone.recording.survey import Whereabouts
from tallybone.replay.export import Transcript
from tallybone.replay.lines import Fact, Score, differences
from tallybone.replay.run import ReplayStep
from tallybone.session.places import Places
from tallybone.session.session import Session
from tallybone.session.sitting import Step
from tallybone.sources.source import GameOverrides, match_of
from tallybone.terminal import counted

INPUT_TOPICS = (Topic.CAMERA, Topic.BUTTON, Topic.KNOCK, Topic.CORRECTION)
"""Topics of inputs. The time of a replay starts at the first record on any of these topics."""


@dataclass(frozen=True, slots=True)
class Logged:
    """An event of the log.

    Attributes:
        t_ns: Time at which it was added, in nanoseconds of a monotonic clock.
        name: Number of the node that the event placed, which is its index in the log. None for an event without a tile.
    """

    t_ns: int
    event: Event
    name: int | None = None


def log_in(records: Iterable[RecordedMessage | Damage], path: Path, complain: Callable[[str], object]) -> list[Logged]:
    """Return the log from the records of events and outcomes. Unreadable records are passed to *complain*."""
    log: list[Logged] = []
    for record in whole_only(records, path, complain):
        if record.topic is Topic.OUTCOME:
            name = _node_in(record)
            if log and name is not None and log[-1].name is None:
                log[-1] = replace(log[-1], name=name)
        else:
            try:
                log.append(Logged(record.t_ns, event_of_record(record)))
            except JsonValueError as error:
                complain(f"{path}: record {record.number}: {error}")
    return log


def logged_steps(path: Path, overrides: GameOverrides, complain: Callable[[str], object]) -> Iterator[ReplayStep]:
    """Yield a step for each event of the log of a recording, with *overrides* of its game.

    Yields nothing, and complains, if no score was kept.

    If events are lost, later ones keep their indexes in the log as far as known, because nodes are numbered by index.

    Raises:
        EngineError: If there is no such game.
        RecordingError: If the file is not a recording.
        OSError: If it cannot be read.
    """
    log = log_in(records_on(path, (Topic.EVENT, Topic.OUTCOME)), path, complain)
    match = match_in(overrides, read_recording(path).start, log)
    if match is None:
        is_damaged = overrides.rules is None and read_recording(path).start is None
        damaged = "its metadata is damaged: give --rules and --players"
        complain(f"{path}: expected a game, but {damaged if is_damaged else 'it has no score'}")
        return
    events = log[1:] if log and isinstance(log[0].event, MatchStart) else log
    yield from judged(match, events, first_ns(path, INPUT_TOPICS))


def judged(match: MatchStart, log: Iterable[Logged], start_ns: int) -> Iterator[ReplayStep]:
    """Yield a step for the start of a match and for each event of *log*. The replay starts at *start_ns*."""
    state, outcomes = apply(State(), match)
    yield ReplayStep(0, 0, "", None, Step(0, Session(state), outcomes, (match,)))
    for logged in log:
        state, outcomes = applied(state, logged)
        effects = Step(logged.t_ns, Session(state), outcomes, (logged.event,))
        yield ReplayStep(logged.t_ns, logged.t_ns - start_ns, "", None, effects)


def applied(state: State, logged: Logged) -> tuple[State, tuple[Outcome, ...]]:
    """Return the state and outcomes after an event of the log. Its index, if known, is kept even if events are lost."""
    return apply(state if logged.name is None else _padded(state, logged.name), logged.event)


def match_in(overrides: GameOverrides, start: SittingStart | None, log: Sequence[Logged]) -> MatchStart | None:
    """Return the start of the match: from *overrides* and the metadata, or else from the log. None without a game.

    Raises:
        EngineError: If there is no such game.
    """
    match = match_of(overrides, start)
    first = log[0].event if log else None
    if match is None and overrides.rules is None and isinstance(first, MatchStart):
        return first
    return match


def _padded(state: State, length: int) -> State:
    """Return the state with its log filled up to *length* with events without effect, in place of lost ones."""
    lost = (ItStands(Seq(at)) for at in range(len(state.log), length))
    return replace(state, log=Trail((*state.log, *lost)))


def _node_in(outcome: RecordedMessage) -> int | None:
    """Return the node number in an outcome of a play, or None."""
    if outcome.fact.get("event") != "played":
        return None
    name = outcome.fact.get("node")
    return name if isinstance(name, int) else None


MAX_STEPS = 5000
"""Maximum number of events to apply, three times as many as in the longest sitting."""
MAX_NUMBER = 1_000_000_000
"""Maximum absolute value of a number in a real event or layout."""
_MAX_COMPLAINTS = 20
_CHECKPOINT_EVERY = 16
SENSELESS = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors that the engine may raise for events that cannot occur in a game."""

_MAX_DIFFERENCES = 500


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """An event of the log and its outcomes.

    Attributes:
        t_ns: Time of the event.
        since_ns: Time since the first input.
        log: Length of the log after it. Its own index is one less.
        hand: Number of the current hand, from 1. 0 before the first.
        totals: Totals by seat after it.
        players: Names by seat after it.
    """

    t_ns: int
    since_ns: int
    event: Event
    outcomes: tuple[Outcome, ...]
    log: int
    hand: int
    totals: tuple[int, ...]
    players: tuple[str, ...]


class RecordedGame:
    """The game of a recording, as far as its log has been read."""

    def __init__(self, path: Path, start: SittingStart | None) -> None:
        """Start without reading the recording at *path*. *start* is its metadata, if intact."""
        self.path, self.start = path, start
        self.found = Whereabouts()
        self.match: MatchStart | None = None
        self.steps: list[LoggedStep] = []
        self.complaints: list[str] = []
        self.log: list[Logged] = []
        self.state = State()  # after the last step
        self._checkpoints: list[State] = []  # states, which share their log
        self._cameras, self._tables, self._places = array("q"), array("q"), array("q")
        self.crops: dict[int, int] = {}  # place of the newest crop of each action, by its number
        self.frame_times_ns: Sequence[int] = ()
        self._is_over = False
        self.start_ns = 0  # time of the first input

    def update(self, file: BinaryIO, *, is_growing: bool) -> None:
        """Read the records that were written since the last update.

        Raises:
            EngineError: If this version has no such game.
            OSError: If the file cannot be read, or another tool has rewritten it.
        """
        known = len(self.found)
        self.found.go_on(file, is_growing=is_growing)
        events = [place for place in self.found.of(Topic.EVENT) if place >= known]
        first = min((places[0] for topic in INPUT_TOPICS if (places := self.found.of(topic))), default=None)
        self.start_ns = 0 if first is None else self.found.t_ns(first)
        self._cameras, self._tables = self.found.of(Topic.CAMERA), self.found.of(Topic.TABLE)
        self.frame_times_ns = array("q", (self.found.t_ns(place) for place in self._cameras))
        for place in self.found.of(Topic.EVIDENCE):
            crop = self._crop(file, place) if place >= known else None
            if crop is not None and isinstance(crop.of, int):
                self.crops[crop.of] = place
        self._apply(self._read(file, events))

    def frame_at(self, t_ns: int) -> int | None:
        """Return the number of the newest picture at a time, or None before the first."""
        at = bisect_right(self.frame_times_ns, t_ns) - 1
        return None if at < 0 else at

    def crop_of(self, number: int, file: BinaryIO) -> Evidence | None:
        """Return the crop of the picture from which a step was read, or None."""
        place = self.crops.get(self.steps[number].log - 1) if 0 <= number < len(self.steps) else None
        return None if place is None else self._crop(file, place)

    def _crop(self, file: BinaryIO, place: int) -> Evidence | None:
        """Return the crop at a place, or None if it is damaged."""
        try:
            return evidence_of(self.found.read(file, place))
        except (RecordingError, RecursionError):
            return None

    def frame_place(self, number: int) -> int | None:
        """Return the place of a picture, or None if there is no picture of this number."""
        return self._cameras[number] if 0 <= number < len(self._cameras) else None

    def state_after(self, number: int) -> State:
        """Return the match after a step, numbered from 0."""
        checkpoint = min(number // _CHECKPOINT_EVERY, len(self._checkpoints) - 1)
        log = self.state.log
        state = self._checkpoints[checkpoint]
        for event in log[len(state.log) : self.steps[number].log]:
            state, _ = apply(state, event)
        return state

    def places_after(self, number: int, file: BinaryIO) -> Places:
        """Return the tracked layout after a step. Empty if it is unknown or damaged."""
        # The place of the TABLE record of a step, or None: the last before the next event.
        event = self._places[number]
        later = self._places[number + 1] if number + 1 < len(self._places) else len(self.found)
        at = bisect_right(self._tables, later)
        if at and (self._tables[at - 1] > event or at == len(self._tables)):
            at -= 1
        place = self._tables[at] if self._tables else None
        if place is None:
            return Places()
        try:
            record = self.found.read(file, place)
            return places_of_record(record) if is_sane(record.fact) else Places()
        except (RecordingError, JsonValueError, RecursionError):
            return Places()

    def _read(self, file: BinaryIO, places: Sequence[int]) -> list[tuple[int, Logged]]:
        """Return the events at some places, each with its place."""
        room = max(0, MAX_STEPS - len(self.log))
        if len(places) > room and not self._is_over:
            self._stop(f"only the first {MAX_STEPS} events are followed")
        events: list[tuple[int, Logged]] = []
        for place in places[:room]:
            records = [self._record(file, place)]
            if self.found.damage or self.complaints:
                # If events are lost, the indexes of the others in the log are known only from their outcomes.
                records += (self._record(file, at) for at in self.found.following(place, Topic.OUTCOME))
            log = log_in([record for record in records if record is not None], self.path, self._complain)
            events += ((place, logged) for logged in log)
        return events

    def _record(self, file: BinaryIO, place: int) -> RecordedMessage | None:
        try:
            record = self.found.read(file, place)
            if record.topic is Topic.OUTCOME:
                return record if is_sane(record.fact.get("node"), MAX_STEPS) else None
            if is_sane(record.fact):
                return record
            self._complain(f"record {place} has impossible numbers")
        except (RecordingError, RecursionError) as error:
            self._complain(str(error))
        return None

    def _apply(self, events: Sequence[tuple[int, Logged]]) -> None:
        """Add events to the log and apply them, until one cannot be applied."""
        self.log += (logged for _, logged in events)
        if self.match is None:
            self.match = match_in(GameOverrides(), self.start, self.log)
            if self.match is None:
                return
            self.state, _ = apply(State(), self.match)
        for place, logged in events:
            if self._is_over:
                return
            if isinstance(logged.event, MatchStart):
                continue
            try:
                self.state, outcomes = applied(self.state, logged)
            except SENSELESS:
                self._stop(f"record {place} and all later events cannot be applied")
                return
            self._add(place, logged, outcomes)

    def _add(self, place: int, logged: Logged, outcomes: tuple[Outcome, ...]) -> None:
        game = self.state.game
        totals, players = ((), ()) if game is None else (game.totals, game.players)
        if any(abs(total) > MAX_NUMBER for total in totals):
            self._stop("the points are impossibly high")
            return
        hand = 0 if game is None or game.hand is None else game.hand.number
        since_ns = max(0, logged.t_ns - self.start_ns)
        if len(self.steps) % _CHECKPOINT_EVERY == 0:
            self._checkpoints.append(self.state)
        length = len(self.state.log)
        self.steps.append(LoggedStep(logged.t_ns, since_ns, logged.event, outcomes, length, hand, totals, players))
        self._places.append(place)

    def _stop(self, reason: str) -> None:
        self._is_over = True
        self._complain(reason)

    def _complain(self, reason: str) -> None:
        if len(self.complaints) < _MAX_COMPLAINTS:
            self.complaints.append(reason.removeprefix(f"{self.path}: "))


def is_sane(value: object, most: int = MAX_NUMBER) -> bool:
    """Return True if all numbers in a JSON value are finite and at most *most*, regardless of sign.

    >>> is_sane({"points": [5, 1.5]}), is_sane({"points": 10**12}), is_sane([float("nan")])
    (True, False, False)
    """
    match value:
        case int() | float():
            return abs(value) <= most  # False for NaN
        case Mapping():
            return all(is_sane(item, most) for item in value.values())
        case list():
            return all(is_sane(item, most) for item in value)
        case _:
            return True


class NoGameError(EngineError):
    """No score was kept in a recording, or its log cannot be scored under these rules."""


@dataclass(frozen=True, slots=True)
class Rescored:
    """A game under other rules.

    Attributes:
        match: Start of the match with these rules.
        before: Score under the original rules.
        now: Score under these rules.
        sentences: Differences of the plays as sentences, at most 500.
        count: How many differences there are.
    """

    match: MatchStart
    before: Score
    now: Score
    sentences: tuple[str, ...]
    count: int


def transcript_of(game: RecordedGame, match: MatchStart | None = None) -> Transcript:
    """Return the transcript of a recorded game. *match* overrides its rules.

    Raises:
        NoGameError: If no score was kept, or the log cannot be scored under these rules.
    """
    match = match or game.match
    if match is None:
        raise NoGameError("this recording has no score")
    log = [logged for logged in game.log[: len(game.steps) + 1] if not isinstance(logged.event, MatchStart)]
    steps = judged(match, log, game.start_ns)
    transcript = Transcript()
    transcript.add(next(steps))
    try:
        for step in steps:
            transcript.add(step)
    except SENSELESS as error:
        raise NoGameError("the log of this recording cannot be scored under these rules") from error
    return transcript


def rescored(game: RecordedGame, overrides: GameOverrides) -> Rescored:
    """Return the score of a recorded game under other rules. The players in *overrides* are ignored.

    Raises:
        EngineError: If there are no such rules, they do not allow this number of players, or no score was kept.
    """
    before = transcript_of(game)
    assert game.match is not None  # checked by `transcript_of`
    match = match_of(GameOverrides(overrides.rules, overrides.options, game.match.players), game.start)
    if match is None and overrides.rules is not None:
        raise NoGameError(f"no score can be kept for {overrides.rules}")
    match = match or game.match
    now = transcript_of(game, match)
    found = differences(list(_facts(before)), list(_facts(now)))
    sentences = tuple(difference.sentence(0) for difference in found[:_MAX_DIFFERENCES])
    return Rescored(match, Score.of(before.state), Score.of(now.state), sentences, len(found))


def _facts(transcript: Transcript) -> Iterator[Fact]:
    """Yield the plays with their points, which can be compared under different rules."""
    players = () if transcript.state.game is None else transcript.state.game.players
    for play in transcript.plays:
        name = players[play.seat] if play.seat < len(players) else f"seat {play.seat + 1}"
        text = f"{name} plays {play.tile}, {counted(play.points, 'point')}"
        yield Fact(play.since_ns, text, text, {})
