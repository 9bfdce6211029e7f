"""A live game that is killed again and again, at any moment, loses and doubles nothing, and ends as it would have."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
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

_SEED, _PLAYS, _KILLS = 4, 10, 14
_PROGRAM = (sys.executable, "-c", "from tallybone.cli import main; main()", "play", "--json", "--speed", "0")
# The last pictures before a kill are shown once more: a real table lies still while the program is started again.
_SHOWN_AGAIN = 3


@pytest.mark.slow
def test_a_game_that_is_killed_again_and_again_loses_and_doubles_nothing(tmp_path: Path) -> None:
    items, truth = game_clip(_SEED, _PLAYS)
    images = [item.image for item in items if isinstance(item, Frame)]
    folder, rng = tmp_path / "sessions", np.random.default_rng(3)
    kept: list[tuple[int, int]] = []
    begun, moments, before = 0, set(), set[Path]()
    for kill in range(_KILLS + 1):
        video = write_video(tmp_path / f"{kill}.avi", images[begun:], per_s=10)
        # Most die while they look at the table, some while they are starting.
        is_quick = kill % 6 == 5
        dies_after_s = rng.uniform(0.0, 1.5 if is_quick else 0.8) if kill < _KILLS else None
        lines = _run(video, folder, dies_after_s, from_first_line=not is_quick)
        shown = [*kept, *((line["seat"], line["points"]) for line in lines if line.get("event") == "scored")]
        state = _state(folder)
        kept = _scored(state)
        assert kept[: len(shown)] == shown
        assert len(kept) <= len(shown) + 1  # one may be kept that nobody was shown any more
        # One that died while it was starting has left no recording, or none with a picture: the table is where it was.
        begun += max(0, sum(_looked_at(path) for path in _recordings(folder) - before) - _SHOWN_AGAIN)
        before = _recordings(folder)
        moments.add(begun)
    assert len(moments) >= _KILLS / 4, "hardly any kill has hit a game that was looked at"
    assert _state(folder).game == truth.game
    assert lines[-1]["result"]["totals"] == {"Ann": 25, "Ben": 10}


def _run(video: Path, folder: Path, dies_after_s: float | None, *, from_first_line: bool) -> list[dict[str, Any]]:
    """Play, to the end or until it is killed; what it printed."""
    state = _state(folder)
    goes_on = ("--resume",) if state.game is not None else ("--players", "Ann,Ben")
    keys = b" " * (2 - sum(isinstance(event, NewHand | Lead) for event in state.log))
    command = [*_PROGRAM, "--camera", str(video), "--record", str(folder), *goes_on]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(keys)
        process.stdin.close()
        first = process.stdout.readline() if from_first_line else b""
        try:
            process.wait(dies_after_s)
        except subprocess.TimeoutExpired:
            process.kill()
        said = first + process.stdout.read()
    assert process.returncode in (0, -signal.SIGKILL)
    return [json.loads(line) for line in said.splitlines(keepends=True) if line.endswith(b"\n")]


def _state(folder: Path) -> State:
    """The match as the next one goes on with it."""
    try:
        return state_of(newest_left(folder)[1])
    except (RecordingError, FileNotFoundError):
        return State()


def _scored(state: State) -> list[tuple[int, int]]:
    return [(one.seat, one.points) for told in history(state) for one in told.outcomes if isinstance(one, Scored)]


def _recordings(folder: Path) -> set[Path]:
    return set(folder.glob("*.mcap"))


def _looked_at(path: Path) -> int:
    """How many pictures of its video a recording has; those of its head have no numbers."""
    names = [
        one.payload.name
        for one in (read_recording(path) if path.stat().st_size else ())
        if isinstance(one, RecordedMessage) and isinstance(one.payload, ImageMessage)
    ]
    numbers = [int(name) for name in names if name is not None and name.isdecimal()]
    return numbers[-1] + 1 if numbers else 0
