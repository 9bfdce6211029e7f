"""Judge the log of a recording by the rules again: no picture is looked at, so it takes milliseconds."""

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

CAME_IN = (Topic.CAMERA, Topic.BUTTON, Topic.KNOCK, Topic.CORRECTION)
"""The times of a replay are counted from the first of these."""


@dataclass(frozen=True, slots=True)
class Logged:
    """An event of the log.

    Attributes:
        t_ns: When it was added.
        event: The event.
        name: The name on the table that its tile was given, which is its place in the log; None where it has none.
    """

    t_ns: int
    event: Event
    name: int | None = None


def log_in(records: Iterable[RecordedMessage | Damage], path: Path, complain: Callable[[str], object]) -> list[Logged]:
    """Return the log in the records of events and outcomes, and complain of what cannot be read."""
    found: list[Logged] = []
    for one in whole_only(records, path, complain):
        if one.topic is Topic.OUTCOME:
            name = _name_in(one)
            if found and name is not None and found[-1].name is None:
                found[-1] = replace(found[-1], name=name)
        else:
            try:
                found.append(Logged(one.t_ns, event_of_record(one)))
            except JsonValueError as error:
                complain(f"{path}: record {one.number}: {error}")
    return found


def logged_steps(path: Path, wish: GameOverrides, complain: Callable[[str], object]) -> Iterator[ReplayStep]:
    """Yield a step for each event of the log, by the rules that are wished.

    Where events are lost, the others keep their places in the log, because tiles are called by them.

    Raises:
        EngineError: If there is no such game.
        RecordingError: If it is no recording.
        OSError: If it cannot be read.
    """
    log = log_in(records_on(path, (Topic.EVENT, Topic.OUTCOME)), path, complain)
    match = match_in(wish, read_recording(path).start, log)
    if match is None:
        is_damaged = wish.rules is None and read_recording(path).start is None
        damaged = "what it says of its game is damaged: say --rules and --players"
        complain(f"{path}: expected a game, but {damaged if is_damaged else 'no score was kept in it'}")
        return
    yield from judged(match, log[1:] if log and isinstance(log[0].event, MatchStart) else log, first_ns(path, CAME_IN))


def judged(match: MatchStart, log: Iterable[Logged], begins_ns: int) -> Iterator[ReplayStep]:
    """Yield a step for the start of a match and for each event after it."""
    state, said = apply(State(), match)
    yield ReplayStep(0, 0, "", None, Step(0, Session(state), said, (match,)))
    for one in log:
        state, said = applied(state, one)
        happened = Step(one.t_ns, Session(state), said, (one.event,))
        yield ReplayStep(one.t_ns, one.t_ns - begins_ns, "", None, happened)


def applied(state: State, one: Logged) -> tuple[State, tuple[Outcome, ...]]:
    """Return the state after an event of the log, which keeps its place where others before it are lost."""
    return apply(state if one.name is None else _up_to(state, one.name), one.event)


def match_in(wish: GameOverrides, start: SittingStart | None, log: Sequence[Logged]) -> MatchStart | None:
    """Return how the match begins: as wished, as the recording says of itself, or as its log does.

    Raises:
        EngineError: If there is no such game.
    """
    match = match_of(wish, start)
    begins = log[0].event if log else None
    if match is None and wish.rules is None and isinstance(begins, MatchStart):
        return begins
    return match


def _up_to(state: State, name: int) -> State:
    """Return the state with events that mean nothing in place of those that are lost before the one called *name*."""
    lost = (ItStands(Seq(at)) for at in range(len(state.log), name))
    return replace(state, log=(*state.log, *lost))


def _name_in(outcome: RecordedMessage) -> int | None:
    """Return the name that an outcome gives to a tile that was laid; None for none."""
    if outcome.fact.get("event") != "played":
        return None
    name = outcome.fact.get("node")
    return name if isinstance(name, int) else None
