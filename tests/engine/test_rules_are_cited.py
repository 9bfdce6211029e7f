"""Tests that all citations of docs/reference/rules.md in code, tests and documents exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.engine.rule_book import BOOK, DECISION, ROOT, anchors, decisions, sections

FOLDERS = ("engine", "vision", "hardware", "calibration", "tallybone", "lab", "tests")

# Extends to the end of the sentence, bracket or quotation: "docs/reference/rules.md 2.3 to 2.5 and 3."
_CITATION = re.compile(r"docs/reference/rules\.md((?:[^.()\"\n]|\([^()\n]*\)|\.(?=[0-9]))*)")
_SECTION = re.compile(r"(?<![\w.-])[0-9](?:\.[0-9])?(?![\w.-])")
# Written to not match this file.
_OLD_NAME = re.compile(r"R[U]LES\.md|R[U]LES A?[0-9]")


def cited(source: str) -> set[str]:
    """Return the sections of docs/reference/rules.md, and all decisions, that *source* cites."""
    found = set(DECISION.findall(source))
    for text in _CITATION.findall(source):
        found |= set(_SECTION.findall(DECISION.sub("", text)))
    return found


def modules() -> list[Path]:
    here = Path(__file__)
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if path != here)


def test_every_cited_section_and_decision_exists() -> None:
    known = {*sections(), *decisions()}
    lost = {path: cited(path.read_text(encoding="utf-8")) - known for path in modules()}
    assert {str(path): sorted(names) for path, names in lost.items() if names} == {}


def test_the_engine_cites_the_book() -> None:
    found = {path: cited(path.read_text(encoding="utf-8")) for path in modules()}
    assert len({name for path, names in found.items() if path.is_relative_to(ROOT / "engine") for name in names}) >= 20
    assert len([path for path, names in found.items() if names and path.is_relative_to(ROOT / "tests" / "engine")]) > 25


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("# docs/reference/rules.md 2.3 to 2.5 and 3. But 7 of them", {"2.3", "2.5", "3"}),
        ('"""docs/reference/rules.md 2.4, 3.4 (partners) and 3.5."""', {"2.4", "3.4", "3.5"}),
        ("half a side (docs/reference/rules.md 5.1); beyond 9 nothing", {"5.1"}),
        ("docs/reference/rules.md 3.6, A3-8.", {"3.6", "A3-8"}),
        ("# A1-27: -> 5, docs/reference/rules.md 2.3 b: 9-9", {"A1-27", "2.3"}),
        ("docs/reference/rules.md A2-99", {"A2-99"}),
    ],
)
def test_a_citation_ends_with_its_sentence(source: str, names: set[str]) -> None:
    assert cited(source) == names


def test_links_to_sections_of_the_book_resolve() -> None:
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    links = [link for path in documents for link in re.findall(r"rules\.md#([\w-]+)", path.read_text(encoding="utf-8"))]
    links += re.findall(r"\]\(#([\w-]+)\)", BOOK.read_text(encoding="utf-8"))
    assert len(links) > 1
    assert sorted(set(links) - anchors()) == []


def test_nothing_cites_the_book_by_another_name() -> None:
    here = Path(__file__)
    named = [
        str(path)
        for folder in (*FOLDERS, "docs")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".md") and path != here and _OLD_NAME.search(path.read_text(encoding="utf-8"))
    ]
    assert named == []
