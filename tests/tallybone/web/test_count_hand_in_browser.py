"""Tests of counting hands with photos in a real browser, with the real reader."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import cv2
import numpy as np
import pytest

from engine import BLOCK, Phase, Reveal, Seat, Tile
from tests.tallybone.web.browsers import Browser, Page, Viewer, choose_photo, expect, served, viewing
from tests.tallybone.web.hand_photos import end_hand, game_of, hand_photo, jpeg_of_hand
from tests.tallybone.web.true_table import TrueTable
from tests.vision.picture_files import heic, huge_png, orientation, with_exif
from tests.waiting import until

pytestmark = pytest.mark.slow

# Tiles that Ben can have, going by the plays.
HAND = [(3, 2), (6, 3)]
_NOTE_SIZES = """() => {
  const fetchIt = window.fetch;
  window.sent = [];
  window.fetch = (path, how) => {
    if (how?.body instanceof Blob) window.sent.push(how.body.size);
    return fetchIt(path, how);
  };
}"""


@contextmanager
def counting(browser: Browser) -> Iterator[tuple[TrueTable, Viewer]]:
    """Yield a table and a viewer with the sheet that counts Ben's two tiles."""
    with served() as table, viewing(browser, table) as viewer:
        end_hand(table)
        viewer.press("count")
        viewer.log_in()
        viewer.page.locator("#sheet input[type=file]").wait_for(state="attached")
        yield table, viewer


def tiles_shown(page: Page, count: int) -> list[str]:
    """Return the numbers of the tiles in the sheet, once there are *count*."""
    expect(page.locator("#sheet .hand-tile")).to_have_count(count)
    return sorted(page.locator("#sheet .hand-tile strong").all_inner_texts())


def wait_for_another_tap(page: Page) -> None:
    """Wait until the page no longer takes a tap for the second one of a double tap."""
    page.wait_for_function("since => performance.now() > since + 500", arg=page.evaluate("performance.now()"))


def press_in_sheet(page: Page, name: str) -> None:
    page.locator("#sheet").get_by_role("button", name=name, exact=True).click()


def test_a_hand_is_counted_from_a_photo_and_taken_back(browser: Browser) -> None:
    with counting(browser) as (table, viewer):
        before = game_of(table).totals
        choose_photo(viewer.page, jpeg_of_hand(HAND))
        assert [sorted(text) for text in tiles_shown(viewer.page, 2)] == [sorted("2-3"), sorted("3-6")]
        expect(viewer.page.locator("#sheet .doubts li")).to_have_count(0)
        press_in_sheet(viewer.page, "Enter 14 pips for Ben")
        until(lambda: game_of(table).phase is Phase.DEAL)
        assert game_of(table).totals != before
        assert viewer.toast() == "Ben: 14 pips left."
        viewer.page.locator("#toast .undo").click()
        until(lambda: game_of(table).phase is Phase.REVEAL)
        viewer.wait_for_totals(*before)
        assert [texts for texts in viewer.complaints if "401" not in texts] == []


def test_tiles_are_corrected_removed_and_added(browser: Browser) -> None:
    with counting(browser) as (table, viewer):
        page = viewer.page
        choose_photo(page, jpeg_of_hand([(6, 5), (4, 4), (2, 1)]))
        tiles_shown(page, 3)
        expect(page.locator("#sheet .doubts")).to_contain_text("Ben shows 3 tiles, but should hold 2")
        page.locator("#sheet .hand-tile", has_text="4-4").click()
        press_in_sheet(page, "Not a tile of this hand")
        tiles_shown(page, 2)
        expect(page.locator("#sheet .doubts")).not_to_contain_text("should hold")
        page.locator("#sheet .hand-tile strong", has_text="6").click()
        page.locator("#sheet .numbers").first.get_by_role("button", name="0", exact=True).click()
        corrected = tiles_shown(page, 2)
        assert any("0" in text for text in corrected)
        press_in_sheet(page, "Add a tile")
        page.locator("#sheet .numbers").nth(0).get_by_role("button", name="3", exact=True).click()
        page.locator("#sheet .numbers").nth(1).get_by_role("button", name="3", exact=True).click()
        press_in_sheet(page, "Add")
        assert "3-3" in tiles_shown(page, 3)
        page.locator("#sheet button.primary").click()
        until(lambda: game_of(table).phase is Phase.DEAL)
        entered = table.live.session.state.log[-1]
        assert isinstance(entered, Reveal)
        assert len(entered.tiles) == 3
        assert {Tile(1, 2), Tile(3, 3)} < set(entered.tiles)


def test_an_unfinished_count_is_kept_when_the_sheet_is_closed(browser: Browser) -> None:
    with counting(browser) as (_, viewer):
        page = viewer.page
        choose_photo(page, jpeg_of_hand(HAND))
        page.locator("#sheet .hand-tile").first.click()
        press_in_sheet(page, "Not a tile of this hand")
        kept = tiles_shown(page, 1)
        page.keyboard.press("Escape")
        page.locator("#sheet").wait_for(state="hidden")
        viewer.press("count")
        page.locator("#sheet[open]").wait_for()
        assert tiles_shown(page, 1) == kept
        press_in_sheet(page, "Another photo")
        expect(page.locator("#sheet .hand-tile")).to_have_count(0)


