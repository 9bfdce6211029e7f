"""Tests of rejecting an index with a valid checksum and inconsistent contents."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from mcap.opcode import Opcode
from mcap.writer import MCAP0_MAGIC, Writer

from tallybone.recording.format import METADATA_NAME, PROFILE, Damage, Topic
from tallybone.recording.index import EndIndex, IndexDamageError, first_ns, records_on
from tallybone.recording.reader import RecordedMessage
from tests.tallybone.recording.damages import Layout
from tests.tallybone.recording.sittings import SECOND, START, records_of, write

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
        (without(Opcode.CHANNEL), "does not count the records of each channel"),
        (without(Opcode.CHUNK_INDEX), "counts 9 chunks, but leads to 8"),
        (lambda index: index.insert(9, index[9]), "counts 9 chunks, but leads to 10"),
        (lambda index: index.__setitem__(8, index[11]), "it counts 3 records on /camera, but leads to 2"),
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
    begin, end = Layout.of(path).index_byte, path.stat().st_size
    with path.open("rb") as file, pytest.raises(IndexDamageError, match=problem) as caught:
        EndIndex.read(file).on((Topic.CAMERA,))
    damage = caught.value.damage
    least, most = (8, begin) if "does not match a chunk" in damage.problem else (begin, end)
    assert least <= damage.start_byte <= damage.end_byte <= most
    assert damage.problem == f"the index cannot be used: {caught.value}"
    assert first_ns(path, (Topic.OUTCOME, Topic.EVENT)) == SECOND + 1
    found = list(records_on(path, (Topic.CAMERA,)))
    assert [finding for finding in found if not isinstance(finding, Damage)] == pictures
    assert [finding for finding in found if isinstance(finding, Damage)] != []


def test_an_inconsistent_index_is_not_read_backwards(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap")
    with_index(path, lambda index: index[-7].__setitem__(0, Opcode.METADATA_INDEX))
    with path.open("rb") as file, pytest.raises(IndexDamageError, match="its entries are inconsistent") as caught:
        list(EndIndex.read(file).last(Topic.OUTCOME))
    assert caught.value.damage.end_byte - caught.value.damage.start_byte == 83


_ENDS, _UNKNOWN, _WRONG = "the file does not end with it", "its start is unknown", "wrong checksum"


@pytest.mark.parametrize(
    ("from_the_end", "problem", "since"),
    [
        *((-1, _ENDS, -_FOOTER_BYTES), (-8, _ENDS, -_FOOTER_BYTES), (-_FOOTER_BYTES, _UNKNOWN, -_FOOTER_BYTES)),
        *((-_FOOTER_BYTES + 1, _UNKNOWN, -_FOOTER_BYTES), (-_FOOTER_BYTES + 16, _UNKNOWN, -_FOOTER_BYTES)),
        *((-60, _WRONG, 0), (-9, _WRONG, 0), (-13, _WRONG, 0), (None, _WRONG, 0)),
    ],
)
def test_an_index_without_valid_checksum_or_offset_is_not_used(
    tmp_path: Path, from_the_end: int | None, problem: str, since: int
) -> None:
    path = write(tmp_path / "a.mcap")
    layout, whole, data = Layout.of(path), records_of(path), bytearray(path.read_bytes())
    data[layout.index_byte if from_the_end is None else from_the_end] ^= 1
    path.write_bytes(data)
    with path.open("rb") as file, pytest.raises(IndexDamageError, match=problem) as caught:
        EndIndex.read(file)
    assert caught.value.damage.start_byte == (len(data) + since if since else layout.index_byte)
    assert caught.value.damage.end_byte == len(data)
    *found, damage = records_on(path, tuple(Topic))
    assert found == whole
    assert isinstance(damage, Damage)


@pytest.mark.parametrize("chunk_bytes", [1, 80, 1 << 20])
def test_the_index_of_another_writer_is_used(tmp_path: Path, chunk_bytes: int) -> None:
    path = tmp_path / "a.mcap"
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=chunk_bytes)
        writer.start(PROFILE, "other")
        writer.add_metadata(METADATA_NAME, START.format())
        schema = writer.register_schema("any", "jsonschema", b"{}")
        topics = (Topic.EVENT, Topic.OUTCOME, Topic.KNOCK)
        event, outcome, _ = (writer.register_channel(topic.path, "json", schema) for topic in topics)
        for number in (4, 1, 2, 3, 0, 5):
            writer.add_message(outcome if number % 2 else event, 7 + number, b"{}", number, number)
        writer.finish()
    with path.open("rb") as file:
        index = EndIndex.read(file)
        assert [message.number for message in index.last(Topic.OUTCOME)] == [5, 3, 1]
        assert [message.number for message in index.on((Topic.EVENT, Topic.OUTCOME))] == list(range(6))
        assert [index.count((topic,)) for topic in topics] == [3, 3, 0]
        assert index.count(topics) == 6
        assert index.length_ns == 5
    assert [record.number for record in records_on(path, (Topic.EVENT,)) if isinstance(record, RecordedMessage)] == [
        *(0, 2, 4)
    ]


def test_the_time_of_the_first_record_on_some_topics(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap")
    wanted = {(Topic.CAMERA,): SECOND, (Topic.EVENT, Topic.KNOCK): SECOND + 1, (Topic.KNOCK,): 0}
    for _ in range(2):
        assert {topics: first_ns(path, topics) for topics in wanted} == wanted
        path.write_bytes(path.read_bytes()[:-1])  # now without an index
