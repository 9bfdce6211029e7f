"""Small recordings for tests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from mcap.records import Channel, Schema

from tallybone.recording.format import Damage, SittingStart, Topic
from tallybone.recording.reader import RecordedMessage, read_recording
from tallybone.recording.writer import RecordingWriter

START = SittingStart(
    started_at=datetime(2026, 11, 21, 18, 30, 5, tzinfo=UTC),
    players=("Ann", "Bob"),
    rules="bones",
    options=(("target", "200"),),
    tile_set="double-6",
    seed=7,
    software="tallybone 0.1.0",
)
SECOND = 1_000_000_000


@dataclass(frozen=True, eq=False)
class _LaterTopic:
    """A topic of a later version, with the attributes that a writer needs."""

    path: str
    number: int
    schema: Schema
    channel: Channel
    is_synced: bool = False


def jpeg(number: int, size_bytes: int = 60) -> bytes:
    """Return bytes that begin like a JPEG. Recordings do not decode them."""
    return b"\xff\xd8\xff" + bytes((number * 7 + place) % 256 for place in range(size_bytes))


def write(path: Path, *, frames: int = 3) -> Path:
    """Write pictures, each followed by an event and an outcome with the totals."""
    with RecordingWriter(path, START) as writer:
        for number in range(frames):
            t_ns = (number + 1) * SECOND
            writer.frame(t_ns, jpeg(number), name=f"{number:02}.jpg" if number else None)
            writer.write(Topic.EVENT, t_ns + 1, {"event": "play", "seat": number % 2})
            writer.write(Topic.OUTCOME, t_ns + 2, {"totals": [5 * number, 10]})
    return path


def write_later_version(path: Path) -> Path:
    """Write three events, the second on a topic of a later version."""
    number = len(Topic) + 1
    schema = Schema(id=number, name="later", encoding="jsonschema", data=b"{}")
    channel = Channel(id=number, topic="/later", message_encoding="json", metadata={}, schema_id=number)
    later = _LaterTopic("/later", number, schema, channel)
    writer = RecordingWriter(path, START)
    for t_ns, topic in ((1, Topic.EVENT), (2, later), (3, Topic.EVENT)):
        writer.write(cast(Topic, topic), t_ns, {"number": t_ns})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tallybone.recording.writer.Topic", (*Topic, later))
        writer.close()
    return path


def records_of(path: Path) -> list[RecordedMessage]:
    return [record for record in read_recording(path) if isinstance(record, RecordedMessage)]


def damage_of(path: Path) -> list[Damage]:
    found = [record for record in read_recording(path) if isinstance(record, Damage)]
    assert all(0 <= damage.start_byte <= damage.end_byte <= path.stat().st_size for damage in found)
    return found


def numbers(records: Iterable[RecordedMessage]) -> list[int]:
    return [record.number for record in records]