def test_two_players_are_counted_one_after_the_other(browser: Browser) -> None:
    names = ("Ann", "Ben", "Cleo")
    with served(rules=BLOCK, players=names) as table, viewing(browser, table) as viewer:
        page, game = viewer.page, end_hand(table)
        assert game.hand is not None
        left = [seat for seat, holding in enumerate(game.hand.holdings) if holding is None]
        assert len(left) >= 2
        viewer.press("count")
        viewer.log_in()
        for at, seat in enumerate(left):
            expect(page.locator("#sheet-title")).to_have_text(f"Count a hand: {names[seat]}")
            choose_photo(page, jpeg_of_hand([(0, at), (1, at + 1)]))
            tiles_shown(page, 2)
            wait_for_another_tap(page)
            page.locator("#sheet button.primary").click()
            if seat != left[-1]:
                expect(page.locator("#sheet [role=status]")).to_have_text(f"{names[seat]}: {2 + 2 * at} pips left.")
        until(lambda: game_of(table).phase is not Phase.REVEAL)
        reveals = [event for event in table.live.session.state.log if isinstance(event, Reveal)]
        assert [event.seat for event in reveals] == [Seat(seat) for seat in left]
        page.locator("#sheet").wait_for(state="hidden")


def test_unusable_files_are_explained_and_another_can_be_chosen(browser: Browser) -> None:
    with counting(browser) as (_, viewer):
        page = viewer.page
        wrong = page.locator("#sheet [role=alert]")
        choose_photo(page, b"hello table", "notes.txt", "text/plain")
        expect(wrong).to_contain_text("This file is not a picture, or it is damaged: take another photo")
        choose_photo(page, huge_png(), "huge.png", "image/png")
        expect(wrong).to_contain_text("This photo is too large: take one with at most 80 megapixels")
        choose_photo(page, bytes(17 << 20), "long.jpg")
        expect(wrong).to_contain_text("at most 16 MB")
        choose_photo(page, jpeg_of_hand([]))
        expect(wrong).to_contain_text("No tiles found.")
        press_in_sheet(page, "Another photo")
        choose_photo(page, with_exif(jpeg_of_hand(HAND), orientation(8)))
        tiles_shown(page, 2)


def test_heic_is_read_by_the_table_and_a_large_photo_is_reduced_before_it_is_sent(browser: Browser) -> None:
    with counting(browser) as (_, viewer):
        choose_photo(viewer.page, heic(hand_photo(*HAND), quality=90), "IMG_1.HEIC", "image/heic")
        tiles_shown(viewer.page, 2)
        press_in_sheet(viewer.page, "Another photo")
        expect(viewer.page.locator("#sheet .hand-tile")).to_have_count(0)
        large = np.repeat(np.repeat(hand_photo(*HAND), 6, axis=0), 6, axis=1)
        photo = cv2.imencode(".jpg", large, [cv2.IMWRITE_JPEG_QUALITY, 99])[1].tobytes()
        viewer.page.evaluate(_NOTE_SIZES)
        choose_photo(viewer.page, photo)
        tiles_shown(viewer.page, 2)
        (sent,) = viewer.page.evaluate("sent")
        assert 10_000 < sent < len(photo) / 2


def test_a_photo_is_kept_while_the_table_cannot_be_reached(browser: Browser) -> None:
    with counting(browser) as (table, viewer):
        page = viewer.page
        page.route("**/hands/1/photo?*", lambda route: route.abort())
        choose_photo(page, jpeg_of_hand(HAND))
        expect(page.locator("#sheet [role=alert]")).to_contain_text("The table cannot be reached.")
        page.unroute("**/hands/1/photo?*")
        press_in_sheet(page, "Try again")
        tiles_shown(page, 2)
        page.route("**/actions?*", lambda route: route.abort())
        press_in_sheet(page, "Enter 14 pips for Ben")
        expect(page.locator("#sheet [role=alert]")).to_contain_text("The table cannot be reached.")
        page.unroute("**/actions?*")
        wait_for_another_tap(page)
        press_in_sheet(page, "Enter 14 pips for Ben")
        until(lambda: game_of(table).phase is Phase.DEAL)


def test_an_unsure_half_is_marked_and_the_camera_of_the_table_can_be_used(browser: Browser) -> None:
    with counting(browser) as (_, viewer):
        press_in_sheet(viewer.page, "Use the table's camera")
        expect(viewer.page.locator("#sheet [role=alert]")).to_contain_text("No tiles found.")
        press_in_sheet(viewer.page, "Another photo")
        unread = {"pips": None, "sure": [False, False], "picture": ""}
        answer = [unread, {"pips": [6, 1], "sure": [True, False], "picture": ""}]
        viewer.page.route("**/photo?*", lambda route: route.fulfill(json=answer))
        choose_photo(viewer.page, jpeg_of_hand(HAND))
        assert tiles_shown(viewer.page, 2) == ["6-1?", "?"]
        expect(viewer.page.locator("#sheet")).to_contain_text("Is this a tile? It does not count yet.")
        expect(viewer.page.locator("#sheet button.primary")).to_have_text("Enter 7 pips for Ben")
