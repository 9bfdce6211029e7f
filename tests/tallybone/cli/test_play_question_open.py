"""Tests of a live game whose pictures end with an open question: it waits if somebody can answer."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import pytest

from engine import NewHand
from tallybone.cli.play import PlayOptions
from tests.tallybone.cli.test_play import TALLYBONE, run_play
from tests.tallybone.live_clips import Timed, write_recording
from tests.tallybone.recorded_game import write_pictures
from tests.vision.tables import lay, table_with
from vision.tracking.watch import Frame

GREY = np.full((360, 480, 3), 90, np.uint8)
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
