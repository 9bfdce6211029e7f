"""Report the health of a table: camera, parts, room for recordings, heat, power, clock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from engine.phrases import listed, phrase
from hardware.clock import Clock
from hardware.table.settings import HardwareSettings
from tallybone.doctor.machine import Machine, check_clock, check_memory, check_power, check_temperature, room_in
from tallybone.doctor.storage import Disk, check_disk
from tallybone.finding import Finding, Grade, absent, ok, problem, warning
from tallybone.play.counts import Counts, MeanPace
from tallybone.play.recorder import NOT_RECORDED

if TYPE_CHECKING:  # a game without a page loads no part of it
    from tallybone.web.feed import LiveFeed

_NS_PER_S = 1_000_000_000
# The computer is checked again after this: to read its power state costs a process.
_KEPT_NS = 5 * _NS_PER_S


@dataclass(frozen=True, slots=True)
class Health:
    """How the table is; *picture_age_s* is the age of the camera's last picture, null for none."""

    version: str
    picture_age_s: float | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSources:
    """The sources of a table's health and numbers, beside its page. Any thread may call the functions.

    Attributes:
        source: The name of the camera.
        camera: Returns the finding about the camera while nothing is played.
        hardware: The parts that there should be.
        problems: Returns the problems of those that do not work as they should, by name.
        folder: Where recordings go.
        machine: Checks the computer.
        disk: Checks the disk of a folder.
        clock: Monotonic, in nanoseconds.
        counts: The counters of the table.
    """

    source: str
    camera: Callable[[], Finding]
    hardware: HardwareSettings
    problems: Callable[[], Mapping[str, str]]
    folder: Path
    machine: Callable[[], Machine]
    disk: Callable[[Path], Disk] = room_in
    clock: Clock
    counts: Counts


class HealthMonitor:
    """Checks the health of a table, for any number of readers."""

    def __init__(self, feed: LiveFeed, table: TableSources) -> None:
        """Check *table*, whose page shows *feed*."""
        self._feed, self._table, self._lock = feed, table, threading.Lock()
        self._computer: tuple[Machine, Disk] | None = None
        self._asked_ns = 0
        self._others: tuple[Callable[[], Iterable[Finding]], ...] = ()

    def also_ask(self, other: Callable[[], Iterable[Finding]]) -> None:
        """Take the findings of *other* too from now on; any thread may call it."""
        self._others = (*self._others, other)

    def now(self) -> Health:
        """Return the health; that of the computer is some seconds old at most."""
        table, feed = self._table, self._feed
        camera, game, seen_ns = table.camera(), feed.now, feed.seen_ns
        if game is not None and camera.grade is Grade.OK:
            camera = replace(camera, words=listed((table.source, game.eye), ": "))
        machine, disk = self.computer()
        findings = (
            camera,
            *parts_found(table.hardware, table.problems()),
            *_of_recording("" if game is None else game.recording),
            *check_disk(disk),
            check_temperature(machine.temperature_c),
            check_power(machine.throttled),
            check_memory(machine.memory_mb),
            check_clock(is_set=machine.is_clock_set),
            *(found for other in self._others for found in other()),
        )
        age_s = None if seen_ns is None else max(0, table.clock() - seen_ns) / _NS_PER_S
        return Health(version("tallybone"), age_s, findings)

    def computer(self) -> tuple[Machine, Disk]:
        """Return the computer and the disk of the recordings at their last check."""
        with self._lock:
            now_ns = self._table.clock()
            if self._computer is None or now_ns - self._asked_ns >= _KEPT_NS:
                self._computer = self._table.machine(), self._table.disk(self._table.folder)
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


def camera_found(words: str, why_not: str | None) -> Finding:
    """Return the finding about a camera: its condition in *words*, or why it gives no pictures."""
    if why_not is not None:
        return problem(phrase("camera"), why_not, phrase("`tallybone doctor` at the terminal says more."))
    return ok(phrase("camera"), words)
