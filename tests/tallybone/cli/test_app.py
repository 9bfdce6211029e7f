"""Tests of the command line as a program: start-up time, version and usage errors."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tallybone import laboratory
from tallybone.cli.app import COMMANDS, app

TALLYBONE = Path(sys.executable).with_name("tallybone")


def tallybone(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TALLYBONE, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)


@pytest.mark.timed
def test_help_takes_under_half_a_second_of_cpu_time() -> None:
    """CPU time does not depend on the load of the machine."""
    seconds = []
    for _ in range(5):
        before = sum(os.times()[2:4])
        done = tallybone("--help")
        seconds.append(sum(os.times()[2:4]) - before)
        assert done.returncode == 0
        assert "read" in done.stdout
        if seconds[-1] < 0.5:
            break
    assert 0 < min(seconds) < 0.5


def test_heavy_modules_are_imported_lazily() -> None:
    code = "import sys, tallybone.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"cv2", "numpy", "scipy", "sklearn", "rich", "pydantic"}
    assert not heavy & set(loaded)
    assert "tallybone.cli" in loaded


@pytest.mark.slow
def test_the_version_is_an_option_and_a_command() -> None:
    assert tallybone("--version").stdout == tallybone("version").stdout
    assert tallybone("version").stdout.startswith("tallybone 0.")


def test_the_bare_command_says_how_to_start() -> None:
    done = tallybone()
    assert done.returncode == 0
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("  tallybone demo ")
    assert lines[1].startswith("  tallybone serve ")
    assert [name for name in COMMANDS if name not in done.stdout] == []


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["read"], "PHOTO"),
        (["read", "--set", "double-7", "x.jpg"], "double-7"),
        (["read", "--colour", "x.jpg"], "--colour"),
        (["shuffle"], "shuffle"),
    ],
)
def test_usage_errors_exit_with_2_and_name_the_mistake(arguments: list[str], word: str) -> None:
    done = tallybone(*arguments)
    assert done.returncode == 2
    assert word in done.stderr
    assert done.stdout == ""


def test_annotating_into_a_file_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = tallybone("read", "--annotate", str(tmp_path / "file"), "x.jpg")
    assert done.returncode == 2
    assert "file" in done.stderr


def test_commands_and_cameras_of_the_laboratory_say_in_a_sentence_that_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(laboratory, "entry_points", lambda **_: ())
    lines = []
    for arguments in (["demo"], ["train", "pips"], ["calibrate", "guide", "--camera", "simulated"]):
        with pytest.raises(SystemExit) as ended:
            app(arguments)
        out, err = capsys.readouterr()
        lines.append((ended.value.code, out, err.partition(" is a part of tallybone-lab, which is not installed: ")[0]))
    assert lines == [
        (1, "", "tallybone: the command demo"),
        (1, "", "tallybone: the command train"),
        (1, "", "tallybone calibrate: a simulated camera"),
    ]


def test_all_commands_of_the_laboratory_come_from_its_entry_points() -> None:
    points = {point.name for point in entry_points(group=laboratory.COMMANDS)}
    assert points == {name for name, entry in COMMANDS.items() if entry.module is None}
