"""Tests of restarting a failed recording: it then contains the whole game again."""

from __future__ import annotations

import errno
import io
import os
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engine import Adjust, Event, MatchClose, Seat
from tallybone.choices import TileSet
from tallybone.play.recorder import Recorder, RecordingQuota
from tallybone.play.start import MatchPlan, new_game, newest_left, recorder_of, resumed_game, state_of
from tallybone.recording.format import RecordingError, SittingStart
from tallybone.recording.reader import read_recording
from tallybone.recording.resume import Evidence, left_in
from tallybone.session.session import Session
from tallybone.session.sitting import Sitting, opened
from tests.tallybone.crash.game import NumberReader, jpeg_of, picture_of
from vision.tracking.watch import Frame

SECOND = 1_000_000_000
BEGAN = datetime(2026, 11, 21, 12, tzinfo=UTC)
AGAIN = "recording again, with all scores"


@dataclass(slots=True)
class Disk:
    """A disk whose patched calls fail while *problem* is set."""

    patch: pytest.MonkeyPatch
    problem: int | None = None

    def fail_with(self, *calls: str) -> None:
        for name in calls:
            self.patch.setattr(os, name, self.faulty(getattr(os, name)))

    def faulty(self, original: Any) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            if self.problem is not None:
                raise OSError(self.problem, os.strerror(self.problem))
            return original(*args, **named)

        return call


@dataclass(slots=True)
class Table:
    """A game that receives pictures and points on request."""

    folder: Path
    game: MatchPlan = field(
        default_factory=lambda: new_game(
            "bones", (), ("Ann", "Ben"), tile_set=TileSet.AUTO, in_play=False, began=BEGAN, software="tallybone"
        )
    )
    notes: list[str] = field(default_factory=list)
    t_s: int = 0
    recorder: Recorder = field(init=False)
    sitting: Sitting = field(init=False)

    def __post_init__(self) -> None:
        session, _ = opened(self.game.rules, self.game.start.players)
        if self.game.left is not None:
            session = Session.resumed(state_of(self.game.left), self.game.left.places)
        self.sitting = Sitting(NumberReader(((),)).look, session)
        self.recorder = recorder_of(self.game, RecordingQuota(self.folder, 10**12), self.notes.append, t_ns=0)

    def go_on(self, seconds: int = 1, points: int = 0) -> None:
        for _ in range(seconds):
            self.t_s += 1
            t_ns = self.t_s * SECOND
            image = picture_of(0)
            self.recorder.frame(t_ns, jpeg_of(image), None)
            self.recorder.happened(self.sitting.feed(Frame(image, t_ns), t_ns))
        if points:
            self.give(Adjust(Seat(0), points, "given"))

    def give(self, event: Event) -> None:
        t_ns = self.t_s * SECOND
        self.recorder.input(event, t_ns)
        self.recorder.happened(self.sitting.feed(event, t_ns))

    def is_whole(self) -> bool:
        return self.recorder.is_whole

    @property
    def kept(self) -> tuple[int, ...]:
        """Totals that the next process would resume with."""
        self.recorder.close()
        game = state_of(newest_left(self.folder)[1]).game
        assert game is not None
        return game.totals

    @property
    def files(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("*.mcap"))


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def start_of(path: Path) -> SittingStart:
    start = read_recording(path).start
    assert start is not None
    return start


@pytest.mark.parametrize("problem", [errno.EIO, errno.EROFS, errno.ENOSPC])
@pytest.mark.parametrize("calls", [("write",), ("fsync",), ("open", "write", "fsync", "ftruncate")])
def test_a_recovered_disk_gets_the_whole_game_again(
    tmp_path: Path, problem: int, calls: tuple[str, ...], disk: Disk
) -> None:
    disk.fail_with(*calls)
    table = Table(tmp_path)
    table.go_on(2, points=5)
    disk.problem = problem
    table.go_on(3, points=10)
    assert table.recorder.text == "RECORDING STOPPED"
    assert not table.is_whole()
    assert len([note for note in table.notes if "WITHOUT a recording" in note]) == 1
    disk.problem = None
    table.go_on(6)
    assert table.notes[-1] == AGAIN
    assert table.is_whole()
    table.go_on(1, points=20)
    assert table.kept == (35, 0)
    assert len(table.files) == 2, "failed attempts leave no files"


def test_a_restarted_recording_names_its_predecessor_and_has_its_pictures(tmp_path: Path, disk: Disk) -> None:
    disk.fail_with("write")
    table = Table(tmp_path)
    table.go_on(1, points=5)
    disk.problem = errno.EIO
    table.go_on(1)
    disk.problem = None
    table.go_on(6)
    path, left = newest_left(tmp_path) if table.kept else (None, None)
    assert path is not None
    assert left is not None
    assert left.start.continues == "2026-11-21T12-00-00-ann-ben.mcap" != path.name
    assert left.empty == left.last == jpeg_of(picture_of(0))
    assert state_of(left).log == table.sitting.session.state.log


@pytest.mark.parametrize(("free_bytes", "expected"), [(10**9, 2), (10**7, 0)])
def test_a_restarted_recording_has_the_crops_unless_space_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_bytes: int, expected: int, disk: Disk
) -> None:
    disk.fail_with("write")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(free_bytes, 0, free_bytes))
    crops = (Evidence(3, 1, b"before"), Evidence(4, 2, b"while nothing is recorded"))
    table = Table(tmp_path)
    table.go_on(1, points=5)
    table.recorder.evidence(crops[0])
    disk.problem = errno.EIO
    table.go_on(1)
    table.recorder.evidence(crops[1])
    disk.problem = None
    table.go_on(6)
    assert table.kept == (5, 0)
    assert newest_left(tmp_path)[1].evidence == crops[:expected]


