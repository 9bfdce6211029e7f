"""Compare a replay with its recording, event by event, or under other rules by the points of each play."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path
from typing import Any

from engine import Event, MatchStart, MatchStarted
from tallybone.json_values import JsonValueError, tag_of, to_json
from tallybone.recording.format import Topic
from tallybone.recording.index import records_on
from tallybone.recording.messages import event_of_record
from tallybone.recording.reader import RecordedMessage, read_recording, whole_only
from tallybone.replay.lines import clock_time
from tallybone.replay.run import ReplayStep
from tallybone.sources.source import GameOverrides, match_of
from tallybone.terminal import printable


@dataclass(frozen=True, slots=True)
class Fact:
    """An event or outcome. Facts with the same time and key are equal.

    Attributes:
        t_ns: Time in nanoseconds of a monotonic clock.
        key: Canonical text of the fact.
        words: Text for people.
        fields: All fields, for JSON.
    """

    t_ns: int
    key: str
    words: str = field(compare=False)
    fields: Mapping[str, Any] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between recording and replay. *recorded* is None for an additional fact, *now* for a missing one."""

    recorded: Fact | None
    now: Fact | None

    @property
    def t_ns(self) -> int:
        """Time of the recorded fact, or of the replayed one if no fact was recorded."""
        fact = self.recorded or self.now
        assert fact is not None
        return fact.t_ns

    def sentence(self, start_ns: int) -> str:
        """Return the difference as a sentence, with its time since *start_ns*."""
        sides = ("nothing" if fact is None else printable(fact.words) for fact in (self.recorded, self.now))
        return f"{clock_time(self.t_ns - start_ns)} recorded: {next(sides)}; now: {next(sides)}"

    def line(self) -> str:
        """Return the difference as a line of JSON."""
        recorded, now = (None if fact is None else fact.fields for fact in (self.recorded, self.now))
        return json.dumps({"t_ns": self.t_ns, "recorded": recorded, "now": now})


def recorded_facts(path: Path, complain: Callable[[str], object]) -> list[Fact]:
    """Return the events and outcomes in a recording, without the start of the match.

    Damage and unreadable records are passed to *complain*.

    Raises:
        RecordingError: If the file is not a recording.
        OSError: If the file cannot be read.
    """
    facts: list[Fact] = []
    for record in whole_only(records_on(path, (Topic.EVENT, Topic.OUTCOME)), path, complain):
        try:
            facts.append(_recorded_fact(record))
        except JsonValueError as error:
            complain(f"{path}: record {record.number}: {error}")
    return [fact for fact in facts if not _is_start(fact)]


def replayed_facts(steps: Iterable[ReplayStep]) -> Iterator[Fact]:
    """Yield the events and outcomes of a replay, in the order in which they would be recorded."""
    for step in steps:
        if step.effects is None:
            continue
        events = (_event_fact(step.t_ns, event) for event in step.effects.events)
        lines = (_outcome_fact(line) for line in json.loads(json.dumps(step.effects.lines)))
        yield from (fact for fact in (*events, *lines) if not _is_start(fact))


def differences(recorded: Sequence[Fact], now: Sequence[Fact]) -> list[Difference]:
    """Return the differences in order. A fact in place of a recorded one is a single difference."""
    if recorded == now:
        return []
    found: list[Difference] = []
    for tag, a, b, c, d in SequenceMatcher(None, recorded, now, autojunk=False).get_opcodes():
        if tag != "equal":
            found += (Difference(*pair) for pair in zip_longest(recorded[a:b], now[c:d]))
    return found


def by_play(facts: Iterable[Fact]) -> list[Fact]:
    """Return the plays and stacks, each with its points, for comparing games scored under different rules.

    Only points scored for a play or stolen count; negative ones are left out.
    """
    plays: list[Fact] = []
    for fact in facts:
        fields = fact.fields
        if fields.get("event") in ("played", "stacked"):
            plays.append(_play(fact.t_ns, str(fields.get("words")), 0))
        elif plays and fields.get("event") == "scored" and fields.get("reason") in ("play", "steal"):
            last = plays[-1]
            points = last.fields["points"] + max(0, fields.get("points", 0))
            plays[-1] = _play(last.t_ns, last.fields["play"], points)
    return plays


def has_other_rules(path: Path, overrides: GameOverrides) -> bool:
    """Return True if *overrides* change the rules of a recording.

    Raises:
        EngineError: If there is no such game.
        RecordingError: If the file is not a recording.
    """
    start = read_recording(path).start
    overridden, recorded = match_of(overrides, start), match_of(GameOverrides(), start)
    return (overridden and overridden.rules) != (recorded and recorded.rules)


def _recorded_fact(record: RecordedMessage) -> Fact:
    if record.topic is Topic.EVENT:
        return _event_fact(record.t_ns, event_of_record(record))
    return _outcome_fact({"t_ns": record.t_ns, **record.fact})


def _event_fact(t_ns: int, event: Event) -> Fact:
    fields = to_json(event, Event)
    name = " ".join(str(part) for part in fields.values() if isinstance(part, str | int))
    return Fact(t_ns, json.dumps(fields, sort_keys=True), f"event {name}", fields)


def _outcome_fact(line: Mapping[str, Any]) -> Fact:
    # Recordings of earlier versions have no field "provisional".
    key = json.dumps({"provisional": False, **line}, sort_keys=True)
    return Fact(line["t_ns"], key, str(line.get("words", line)), line)


def _is_start(fact: Fact) -> bool:
    """Return True for the start of a match. It is not compared, because recordings have it in their metadata only."""
    return fact.fields.get("is") == tag_of(MatchStart) or fact.fields.get("event") == tag_of(MatchStarted)


def _play(t_ns: int, words: str, points: int) -> Fact:
    fields = {"play": words, "points": points}
    return Fact(t_ns, json.dumps(fields), f"{words}, {points} points", fields)
