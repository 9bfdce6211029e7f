"""Tests of the checks of libraries: requirements of parts, and fixes for missing or incompatible ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hardware.libraries import PinLibrary, install_command
from hardware.table import HardwareSettings
from tallybone.doctor.boot import Library, Venv, check_library, wanted_by
from tallybone.finding import Grade
from tests.tallybone.doctor.fake_table import WHOLE

IN_VENV, ALONE = (Venv("/opt/t/.venv", sees_system=sees) for sees in (True, False))
ON_LGPIO = WHOLE.model_copy(update={"pins": PinLibrary.LGPIO})
BY_NAME = {wanted.module: wanted for wanted in wanted_by(ON_LGPIO, "pi:0")}


def test_each_part_needs_only_its_libraries() -> None:
    assert list(BY_NAME) == ["numpy", "cv2", "gpiozero", "lgpio", "spidev", "picamera2", "sounddevice", "serial"]
    on_gpiod = WHOLE.model_copy(update={"pins": PinLibrary.GPIOD})
    assert [wanted.module for wanted in wanted_by(on_gpiod, "pi:0")][3] == "gpiod"
    picamera2 = check_library(BY_NAME["picamera2"], Library(None, "No module named 'picamera2'"), Venv("", True))
    assert picamera2.text == "missing; needed for the camera of the Pi"
    assert [wanted.module for wanted in wanted_by(HardwareSettings(), "usb:0")] == ["numpy", "cv2"]


APT_CAMERA = "sudo apt install python3-picamera2"
NEW_VENV = "python3 -m venv --system-site-packages /opt/t/.venv"
OTHER_LGPIO = ("pip uninstall -y lgpio", "sudo apt install python3-lgpio")


@pytest.mark.parametrize(
    ("module", "venv", "error", "remedy", "commands"),
    [
        ("gpiozero", IN_VENV, "", "", (install_command("pi"),)),
        ("spidev", IN_VENV, "", "", ("sudo apt install python3-spidev",)),
        ("picamera2", ALONE, "", "cannot access", (APT_CAMERA, NEW_VENV)),
        ("lgpio", IN_VENV, "module 'lgpio' has no attribute 'gpiochip_open'", "empty", OTHER_LGPIO),
        ("picamera2", IN_VENV, "numpy.dtype size changed", "numpy 2", ("pip install --upgrade simplejpeg picamera2",)),
        ("sounddevice", IN_VENV, "PortAudio library not found", "", ("sudo apt install libportaudio2",)),
        ("picamera2", IN_VENV, "No module named 'libcamera'", "", ("pip uninstall -y picamera2", APT_CAMERA)),
    ],
)
def test_a_missing_or_broken_library_has_its_commands(
    module: str, venv: Venv, error: str, remedy: str, commands: tuple[str, ...]
) -> None:
    found = check_library(BY_NAME[module], Library(None, error or f"No module named '{module}'"), venv)
    assert remedy in found.remedy
    assert found.commands == commands


@pytest.mark.parametrize(
    ("module", "version", "grade"),
    [
        ("cv2", "4.6.0", Grade.PROBLEM),
        ("cv2", "4.12.0.88", Grade.OK),
        ("cv2", "5.0.0.93", Grade.OK),
        ("gpiozero", "1.6.2", Grade.PROBLEM),
        ("serial", "3.5", Grade.OK),
    ],
)
def test_an_old_library_is_a_problem(module: str, version: str, grade: Grade) -> None:
    found = check_library(BY_NAME[module], Library(version, ""), IN_VENV)
    assert (found.part, found.grade) == ({"cv2": "opencv", "serial": "pyserial"}.get(module, module), grade)
    assert found.commands == (("pip install 'gpiozero>=2.0'",) if module == "gpiozero" else found.commands)


@pytest.mark.parametrize(("is_there", "library"), [(True, "lgpio"), (False, "gpiod")])
def test_lgpio_is_preferred_if_it_is_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_there: bool, library: str
) -> None:
    monkeypatch.delitem(sys.modules, "lgpio", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    if is_there:
        (tmp_path / "lgpio.py").touch()
    assert library in [wanted.module for wanted in wanted_by(WHOLE, "pi:0")]
