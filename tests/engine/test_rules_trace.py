"""Tests of docs/reference/rules_trace.md: its sentences, options, tests and marks."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from engine.rules.options import PRESETS, profile, with_options
from engine.rules.rules import OPTIONS
from tests.engine import rules_trace
from tests.engine.rule_book import DECISION, ROOT, decisions
from tests.engine.rules_trace import Row, rows_of, sentences, source_texts, split_sentences, written
from tests.engine.worked_examples import own_examples

HERE = Path(__file__).parent
ROWS = rows_of(rules_trace.read_page())
_CASE = re.compile(r"(.+\.py)::(\w+)(?:\[([\w-]+)\])?")


def texts() -> list[str]:
    found = source_texts()
    if found is None:
        pytest.skip("the source texts are not part of the project: there is no ../shared/rules next to it")
    return found


# ---- sentences ----


def test_every_sentence_of_the_texts_is_listed_once_and_in_order() -> None:
    expected = [(row.text, row.game, row.number, row.begins) for row in sentences(texts())]
    assert [(row.text, row.game, row.number, row.begins) for row in ROWS] == expected
    assert len(expected) == 294


def test_the_sentences_contain_all_words_of_the_texts() -> None:
    """Splitting loses nothing but headings: it is compared with the words of the whole text."""
    for text in texts():
        lines = [" ".join(line.split()) for line in text.splitlines()]
        assert [" ".join(split_sentences(line)) for line in lines] == lines
    assert sum(row.begins == "(figure)" for row in ROWS) == 9


@pytest.mark.parametrize(
    ("line", "split"),
    [
        ("Draw. play on. (If 2 play, draw 8.) Then stop!", ["Draw.", "play on.", "(If 2 play, draw 8.)", "Then stop!"]),
        ("The first (out of tiles, remember?) gets the sum.", ["The first (out of tiles, remember?) gets the sum."]),
        ("Say “Domino!” and win. See below*. Go on", ["Say “Domino!” and win.", "See below*.", "Go on"]),
        (
            "A.K.A. Draw, i.e. Block, for approx. 5 min. So 4.5 is",
            ["A.K.A. Draw, i.e. Block, for approx. 5 min.", "So 4.5 is"],
        ),
        (
            "Ends (5, 10, etc.). It may, etc. However, 2(!) count.",
            ["Ends (5, 10, etc.).", "It may, etc.", "However, 2(!) count."],
        ),
        ('"Six?" ... and so on, until 0.', ['"Six?"', "... and so on, until 0."]),
    ],
)
def test_a_line_is_split_into_sentences(line: str, split: list[str]) -> None:
    assert split_sentences(line) == split


def test_figures_are_one_sentence_and_headings_none() -> None:
    text = "Setup\nDraw 7. Then play:\n\n++ 5 ++\n 5  4 \n\nBrian  Tom\n+ O\n2 players draw 7 tiles each\n"
    found = sentences([text])
    assert [(row.number, row.begins) for row in found] == [
        (1, "Draw 7."),
        (2, "Then play:"),
        (3, "(figure)"),
        (4, "(figure)"),
        (5, "2 players draw 7 tiles each"),
    ]


def test_the_page_quotes_only_the_first_words() -> None:
    assert [row.begins for row in ROWS if len(row.begins.removesuffix(" …").split()) > 7] == []


def test_the_page_is_as_written_from_its_rows() -> None:
    """The counts, and the options without a sentence, follow from the rows."""
    page = rules_trace.read_page()
    assert written(page, ROWS) == page
    assert written(page, ROWS[1:]) != page


# ---- marks ----


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


@pytest.mark.parametrize(
    "held", ["", "`test_bones.py`", "table:", "page", "advice", "`test_bones.py::test_x` table: x"]
)
def test_an_incomplete_cell_is_found(held: str) -> None:
    row = replace(ROWS[0], held=held)
    assert not _is_read_whole(row) or (not row.tests and row.mark == "test")


def test_decisions_named_on_the_page_exist() -> None:
    named = {name for row in ROWS for name in DECISION.findall(row.held)}
    assert named - set(decisions()) == set()
    assert "A3-16" in named


# ---- options ----


def test_options_of_a_game_are_its_own_and_variations_differ() -> None:
    checked = 0
    for row in ROWS:
        rules = profile(row.game)
        for key, value in row.defaults:
            assert with_options(rules, {key: value}) == rules, (row.text, row.number, key)
        for key, value in row.variations:
            assert with_options(rules, {key: value}) != rules, (row.text, row.number, key)
        checked += len(row.defaults) + len(row.variations)
    assert checked > 150


def test_every_named_option_exists() -> None:
    known = {option.key for option in OPTIONS} | {preset.key for preset in PRESETS}
    assert {key for row in ROWS for key, _ in (*row.defaults, *row.variations)} - known == set()


@pytest.mark.slow
@pytest.mark.parametrize("game", dict.fromkeys(row.game for row in ROWS))
def test_tests_of_a_sentence_fail_without_its_options(game: str) -> None:
    command = [sys.executable, "-m", "tests.engine.other_rules", game]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n") == [f"{game}: each option is held", ""]


# ---- tests ----


def test_every_named_test_exists() -> None:
    names = {name for row in ROWS for name in row.tests}
    assert sorted(name for name in names if not exists(name)) == []
    assert len(names) > 120


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("test_bones.py::test_play_goes_round_clockwise", True),
        ("tests/engine/test_bones.py::test_play_goes_round_clockwise", True),
        ("test_bones.py::test_play_goes_round", False),
        ("test_bones.py::with_four_doubles", False),
        ("test_no_game.py::test_play_goes_round_clockwise", False),
        ("test_worked_examples.py::test_layout[bones-twenty-five]", True),
        ("test_worked_examples.py::test_layout[bones-out]", False),
        ("test_worked_examples.py::test_hand_end[bones-out]", True),
        ("test_bones.py::test_play_goes_round_clockwise[bones-twenty-five]", False),
    ],
)
def test_a_name_is_looked_up_in_its_file(name: str, found: bool) -> None:
    assert exists(name) is found


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
