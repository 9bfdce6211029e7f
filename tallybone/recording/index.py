"""Find records without reading a whole recording: counts, last records, one topic, one moment.

Only the heads of records are looked at: five microseconds and 17 bytes of memory a record, however large its picture.
"""

from __future__ import annotations

import os
import struct
import zlib
from array import array
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.reader import SeekingReader
from mcap.records import ChunkIndex, Statistics
from mcap.writer import MCAP0_MAGIC

from tallybone.recording.format import Damage, RecordingError, Topic
from tallybone.recording.reader import (
    IN_DATA,
    MAX_RECORD_BYTES,
    ChannelMessage,
    ChunkError,
    RecordedMessage,
    messages_in,
    next_start,
    read_session,
    record_at,
    record_of,
)

_MOST_INDEX_BYTES = 256 << 20  # of three million records
_FOOTER = struct.Struct("<BQQQI")
_HEAD = struct.Struct("<BQ")
MOST_TEXT_BYTES = 4 << 20
"""Nothing larger is read that is no picture: the table of a double-eighteen with all its doubts has a tenth of it."""
_MOST_RECORDS = 2_000_000  # two days at ten pictures a second: 34 MB
_MOST_DAMAGE = 20
_CHUNK = struct.Struct("<BQQ")  # with its length, from
_INDEX = struct.Struct("<BQHI")  # with its length, its channel, and the length of the rest
_ONE_MESSAGE = 16
_MOST_NS = 2**63 - 1
_OTHER_TOOL = "it was packed anew by another tool: `tallybone replay` can read it"


class IndexDamageError(ValueError):
    """There is no index, or it cannot be used."""


@dataclass(frozen=True, slots=True)
class EndIndex:
    """The index of a recording.

    Attributes:
        content: Its records, as the file has them.
        counted: Its statistics of the whole file.
    """

    content: bytes
    counted: Statistics

    @classmethod
    def read(cls, file: BinaryIO) -> EndIndex:
        """Return the index of a file.

        Raises:
            IndexDamageError: If it has none that is whole.
            OSError: If it cannot be read.
        """
        content = _content(file)
        try:
            found = next((one for _, opcode, one in _records(content) if opcode == Opcode.STATISTICS), None)
            if found is None:
                raise IndexDamageError("the index does not count the records")
            return cls(content, Statistics.read(ReadDataStream(BytesIO(found))))
        except (McapError, struct.error, EOFError, UnicodeDecodeError) as error:
            raise IndexDamageError("the index is damaged") from error

    @property
    def length_ns(self) -> int:
        """Time from the first record to the last."""
        return int(self.counted.message_end_time - self.counted.message_start_time)

    def count(self, topic: Topic) -> int:
        """Return how many records there are on a topic."""
        return int(self.counted.channel_message_counts.get(topic.number, 0))

    def last(self, topic: Topic, file: BinaryIO) -> Iterator[RecordedMessage]:
        """Yield the records on a topic, the last first.

        Raises:
            IndexDamageError: If a record that the index leads to is damaged.
            OSError: If it cannot be read.
        """
        size_bytes = os.fstat(file.fileno()).st_size
        try:
            for content in _chunks_backwards(self.content, self.counted.chunk_count):
                entry: ChunkIndex = ChunkIndex.read(ReadDataStream(BytesIO(content)))
                if topic.number not in entry.message_index_offsets:
                    continue
                piece = record_at(file, entry.chunk_start_offset, size_bytes, IN_DATA)
                if isinstance(piece, str):
                    raise IndexDamageError(piece)
                for message in reversed(messages_in(piece.content, {})):
                    one = record_of(message)
                    if one is not None and one.topic is topic:
                        yield one
        except (McapError, ChunkError, struct.error, ValueError, EOFError, OverflowError, RecursionError) as error:
            raise IndexDamageError(str(error)) from error


def _content(file: BinaryIO) -> bytes:
    """Return the records of the index; its checksum is right."""
    end = os.fstat(file.fileno()).st_size - len(MCAP0_MAGIC) - _FOOTER.size
    footer = os.pread(file.fileno(), _FOOTER.size + len(MCAP0_MAGIC), max(0, end))
    if len(footer) != _FOOTER.size + len(MCAP0_MAGIC) or not footer.endswith(MCAP0_MAGIC):
        raise IndexDamageError("there is no index")
    opcode, _, start, _, crc = _FOOTER.unpack_from(footer)
    if opcode != Opcode.FOOTER or not 0 < start <= end or end - start > _MOST_INDEX_BYTES:
        raise IndexDamageError("the index is damaged")
    content = os.pread(file.fileno(), end - start, start)
    if crc and zlib.crc32(footer[: _FOOTER.size - 4], zlib.crc32(content)) != crc:
        raise IndexDamageError("the checksum of the index does not fit")
    return content


