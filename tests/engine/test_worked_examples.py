"""Every example of ../shared/rules/worked_examples.json that the rules written so far cover."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import (
    BranchOrder,
    HandPoints,
    Holding,
    HouseTally,
    MatchEnd,
    Port,
    Seat,
    Spinner,
    SpinnerCount,
    Tile,
    apply,
    problem_with,
    round_nearest,
    settle,
)
from engine.settle import HandResult
from tests.engine.table import MIRROR, OPEN_BONES, SAME, Table

Example = dict[str, Any]

PATH = Path(__file__).resolve().parents[3] / "shared" / "rules" / "worked_examples.json"
NOT_YET = {"super": "the six-arm game", "event": "stacking (cutthroat)"}


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


@pytest.mark.parametrize("names", [SAME, MIRROR], ids=["as-written", "mirrored"])
@pytest.mark.parametrize("example", _of("layout"))
def test_layout(example: Example, names: dict[Port, Port]) -> None:
    rules = replace(
        OPEN_BONES,
        spinner=Spinner(example["rules"]["spinner"]),
        branch_order=BranchOrder(example["rules"]["branch_order"]),
        spinner_count=SpinnerCount(example["rules"]["spinner_count"]),
        unit=example["rules"]["unit"],
        match_end=MatchEnd.END_OF_HAND,
    )
    table = Table(rules, names=names)
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


@pytest.mark.parametrize("example", _of(*NOT_YET))
def test_of_games_still_to_come(example: Example) -> None:
    pytest.skip(f"{NOT_YET[example['type']]} is not part of the engine yet")


def test_no_example_is_left_out() -> None:
    types = {example["type"] for example in _examples()}
    assert types <= {"layout", "round", "tally", "hand_end", *NOT_YET}
