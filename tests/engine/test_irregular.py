"""Tests of docs/reference/rules.md 2.6: irregular events are reported in the players' terms and never fatal."""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from tests.engine.table import Table, tiles
from tests.engine.table import text as messages

A, B = engine.Seat(0), engine.Seat(1)
WARN = replace(engine.BONES, lead_first=engine.LeadRule.LOT_ANY)
STRICT = replace(WARN, policy=engine.Policy.STRICT)


def problems(table: Table) -> list[engine.Problem]:
    return [outcome.problem for outcome in table.outcomes if isinstance(outcome, engine.Irregular)]


def accepted(table: Table) -> set[bool]:
    return {outcome.stands for outcome in table.outcomes if isinstance(outcome, engine.Irregular)}


# Plays before, the illegal play, its seat, and the reported problem.
ILLEGAL = [
    ("5-5", "5-1@W", 0, "it is Tom's turn, not Brian's"),
    ("5-5 5-1@W", "5-2@5-5:N", 0, "the spinner needs a tile on both sides first"),
    ("5-5 5-1@W 1-1@W 1-6@W", "1-3@1-1:S", 0, "only the first double branches: that is the 5-5, not the 1-1"),
    ("5-5", "7-5@E", 1, "a double-six set has no 7-5"),
    ("5-5 5-1@W 1-6@W", "6-1@W", 1, "the 6-1 is already on the table"),
]


@pytest.mark.parametrize(("before", "text", "seat", "reported"), ILLEGAL)
def test_an_illegal_play_is_accepted_and_reported(before: str, text: str, seat: int, reported: str) -> None:
    table = Table(WARN).play(*before.split())
    tiles_before = len(table.game.layout.nodes)
    table.play(text, seat=seat)
    assert messages(table) == [reported]
    assert accepted(table) == {True}
    assert len(table.game.layout.nodes) == tiles_before + 1
    assert table.hand.turn == engine.Seat(1 - seat)
    assert table.state.irregular == (engine.entries(table.state)[-1].seq,)


@pytest.mark.parametrize(("before", "text", "seat", "reported"), ILLEGAL)
def test_the_strict_policy_refuses_an_illegal_play(before: str, text: str, seat: int, reported: str) -> None:
    table = Table(STRICT).play(*before.split())
    game = table.game
    table.play(text, seat=seat)
    assert messages(table) == [reported]
    assert accepted(table) == {False}
    assert table.game == game


def test_a_wrong_number_is_accepted_if_the_orientation_is_known() -> None:
    table = Table(WARN).play("5-5")
    table.feed(replace(table.play_of("6-4@E"), inner=6))
    assert messages(table) == ["the 6-4 does not fit there: that end needs a 5"]
    assert table.end("E").number == 4
    assert str(table.count) == "5 + 5 + 4 = 14"
    table = Table(WARN).play("5-5", "6-4@E")
    assert messages(table)[0] == "6-4: it has no 5, and its outer half was not visible"
    assert len(table.game.layout.nodes) == 1
    table = Table(WARN).play("5-5", "4-4@E")
    assert messages(table) == ["the 4-4 does not fit there: that end needs a 5"]
    assert table.end("E").number == 4


def test_an_illegal_branch_covers_a_side_of_its_double() -> None:
    table = Table(WARN).play("5-5", "5-1@W", "5-2@5-5:N")
    assert str(table.count) == "1 + 2 = 3"
    assert [(end.number, end.playable) for end in engine.ends(table.state) if end.spot.host == table.node("5-5")] == [
        (5, True),
        (5, False),
    ]
    table = Table(WARN).play("5-5", "5-1@W", "1-1@W", "1-3@1-1:N")
    assert problems(table)[0].kind is engine.ProblemKind.NO_BRANCH
    assert str(table.count) == "3 + 5 + 5 = 13"
    assert str(Table(WARN).play("5-5", "5-1@W", "1-1@W", "1-0@1-1:N").count) == "0 + 5 + 5 = 10"
    assert [end.arm for end in engine.ends(table.state) if end.number == 3] == [engine.Port.W]
    assert [end for end in engine.ends(table.state) if end.spot.host == table.node("1-1")] == []
    table = Table(replace(STRICT, spinner=engine.Spinner.NONE)).play("5-5", "5-1@W", "5-2@E", "5-3@5-5:N")
    assert messages(table) == ["the 5-5 has no end there: doubles do not branch in this game"]


