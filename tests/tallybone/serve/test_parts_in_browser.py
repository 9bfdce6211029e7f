"""Tests of a table's parts in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
if shutil.which("chromium") is None and shutil.which("chromium-browser") is None:
    pytest.skip("there is no Chromium: sudo apt install chromium", allow_module_level=True)

from tests.tallybone.serve.served import Served, at_served_table
from tests.tallybone.web.browsers import AXE, Browser, visiting
from tests.tallybone.web.test_in_browser import NARROW, PHONE, TABLET, TELEVISION, violations

pytestmark = pytest.mark.slow


@pytest.fixture(name="table")
def a_table_with_virtual_parts(tmp_path: Path) -> Iterator[Served]:
    with at_served_table(tmp_path, panel=True) as table:
        yield table


def test_parts_are_tested_and_pressed_with_the_keyboard(browser: Browser, table: Served) -> None:
    with visiting(browser, f"{table.url}/#parts") as viewer:
        page = viewer.page
        page.locator("#test-parts").click()
        viewer.log_in()
        page.locator(".said", has_text="LED 1 of 8").wait_for()
        page.locator(".lamp.is-lit").first.wait_for()
        page.locator("[data-answer=y]").focus()
        page.keyboard.press("Enter")
        page.locator(".said", has_text="LED 2 of 8").wait_for()
        assert page.evaluate("document.activeElement.dataset.answer") == "y", "the focus stays"
        page.locator("[data-answer=s]").click()
        page.locator(".said", has_text="press each").wait_for()
        page.locator("[data-button=undo]").click()
        page.locator(".said", has_text="that was undo").wait_for()
        page.locator("[data-answer=q]").click()
        page.locator("#test-parts").wait_for()
        page.locator(".finding", has_text="skipped").first.wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_parts_view(browser: Browser, table: Served, scheme: str) -> None:
    with visiting(browser, f"{table.url}/#parts", scheme=scheme) as viewer:
        viewer.page.locator("#see-panel").click()
        viewer.log_in()
        viewer.page.locator("#panel-knock").wait_for()
        viewer.page.locator("#test-parts").click()
        viewer.page.locator("[data-answer=y]").wait_for()
        viewer.page.evaluate(AXE.read_text())
        assert violations(viewer) == []


@pytest.mark.parametrize("size", [NARROW, PHONE, TABLET, TELEVISION], ids=lambda size: str(size[0]))
def test_the_parts_view_fits_the_screen(browser: Browser, table: Served, size: tuple[int, int]) -> None:
    with visiting(browser, f"{table.url}/#parts", size) as viewer:
        viewer.page.locator("#see-panel").click()
        viewer.log_in()
        viewer.page.locator("#panel-knock").wait_for()
        assert viewer.page.evaluate("document.documentElement.scrollWidth") <= size[0]
