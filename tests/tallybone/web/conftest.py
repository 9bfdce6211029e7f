"""Fixtures: a table with its page, and clients with and without the PIN."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec

import httpx
import pytest

from tallybone.web.access.access import Access, Guard
from tallybone.web.live.app import make_app
from tallybone.web.live.feed import LiveFeed, PagePictures
from tests.tallybone.web.true_table import PIN, TrueTable, true_table
from tests.waiting import until

# Without Playwright, the tests that use this module skip themselves.
collect_ignore = [] if find_spec("playwright") else ["browsers.py"]


@contextmanager
def at_table(**options: object) -> Iterator[TrueTable]:
    """Yield a table whose game runs until the end of the block."""
    table = true_table(**options)  # type: ignore[arg-type]  # passed on unchanged
    table.begin()
    try:
        yield table
    finally:
        table.end()


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


@dataclass(slots=True)
class PageWithoutGame:
    """A page without a game, so nothing answers its requests."""

    clock: ManualClock = field(default_factory=ManualClock)
    app: Guard = field(init=False)
    feed: LiveFeed = field(init=False)

    def __post_init__(self) -> None:
        self.feed = LiveFeed(self.clock)
        self.app = make_app(self.feed, Access(PIN, b"k" * 32, self.clock), PagePictures(self.clock))
