"""What is in a chunk, once its checksum has been found right; also where the tools of MCAP have compressed it."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from io import BytesIO

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, Message

from tallybone.recording.scan import MAX_RECORD_BYTES

_HEAD = struct.Struct("<BQ")


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
