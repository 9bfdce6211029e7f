"""The end of a recording: where each record is, for whoever wants to jump. Kept as the bytes that will be written.

83 bytes a record: a sitting of four hours at ten pictures a second takes 12 MB of memory, as objects it would be 150.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter

from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import Footer, MetadataIndex, Statistics, SummaryOffset
from mcap.writer import MCAP0_MAGIC

from tallybone.recording.topics import Topic


class Contents:
    """What has been written so far."""

    def __init__(self) -> None:
        """Start with nothing."""
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
