"""Tests of the checks of the computer: system, memory, temperature, power, clock and recording folder."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tallybone.doctor import machine
from tallybone.finding import Grade
from tests.tallybone.doctor.fake_table import PI

OK, WARNING, PROBLEM, ABSENT = Grade.OK, Grade.WARNING, Grade.PROBLEM, Grade.ABSENT
DISK = machine.Disk("/var/lib/tallybone", "", 30_000_000_000, "ext4", (4.0, 5.0, 30.0))


def test_a_good_pi_has_no_findings() -> None:
    assert {finding.grade for finding in machine.check_machine(PI)} == {OK}
    assert {
        finding.part
        for finding in machine.check_machine(replace(PI, vitals=machine.Vitals()))
        if finding.grade is not OK
    } == {"clock chip"}


def test_32_bit_systems_and_old_pythons_are_problems() -> None:
    assert (
        machine.check_system(PI).text
        == "Raspberry Pi 4 Model B Rev 1.5, Debian GNU/Linux 13 (trixie), 64 bit, Python 3.13"
    )
    assert "64-bit" in machine.check_system(replace(PI, bits=32)).remedy
    assert machine.check_system(replace(PI, python=(3, 10))).grade is PROBLEM
    assert machine.check_system(replace(PI, model="")).text.startswith("no Raspberry Pi, ")


@pytest.mark.parametrize(
    ("read_s", "grade", "text"),
    [
        (0.07, OK, "read in 0.07 s"),
        (1.2, WARNING, "read in 1.20 s: plays show late"),
        ("detector.onnx is missing", PROBLEM, "detector.onnx is missing"),
    ],
)
def test_the_speed_check_uses_the_time_of_a_reading(read_s: float | str, grade: Grade, text: str) -> None:
    found = machine.check_speed(read_s)
    assert found.grade is grade
    assert text in found.text


@pytest.mark.parametrize(
    ("throttled", "grade", "text"),
    [
        (None, ABSENT, "only a Raspberry Pi"),
        (0x0, OK, "voltage good"),
        (0x50005, PROBLEM, "is too low"),
        (0x50000, WARNING, "too low since"),
        (0x80008, WARNING, "is throttled"),
        (0x20000, WARNING, "has been throttled"),
    ],
)
def test_low_voltage_and_heat_now_and_before_are_distinguished(throttled: int | None, grade: Grade, text: str) -> None:
    found = machine.check_power(replace(PI, throttled=throttled))
    assert found.grade is grade
    assert text in found.text


@pytest.mark.parametrize(
    ("is_low", "supply_v", "dips", "grade", "text"),
    [
        (False, None, 0, OK, "voltage good"),
        (True, None, 1, PROBLEM, "is too low"),
        (False, None, 3, WARNING, "3× in the last hour"),
        (False, 5.1, 0, OK, "voltage good"),
        (None, 4.7, 0, WARNING, "only 4.70 V"),
        (None, 4.6, 0, PROBLEM, "is too low"),
    ],
)
def test_low_voltage_is_known_without_the_firmware(
    is_low: bool | None, supply_v: float | None, dips: int, grade: Grade, text: str
) -> None:
    counters = () if is_low is None else ((machine.MachineTrouble.LOW_VOLTAGE, "", int(is_low)),)
    found = machine.check_power(replace(PI, throttled=None, supply_v=supply_v, vitals=machine.Vitals(counters)), dips)
    assert found.grade is grade
    assert text in found.text


def test_memory_heat_and_clock_have_limits() -> None:
    for memory_mb, grade in ((None, ABSENT), (300, PROBLEM), (430, WARNING), (3796, OK)):
        assert machine.check_memory(memory_mb).grade is grade
    for heat_c, grade in ((None, ABSENT), (51.0, OK), (70.0, WARNING), (80.0, PROBLEM)):
        assert machine.check_temperature(heat_c).grade is grade
    assert [machine.check_clock(is_set=is_set).grade for is_set in (None, True, False)] == [ABSENT, OK, WARNING]


def test_a_disk_is_ok_if_it_has_room_and_is_fast_and_lasting() -> None:
    assert [finding.grade for finding in machine.check_disk(DISK)] == [OK, OK]
    assert "in 5 ms (median), at most 30 ms" in machine.check_disk(DISK)[1].text
    for free_bytes, grade in ((400_000_000, PROBLEM), (4_000_000_000, WARNING)):
        found = machine.check_disk(replace(DISK, free_bytes=free_bytes))[0]
        assert (found.grade, found.commands) == (grade, ("tallybone sessions --keep 5GB",))
    for kind in ("tmpfs", "overlay"):
        assert machine.check_disk(replace(DISK, kind=kind))[0].grade is WARNING
    for sync_ms, grade in (((5.0, 6.0, 1200.0), PROBLEM), ((120.0, 130.0, 140.0), WARNING)):
        assert machine.check_disk(replace(DISK, sync_ms=sync_ms))[1].grade is grade
    (found,) = machine.check_disk(machine.Disk("/nowhere", error="Permission denied"))
    assert (found.grade, found.text) == (PROBLEM, "/nowhere: Permission denied")
