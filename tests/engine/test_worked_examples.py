"""Tests of the engine with every worked example."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import engine
from engine.rules.options import with_options
from engine.state.events import HandResult
from tests.engine.rule_book import decisions, sections
from tests.engine.table import MIRROR, OPEN_BONES, SAME, Table
from tests.engine.worked_examples import Example, each, examples, is_accepted, leader_of, own_examples, setup_of

# Any seat may lead any tile, and illegal plays are refused.
OPEN_CUTTHROAT = replace(engine.CUTTHROAT, lead_first=engine.LeadRule.LOT_ANY, policy=engine.Policy.STRICT)
OPEN_SUPER = replace(engine.SUPER, policy=engine.Policy.STRICT)
DOUBLES = " ".join(f"{number}-{number}" for number in range(16))
THIRTEENS = " ".join(["13-0", "13-5", "13-12", "14-13", "15-13"])
OTHERS = " ".join(f"{high}-{low}" for high in range(1, 16) for low in range(high) if 13 not in (low, high))


def _rules_of(example: Example) -> engine.Rules:
    return replace(
        OPEN_BONES,
        spinner=engine.Spinner(example["rules"]["spinner"]),
        branch_order=engine.BranchOrder(example["rules"]["branch_order"]),
        spinner_count=engine.SpinnerCount(example["rules"]["spinner_count"]),
        unit=example["rules"]["unit"],
        copies=example["rules"].get("copies", 1),
        play_divisor=example["rules"].get("play_divisor", 1),
        policy=engine.Policy(example["rules"].get("policy", "strict")),
        tally=engine.TallyStyle.NUMBERS,
        match_end=engine.MatchEnd.END_OF_HAND,
    )


def _as_laid(step: dict[str, Any]) -> str:
    """Return a step in the notation of `Table`, which does not distinguish copies of a tile."""
    return f"{step['tile']}@{step['at']}".replace("'", "")


def _play_of(table: Table, example: Example, step: dict[str, Any]) -> engine.Play:
    """Return a step as a play. If a wrong number is accepted, the first number is the inner half."""
    play = table.play_of(_as_laid(step))
    wrong = not step.get("legal", True) and is_accepted(example, step)
    return replace(play, inner=int(step["tile"].partition("-")[0])) if wrong else play


@pytest.mark.parametrize("names", [SAME, MIRROR], ids=["as-written", "mirrored"])
@pytest.mark.parametrize("example", each("layout"))
def test_layout(example: Example, names: dict[engine.Port, engine.Port]) -> None:
    table = Table(_rules_of(example), names=names)
    for step in example["plays"]:
        play = _play_of(table, example, step)
        assert (engine.problem_with(table.state, play) is None) is step.get("legal", True)
        if not is_accepted(example, step):
            refused, _ = engine.apply(table.state, play)
            assert refused.game == table.state.game
            continue
        laid = len(table.game.layout.nodes)
        table.feed(play)
        assert len(table.game.layout.nodes) == laid + 1
        if "count" in step:
            assert table.count.total == step["count"]
        if "score" in step:
            assert table.score == step["score"]


@pytest.mark.parametrize("example", each("round"))
def test_round(example: Example) -> None:
    assert engine.round_nearest(example["value"], example["unit"]) == example["expect"]


@pytest.mark.parametrize("example", each("tally"))
def test_tally(example: Example) -> None:
    expect = example["expect"]
    if "rows" in expect:
        rows = engine.RowsTally.of(example["adds"])
        assert (rows.points, list(rows.lines()), rows.rest) == (expect["total"], expect["rows"], expect["rest"])
        return
    tally = engine.HouseTally.of(example["adds"])
    assert tally.points == expect["total"]
    units = [{"cross": house.cross, "q": [mark.value for mark in house.quadrants]} for house in tally.houses]
    assert units == expect["units"]


@pytest.mark.parametrize("example", each("hand_end"))
def test_hand_end(example: Example) -> None:
    result = _settled(example)
    expect = example["expect"]
    assert result.points == expect["points"]
    if "pair" in expect:
        assert (result.winner is None) if expect["pair"] is None else (result.winner in expect["pair"])
    else:
        assert result.winner == expect["winner"]
    assert result.difference == expect.get("difference", result.difference)
    assert result.rounded == expect.get("rounded", result.rounded)
    assert list(result.pips) == expect.get("totals", list(result.pips))


def _settled(example: Example) -> HandResult:
    if "hands" in example:
        holdings = [engine.Holding.of([engine.Tile.parse(text) for text in hand]) for hand in example["hands"]]
    else:
        holdings = [engine.Holding(pips) for pips in example["hand_pips"]]
    params = example["params"]
    rule = engine.HandPoints(
        subtract_own=params["subtract_own"],
        round_to=params.get("round_to"),
        round_each=params.get("round_each", False),
        bonus_divisor=params.get("divisor", 1),
        tie=engine.TieBreak(params.get("tie", "lightest_tile")),
        tie_order=engine.TieOrder(params.get("tie_order", "pips")),
        mode=engine.HandMode(params.get("mode", "pips")),
        signed=params.get("signed", False),
    )
    out = example["went_out"]
    partners = engine.PartnersMode(params["partners"]) if "partners" in params else None
    return engine.settle(holdings, None if out is None else engine.Seat(out), rule, partners)


@pytest.mark.parametrize("example", each("event"))
def test_stacking(example: Example) -> None:
    setup, expect = setup_of(example), example["expect"]
    table = Table(with_options(OPEN_CUTTHROAT, example.get("options", {})), ("A", "B", "C", "D"))
    table.play(*(_as_laid(step) for step in setup["plays"]))
    worth = setup["plays"][-1]["score"] if example.get("called", True) else 0
    if worth > 0:
        table.call()
    assert (table.count.total, table.totals[table.to_move - 1]) == (setup["plays"][-1]["count"], worth)
    for tile in example.get("before", []):
        table.stack(tile).call()
    before, thief = table.totals, table.to_move
    victim = (thief - 1) % 4
    stack = engine.Stack(thief, engine.Tile.parse(example["stack"]["tile"]), table.node(example["stack"]["tile"]))
    assert (engine.problem_with(table.state, stack) is None) is expect.get("legal", True)
    if expect.get("legal") is False:
        game = table.game
        assert table.feed(stack).game == game
        return
    table.feed(stack)
    if example["stack"].get("called", True):
        table.call()
    assert table.count.total == expect["count"]
    assert table.totals[thief] - before[thief] == expect["stacker_gain"]
    assert before[victim] - table.totals[victim] == expect["previous_loss"]


def _at(table: Table, at: str) -> engine.Spot | None:
    """Return the spot of "start", of an arm such as "arm1", or of "new", the next arm, even past the sixth."""
    if at == "start":
        return None
    if at == "new":
        free = len(table.game.layout.covered(table.game.layout.nodes[0])) + 1
        return engine.Spot(table.game.layout.nodes[0].id, engine.Port(str(free)))
    return table.end(at.removeprefix("arm")).spot


def _before(example: Example) -> Table:
    """Return the table before the play of an example."""
    table = Table(with_options(OPEN_SUPER, example.get("options", {})), tuple(example["players"]))
    table.lead(leader_of(example))
    for text in example["layout_before"]:
        tile, at = text.split()
        table.feed(replace(table.play_of(tile), at=_at(table, at), inner=None))
    return table


def _mover(example: Example) -> engine.Seat:
    return engine.Seat(example["players"].index(example["mover"]))


@pytest.mark.parametrize("example", each("super"))
def test_six_arms(example: Example) -> None:
    table, expect, mover = _before(example), example["expect"], _mover(example)
    assert table.hand.turn == mover
    play = replace(table.play_of(example["play"]["tile"]), at=_at(table, example["play"]["at"]), inner=None)
    if expect.get("legal") is False:
        assert engine.problem_with(table.state, play) is not None
        game = table.game
        assert table.feed(play).game == game
        return
    assert engine.problem_with(table.state, play) is None
    table.feed(play)
    course, names = table.hand.course, example["players"]
    assert names[table.to_move] == expect["next"]
    assert course.direction == expect.get("direction", 1)
    drawn = {names[draw.seat]: draw.tiles for draw in table.outcomes if isinstance(draw, engine.ForcedDraw)}
    assert drawn == expect.get("draws", {})
    assert course.extra is expect.get("may_decline", False)
    if "may_decline" in expect:
        assert names[table.decline().to_move] == "B"
    assert _spell(table) == expect.get("spell")
    if "legal_for_spell" in expect:
        _check_breaking_tiles(table, str(expect["spell"]).removeprefix("arm "))
    if "caster_exempt" in expect:
        _check_caster(table, mover, exempt=expect["caster_exempt"])


def _spell(table: Table) -> str | None:
    spell = table.hand.course.spell
    if spell is None:
        return None
    return "all six arms must be started" if spell.arm is None else f"arm {spell.arm}"


def _check_breaking_tiles(table: Table, arm: str) -> None:
    """Check that only a 13 or a double breaks the spell, and only on *arm*."""
    used = {str(tile) for tile in table.game.layout.tiles}
    for held in (DOUBLES, THIRTEENS):
        assert table.can_play(held) == [f"{tile}@{arm}" for tile in held.split() if tile not in used]
    assert table.can_play(OTHERS) == []


def _check_caster(table: Table, caster: engine.Seat, *, exempt: bool) -> None:
    """Check whether the caster must draw when the turn comes back."""
    for _ in range(len(table.players) - 1):
        table.draw(2).knock()
    assert table.to_move == caster
    assert (engine.problem_with(table.state, engine.Knock(caster)) is None) is exempt
    if exempt:
        assert table.knock().to_move != caster
        return
    assert table.knock().to_move == caster  # refused: they have not drawn
    assert table.draw(2).knock().to_move != caster


TYPES = {"layout", "round", "tally", "hand_end", "event", "super"}


def test_every_type_of_example_is_tested() -> None:
    assert {example["type"] for example in own_examples()} == TYPES
    assert {example["type"] for example in examples()} <= TYPES
    assert len({example["id"] for example in examples()}) == len(examples())


def test_every_citation_of_an_example_exists() -> None:
    known = {*sections(), *decisions()}
    assert [example["id"] for example in own_examples() if not example["cites"]] == []
    assert {cite for example in own_examples() for cite in example["cites"]} - known == set()


def test_every_count_equals_its_sum() -> None:
    steps = [step for example in own_examples() for step in example.get("plays", []) if "count" in step]
    assert [step for step in steps if sum(map(int, step["sum"].split(" + "))) != step["count"]] == []
    assert len(steps) > 250
