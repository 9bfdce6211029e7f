"""Tests of renaming players and changing places in a real browser."""

from __future__ import annotations

import shutil

import pytest

pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
if shutil.which("chromium") is None and shutil.which("chromium-browser") is None:
    pytest.skip("there is no Chromium: sudo apt install chromium", allow_module_level=True)

from tests.tallybone.web.browsers import Browser, Viewer, served, viewing

pytestmark = pytest.mark.slow

PHONE = (360, 740)
PAUSE_MS = 500  # a second tap too soon is ignored


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
