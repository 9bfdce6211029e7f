"""Tests of reading cut, damaged and invalid recordings: intact records are read, and missing ones are reported."""

from __future__ import annotations

import os
import random
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import Chunk
from mcap.writer import MCAP0_MAGIC, CompressionType, Writer

from tallybone.recording.container import DATA_CHANGED, RawRecord, scan
from tallybone.recording.format import METADATA_NAME, NOT_CLOSED, PROFILE, Damage, RecordingError, Topic
from tallybone.recording.index import records_on
from tallybone.recording.reader import RecordedMessage, read_recording, whole_only
from tallybone.recording.resume import left_in
from tallybone.recording.survey import survey
from tallybone.recording.writer import RecordingWriter
from tests.tallybone.recording.damages import Layout, with_checksum
from tests.tallybone.recording.sittings import SECOND, START, damage_of, jpeg, numbers, records_of, write


def pieces_of(path: Path) -> list[RawRecord]:
    with path.open("rb") as file:
        return [piece for piece in scan(file, path.stat().st_size) if isinstance(piece, RawRecord)]


def chunks_of(path: Path) -> list[RawRecord]:
    return [piece for piece in pieces_of(path) if piece.opcode == Opcode.CHUNK]


def overwrite(path: Path, place: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        file.write(data)


@pytest.mark.slow
def test_a_cut_file_gives_every_complete_record_and_reports_the_cut(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.mcap", frames=1)
    data, everything = whole.read_bytes(), records_of(whole)
    ends = [chunk.end_byte for chunk in chunks_of(whole)]
    assert len(ends) == len(everything) == 3
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(data)
    first = data.index(b"\x0c", len(MCAP0_MAGIC) + 9 + 20)  # metadata, without which the file is not recognised
    opened = 0
    for length in range(len(data) - 1, -1, -1):
        os.truncate(cut, length)
        try:
            found = list(read_recording(cut))
        except RecordingError:
            assert length < first
            continue
        opened += 1
        complete = sum(end <= length for end in ends)
        assert [finding for finding in found if isinstance(finding, RecordedMessage)] == everything[:complete], length
        assert isinstance(found[-1], Damage), length
        assert "ends" in found[-1].problem, length
        assert found[-1].end_byte == length
    assert opened > len(data) - 100


@pytest.mark.parametrize("place", ["opcode", "length", "claims 4 GB", "checksum", "first byte", "payload", "last byte"])
@pytest.mark.parametrize("index", [0, 4, 8])
def test_a_damaged_chunk_affects_only_itself(tmp_path: Path, index: int, place: str) -> None:
    path = write(tmp_path / "a.mcap")
    everything, chunk = records_of(path), chunks_of(path)[index]
    start = chunk.start_byte
    position, data = {
        "opcode": (start, b"\x86"),
        "length": (start + 1, b"\xee\xee"),
        "claims 4 GB": (start + 1, struct.pack("<Q", 2**32)),
        "checksum": (start + 9 + 24, b"\xee\xee\xee\xee"),
        "first byte": (start + 9 + 40, b"\xee"),
        "payload": (chunk.end_byte - 12, b"\xee\xee"),
        "last byte": (chunk.end_byte - 1, b"\xee"),
    }[place]
    overwrite(path, position, data)
    assert records_of(path) == everything[:index] + everything[index + 1 :]
    damage = damage_of(path)[0]
    assert damage.start_byte == start
    assert chunk.end_byte <= damage.end_byte <= chunk.end_byte + 60
    if index == 4:
        assert (damage.after_ns, damage.before_ns, damage.lost) == (2 * SECOND, 2 * SECOND + 2, 1)
        assert str(damage).startswith(f"bytes {start} to ")
        assert str(damage).endswith("; 1 record lost between 2.000 s and 2.000 s")
        for which in (1, 2):
            overwrite(path, chunks_of(path)[which].end_byte - 1, b"\xee")
        assert numbers(records_of(path)) == [0, 3, 5, 6, 7, 8]
        assert [damage.lost for damage in damage_of(path)] == [2, 0, 1]


def test_a_removed_chunk_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap")
    data, chunks = path.read_bytes(), chunks_of(path)
    path.write_bytes(data[: chunks[3].start_byte] + data[chunks[5].start_byte :])
    assert numbers(records_of(path)) == [0, 1, 2, 5, 6, 7, 8]
    missing, changed = damage_of(path)
    assert (missing.problem, missing.lost, changed.problem) == ("records are missing", 2, DATA_CHANGED)
    path.write_bytes(data[: chunks[3].start_byte] + data[chunks[4].start_byte : chunks[8].start_byte])
    with path.open("ab") as file:
        file.write(data[chunks[3].start_byte : chunks[4].start_byte])
    assert numbers(records_of(path)) == [0, 1, 2, 4, 5, 6, 7, 3]
    found = [(damage.problem, damage.lost, damage.after_ns, damage.before_ns) for damage in damage_of(path)]
    assert found == [
        ("records are missing", 1, SECOND + 2, 2 * SECOND + 1),
        ("a record is out of order", 0, 3 * SECOND + 1, 2 * SECOND),
        (NOT_CLOSED, None, 2 * SECOND, None),
    ]


def test_a_wrong_checksum_of_the_data_is_reported_if_nothing_else_is_wrong(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap")
    at = Layout.of(path).index_byte - 13
    overwrite(path, at + 9, b"\0\0\0\0")  # other tools write no checksum
    assert damage_of(path) == []
    overwrite(path, at + 9, b"\0\0\0\1")
    assert damage_of(path) == [Damage(len(MCAP0_MAGIC), at, DATA_CHANGED, 3 * SECOND + 2)]
    overwrite(path, chunks_of(path)[2].end_byte - 1, b"\xee")
    (damage,) = damage_of(path)
    assert damage.problem == "the checksum of a chunk is wrong"


@pytest.mark.slow
def test_a_flipped_bit_never_changes_a_record_and_is_always_reported(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.mcap", frames=1)
    data, everything = whole.read_bytes(), records_of(whole)
    path, rng = tmp_path / "a.mcap", random.Random(4)
    first_chunk = chunks_of(whole)[0].start_byte
    every_bit_of_the_head = [(place, bit) for place in range(first_chunk) for bit in range(8)]
    some_of_the_rest = [(place, rng.randrange(8)) for place in rng.sample(range(first_chunk, len(data)), 600)]
    for place, bit in every_bit_of_the_head + some_of_the_rest:
        path.write_bytes(data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :])
        try:
            recording = read_recording(path)
        except RecordingError:
            assert place < len(MCAP0_MAGIC)
            continue
        found = [record for record in recording if isinstance(record, RecordedMessage)]
        assert recording.start in (START, None)
        assert len(found) >= len(everything) - 1, place
        assert [record for record in everything if record in found] == found, place
        assert damage_of(path), place


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "it is empty"),
        (MCAP0_MAGIC[:5], "ends within"),
        (b"no recording at all", "not an MCAP file"),
        (MCAP0_MAGIC, "another kind of MCAP file, or empty"),
        (MCAP0_MAGIC + bytes(5000), "another kind of MCAP file, or empty"),
        (MCAP0_MAGIC + random.Random(6).randbytes(300_000), "another kind of MCAP file, or empty"),
        (MCAP0_MAGIC + b"\x06\xff\xff\xff\xff\x03\0\0\0" + b"\x06" * 3000, "another kind of MCAP file, or empty"),
    ],
)
def test_invalid_files_are_reported_by_name(tmp_path: Path, data: bytes, problem: str) -> None:
    path = tmp_path / "a.mcap"
    path.write_bytes(data)
    with pytest.raises(RecordingError, match=problem) as caught:
        read_recording(path)
    assert str(caught.value).startswith(f"{path}: ")
    for other in (tmp_path, tmp_path / "nowhere.mcap"):
        with pytest.raises(RecordingError, match=str(other)):
            read_recording(other)


