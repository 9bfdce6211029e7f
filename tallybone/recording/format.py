"""Format of a recording: topics and schemas, the start of a sitting, pictures, errors and damage.

Pictures are encoded as protobuf, because JSON would make them a third larger. The encoder for their four fields is
here, to avoid a dependency.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum
from functools import cached_property

from mcap.records import Channel, Schema

from tallybone.json_values import from_json, to_json
from tallybone.session.observations import Zones
from vision.reader.custom_set import RecordedSet

PROFILE = "tallybone"
"""Profile in the header of a recording, which distinguishes it from files of other programs."""
FORMAT_VERSION = "1"
METADATA_NAME = "tallybone.sitting"
_CRC = "crc32"  # MCAP has checksums for chunks, but not for metadata

IMAGE_SCHEMA_NAME = "foxglove.CompressedImage"
UNNAMED = "camera"
"""Name that is written for a picture without a name, because Foxglove needs one."""
_NS_PER_S = 1_000_000_000
# wire types
_VARINT = 0
_BYTES = 2
# numbers of the fields
_TIMESTAMP = 1
_DATA = 2
_FORMAT = 3
_FRAME_ID = 4
# Field types of google.protobuf.descriptor.proto that are used here.
_MESSAGE = 11
_STRING = 9
_BLOB = 12
_INT64 = 3
_INT32 = 5
_STAMP_FILE = b"google/protobuf/timestamp.proto"


class Topic(Enum):
    """A channel of a recording: its name, its content, and the types of its list fields.

    All topics except CAMERA contain JSON objects. Readers ignore unknown fields.
    """

    CAMERA = ("/camera", "A picture that perception consumed.", ())
    BUTTON = ("/button", "A button was pressed or let go.", ())
    KNOCK = ("/knock", "A knock on the table was heard.", ())
    CORRECTION = ("/correction", "A correction from the page, or a tile set learned from one.", ())
    EVENT = ("/event", "An event passed to the rules.", ())
    OUTCOME = ("/outcome", "Its outcomes; `totals` are the points by seat.", (("totals", "integer"),))
    TRUTH = ("/truth", "Ground truth, for simulated tables.", ())
    TABLE = ("/table", "Tiles on the table after a change or an event.", ())
    EVIDENCE = ("/evidence", "Crop of the picture behind a play or question.", ())

    def __init__(self, path: str, meaning: str, lists: tuple[tuple[str, str], ...]) -> None:
        """Set the attributes. *lists* are the names of list fields, each with the type of its items."""
        self.path = path
        self.meaning = meaning
        self.lists = lists

    @property
    def is_synced(self) -> bool:
        """True if each record on the topic is synced to the disk before the write returns.

        A sync of every picture would wear out an SD card. Outcomes can be derived from the other records, and crops are
        only shown. TABLE is the last record of an input, so after its sync all results of the input are safe and may be
        shown.
        """
        return self in (Topic.BUTTON, Topic.KNOCK, Topic.CORRECTION, Topic.EVENT, Topic.TABLE)

    @cached_property
    def number(self) -> int:
        """Id of the topic's channel and schema in every recording, from 1."""
        return list(Topic).index(self) + 1

    @cached_property
    def schema(self) -> Schema:
        """MCAP schema of the topic."""
        if self is Topic.CAMERA:
            return Schema(id=self.number, name=IMAGE_SCHEMA_NAME, encoding="protobuf", data=IMAGE_SCHEMA)
        fields = {name: {"type": "array", "items": {"type": kind}} for name, kind in self.lists}
        name = f"tallybone.{self.name.title()}"
        described = {"title": name, "description": self.meaning, "type": "object", "properties": fields}
        return Schema(id=self.number, name=name, encoding="jsonschema", data=json.dumps(described).encode())

    @cached_property
    def channel(self) -> Channel:
        """MCAP channel of the topic."""
        encoding = "protobuf" if self is Topic.CAMERA else "json"
        return Channel(
            id=self.number, topic=self.path, message_encoding=encoding, metadata={}, schema_id=self.schema.id
        )


def topic_at(path: str) -> Topic | None:
    """Return the topic of the channel with this name, or None if it is unknown.

    >>> topic_at("/event")
    <Topic.EVENT: ('/event', 'An event passed to the rules.', ())>
    """
    return next((topic for topic in Topic if topic.path == path), None)


class Pictures(StrEnum):
    """The kind of pictures in a sitting.

    `SETTLED`: still pictures, each of which is read. `MOVING`: frames of a camera or video, read once nothing moves any
    more.
    """

    SETTLED = "settled"
    MOVING = "moving"


