"""Summarise a recording for a list, from its index if it is closed, else from the headers of its records.

Locating a record takes five microseconds and 17 bytes of memory, regardless of the size of its picture.
"""

from __future__ import annotations

import fcntl
import os
import struct
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from mcap.opcode import Opcode
from mcap.writer import MCAP0_MAGIC

from tallybone.recording import container
from tallybone.recording.format import NOT_CLOSED, Damage, RecordingError, SittingStart, Topic, topic_at
from tallybone.recording.index import EndIndex, IndexDamageError
from tallybone.recording.reader import RecordedMessage, RecordingFile, read_recording, record_in

MAX_TEXT_BYTES = 4 << 20
"""Maximum size of a record that is not a picture.

A TABLE record of an uncertain double-eighteen takes a tenth of it.
"""
_MAX_RECORDS = 2_000_000  # two days at ten pictures a second, 34 MB. Later records are not located.
_MAX_DAMAGE = 20
_CHUNK = struct.Struct("<BQQQQII")  # opcode, length, start and end time, size, checksum, length of compression's name
_SCHEMA = struct.Struct("<QBQH")  # length of the records in a chunk; opcode, length and id of the first
_INDEX = struct.Struct("<BQHIQ")  # opcode, length, channel, length of the rest, time of the first message
_INDEX_BYTES = 31  # length of an index of one message
_ONE_MESSAGE = 16
_MAX_NS = 2**63 - 1
_OTHER_TOOL = "it was rewritten by another tool: `tallybone replay` can read it"
_TOPICS: Mapping[int, Topic] = {topic.number: topic for topic in Topic}


