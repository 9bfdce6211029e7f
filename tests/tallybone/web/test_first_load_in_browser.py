"""Tests of the first load in a real browser: files fetched, first rendering and lazy loading."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
if shutil.which("chromium") is None and shutil.which("chromium-browser") is None:
    pytest.skip("there is no Chromium: sudo apt install chromium", allow_module_level=True)

from tests.tallybone.web.browsers import Browser, served
from tests.tallybone.web.true_table import TrueTable

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", name="table")
def a_table_in_play() -> Iterator[TrueTable]:
    with served() as table:
        table.play(14)
        yield table


def test_the_score_is_shown_without_controls_before_the_connection_is_open(browser: Browser, table: TrueTable) -> None:
    page = browser.new_page()
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url.rpartition("/")[2]))
    page.add_init_script(
        "window.WebSocket = class extends EventTarget { static OPEN = 1; close() {} };"
    )  # a socket that never receives anything
    page.goto(table.page.url)
    page.locator(".player").first.wait_for()
    game = table.live.session.state.game
    assert game is not None
    assert [int(text) for text in page.locator(".total").all_inner_texts()] == list(game.totals)
    assert page.locator("html").get_attribute("data-link") == "opening"
    assert not page.locator("#more").is_visible()
    assert sorted(fetched) in (["", "page.css", "page.js"], ["", "icon.svg", "page.css", "page.js"])
    page.close()


def test_a_failed_lazy_load_is_reported_and_retried(browser: Browser, table: TrueTable) -> None:
    page = browser.new_page()
    page.route("**/later.js", lambda route: route.abort())
    page.goto(table.page.url)
    page.locator("html[data-link=live] #nav-statistics").click()
    page.locator("#toast", has_text="cannot be reached").wait_for()
    page.unroute("**/later.js")
    page.locator("#nav-table").click()
    page.locator("#nav-statistics").click()
    page.locator("#view-statistics h2").wait_for()
    page.close()


def test_the_lazy_script_is_fetched_in_advance(browser: Browser, table: TrueTable) -> None:
    page = browser.new_page()
    with page.expect_response("**/later.js"):
        page.goto(table.page.url)
    page.locator("html[data-link=live] .player").first.wait_for()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2].partition("?")[0]))
    page.locator("#nav-statistics").click()
    page.locator("#view-statistics h2").wait_for()
    assert "later.js" not in asked
    page.close()
