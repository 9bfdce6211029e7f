"""A JPEG as `foxglove.CompressedImage`: four fields of protobuf, written and read by hand.

The library would be a dependency for these four fields, and JSON would make every picture a third larger.
"""

from __future__ import annotations

from dataclasses import dataclass

IMAGE_SCHEMA_NAME = "foxglove.CompressedImage"
UNNAMED = "camera"
"""The name that a picture has in the file when it has none of its own; Foxglove wants one."""

_NS_PER_S = 1_000_000_000
_VARINT, _BYTES = 0, 2  # wire types
_TIMESTAMP, _DATA, _FORMAT, _FRAME_ID = 1, 2, 3, 4  # numbers of the fields


@dataclass(frozen=True, slots=True)
class ImageMessage:
    """A picture in a recording; *name* is None where it has none but its number."""

    jpeg: bytes
    name: str | None = None

    def encode(self, t_ns: int) -> bytes:
        """Return the message, stamped with *t_ns*."""
        stamp = _number(1, t_ns // _NS_PER_S) + _number(2, t_ns % _NS_PER_S)
        return b"".join(
            (
                _text(_TIMESTAMP, stamp),
                _text(_DATA, self.jpeg),
                _text(_FORMAT, b"jpeg"),
                _text(_FRAME_ID, (self.name or UNNAMED).encode("utf-8", "backslashreplace")),
            )
        )

    @classmethod
    def decode(cls, message: bytes) -> ImageMessage:
        """Return the picture in a message.

        Raises:
            ValueError: If it is no message of a JPEG.
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
    """Return the number at a position and where it ends."""
    value = shift = 0
    while shift < 64 and at < len(data):
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    raise ValueError(f"a number in {IMAGE_SCHEMA_NAME} does not end")


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value)


def _text(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | _BYTES) + _varint(len(value)) + value


# Of google.protobuf.descriptor.proto, as far as four fields need it.
_MESSAGE, _STRING, _BLOB, _INT64, _INT32 = 11, 9, 12, 3, 5


def _field(name: bytes, number: int, kind: int, type_name: bytes = b"") -> bytes:
    described = _text(1, name) + _number(3, number) + _number(4, 1) + _number(5, kind)
    return _text(2, described + (_text(6, type_name) if type_name else b""))


def _file(name: bytes, package: bytes, message: bytes, fields: bytes, needs: bytes = b"") -> bytes:
    needed = _text(3, needs) if needs else b""
    described = _text(4, _text(1, message) + fields)
    return _text(1, _text(1, name) + _text(2, package) + needed + described + _text(12, b"proto3"))


_STAMP_FILE = b"google/protobuf/timestamp.proto"
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
    needs=_STAMP_FILE,
)
"""Descriptor of the message, with all that it needs, as MCAP wants it."""