def test_a_used_spot_or_copy_is_refused_and_problems_are_in_order_of_weight() -> None:
    table = Table(WARN).play("5-5", "5-1@W")
    spot = engine.Spot(table.node("5-5"), engine.Port.W)
    table.feed(engine.Play(A, engine.Tile(2, 5), spot))
    assert messages(table) == ["5-2: another tile already touches the 5-5 there"]
    assert accepted(table) == {False}
    table = Table(replace(STRICT, copies=2)).play("5-5", "5-1@W", "5-1@E")
    assert problems(table) == []
    table.play("5-1@N")
    assert messages(table) == ["the 5-1 is already on the table, all 2 of them"]
    table = Table(WARN).play("5-5", "5-1@W")
    table.feed(engine.Play(B, engine.Tile(5, 5), engine.Spot(engine.NodeId(99), engine.Port.E)))
    assert [problem.kind for problem in problems(table)] == [
        engine.ProblemKind.CANNOT_LIE_THERE,
        engine.ProblemKind.WRONG_SEAT,
        engine.ProblemKind.ALREADY_USED,
    ]
    weights = [problem.weight.value for problem in problems(table)]
    assert weights == sorted(weights, reverse=True)


def test_impossible_values_raise_an_error() -> None:
    with pytest.raises(engine.EngineError, match="inner must be a number of 5-3, got 4"):
        engine.Play(A, engine.Tile(3, 5), inner=4)
    with pytest.raises(engine.EngineError, match="a draw takes 1 tile or more, got 0"):
        engine.Draw(A, 0)
    with pytest.raises(engine.EngineError, match="pips must be 0 or more, got -1"):
        engine.RevealPips(A, -1)


def knocked_on(*, policy: engine.Policy = engine.Policy.WARN) -> Table:
    """Return a table where Tom has knocked on 5 with an empty boneyard."""
    return Table(replace(WARN, hand=14, policy=policy)).play("5-5").feed(engine.Knock(B))


def test_playing_a_denied_number_is_a_revoke() -> None:
    table = knocked_on(policy=engine.Policy.STRICT).play("5-1@W", "5-2@E")
    assert messages(table) == ["Tom knocked on 5, but held 5-2"]
    assert accepted(table) == {True}
    assert problems(table)[0].weight is engine.Weight.NOTED
    assert problems(knocked_on().play("5-1@W", "1-2@W")) == []
    table = knocked_on().feed(engine.HandEnd()).feed(engine.Reveal(B, tiles("5-2 1-1")))
    assert "Tom knocked on 5, but held 5-2" in messages(table)
    # Tom draws on 5, then knocks on 1, 2 and 5 holding the 2-1. That does not make it the tile that he drew.
    table = Table(replace(WARN, redeal_if_doubles_over=None)).play("5-5").draw().knock()
    table.play("5-1@W", "5-2@E", seat=0).feed(engine.Knock(B)).play("1-6@W", "2-1@E")
    assert messages(table) == ["Tom knocked on 1, 2 and 5, but held 2-1"]
    assert [claim.allowed for claim in table.hand.claims[B]] == [1, 0, 0]


def test_a_later_draw_excuses_a_single_tile_unless_its_face_is_known() -> None:
    table = Table(WARN).play("5-5").feed(engine.Draw(B, 1)).play("5-1@W", "5-2@E")
    assert problems(table) == []
    table.play("5-3@N")
    assert messages(table) == ["Tom drew on 5, but held 5-3"]
    # docs/reference/rules.md 2.6: more matching tiles than drawn since, and the drawn one is known not to match
    table = Table(STRICT).play("5-5").feed(engine.Draw(B, 1, faces=tiles("2-2"))).play("5-4@W")
    assert messages(table) == ["Tom drew on 5, but held 5-4"]
    assert accepted(table) == {True}
    table = (
        Table(STRICT)
        .play("5-5")
        .feed(engine.Draw(B, 1, faces=tiles("2-2")))
        .feed(engine.Draw(B, 1, faces=tiles("5-4")))
    )
    assert problems(table.play("5-4@W", "5-1@E")) == []
    table = Table(STRICT).play("5-5").feed(engine.Draw(B, 1, faces=tiles("5-4")), engine.Draw(B, 1, faces=tiles("2-2")))
    assert messages(table.play("5-4@W")) == ["Tom drew on 5, but held 5-4"]


