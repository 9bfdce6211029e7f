"""Check the health of a table: camera, parts, disk space, temperature, power and clock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from engine.phrases import listed, phrase
from hardware.part import Clock
from hardware.table import HardwareSettings
from tallybone.doctor import machine as machine_checks
from tallybone.finding import Finding, Grade, absent, ok, problem, warning
from tallybone.play.counts import Counts, MeanPace
from tallybone.play.recorder import NOT_RECORDED

if TYPE_CHECKING:  # A game without a page does not load the web packages.
    from tallybone.web.live.feed import LiveFeed

_NS_PER_S = 1_000_000_000
# Results of checking the computer are cached for this time, because reading the power state starts a process.
_KEPT_NS = 5 * _NS_PER_S
# A table without a match takes two images a second. Loading the networks of a match takes up to 5 s.
_OLD_S = 10
# The kernel asks the firmware of a Raspberry Pi for the voltage every two seconds.
_LOOKS_EVERY_S = 1.0
_BOOT_ID = "proc/sys/kernel/random/boot_id"


@dataclass(frozen=True, slots=True)
class Health:
    """Health of the table. *picture_age_s* is the age of the last camera image, null if there is none."""

    version: str
    picture_age_s: float | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSources:
    """Sources for the health and metrics of a table. The functions are thread-safe.

    Attributes:
        source: Name of the camera.
        hardware: Configured parts.
        problems: Returns the problems of parts, by name.
        machine: Checks the computer.
        root: Folder of the system files.
        clock: Monotonic clock in nanoseconds.
        counts: Counters of the table.
        is_silent: Returns True if missing images have a known reason.
    """

    source: str
    camera: Callable[[], Finding]
    hardware: HardwareSettings
    problems: Callable[[], Mapping[str, str]]
    folder: Path
    machine: Callable[[], machine_checks.Machine]
    root: Path = Path("/")
    disk: Callable[[Path], machine_checks.Disk] = machine_checks.room_in
    clock: Clock
    counts: Counts
    is_silent: Callable[[], bool]


class HealthMonitor:
    """Checks the health of a table. Thread-safe."""

    def __init__(self, feed: LiveFeed, table: TableSources) -> None:
        """Check *table*, whose page shows *feed*."""
        self._feed, self._table, self._lock = feed, table, threading.Lock()
        self._computer: tuple[machine_checks.Machine, machine_checks.Disk] | None = None
        self._asked_ns = 0
        self._others: tuple[Callable[[], Iterable[Finding]], ...] = ()
        self._hour, self._stops = machine_checks.LastHour(), threading.Event()
        self.end_of_last_run: Finding | None = None

    @contextmanager
    def watching(self, mark: Path | None = None) -> Iterator[None]:
        """Count troubles of the computer in a thread until the end of the block.

        *mark* is a file that exists during the block. If it exists before, the last run has not ended properly.
        """
        boot = machine_checks.text_of(self._table.root / _BOOT_ID)
        if mark is not None:
            self.end_of_last_run = end_of_last_run(machine_checks.text_of(mark), boot)
            with suppress(OSError):
                mark.parent.mkdir(parents=True, exist_ok=True)
                mark.write_text(f"{boot}\n")
        thread = threading.Thread(target=self._watch, name="health", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stops.set()
            thread.join()
            if mark is not None:
                with suppress(OSError):
                    mark.unlink()

    def troubles(self) -> Mapping[machine_checks.MachineTrouble, int]:
        """Return how often each trouble occurred in the last hour. Thread-safe."""
        return self._hour.counts(self._table.clock())

    def _watch(self) -> None:
        table = self._table
        while True:
            is_lost = table.camera().grade is Grade.PROBLEM
            counters = machine_checks.read_vitals(table.root).counters
            self._hour.add([*counters, (machine_checks.MachineTrouble.CAMERA, "", int(is_lost))], table.clock())
            if self._stops.wait(_LOOKS_EVERY_S):
                return

    def also_ask(self, other: Callable[[], Iterable[Finding]]) -> None:
        """Include the findings that *other* returns at each check. *other* must be thread-safe."""
        self._others = (*self._others, other)

    def now(self) -> Health:
        """Return the current health. Data on the computer and its disk may be up to 5 s old."""
        table, feed = self._table, self._feed
        camera, game, age_s = table.camera(), feed.now, feed.picture_age_s
        if camera.grade is Grade.OK and age_s is not None and age_s > _OLD_S and not table.is_silent():
            # A finding about a camera without a known problem whose last image is old.
            camera = warning(
                phrase("camera"),
                phrase(
                    "{camera}: not sure if it works, no new picture for {seconds} s",
                    camera=camera.text,
                    seconds=int(age_s),
                ),
                phrase("A test of the parts pauses the camera. Otherwise, unplug the camera and plug it in again."),
            )
        elif game is not None and camera.grade is Grade.OK:
            camera = replace(camera, text=listed((table.source, game.reader), ": "))
        (machine, disk), troubles = self.computer(), self.troubles()
        findings = (
            camera,
            *parts_found(table.hardware, table.problems()),
            *_of_recording("" if game is None else game.recording),
            *machine_checks.check_disk(disk),
            machine_checks.check_temperature(machine.temperature_c),
            machine_checks.check_power(machine, troubles[machine_checks.MachineTrouble.LOW_VOLTAGE]),
            machine_checks.check_memory(machine.memory_mb),
            machine_checks.check_clock(is_set=machine.is_clock_set),
            *machine_checks.check_vitals(machine.vitals, troubles, machine_checks.LAST_HOUR),
            *((self.end_of_last_run,) if self.end_of_last_run is not None else ()),
            *(found for other in self._others for found in other()),
        )
        return Health(version("tallybone"), age_s, findings)

    def computer(self) -> tuple[machine_checks.Machine, machine_checks.Disk]:
        """Return the state of the computer and the recordings disk, at most 5 s old."""
        with self._lock:
            now_ns = self._table.clock()
            if self._computer is None or now_ns - self._asked_ns >= _KEPT_NS:
                self._computer = self._table.machine(), self._table.disk(self._table.folder)
                self._asked_ns = now_ns
            return self._computer


def end_of_last_run(marked: str, boot: str) -> Finding | None:
    """Return a finding if a mark of the boot *marked* was left behind. *boot* is the present boot."""
    if not marked:
        return None
    if marked != boot:
        text = phrase("the power failed, or the computer stopped, during the last run")
        return warning(phrase("last stop"), text, phrase("Shut the computer down before you switch it off."))
    text = phrase("Tallybone was ended or failed during the last run")
    return warning(phrase("last stop"), text, phrase("Run `tallybone doctor`, and see `journalctl --unit tallybone`."))


def _of_recording(text: str) -> tuple[Finding, ...]:
    if text == NOT_RECORDED:
        return (
            problem(
                phrase("recording"),
                text,
                phrase("The game goes on. Recording resumes, with all scores, when possible."),
            ),
        )
    return (ok(phrase("recording"), text),) if text else ()


def parts_found(hardware: HardwareSettings, problems: Mapping[str, str]) -> tuple[Finding, ...]:
    """Return a finding for each configured part, and one for each kind of part that is not configured."""
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
    """Return a finding about the speed of the machine. *pace* is None if the speed has not been measured."""
    part = phrase("speed")
    if pace is None:
        return absent(part, phrase("measured during a match"))
    if pace.is_too_slow:
        return warning(part, pace.text, phrase("Stop other programs, or use a faster computer."))
    return ok(part, pace.text)


def configuration_found(faults: tuple[str, ...]) -> tuple[Finding, ...]:
    """Return a finding for each problem of table.toml."""
    remedy = phrase("Correct it, then restart the table. Until then, the table uses the last valid settings, if any.")
    return tuple(problem(phrase("settings"), fault, remedy) for fault in faults)


def camera_found(text: str, why_not: str | None) -> Finding:
    """Return a finding about a camera: its state in *text*, or the reason (*why_not*) why it gives no images."""
    if why_not is not None:
        return problem(phrase("camera"), why_not, phrase("Run `tallybone doctor` for details."))
    return ok(phrase("camera"), text)
