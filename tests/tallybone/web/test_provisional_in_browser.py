"""Tests of inferred plays in a real browser: provisional totals, markers and confirmation."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest

pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
if shutil.which("chromium") is None and shutil.which("chromium-browser") is None:
    pytest.skip("there is no Chromium: sudo apt install chromium", allow_module_level=True)

from tests.tallybone.web.browsers import AXE, Browser, Viewer, WebSocketRoute, served, viewing
from tests.tallybone.web.test_in_browser import NARROW, violations
from tests.tallybone.web.test_provisional_served import leave_hands_unseen, plays_of
from tests.tallybone.web.true_table import TrueTable
from tests.waiting import until

pytestmark = pytest.mark.slow
TELEVISION = (1920, 1080)


@pytest.fixture(name="table")
def a_table_with_two_inferred_plays() -> Iterator[TrueTable]:
    with served() as table:
        table.play(11)
        table.mark(*plays_of(table)[-2:])
        assert table.live.session.state.is_provisional
        yield table


def shown_totals(viewer: Viewer) -> list[str]:
    """Return the visible part of the totals beside the names."""
    return [text.split("\n")[0].split(",")[0] for text in viewer.page.locator(".total").all_inner_texts()]


def without_questions(socket: WebSocketRoute) -> None:
    """Forward all messages without the question of a snapshot."""
    server = socket.connect_to_server()

    def pass_on(message: str | bytes) -> None:
        content = json.loads(message)
        socket.send(json.dumps({**content, "question": None} if "question" in content else content))

    server.on_message(pass_on)


def test_a_page_marks_provisional_totals_until_the_last_play_is_confirmed(browser: Browser, table: TrueTable) -> None:
    with viewing(browser, table) as viewer:
        page = viewer.page
        page.route_web_socket("**/api/v1/live?*", without_questions)
        page.reload(wait_until="domcontentloaded")
        page.locator("html[data-link=live]").wait_for(state="attached")
        page.locator("#provisional").get_by_text("did not see every play").wait_for()
        assert all(text.startswith("~") for text in shown_totals(viewer))
        assert "provisional" in page.locator(".player").first.aria_snapshot()
        assert page.locator(".play.is-inferred").count() == 2
        page.locator("#play-list li").filter(has=page.get_by_text("not seen")).first.get_by_role(
            "button", name="Confirm"
        ).click()
        viewer.log_in()
        until(lambda: len(table.live.session.state.inferred) == 1)
        page.locator(".play.is-inferred").nth(1).wait_for(state="detached")
        assert page.locator("#provisional").is_visible()
        page.wait_for_timeout(500)  # a second tap too soon is ignored
        page.get_by_role("button", name="Confirm all plays").click()
        page.locator("#provisional").wait_for(state="hidden")
        assert not table.live.session.state.is_provisional
        assert page.locator(".play.is-inferred").count() == 0
        assert not any(text.startswith("~") for text in shown_totals(viewer))
        page.wait_for_timeout(500)
        page.locator("#toast button").click()
        page.locator("#provisional").wait_for()
        assert [message for message in viewer.complaints if "401" not in message] == []


def test_the_sheet_of_an_inferred_play_confirms_it(browser: Browser, table: TrueTable) -> None:
    with viewing(browser, table) as viewer:
        page = viewer.page
        page.locator(".play.is-inferred").first.click()
        page.locator("#sheet").get_by_text("Not seen: inferred").wait_for()
        page.locator("#sheet").get_by_role("button", name="Confirm").click()
        viewer.log_in()
        until(lambda: len(table.live.session.state.inferred) == 1)


def test_the_pips_of_an_unseen_hand_are_entered_on_a_card(browser: Browser) -> None:
    with served(players=("Ann", "Ben", "Cleo")) as table, viewing(browser, table) as viewer:
        seq, _ = leave_hands_unseen(table)
        cards = viewer.page.locator("#unseen-hands li")
        cards.nth(1).get_by_text("tiles were not seen. Pips left:").wait_for()
        cards.nth(1).get_by_role("spinbutton").fill("7")
        table.mark(seq)  # something else happens meanwhile
        cards.first.get_by_role("spinbutton").fill("20")
        cards.first.get_by_role("button", name="Save").click()
        viewer.log_in()
        until(lambda: len(table.live.session.state.inferred) == 1)
        cards.nth(1).wait_for(state="detached")
        assert cards.first.get_by_role("spinbutton").input_value() == "7", "what is typed stays"
        assert "20 pips left" in viewer.toast()


def test_a_television_marks_provisional_totals_and_has_no_buttons(browser: Browser, table: TrueTable) -> None:
    with viewing(browser, table, TELEVISION, path="/?display") as viewer:
        page = viewer.page
        page.locator("#provisional").get_by_text("did not see every play").wait_for()
        assert all(text.startswith("~") for text in shown_totals(viewer))
        assert page.get_by_role("button").count() == 0
        boxes = [element.bounding_box() for element in page.locator(".total, #provisional").all()]
        assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= TELEVISION[0] for box in boxes)
        assert all(box and box["y"] + box["height"] <= TELEVISION[1] for box in boxes)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_provisional_score(browser: Browser, table: TrueTable, scheme: str) -> None:
    with viewing(browser, table, NARROW, scheme=scheme) as viewer:
        viewer.page.locator("#provisional").wait_for()
        viewer.page.evaluate(AXE.read_text())
        assert violations(viewer) == []
        assert viewer.page.evaluate("document.documentElement.scrollWidth") <= NARROW[0]
