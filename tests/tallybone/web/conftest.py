"""A table with its page, for the tests of this folder."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec

import httpx
import pytest

from tallybone.web.access import Access, Guard
from tallybone.web.app import make_app
from tallybone.web.feed import LiveFeed, PagePictures
from tests.tallybone.web.true_table import PIN, TrueTable, true_table
from tests.waiting import until

# It needs Playwright; the tests that use it say so where that is missing.
collect_ignore = [] if find_spec("playwright") else ["browsers.py"]


@contextmanager
def at_table(**wishes: object) -> Iterator[TrueTable]:
    """A table whose game runs until the end of the block."""
    table = true_table(**wishes)  # type: ignore[arg-type]  # passed on as they are
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
        # The page's thread tells a little later what the game's has done.
        until(lambda: "4 + 4 = 8" in client.get("/api/v1/state").text)
        yield begun


@pytest.fixture
def anybody(table: TrueTable) -> Iterator[httpx.Client]:
    """Somebody who only looks."""
    with httpx.Client(base_url=table.page.url) as client:
        yield client


@pytest.fixture
def insider(table: TrueTable) -> Iterator[httpx.Client]:
    """Somebody who knows the PIN."""
    with httpx.Client(base_url=table.page.url) as client:
        assert client.post("/api/v1/login", json={"pin": PIN, "name": "Zoe"}).status_code == 204
        yield client


def assert_nothing_broke(caplog: pytest.LogCaptureFixture, *secrets: str) -> None:
    """Check, when a test is over, that it has logged no error of the page, and none of these secrets."""
    logged = caplog.get_records("call")  # `records` are those of the phase, and this is the next one
    assert [one.getMessage() for one in logged if one.levelno >= logging.ERROR] == []
    text = "\n".join(map(logging.Formatter().format, logged))
    assert not any(secret in text for secret in secrets)


@dataclass(slots=True)
class Hands:
    """A clock that is set by hand."""

    t_ns: int = 0

    def __call__(self) -> int:
        return self.t_ns


@dataclass(slots=True)
class NoGame:
    """A page without a game behind it: nobody answers what is asked for."""

    clock: Hands = field(default_factory=Hands)
    app: Guard = field(init=False)
    feed: LiveFeed = field(init=False)

    def __post_init__(self) -> None:
        self.feed = LiveFeed(self.clock)
        self.app = make_app(self.feed, Access(PIN, b"k" * 32, self.clock), PagePictures(self.clock))
