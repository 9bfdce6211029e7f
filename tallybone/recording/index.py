"""Read and check the index of a closed recording, and find records with it."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Statistics
from mcap.writer import MCAP0_MAGIC

from tallybone.recording.container import IN_SUMMARY, RECORD_HEAD, ChannelMessage, ChunkError, messages_in, record_at
from tallybone.recording.format import Damage, Topic, topic_at
from tallybone.recording.reader import RecordedMessage, read_recording, record_in

_MAX_INDEX_BYTES = 256 << 20  # enough for three million records
_WINDOW_BYTES = 64 << 10
_FOOTER = struct.Struct("<BQQQI")
_FOOTER_BYTES = _FOOTER.size - 9  # excludes opcode and length
_CHUNK_ONLY = frozenset({Opcode.CHUNK})
_Record = TypeVar("_Record", Channel, Statistics)
_ENTRY = struct.Struct("<QQQQI")  # start and end time, offset and length of the chunk, length of the channel list
_CHANNEL = struct.Struct("<HQ")  # id, and offset of its message index
_SIZES_BYTES = 16  # end of an entry: compressed and uncompressed size of the chunk
_ENTRY_REST = struct.Struct("<QI")  # length of the message indexes, length of the compression's name


class IndexDamageError(ValueError):
    """The index is missing, damaged, or contradicts the records. *damage* locates it."""

    def __init__(self, problem: str, start_byte: int, end_byte: int) -> None:
        super().__init__(problem)
        self.damage = Damage(start_byte, end_byte, f"the index cannot be used: {problem}")


class ChunkEntry(NamedTuple):
    """Index entry of a chunk.

    Attributes:
        from_ns: Time of its first message.
        until_ns: Time of its last message.
        start_byte: Offset of the chunk.
        end_byte: Offset of the end of the chunk.
        channels: Ids of the channels with messages in the chunk. Empty if the entry does not list them.
        indexes_bytes: Length of its message indexes, which follow the chunk.
        compression: Name of its compression, "" for none.
    """

    from_ns: int
    until_ns: int
    start_byte: int
    end_byte: int
    channels: frozenset[int]
    indexes_bytes: int
    compression: str

    @classmethod
    def parse(cls, content: bytes) -> ChunkEntry:
        """Parse an entry.

        This takes a tenth of the time of the package `mcap`. A page waits for thousands of entries.

        Raises:
            ValueError, struct.error: If the lengths in *content* are inconsistent.
        """
        from_ns, until_ns, start, length, channels_bytes = _ENTRY.unpack_from(content)
        rest = _ENTRY.size + channels_bytes
        channels = frozenset(number for number, _ in _CHANNEL.iter_unpack(content[_ENTRY.size : rest]))
        indexes_bytes, name_bytes = _ENTRY_REST.unpack_from(content, rest)
        name = content[rest + _ENTRY_REST.size : -_SIZES_BYTES]
        if len(name) != name_bytes:
            raise ValueError("the compression's name has a wrong length")
        return cls(from_ns, until_ns, start, start + length, channels, indexes_bytes, name.decode())


@dataclass(frozen=True, slots=True)
class EndIndex:
    """Index of a closed recording, with a valid checksum and consistent counts.

    The package `mcap` reads an index too, but checks neither its checksum, nor its counts, nor the records that it
    points to.

    Attributes:
        file: The recording, which must stay open.
        start_byte: Offset of the index.
        end_byte: Offset of the footer.
        paths: Names of the channels by id.
        counted: Statistics record of the file.
    """

    file: BinaryIO
    start_byte: int
    end_byte: int
    paths: Mapping[int, str]
    counted: Statistics

    @classmethod
    def read(cls, file: BinaryIO) -> EndIndex:
        """Return the index of a file.

        Raises:
            IndexDamageError: If the file has no intact index.
            OSError: If the file cannot be read.
        """
        start, end = _index_bounds(file)
        paths: dict[int, str] = {}
        counted: Statistics | None = None
        for at, opcode, content in _records(file, start, end):
            if opcode == Opcode.CHANNEL:
                channel = _parsed(Channel, content, at)
                paths[channel.id] = channel.topic
            elif opcode == Opcode.STATISTICS:
                counted = _parsed(Statistics, content, at)
            if counted is not None and len(paths) == counted.channel_count:
                break
        if counted is None or len(paths) != counted.channel_count:
            raise IndexDamageError("it does not count the records of each channel", start, end)
        if sum(counted.channel_message_counts.values()) != counted.message_count:
            raise IndexDamageError("its counts are inconsistent", start, end)
        return cls(file, start, end, paths, counted)

    @property
    def length_ns(self) -> int:
        """Time from the first record to the last."""
        return int(self.counted.message_end_time - self.counted.message_start_time)

    def count(self, topics: Collection[Topic]) -> int:
        """Return the number of records on the given topics."""
        return sum(int(self.counted.channel_message_counts.get(number, 0)) for number in self._channels(topics))

    def entries(self) -> Iterator[ChunkEntry]:
        """Yield the entry of each chunk, in the order of the file.

        Raises:
            IndexDamageError: If an entry cannot be parsed, or their number differs from the count.
            OSError: If the file cannot be read.
        """
        count = 0
        for at, opcode, content in _records(self.file, self.start_byte, self.end_byte):
            if opcode == Opcode.CHUNK_INDEX:
                count += 1
                yield _entry(content, at)
        if count != self.counted.chunk_count:
            problem = f"it counts {self.counted.chunk_count} chunks, but leads to {count}"
            raise IndexDamageError(problem, self.start_byte, self.end_byte)

    def first_ns(self, topics: Collection[Topic]) -> int:
        """Return the time of the first record on any of the given topics, or 0 if there is none.

        Raises:
            IndexDamageError: If an entry before that record is damaged, or there is no such record and the entries do
                not match their count.
            OSError: If it cannot be read.
        """
        channels = self._channels(topics)
        return next((entry.from_ns for entry in self.entries() if not channels.isdisjoint(entry.channels)), 0)

    def on(self, topics: Collection[Topic]) -> list[RecordedMessage]:
        """Return the records on the given topics, in feeding order.

        Raises:
            IndexDamageError: If a record or its chunk contradicts the index, or cannot be parsed.
            OSError: If it cannot be read.
        """
        channels = self._channels(topics)
        messages: dict[int, ChannelMessage] = {}
        count = 0
        for entry in self.entries():
            if entry.channels and channels.isdisjoint(entry.channels):
                continue
            for message in self._messages(entry):
                if topic_at(message.path) in topics:
                    messages[message.sequence] = message
                    count += 1
        if not len(messages) == count == self.count(topics):
            names = ", ".join(sorted(self.paths[number] for number in channels))
            problem = f"it counts {self.count(topics)} records on {names}, but leads to {len(messages)}"
            raise IndexDamageError(problem, self.start_byte, self.end_byte)
        return [self._record(messages[number]) for number in sorted(messages)]

    def last(self, topic: Topic) -> Iterator[RecordedMessage]:
        """Yield the records on a topic, last first.

        Raises:
            IndexDamageError: If a record or its chunk contradicts the index, or cannot be parsed.
            OSError: If it cannot be read.
        """
        channels = self._channels((topic,))
        for entry in self._entries_backwards():
            if channels.isdisjoint(entry.channels):
                continue
            for message in reversed(self._messages(entry)):
                if topic_at(message.path) is topic:
                    yield self._record(message)

    def _channels(self, topics: Collection[Topic]) -> set[int]:
        return {number for number, path in self.paths.items() if topic_at(path) in topics}

    def _messages(self, entry: ChunkEntry) -> tuple[ChannelMessage, ...]:
        """Return the messages of a chunk, after checking the chunk against its entry."""
        start, end = entry.start_byte, entry.end_byte
        if end > self.start_byte:
            raise IndexDamageError("it points outside the data", self.start_byte, self.end_byte)
        piece = record_at(self.file, start, self.start_byte, _CHUNK_ONLY)
        try:
            if isinstance(piece, str) or piece.end_byte != end:
                raise ChunkError(piece if isinstance(piece, str) else "its length differs")
            messages = messages_in(piece.content, dict(self.paths))
            if not all(entry.from_ns <= message.t_ns <= entry.until_ns for message in messages):
                raise ChunkError("its times differ")
        except ChunkError as error:
            raise IndexDamageError(f"it does not match a chunk: {error}", start, end) from error
        return messages

    def _record(self, message: ChannelMessage) -> RecordedMessage:
        try:
            record = record_in(message)
        except (ValueError, RecursionError) as error:
            problem = f"record {message.sequence} on {message.path} cannot be read: {error}"
            raise IndexDamageError(problem, self.start_byte, self.end_byte) from error
        assert record is not None  # the callers select known topics
        return record

    def _entries_backwards(self) -> Iterator[ChunkEntry]:
        """Yield the entries, last first. If all have the same length, each is only read when it is needed."""
        records = _records(self.file, self.start_byte, self.end_byte)
        first, length = next(
            ((at, RECORD_HEAD.size + len(content)) for at, opcode, content in records if opcode == Opcode.CHUNK_INDEX),
            (0, 1),
        )
        end = first + length * self.counted.chunk_count
        if not first or not self._ends_entries(end):
            yield from reversed(list(self.entries()))
            return
        for at in range(end - length, first - 1, -length):
            _, opcode, content = next(_records(self.file, at, at + length))
            if opcode != Opcode.CHUNK_INDEX:
                raise IndexDamageError("its entries are inconsistent", at, at + length)
            yield _entry(content, at)

    def _ends_entries(self, at: int) -> bool:
        following = os.pread(self.file.fileno(), 1, at)
        return at == self.end_byte or (at < self.end_byte and following == bytes([Opcode.SUMMARY_OFFSET]))


def _index_bounds(file: BinaryIO) -> tuple[int, int]:
    """Return the offsets of the index and of its footer, after verifying the checksum."""
    fd = file.fileno()
    size_bytes = os.fstat(fd).st_size
    end = size_bytes - len(MCAP0_MAGIC) - _FOOTER.size
    footer = os.pread(fd, _FOOTER.size + len(MCAP0_MAGIC), max(0, end))
    if len(footer) != _FOOTER.size + len(MCAP0_MAGIC) or not footer.endswith(MCAP0_MAGIC):
        raise IndexDamageError("the file does not end with it", max(0, end), size_bytes)
    opcode, length, start, _, expected = _FOOTER.unpack_from(footer)
    if (opcode, length) != (Opcode.FOOTER, _FOOTER_BYTES) or not 0 < start <= end or end - start > _MAX_INDEX_BYTES:
        raise IndexDamageError("its start is unknown", end, size_bytes)
    crc = 0
    for at in range(start, end, _WINDOW_BYTES):
        crc = zlib.crc32(os.pread(fd, min(_WINDOW_BYTES, end - at), at), crc)
    if zlib.crc32(footer[: _FOOTER.size - 4], crc) != expected:
        raise IndexDamageError("wrong checksum", start, size_bytes)
    return start, end


def _records(file: BinaryIO, start_byte: int, end_byte: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield the offset, opcode and content of each record of an index."""
    at, window, window_at = start_byte, b"", start_byte
    while at < end_byte:
        if at + RECORD_HEAD.size > window_at + len(window):
            window, window_at = _window(file, at, end_byte, RECORD_HEAD.size), at
        opcode, length = RECORD_HEAD.unpack_from(window, at - window_at)
        if opcode not in IN_SUMMARY:
            raise IndexDamageError(f"it has a record of an unexpected kind (0x{opcode:02x})", at, at)
        begin, after = at + RECORD_HEAD.size, at + RECORD_HEAD.size + length
        if after > window_at + len(window):
            window, window_at = _window(file, begin, end_byte, length), begin
        yield at, opcode, window[begin - window_at : after - window_at]
        at = after


