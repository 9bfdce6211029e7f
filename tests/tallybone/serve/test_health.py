"""Tests of the health of a served table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from engine import BONES
from engine.phrases import Phrase
from tallybone.doctor.machine import LAST_HOUR, Disk, Machine, MachineTrouble, Vitals, check_power, check_vitals
from tallybone.finding import Finding, Grade
from tallybone.play.counts import Counts, MeanPace
from tallybone.play.game import LiveState
from tallybone.play.recorder import NOT_RECORDED
from tallybone.serve.health import (
    Health,
    HealthMonitor,
    TableSources,
    camera_found,
    end_of_last_run,
    pace_found,
    parts_found,
)
from tallybone.session.sitting import opened
from tallybone.texts import catalogue
from tallybone.web.live.feed import LiveFeed
from tests.hardware.table.reading import read_hardware
from tests.waiting import until

SECOND = 1_000_000_000
GB = 10**9
NOW = LiveState(opened(BONES, ("Ann", "Ben"))[0], (1280, 720), "settled", "", is_healthy=True)
COOL = Machine("Raspberry Pi 5", "Debian", 64, (3, 11), 4096, 45.0, 0, is_clock_set=True)
SEEN = camera_found("usb:0, 1280 x 720", None)
ROOMY = Disk("sessions", free_bytes=100 * GB)
VIRTUAL = {"driver": "virtual"}
PARTS = read_hardware({"buttons": VIRTUAL, "knock": VIRTUAL, "displays": [VIRTUAL, VIRTUAL]})


@dataclass
class FakeEnvironment:
    """State of the table, as set by a test."""

    camera: Finding = SEEN
    seen_ns: int | None = 0
    machine: Machine = COOL
    disk: Disk = ROOMY
    recording: str = ""
    t_ns: int = 0
    looks: int = 0
    is_silent: bool = False
    root: Path = Path("/nowhere")

    def look(self) -> Machine:
        self.looks += 1
        return self.machine

    def monitor(self) -> HealthMonitor:
        feed = LiveFeed(lambda: self.t_ns)
        feed.seen_ns = self.seen_ns
        if self.recording:
            feed.show(replace(NOW, recording=self.recording))
        return HealthMonitor(
            feed,
            TableSources(
                source="usb:0",
                camera=lambda: self.camera,
                hardware=PARTS,
                problems=lambda: {"hardware.displays 2": "no such port"},
                folder=Path("sessions"),
                machine=self.look,
                root=self.root,
                disk=lambda folder: self.disk,
                clock=lambda: self.t_ns,
                counts=Counts(),
                is_silent=lambda: self.is_silent,
            ),
        )

    def health(self) -> Health:
        return self.monitor().now()

    def grades(self) -> dict[str, Grade]:
        return {finding.part: finding.grade for finding in self.health().findings}


def test_a_failed_part_is_distinguished_from_a_working_one_of_its_kind() -> None:
    found = parts_found(PARTS, {"hardware.displays 2": "no such port"})
    assert [(finding.part, finding.grade, finding.text) for finding in found] == [
        ("LEDs", Grade.ABSENT, "none in table.toml"),
        ("buttons", Grade.OK, "works"),
        ("knock", Grade.OK, "works"),
        ("display", Grade.OK, "works"),
        ("display", Grade.PROBLEM, "no such port"),
    ]


def test_no_picture_is_a_problem_and_an_old_one_a_warning_with_its_age() -> None:
    health = FakeEnvironment(camera=camera_found("", "usb:0 gives no pictures"), seen_ns=None).health()
    assert (health.findings[0].grade, health.findings[0].text) == (Grade.PROBLEM, "usb:0 gives no pictures")
    assert health.picture_age_s is None
    assert FakeEnvironment(seen_ns=3 * SECOND, t_ns=5 * SECOND).health().picture_age_s == 2.0
    camera = FakeEnvironment(seen_ns=0, t_ns=84 * SECOND).health().findings[0]
    assert camera.grade is Grade.WARNING
    assert camera.text == "usb:0, 1280 x 720: not sure if it works, no new picture for 84 s"
    for fine in (
        FakeEnvironment(seen_ns=80 * SECOND, t_ns=84 * SECOND),
        FakeEnvironment(seen_ns=0, t_ns=84 * SECOND, is_silent=True),
        FakeEnvironment(seen_ns=None, t_ns=84 * SECOND),
    ):
        assert fine.health().findings[0].grade is Grade.OK


def test_heat_power_and_space_are_graded_like_in_the_doctor() -> None:
    assert {FakeEnvironment().grades()[part] for part in ("heat", "power", "recordings")} == {Grade.OK}
    hot = FakeEnvironment(
        machine=replace(COOL, temperature_c=85.0, throttled=0x1), disk=Disk("sessions", free_bytes=GB // 4)
    )
    assert {hot.grades()[part] for part in ("heat", "power", "recordings")} == {Grade.PROBLEM}
    unknown = FakeEnvironment(machine=replace(COOL, temperature_c=None, throttled=None))
    assert {unknown.grades()[part] for part in ("heat", "power")} == {Grade.ABSENT}
    assert "recording" not in FakeEnvironment().grades()
    assert FakeEnvironment(recording="recorded in x.mcap").grades()["recording"] is Grade.OK
    assert FakeEnvironment(recording=NOT_RECORDED).grades()["recording"] is Grade.PROBLEM


def test_a_dip_of_the_voltage_is_remembered_for_an_hour(tmp_path: Path) -> None:
    """The kernel's alarm lasts two seconds. Nobody may be looking then."""
    alarm = tmp_path / "sys/class/hwmon/hwmon1/in0_lcrit_alarm"
    alarm.parent.mkdir(parents=True)
    alarm.with_name("name").write_text("rpi_volt\n")
    alarm.write_text("0\n")
    environment = FakeEnvironment(root=tmp_path)
    monitor = environment.monitor()

    def power() -> Finding:
        return next(finding for finding in monitor.now().findings if finding.part == "power")

    with monitor.watching():
        alarm.write_text("1\n")
        until(lambda: monitor.troubles()[MachineTrouble.LOW_VOLTAGE] == 1)
        alarm.write_text("0\n")
        environment.t_ns = 3599 * SECOND
        assert (power().grade, power().text) == (
            Grade.WARNING,
            "the supply voltage dropped too low (1× in the last hour)",
        )
        environment.t_ns = 3601 * SECOND
        until(lambda: power().grade is Grade.OK)


