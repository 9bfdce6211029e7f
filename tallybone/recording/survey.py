"""What a recording holds, in short, for a list: quickly from its index, or by reading it where there is none."""

from __future__ import annotations

import fcntl
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from mcap.exceptions import McapError
from mcap.reader import SeekingReader

from tallybone.recording.damage import Damage
from tallybone.recording.reader import SessionFile, read_session
from tallybone.recording.scan import MAX_RECORD_BYTES
from tallybone.recording.start import SessionStart
from tallybone.recording.topics import Topic


@dataclass(frozen=True, slots=True)
class Facts:
    """What the records say.

    Attributes:
        frames: How many pictures there are.
        length_ns: Time from the first record to the last.
        totals: Points by seat as last said, None where none were.
        damage: What is wrong, as far as was looked: a recording with its index is not read to its end.
    """

    frames: int
    length_ns: int
    totals: tuple[int, ...] | None
    damage: tuple[Damage, ...] = ()


@dataclass(frozen=True, slots=True)
class Survey:
    """A recording in short; *start* is None where it is damaged, *is_running* says that it is still being written."""

    path: Path
    size_bytes: int
    is_running: bool
    start: SessionStart | None
    facts: Facts


def survey(path: Path) -> Survey:
    """Return what a recording holds.

    Raises:
        OSError: If it is none, or cannot be read.
    """
    session = read_session(path)
    with path.open("rb") as file:
        running = is_running(file)
        facts = None if running else _facts_of_index(file)
    return Survey(path, path.stat().st_size, running, session.start, facts or _facts_of_records(session))


def is_running(file: BinaryIO) -> bool:
    """Return whether somebody is writing the recording."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _facts_of_index(file: BinaryIO) -> Facts | None:
    """Return what the index of a closed recording says, None if it has none that can be used."""
    try:
        reader = SeekingReader(file, validate_crcs=True, record_size_limit=MAX_RECORD_BYTES)
        summary = reader.get_summary()
        if summary is None or summary.statistics is None:
            return None
        counted = summary.statistics
        outcomes = reader.iter_messages(topics=[Topic.OUTCOME.path], reverse=True)
        said = (_totals(json.loads(message.data)) for _, _, message in outcomes)
        totals = next((one for one in said if one is not None), None)
    except (McapError, struct.error, ValueError, OSError):
        return None
    frames = counted.channel_message_counts.get(Topic.CAMERA.number, 0)
    return Facts(frames, counted.message_end_time - counted.message_start_time, totals)


def _facts_of_records(session: SessionFile) -> Facts:
    frames, totals = 0, None
    times: list[int] = []
    damage: list[Damage] = []
    for one in session:
        if isinstance(one, Damage):
            damage.append(one)
            continue
        times = [min([*times, one.t_ns]), max([*times, one.t_ns])]
        frames += one.topic is Topic.CAMERA
        if one.topic is Topic.OUTCOME and isinstance(one.payload, Mapping):
            totals = _totals(one.payload) or totals
    return Facts(frames, times[-1] - times[0] if times else 0, totals, tuple(damage))


def _totals(outcome: object) -> tuple[int, ...] | None:
    """Return the points by seat in an outcome, None where it has none."""
    said = outcome.get("totals") if isinstance(outcome, Mapping) else None
    if not isinstance(said, list) or not said or not all(isinstance(points, int) for points in said):
        return None
    return tuple(said)
