"""Tests of corrections in a real browser: earlier hands, inferred plays, names and places, and evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallybone.play.recorder import RecordingQuota
from tests.tallybone.web.browsers import Browser, Viewer, WebSocketRoute, served, viewing
from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.doubts import ASKED_AFTER, doubtful
from tests.tallybone.web.hand_photos import game_of
from tests.tallybone.web.test_corrections_served import leave_hands_unseen, plays_of
from tests.tallybone.web.true_table import TrueTable, file_recorder
from tests.waiting import until

pytestmark = pytest.mark.slow

PHONE, TELEVISION = (360, 740), (1920, 1080)
PAUSE_MS = 500  # a second tap too soon is ignored
RULE = "Rule: a play scores if its count is a multiple of this number: 5"


def test_a_play_of_an_earlier_hand_can_be_corrected(browser: Browser) -> None:
    with served(hands=2) as table, viewing(browser, table) as viewer:
        table.play(1)
        while (hand := game_of(table).hand) is None or hand.number < 2:
            table.play(1)
        table.play(3)
        page, before = viewer.page, game_of(table).totals
        viewer.wait_for_totals(*before)
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
        assert sum(game_of(table).totals) == sum(before) + 5
        page.locator(f"#play-list .points:text-is('+{points + 5}')").first.wait_for()
        assert page.locator("#plays-title").inner_text() == "Plays of hand 1", "the list stays with that hand"
        page.locator("#toast button").click()
        viewer.wait_for_totals(*before)
        page.locator("#hand-chosen").select_option("")
        page.locator("#plays-title", has_text="Plays of this hand").wait_for()
        assert [text for text in viewer.complaints if "401" not in text] == []


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
        page.wait_for_timeout(PAUSE_MS)
        page.locator("#toast button").click()
        until(lambda: len(table.live.session.state.inferred) == 2)
        page.wait_for_timeout(PAUSE_MS)
        page.locator(".play.is-inferred").first.click()
        page.locator("#sheet").get_by_text("Not seen: inferred").wait_for()
        page.locator("#sheet").get_by_role("button", name="Confirm").click()
        until(lambda: len(table.live.session.state.inferred) == 1)
        page.locator(".play.is-inferred").nth(1).wait_for(state="detached")
        assert page.locator("#provisional").is_visible()
        page.wait_for_timeout(PAUSE_MS)
        page.get_by_role("button", name="Confirm all plays").click()
        page.locator("#provisional").wait_for(state="hidden")
        assert not table.live.session.state.is_provisional
        assert page.locator(".play.is-inferred").count() == 0
        assert not any(text.startswith("~") for text in shown_totals(viewer))
        page.wait_for_timeout(PAUSE_MS)
        page.locator("#toast button").click()
        page.locator("#provisional").wait_for()
        assert [message for message in viewer.complaints if "401" not in message] == []


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


def open_seat(viewer: Viewer, seat: int) -> None:
    viewer.page.wait_for_timeout(PAUSE_MS)
    viewer.page.locator(".player .seat").nth(seat).click()
    viewer.page.locator("#sheet .part").first.wait_for()


def rename(viewer: Viewer, seat: int, name: str) -> None:
    open_seat(viewer, seat)
    viewer.page.get_by_role("textbox", name="Name").fill(name)
    viewer.page.get_by_role("button", name="Rename").click()


def wait_for_names(viewer: Viewer, *names: str) -> None:
    wanted = "names => [...document.querySelectorAll('.player .name')].map((one) => one.textContent).join() === names"
    viewer.page.wait_for_function(wanted, arg=",".join(names))


def test_a_player_is_renamed_during_a_hand_and_the_rename_is_undone(browser: Browser) -> None:
    with served() as table, viewing(browser, table, PHONE) as viewer:
        table.play(9)
        rename(viewer, 0, "Annabel")
        viewer.log_in()
        wait_for_names(viewer, "Annabel", "Ben")
        assert "Ann is now Annabel" in viewer.toast()
        rename(viewer, 1, "annabel ")
        viewer.page.locator("#toast", has_text="two players have the same name").wait_for()
        open_seat(viewer, 0)
        assert viewer.page.get_by_text("Players can change places between hands.").is_visible()
        viewer.page.keyboard.press("Escape")
        viewer.page.wait_for_timeout(PAUSE_MS)
        viewer.page.locator("#buttons [data-press=undo]").click()
        wait_for_names(viewer, "Ann", "Ben")


def test_two_players_change_places_before_the_lead_and_back(browser: Browser) -> None:
    with served(players=("Ann", "Ben", "Cleo")) as table, viewing(browser, table, PHONE) as viewer:
        open_seat(viewer, 0)
        viewer.page.get_by_role("button", name="Change places with Cleo").click()
        viewer.log_in()
        wait_for_names(viewer, "Cleo", "Ben", "Ann")
        assert "Ann and Cleo change places." in viewer.toast()
        viewer.page.wait_for_timeout(PAUSE_MS)
        viewer.page.locator("#toast .undo").click()
        wait_for_names(viewer, "Ann", "Ben", "Cleo")


def wait_for_crop(viewer: Viewer, where: str) -> str:
    """Wait until a crop is drawn and return its URL path."""
    crop = viewer.page.locator(f"{where} .crop")
    crop.wait_for()
    viewer.page.wait_for_function(
        "element => element.complete && element.naturalWidth > 100", arg=crop.element_handle()
    )
    return str(crop.evaluate("element => element.src")).partition("/api/v1/")[2]


def test_plays_of_a_finished_hand_and_its_recording_show_evidence(browser: Browser, tmp_path: Path) -> None:
    recorder = file_recorder(RecordingQuota(tmp_path, 10**9), tmp_path / "a.mcap")
    with at_table(recorder=recorder, hands=2, recordings=tmp_path) as table, viewing(browser, table, PHONE) as viewer:
        while not table.camera.is_done:
            table.play(1)
        viewer.page.locator("#hand-chosen").select_option("1")
        viewer.page.locator("#plays-title", has_text="hand 1").wait_for()
        viewer.page.locator("#play-list .play:has(.tile-icon)", has_text="+5").first.click()
        assert wait_for_crop(viewer, "#sheet").startswith("evidence/")
        count, rule = viewer.page.locator("#sheet figcaption > *").all_inner_texts()
        assert count.endswith("= 5 · +5")
        assert rule == RULE

        recorder.close()
        viewer.page.goto(f"{table.page.url}/#recordings/a.mcap")
        viewer.page.reload()
        viewer.page.locator(".replay-steps .play", has_text="+5").first.click()
        assert wait_for_crop(viewer, ".replay").startswith("recordings/a.mcap/steps/")
        count, rule = viewer.page.locator(".replay figcaption > *").all_inner_texts()
        assert (count[-8:], rule) == ("= 5 · +5", RULE)
        viewer.page.locator(".replay-steps .play").first.click()
        viewer.page.locator(".replay .crop").wait_for(state="detached")
        assert viewer.complaints == []


def test_an_open_question_shows_its_evidence(browser: Browser) -> None:
    with (
        at_table(reader=doubtful) as table,
        viewing(browser, table, PHONE) as phone,
        viewing(browser, table, TELEVISION, path="/?display") as television,
    ):
        table.play(ASKED_AFTER)
        for viewer, size, caption in ((phone, PHONE, 1), (television, TELEVISION, 0)):
            assert wait_for_crop(viewer, "#question").startswith("evidence/question.jpg?topic=")
            assert viewer.page.locator("#question-tiles figcaption", has_text="Open ends: ").count() == caption
            box, answers = viewer.page.locator("#question .crop").bounding_box(), viewer.page.locator("#choices > *")
            last = answers.last.bounding_box()
            assert box is not None
            assert last is not None
            assert box["height"] <= 0.2 * size[1] + 1
            assert last["y"] + last["height"] <= size[1] or size == PHONE
            assert viewer.complaints == []
