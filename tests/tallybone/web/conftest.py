"""Fixtures: a table with its page, and clients with and without the PIN."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tallybone.play.recorder import RecordingQuota
from tests.tallybone.web.true_table import PIN, TrueTable, file_recorder, true_table
from tests.waiting import until


@contextmanager
def at_table(**options: object) -> Iterator[TrueTable]:
    """Yield a table whose game runs until the end of the block."""
    table = true_table(**options)  # type: ignore[arg-type]  # passed on unchanged
    table.begin()
    try:
        yield table
    finally:
        table.end()


@contextmanager
def at_recorded_table(path: Path, **options: object) -> Iterator[tuple[TrueTable, httpx.Client]]:
    """Yield a table that records to *path* until the end of the block, and a client that has entered the PIN."""
    recorder = file_recorder(RecordingQuota(path.parent, 10**9), path)
    with at_table(recorder=recorder, **options) as table, httpx.Client(base_url=f"{table.page.url}/api/v1") as client:
        assert client.post("/login", json={"pin": PIN, "name": "Zoe"}).status_code == 204
        yield table, client
    recorder.close()


@pytest.fixture(scope="module")
def table() -> Iterator[TrueTable]:
    """A game of bones after eight plays."""
    with at_table() as begun, httpx.Client(base_url=begun.page.url) as client:
        begun.play(11)
        # The page's thread publishes the state slightly later than the game's.
        until(lambda: "4 + 4 = 8" in client.get("/api/v1/state").text)
        yield begun


@pytest.fixture
def guest(table: TrueTable) -> Iterator[httpx.Client]:
    """Return a client without the PIN."""
    with httpx.Client(base_url=table.page.url) as client:
        yield client


@pytest.fixture
def insider(table: TrueTable) -> Iterator[httpx.Client]:
    """Return a client that has entered the PIN."""
    with httpx.Client(base_url=table.page.url) as client:
        assert client.post("/api/v1/login", json={"pin": PIN, "name": "Zoe"}).status_code == 204
        yield client


def assert_nothing_broke(caplog: pytest.LogCaptureFixture, *secrets: str) -> None:
    """Check after a test that the page logged no error and none of *secrets*."""
    logged = caplog.get_records("call")  # `records` has only those of the current phase
    assert [record.getMessage() for record in logged if record.levelno >= logging.ERROR] == []
    text = "\n".join(map(logging.Formatter().format, logged))
    assert not any(secret in text for secret in secrets)


@dataclass(slots=True)
class ManualClock:
    """A clock that only advances when set."""

    t_ns: int = 0

    def __call__(self) -> int:
        return self.t_ns