class Whereabouts:
    """Offsets of the records of a file, in feeding order. The place of a record is its number from 0."""

    def __init__(self) -> None:
        self._starts, self._times, self._topics = array("q"), array("q"), array("B")
        self._damage: list[Damage] = []
        self._doubt: Damage | None = None  # reason why the index is not used
        self.end_byte = len(MCAP0_MAGIC)
        self.is_closed = self._is_indexed = False

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def damage(self) -> tuple[Damage, ...]:
        """Up to _MAX_DAMAGE damaged places found so far.

        Damage inside a record is only found when the record is read.
        """
        return tuple(self._damage)

    @property
    def first_ns(self) -> int:
        """Time of the earliest record, 0 without records."""
        return min(self._times, default=0)

    @property
    def last_ns(self) -> int:
        """Time of the latest record, 0 without records."""
        return max(self._times, default=0)

    def t_ns(self, place: int) -> int:
        """Return the time of a record."""
        return self._times[place]

    def start_byte(self, place: int) -> int:
        """Return the offset of a record."""
        return self._starts[place]

    def of(self, topic: Topic) -> array[int]:
        """Return the places of the records on a topic, in order."""
        number = topic.number
        return array("q", (place for place, other in enumerate(self._topics) if other == number))

    def following(self, place: int, topic: Topic) -> range:
        """Return the places of the records on a topic that directly follow a record."""
        after = end = place + 1
        while end < len(self) and self._topics[end] == topic.number:
            end += 1
        return range(after, end)

    def go_on(self, file: BinaryIO, *, is_growing: bool) -> None:
        """Locate the records after the known part of the file. A growing file may end within a record.

        For a closed file the index is used if it is intact, because it has a checksum and the headers of records do
        not.

        Raises:
            RecordingError: If another tool has rewritten the file.
            OSError: If it cannot be read.
        """
        if self._is_indexed or (not is_growing and self._take_index(file)):
            return
        size_bytes = os.fstat(file.fileno()).st_size
        while self.end_byte < size_bytes and not self.is_closed and len(self) < _MAX_RECORDS:
            if self._step(file, size_bytes):
                continue
            problem = container.record_at(file, self.end_byte, size_bytes, container.IN_DATA)
            if is_growing and _ends_early(file, self.end_byte, size_bytes):
                return
            problem = problem if isinstance(problem, str) else "an incomplete record"
            resume = container.next_start(file, self.end_byte + 1, size_bytes)
            self._note(Damage(self.end_byte, resume, problem))
            self.end_byte = resume
        if self.is_closed and self._doubt is not None:
            self._note(self._doubt)
        elif not (is_growing or self.is_closed):
            self._note(Damage(size_bytes, size_bytes, NOT_CLOSED))

    def _take_index(self, file: BinaryIO) -> bool:
        """Use the offsets in the index. Return False if the index is damaged or contradicts the headers read so far."""
        starts, times, topics = array("q"), array("q"), array("B")
        try:
            index = EndIndex.read(file)
            topics_by_id = {number: topic_at(path) for number, path in index.paths.items()}
            for entry in islice(index.entries(), _MAX_RECORDS):
                if len(entry.channels) != 1 or entry.indexes_bytes != _INDEX_BYTES or entry.compression:
                    raise RecordingError(_OTHER_TOOL)
                (channel,) = entry.channels
                topic = topics_by_id.get(channel)
                if max(entry.start_byte, entry.from_ns) > _MAX_NS:
                    raise IndexDamageError("it has impossible numbers", index.start_byte, index.end_byte)
                if topic is not None:  # unknown topics may come from a later version
                    starts.append(entry.start_byte)
                    times.append(entry.from_ns)
                    topics.append(topic.number)
            known = len(self)
            if (starts[:known], times[:known], topics[:known]) != (self._starts, self._times, self._topics):
                raise IndexDamageError("it contradicts the records", index.start_byte, index.end_byte)
        except IndexDamageError as error:
            self._doubt = error.damage
            return False
        self._starts, self._times, self._topics = starts, times, topics
        self.end_byte = index.start_byte
        self.is_closed = self._is_indexed = True
        return True

    def _note(self, damage: Damage) -> None:
        if len(self._damage) < _MAX_DAMAGE and damage not in self._damage:
            self._damage.append(damage)

    def _step(self, file: BinaryIO, size_bytes: int) -> bool:
        """Process the record at the end of the known part. Return False if the record is damaged or incomplete."""
        at = self.end_byte
        head = os.pread(file.fileno(), _CHUNK.size + _SCHEMA.size, at)
        if len(head) < container.RECORD_HEAD.size:
            return False
        opcode, length = container.RECORD_HEAD.unpack_from(head)
        end = at + container.RECORD_HEAD.size + length
        if end > size_bytes:
            return False
        if opcode == Opcode.CHUNK:
            return self._take_chunk(file, head, at, end)
        if opcode == Opcode.DATA_END:
            self.is_closed = length == 4
            return self.is_closed
        if isinstance(container.record_at(file, at, size_bytes, container.IN_DATA), str):
            return False
        self.end_byte = end
        return True

    def _take_chunk(self, file: BinaryIO, head: bytes, at: int, end: int) -> bool:
        """Note the record in a chunk, from its header and message index. Return False if they are damaged."""
        # Headers have no checksum, but time and channel are in both the chunk and the index, and must agree.
        index = os.pread(file.fileno(), _INDEX_BYTES, end)
        if len(head) < _CHUNK.size + _SCHEMA.size or len(index) < _INDEX_BYTES:
            return False
        _, _, from_ns, until_ns, _, _, compression = _CHUNK.unpack_from(head)
        opcode, length, channel, follows, t_ns = _INDEX.unpack_from(index)
        if opcode != Opcode.MESSAGE_INDEX or length != follows + 6 or from_ns > _MAX_NS:
            return False
        if follows != _ONE_MESSAGE or compression:
            raise RecordingError(_OTHER_TOOL)
        _, kind, _, schema = _SCHEMA.unpack_from(head, _CHUNK.size)
        if not (from_ns == until_ns == t_ns and (kind, schema) == (Opcode.SCHEMA, channel)):
            return False
        if channel in _TOPICS:  # unknown channels may come from a later version
            self._starts.append(at)
            self._times.append(from_ns)
            self._topics.append(channel)
        self.end_byte = end + len(index)
        return True

    def read(self, file: BinaryIO, place: int) -> RecordedMessage:
        """Read and decode a record.

        Raises:
            RecordingError: If it is damaged, does not match its header, or is larger than MAX_TEXT_BYTES and not a
                picture.
            OSError: If it cannot be read.
        """
        at, topic = self._starts[place], _TOPICS[self._topics[place]]
        size_bytes = os.fstat(file.fileno()).st_size
        if topic is not Topic.CAMERA:
            size_bytes = min(size_bytes, at + MAX_TEXT_BYTES)
        piece = container.record_at(file, at, size_bytes, frozenset({Opcode.CHUNK}))
        if isinstance(piece, str):
            raise RecordingError(f"record {place} is damaged: {piece}")
        try:
            records = [
                record
                for message in container.messages_in(piece.content, {})
                if (record := record_in(message)) is not None
            ]
        except (container.ChunkError, ValueError, RecursionError) as error:
            raise RecordingError(f"record {place} is damaged: {error}") from error
        if len(records) != 1 or (records[0].topic, records[0].t_ns) != (topic, self._times[place]):
            raise RecordingError(f"record {place} is damaged: it differs from the index")
        return records[0]


def _ends_early(file: BinaryIO, at: int, size_bytes: int) -> bool:
    """Check whether the last record of a growing file, or its message index, is still incomplete."""
    head = os.pread(file.fileno(), container.RECORD_HEAD.size, at)
    if len(head) < container.RECORD_HEAD.size:
        return True
    opcode, length = container.RECORD_HEAD.unpack(head)
    if opcode not in container.IN_DATA or length > container.MAX_RECORD_BYTES:
        return False
    room = _INDEX_BYTES if opcode == Opcode.CHUNK else 0
    return bool(at + container.RECORD_HEAD.size + length + room > size_bytes)


# Maximum number of last outcomes to search for totals. Nearly every outcome has totals.
_MAX_OUTCOMES = 50


