"""Tests of `tallybone play`: usage errors, signals, and identical replays."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import termios
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from tallybone.cli.play import PlayOptions, play
from tallybone.recording.survey import survey
from tallybone.replay.command import replay
from tallybone.replay.run import ReplaySettings
from tallybone.sources.source import GameOverrides
from tests.tallybone.live_clips import game_clip, write_recording
from tests.tallybone.replay.videos import write_video

TALLYBONE = Path(sys.executable).with_name("tallybone")
GREY = np.full((360, 480, 3), 90, np.uint8)


def run_play(options: PlayOptions, keys: bytes = b"") -> tuple[int, str, str]:
    """Run a game with *keys* pressed at its start. Return exit code, stdout and stderr."""
    out, err = StringIO(), StringIO()
    reading, writing = os.pipe()
    os.write(writing, keys)
    os.close(writing)
    code = play(options, out=out, err=err, keys_fd=reading)
    os.close(reading)
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        (PlayOptions(rules="chess"), 2, "chess"),
        (PlayOptions(rules="free", serve=""), 2, "--serve needs a game, and --rules free keeps no score"),
        (PlayOptions(rules="free", players="Ann,Ben"), 2, "--players needs a game"),
        (PlayOptions(rules="free", record="games"), 2, "--record needs a game"),
        (PlayOptions(options=["target=none", "colour=red"]), 2, "colour"),
        (PlayOptions(players="Ann,Ben,Cleo,Dora,Eve,Fay"), 2, "x 6 players"),
        (PlayOptions(players="Ann,Ben, Ann"), 2, "two players are called Ann"),
        (PlayOptions(players="Ann Lee,Ben,ann  lee"), 2, "two players are called Ann Lee"),
        (PlayOptions(players="Ann"), 2, "bones is for 2 to 4 players, got 1"),
        (PlayOptions(resume=True, rules="draw"), 2, "keeps its rules"),
        (PlayOptions(camera="absent.avi"), 1, "absent.avi"),
        (PlayOptions(camera="usb:977"), 1, "usb:977"),
    ],
)
def test_unplayable_options_are_reported(tmp_path: Path, options: PlayOptions, code: int, text: str) -> None:
    found, out, err = run_play(options)
    assert (found, out) == (code, "")
    assert text in err


def test_the_free_profile_reports_every_tile_like_a_replay(tmp_path: Path) -> None:
    items, after = game_clip(4, 4)
    source = write_recording(tmp_path / "source.mcap", items)
    code, out, err = run_play(PlayOptions(camera=str(source), rules="free", speed=0, fps=60, as_json=True))
    assert (code, err) == (0, "")
    replay_out = StringIO()
    assert replay(source, ReplaySettings(GameOverrides("free")), as_json=True, out=replay_out, err=StringIO()) == 0
    lines, replayed = ([json.loads(line) for line in text.splitlines()] for text in (out, replay_out.getvalue()))
    assert after.game is not None
    laid = [sorted((tile.low, tile.high)) for tile in after.game.layout.tiles]
    assert [sorted(event["pips"]) for event in lines[:-1] if event["event"] == "placed"] == laid
    assert [(event["event"], event["pips"]) for event in lines[:-1]] == [
        (event["event"], event["pips"]) for event in replayed[:-1]
    ]
    assert lines[-1]["result"]["placed"] == len(laid)
    sentences = run_play(PlayOptions(camera=str(source), rules="free", speed=0, fps=60))[1].splitlines()
    assert sentences[-1].endswith(f"{len(laid)} tiles placed, 0 moved, 0 removed; {len(laid)} on the table at the end")


def test_resuming_needs_an_unfinished_match(tmp_path: Path) -> None:
    code, _, err = run_play(PlayOptions(resume=True, record=str(tmp_path)))
    assert code == 1
    assert "unfinished match" in err
    assert list(tmp_path.iterdir()) == []


def test_a_game_without_a_recording_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    video = write_video(tmp_path / "a.avi", [GREY] * 4, per_s=10)
    code, out, _ = run_play(PlayOptions(camera=str(video), record="none", speed=0))
    assert code == 0
    assert "match: Player 1, Player 2" in out
    assert list(tmp_path.rglob("*.mcap")) == []


@pytest.mark.parametrize("inside", ["file", "file/sessions"])
def test_a_folder_that_cannot_be_created_is_reported_before_the_game(tmp_path: Path, inside: str) -> None:
    (tmp_path / "file").touch()
    video = write_video(tmp_path / "a.avi", [GREY] * 4, per_s=10)
    code, out, err = run_play(PlayOptions(camera=str(video), record=str(tmp_path / inside), speed=0))
    assert (code, out) == (1, "")
    assert err.startswith(f"tallybone play: --record {tmp_path / inside}: cannot create the folder: ")
    assert "Errno" not in err


@pytest.mark.slow
def test_a_replay_prints_the_output_of_the_live_game_byte_for_byte(tmp_path: Path) -> None:
    items, _ = game_clip(4, 4)
    source = write_recording(tmp_path / "source.mcap", items)
    folder = tmp_path / "sessions"
    code, live, err = run_play(
        PlayOptions(camera=str(source), players="Ann,Ben", record=str(folder), speed=0, as_json=True)
    )
    assert code == 0, err
    (recording,) = folder.glob("*.mcap")
    out = StringIO()
    assert replay(recording, as_json=True, out=out) == 0
    *announced, _ = live.splitlines()
    assert any(json.loads(line)["event"] == "scored" for line in announced)
    replayed = [line for line in out.getvalue().splitlines() if "frame" not in json.loads(line)][:-1]
    assert replayed == announced


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_closes_the_recording_and_restores_the_terminal(tmp_path: Path, number: signal.Signals) -> None:
    video = write_video(tmp_path / "a.avi", [GREY] * 600, per_s=10)
    person, program = pty.openpty()
    before = termios.tcgetattr(program)
    command: list[str | Path] = [TALLYBONE, "play", "--camera", video, "--record", tmp_path / "sessions"]
    with subprocess.Popen(command, stdin=program, stdout=program, stderr=program) as process:
        shown = b""
        while b"settled" not in shown:  # the board is shown, and the reader is running
            shown += os.read(person, 65536)
        assert not termios.tcgetattr(program)[3] & termios.ICANON
        process.send_signal(number)
        while process.poll() is None:
            _read_some(person)
    assert process.returncode == 0
    assert termios.tcgetattr(program) == before
    os.close(program)
    os.close(person)
    (recording,) = (tmp_path / "sessions").glob("*.mcap")
    found = survey(recording)
    assert not found.is_running
    assert found.facts.damage == ()
    assert found.facts.frames > 2


def _read_some(fd: int) -> None:
    """Read terminal output, so that the program does not block."""
    os.set_blocking(fd, False)
    with contextlib.suppress(BlockingIOError):
        os.read(fd, 65536)
