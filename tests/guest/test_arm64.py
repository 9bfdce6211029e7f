"""The demo and the quick tests on an emulated aarch64 processor, in the Debian 13 of `make arm`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.systemd.bare_system import BareSystem
from tests.test_house import project_files

pytestmark = [pytest.mark.slow, pytest.mark.guest]

_MAKE = ("env", "PIP_NO_INDEX=1", "PIP_FIND_LINKS=/wheels", "make", "--directory=/tallybone")
_PARTS = (
    *("tests/vision vision", "tests/engine engine", "tests/hardware hardware", "tests/calibration calibration"),
    *("tests/lab lab", "tests/tallybone tallybone", "tests/*.py tests/fuzz tests/systemd"),
)


@pytest.fixture(scope="module")
def arm64() -> BareSystem:
    """Return the system with a fresh copy of the source in /tallybone."""
    folder = os.environ.get("TALLYBONE_ARM64")
    if folder is None:
        pytest.skip("takes hours, and root: sudo make arm runs it")
    system = BareSystem(Path(folder).resolve() / "root", within_s=7200)
    source = system.root / "tallybone"
    shutil.rmtree(source, ignore_errors=True)
    for path in project_files():
        copy = source / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
    return system


def test_the_demo_is_right(arm64: BareSystem) -> None:
    assert ": correct" in arm64.output(*_MAKE, "demo")


@pytest.fixture(scope="module")
def python(arm64: BareSystem) -> str:
    """Return the Python with the packages of tests."""
    arm64.output(*_MAKE, f".venv/.dev-{arm64.python}")
    return ".venv/bin/python"


@pytest.mark.parametrize("part", _PARTS)
def test_the_quick_tests_pass(arm64: BareSystem, python: str, part: str) -> None:
    arm64.output("sh", "-c", f"cd /tallybone && {python} -m pytest -q -m 'not (slow or timed)' {part}")