def test_a_game_on_a_read_only_disk_is_recorded_once_it_is_writable(tmp_path: Path, disk: Disk) -> None:
    disk.problem = errno.EROFS
    disk.fail_with("open")
    table = Table(tmp_path)
    table.go_on(3, points=5)
    assert "the disk is read-only; the game goes on WITHOUT a recording" in table.notes[0]
    assert table.recorder.text == "RECORDING STOPPED"
    disk.problem = None
    table.go_on(6, points=10)
    assert table.notes[1:] == [AGAIN]
    assert table.kept == (15, 0)


def test_the_newer_of_two_recordings_is_resumed_although_the_older_was_unreadable_in_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk: Disk
) -> None:
    reading = Disk(monkeypatch)
    disk.fail_with("write")
    table = Table(tmp_path)
    table.go_on(1, points=5)
    disk.problem = errno.EIO
    table.go_on(1)
    disk.problem, reading.problem = None, errno.EIO
    with monkeypatch.context() as patch:
        patch.setattr(io, "open", reading.faulty(io.open))
        table.go_on(6, points=60)
    assert table.kept == (65, 0)
    starts = [start_of(tmp_path / name) for name in table.files]
    assert [start.number for start in starts] == [3, 1], "recordings and journals are numbered together"
    assert len({start.match for start in starts}) == 1


def test_a_score_given_after_a_failure_and_an_orderly_end_retry_the_recording_at_once(
    tmp_path: Path, disk: Disk
) -> None:
    disk.fail_with("write")
    table = Table(tmp_path)
    table.go_on(1, points=5)
    disk.problem = errno.EIO
    table.go_on(1, points=10)
    disk.problem = None
    table.go_on(1, points=20)
    assert table.notes[-1] == AGAIN, "without waiting for five seconds"
    assert table.is_whole()
    disk.fail_with("open")
    disk.problem = errno.EIO
    table.go_on(1, points=10)
    disk.problem = None
    assert table.kept == (45, 0)


@pytest.mark.parametrize("damage", ["unreadable", "without the last score"])
def test_the_journal_replaces_a_damaged_recording(tmp_path: Path, damage: str) -> None:
    table = Table(tmp_path)
    table.go_on(2, points=5)
    (recording,) = tmp_path.glob("*.mcap")
    before_bytes = recording.stat().st_size
    table.go_on(1, points=10)
    table.recorder.close()
    (journal,) = tmp_path.glob("*.journal")
    whole = recording.read_bytes()
    recording.write_bytes(bytes(len(whole)) if damage == "unreadable" else whole[:before_bytes])
    game = resumed_game(None, tmp_path, began=BEGAN, software="tallybone")
    assert game.left is not None
    assert game.start.continues == recording.name
    assert game.left.start.in_play == (damage == "unreadable"), "without a picture, all tiles are read anew"
    again = Table(tmp_path, game)
    again.go_on(1, points=20)
    assert again.kept == (35, 0)
    recording.unlink()
    assert newest_left(tmp_path)[1].start.match == game.left.start.match
    for path in tmp_path.glob("*.mcap"):
        path.unlink()
    with pytest.raises(RecordingError, match="no recording of an unfinished match"):
        newest_left(tmp_path)
    assert journal.stat().st_size < 100_000


def test_a_finished_match_does_not_come_back_without_its_last_recording(tmp_path: Path) -> None:
    first = Table(tmp_path)
    first.go_on(1, points=5)
    first.recorder.close()
    second = Table(tmp_path, resumed_game(None, tmp_path, began=BEGAN, software="tallybone"))
    second.go_on(1, points=10)
    second.give(MatchClose())
    second.recorder.close()
    newest = max(tmp_path.glob("*.mcap"), key=lambda path: start_of(path).number)
    newest.write_bytes(bytes(1000))
    with pytest.raises(RecordingError, match="no recording of an unfinished match"):
        newest_left(tmp_path)


def test_a_removed_folder_is_recreated(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    table = Table(folder)
    table.go_on(6, points=5)
    shutil.rmtree(folder)
    table.go_on(1, points=10)
    assert "it was deleted" in table.notes[0]
    assert table.notes[-1] == AGAIN, "reported before the next outcome is shown"
    table.go_on(1, points=20)
    assert table.kept == (35, 0)


def test_no_recording_is_started_on_a_nearly_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk: Disk
) -> None:
    disk.fail_with("write")
    table = Table(tmp_path)
    disk.problem = errno.ENOSPC
    table.go_on(1)
    disk.problem = None
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 10**6))
        table.go_on(20)
        assert len(table.files) == 1
    table.go_on(6)
    assert len(table.files) == 2


def test_a_resumed_match_survives_a_disk_failure(tmp_path: Path, disk: Disk) -> None:
    first = Table(tmp_path)
    first.go_on(2, points=5)
    first.recorder.close()
    disk.fail_with("write")
    second = Table(tmp_path, resumed_game(None, tmp_path, began=BEGAN, software="tallybone"))
    second.go_on(6, points=10)
    disk.problem = errno.EIO
    second.go_on(1, points=20)
    disk.problem = None
    second.go_on(6)
    assert second.kept == (35, 0)
    third = newest_left(tmp_path)[0]
    continued = [left_in(read_recording(tmp_path / name)).start.continues for name in second.files]
    assert sorted(name for name in continued if name is not None) == sorted(set(second.files) - {third.name})
