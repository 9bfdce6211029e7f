"""Read the last state of a sitting from its recording, and write it at the head of the recording that continues it."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine import Event, MatchStart
from tallybone.json_values import JsonValueError, from_json, to_json
from tallybone.recording.format import Damage, ImageMessage, RecordingError, SittingStart, Topic
from tallybone.recording.reader import (
    TILES,
    RecordedMessage,
    RecordingFile,
    aim_line,
    aim_of_record,
    event_of_record,
    input_of,
    places_of_record,
)
from tallybone.recording.writer import RecordingWriter
from tallybone.session.places import Places
from vision.reader.custom_set import RecordedSet
from vision.reading import SeenTile
from vision.tracking.camera_motion import STRAIGHT_ON, Alignment

MAX_BYTES = 4_000_000
"""Maximum size of all crops of a match, in memory and at the head of a recording. It is enough for about 500 plays."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Crop of the picture behind a play or question.

    Attributes:
        of: Number of the action in the match log, or topic of the question.
        t_ns: Time of the picture, in nanoseconds of a monotonic clock.
        jpeg: The crop as a JPEG, with the tiles outlined, and their surroundings.
    """

    of: int | str
    t_ns: int
    jpeg: bytes


class Crops:
    """The newest crop of each action and question, up to `MAX_BYTES` of JPEG. The oldest crops are dropped first."""

    def __init__(self, crops: Iterable[Evidence] = ()) -> None:
        self._crops: dict[int | str, Evidence] = {}
        self._bytes = 0
        for crop in crops:
            self.add(crop)

    def add(self, crop: Evidence) -> None:
        """Add a crop. It replaces an earlier crop of the same action or question."""
        self._drop(crop.of)
        self._crops[crop.of] = crop
        self._bytes += len(crop.jpeg)
        while self._bytes > MAX_BYTES:
            self._drop(next(iter(self._crops)))

    def find(self, of: int | str) -> Evidence | None:
        """Return the crop of an action or a question, or None."""
        return self._crops.get(of)

    def __iter__(self) -> Iterator[Evidence]:
        return iter(tuple(self._crops.values()))

    def _drop(self, of: int | str) -> None:
        dropped = self._crops.pop(of, None)
        self._bytes -= 0 if dropped is None else len(dropped.jpeg)


def write_evidence(writer: RecordingWriter, crop: Evidence) -> None:
    """Write a crop, without waiting for the disk.

    Raises:
        RecordingError: If the crop cannot be written.
    """
    name = "seq" if isinstance(crop.of, int) else "topic"
    writer.write(Topic.EVIDENCE, crop.t_ns, {name: crop.of, "jpeg": b64encode(crop.jpeg).decode("ascii")})


def evidence_of(record: RecordedMessage) -> Evidence | None:
    """Return the crop in a record. None if there is no crop or it is damaged: crops are only for display."""
    seq, topic, jpeg = (record.fact.get(name) for name in ("seq", "topic", "jpeg"))
    of = seq if seq is not None else topic
    if isinstance(of, bool) or not isinstance(of, int | str) or not isinstance(jpeg, str):
        return None
    try:
        return Evidence(of, record.t_ns, b64decode(jpeg, validate=True))
    except (binascii.Error, ValueError):
        return None


# Field in the last record of the head. The sitting continues after this record.
_HEAD_ENDS = "continued"


@dataclass(frozen=True, slots=True)
class Left:
    """The state in which a sitting was left.

    Attributes:
        start: Metadata of the sitting.
        events: Log of the match, without its start.
        places: The tracked layout.
        empty: Picture of the empty table as a JPEG. None if there is none, or the sitting started in play.
        last: Picture of *tiles* as a JPEG. None if no view was settled.
        damage: Damage in the recording, other than an early end.
        t_ns: Time of the last record.
        aim: Last alignment of the camera.
        passed_over: Warnings that another recording may be newer, each as a sentence.
        evidence: Crops of the pictures from which plays and questions were read, oldest first, as limited by `Crops`.
    """

    start: SittingStart
    events: tuple[Event, ...] = ()
    places: Places = field(default_factory=Places)
    tiles: tuple[SeenTile, ...] = ()
    empty: bytes | None = None
    last: bytes | None = None
    damage: tuple[Damage, ...] = ()
    t_ns: int = 0
    aim: Alignment = STRAIGHT_ON
    passed_over: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


class CutHeadError(RecordingError):
    """A recording ends within its head, so the recording that it continues has the same content."""


def left_in(recording: RecordingFile) -> Left:
    """Return the state at the end of a recording, which may have been cut off anywhere.

    Raises:
        CutHeadError: If it ends within its head, and has no other damage.
        RecordingError: If its metadata or head is damaged, or a record cannot be parsed.
        OSError: If it cannot be read.
    """
    if recording.start is None:
        raise RecordingError(f"{recording.path}: it cannot be continued: its match data is damaged")
    gathered = _gathered(recording.start, recording, recording.path)
    if recording.start.continues is not None and not gathered.has_head:
        error = RecordingError if gathered.damage else CutHeadError
        raise error(f"{recording.path}: it cannot be continued: it ends before the match was resumed")
    return _with_pictures(gathered, recording)


def left_with_journal(recording: RecordingFile | None, journal: RecordingFile | None) -> Left:
    """Return the state at the end of a recording, or in its journal if that has more events.

    Args:
        recording: The recording. None if it cannot be read.
        journal: Its journal, which has no pictures. None if there is none.

    Raises:
        OSError: If neither can be used.
    """
    left = kept = None
    with suppress(OSError):  # the recording usually has the same events
        kept = None if journal is None else left_in(journal)
    try:
        left = None if recording is None else left_in(recording)
    except OSError:
        if kept is None:
            raise
    if left is None:
        if kept is None:
            raise RecordingError("neither the recording nor its journal can be read")
        return replace(kept, start=replace(kept.start, in_play=True))  # without pictures, all tiles are read anew
    if kept is None or len(kept.events) <= len(left.events):
        return left
    return replace(left, events=kept.events, places=kept.places)


def left_in_head(start: SittingStart, records: Iterator[RecordedMessage | Damage], path: Path) -> Left:
    """Return the state in the head of a recording. Consumes only the head from *records*.

    Raises:
        RecordingError: If its head is damaged.
    """
    head = list(_head(records, path))
    return _with_pictures(_gathered(start, head, path), head)


def write_left(writer: RecordingWriter, left: Left, t_ns: int) -> int | None:
    """Write the state of a sitting as the head of a recording. The head is synced to the disk before this returns.

    Returns:
        The number of the last picture's record, or None if there is no picture.

    Raises:
        RecordingError: If it cannot be written.
    """
    if left.empty is not None:
        number = writer.records
        writer.frame(t_ns, left.empty, name="empty")
        writer.write(Topic.TABLE, t_ns, {"picture": number, "tiles": [], "places": {}}, is_waited_for=False)
    last = None if left.last is None else writer.records
    if left.last is not None:
        writer.frame(t_ns, left.last, name="last")
    seen = {} if last is None else {"picture": last, "tiles": to_json(left.tiles, TILES)} | aim_line(left.aim)
    for crop in left.evidence:
        write_evidence(writer, crop)
    for event in left.events:
        writer.write(Topic.EVENT, t_ns, to_json(event, Event), is_waited_for=False)
    writer.write(Topic.TABLE, t_ns, seen | {"places": to_json(left.places, Places), _HEAD_ENDS: True})
    return last


@dataclass(slots=True)
class _Gathered:
    """State of a sitting according to the records so far.

    The results of an input end with a TABLE record and are shown after that is written. Events after the last TABLE
    record were never shown, so they are left out, and their input is fed again. *shown* is the number of events before
    the last TABLE record.
    """

    start: SittingStart
    events: list[Event] = field(default_factory=list)
    shown: int = 0
    damage: list[Damage] = field(default_factory=list)
    places: Places = field(default_factory=Places)
    tiles: tuple[SeenTile, ...] = ()
    aim: Alignment = STRAIGHT_ON
    empty: int | None = None
    last: int | None = None
    has_head: bool = False
    t_ns: int = 0
    crops: Crops = field(default_factory=Crops)

    def add(self, record: RecordedMessage) -> None:
        """Update the state with the next record.

        Raises:
            JsonValueError: If it cannot be parsed.
        """
        self.t_ns = record.t_ns
        if record.topic is Topic.EVENT:
            event = event_of_record(record)
            if not isinstance(event, MatchStart):  # already in the metadata
                self.events.append(event)
        elif record.topic is Topic.CORRECTION:
            if isinstance(item := input_of(record), RecordedSet):
                self.start = replace(self.start, own_set=item)
        elif record.topic is Topic.EVIDENCE:
            if (crop := evidence_of(record)) is not None:
                self.crops.add(crop)
        elif record.topic is Topic.TABLE:
            self.places, self.shown = places_of_record(record), len(self.events)
            picture = record.fact.get("picture")
            if isinstance(picture, int):
                self.tiles = from_json(record.fact.get("tiles"), TILES, record.topic.path)
                self.aim = aim_of_record(record)
                if self.last is None and not self.start.in_play:
                    self.empty = picture
                self.last = picture
            self.has_head = self.has_head or _ends_head(record)


def _gathered(start: SittingStart, records: Iterable[RecordedMessage | Damage], path: Path) -> _Gathered:
    gathered = _Gathered(start)
    for record in records:
        if isinstance(record, Damage):
            if not record.is_cut:  # an early end is normal after a power cut
                gathered.damage.append(record)
            continue
        try:
            gathered.add(record)
        except JsonValueError as error:
            raise RecordingError(f"{path}: record {record.number} cannot be parsed: {error}") from error
    return gathered


def _with_pictures(gathered: _Gathered, records: Iterable[RecordedMessage | Damage]) -> Left:
    """Return the state with its pictures from a second pass over *records*."""
    # All pictures of a sitting would need too much memory.
    needed = {gathered.empty, gathered.last} - {None}
    pictures: dict[int, bytes] = {}
    for record in records if needed else ():
        if isinstance(record, RecordedMessage) and record.number in needed and isinstance(record.payload, ImageMessage):
            pictures[record.number] = record.payload.jpeg
            if len(pictures) == len(needed):
                break
    empty, last = (None if at is None else pictures.get(at) for at in (gathered.empty, gathered.last))
    return Left(
        gathered.start,
        tuple(gathered.events[: gathered.shown]),
        gathered.places,
        gathered.tiles,
        empty,
        last,
        tuple(gathered.damage),
        gathered.t_ns,
        gathered.aim,
        evidence=tuple(gathered.crops),
    )


def _head(records: Iterator[RecordedMessage | Damage], path: Path) -> Iterator[RecordedMessage]:
    for record in records:
        if isinstance(record, Damage):
            raise RecordingError(f"{path}: its match state is damaged: {record}")
        yield record
        if _ends_head(record):
            return
    raise RecordingError(f"{path}: it ends before the match was resumed")


def _ends_head(record: RecordedMessage) -> bool:
    return record.fact.get(_HEAD_ENDS) is True
