"""Tests that the page stays steady while a match runs: nothing moves when a question comes, on any screen."""

from __future__ import annotations

import shutil

import pytest

pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
if shutil.which("chromium") is None and shutil.which("chromium-browser") is None:
    pytest.skip("there is no Chromium: sudo apt install chromium", allow_module_level=True)

from tallybone.session.inputs import Button, Press
from tests.tallybone.web.browsers import Browser, served, tiles_of, viewing, wait_for_tiles

pytestmark = pytest.mark.slow

SIZES = ((360, 740), (740, 360), (820, 1180), (1366, 768))
OBSERVE = """window.shifts = [];
const keep = (list) => list.getEntries().forEach((one) => window.shifts.push(one.value));
new PerformanceObserver(keep).observe({ type: "layout-shift" });"""
TAKE = "window.shifts.splice(0).reduce((sum, one) => sum + one, 0)"
MAX_SHIFT = 0.01
"""A tenth of what web.dev calls a good cumulative layout shift."""


@pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size[0]))
def test_nothing_moves_when_a_question_comes(browser: Browser, size: tuple[int, int]) -> None:
    with served() as table, viewing(browser, table, size, script=OBSERVE) as viewer:
        page, question = viewer.page, viewer.page.locator("#question")
        table.play(12)
        wait_for_tiles(viewer, tiles_of(table))
        page.wait_for_timeout(500)
        page.evaluate(TAKE)
        table.camera.give(Press(Button.TABLE))
        table.play(0)
        question.wait_for()
        page.wait_for_timeout(500)
        assert question.is_visible()
        assert page.evaluate(TAKE) <= MAX_SHIFT
        page.evaluate("window.scrollTo(0, 0)")  # a phone has scrolled to the layout, and would hide the next change
        page.wait_for_timeout(300)
        page.evaluate(TAKE)
        page.evaluate("document.querySelector('#waits').style.marginTop = '5rem'")
        page.wait_for_timeout(300)
        assert page.evaluate(TAKE) > MAX_SHIFT, "the observer works"


def test_a_phone_on_its_side_shows_score_and_layout_side_by_side(browser: Browser) -> None:
    with served() as table, viewing(browser, table, (740, 360)) as viewer:
        table.play(12)
        wait_for_tiles(viewer, tiles_of(table))
        boxes = [viewer.page.locator(one).bounding_box() for one in ("#players", "#felt", "#controls")]
        players, felt, controls = (box for box in boxes if box is not None)
        assert players["x"] + players["width"] <= felt["x"]
        assert max(players["y"] + players["height"], felt["y"] + felt["height"]) <= controls["y"]
        assert controls["y"] + controls["height"] <= 360
        assert min(felt["width"], felt["height"]) >= 130


def test_a_seat_has_one_colour_and_its_initials_everywhere(browser: Browser) -> None:
    own = "(one) => getComputedStyle(one).getPropertyValue('--own')"
    with served(players=("Jean-Christophe", "Ben")) as table, viewing(browser, table, (820, 1180)) as viewer:
        table.play(12)
        wait_for_tiles(viewer, tiles_of(table))
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