def foreign(
    path: Path, *, profile: str, compression: CompressionType = CompressionType.NONE, chunk_bytes: int = 1 << 20
) -> Path:
    """Write a recording with the writer of mcap, with many records per chunk."""
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=chunk_bytes, compression=compression)
        writer.start(profile, "other")
        writer.add_metadata(METADATA_NAME, START.format())
        schema = writer.register_schema("tallybone.Event", "jsonschema", b"{}")
        channel = writer.register_channel(Topic.EVENT.path, "json", schema)
        for number in range(50):
            writer.add_message(channel, number, b'{"number": %d}' % number, number, number)
        writer.finish()
    return path


@pytest.mark.parametrize("compression", list(CompressionType))
def test_a_recording_compressed_by_mcap_tools_is_read(tmp_path: Path, compression: CompressionType) -> None:
    path = foreign(tmp_path / "a.mcap", profile=PROFILE, compression=compression)
    assert [record.payload for record in records_of(path)] == [{"number": number} for number in range(50)]
    assert damage_of(path) == []
    assert len(records_of(foreign(path, profile=PROFILE, compression=compression, chunk_bytes=300))) == 50
    assert len(chunks_of(path)) > 3
    data, rng = foreign(path, profile=PROFILE, compression=compression).read_bytes(), random.Random(7)
    (chunk,) = chunks_of(path)
    for _ in range(200):
        damaged = bytearray(data)
        damaged[rng.randrange(chunk.start_byte, chunk.end_byte)] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        assert len(records_of(path)) in (0, 50)


