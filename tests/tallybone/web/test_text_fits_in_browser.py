"""Long names and the texts around them, from a phone to a television: nothing is cut, and nothing overlaps."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
if shutil.which("chromium") is None and shutil.which("chromium-browser") is None:
    pytest.skip("there is no Chromium: sudo apt install chromium", allow_module_level=True)

from engine import Game, Phase
from tests.tallybone.web.browsers import Browser, Viewer, looking, served
from tests.tallybone.web.doubts import doubtful
from tests.tallybone.web.true_table import TrueTable
from vision.tracking.table_view import TableView

pytestmark = pytest.mark.slow

NAMES = ("Jean-Christophe", "Bartholomew", "Esperanza María", "Maximiliano")
SIZES = ((360, 640), (390, 844), (768, 1024), (1366, 768), (1920, 1080))
# French has the longest texts.
PATHS = ("/?lang=fr", "/?display&lang=fr")
FAULTS = Path(__file__).with_name("text_faults.js").read_text()


@dataclass(frozen=True, slots=True)
class PageState:
    """A state of the page, late in a match.

    Attributes:
        name: What it shows.
        is_reached: Whether a game is there.
        asks: Whether the reader leaves a doubt, which becomes a question.
    """

    name: str
    is_reached: Callable[[TrueTable, Game], bool]
    asks: bool = False


STATES = (
    PageState("lead", lambda table, game: game.phase is Phase.LEAD),
    PageState("play", lambda table, game: len(game.layout.nodes) == 12),
    PageState("question", lambda table, game: table.live.session.open_question is not None, asks=True),
    PageState("hand over", lambda table, game: game.phase in (Phase.REVEAL, Phase.DEAL)),
    PageState("match over", lambda table, game: game.phase is Phase.MATCH_OVER),
)


@contextmanager
def at(state: PageState) -> Iterator[TrueTable]:
    """Yield a table whose game has reached a state, with a winner of more than a hundred points."""
    is_late = False

    def eye(view: TableView) -> TableView:
        return doubtful(view, nth=6) if state.asks and is_late else view

    with served(players=NAMES, hands=40, eye=eye) as table:
        while not table.camera.is_done:
            table.play(1)
            game = table.live.session.state.game
            assert game is not None
            is_late = max(game.totals) >= 100
            if is_late and state.is_reached(table, game):
                break
        else:
            raise AssertionError(f"the game never comes to {state.name}")
        yield table


def show(viewer: Viewer, table: TrueTable, size: tuple[int, int]) -> None:
    """Look at a table on a screen of *size* once the page shows its score."""
    game = table.live.session.state.game
    assert game is not None
    viewer.page.set_viewport_size({"width": size[0], "height": size[1]})
    viewer.wait_for_totals(*game.totals)
    viewer.page.wait_for_timeout(150)


def faults(viewer: Viewer) -> list[str]:
    """Return the texts that are cut or that overlap."""
    return [str(one) for one in viewer.page.evaluate(FAULTS)]


@pytest.mark.parametrize("state", STATES, ids=lambda one: one.name)
def test_no_text_is_cut_and_none_overlaps(browser: Browser, state: PageState) -> None:
    found: list[str] = []
    with at(state) as table:
        for path in PATHS:
            with looking(browser, table, path=path) as viewer:
                for size in SIZES:
                    show(viewer, table, size)
                    found += [f"{size[0]}x{size[1]} {path} {one}" for one in faults(viewer)]
    assert not found, f"{len(found)} faults:\n" + "\n".join(found)


def test_a_name_that_is_cut_would_be_found(browser: Browser) -> None:
    with at(STATES[0]) as table, looking(browser, table, SIZES[0]) as viewer:
        names, totals = viewer.page.locator(".player .name"), viewer.page.locator(".player .total")
        names.evaluate_all("all => all.forEach(one => { one.style.cssText = 'max-width: 3rem; overflow: hidden'; })")
        assert sum(one.startswith("broken name") for one in faults(viewer)) == len(NAMES)
        names.evaluate_all("all => all.forEach(one => { one.style.whiteSpace = 'nowrap'; })")
        assert sum(one.startswith("cut name") for one in faults(viewer)) == len(NAMES)
        totals.evaluate_all("all => all.forEach(one => { one.style.translate = '-12rem -0.5rem'; })")
        assert any(one.startswith("over ") for one in faults(viewer))
