"""Libraries: which parts need which, and how to mend what is missing, empty or made for another numpy."""

from __future__ import annotations

import pytest

from hardware.table.settings import HardwareSettings
from tallybone.doctor.libraries import Library, Venv, check_library, wanted_by
from tallybone.finding import Finding, Grade
from tests.tallybone.doctor.fake_table import WHOLE

IN_VENV, ALONE, OUTSIDE = (
    Venv("/opt/t/.venv", sees_system=True),
    Venv("/opt/t/.venv", sees_system=False),
    Venv("", True),
)
BY_NAME = {wanted.module: wanted for wanted in wanted_by(WHOLE, "pi:0")}


def missing(module: str, venv: Venv = IN_VENV, error: str = "") -> Finding:
    return check_library(BY_NAME[module], Library(None, error or f"No module named '{module}'"), venv)


def test_each_part_asks_for_its_own_libraries_and_no_others() -> None:
    assert list(BY_NAME) == ["numpy", "cv2", "gpiozero", "lgpio", "spidev", "picamera2", "sounddevice", "serial"]
    assert [wanted.module for wanted in wanted_by(HardwareSettings(), "usb:0")] == ["numpy", "cv2"]


def test_a_library_that_works_is_well() -> None:
    assert check_library(BY_NAME["serial"], Library("3.5", ""), IN_VENV).grade is Grade.OK


def test_what_pip_has_comes_from_pip_and_what_apt_has_from_apt() -> None:
    assert missing("gpiozero").commands == ("pip install 'tallybone[pi]'",)
    assert missing("spidev").commands == ("sudo apt install python3-spidev",)
    assert missing("picamera2", OUTSIDE).words == "missing; needed for the camera of the Pi"


def test_a_venv_that_does_not_see_the_system_is_made_anew() -> None:
    found = missing("picamera2", ALONE)
    assert "cannot access" in found.mend
    assert found.commands == (
        "sudo apt install python3-picamera2",
        "python3 -m venv --system-site-packages /opt/t/.venv",
    )


def test_the_empty_lgpio_of_pip_is_taken_away() -> None:
    found = missing("lgpio", error="module 'lgpio' has no attribute 'gpiochip_open'")
    assert "empty" in found.mend
    assert found.commands == ("pip uninstall -y lgpio", "sudo apt install python3-lgpio")


def test_a_picamera2_for_another_numpy_is_told_from_one_that_is_missing() -> None:
    found = missing("picamera2", error="numpy.dtype size changed, may indicate binary incompatibility")
    assert "numpy 2" in found.mend
    assert found.commands == ("pip install --upgrade simplejpeg picamera2",)


def test_portaudio_is_asked_for_by_the_name_of_its_package() -> None:
    assert missing("sounddevice", error="PortAudio library not found").commands == ("sudo apt install libportaudio2",)


def test_a_picamera2_of_pip_without_libcamera_is_replaced_by_apts() -> None:
    found = missing("picamera2", error="No module named 'libcamera'")
    assert found.commands == ("pip uninstall -y picamera2", "sudo apt install python3-picamera2")


def test_the_old_gpiozero_of_apt_is_a_problem() -> None:
    assert check_library(BY_NAME["gpiozero"], Library("1.6.2", ""), IN_VENV).commands == (
        "pip install 'gpiozero>=2.0'",
    )


@pytest.mark.parametrize(
    ("version", "grade"), [("4.6.0", Grade.PROBLEM), ("4.12.0.88", Grade.OK), ("5.0.0.93", Grade.OK)]
)
def test_the_old_opencv_of_apt_is_a_problem(version: str, grade: Grade) -> None:
    found = check_library(BY_NAME["cv2"], Library(version, ""), IN_VENV)
    assert (found.part, found.grade) == ("opencv", grade)
