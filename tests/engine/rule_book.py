"""Parser of docs/reference/rules.md: sections, decisions, paragraphs, tables and options."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "docs" / "reference" / "rules.md"

DECISION = re.compile(r"\bA(?:-G|[0-9]-)[0-9]+\b")
_HEADING = re.compile(r"^#{2,3} (?:([0-9](?:\.[0-9])?)\.? )?(.+)$", re.MULTILINE)
_PARAGRAPH = re.compile(r"^(?:- )?\*\*([A-Z][^*.]+)\.?\*\*", re.MULTILINE)
_OPTION = re.compile(r"`([a-z_]+)=([^`]+)`")


def book() -> str:
    return BOOK.read_text(encoding="utf-8")


def sections() -> dict[str, str]:
    """Return the text of each chapter and section by number. A chapter excludes its sections."""
    text = book()
    found = list(_HEADING.finditer(text))
    ends = [*(heading.start() for heading in found[1:]), len(text)]
    return {heading[1]: text[heading.end() : end] for heading, end in zip(found, ends, strict=True) if heading[1]}


def anchors() -> set[str]:
    """Return the link anchors of all headings."""
    titles = re.findall(r"^#+ (.+)$", book(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


def tables(text: str) -> list[list[list[str]]]:
    """Return each table of *text* as rows of cells, header first."""
    found: list[list[list[str]]] = [[]]
    for line in text.splitlines():
        if not line.startswith("|"):
            found.append([])
        elif not set(line) <= set("| -"):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
    return [table for table in found if table]


def decisions() -> list[str]:
    """Return the ids of all decisions, in table order."""
    rows = [row for text in sections().values() for table in tables(text) for row in table]
    return [row[0] for row in rows if DECISION.fullmatch(row[0])]


def paragraphs() -> list[str]:
    """Return the names of the paragraphs of chapter 3, such as "3.1 Setup", and of the rows of 3.7."""
    games = {number: text for number, text in sections().items() if "3.1" <= number <= "3.6"}
    found = [f"{number} {name}" for number, text in games.items() for name in _PARAGRAPH.findall(text)]
    (differences,) = tables(sections()["3.7"])
    return [*found, *(f"3.7 {row[0]}" for row in differences[1:])]


def options(text: str) -> list[tuple[str, str]]:
    """Return every `key=value` pair in *text*."""
    return _OPTION.findall(text)
