"""Tests of recording a live game: tables, a full disk, pruning, and scores on disk before they are shown."""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine import BONES, Adjust, Seat, Undo
from tallybone.choices import TileSet
from tallybone.play.game import Listener, LiveGame, LiveState
from tallybone.play.recorder import FileRecorder, RecordingQuota
from tallybone.play.start import new_game, recorder_of
from tallybone.recording.format import SittingStart, Topic
from tallybone.recording.writer import RecordingWriter
from tallybone.session.inputs import Button, Press
from tallybone.session.session import Session
from tallybone.session.sitting import Sitting, Step, opened
from tallybone.sources.source import RecordedInput
from tests.tallybone.crash.game import NumberReader
from tests.tallybone.play.test_game import Script
from tests.tallybone.recording.sittings import records_of
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


def test_the_first_settled_picture_is_recorded_as_the_table(tmp_path: Path) -> None:
    keeps = recorder(tmp_path, [])
    for t_ns, view in enumerate((MOVING, SETTLED, SETTLED, MOVING)):
        keeps.frame(t_ns, b"jpeg", None)
        keeps.happened(Step(t_ns, SESSION, view=view))
    keeps.close()
    assert [record.topic for record in records_of(tmp_path / "now.mcap")].count(Topic.TABLE) == 1
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
    assert not keeps.is_whole
    assert "RECORDING STOPPED" in keeps.text
    assert [record.topic for record in records_of(tmp_path / "now.mcap")] == [Topic.BUTTON]


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
    assert len(records_of(tmp_path / "now.mcap")) == 100


def _pictures_of_tables(folder: Path) -> list[object]:
    payloads = [record.payload for record in records_of(folder / "now.mcap") if record.topic is Topic.TABLE]
    return [payload["picture"] for payload in payloads if isinstance(payload, dict)]


BEGAN = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Screen(Listener):
    """A display that adds the number of events it was shown to a trace."""

    def __init__(self, trace: list[tuple[str, int]]) -> None:
        self.trace = trace

    def happened(self, happened: Step) -> None:
        self.trace.append(("shown", len(happened.session.state.log) - 1))

    def continues(self, session: Session) -> None:
        self.trace.append(("shown", len(session.state.log) - 1))

    def show(self, now: LiveState) -> None:
        self.trace.append(("shown", len(now.session.state.log) - 1))


def resumable_events_in(folder: Path) -> int:
    """Return the number of events that are followed by a table record, so that they would be resumed."""
    (path,) = folder.glob("*.mcap")
    events = resumable = 0
    for record in records_of(path):
        events += record.topic is Topic.EVENT
        resumable = events if record.topic is Topic.TABLE else resumable
    return resumable


def test_every_event_is_on_the_disk_before_it_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace: list[tuple[str, int]] = []
    real_fsync = os.fsync

    def traced(number: int) -> None:
        real_fsync(number)
        trace.append(("synced", resumable_events_in(tmp_path)))

    game = new_game("bones", (), ("Ann", "Ben"), tile_set=TileSet.AUTO, in_play=False, began=BEGAN, software="")
    recorder = recorder_of(game, RecordingQuota(tmp_path, 10**12), lambda _: None, t_ns=0)
    monkeypatch.setattr(os, "fsync", traced)
    session, _ = opened(game.rules, game.start.players)
    given = [*(Adjust(Seat(0), points, "given") for points in (5, 10, 15)), Undo(session.state.next_seq)]
    camera = Script(*(RecordedInput(at, "table", lambda event=event: event) for at, event in enumerate(given)))  # type: ignore[misc]
    live = LiveGame(
        camera, Sitting(NumberReader(()).look, session), recorder, Screen(trace), clock=lambda: 0, max_per_s=10
    )
    live.run(lambda _: True, lambda: False)
    recorder.close()
    on_disk = 0
    for kind, events in trace:
        if kind == "synced":
            on_disk = events
        else:
            assert events <= on_disk, "shown before it was on disk"
    assert [events for kind, events in trace if kind == "shown"][-1] == 4
