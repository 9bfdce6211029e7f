"""Parser of docs/reference/rules_trace.md, which lists each sentence of the source texts and its tests."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.engine.rule_book import ROOT, options, tables

PAGE = ROOT / "docs" / "reference" / "rules_trace.md"
MARKS = ("page", "table", "open")

_MARK = re.compile(rf"(?:^|; )({'|'.join(MARKS)}): (.+)$")
_TEST = re.compile(r"`([\w/]+\.py::\w+(?:\[[\w-]+\])?)`")


@dataclass(frozen=True, slots=True)
class Row:
    """A sentence of a text.

    Attributes:
        text: Number of the text, from 0.
        game: Game that the sentence is about.
        number: Number of the sentence in the text, from 1.
        begins: First words, or "(figure)".
        chosen: Options that express it: those of the game, then "variation" and others.
        held: Tests, then decisions of the rule book, then a mark with its reason.
    """

    text: int
    game: str
    number: int
    begins: str
    chosen: str = ""
    held: str = ""

    @property
    def defaults(self) -> list[tuple[str, str]]:
        return options(self.chosen.partition("variation")[0])

    @property
    def variations(self) -> list[tuple[str, str]]:
        return options(self.chosen.partition("variation")[2])

    @property
    def tests(self) -> list[str]:
        return _TEST.findall(self.held)

    @property
    def mark(self) -> str:
        """Mark of the sentence, or "test" if tests alone hold it."""
        found = _MARK.search(self.held)
        return found[1] if found else "test"


def read_page() -> str:
    return PAGE.read_text(encoding="utf-8")


def rows_of(page: str) -> list[Row]:
    """Return the rows of all sentences on the page."""
    found = []
    for heading in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        section = re.match(r"Text ([0-9]): `(\w+)`", heading)
        if section is not None:
            (rows,) = tables(heading)
            found += [Row(int(section[1]), section[2], int(number), *cells) for number, *cells in rows[1:]]
    return found


def path_of(test: str) -> str:
    """Return a test with its path in the project."""
    return test if test.startswith("tests/") else f"tests/engine/{test}"
