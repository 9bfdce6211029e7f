"""The script that installs: what it lays into a folder, what it leaves alone, what it says when it cannot."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

SCRIPT = ROOT / "systemd" / "install.sh"
SCRIPTS = [SCRIPT, ROOT / "systemd" / "tallybone-table"]


def run(*options: str | Path, script: Path = SCRIPT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [script, *options], capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    )


def laid(root: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and content of each file below a folder, by its path."""
    return {
        f"/{path.relative_to(root)}": (path.stat().st_mode & 0o777, path.read_bytes())
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="there is no shellcheck: sudo apt install shellcheck")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_finds_nothing(script: Path) -> None:
    told = subprocess.run(["shellcheck", script], capture_output=True, text=True)
    assert told.stdout == ""


def test_everything_is_laid_where_systemd_looks(tmp_path: Path) -> None:
    assert run("--root", tmp_path).returncode == 0
    assert {name: mode for name, (mode, _) in laid(tmp_path).items()} == {
        "/etc/systemd/system/tallybone-club.target": 0o644,
        "/etc/systemd/system/tallybone-prune.service": 0o644,
        "/etc/systemd/system/tallybone-prune.timer": 0o644,
        "/etc/systemd/system/tallybone.service": 0o644,
        "/etc/sysusers.d/tallybone.conf": 0o644,
        "/etc/tallybone/service.env": 0o644,
        "/etc/tallybone/table.toml": 0o644,
        "/etc/tmpfiles.d/tallybone.conf": 0o644,
        "/etc/udev/rules.d/60-tallybone.rules": 0o644,
        "/opt/tallybone/docs/start/install.md": 0o644,
        "/opt/tallybone/requirements/table.txt": 0o644,
        "/opt/tallybone/systemd/install.sh": 0o755,
        "/usr/local/sbin/tallybone-table": 0o755,
    }
    assert (tmp_path / "usr/local/bin/tallybone").readlink() == Path("/opt/tallybone/venv/bin/tallybone")


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    run("--root", tmp_path)
    once = laid(tmp_path)
    assert run("--upgrade", "--root", tmp_path).returncode == 0
    assert laid(tmp_path) == once


def test_a_configuration_is_never_written_over_and_a_unit_is(tmp_path: Path) -> None:
    run("--root", tmp_path)
    config, unit = tmp_path / "etc/tallybone/table.toml", tmp_path / "etc/systemd/system/tallybone.service"
    config.write_text("# mine\n")
    unit.write_text("old")
    run("--root", tmp_path)
    assert config.read_text() == "# mine\n"
    assert unit.read_bytes() == (ROOT / "systemd" / "tallybone.service").read_bytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--foo",), "unknown option --foo"),
        (("--root",), "--root needs a name after it"),
        (("--purge",), "--purge goes with --uninstall"),
        (("--uninstall", "--root", "/nowhere"), "--uninstall goes without --root"),
    ],
)
def test_wrong_use_is_said_with_what_is_right(options: tuple[str, ...], words: str) -> None:
    told = run(*options)
    assert told.returncode == 2
    assert words in told.stderr
    assert "usage: sudo ./systemd/install.sh" in told.stderr


def test_a_wheel_that_is_not_there_is_named(tmp_path: Path) -> None:
    told = run("--root", tmp_path, "--wheel", tmp_path / "none.whl")
    assert (told.returncode, told.stderr) == (1, f"install.sh: {tmp_path}/none.whl: there is no such file\n")


def test_a_folder_that_is_no_tallybone_is_named(tmp_path: Path) -> None:
    script = tmp_path / "systemd" / "install.sh"
    script.parent.mkdir()
    shutil.copy(SCRIPT, script)
    assert f"{tmp_path} is no Tallybone" in run("--root", tmp_path / "root", script=script).stderr


def pretended(folder: Path, **answers: str) -> str:
    """A PATH on which commands answer as is said, a line of shell each."""
    folder.mkdir()
    for name, line in answers.items():
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_who_is_not_root_is_told(tmp_path: Path) -> None:
    told = run(PATH=pretended(tmp_path / "bin", id="echo 1000"))
    assert told.returncode == 1
    assert "run it as root" in told.stderr


def test_a_python_that_is_too_old_is_told(tmp_path: Path) -> None:
    path = pretended(
        tmp_path / "bin", id="echo 0", systemctl="true", old='[ "$1" = -V ] && echo Python 3.9.2 || exit 1'
    )
    told = run(PATH=path, PYTHON="old")
    assert told.returncode == 1
    assert "Tallybone needs Python 3.11 or later, but old is Python 3.9.2" in told.stderr


def test_a_python_that_is_not_there_is_told(tmp_path: Path) -> None:
    told = run(PATH=pretended(tmp_path / "bin", id="echo 0", systemctl="true"), PYTHON="python3.99")
    assert told.returncode == 1
    assert "python3.99 was not found" in told.stderr


def test_a_full_disk_is_told_before_anything_is_written(tmp_path: Path) -> None:
    few = "printf 'Filesystem x\\n/dev/sda 1000 990 10 99%% /\\n'"
    told = run(PATH=pretended(tmp_path / "bin", id="echo 0", systemctl="true", df=few))
    assert told.returncode == 1
    assert "has 10 MB free, but 900 MB are needed" in told.stderr
