"""Serve `/health` and `/metrics` in the Prometheus text format. They contain no names of players."""

# No "from __future__ import annotations" here: FastAPI must resolve the annotations at run time.

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Response

from tallybone.doctor.machine import Machine, MachineTrouble
from tallybone.finding import Grade
from tallybone.plain_text import plain
from tallybone.play.counts import BOUNDS_S, Counts, PipelineStage, Times
from tallybone.serve.health import Health, HealthMonitor, TableSources
from tallybone.web.live.app import AtRoot, Language
from tallybone.web.live.feed import LiveFeed
from tallybone.web.live.snapshot import as_json

if TYPE_CHECKING:  # prometheus-client is imported at the first request, to start faster.
    from prometheus_client.core import Metric

# Bits of `vcgencmd get_throttled` for limits that apply now. The bits for limits since the start are 16 places higher.
_POWER_BITS = {"undervoltage": 0x1, "frequency_capped": 0x2, "throttled": 0x4, "soft_temperature_limit": 0x8}
_SINCE_START = 16

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_TEXT: dict[int | str, dict[str, Any]] = {200: {"content": {CONTENT_TYPE: {"schema": {"type": "string"}}}}}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a table works. *reasons* lists the problems as text, and is empty if it does."""

    ok: bool
    version: str
    reasons: tuple[str, ...]


_NOT_WELL: dict[int | str, dict[str, Any]] = {503: {"model": Verdict, "description": "Something is not working"}}


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """State of a table, as a collector for prometheus-client.

    Attributes:
        counts: Counters.
        machine: State of the computer.
        free_bytes: Free disk space for recordings. None if it is unknown.
        troubles: Troubles of the last hour.
        is_unclean: Whether the last run did not end properly.
    """

    counts: Counts
    health: Health
    machine: Machine
    free_bytes: int | None
    viewers: int
    is_played: bool
    troubles: Mapping[MachineTrouble, int] = field(default_factory=dict)
    is_unclean: bool = False

    def collect(self) -> Iterator["Metric"]:
        """Yield the metrics, without those of missing parts."""
        return (family for family in _families(self) if family.samples)


def observed_routes(health: Callable[[], Health], observed: Callable[[Health], Observed]) -> AtRoot:
    """Return the routes of metrics and verdict, which need no PIN. *health* and *observed* must be thread-safe."""
    router = AtRoot()

    @router.get("/metrics", responses=_TEXT, response_class=Response)
    async def metrics() -> Response:
        """All metrics of the table, in the Prometheus text format."""
        found = await asyncio.to_thread(health)
        return Response(prometheus_text(observed(found)), headers={"content-type": CONTENT_TYPE})

    router.include_router(verdict_routes(lambda: verdict_of(health())))
    return router


def verdict_routes(verdict: Callable[[], Verdict]) -> AtRoot:
    """Return the route of the verdict. *verdict* must be thread-safe."""
    router = AtRoot()

    @router.head("/health", include_in_schema=False)
    @router.get("/health", responses=_NOT_WELL)
    async def is_well(response: Response) -> Verdict:
        """Whether the table works: status 200 if it does, 503 and the reasons if not."""
        found = await asyncio.to_thread(verdict)
        response.status_code = 200 if found.ok else 503
        return found

    return router


def verdict_of(health: Health) -> Verdict:
    """Return the verdict for a table. It works if no finding is a problem."""
    problems = (finding for finding in health.findings if finding.grade is Grade.PROBLEM)
    return verdict_on(f"{finding.part}: {finding.text}" for finding in problems)


def verdict_on(problems: Iterable[str]) -> Verdict:
    """Return the verdict for a list of problems: the table works if there are none."""
    reasons = tuple(plain(text) for text in problems)
    return Verdict(not reasons, version("tallybone"), reasons)


def health_routes(now: Callable[[], Health]) -> APIRouter:
    """Return the route of the health. *now* must be thread-safe."""
    router = APIRouter()

    @router.get("/health", response_model=Health)
    async def health(lang: Language = "en") -> Response:
        """State of camera, parts, recordings and computer, as reported by `tallybone doctor`."""
        found = await asyncio.to_thread(now)
        findings = tuple(
            replace(finding, part=plain(finding.part), text=plain(finding.text), remedy=plain(finding.remedy))
            for finding in found.findings
        )
        return Response(as_json(replace(found, findings=findings), lang), media_type="application/json")

    return router


def prometheus_text(seen: Observed) -> bytes:
    """Return all metrics of a table and its process, in the Prometheus text format."""
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

    registry = CollectorRegistry()
    registry.register(seen)
    ProcessCollector(registry=registry)
    return generate_latest(registry)


def _families(seen: Observed) -> Iterator["Metric"]:
    """Yield the metrics of a table. Families of missing parts have no samples."""
    from prometheus_client.core import GaugeMetricFamily

    yield _labelled("info", "Running version.", "version", {seen.health.version: 1})
    counts = seen.counts
    yield _counter("frames_taken", "Pictures from the camera of a match.", counts.pictures_taken)
    yield _counter("frames_seen", "Pictures read.", counts.pictures_seen)
    dropped = max(0, counts.pictures_taken - counts.pictures_seen)
    yield _counter("frames_dropped", "Pictures skipped: a newer one was read, or none was due.", dropped)
    yield _histogram({stage.value: counts.times[stage] for stage in PipelineStage})
    yield _counter("questions", "Questions asked.", counts.questions)
    yield _counter("corrections", "Corrections and undos by hand.", counts.corrections)
    yield _counter("inputs", "Button presses, knocks and inputs by hand.", counts.inputs)
    yield _counter("watchdog_feeds", "Keep-alive messages to systemd.", counts.watchdog_feeds)
    yield _gauge("viewers", "Current viewers of the page.", seen.viewers)
    yield _gauge("match_played", "1 during a match.", int(seen.is_played))
    yield from _of_health(seen.health)
    yield _gauge("recordings_free_bytes", "Free space for recordings.", seen.free_bytes)
    yield from _of_machine(seen.machine)
    troubles = {trouble.value: seen.troubles.get(trouble, 0) for trouble in MachineTrouble}
    yield _labelled("troubles_last_hour", "Troubles of the computer in the last hour.", "trouble", troubles)
    yield _gauge("unclean_stop", "1 if the last run ended without a proper stop.", int(seen.is_unclean))
    yield GaugeMetricFamily("process_threads", "Number of threads.", value=threading.active_count())


def _of_health(health: Health) -> Iterator["Metric"]:
    """Yield the metrics of health."""
    # Several parts of a kind count as working if all of them do. Unused kinds are left out.
    works: dict[str, bool] = {}
    for finding in health.findings:
        if finding.grade is not Grade.ABSENT:
            works[finding.part] = works.get(finding.part, True) and finding.grade is not Grade.PROBLEM
    yield _labelled("part_up", "1 if the part works, 0 if it has a problem.", "part", works)
    yield _gauge("picture_age_seconds", "Age of the camera's last picture.", health.picture_age_s)


def _of_machine(machine: Machine) -> Iterator["Metric"]:
    bits = machine.throttled
    yield _gauge("temperature_celsius", "Of the processor.", machine.temperature_c)
    yield _gauge("supply_volts", "Supply voltage.", machine.supply_v)
    bits, vitals = machine.throttled, machine.vitals
    now = {} if bits is None else _limits(bits)
    if vitals.is_low is not None:
        now["undervoltage"] = vitals.is_low or now.get("undervoltage", False)
    yield _labelled("power_limited", "1 while a Pi is throttled by its supply or heat.", "limit", now)
    about = "1 if it has been throttled since it started."
    yield _labelled("power_limited_since_start", about, "limit", {} if bits is None else _limits(bits >> _SINCE_START))
    about = "Errors of each ext4 file system."
    yield _labelled("filesystem_errors", about, "disk", dict(vitals.card_errors))
    yield _gauge("clock_chip", "1 if the clock runs without power.", int(vitals.has_clock_chip))
    yield _gauge("wifi_signal_dbm", "Signal of the weakest Wi-Fi.", vitals.wifi_dbm)


def _limits(bits: int) -> dict[str, bool]:
    return {name: bool(bits & bit) for name, bit in _POWER_BITS.items()}


def _counter(name: str, about: str, value: float) -> "Metric":
    from prometheus_client.core import CounterMetricFamily

    return CounterMetricFamily(f"tallybone_{name}", about, value=value)


def _gauge(name: str, about: str, value: float | None) -> "Metric":
    from prometheus_client.core import GaugeMetricFamily

    return GaugeMetricFamily(f"tallybone_{name}", about, value=value)


def _labelled(name: str, about: str, label: str, values: Mapping[str, float]) -> "Metric":
    from prometheus_client.core import GaugeMetricFamily

    family = GaugeMetricFamily(f"tallybone_{name}", about, labels=[label])
    for value, number in values.items():
        family.add_metric([value], float(number))
    return family


def _histogram(times: Mapping[str, Times]) -> "Metric":
    """Return the durations of each stage as histograms in seconds."""
    from prometheus_client.core import HistogramMetricFamily

    family = HistogramMetricFamily("tallybone_stage_seconds", "Duration of each stage.", labels=["stage"])
    bounds = [*map(str, BOUNDS_S), "+Inf"]
    for stage, of_stage in times.items():
        # Copy once, because the game updates the counts meanwhile and the buckets must be consistent.
        sums = accumulate(tuple(of_stage.within))
        family.add_metric([stage], list(zip(bounds, sums, strict=True)), of_stage.total_s)
    return family


class Observing:
    """Observes a table for `/health` and `/metrics`."""

    def __init__(self, feed: LiveFeed, table: TableSources) -> None:
        """Observe *table*, whose page shows *feed*."""
        self._feed, self._counts = feed, table.counts
        self.health = HealthMonitor(feed, table)

    @property
    def routes(self) -> tuple[APIRouter, ...]:
        """Routes of health and metrics."""
        return health_routes(self.health.now), observed_routes(self.health.now, self._observed)

    def _observed(self, found: Health) -> Observed:
        feed, (machine, disk) = self._feed, self.health.computer()
        free_bytes = None if disk.error else disk.free_bytes
        return Observed(
            self._counts,
            found,
            machine,
            free_bytes,
            feed.viewers,
            feed.now is not None,
            self.health.troubles(),
            self.health.end_of_last_run is not None,
        )
