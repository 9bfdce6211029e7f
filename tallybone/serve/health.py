"""Report the health of a table: camera, parts, room for recordings, heat, power, clock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from engine.phrases import phrase
from hardware.clock import Clock
from hardware.config.settings import HardwareSettings
from tallybone.doctor.machine import Machine, check_clock, check_memory, check_power, check_temperature
from tallybone.doctor.storage import Disk, check_disk
from tallybone.finding import Finding, absent, ok, problem, warning
from tallybone.play.counts import Counts, MeanPace
from tallybone.play.recorder import NOT_RECORDED

_NS_PER_S = 1_000_000_000
# The computer is checked again after this: to read its power state costs a process.
_KEPT_NS = 5 * _NS_PER_S


@dataclass(frozen=True, slots=True)
class CameraNow:
    """The condition of the camera at the moment.

    Attributes:
        words: Its name and, in a game, what it shows.
        problem: Why it gives no pictures; None while it gives some, or has none to give yet.
        seen_ns: When its last picture came; None for none.
    """

    words: str
    problem: str | None
    seen_ns: int | None


@dataclass(frozen=True, slots=True)
class Health:
    """The health of a table.

    Attributes:
        findings: The findings of each part.
        picture_age_s: Age of the last picture; None for none.
        machine: The computer at its last check.
        free_bytes: Room that is left where recordings go; None where nothing can be kept.
    """

    findings: tuple[Finding, ...]
    picture_age_s: float | None
    machine: Machine | None = None
    free_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The sources of a table's health; any thread may call them.

    Attributes:
        camera: Returns the condition of the camera.
        hardware: The parts that there should be.
        problems: Returns the problems of those that do not work as they should, by name.
        recording: Returns where the running match is recorded, in words; "" for none.
        machine: Checks the computer.
        disk: Checks the disk of the recordings.
        clock: Monotonic, in nanoseconds.
    """

    camera: Callable[[], CameraNow]
    hardware: HardwareSettings
    problems: Callable[[], Mapping[str, str]]
    recording: Callable[[], str]
    machine: Callable[[], Machine]
    disk: Callable[[], Disk]
    clock: Callable[[], int]


class TableHealth:
    """Checks the health of a table, for any number of readers."""

    def __init__(self, sources: Sources) -> None:
        """Ask *sources*."""
        self._sources, self._lock = sources, threading.Lock()
        self._computer = Health((), None)
        self._asked_ns: int | None = None
        self._others: tuple[Callable[[], Iterable[Finding]], ...] = ()

    def also_ask(self, other: Callable[[], Iterable[Finding]]) -> None:
        """Take the findings of *other* too from now on; any thread may call it."""
        self._others = (*self._others, other)

    def now(self) -> Health:
        """Return the health; that of the computer is some seconds old at most."""
        camera, now_ns = self._sources.camera(), self._sources.clock()
        age_s = None if camera.seen_ns is None else max(0, now_ns - camera.seen_ns) / _NS_PER_S
        recording, computer = self._sources.recording(), self._of_computer(now_ns)
        findings = (
            _of_camera(camera),
            *parts_found(self._sources.hardware, self._sources.problems()),
            *_of_recording(recording),
            *computer.findings,
            *(found for other in self._others for found in other()),
        )
        return replace(computer, findings=findings, picture_age_s=age_s)

    def _of_computer(self, now_ns: int) -> Health:
        """Return the health of the computer alone."""
        with self._lock:
            if self._asked_ns is None or now_ns - self._asked_ns >= _KEPT_NS:
                machine, disk = self._sources.machine(), self._sources.disk()
                findings = (
                    *check_disk(disk),
                    check_temperature(machine.temperature_c),
                    check_power(machine.throttled),
                    check_memory(machine.memory_mb),
                    check_clock(is_set=machine.is_clock_set),
                )
                self._computer = Health(findings, None, machine, None if disk.error else disk.free_bytes)
                self._asked_ns = now_ns
            return self._computer


def _of_recording(words: str) -> tuple[Finding, ...]:
    if words == NOT_RECORDED:
        return (
            problem(
                phrase("recording"),
                words,
                phrase("The game goes on, and is recorded again, with all its scores, as soon as that can be."),
            ),
        )
    return (ok(phrase("recording"), words),) if words else ()


def parts_found(hardware: HardwareSettings, problems: Mapping[str, str]) -> tuple[Finding, ...]:
    """Return a finding of each part that should be at a table."""
    kinds = (
        (phrase("LEDs"), tuple(part.name for part in hardware.leds)),
        (phrase("buttons"), () if hardware.buttons is None else (hardware.buttons.name,)),
        (phrase("knock"), () if hardware.knock is None else (hardware.knock.name,)),
        (phrase("display"), tuple(part.name for part in hardware.displays)),
    )
    return tuple(finding for kind, names in kinds for finding in _of_kind(kind, names, problems))


def _of_kind(kind: str, names: tuple[str, ...], problems: Mapping[str, str]) -> tuple[Finding, ...]:
    if not names:
        return (absent(kind, phrase("none in table.toml")),)
    return tuple(problem(kind, problems[name]) if name in problems else ok(kind, phrase("works")) for name in names)


def pace_found(pace: MeanPace | None) -> Finding:
    """Return whether the machine is fast enough for its camera; *pace* is None while nothing is measured."""
    part = phrase("speed")
    if pace is None:
        return absent(part, phrase("measured while a match is played"))
    if pace.is_too_slow:
        return warning(part, pace.words, phrase("Stop other programs on it, or use a faster machine."))
    return ok(part, pace.words)


def _of_camera(camera: CameraNow) -> Finding:
    if camera.problem is not None:
        return problem(phrase("camera"), camera.problem, phrase("`tallybone doctor` at the terminal says more."))
    return ok(phrase("camera"), camera.words)


@dataclass(frozen=True, slots=True)
class CameraStatus:
    """A camera: its *name*, its condition in *words* while nothing is played, its *problem*; None for none."""

    name: str
    words: str
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStatus:
    """The parts of a table that are supervised, beside its page. Any thread may call the functions.

    Attributes:
        camera: Returns the condition of the camera.
        hardware: The parts that there should be.
        problems: Returns the problems of those that do not work as they should, by name.
        folder: Where recordings go.
        machine: Checks the computer.
        clock: Monotonic, in nanoseconds.
        counts: The counters of the table.
    """

    camera: Callable[[], CameraStatus]
    hardware: HardwareSettings
    problems: Callable[[], Mapping[str, str]]
    folder: Path
    machine: Callable[[], Machine]
    clock: Clock
    counts: Counts
