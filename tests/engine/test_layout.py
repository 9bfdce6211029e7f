"""Tests of docs/reference/rules.md 2.1 and 2.2: ports, arms, spinners, branches and counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from engine import BONES, BranchOrder, Layout, NodeId, Port, Spinner, Spot, TallyStyle, Tile, attach, ends, points_for
from engine.tiles import bits_with
from tests.engine.table import MIRROR, OPEN_BONES, SAME, Table

ALL_SPINNERS = replace(OPEN_BONES, spinner=Spinner.ALL)
NO_SPINNER = replace(OPEN_BONES, spinner=Spinner.NONE)
ANY_ORDER = replace(OPEN_BONES, branch_order=BranchOrder.ANY)


def shown(table: Table) -> list[tuple[str, int, str]]:
    """Return arm, number and tile of every playable end."""
    tile = {node.id: str(node.tile) for node in table.game.layout.nodes}
    return [(end.arm.value, end.number, tile[end.spot.host]) for end in ends(table.state) if end.playable]


def test_a_layout_without_a_table_opens_its_outer_halves() -> None:
    assert Layout().ends == ()
    layout = attach(Layout(), Tile(3, 4), None, node=NodeId(0), rules=BONES)
    assert [end.number for end in layout.ends] == [3, 4]
    layout = attach(Layout(), Tile(3, 4), None, node=NodeId(0), rules=BONES, inner=4)
    assert layout.ends[0] == engine.OpenEnd(
        Spot(NodeId(0), Port.W), 4, Port.W, playable=True, fits=bits_with(4), ways=0
    )
    layout = attach(layout, Tile(1, 2), Spot(NodeId(0), Port.W), node=NodeId(1), rules=BONES, inner=2)
    assert [end.number for end in layout.ends] == [1, 3]


def test_a_single_leaves_its_outer_half_open() -> None:
    assert shown(Table().play("4-3")) == [("W", 4, "4-3"), ("E", 3, "4-3")]
    assert shown(Table().play("3-4")) == [("W", 3, "4-3"), ("E", 4, "4-3")]
    table = Table().play("4-3", "3-6@E")
    assert shown(table) == [("W", 4, "4-3"), ("E", 6, "6-3")]
    node = table.game.layout.nodes[1]
    assert (node.inner, node.outer, node.joins) == (3, 6, Spot(NodeId(2), Port.E))
    assert table.game.layout.covered(node) == (Port.W,)
    table = Table().play("4-3", "3-6@E")
    first, second = table.game.layout.nodes
    assert table.game.layout.covered(first) == (Port.E,)
    assert table.game.layout.covered(second) == (Port.W,)


def test_the_first_double_branches_or_all_or_none() -> None:
    table = Table().play("4-3", "3-3@E", "4-4@W")
    assert [node.tile for node in table.game.layout.nodes if node.branches] == [Tile(3, 3)]
    assert table.game.layout.spinner == table.game.layout.nodes[1]
    table = Table(ALL_SPINNERS).play("4-3", "3-3@E", "4-4@W")
    assert [node.tile for node in table.game.layout.nodes if node.branches] == [Tile(3, 3), Tile(4, 4)]
    table = Table(NO_SPINNER).play("3-3", "3-1@W", "3-2@E")
    assert shown(table) == [("W", 1, "3-1"), ("E", 2, "3-2")]
    assert len(ends(table.state)) == 2


def test_branch_ports_are_closed_until_both_sides_are_covered() -> None:
    table = Table().play("5-5")
    assert [(end.arm, end.playable) for end in ends(table.state)] == [
        (Port.W, True),
        (Port.N, False),
        (Port.E, True),
        (Port.S, False),
    ]
    table.play("5-1@W")
    assert {end.arm: end.playable for end in ends(table.state)}[Port.N] is False
    table.play("5-4@E")
    assert {end.arm: end.playable for end in ends(table.state)} == dict.fromkeys((Port.W, Port.N, Port.E, Port.S), True)
    table = Table().play("4-3", "3-3@E")
    assert {(end.number, end.playable) for end in ends(table.state) if end.spot.host == table.node("3-3")} == {
        (3, True),
        (3, False),
    }
    table.play("3-5@E")
    assert [arm for arm, number, tile in shown(table) if tile == "3-3"] == ["N", "S"]
    assert shown(Table(ANY_ORDER).play("5-5")) == [("W", 5, "5-5"), ("N", 5, "5-5"), ("E", 5, "5-5"), ("S", 5, "5-5")]


def test_tiles_of_a_branch_continue_its_arm() -> None:
    table = Table().play("5-5", "5-1@W", "1-1@W")
    assert [(arm, number) for arm, number, tile in shown(table) if tile == "1-1"] == [("W", 1)]
    table.play("1-6@W")
    assert [tile for _, _, tile in shown(table)] == ["6-1", "5-5"]
    table = Table().play("5-5", "5-1@W", "5-4@E", "5-2@N", "2-6@N", "5-3@S")
    assert shown(table) == [("W", 1, "5-1"), ("N", 6, "6-2"), ("E", 4, "5-4"), ("S", 3, "5-3")]
    table = Table().play("5-5", "5-1@W", "5-4@E")
    assert [node.id for node in table.game.layout.nodes] == [2, 3, 4]


@pytest.mark.parametrize(
    ("tile", "at", "text"),
    [
        (Tile(1, 5), None, "it must touch the layout"),
        (Tile(1, 5), Spot(NodeId(9), Port.W), "the tile it should touch is not on the table"),
        (Tile(4, 5), Spot(NodeId(0), Port.E), "another tile already touches the 5-4 there"),
        (Tile(4, 5), Spot(NodeId(0), Port.N), "the 5-4 is not a double and has no tips"),
        (Tile(1, 2), Spot(NodeId(0), Port.W), "it has no 5, and its outer half was not visible"),
    ],
)
def test_rejects_physically_impossible_plays(tile: Tile, at: Spot | None, text: str) -> None:
    layout = attach(Layout(), Tile(4, 5), None, node=NodeId(0), rules=BONES, inner=5)
    layout = attach(layout, Tile(4, 6), Spot(NodeId(0), Port.E), node=NodeId(1), rules=BONES)
    assert engine.obstacle(layout, tile, at, rules=BONES) == text
    with pytest.raises(engine.EngineError, match=text):
        attach(layout, tile, at, node=NodeId(2), rules=BONES)


OPEN_HALVES = replace(OPEN_BONES, branch_order=BranchOrder.ANY, spinner_count=engine.SpinnerCount.OPEN_HALVES)
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


def test_a_lone_first_tile_and_an_end_double_count_both_halves() -> None:
    assert str(Table().play("6-4").count) == "6 + 4 = 10"
    for rules in (OPEN_BONES, OPEN_HALVES, FIVE_UP, replace(OPEN_BONES, spinner=Spinner.NONE)):
        assert Table(rules).play("4-4").count.total == 8
    assert str(engine.Count(())) == "0"
    table = Table().play("6-6", "6-4@W", "4-4@W")
    assert table.count.total == 12 + 8
    table.play("4-1@W")
    assert table.count.total == 12 + 1
    table = Table(FIVE_UP).play("6-6", "6-4@E", "4-4@E", "4-1@E")
    assert table.count.total == 12 + 1
    table.play("4-3@4-4:N")
    assert table.count.total == 12 + 1 + 3


def test_each_term_names_its_half() -> None:
    table = Table().play("1-1", "1-6@W", "6-3@W", "1-5@E", "5-5@E", "1-2@N")
    named = {node.id: str(node.tile) for node in table.game.layout.nodes}
    assert [(named[term.spot.host], term.spot.port, term.pips) for term in table.count.terms] == [
        ("6-3", Port.E, 3),
        ("2-1", Port.E, 2),
        ("5-5", Port.N, 5),
        ("5-5", Port.S, 5),
    ]


# Own count of the spinner 5-5 with 0 to 4 covered ports.
@pytest.mark.parametrize(
    ("rules", "worth"),
    [(OPEN_HALVES, [10, 10, 10, 5, 0]), (CAPPED_ANY, [10, 10, 0, 0, 0]), (OPEN_BONES, [10, 10, 0, 0, 0])],
)
def test_the_count_of_a_spinner_depends_on_its_covered_sides(rules: engine.Rules, worth: list[int]) -> None:
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
