"""Tests of an unwritable stdout: a game continues, and there is no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tallybone.recording.survey import survey
from tests.hardware.knock.sounds import write_wav
from tests.tallybone.replay.videos import write_video

TALLYBONE = str(Path(sys.executable).with_name("tallybone"))
GREY = np.full((360, 480, 3), 90, np.uint8)


def run(*args: str, shell: str, encoding: str = "utf-8") -> tuple[int, str]:
    """Return exit code and stderr of the program, with its streams redirected by *shell*."""
    script = f'"$@" {shell}'
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            ["sh", "-c", script, "sh", TALLYBONE, *args],
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONIOENCODING": encoding},
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writing)
    return done.returncode, done.stderr


# Without redirection, stdout is a pipe without a reader.
@pytest.mark.parametrize("shell", ["", "2>&1", ">/dev/full", ">/dev/full 2>&1", ">&-", "2>&- >&-"])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_game_continues_without_a_writable_stdout(tmp_path: Path, shell: str, form: list[str]) -> None:
    video = write_video(tmp_path / "a.avi", [GREY] * 4, per_s=10)
    where = ["--camera", str(video), "--record", str(tmp_path / "sessions"), "--speed", "0"]
    code, err = run("play", *where, *form, shell=shell)
    assert code == 0
    assert "Traceback" not in err
    assert err.count("cannot write to stdout") == (shell in ("", ">/dev/full"))
    (recording,) = (tmp_path / "sessions").glob("*.mcap")
    assert survey(recording).facts.frames == 4 + 8  # the last picture of a video is repeated


def test_a_game_continues_with_an_encoding_that_lacks_letters_of_a_name(tmp_path: Path) -> None:
    video, out = write_video(tmp_path / "a.avi", [GREY] * 4, per_s=10), tmp_path / "out"
    where = ["--camera", str(video), "--record", "none", "--speed", "0", "--players", "Zo\u00eb,\u5c0f\u660e"]
    assert run("play", *where, shell=f">{out}", encoding="latin-1") == (0, "")
    assert "match: Zo\u00eb, ??" in out.read_text(encoding="latin-1")


@pytest.mark.parametrize("args", [["rules"], ["version"], ["--help"]])
def test_a_full_disk_is_reported_and_a_closed_pipe_is_not(args: list[str]) -> None:
    assert run(*args, shell=">/dev/full") == (
        1,
        "tallybone: the output cannot be written: No space left on device\n",
    )
    assert run(*args, shell="") == (1, "")


def test_listening_ends_silently_when_the_reader_of_its_output_has_finished(tmp_path: Path) -> None:
    clicks = np.zeros(16_000, np.float32)
    clicks[4_000:16_000:3_000] = 0.9
    file = write_wav(tmp_path / "clicks.wav", clicks)
    assert run("listen", "--all", str(file), shell="") == (1, "")
