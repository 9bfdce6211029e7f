"""Tests of finding the records of complete, growing, cut and damaged recordings."""

from __future__ import annotations

import tracemalloc
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from mcap.data_stream import ReadDataStream, RecordBuilder
from mcap.opcode import Opcode
from mcap.records import Chunk

from tallybone.recording.format import NOT_CLOSED, PROFILE, RecordingError, Topic
from tallybone.recording.survey import MAX_TEXT_BYTES, Whereabouts
from tallybone.recording.writer import RecordingWriter
from tests.tallybone.recording.damages import Layout
from tests.tallybone.recording.sittings import SECOND, START, jpeg, records_of, write, write_later_version
from tests.tallybone.recording.test_index import FROM_NS, with_index, with_number
from tests.tallybone.recording.test_reader import foreign, pieces_of


def whereabouts_in(path: Path, *, is_growing: bool) -> Whereabouts:
    found = Whereabouts()
    with path.open("rb") as file:
        found.go_on(file, is_growing=is_growing)
    return found


def test_every_record_is_read_from_its_position(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap", frames=5)
    found = whereabouts_in(path, is_growing=False)
    with path.open("rb") as file:
        assert [found.read(file, place) for place in range(len(found))] == records_of(path)
    assert (found.first_ns, found.last_ns, found.damage) == (SECOND, 5 * SECOND + 2, ())
    assert list(found.of(Topic.CAMERA)) == [0, 3, 6, 9, 12]
    assert [found.following(place, Topic.OUTCOME) for place in (0, 1, 2)] == [range(1, 1), range(2, 3), range(3, 3)]
    assert found.t_ns(4) == 2 * SECOND + 1
    assert (Whereabouts().first_ns, Whereabouts().last_ns, len(Whereabouts())) == (0, 0, 0)


def test_an_incomplete_last_record_is_not_damage(tmp_path: Path) -> None:
    whole, expected = write(tmp_path / "a.mcap").read_bytes(), records_of(tmp_path / "a.mcap")
    path = tmp_path / "b.mcap"
    for size_bytes in (*range(300, len(whole), 97), *Layout.of(tmp_path / "a.mcap").chunks[1:]):
        path.write_bytes(whole[:size_bytes])
        with path.open("rb") as file:
            found = Whereabouts()
            found.go_on(file, is_growing=True)
            assert found.damage == ()
            known = len(found)
            assert [found.read(file, place) for place in range(known)] == expected[:known]
        ended = whereabouts_in(path, is_growing=False)
        with path.open("rb") as file:
            assert [ended.read(file, place) for place in range(len(ended))] == expected[: len(ended)]
        path.write_bytes(whole)
        with path.open("rb") as file:
            found.go_on(file, is_growing=False)
        assert (len(found), found.damage) == (9, ())
        assert known <= 9


@pytest.mark.parametrize("is_growing", [True, False])
def test_a_changed_byte_of_an_unclosed_recording_affects_one_record(tmp_path: Path, *, is_growing: bool) -> None:
    path = write(tmp_path / "a.mcap")
    layout, expected = Layout.of(path), records_of(path)
    whole = layout.data[: layout.index_byte - 13]  # without the record for the end of the data
    starts = [piece.start_byte for piece in pieces_of(path)]
    first, second, third = layout.chunks[:3]
    for at in (*range(8, first, 3), *range(first, first + 80), *range(second, second + 90), *range(third - 31, third)):
        offset = at - max(start for start in starts if start <= at)
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        if at - offset in layout.chunks and 37 <= offset < 41:  # the field for the compression
            with pytest.raises(RecordingError, match="rewritten by another tool"):
                whereabouts_in(path, is_growing=is_growing)
            continue
        found = whereabouts_in(path, is_growing=is_growing)
        problems, kept = [str(part) for part in found.damage], []
        with path.open("rb") as file:
            for place in range(len(found)):
                try:
                    kept.append(found.read(file, place))
                except RecordingError as error:
                    problems.append(str(error))
        assert [record for record in expected if record in kept] == kept, at
        if is_growing and offset in (1, 2, 3) and not problems:
            continue  # a possible length beyond the end of the file, so the record may still be growing
        assert len(kept) >= 8, at
        assert len(problems) > (not is_growing) or kept == expected, at


def test_up_to_twenty_damaged_places_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap", frames=20)
    data, chunks = bytearray(path.read_bytes()), Layout.of(path).chunks
    for at in chunks[::2]:
        data[at] = 0
    path.write_bytes(data[:-1])
    found = whereabouts_in(path, is_growing=False)
    assert [part.start_byte for part in found.damage] == list(chunks[:40:2])
    assert [found.start_byte(place) for place in range(len(found))] == list(chunks[1::2])
    path = write(tmp_path / "b.mcap")
    path.write_bytes(path.read_bytes()[: Layout.of(path).index_byte - 13])
    found = Whereabouts()
    with path.open("rb") as file:
        for _ in range(2):  # reported once
            found.go_on(file, is_growing=False)
    assert [part.problem for part in found.damage] == [NOT_CLOSED]


def test_records_on_unknown_topics_are_skipped_and_a_repacked_file_is_refused(tmp_path: Path) -> None:
    path = write_later_version(tmp_path / "a.mcap")
    for is_growing in (False, True):
        found = whereabouts_in(path, is_growing=is_growing)
        assert (len(found), found.t_ns(1), found.damage) == (2, 3, ())
        with path.open("rb") as file:
            assert [found.read(file, place) for place in range(2)] == records_of(path)
        with pytest.raises(RecordingError, match="rewritten by another tool: `tallybone replay` can read it"):
            whereabouts_in(foreign(tmp_path / "b.mcap", profile=PROFILE), is_growing=is_growing)


def test_an_index_with_an_impossible_time_is_not_used(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap")
    whole = whereabouts_in(path, is_growing=False)
    with_index(path, with_number(Opcode.CHUNK_INDEX, FROM_NS, "<Q", 1 << 63))
    found = whereabouts_in(path, is_growing=False)
    assert (len(found), found.first_ns, found.last_ns) == (len(whole), whole.first_ns, whole.last_ns)
    assert "impossible numbers" in found.damage[0].problem


def test_an_index_contradicting_known_records_is_not_used(tmp_path: Path) -> None:
    path, found = write(tmp_path / "a.mcap", frames=2), Whereabouts()
    with path.open("rb") as file:
        found.go_on(file, is_growing=True)
    with_index(write(tmp_path / "b.mcap", frames=2), with_number(Opcode.CHUNK_INDEX, FROM_NS, "<Q", 5))
    with (tmp_path / "b.mcap").open("rb") as file:
        found.go_on(file, is_growing=False)
    assert (len(found), found.first_ns) == (6, SECOND)
    assert "contradicts the records" in found.damage[0].problem


def test_a_record_of_a_replaced_file_is_reported_as_damaged(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap")
    found = whereabouts_in(path, is_growing=False)
    other, at = write(tmp_path / "b.mcap", frames=2), found.start_byte(2)
    record = Layout.of(other).chunks[5]
    path.write_bytes(path.read_bytes()[:at] + other.read_bytes()[record:])
    with path.open("rb") as file, pytest.raises(RecordingError, match="record 2 is damaged: it differs from the index"):
        found.read(file, 2)
    data = path.read_bytes()
    for times in (0, 2):  # a chunk without a record, and with two
        chunk: Chunk = Chunk.read(ReadDataStream(BytesIO(data[at + 9 :])))
        chunk.data *= times
        chunk.uncompressed_size, chunk.uncompressed_crc = len(chunk.data), zlib.crc32(chunk.data)
        chunk.write(builder := RecordBuilder())
        path.write_bytes(data[:at] + builder.end() + data[at:])
        with path.open("rb") as file, pytest.raises(RecordingError, match="it differs from the index"):
            found.read(file, 2)
    path.write_bytes(b"\0" * path.stat().st_size)
    with path.open("rb") as file, pytest.raises(RecordingError, match="record 2 is damaged"):
        found.read(file, 2)
    path.write_bytes(b"")
    with path.open("rb") as file, pytest.raises(RecordingError, match="record 2 is damaged"):
        found.read(file, 2)


def test_an_oversized_text_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, START) as writer:
        writer.write(Topic.EVENT, 1, {"is": "x" * MAX_TEXT_BYTES})
    found = whereabouts_in(path, is_growing=False)
    tracemalloc.start()
    with path.open("rb") as file, pytest.raises(RecordingError):
        found.read(file, 0)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 100_000


@pytest.mark.slow
def test_twenty_thousand_records_are_indexed_without_reading_them(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, START) as writer:
        for number in range(20_000):
            writer.frame(number, jpeg(number, 1000))
    tracemalloc.start()
    found = whereabouts_in(path, is_growing=False)
    held_bytes, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 20_000
    assert held_bytes < 500_000
    assert peak_bytes < 1_000_000
