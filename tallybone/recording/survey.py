"""Summarise a recording for a list: from the index of a closed one, or from the heads of its records."""

from __future__ import annotations

import fcntl
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from tallybone.recording.format import Damage, RecordingError, SittingStart, Topic
from tallybone.recording.index import EndIndex, IndexDamageError
from tallybone.recording.reader import RecordedMessage, RecordingFile, read_recording
from tallybone.recording.whereabouts import Whereabouts

# So many outcomes are looked at for one with totals; nearly every one has them.
_MOST_LOOKED = 50


@dataclass(frozen=True, slots=True)
class Facts:
    """The figures of a recording.

    Attributes:
        frames: How many pictures there are.
        length_ns: Time from the first record to the last.
        totals: Points by seat as last said, None where none were.
        damage: The damage that shows without reading the records.
        winner: The seat that had won the match when it was left.
    """

    frames: int
    length_ns: int
    totals: tuple[int, ...] | None
    damage: tuple[Damage, ...] = ()
    winner: int | None = None


@dataclass(frozen=True, slots=True)
class Survey:
    """A recording in short; *start* is None where it is damaged, *is_running* says that it is still being written."""

    path: Path
    size_bytes: int
    is_running: bool
    start: SittingStart | None
    facts: Facts


def survey(path: Path) -> Survey:
    """Return a recording in short.

    Raises:
        OSError: If it is none, or cannot be read.
    """
    recording = read_recording(path)
    with path.open("rb") as file:
        running = is_running(file)
        facts = None if running or recording.start is None else _facts_of_index(file)
        if facts is None:
            facts = _facts_of_records(recording, file, is_growing=running)
    return Survey(path, path.stat().st_size, running, recording.start, facts)


def is_running(file: BinaryIO) -> bool:
    """Return whether a program is writing the recording."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _facts_of_index(file: BinaryIO) -> Facts | None:
    """Return the figures from the index of a closed recording, None without an index that can be used."""
    try:
        index = EndIndex.read(file)
        totals, winner = _result(index.last(Topic.OUTCOME))
    except IndexDamageError:
        return None
    return Facts(index.count((Topic.CAMERA,)), index.length_ns, totals, (), winner)


def _facts_of_records(recording: RecordingFile, file: BinaryIO, *, is_growing: bool) -> Facts:
    """Return the figures from the heads of the records; where another tool has packed them, from the records."""
    found = Whereabouts()
    try:
        found.go_on(file, is_growing=is_growing)
    except RecordingError:
        return _facts_of_all(recording)
    damage = list(found.damage)
    if recording.start is None:  # the first that is damaged is what says of its sitting
        damage += islice((one for one in recording if isinstance(one, Damage) and one not in damage), 1)
    totals, winner = _result(_outcomes_at(found, file, damage))
    return Facts(len(found.of(Topic.CAMERA)), found.last_ns - found.first_ns, totals, tuple(damage), winner)


def _outcomes_at(found: Whereabouts, file: BinaryIO, damage: list[Damage]) -> Iterator[RecordedMessage]:
    """Yield the outcomes, the last first; those that cannot be read are added to the *damage*."""
    for place in reversed(found.of(Topic.OUTCOME)):
        try:
            yield found.read(file, place)
        except RecordingError as error:
            damage.append(Damage(found.start_byte(place), found.start_byte(place), str(error)))


def _facts_of_all(recording: RecordingFile) -> Facts:
    frames, totals = 0, None
    times: list[int] = []
    damage: list[Damage] = []
    for one in recording:
        if isinstance(one, Damage):
            damage.append(one)
            continue
        times = [min([*times, one.t_ns]), max([*times, one.t_ns])]
        frames += one.topic is Topic.CAMERA
        totals = _totals(one) or totals
    return Facts(frames, times[-1] - times[0] if times else 0, totals, tuple(damage))


def _result(outcomes: Iterable[RecordedMessage]) -> tuple[tuple[int, ...] | None, int | None]:
    """Return the totals that were said last, and who had won then; *outcomes* have the last first."""
    winner: int | None = None
    is_over = False
    for one in islice(outcomes, _MOST_LOOKED):
        if one.fact.get("event") == "match_over" and not is_over:
            won = one.fact.get("winner")
            winner, is_over = (won if isinstance(won, int) else None), True
        totals = _totals(one)
        if totals is not None:
            return totals, winner
    return None, None


def _totals(one: RecordedMessage) -> tuple[int, ...] | None:
    """Return the points by seat in an outcome, None where it has none."""
    said = one.fact.get("totals") if one.topic is Topic.OUTCOME else None
    if not isinstance(said, list) or not said or not all(isinstance(points, int) for points in said):
        return None
    return tuple(said)
