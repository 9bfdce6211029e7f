"""Parser and printer of docs/reference/rules_trace.md, which lists each sentence of the source texts and its tests.

`python -m tests.engine.rules_trace` rewrites the page: beginnings of sentences, counts, and options without a sentence.
It needs the texts next to the project.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from engine.rules.rules import OPTIONS
from tests.engine.rule_book import ROOT, options, tables

PAGE = ROOT / "docs" / "reference" / "rules_trace.md"
TEXTS = ROOT.parent / "shared" / "rules"
# The game of each text, or of what follows a heading.
GAMES: tuple[dict[str, str], ...] = (
    {"": "bones"},
    {"DRAW": "draw", "ALL FIVES": "allfives", "BLOCK GAME": "block"},
    {"": "super"},
    {"": "twoset", "Cuttthroat variation": "cutthroat"},
)
MARKS = ("page", "table", "open")
MAX_QUOTED_WORDS = 7  # The texts have owners: enough to find a sentence.

_MARK = re.compile(rf"(?:^|; )({'|'.join(MARKS)}): (.+)$")
_TEST = re.compile(r"`([\w/]+\.py::\w+(?:\[[\w-]+\])?)`")
_WORD = re.compile(r"\b[A-Za-z]{2}")
_HEADING = re.compile(r"[^\d.?!:]+")
_MAX_HEADING_WORDS = 4
# The end of a sentence: marks, closing brackets or quotation marks, a blank, and the next character.
_END = re.compile(r"""(?<=[\w)"”’*%])[.?!]+([)"”’]*)\s+(?=(\S))""")
_ABBREVIATION = re.compile(r"(?:\b(?:[A-Z]\.){2,}|\bi\.e\.|\bapprox\.)$")
_NO_TEXTS = "the source texts are not part of the project: there is no ../shared/rules next to it"


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


def source_texts() -> list[str] | None:
    """Return the four texts, or None if they are not next to the project."""
    paths = sorted(TEXTS.glob("00?_*.txt"))
    return [path.read_text(encoding="utf-8") for path in paths] or None


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


def sentences(texts: Iterable[str]) -> list[Row]:
    """Return each sentence of the texts, without options and tests."""
    return [row for number, text in enumerate(texts) for row in _sentences_of(number, text)]


def split_sentences(line: str) -> list[str]:
    """Return the sentences of a line.

    >>> split_sentences('Play, etc. However, draw (5, etc.) if asked "Six?" Now set 2(!) tiles, approx. 3. ok')
    ['Play, etc.', 'However, draw (5, etc.) if asked "Six?"', 'Now set 2(!) tiles, approx. 3.', 'ok']
    """
    found, start = [], 0
    for end in _END.finditer(line):
        sentence = line[start : end.end()].strip()
        continues = end[1] and end[2].islower()
        if not continues and not _ABBREVIATION.search(sentence):
            found.append(sentence)
            start = end.end()
    return [*found, line[start:].strip()]


def _sentences_of(number: int, text: str) -> Iterator[Row]:
    """Yield the sentences and figures of a text. Headings are left out."""
    games = GAMES[number]
    game, count, in_figure = games.get("", ""), 0, False
    for line in map(str.strip, text.splitlines()):
        if not line:
            continue
        is_figure = _WORD.search(line) is None
        is_heading = _HEADING.fullmatch(line) is not None and len(line.split()) <= _MAX_HEADING_WORDS
        game = games.get(line, game)
        if is_figure and not in_figure:
            found = ["(figure)"]
        elif is_figure or is_heading:
            found = []
        else:
            found = [_beginning(sentence) for sentence in split_sentences(line)]
        in_figure = is_figure
        for begins in found:
            count += 1
            yield Row(number, game, count, begins)


def _beginning(sentence: str) -> str:
    text = sentence.split()
    return " ".join(text[:MAX_QUOTED_WORDS]) + (" …" if len(text) > MAX_QUOTED_WORDS else "")


def written(page: str, rows: list[Row]) -> str:
    """Return the page with the tables of *rows*, counts, and options without a sentence."""
    head = page.partition("\n## Text ")[0].partition("\n| text |")[0].rstrip()
    unnamed = sorted(option.key for option in OPTIONS if option.key not in _named(rows))
    parts = [
        head,
        _table_of_counts(rows),
        "No sentence names these options: " + ", ".join(f"`{key}`" for key in unnamed) + ".",
    ]
    for number, games in enumerate(GAMES):
        for game in games.values():
            of_game = [row for row in rows if (row.text, row.game) == (number, game)]
            lines = [f"| {row.number} | {row.begins} | {row.chosen} | {row.held} |" for row in of_game]
            header = ["| | sentence | options | held by |", "| --- | --- | --- | --- |"]
            parts.append("\n".join([f"## Text {number}: `{game}`", "", *header, *lines]))
    return "\n\n".join(parts) + "\n"


def _named(rows: list[Row]) -> set[str]:
    return {key for row in rows for key, _ in (*row.defaults, *row.variations)}


def _table_of_counts(rows: list[Row]) -> str:
    kinds = ("test", *MARKS)
    lines = ["| text | game | sentences | " + " | ".join(kinds) + " |", "| --- " * (len(kinds) + 3) + "|"]
    for number, games in enumerate(GAMES):
        for game in games.values():
            marks = Counter(row.mark for row in rows if (row.text, row.game) == (number, game))
            lines.append(f"| {number} | `{game}` | {marks.total()} | {_cells(marks)} |")
    marks = Counter(row.mark for row in rows)
    return "\n".join([*lines, f"| all | | {marks.total()} | {_cells(marks)} |"])


def _cells(marks: Counter[str]) -> str:
    return " | ".join(str(marks[kind]) for kind in ("test", *MARKS))


def main() -> None:
    """Rewrite the page. Options and tests stay with the number of their sentence."""
    texts = source_texts()
    if texts is None:
        raise SystemExit(_NO_TEXTS)
    page = read_page()
    known = {(row.text, row.number): row for row in rows_of(page)}
    rows = []
    for row in sentences(texts):
        before = known.get((row.text, row.number), row)
        rows.append(replace(row, chosen=before.chosen, held=before.held))
    PAGE.write_text(written(page, rows), encoding="utf-8")


if __name__ == "__main__":
    main()
