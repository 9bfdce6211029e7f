"""Read recordings in feeding order, one record in memory at a time; recover the whole records of damaged ones.

The reader of the package `mcap` stops at the first byte that is wrong. This one goes on at the next chunk: its header
says its length twice, so that hardly anything else looks like one.
"""

from __future__ import annotations

import json
import os
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, TypeAlias, TypeVar

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, Header, Message, Metadata, Statistics
from mcap.writer import MCAP0_MAGIC

from tallybone.files import reason_of
from tallybone.recording.format import (
    CUT,
    METADATA_NAME,
    NOT_CLOSED,
    PROFILE,
    Damage,
    ImageMessage,
    RecordingError,
    SessionStart,
    Topic,
    VersionError,
    topic_at,
)

_Whole = TypeVar("_Whole")
Payload: TypeAlias = ImageMessage | Mapping[str, object]
DATA_CHANGED = "something between the records was changed"
"""The problem of a file whose checksum over all does not fit, though each record can be found."""
MAX_RECORD_BYTES = 64 << 20
"""Nothing larger is read or written: a JPEG of 80 megapixels has about 40 MB. What claims more is damaged."""
_HEAD = struct.Struct("<BQ")
_CHUNK_HEAD = struct.Struct("<QQQII")  # from, to, size, checksum, length of the name of the compression
_FOOTER_BYTES = 20
_NO_CRC = bytes(4)  # of the data section, where another program has written it again
_WINDOW_BYTES = 1 << 20
# What the sitting is, a chunk with a known compression, or the end of the data; looked up at every byte, hence the
# lookahead.
_RESTART = re.compile(
    rb"(?=\x0c.{4}\0{4}.\0\0\0"
    + re.escape(METADATA_NAME.encode())
    + rb"|\x06.{4}\0{4}.{28}(?:\0{4}|\x03\0\0\0lz4|\x04\0\0\0zstd)|\x0f\x04\0{7})",
    re.DOTALL,
)
_BEGIN_BYTES = 256  # of a record: where the lengths inside it are, unless its name is longer than any we know
_RESTART_BYTES = 9 + _CHUNK_HEAD.size + 4 + 8  # more than the pattern can take: windows overlap by as much
IN_DATA = frozenset({Opcode.HEADER, Opcode.METADATA, Opcode.CHUNK, Opcode.MESSAGE_INDEX, Opcode.DATA_END})
IN_SUMMARY = frozenset(
    {
        Opcode.SCHEMA,
        Opcode.CHANNEL,
        Opcode.STATISTICS,
        Opcode.CHUNK_INDEX,
        Opcode.METADATA_INDEX,
        Opcode.SUMMARY_OFFSET,
        Opcode.FOOTER,
    }
)


