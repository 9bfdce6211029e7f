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
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Statistics
from mcap.writer import MCAP0_MAGIC

from tallybone.recording.format import NOT_CLOSED, Damage, RecordingError, Topic, topic_at
from tallybone.recording.reader import (
    IN_DATA,
    IN_SUMMARY,
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
_WINDOW_BYTES = 64 << 10
_FOOTER = struct.Struct("<BQQQI")
_FOOTER_BYTES = _FOOTER.size - 9  # without opcode and length
_HEAD = struct.Struct("<BQ")
MOST_TEXT_BYTES = 4 << 20
"""Nothing larger is read that is no picture: the table of a double-eighteen with all its doubts has a tenth of it."""
_MOST_RECORDS = 2_000_000  # two days at ten pictures a second: 34 MB
_MOST_DAMAGE = 20
_CHUNK = struct.Struct("<BQQQQII")  # with its length: from, to, size, checksum, length of the name of the compression
_SCHEMA = struct.Struct("<QBQH")  # the length of the records in a chunk, then the first with its length and its id
_INDEX = struct.Struct("<BQHIQ")  # with its length, its channel, the length of the rest, and when its first message was
_INDEX_BYTES = 31  # of one message
_ONE_MESSAGE = 16
_MOST_NS = 2**63 - 1
_CHUNK_ONLY = frozenset({Opcode.CHUNK})
_OTHER_TOOL = "it was packed anew by another tool: `tallybone replay` can read it"
_Record = TypeVar("_Record", Channel, Statistics)
_ENTRY = struct.Struct("<QQQQI")  # from, to, where the chunk begins, its length, the length of what follows
_CHANNEL = struct.Struct("<HQ")  # with the place of its message index
_SIZES_BYTES = 16  # how large the chunk is before and after it is packed: the end of an entry
_ENTRY_REST = struct.Struct("<QI")  # length of the message indexes, and of the name of the compression


class IndexDamageError(ValueError):
    """There is no index, or it and the records do not agree; *damage* says where."""

    def __init__(self, problem: str, start_byte: int, end_byte: int) -> None:
        """Say what is wrong in these bytes."""
        super().__init__(problem)
        self.damage = Damage(start_byte, end_byte, f"the index is of no use: {problem}")


class ChunkEntry(NamedTuple):
    """What an index says of a chunk.

    Attributes:
        from_ns, until_ns: When the first and the last of its messages were.
        start_byte, end_byte: Where it is.
        channels: Those that have a message in it; empty where nothing says that.
        indexes_bytes: How long the indexes of its messages are, which follow it.
        compression: How it is packed, "" if not.
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
        """Read the entry: in a tenth of the time that the package `mcap` takes, and a page waits for thousands.

        Raises:
            ValueError, struct.error: If the lengths in it do not fit.
        """
        from_ns, until_ns, start, length, channels_bytes = _ENTRY.unpack_from(content)
        rest = _ENTRY.size + channels_bytes
        channels = frozenset(number for number, _ in _CHANNEL.iter_unpack(content[_ENTRY.size : rest]))
        indexes_bytes, name_bytes = _ENTRY_REST.unpack_from(content, rest)
        name = content[rest + _ENTRY_REST.size : -_SIZES_BYTES]
        if len(name) != name_bytes:
            raise ValueError("the name of a compression has another length")
        return cls(from_ns, until_ns, start, start + length, channels, indexes_bytes, name.decode())


@dataclass(frozen=True, slots=True)
class EndIndex:
    """The index of a closed recording; its checksum is right, and it agrees with itself.

    The package `mcap` reads an index too, but checks neither its checksum, nor its counts, nor whether there is any
    record at all where it leads.

    Attributes:
        file: The recording, which has to stay open.
        start_byte, end_byte: Where the index is, without its footer.
        paths: Names of the channels, by id.
        counted: Its statistics of the whole file.
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
            IndexDamageError: If it has none that is whole.
            OSError: If it cannot be read.
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
            raise IndexDamageError("its counts do not fit each other", start, end)
        return cls(file, start, end, paths, counted)

    @property
    def length_ns(self) -> int:
        """Time from the first record to the last."""
        return int(self.counted.message_end_time - self.counted.message_start_time)

    def count(self, topics: Collection[Topic]) -> int:
        """Return how many records there are on some topics."""
        return sum(int(self.counted.channel_message_counts.get(number, 0)) for number in self._channels(topics))

    def entries(self) -> Iterator[ChunkEntry]:
        """Yield the entry of each chunk, in the order of the file.

        Raises:
            IndexDamageError: If one is no entry, or there are more or fewer than were counted.
            OSError: If it cannot be read.
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
        """Return when the first record on any of some topics was made; 0 where there is none.

        Raises:
            IndexDamageError: If an entry before it is damaged.
            OSError: If it cannot be read.
        """
        wanted = self._channels(topics)
        first = (one for one in self.entries() if not wanted.isdisjoint(one.channels))
        return next((one.from_ns for one in first), 0)

    def on(self, topics: Collection[Topic]) -> list[RecordedMessage]:
        """Return the records on some topics, in feeding order.

        Raises:
            IndexDamageError: If any of them is not as the index says.
            OSError: If it cannot be read.
        """
        wanted = self._channels(topics)
        found: dict[int, ChannelMessage] = {}
        count = 0
        for entry in self.entries():
            if entry.channels and wanted.isdisjoint(entry.channels):
                continue
            for one in self._messages(entry):
                if topic_at(one.path) in topics:
                    found[one.sequence] = one
                    count += 1
        if not len(found) == count == self.count(topics):
            names = ", ".join(sorted(self.paths[number] for number in wanted))
            problem = f"it counts {self.count(topics)} records on {names}, but leads to {len(found)}"
            raise IndexDamageError(problem, self.start_byte, self.end_byte)
        return [self._record(found[number]) for number in sorted(found)]

    def last(self, topic: Topic) -> Iterator[RecordedMessage]:
        """Yield the records on a topic, the last first.

        Raises:
            IndexDamageError: If one of them is not as the index says.
            OSError: If it cannot be read.
        """
        wanted = self._channels((topic,))
        for entry in self._entries_backwards():
            if wanted.isdisjoint(entry.channels):
                continue
            for message in reversed(self._messages(entry)):
                if topic_at(message.path) is topic:
                    yield self._record(message)

    def _channels(self, topics: Collection[Topic]) -> set[int]:
        return {number for number, path in self.paths.items() if topic_at(path) in topics}

    def _messages(self, entry: ChunkEntry) -> tuple[ChannelMessage, ...]:
        """Return the messages of a chunk, which has to be where and as its entry says."""
        start, end = entry.start_byte, entry.end_byte
        if end > self.start_byte:
            raise IndexDamageError("it leads out of the data", self.start_byte, self.end_byte)
        piece = record_at(self.file, start, self.start_byte, _CHUNK_ONLY)
        try:
            if isinstance(piece, str) or piece.end_byte != end:
                raise ChunkError(piece if isinstance(piece, str) else "its length is another")
            found = messages_in(piece.content, dict(self.paths))
            if not all(entry.from_ns <= one.t_ns <= entry.until_ns for one in found):
                raise ChunkError("it was made at another time")
        except ChunkError as error:
            raise IndexDamageError(f"a chunk that it leads to is not as it says: {error}", start, end) from error
        return found

    def _record(self, message: ChannelMessage) -> RecordedMessage:
        try:
            found = record_of(message)
        except (ValueError, RecursionError) as error:
            problem = f"record {message.sequence} on {message.path} cannot be read: {error}"
            raise IndexDamageError(problem, self.start_byte, self.end_byte) from error
        assert found is not None  # it is on a topic of ours
        return found

    def _entries_backwards(self) -> Iterator[ChunkEntry]:
        """Yield the entries, the last first; where all are of one length, without a look at those before."""
        records = _records(self.file, self.start_byte, self.end_byte)
        first, length = next(
            ((at, _HEAD.size + len(content)) for at, opcode, content in records if opcode == Opcode.CHUNK_INDEX), (0, 1)
        )
        end = first + length * self.counted.chunk_count
        if not first or not self._ends_entries(end):
            yield from reversed(list(self.entries()))
            return
        for at in range(end - length, first - 1, -length):
            _, opcode, content = next(_records(self.file, at, at + length), (at, 0, b""))
            if opcode != Opcode.CHUNK_INDEX:
                raise IndexDamageError("its entries do not fit each other", at, at + length)
            yield _entry(content, at)

    def _ends_entries(self, at: int) -> bool:
        following = os.pread(self.file.fileno(), 1, at)
        return at == self.end_byte or (at < self.end_byte and following == bytes([Opcode.SUMMARY_OFFSET]))


def _index_bounds(file: BinaryIO) -> tuple[int, int]:
    """Return where the index begins and where its footer does; its checksum is right."""
    fd = file.fileno()
    size_bytes = os.fstat(fd).st_size
    end = size_bytes - len(MCAP0_MAGIC) - _FOOTER.size
    footer = os.pread(fd, _FOOTER.size + len(MCAP0_MAGIC), max(0, end))
    if len(footer) != _FOOTER.size + len(MCAP0_MAGIC) or not footer.endswith(MCAP0_MAGIC):
        raise IndexDamageError("the file does not end with it", max(0, end), size_bytes)
    opcode, length, start, _, expected = _FOOTER.unpack_from(footer)
    if (opcode, length) != (Opcode.FOOTER, _FOOTER_BYTES) or not 0 < start <= end or end - start > _MOST_INDEX_BYTES:
        raise IndexDamageError("nothing says where it begins", end, size_bytes)
    crc = 0
    for at in range(start, end, _WINDOW_BYTES):
        crc = zlib.crc32(os.pread(fd, min(_WINDOW_BYTES, end - at), at), crc)
    if zlib.crc32(footer[: _FOOTER.size - 4], crc) != expected:
        raise IndexDamageError("its checksum does not fit", start, size_bytes)
    return start, end


def _records(file: BinaryIO, start_byte: int, end_byte: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield where each record of an index begins, its opcode, and its content."""
    at, window, window_at = start_byte, b"", start_byte
    while at < end_byte:
        if at + _HEAD.size > window_at + len(window):
            window, window_at = _window(file, at, end_byte, _HEAD.size), at
        opcode, length = _HEAD.unpack_from(window, at - window_at)
        if opcode not in IN_SUMMARY:
            raise IndexDamageError(f"it has a record of a kind that does not belong there (0x{opcode:02x})", at, at)
        begin, after = at + _HEAD.size, at + _HEAD.size + length
        if after > window_at + len(window):
            window, window_at = _window(file, begin, end_byte, length), begin
        yield at, opcode, window[begin - window_at : after - window_at]
        at = after


def _window(file: BinaryIO, at: int, end_byte: int, least_bytes: int) -> bytes:
    """Return the bytes from a place on, at least so many."""
    window = os.pread(file.fileno(), min(max(least_bytes, _WINDOW_BYTES), end_byte - at), at)
    if len(window) < least_bytes:
        raise IndexDamageError("it ends in the middle of a record", at, end_byte)
    return window


def _entry(content: bytes, at: int) -> ChunkEntry:
    try:
        return ChunkEntry.parse(content)
    except (ValueError, struct.error) as error:
        raise IndexDamageError("the lengths in a record of it do not fit", at, at + len(content)) from error


def _parsed(kind: type[_Record], content: bytes, at: int) -> _Record:
    try:
        found: _Record = kind.read(ReadDataStream(BytesIO(content)))
    except (McapError, struct.error, UnicodeDecodeError) as error:
        raise IndexDamageError("the lengths in a record of it do not fit", at, at + len(content)) from error
    return found


def records_on(path: Path, topics: Collection[Topic]) -> Iterator[RecordedMessage | Damage]:
    """Yield the records of some topics, in feeding order, and damage where it is.

    A recording with a whole index takes milliseconds. Where anything does not agree with the index, all of it is read.

    Raises:
        RecordingError: If it cannot be opened, or is no recording of this version.
        OSError: If it cannot be read any more.
    """
    session = read_session(path)
    doubt: Damage | None = None
    if session.start is not None:  # otherwise reading all of it says where that is damaged
        try:
            with path.open("rb") as file:
                found = EndIndex.read(file).on(topics)
        except IndexDamageError as error:
            doubt = error.damage
        else:
            yield from found
            return
    for one in session:
        if isinstance(one, Damage):
            doubt = None
            yield one
        elif one.topic in topics:
            yield one
    if doubt is not None:
        yield doubt


def first_ns(path: Path, topics: Collection[Topic]) -> int:
    """Return when the first record on any of some topics was made; 0 where there is none.

    It says nothing of damage, but it does not go wrong where `records_on` finds none.

    Raises:
        RecordingError: If it cannot be opened, or is no recording of this version.
        OSError: If it cannot be read any more.
    """
    try:
        with path.open("rb") as file:
            return EndIndex.read(file).first_ns(topics)
    except IndexDamageError:
        records = (one for one in read_session(path) if isinstance(one, RecordedMessage) and one.topic in topics)
        return next((one.t_ns for one in records), 0)


_TOPICS: Mapping[int, Topic] = {topic.number: topic for topic in Topic}


class Whereabouts:
    """The places of the records of a file, in feeding order; each has a number from 0."""

    def __init__(self) -> None:
        self._starts, self._times, self._topics = array("q"), array("q"), array("B")
        self._damage: list[Damage] = []
        self._doubt: Damage | None = None  # why the index is not used
        self.end_byte = len(MCAP0_MAGIC)
        self.is_closed = self._is_indexed = False

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

    def start_byte(self, place: int) -> int:
        """Return where a record begins."""
        return self._starts[place]

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

        The index of a closed one says where its records are, because a checksum covers it, as it does not the heads.

        Raises:
            RecordingError: If another tool has packed it anew.
            OSError: If it cannot be read.
        """
        if self._is_indexed or (not is_growing and self._take_index(file)):
            return
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
        if self.is_closed and self._doubt is not None:
            self._note(self._doubt)
        elif not (is_growing or self.is_closed):
            self._note(Damage(size_bytes, size_bytes, NOT_CLOSED))

    def _take_index(self, file: BinaryIO) -> bool:
        """Take the places from the index; return whether it can be used, and agrees with the heads seen so far."""
        starts, times, topics = array("q"), array("q"), array("B")
        try:
            index = EndIndex.read(file)
            topics_by_id = {number: topic_at(path) for number, path in index.paths.items()}
            for entry in islice(index.entries(), _MOST_RECORDS):
                if len(entry.channels) != 1 or entry.indexes_bytes != _INDEX_BYTES or entry.compression:
                    raise RecordingError(_OTHER_TOOL)
                (channel,) = entry.channels
                topic = topics_by_id.get(channel)
                if max(entry.start_byte, entry.from_ns) > _MOST_NS:
                    raise IndexDamageError("it has numbers that no recording has", index.start_byte, index.end_byte)
                if topic is not None:  # a later version may have more
                    starts.append(entry.start_byte)
                    times.append(entry.from_ns)
                    topics.append(topic.number)
            known = len(self)
            if (starts[:known], times[:known], topics[:known]) != (self._starts, self._times, self._topics):
                raise IndexDamageError("it does not agree with the records", index.start_byte, index.end_byte)
        except IndexDamageError as error:
            self._doubt = error.damage
            return False
        self._starts, self._times, self._topics = starts, times, topics
        self.end_byte = index.start_byte
        self.is_closed = self._is_indexed = True
        return True

    def _note(self, damage: Damage) -> None:
        if len(self._damage) < _MOST_DAMAGE and damage not in self._damage:
            self._damage.append(damage)

    def _step(self, file: BinaryIO, size_bytes: int) -> bool:
        """Take the record that begins where the known part ends; return whether it is as it should be."""
        at = self.end_byte
        head = os.pread(file.fileno(), _CHUNK.size + _SCHEMA.size, at)
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
        """Take a chunk with the index of its message, which names its channel.

        No checksum covers a head, but all that it says is said twice: its time in both, its channel in both.
        """
        index = os.pread(file.fileno(), _INDEX_BYTES, end)
        if len(head) < _CHUNK.size + _SCHEMA.size or len(index) < _INDEX_BYTES:
            return False
        _, _, from_ns, until_ns, _, _, packed = _CHUNK.unpack_from(head)
        opcode, length, channel, follows, t_ns = _INDEX.unpack_from(index)
        if opcode != Opcode.MESSAGE_INDEX or length != follows + 6 or from_ns > _MOST_NS:
            return False
        if follows != _ONE_MESSAGE or packed:
            raise RecordingError(_OTHER_TOOL)
        _, kind, _, schema = _SCHEMA.unpack_from(head, _CHUNK.size)
        if not (from_ns == until_ns == t_ns and (kind, schema) == (Opcode.SCHEMA, channel)):
            return False
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
        if len(found) != 1 or (found[0].topic, found[0].t_ns) != (topic, self._times[place]):
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
    room = _INDEX_BYTES if opcode == Opcode.CHUNK else 0
    return bool(at + _HEAD.size + length + room > size_bytes)
