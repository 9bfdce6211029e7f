"""Write a recording. Each record is a chunk of its own, written before the call returns.

A chunk is self-contained: it has a message, its schema and channel, and a checksum over all three. Damage to the file
therefore costs only the records that it hits, and a power cut costs nothing that was buffered.

The index takes 83 bytes of memory a record, or 12 MB for four hours at ten pictures a second. Stored as Python objects,
it would take 150 MB.
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

_ROOM_BYTES = 4096  # for schema, channel and headers in addition to the payload
_MAX_NS = 2**63 - 1
# The pictures show people, so other users of the machine may not read the file.
_MODE = 0o640


class RecordingWriter:
    """Writer of a recording, usable as a context manager. Closing it adds the index.

    The open file is locked (flock) to mark the recording as running. After an error the file is intact up to the last
    record, and writing can continue once there is space.
    """

    def __init__(self, path: Path, start: SittingStart) -> None:
        """Create the file *path*, which must not exist, and write the metadata in *start*.

        Raises:
            RecordingError: If the file cannot be created.
        """
        self._path = path
        self._contents = Contents()
        self._end_byte = self._crc = 0
        try:
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
        except OSError as error:
            raise RecordingError(f"{path}: cannot create the recording: {reason_of(error)}") from error
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
        """Number of records so far, which is also the number of the next record."""
        return self._contents.records

    def frame(self, t_ns: int, jpeg: bytes, *, name: str | None = None) -> None:
        """Write a picture.

        Args:
            t_ns: Time of the picture in nanoseconds of a monotonic clock, not negative.
            jpeg: The JPEG file exactly as decoded for perception.
            name: Name of the picture at its source, or None.

        Raises:
            RecordingError: If it cannot be written, or is larger than a little less than MAX_RECORD_BYTES.
        """
        self._write(Topic.CAMERA, t_ns, ImageMessage(jpeg, name).encode(t_ns))

    def write(self, topic: Topic, t_ns: int, fact: Mapping[str, object], *, is_waited_for: bool = True) -> None:
        """Write a record other than a picture, and sync it to the disk if its topic requires that.

        Args:
            topic: Its topic.
            t_ns: Time of the record in nanoseconds of a monotonic clock, not negative.
            fact: Its JSON object.
            is_waited_for: Whether to sync if the topic requires it. False if other records follow before anything is
                shown, because syncing an SD card is slow.

        Raises:
            RecordingError: If it cannot be written.
            ValueError: If *topic* is CAMERA, or *fact* cannot be encoded as JSON.
        """
        if topic is Topic.CAMERA:
            raise ValueError("pictures are written with frame()")
        self._write(topic, t_ns, json.dumps(fact, allow_nan=False).encode())
        if topic.is_synced and is_waited_for:
            try:
                os.fsync(self._fd)
                if os.fstat(self._fd).st_nlink == 0:  # all further records would be lost
                    raise OSError(errno.ENOENT, "it was deleted")
            except OSError as error:
                raise self._failure(error) from error

    def close(self) -> None:
        """Add the index and close the file. If there is no space for the index, the records remain readable.

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
        """Close and delete the file. Errors are ignored."""
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
        if not 0 <= t_ns <= _MAX_NS:
            raise ValueError(f"t_ns must be 0 to {_MAX_NS}, got {t_ns}")
        if len(payload) > MAX_RECORD_BYTES - _ROOM_BYTES:
            max_mb = MAX_RECORD_BYTES >> 20
            raise RecordingError(f"{self._path}: a record has at most {max_mb} MB, got {len(payload) >> 20} MB")
        message = Message(topic.number, t_ns, payload, t_ns, self._contents.records)
        head = _bytes_of(topic.schema) + _bytes_of(topic.channel)
        records = head + _bytes_of(message)
        chunk = _bytes_of(
            Chunk(
                compression="",  # JPEGs do not compress (docs/reference/recording.md)
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
        """Append all of *data*. If that fails, restore the previous end of the file and raise RecordingError."""
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
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        reason = "the disk is full" if is_full else error.strerror
        kept = f"the earlier part is kept ({self._contents.records} records)"
        return RecordingError(f"{self._path}: the recording stopped: {reason}; {kept}")


def _bytes_of(record: McapRecord) -> bytes:
    builder = RecordBuilder()
    record.write(builder)
    return bytes(builder.end())


class Contents:
    """Index of the records written so far."""

    def __init__(self) -> None:
        self._chunks = bytearray()
        self._metadata: list[MetadataIndex] = []
        self._counts: Counter[Topic] = Counter()
        self._first_ns = self._last_ns = 0

    @property
    def records(self) -> int:
        """Number of records so far, which is also the number of the next record."""
        return self._counts.total()

    def add_metadata(self, name: str, start_byte: int, length_bytes: int) -> None:
        """Add a metadata record."""
        self._metadata.append(MetadataIndex(offset=start_byte, length=length_bytes, name=name))

    def add_record(self, topic: Topic, t_ns: int, chunk_index: bytes) -> None:
        """Add a record and the index entry of its chunk."""
        self._first_ns = min(t_ns, self._first_ns) if self.records else t_ns
        self._last_ns = max(t_ns, self._last_ns)
        self._counts[topic] += 1
        self._chunks += chunk_index

    def format(self, start_byte: int) -> bytes:
        """Return the rest of a file whose data section ends at *start_byte*: the summary, footer and magic."""
        topics = [topic for topic in Topic if self._counts[topic]]
        builder, offsets = RecordBuilder(), RecordBuilder()
        statistics = Statistics(
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
        groups = (
            (Opcode.SCHEMA, [topic.schema for topic in topics]),
            (Opcode.CHANNEL, [topic.channel for topic in topics]),
            (Opcode.STATISTICS, [statistics]),
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
