"""Tests of recording a live game: tables, a full disk, and pruning of old recordings."""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine import BONES
from tallybone.play.recorder import FileRecorder, RecordingQuota
from tallybone.recording.format import SittingStart, Topic
from tallybone.recording.reader import RecordedMessage, read_recording
from tallybone.recording.writer import RecordingWriter
from tallybone.session.inputs import Button, Press
from tallybone.session.sitting import Step, opened
from vision.tracking.table_view import TableView

SESSION = opened(BONES, ("Ann", "Ben"))[0]
MOVING = TableView((), (), (), is_settled=False)
SETTLED = TableView((), (), ())


def start(day: int = 21) -> SittingStart:
    return SittingStart(started_at=datetime(2026, 11, day, tzinfo=UTC), players=("Ann", "Ben"), rules="bones")


def recorder(folder: Path, notes: list[str], *, keep_bytes: int = 10**9) -> FileRecorder:
    path = folder / "now.mcap"
    return FileRecorder(
        path, RecordingWriter(path, start()), RecordingQuota(folder, keep_bytes), notes.append, settled=None
    )


def records(path: Path) -> list[RecordedMessage]:
    return [record for record in read_recording(path) if isinstance(record, RecordedMessage)]


def test_the_first_settled_picture_is_recorded_as_the_table(tmp_path: Path) -> None:
    keeps = recorder(tmp_path, [])
    for t_ns, view in enumerate((MOVING, SETTLED, SETTLED, MOVING)):
        keeps.frame(t_ns, b"jpeg", None)
        keeps.happened(Step(t_ns, SESSION, view=view))
    keeps.close()
    assert [record.topic for record in records(tmp_path / "now.mcap")].count(Topic.TABLE) == 1
    assert _pictures_of_tables(tmp_path) == [1]


def test_a_table_is_recorded_with_its_settled_picture(tmp_path: Path) -> None:
    keeps = recorder(tmp_path, [])
    session, _ = opened(BONES, ("Ann", "Ben"))
    for t_ns, view in enumerate((SETTLED, MOVING)):
        keeps.frame(t_ns, b"jpeg", None)
        # A knock, for example, is resolved while a hand is in the picture.
        keeps.happened(Step(t_ns, session, events=tuple(session.state.log) if view is MOVING else (), view=view))
    keeps.close()
    assert _pictures_of_tables(tmp_path) == [0, 0]


def test_a_full_disk_is_reported_once_and_keeps_the_recorded_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []
    keeps = recorder(tmp_path, notes)
    assert is_whole(keeps)
    keeps.input(Press(Button.NEXT), 1)

    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        keeps.frame(2, b"jpeg", None)
        keeps.input(Press(Button.NEXT), 3)
        keeps.happened(Step(4, SESSION, view=SETTLED))
    keeps.close()
    (note,) = notes
    assert "the disk is full" in note
    assert "WITHOUT a recording" in note
    assert not is_whole(keeps)
    assert "RECORDING STOPPED" in keeps.text
    assert [record.topic for record in records(tmp_path / "now.mcap")] == [Topic.BUTTON]


def test_the_oldest_recordings_are_pruned_at_the_start_and_during_the_game(
    tmp_path: Path,
) -> None:
    for day in (1, 2):
        with RecordingWriter(tmp_path / f"{day}.mcap", start(day)) as writer:
            writer.frame(0, b"x" * 40_000)
    keeps = recorder(tmp_path, [], keep_bytes=60_000)
    assert {path.name for path in tmp_path.iterdir()} == {"2.mcap", "now.mcap"}
    for t_ns in range(100):
        keeps.frame(t_ns, b"x" * 1_000, None)
    assert {path.name for path in tmp_path.iterdir()} == {"now.mcap"}
    keeps.close()
    assert len(records(tmp_path / "now.mcap")) == 100


def is_whole(keeps: FileRecorder) -> bool:
    return keeps.is_whole


def _pictures_of_tables(folder: Path) -> list[object]:
    payloads = [record.payload for record in records(folder / "now.mcap") if record.topic is Topic.TABLE]
    return [payload["picture"] for payload in payloads if isinstance(payload, dict)]
