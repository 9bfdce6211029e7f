"""Tests of words and signs of the page in a real browser: rows, messages, names of games, badges and waiting tiles."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
if shutil.which("chromium") is None and shutil.which("chromium-browser") is None:
    pytest.skip("there is no Chromium: sudo apt install chromium", allow_module_level=True)

from engine import profile
from tests.tallybone.web.browsers import Browser, Viewer, WebSocketRoute, served, viewing, wait_for_tiles

pytestmark = pytest.mark.slow

Snapshot = dict[str, Any]
NAMES = ("Bartholomew", "Ann")
WRONG = "Bartholomew knocks, but it is the turn of Ann, who can play"


def show_edited(viewer: Viewer, edit: Callable[[Snapshot], None]) -> None:
    """Load the page again, and apply *edit* to each snapshot before the page gets it."""

    def through(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            said = json.loads(message)
            if "match" in said:
                edit(said)
            socket.send(json.dumps(said))

        server.on_message(pass_on)

    viewer.page.route_web_socket("**/api/v1/live?*", through)
    viewer.page.reload(wait_until="domcontentloaded")
    viewer.page.locator("html[data-link=live]").wait_for(state="attached")


def test_an_action_against_the_rules_without_a_tile_is_one_sentence_on_a_few_lines(browser: Browser) -> None:
    def knock(snapshot: Snapshot) -> None:
        last = snapshot["plays"][-1]
        last.update(kind="knock", pips=None, points=0, text=WRONG, irregular=WRONG)

    with served(players=NAMES) as table, viewing(browser, table, (360, 700)) as viewer:
        table.play(6)
        show_edited(viewer, knock)
        row = viewer.page.locator("#play-list .is-irregular")
        row.wait_for()
        assert row.inner_text().strip() == WRONG
        box = row.bounding_box()
        assert box is not None
        assert box["height"] < 90, "three lines at most"


def test_an_action_with_words_and_another_reason_has_both_below_each_other(browser: Browser) -> None:
    def draw(snapshot: Snapshot) -> None:
        text = "Bartholomew draws a tile from the boneyard"
        snapshot["plays"][-1].update(
            kind="draw", pips=None, points=0, text=text, irregular="Ann can play, and it is her turn"
        )

    with served(players=NAMES) as table, viewing(browser, table, (360, 700)) as viewer:
        table.play(6)
        show_edited(viewer, draw)
        why = viewer.page.locator("#play-list .is-irregular .why")
        why.wait_for()
        boxes = [why.bounding_box(), viewer.page.locator("#play-list .is-irregular .what").bounding_box()]
        assert all(box is not None and box["width"] > 200 for box in boxes)


def test_the_button_of_a_message_is_not_broken(browser: Browser) -> None:
    with served(players=NAMES) as table, viewing(browser, table, (360, 700)) as viewer:
        table.play(6)
        wait_for_tiles(viewer, 3)
        viewer.press("undo")
        viewer.log_in()
        viewer.page.locator("#toast p bdi").evaluate(f"one => one.textContent = {json.dumps(WRONG)}")
        lines = (
            "one => { const all = document.createRange(); all.selectNodeContents(one);"
            " return all.getClientRects().length }"
        )
        assert viewer.page.locator("#toast button").evaluate(lines) == 1


@pytest.mark.parametrize(("part", "choice", "named"), [("tile", "3", "5-3"), ("played", "Ann", "Ann: 5-1")])
def test_a_correction_names_what_the_play_is_now(browser: Browser, part: str, choice: str, named: str) -> None:
    with served(players=NAMES) as table, viewing(browser, table) as viewer:
        table.play(5)
        wait_for_tiles(viewer, 2)
        viewer.page.locator("#play-list .play", has_text="5-1").click()
        was = viewer.page.locator("#sheet-title").inner_text()
        if part == "tile":
            viewer.page.locator("#sheet .numbers").nth(1).get_by_role("button", name=choice, exact=True).click()
        else:
            other = next(name for name in NAMES if not was.startswith(name))
            named = f"{other}: 5-1"
            viewer.page.locator("#sheet .part", has_text="Who played it?").get_by_role("button", name=other).click()
        viewer.log_in()
        messages = viewer.toast()
        assert messages.startswith("Corrected: ")
        assert messages.endswith(f"{named}.")


def test_free_arms_of_a_starter_have_a_badge(browser: Browser) -> None:
    with (
        served(rules=profile("super"), players=("Ann", "Ben", "Cid", "Dee")) as table,
        viewing(browser, table) as viewer,
    ):
        table.play(6)
        game = table.live.session.state.game
        assert game is not None
        starter = game.layout.nodes[0]
        free = [end for end in game.layout.ends if end.spot.host == starter.id]
        assert len(free) > 1
        viewer.page.locator("#ends text", has_text=f"{starter.inner}×{len(free)}").wait_for()


def test_a_television_shows_whole_tiles_that_are_not_accepted_yet(browser: Browser) -> None:
    def wait(snapshot: Snapshot) -> None:
        """Lay a row of waiting tiles after the rightmost tile, one of them in a hand far away."""
        tiles = snapshot["layout"]["tiles"]
        right = max(corner[0] for tile in tiles for corner in tile["corners_px"])
        x, y = right + 60, tiles[0]["corners_px"][0][1]
        shown = [
            [(x + 110 * at, y), (x + 110 * at + 82, y), (x + 110 * at + 82, y + 41), (x + 110 * at, y + 41)]
            for at in range(4)
        ]
        far = [[(px, py + 900) for px, py in shown[0]]]
        snapshot["layout"]["waiting"] = [
            {"pips": [6, at], "corners_px": corners} for at, corners in enumerate(shown + far)
        ]

    with served() as table, viewing(browser, table, (1920, 1080), path="/?display") as viewer:
        viewer.page.emulate_media(reduced_motion="reduce")
        table.play(6)
        show_edited(viewer, wait)
        viewer.page.locator("#waiting .tile").nth(3).wait_for()
        felt, *tiles = viewer.page.evaluate(
            "[document.querySelector('#layout-view'), ...document.querySelectorAll('#waiting .ivory')]"
            ".map((one) => one.getBoundingClientRect()).map((box) => [box.left, box.right, box.top, box.bottom])"
        )
        assert len(tiles) == 4
        assert all(
            felt[0] < left and right < felt[1] and felt[2] < top and bottom < felt[3]
            for left, right, top, bottom in tiles
        )


@pytest.mark.parametrize("path", ["/", "/?display"])
def test_a_note_after_the_match_does_not_replace_its_winner(browser: Browser, path: str) -> None:
    def end(snapshot: Snapshot) -> None:
        snapshot["match"].update(over=True, winner=0, phase="match_over")
        won = {"id": 98, "t_ns": 1, "text": "Ann wins the match", "kind": "played", "seat": 0, "scene": None}
        note = {**won, "id": 99, "text": "the video has ended", "kind": "note", "seat": None}
        snapshot["messages"] = [note, won, *snapshot["messages"]]

    with served() as table, viewing(browser, table, path=path) as viewer:
        table.play(6)
        show_edited(viewer, end)
        viewer.page.locator("#told", has_text="Ann wins the match").wait_for()


def test_games_have_their_proper_names(browser: Browser) -> None:
    with served(rules=profile("allfives")) as table, viewing(browser, table) as viewer:
        assert viewer.page.locator("#game").inner_text() == "All Fives to 100"
        table.play(1)
        assert viewer.complaints == []


@pytest.mark.parametrize(("locale", "shown"), [("en-US", "PM"), ("en-GB", ""), ("de-DE", "")])
def test_times_in_english_follow_the_region_of_the_viewer(browser: Browser, locale: str, shown: str) -> None:
    script = (
        "Date = class extends Date {"
        " constructor(...given) { super(...(given.length ? given : ['2026-11-28T21:05:00'])) } };"
    )
    path = "/?display&lang=en"
    with served() as table, viewing(browser, table, (1920, 1080), path=path, locale=locale, script=script) as viewer:
        clock = viewer.page.locator("#clock")
        clock.wait_for(state="attached")
        text = str(clock.text_content()).replace("\u202f", " ")
        assert text == ("9:05 PM" if shown else "21:05")
