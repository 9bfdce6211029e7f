"""Tests of the installation script: installed files, preserved configuration, and error messages."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

SCRIPT = ROOT / "systemd" / "install.sh"


def run(*options: str | Path, script: Path = SCRIPT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [script, *options], capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    )


def installed_files(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return mode and content of each file below a folder, by path."""
    return {
        f"/{path.relative_to(root)}": (path.stat().st_mode & 0o777, path.read_bytes())
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def test_installs_files_where_systemd_expects_them(tmp_path: Path) -> None:
    assert run("--root", tmp_path).returncode == 0
    assert {name: mode for name, (mode, _) in installed_files(tmp_path).items()} == {
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


def test_a_second_run_replaces_units_but_never_the_configuration(tmp_path: Path) -> None:
    run("--root", tmp_path)
    first = installed_files(tmp_path)
    assert run("--upgrade", "--root", tmp_path).returncode == 0
    assert installed_files(tmp_path) == first
    run("--root", tmp_path)
    config, unit = tmp_path / "etc/tallybone/table.toml", tmp_path / "etc/systemd/system/tallybone.service"
    config.write_text("# mine\n")
    unit.write_text("old")
    run("--root", tmp_path)
    assert config.read_text() == "# mine\n"
    assert unit.read_bytes() == (ROOT / "systemd" / "tallybone.service").read_bytes()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--foo",), "unknown option --foo"),
        (("--root",), "--root needs a name after it"),
        (("--purge",), "--purge goes with --uninstall"),
        (("--uninstall", "--root", "/nowhere"), "--uninstall goes without --root"),
    ],
)
def test_wrong_use_prints_the_reason_and_the_usage(options: tuple[str, ...], expected: str) -> None:
    result = run(*options)
    assert result.returncode == 2
    assert expected in result.stderr
    assert "usage: sudo ./systemd/install.sh" in result.stderr


def test_names_a_missing_wheel_or_project(tmp_path: Path) -> None:
    result = run("--root", tmp_path, "--wheel", tmp_path / "none.whl")
    assert (result.returncode, result.stderr) == (1, f"install.sh: {tmp_path}/none.whl: there is no such file\n")
    script = tmp_path / "systemd" / "install.sh"
    script.parent.mkdir()
    shutil.copy(SCRIPT, script)
    assert f"{tmp_path} is no Tallybone" in run("--root", tmp_path / "root", script=script).stderr


def path_with_fakes(folder: Path, **commands: str) -> str:
    """Return a PATH with fake commands, each given as a line of shell."""
    folder.mkdir()
    for name, line in commands.items():
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.mark.parametrize(
    ("fakes", "python", "reason"),
    [
        ({"id": "echo 1000"}, "python3", "run it as root"),
        (
            {"old": '[ "$1" = -V ] && echo Python 3.9.2 || exit 1'},
            "old",
            "Tallybone needs Python 3.11 or later, but old is Python 3.9.2",
        ),
        ({}, "python3.99", "python3.99 was not found"),
        (
            {"df": r"printf 'Filesystem x\n/dev/sda 1000 990 10 99%% /\n'"},
            "python3",
            "has 10 MB free, but 900 MB are needed",
        ),
    ],
    ids=["no root", "old python", "no python", "full disk"],
)
def test_what_prevents_an_installation_is_named_before_anything_is_written(
    fakes: dict[str, str], python: str, reason: str, tmp_path: Path
) -> None:
    result = run(
        PATH=path_with_fakes(tmp_path / "bin", **{"id": "echo 0", "systemctl": "true", **fakes}), PYTHON=python
    )
    assert result.returncode == 1
    assert reason in result.stderr
