"""Read recordings in feeding order, one record at a time, report damage between them, and decode their messages."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias, TypeVar

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Header, Metadata, Statistics
from mcap.writer import MCAP0_MAGIC

from engine import Event
from tallybone.files import reason_of
from tallybone.json_values import from_json, to_json
from tallybone.recording.container import DATA_CHANGED, ChannelMessage, ChunkError, messages_in, scan
from tallybone.recording.format import (
    METADATA_NAME,
    PROFILE,
    Damage,
    ImageMessage,
    RecordingError,
    SittingStart,
    Topic,
    VersionError,
    topic_at,
)
from tallybone.recording.writer import RecordingWriter
from tallybone.session.inputs import Answer, AnswerBack, KnockHeard, Press
from tallybone.session.places import Places
from tallybone.session.sitting import ByHand, Step
from vision.reader.custom_set import RecordedSet
from vision.reading import SeenTile
from vision.tracking.camera_motion import STRAIGHT_ON, Alignment, AlignmentNumbers

_Whole = TypeVar("_Whole")
Payload: TypeAlias = ImageMessage | Mapping[str, object]


@dataclass(frozen=True, slots=True)
class RecordedMessage:
    """A record of a recording.

    Attributes:
        number: Number among all records of the file, from 0.
        t_ns: Time in nanoseconds of a monotonic clock.
        topic: Channel of the record.
        payload: An ImageMessage on CAMERA, else a JSON object.
    """

    number: int
    t_ns: int
    topic: Topic
    payload: Payload

    @property
    def fact(self) -> Mapping[str, object]:
        """The JSON object of the record. Empty for a picture."""
        return {} if isinstance(self.payload, ImageMessage) else self.payload


@dataclass(frozen=True, slots=True)
class RecordingFile:
    """A recording. Each iteration reads it from the beginning: records in feeding order, and damage at its place.

    Attributes:
        path: The file.
        start: Metadata of the sitting, or None if it is damaged.
    """

    path: Path
    start: SittingStart | None

    def __iter__(self) -> Iterator[RecordedMessage | Damage]:
        """Yield records and damage.

        Raises:
            OSError: If reading fails.
        """
        with self.path.open("rb") as file:
            yield from _with_gaps(_pieces_of(file))


def read_recording(path: Path) -> RecordingFile:
    """Open a recording, which may be cut off, damaged, or still being written.

    Raises:
        RecordingError: If the file cannot be opened, or is not a recording of this version.
    """
    try:
        if not path.is_file():
            problem = "it is not a file" if path.exists() else "there is no such file"
            raise RecordingError(f"{path}: expected a recording, but {problem}")
        with path.open("rb") as file:
            return RecordingFile(path, _read_start(path, file))
    except RecordingError:
        raise
    except OSError as error:
        raise RecordingError(f"{path}: it cannot be read: {reason_of(error)}") from error


def _read_start(path: Path, file: BinaryIO) -> SittingStart | None:
    magic = file.read(len(MCAP0_MAGIC))
    if magic != MCAP0_MAGIC:
        cut = bool(magic) and MCAP0_MAGIC.startswith(magic)
        problem = "it is empty" if not magic else "it ends within its first bytes" if cut else "it is not an MCAP file"
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
        raise RecordingError(f"{path}: expected a recording, but it is another kind of MCAP file, or empty")
    return None


def _pieces_of(file: BinaryIO) -> Iterator[tuple[int, ChannelMessage] | Damage]:
    """Yield the messages of a file, each with the offset of its chunk, and damage."""
    paths: dict[int, str] = {}
    is_known = False  # damage has been reported
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
                    problem = f"its match data cannot be read: {error}"
            case Opcode.HEADER if _profile(piece.content) != PROFILE:
                problem = "its header is damaged"
            case Opcode.STATISTICS if not is_known:
                counted = _count_in(piece.content)
                if counted != count:
                    problem = f"the index counts {counted} records, but there are {count}"
        if problem is not None:
            is_known = True
            yield Damage(piece.start_byte, piece.end_byte, problem)


def _with_gaps(pieces: Iterable[tuple[int, ChannelMessage] | Damage]) -> Iterator[RecordedMessage | Damage]:
    """Yield the records, and damage with its times and the number of lost records."""
    # Damage is held back until the next record, whose number shows how many records were lost. Records on unknown
    # topics are left out.
    waiting: list[Damage] = []
    expected, last_ns = 0, None
    for piece in pieces:
        if isinstance(piece, Damage):
            waiting.append(piece)
            continue
        start_byte, message = piece
        lost = message.sequence - expected
        if lost and not waiting:
            problem = "records are missing" if lost > 0 else "a record is out of order"
            waiting.append(Damage(start_byte, start_byte, problem))
        for index, damage in enumerate(waiting):
            lost_here = max(lost, 0) if index == 0 else 0
            yield replace(damage, after_ns=last_ns, before_ns=message.t_ns, lost=lost_here)
        waiting.clear()
        expected, last_ns = message.sequence + 1, message.t_ns
        try:
            record = record_in(message)
        except (ValueError, RecursionError) as error:
            problem = f"record {message.sequence} on {message.path} cannot be read: {error}"
            yield Damage(start_byte, start_byte, problem, last_ns, last_ns, 1)
            continue
        if record is not None:
            yield record
    for damage in waiting:
        yield replace(damage, after_ns=last_ns)


def whole_only(pieces: Iterable[_Whole | Damage], path: Path, complain: Callable[[str], object]) -> Iterator[_Whole]:
    """Yield everything except damage, which is passed to *complain*.

    If anything other than a cut-off end is damaged, *complain* finally gets the number of damaged places and advice.
    """
    damaged = 0
    for piece in pieces:
        if isinstance(piece, Damage):
            damaged += not piece.is_cut
            complain(f"{path}: {piece}")
        else:
            yield piece
    if damaged:
        places = f"{damaged} damaged places" if damaged > 1 else "1 damaged place"
        advice = "Compare the result with what you remember, copy the recording elsewhere, and check the card or disk"
        complain(f"{path}: {places}; the rest was read. {advice}")


def record_in(message: ChannelMessage) -> RecordedMessage | None:
    """Return the record in a message, or None if its topic is unknown.

    Raises:
        ValueError: If its payload is not a picture or JSON object.
        RecursionError: If its JSON is nested too deeply.
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