@dataclass(frozen=True, slots=True)
class Facts:
    """Figures of a recording.

    Attributes:
        frames: Number of pictures.
        length_ns: Time from the first record to the last.
        totals: Last totals by seat, or None if no recent outcome has any.
        damage: Damage that is visible without decoding the records.
        winner: Seat that won the match, or None.
        players: Names by seat at the end, or None if they are those of the start.
    """

    frames: int
    length_ns: int
    totals: tuple[int, ...] | None
    damage: tuple[Damage, ...] = ()
    winner: int | None = None
    players: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Survey:
    """Summary of a recording. *start* is None if its metadata is damaged, *is_running* is True while it is written."""

    path: Path
    size_bytes: int
    is_running: bool
    start: SittingStart | None
    facts: Facts

    @property
    def players(self) -> tuple[str, ...]:
        """Names by seat at the end. Empty if they are unknown."""
        return self.facts.players or (() if self.start is None else self.start.players)


def survey(path: Path) -> Survey:
    """Return the summary of a recording.

    Raises:
        OSError: If the file is not a recording, or cannot be read.
    """
    recording = read_recording(path)
    with path.open("rb") as file:
        running = is_running(file)
        facts = None if running or recording.start is None else _facts_of_index(file)
        if facts is None:
            facts = _facts_of_records(recording, file, is_growing=running)
    return Survey(path, path.stat().st_size, running, recording.start, facts)


def is_running(file: BinaryIO) -> bool:
    """Check whether a program is still writing the recording, by its lock on the file."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _facts_of_index(file: BinaryIO) -> Facts | None:
    """Return the figures from the index of a recording, or None if it has no intact index."""
    try:
        index = EndIndex.read(file)
        result = _result(index.last(Topic.OUTCOME))
    except IndexDamageError:
        return None
    return Facts(index.count((Topic.CAMERA,)), index.length_ns, result.totals, (), result.winner, result.players)


def _facts_of_records(recording: RecordingFile, file: BinaryIO, *, is_growing: bool) -> Facts:
    """Return the figures from the headers of the records. A file that another tool has rewritten is read as a whole."""
    records = Whereabouts()
    try:
        records.go_on(file, is_growing=is_growing)
    except RecordingError:
        return _facts_of_all(recording)
    damage = list(records.damage)
    if recording.start is None:  # the first damage that the headers do not show is that of the metadata
        damage += islice((piece for piece in recording if isinstance(piece, Damage) and piece not in damage), 1)
    result = _result(_outcomes_at(records, file, damage))
    length_ns = records.last_ns - records.first_ns
    frames = len(records.of(Topic.CAMERA))
    return Facts(frames, length_ns, result.totals, tuple(damage), result.winner, result.players)


def _outcomes_at(records: Whereabouts, file: BinaryIO, damage: list[Damage]) -> Iterator[RecordedMessage]:
    """Yield the outcomes, last first. Unreadable ones are added to *damage*."""
    for place in reversed(records.of(Topic.OUTCOME)):
        try:
            yield records.read(file, place)
        except RecordingError as error:
            damage.append(Damage(records.start_byte(place), records.start_byte(place), str(error)))


def _facts_of_all(recording: RecordingFile) -> Facts:
    """Return the figures, except the winner, by reading the whole recording."""
    frames, totals = 0, None
    times: list[int] = []
    damage: list[Damage] = []
    for record in recording:
        if isinstance(record, Damage):
            damage.append(record)
            continue
        times = [min([*times, record.t_ns]), max([*times, record.t_ns])]
        frames += record.topic is Topic.CAMERA
        totals = _totals(record) or totals
    return Facts(frames, times[-1] - times[0] if times else 0, totals, tuple(damage))


@dataclass(frozen=True, slots=True)
class _Result:
    """Last totals, winner and names by seat, each None if unknown. Names are unknown if no player changed."""

    totals: tuple[int, ...] | None = None
    winner: int | None = None
    players: tuple[str, ...] | None = None


def _result(outcomes: Iterable[RecordedMessage]) -> _Result:
    """Return the last totals and names, and the winner if the match was over then. *outcomes* are in reverse order."""
    # Only the last _MAX_OUTCOMES are searched.
    winner: int | None = None
    is_over = False
    for outcome in islice(outcomes, _MAX_OUTCOMES):
        if outcome.fact.get("event") == "match_over" and not is_over:
            seat = outcome.fact.get("winner")
            winner, is_over = (seat if isinstance(seat, int) else None), True
        totals = _totals(outcome)
        if totals is not None:
            return _Result(totals, winner, _players(outcome, len(totals)))
    return _Result()


def _players(outcome: RecordedMessage, seats: int) -> tuple[str, ...] | None:
    players = outcome.fact.get("players")
    if not isinstance(players, list) or len(players) != seats or not all(isinstance(name, str) for name in players):
        return None
    return tuple(players)


def _totals(record: RecordedMessage) -> tuple[int, ...] | None:
    totals = record.fact.get("totals") if record.topic is Topic.OUTCOME else None
    if not isinstance(totals, list) or not totals or not all(isinstance(points, int) for points in totals):
        return None
    return tuple(totals)
