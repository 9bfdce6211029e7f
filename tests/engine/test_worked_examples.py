"""Every example of ../shared/rules/worked_examples.json, through the public engine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import (
    CUTTHROAT,
    SUPER,
    BranchOrder,
    ForcedDraw,
    HandPoints,
    Holding,
    HouseTally,
    LeadRule,
    MatchEnd,
    Policy,
    Port,
    Rules,
    Seat,
    Spinner,
    SpinnerCount,
    Spot,
    Tile,
    apply,
    problem_with,
    round_nearest,
    settle,
)
from engine.options import with_options
from engine.settle import HandResult
from tests.engine.table import MIRROR, OPEN_BONES, SAME, Table

Example = dict[str, Any]

PATH = Path(__file__).resolve().parents[3] / "shared" / "rules" / "worked_examples.json"

# Whoever may lead, with any tile, and nothing illegal stands.
OPEN_CUTTHROAT = replace(CUTTHROAT, lead_first=LeadRule.LOT_ANY, policy=Policy.STRICT)
OPEN_SUPER = replace(SUPER, policy=Policy.STRICT)
DOUBLES = " ".join(f"{number}-{number}" for number in range(16))
THIRTEENS = " ".join(["13-0", "13-5", "13-12", "14-13", "15-13"])
OTHERS = " ".join(f"{high}-{low}" for high in range(1, 16) for low in range(high) if 13 not in (low, high))


def _examples() -> list[Example]:
    if not PATH.is_file():
        return []
    found: list[Example] = json.loads(PATH.read_text(encoding="utf-8"))["examples"]
    return found


def _of(*types: str) -> list[Any]:
    """The examples of these types, or one that is skipped with the reason where there are none to read."""
    found = [pytest.param(example, id=example["id"]) for example in _examples() if example["type"] in types]
    missing = pytest.mark.skip(reason=f"{PATH} is kept beside the project and is not here")
    return found or [pytest.param({}, id="absent", marks=missing)]


def _rules_of(example: Example) -> Rules:
    return replace(
        OPEN_BONES,
        spinner=Spinner(example["rules"]["spinner"]),
        branch_order=BranchOrder(example["rules"]["branch_order"]),
        spinner_count=SpinnerCount(example["rules"]["spinner_count"]),
        unit=example["rules"]["unit"],
        match_end=MatchEnd.END_OF_HAND,
    )


@pytest.mark.parametrize("names", [SAME, MIRROR], ids=["as-written", "mirrored"])
@pytest.mark.parametrize("example", _of("layout"))
def test_layout(example: Example, names: dict[Port, Port]) -> None:
    table = Table(_rules_of(example), names=names)
    for step in example["plays"]:
        play = table.play_of(f"{step['tile']}@{step['at']}")
        if step.get("legal") is False:
            assert problem_with(table.state, play) is not None
            refused, _ = apply(table.state, play)
            assert refused.game == table.state.game
            continue
        assert problem_with(table.state, play) is None
        table.feed(play)
        if "count" in step:
            assert table.count.total == step["count"]
        if "score" in step:
            assert table.score == step["score"]


@pytest.mark.parametrize("example", _of("round"))
def test_round(example: Example) -> None:
    assert round_nearest(example["value"], example["unit"]) == example["expect"]


@pytest.mark.parametrize("example", _of("tally"))
def test_tally(example: Example) -> None:
    tally = HouseTally.of(example["adds"])
    assert tally.points == example["expect"]["total"]
    assert [{"cross": house.cross, "q": [mark.value for mark in house.quadrants]} for house in tally.houses] == example[
        "expect"
    ]["units"]


@pytest.mark.parametrize("example", _of("hand_end"))
def test_hand_end(example: Example) -> None:
    result = _settled(example)
    expect = example["expect"]
    assert (result.winner, result.points) == (expect["winner"], expect["points"])
    assert result.difference == expect.get("difference", result.difference)
    assert result.rounded == expect.get("rounded", result.rounded)
    assert list(result.pips) == expect.get("totals", list(result.pips))


def _settled(example: Example) -> HandResult:
    if "hands" in example:
        holdings = [Holding.of([Tile.parse(text) for text in hand]) for hand in example["hands"]]
    else:
        holdings = [Holding(pips) for pips in example["hand_pips"]]
    params = example["params"]
    rule = HandPoints(
        subtract_own=params["subtract_own"],
        round_to=params.get("round_to"),
        bonus_divisor=params.get("divisor", 1),
    )
    out = example["went_out"]
    return settle(holdings, None if out is None else Seat(out), rule)


# ---- stacking ----


@pytest.mark.parametrize("example", _of("event"))
def test_stacking(example: Example) -> None:
    (setup,) = (other for other in _examples() if other["id"] == example["setup"])
    table = Table(OPEN_CUTTHROAT, ("A", "B", "C", "D"))
    table.play(*(f"{step['tile']}@{step['at']}" for step in setup["plays"])).call()
    before, thief = table.totals, table.whose
    victim = (thief - 1) % 4
    assert (table.count.total, before[victim]) == (setup["plays"][-1]["count"], setup["plays"][-1]["score"])
    table.stack(example["stack"]["tile"]).call()
    assert table.count.total == example["expect"]["count"]
    assert table.totals[thief] - before[thief] == example["expect"]["stacker_gain"]
    assert before[victim] - table.totals[victim] == example["expect"]["previous_loss"]


# ---- six arms ----


def _at(table: Table, at: str) -> Spot | None:
    """ "start", "arm1" for the end of that arm, "new" for the next arm; past the sixth there is one more in the way."""
    if at == "start":
        return None
    if at == "new":
        free = len(table.game.layout.covered(table.game.layout.nodes[0])) + 1
        return Spot(table.game.layout.nodes[0].id, Port(str(free)))
    return table.end(at.removeprefix("arm")).spot


def _before(example: Example) -> Table:
    """The layout as it was, and the turn where it is said to be."""
    table = Table(with_options(OPEN_SUPER, example.get("options", {})), tuple(example["players"]))
    table.lead(_first(example))
    for text in example["layout_before"]:
        tile, at = text.split()
        table.feed(replace(table.play_of(tile), at=_at(table, at), inner=None))
    return table


def _mover(example: Example) -> Seat:
    return Seat(example["players"].index(example["mover"]))


def _first(example: Example) -> Seat:
    """Who has to have led so that after the tiles of the layout, none of which skips or reverses, it is the mover's."""
    return Seat((_mover(example) - len(example["layout_before"])) % len(example["players"]))


