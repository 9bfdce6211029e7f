"""Tests of matches, settings, health, pairing and parts of a served table in a real browser."""

from __future__ import annotations

import json
import shutil
from contextlib import AbstractContextManager

import pytest

pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
if shutil.which("chromium") is None and shutil.which("chromium-browser") is None:
    pytest.skip("there is no Chromium: sudo apt install chromium", allow_module_level=True)

from tallybone.texts import LANGUAGES
from tests.tallybone.serve.conftest import PASSWORD
from tests.tallybone.serve.served import Served
from tests.tallybone.web.browsers import AXE, Browser, Viewer, visiting
from tests.tallybone.web.test_in_browser import NARROW, PHONE, TABLET, TELEVISION, violations
from tests.tallybone.web.test_text_fits_in_browser import LINES, LONG_NAMES, TELEVISIONS, faults
from tests.tallybone.web.true_table import PIN
from tests.waiting import until

pytestmark = pytest.mark.slow


def at_match(browser: Browser, table: Served, size: tuple[int, int] = PHONE) -> AbstractContextManager[Viewer]:
    return visiting(browser, f"{table.url}/#match", size)


def test_a_match_is_started_ended_and_resumed(browser: Browser, table: Served) -> None:
    with visiting(browser, table.url) as viewer, visiting(browser, f"{table.url}/?display", TELEVISION) as television:
        page = viewer.page
        television.page.get_by_text("No match is being played", exact=True).wait_for()
        television.page.get_by_text(f"start the table with --at {table.url.rpartition(':')[2]}.").wait_for()
        page.get_by_role("link", name="Start or resume a match").click()
        page.locator("[data-seat='0']").fill("Zoe")
        page.get_by_role("button", name="Add a player").click()
        assert page.evaluate("document.activeElement.dataset.seat") == "2"
        page.get_by_role("button", name="Move Player 2 up").click()
        page.locator("#option-target").fill("75")
        page.locator("#begin").click()
        viewer.log_in("Zoe's phone")
        page.locator(".player").first.wait_for()
        assert page.locator(".player .name").all_inner_texts() == ["Player 2", "Zoe", "Player 3"]
        assert "to 75" in page.locator("#game").inner_text()
        television.page.locator(".player").first.wait_for()

        page.get_by_role("link", name="Match").click()
        page.locator("#end-match").click()
        page.locator("#go-on").wait_for()
        page.locator("#toast .undo").click()
        page.locator("#view-table").wait_for()
        page.locator("#waits", has_text="deal").wait_for()
        assert [text for text in viewer.complaints if "401" not in text and "404" not in text] == []


def test_a_television_shows_a_clock_and_the_ranking_between_matches(browser: Browser, table: Served) -> None:
    with table.client() as client:
        match = {"game": "bones", "players": LONG_NAMES, "options": {"target": "150"}}
        assert client.post("/match", json=match).status_code == 204
        for seat, points in enumerate((35, 155, 120, 120)):
            action = {"type": "points", "seat": seat, "points": points}
            assert client.post("/actions", json={"action": action}).status_code == 200
        assert client.post("/match/end", json={}).status_code == 204
    found: list[str] = []
    for language in LANGUAGES:
        with visiting(browser, f"{table.url}/?display&lang={language}", TELEVISION) as viewer:
            page = viewer.page
            page.locator("#clock").wait_for()
            boxes = page.locator(".player").evaluate_all("all => all.map(row => row.getBoundingClientRect().left)")
            assert sorted(range(4), key=lambda seat: boxes[seat]) == [1, 2, 3, 0]
            places = "all => all.map(name => getComputedStyle(name, '::before').content)"
            assert page.locator(".player .name").evaluate_all(places) == ['"4. "', '"★ "', '"2. "', '"2. "']
            request = {"method": "POST", "headers": {"Content-Type": "application/json"}}
            page.evaluate("said => fetch('/api/v1/login', said)", {**request, "body": json.dumps({"pin": PIN})})
            page.reload()
            page.locator("#display-code .qr").wait_for()
            for size in TELEVISIONS:
                page.set_viewport_size({"width": size[0], "height": size[1]})
                page.wait_for_timeout(150)
                found += [f"{size} {language} {fault}" for fault in (*faults(viewer), *page.evaluate(LINES))]
    assert found == []


def test_the_usual_match_starts_with_a_single_tap(browser: Browser, table: Served) -> None:
    with table.client() as client:
        match = {"game": "block", "players": ["Ann", "Ben"], "options": {"target": "50"}}
        assert client.post("/match", json=match).status_code == 204
        assert client.post("/match/end", json={}).status_code == 204
    with at_match(browser, table) as viewer:
        viewer.page.locator("#again").click()
        viewer.log_in()
        viewer.page.locator("#game", has_text="Block dominoes to 50").wait_for()


def test_errors_are_shown_at_their_field_until_corrected(browser: Browser, table: Served) -> None:
    with at_match(browser, table) as viewer:
        page = viewer.page
        page.get_by_text("Tiles and players").click()
        hand = page.locator("#option-hand")
        hand.fill("many")
        hand.press("Tab")
        page.locator("#option-hand-wrong", has_text="expected").wait_for()
        assert hand.get_attribute("aria-invalid") == "true"
        page.locator("#option-hand").fill("5")
        page.locator("#option-hand").press("Tab")
        page.locator("#option-hand-wrong").wait_for(state="detached")
        page.locator("[data-seat='1']").fill("Player 1")
        page.locator("#begin").click()
        viewer.log_in()
        page.locator("#seats-wrong", has_text="the same name").wait_for()