def _chunks_backwards(content: bytes, count: int) -> Iterator[memoryview]:
    """Yield the entries of chunks, the last first; where all are of one length, without a look at those before."""
    first = next(((at, one) for at, opcode, one in _records(content) if opcode == Opcode.CHUNK_INDEX), None)
    if first is None:
        return
    at, length = first[0], _HEAD.size + len(first[1])
    head, end = content[at : at + _HEAD.size], at + length * count
    has_one_length = end <= len(content) and (end == len(content) or content[end] == Opcode.SUMMARY_OFFSET)
    if not has_one_length:
        yield from reversed([one for _, opcode, one in _records(content) if opcode == Opcode.CHUNK_INDEX])
        return
    for start in range(end - length, at - 1, -length):
        if content[start : start + _HEAD.size] != head:
            raise IndexDamageError("the index is damaged")
        yield memoryview(content)[start + _HEAD.size : start + length]


def _records(content: bytes) -> Iterator[tuple[int, int, memoryview]]:
    """Yield where each record of an index begins, its opcode, and its content."""
    at, whole = 0, memoryview(content)
    while at < len(content):
        if at + _HEAD.size > len(content):
            raise IndexDamageError("the index is damaged")
        opcode, length = _HEAD.unpack_from(content, at)
        start, end = at + _HEAD.size, at + _HEAD.size + length
        if end > len(content):
            raise IndexDamageError("the index is damaged")
        yield at, opcode, whole[start:end]
        at = end


def records_on(path: Path, topics: Collection[Topic]) -> Iterator[RecordedMessage | Damage]:
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


def _through_index(path: Path, topics: Collection[Topic]) -> list[RecordedMessage] | None:
    """Return the records that the index leads to; None where there is no index, or any of them is damaged."""
    try:
        with path.open("rb") as file:
            reader = SeekingReader(file, validate_crcs=True, record_size_limit=MAX_RECORD_BYTES)
            if reader.get_summary() is None:
                return None
            messages = reader.iter_messages(topics=[topic.path for topic in topics], log_time_order=False)
            found = [record_of(ChannelMessage(at.topic, m.sequence, m.log_time, m.data)) for _, at, m in messages]
    except (McapError, struct.error, ValueError, RecursionError, OSError):
        return None
    return sorted((one for one in found if one is not None), key=lambda one: one.number)


_TOPICS: Mapping[int, Topic] = {topic.number: topic for topic in Topic}