def test_invalid_json_is_damage_and_unknown_topics_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with path.open("wb") as file:
        writer = Writer(file, compression=CompressionType.NONE)
        writer.start(PROFILE, "other")
        writer.add_metadata(METADATA_NAME, START.format())
        schema = writer.register_schema("tallybone.Event", "jsonschema", b"{}")
        event, later = (writer.register_channel(name, "json", schema) for name in (Topic.EVENT.path, "/later"))
        texts = (b'{"a": 1}', b"[1]", b"no json", b"[" * 100_000)
        for number, (channel, text) in enumerate([*((event, text) for text in texts), (later, b"?")]):
            writer.add_message(channel, number, text, number, number)
        writer.finish()
    assert [record.payload for record in records_of(path)] == [{"a": 1}]
    assert [damage.problem[:33] for damage in damage_of(path)] == [
        f"record {number} on {Topic.EVENT.path} cannot be read: "[:33] for number in (1, 2, 3)
    ]
    found = list(records_on(path, (Topic.EVENT,)))
    assert [finding.payload for finding in found if isinstance(finding, RecordedMessage)] == [{"a": 1}]
    assert any(isinstance(finding, Damage) for finding in found)


@pytest.mark.parametrize("opcode", [Opcode.HEADER, Opcode.METADATA, Opcode.STATISTICS])
def test_a_wrong_length_is_damage_without_losing_records(tmp_path: Path, opcode: Opcode) -> None:
    path = write(tmp_path / "a.mcap")
    whole = records_of(path)
    (start_byte,) = {piece.start_byte for piece in pieces_of(path) if piece.opcode == opcode}
    overwrite(path, start_byte + 9, b"\xff\xff\xff\xff")
    assert records_of(path) == whole
    assert damage_of(path) != []
    if opcode is Opcode.HEADER:
        overwrite(path, start_byte + 9, struct.pack("<I", len(PROFILE)) + b"T")
        assert (records_of(path), read_recording(path).start) == (whole, START)
        assert damage_of(path)[0].problem == "its header is damaged"


def test_an_oversized_compressed_chunk_is_refused(tmp_path: Path) -> None:
    path = foreign(tmp_path / "a.mcap", profile=PROFILE, compression=CompressionType.ZSTD)
    (chunk,) = chunks_of(path)
    overwrite(path, chunk.start_byte + 9 + 16, struct.pack("<Q", 2**40))
    (damage, *_) = damage_of(path)
    assert "claims 1099511627776 bytes" in damage.problem


def headed(path: Path, profile: str, **metadata: dict[str, str]) -> Path:
    """Write a file without records, with these metadata."""
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(profile, "other")
        for name, fields in metadata.items():
            writer.add_metadata(name, fields)
        writer.finish()
    return path


def test_files_of_other_programs_and_later_versions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="another kind"):
        read_recording(headed(tmp_path / "a.mcap", "ros2"))
    later = with_checksum(START.format() | {"format": "2"})
    with pytest.raises(RecordingError, match=r"later\.mcap: it has format 2"):
        read_recording(headed(tmp_path / "later.mcap", PROFILE, **{METADATA_NAME: later}))
    path = headed(tmp_path / "b.mcap", PROFILE, other={"a": "b"}, **{METADATA_NAME: START.format()})
    assert (read_recording(path).start, damage_of(path)) == (START, [])  # other metadata are ignored


def test_a_growing_recording_can_be_read(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "a.mcap", START) as writer:
        writer.frame(1, jpeg(1))
        reading: Iterator[RecordedMessage | Damage] = iter(read_recording(tmp_path / "a.mcap"))
        assert isinstance(next(reading), RecordedMessage)
        writer.frame(2, jpeg(2))
        (end,) = reading
        assert isinstance(end, Damage)
        assert "was not closed" in end.problem


