"""Every rule of RULES.md section 3 is named by a test: each ambiguity, each paragraph of the texts, each row of 3.7.

A test names its rules in a comment or docstring of its own, such as "A1-5: blocked, own pips are not subtracted".
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

AMBIGUITIES = (
    "A-G1",
    *(f"A0-{number}" for number in range(1, 10)),
    *(f"A1-{number}" for number in (*range(1, 8), *range(20, 29), *range(40, 47))),
    *(f"A2-{number}" for number in range(1, 16)),
    *(f"A3-{number}" for number in range(1, 17)),
)

PARAGRAPHS = (
    "3.1 Setup",
    "3.1 Lead",
    "3.1 Legal plays",
    "3.1 Drawing",
    "3.1 Count",
    "3.1 Hand end",
    "3.1 Match",
    "3.1 Tally",
    "3.2 Setup",
    "3.2 Lead",
    "3.2 Play",
    "3.2 Options",
    "3.3 Setup",
    "3.3 Lead",
    "3.3 Count",
    "3.3 Hand end",
    "3.3 Match",
    "3.3 Options",
    "3.4 Setup",
    "3.4 Lead",
    "3.4 Play",
    "3.4 End",
    "3.4 Score",
    "3.4 Match",
    "3.5 Setup",
    "3.5 Branches",
    "3.5 Cannot play",
    "3.5 Leaves 15",
    "3.5 Leaves 14",
    "3.5 Leaves 13",
    "3.5 Leaves 3",
    "3.5 Leaves a double",
    "3.5 Starter",
    "3.5 Hand end",
    "3.5 Scoring",
    "3.6 Setup",
    "3.6 Draw",
    "3.6 Count",
    "3.6 Hand end",
    "3.6 Match",
    "3.6 Tally",
    "3.6 Cutthroat",
    "3.7 tips before both sides",
    "3.7 capped spinner",
    "3.7 bonus",
    "3.7 score automatic",
    "3.7 lead",
    "3.7 block",
)

_ID = re.compile(r"A(?:-G|[0-3]-)[0-9]+")


def _tests_in(source: str) -> list[str]:
    """The text of each test function, decorators and comments included."""
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
    return set(_ID.findall(text)) | {name for name in PARAGRAPHS if re.search(rf"{name}\b", text)}


def test_every_ambiguity_is_named_by_a_test() -> None:
    assert len(AMBIGUITIES) == 64
    assert sorted(set(AMBIGUITIES) - _named(_all_tests())) == []


def test_every_paragraph_is_named_by_a_test() -> None:
    assert sorted(set(PARAGRAPHS) - _named(_all_tests())) == []


def test_no_test_names_a_rule_that_does_not_exist() -> None:
    tests = _all_tests()
    assert sorted({name for name in _named(tests) if name.startswith("A")} - set(AMBIGUITIES)) == []
    begun = set(re.findall(r"\b3\.(?:[1-6] [A-Z][a-z]+|7 [a-z]+)", "\n".join(tests)))
    assert sorted(one for one in begun if not any(name.startswith(one) for name in PARAGRAPHS)) == []


def test_a_rule_counts_only_where_a_test_names_it() -> None:
    source = "# A0-1: above\nROWS = 1\ndef rules() -> None:\n    # A0-2: no test\n    pass\n"
    assert _named(_tests_in(source)) == set()
    assert _named(_tests_in(source + "def test_it() -> None:\n    # A0-11: 3.1 Lead: inside\n    pass\n")) == {
        "A0-11",
        "3.1 Lead",
    }
