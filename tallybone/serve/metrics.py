"""All numbers of a table, by name: what `GET /metrics` says. No name of a player is among them."""

from __future__ import annotations

from dataclasses import dataclass

from tallybone.finding import Grade
from tallybone.play.counts import Counts, Stage
from tallybone.serve.health import Health
from tallybone.serve.process import Process
from tallybone.serve.text_format import Family, Kind, Sample, histogram

# Bits of `vcgencmd get_throttled`: what holds now; 16 higher, what has held since the start.
_POWER_BITS = {"undervoltage": 0x1, "frequency_capped": 0x2, "throttled": 0x4, "soft_temperature_limit": 0x8}
_SINCE_START = 16


@dataclass(frozen=True, slots=True)
class Observed:
    """A table at a moment.

    Attributes:
        counts: What was counted.
        health: How its parts are.
        viewers: How many watch its page.
        is_played: Whether there is a match.
        process: What the program takes.
        version: Of the program.
    """

    counts: Counts
    health: Health
    viewers: int
    is_played: bool
    process: Process
    version: str


def families_of(seen: Observed) -> tuple[Family, ...]:
    """Return all numbers of a table."""
    return (
        Family("tallybone_info", Kind.GAUGE, "The version that runs.", (Sample(1, (("version", seen.version),)),)),
        *_of_game(seen),
        *_of_health(seen.health),
        *_of_machine(seen.health),
        *_of_process(seen.process),
    )


def _of_game(seen: Observed) -> tuple[Family, ...]:
    counts = seen.counts
    times = tuple(one for stage in Stage for one in histogram(counts.times[stage], ("stage", stage.value)))
    dropped = max(0, counts.pictures_taken - counts.pictures_seen)
    return (
        _counter("frames_taken", "Pictures that the camera of a match gave.", counts.pictures_taken),
        _counter("frames_seen", "Pictures that were looked at.", counts.pictures_seen),
        _counter("frames_dropped", "Pictures that were not: a newer one was looked at, or none was due.", dropped),
        Family("tallybone_stage_seconds", Kind.HISTOGRAM, "How long each stage took.", times),
        _counter("questions", "What the table was asked because the eye was in doubt.", counts.questions),
        _counter("corrections", "What was put right or taken back by hand.", counts.corrections),
        _counter("inputs", "What was pressed, heard or said by hand.", counts.inputs),
        _counter("watchdog_feeds", "How often systemd was told that the table lives.", counts.watchdog_feeds),
        _gauge("viewers", "Who watches the page now.", seen.viewers),
        _gauge("match_played", "1 while there is a match.", int(seen.is_played)),
    )


def _of_health(health: Health) -> tuple[Family, ...]:
    """Return which parts work: of several of a kind, whether all do."""
    works: dict[str, bool] = {}
    for one in health.findings:
        if one.grade is not Grade.ABSENT:
            works[one.part] = works.get(one.part, True) and one.grade is not Grade.PROBLEM
    up = tuple(Sample(int(is_up), (("part", part),)) for part, is_up in works.items())
    return (
        Family("tallybone_part_up", Kind.GAUGE, "1 for a part that works, 0 for one that has a problem.", up),
        _gauge("picture_age_seconds", "How old the camera's last picture is.", health.picture_age_s),
        _gauge("recordings_free_bytes", "Room that is left where recordings go.", health.free_bytes),
    )


def _of_machine(health: Health) -> tuple[Family, ...]:
    machine = health.machine
    heat_c = None if machine is None else machine.temperature_c
    bits = None if machine is None else machine.throttled
    now, ever = (() if bits is None else _power(bits >> shift) for shift in (0, _SINCE_START))
    return (
        _gauge("temperature_celsius", "Of the processor.", heat_c),
        Family("tallybone_power_limited", Kind.GAUGE, "1 while a Pi's supply or heat holds it back.", now),
        Family("tallybone_power_limited_since_start", Kind.GAUGE, "1 if that has been so since it started.", ever),
    )


def _power(bits: int) -> tuple[Sample, ...]:
    return tuple(Sample(int(bool(bits & bit)), (("limit", name),)) for name, bit in _POWER_BITS.items())


def _of_process(process: Process) -> tuple[Family, ...]:
    """Return what the program takes, under the names that Prometheus has for every program."""
    named = (
        ("cpu_seconds_total", Kind.COUNTER, "User and system time of all cores.", process.cpu_s),
        ("resident_memory_bytes", Kind.GAUGE, "Memory.", process.resident_bytes),
        ("open_fds", Kind.GAUGE, "Open files.", process.files),
        ("threads", Kind.GAUGE, "Threads.", process.threads),
    )
    return tuple(
        Family(f"process_{name}", kind, about, () if value is None else (Sample(value),))
        for name, kind, about, value in named
    )


def _counter(name: str, about: str, value: float) -> Family:
    return Family(f"tallybone_{name}_total", Kind.COUNTER, about, (Sample(value),))


def _gauge(name: str, about: str, value: float | None) -> Family:
    return Family(f"tallybone_{name}", Kind.GAUGE, about, () if value is None else (Sample(value),))
