"""Tests of the descriptions of outcomes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import (
    BONES,
    Abandoned,
    Claimable,
    Draw,
    Forfeited,
    HandEnd,
    ItStands,
    Knock,
    LeadRule,
    MatchStart,
    Must,
    NodeId,
    Outcome,
    Passed,
    Policy,
    Reason,
    Redeal,
    RedealReason,
    RevealPips,
    Scored,
    Seat,
    Seq,
    Spelled,
    Stacked,
    Tile,
    Turn,
    Undo,
    describe,
    entries,
    history,
)
from tests.engine.table import Table

A, B = Seat(0), Seat(1)
RULES = replace(BONES, lead_first=LeadRule.LOT_ANY, target=40)


def descriptions(table: Table) -> list[str]:
    return [describe(outcome, table.game.players) for outcome in table.outcomes]


def test_a_hand_is_described_as_it_is_played() -> None:
    table = Table(replace(RULES, hand=13))
    assert descriptions(table) == ["hand 1, 2 tiles in the boneyard", "by lot: lead any tile"]
    assert descriptions(table.play("5-5")) == [
        "Brian plays 5-5",
        "count 5 + 5 = 10",
        "Brian scores 10 (5 + 5 = 10)",
        "Tom: play, or draw",
    ]
    assert descriptions(table.feed(Draw(B, 1))) == ["Tom draws 1 tile, 1 left", "Tom: play, or draw"]
    assert descriptions(table.feed(Knock(B))) == [
        "draw before knocking: 1 tile left in the boneyard",
        "Tom knocks",
        "Brian: play, or draw",
    ]
    assert (
        descriptions(table.play("6-4@E"))[0] == "6-4: it has no 5, and its outer half was not visible (does not count)"
    )
    assert descriptions(table.feed(Undo(entries(table.state)[-1].seq)))[0] == "corrected: Brian 10, Tom 0"
    assert descriptions(table.feed(HandEnd()))[1] == "the hand was ended; lay your tiles open: Brian, Tom"
    table.feed(RevealPips(A, 3))
    assert descriptions(table.feed(RevealPips(B, 31))) == [
        "Brian wins the hand: 31, rounded to 30",
        "Brian scores 30 (31, rounded to 30)",
        "Brian wins the match with 40",
    ]


def test_the_player_who_goes_out_is_named() -> None:
    table = Table(replace(RULES, hand=1)).play("6-5")
    assert descriptions(table)[-1] == "Brian is out; lay your tiles open: Tom"


def test_a_redeal_names_its_reason() -> None:
    assert descriptions(Table(BONES).feed(Redeal(RedealReason.NO_DOUBLE))) == [
        "nobody has a double: everybody draws a new hand",
        "hand 1, 14 tiles in the boneyard",
        "all players: lead the highest double",
    ]


def test_blocks_and_dead_ties_are_described() -> None:
    table = Table(replace(BONES, lead_first=LeadRule.LOT_ANY, policy=Policy.STRICT, target=500))
    table.play("0-0", "0-1@W", "1-2@W", "2-0@W", "0-3@E", "3-4@E", "4-0@E", "0-5@N", "5-6@N", "6-0@N")
    assert descriptions(table)[-2:] == [
        "blocked: no tile fits, 14 tiles in the boneyard",
        "Brian: no tile fits: draw, or end the hand",
    ]
    assert descriptions(table.feed(HandEnd())) == ["the hand is blocked: no tile fits; lay your tiles open: Brian, Tom"]
    assert descriptions(table.feed(RevealPips(A, 3), RevealPips(B, 3), HandEnd())) == [
        "the best hands are equal: nobody wins the hand"
    ]


def test_a_match_is_described_with_its_players() -> None:
    table = Table(RULES)
    assert descriptions(table.feed(MatchStart(RULES, ("C", "D", "E")), ItStands(Seq(2))))[0] == (
        "corrected: C 0, D 0, E 0"
    )
    (first, *_), *_ = (line.outcomes for line in history(Table(RULES).state))
    assert describe(first, ("Brian", "Tom")) == "match: Brian, Tom"


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Stacked(B, Tile.parse("2-1"), NodeId(4)), "Tom stacks 2-1"),
        (Claimable(A, 10, "5 + 5 = 10"), "Brian: call 10 (5 + 5 = 10)"),
        (Claimable(A, 10, "5 + 5 = 10", steals_from=B), "Brian: call 10, stolen from Tom (5 + 5 = 10)"),
        (Forfeited(B, 10), "Tom did not call 10: forfeited"),
        (Passed(B, 1, instead_of_leading=True), "Tom has no double to lead"),
        (Abandoned(3), "hand 3 was abandoned and does not count"),
        (Scored(A, -5, Reason.BONUS, "revoke"), "Brian loses 5 (revoke)"),
        (Scored(A, -5, Reason.ADJUST, "agreed"), "Brian loses 5 by hand (agreed)"),
        (Scored(A, 5, Reason.ADJUST, "agreed"), "Brian gets 5 by hand (agreed)"),
        (Spelled(A, None, is_on=True), "Brian casts a spell: all six arms must be started"),
        (
            Turn(B, Must.DRAW_A_DOUBLE, extra=True),
            "Tom: if you drew a double, lead it; otherwise the next player draws",
        ),
    ],
)
def test_each_outcome_names_the_player_and_the_points(outcome: Outcome, text: str) -> None:
    assert describe(outcome, ("Brian", "Tom")) == text
