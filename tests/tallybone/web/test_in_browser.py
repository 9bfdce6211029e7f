"""Tests of the page in a real browser: viewing, corrections, keyboard use, hostile names and screen sizes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from engine import Abandon, Adjust, Amend, Insert, NewHand, NodeId, Play, Port, Seat, Spot, Undo
from tests.tallybone.web.browsers import (
    AXE,
    Browser,
    Viewer,
    WebSocketRoute,
    expect,
    playing,
    served,
    tiles_of,
    viewing,
    wait_for_tiles,
)
from tests.tallybone.web.doubts import ASKED_AFTER, doubtful
from tests.tallybone.web.hand_photos import game_of
from tests.tallybone.web.true_table import TrueTable
from tests.vision.seen import unsure_tile
from tests.waiting import until
from vision.reading import SeenTile

pytestmark = pytest.mark.slow

PHONE, TABLET, TELEVISION, NARROW, UHD = (360, 740), (1024, 768), (1920, 1080), (320, 568), (3840, 2160)
HOSTILE = ("<img src=x onerror=document.title='hacked'>", "\u202eevil\u202d", "x" * 10_000)
KILOBYTE = 1024


@pytest.fixture(scope="module", name="table")
def a_table_in_play() -> Iterator[TrueTable]:
    with served() as table:
        table.play(14)
        yield table


def test_a_game_is_followed_and_corrected_from_two_browsers_at_once(browser: Browser) -> None:
    with served() as table, viewing(browser, table) as phone, viewing(browser, table, TABLET) as tablet:
        table.play(9)
        before = game_of(table).totals
        phone.wait_for_totals(*before)
        tablet.wait_for_totals(*before)

        phone.press("knock")
        phone.log_in("Ann's phone")
        assert "Knock" in phone.toast()
        tablet.page.locator("#play-list li", has_text="knocks").first.wait_for()

        tablet.page.locator("#play-list li", has_text="knocks").first.click()
        tablet.page.locator("#sheet .danger").click()
        tablet.log_in("Ben's tablet")
        phone.page.locator("#play-list li", has_text="knocks").first.wait_for(state="detached")

        while not table.camera.is_done:
            table.play(1)
        assert sum(game_of(table).totals) > sum(before)
        for viewer in (phone, tablet):
            viewer.wait_for_totals(*game_of(table).totals)
            assert [text for text in viewer.complaints if "401" not in text] == []


def test_pips_are_corrected_with_two_taps_and_restored_with_one(browser: Browser) -> None:
    with playing(browser, 5) as (table, viewer):
        page, plays = viewer.page, viewer.page.locator("#play-list .play:has(.tile-icon)")
        reading, tile = page.locator(".reading figcaption > :last-child"), page.locator("#tiles .tile").nth(1)
        expect(page.locator("#tiles .tile")).to_have_count(tiles_of(table))
        was = str(tile.get_attribute("aria-label"))
        plays.nth(-2).click()
        before = reading.inner_text()
        assert before.startswith("Read as 5-1, confidence ")
        assert "Corrected" not in before
        page.locator("#sheet .numbers").nth(1).get_by_role("button", name="3", exact=True).click()
        viewer.log_in()
        expect(tile).not_to_have_attribute("aria-label", was)
        page.locator("#play-list .play", has_text="5-3").click()
        assert reading.inner_text() == f"{before} Corrected to 5-3."
        page.keyboard.press("Escape")
        page.locator("#toast .undo").click()
        expect(tile).to_have_attribute("aria-label", was)


def test_a_play_is_moved_to_another_end_and_back(browser: Browser) -> None:
    with playing(browser, 8) as (table, viewer):
        viewer.page.locator("#play-list .play:has(.tile-icon)").first.click()
        viewer.page.locator("#sheet .part", has_text="in the wrong place").get_by_role("button").first.click()
        viewer.log_in()
        assert "Correct" in viewer.toast()
        moved = table.live.session.state.log[-1]
        assert isinstance(moved, Amend)
        assert isinstance(moved.action, Play)
        was = table.live.session.state.log[moved.seq]
        assert isinstance(was, Play)
        assert moved.action.at != was.at
        assert moved.action.tile == was.tile
        viewer.page.locator("#toast .undo").click()
        viewer.page.locator("#toast", has_text="Undone").wait_for()
        back = table.live.session.state.log[-1]
        assert isinstance(back, Amend)
        assert back.action == was


def test_the_sides_of_a_spinner_are_distinguished_when_a_play_is_inserted_or_moved(browser: Browser) -> None:
    with served() as table, viewing(browser, table) as viewer:
        table.play(5)
        page, plays = viewer.page, viewer.page.locator("#play-list .play:has(.tile-icon)")
        wait_for_tiles(viewer, 2)
        plays.first.click()
        elsewhere = page.locator("#sheet .part", has_text="in the wrong place").get_by_role("button")
        elsewhere.first.wait_for()
        assert elsewhere.all_inner_texts() == ["left of the 5-5"]
        page.get_by_role("button", name="Add an action before this").click()
        for half, number in enumerate("52"):
            page.locator("#sheet .numbers").nth(half).get_by_role("button", name=number, exact=True).click()
        ends = page.locator("#sheet .end-key")
        page.locator("#sheet .end-key >> nth=1").wait_for()
        assert ends.all_inner_texts() == ["left of the 5-5", "right of the 5-5"]
        assert page.locator("#sheet .end-key svg .mark").count() == 2
        put_in = page.get_by_role("button", name="Add", exact=True)
        put_in.click()
        page.locator("#sheet .wrong", has_text="choose one").wait_for()
        ends.first.click()
        put_in.click()
        viewer.log_in()
        page.locator("#toast", has_text="Added").wait_for()
        put = table.live.session.state.log[-1]
        assert isinstance(put, Insert)
        assert isinstance(put.action, Play)
        assert put.action.at == Spot(NodeId(3), Port.W)


def test_an_undo_is_reverted_with_one_tap(browser: Browser) -> None:
    with served() as table, viewing(browser, table) as viewer:
        table.play(6)
        while not isinstance(table.live.session.state.log[-1], Play):
            table.play(1)
        tiles, totals = tiles_of(table), game_of(table).totals
        wait_for_tiles(viewer, tiles)
        key = viewer.page.get_by_role("button", name="Undo")
        player, tile = viewer.page.locator(".play").first.inner_text().split()[:2]
        expect(key).to_have_accessible_name(f"Undo {tile} by {player}")
        for redo in ("#toast .undo", "#buttons [data-press=redo]"):
            viewer.press("undo")
            if redo.startswith("#toast"):
                viewer.log_in()
            wait_for_tiles(viewer, tiles - 1)
            viewer.page.locator("#toast", has_text=f"Undone: {tile} by {player}.").wait_for()
            viewer.page.wait_for_timeout(500)  # a second tap too soon is ignored
            viewer.page.locator(redo).click()
            wait_for_tiles(viewer, tiles)
            viewer.wait_for_totals(*totals)
            viewer.page.wait_for_timeout(500)
        sitting = [type(event) for event in table.live.session.state.log[-4:]]
        assert sitting == [Undo, Play, Undo, Play]
        viewer.press("undo")
        viewer.page.locator("[data-press=redo]").wait_for()
        table.camera.give(Adjust(Seat(0), 5, "by hand"))
        table.play(0)
        viewer.page.locator("[data-press=undo]").wait_for()
        assert viewer.page.locator("#toast").is_hidden(), "the game goes on, and the message offers a redo too"


def test_a_correction_to_the_same_value_is_none(browser: Browser) -> None:
    with playing(browser, 9) as (table, viewer):
        viewer.press("knock")
        viewer.log_in()
        viewer.page.locator("#toast", has_text="Knock").wait_for()
        viewer.page.wait_for_timeout(500)  # a second tap too soon is ignored
        log = len(table.live.session.state.log)
        viewer.page.locator(".play:has(.tile-icon)").first.click()
        viewer.page.locator("#sheet .choice[aria-pressed=true]").last.click()
        viewer.page.locator("#sheet").wait_for(state="hidden")
        viewer.page.wait_for_timeout(500)
        assert "Knock" in viewer.toast()
        assert len(table.live.session.state.log) == log


def test_the_keys_keep_their_places_and_a_disabled_one_says_why(browser: Browser) -> None:
    boxes = "[...document.querySelectorAll('#controls .key')].map(one => JSON.stringify(one.getBoundingClientRect()))"
    with served() as table, viewing(browser, table) as viewer:
        seen = []
        while not table.camera.is_done:
            table.play(3)
            wait_for_tiles(viewer, tiles_of(table))
            seen.append(viewer.page.evaluate(boxes))
        assert len(seen[0]) == 5
        assert all(one == seen[0] for one in seen)
        viewer.page.locator("#buttons [aria-disabled]").first.click(force=True)
        assert viewer.toast() != ""


def test_recovers_from_a_wrong_deal_and_corrects_a_total(browser: Browser) -> None:
    with served() as table, viewing(browser, table, NARROW) as viewer:
        table.play(11)
        page, before = viewer.page, game_of(table)
        for wrong in (Abandon(), NewHand()):
            table.camera.give(wrong)
            table.play(0)
        page.locator("#more").click()
        page.locator("#sheet [data-press=table]").click()
        viewer.log_in()
        asked = page.locator("#question")
        asked.get_by_text("which hand is on the table").wait_for()
        page.wait_for_timeout(500)  # a second tap too soon is ignored
        assert before.hand is not None
        assert before.hand.turn is not None
        asked.get_by_role("button", name=f"hand 1 goes on: it is {before.players[before.hand.turn]}'s turn").click()
        asked.wait_for(state="hidden")
        now = game_of(table)
        assert (now.layout, now.totals, now.phase) == (before.layout, before.totals, before.phase)
        page.locator(".player .seat").first.click()
        form = page.locator("#sheet section", has=page.get_by_role("heading", name="Total", exact=True))
        form.get_by_role("spinbutton").fill("85")
        page.wait_for_timeout(500)
        form.get_by_role("button", name="Save").click()
        until(lambda: game_of(table).totals[0] == 85)
        assert [text for text in viewer.complaints if "401" not in text] == []


def test_a_wrong_answer_is_undone_with_one_tap_and_asked_again(browser: Browser) -> None:
    with served(reader=doubtful) as table, viewing(browser, table) as viewer:
        table.play(ASKED_AFTER)
        answers = viewer.page.locator("#choices button")
        answers.nth(1).wait_for()
        asked, totals = answers.all_inner_texts(), game_of(table).totals
        shown = viewer.page.locator(".total").all_inner_texts()
        answers.nth(1).click()
        viewer.log_in("Zoe")
        assert "Answered" in viewer.toast()
        until(lambda: game_of(table).totals != totals)
        viewer.wait_for_totals(*game_of(table).totals)
        viewer.page.locator("#toast .undo").click()
        viewer.page.locator("#toast", has_text="Undone").wait_for()
        until(lambda: viewer.page.locator(".total").all_inner_texts() == shown)
        assert answers.all_inner_texts() == asked
        assert viewer.page.locator("#toast .undo").count() == 0


def test_an_unreadable_tile_is_outlined_and_queried_until_it_is_gone(browser: Browser) -> None:
    unsure: list[SeenTile] = []
    with served(reader=lambda view: replace(view, unsure=tuple(unsure))) as table, viewing(browser, table) as viewer:
        table.play(4)
        wait_for_tiles(viewer, tiles_of(table))
        assert viewer.page.locator("#unsure").is_hidden()
        unsure.append(unsure_tile(x_px=900, y_px=500, side_px=30))
        table.play(2)
        viewer.page.locator("#unsure").wait_for()
        assert viewer.page.locator("#unsure-words").inner_text().startswith("Is this a tile?")
        assert viewer.page.locator("#felt .is-unsure").count() == 1
        viewer.page.locator("#camera-tab").click()
        viewer.page.locator("#seen .is-unsure").wait_for()
        assert viewer.page.locator("#seen .is-unsure text").text_content() == "?"
        viewer.page.evaluate(AXE.read_text())
        assert violations(viewer) == []
        viewer.page.evaluate("document.querySelector('#camera-tab').textContent = ''")
        assert any(violation.startswith("button-name") for violation in violations(viewer)), "axe works"
        unsure.clear()
        table.play(2)
        viewer.page.locator("#unsure").wait_for(state="hidden")
        viewer.page.locator("#seen .is-unsure").wait_for(state="detached")
        assert viewer.complaints == []


def test_everything_works_with_the_keyboard_alone(browser: Browser, table: TrueTable) -> None:
    with viewing(browser, table, TABLET) as viewer:
        page, keys = viewer.page, viewer.page.keyboard
        stops = []
        for _ in range(60):
            keys.press("Tab")
            stops.append(
                str(page.evaluate("document.activeElement.id || document.activeElement.getAttribute('class')"))
            )
            if stops[-1] == "more":
                break
        assert stops[0] == "skip"
        assert {"seat", "layout-tab", "camera-tab"} <= set(stops)
        assert sum(stop.startswith("tile") for stop in stops) == 1, "the layout is a single tab stop"
        assert stops[-1] == "more"

        page.locator("#tiles .tile[tabindex='0']").focus()
        at_first = page.evaluate("document.activeElement.getAttribute('aria-label')")
        keys.press("ArrowLeft")
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") != at_first
        keys.press("Enter")
        page.locator("#sheet[open]").wait_for()
        assert page.evaluate("document.querySelector('#sheet').contains(document.activeElement)")
        for _ in range(40):
            keys.press("Tab")
            assert page.evaluate(
                "document.activeElement === document.body || !!document.activeElement.closest('#sheet')"
            )
        keys.press("Escape")
        page.locator("#sheet").wait_for(state="hidden")
        assert page.evaluate("document.activeElement.classList.contains('tile')"), "the focus returns"


def violations(viewer: Viewer) -> list[str]:
    """Return violations of WCAG 2.2 AA or best practice, each with its first element."""
    found = viewer.page.evaluate("axe.run().then(found => found.violations)")
    return [f"{rule['id']}: {rule['nodes'][0]['html'][:120]} {rule['nodes'][0]['failureSummary']}" for rule in found]


@pytest.mark.parametrize("path", ["/", "/?display"])
def test_nothing_is_wider_than_the_screen(browser: Browser, table: TrueTable, path: str) -> None:
    with viewing(browser, table, path=path) as viewer:
        for size in (NARROW, TABLET, UHD):
            viewer.page.set_viewport_size({"width": size[0], "height": size[1]})
            assert viewer.page.evaluate("document.documentElement.scrollWidth") <= size[0]
        if path == "/?display":
            assert viewer.page.evaluate("document.documentElement.scrollHeight") <= UHD[1]


def test_text_of_twice_the_size_fits_on_a_tablet(browser: Browser, table: TrueTable) -> None:
    with viewing(browser, table, TABLET) as viewer:
        viewer.page.evaluate("document.documentElement.style.fontSize = '200%'")
        assert viewer.page.evaluate("document.documentElement.scrollWidth") <= TABLET[0]
        viewer.page.locator("#play-list .play").first.click()
        assert viewer.page.evaluate("document.querySelector('#sheet').scrollWidth") <= TABLET[0]
        cut = "(element) => element.scrollWidth > element.clientWidth + 1"
        keys = "[...document.querySelectorAll('#controls button')]"
        assert viewer.page.evaluate(f"{keys}.filter({cut}).map((element) => element.innerText)") == []


def test_text_of_twice_the_size_is_stacked_on_a_small_phone(browser: Browser, table: TrueTable) -> None:
    with viewing(browser, table, NARROW) as viewer:
        page = viewer.page
        assert page.locator("html[data-large]").count() == 0
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        page.locator("html[data-large]").wait_for(state="attached")
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW[0]
        names = page.locator(".player .name").evaluate_all("all => all.map(element => element.offsetWidth)")
        assert min(names) > 40, "each name is visible"
        for opener in ("#play-list .play", ".player .seat", "#more", "#still-out", "#buttons [data-press=undo]"):
            page.locator(opener).first.click()
            sheet = page.locator("dialog[open]")
            sheet.wait_for()
            assert sheet.evaluate("element => element.scrollWidth <= element.clientWidth"), opener
            sheet.locator(".cross").click()
        page.evaluate("document.documentElement.style.fontSize = ''")
        page.locator("html:not([data-large])").wait_for(state="attached")


def test_nothing_moves_with_reduced_motion(browser: Browser) -> None:
    with served() as table, viewing(browser, table) as viewer:
        viewer.page.emulate_media(reduced_motion="reduce")
        table.play(5)
        wait_for_tiles(viewer, tiles_of(table))
        viewer.press("undo")
        viewer.log_in()
        viewer.toast()
        assert viewer.page.evaluate("document.getAnimations().length") == 0
        styles = "[...document.querySelectorAll('*')].map((element) => getComputedStyle(element))"
        moving = (
            f"{styles}.filter((style) => style.animationName !== 'none' || style.transitionDuration !== '0s').length"
        )
        assert viewer.page.evaluate(moving) == 0


def test_targets_are_large_enough_and_pips_within_the_face_of_their_tile(browser: Browser, table: TrueTable) -> None:
    with viewing(browser, table, NARROW) as viewer:
        for element in viewer.page.locator("button:visible, input:visible, label:visible").all():
            box = element.bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= 24, element.inner_text()
        for element in viewer.page.locator("#controls button:visible").all():
            box = element.bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= 44, element.inner_text()
        outside, pips = viewer.page.evaluate(
            """() => {
              const reach = ({ cx, cy, r }) => [cx, cy].map((at) => Math.abs(at.baseVal.value) + r.baseVal.value);
              const all = [...document.querySelectorAll("#tiles .pips circle")];
              const isOutside = (pip) => {
                const { width, height } = pip.closest(".face").querySelector(".top").getBBox();
                const [x, y] = reach(pip);
                return x > width / 2 || y > height / 2;
              };
              return [all.filter(isOutside).length, all.length];
            }"""
        )
        assert (outside, pips > 20) == (0, True)


def test_a_television_has_no_controls_and_is_readable_from_four_metres(browser: Browser, table: TrueTable) -> None:
    with viewing(browser, table, TELEVISION, path="/?display") as viewer:
        assert viewer.page.locator("button:visible, input:visible, [tabindex='0']:visible").count() == 0
        # 20 mm are readable from four metres. A 43-inch screen is 535 mm high, so that is 1/27 of it: 40 pixels.
        assert font_px(viewer, ".total") >= 140
        assert min(font_px(viewer, selector) for selector in (".name", ".waits", ".what, .sum")) >= 40


def font_px(viewer: Viewer, selector: str) -> float:
    size = viewer.page.evaluate(
        "selector => parseFloat(getComputedStyle(document.querySelector(selector)).fontSize)", selector
    )
    return float(size)


def test_hostile_names_are_shown_as_text(browser: Browser) -> None:
    with served(players=HOSTILE[:2]) as table, viewing(browser, table) as viewer:
        table.play(6)
        viewer.page.locator("#play-list .play").first.wait_for()
        assert viewer.page.locator(".player img").count() == 0
        assert viewer.page.title() == "Tallybone"
        assert "<img src=x" in viewer.page.locator(".player .name").first.inner_text()
        assert viewer.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        assert viewer.complaints == []
    with served(players=("Ann", HOSTILE[2])) as table:
        for size, path in ((PHONE, "/"), (TELEVISION, "/?display")):
            with viewing(browser, table, size, path=path) as viewer:
                table.play(2)
                assert viewer.page.evaluate("document.documentElement.scrollWidth") <= size[0]
                assert viewer.page.evaluate("document.querySelector('.player:last-child').offsetHeight") <= size[1] / 2


def test_the_page_is_at_most_200_kilobytes_and_loads_nothing_external(browser: Browser, table: TrueTable) -> None:
    with viewing(browser, table) as viewer:
        assert all(path.startswith(table.page.url.rstrip("/")) for path in viewer.fetched)
        weight = viewer.page.evaluate(
            "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
            ".reduce((sum, entry) => sum + entry.transferSize, 0)"
        )
        assert 20 * KILOBYTE < weight <= 200 * KILOBYTE
        assert viewer.complaints == []


def test_a_lost_or_silent_connection_is_shown_and_restored_and_a_quiet_one_stays(
    browser: Browser, table: TrueTable
) -> None:
    with viewing(browser, table) as viewer:
        page, sockets = viewer.page, []
        is_cut = {"cut": False}

        def through(socket: WebSocketRoute) -> None:
            if is_cut["cut"]:
                socket.close()
                return
            sockets.append(socket)
            socket.connect_to_server()

        page.route_web_socket("**/api/v1/live?*", through)
        page.reload(wait_until="domcontentloaded")
        page.locator("html[data-link=live]").wait_for(state="attached")
        is_cut["cut"] = True
        sockets[-1].close()
        page.locator("#lost").wait_for()
        assert "may be out of date" in page.locator("#lost").inner_text()
        assert page.locator("#link").inner_text() == "Not connected"
        assert page.evaluate("document.querySelector('#controls').inert")
        is_cut["cut"] = False
        page.locator("html[data-link=live]").wait_for(state="attached")
        page.locator("#lost").wait_for(state="hidden")
    pings: list[str] = []

    def listened(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def pass_on(message: str | bytes, to: WebSocketRoute) -> None:
            pings.append(str(message))
            to.send(message)

        socket.on_message(lambda message: pass_on(message, server))
        server.on_message(lambda message: pass_on(message, socket))

    with viewing(browser, table) as viewer, viewing(browser, table) as quiet:
        page = viewer.page
        page.route_web_socket("**/api/v1/live?*", lambda socket: None)  # it opens and stays silent
        quiet.page.route_web_socket("**/api/v1/live?*", listened)
        for each in (page, quiet.page):
            each.reload(wait_until="domcontentloaded")
        page.locator("html[data-link=lost]").wait_for(state="attached")
        assert "may be out of date" in page.locator("#lost").inner_text()
        assert not [url for url in viewer.fetched if "/api/v1/state" in url]
        until_s = time.monotonic() + 30
        while '{"type":"pong"}' not in pings and time.monotonic() < until_s:
            page.wait_for_timeout(100)
        assert "ping" in pings
        assert pings[-1] == '{"type":"pong"}'
        assert quiet.page.evaluate("document.documentElement.dataset.link") == "live"


def test_pictures_are_fetched_only_while_shown(browser: Browser, table: TrueTable) -> None:
    with viewing(browser, table) as viewer:
        page = viewer.page
        fetched: list[str] = []
        page.on("request", lambda request: fetched.append(request.url) if "picture.jpg" in request.url else None)
        page.wait_for_timeout(700)
        assert fetched == []
        page.locator("#camera-tab").click()
        page.wait_for_function("() => document.querySelector('#picture').naturalWidth > 0")
        assert page.locator("#seen .seen").count() == page.locator("#tiles .tile").count() > 0
        page.locator("#layout-tab").click()
        page.wait_for_timeout(1000)
        count = len(fetched)
        assert count > 0
        page.wait_for_timeout(1000)
        assert len(fetched) == count


def test_a_wrong_pin_shows_an_error_and_does_nothing(browser: Browser) -> None:
    with served() as table, viewing(browser, table) as viewer:
        table.play(4)
        events = len(table.live.session.state.log)
        viewer.page.locator("#play-list .play").first.wait_for()
        viewer.press("undo")
        viewer.page.locator("#pin").fill("000000")
        viewer.page.locator("#login-wrong", has_text="Wrong PIN").wait_for()
        viewer.page.keyboard.press("Escape")
        viewer.page.locator("#login").wait_for(state="hidden")
        assert len(table.live.session.state.log) == events
