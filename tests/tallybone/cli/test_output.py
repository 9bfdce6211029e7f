"""A program whose stdout cannot take what is printed: a game goes on, and nobody is shown a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tallybone.recording.survey import survey
from tests.tallybone.replay.videos import write_video

TALLYBONE = str(Path(sys.executable).with_name("tallybone"))
GREY = np.full((360, 480, 3), 90, np.uint8)


def run(*args: str, shell: str, encoding: str = "utf-8") -> tuple[int, str]:
    """Exit code and stderr of the program, its streams as a shell sets them up."""
    said = f'"$@" {shell}'
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            ["sh", "-c", said, "sh", TALLYBONE, *args],
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


# Without anything more, stdout is a pipe that nobody reads.
@pytest.mark.parametrize("shell", ["", "2>&1", ">/dev/full", ">/dev/full 2>&1", ">&-", "2>&- >&-"])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_game_goes_on_where_nothing_can_be_printed(tmp_path: Path, shell: str, form: list[str]) -> None:
    video = write_video(tmp_path / "a.avi", [GREY] * 4, per_s=10)
    where = ["--camera", str(video), "--record", str(tmp_path / "sessions"), "--speed", "0"]
    code, err = run("play", *where, *form, shell=shell)
    assert code == 0
    assert "Traceback" not in err
    assert err.count("stdout takes nothing more") == (shell in ("", ">/dev/full"))
    (recording,) = (tmp_path / "sessions").iterdir()
    assert survey(recording).facts.frames == 4 + 8  # the last picture of a film is held


def test_a_game_goes_on_at_a_terminal_without_the_letters_of_a_name(tmp_path: Path) -> None:
    video, out = write_video(tmp_path / "a.avi", [GREY] * 4, per_s=10), tmp_path / "out"
    where = ["--camera", str(video), "--record", "none", "--speed", "0", "--players", "Zo\u00eb,\u5c0f\u660e"]
    assert run("play", *where, shell=f">{out}", encoding="latin-1") == (0, "")
    assert "match: Zo\u00eb, ??" in out.read_text(encoding="latin-1")


@pytest.mark.parametrize("args", [["rules"], ["version"], ["--help"]])
def test_a_full_disk_is_said_and_a_reader_who_has_enough_is_not(args: list[str]) -> None:
    assert run(*args, shell=">/dev/full") == (
        1,
        "tallybone: the output cannot be written: No space left on device\n",
    )
    assert run(*args, shell="") == (1, "")
