"""Where each record of a recording is: whole, growing, cut, damaged, and read one by one."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from tallybone.recording.format import ImageMessage, RecordingError, Topic
from tallybone.recording.whereabouts import MOST_TEXT_BYTES, Whereabouts
from tallybone.recording.writer import SessionWriter
from tests.tallybone.recording.sittings import SECOND, START, jpeg, records_of, write


def whereabouts_in(path: Path, *, is_growing: bool) -> Whereabouts:
    found = Whereabouts()
    with path.open("rb") as file:
        found.go_on(file, is_growing=is_growing)
    return found


def test_every_record_is_read_from_its_place(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap", frames=5)
    found = whereabouts_in(path, is_growing=False)
    with path.open("rb") as file:
        assert [found.read(file, place) for place in range(len(found))] == records_of(path)
    assert (found.first_ns, found.last_ns, found.damage) == (SECOND, 5 * SECOND + 2, ())
    assert list(found.of(Topic.CAMERA)) == [0, 3, 6, 9, 12]
    assert found.t_ns(4) == 2 * SECOND + 1


def test_a_growing_recording_is_followed_record_by_record(tmp_path: Path) -> None:
    path, found = tmp_path / "a.mcap", Whereabouts()
    with SessionWriter(path, START) as writer, path.open("rb") as file:
        for number in range(4):
            writer.frame(number, jpeg(number))
            found.go_on(file, is_growing=True)
            assert len(found) == number + 1
            payload = found.read(file, number).payload
            assert isinstance(payload, ImageMessage)
            assert payload.jpeg == jpeg(number)
    assert found.damage == ()


def test_what_is_being_written_just_now_is_no_damage(tmp_path: Path) -> None:
    whole = write(tmp_path / "a.mcap").read_bytes()
    path = tmp_path / "b.mcap"
    for size_bytes in range(300, len(whole), 97):
        path.write_bytes(whole[:size_bytes])
        with path.open("rb") as file:
            found = Whereabouts()
            found.go_on(file, is_growing=True)
            assert found.damage == ()
            known = len(found)
        path.write_bytes(whole)
        with path.open("rb") as file:
            found.go_on(file, is_growing=False)
        assert (len(found), found.damage) == (9, ())
        assert known <= 9


def test_a_file_that_is_cut_anywhere_gives_what_is_complete(tmp_path: Path) -> None:
    whole = write(tmp_path / "a.mcap").read_bytes()
    expected = records_of(tmp_path / "a.mcap")
    path = tmp_path / "b.mcap"
    for size_bytes in range(8, len(whole), 61):
        path.write_bytes(whole[:size_bytes])
        found = whereabouts_in(path, is_growing=False)
        with path.open("rb") as file:
            assert [found.read(file, place) for place in range(len(found))] == expected[: len(found)]


def test_damage_costs_only_the_record_that_it_is_in(tmp_path: Path) -> None:
    whole = write(tmp_path / "a.mcap").read_bytes()
    expected = records_of(tmp_path / "a.mcap")
    path = tmp_path / "b.mcap"
    for at in range(400, 4000, 53):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            found = whereabouts_in(path, is_growing=False)
        except RecordingError:
            continue  # one bit of an index can look like the work of another tool
        with path.open("rb") as file:
            kept = []
            for place in range(len(found)):
                try:
                    kept.append(found.read(file, place))
                except RecordingError:
                    continue
        assert len(kept) >= 8
        assert all(one in expected for one in kept)


def test_a_record_whose_file_was_replaced_is_damage_and_no_surprise(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap")
    found = whereabouts_in(path, is_growing=False)
    path.write_bytes(b"\0" * path.stat().st_size)
    with path.open("rb") as file, pytest.raises(RecordingError, match="record 2 is damaged"):
        found.read(file, 2)
    path.write_bytes(b"")
    with path.open("rb") as file, pytest.raises(RecordingError, match="record 2 is damaged"):
        found.read(file, 2)


def test_a_text_that_is_larger_than_any_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with SessionWriter(path, START) as writer:
        writer.write(Topic.EVENT, 1, {"is": "x" * MOST_TEXT_BYTES})
    found = whereabouts_in(path, is_growing=False)
    tracemalloc.start()
    with path.open("rb") as file, pytest.raises(RecordingError):
        found.read(file, 0)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 100_000


@pytest.mark.slow
def test_twenty_thousand_records_are_found_without_reading_them(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with SessionWriter(path, START) as writer:
        for number in range(20_000):
            writer.frame(number, jpeg(number, 1000))
    tracemalloc.start()
    found = whereabouts_in(path, is_growing=False)
    held_bytes, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 20_000
    assert held_bytes < 500_000
    assert peak_bytes < 1_000_000
