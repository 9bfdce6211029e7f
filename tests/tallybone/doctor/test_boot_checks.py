"""Tests of the checks of config.txt: sections by board, and settings for parts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hardware.table import HardwareSettings
from tallybone.doctor.boot import Boot, PiModel, board_of, check_boot, settings_of, taken_pins
from tallybone.finding import Finding, Grade
from tests.hardware.table.reading import read_hardware
from tests.tallybone.doctor.fake_table import BOOT, WHOLE

STRIP = read_hardware({"leds": [{"driver": "strip", "count": 8}]})
MICROPHONE = read_hardware({"knock": {"driver": "microphone", "wire": "i2s"}})
NOTHING = HardwareSettings()


def found(
    config: str, hardware: HardwareSettings, *, camera: str = "usb:0", board: PiModel = PiModel.PI5
) -> list[Finding]:
    return list(check_boot(Boot(board, "/boot/firmware/config.txt", config, "console=tty1"), hardware, camera))


def with_segment_display(url: str) -> HardwareSettings:
    return read_hardware({"displays": [{"driver": "segment", "url": url}]})


@pytest.mark.parametrize(
    ("model", "board"),
    [
        ("Raspberry Pi 4 Model B Rev 1.5", PiModel.PI4),
        ("Raspberry Pi 5 Model B Rev 1.0", PiModel.PI5),
        ("Raspberry Pi 500 Rev 1.0", PiModel.PI5),
        ("Raspberry Pi Zero 2 W Rev 1.0", PiModel.ZERO2),
        ("Raspberry Pi 3 Model B Plus Rev 1.3", PiModel.PI3),
        ("", PiModel.OTHER),
    ],
)
def test_boards_are_recognised_by_their_model(model: str, board: PiModel) -> None:
    assert board_of(model) is board


def test_only_sections_for_the_board_apply() -> None:
    config = "a=1 # why\n#b=2\n[pi4]\nc=3\n[pi0]\nd=4\n[all]\ne=5\n[none]\nf=6"
    assert settings_of(config, PiModel.PI4) == (("a", "1"), ("c", "3"), ("e", "5"))
    assert settings_of(config, PiModel.ZERO2) == (("a", "1"), ("d", "4"), ("e", "5"))
    boot = replace(BOOT, config="dtparam=spi=on,i2c_arm\ndtparam=spi=off")
    assert (boot.is_on("spi"), boot.is_on("i2c_arm")) == (False, True)  # the last line applies
    assert {finding.grade for finding in check_boot(BOOT, WHOLE, "pi:0")} == {Grade.OK}


def test_disabled_spi_gets_a_command_for_this_board() -> None:
    (finding,) = found("[pi4]\ndtparam=spi=on", STRIP)
    assert (finding.part, finding.grade) == ("SPI 0", Grade.PROBLEM)
    assert finding.commands[:2] == tuple(
        f"echo '{line}' | sudo tee -a /boot/firmware/config.txt" for line in ("[all]", "dtparam=spi=on")
    )
    assert found("dtparam=spi=on", STRIP)[0].grade is Grade.OK


def test_the_second_spi_needs_an_overlay_with_enough_chips() -> None:
    piezo = read_hardware({"knock": {"driver": "piezo-spi", "spi": "1.1"}})
    assert found("dtoverlay=spi1-1cs", piezo)[0].commands[0].startswith("echo 'dtoverlay=spi1-2cs'")
    assert found("dtoverlay=spi1-3cs", piezo)[0].grade is Grade.OK


def test_parts_on_pins_need_their_overlay_unlike_usb() -> None:
    assert found("", MICROPHONE)[0].grade is Grade.PROBLEM
    assert found("dtoverlay=googlevoicehat-soundcard", MICROPHONE)[0].grade is Grade.OK
    assert found("", with_segment_display("/dev/ttyUSB0")) == []


@pytest.mark.parametrize(
    ("board", "missing"),
    [(PiModel.PI4, ["core_freq=500", "core_freq_min=500"]), (PiModel.ZERO2, ["core_freq=250"]), (PiModel.PI5, None)],
)
def test_a_strip_needs_a_fixed_clock(board: PiModel, missing: list[str] | None) -> None:
    findings = found("dtparam=spi=on", STRIP, board=board)
    assert findings[0].grade is Grade.OK
    lines = None if len(findings) == 1 else [command.split("'")[1] for command in findings[1].commands[:-1]]
    assert lines == missing


@pytest.mark.parametrize(
    ("board", "config", "kernel_line", "url", "grade"),
    [
        (PiModel.PI4, "", "", "/dev/serial0", Grade.PROBLEM),
        (PiModel.PI4, "enable_uart=1", "", "/dev/serial0", Grade.OK),
        (PiModel.PI4, "enable_uart=1", "console=serial0,115200 quiet", "/dev/serial0", Grade.PROBLEM),
        (PiModel.PI5, "enable_uart=1", "", "/dev/ttyAMA0", Grade.PROBLEM),
        (PiModel.PI5, "dtparam=uart0=on", "", "/dev/ttyAMA0", Grade.OK),
        (PiModel.PI5, "dtparam=uart0=on", "", "/dev/serial0", Grade.WARNING),
    ],
)
def test_the_serial_pins_are_enabled_without_a_console(
    board: PiModel, config: str, kernel_line: str, url: str, grade: Grade
) -> None:
    boot = Boot(board, "/boot/firmware/config.txt", config, kernel_line)
    assert [finding.grade for finding in check_boot(boot, with_segment_display(url), "usb:0")] == [grade]


def test_problems_of_the_pi_camera() -> None:
    config = "start_x=1\ncamera_auto_detect=0"
    assert [finding.grade for finding in found(config, NOTHING, camera="pi:0")] == [Grade.PROBLEM] * 2
    assert found(config, NOTHING, camera="usb:0") == []
    assert found("camera_auto_detect=0\ndtoverlay=imx708", NOTHING, camera="pi:0") == []


def test_pins_in_use_are_reported_with_their_setting() -> None:
    buttons = read_hardware({"buttons": {"driver": "gpio", "next": 4, "undo": 9, "draw": 24}})
    text = {finding.text for finding in found("dtoverlay=w1-gpio\ndtparam=spi=on", buttons)}
    assert text == {
        "GPIO 4 is configured for the button next, but dtoverlay=w1-gpio in config.txt uses it",
        "GPIO 9 is configured for the button undo, but dtparam=spi=on in config.txt uses it",
    }
    taken = taken_pins(replace(BOOT, config="dtoverlay=w1-gpio,gpiopin=17\nenable_uart=1"))
    assert taken == {17: "dtoverlay=w1-gpio,gpiopin=17", 14: "enable_uart=1", 15: "enable_uart=1"}
