"""Tests of resuming a sitting from its recording, cut anywhere, and of the head of the next recording."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine import Event, Lead, MatchStart, NewHand, Seat
from tallybone.json_values import to_json
from tallybone.recording.format import RecordingError, SittingStart, Topic
from tallybone.recording.reader import read_recording, write_input, write_step
from tallybone.recording.resume import CutHeadError, Left, left_in, left_in_head, left_with_journal, write_left
from tallybone.recording.writer import RecordingWriter
from tallybone.session.inputs import Answer
from tallybone.session.places import Places
from tallybone.session.session import Session
from tallybone.session.sitting import Step
from tests.tallybone.session.test_referee import lay, line, seen
from vision.reader.custom_set import RecordedSet
from vision.tracking.camera_motion import Alignment
from vision.tracking.table_view import Change, ChangeKind, TableView

START = SittingStart(started_at=datetime(2026, 11, 21, tzinfo=UTC), players=("Brian", "Tom"), rules="bones")
TILE = seen((3, 5), (0, 0))
VIEW = TableView((TILE,), (), (Change(ChangeKind.PLACED, TILE),))
SESSION: Session = line(TILE)
EVENTS: tuple[Event, ...] = tuple(event for event in SESSION.state.log if not isinstance(event, MatchStart))
WHOLE = Left(START, EVENTS, SESSION.places, (TILE,), b"empty", b"one tile", t_ns=4)


def write(path: Path, start: SittingStart = START) -> Path:
    """Write a sitting with a deal, a leader and one play."""
    with RecordingWriter(path, start) as writer:
        writer.frame(1, b"empty")
        writer.write(Topic.TABLE, 1, {"picture": 0, "tiles": [], "places": {}})
        writer.frame(2, b"a hand")
        number = writer.records
        writer.frame(3, b"one tile")
        write_step(writer, Step(3, SESSION, events=EVENTS, view=VIEW), picture=number)
        writer.frame(4, b"a hand again")
    return path


def test_log_tiles_places_and_both_pictures_are_restored(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mcap")
    assert left_in(read_recording(path)) == WHOLE
    data = bytearray(path.read_bytes())
    data[data.index(b"a hand")] ^= 1
    path.write_bytes(data)
    assert len(left_in(read_recording(path)).damage) == 1
    without = Left(START, EVENTS, SESSION.places, (), None, None, t_ns=7)  # pictures
    with RecordingWriter(path := tmp_path / "b.mcap", START) as writer:
        assert write_left(writer, without, 7) is None
    assert left_in(read_recording(path)) == without
    assert len(EVENTS) == 3
    assert EVENTS[:2] == (NewHand(), Lead(Seat(0)))


def test_the_alignment_of_the_camera_is_restored_and_copied(tmp_path: Path) -> None:
    aim = Alignment((0.9998, -0.02, 12.5, 0.02, 0.9998, -7.25))
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, START) as writer:
        writer.frame(1, b"one tile")
        write_step(writer, Step(1, SESSION, events=EVENTS, view=replace(VIEW, aim=aim)), picture=0)
    left = left_in(read_recording(path))
    assert left.aim == aim
    head = tmp_path / "b.mcap"
    with RecordingWriter(head, START) as writer:
        write_left(writer, left, 1)
    assert left_in(read_recording(head)).aim == aim


def test_a_game_started_in_play_has_no_empty_table(tmp_path: Path) -> None:
    start = replace(START, in_play=True)
    left = left_in(read_recording(write(tmp_path / "a.mcap", start)))
    assert left == replace(WHOLE, start=start, empty=None)


@pytest.mark.slow
def test_a_recording_cut_anywhere_gives_a_consistent_state(tmp_path: Path) -> None:
    data = write(tmp_path / "a.mcap").read_bytes()
    cut, found = tmp_path / "cut.mcap", []
    for size in range(data.index(b"CompressedImage"), len(data), 7):
        cut.write_bytes(data[:size])
        found.append(left_in(read_recording(cut)))
    kinds = [
        (len(left.events), len(left.tiles), len(left.places.known), left.empty is None, left.last) for left in found
    ]
    before, begun, after = (0, 0, 0, True, None), (0, 0, 0, False, b"empty"), (3, 1, 1, False, b"one tile")
    assert list(dict.fromkeys(kinds)) == [before, begun, after]


def test_the_head_of_the_next_recording_has_the_same_state(tmp_path: Path) -> None:
    path = tmp_path / "b.mcap"
    start = replace(START, continues="a.mcap")
    with RecordingWriter(path, start) as writer:
        number = write_left(writer, WHOLE, 50)
        writer.frame(60, b"later")
    assert number is not None
    recording = read_recording(path)
    assert left_in(recording) == replace(WHOLE, start=start, t_ns=60)
    records = iter(recording)
    assert left_in_head(start, records, path) == replace(WHOLE, start=start, t_ns=50)
    (rest,) = records
    assert rest.t_ns == 60  # type: ignore[union-attr]  # a record, not damage


def test_plays_after_resuming_are_added(tmp_path: Path) -> None:
    path, start = tmp_path / "b.mcap", replace(START, continues="a.mcap")
    second = seen((5, 4), (2, 0))
    later, _ = lay(SESSION, second)
    with RecordingWriter(path, start) as writer:
        write_left(writer, WHOLE, 50)
        number = writer.records
        writer.frame(60, b"two tiles")
        view = TableView((TILE, second), (), (Change(ChangeKind.PLACED, second),))
        events = later.state.log[len(SESSION.state.log) :]
        write_step(writer, Step(60, later, events=events, view=view), picture=number)
    left = left_in(read_recording(path))
    assert left.events == (*EVENTS, *events)
    assert (left.empty, left.last) == (b"empty", b"two tiles")
    assert left.places == later.places


def test_a_cut_head_is_refused(tmp_path: Path) -> None:
    path, cut = tmp_path / "b.mcap", tmp_path / "cut.mcap"
    with RecordingWriter(path, replace(START, continues="a.mcap")) as writer:
        write_left(writer, WHOLE, 50)
    data = path.read_bytes()
    cut.write_bytes(data[: data.index(b'"continued"')])
    with pytest.raises(CutHeadError, match="ends before the match was resumed"):
        left_in(read_recording(cut))
    cut.write_bytes(cut.read_bytes().replace(b"one tile", b"one till"))
    with pytest.raises(RecordingError, match="ends before the match was resumed") as damaged:
        left_in(read_recording(cut))
    assert not isinstance(damaged.value, CutHeadError)
    with pytest.raises(RecordingError):
        left_in_head(START, iter(read_recording(cut)), cut)
    closed = tmp_path / "a.mcap"
    RecordingWriter(closed, replace(START, continues="before.mcap")).close()
    with pytest.raises(RecordingError, match="it ends before the match was resumed"):
        left_in_head(START, iter(read_recording(closed)), closed)


def test_events_that_were_never_shown_are_left_out(tmp_path: Path) -> None:
    with RecordingWriter(path := tmp_path / "a.mcap", START) as writer:
        write_step(writer, Step(3, SESSION, events=EVENTS[:2], view=VIEW), picture=0)
        writer.write(Topic.EVENT, 4, to_json(EVENTS[2], Event))
    assert left_in(read_recording(path)).events == EVENTS[:2]
    with RecordingWriter(path := tmp_path / "b.mcap", START) as writer:  # with the start of the match in the log
        write_step(writer, Step(3, SESSION, events=tuple(SESSION.state.log)))
    assert left_in(read_recording(path)).events == EVENTS


def test_the_set_that_was_learned_last_is_restored(tmp_path: Path) -> None:
    path, learned = tmp_path / "a.mcap", RecordedSet(6, "a1b2", "AAAA", 0.6)
    with RecordingWriter(path, replace(START, own_set=replace(learned, believed=0.5))) as writer:
        for item in (learned, Answer(0, "?")):
            write_input(writer, item, 1)
    assert left_in(read_recording(path)).start.own_set == learned


def test_the_journal_is_used_if_it_has_more_events(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "a.mcap", START) as writer:
        write_left(writer, replace(WHOLE, events=EVENTS[:2], places=Places()), 4)
    with RecordingWriter(tmp_path / "1.journal", START) as writer:
        write_left(writer, replace(WHOLE, tiles=(), empty=None, last=None), 4)
    recording, journal = read_recording(tmp_path / "a.mcap"), read_recording(tmp_path / "1.journal")
    unread = [replace(one, start=None) for one in (recording, journal)]
    assert left_with_journal(recording, journal) == WHOLE
    for short in (left_in(recording), left_with_journal(recording, unread[1]), left_with_journal(recording, None)):
        assert short == replace(WHOLE, events=EVENTS[:2], places=Places())
    bare = replace(WHOLE, start=replace(START, in_play=True), tiles=(), empty=None, last=None)
    assert left_with_journal(None, journal) == left_with_journal(unread[0], journal) == bare
    other = replace(recording, start=replace(START, seed=2))  # with as many events, the recording is used
    assert left_with_journal(other, recording).start.seed == 2
    for neither in ((None, None), (unread[0], None), (unread[0], unread[1])):
        with pytest.raises(RecordingError, match=r"can be read|match data is damaged"):
            left_with_journal(*neither)
