"""An index with a right checksum that does not agree with itself or with the data is found out and not used."""

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

Index = list[bytearray]  # a record with its head in each


def with_index(path: Path, change: Callable[[Index], None]) -> None:
    """Change the index of a recording and make its checksum right again."""
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
    return lambda index: index.remove(next(one for one in index if one[0] == opcode))


def another(opcode: Opcode, at: int, form: str, value: int) -> Callable[[Index], None]:
    """Put another number at a place of the first record of a kind."""
    return lambda index: struct.pack_into(form, next(one for one in index if one[0] == opcode), at, value)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (without(Opcode.STATISTICS), "does not count the records of each channel"),
        (without(Opcode.CHUNK_INDEX), "counts 9 chunks, but leads to 8"),
        (another(Opcode.STATISTICS, _HEAD_BYTES, "<Q", 10), "its counts do not fit each other"),
        (another(Opcode.STATISTICS, 0, "<B", Opcode.MESSAGE), "a kind that does not belong there"),
        (another(Opcode.CHANNEL, _HEAD_BYTES + 4, "<I", 9999), "the lengths in a record of it do not fit"),
        (lambda index: index.append(bytearray(b"\x08")), "ends in the middle of a record"),
        (another(Opcode.CHUNK_INDEX, 1, "<Q", 1 << 40), "ends in the middle of a record"),
        (another(Opcode.CHUNK_INDEX, FROM_NS, "<Q", 1 << 60), "it was made at another time"),
        (another(Opcode.CHUNK_INDEX, _START, "<Q", 1 << 40), "leads out of the data"),
        (another(Opcode.CHUNK_INDEX, _LENGTH, "<Q", 60), "its length is another"),
        (another(Opcode.CHUNK_INDEX, _CHANNELS_BYTES, "<I", 9), "the lengths in a record of it do not fit"),
        (another(Opcode.CHUNK_INDEX, _NAME_BYTES, "<I", 9), "the lengths in a record of it do not fit"),
    ],
)
def test_a_wrong_index_is_named_and_the_records_are_read_without_it(
    tmp_path: Path, change: Callable[[Index], None], problem: str
) -> None:
    path = write(tmp_path / "a.mcap")
    pictures = [one for one in records_of(path) if one.topic is Topic.CAMERA]
    with_index(path, change)
    with path.open("rb") as file, pytest.raises(IndexDamageError, match=problem):
        EndIndex.read(file).on((Topic.CAMERA,))
    found = list(records_on(path, (Topic.CAMERA,)))
    assert [one for one in found if not isinstance(one, Damage)] == pictures
    assert [one for one in found if isinstance(one, Damage)] != []


def test_an_index_whose_entries_do_not_follow_one_another_is_not_read_backwards(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap")
    with_index(path, lambda index: index[-7].__setitem__(0, Opcode.METADATA_INDEX))
    with path.open("rb") as file, pytest.raises(IndexDamageError, match="its entries do not fit each other"):
        list(EndIndex.read(file).last(Topic.OUTCOME))


@pytest.mark.parametrize(
    ("from_the_end", "problem"), [(-_FOOTER_BYTES + 16, "nothing says where it begins"), (-60, "its checksum")]
)
def test_an_index_without_its_checksum_or_its_place_is_not_used(
    tmp_path: Path, from_the_end: int, problem: str
) -> None:
    path = write(tmp_path / "a.mcap")
    whole, data = records_of(path), bytearray(path.read_bytes())
    data[from_the_end] ^= 1
    path.write_bytes(data)
    with path.open("rb") as file, pytest.raises(IndexDamageError, match=problem):
        EndIndex.read(file)
    *found, damage = records_on(path, tuple(Topic))
    assert found == whole
    assert isinstance(damage, Damage)


def test_the_last_records_on_a_topic_come_first_even_where_chunks_have_several(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(PROFILE, "other")
        schema = writer.register_schema("any", "jsonschema", b"{}")
        event, outcome = (writer.register_channel(one.path, "json", schema) for one in (Topic.EVENT, Topic.OUTCOME))
        for number in range(6):
            writer.add_message(outcome if number % 2 else event, number, b"{}", number, number)
        writer.finish()
    with path.open("rb") as file:
        assert [one.number for one in EndIndex.read(file).last(Topic.OUTCOME)] == [5, 3, 1]
