"""Tests of the hub's page in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
pytest.importorskip("aiomqtt", reason="aiomqtt is not installed: pip install '.[mqtt]'")
if shutil.which("chromium") is None and shutil.which("chromium-browser") is None:
    pytest.skip("there is no Chromium: sudo apt install chromium", allow_module_level=True)

from tests.tallybone.hub.hubs import FakeTables, ServedHub, served_hub
from tests.tallybone.notify.brokers import MOSQUITTO, WHY_NOT, real_broker
from tests.tallybone.web.browsers import AXE, Browser, visiting
from tests.tallybone.web.test_in_browser import NARROW, PHONE, TELEVISION, violations

pytestmark = [pytest.mark.slow, pytest.mark.skipif(MOSQUITTO is None, reason=WHY_NOT)]
HOSTILE = '<img src=x onerror="document.title=1">'


@pytest.fixture(scope="module", name="club")
def run_club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServedHub, FakeTables]]:
    """Run a hub with twelve tables: one offline, one with a finished match, one with a hostile name."""
    folder = tmp_path_factory.mktemp("club")
    with real_broker(folder) as broker, served_hub(broker, folder) as hub:
        tables = FakeTables(broker)
        for index in range(1, 13):
            names = (f"Ann {index}", f"Ben {index}")
            tables.table(f"table-{index}", 5 * index, 10, names=names, name=f"Table {index}", tournament="Spring")
        tables.table("table-2", 150, 40, over=True, winner=0, name="Table 2", tournament="Spring")
        tables.table("table-3", 1, 2, names=(HOSTILE, "Ben 3"), name=HOSTILE, tournament="Autumn")
        tables.publish("table-4", "availability", b"offline")
        yield hub, tables
        tables.close()


def test_tables_are_sorted_and_scores_update_automatically(
    browser: Browser, club: tuple[ServedHub, FakeTables]
) -> None:
    hub, tables = club
    with visiting(browser, hub.url, PHONE) as viewer:
        page = viewer.page
        page.locator(".is-offline", has_text="Table 4").wait_for()
        page.locator(".is-over", has_text="Table 2").wait_for()
        names = page.locator(".table-card h3").all_text_contents()
        assert [name for name in names if name != HOSTILE][-2:] == ["Table 11", "Table 12"]
        assert page.locator("#summary").inner_text() == "12 tables · 10 playing · 1 offline"
        tables.table("table-5", 33, 10, names=("Ann 5", "Ben 5"), name="Table 5", tournament="Spring")
        page.locator(".table-card", has_text="Table 5").locator(".points-so-far", has_text="33").wait_for()
        ours = {"names": ("Ann 5", "Ben 5"), "name": "Table 5", "tournament": "Spring"}
        tables.table("table-5", 33, 10, **ours, provisional=True)
        page.locator(".table-card", has_text="Table 5").locator(".points-so-far", has_text="~33").wait_for()
        assert viewer.complaints == []


def test_a_player_can_be_found_and_is_highlighted(browser: Browser, club: tuple[ServedHub, FakeTables]) -> None:
    with visiting(browser, club[0].url, PHONE) as viewer:
        page = viewer.page
        page.locator(".table-card").nth(11).wait_for()
        page.locator("#find").fill("ÁNN 7")
        page.locator(".is-found", has_text="Ann 7").wait_for()
        assert page.locator(".table-card").count() == 1
        page.locator("#find").fill("nobody")
        page.locator("#none", has_text="No table matches.").wait_for()


def test_a_tournament_can_be_selected_and_has_standings(browser: Browser, club: tuple[ServedHub, FakeTables]) -> None:
    with visiting(browser, club[0].url, PHONE) as viewer:
        page = viewer.page
        page.locator("#tournament").select_option("Autumn")
        page.wait_for_function("() => document.querySelectorAll('.table-card').length === 1")
        assert page.locator("#standings").is_hidden()
        page.locator("#tournament").select_option("Spring")
        page.locator("#standings caption", has_text="Spring").wait_for()
        assert page.locator("#standings tbody tr").first.inner_text().split() == ["1", "Ann", "1", "1", "150"]


def test_hostile_names_are_shown_as_text(browser: Browser, club: tuple[ServedHub, FakeTables]) -> None:
    with visiting(browser, club[0].url, PHONE) as viewer:
        page = viewer.page
        page.locator("h3", has_text="onerror").wait_for()
        assert page.title() == "Tallybone"
        assert page.locator("main img").count() == 0
        assert viewer.complaints == []


def test_the_page_uses_the_language_of_its_address(browser: Browser, club: tuple[ServedHub, FakeTables]) -> None:
    with visiting(browser, f"{club[0].url}/?lang=es", PHONE) as viewer:
        viewer.page.locator("h1", has_text="Todas las mesas").wait_for()
        viewer.page.locator(".is-offline .sign", has_text="Sin conexión").wait_for()


def test_a_card_leads_to_the_page_of_its_table(browser: Browser, club: tuple[ServedHub, FakeTables]) -> None:
    hub, tables = club
    ours = {"names": ("Ann 6", "Ben 6"), "name": "Table 6", "tournament": "Spring"}
    tables.table("table-6", 30, 10, **ours, page="http://192.0.2.6:8080")
    with visiting(browser, hub.url, PHONE) as viewer:
        link = viewer.page.locator(".table-card h3 a", has_text="Table 6")
        assert link.get_attribute("href") == "http://192.0.2.6:8080"
        assert viewer.page.locator(".table-card h3 a").count() == 1


def test_names_are_whole_on_a_television(browser: Browser, club: tuple[ServedHub, FakeTables]) -> None:
    hub, tables = club
    long = ("Bartholomew Maximilian Featherstone", "Wilhelmina Alexandrina Throckmorton")
    tables.table("table-7", 35, 10, names=long, name="A table beside the fireplace at the end", tournament="Spring")
    with visiting(browser, hub.url + "/?display", TELEVISION) as viewer:
        viewer.page.locator(".who-name", has_text=long[0]).wait_for()
        cut = (
            "all => all.filter(one => one.scrollWidth > one.clientWidth"
            " || getComputedStyle(one).textOverflow === 'ellipsis').length"
        )
        assert viewer.page.locator(".who-name, .card-head h3, .standing th[scope=row]").evaluate_all(cut) == 0
    tables.table("table-7", 35, 10, names=("Ann 7", "Ben 7"), name="Table 7", tournament="Spring")


def test_the_page_fits_the_screen(browser: Browser, club: tuple[ServedHub, FakeTables]) -> None:
    for path, sizes in (("/", (NARROW, PHONE)), ("/?display", (TELEVISION,))):
        with visiting(browser, club[0].url + path, sizes[0]) as viewer:
            viewer.page.locator(".table-card").first.wait_for()
            for width, height in sizes:
                viewer.page.set_viewport_size({"width": width, "height": height})
                assert viewer.page.evaluate("document.documentElement.scrollWidth") <= width
            if path == "/?display":
                assert viewer.page.evaluate("document.documentElement.scrollHeight") <= height
                shown = viewer.page.locator(".table-card:not(.is-cut)")
                bottoms = shown.evaluate_all("cards => cards.map(card => card.getBoundingClientRect().bottom)")
                assert 2 < len(bottoms) < 12
                assert max(bottoms) <= height


def test_axe_finds_no_violations(browser: Browser, club: tuple[ServedHub, FakeTables]) -> None:
    with visiting(browser, club[0].url, PHONE) as viewer:
        viewer.page.locator(".table-card").nth(11).wait_for()
        viewer.page.evaluate(AXE.read_text())
        for scheme in ("light", "dark"):
            viewer.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            assert violations(viewer) == []
