"""Tests of the first load in a real browser, its lazy loading, and of the wake lock."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tallybone.web.browsers import Browser, served, viewing
from tests.tallybone.web.true_table import TrueTable

pytestmark = pytest.mark.slow

FAKE = """window.held = 0;
const request = async () => (window.held += 1, { released: false, release: () => { window.held -= 1; } });
Object.defineProperty(Navigator.prototype, "wakeLock", { value: { request }, configurable: true });"""
NONE = "delete Navigator.prototype.wakeLock;"


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


def test_a_phone_stays_on_during_a_match_if_switched_on(browser: Browser) -> None:
    with served() as table, viewing(browser, table, script=FAKE) as viewer:
        page, switch = viewer.page, viewer.page.locator("#awake")
        assert page.evaluate("window.held") == 0
        switch.check()
        page.wait_for_function("window.held === 1")
        switch.uncheck()
        page.wait_for_function("window.held === 0")
        switch.check()
        page.reload()
        page.wait_for_function("window.held === 1")
        assert viewer.complaints == []


def test_a_television_stays_on_and_is_full_screen_after_a_click(browser: Browser) -> None:
    with served() as table, viewing(browser, table, (1920, 1080), path="/?display", script=FAKE) as viewer:
        viewer.page.wait_for_function("window.held === 1")
        viewer.page.mouse.click(500, 500)
        viewer.page.wait_for_function("document.fullscreenElement !== null")
        assert viewer.complaints == []


@pytest.mark.parametrize("path", ["/", "/?display"])
def test_without_wake_locks_there_is_no_switch(browser: Browser, path: str) -> None:
    with served() as table, viewing(browser, table, path=path, script=NONE) as viewer:
        assert not viewer.page.locator("#awake-label").is_visible()
        assert viewer.complaints == []
