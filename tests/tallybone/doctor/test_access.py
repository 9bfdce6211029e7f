"""Tests of the device files of a table, and of reasons for missing access."""

from __future__ import annotations

from tallybone.doctor.parts import Device, User, check_device, devices_of
from tallybone.finding import Finding, Grade
from tests.hardware.table.reading import read_hardware
from tests.tallybone.doctor.fake_table import ANN, WHOLE

CLOSED = Device(is_there=True, is_usable=False, group="dialout")
OPEN = Device(is_there=True, is_usable=True, group="dialout")
ABSENT = Device(is_there=False)


def finding_for(device: Device, path: str = "/dev/ttyAMA0", user: User = ANN) -> Finding:
    return check_device("display", path, device, user)


def test_each_device_is_listed_once() -> None:
    assert devices_of(WHOLE, "/dev/v4l/by-id/usb-cam-index0,size=1920x1080") == (
        ("camera", "/dev/v4l/by-id/usb-cam-index0"),
        ("LEDs", "/dev/gpiochip0"),
        ("LEDs", "/dev/spidev0.0"),
        ("microphone", "/dev/snd"),
        ("display", "/dev/serial0"),
    )


def test_parts_without_device_files() -> None:
    virtual = read_hardware(
        {
            "pins": "mock",
            "leds": [{"driver": "single", "pins": [5]}],
            "buttons": {"driver": "virtual"},
            "knock": {"driver": "piezo-pin", "pin": 21},
            "displays": [{"driver": "segment", "url": "socket://scores:5000"}],
        }
    )
    assert devices_of(virtual, "simulated:seed=3") == devices_of(virtual, "usb:0") == ()
    assert devices_of(virtual, "pi:0") == (("camera", "/dev/media0"),)


def test_a_user_outside_the_group_gets_the_command_to_join() -> None:
    found = finding_for(CLOSED)
    assert found.grade is Grade.PROBLEM
    assert found.commands == ("sudo usermod -aG dialout ann",)
    joined = finding_for(CLOSED, user=User("ann", frozenset({"ann"}), frozenset({"dialout"})))
    assert "joined the group dialout after logging in" in joined.text
    assert "usermod" not in str(joined.commands)
    assert finding_for(Device(is_there=True, group="root")).commands == ()


def test_commands_for_missing_devices_and_a_warning_about_unstable_names() -> None:
    assert finding_for(ABSENT).commands == ("ls -l /dev/serial/by-id",)
    assert check_device("camera", "/dev/video0", ABSENT, ANN).commands == ("ls -l /dev/v4l/by-id",)
    assert "Only a Raspberry Pi" in finding_for(ABSENT, "/dev/gpiochip0").remedy
    assert "SPI" in finding_for(ABSENT, "/dev/spidev0.0").remedy
    assert finding_for(OPEN, "/dev/ttyUSB0").grade is Grade.WARNING
    assert finding_for(OPEN, "/dev/serial/by-id/usb-FTDI_1234-if00-port0").grade is Grade.OK
