"""Reads the records of some topics of a recording: through its index, where it has one, and so past the pictures."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from pathlib import Path

from mcap.exceptions import McapError
from mcap.reader import SeekingReader

from tallybone.recording.damage import Damage
from tallybone.recording.reader import MAX_RECORD_BYTES, ChannelMessage, Recorded, read_session, record_of
from tallybone.recording.topics import Topic


def records_on(path: Path, topics: Collection[Topic]) -> Iterator[Recorded | Damage]:
    """Yield the records of some topics, in feeding order, and damage where it is.

    A recording with a whole index takes milliseconds. Without, all of it is read.

    Raises:
        RecordingError: If it cannot be opened, or is no recording of this version.
        OSError: If it cannot be read any more.
    """
    session = read_session(path)
    found = _through_index(path, topics)
    if found is not None:
        yield from found
        return
    for one in session:
        if isinstance(one, Damage) or one.topic in topics:
            yield one


def _through_index(path: Path, topics: Collection[Topic]) -> list[Recorded] | None:
    """Return what the index leads to; None where there is none, or anything it leads to is damaged."""
    try:
        with path.open("rb") as file:
            reader = SeekingReader(file, validate_crcs=True, record_size_limit=MAX_RECORD_BYTES)
            if reader.get_summary() is None:
                return None
            messages = reader.iter_messages(topics=[topic.path for topic in topics], log_time_order=False)
            said = (
                record_of(ChannelMessage(at.topic, one.sequence, one.log_time, one.data)) for _, at, one in messages
            )
            found = [one for one in said if one is not None]
    except (McapError, struct.error, ValueError, RecursionError, OSError):
        return None
    return sorted(found, key=lambda one: one.number)
