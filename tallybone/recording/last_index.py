"""The index at the end of a closed recording: what it counts, and the last records of a topic, without those before."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import ChunkIndex, Statistics
from mcap.writer import MCAP0_MAGIC

from tallybone.recording.reader import IN_DATA, ChunkError, Recorded, messages_in, record_at, record_of
from tallybone.recording.topics import Topic

_MOST_INDEX_BYTES = 256 << 20  # of three million records
_FOOTER = struct.Struct("<BQQQI")
_HEAD = struct.Struct("<BQ")


class IndexDamageError(ValueError):
    """There is no index, or it cannot be used."""


@dataclass(frozen=True, slots=True)
class EndIndex:
    """The index of a recording.

    Attributes:
        content: Its records, as they stand in the file.
        counted: What it says of the whole.
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
            found = next((one for opcode, one in _records(content) if opcode == Opcode.STATISTICS), None)
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

    def last(self, topic: Topic, file: BinaryIO) -> Iterator[Recorded]:
        """Yield the records on a topic, the last first.

        Raises:
            IndexDamageError: If what the index leads to is damaged.
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
    at = next((at for at, opcode, _ in _places(content) if opcode == Opcode.CHUNK_INDEX), None)
    if at is None:
        return
    whole = memoryview(content)
    length = _HEAD.size + _HEAD.unpack_from(content, at)[1]
    head, end = content[at : at + _HEAD.size], at + length * count
    has_one_length = end <= len(content) and (end == len(content) or content[end] == Opcode.SUMMARY_OFFSET)
    if not has_one_length:
        yield from reversed([one for opcode, one in _records(content) if opcode == Opcode.CHUNK_INDEX])
        return
    for start in range(end - length, at - 1, -length):
        if content[start : start + _HEAD.size] != head:
            raise IndexDamageError("the index is damaged")
        yield whole[start + _HEAD.size : start + length]


def _records(content: bytes) -> Iterator[tuple[int, memoryview]]:
    """Yield opcode and content of the records of an index."""
    whole = memoryview(content)
    for at, opcode, length in _places(content):
        yield opcode, whole[at + _HEAD.size : at + _HEAD.size + length]


def _places(content: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield where each record of an index begins, its opcode and its length without those."""
    at = 0
    while at < len(content):
        if at + _HEAD.size > len(content):
            raise IndexDamageError("the index is damaged")
        opcode, length = _HEAD.unpack_from(content, at)
        if at + _HEAD.size + length > len(content):
            raise IndexDamageError("the index is damaged")
        yield at, opcode, length
        at += _HEAD.size + length
