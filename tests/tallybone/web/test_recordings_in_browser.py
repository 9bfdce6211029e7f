"""Tests of recordings in a real browser: stepping, rescoring, deletion, statistics and shared hands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from engine import BONES, with_options
from tests.tallybone.recorded_games import BEGAN, record_game
from tests.tallybone.web.browsers import AXE, Browser, Viewer, served, visiting
from tests.tallybone.web.test_in_browser import violations
from tests.tallybone.web.true_table import TrueTable

pytestmark = pytest.mark.slow

TABLET = (820, 1180)
SHORT = with_options(BONES, {"target": "10"})
HOSTILE = ("<img src=x onerror=document.title='hacked'>", "\u202eevil" + "x" * 5000)
RECORDING = "/#recordings/bones.mcap"


@pytest.fixture(name="table", scope="module")
def a_table_with_recordings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrueTable]:
    folder = tmp_path_factory.mktemp("recordings")
    record_game(folder / "bones.mcap", hands=2)
    record_game(folder / "hostile.mcap", players=HOSTILE)
    with served(recordings=folder) as table:
        table.play(9)
        yield table


def wait_for_words(viewer: Viewer, text: str) -> None:
    viewer.page.locator(".replay-says", has_text=text).wait_for()


def wait_for_tile_count(viewer: Viewer, count: int) -> None:
    viewer.page.wait_for_function("wanted => document.querySelectorAll('.replay .tile').length === wanted", arg=count)


def test_picture_layout_scores_and_events_go_step_by_step(browser: Browser, table: TrueTable) -> None:
    with visiting(browser, table.page.url + "/#recordings") as viewer:
        page = viewer.page
        page.locator(".recording", has_text="Ann").first.click()
        wait_for_words(viewer, "hand 1")
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        wait_for_words(viewer, "Ben plays 5-1: 5 + 5 + 1 = 11")
        wait_for_tile_count(viewer, 2)
        assert page.locator(".replay-players .total").all_inner_texts() == ["10", "0"]
        assert page.locator(".replay-steps [aria-current]").inner_text().startswith("0:05")
        page.wait_for_function("() => document.querySelector('.recorded').src.endsWith('/frames/2.jpg')")
        own = "(one) => getComputedStyle(one).borderLeftColor"
        for seat, name in enumerate(("Ann", "Ben")):
            colour = page.locator(".replay-players li").nth(seat).evaluate(own)
            assert page.locator(".replay-steps button", has_text=f"{name} plays").first.evaluate(own) == colour
        page.get_by_role("button", name="Step back").click()
        wait_for_tile_count(viewer, 1)
        page.locator(".replay-steps button", has_text="5-2").click()
        wait_for_words(viewer, "Ben plays 5-2")
        page.locator("input[type=range]").fill("20000")
        page.wait_for_function("() => document.querySelector('.time').innerText.startsWith('0:20')")
        page.get_by_role("button", name="4× speed").click()
        page.get_by_role("button", name="Play", exact=True).click()
        page.wait_for_function("() => document.querySelector('.time').innerText.startsWith('0:24')")
        page.get_by_role("button", name="Pause").click()
        assert viewer.complaints == []


def test_rescoring_lists_the_differences(browser: Browser, table: TrueTable) -> None:
    with visiting(browser, table.page.url + RECORDING, TABLET) as viewer:
        page = viewer.page
        page.locator("select[name=rules]").select_option("draw")
        page.get_by_role("button", name="Score again").click()
        page.locator(
            ".differences li", has_text="recorded: Ann plays 5-5, 10 points; now: Ann plays 5-5, 0 points"
        ).first.wait_for()
        page.locator("input[name=options]").fill("nonsense=1")
        page.get_by_role("button", name="Score again").click()
        page.locator(".replay-desk .wrong").wait_for()


def test_deleting_asks_for_confirmation_and_can_be_undone(browser: Browser, table: TrueTable) -> None:
    with visiting(browser, table.page.url + RECORDING) as viewer:
        page = viewer.page
        page.get_by_role("button", name="Delete this recording").click()
        page.locator("#sheet").get_by_role("button", name="Keep").click()
        page.get_by_role("button", name="Delete this recording").click()
        page.locator("#sheet").get_by_role("button", name="Delete", exact=True).click()
        viewer.log_in("Zoe")
        page.locator("#toast .is-done").wait_for()
        page.wait_for_function("() => document.querySelectorAll('.recording').length === 1")
        page.locator("#toast .undo").click()
        wait_for_words(viewer, "hand 1")


def test_hostile_names_are_shown_as_text(browser: Browser, table: TrueTable) -> None:
    with visiting(browser, table.page.url + "/#recordings/hostile.mcap") as viewer:
        wait_for_words(viewer, "hand 1")
        viewer.page.keyboard.press("ArrowRight")
        assert viewer.page.locator(".replay-players bdi").first.inner_text() == HOSTILE[0][:39] + "…"
        assert viewer.page.locator("img[src=x]").count() == 0
        assert viewer.complaints == []


def test_nothing_is_wider_than_a_narrow_screen(browser: Browser, table: TrueTable) -> None:
    for path in ("/#recordings", RECORDING, "/#recordings/hostile.mcap"):
        with visiting(browser, table.page.url + path, (320, 568)) as viewer:
            viewer.page.locator(".recording, .replay-players li").first.wait_for()
            wide = viewer.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, path


def test_statistics_have_plots_and_tables(browser: Browser, table: TrueTable) -> None:
    with visiting(browser, table.page.url + "/#statistics/bones.mcap") as viewer:
        page = viewer.page
        page.locator(".plot .line").nth(1).wait_for()
        assert page.locator(".plot .bar-of").count() >= 4
        assert page.locator(".best li").first.inner_text().endswith("+20")
        page.locator("summary").first.click()
        assert page.locator("figure table").first.locator("tbody tr").count() == 2
        page.locator("table[aria-label='All players, all games'] tbody tr", has_text="Ann").wait_for()
        with page.expect_download() as download:
            page.get_by_role("button", name="Save as CSV").click()
        lines = download.value.path().read_text("utf-8-sig").splitlines()
        assert lines[0].startswith('"Player","Games","Won",')
        assert {'"Ann",1', '"Ben",1'} <= {",".join(line.split(",")[:2]) for line in lines[1:]}
        assert viewer.complaints == []


def test_two_players_are_compared_by_rating_streak_and_matches_against_each_other(
    browser: Browser, tmp_path: Path
) -> None:
    for number, names in enumerate((("Ann", "Ben"), ("ANN", "Cleo"), ("Ben", " ann"))):
        began = BEGAN + timedelta(days=number)
        session = record_game(tmp_path / f"{number}.mcap", number + 1, rules=SHORT, players=names, began=began)
        assert session.state.game is not None
        assert session.state.game.winner is not None
    with served(recordings=tmp_path) as table, visiting(browser, table.page.url + "/#statistics") as viewer:
        page = viewer.page
        figures = page.locator("table[aria-label='One player, or two']")
        figures.wait_for()
        assert figures.locator("thead").inner_text().split() == ["Player", "ann"]
        page.get_by_label("Compare with").select_option("Ben")
        rows = dict(line.split("\t", 1) for line in figures.locator("tbody").inner_text().splitlines())
        assert rows["Games"] == "3\t2"
        assert rows["Matches against each other"] == "2\t2"
        assert sorted(rows["Finished ahead"].split("\t")) in (["0", "2"], ["1", "1"])
        assert re.fullmatch(r"1,\d{3}\s±\s\d{3}\t1,\d{3}\s±\s\d{3}", rows["Rating"])
        with page.expect_download() as download:
            page.get_by_role("button", name="Save all pairs as CSV").click()
        lines = download.value.path().read_text("utf-8-sig").splitlines()
        assert lines[0] == '"Player","Against","Matches","Finished ahead","Finished behind"'
        assert len(lines) == 5
        with page.expect_download() as download:
            page.get_by_role("button", name="Save as CSV").click()
        head, first, *_ = download.value.path().read_text("utf-8-sig").splitlines()
        saved = dict(zip(head.split(","), first.split(","), strict=True))
        assert 1000 < int(saved['"Rating"']) < 2000
        assert 100 < int(saved['"Rating deviation"']) < 350
        assert viewer.complaints == []


def test_tiles_not_yet_played_are_shown(browser: Browser, table: TrueTable) -> None:
    with visiting(browser, table.page.url) as viewer:
        viewer.page.locator("#tiles .tile").nth(5).wait_for()
        viewer.page.locator("#still-out").click()
        assert viewer.page.locator(".out-set li").count() == 28
        assert viewer.page.locator(".out-set .is-gone").count() == viewer.page.locator("#tiles .tile").count()


def test_a_shared_hand_opens_from_a_disk(browser: Browser, table: TrueTable, tmp_path: Path) -> None:
    path = tmp_path / "hand.html"
    with visiting(browser, f"{table.page.url}/#recordings/hostile.mcap") as viewer:
        wait_for_words(viewer, "hand 1")
        with viewer.page.expect_download() as saved:
            viewer.page.get_by_role("button", name="Save this hand").click()
        saved.value.save_as(path)
    context = browser.new_context(viewport={"width": 360, "height": 740}, offline=True)
    page, complaints = context.new_page(), list[str]()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    page.locator(".says", has_text="hand 1").wait_for()
    borders = "rows => rows.map((row) => getComputedStyle(row).borderLeftColor)"
    assert page.locator(".players li").evaluate_all(borders) == ["rgb(29, 95, 158)", "rgb(179, 71, 11)"]
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.locator(".says", has_text="5-1").wait_for()
    assert page.locator(".felt .tile").count() == 2
    assert page.locator(".recorded").evaluate("element => element.naturalWidth") > 300
    page.get_by_role("button", name="Step back").click()
    assert page.locator(".felt .tile").count() == 1
    assert page.locator("img").count() == 1
    assert page.title() != "hacked"
    page.evaluate(AXE.read_text())
    assert violations(Viewer(page)) == []
    context.close()
    assert complaints == []