def test_a_recording_cut_during_reading_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, START) as writer:
        for number in range(6):
            writer.frame(number, jpeg(number, 200_000))
    everything, fourth = records_of(path), chunks_of(path)[3]
    reading = iter(read_recording(path))
    found = [next(reading)]
    os.truncate(path, fourth.start_byte + 1000)
    found += reading
    assert found[:3] == everything[:3]
    assert f"ends in the middle of a record at byte {fourth.start_byte}" in str(found[3])


@pytest.mark.parametrize("length", [0, 20, 24, 39, 40])
def test_a_chunk_shorter_than_its_head_affects_only_itself(tmp_path: Path, length: int) -> None:
    path = write(tmp_path / "a.mcap")
    everything, chunk = records_of(path), chunks_of(path)[4]
    overwrite(path, chunk.start_byte + 1, struct.pack("<Q", length))
    assert records_of(path) == everything[:4] + everything[5:]
    assert damage_of(path)[0].problem == "a record with inconsistent lengths"


def test_reading_continues_after_megabytes_of_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, START) as writer:
        writer.frame(1, jpeg(1, 3 << 20))
        writer.frame(2, jpeg(2))
    overwrite(path, chunks_of(path)[0].start_byte, bytes(9))
    assert numbers(records_of(path)) == [1]
    damage = damage_of(path)[0]
    assert damage.end_byte - damage.start_byte > 3 << 20
    assert str(damage).endswith("; 1 record lost")  # the first record has no earlier time


def test_a_recording_cut_in_its_index_has_all_records(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap")
    everything, layout = records_of(path), Layout.of(path)
    first = 9 + int.from_bytes(layout.data[layout.index_byte + 1 : layout.index_byte + 9], "little")
    os.truncate(path, layout.index_byte + first)
    assert records_of(path) == everything
    assert [str(damage) for damage in damage_of(path)] == [
        f"byte {layout.index_byte + first}: the file ends within its index"
    ]


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        (struct.pack("<BQ", Opcode.MESSAGE, 100), "a record in it is incomplete"),
        (struct.pack("<BQHIQQ", Opcode.MESSAGE, 22, 5, 0, 1, 1), "a message is of channel 5, which is not defined"),
    ],
)
def test_a_chunk_with_valid_checksum_and_wrong_records_is_damage(tmp_path: Path, records: bytes, problem: str) -> None:
    path, builder = tmp_path / "a.mcap", RecordBuilder()
    Chunk("", records, 1, 1, zlib.crc32(records), len(records)).write(builder)
    with RecordingWriter(path, START) as writer:
        writer.write(Topic.EVENT, 1, {})
    data = path.read_bytes()
    path.write_bytes(data[: chunks_of(path)[0].start_byte] + builder.end() + data[chunks_of(path)[0].start_byte :])
    assert numbers(records_of(path)) == [0]
    assert problem in str(damage_of(path)[0])


def test_a_recording_with_damaged_metadata_gives_its_records(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap")
    everything = [record for record in records_of(path) if record.topic is Topic.EVENT]
    path.write_bytes(path.read_bytes().replace(b'["Ann", "Bob"]', b'["Ann", "Rob"]'))
    damage, *found = records_on(path, (Topic.EVENT,))
    assert found == everything
    assert "its match data cannot be read: wrong checksum" in str(damage)
    with pytest.raises(RecordingError, match="its match data is damaged"):
        left_in(read_recording(path))
    overwrite(path, chunks_of(path)[1].end_byte - 1, b"\xee")  # found only if all records are read
    (damage,) = survey(path).facts.damage
    assert damage.problem.startswith("its match data cannot be read")
    assert survey(path).players == ()


def test_damage_is_told_with_advice_unless_the_file_only_ends_early(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap")
    told = list[str]()
    os.truncate(path, Layout.of(path).index_byte - 20)
    for damaged, places in ((None, ""), (0, "1 damaged place;"), (5, "2 damaged places;")):
        told.clear()
        if damaged is not None:
            overwrite(path, chunks_of(path)[damaged].end_byte - 1, b"\xee")
        assert list(whole_only(read_recording(path), path, told.append)) == records_of(path)
        assert told[: len(damage_of(path))] == [f"{path}: {damage}" for damage in damage_of(path)]
        assert [line[: len(f"{path}: {places}")] for line in told[len(damage_of(path)) :]] == (
            [f"{path}: {places}"] if places else []
        )
