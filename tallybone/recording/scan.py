"""Goes through the records of an MCAP file from its beginning, whatever state it is in, and past what is damaged.

The reader of the package `mcap` stops at the first byte that is wrong. This one goes on at the next chunk: its header
says its length twice, so that hardly anything else looks like one.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from mcap.opcode import Opcode
from mcap.writer import MCAP0_MAGIC

from tallybone.recording.damage import Damage
from tallybone.recording.format import METADATA_NAME

DATA_CHANGED = "something between the records was changed"
"""The problem of a file whose checksum over all does not fit, though each record can be found."""

MAX_RECORD_BYTES = 64 << 20
"""Nothing larger is read or written: a JPEG of 80 megapixels has about 40 MB. What claims more is damaged."""

_HEAD = struct.Struct("<BQ")
_CHUNK_HEAD = struct.Struct("<QQQII")  # from, to, size, checksum, length of the name of the compression
_FOOTER_BYTES = 20
_NO_CRC = bytes(4)  # of the data section, when somebody else has written it again
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
_IN_SUMMARY = frozenset(
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
class Piece:
    """One record of the file, not yet looked into."""

    opcode: int
    start_byte: int
    content: bytes

    @property
    def end_byte(self) -> int:
        """Where the next one begins."""
        return self.start_byte + _HEAD.size + len(self.content)


def scan(file: BinaryIO, size_bytes: int) -> Iterator[Piece | Damage]:
    """Yield the records before the index, and damage where it is; the index itself is only checked.

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
            yield Damage(at, resume, found)
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
    yield Damage(size_bytes, size_bytes, "the file ends without its index: the recording was not closed")


def record_at(file: BinaryIO, at: int, size_bytes: int, allowed: frozenset[Opcode]) -> Piece | str:
    """Return the record at a place, of a kind that is allowed there, or what is wrong with it."""
    file.seek(at)
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size or at + _HEAD.size > size_bytes:
        return f"the file ends in the middle of a record at byte {at}"
    opcode, length = _HEAD.unpack(head)
    if opcode not in allowed:
        return f"no record of a kind that belongs there (0x{opcode:02x})"
    if length > MAX_RECORD_BYTES:
        return f"a record that claims {length} bytes, at most {MAX_RECORD_BYTES} are read"
    if at + _HEAD.size + length > size_bytes:
        return f"the file ends in the middle of a record at byte {at}"
    begin = file.read(min(length, _BEGIN_BYTES))
    if not _has_its_length(opcode, begin, length):  # before the rest is read: it may be much, and be nothing
        return "a record whose lengths do not fit each other"
    content = begin + file.read(length - len(begin))
    if len(content) < length:
        return f"the file ends in the middle of a record at byte {at}"
    return Piece(opcode, at, content)


def _has_its_length(opcode: int, begin: bytes, length: int) -> bool:
    """Return whether a record that begins so has the length that it says inside, of the kinds that hold anything up."""
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
            if isinstance(found, Piece):
                return found.start_byte
        if at + len(window) >= size_bytes or len(window) <= _RESTART_BYTES:
            break
        at += len(window) - _RESTART_BYTES
    return size_bytes


def _check_index(file: BinaryIO, start_byte: int, size_bytes: int) -> Iterator[Damage]:
    """Yield what is wrong with all that follows the data."""
    at, crc = start_byte, 0
    while at < size_bytes:
        found = record_at(file, at, size_bytes, _IN_SUMMARY)
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
                yield Damage(at, size_bytes, "the index is damaged: its checksum does not fit")
            return
        crc = zlib.crc32(found.content, zlib.crc32(head, crc))
        at = found.end_byte
    yield Damage(size_bytes, size_bytes, "the file ends within its index")
