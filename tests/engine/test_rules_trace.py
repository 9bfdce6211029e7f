"""Tests of docs/reference/rules_trace.md: its sentences, options, tests and marks."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from engine.rules.options import PRESETS, profile, with_options
from engine.rules.rules import OPTIONS
from tests.engine import rules_trace
from tests.engine.rule_book import DECISION, ROOT, decisions, tables
from tests.engine.rules_trace import Row, rows_of
from tests.engine.worked_examples import own_examples

HERE = Path(__file__).parent
ROWS = rows_of(rules_trace.read_page())
_CASE = re.compile(r"(.+\.py)::(\w+)(?:\[([\w-]+)\])?")


def test_the_sentences_of_each_text_are_numbered_and_quoted_by_their_first_words() -> None:
    numbers = [[row.number for row in ROWS if row.text == text] for text in range(4)]
    assert numbers == [[*range(1, last + 1)] for last in (109, 95, 38, 52)]
    assert [row.begins for row in ROWS if not 0 < len(row.begins.removesuffix(" …").split()) <= 7] == []


def test_the_counts_of_the_page_are_those_of_its_rows() -> None:
    (counts,) = tables(rules_trace.read_page().partition("\n## ")[0])
    games = [*dict.fromkeys((str(row.text), row.game) for row in ROWS), ("all", "")]
    expected = []
    for text, game in games:
        marks = Counter(row.mark for row in ROWS if (str(row.text), row.game) == (text, game) or text == "all")
        numbers = (marks.total(), *(marks[mark] for mark in ("test", *rules_trace.MARKS)))
        expected.append([text, f"`{game}`" if game else "", *map(str, numbers)])
    assert counts[1:] == expected


def test_options_that_no_sentence_names_are_listed() -> None:
    listed = re.search(r"^No sentence names these options: (.+)\.$", rules_trace.read_page(), re.MULTILINE)
    assert listed is not None
    named = {key for row in ROWS for key, _ in (*row.defaults, *row.variations)}
    assert set(re.findall(r"`(\w+)`", listed[1])) == {option.key for option in OPTIONS} - named


def test_every_sentence_has_a_test_or_a_mark_with_a_reason() -> None:
    assert [row for row in ROWS if not row.tests and row.mark == "test"] == []
    assert [row for row in ROWS if row.mark == "table" and (row.tests or row.chosen)] == []
    assert [row for row in ROWS if not _is_read_whole(row)] == []


def _is_read_whole(row: Row) -> bool:
    """Check that a row is its options, tests, decisions and mark, and nothing else."""
    chosen = re.sub(r"`[a-z_]+=[^`]+`|\bvariation\b|\s", "", row.chosen)
    tests, decided = ", ".join(f"`{test}`" for test in row.tests), ", ".join(DECISION.findall(row.held))
    mark = re.search(r"(?:page|table|open): .+$", row.held)
    return not chosen and row.held == "; ".join(filter(None, [tests, decided, mark[0] if mark else ""]))


def test_decisions_named_on_the_page_exist() -> None:
    named = {name for row in ROWS for name in DECISION.findall(row.held)}
    assert named - set(decisions()) == set()
    assert "A3-16" in named


def test_options_of_a_game_are_its_own_and_variations_differ() -> None:
    checked, known = 0, {option.key for option in OPTIONS} | {preset.key for preset in PRESETS}
    for row in ROWS:
        rules = profile(row.game)
        for key, value in row.defaults:
            assert with_options(rules, {key: value}) == rules, (row.text, row.number, key)
        for key, value in row.variations:
            assert with_options(rules, {key: value}) != rules, (row.text, row.number, key)
        checked += len(row.defaults) + len(row.variations)
        assert {key for key, _ in (*row.defaults, *row.variations)} <= known
    assert checked > 150


@pytest.mark.slow
@pytest.mark.parametrize("game", dict.fromkeys(row.game for row in ROWS))
def test_tests_of_a_sentence_fail_without_its_options(game: str) -> None:
    command = [sys.executable, "-m", "tests.engine.other_rules", game]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n") == [f"{game}: each option is held", ""]


def test_every_named_test_exists() -> None:
    names = {name for row in ROWS for name in row.tests}
    assert sorted(name for name in names if not exists(name)) == []
    assert len(names) > 100


def exists(name: str) -> bool:
    """Check that a test exists. A case in brackets is the id of a worked example, of the types that the test uses."""
    path, function, case = _CASE.fullmatch(name).groups()  # type: ignore[union-attr]  # `Row.tests` has this form
    file = ROOT / path if path.startswith("tests/") else HERE / path
    tests = _tests_of(file) if file.is_file() else {}
    if function not in tests:
        return False
    return case is None or (case, tests[function]) in {(example["id"], example["type"]) for example in own_examples()}


@cache
def _tests_of(file: Path) -> dict[str, str | None]:
    """Return the tests in a file, each with the type of worked examples that are its cases, if any."""
    found: dict[str, str | None] = {}
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            decorators = " ".join(ast.unparse(decorator) for decorator in node.decorator_list)
            cases = re.search(r"\beach\('(\w+)'\)", decorators)
            found[node.name] = cases[1] if cases else None
    return found
