"""Tests of `tallybone play`: usage errors, its page, open questions at the end, signals, and identical replays."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from dataclasses import replace
from io import StringIO
from pathlib import Path

import httpx
import numpy as np
import pytest

from engine import NewHand
from hardware.libraries import install_command
from hardware.table import HardwareSettings
from tallybone.cli.app import with_port
from tallybone.cli.play import PlayOptions, open_page, play
from tallybone.doctor.machine import this_machine
from tallybone.play.counts import Counts
from tallybone.play.table import NoPage
from tallybone.recording.survey import survey
from tallybone.replay.command import replay
from tallybone.replay.run import ReplaySettings
from tallybone.serve.health import TableSources, camera_found
from tallybone.sources.source import GameOverrides
from tests.tallybone.live_clips import Timed, game_clip, write_recording
from tests.tallybone.not_installed import without_fastapi
from tests.tallybone.recorded_game import write_pictures
from tests.tallybone.replay.videos import write_video
from tests.tallybone.web.conftest import at_table
from tests.vision.tables import lay, table_with
from vision.tracking.watch import Frame

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
        (PlayOptions(rules="free", serve=""), 2, "--serve needs a game, and --rules free keeps no score"),
        (PlayOptions(rules="free", players="Ann,Ben"), 2, "--players needs a game"),
        (PlayOptions(rules="free", record="games"), 2, "--record needs a game"),
        (PlayOptions(options=["target=none", "colour=red"]), 2, "colour"),
        (PlayOptions(players="Ann,Ben,Cleo,Dora,Eve,Fay"), 2, "x 6 players"),
        (PlayOptions(players="Ann,Ben, Ann"), 2, "two players are called Ann"),
        (PlayOptions(players="Ann Lee,Ben,ann  lee"), 2, "two players are called Ann Lee"),
        (PlayOptions(players="Ann"), 2, "bones is for 2 to 4 players, got 1"),
        (PlayOptions(resume=True, rules="draw"), 2, "keeps its rules"),
    ],
)
def test_unplayable_options_are_reported(tmp_path: Path, options: PlayOptions, code: int, text: str) -> None:
    found, out, err = run_play(options)
    assert (found, out) == (code, "")
    assert text in err


@pytest.mark.slow
def test_the_free_profile_reports_every_tile_like_a_replay(tmp_path: Path) -> None:
    items, after = game_clip(4, 2)
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


def test_a_game_is_played_with_keys_and_without_a_recording_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    video = write_video(tmp_path / "a.avi", [GREY] * 4, per_s=10)
    code, out, _ = run_play(PlayOptions(camera=str(video), record="none", speed=0), b" ?uqq")
    assert code == 0
    dealt, undone = "hand 1, 14 tiles in the boneyard", "deal the next hand"
    for shown in ("match: Player 1, Player 2", dealt, "q  quit       ?  show or hide help", undone):
        assert shown in out
    assert list(tmp_path.rglob("*.mcap")) == []


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


def table_in(folder: Path) -> TableSources:
    """Return the sources of a table without problems."""
    return TableSources(
        source="none",
        camera=lambda: camera_found("none", None),
        hardware=HardwareSettings(),
        problems=dict,
        folder=folder,
        machine=this_machine,
        clock=lambda: 0,
        counts=Counts(),
        is_silent=lambda: False,
    )


def test_the_terminal_shows_the_address_of_the_page_if_there_is_one(tmp_path: Path) -> None:
    with open_page(None, table_in(tmp_path)) as page:
        assert isinstance(page, NoPage)
        assert (page.text, page.pin_text) == ("", "")
    video = write_video(tmp_path / "a.avi", [GREY] * 3, per_s=10)
    code, out, _ = run_play(PlayOptions(camera=str(video), record="none", speed=0, serve="127.0.0.1:0"))
    assert code == 0
    assert "page http://127.0.0.1:" in out
    assert "PIN " in out
    code, out, err = run_play(PlayOptions(camera=str(video), record="none", speed=0, serve="eighty"))
    assert (code, out) == (2, "")
    assert "page at eighty: expected a port" in err


def test_every_state_contains_the_address_and_is_small() -> None:
    with at_table() as table:
        table.play(2)
        assert table.display.now is not None
        assert table.display.now.page == table.page.text
        assert table.display.notes == [table.page.text]
        table.play(10)
        answer = httpx.get(f"{table.page.url}/api/v1/state")
        assert 1000 < len(answer.content) < 10_000


def test_missing_packages_are_reported_with_the_command_to_install_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_fastapi(monkeypatch, "tallybone.web.live.page")
    with (
        pytest.raises(OSError, match="needs fastapi, .*" + re.escape(install_command("web"))),
        open_page("", table_in(tmp_path)),
    ):
        pass


def test_the_port_of_the_serve_option_is_optional() -> None:
    assert with_port(["--serve", "--rules", "bones"]) == ["--serve=", "--rules", "bones"]
    assert with_port(["--players", "Ann", "--serve"]) == ["--players", "Ann", "--serve="]
    assert with_port(["--serve", "127.0.0.1:80"]) == ["--serve", "127.0.0.1:80"]


SECOND = 1_000_000_000
QUESTION = "what is the score?"
ENDED = "the video has ended"


@pytest.fixture(name="film")
def a_film_that_ends_with_a_question(tmp_path: Path) -> Path:
    """Return a recording of a tile that scores for an unknown leader."""
    empty, laid = (table_with(tiles, frame=0).image for tiles in ((), (lay(5, 5, 0, 0, 20),)))
    frames = [Frame(empty if at < 10 else laid, at * SECOND // 5) for at in range(1, 81)]
    return write_recording(tmp_path / "film.mcap", [Timed(NewHand(), 0), *frames])


def command(film: Path, *more: str) -> list[str | Path]:
    game = ("--players", "Ann,Ben", "--record", "none", "--speed", "0")
    return [TALLYBONE, "play", "--camera", film, *game, *more]


@pytest.mark.slow
def test_without_a_page_or_a_terminal_the_game_ends_and_names_the_question(film: Path) -> None:
    options = PlayOptions(camera=str(film), players="Ann,Ben", record="none", speed=0)
    code, out, _ = run_play(options)
    assert code == 0
    assert f"{ENDED} with an open question: {QUESTION}" in out
    code, out, err = run_play(replace(options, as_json=True))
    assert code == 0
    assert json.loads(out.splitlines()[-1])["result"]["question"] == QUESTION
    assert f"an open question: {QUESTION}" in err


def test_the_end_of_the_pictures_is_reported(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "pictures", 2)
    code, out, _ = run_play(PlayOptions(camera=str(folder), record="none", speed=0))
    assert code == 0
    assert f"{ENDED}, but no hand was dealt: try `tallybone replay`" in out
    frames = [Frame(GREY, at * SECOND // 5) for at in range(1, 11)]
    film = write_recording(tmp_path / "film.mcap", [Timed(NewHand(), 0), *frames])
    code, out, _ = run_play(PlayOptions(camera=str(film), record="none", speed=0))
    assert code == 0
    assert ENDED in out
    assert "no hand" not in out


@pytest.mark.slow
def test_a_question_is_answered_on_the_page_after_the_last_picture(film: Path) -> None:
    asked = command(film, "--serve", "127.0.0.1:0")
    with subprocess.Popen(asked, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        printed = ""
        while ENDED not in printed:
            line = process.stdout.readline()
            assert line, printed
            printed += line
        found = re.search(r"page (\S+)  .*PIN (\d{6})", printed)
        assert found is not None
        with httpx.Client(base_url=f"{found[1].rstrip('/')}/api/v1") as client:
            question = client.get("/state").json()["question"]
            assert question["text"] == QUESTION
            assert client.post("/login", json={"pin": found[2]}).status_code == 204
            answer = {"type": "answer", "topic": question["topic"], "choice": 1}
            assert client.post("/actions", json={"action": answer}).status_code == 200
        assert "corrected: Ann 0, Ben 10" in process.stdout.read()
    assert process.returncode == 0


@pytest.mark.slow
def test_a_question_is_answered_in_the_terminal_after_the_last_picture(film: Path) -> None:
    person, program = pty.openpty()
    with subprocess.Popen(command(film), stdin=program, stdout=program, stderr=program) as process:
        os.close(program)
        shown = b""
        while ENDED.encode() not in shown:
            shown += os.read(person, 65536)
        assert QUESTION.encode() in shown
        os.write(person, b"2")
        after = b""
        while True:
            try:
                after += os.read(person, 65536)
            except OSError:  # closed by the program
                break
        assert b"corrected: Ann 0, Ben 10" in after
    assert process.returncode == 0
    os.close(person)
