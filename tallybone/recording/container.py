"""Scan the MCAP container of a recording: records, chunks, and the next intact record after damage.

The package `mcap` stops at the first wrong byte. This scanner resumes at the next chunk: a chunk header states its
length twice, so a false match is rare.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, Message
from mcap.writer import MCAP0_MAGIC

from tallybone.recording.format import CUT, METADATA_NAME, NOT_CLOSED, Damage

DATA_CHANGED = "data between the records was changed"
"""Problem of a file with a wrong checksum over its data, although every record can be found."""
MAX_RECORD_BYTES = 64 << 20
"""Maximum size of a record. A JPEG of 80 megapixels has about 40 MB, so a larger length means damage."""
RECORD_HEAD = struct.Struct("<BQ")
"""Opcode of a record, and length of its content."""
_CHUNK_HEAD = struct.Struct("<QQQII")  # start and end time, size, checksum, length of the compression's name
_FOOTER_BYTES = 20
_NO_CRC = bytes(4)  # stands for "no checksum of the data section", in files rewritten by other programs
_WINDOW_BYTES = 1 << 20
# Metadata of the sitting, a chunk with a known compression, or the end of the data. The lookahead allows a match at
# every byte.
_RESTART = re.compile(
    rb"(?=\x0c.{4}\0{4}.\0\0\0"
    + re.escape(METADATA_NAME.encode())
    + rb"|\x06.{4}\0{4}.{28}(?:\0{4}|\x03\0\0\0lz4|\x04\0\0\0zstd)|\x0f\x04\0{7})",
    re.DOTALL,
)
_BEGIN_BYTES = 256  # start of a record, enough for its inner lengths with any known name
_RESTART_BYTES = 9 + _CHUNK_HEAD.size + 4 + 8  # overlap of windows, longer than any match of the pattern
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
class RawRecord:
    """An unparsed record of the file."""

    opcode: int
    start_byte: int
    content: bytes

    @property
    def end_byte(self) -> int:
        """Offset of the next record."""
        return self.start_byte + RECORD_HEAD.size + len(self.content)


def scan(file: BinaryIO, size_bytes: int) -> Iterator[RawRecord | Damage]:
    """Yield the records of the data section, and damage. From an intact index, yield only the statistics record.

    Args:
        file: An MCAP file whose magic has been checked.
        size_bytes: Number of bytes to read. The file may be growing.
    """
    at, crc = len(MCAP0_MAGIC), zlib.crc32(MCAP0_MAGIC)
    is_whole = True
    while at < size_bytes:
        record = record_at(file, at, size_bytes, IN_DATA)
        if isinstance(record, str):
            is_whole = False
            resume = next_start(file, at + 1, size_bytes)
            is_too_long = resume < size_bytes and record.startswith(CUT)
            yield Damage(at, resume, "a record claims to be longer than the file" if is_too_long else record)
            at = resume
            continue
        if record.opcode == Opcode.DATA_END:
            if is_whole and record.content not in (_NO_CRC, struct.pack("<I", crc)):
                yield Damage(len(MCAP0_MAGIC), at, DATA_CHANGED)
            yield from _check_index(file, record.end_byte, size_bytes)
            return
        crc = zlib.crc32(record.content, zlib.crc32(RECORD_HEAD.pack(record.opcode, len(record.content)), crc))
        at = record.end_byte
        yield record
    yield Damage(size_bytes, size_bytes, NOT_CLOSED)


def record_at(file: BinaryIO, at: int, size_bytes: int, allowed: frozenset[Opcode]) -> RawRecord | str:
    """Return the record at offset *at* if it is intact and of an *allowed* kind, or else a description of its fault."""
    file.seek(at)
    head = file.read(RECORD_HEAD.size)
    if len(head) < RECORD_HEAD.size or at + RECORD_HEAD.size > size_bytes:
        return f"{CUT} at byte {at}"
    opcode, length = RECORD_HEAD.unpack(head)
    if opcode not in allowed:
        return f"no record of an expected kind (0x{opcode:02x})"
    if length > MAX_RECORD_BYTES:
        return f"a record claims {length} bytes, at most {MAX_RECORD_BYTES} are read"
    if at + RECORD_HEAD.size + length > size_bytes:
        return f"{CUT} at byte {at}"
    begin = file.read(min(length, _BEGIN_BYTES))
    if not _is_consistent(opcode, begin, length):  # checked first, because a damaged record may seem large
        return "a record with inconsistent lengths"
    content = begin + file.read(length - len(begin))
    if len(content) < length:
        return f"{CUT} at byte {at}"
    return RawRecord(opcode, at, content)


def _is_consistent(opcode: int, begin: bytes, length: int) -> bool:
    """Check the length of a record against the lengths in its first bytes. True for kinds without such lengths."""
    match opcode:
        case Opcode.CHUNK:
            if len(begin) < _CHUNK_HEAD.size + 8:
                return False
            *_, size, _, name = _CHUNK_HEAD.unpack_from(begin)
            before = _CHUNK_HEAD.size + name + 8
            if name > 4 or len(begin) < before:
                return False
            (data_bytes,) = struct.unpack_from("<Q", begin, before - 8)
            return bool(before + data_bytes == length and (name or size == data_bytes))
        case Opcode.HEADER | Opcode.METADATA:  # a string, then a string or map, both with a length prefix
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
    """Return the offset of the next intact chunk, sitting metadata or end of data. *size_bytes* if there is none."""
    while at < size_bytes:
        file.seek(at)
        window = file.read(min(_WINDOW_BYTES, size_bytes - at))
        for match in _RESTART.finditer(window):
            record = record_at(file, at + match.start(), size_bytes, IN_DATA)
            if isinstance(record, RawRecord):
                return record.start_byte
        if at + len(window) >= size_bytes or len(window) <= _RESTART_BYTES:
            break
        at += len(window) - _RESTART_BYTES
    return size_bytes


def _check_index(file: BinaryIO, start_byte: int, size_bytes: int) -> Iterator[RawRecord | Damage]:
    """Yield the damage after the data section or, if there is no damage, the statistics record."""
    at, crc = start_byte, 0
    statistics: RawRecord | None = None
    while at < size_bytes:
        record = record_at(file, at, size_bytes, IN_SUMMARY)
        if isinstance(record, str):
            yield Damage(at, size_bytes, f"the index is damaged: {record}")
            return
        head = RECORD_HEAD.pack(record.opcode, len(record.content))
        if record.opcode == Opcode.FOOTER:
            file.seek(record.end_byte)
            magic = file.read(len(MCAP0_MAGIC) + 1)
            expected = struct.pack("<I", zlib.crc32(record.content[:16], zlib.crc32(head, crc)))
            if len(magic) < len(MCAP0_MAGIC):
                break
            if record.content[16:] != expected or magic != MCAP0_MAGIC:
                yield Damage(start_byte, size_bytes, "the index is damaged: wrong checksum")
            elif statistics is not None:
                yield statistics
            return
        if record.opcode == Opcode.STATISTICS:
            statistics = record
        crc = zlib.crc32(record.content, zlib.crc32(head, crc))
        at = record.end_byte
    yield Damage(size_bytes, size_bytes, "the file ends within its index")


class ChunkError(ValueError):
    """A chunk is damaged or not supported. Other chunks may still be readable."""


@dataclass(frozen=True, slots=True)
class ChannelMessage:
    """A message with the name of its channel. *sequence* is its number among all messages of the file, from 0."""

    path: str
    sequence: int
    t_ns: int
    payload: bytes


def messages_in(content: bytes, paths: dict[int, str]) -> tuple[ChannelMessage, ...]:
    """Return the messages of a chunk in order.

    Args:
        content: Content of the chunk record, without opcode and length.
        paths: Names of the known channels by id, to which this function adds the channels of the chunk. Chunks written
            by Tallybone are self-contained.

    Raises:
        ChunkError: If the checksum does not match, or the chunk is too large, compressed in an unknown way or cannot be
            parsed.
    """
    try:
        chunk: Chunk = Chunk.read(ReadDataStream(BytesIO(content)))
        data = _decompressed(chunk)
        if zlib.crc32(data) != chunk.uncompressed_crc:
            raise ChunkError("the checksum of a chunk is wrong")
        return _messages(data, paths)
    except (McapError, struct.error, UnicodeDecodeError, EOFError) as error:
        raise ChunkError(f"a chunk cannot be read: {str(error) or type(error).__name__}") from error


def _decompressed(chunk: Chunk) -> bytes:
    """Return the decompressed records of a chunk, which must have the stated size of at most MAX_RECORD_BYTES."""
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
        raise ChunkError(f"a chunk has {len(data)} bytes instead of the stated {chunk.uncompressed_size}")
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
    messages: list[ChannelMessage] = []
    at = 0
    while at < len(data):
        opcode, length = RECORD_HEAD.unpack_from(data, at)
        at += RECORD_HEAD.size
        if at + length > len(data):
            raise EOFError("a record in it is incomplete")
        stream = ReadDataStream(BytesIO(data[at : at + length]))
        at += length
        if opcode == Opcode.CHANNEL:
            channel: Channel = Channel.read(stream)
            paths[channel.id] = channel.topic
        elif opcode == Opcode.MESSAGE:
            message: Message = Message.read(stream, length)
            if message.channel_id not in paths:
                raise ChunkError(f"a message is of channel {message.channel_id}, which is not defined")
            path = paths[message.channel_id]
            messages.append(ChannelMessage(path, message.sequence, message.log_time, message.data))
    return tuple(messages)
