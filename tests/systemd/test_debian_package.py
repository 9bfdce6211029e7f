"""Tests of the Debian package scripts: shellcheck, and usage errors."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

SYSTEMD = ROOT / "systemd"
SCRIPTS = [*sorted(SYSTEMD.glob("*.sh")), SYSTEMD / "tallybone-table", *sorted((SYSTEMD / "deb").iterdir())]


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="there is no shellcheck: sudo apt install shellcheck")
def test_the_scripts_pass_shellcheck() -> None:
    assert subprocess.run(["shellcheck", *SCRIPTS], capture_output=True, text=True).stdout == ""


@pytest.mark.parametrize("script", ["wheels.sh", "make_deb.sh"])
@pytest.mark.parametrize("arguments", [(), ("a", "3.11"), ("a", "3.11", "amd64", "run.txt", "more")])
def test_wrong_use_prints_the_usage(script: str, arguments: tuple[str, ...]) -> None:
    result = subprocess.run([SYSTEMD / script, *arguments], capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr.startswith("usage: ")


def test_rejects_a_processor_without_wheels(tmp_path: Path) -> None:
    result = subprocess.run([SYSTEMD / "wheels.sh", tmp_path, "3.11", "armhf"], capture_output=True, text=True)
    assert (result.returncode, "expected amd64 or arm64, got armhf" in result.stderr) == (2, True)
