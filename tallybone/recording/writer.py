"""Write a recording: each record is a chunk of its own, and reaches the disk before the call returns.

A chunk stands alone: it holds the schema and the channel of its one message and a checksum over all three. So whatever
happens to the file costs what it happens to, and nothing waits in memory for a power cut.

83 bytes a record: a sitting of four hours at ten pictures a second takes 12 MB of memory, as objects it would be 150.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import struct
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import (
    Chunk,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    McapRecord,
    Message,
    MessageIndex,
    Metadata,
    MetadataIndex,
    Statistics,
    SummaryOffset,
)
from mcap.writer import MCAP0_MAGIC

from tallybone.files import reason_of, sync_folder
from tallybone.recording.container import MAX_RECORD_BYTES
from tallybone.recording.format import METADATA_NAME, PROFILE, ImageMessage, RecordingError, SittingStart, Topic

_ROOM_BYTES = 4096  # for schema, channel and headers beside the payload
_MOST_NS = 2**63 - 1
# People are in the pictures: others on the machine need not see them.
_MODE = 0o640


class RecordingWriter:
    """A recording that is being written; a context manager, and closing it adds the index.

    While it is open it is locked (flock), so that nobody takes it for an old one. After an error the file is still
    whole up to the last record, and writing may go on once there is room again.
    """

    def __init__(self, path: Path, start: SittingStart) -> None:
        """Make the file *path*, which must not exist, and write the facts of the *start* into it.

        Raises:
            RecordingError: If it cannot be made.
        """
        self._path = path
        self._contents = Contents()
        self._end_byte = self._crc = 0
        try:
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
        except OSError as error:
            raise RecordingError(f"{path}: the recording cannot be made: {reason_of(error)}") from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            head = MCAP0_MAGIC + _bytes_of(Header(profile=PROFILE, library=start.software))
            metadata = _bytes_of(Metadata(name=METADATA_NAME, metadata=start.format()))
            self._append(head + metadata)
            self._contents.add_metadata(METADATA_NAME, len(head), len(metadata))
            os.fsync(self._fd)
            sync_folder(path.parent)
        except BaseException:
            self.abandon()
            raise

    @property
    def records(self) -> int:
        """How many records it holds; the next one has this number."""
        return self._contents.records

    def frame(self, t_ns: int, jpeg: bytes, *, name: str | None = None) -> None:
        """Write a picture.

        Args:
            t_ns: When it was taken, monotonic, not negative.
            jpeg: The file exactly as it is decoded for perception.
            name: Its name at its source, None for its number.

        Raises:
            RecordingError: If it cannot be written, or is larger than any picture.
        """
        self._write(Topic.CAMERA, t_ns, ImageMessage(jpeg, name).encode(t_ns))

    def write(self, topic: Topic, t_ns: int, fact: Mapping[str, object], *, is_waited_for: bool = True) -> None:
        """Write anything but a picture; where the topic asks for it, it is on the disk when this returns.

        Args:
            topic: Its channel.
            t_ns: When it was, monotonic, not negative.
            fact: What is said.
            is_waited_for: False where more follows before anything is shown: an SD card takes long for each sync.

        Raises:
            RecordingError: If it cannot be written.
            ValueError: If it is a picture, or no JSON.
        """
        if topic is Topic.CAMERA:
            raise ValueError("pictures are written with frame()")
        self._write(topic, t_ns, json.dumps(fact, allow_nan=False).encode())
        if topic.is_synced and is_waited_for:
            try:
                os.fsync(self._fd)
                if os.fstat(self._fd).st_nlink == 0:  # further records would go nowhere
                    raise OSError(errno.ENOENT, "it was deleted")
            except OSError as error:
                raise self._failure(error) from error

    def close(self) -> None:
        """Add the index and close the file; without room for the index it stays readable.

        Raises:
            RecordingError: If the index cannot be written.
        """
        if self._fd < 0:
            return
        try:
            end = _bytes_of(DataEnd(data_section_crc=self._crc))
            self._append(end + self._contents.format(self._end_byte + len(end)))
            os.fsync(self._fd)
        except OSError as error:
            if isinstance(error, RecordingError):
                raise
            raise self._failure(error) from error
        finally:
            os.close(self._fd)
            self._fd = -1

    def abandon(self) -> None:
        """Delete the file again: it holds nothing of worth."""
        with contextlib.suppress(OSError):
            os.close(self._fd)
        self._fd = -1
        with contextlib.suppress(OSError):
            self._path.unlink()

    def __enter__(self) -> RecordingWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _write(self, topic: Topic, t_ns: int, payload: bytes) -> None:
        if not 0 <= t_ns <= _MOST_NS:
            raise ValueError(f"t_ns must be 0 to {_MOST_NS}, got {t_ns}")
        if len(payload) > MAX_RECORD_BYTES - _ROOM_BYTES:
            most_mb = MAX_RECORD_BYTES >> 20
            raise RecordingError(f"{self._path}: a record has at most {most_mb} MB, got {len(payload) >> 20} MB")
        message = Message(topic.number, t_ns, payload, t_ns, self._contents.records)
        head = _bytes_of(topic.schema) + _bytes_of(topic.channel)
        records = head + _bytes_of(message)
        chunk = _bytes_of(
            Chunk(
                compression="",  # a JPEG does not shrink (docs/recording.md)
                data=records,
                message_end_time=t_ns,
                message_start_time=t_ns,
                uncompressed_crc=zlib.crc32(records),
                uncompressed_size=len(records),
            )
        )
        index = _bytes_of(MessageIndex(channel_id=topic.number, records=[(t_ns, len(head))]))
        start_byte = self._end_byte
        self._append(chunk + index)
        entry = ChunkIndex(
            chunk_length=len(chunk),
            chunk_start_offset=start_byte,
            compression="",
            compressed_size=len(records),
            message_end_time=t_ns,
            message_index_length=len(index),
            message_index_offsets={topic.number: start_byte + len(chunk)},
            message_start_time=t_ns,
            uncompressed_size=len(records),
        )
        self._contents.add_record(topic, t_ns, _bytes_of(entry))

    def _append(self, data: bytes) -> None:
        """Write all of *data*, or leave the file as it was."""
        if self._fd < 0:
            raise ValueError(f"{self._path}: the recording is closed")
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(self._fd, left) :]
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self._end_byte)
            with contextlib.suppress(OSError):
                self._end_byte = os.lseek(self._fd, 0, os.SEEK_END)
            raise self._failure(error) from error
        self._end_byte += len(data)
        self._crc = zlib.crc32(data, self._crc)

    def _failure(self, error: OSError) -> RecordingError:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        why = "there is no room left" if full else error.strerror
        kept = f"what was recorded before is kept ({self._contents.records} records)"
        return RecordingError(f"{self._path}: the recording cannot go on: {why}; {kept}")


def _bytes_of(record: McapRecord) -> bytes:
    builder = RecordBuilder()
    record.write(builder)
    return bytes(builder.end())


class Contents:
    """The index of the records so far."""

    def __init__(self) -> None:
        self._chunks = bytearray()
        self._metadata: list[MetadataIndex] = []
        self._counts: Counter[Topic] = Counter()
        self._first_ns = self._last_ns = 0

    @property
    def records(self) -> int:
        """How many records were written: the number of the next."""
        return self._counts.total()

    def add_metadata(self, name: str, start_byte: int, length_bytes: int) -> None:
        """Note where a metadata record is."""
        self._metadata.append(MetadataIndex(offset=start_byte, length=length_bytes, name=name))

    def add_record(self, topic: Topic, t_ns: int, chunk_index: bytes) -> None:
        """Note a record, with the entry of its chunk in the index."""
        self._first_ns = min(t_ns, self._first_ns) if self.records else t_ns
        self._last_ns = max(t_ns, self._last_ns)
        self._counts[topic] += 1
        self._chunks += chunk_index

    def format(self, start_byte: int) -> bytes:
        """Return the summary of a file whose data ends at *start_byte*, to the end of the file."""
        topics = [topic for topic in Topic if self._counts[topic]]
        builder, offsets = RecordBuilder(), RecordBuilder()
        groups = (
            (Opcode.SCHEMA, [topic.schema for topic in topics]),
            (Opcode.CHANNEL, [topic.channel for topic in topics]),
            (Opcode.STATISTICS, [self._statistics(topics)]),
            (Opcode.METADATA_INDEX, self._metadata),
            (Opcode.CHUNK_INDEX, None),
        )
        for opcode, records in groups:
            group_start = start_byte + builder.count
            if records is None:
                builder.write(self._chunks)
            for record in records or ():
                record.write(builder)
            length = start_byte + builder.count - group_start
            if length:
                SummaryOffset(group_opcode=opcode, group_start=group_start, group_length=length).write(offsets)
        summary = builder.end()
        offsets_start = start_byte + len(summary)
        summary += offsets.end()
        fields = struct.pack("<BQQQ", Opcode.FOOTER, 20, start_byte, offsets_start)
        footer = RecordBuilder()
        Footer(start_byte, offsets_start, zlib.crc32(fields, zlib.crc32(summary))).write(footer)
        return bytes(summary + footer.end() + MCAP0_MAGIC)

    def _statistics(self, topics: list[Topic]) -> Statistics:
        return Statistics(
            attachment_count=0,
            channel_count=len(topics),
            channel_message_counts={topic.number: self._counts[topic] for topic in topics},
            chunk_count=self.records,
            message_count=self.records,
            message_end_time=self._last_ns,
            message_start_time=self._first_ns,
            metadata_count=len(self._metadata),
            schema_count=len(topics),
        )
