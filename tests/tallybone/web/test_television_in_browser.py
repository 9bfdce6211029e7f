"""Tests of the television view in a real browser: layout, colours and motion."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from typing import Any

import cv2
import numpy as np
import pytest

from engine import profile
from tallybone.session.inputs import Answer, Button, Press
from tests.tallybone.web.browsers import Browser, Viewer, served, viewing
from tests.tallybone.web.doubts import doubtful
from tests.tallybone.web.true_table import TrueTable

pytestmark = pytest.mark.slow

TELEVISION, PORTRAIT = (1920, 1080), (1080, 1920)
PLAYS = 16
# Shares of the felt's width and height that the drawing spans, and its distance to the nearest edge.
DRAWN = """() => {
  const felt = document.querySelector("#layout-view").getBoundingClientRect();
  const drawn = [...document.querySelectorAll("#tiles .ivory, #felt .end rect")];
  const boxes = drawn.map((one) => one.getBoundingClientRect());
  const [left, top] = ["left", "top"].map((side) => Math.min(...boxes.map((box) => box[side])));
  const [right, bottom] = ["right", "bottom"].map((side) => Math.max(...boxes.map((box) => box[side])));
  const margin = Math.min(left - felt.left, top - felt.top, felt.right - right, felt.bottom - bottom);
  return { wide: (right - left) / felt.width, high: (bottom - top) / felt.height, margin };
}"""
# Records the texts of totals, and the elements of scenes and flying ends.
RECORDED = """() => {
  window.shown = [];
  new MutationObserver((changes) => changes.forEach(({ type, target, addedNodes }) => {
    if (type === "characterData") window.shown.push(target.data);
    for (const one of addedNodes) if (/^(scene|flying)/.test(one.className)) window.shown.push(one.className);
  })).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""
# Extents of the felt, and of all that is shown beside it while a question is open.
EXTENTS = """() => {
  const found = ["#layout-view", "#question", "#last", "#players"].map((one) => document.querySelector(one));
  return found.filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect())
    .map(({ top, bottom }) => [Math.round(top), Math.round(bottom)]);
}"""
LONG_NAMES = ("Maximiliana Voss", "Wolfgang Amadeus", "Bartholomew Finn", "Christopher Kent")
COACHED = ("/?coach", "/?display&coach")
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


@contextmanager
def at_sizes(
    browser: Browser, table: TrueTable, *, paths: tuple[str, str] = ("/?display", "/?display")
) -> Iterator[list[Viewer]]:
    """Yield viewers of a table with a wide and with a high screen."""
    with ExitStack() as stack:
        sizes = zip((TELEVISION, PORTRAIT), paths, strict=True)
        yield [stack.enter_context(viewing(browser, table, size, path=path)) for size, path in sizes]


def drawn(viewer: Viewer) -> dict[str, Any]:
    """Return the measures of the drawing, once the page has shown the last play."""
    viewer.page.wait_for_timeout(150)
    measured: dict[str, Any] = viewer.page.evaluate(DRAWN)
    return measured


def test_the_coach_shows_tiles_that_would_score(browser: Browser) -> None:
    with served() as table, viewing(browser, table) as other, at_sizes(browser, table, paths=COACHED) as viewers:
        table.play(11)
        for viewer in viewers:
            viewer.page.locator("#coach span").first.wait_for()
            text = viewer.page.locator("#coach span").first.inner_text()
            assert re.fullmatch(r"\d-\d would score \d+", text.strip())
            assert viewer.complaints == []
        assert other.page.locator("#coach").count() == 0


def test_the_layout_fills_the_felt_and_is_never_cut_off(browser: Browser) -> None:
    with served() as table, at_sizes(browser, table) as viewers:
        for viewer in viewers:
            viewer.page.emulate_media(reduced_motion="reduce")
        table.play(4)
        fillings = []
        for _ in range(PLAYS):
            table.play(1)
            measures = [drawn(viewer) for viewer in viewers]
            assert min(now["margin"] for now in measures) > 0
            fillings.append(min(max(now["wide"], now["high"]) for now in measures))
        assert min(fillings[3:]) > 0.75
        assert all(viewer.page.evaluate("document.getAnimations().length") == 0 for viewer in viewers)


def test_players_are_beside_a_layout_of_two_sets(browser: Browser) -> None:
    rules = profile("cutthroat")
    with (
        served(rules=rules, players=LONG_NAMES) as table,
        viewing(browser, table, TELEVISION, path="/?display") as viewer,
    ):
        viewer.page.emulate_media(reduced_motion="reduce")
        table.play(PLAYS)
        now = drawn(viewer)
        assert now["margin"] > 0
        assert max(now["wide"], now["high"]) > 0.75
        felt, players = (viewer.page.locator(one).bounding_box() for one in ("#layout-view", "#players"))
        assert felt is not None
        assert players is not None
        assert felt["x"] + felt["width"] <= players["x"]
        assert abs(felt["y"] - players["y"]) <= 1
        assert felt["width"] < 1.6 * felt["height"]


def test_the_layout_grows_smoothly_and_rests_in_between(browser: Browser) -> None:
    with served() as table, viewing(browser, table, TELEVISION, path="/?display") as viewer:
        table.play(4)
        viewer.page.evaluate("""() => {
          window.glides = [];
          const animate = Element.prototype.animate;
          Element.prototype.animate = function (frames, how) {
            if (this.id === "felt") window.glides.push(frames.transform[0]);
            return animate.call(this, frames, how);
          };
        }""")
        for _ in range(PLAYS):
            table.play(1)
            viewer.page.wait_for_timeout(100)
        glides = viewer.page.evaluate("window.glides")
        assert 1 <= len(glides) <= 0.6 * PLAYS
        assert all(" rotate(0deg) " in glide for glide in glides), "the layout of this hand is wide"


def test_the_ends_that_counted_fly_to_the_player_whose_total_counts_up(browser: Browser) -> None:
    with served() as table, viewing(browser, table, TELEVISION, path="/?display") as viewer:
        viewer.page.evaluate(RECORDED)
        table.play(PLAYS)
        game = table.live.session.state.game
        assert game is not None
        viewer.wait_for_totals(*game.totals)
        viewer.page.locator(".flying").first.wait_for(state="detached")
        shown = viewer.page.evaluate("window.shown")
        assert max(game.totals) > 0
        assert "flying" in shown
        assert "0" in shown, "a total starts to count at its earlier value"


def test_a_domino_has_a_short_scene_and_none_with_reduced_motion(browser: Browser) -> None:
    with served() as table, at_sizes(browser, table) as viewers:
        viewers[1].page.emulate_media(reduced_motion="reduce")
        for viewer in viewers:
            viewer.page.evaluate(RECORDED)
        while not table.camera.is_done:
            table.play(1)
        viewers[0].page.wait_for_timeout(4000)
        for viewer, is_moving in zip(viewers, (True, False), strict=True):
            shown = viewer.page.evaluate("window.shown")
            assert (shown.count("scene"), "flying" in shown) == (int(is_moving), is_moving)
            assert viewer.page.locator(".scene, .flying").count() == 0
            assert viewer.complaints == []


def test_a_television_is_dark_unless_light_is_chosen(browser: Browser) -> None:
    with served() as table:
        for path, is_dark in (("/?display", True), ("/?display&light", False)):
            with viewing(browser, table, TELEVISION, path=path) as viewer:
                for scheme in ("light", "dark"):
                    viewer.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
                    level = int(viewer.page.evaluate(BACKGROUND).removeprefix("rgb(").partition(",")[0])
                    assert (level < 64) is is_dark


def test_the_overlay_of_a_stream_is_transparent_beside_the_scores(browser: Browser) -> None:
    with served() as table, viewing(browser, table, TELEVISION, path="/?overlay") as viewer:
        table.play(PLAYS)
        viewer.page.locator("#last .what").wait_for()
        viewer.page.emulate_media(reduced_motion="reduce")
        picture = np.frombuffer(viewer.page.screenshot(omit_background=True), np.uint8)
        image = cv2.imdecode(picture, cv2.IMREAD_UNCHANGED)
        assert image is not None
        alpha = image[..., 3]
        assert not alpha[: TELEVISION[1] // 2].any()
        scores = viewer.page.locator("#players").bounding_box()
        assert scores is not None
        assert alpha[round(scores["y"] + scores["height"] / 2), TELEVISION[0] // 2] == 255
        assert viewer.complaints == []


def test_a_question_leaves_the_felt_its_size_and_says_where_to_answer(browser: Browser) -> None:
    with served(reader=doubtful) as table, at_sizes(browser, table) as viewers:
        for _ in range(40):
            if table.live.session.open_question is not None:
                break
            viewers[0].page.wait_for_timeout(150)
            before = [viewer.page.evaluate(EXTENTS) for viewer in viewers]
            table.play(1)
        for viewer, extents in zip(viewers, before, strict=True):
            viewer.page.locator("#question .where", has_text="Answer on a phone").wait_for()
            now = viewer.page.evaluate(EXTENTS)
            assert now[0] == extents[0]
            spans = sorted(now)
            assert all(one[1] <= other[0] + 1 for one, other in pairwise(spans)), "nothing is covered"
            borders = viewer.page.locator("#choices .choice").evaluate_all(
                "(all) => all.map((one) => getComputedStyle(one).borderTopWidth)"
            )
            assert set(borders) == {"0px"}, "choices do not look like buttons"


def test_a_television_counts_answers_that_would_be_too_small(browser: Browser) -> None:
    with served() as table, at_sizes(browser, table) as viewers:
        table.play(PLAYS)
        for answer, text in (("is over", "5 answers"), ("Ann is out", "Ann is out")):
            table.camera.give(Press(Button.TABLE) if answer == "is over" else _answer(table, "is over"))
            table.play(0)
            for viewer in viewers:
                viewer.page.locator("#choices").get_by_text(text, exact=True).wait_for()
                shown, smallest = viewer.page.locator("#choices, .where").evaluate_all(
                    "(all) => all.map((one) => parseFloat(getComputedStyle(one).fontSize))"
                )
                assert shown >= smallest
        for viewer in viewers:
            question, box = (viewer.page.locator(one).bounding_box() for one in ("#question", "#choices"))
            assert question is not None
            assert box is not None
            assert box["height"] <= question["height"]


def _answer(table: TrueTable, text: str) -> Answer:
    asked = table.live.session.open_question
    assert asked is not None
    return Answer(next(at for at, choice in enumerate(asked.choices) if text in choice), asked.topic)


@pytest.mark.parametrize("count", [2, 4])
def test_totals_are_large_beside_long_names(browser: Browser, count: int) -> None:
    with served(players=LONG_NAMES[:count], hands=12) as table:
        while not table.camera.is_done and max(_totals(table), default=0) < 100:
            table.play(1)
        with viewing(browser, table, TELEVISION, path="/?display") as viewer:
            viewer.wait_for_totals(*_totals(table))
            rem, *sizes = viewer.page.evaluate(
                "[document.documentElement, ...document.querySelectorAll('.total')]"
                ".map((one) => parseFloat(getComputedStyle(one).fontSize))"
            )
            assert min(sizes) >= 4 * rem
            rows = viewer.page.locator(".player").evaluate_all(
                "(all) => all.map((one) => one.scrollWidth <= one.clientWidth)"
            )
            assert all(rows)


def _totals(table: TrueTable) -> list[int]:
    game = table.live.session.state.game
    return [] if game is None else list(game.totals)
