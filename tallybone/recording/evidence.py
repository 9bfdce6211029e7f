"""Crops of the pictures from which plays and questions were read: their records, and a bounded store."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tallybone.recording.format import Topic
from tallybone.recording.reader import RecordedMessage
from tallybone.recording.writer import RecordingWriter

MOST_BYTES = 4_000_000
"""Size of all crops of a match in memory and at the head of a recording: some 500 plays. The oldest make way."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A crop of the picture from which a play or a question was read.

    Attributes:
        of: The seq of the action in the log of the match, or the topic of the question.
        t_ns: When the picture was taken, monotonic.
        jpeg: The tiles in question, outlined, with what lies around them.
    """

    of: int | str
    t_ns: int
    jpeg: bytes


class Crops:
    """The newest crop of each action and question, at most `MOST_BYTES` of JPEG."""

    def __init__(self, crops: Iterable[Evidence] = ()) -> None:
        """Begin with these."""
        self._kept: dict[int | str, Evidence] = {}
        self._bytes = 0
        for one in crops:
            self.add(one)

    def add(self, one: Evidence) -> None:
        """Add a crop, in place of another of the same action or question."""
        self._drop(one.of)
        self._kept[one.of] = one
        self._bytes += len(one.jpeg)
        while self._bytes > MOST_BYTES:
            self._drop(next(iter(self._kept)))

    def find(self, of: int | str) -> Evidence | None:
        """Return the crop of an action or a question; None if there is none."""
        return self._kept.get(of)

    def __iter__(self) -> Iterator[Evidence]:
        """Yield all crops, oldest first."""
        return iter(tuple(self._kept.values()))

    def _drop(self, of: int | str) -> None:
        before = self._kept.pop(of, None)
        self._bytes -= 0 if before is None else len(before.jpeg)


def write_evidence(writer: RecordingWriter, one: Evidence) -> None:
    """Write a crop; it does not wait for the disk.

    Raises:
        RecordingError: If it cannot be written.
    """
    name = "seq" if isinstance(one.of, int) else "topic"
    writer.write(Topic.EVIDENCE, one.t_ns, {name: one.of, "jpeg": b64encode(one.jpeg).decode("ascii")})


def evidence_of(record: RecordedMessage) -> Evidence | None:
    """Return the crop in a record; None if it holds none, or one that cannot be understood: nothing relies on it."""
    seq, topic, jpeg = (record.fact.get(name) for name in ("seq", "topic", "jpeg"))
    of = seq if seq is not None else topic
    if isinstance(of, bool) or not isinstance(of, int | str) or not isinstance(jpeg, str):
        return None
    try:
        return Evidence(of, record.t_ns, b64decode(jpeg, validate=True))
    except (binascii.Error, ValueError):
        return None
