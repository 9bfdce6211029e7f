"""Browsers for tests of the page: the distribution's Chromium, driven by Playwright (the extra `browser`)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, ConsoleMessage, Page, WebSocketRoute, sync_playwright

from engine import BONES, Rules
from tests.tallybone.web.true_table import PIN, TrueTable, true_table
from vision.tracking.table_view import TableView

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
AXE = Path(__file__).parents[2] / "vendor" / "axe-core" / "axe.min.js"
__all__ = [
    "AXE",
    "PATIENCE_MS",
    "Browser",
    "Viewer",
    "WebSocketRoute",
    "chromium",
    "looking",
    "served",
    "visiting",
]

PATIENCE_MS = 30_000
"""A busy machine is slow; a page that is right is so in the end."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield a browser without a window."""
    with sync_playwright() as playwright:
        # Whoever runs the tests as root, as in a container, has no sandbox to run it in.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def served(
    seed: int = 1,
    *,
    hands: int = 1,
    rules: Rules = BONES,
    players: tuple[str, ...] = ("Ann", "Ben"),
    recordings: Path | None = None,
    eye: Callable[[TableView], TableView] = lambda view: view,
) -> Iterator[TrueTable]:
    """Yield a table with a page, at which nothing has happened yet but that a match has begun."""
    table = true_table(seed, hands=hands, rules=rules, players=players, recordings=recordings, eye=eye)
    table.begin()
    try:
        yield table
    finally:
        table.end()


@dataclass(slots=True)
class Viewer:
    """Somebody before a screen.

    Attributes:
        page: What the browser shows.
        complaints: What the page has written into the console as an error, and what it came from.
        fetched: What was fetched.
    """

    page: Page
    complaints: list[str] = field(default_factory=list)
    fetched: set[str] = field(default_factory=set)

    def listen(self) -> None:
        """Take down from now on what the page complains of."""

        def hear(said: ConsoleMessage) -> None:
            if said.type == "error":
                self.complaints.append(f"{said.text} {said.location['url']}")

        self.page.on("console", hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def log_in(self, name: str = "") -> None:
        """Type the PIN into the dialog that has opened."""
        self.page.locator("#login").wait_for()
        if name:
            self.page.locator("#author").fill(name)
        self.page.locator("#pin").fill(PIN)
        self.page.locator("#login").wait_for(state="hidden")

    def totals(self) -> list[int]:
        """What stands beside the names."""
        return [int(text) for text in self.page.locator(".total").all_inner_texts()]

    def wait_for_totals(self, *totals: int) -> None:
        """Wait until these stand beside the names."""
        self.page.wait_for_function(
            "wanted => [...document.querySelectorAll('.total')].map(one => one.innerText).join() === wanted",
            arg=",".join(str(total) for total in totals),
        )

    def press(self, name: str) -> None:
        """Press a button at the foot of the page."""
        self.page.locator(f"#buttons [data-press={name}]").click()

    def toast(self) -> str:
        """What the page says was done."""
        return str(self.page.locator("#toast p").inner_text())


def tiles_of(table: TrueTable) -> int:
    """Return how many tiles have been played in the hand."""
    game = table.live.session.state.game
    assert game is not None
    return len(game.layout.nodes)


def wait_for_tiles(viewer: Viewer, count: int) -> None:
    """Wait until the page lists so many plays: an action on an older state is refused."""
    counted = "count => document.querySelectorAll('#play-list .tile-icon').length === count"
    viewer.page.wait_for_function(counted, arg=count)


@contextmanager
def looking(
    browser: Browser,
    table: TrueTable,
    size: tuple[int, int] = (360, 740),
    *,
    path: str = "/",
    scheme: str = "light",
    locale: str = "en-GB",
    script: str = "",
) -> Iterator[Viewer]:
    """Yield somebody who looks at the page of a table, with so many pixels; *script* runs before the page's own."""
    address = table.page.url.rstrip("/") + path
    with visiting(browser, address, size, scheme=scheme, locale=locale, script=script) as viewer:
        viewer.page.locator(".player").first.wait_for()
        yield viewer


@contextmanager
def visiting(
    browser: Browser,
    address: str,
    size: tuple[int, int] = (360, 740),
    *,
    scheme: str = "light",
    locale: str = "en-GB",
    script: str = "",
) -> Iterator[Viewer]:
    """Yield somebody who looks at an address, whether or not a match is played there."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        locale=locale,
    )
    if script:
        context.add_init_script(script)
    context.set_default_timeout(PATIENCE_MS)
    viewer = Viewer(context.new_page())
    viewer.listen()
    viewer.page.on("response", lambda answer: viewer.fetched.add(answer.url))
    viewer.page.goto(address, wait_until="domcontentloaded")
    viewer.page.locator("html[data-link=live]").wait_for(state="attached")
    try:
        yield viewer
    finally:
        context.close()
