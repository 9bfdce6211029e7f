"""Tests of the pictures in a recording as `foxglove.CompressedImage` messages."""

from __future__ import annotations

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from tallybone.recording.format import IMAGE_SCHEMA, ImageMessage


def test_the_bytes_of_a_message() -> None:
    message = ImageMessage(b"JPEG", "7.jpg").encode(3_000_000_005)
    assert message == b"\x0a\x04\x08\x03\x10\x05" + b"\x12\x04JPEG" + b"\x1a\x04jpeg" + b"\x22\x057.jpg"
    assert ImageMessage.decode(message) == ImageMessage(b"JPEG", "7.jpg")


@pytest.mark.parametrize("size_bytes", [0, 1, 127, 128, 16_383, 16_384, 3_000_000])
def test_pictures_of_any_size_are_decoded(size_bytes: int) -> None:
    image = ImageMessage(bytes(size_bytes))
    assert ImageMessage.decode(image.encode(2**62)) == image


@pytest.mark.parametrize(
    ("name", "read"), [("a\udcff.jpg", "a\\udcff.jpg"), ("camera", None), ("", None), (None, None), ("1", "1")]
)
def test_a_name_is_encoded_and_a_missing_one_replaced(name: str | None, read: str | None) -> None:
    assert ImageMessage.decode(ImageMessage(b"", name).encode(0)).name == read


@pytest.mark.parametrize(
    "message",
    [
        *(b"", b"\x12", b"\x12\x05JPEG", b"\x08\x01", b"\x12\xff", b"\x80" * 9 + b"\0", b"\x12\x01J\x1a\x03png"),
        *(b"\x1a\x04jpeg", b"\x12\x01J\x1a\x05jpeg", b"\x12\x01J\x1a\x04jpe", b"\x12" + b"\x80" * 10 + b"\1J"),
    ],
)
def test_invalid_messages_are_refused(message: bytes) -> None:
    with pytest.raises(ValueError, match=r"CompressedImage"):
        ImageMessage.decode(message)


def test_the_schema_is_valid_protobuf() -> None:
    stamp, image = FileDescriptorSet.FromString(IMAGE_SCHEMA).file
    assert (stamp.name, stamp.package, stamp.syntax) == ("google/protobuf/timestamp.proto", "google.protobuf", "proto3")
    assert (image.package, list(image.dependency)) == ("foxglove", [stamp.name])
    assert [(field.name, field.number) for field in image.message_type[0].field] == [
        ("timestamp", 1),
        ("frame_id", 4),
        ("data", 2),
        ("format", 3),
    ]
