"""Reads a recording in feeding order, one record in memory at a time, and says where anything is missing."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, TypeAlias

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Header, Metadata
from mcap.writer import MCAP0_MAGIC

from tallybone.recording.chunk import ChannelMessage, ChunkError, messages_in
from tallybone.recording.damage import Damage
from tallybone.recording.errors import RecordingError
from tallybone.recording.format import METADATA_NAME, PROFILE, SessionStart, VersionError
from tallybone.recording.image_message import ImageMessage
from tallybone.recording.scan import DATA_CHANGED, scan
from tallybone.recording.topics import Topic, topic_at

Payload: TypeAlias = ImageMessage | Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Recorded:
    """One record; *number* counts all records of the file from 0, *payload* is an ImageMessage on CAMERA only."""

    number: int
    t_ns: int
    topic: Topic
    payload: Payload


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A recording; iterating reads it from its beginning: records in feeding order, with damage where it is.

    Attributes:
        path: The file.
        start: What it says of its sitting; None where that is damaged.
    """

    path: Path
    start: SessionStart | None

    def __iter__(self) -> Iterator[Recorded | Damage]:
        """Yield what it holds.

        Raises:
            OSError: If the file cannot be read any more.
        """
        with self.path.open("rb") as file:
            yield from _with_gaps(_pieces_of(file))


def read_session(path: Path) -> SessionFile:
    """Return the recording in a file; it may be cut, damaged, or still be written.

    Raises:
        RecordingError: If it cannot be opened, or is no recording of this version.
    """
    try:
        if not path.is_file():
            problem = "it is no file" if path.exists() else "there is no such file"
            raise RecordingError(f"{path}: expected a recording, but {problem}")
        with path.open("rb") as file:
            return SessionFile(path, _read_start(path, file))
    except RecordingError:
        raise
    except OSError as error:
        raise RecordingError(f"{path}: it cannot be read: {error.strerror}") from error


def _read_start(path: Path, file: BinaryIO) -> SessionStart | None:
    magic = file.read(len(MCAP0_MAGIC))
    if magic != MCAP0_MAGIC:
        cut = bool(magic) and MCAP0_MAGIC.startswith(magic)
        problem = "it is empty" if not magic else "it ends within its first bytes" if cut else "it is no MCAP file"
        raise RecordingError(f"{path}: expected a recording, but {problem}")
    is_ours = False
    for piece in scan(file, _size_bytes(file)):
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
        raise RecordingError(
            f"{path}: expected a recording, but it is an MCAP file of something else, or cut to nothing"
        )
    return None


@dataclass(frozen=True, slots=True)
class _Found:
    start_byte: int
    message: ChannelMessage


def _pieces_of(file: BinaryIO) -> Iterator[_Found | Damage]:
    """Yield the messages of a file, and damage where a part of it cannot be used."""
    paths: dict[int, str] = {}
    is_known = False  # that something was changed
    for piece in scan(file, _size_bytes(file)):
        if isinstance(piece, Damage):
            if not (is_known and piece.problem == DATA_CHANGED):
                yield piece
            continue
        problem: str | None = None
        match piece.opcode:
            case Opcode.CHUNK:
                try:
                    yield from (_Found(piece.start_byte, message) for message in messages_in(piece.content, paths))
                except ChunkError as error:
                    problem = str(error)
            case Opcode.METADATA:
                try:
                    _start_in(piece.content)
                except ValueError as error:
                    problem = f"what it says of its sitting cannot be read: {error}"
            case Opcode.HEADER if _profile(piece.content) != PROFILE:
                problem = "its header is damaged"
        if problem is not None:
            is_known = True
            yield Damage(piece.start_byte, piece.end_byte, problem)


def _with_gaps(found: Iterable[_Found | Damage]) -> Iterator[Recorded | Damage]:
    """Yield records, and damage with what is known of it once the next record is there."""
    waiting: list[Damage] = []
    expected, last_ns = 0, None
    for one in found:
        if isinstance(one, Damage):
            waiting.append(one)
            continue
        message = one.message
        lost = message.sequence - expected
        if lost and not waiting:
            problem = "records are missing" if lost > 0 else "a record is not in its place"
            waiting.append(Damage(one.start_byte, one.start_byte, problem))
        for index, damage in enumerate(waiting):
            here = max(lost, 0) if index == 0 else 0
            yield replace(damage, after_ns=last_ns, before_ns=message.t_ns, lost=here)
        waiting.clear()
        expected, last_ns = message.sequence + 1, message.t_ns
        try:
            recorded = record_of(message)
        except (ValueError, RecursionError) as error:
            problem = f"record {message.sequence} on {message.path} cannot be read: {error}"
            yield Damage(one.start_byte, one.start_byte, problem, last_ns, last_ns, 1)
            continue
        if recorded is not None:
            yield recorded
    for damage in waiting:
        yield replace(damage, after_ns=last_ns)


def record_of(message: ChannelMessage) -> Recorded | None:
    """Return a message as what it means; None on a topic that a later version has.

    Raises:
        ValueError: If it is no picture, or no JSON object.
        RecursionError: If its JSON is too deep.
    """
    topic = topic_at(message.path)
    if topic is None:
        return None
    payload: Payload
    if topic is Topic.CAMERA:
        payload = ImageMessage.decode(message.payload)
    else:
        payload = json.loads(message.payload)
        if not isinstance(payload, dict):
            raise ValueError(f"expected a JSON object, got {type(payload).__name__}")
    return Recorded(message.sequence, message.t_ns, topic, payload)


def _start_in(content: bytes) -> SessionStart | None:
    """Return what a metadata record says of the sitting, None if it says something else."""
    try:
        metadata: Metadata = Metadata.read(ReadDataStream(BytesIO(content)))
    except (McapError, struct.error) as error:
        raise ValueError("it is damaged") from error
    return SessionStart.parse(metadata.metadata) if metadata.name == METADATA_NAME else None


def _profile(content: bytes) -> str | None:
    try:
        header: Header = Header.read(ReadDataStream(BytesIO(content)))
    except (McapError, struct.error, UnicodeDecodeError):
        return None
    return header.profile


def _size_bytes(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size
