"""Tests of viewing and correcting earlier hands in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
if shutil.which("chromium") is None and shutil.which("chromium-browser") is None:
    pytest.skip("there is no Chromium: sudo apt install chromium", allow_module_level=True)

from tests.tallybone.web.browsers import AXE, Browser, served, viewing
from tests.tallybone.web.test_in_browser import NARROW, violations
from tests.tallybone.web.true_table import TrueTable

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", name="table")
def a_table_in_its_second_hand() -> Iterator[TrueTable]:
    with served(hands=2) as table:
        while hand_of(table) < 2:
            table.play(1)
        table.play(3)
        yield table


def hand_of(table: TrueTable) -> int:
    game = table.live.session.state.game
    return 0 if game is None or game.hand is None else game.hand.number


def totals_of(table: TrueTable) -> tuple[int, ...]:
    game = table.live.session.state.game
    assert game is not None
    return game.totals


def test_a_play_of_an_earlier_hand_can_be_corrected(browser: Browser, table: TrueTable) -> None:
    with viewing(browser, table) as viewer:
        page, before = viewer.page, totals_of(table)
        newest = page.locator("#play-list li").all_inner_texts()
        page.locator("#hand-chosen").select_option("1")
        page.locator("#plays-title", has_text="Plays of hand 1").wait_for()
        page.locator("#play-list .play:has(.tile-icon)").first.wait_for()
        assert page.locator("#play-list li").all_inner_texts() != newest
        with page.expect_response("**/api/v1/ends?*"):
            page.locator("#play-list .play:has(.tile-icon)").first.click()
        page.locator("#sheet").wait_for()
        assert not page.get_by_text("Is it in the wrong place?").is_visible(), "its place is unknown"
        points = int(page.locator("#sheet input[type=number]").input_value())
        page.locator("#sheet input[type=number]").fill(str(points + 5))
        page.locator("#sheet").get_by_role("button", name="Save").click()
        viewer.log_in()
        page.wait_for_function(
            "was => [...document.querySelectorAll('.total')].map(element => element.innerText).join() !== was",
            arg=",".join(str(total) for total in before),
        )
        assert sum(totals_of(table)) == sum(before) + 5
        page.locator(f"#play-list .points:text-is('+{points + 5}')").first.wait_for()
        assert page.locator("#plays-title").inner_text() == "Plays of hand 1", "the list stays with that hand"
        page.locator("#toast button").click()
        viewer.wait_for_totals(*before)
        page.locator("#hand-chosen").select_option("")
        page.locator("#plays-title", has_text="Plays of this hand").wait_for()
        assert [text for text in viewer.complaints if "401" not in text] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_an_earlier_hand(browser: Browser, table: TrueTable, scheme: str) -> None:
    with viewing(browser, table, NARROW, scheme=scheme) as viewer:
        viewer.page.locator("#hand-chosen").select_option("1")
        viewer.page.locator("#plays-title", has_text="Plays of hand 1").wait_for()
        viewer.page.evaluate(AXE.read_text())
        assert violations(viewer) == []
        assert viewer.page.evaluate("document.documentElement.scrollWidth") <= NARROW[0]
