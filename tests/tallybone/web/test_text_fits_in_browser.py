"""Tests of long texts on screens from phone to television: nothing is cut off and nothing overlaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from engine import Game, Phase
from tallybone.session.inputs import Answer, Button, Press
from tallybone.texts import LANGUAGES
from tests.tallybone.web.browsers import Browser, Viewer, served, viewing
from tests.tallybone.web.hand_photos import game_of
from tests.tallybone.web.true_table import TrueTable

pytestmark = pytest.mark.slow

NAMES = ("Jean-Christophe", "Bartholomew", "Esperanza María", "Maximiliano")
SIZES = ((360, 640), (390, 844), (768, 1024), (1366, 768), (1920, 1080))
TELEVISIONS = ((1280, 720), (1080, 1920))
HUGE = (3840, 2160)
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


def late_states(table: TrueTable) -> Iterator[str]:
    """Play a match and yield each of `STATES` in it, late enough that a player has more than a hundred points."""
    due = list(STATES)
    while due:
        table.play(1)
        assert not table.camera.is_done, f"the game never reaches {due}"
        game = game_of(table)
        if max(game.totals) < 100:
            continue
        if due == ["question", "match over"] and game.phase is Phase.PLAY:
            table.camera.give(Press(Button.TABLE))
            table.play(0)
        for state in [state for state in due if STATES[state](table, game)]:
            due.remove(state)
            yield state
            if (asked := table.live.session.open_question) is not None:
                table.camera.give(Answer(len(asked.choices) - 1))  # leave everything unchanged
                table.play(0)


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


# French has the longest texts.
@pytest.mark.parametrize(
    ("players", "screens"),
    [
        (NAMES, {"/?lang=fr": SIZES, "/?display&lang=fr": SIZES[::3]}),
        (LONG_NAMES[:2], {"/?display&lang=fr": TELEVISIONS}),
        (LONG_NAMES[:3], {"/?display&lang=fr": (*TELEVISIONS, HUGE)}),
        (LONG_NAMES, {f"/?display&lang={language}": TELEVISIONS for language in LANGUAGES}),
    ],
    ids=["phone", "2", "3", "4"],
)
def test_no_text_is_cut_off_or_overlaps(
    browser: Browser, players: tuple[str, ...], screens: dict[str, tuple[tuple[int, int], ...]]
) -> None:
    found: list[str] = []
    with served(players=players, hands=40) as table, ExitStack() as stack:
        viewers = {path: stack.enter_context(viewing(browser, table, path=path)) for path in screens}
        for viewer in viewers.values():
            viewer.page.emulate_media(reduced_motion="reduce")  # scenes cover texts for a moment
        for state in late_states(table):
            for path, size in ((path, size) for path, sizes in screens.items() for size in sizes):
                show(viewers[path], table, size)
                rows = viewers[path].page.evaluate(LINES) if size not in SIZES else []
                found += [f"{state} {size} {path} {fault}" for fault in [*faults(viewers[path]), *rows]]
    assert not found, f"{len(found)} faults:\n" + "\n".join(found)


def test_finds_a_name_that_is_cut_off(browser: Browser) -> None:
    with served(players=NAMES) as table, viewing(browser, table, SIZES[0]) as viewer:
        table.play(4)
        show(viewer, table, SIZES[0])
        names, totals = viewer.page.locator(".player .name"), viewer.page.locator(".player .total")
        names.evaluate_all(
            "all => all.forEach(element => { element.style.cssText = 'max-width: 3rem; overflow: hidden'; })"
        )
        assert sum(fault.startswith("broken name") for fault in faults(viewer)) == len(NAMES)
        names.evaluate_all("all => all.forEach(element => { element.style.whiteSpace = 'nowrap'; })")
        assert sum(fault.startswith("cut name") for fault in faults(viewer)) == len(NAMES)
        totals.evaluate_all(
            "all => all.forEach(element => { element.textContent = '100'; element.style.translate = '-12rem 0'; })"
        )
        assert any(fault.startswith("over ") for fault in faults(viewer))
