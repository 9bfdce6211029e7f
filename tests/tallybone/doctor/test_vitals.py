"""Tests of the signs of trouble, read from fake system files with the names and contents of the kernel's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallybone.doctor.machine import LAST_HOUR, SINCE_START, LastHour, MachineTrouble, Vitals, check_vitals, read_vitals
from tallybone.finding import Grade

SECOND = 1_000_000_000
HOUR = 3600 * SECOND
WIRELESS = """Inter-| sta-|   Quality        |   Discarded packets               | Missed | WE
 face | tus | link level noise |  nwid  crypt   frag  retry   misc | beacon | 22
 wlan0: 0000   54.  -81.  -256        0      0      0      0      0        0
"""
FILES = {
    "sys/class/hwmon/hwmon0/name": "cpu_thermal",
    "sys/class/hwmon/hwmon0/in0_lcrit_alarm": "1",
    "sys/class/hwmon/hwmon1/name": "rpi_volt",
    "sys/class/hwmon/hwmon1/in0_lcrit_alarm": "0",
    "sys/fs/ext4/features/lazy_itable_init": "supported",
    "sys/fs/ext4/mmcblk0p2/errors_count": "0",
    "sys/devices/usb1/1-0:1.0/usb1-port1/over_current_count": "0",
    "sys/devices/usb1/1-1/devnum": "4",
    "sys/class/thermal/thermal_zone0/temp": "51234",
    "sys/class/thermal/cooling_device0/type": "pwm-fan",
    "sys/class/thermal/cooling_device0/cur_state": "3",
    "sys/class/thermal/cooling_device1/type": "cpufreq-cpu0",
    "sys/class/thermal/cooling_device1/cur_state": "0",
    "sys/class/rtc/rtc0/name": "rpi-rtc soc@107c000000:rpi_rtc",
    "proc/vmstat": "oom_kill 0\ndrop_pagecache 0",
    "proc/net/wireless": WIRELESS.replace("-81", "-56"),
}


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(f"{text}\n")


@pytest.fixture(name="root")
def a_sound_machine(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        write(tmp_path, name, text)
    bus = tmp_path / "sys/bus/usb/devices"
    bus.mkdir(parents=True)
    for device in ("usb1/1-0:1.0", "usb1/1-1"):
        (bus / Path(device).name).symlink_to(f"../../../devices/{device}")
    return tmp_path


def named(vitals: Vitals, hour: LastHour, t_ns: int = 0) -> dict[str, str]:
    """Return the words about each part that is not fine."""
    found = check_vitals(vitals, hour.counts(t_ns), LAST_HOUR)
    return {finding.part: finding.text for finding in found if finding.grade in (Grade.WARNING, Grade.PROBLEM)}


def test_a_sound_machine_has_no_trouble_and_others_name_counts_since_the_start(root: Path) -> None:
    vitals, hour = read_vitals(root), LastHour()
    hour.add(vitals.counters, 0)
    assert vitals.is_low is False
    assert not named(vitals, hour)
    assert {finding.grade for finding in check_vitals(vitals, vitals.since_start(), SINCE_START)} == {Grade.OK}
    write(root, "sys/devices/usb1/1-0:1.0/usb1-port1/over_current_count", "2")
    (root / "sys/class/rtc/rtc0").rename(root / "gone")
    vitals = read_vitals(root)
    found = {finding.part: finding for finding in check_vitals(vitals, vitals.since_start(), SINCE_START)}
    assert found["USB"].text == "a device drew too much current (2× since the computer started)"
    assert found["clock chip"].grade is Grade.ABSENT


@pytest.mark.parametrize(
    ("files", "part", "message"),
    [
        ({"sys/fs/ext4/mmcblk0p2/errors_count": "7"}, "card", "7 errors in the file system of mmcblk0p2"),
        (
            {"sys/devices/usb1/1-0:1.0/usb1-port1/over_current_count": "2"},
            "USB",
            "a device drew too much current (2× in the last hour)",
        ),
        ({"proc/vmstat": "oom_kill 1"}, "memory", "a program was ended because memory ran out (1× in the last hour)"),
        (
            {"sys/class/thermal/cooling_device1/cur_state": "1"},
            "heat",
            "too hot for full speed (1× in the last hour)",
        ),
        ({"sys/class/thermal/thermal_zone0/temp": "80001"}, "heat", "too hot for full speed (1× in the last hour)"),
        ({"proc/net/wireless": WIRELESS}, "Wi-Fi", "signal of -81 dBm"),
    ],
)
def test_each_trouble_is_named(root: Path, files: dict[str, str], part: str, message: str) -> None:
    hour = LastHour()
    hour.add(read_vitals(root).counters, 0)
    for name, text in files.items():
        write(root, name, text)
    vitals = read_vitals(root)
    hour.add(vitals.counters, SECOND)
    assert named(vitals, hour) == {part: message}


def test_low_voltage_is_read_from_the_driver_of_the_firmware_alone(root: Path) -> None:
    write(root, "sys/class/hwmon/hwmon1/in0_lcrit_alarm", "1")
    assert read_vitals(root).is_low is True
    (root / "sys/class/hwmon/hwmon1/name").unlink()
    assert read_vitals(root).is_low is None


def test_a_device_that_comes_back_counts_and_is_named_from_three_times(root: Path) -> None:
    hour, number = LastHour(), root / "sys/devices/usb1/1-1/devnum"
    for at, devnum in enumerate(("4", "5", None, "6", "7")):
        if devnum is None:
            number.unlink()
        else:
            number.write_text(devnum)
        assert named(Vitals(), hour) == {}
        hour.add(read_vitals(root).counters, at * SECOND)
    assert named(Vitals(), hour) == {"USB": "devices were lost and found again (3× in the last hour)"}


def test_a_state_counts_each_time_that_it_begins_and_for_as_long_as_it_lasts() -> None:
    hour, key = LastHour(), (MachineTrouble.LOW_VOLTAGE, "")
    for at, value in enumerate((1, 1, 0, 1)):
        hour.add([(*key, value)], at * SECOND)
    assert hour.counts(4 * SECOND)[MachineTrouble.LOW_VOLTAGE] == 2
    assert hour.counts(2 * HOUR)[MachineTrouble.LOW_VOLTAGE] == 1
    hour.add([(*key, 0)], 5 * SECOND)
    times_ns = (6 * SECOND, HOUR + SECOND, HOUR + 3 * SECOND)
    assert [hour.counts(t_ns)[MachineTrouble.LOW_VOLTAGE] for t_ns in times_ns] == [2, 1, 0]
    hour, key = LastHour(), (MachineTrouble.OVER_CURRENT, "usb1-port1")
    for value in (5, 0, 1):  # a total that begins again is no trouble
        hour.add([(*key, value)], 0)
    assert hour.counts(0)[MachineTrouble.OVER_CURRENT] == 1
