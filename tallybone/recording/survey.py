"""Summarise a recording for a list, from its index if it is closed, else from the headers of its records."""

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

# Maximum number of last outcomes to search for totals. Nearly every outcome has totals.
_MAX_OUTCOMES = 50


@dataclass(frozen=True, slots=True)
class Facts:
    """Figures of a recording.

    Attributes:
        frames: Number of pictures.
        length_ns: Time from the first record to the last.
        totals: Last totals by seat, or None if no recent outcome has any.
        damage: Damage that is visible without decoding the records.
        winner: Seat that won the match, or None.
        players: Names by seat at the end, or None if they are those of the start.
    """

    frames: int
    length_ns: int
    totals: tuple[int, ...] | None
    damage: tuple[Damage, ...] = ()
    winner: int | None = None
    players: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Survey:
    """Summary of a recording. *start* is None if its metadata is damaged, *is_running* is True while it is written."""

    path: Path
    size_bytes: int
    is_running: bool
    start: SittingStart | None
    facts: Facts

    @property
    def players(self) -> tuple[str, ...]:
        """Names by seat at the end. Empty if they are unknown."""
        return self.facts.players or (() if self.start is None else self.start.players)


def survey(path: Path) -> Survey:
    """Return the summary of a recording.

    Raises:
        OSError: If the file is not a recording, or cannot be read.
    """
    recording = read_recording(path)
    with path.open("rb") as file:
        running = is_running(file)
        facts = None if running or recording.start is None else _facts_of_index(file)
        if facts is None:
            facts = _facts_of_records(recording, file, is_growing=running)
    return Survey(path, path.stat().st_size, running, recording.start, facts)


def is_running(file: BinaryIO) -> bool:
    """Check whether a program is still writing the recording, by its lock on the file."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _facts_of_index(file: BinaryIO) -> Facts | None:
    """Return the figures from the index of a recording, or None if it has no intact index."""
    try:
        index = EndIndex.read(file)
        result = _result(index.last(Topic.OUTCOME))
    except IndexDamageError:
        return None
    return Facts(index.count((Topic.CAMERA,)), index.length_ns, result.totals, (), result.winner, result.players)


def _facts_of_records(recording: RecordingFile, file: BinaryIO, *, is_growing: bool) -> Facts:
    """Return the figures from the headers of the records. A file that another tool has rewritten is read as a whole."""
    records = Whereabouts()
    try:
        records.go_on(file, is_growing=is_growing)
    except RecordingError:
        return _facts_of_all(recording)
    damage = list(records.damage)
    if recording.start is None:  # the first damage that the headers do not show is that of the metadata
        damage += islice((piece for piece in recording if isinstance(piece, Damage) and piece not in damage), 1)
    result = _result(_outcomes_at(records, file, damage))
    length_ns = records.last_ns - records.first_ns
    frames = len(records.of(Topic.CAMERA))
    return Facts(frames, length_ns, result.totals, tuple(damage), result.winner, result.players)


def _outcomes_at(records: Whereabouts, file: BinaryIO, damage: list[Damage]) -> Iterator[RecordedMessage]:
    """Yield the outcomes, last first. Unreadable ones are added to *damage*."""
    for place in reversed(records.of(Topic.OUTCOME)):
        try:
            yield records.read(file, place)
        except RecordingError as error:
            damage.append(Damage(records.start_byte(place), records.start_byte(place), str(error)))


def _facts_of_all(recording: RecordingFile) -> Facts:
    """Return the figures, except the winner, by reading the whole recording."""
    frames, totals = 0, None
    times: list[int] = []
    damage: list[Damage] = []
    for record in recording:
        if isinstance(record, Damage):
            damage.append(record)
            continue
        times = [min([*times, record.t_ns]), max([*times, record.t_ns])]
        frames += record.topic is Topic.CAMERA
        totals = _totals(record) or totals
    return Facts(frames, times[-1] - times[0] if times else 0, totals, tuple(damage))


@dataclass(frozen=True, slots=True)
class _Result:
    """Last totals, winner and names by seat, each None if unknown. Names are unknown if no player changed."""

    totals: tuple[int, ...] | None = None
    winner: int | None = None
    players: tuple[str, ...] | None = None


def _result(outcomes: Iterable[RecordedMessage]) -> _Result:
    """Return the last totals and names, and the winner if the match was over then. *outcomes* are in reverse order.

    Only the last _MAX_OUTCOMES are searched.
    """
    winner: int | None = None
    is_over = False
    for outcome in islice(outcomes, _MAX_OUTCOMES):
        if outcome.fact.get("event") == "match_over" and not is_over:
            seat = outcome.fact.get("winner")
            winner, is_over = (seat if isinstance(seat, int) else None), True
        totals = _totals(outcome)
        if totals is not None:
            return _Result(totals, winner, _players(outcome, len(totals)))
    return _Result()


def _players(outcome: RecordedMessage, seats: int) -> tuple[str, ...] | None:
    """Return the names by seat in an outcome, or None."""
    players = outcome.fact.get("players")
    if not isinstance(players, list) or len(players) != seats or not all(isinstance(name, str) for name in players):
        return None
    return tuple(players)


def _totals(record: RecordedMessage) -> tuple[int, ...] | None:
    """Return the totals by seat in an outcome, or None."""
    totals = record.fact.get("totals") if record.topic is Topic.OUTCOME else None
    if not isinstance(totals, list) or not totals or not all(isinstance(points, int) for points in totals):
        return None
    return tuple(totals)