@dataclass(frozen=True, slots=True, kw_only=True)
class SittingStart:
    """Metadata of a sitting, written before its first picture.

    Attributes:
        started_at: Wall-clock time with its time zone. Mainly for display, because this clock can jump.
        players: Names by seat.
        rules: Name of the game, or "free" for no rules.
        tile_set: Tile set on the table, such as "double-6", or "auto".
        seed: Seed of a simulated table, or None.
        software: Name and version of the program that wrote the recording.
        in_play: Whether the first picture shows a game in progress instead of the empty table.
        continues: Name of the recording that this one continues, or None. Its head contains the state at the end of
            that recording.
        own_set: Custom tile set that is used for reading, or None.
        number: Sequence number among the recordings and journals of its folder, from 1. 0 if unknown.
        match: Random id of the match, the same in all its recordings. "" if unknown.
    """

    started_at: datetime
    players: tuple[str, ...] = ()
    rules: str = "free"
    options: tuple[tuple[str, str], ...] = ()
    tile_set: str = "auto"
    seed: int | None = None
    software: str = "tallybone"
    pictures: Pictures = Pictures.SETTLED
    zones: Zones = field(default_factory=Zones)
    in_play: bool = False
    continues: str | None = None
    own_set: RecordedSet | None = None
    number: int = 0
    match: str = ""

    def __post_init__(self) -> None:
        if self.started_at.tzinfo is None:
            raise ValueError(f"started_at needs a time zone, got {self.started_at}")

    def format(self) -> dict[str, str]:
        """Return the metadata as names and values, with a checksum. Some are omitted if they have their defaults."""
        fields = {
            "format": FORMAT_VERSION,
            "started_at": self.started_at.isoformat(),
            "players": json.dumps(self.players),
            "rules": self.rules,
            "options": json.dumps(dict(self.options)),
            "set": self.tile_set,
            "seed": "" if self.seed is None else str(self.seed),
            "software": self.software,
        }
        later = {  # added to the format later, and omitted if they have their defaults
            "pictures": None if self.pictures is Pictures.SETTLED else self.pictures.value,
            "zones": self.zones.format() if self.zones else None,
            "own_set": None if self.own_set is None else json.dumps(to_json(self.own_set, RecordedSet)),
            "in_play": "yes" if self.in_play else None,
            "continues": self.continues,
            "number": str(self.number) if self.number else None,
            "match": self.match or None,
        }
        fields |= {name: value for name, value in later.items() if value is not None}
        return fields | {_CRC: _checksum(fields)}

    @classmethod
    def parse(cls, fields: Mapping[str, str]) -> SittingStart:
        """Parse names and values written by `format`.

        Raises:
            VersionError: If the metadata has another format version.
            ValueError: If the metadata is damaged.
        """
        rest = {name: value for name, value in fields.items() if name != _CRC}
        if fields.get(_CRC) != _checksum(rest):
            raise ValueError("wrong checksum")
        if rest.get("format") != FORMAT_VERSION:
            raise VersionError(f"it has format {rest.get('format')}; this version reads format {FORMAT_VERSION}")
        try:
            return cls._of(rest)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"it lacks {error}") from error

    @classmethod
    def _of(cls, rest: Mapping[str, str]) -> SittingStart:
        return cls(
            started_at=datetime.fromisoformat(rest["started_at"]),
            players=tuple(json.loads(rest["players"])),
            rules=rest["rules"],
            options=tuple(json.loads(rest["options"]).items()),
            tile_set=rest["set"],
            seed=int(rest["seed"]) if rest["seed"] else None,
            software=rest["software"],
            pictures=Pictures(rest.get("pictures", Pictures.SETTLED)),
            zones=Zones.parse(rest["zones"]) if "zones" in rest else Zones(),
            in_play=rest.get("in_play") == "yes",
            continues=rest.get("continues"),
            own_set=from_json(json.loads(rest["own_set"]), RecordedSet) if "own_set" in rest else None,
            number=int(rest.get("number", "0")),
            match=rest.get("match", ""),
        )


class VersionError(ValueError):
    """A recording is intact, but has another format version."""


def _checksum(fields: Mapping[str, str]) -> str:
    return f"{zlib.crc32(json.dumps(fields, sort_keys=True).encode()):08x}"


