"""Tests of the page in Firefox, to catch differences from Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.firefox import FIREFOX, FirefoxPage, firefox
from tests.tallybone.web.hand_photos import game_of
from tests.tallybone.web.true_table import PIN, TrueTable

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(FIREFOX is None, reason="there is no Firefox: sudo apt install firefox-esr"),
]

_IS_LIVE = "document.documentElement.dataset.link === 'live' && document.querySelector('.player') !== null"
_TOTALS = "[...document.querySelectorAll('.total')].map((element) => Number(element.textContent))"


@pytest.fixture(name="begun", scope="module")
def a_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FirefoxPage]:
    with firefox(tmp_path_factory.mktemp("firefox")) as page:
        yield page


@pytest.fixture(name="table")
def a_table_in_play() -> Iterator[TrueTable]:
    with at_table() as table:
        table.play(8)
        yield table


@pytest.fixture(name="page")
def a_page_of_the_table(begun: FirefoxPage, table: TrueTable) -> Iterator[FirefoxPage]:
    begun.resize(360, 740)
    begun.go(table.page.url)
    begun.wait_for(_IS_LIVE)
    yield begun
    begun.go("about:blank")  # a page logs errors once its table is gone
    begun.complaints.clear()


def shows_totals(page: FirefoxPage, table: TrueTable) -> bool:
    """Wait until the page shows the table's totals. The last play may still be in progress."""
    return any(page.evaluate(_TOTALS) == list(game_of(table).totals) or table.ended.wait(0.05) for _ in range(200))


def test_a_game_is_followed_and_corrected(page: FirefoxPage, table: TrueTable, tmp_path: Path) -> None:
    assert shows_totals(page, table)
    before = list(game_of(table).totals)
    table.play(14)
    assert shows_totals(page, table)
    assert list(game_of(table).totals) != before
    page.tap("#play-list button")
    page.wait_for("document.querySelector('#sheet').open")
    page.tap("#sheet-close")
    page.tap("#camera-tab")
    page.wait_for("document.querySelector('#picture').naturalWidth > 0")
    page.tap("#buttons [data-press=undo]")
    page.wait_for("document.querySelector('#login').open")
    page.tap("#pin")
    page.type(PIN)
    page.wait_for("!document.querySelector('#toast').hidden && !document.querySelector('#login').open")
    page.screenshot(tmp_path / "page.png")
    assert page.complaints == []


def test_other_views_and_languages_open(page: FirefoxPage, table: TrueTable) -> None:
    for name in ("statistics", "recordings"):
        page.tap(f"#nav-{name}")
        page.wait_for(f"document.querySelector('#view-{name} h2') !== null")
    page.tap("#nav-table")
    page.tap("[data-language=fr]")
    page.wait_for(f"document.documentElement.lang === 'fr' && {_IS_LIVE}")
    assert page.evaluate("document.querySelector('#plays-title').textContent") == "Coups de cette manche"
    page.resize(1920, 1080)
    page.go(f"{table.page.url}/?display&lang=pt")
    page.wait_for(f"document.documentElement.lang === 'pt' && {_IS_LIVE}")
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert page.complaints == []
