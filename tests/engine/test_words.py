"""Tests of the descriptions of outcomes."""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from tests.engine.table import Table

A, B = engine.Seat(0), engine.Seat(1)
RULES = replace(engine.BONES, lead_first=engine.LeadRule.LOT_ANY, target=40)


def descriptions(table: Table) -> list[str]:
    return [engine.describe(outcome, table.game.players) for outcome in table.outcomes]


def test_a_hand_is_described_as_it_is_played() -> None:
    table = Table(replace(RULES, hand=13))
    assert descriptions(table) == ["hand 1, 2 tiles in the boneyard", "by lot: lead any tile"]
    assert descriptions(table.play("5-5")) == [
        "Brian plays 5-5",
        "count 5 + 5 = 10",
        "Brian scores 10 (5 + 5 = 10)",
        "Tom: play, or draw",
    ]
    assert descriptions(table.feed(engine.Draw(B, 1))) == ["Tom draws 1 tile, 1 left", "Tom: play, or draw"]
    assert descriptions(table.feed(engine.Knock(B))) == [
        "draw before knocking: 1 tile left in the boneyard",
        "Tom knocks",
        "Brian: play, or draw",
    ]
    assert (
        descriptions(table.play("6-4@E"))[0] == "6-4: it has no 5, and its outer half was not visible (does not count)"
    )
    assert descriptions(table.feed(engine.Undo(engine.entries(table.state)[-1].seq)))[0] == "corrected: Brian 10, Tom 0"
    assert descriptions(table.feed(engine.HandEnd()))[1] == "the hand was ended; lay your tiles open: Brian, Tom"
    table.feed(engine.RevealPips(A, 3))
    assert descriptions(table.feed(engine.RevealPips(B, 31))) == [
        "Brian wins the hand: 31, rounded to 30",
        "Brian scores 30 (31, rounded to 30)",
        "Brian wins the match with 40",
    ]


def test_a_redeal_or_the_player_who_goes_out_is_named() -> None:
    table = Table(replace(RULES, hand=1)).play("6-5")
    assert descriptions(table)[-1] == "Brian is out; lay your tiles open: Tom"
    assert descriptions(Table(engine.BONES).feed(engine.Redeal(engine.RedealReason.NO_DOUBLE))) == [
        "nobody has a double: everybody draws a new hand",
        "hand 1, 14 tiles in the boneyard",
        "all players: lead the highest double",
    ]
    table = Table(RULES)
    assert descriptions(table.feed(engine.MatchStart(RULES, ("C", "D", "E")), engine.ItStands(engine.Seq(2))))[0] == (
        "corrected: C 0, D 0, E 0"
    )
    (first, *_), *_ = (line.outcomes for line in engine.history(Table(RULES).state))
    assert engine.describe(first, ("Brian", "Tom")) == "match: Brian, Tom"


def test_blocks_and_dead_ties_are_described() -> None:
    table = Table(replace(engine.BONES, lead_first=engine.LeadRule.LOT_ANY, policy=engine.Policy.STRICT, target=500))
    table.play("0-0", "0-1@W", "1-2@W", "2-0@W", "0-3@E", "3-4@E", "4-0@E", "0-5@N", "5-6@N", "6-0@N")
    assert descriptions(table)[-2:] == [
        "blocked: no tile fits, 14 tiles in the boneyard",
        "Brian: no tile fits: draw, or end the hand",
    ]
    assert descriptions(table.feed(engine.HandEnd())) == [
        "the hand is blocked: no tile fits; lay your tiles open: Brian, Tom"
    ]
    assert descriptions(table.feed(engine.RevealPips(A, 3), engine.RevealPips(B, 3), engine.HandEnd())) == [
        "the best hands are equal: nobody wins the hand"
    ]


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (engine.Stacked(B, engine.Tile.parse("2-1"), engine.NodeId(4)), "Tom stacks 2-1"),
        (engine.Claimable(A, 10, "5 + 5 = 10"), "Brian: call 10 (5 + 5 = 10)"),
        (engine.Claimable(A, 10, "5 + 5 = 10", steals_from=B), "Brian: call 10, stolen from Tom (5 + 5 = 10)"),
        (engine.Forfeited(B, 10), "Tom did not call 10: forfeited"),
        (engine.Passed(B, 1, instead_of_leading=True), "Tom has no double to lead"),
        (engine.Abandoned(3), "hand 3 was abandoned and does not count"),
        (engine.Scored(A, -5, engine.Reason.BONUS, "revoke"), "Brian loses 5 (revoke)"),
        (engine.Scored(A, -5, engine.Reason.ADJUST, "agreed"), "Brian loses 5 by hand (agreed)"),
        (engine.Scored(A, 5, engine.Reason.ADJUST, "agreed"), "Brian gets 5 by hand (agreed)"),
        (engine.Spelled(A, None, is_on=True), "Brian casts a spell: all six arms must be started"),
        (
            engine.Turn(B, engine.Must.DRAW_A_DOUBLE, extra=True),
            "Tom: if you drew a double, lead it; otherwise the next player draws",
        ),
    ],
)
def test_each_outcome_names_the_player_and_the_points(outcome: engine.Outcome, text: str) -> None:
    assert engine.describe(outcome, ("Brian", "Tom")) == text
