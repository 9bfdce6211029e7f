"""Compare a replay with its recording: event by event, or by other rules the points of each play."""

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
    """An event or an outcome.

    Attributes:
        t_ns: When.
        key: Two with the same key at the same time are the same.
        words: What happened, in words.
        said: All of it, for JSON.
    """

    t_ns: int
    key: str
    words: str = field(compare=False)
    said: Mapping[str, Any] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact of the recording that the replay lacks or has otherwise, or the other way round."""

    recorded: Fact | None
    now: Fact | None

    @property
    def t_ns(self) -> int:
        """When it was, in the recording if it is there."""
        fact = self.recorded or self.now
        assert fact is not None
        return fact.t_ns

    def sentence(self, begins_ns: int) -> str:
        """Return it for people."""
        sides = ("nothing" if one is None else printable(one.words) for one in (self.recorded, self.now))
        return f"{clock_time(self.t_ns - begins_ns)} recorded: {next(sides)}; now: {next(sides)}"

    def line(self) -> str:
        """Return it as a line of JSON."""
        recorded, now = (None if one is None else one.said for one in (self.recorded, self.now))
        return json.dumps({"t_ns": self.t_ns, "recorded": recorded, "now": now})


def recorded_facts(path: Path, complain: Callable[[str], object]) -> list[Fact]:
    """Return the events and outcomes that a recording holds, and complain of what cannot be read.

    Raises:
        RecordingError: If it is no recording.
        OSError: If it cannot be read.
    """
    found: list[Fact] = []
    for one in whole_only(records_on(path, (Topic.EVENT, Topic.OUTCOME)), path, complain):
        try:
            found.append(_recorded_fact(one))
        except JsonValueError as error:
            complain(f"{path}: record {one.number}: {error}")
    return [fact for fact in found if not _begins(fact)]


def replayed_facts(steps: Iterable[ReplayStep]) -> Iterator[Fact]:
    """Yield the events and outcomes of a replay, in the order in which they are recorded."""
    for seen in steps:
        if seen.happened is None:
            continue
        events = (_event_fact(seen.t_ns, event) for event in seen.happened.events)
        lines = (_outcome_fact(line) for line in json.loads(json.dumps(seen.happened.lines)))
        yield from (fact for fact in (*events, *lines) if not _begins(fact))


def differences(recorded: Sequence[Fact], now: Sequence[Fact]) -> list[Difference]:
    """Return the differences, in order; two facts in place of one another are one difference."""
    if recorded == now:
        return []
    found: list[Difference] = []
    for tag, a, b, c, d in SequenceMatcher(None, recorded, now, autojunk=False).get_opcodes():
        if tag != "equal":
            found += (Difference(*pair) for pair in zip_longest(recorded[a:b], now[c:d]))
    return found


def by_play(facts: Iterable[Fact]) -> list[Fact]:
    """Return the plays with their points: these can be compared under other rules."""
    plays: list[Fact] = []
    for fact in facts:
        said = fact.said
        if said.get("event") in ("played", "stacked"):
            plays.append(_play(fact.t_ns, str(said.get("words")), 0))
        elif plays and said.get("event") == "scored" and said.get("reason") in ("play", "steal"):
            last = plays[-1]
            plays[-1] = _play(last.t_ns, last.said["play"], last.said["points"] + max(0, said.get("points", 0)))
    return plays


def has_other_rules(path: Path, wish: GameOverrides) -> bool:
    """Return whether another game is wished than the recording was played by.

    Raises:
        EngineError: If there is no such game.
        RecordingError: If it is no recording.
    """
    start = read_recording(path).start
    wished, recorded = match_of(wish, start), match_of(GameOverrides(), start)
    return (wished and wished.rules) != (recorded and recorded.rules)


def _recorded_fact(record: RecordedMessage) -> Fact:
    if record.topic is Topic.EVENT:
        return _event_fact(record.t_ns, event_of_record(record))
    return _outcome_fact({"t_ns": record.t_ns, **record.fact})


def _event_fact(t_ns: int, event: Event) -> Fact:
    said = to_json(event, Event)
    name = " ".join(str(part) for part in said.values() if isinstance(part, str | int))
    return Fact(t_ns, json.dumps(said, sort_keys=True), f"event {name}", said)


def _outcome_fact(line: Mapping[str, Any]) -> Fact:
    # Recordings of earlier versions do not say whether totals are provisional.
    key = json.dumps({"provisional": False, **line}, sort_keys=True)
    return Fact(line["t_ns"], key, str(line.get("words", line)), line)


def _begins(fact: Fact) -> bool:
    """Return whether it is the start of the match: that is in the metadata of a recording, and not in its log."""
    return fact.said.get("is") == tag_of(MatchStart) or fact.said.get("event") == tag_of(MatchStarted)


def _play(t_ns: int, words: str, points: int) -> Fact:
    said = {"play": words, "points": points}
    return Fact(t_ns, json.dumps(said), f"{words}, {points} points", said)