class Whereabouts:
    """The places of the records of a file, in feeding order; each has a number from 0."""

    def __init__(self) -> None:
        self._starts, self._times, self._topics = array("q"), array("q"), array("B")
        self._damage: list[Damage] = []
        self.end_byte = len(MCAP0_MAGIC)
        self.is_closed = False

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def damage(self) -> tuple[Damage, ...]:
        """The damage that was seen so far; damage inside a record shows when it is read."""
        return tuple(self._damage)

    @property
    def first_ns(self) -> int:
        """The time of the earliest record; 0 without any."""
        return min(self._times, default=0)

    @property
    def last_ns(self) -> int:
        """The time of the latest record; 0 without any."""
        return max(self._times, default=0)

    def t_ns(self, place: int) -> int:
        """Return when a record was made."""
        return self._times[place]

    def of(self, topic: Topic) -> array[int]:
        """Return the places of the records on a topic, in order."""
        number = topic.number
        return array("q", (place for place, one in enumerate(self._topics) if one == number))

    def following(self, place: int, topic: Topic) -> range:
        """Return the places of the records on a topic that come right after a record."""
        after = end = place + 1
        while end < len(self) and self._topics[end] == topic.number:
            end += 1
        return range(after, end)

    def go_on(self, file: BinaryIO, *, is_growing: bool) -> None:
        """Look at the part of the file that is not known yet; a growing one may end in the middle of a record.

        Raises:
            RecordingError: If another tool has packed it anew.
            OSError: If it cannot be read.
        """
        size_bytes = os.fstat(file.fileno()).st_size
        while self.end_byte < size_bytes and not self.is_closed and len(self) < _MOST_RECORDS:
            if self._step(file, size_bytes):
                continue
            problem = record_at(file, self.end_byte, size_bytes, IN_DATA)
            if is_growing and _ends_early(file, self.end_byte, size_bytes):
                return
            problem = problem if isinstance(problem, str) else "a record without its end"
            resume = next_start(file, self.end_byte + 1, size_bytes)
            self._note(Damage(self.end_byte, resume, problem))
            self.end_byte = resume
        if not (is_growing or self.is_closed):
            self._note(Damage(size_bytes, size_bytes, "the file ends without its index: the recording was not closed"))

    def _note(self, damage: Damage) -> None:
        if len(self._damage) < _MOST_DAMAGE and damage not in self._damage:
            self._damage.append(damage)

    def _step(self, file: BinaryIO, size_bytes: int) -> bool:
        """Take the record that begins where the known part ends; return whether it is as it should be."""
        at = self.end_byte
        head = os.pread(file.fileno(), _CHUNK.size, at)
        if len(head) < _HEAD.size:
            return False
        opcode, length = _HEAD.unpack_from(head)
        end = at + _HEAD.size + length
        if length > MAX_RECORD_BYTES or end > size_bytes:
            return False
        if opcode == Opcode.CHUNK:
            return self._take(file, head, at, end)
        if opcode == Opcode.DATA_END:
            self.is_closed = length == 4
            return self.is_closed
        if opcode not in (Opcode.HEADER, Opcode.METADATA, Opcode.MESSAGE_INDEX):
            return False
        if isinstance(record_at(file, at, size_bytes, IN_DATA), str):
            return False
        self.end_byte = end
        return True

    def _take(self, file: BinaryIO, head: bytes, at: int, end: int) -> bool:
        """Take a chunk with the index of its message, which names its channel."""
        index = os.pread(file.fileno(), _INDEX.size + _ONE_MESSAGE, end)
        if len(head) < _CHUNK.size or len(index) < _INDEX.size + _ONE_MESSAGE:
            return False
        _, _, from_ns = _CHUNK.unpack(head)
        opcode, length, channel, follows = _INDEX.unpack_from(index)
        if opcode != Opcode.MESSAGE_INDEX or length != follows + 6 or from_ns > _MOST_NS:
            return False
        if follows != _ONE_MESSAGE:
            raise RecordingError(_OTHER_TOOL)
        if channel in _TOPICS:  # a later version may have more
            self._starts.append(at)
            self._times.append(from_ns)
            self._topics.append(channel)
        self.end_byte = end + len(index)
        return True

    def read(self, file: BinaryIO, place: int) -> RecordedMessage:
        """Return a record.

        Raises:
            RecordingError: If it is damaged, or is not there any more.
            OSError: If it cannot be read.
        """
        at, topic = self._starts[place], _TOPICS[self._topics[place]]
        size_bytes = os.fstat(file.fileno()).st_size
        if topic is not Topic.CAMERA:
            size_bytes = min(size_bytes, at + MOST_TEXT_BYTES)
        piece = record_at(file, at, size_bytes, frozenset({Opcode.CHUNK}))
        if isinstance(piece, str):
            raise RecordingError(f"record {place} is damaged: {piece}")
        try:
            found = [one for message in messages_in(piece.content, {}) if (one := record_of(message)) is not None]
        except (ChunkError, ValueError, RecursionError) as error:
            raise RecordingError(f"record {place} is damaged: {error}") from error
        if len(found) != 1 or found[0].topic is not topic:
            raise RecordingError(f"record {place} is damaged: it is not what was said of it")
        return found[0]


def _ends_early(file: BinaryIO, at: int, size_bytes: int) -> bool:
    """Return whether the record at the end of a growing file, or its index, is not all there yet."""
    head = os.pread(file.fileno(), _HEAD.size, at)
    if len(head) < _HEAD.size:
        return True
    opcode, length = _HEAD.unpack(head)
    if opcode not in IN_DATA or length > MAX_RECORD_BYTES:
        return False
    room = _INDEX.size + _ONE_MESSAGE if opcode == Opcode.CHUNK else 0
    return bool(at + _HEAD.size + length + room > size_bytes)
