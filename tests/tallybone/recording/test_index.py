"""Tests of rejecting an index with a valid checksum and inconsistent contents."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from mcap.opcode import Opcode
from mcap.writer import MCAP0_MAGIC, Writer

from tallybone.recording.format import PROFILE, Damage, Topic
from tallybone.recording.index import EndIndex, IndexDamageError, records_on
from tests.tallybone.recording.damages import Layout
from tests.tallybone.recording.sittings import records_of, write

_FOOTER_BYTES, _CRC_AND_MAGIC_BYTES, _HEAD_BYTES = 37, 12, 9
FROM_NS, _START, _LENGTH, _CHANNELS_BYTES, _NAME_BYTES = (_HEAD_BYTES + at for at in (0, 16, 24, 32, 54))

Index = list[bytearray]  # each item is a record with its head


def with_index(path: Path, change: Callable[[Index], None]) -> None:
    """Change the index of a recording and update its checksum."""
    layout, records, at = Layout.of(path), Index(), 0
    index = layout.data[layout.index_byte : -_FOOTER_BYTES]
    while at < len(index):
        length = _HEAD_BYTES + int.from_bytes(index[at + 1 : at + _HEAD_BYTES], "little")
        records.append(bytearray(index[at : at + length]))
        at += length
    change(records)
    changed = b"".join(records)
    footer = layout.data[-_FOOTER_BYTES:-_CRC_AND_MAGIC_BYTES]
    crc = struct.pack("<I", zlib.crc32(footer, zlib.crc32(changed)))
    path.write_bytes(layout.data[: layout.index_byte] + changed + footer + crc + MCAP0_MAGIC)


def without(opcode: Opcode) -> Callable[[Index], None]:
    return lambda index: index.remove(next(record for record in index if record[0] == opcode))


def with_number(opcode: Opcode, at: int, form: str, value: int) -> Callable[[Index], None]:
    """Replace a number in the first record of a kind."""
    return lambda index: struct.pack_into(form, next(record for record in index if record[0] == opcode), at, value)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (without(Opcode.STATISTICS), "does not count the records of each channel"),
        (without(Opcode.CHUNK_INDEX), "counts 9 chunks, but leads to 8"),
        (with_number(Opcode.STATISTICS, _HEAD_BYTES, "<Q", 10), "its counts are inconsistent"),
        (with_number(Opcode.STATISTICS, 0, "<B", Opcode.MESSAGE), "an unexpected kind"),
        (with_number(Opcode.CHANNEL, _HEAD_BYTES + 4, "<I", 9999), "a record in it has inconsistent lengths"),
        (lambda index: index.append(bytearray(b"\x08")), "ends in the middle of a record"),
        (with_number(Opcode.CHUNK_INDEX, 1, "<Q", 1 << 40), "ends in the middle of a record"),
        (with_number(Opcode.CHUNK_INDEX, FROM_NS, "<Q", 1 << 60), "its times differ"),
        (with_number(Opcode.CHUNK_INDEX, _START, "<Q", 1 << 40), "points outside the data"),
        (with_number(Opcode.CHUNK_INDEX, _LENGTH, "<Q", 60), "its length differs"),
        (with_number(Opcode.CHUNK_INDEX, _CHANNELS_BYTES, "<I", 9), "a record in it has inconsistent lengths"),
        (with_number(Opcode.CHUNK_INDEX, _NAME_BYTES, "<I", 9), "a record in it has inconsistent lengths"),
    ],
)
def test_a_wrong_index_is_reported_and_not_used(tmp_path: Path, change: Callable[[Index], None], problem: str) -> None:
    path = write(tmp_path / "a.mcap")
    pictures = [record for record in records_of(path) if record.topic is Topic.CAMERA]
    with_index(path, change)
    with path.open("rb") as file, pytest.raises(IndexDamageError, match=problem):
        EndIndex.read(file).on((Topic.CAMERA,))
    found = list(records_on(path, (Topic.CAMERA,)))
    assert [finding for finding in found if not isinstance(finding, Damage)] == pictures
    assert [finding for finding in found if isinstance(finding, Damage)] != []


def test_an_inconsistent_index_is_not_read_backwards(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap")
    with_index(path, lambda index: index[-7].__setitem__(0, Opcode.METADATA_INDEX))
    with path.open("rb") as file, pytest.raises(IndexDamageError, match="its entries are inconsistent"):
        list(EndIndex.read(file).last(Topic.OUTCOME))


@pytest.mark.parametrize(
    ("from_the_end", "problem"), [(-_FOOTER_BYTES + 16, "its start is unknown"), (-60, "wrong checksum")]
)
def test_an_index_without_valid_checksum_or_offset_is_not_used(tmp_path: Path, from_the_end: int, problem: str) -> None:
    path = write(tmp_path / "a.mcap")
    whole, data = records_of(path), bytearray(path.read_bytes())
    data[from_the_end] ^= 1
    path.write_bytes(data)
    with path.open("rb") as file, pytest.raises(IndexDamageError, match=problem):
        EndIndex.read(file)
    *found, damage = records_on(path, tuple(Topic))
    assert found == whole
    assert isinstance(damage, Damage)


def test_reading_backwards_from_chunks_of_several_records(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(PROFILE, "other")
        schema = writer.register_schema("any", "jsonschema", b"{}")
        event, outcome = (writer.register_channel(topic.path, "json", schema) for topic in (Topic.EVENT, Topic.OUTCOME))
        for number in range(6):
            writer.add_message(outcome if number % 2 else event, number, b"{}", number, number)
        writer.finish()
    with path.open("rb") as file:
        assert [message.number for message in EndIndex.read(file).last(Topic.OUTCOME)] == [5, 3, 1]
