"""A table that is looked after: how it is, and its numbers, for its page and for the programs of others."""

from __future__ import annotations

from importlib.metadata import version

from fastapi import APIRouter

from engine.phrases import listed
from tallybone.doctor.machine import room_in
from tallybone.serve.health import CameraNow, Health, LookedAfter, Sources, TableHealth
from tallybone.serve.metrics import Observed
from tallybone.serve.observed import observed_routes
from tallybone.serve.process import read_process
from tallybone.serve.served_health import health_routes
from tallybone.web.feed import Hub


class Observing:
    """Says how a table is, whoever asks."""

    def __init__(self, hub: Hub, table: LookedAfter) -> None:
        """Look after *table*, whose page has everything from *hub*."""
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
        """The paths that say it."""
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