@pytest.mark.parametrize("example", _of("super"))
def test_six_arms(example: Example) -> None:
    table, expect, mover = _before(example), example["expect"], _mover(example)
    assert table.hand.turn == mover
    play = replace(table.play_of(example["play"]["tile"]), at=_at(table, example["play"]["at"]), inner=None)
    if expect.get("legal") is False:
        assert problem_with(table.state, play) is not None
        game = table.game
        assert table.feed(play).game == game
        return
    assert problem_with(table.state, play) is None
    table.feed(play)
    course, names = table.hand.course, example["players"]
    assert names[table.whose] == expect["next"]
    assert course.direction == expect.get("direction", 1)
    drawn = {names[one.seat]: one.tiles for one in table.outcomes if isinstance(one, ForcedDraw)}
    assert drawn == expect.get("draws", {})
    assert course.extra is expect.get("may_decline", False)
    if "may_decline" in expect:
        assert names[table.decline().whose] == "B"
    assert _spell(table) == expect.get("spell")
    if "legal_for_spell" in expect:
        _breaks_on_that_end(table, str(expect["spell"]).removeprefix("arm "))
    if expect.get("caster_exempt") is False:
        _binds_its_caster(table, mover)


def _spell(table: Table) -> str | None:
    spell = table.hand.course.spell
    if spell is None:
        return None
    return "all six arms must be started" if spell.arm is None else f"arm {spell.arm}"


def _breaks_on_that_end(table: Table, arm: str) -> None:
    """13-x or any double, there and nowhere else."""
    used = {str(tile) for tile in table.game.layout.tiles}
    for held in (DOUBLES, THIRTEENS):
        assert table.can_play(held) == [f"{tile}@{arm}" for tile in held.split() if tile not in used]
    assert table.can_play(OTHERS) == []


def _binds_its_caster(table: Table, caster: Seat) -> None:
    """When the turn is back at him he has to draw like anybody else."""
    for _ in range(len(table.players) - 1):
        table.draw(2).knock()
    assert table.whose == caster
    assert table.knock().whose == caster  # refused: he has not drawn
    assert table.draw(2).knock().whose != caster


def test_no_example_is_left_out() -> None:
    types = {example["type"] for example in _examples()}
    assert types <= {"layout", "round", "tally", "hand_end", "super", "event"}


def test_no_word_of_an_example_is_left_out() -> None:
    """What is expected in a new example has to be looked at, or this fails."""
    known = {"draws", "next", "direction", "may_decline", "spell", "legal_for_spell", "caster_exempt", "legal"}
    found = {key for example in _examples() if example["type"] == "super" for key in example["expect"]}
    assert found <= known
