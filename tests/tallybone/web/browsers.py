"""Browsers for tests of the page: the distribution's Chromium, driven by Playwright (the extra `browser`)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason='playwright is not installed: pip install ".[browser]"')
if shutil.which("chromium") is None and shutil.which("chromium-browser") is None:
    pytest.skip("there is no Chromium: sudo apt install chromium", allow_module_level=True)

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    FilePayload,
    Locator,
    Page,
    WebSocketRoute,
    expect,
    sync_playwright,
)

from engine import BONES, Rules
from tests.tallybone.web.hand_photos import game_of
from tests.tallybone.web.true_table import PIN, TrueTable, true_table
from vision.tracking.table_view import TableView

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
AXE = Path(__file__).parents[2] / "vendor" / "axe-core" / "axe.min.js"
__all__ = ["Browser", "Locator", "Page", "WebSocketRoute", "expect"]

PATIENCE_MS = 30_000
"""Generous, because a busy machine is slow."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield a browser without a window."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        # Chromium's sandbox does not work as root, for example in a container.
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
    reader: Callable[[TableView], TableView] = lambda view: view,
) -> Iterator[TrueTable]:
    """Yield a table with a page, where a match has just begun."""
    table = true_table(seed, hands=hands, rules=rules, players=players, recordings=recordings, reader=reader)
    table.begin()
    try:
        yield table
    finally:
        table.end()


@dataclass(slots=True)
class Viewer:
    """A browser page, with its console errors, each with its source, and the URLs of all responses."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    fetched: set[str] = field(default_factory=set)

    def listen(self) -> None:
        """Record console errors from now on."""

        def record(message: ConsoleMessage) -> None:
            if message.type == "error":
                self.complaints.append(f"{message.text} {message.location['url']}")

        self.page.on("console", record)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def log_in(self, name: str = "") -> None:
        """Enter the PIN in the open dialog."""
        self.page.locator("#login").wait_for()
        if name:
            self.page.locator("#author").fill(name)
        self.page.locator("#pin").fill(PIN)
        self.page.locator("#login").wait_for(state="hidden")

    def totals(self) -> list[int]:
        """Return the totals beside the names."""
        return [int(text) for text in self.page.locator(".total").all_inner_texts()]

    def wait_for_totals(self, *totals: int | str) -> None:
        """Wait until the page shows these totals, with their marks if they are provisional."""
        self.page.wait_for_function(
            "wanted => wanted === "
            "[...document.querySelectorAll('.total')].map((one) => one.innerText.match(/^~?-?[0-9]*/)[0]).join()",
            arg=",".join(str(total) for total in totals),
        )

    def press(self, name: str) -> None:
        """Press a button at the bottom of the page."""
        self.page.locator(f"#buttons [data-press={name}]").click()

    def toast(self) -> str:
        """Return the text of the toast."""
        return str(self.page.locator("#toast p").inner_text())


def choose_photo(page: Page, photo: bytes, name: str = "hand.jpg", kind: str = "image/jpeg") -> None:
    """Choose a photo in the open sheet that counts a hand."""
    file: FilePayload = {"name": name, "mimeType": kind, "buffer": photo}
    page.locator("#sheet[open] input[type=file]").set_input_files(file)


def tiles_of(table: TrueTable) -> int:
    """Return the number of tiles played in the hand."""
    return len(game_of(table).layout.nodes)


def wait_for_tiles(viewer: Viewer, count: int) -> None:
    """Wait until the page lists *count* plays, because actions on an older state are refused."""
    counted = "count => document.querySelectorAll('#play-list .tile-icon').length === count"
    viewer.page.wait_for_function(counted, arg=count)


@contextmanager
def viewing(
    browser: Browser,
    table: TrueTable,
    size: tuple[int, int] = (360, 740),
    *,
    path: str = "/",
    scheme: str = "light",
    locale: str = "en-GB",
    script: str = "",
) -> Iterator[Viewer]:
    """Yield a viewer of a table's page. *size* is in pixels, and *script* runs before the page's own scripts."""
    address = table.page.url.rstrip("/") + path
    with visiting(browser, address, size, scheme=scheme, locale=locale, script=script) as viewer:
        viewer.page.locator(".player").first.wait_for()
        yield viewer


@contextmanager
def playing(
    browser: Browser,
    items: int,
    size: tuple[int, int] = (360, 740),
    *,
    path: str = "/",
    players: tuple[str, ...] = ("Ann", "Ben"),
) -> Iterator[tuple[TrueTable, Viewer]]:
    """Yield a table after some items of its game, and a viewer that lists them."""
    with served(players=players) as table, viewing(browser, table, size, path=path) as viewer:
        table.play(items)
        wait_for_tiles(viewer, tiles_of(table))
        yield table, viewer


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
    """Yield a viewer of an address, with or without a match in progress."""
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
