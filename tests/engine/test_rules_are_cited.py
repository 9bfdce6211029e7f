"""Tests that citations of docs/reference/rules.md exist, and that a test names each decision and paragraph of it.

A test names its rules in a comment or docstring, such as "A1-5: blocked, own pips are not subtracted".
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.engine.rule_book import BOOK, DECISION, ROOT, anchors, decisions, paragraphs, sections

FOLDERS = ("engine", "vision", "hardware", "calibration", "tallybone", "lab", "tests")

# Extends to the end of the sentence, bracket or quotation: "docs/reference/rules.md 2.3 to 2.5 and 3."
_CITATION = re.compile(r"docs/reference/rules\.md((?:[^.()\"\n]|\([^()\n]*\)|\.(?=[0-9]))*)")
_SECTION = re.compile(r"(?<![\w.-])[0-9](?:\.[0-9])?(?![\w.-])")
# Written to not match this file.
_OLD_NAME = re.compile(r"R[U]LES\.md|R[U]LES A?[0-9]")


@cache
def sources() -> dict[Path, str]:
    """Return the text of all modules but this one."""
    paths = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if path != Path(__file__))
    return {path: path.read_text(encoding="utf-8") for path in paths}


@cache
def citations() -> dict[Path, set[str]]:
    """Return the sections of docs/reference/rules.md, and all decisions, that each module cites."""
    found = {path: set(DECISION.findall(source)) for path, source in sources().items()}
    for path, source in sources().items():
        for text in _CITATION.findall(source):
            found[path] |= set(_SECTION.findall(DECISION.sub("", text)))
    return found


def test_every_cited_section_and_decision_exists() -> None:
    known = {*sections(), *decisions()}
    assert {str(path): names - known for path, names in citations().items() if names - known} == {}
    engine, tests = (
        [names for path, names in citations().items() if names and path.is_relative_to(ROOT / folder)]
        for folder in ("engine", "tests/engine")
    )
    assert len(set().union(*engine)) >= 20
    assert len(tests) > 25


def test_links_to_sections_of_the_book_resolve() -> None:
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = {path: path.read_text(encoding="utf-8") for path in documents}
    links = [link for text in texts.values() for link in re.findall(r"rules\.md#([\w-]+)", text)]
    links += re.findall(r"\]\(#([\w-]+)\)", texts[BOOK])
    assert len(links) > 1
    assert sorted(set(links) - anchors()) == []
    assert [path for path, text in {**sources(), **texts}.items() if _OLD_NAME.search(text)] == []


def test_every_decision_and_paragraph_is_named_by_a_test() -> None:
    assert len(set(decisions())) == len(decisions()) == 64
    assert len(paragraphs()) == 48
    tests = [
        "\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno])
        for path, source in sources().items()
        if path.is_relative_to(ROOT / "tests" / "engine")
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    text = "\n".join(tests)
    assert sorted(set(decisions()) - set(DECISION.findall(text))) == []
    assert [name for name in paragraphs() if not re.search(rf"{name}\b", text)] == []
    begun = set(re.findall(r"\b3\.(?:[1-6] [A-Z][a-z]+|7 [a-z]+)", text))
    assert sorted(start for start in begun if not any(name.startswith(start) for name in paragraphs())) == []
