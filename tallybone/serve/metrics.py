"""Serve `/health` and `/metrics`: the numbers of a table in Prometheus' text format. No player's name is in them."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Response

from engine.phrases import listed
from tallybone.doctor.machine import room_in
from tallybone.finding import Grade
from tallybone.plain_text import plain
from tallybone.play.counts import BOUNDS_S, Counts, PipelineStage, Times
from tallybone.serve.health import CameraNow, Health, Sources, TableHealth, TableStatus
from tallybone.web.app import AtRoot, Language
from tallybone.web.feed import Hub
from tallybone.web.snapshot import as_json

# Bits of `vcgencmd get_throttled`: limits that hold now; 16 higher, those that have held since the start.
_POWER_BITS = {"undervoltage": 0x1, "frequency_capped": 0x2, "throttled": 0x4, "soft_temperature_limit": 0x8}
_SINCE_START = 16

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_TEXT: dict[int | str, dict[str, Any]] = {200: {"content": {CONTENT_TYPE: {"schema": {"type": "string"}}}}}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a table works; *reasons* say in plain words why not, and are empty where it does."""

    ok: bool
    version: str
    reasons: tuple[str, ...]


_NOT_WELL: dict[int | str, dict[str, Any]] = {503: {"model": Verdict, "description": "Something does not work"}}


@dataclass(frozen=True, slots=True)
class Process:
    """The resources of this program; None where the system does not report one.

    Attributes:
        cpu_s: Of all cores, since it was started.
        resident_bytes: Of memory, now.
        files: That it holds open.
        threads: That it runs.
    """

    cpu_s: float
    resident_bytes: int | None
    files: int | None
    threads: int


@dataclass(frozen=True, slots=True)
class Observed:
    """A table at a moment.

    Attributes:
        counts: The counters.
        health: The health of its parts.
        viewers: The number of viewers of its page.
        is_played: Whether there is a match.
        process: The resources of the program.
        version: Of the program.
    """

    counts: Counts
    health: Health
    viewers: int
    is_played: bool
    process: Process
    version: str


def observed_routes(health: Callable[[], Health], observed: Callable[[Health], Observed]) -> AtRoot:
    """Return the paths, which need no PIN; any thread may call *health* and *observed*."""
    router = AtRoot()

    @router.get("/metrics", responses=_TEXT, response_class=Response)
    async def metrics() -> Response:
        """All numbers of the table, in the text format of Prometheus."""
        found = await asyncio.to_thread(health)
        return Response(as_text(families_of(observed(found))), headers={"content-type": CONTENT_TYPE})

    router.include_router(verdict_routes(lambda: verdict_of(health())))
    return router


def verdict_routes(verdict: Callable[[], Verdict]) -> AtRoot:
    """Return the path of the verdict; any thread may call *verdict*."""
    router = AtRoot()

    @router.head("/health", include_in_schema=False)
    @router.get("/health", responses=_NOT_WELL)
    async def is_well(response: Response) -> Verdict:
        """Whether all works here: status 200 if it does, 503 and the reasons if not."""
        found = await asyncio.to_thread(verdict)
        response.status_code = 200 if found.ok else 503
        return found

    return router


def verdict_of(health: Health) -> Verdict:
    """Return whether a table works: it does as long as nothing is a problem."""
    return verdict_on(f"{one.part}: {one.words}" for one in health.findings if one.grade is Grade.PROBLEM)


def verdict_on(problems: Iterable[str]) -> Verdict:
    """Return that all works where there are no problems."""
    reasons = tuple(plain(words) for words in problems)
    return Verdict(not reasons, version("tallybone"), reasons)


@dataclass(frozen=True, slots=True)
class FindingShown:
    """How a part is: *grade* is ok, warning, problem or "not there"; *mend* and *commands* say how to mend it."""

    part: str
    grade: str
    words: str
    mend: str
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HealthShown:
    """How the table is; *picture_age_s* is the age of the camera's last picture, null for none."""

    version: str
    picture_age_s: float | None
    findings: tuple[FindingShown, ...]