def _window(file: BinaryIO, at: int, end_byte: int, min_bytes: int) -> bytes:
    """Read at least *min_bytes* from offset *at*, at most to *end_byte*. Raises IndexDamageError if there are fewer."""
    window = os.pread(file.fileno(), min(max(min_bytes, _WINDOW_BYTES), end_byte - at), at)
    if len(window) < min_bytes:
        raise IndexDamageError("it ends in the middle of a record", at, end_byte)
    return window


def _entry(content: bytes, at: int) -> ChunkEntry:
    try:
        return ChunkEntry.parse(content)
    except (ValueError, struct.error) as error:
        raise IndexDamageError("a record in it has inconsistent lengths", at, at + len(content)) from error


def _parsed(kind: type[_Record], content: bytes, at: int) -> _Record:
    try:
        record: _Record = kind.read(ReadDataStream(BytesIO(content)))
    except (McapError, struct.error, UnicodeDecodeError) as error:
        raise IndexDamageError("a record in it has inconsistent lengths", at, at + len(content)) from error
    return record


def records_on(path: Path, topics: Collection[Topic]) -> Iterator[RecordedMessage | Damage]:
    """Yield the records on the given topics in feeding order, and damage at its place.

    With an intact index this takes milliseconds. If anything contradicts the index, the whole file is read.

    Raises:
        RecordingError: If the file cannot be opened, or is not a recording of this version.
        OSError: If reading fails.
    """
    recording = read_recording(path)
    doubt: Damage | None = None
    if recording.start is not None:  # if the metadata is damaged, read the whole file to locate the damage
        try:
            with path.open("rb") as file:
                records = EndIndex.read(file).on(topics)
        except IndexDamageError as error:
            doubt = error.damage
        else:
            yield from records
            return
    for record in recording:
        if isinstance(record, Damage):
            doubt = None
            yield record
        elif record.topic in topics:
            yield record
    if doubt is not None:
        yield doubt


def first_ns(path: Path, topics: Collection[Topic]) -> int:
    """Return the time of the first record on any of the given topics, or 0 if there is none.

    Does not report damage. The result is correct if `records_on` reports no damage.

    Raises:
        RecordingError: If the file cannot be opened, or is not a recording of this version.
        OSError: If reading fails.
    """
    try:
        with path.open("rb") as file:
            return EndIndex.read(file).first_ns(topics)
    except IndexDamageError:
        recording = read_recording(path)
        times = (record.t_ns for record in recording if isinstance(record, RecordedMessage) and record.topic in topics)
        return next(times, 0)
