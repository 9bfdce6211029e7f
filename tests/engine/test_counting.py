"""Tests of docs/reference/rules.md 2.2, and of the counts of 3.1 and 3.3."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import BranchOrder, Count, Port, Rules, Spinner, SpinnerCount, TallyStyle, points_for
from tests.engine.table import MIRROR, OPEN_BONES, SAME, Table

OPEN_HALVES = replace(OPEN_BONES, branch_order=BranchOrder.ANY, spinner_count=SpinnerCount.OPEN_HALVES)
CAPPED_ANY = replace(OPEN_BONES, branch_order=BranchOrder.ANY)
FIVE_UP = replace(OPEN_BONES, spinner=Spinner.ALL)

# Examples of docs/reference/rules.md 3.1, Count: plays, sum, points.
BONES_TABLE = [
    ("5-5 5-4@W 5-1@E", "4 + 1 = 5", 5),
    ("1-1 1-6@W 6-3@W 1-5@E 5-5@E 5-4@E 1-2@N", "3 + 2 + 4 = 9", 0),
    ("1-1 1-6@W 6-3@W 1-5@E 5-5@E 1-2@N", "3 + 2 + 5 + 5 = 15", 15),
    ("5-5", "5 + 5 = 10", 10),
    ("5-5 5-0@E", "5 + 5 + 0 = 10", 10),
]


@pytest.mark.parametrize(("plays", "text", "points"), BONES_TABLE)
@pytest.mark.parametrize("names", [SAME, MIRROR], ids=["as written", "mirrored"])
def test_bones_counts_as_in_the_rules(plays: str, text: str, points: int, names: dict[Port, Port]) -> None:
    table = Table(names=names).play(*plays.split())
    assert table.score == points
    assert table.count.total == int(text.split()[-1])
    assert sorted(str(table.count).split()) == sorted(text.split())
    if names is SAME:
        assert str(table.count) == text


def test_a_lone_first_tile_counts_both_halves_once() -> None:
    assert str(Table().play("6-4").count) == "6 + 4 = 10"
    for rules in (OPEN_BONES, OPEN_HALVES, FIVE_UP, replace(OPEN_BONES, spinner=Spinner.NONE)):
        assert Table(rules).play("4-4").count.total == 8
    assert str(Count(())) == "0"


def test_each_term_names_its_half() -> None:
    table = Table().play("1-1", "1-6@W", "6-3@W", "1-5@E", "5-5@E", "1-2@N")
    named = {node.id: str(node.tile) for node in table.game.layout.nodes}
    assert [(named[term.spot.host], term.spot.port, term.pips) for term in table.count.terms] == [
        ("6-3", Port.E, 3),
        ("2-1", Port.E, 2),
        ("5-5", Port.N, 5),
        ("5-5", Port.S, 5),
    ]


def test_an_end_double_counts_both_halves_until_it_is_covered() -> None:
    table = Table().play("6-6", "6-4@W", "4-4@W")
    assert table.count.total == 12 + 8
    table.play("4-1@W")
    assert table.count.total == 12 + 1
    table = Table(FIVE_UP).play("6-6", "6-4@E", "4-4@E", "4-1@E")
    assert table.count.total == 12 + 1
    table.play("4-3@4-4:N")
    assert table.count.total == 12 + 1 + 3


# Own count of the spinner 5-5 with 0 to 4 covered ports.
@pytest.mark.parametrize(
    ("rules", "worth"),
    [(OPEN_HALVES, [10, 10, 10, 5, 0]), (CAPPED_ANY, [10, 10, 0, 0, 0]), (OPEN_BONES, [10, 10, 0, 0, 0])],
)
def test_the_count_of_a_spinner_depends_on_its_covered_sides(rules: Rules, worth: list[int]) -> None:
    table = Table(rules)
    covering = 0
    for text, adds in (("5-5", 0), ("5-1@W", 1), ("5-2@E", 2), ("5-3@N", 3), ("5-4@S", 4)):
        table.play(text)
        covering += adds
        assert table.count.total == worth.pop(0) + covering


def test_the_unit_and_the_divisor_decide_the_points_of_a_count() -> None:
    table = Table().play("0-0")
    assert (table.count.total, table.score, table.totals) == (0, 0, (0, 0))
    threes = replace(OPEN_BONES, unit=3, tally=TallyStyle.NUMBERS)
    assert [total for total in range(1, 16) if points_for(total, threes)] == [3, 6, 9, 12, 15]
    assert points_for(10, replace(OPEN_BONES, unit=None)) == 0
    assert points_for(15, replace(OPEN_BONES, play_divisor=5, tally=TallyStyle.NUMBERS)) == 3
