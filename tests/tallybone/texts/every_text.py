"""Every text that page and program can say, found in their sources by the calls that say it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from tallybone.web.games_shown import games_shown
from vision.tracking import perception

ROOT = Path(__file__).parents[3]
STATIC = ROOT / "tallybone" / "web" / "static"
PAGES = (STATIC, ROOT / "tallybone" / "hub" / "static")
_PACKAGES = ("engine", "calibration", "synthetic", "tallybone")
_SAID = re.compile(r"\b(?:say|later)\(\s*(\"(?:[^\"\\]|\\.)*\")")


def every_text() -> frozenset[str]:
    """The keys of all texts."""
    return frozenset((*of_programs(), *of_scripts(), *of_pages(), *of_the_eye(), *of_the_rules()))


def of_programs() -> Iterator[str]:
    """What Python says: `phrase("...")`, and the form for many of `plural("...", "...")`."""
    for package in _PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield from _said_in(path)


def _said_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("phrase", "plural"):
            key = node.args[0 if node.func.id == "phrase" else 1]
            where = f"{path.relative_to(ROOT)}:{node.lineno}"
            if isinstance(key, ast.Constant):
                yield str(key.value)
            else:
                assert path.name == "phrases.py", f"{where}: a text that nobody can translate"


def files(pattern: str) -> list[Path]:
    """The files of all pages."""
    return sorted(path for folder in PAGES for path in folder.glob(pattern))


def of_scripts() -> Iterator[str]:
    """What the page's scripts say: `say("...")`, and what they mark to be said by `later("...")`."""
    for path in files("*.js"):
        yield from (json.loads(found) for found in _SAID.findall(path.read_text()))


def of_pages() -> Iterator[str]:
    """What stands in the page itself, marked with `data-say` or `data-say-in`."""
    for path in files("*.html"):
        reader = _Reader()
        reader.feed(path.read_text())
        yield from reader.found


def of_the_eye() -> Iterator[str]:
    """What the eye says, which knows nothing of phrases: the table makes them of it."""
    yield from (perception._LOST, perception._TOO_FAR)


def of_the_rules() -> Iterator[str]:
    """What the page offers to agree on: it comes in English, with the games."""
    offered = games_shown()
    for option in offered.options:
        yield from (option.group, option.meaning, *(one.meaning for one in option.choices))
        yield from () if option.none is None else (option.none,)
        yield from (option.allowed,) if option.kind in ("players", "deal") else ()
    for game in offered.games:
        yield from (game.game, game.what, *(one.meaning for one in game.variations))


class _Reader(HTMLParser):
    """Collects the texts that are marked."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._is_said = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._is_said = "data-say" in given
        self.found += [given[name] or "" for name in (given.get("data-say-in") or "").split()]

    def handle_data(self, data: str) -> None:
        if self._is_said and data.strip():
            self.found.append(data)
        self._is_said = False