@pytest.mark.parametrize(
    ("mark", "text"), [(None, None), ("this boot", "Tallybone was ended"), ("another boot", "the power failed")]
)
def test_a_run_that_did_not_end_properly_is_named(tmp_path: Path, mark: str | None, text: str | None) -> None:
    boot, running = tmp_path / "proc/sys/kernel/random/boot_id", tmp_path / "state/running"
    for path in (boot, running):
        path.parent.mkdir(parents=True)
    boot.write_text("this boot\n")
    if mark is not None:
        running.write_text(f"{mark}\n")
    monitor = FakeEnvironment(root=tmp_path).monitor()
    with monitor.watching(running):
        found = [finding.text for finding in monitor.now().findings if finding.part == "last stop"]
        assert [text in one for one in found if text] == ([] if text is None else [True])
        assert running.read_text() == "this boot\n"
    assert not running.exists()


def test_the_machine_is_examined_at_most_every_five_seconds() -> None:
    environment = FakeEnvironment()
    monitor = environment.monitor()
    for _ in range(20):
        monitor.now()
        environment.t_ns += SECOND // 2
    assert environment.looks == 2


@pytest.mark.parametrize("language", ["es", "pt", "fr"])
def test_findings_are_translated(language: str) -> None:
    """Only messages of the operating system and of devices are not translated."""
    hot = Machine("Raspberry Pi 4", "Debian", 64, (3, 11), 500, 83.0, 0x50005, is_clock_set=False)
    warm = replace(hot, memory_mb=300, temperature_c=72.0, throttled=0x40004)
    counters = tuple((trouble, "", 1) for trouble in MachineTrouble)
    vitals = Vitals(counters, (("mmcblk0p2", 3),), has_clock_chip=False, wifi_dbm=-80.0)
    ill = replace(COOL, throttled=None, supply_v=4.7, vitals=replace(vitals, counters=()))
    silent = replace(hot, memory_mb=None, temperature_c=None, throttled=None, is_clock_set=None)
    full, tight = replace(ROOMY, free_bytes=1), replace(ROOMY, free_bytes=GB)
    for machine, disk in (
        (COOL, ROOMY),
        (hot, full),
        (warm, tight),
        (silent, replace(ROOMY, kind="tmpfs")),
        (ill, replace(ROOMY, is_read_only=True)),
    ):
        environment = FakeEnvironment(machine=machine, disk=disk, recording=NOT_RECORDED)
        others = check_vitals(vitals, dict.fromkeys(MachineTrouble, 3), LAST_HOUR)
        ends = (end_of_last_run(mark, "this") for mark in ("this", "that"))
        dips = check_power(replace(machine, throttled=None, vitals=Vitals(((MachineTrouble.LOW_VOLTAGE, "", 0),))), 3)
        for finding in (*environment.health().findings, *others, *filter(None, ends), dips):
            foreign = ("usb:0: settled", "no such port", "")
            for text in (finding.part, finding.text, finding.remedy):
                is_known = isinstance(text, Phrase) and text.key in catalogue(language)
                assert is_known or text in foreign, text


def test_a_slow_machine_is_a_warning_with_its_pace() -> None:
    assert pace_found(None).grade is Grade.ABSENT
    fast, slow = MeanPace(9.8, 10.0, 0.12, is_too_slow=False), MeanPace(2.14, 10.0, 0.9, is_too_slow=True)
    assert (pace_found(fast).grade, pace_found(fast).text) == (Grade.OK, "reading 9.8 of 10 pictures per second")
    assert pace_found(slow).grade is Grade.WARNING
    assert "reads 2.1 of 10 pictures per second and is 0.9 s behind" in pace_found(slow).text
