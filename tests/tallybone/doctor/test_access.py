"""Device files: which a table needs, and why one cannot be used."""

from __future__ import annotations

from tallybone.doctor.parts import Device, User, check_device, devices_of
from tallybone.finding import Finding, Grade
from tests.hardware.table.reading import read_hardware
from tests.tallybone.doctor.fake_table import ANN, WHOLE

CLOSED = Device(is_there=True, is_usable=False, group="dialout")
OPEN = Device(is_there=True, is_usable=True, group="dialout")
ABSENT = Device(is_there=False)


def about(device: Device, path: str = "/dev/ttyAMA0", user: User = ANN) -> Finding:
    return check_device("display", path, device, user)


def test_each_device_is_asked_for_once() -> None:
    assert devices_of(WHOLE, "/dev/v4l/by-id/usb-cam-index0,size=1920x1080") == (
        ("camera", "/dev/v4l/by-id/usb-cam-index0"),
        ("LEDs", "/dev/gpiochip0"),
        ("LEDs", "/dev/spidev0.0"),
        ("microphone", "/dev/snd"),
        ("display", "/dev/serial0"),
    )


def test_what_has_no_device_asks_for_none() -> None:
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


def test_a_user_outside_the_group_is_told_how_to_join() -> None:
    found = about(CLOSED)
    assert found.grade is Grade.PROBLEM
    assert found.commands == ("sudo usermod -aG dialout ann",)


def test_a_user_who_has_just_joined_is_told_to_log_in_again() -> None:
    joined = User("ann", frozenset({"ann"}), frozenset({"dialout"}))
    assert "joined the group dialout after logging in" in about(CLOSED, user=joined).words
    assert "usermod" not in str(about(CLOSED, user=joined).commands)


def test_a_device_of_root_alone_is_no_matter_of_groups() -> None:
    assert about(Device(is_there=True, group="root")).commands == ()


def test_a_missing_device_is_told_by_what_it_is() -> None:
    assert about(ABSENT).commands == ("ls -l /dev/serial/by-id",)
    assert check_device("camera", "/dev/video0", ABSENT, ANN).commands == ("ls -l /dev/v4l/by-id",)
    assert "Only a Raspberry Pi" in about(ABSENT, "/dev/gpiochip0").mend
    assert "SPI" in about(ABSENT, "/dev/spidev0.0").mend


def test_a_name_that_may_change_is_a_warning() -> None:
    assert about(OPEN, "/dev/ttyUSB0").grade is Grade.WARNING
    assert about(OPEN, "/dev/serial/by-id/usb-FTDI_1234-if00-port0").grade is Grade.OK