@dataclass(frozen=True, slots=True)
class ImageMessage:
    """A picture in a recording. *name* is its name at its source, or None."""

    jpeg: bytes
    name: str | None = None

    def encode(self, t_ns: int) -> bytes:
        """Return the picture as a protobuf message with the timestamp *t_ns*."""
        stamp = _number(1, t_ns // _NS_PER_S) + _number(2, t_ns % _NS_PER_S)
        name = (self.name or UNNAMED).encode("utf-8", "backslashreplace")
        return _text(_TIMESTAMP, stamp) + _text(_DATA, self.jpeg) + _text(_FORMAT, b"jpeg") + _text(_FRAME_ID, name)

    @classmethod
    def decode(cls, message: bytes) -> ImageMessage:
        """Return the picture in a protobuf message.

        Raises:
            ValueError: If the message is damaged, or its picture is not a JPEG.
        """
        fields: dict[int, bytes] = {}
        at = 0
        while at < len(message):
            key, at = _read_varint(message, at)
            if key & 7 != _BYTES:
                raise ValueError(f"expected fields of bytes in {IMAGE_SCHEMA_NAME}, but got wire type {key & 7}")
            length, at = _read_varint(message, at)
            if at + length > len(message):
                raise ValueError(f"a field of {IMAGE_SCHEMA_NAME} ends beyond its message")
            fields[key >> 3], at = message[at : at + length], at + length
        if fields.get(_FORMAT) != b"jpeg" or _DATA not in fields:
            raise ValueError(f"expected {IMAGE_SCHEMA_NAME} with a JPEG, but its format is {fields.get(_FORMAT)!r}")
        name = fields.get(_FRAME_ID, b"").decode()
        return cls(fields[_DATA], None if name in ("", UNNAMED) else name)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at offset *at*, and the offset after it."""
    value = shift = 0
    while shift < 64 and at < len(data):
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    raise ValueError(f"a number in {IMAGE_SCHEMA_NAME} is incomplete")


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value)


def _text(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | _BYTES) + _varint(len(value)) + value


def _field(name: bytes, number: int, kind: int, type_name: bytes = b"") -> bytes:
    descriptor = _text(1, name) + _number(3, number) + _number(4, 1) + _number(5, kind)
    return _text(2, descriptor + (_text(6, type_name) if type_name else b""))


def _file(name: bytes, package: bytes, message: bytes, fields: bytes, imports: bytes = b"") -> bytes:
    dependency = _text(3, imports) if imports else b""
    descriptor = _text(4, _text(1, message) + fields)
    return _text(1, _text(1, name) + _text(2, package) + dependency + descriptor + _text(12, b"proto3"))


IMAGE_SCHEMA = _file(
    _STAMP_FILE, b"google.protobuf", b"Timestamp", _field(b"seconds", 1, _INT64) + _field(b"nanos", 2, _INT32)
) + _file(
    b"foxglove/CompressedImage.proto",
    b"foxglove",
    b"CompressedImage",
    _field(b"timestamp", _TIMESTAMP, _MESSAGE, b".google.protobuf.Timestamp")
    + _field(b"frame_id", _FRAME_ID, _STRING)
    + _field(b"data", _DATA, _BLOB)
    + _field(b"format", _FORMAT, _STRING),
    imports=_STAMP_FILE,
)
"""Protobuf file descriptors of the picture message and its import, in the form that MCAP requires."""


_ENDS = "the file ends"
NOT_CLOSED = f"{_ENDS} without its index: the recording was not closed"
"""Problem of a file that ends after a whole record but without an index, as after a power cut."""
CUT = f"{_ENDS} in the middle of a record"
"""Problem of a file that ends within its last record."""


class RecordingError(OSError):
    """A recording cannot be read or written, or a file is not a recording."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A part of a file that cannot be used.

    Attributes:
        start_byte: Offset of the first unusable byte.
        end_byte: Offset of the next usable byte. Equal to *start_byte* if data is missing.
        problem: Description of the fault.
        after_ns: Time of the last record before the damage, or None.
        before_ns: Time of the next record after the damage, or None.
        lost: Number of records missing between these two. None if unknown, because no record follows.
    """

    start_byte: int
    end_byte: int
    problem: str
    after_ns: int | None = None
    before_ns: int | None = None
    lost: int | None = None

    @property
    def is_cut(self) -> bool:
        """True if the file only ends early, as after a power cut. False for zeroed or changed bytes."""
        return self.problem.startswith(_ENDS)

    def __str__(self) -> str:
        where = f"byte {self.start_byte}"
        if self.end_byte > self.start_byte + 1:
            where = f"bytes {self.start_byte} to {self.end_byte - 1}"
        if not self.lost:
            return f"{where}: {self.problem}"
        when = ""
        if self.after_ns is not None and self.before_ns is not None:
            when = f" between {self.after_ns / 1e9:.3f} s and {self.before_ns / 1e9:.3f} s"
        return f"{where}: {self.problem}; {self.lost} record{'s' if self.lost > 1 else ''} lost{when}"
