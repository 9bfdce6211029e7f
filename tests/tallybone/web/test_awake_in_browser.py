"""Tests of the wake lock: a television always holds it, a phone during a match if its owner switched it on."""

from __future__ import annotations

import shutil

import pytest

pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
if shutil.which("chromium") is None and shutil.which("chromium-browser") is None:
    pytest.skip("there is no Chromium: sudo apt install chromium", allow_module_level=True)

from tests.tallybone.web.browsers import Browser, served, viewing

pytestmark = pytest.mark.slow

FAKE = """window.held = 0;
const request = async () => (window.held += 1, { released: false, release: () => { window.held -= 1; } });
Object.defineProperty(Navigator.prototype, "wakeLock", { value: { request }, configurable: true });"""
NONE = "delete Navigator.prototype.wakeLock;"


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