def health_routes(now: Callable[[], Health]) -> APIRouter:
    """Return the path; *now* may be called from any thread."""
    router = APIRouter()

    @router.get("/health", response_model=HealthShown)
    async def health(lang: Language = "en") -> Response:
        """How camera, parts, recordings and the computer are, as `tallybone doctor` says it."""
        found = await asyncio.to_thread(now)
        shown = tuple(
            FindingShown(plain(one.part), one.grade.value, plain(one.words), plain(one.mend), one.commands)
            for one in found.findings
        )
        now_shown = HealthShown(version("tallybone"), found.picture_age_s, shown)
        return Response(as_json(now_shown, lang), media_type="application/json")

    return router


class MetricKind(StrEnum):
    """The kind of a number."""

    COUNTER = "counter"
    """It only rises."""
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Sample:
    """A number.

    Attributes:
        value: The number itself.
        labels: Its place in its family, as pairs of name and value.
        ending: The end of its name, after the family's name.
    """

    value: float
    labels: tuple[tuple[str, str], ...] = ()
    ending: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """Numbers of one name.

    Attributes:
        name: With its unit at the end.
        kind: Their kind.
        about: Their meaning, in one line.
        samples: The numbers; none where this table has no such part.
    """

    name: str
    kind: MetricKind
    about: str
    samples: tuple[Sample, ...]


def families_of(seen: Observed) -> tuple[Family, ...]:
    """Return all numbers of a table."""
    return (
        Family(
            "tallybone_info", MetricKind.GAUGE, "The version that runs.", (Sample(1, (("version", seen.version),)),)
        ),
        *_of_game(seen),
        *_of_health(seen.health),
        *_of_machine(seen.health),
        *_of_process(seen.process),
    )


def _of_game(seen: Observed) -> tuple[Family, ...]:
    counts = seen.counts
    times = tuple(one for stage in PipelineStage for one in histogram(counts.times[stage], ("stage", stage.value)))
    dropped = max(0, counts.pictures_taken - counts.pictures_seen)
    return (
        _counter("frames_taken", "Pictures that the camera of a match gave.", counts.pictures_taken),
        _counter("frames_seen", "Pictures that were looked at.", counts.pictures_seen),
        _counter("frames_dropped", "Pictures that were not: a newer one was looked at, or none was due.", dropped),
        Family("tallybone_stage_seconds", MetricKind.HISTOGRAM, "How long each stage took.", times),
        _counter("questions", "What the table was asked because the eye was in doubt.", counts.questions),
        _counter("corrections", "What was put right or taken back by hand.", counts.corrections),
        _counter("inputs", "What was pressed, heard or said by hand.", counts.inputs),
        _counter("watchdog_feeds", "How often systemd was told that the table lives.", counts.watchdog_feeds),
        _gauge("viewers", "Who watches the page now.", seen.viewers),
        _gauge("match_played", "1 while there is a match.", int(seen.is_played)),
    )


def _of_health(health: Health) -> tuple[Family, ...]:
    """Return which parts work; several of a kind work if all do."""
    works: dict[str, bool] = {}
    for one in health.findings:
        if one.grade is not Grade.ABSENT:
            works[one.part] = works.get(one.part, True) and one.grade is not Grade.PROBLEM
    up = tuple(Sample(int(is_up), (("part", part),)) for part, is_up in works.items())
    return (
        Family("tallybone_part_up", MetricKind.GAUGE, "1 for a part that works, 0 for one that has a problem.", up),
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
        Family("tallybone_power_limited", MetricKind.GAUGE, "1 while a Pi's supply or heat holds it back.", now),
        Family(
            "tallybone_power_limited_since_start", MetricKind.GAUGE, "1 if that has been so since it started.", ever
        ),
    )


def _power(bits: int) -> tuple[Sample, ...]:
    return tuple(Sample(int(bool(bits & bit)), (("limit", name),)) for name, bit in _POWER_BITS.items())


