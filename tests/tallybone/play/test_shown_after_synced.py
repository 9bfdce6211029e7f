"""Tests that scores are on disk before they are shown."""

from __future__ import annotations

import os
from collections import deque
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine import Adjust, Event, Seat, Undo
from tallybone.choices import TileSet
from tallybone.play.game import Listener, LiveGame, LiveState
from tallybone.play.recorder import RecordingQuota
from tallybone.play.start import new_game, recorder_of
from tallybone.recording.format import Topic
from tallybone.recording.reader import RecordedMessage, read_recording
from tallybone.session.session import Session
from tallybone.session.sitting import Sitting, Step, opened
from tallybone.sources.source import RecordedInput
from tests.tallybone.crash.game import NumberReader

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


class EventCamera:
    """A camera without pictures that gives a sequence of events."""

    problem: str | None = None
    pictures = 0

    def __init__(self, *events: Event) -> None:
        self._events, self._t_ns = deque(events), 0

    @property
    def is_over(self) -> bool:
        return not self._events

    def take(self, since_ns: int = 0) -> RecordedInput | None:
        if not self._events:
            return None
        event = self._events.popleft()
        self._t_ns += 1_000_000_000
        return RecordedInput(self._t_ns, "table", lambda: event)

    def now_ns(self) -> int:
        return self._t_ns

    def close(self) -> None:
        pass


def resumable_events_in(folder: Path) -> int:
    """Return the number of events that are followed by a table record, so that they would be resumed."""
    (path,) = folder.glob("*.mcap")
    events = resumable = 0
    for record in read_recording(path):
        if isinstance(record, RecordedMessage):
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
    camera = EventCamera(*(Adjust(Seat(0), points, "given") for points in (5, 10, 15)), Undo(session.state.next_seq))
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
