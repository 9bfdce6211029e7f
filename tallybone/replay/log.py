"""Apply the rules to the log of a recording again, in milliseconds, because no picture is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine import Event, ItStands, MatchStart, Outcome, Seq, State, apply
from tallybone.json_values import JsonValueError
from tallybone.recording.format import Damage, SittingStart, Topic
from tallybone.recording.index import first_ns, records_on
from tallybone.recording.messages import event_of_record
from tallybone.recording.reader import RecordedMessage, read_recording, whole_only
from tallybone.replay.run import ReplayStep
from tallybone.session.session import Session
from tallybone.session.sitting import Step
from tallybone.sources.source import GameOverrides, match_of

INPUT_TOPICS = (Topic.CAMERA, Topic.BUTTON, Topic.KNOCK, Topic.CORRECTION)
"""Topics of inputs. The time of a replay starts at the first record on any of these topics."""


@dataclass(frozen=True, slots=True)
class Logged:
    """An event of the log.

    Attributes:
        t_ns: Time at which it was added, in nanoseconds of a monotonic clock.
        event: The event.
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
    return replace(state, log=(*state.log, *lost))


def _node_in(outcome: RecordedMessage) -> int | None:
    """Return the node number in an outcome of a play, or None."""
    if outcome.fact.get("event") != "played":
        return None
    name = outcome.fact.get("node")
    return name if isinstance(name, int) else None