def test_options_without_effect_are_not_offered(browser: Browser, table: Served) -> None:
    with at_match(browser, table, TABLET) as viewer:
        page = viewer.page
        page.get_by_text("Spinners").click()
        page.locator("#option-branch_order").wait_for()
        page.locator("#option-spinner").focus()
        page.locator("#option-spinner").select_option("none")
        page.locator("#option-branch_order").wait_for(state="detached")
        assert page.evaluate("document.activeElement.id") == "option-spinner"


def test_views_are_reached_by_keyboard_and_by_address(browser: Browser, table: Served) -> None:
    with at_match(browser, table) as viewer:
        page = viewer.page
        page.locator("#begin").wait_for()
        assert page.locator("#view-table").is_hidden()
        assert page.title() == "Match – Tallybone"
        page.locator("#nav-table").focus()
        page.keyboard.press("Enter")
        page.locator("#view-table").wait_for()
        assert page.locator("#view-match").is_hidden()
        assert page.locator("#nav-table").get_attribute("aria-current") == "page"
        assert page.evaluate("document.activeElement.id") == "view-table"
        page.go_back()
        page.locator("#begin").wait_for()


def test_slow_typing_is_not_lost_when_the_page_updates(browser: Browser, table: Served) -> None:
    with at_match(browser, table) as viewer:
        page = viewer.page
        name = page.locator("[data-seat='0']")
        name.fill("")
        name.press_sequentially("Ann B", delay=20)
        page.wait_for_timeout(1500)
        page.keyboard.type("ee")
        target = page.locator("#option-target")
        target.fill("")
        target.press_sequentially("7", delay=20)
        page.wait_for_timeout(1500)
        page.keyboard.type("5")
        page.locator("#begin").click()
        viewer.log_in()
        page.locator("#game", has_text="bones to 75").wait_for()
        assert page.locator(".player .name").first.inner_text() == "Ann Bee"


def test_the_owner_changes_settings_with_the_password(browser: Browser, table: Served) -> None:
    with visiting(browser, f"{table.url}/#settings") as viewer:
        page = viewer.page
        page.locator("#keep").fill("7")
        page.locator("#language").select_option("fr")
        page.locator("#keep-settings").click()
        page.locator("#owner-password").fill("wrong one")
        page.keyboard.press("Enter")
        page.locator("#sheet .wrong", has_text="incorrect owner password").wait_for()
        page.locator("#owner-password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.locator("#toast", has_text="Saved").wait_for()
        with table.client(knows_pin=False) as client:
            assert client.get("/settings").json()["keep_gb"] == 7
        page.reload()
        page.locator("html[lang=fr]").wait_for(state="attached")


def test_a_second_phone_is_paired_with_a_code(browser: Browser, table: Served) -> None:
    with visiting(browser, f"{table.url}/#settings") as first, table.client() as client:
        first.page.locator("#pairing").click()
        first.log_in()
        first.page.locator("#sheet .qr").wait_for()
        address = client.post("/pairing", json={}).json()["address"]
        with visiting(browser, address) as second:
            second.page.locator("#toast", has_text="You can now make corrections").wait_for()
            assert "pair" not in second.page.url
            assert second.page.evaluate("fetch('/api/v1/me').then(response => response.json())")["controls"] is True
            assert second.page.locator("#view-table").is_visible()


def test_a_television_only_has_the_table_view_and_a_code_after_the_pin_was_entered(
    browser: Browser, table: Served
) -> None:
    with visiting(browser, f"{table.url}/?display#settings", TELEVISION) as viewer:
        page = viewer.page
        page.locator("#waits").wait_for()
        page.wait_for_timeout(500)
        assert page.locator(".view, .qr").count() == 0
        assert viewer.complaints == []
        request = {"method": "POST", "headers": {"Content-Type": "application/json"}, "body": json.dumps({"pin": PIN})}
        page.evaluate("said => fetch('/api/v1/login', said)", request)
        page.reload()
        page.locator("#display-code .qr").wait_for()
        assert page.evaluate("document.documentElement.scrollHeight") <= TELEVISION[1]


@pytest.mark.parametrize("view", ["settings", "health", "match", "parts"])
def test_each_view_fits_the_screen(browser: Browser, table: Served, view: str) -> None:
    with visiting(browser, f"{table.url}/#{view}", NARROW) as viewer:
        if view == "parts":
            viewer.page.locator("#see-panel").click()
            viewer.log_in()
        viewer.page.locator(
            {"match": "#begin", "parts": "#panel-knock"}.get(view, f"#view-{view} .card")
        ).first.wait_for()
        viewer.page.evaluate("document.querySelectorAll('details').forEach(element => { element.open = true; })")
        for width, height in (NARROW, PHONE, TABLET, TELEVISION):
            viewer.page.set_viewport_size({"width": width, "height": height})
            assert viewer.page.evaluate("document.documentElement.scrollWidth") <= width


def test_health_follows_the_camera(browser: Browser, table: Served) -> None:
    with visiting(browser, f"{table.url}/#health") as viewer:
        viewer.page.locator(".finding[data-grade=ok]", has_text="usb:0, 128 x 72").wait_for()
        device = table.plugs.device
        assert device is not None
        device.unplug("usb:0 gives no pictures")
        viewer.page.locator(".finding[data-grade=problem]", has_text="gives no pictures").wait_for()
        until(lambda: viewer.complaints == [])


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


def test_axe_finds_nothing_in_the_parts_view(browser: Browser, table: Served) -> None:
    with visiting(browser, f"{table.url}/#parts") as viewer:
        viewer.page.locator("#see-panel").click()
        viewer.log_in()
        viewer.page.locator("#panel-knock").wait_for()
        viewer.page.locator("#test-parts").click()
        viewer.page.locator("[data-answer=y]").wait_for()
        viewer.page.evaluate(AXE.read_text())
        assert violations(viewer) == []
        viewer.page.emulate_media(color_scheme="dark")
        assert violations(viewer) == []