def _of_process(process: Process) -> tuple[Family, ...]:
    """Return the resources of the program, under the names that Prometheus has for every program."""
    named = (
        ("cpu_seconds_total", MetricKind.COUNTER, "User and system time of all cores.", process.cpu_s),
        ("resident_memory_bytes", MetricKind.GAUGE, "Memory.", process.resident_bytes),
        ("open_fds", MetricKind.GAUGE, "Open files.", process.files),
        ("threads", MetricKind.GAUGE, "Threads.", process.threads),
    )
    return tuple(
        Family(f"process_{name}", kind, about, () if value is None else (Sample(value),))
        for name, kind, about, value in named
    )


def _counter(name: str, about: str, value: float) -> Family:
    return Family(f"tallybone_{name}_total", MetricKind.COUNTER, about, (Sample(value),))


def _gauge(name: str, about: str, value: float | None) -> Family:
    return Family(f"tallybone_{name}", MetricKind.GAUGE, about, () if value is None else (Sample(value),))


def histogram(times: Times, *labels: tuple[str, str]) -> tuple[Sample, ...]:
    """Return the samples of a histogram in seconds."""
    total, samples = 0, list[Sample]()
    # Taken once: the game goes on meanwhile, and the sum of the parts has to be the whole.
    within = tuple(times.within)
    for bound, count in zip((*BOUNDS_S, float("inf")), within, strict=True):
        total += count
        samples.append(Sample(total, (*labels, ("le", _number(bound))), "_bucket"))
    return (*samples, Sample(times.total_s, labels, "_sum"), Sample(total, labels, "_count"))


def as_text(families: Iterable[Family]) -> str:
    r"""Return the text of families of numbers.

    >>> as_text([Family("tallybone_viewers", MetricKind.GAUGE, "Who watches.", (Sample(2, (("at", 'the "bar"'),)),))])
    '# HELP tallybone_viewers Who watches.\n# TYPE tallybone_viewers gauge\ntallybone_viewers{at="the \\"bar\\""} 2\n'
    """
    return "".join(_text_of(family) for family in families if family.samples)


def _text_of(family: Family) -> str:
    about = family.about.replace("\\", r"\\").replace("\n", r"\n")
    lines = [f"# HELP {family.name} {about}", f"# TYPE {family.name} {family.kind}"]
    for one in family.samples:
        labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in one.labels)
        lines.append(f"{family.name}{one.ending}{f'{{{labels}}}' if labels else ''} {_number(one.value)}")
    return "\n".join(lines) + "\n"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return "+Inf" if value == float("inf") else repr(value)


def read_process(proc: Path = Path("/proc/self")) -> Process:
    """Read the resources of this program."""
    return Process(time.process_time(), _resident_bytes(proc / "statm"), _files(proc / "fd"), threading.active_count())


def _resident_bytes(statm: Path) -> int | None:
    try:
        pages = statm.read_text().split()
    except OSError:
        return None
    return int(pages[1]) * os.sysconf("SC_PAGE_SIZE")


def _files(folder: Path) -> int | None:
    try:
        return sum(1 for _ in folder.iterdir())
    except OSError:
        return None


class Observing:
    """Observes a table for `/health` and `/metrics`."""

    def __init__(self, hub: Hub, table: TableStatus) -> None:
        """Observe *table*, whose page shows *hub*."""
        self._hub, self._table = hub, table
        self.health = TableHealth(
            Sources(
                camera=self._camera,
                hardware=table.hardware,
                problems=table.problems,
                recording=lambda: "" if hub.now is None else hub.now.recording,
                machine=table.machine,
                disk=lambda: room_in(table.folder),
                clock=table.clock,
            )
        )

    @property
    def routes(self) -> tuple[APIRouter, ...]:
        """The paths of health and metrics."""
        return health_routes(self.health.now), observed_routes(self.health.now, self._observed)

    def _camera(self) -> CameraNow:
        camera, now = self._table.camera(), self._hub.now
        words = camera.words if now is None else listed((camera.name, now.eye), ": ")
        return CameraNow(words, camera.problem, self._hub.seen_ns)

    def _observed(self, found: Health) -> Observed:
        hub = self._hub
        return Observed(
            self._table.counts, found, hub.viewers, hub.now is not None, read_process(), version("tallybone")
        )
