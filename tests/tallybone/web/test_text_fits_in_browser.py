"""Tests of long texts on screens from phone to television: nothing is cut off and nothing overlaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine import Game, Phase
from tallybone.session.inputs import Button, Press
from tallybone.texts import LANGUAGES
from tests.tallybone.web.browsers import Browser, Viewer, served, viewing
from tests.tallybone.web.hand_photos import game_of
from tests.tallybone.web.true_table import TrueTable

pytestmark = pytest.mark.slow

NAMES = ("Jean-Christophe", "Bartholomew", "Esperanza María", "Maximiliano")
SIZES = ((360, 640), (390, 844), (768, 1024), (1366, 768), (1920, 1080))
# French has the longest texts.
PATHS = ("/?lang=fr", "/?display&lang=fr")
TELEVISIONS = ((1280, 720), (1920, 1080), (3840, 2160), (1080, 1920))
LONG_NAMES = ("Maximiliana Voss", "Wolfgang Amadeus", "Bartholomew King", "Esperanza Marías")
FAULTS = Path(__file__).with_name("text_faults.js").read_text()

# Sentences of a television on more than two lines, and the page if it does not fit on the screen.
LINES = """() => {
  const linesOf = (one) => one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight);
  const long = [...document.querySelectorAll(".waits, .what, .told")].filter((one) => linesOf(one) > 2.1);
  const isOut = document.documentElement.scrollHeight > innerHeight;
  return [...long.map((one) => `more than two lines: ${one.textContent}`), ...(isOut ? ["too high"] : [])];
}"""


# States late in a match. For a question, a player presses "Put it right".
STATES: dict[str, Callable[[TrueTable, Game], bool]] = {
    "lead": lambda table, game: game.phase is Phase.LEAD,
    "play": lambda table, game: len(game.layout.nodes) == 12,
    "question": lambda table, game: table.live.session.open_question is not None,
    "hand over": lambda table, game: game.phase in (Phase.REVEAL, Phase.DEAL),
    "match over": lambda table, game: game.phase is Phase.MATCH_OVER,
}


@contextmanager
def at(state: str, players: tuple[str, ...] = NAMES) -> Iterator[TrueTable]:
    """Yield a table whose game has reached a state, with a winner of more than a hundred points."""
    with served(players=players, hands=40) as table:
        while not table.camera.is_done:
            table.play(1)
            game = game_of(table)
            is_late = max(game.totals) >= 100
            if is_late and state == "question":
                table.camera.give(Press(Button.TABLE))
                table.play(0)
            if is_late and STATES[state](table, game):
                break
        else:
            raise AssertionError(f"the game never reaches {state}")
        yield table


def show(viewer: Viewer, table: TrueTable, size: tuple[int, int]) -> None:
    """Resize the page to *size* and wait until it shows the score."""
    game = game_of(table)
    viewer.page.set_viewport_size({"width": size[0], "height": size[1]})
    mark = "~" if table.live.session.is_provisional else ""
    viewer.wait_for_totals(*(f"{mark}{total}" for total in game.totals))
    viewer.page.wait_for_timeout(150)


def faults(viewer: Viewer) -> list[str]:
    """Return texts that are cut off or overlap."""
    return [str(fault) for fault in viewer.page.evaluate(FAULTS)]


@pytest.mark.parametrize("state", STATES)
def test_no_text_is_cut_off_or_overlaps(browser: Browser, state: str) -> None:
    found: list[str] = []
    with at(state) as table:
        for path in PATHS:
            with viewing(browser, table, path=path) as viewer:
                for size in SIZES:
                    show(viewer, table, size)
                    found += [f"{size[0]}x{size[1]} {path} {fault}" for fault in faults(viewer)]
    assert not found, f"{len(found)} faults:\n" + "\n".join(found)


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("state", STATES)
def test_a_television_shows_whole_texts_in_every_language(browser: Browser, state: str, count: int) -> None:
    found: list[str] = []
    with at(state, LONG_NAMES[:count]) as table:
        for language in LANGUAGES:
            with viewing(browser, table, path=f"/?display&lang={language}") as viewer:
                for size in TELEVISIONS:
                    show(viewer, table, size)
                    found += [f"{size[0]}x{size[1]} {language} {fault}" for fault in faults(viewer)]
                    rows = viewer.page.evaluate(LINES)
                    found += [f"{size[0]}x{size[1]} {language} {row}" for row in rows]
    assert not found, f"{len(found)} faults:\n" + "\n".join(found)


def test_finds_a_name_that_is_cut_off(browser: Browser) -> None:
    with at("lead") as table, viewing(browser, table, SIZES[0]) as viewer:
        names, totals = viewer.page.locator(".player .name"), viewer.page.locator(".player .total")
        names.evaluate_all(
            "all => all.forEach(element => { element.style.cssText = 'max-width: 3rem; overflow: hidden'; })"
        )
        assert sum(fault.startswith("broken name") for fault in faults(viewer)) == len(NAMES)
        names.evaluate_all("all => all.forEach(element => { element.style.whiteSpace = 'nowrap'; })")
        assert sum(fault.startswith("cut name") for fault in faults(viewer)) == len(NAMES)
        totals.evaluate_all("all => all.forEach(element => { element.style.translate = '-12rem -0.5rem'; })")
        assert any(fault.startswith("over ") for fault in faults(viewer))
