"""Tests of the checks of libraries: requirements of parts, and fixes for missing or incompatible ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hardware.libraries import PinLibrary, install_command
from hardware.table import HardwareSettings
from tallybone.doctor.boot import Library, Venv, check_library, wanted_by
from tallybone.finding import Finding, Grade
from tests.tallybone.doctor.fake_table import WHOLE

IN_VENV, ALONE, OUTSIDE = (
    Venv("/opt/t/.venv", sees_system=True),
    Venv("/opt/t/.venv", sees_system=False),
    Venv("", True),
)
ON_LGPIO = WHOLE.model_copy(update={"pins": PinLibrary.LGPIO})
BY_NAME = {wanted.module: wanted for wanted in wanted_by(ON_LGPIO, "pi:0")}


def missing(module: str, venv: Venv = IN_VENV, error: str = "") -> Finding:
    return check_library(BY_NAME[module], Library(None, error or f"No module named '{module}'"), venv)


def test_each_part_needs_only_its_libraries() -> None:
    assert list(BY_NAME) == ["numpy", "cv2", "gpiozero", "lgpio", "spidev", "picamera2", "sounddevice", "serial"]
    assert [wanted.module for wanted in wanted_by(WHOLE.model_copy(update={"pins": PinLibrary.GPIOD}), "pi:0")][
        3
    ] == "gpiod"
    assert [wanted.module for wanted in wanted_by(HardwareSettings(), "usb:0")] == ["numpy", "cv2"]


def test_a_working_library_is_ok() -> None:
    assert check_library(BY_NAME["serial"], Library("3.5", ""), IN_VENV).grade is Grade.OK


def test_libraries_are_installed_by_pip_or_apt() -> None:
    assert missing("gpiozero").commands == (install_command("pi"),)
    assert missing("spidev").commands == ("sudo apt install python3-spidev",)
    assert missing("picamera2", OUTSIDE).text == "missing; needed for the camera of the Pi"


def test_a_venv_without_system_packages_is_recreated() -> None:
    found = missing("picamera2", ALONE)
    assert "cannot access" in found.remedy
    assert found.commands == (
        "sudo apt install python3-picamera2",
        "python3 -m venv --system-site-packages /opt/t/.venv",
    )


def test_the_empty_lgpio_of_pip_is_uninstalled() -> None:
    found = missing("lgpio", error="module 'lgpio' has no attribute 'gpiochip_open'")
    assert "empty" in found.remedy
    assert found.commands == ("pip uninstall -y lgpio", "sudo apt install python3-lgpio")


def test_an_incompatible_picamera2_differs_from_a_missing_one() -> None:
    found = missing("picamera2", error="numpy.dtype size changed, may indicate binary incompatibility")
    assert "numpy 2" in found.remedy
    assert found.commands == ("pip install --upgrade simplejpeg picamera2",)


def test_a_missing_portaudio_has_its_package_name() -> None:
    assert missing("sounddevice", error="PortAudio library not found").commands == ("sudo apt install libportaudio2",)


def test_picamera2_of_pip_is_replaced_by_the_apt_package() -> None:
    found = missing("picamera2", error="No module named 'libcamera'")
    assert found.commands == ("pip uninstall -y picamera2", "sudo apt install python3-picamera2")


def test_an_old_gpiozero_is_a_problem() -> None:
    assert check_library(BY_NAME["gpiozero"], Library("1.6.2", ""), IN_VENV).commands == (
        "pip install 'gpiozero>=2.0'",
    )


@pytest.mark.parametrize(
    ("version", "grade"), [("4.6.0", Grade.PROBLEM), ("4.12.0.88", Grade.OK), ("5.0.0.93", Grade.OK)]
)
def test_an_old_opencv_is_a_problem(version: str, grade: Grade) -> None:
    found = check_library(BY_NAME["cv2"], Library(version, ""), IN_VENV)
    assert (found.part, found.grade) == ("opencv", grade)


@pytest.mark.parametrize(("is_there", "library"), [(True, "lgpio"), (False, "gpiod")])
def test_lgpio_is_preferred_if_it_is_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_there: bool, library: str
) -> None:
    monkeypatch.delitem(sys.modules, "lgpio", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    if is_there:
        (tmp_path / "lgpio.py").touch()
    assert library in [wanted.module for wanted in wanted_by(WHOLE, "pi:0")]
