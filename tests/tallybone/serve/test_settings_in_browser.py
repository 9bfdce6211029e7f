"""Tests of settings, health and pairing in a real browser."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
if shutil.which("chromium") is None and shutil.which("chromium-browser") is None:
    pytest.skip("there is no Chromium: sudo apt install chromium", allow_module_level=True)

from tallybone.store.house import set_password
from tests.tallybone.serve.served import Served, at_served_table
from tests.tallybone.web.browsers import Browser, visiting
from tests.tallybone.web.test_in_browser import NARROW, PHONE, TABLET, TELEVISION
from tests.tallybone.web.true_table import PIN
from tests.waiting import until

pytestmark = pytest.mark.slow
PASSWORD = "correct horse"


@pytest.fixture(name="table")
def a_table_with_an_owner(tmp_path: Path) -> Iterator[Served]:
    set_password(PASSWORD, tmp_path / "tallybone" / "owner.json")
    with at_served_table(tmp_path) as table:
        yield table


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


def test_a_television_only_has_the_table_view(browser: Browser, table: Served) -> None:
    with visiting(browser, f"{table.url}/?display#settings", TELEVISION) as viewer:
        viewer.page.locator("#waits").wait_for()
        assert viewer.page.locator(".view").count() == 0
        assert viewer.complaints == []


def test_a_television_shows_a_code_only_after_the_pin_was_entered(browser: Browser, table: Served) -> None:
    with visiting(browser, f"{table.url}/?display", TELEVISION) as viewer:
        page = viewer.page
        page.locator("#waits").wait_for()
        page.wait_for_timeout(500)
        assert page.locator(".qr").count() == 0
        request = {"method": "POST", "headers": {"Content-Type": "application/json"}, "body": json.dumps({"pin": PIN})}
        page.evaluate("said => fetch('/api/v1/login', said)", request)
        page.reload()
        page.locator("#display-code .qr").wait_for()
        assert page.evaluate("document.documentElement.scrollHeight") <= TELEVISION[1]


@pytest.mark.parametrize("size", [NARROW, PHONE, TABLET, TELEVISION], ids=lambda size: str(size[0]))
@pytest.mark.parametrize("view", ["settings", "health"])
def test_settings_and_health_fit_the_screen(browser: Browser, table: Served, view: str, size: tuple[int, int]) -> None:
    with visiting(browser, f"{table.url}/#{view}", size) as viewer:
        viewer.page.locator(f"#view-{view} .card").first.wait_for()
        assert viewer.page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_health_follows_the_camera(browser: Browser, table: Served) -> None:
    with visiting(browser, f"{table.url}/#health") as viewer:
        viewer.page.locator(".finding[data-grade=ok]", has_text="usb:0, 128 x 72").wait_for()
        device = table.plugs.device
        assert device is not None
        device.unplug("usb:0 gives no pictures")
        viewer.page.locator(".finding[data-grade=problem]", has_text="gives no pictures").wait_for()
        until(lambda: viewer.complaints == [])