def test_a_revealed_hand_that_cannot_be_is_noted() -> None:
    table = Table(replace(WARN, hand=2)).play("5-5", "5-1@W", "5-2@E").feed(engine.Reveal(B, tiles("6-6 6-4")))
    assert messages(table) == ["Tom shows 2 tiles, but should hold 1"]
    assert table.totals == (10 + 20, 0)
    table = Table(replace(WARN, hand=2)).play("5-5", "5-1@W", "5-2@E").feed(engine.Reveal(B, tiles("5-1")))
    assert messages(table) == ["the 5-1 has already been seen elsewhere"]
    table = Table(replace(WARN, hand=1), ("A", "B", "C")).play("5-5")
    table.feed(engine.Reveal(B, tiles("6-6")), engine.Reveal(engine.Seat(2), tiles("6-6")))
    assert messages(table) == ["the 6-6 has already been seen elsewhere"]
    table = Table(replace(WARN, hand=1)).play("5-5").feed(engine.Reveal(B, tiles("7-7")))
    assert messages(table) == ["a double-six set has no 7-7"]


def test_a_draw_out_of_turn_is_reported_and_counted_but_not_a_knock() -> None:
    table = Table(WARN).play("5-5").feed(engine.Draw(A))
    assert messages(table) == ["it is Tom's turn, not Brian's"]
    assert (table.hand.sizes, table.hand.boneyard, table.hand.turn) == ((7, 7), 13, B)
    assert messages(Table(WARN).feed(engine.Draw(A))) == ["drawing starts after the first tile"]
    table = Table(replace(WARN, hand=14)).play("5-5").feed(engine.Knock(A))
    assert messages(table) == ["it is Tom's turn, not Brian's"]
    assert accepted(table) == {False}
    assert table.hand.turn == B


def test_a_knock_with_tiles_to_draw_is_reported_and_passes() -> None:
    table = Table(WARN).play("5-5").feed(engine.Knock(B))
    assert messages(table) == ["draw before knocking: 14 tiles left in the boneyard"]
    assert engine.Passed(B, 1) in table.outcomes
    assert table.hand.turn == A
    table = Table(replace(STRICT, draw=engine.Drawing.NONE)).play("5-5").feed(engine.Knock(B))
    assert problems(table) == []
    assert messages(table.feed(engine.Draw(A))) == ["this game has no drawing"]
    # docs/reference/rules.md 2.3 a: all seats have passed in succession with no play between. A draw may not help.
    drawn = (engine.Knock(B), engine.Draw(A, 14))
    assert Table(WARN).play("5-5").feed(*drawn, engine.Knock(A)).game.phase is engine.Phase.REVEAL
    assert Table(WARN).play("5-5").feed(*drawn).play("5-1@W").feed(engine.Knock(B)).game.phase is engine.Phase.PLAY


def test_an_end_without_proof_is_accepted_and_a_new_match_is_not() -> None:
    table = Table(WARN).play("5-5").feed(engine.HandEnd())
    assert messages(table) == ["somebody may still be able to play"]
    assert table.game.phase is engine.Phase.REVEAL
    table = Table(WARN).play("5-5").feed(engine.MatchStart(WARN, ("C", "D")))
    assert messages(table) == ["the match is not over"]
    assert table.totals == (10, 0)
    table = Table(WARN).play("5-5")
    state = table.state
    assert engine.problem_with(state, engine.Knock(B)) is not None
    assert engine.problem_with(state, engine.Draw(B)) is None
    assert table.state == state
    assert engine.apply(state, engine.Draw(B))[0].log[:-1] == state.log
    assert engine.State() == engine.State()
