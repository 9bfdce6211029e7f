"""Tests of killing a live game at random moments: no event is lost or duplicated."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from math import inf
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import numpy as np
import pytest

from engine import Lead, NewHand, Scored, State, history
from tallybone.play.start import newest_left, state_of
from tallybone.recording.format import ImageMessage, RecordingError
from tallybone.recording.reader import RecordedMessage, read_recording
from tests.tallybone.live_clips import game_clip
from tests.tallybone.replay.videos import write_video
from vision.tracking.watch import Frame

_SEED, _PLAYS, _KILLS = 4, 10, 6
_DIES_AT = 2_500_000  # bytes, about 20 pictures
_PROGRAM = (sys.executable, "-c", "from tallybone.cli import main; main()", "play", "--json", "--speed", "0")
# Repeat the last pictures before a kill, because a real table is still during a restart.
_SHOWN_AGAIN = 3


@pytest.mark.slow
def test_a_repeatedly_killed_game_loses_and_duplicates_nothing(tmp_path: Path) -> None:
    items, truth = game_clip(_SEED, _PLAYS)
    images = [item.image for item in items if isinstance(item, Frame)]
    folder, rng = tmp_path / "sessions", np.random.default_rng(3)
    kept: list[tuple[int, int]] = []
    begun, moments, before = 0, set(), set[Path]()
    for kill in range(_KILLS + 1):
        video = write_video(tmp_path / f"{kill}.avi", images[begun:], per_s=10)
        # Most are killed at a size of the recording, while they read the table, some while starting. The time at which
        # they read it depends on the machine.
        is_quick = kill % 3 == 2
        dies_after_s = rng.uniform(0.0, 1.5) if is_quick else inf
        dies_at = inf if is_quick or kill == _KILLS else rng.uniform(0.0, _DIES_AT)
        lines = _run(video, folder, dies_after_s, dies_at)
        shown = [*kept, *((line["seat"], line["points"]) for line in lines if line.get("event") == "scored")]
        state = _state(folder)
        kept = _scored(state)
        assert kept[: len(shown)] == shown
        assert len(kept) <= len(shown) + 1  # the last score may be recorded but not shown
        # A game killed while starting leaves no recording with a picture, so the table did not advance.
        begun += max(0, sum(_pictures_read(path) for path in _recordings(folder) - before) - _SHOWN_AGAIN)
        before = _recordings(folder)
        moments.add(begun)
    assert len(moments) >= 2, "too few kills hit a game in progress"
    assert _state(folder).game == truth.game
    assert lines[-1]["result"]["totals"] == {"Ann": 25, "Ben": 10}


def _run(video: Path, folder: Path, dies_after_s: float, dies_at: float) -> list[dict[str, Any]]:
    """Play until the end, or until killed after a time or at a size of the recording, and return the printed lines."""
    before = _recordings(folder)
    state = _state(folder)
    resume = ("--resume",) if state.game is not None else ("--players", "Ann,Ben")
    keys = b" " * (2 - sum(isinstance(event, NewHand | Lead) for event in state.log))
    command = [*_PROGRAM, "--camera", str(video), "--record", str(folder), *resume]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(keys)
        process.stdin.close()
        begun_s = monotonic()
        while process.poll() is None:
            if monotonic() - begun_s > dies_after_s or _size(_recordings(folder) - before) > dies_at:
                process.kill()
            Event().wait(0.002)
        printed = process.stdout.read()
    assert process.returncode in (0, -signal.SIGKILL)
    return [json.loads(line) for line in printed.splitlines(keepends=True) if line.endswith(b"\n")]


def _state(folder: Path) -> State:
    """Return the match that the next run would resume."""
    try:
        return state_of(newest_left(folder)[1])
    except (RecordingError, FileNotFoundError):
        return State()


def _scored(state: State) -> list[tuple[int, int]]:
    outcomes = [outcome for line in history(state) for outcome in line.outcomes]
    return [(outcome.seat, outcome.points) for outcome in outcomes if isinstance(outcome, Scored)]


def _recordings(folder: Path) -> set[Path]:
    return set(folder.glob("*.mcap"))


def _size(recordings: set[Path]) -> int:
    return sum(path.stat().st_size for path in recordings)


def _pictures_read(path: Path) -> int:
    """Return the number of video pictures in a recording. Those in its head have no numbers."""
    names = [
        record.payload.name
        for record in (read_recording(path) if path.stat().st_size else ())
        if isinstance(record, RecordedMessage) and isinstance(record.payload, ImageMessage)
    ]
    numbers = [int(name) for name in names if name is not None and name.isdecimal()]
    return numbers[-1] + 1 if numbers else 0
