"""Tests that each decision, paragraph and row of 3.7 in docs/reference/rules.md section 3 is named by a test.

A test names its rules in a comment or docstring, such as "A1-5: blocked, own pips are not subtracted".
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.engine.rule_book import DECISION, decisions, paragraphs


def _tests_in(source: str) -> list[str]:
    """Return the text of each test function, without decorators but with comments."""
    lines = source.splitlines()
    return [
        "\n".join(lines[node.lineno - 1 : node.end_lineno])
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def _all_tests() -> list[str]:
    here = Path(__file__)
    files = sorted(path for path in here.parent.glob("test_*.py") if path != here)
    return [test for path in files for test in _tests_in(path.read_text(encoding="utf-8"))]


def _named(tests: list[str]) -> set[str]:
    text = "\n".join(tests)
    return set(DECISION.findall(text)) | {name for name in paragraphs() if re.search(rf"{name}\b", text)}


def test_every_decision_is_named_by_a_test() -> None:
    assert len(set(decisions())) == len(decisions()) == 64
    assert sorted(set(decisions()) - _named(_all_tests())) == []


def test_every_paragraph_is_named_by_a_test() -> None:
    assert len(paragraphs()) == 48
    assert sorted(set(paragraphs()) - _named(_all_tests())) == []


def test_no_test_names_a_rule_that_does_not_exist() -> None:
    tests = _all_tests()
    assert sorted({name for name in _named(tests) if name.startswith("A")} - set(decisions())) == []
    begun = set(re.findall(r"\b3\.(?:[1-6] [A-Z][a-z]+|7 [a-z]+)", "\n".join(tests)))
    assert sorted(start for start in begun if not any(name.startswith(start) for name in paragraphs())) == []


def test_a_rule_counts_only_where_a_test_names_it() -> None:
    source = "# A1-2: above\nROWS = 1\ndef rules() -> None:\n    # A1-4: no test\n    pass\n"
    assert _named(_tests_in(source)) == set()
    assert _named(_tests_in(source + "def test_it() -> None:\n    # A1-40: 3.1 Lead: inside\n    pass\n")) == {
        "A1-40",
        "3.1 Lead",
    }