def _start_in(content: bytes) -> SittingStart | None:
    """Return the metadata of the sitting, or None if the metadata record has another name."""
    try:
        metadata: Metadata = Metadata.read(ReadDataStream(BytesIO(content)))
    except (McapError, struct.error) as error:
        raise ValueError("it is damaged") from error
    return SittingStart.parse(metadata.metadata) if metadata.name == METADATA_NAME else None


def _profile(content: bytes) -> str | None:
    try:
        header: Header = Header.read(ReadDataStream(BytesIO(content)))
    except (McapError, struct.error, UnicodeDecodeError):
        return None
    return header.profile


def _count_in(content: bytes) -> int | None:
    """Return the number of messages according to a statistics record, or None if it is damaged."""
    try:
        return int(Statistics.read(ReadDataStream(BytesIO(content))).message_count)
    except (McapError, struct.error):
        return None


CORRECTION: Final = Answer | AnswerBack | Event | RecordedSet
"""Type of a record on `Topic.CORRECTION`."""
_INPUTS: Mapping[Topic, object] = {Topic.BUTTON: Press, Topic.KNOCK: KnockHeard, Topic.CORRECTION: CORRECTION}
_BY = "by"
TILES: Final = tuple[SeenTile, ...]
"""Type of `tiles` in a record on `Topic.TABLE`."""


def write_input(writer: RecordingWriter, item: ByHand, t_ns: int, *, by: str = "") -> None:
    """Write a press, knock, answer, correction or tile set, before it is fed to the sitting.

    Args:
        writer: The recording.
        item: The input.
        t_ns: Time of the input, in nanoseconds of a monotonic clock.
        by: Name of its author at the page, for information only. "" if unknown.

    Raises:
        RecordingError: If the input cannot be written.
    """
    topic = Topic.BUTTON if isinstance(item, Press) else Topic.CORRECTION
    if isinstance(item, KnockHeard):
        topic = Topic.KNOCK
    writer.write(topic, t_ns, to_json(item, _INPUTS[topic]) | ({_BY: by} if by else {}))


def input_of(record: RecordedMessage) -> ByHand | None:
    """Return the press, knock, answer, correction or tile set in a record, or None for a record on another topic.

    Raises:
        JsonValueError: If the record cannot be parsed, for example because a later version wrote it.
    """
    kind = _INPUTS.get(record.topic)
    fact = {name: value for name, value in record.fact.items() if name != _BY}
    item: ByHand | None = None if kind is None else from_json(fact, kind, record.topic.path)
    return item


def event_of_record(record: RecordedMessage) -> Event:
    """Return the event in a record on `Topic.EVENT`.

    Raises:
        JsonValueError: If it cannot be parsed.
    """
    event: Event = from_json(record.fact, Event, record.topic.path)
    return event


def write_step(writer: RecordingWriter, step: Step, *, picture: int | None = None) -> None:
    """Write the results of an input. Events are synced to the disk before this returns, so no shown result is lost.

    Raises:
        RecordingError: If the results cannot be written.
    """
    for event in step.events:
        writer.write(Topic.EVENT, step.t_ns, to_json(event, Event))
    for line in step.lines:
        writer.write(Topic.OUTCOME, step.t_ns, line)
    if (step.view is not None and step.view.changes) or step.events:
        write_table(writer, step, picture=picture)


def write_table(writer: RecordingWriter, step: Step, *, picture: int | None = None) -> None:
    """Write the tracked layout. After a frame, include the tiles of its view, *picture* and the camera alignment.

    Raises:
        RecordingError: If it cannot be written.
    """
    view = step.view
    seen = {} if view is None else {"picture": picture, "tiles": to_json(view.tiles, TILES)} | aim_line(view.aim)
    writer.write(Topic.TABLE, step.t_ns, seen | {"places": to_json(step.session.places, Places)})


def aim_line(aim: Alignment) -> dict[str, Any]:
    """Return the fields of a `Topic.TABLE` record for the camera alignment. Empty if the camera has not moved."""
    return {} if aim.is_straight else {"aim": list(aim.numbers)}


def aim_of_record(record: RecordedMessage) -> Alignment:
    """Return the camera alignment in a record on `Topic.TABLE`. Without one, the camera has not moved.

    Raises:
        JsonValueError: If it cannot be parsed.
    """
    aim = record.fact.get("aim")
    if aim is None:
        return STRAIGHT_ON
    numbers: AlignmentNumbers = from_json(aim, AlignmentNumbers, record.topic.path)
    return Alignment(numbers)


def places_of_record(record: RecordedMessage) -> Places:
    """Return the tracked layout in a record on `Topic.TABLE`.

    Raises:
        JsonValueError: If it cannot be parsed.
    """
    places: Places = from_json(record.fact.get("places"), Places, record.topic.path)
    return places
