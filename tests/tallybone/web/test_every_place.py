"""Tests of every view and sheet on a phone, a tablet and a television: accessibility and clipped text."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

import pytest

from engine.rules.options import TEXTS
from tallybone import texts
from tallybone.texts import TextEntry, catalogue
from tallybone.web.access import files as page_files
from tests.tallybone.web.browsers import AXE, Browser, Viewer, visiting
from tests.tallybone.web.every_place import (
    PLACES,
    SIZES,
    every_table,
    sheets_of_page,
    views_of_page,
    walk,
)

pytestmark = pytest.mark.slow
CONTRAST = {"runOnly": ["color-contrast"]}
_CUT = """() => [...document.querySelectorAll("button, h1, h2, h3, a, label")]
  .filter((element) => element.checkVisibility() && element.scrollWidth > element.clientWidth + 1)
  .filter((element) => !element.closest(".unseen, .skip") && getComputedStyle(element).display !== "inline")
  .map((element) => element.outerHTML.slice(0, 120))"""

_SILENT = """() => [...document.querySelectorAll("button:disabled, input:disabled, select:disabled")]
  .filter((item) => item.checkVisibility() && !item.querySelector("small") && !item.hasAttribute("aria-describedby"))
  .map((item) => item.outerHTML.slice(0, 120))"""

_PARTS = re.compile(r"(\{\w+\})")
# Words that are not translated: names of the test's players, games and files, units, and the times of browsers.
_NAMES = "il secondes minutes An Ann Be Ben Tallybone Bones bones many mcap usb kB MB GB nov"
_TEXTS = """() => [...document.querySelectorAll("body *")]
  .filter((element) => element.checkVisibility() && !element.closest("code, pre, noscript, #languages, .files a"))
  .flatMap((element) => [
    ...(element.querySelector(":scope > wbr") ? [element] : [...element.childNodes])
      .filter((node) => node === element || node.nodeType === 3)
      .map((node) => node.textContent.replace(/\\S*\\/\\S*/g, "")),
    ...["aria-label", "aria-description", "alt", "title"].map((name) => element.getAttribute(name) ?? ""),
  ])"""

# Both in one call: the layout moves when the question arrives, so two calls may see two different pages.
_EXTENTS = """names => names.map(name => document.querySelector(name).getBoundingClientRect())
  .map(({ top, bottom }) => [top, bottom])"""


@pytest.fixture(scope="module", name="addresses")
def three_tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    with every_table(tmp_path_factory.mktemp("tables")) as addresses:
        yield addresses


def test_all_views_and_sheets_are_listed() -> None:
    places = [place for group in PLACES for place in group]
    assert {place.view.partition("/")[0] for place in places} == views_of_page()
    assert {place.sheet for place in places if place.sheet} == sheets_of_page()


def test_axe_finds_nothing_and_no_text_is_clipped(browser: Browser, addresses: tuple[str, str, str]) -> None:
    wrong: list[str] = []
    for address, places in zip(addresses, PLACES, strict=True):
        with visiting(browser, address, SIZES["phone"]) as viewer:
            viewer.page.evaluate(AXE.read_text())
            for place in walk(viewer, places):
                wrong += [f"{place.name}: {problem}" for problem in (*_violations(viewer), *_clipped(viewer))]
                for size in ("tablet", "television", "phone"):
                    width, height = SIZES[size]
                    viewer.page.set_viewport_size({"width": width, "height": height})
                    wrong += [f"{place.name} on a {size}: {problem}" for problem in _clipped(viewer)]
    assert not wrong, "\n".join(wrong)


def test_axe_finds_nothing_on_a_television_and_the_question_is_visible(
    browser: Browser, addresses: tuple[str, str, str]
) -> None:
    wrong: list[str] = []
    for address in addresses:
        with visiting(browser, f"{address}/?display", SIZES["television"]) as viewer:
            viewer.page.locator("#layout-view").wait_for()
            viewer.page.evaluate(AXE.read_text())
            wrong += [*_violations(viewer), *_clipped(viewer)]
    assert not wrong, "\n".join(wrong)
    for size in (SIZES["television"], (1280, 720), (820, 1180)):
        with visiting(browser, f"{addresses[0]}/?display", size) as viewer:
            viewer.page.locator("#question-words").wait_for()
            felt, asked = viewer.page.evaluate(_EXTENTS, ["#layout-view", "#asked"])
            assert asked[1] <= felt[0] or felt[1] <= asked[0], f"{size}: the layout covers the question"


def test_nothing_is_english_in_another_language(
    browser: Browser, addresses: tuple[str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # All translations are in Greek letters, so any Latin word is a name or was not translated.
    translate = str.maketrans({letter: chr(ord("α") + at) for at, letter in enumerate(string.ascii_letters)})
    known = catalogue("fr")
    greek: dict[str, TextEntry] = {}
    for english, translation in known.items():
        text = "".join(part if part[:1] == "{" else part.translate(translate) for part in _PARTS.split(english))
        greek[english] = text if isinstance(translation, str) else {"one": text, "other": text}
    for module in (texts, page_files):
        monkeypatch.setattr(module, "catalogue", lambda language: greek if language == "fr" else {})
    names = {word for game in TEXTS.values() for word in re.findall(r"\w+", game.elsewhere)}
    found: set[str] = set()
    for address, places in zip(addresses, PLACES, strict=True):
        with visiting(browser, f"{address}/?lang=fr", SIZES["tablet"]) as viewer:
            for place in walk(viewer, places):
                found |= {f"{place.name}: {text}" for text in _latin(viewer, names | set(_NAMES.split()))}
        with visiting(browser, f"{address}/?display&lang=fr", SIZES["television"]) as viewer:
            viewer.page.locator("#layout-view").wait_for()
            found |= {f"television: {text}" for text in _latin(viewer, names | set(_NAMES.split()))}
    assert not found, "\n".join(sorted(found))


def _latin(viewer: Viewer, same: set[str]) -> set[str]:
    """Return the visible texts and labels that contain a Latin word other than *same*."""
    texts_seen: list[str] = viewer.page.evaluate(_TEXTS)
    return {text for text in texts_seen if set(re.findall(r"[A-Za-z]{2,}", text)) - same}


def _violations(viewer: Viewer) -> list[str]:
    """Return axe violations in light and dark, and controls disabled without a reason."""
    page = viewer.page
    found = page.evaluate("axe.run().then((found) => found.violations)")
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    found += page.evaluate("how => axe.run(document, how).then((found) => found.violations)", CONTRAST)
    page.emulate_media(color_scheme="light")
    wrong = [f"{rule['id']}: {rule['nodes'][0]['html'][:120]} {rule['nodes'][0]['failureSummary']}" for rule in found]
    return [*wrong, *(f"disabled without a reason: {element}" for element in page.evaluate(_SILENT))]


def _clipped(viewer: Viewer) -> list[str]:
    """Return clipped elements, and whether the page is wider than the screen."""
    wide = viewer.page.evaluate("document.documentElement.scrollWidth > innerWidth ? ['wider than the screen'] : []")
    return [*wide, *(f"cut off: {element}" for element in viewer.page.evaluate(_CUT))]
