"""The Debian package: its scripts are sound, and say how they are used."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

SYSTEMD = ROOT / "systemd"
SCRIPTS = [*sorted(SYSTEMD.glob("*.sh")), *sorted((SYSTEMD / "deb").iterdir())]


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="there is no shellcheck: sudo apt install shellcheck")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_finds_nothing(script: Path) -> None:
    told = subprocess.run(["shellcheck", script], capture_output=True, text=True)
    assert told.stdout == ""


@pytest.mark.parametrize("script", ["wheels.sh", "make_deb.sh"])
@pytest.mark.parametrize("arguments", [(), ("a", "3.11"), ("a", "3.11", "amd64", "more")])
def test_wrong_use_is_said(script: str, arguments: tuple[str, ...]) -> None:
    told = subprocess.run([SYSTEMD / script, *arguments], capture_output=True, text=True)
    assert told.returncode == 2
    assert told.stderr.startswith("usage: ")


def test_a_processor_without_wheels_is_refused(tmp_path: Path) -> None:
    told = subprocess.run([SYSTEMD / "wheels.sh", tmp_path, "3.11", "armhf"], capture_output=True, text=True)
    assert (told.returncode, "expected amd64 or arm64, got armhf" in told.stderr) == (2, True)