@dataclass(frozen=True, slots=True)
class RecordedMessage:
    """One record; *number* counts all records of the file from 0, *payload* is an ImageMessage on CAMERA only."""

    number: int
    t_ns: int
    topic: Topic
    payload: Payload


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A recording; iterating reads it from its beginning: records in feeding order, with damage where it is.

    Attributes:
        path: The file.
        start: The facts of its sitting; None where they are damaged.
    """

    path: Path
    start: SessionStart | None

    def __iter__(self) -> Iterator[RecordedMessage | Damage]:
        """Yield its records and damage.

        Raises:
            OSError: If the file cannot be read any more.
        """
        with self.path.open("rb") as file:
            yield from _with_gaps(_pieces_of(file))


def read_session(path: Path) -> SessionFile:
    """Return the recording in a file; it may be cut, damaged, or still be written.

    Raises:
        RecordingError: If it cannot be opened, or is no recording of this version.
    """
    try:
        if not path.is_file():
            problem = "it is no file" if path.exists() else "there is no such file"
            raise RecordingError(f"{path}: expected a recording, but {problem}")
        with path.open("rb") as file:
            return SessionFile(path, _read_start(path, file))
    except RecordingError:
        raise
    except OSError as error:
        raise RecordingError(f"{path}: it cannot be read: {reason_of(error)}") from error


def _read_start(path: Path, file: BinaryIO) -> SessionStart | None:
    magic = file.read(len(MCAP0_MAGIC))
    if magic != MCAP0_MAGIC:
        cut = bool(magic) and MCAP0_MAGIC.startswith(magic)
        problem = "it is empty" if not magic else "it ends within its first bytes" if cut else "it is no MCAP file"
        raise RecordingError(f"{path}: expected a recording, but {problem}")
    is_ours = False
    for piece in scan(file, os.fstat(file.fileno()).st_size):
        if isinstance(piece, Damage):
            continue
        if piece.opcode == Opcode.HEADER:
            is_ours = _profile(piece.content) == PROFILE
        elif piece.opcode == Opcode.METADATA:
            try:
                start = _start_in(piece.content)
            except VersionError as error:
                raise RecordingError(f"{path}: {error}") from None
            except ValueError:
                continue
            if start is not None:
                return start
        else:
            break
    if not is_ours:
        raise RecordingError(
            f"{path}: expected a recording, but it is an MCAP file of something else, or cut to nothing"
        )
    return None


def _pieces_of(file: BinaryIO) -> Iterator[tuple[int, ChannelMessage] | Damage]:
    """Yield the messages of a file, each with its first byte, and damage where a part of it cannot be used."""
    paths: dict[int, str] = {}
    is_known = False  # that something is damaged
    count = 0
    for piece in scan(file, os.fstat(file.fileno()).st_size):
        if isinstance(piece, Damage):
            if not (is_known and piece.problem == DATA_CHANGED):
                yield piece
            is_known = True
            continue
        problem: str | None = None
        match piece.opcode:
            case Opcode.CHUNK:
                try:
                    messages = messages_in(piece.content, paths)
                    count += len(messages)
                    yield from ((piece.start_byte, message) for message in messages)
                except ChunkError as error:
                    problem = str(error)
            case Opcode.METADATA:
                try:
                    _start_in(piece.content)
                except ValueError as error:
                    problem = f"what it says of its sitting cannot be read: {error}"
            case Opcode.HEADER if _profile(piece.content) != PROFILE:
                problem = "its header is damaged"
            case Opcode.STATISTICS if not is_known:
                counted = _count_in(piece.content)
                if counted != count:
                    problem = f"the index counts {counted} records, but there are {count}"
        if problem is not None:
            is_known = True
            yield Damage(piece.start_byte, piece.end_byte, problem)


def _with_gaps(found: Iterable[tuple[int, ChannelMessage] | Damage]) -> Iterator[RecordedMessage | Damage]:
    """Yield records, and damage with its times and its loss once the next record is known."""
    waiting: list[Damage] = []
    expected, last_ns = 0, None
    for one in found:
        if isinstance(one, Damage):
            waiting.append(one)
            continue
        start_byte, message = one
        lost = message.sequence - expected
        if lost and not waiting:
            problem = "records are missing" if lost > 0 else "a record is not in its place"
            waiting.append(Damage(start_byte, start_byte, problem))
        for index, damage in enumerate(waiting):
            here = max(lost, 0) if index == 0 else 0
            yield replace(damage, after_ns=last_ns, before_ns=message.t_ns, lost=here)
        waiting.clear()
        expected, last_ns = message.sequence + 1, message.t_ns
        try:
            recorded = record_of(message)
        except (ValueError, RecursionError) as error:
            problem = f"record {message.sequence} on {message.path} cannot be read: {error}"
            yield Damage(start_byte, start_byte, problem, last_ns, last_ns, 1)
            continue
        if recorded is not None:
            yield recorded
    for damage in waiting:
        yield replace(damage, after_ns=last_ns)


def whole_only(found: Iterable[_Whole | Damage], path: Path, complain: Callable[[str], object]) -> Iterator[_Whole]:
    """Yield all but damage; complain of each, and at the end of what to do, unless the file only ends early."""
    damaged = 0
    for one in found:
        if isinstance(one, Damage):
            damaged += not one.is_cut
            complain(f"{path}: {one}")
        else:
            yield one
    if damaged:
        places = f"{damaged} damaged places" if damaged > 1 else "1 damaged place"
        advice = "Compare the result with what you remember, copy the recording elsewhere, and check the card or disk"
        complain(f"{path}: {places}; the rest was read. {advice}")


def record_of(message: ChannelMessage) -> RecordedMessage | None:
    """Return the record in a message; None on a topic of a later version.

    Raises:
        ValueError: If it is no picture, or no JSON object.
        RecursionError: If its JSON is too deep.
    """
    topic = topic_at(message.path)
    if topic is None:
        return None
    if topic is Topic.CAMERA:
        return RecordedMessage(message.sequence, message.t_ns, topic, ImageMessage.decode(message.payload))
    payload = json.loads(message.payload)
    if not isinstance(payload, dict):
        raise ValueError(f"expected a JSON object, got {type(payload).__name__}")
    return RecordedMessage(message.sequence, message.t_ns, topic, payload)


def _start_in(content: bytes) -> SessionStart | None:
    """Return the facts of the sitting in a metadata record, None where it holds something else."""
    try:
        metadata: Metadata = Metadata.read(ReadDataStream(BytesIO(content)))
    except (McapError, struct.error) as error:
        raise ValueError("it is damaged") from error
    return SessionStart.parse(metadata.metadata) if metadata.name == METADATA_NAME else None


def _profile(content: bytes) -> str | None:
    try:
        header: Header = Header.read(ReadDataStream(BytesIO(content)))
    except (McapError, struct.error, UnicodeDecodeError):
        return None
    return header.profile


@dataclass(frozen=True, slots=True)
class RawRecord:
    """One record of the file, not yet looked into."""

    opcode: int
    start_byte: int
    content: bytes

    @property
    def end_byte(self) -> int:
        """Where the next one begins."""
        return self.start_byte + _HEAD.size + len(self.content)


def scan(file: BinaryIO, size_bytes: int) -> Iterator[RawRecord | Damage]:
    """Yield the records before the index, and damage where it is; of an index that is whole, only its statistics.

    Args:
        file: An MCAP file, whose magic has been looked at.
        size_bytes: How much of it to read; it may be growing.
    """
    at, crc = len(MCAP0_MAGIC), zlib.crc32(MCAP0_MAGIC)
    is_whole = True
    while at < size_bytes:
        found = record_at(file, at, size_bytes, IN_DATA)
        if isinstance(found, str):
            is_whole = False
            resume = next_start(file, at + 1, size_bytes)
            is_further = resume < size_bytes and found.startswith(CUT)
            yield Damage(at, resume, "a record that claims to be longer than the file" if is_further else found)
            at = resume
            continue
        if found.opcode == Opcode.DATA_END:
            if is_whole and found.content not in (_NO_CRC, struct.pack("<I", crc)):
                yield Damage(len(MCAP0_MAGIC), at, DATA_CHANGED)
            yield from _check_index(file, found.end_byte, size_bytes)
            return
        crc = zlib.crc32(found.content, zlib.crc32(_HEAD.pack(found.opcode, len(found.content)), crc))
        at = found.end_byte
        yield found
    yield Damage(size_bytes, size_bytes, NOT_CLOSED)


def record_at(file: BinaryIO, at: int, size_bytes: int, allowed: frozenset[Opcode]) -> RawRecord | str:
    """Return the record at a place, of a kind that is allowed there, or its fault in words."""
    file.seek(at)
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size or at + _HEAD.size > size_bytes:
        return f"{CUT} at byte {at}"
    opcode, length = _HEAD.unpack(head)
    if opcode not in allowed:
        return f"no record of a kind that belongs there (0x{opcode:02x})"
    if length > MAX_RECORD_BYTES:
        return f"a record that claims {length} bytes, at most {MAX_RECORD_BYTES} are read"
    if at + _HEAD.size + length > size_bytes:
        return f"{CUT} at byte {at}"
    begin = file.read(min(length, _BEGIN_BYTES))
    if not _has_its_length(opcode, begin, length):  # before the rest is read: it may be much, and be nothing
        return "a record whose lengths do not fit each other"
    content = begin + file.read(length - len(begin))
    if len(content) < length:
        return f"{CUT} at byte {at}"
    return RawRecord(opcode, at, content)


def _has_its_length(opcode: int, begin: bytes, length: int) -> bool:
    """Return whether the length of a record that begins so agrees with the lengths inside it, if its kind has any."""
    match opcode:
        case Opcode.CHUNK:
            if len(begin) < _CHUNK_HEAD.size + 8:
                return False
            *_, size, _, name = _CHUNK_HEAD.unpack_from(begin)
            before = _CHUNK_HEAD.size + name + 8
            if name > 4 or len(begin) < before:
                return False
            (held,) = struct.unpack_from("<Q", begin, before - 8)
            return bool(before + held == length and (name or size == held))
        case Opcode.HEADER | Opcode.METADATA:  # a text, then a text or a table: both say their length first
            first = int.from_bytes(begin[:4], "little")
            if first + 8 > len(begin):
                return False
            return 8 + first + int.from_bytes(begin[4 + first : 8 + first], "little") == length
        case Opcode.MESSAGE_INDEX:
            return length >= 6 and 6 + int.from_bytes(begin[2:6], "little") == length
        case Opcode.DATA_END:
            return length == 4
        case Opcode.FOOTER:
            return length == _FOOTER_BYTES
        case _:
            return True


def next_start(file: BinaryIO, at: int, size_bytes: int) -> int:
    """Return where the next chunk, or the end of the data, begins; the end of the file if nowhere."""
    while at < size_bytes:
        file.seek(at)
        window = file.read(min(_WINDOW_BYTES, size_bytes - at))
        for match in _RESTART.finditer(window):
            found = record_at(file, at + match.start(), size_bytes, IN_DATA)
            if isinstance(found, RawRecord):
                return found.start_byte
        if at + len(window) >= size_bytes or len(window) <= _RESTART_BYTES:
            break
        at += len(window) - _RESTART_BYTES
    return size_bytes


def _check_index(file: BinaryIO, start_byte: int, size_bytes: int) -> Iterator[RawRecord | Damage]:
    """Yield the damage in the part after the data, or the record that counts the others where there is none."""
    at, crc = start_byte, 0
    statistics: RawRecord | None = None
    while at < size_bytes:
        found = record_at(file, at, size_bytes, IN_SUMMARY)
        if isinstance(found, str):
            yield Damage(at, size_bytes, f"the index is damaged: {found}")
            return
        head = _HEAD.pack(found.opcode, len(found.content))
        if found.opcode == Opcode.FOOTER:
            file.seek(found.end_byte)
            magic = file.read(len(MCAP0_MAGIC) + 1)
            expected = struct.pack("<I", zlib.crc32(found.content[:16], zlib.crc32(head, crc)))
            if len(magic) < len(MCAP0_MAGIC):
                break
            if found.content[16:] != expected or magic != MCAP0_MAGIC:
                yield Damage(start_byte, size_bytes, "the index is damaged: its checksum does not fit")
            elif statistics is not None:
                yield statistics
            return
        if found.opcode == Opcode.STATISTICS:
            statistics = found
        crc = zlib.crc32(found.content, zlib.crc32(head, crc))
        at = found.end_byte
    yield Damage(size_bytes, size_bytes, "the file ends within its index")


def _count_in(content: bytes) -> int | None:
    """Return how many messages a statistics record counts, None where it cannot be read."""
    try:
        return int(Statistics.read(ReadDataStream(BytesIO(content))).message_count)
    except (McapError, struct.error):
        return None


class ChunkError(ValueError):
    """A chunk cannot be used; it costs only itself."""


@dataclass(frozen=True, slots=True)
class ChannelMessage:
    """A message with the name of its channel; *sequence* counts all messages of the file."""

    path: str
    sequence: int
    t_ns: int
    payload: bytes


def messages_in(content: bytes, paths: dict[int, str]) -> tuple[ChannelMessage, ...]:
    """Return the messages of a chunk in order.

    Args:
        content: Of the chunk record, without opcode and length.
        paths: Names of the channels so far, by id; those of this chunk are added. Our own chunks need no others.

    Raises:
        ChunkError: If its checksum does not fit, or it is no chunk of a recording.
    """
    try:
        chunk: Chunk = Chunk.read(ReadDataStream(BytesIO(content)))
        data = _decompressed(chunk)
        if zlib.crc32(data) != chunk.uncompressed_crc:
            raise ChunkError("the checksum of a chunk does not fit")
        return _messages(data, paths)
    except (McapError, struct.error, UnicodeDecodeError, EOFError) as error:
        raise ChunkError(f"a chunk cannot be read: {str(error) or type(error).__name__}") from error


def _decompressed(chunk: Chunk) -> bytes:
    """Return the records of a chunk, never more than it says and never more than is allowed."""
    if chunk.uncompressed_size > MAX_RECORD_BYTES:
        raise ChunkError(f"a chunk claims {chunk.uncompressed_size} bytes, at most {MAX_RECORD_BYTES} are read")
    match chunk.compression:
        case "":
            data = chunk.data
        case "zstd":
            data = _unzstd(chunk)
        case "lz4":
            data = _unlz4(chunk)
        case other:
            raise ChunkError(f"a chunk has an unknown compression: {other!r}")
    if len(data) != chunk.uncompressed_size:
        raise ChunkError(f"a chunk has {len(data)} bytes, but says {chunk.uncompressed_size}")
    return data


def _unzstd(chunk: Chunk) -> bytes:
    import zstandard

    try:
        with zstandard.ZstdDecompressor().stream_reader(chunk.data) as reader:
            return reader.read(chunk.uncompressed_size + 1)
    except zstandard.ZstdError as error:
        raise ChunkError(f"a chunk cannot be decompressed: {error}") from error


def _unlz4(chunk: Chunk) -> bytes:
    import lz4.frame

    try:
        return bytes(lz4.frame.LZ4FrameDecompressor().decompress(chunk.data, max_length=chunk.uncompressed_size + 1))
    except RuntimeError as error:
        raise ChunkError(f"a chunk cannot be decompressed: {error}") from error


def _messages(data: bytes, paths: dict[int, str]) -> tuple[ChannelMessage, ...]:
    found: list[ChannelMessage] = []
    at = 0
    while at < len(data):
        opcode, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        if at + length > len(data):
            raise EOFError("a record in it does not end")
        stream = ReadDataStream(BytesIO(data[at : at + length]))
        at += length
        if opcode == Opcode.CHANNEL:
            channel: Channel = Channel.read(stream)
            paths[channel.id] = channel.topic
        elif opcode == Opcode.MESSAGE:
            message: Message = Message.read(stream, length)
            if message.channel_id not in paths:
                raise ChunkError(f"a message is of channel {message.channel_id}, which nothing describes")
            found.append(ChannelMessage(paths[message.channel_id], message.sequence, message.log_time, message.data))
    return tuple(found)
