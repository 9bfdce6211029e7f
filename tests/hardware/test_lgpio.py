"""Tests with the real lgpio: it starts in any folder, leaves no files, and its pins return with their chip.

Only a Pi has a GPIO chip, so the compiled part of lgpio is replaced. The rest is real.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hardware.libraries import PinLibrary, open_pins
from hardware.part import NeededLibrary
from tallybone.doctor.machine import try_library
from tests.conftest import ROOT
from tests.hardware.pin_contract import check_that_parts_return

pytestmark = pytest.mark.skipif(importlib.util.find_spec("lgpio") is None, reason="lgpio is not installed")

_PI_4 = 0xC03115
_GONE = -5
_PATH = ":".join([str(ROOT), *sys.path])


def output_of(code: str, folder: Path, **environment: str) -> str:
    """Run a program in a folder, with temporary files in another, and return its output."""
    (folder / "here").mkdir()
    (folder / "tmp").mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=folder / "here",
        env={
            **os.environ,
            "TMPDIR": str(folder / "tmp"),
            "PYTHONPATH": ":".join([str(ROOT), *sys.path]),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


TRY_TO_OPEN = """
from hardware.libraries import PinError, PinLibrary, open_pins
try:
    open_pins(PinLibrary.LGPIO)
except PinError as error:
    print(error)
"""


def test_it_starts_in_a_read_only_folder(tmp_path: Path) -> None:
    """Not even root can write in /proc."""
    out = output_of("import os; os.chdir('/proc')" + TRY_TO_OPEN, tmp_path)
    assert out.startswith("the pins cannot be used (")
    assert "apt install" not in out


def test_it_leaves_no_pipe_and_keeps_the_working_directory(tmp_path: Path) -> None:
    here = tmp_path / "here"
    out = output_of(TRY_TO_OPEN + "import os; print(os.getcwd(), os.environ['LG_WD'])", tmp_path, LG_WD=str(here))
    assert out.splitlines()[-1] == f"{here} {here}"
    assert list(here.iterdir()) == list((tmp_path / "tmp").iterdir()) == []


def test_edges_are_received_through_the_unnamed_pipe(tmp_path: Path) -> None:
    code = (
        TRY_TO_OPEN
        + """
import os, struct, threading
import lgpio
came = threading.Event()
kept = lgpio.callback(0, 5, lgpio.BOTH_EDGES, lambda *edge: came.set())
for fd in os.listdir("/proc/self/fd"):
    if ".lgd-nfy" in os.path.realpath(f"/proc/self/fd/{fd}"):
        os.write(int(fd), struct.pack("QBBBBI", 1, 0, 5, 1, 0, 0))
        break
print(came.wait(10))
"""
    )
    assert output_of(code, tmp_path).splitlines()[-1] == "True"


def test_the_doctor_leaves_no_pipe_and_works_in_a_read_only_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", _PATH)
    wanted = NeededLibrary("lgpio", "lgpio", "pins", probe="gpiochip_open")
    assert try_library(wanted).error == ""
    assert list(tmp_path.iterdir()) == []
    monkeypatch.chdir("/proc")
    assert try_library(wanted).error == ""


@dataclass
class Chip:
    """The compiled part of lgpio with a removable chip. After removal its handle is invalid until closed."""

    is_there: bool = True
    is_open: bool = False
    is_dead: bool = False
    outputs: dict[int, float] = field(default_factory=dict)
    inputs: dict[int, int] = field(default_factory=dict)

    def install(self, monkeypatch: pytest.MonkeyPatch, compiled: Any) -> None:
        functions = {
            "_gpiochip_open": self._open,
            "_gpiochip_close": self._close,
            "_gpio_get_chip_info": lambda handle: [self._of(handle), 28, "pinctrl", "chip"],
            "_gpio_get_mode": lambda handle, pin: self._of(handle) or (2 if pin in self.outputs else 0),
            "_gpio_claim_input": lambda handle, flags, pin: self._of(handle) or self._claim(pin),
            "_gpio_claim_alert": lambda handle, flags, edges, pin, notify: self._of(handle) or self._claim(pin),
            "_gpio_claim_output": lambda handle, flags, pin, level: self._of(handle) or self._put(pin, level),
            "_gpio_free": lambda handle, pin: self._of(handle),
            "_gpio_read": lambda handle, pin: self._of(handle) or self.inputs.get(pin, 1),
            "_gpio_write": lambda handle, pin, level: self._of(handle) or self._put(pin, level),
            "_gpio_set_debounce_micros": lambda handle, pin, us: self._of(handle),
            "_tx_pwm": lambda handle, pin, hz, duty, *rest: self._of(handle) or self._put(pin, duty / 100),
        }
        for name, answer in functions.items():
            assert hasattr(compiled, name)
            monkeypatch.setattr(compiled, name, answer)

    def output(self, pin: int) -> float:
        return self.outputs.get(pin, 0)

    def remove(self) -> None:
        self.is_there, self.is_dead = False, True
        self.outputs, self.inputs = {}, {}

    def _open(self, number: int) -> int:
        if not self.is_there:
            return -78
        assert not self.is_open, "the chip would get another handle"
        self.is_open, self.is_dead = True, False
        return 0

    def _close(self, handle: int) -> int:
        assert handle == 0
        self.is_open = False
        return 0

    def _of(self, handle: int) -> int:
        return 0 if handle == 0 and self.is_open and not self.is_dead else _GONE

    def _claim(self, pin: int) -> int:
        self.outputs.pop(pin, None)
        return 0

    def _put(self, pin: int, level: float) -> int:
        self.outputs[pin] = level
        return 0


@pytest.fixture
def chip(monkeypatch: pytest.MonkeyPatch) -> Chip:
    from gpiozero.pins import local

    monkeypatch.setattr(local, "get_pi_revision", lambda: _PI_4)
    monkeypatch.setattr(local.LocalPiFactory, "pins", {})
    made = Chip(is_there=False)
    with pytest.raises(Exception, match="the pins cannot be used"):
        open_pins(PinLibrary.LGPIO)  # imports lgpio without a pipe in this folder
    made.is_there = True
    made.install(monkeypatch, sys.modules["lgpio"]._lgpio)
    return made


def test_all_parts_return_with_the_chip(chip: Chip) -> None:
    check_that_parts_return(PinLibrary.LGPIO, chip)
