"""Tests of small screens: score, layout and question in sight, sheets whole, nothing moves for a question."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import NamedTuple, TypeAlias

import pytest

from tallybone.session.inputs import Button, Press
from tallybone.texts import LANGUAGES
from tests.tallybone.web.browsers import Browser, Viewer, playing, served, tiles_of, viewing, wait_for_tiles
from tests.tallybone.web.doubts import doubtful, play_until_asked
from tests.tallybone.web.looks import FAULTS
from tests.tallybone.web.true_table import TrueTable

pytestmark = pytest.mark.slow

Sizes: TypeAlias = tuple[tuple[int, int], ...]

SIZES = ((360, 740), (740, 360), (820, 1180), (1366, 768))
OBSERVE = """window.shifts = [];
const keep = (list) => list.getEntries().forEach((one) => window.shifts.push(one.value));
new PerformanceObserver(keep).observe({ type: "layout-shift" });"""
TAKE = "window.shifts.splice(0).reduce((sum, one) => sum + one, 0)"
MAX_SHIFT = 0.01
"""A tenth of what web.dev calls a good cumulative layout shift."""
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
    box = viewer.page.locator(selector).nth(nth).bounding_box()
    assert box is not None, f"{selector} is not visible"
    return Extent(box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"])


@contextmanager
def at_sizes(browser: Browser, table: TrueTable, sizes: Sizes, script: str = "") -> Iterator[list[Viewer]]:
    """Yield viewers of a table with screens of several sizes."""
    with ExitStack() as stack:
        yield [stack.enter_context(viewing(browser, table, size, script=script)) for size in sizes]


def test_the_layout_is_shown_above_the_answers_that_put_it_right(browser: Browser) -> None:
    sizes = ((390, 844), UPRIGHT, (768, 1024))
    with served(players=LONG_NAMES) as table, at_sizes(browser, table, sizes) as viewers:
        table.play(12)
        for viewer in viewers:
            wait_for_tiles(viewer, tiles_of(table))
            viewer.page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
        table.camera.give(Press(Button.TABLE))
        table.play(0)
        for viewer, size in zip(viewers, sizes, strict=True):
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


def test_a_question_covers_nothing_on_a_phone_on_its_side_or_a_laptop(browser: Browser) -> None:
    reader = partial(doubtful, nth=8)
    sizes = (SIDEWAYS, (667, 375), (844, 390), (1366, 768))
    with served(players=LONG_NAMES, reader=reader) as table, at_sizes(browser, table, sizes) as viewers:
        play_until_asked(table)
        for viewer in viewers:
            viewer.page.locator("#question").wait_for()
        *phones, laptop = viewers
        for viewer in phones:
            question, keys = extent(viewer, "#question"), extent(viewer, "#controls")
            assert abs(question.bottom - keys.top) <= 2
            for shown in ("#players", "#last", "#layout-view"):
                assert extent(viewer, shown).bottom <= question.top, f"{shown} is covered"
            first, second, third = (extent(viewer, ".player", seat) for seat in range(3))
            assert (first.top, first.left) == (second.top, third.left)
            assert viewer.page.locator(".houses:visible").count() == 0
        question = extent(laptop, "#question")
        assert extent(laptop, "#last").bottom <= question.top
        assert question.right <= extent(laptop, "#layout-view").left


def test_four_players_leave_room_for_the_layout_on_an_upright_phone(browser: Browser) -> None:
    with playing(browser, 12, UPRIGHT, players=LONG_NAMES) as (_, viewer):
        for width, height in (UPRIGHT, (320, 640)):
            viewer.page.set_viewport_size({"width": width, "height": height})
            rows = [extent(viewer, ".player", seat) for seat in range(4)]
            assert max(row.bottom - row.top for row in rows) <= 44
            felt, keys = extent(viewer, "#layout-view"), extent(viewer, "#controls")
            assert felt.top + 180 <= keys.top
            for seat, row in enumerate(rows):
                total = extent(viewer, ".total", seat)
                assert extent(viewer, ".player .name", seat).right < total.left < total.right <= row.right


def test_no_tab_wraps_and_no_key_breaks_a_word(browser: Browser) -> None:
    with served() as table:
        table.play(12)
        for language in LANGUAGES:
            with viewing(browser, table, UPRIGHT, path=f"/?lang={language}") as viewer:
                wait_for_tiles(viewer, tiles_of(table))
                assert viewer.page.evaluate(ONE_LINE)
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


def test_nothing_moves_when_a_question_comes(browser: Browser) -> None:
    with served() as table, at_sizes(browser, table, SIZES, OBSERVE) as viewers:
        table.play(12)
        for viewer in viewers:
            wait_for_tiles(viewer, tiles_of(table))
        viewer.page.wait_for_timeout(500)
        for viewer in viewers:
            viewer.page.evaluate(TAKE)
        table.camera.give(Press(Button.TABLE))
        table.play(0)
        for viewer in viewers:
            viewer.page.locator("#question").wait_for()
        viewer.page.wait_for_timeout(500)
        for viewer in viewers:
            assert viewer.page.locator("#question").is_visible()
            assert viewer.page.evaluate(TAKE) <= MAX_SHIFT
            # A phone has scrolled to the layout, and would hide the next change.
            viewer.page.evaluate("window.scrollTo(0, 0)")
        viewer.page.wait_for_timeout(300)
        for viewer in viewers:
            viewer.page.evaluate(TAKE)
            viewer.page.evaluate("document.querySelector('#waits').style.marginTop = '5rem'")
        viewer.page.wait_for_timeout(300)
        assert all(viewer.page.evaluate(TAKE) > MAX_SHIFT for viewer in viewers), "the observer works"


def test_a_phone_on_its_side_shows_score_and_layout_side_by_side(browser: Browser) -> None:
    with playing(browser, 12, (740, 360)) as (_, viewer):
        players, felt, controls = (extent(viewer, one) for one in ("#players", "#felt", "#controls"))
        assert players.right <= felt.left
        assert max(players.bottom, felt.bottom) <= controls.top
        assert controls.bottom <= 360
        assert min(felt.right - felt.left, felt.bottom - felt.top) >= 130


def test_a_seat_has_one_colour_and_its_initials_everywhere(browser: Browser) -> None:
    own = "(one) => getComputedStyle(one).getPropertyValue('--own')"
    with playing(browser, 12, (820, 1180), players=("Jean-Christophe", "Ben")) as (_, viewer):
        page = viewer.page
        assert page.locator(".badge").all_inner_texts() == ["JC", "Be"]
        rows = [page.locator(".player").nth(seat).evaluate(own) for seat in range(2)]
        assert len(set(rows)) == 2
        for seat, name in enumerate(("Jean-Christophe", "Ben")):
            assert page.locator(".play", has_text=name).first.evaluate(own) == rows[seat]
        last = page.locator(".play:has(.tile-icon)").first.get_attribute("class")
        assert last is not None
        assert str(page.locator("#felt").get_attribute("class")) in last


@pytest.mark.parametrize(
    ("names", "initials"),
    [
        (("Anna", "Ann"), ["Aa", "An"]),
        (("Ann", "Anna", "Annan Ada"), ["An", "Aa", "Ad"]),
        (("Al", "AL", "al b"), ["Al", "A2", "ab"]),
    ],
)
def test_no_two_players_of_a_table_have_the_same_initials(
    browser: Browser, names: tuple[str, ...], initials: list[str]
) -> None:
    with served(players=names) as table, viewing(browser, table, (360, 740)) as viewer:
        assert viewer.page.locator(".badge").all_inner_texts() == initials
