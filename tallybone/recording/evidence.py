"""Image crops that show the tiles of plays and questions: their records, and a bounded store."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tallybone.recording.format import Topic
from tallybone.recording.reader import RecordedMessage
from tallybone.recording.writer import RecordingWriter

MAX_BYTES = 4_000_000
"""Maximum size of all crops of a match, in memory and at the head of a recording. It is enough for about 500 plays."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Crop of the picture behind a play or question.

    Attributes:
        of: Number of the action in the match log, or topic of the question.
        t_ns: Time of the picture, in nanoseconds of a monotonic clock.
        jpeg: The crop as a JPEG, with the tiles outlined, and their surroundings.
    """

    of: int | str
    t_ns: int
    jpeg: bytes


class Crops:
    """The newest crop of each action and question, up to `MAX_BYTES` of JPEG. The oldest crops are dropped first."""

    def __init__(self, crops: Iterable[Evidence] = ()) -> None:
        """Start with some crops, oldest first."""
        self._crops: dict[int | str, Evidence] = {}
        self._bytes = 0
        for crop in crops:
            self.add(crop)

    def add(self, crop: Evidence) -> None:
        """Add a crop. It replaces an earlier crop of the same action or question."""
        self._drop(crop.of)
        self._crops[crop.of] = crop
        self._bytes += len(crop.jpeg)
        while self._bytes > MAX_BYTES:
            self._drop(next(iter(self._crops)))

    def find(self, of: int | str) -> Evidence | None:
        """Return the crop of an action or a question, or None."""
        return self._crops.get(of)

    def __iter__(self) -> Iterator[Evidence]:
        """Yield all crops, oldest first."""
        return iter(tuple(self._crops.values()))

    def _drop(self, of: int | str) -> None:
        dropped = self._crops.pop(of, None)
        self._bytes -= 0 if dropped is None else len(dropped.jpeg)


def write_evidence(writer: RecordingWriter, crop: Evidence) -> None:
    """Write a crop, without waiting for the disk.

    Raises:
        RecordingError: If the crop cannot be written.
    """
    name = "seq" if isinstance(crop.of, int) else "topic"
    writer.write(Topic.EVIDENCE, crop.t_ns, {name: crop.of, "jpeg": b64encode(crop.jpeg).decode("ascii")})


def evidence_of(record: RecordedMessage) -> Evidence | None:
    """Return the crop in a record. None if there is no crop or it is damaged: crops are only for display."""
    seq, topic, jpeg = (record.fact.get(name) for name in ("seq", "topic", "jpeg"))
    of = seq if seq is not None else topic
    if isinstance(of, bool) or not isinstance(of, int | str) or not isinstance(jpeg, str):
        return None
    try:
        return Evidence(of, record.t_ns, b64decode(jpeg, validate=True))
    except (binascii.Error, ValueError):
        return None
