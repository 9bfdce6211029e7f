"""Tests of small screens, a phone upright and on its side first: score, layout and question in sight, sheets whole."""

from __future__ import annotations

import shutil
from functools import partial
from typing import NamedTuple

import pytest

pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
if shutil.which("chromium") is None and shutil.which("chromium-browser") is None:
    pytest.skip("there is no Chromium: sudo apt install chromium", allow_module_level=True)

from tallybone.session.inputs import Button, Press
from tests.tallybone.web.browsers import Browser, Viewer, served, tiles_of, viewing, wait_for_tiles
from tests.tallybone.web.doubts import doubtful, play_until_asked
from tests.tallybone.web.looks import FAULTS

pytestmark = pytest.mark.slow

UPRIGHT, SIDEWAYS = (360, 740), (740, 360)
LONG_NAMES = ("Maximiliana Voss", "Wolfgang Amadeus", "Bartholomew Finn", "Christopher Kent")
# Whether every view's tab, made current, leaves the tabs on one line.
ONE_LINE = """() => {
  const tabs = [...document.querySelectorAll("#nav a")];
  return tabs.every((current) => {
    tabs.forEach((tab) => tab.toggleAttribute("aria-current", tab === current));
    return new Set(tabs.map((tab) => tab.offsetTop)).size === 1;
  });
}"""

# Whether the head of a sheet is above what scrolls below it.
HEAD_ON_TOP = """(sheet) => {
  const { left, top } = sheet.querySelector(".sheet-head").getBoundingClientRect();
  return document.elementFromPoint(left + 60, top + 30).closest(".sheet-head") !== null;
}"""


class Extent(NamedTuple):
    """Extent of an element on the screen, in pixels."""

    left: float
    top: float
    right: float
    bottom: float


def extent(viewer: Viewer, selector: str, nth: int = 0) -> Extent:
    """Return the extent of the *nth* element that matches a selector."""
    box = viewer.page.locator(selector).nth(nth).bounding_box()
    assert box is not None, f"{selector} is not visible"
    return Extent(box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"])


def test_a_question_covers_neither_score_nor_layout_on_a_laptop(browser: Browser) -> None:
    reader = partial(doubtful, nth=8)
    with served(players=LONG_NAMES, reader=reader) as table, viewing(browser, table, (1366, 768)) as viewer:
        play_until_asked(table)
        viewer.page.locator("#question").wait_for()
        question = extent(viewer, "#question")
        assert extent(viewer, "#last").bottom <= question.top
        assert question.right <= extent(viewer, "#layout-view").left


@pytest.mark.parametrize("size", [(390, 844), UPRIGHT, (768, 1024)], ids=lambda size: str(size[0]))
def test_the_layout_is_shown_above_the_answers_that_put_it_right(browser: Browser, size: tuple[int, int]) -> None:
    with served(players=LONG_NAMES) as table, viewing(browser, table, size) as viewer:
        table.play(12)
        wait_for_tiles(viewer, tiles_of(table))
        viewer.page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
        table.camera.give(Press(Button.TABLE))
        table.play(0)
        viewer.page.locator("#question").wait_for()
        viewer.page.wait_for_timeout(100)
        question, layout = extent(viewer, "#question"), extent(viewer, "#layout-view")
        assert layout.top >= 0
        assert layout.bottom <= question.top
        assert question.bottom - question.top <= size[1] / 2
        assert question.bottom <= extent(viewer, "#controls").top
        answers = viewer.page.locator("#choices .answer")
        assert answers.first.inner_text().startswith("Hand 1 goes on")
        answers.last.scroll_into_view_if_needed()
        assert extent(viewer, "#question").bottom >= extent(viewer, "#choices .answer", answers.count() - 1).bottom


@pytest.mark.parametrize("size", [SIDEWAYS, (667, 375), (844, 390)], ids=lambda size: str(size[0]))
def test_a_question_covers_nothing_on_a_phone_on_its_side(browser: Browser, size: tuple[int, int]) -> None:
    reader = partial(doubtful, nth=8)
    with served(players=LONG_NAMES, reader=reader) as table, viewing(browser, table, size) as viewer:
        play_until_asked(table)
        viewer.page.locator("#question").wait_for()
        question, keys = extent(viewer, "#question"), extent(viewer, "#controls")
        assert abs(question.bottom - keys.top) <= 2
        for shown in ("#players", "#last", "#layout-view"):
            assert extent(viewer, shown).bottom <= question.top, f"{shown} is covered"
        first, second, third = (extent(viewer, ".player", seat) for seat in range(3))
        assert (first.top, first.left) == (second.top, third.left)
        assert viewer.page.locator(".houses:visible").count() == 0


@pytest.mark.parametrize("size", [UPRIGHT, (320, 640)], ids=lambda size: str(size[0]))
def test_four_players_leave_room_for_the_layout_on_an_upright_phone(browser: Browser, size: tuple[int, int]) -> None:
    with served(players=LONG_NAMES) as table, viewing(browser, table, size) as viewer:
        table.play(12)
        wait_for_tiles(viewer, tiles_of(table))
        rows = [extent(viewer, ".player", seat) for seat in range(4)]
        assert max(row.bottom - row.top for row in rows) <= 44
        felt, keys = extent(viewer, "#layout-view"), extent(viewer, "#controls")
        assert felt.top + 180 <= keys.top
        for seat, row in enumerate(rows):
            total = extent(viewer, ".total", seat)
            assert extent(viewer, ".player .name", seat).right < total.left < total.right <= row.right


@pytest.mark.parametrize("language", ["en", "es", "fr", "pt"])
def test_no_tab_wraps_and_no_key_breaks_a_word(browser: Browser, language: str) -> None:
    with served() as table, viewing(browser, table, UPRIGHT, path=f"/?lang={language}") as viewer:
        assert viewer.page.evaluate(ONE_LINE)
        table.play(12)
        wait_for_tiles(viewer, tiles_of(table))
        viewer.page.set_viewport_size({"width": 320, "height": 640})
        assert viewer.page.evaluate(FAULTS) == []


@pytest.mark.parametrize("size", [UPRIGHT, SIDEWAYS], ids=lambda size: str(size[0]))
def test_sheets_are_whole_on_a_phone(browser: Browser, size: tuple[int, int]) -> None:
    with served(players=LONG_NAMES) as table, viewing(browser, table, size) as viewer:
        table.play(12)
        page, sheet = viewer.page, viewer.page.locator("#sheet")
        page.locator("#more").click()
        assert sheet.evaluate("(one) => one.scrollHeight <= one.clientHeight")
        page.keyboard.press("Escape")
        page.locator(".player .seat").first.click()
        for key in sheet.locator(".row > .key").all():
            padding = key.evaluate("(one) => parseFloat(getComputedStyle(one).paddingLeft)")
            assert padding >= 8
        assert sheet.evaluate("(one) => one.scrollHeight <= one.clientHeight")
        page.set_viewport_size({"width": size[0], "height": 250})
        sheet.evaluate("(one) => { one.scrollTop = one.scrollHeight; }")
        assert extent(viewer, "#sheet").bottom - extent(viewer, "#sheet button", -1).bottom >= 8
        assert sheet.evaluate(HEAD_ON_TOP), "keys cover the title"
