"""Tests of docs/reference/rules.md 3.2, the draw game. Leads and set dominoes are in test_leads."""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from engine.rules.options import with_options
from tests.engine.table import Table, kinds, out_of, text

A, B, C = engine.Seat(0), engine.Seat(1), engine.Seat(2)
THREE = ("Ann", "Bob", "Cay")
STRICT = replace(engine.DRAW, policy=engine.Policy.STRICT)


def chosen(**options: str) -> engine.Rules:
    return with_options(STRICT, options)


def test_two_to_four_players_get_seven_tiles_and_more_agree_on_fewer() -> None:
    # 3.2 Setup: for 2 to 4 players, each draws 7; A1-1: 7 for everyone, 4 x 7 leaves no boneyard
    assert [(table.hand.sizes, table.hand.boneyard) for table in (Table(engine.DRAW), Table(engine.DRAW, THREE))] == [
        ((7, 7), 14),
        ((7, 7, 7), 7),
    ]
    assert Table(engine.DRAW, (*THREE, "Dot")).hand.boneyard == 0
    # 3.2 Setup: if 5 or more play, the players agree upon the number
    assert engine.deal_problems(engine.DRAW, 5) == ("7 tiles x 5 players need 35 tiles, a double-six set has 28",)
    assert engine.deal_problems(chosen(hand="5"), 5) == ()
    assert Table(chosen(hand="5"), (*THREE, "Dot", "Eve")).hand.sizes == (5,) * 5


@pytest.mark.parametrize(
    ("hand", "seats", "dealt"), [("2:8", 2, 8), ("2:8", 3, 7), ("3:5,4:6", 3, 5), ("3:5,4:6", 4, 6)]
)
def test_other_deals_can_be_chosen(hand: str, seats: int, dealt: int) -> None:
    # A1-1: 7 or 8, 5 or 6: selectable
    assert chosen(hand=hand).dealt(seats) == dealt


def test_a_tile_matches_one_of_two_ends_and_the_turn_goes_left() -> None:
    # 3.2 Play: match an open end, one tile per turn, play continues to the left
    table = Table(STRICT, THREE).play("6-3", seat=1)
    assert table.due == engine.Turn(C, engine.Must.PLAY_OR_DRAW)
    assert table.can_play("6-1 5-3 4-4 5-2") == ["6-1@W", "5-3@E"]
    assert table.play("6-1@W").to_move == A
    assert table.play("3-3@E").to_move == B
    assert kinds(table.play("1-0@W", seat=2)) == [engine.ProblemKind.WRONG_SEAT]
    # 3.2 Play: points are won at the end of a hand only
    assert Table(STRICT).play("5-5", "5-0@E").totals == (0, 0)


def test_no_double_branches_unless_chosen() -> None:
    # 3.2 Options: no spinners, which seems the most often used rule
    table = Table(STRICT).play("5-5", "5-1@W", "5-2@E")
    assert table.can_play("5-3 5-4") == []
    assert kinds(table.play("5-3@5-5:N")) == [engine.ProblemKind.NO_BRANCH]
    # 3.2 Options: the first double as the only spinner; A1-7: tips before sides: any
    table = Table(chosen(spinner="first")).play("6-5", "5-5@E")
    assert table.can_play("5-3") == ["5-3@N", "5-3@E", "5-3@S"]
    assert kinds(table.play("5-3@N", "3-3@N", "3-1@N")) == []
    assert table.can_play("3-2") == []
    # A1-7: option sides_first
    table = Table(chosen(spinner="first", branch_order="sides_first")).play("5-5", "5-1@W")
    assert table.can_play("5-3") == ["5-3@E"]


def test_a_player_draws_until_they_can_play_and_passes_with_an_empty_boneyard() -> None:
    # 3.2 Play: he must draw until he picks a tile that can be played, and keeps the others; A1-2: draw, do not pass
    table = Table(STRICT).play("6-5")
    assert text(table.knock()) == ["draw before knocking: 14 tiles left in the boneyard"]
    assert table.draw(4).due == engine.Turn(B, engine.Must.PLAY_OR_DRAW)
    assert table.play("5-1@E").hand.sizes == (6, 10)
    # 3.2 Play: if there are no tiles left in the boneyard, he passes; A1-2: pass only when the boneyard is empty
    table = Table(STRICT, THREE).play("6-5").draw(7)
    assert table.due == engine.Turn(B, engine.Must.PLAY_OR_KNOCK)
    assert table.knock().outcomes == (engine.Passed(B, 1), engine.Turn(C, engine.Must.PLAY_OR_KNOCK))
    # 3.2 Play: boneyard_reserve: nobody draws the last two
    table = Table(chosen(boneyard_reserve="2")).play("6-5")
    assert text(table.draw(13)) == ["only 12 tiles can be drawn from the boneyard, not 13"]
    assert table.draw(12).due == engine.Turn(B, engine.Must.PLAY_OR_KNOCK)
    assert kinds(table.knock()) == []
    assert kinds(table.draw(1)) == [engine.ProblemKind.BONEYARD_TOO_SMALL]
    assert table.hand.boneyard == 2


def test_a_draw_or_knock_claims_that_the_player_cannot_play() -> None:
    # 3.2 Play: only a player who cannot match draws
    table = Table(engine.DRAW).play("6-5").draw(1).play("5-1@E", "1-2@E", "6-4@W")
    assert text(table) == ["Tom drew on 5 and 6, but held 6-4"]
    free = Table(with_options(engine.DRAW, {"voluntary_draw": "yes"})).play("6-5").draw(1)
    assert text(free.play("5-1@E", "1-2@E", "6-4@W")) == []
    # 3.2 Play: must_play=no: a player who can play may knock with nothing left to draw
    for must, reported in (("yes", ["Tom knocked on 5 and 6, but held 5-1"]), ("no", [])):
        table = Table(with_options(engine.DRAW, {"must_play": must, "hand": "14"})).play("6-5").knock()
        assert text(table.play("6-4@W", "5-1@E")) == reported


def test_going_out_earns_all_pips_of_the_others() -> None:
    # 3.2 Play: first out announces Domino and wins; A1-4: same sum as after a block, none subtracted, not rounded
    table = Table(replace(STRICT, hand=1), THREE).play("6-5", seat=1)
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.DOMINO, B, (A, C))]
    table.reveal(0, 6).reveal(2, 27)
    assert out_of(table, engine.Scored) == [engine.Scored(B, 33, engine.Reason.BONUS, "6 + 27 = 33")]
    # 3.2 Play: announces "Domino!"
    table = Table(engine.DRAW).play("6-5", seat=0).feed(engine.Domino(A))
    assert out_of(table, engine.Irregular) != []
    assert table.game.phase is engine.Phase.REVEAL


def test_the_lowest_total_wins_a_block_without_subtracting_its_own_hand() -> None:
    # 3.2 Play: nobody can play: block, lowest pips wins 1 point per pip of the tiles in opponents' hands
    # A1-5: blocked, own pips are not subtracted
    table = Table(STRICT, THREE).play("6-5", seat=0).draw(7).knock(3)
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.BLOCKED_BY_KNOCKS, None, (A, B, C))]
    table.reveal(0, 12).reveal(1, 30).reveal(2, 9)
    assert out_of(table, engine.Scored) == [engine.Scored(C, 42, engine.Reason.BONUS, "12 + 30 = 42")]
    # 3.2 Play: all turn their tiles face up and add the pips; the lowest total wins those of all others
    table = Table(STRICT, THREE).play("6-5", seat=0).draw(7).knock(3)
    table.reveal(0, "6-4 1-0").reveal(1, "3-2 0-0").reveal(2, "5-5")
    assert out_of(table, engine.Scored) == [engine.Scored(B, 21, engine.Reason.BONUS, "11 + 10 = 21")]
    # A1-6: blocked tie: lightest tile
    table = Table(replace(STRICT, policy=engine.Policy.WARN)).play("6-5", seat=0).feed(engine.HandEnd())
    table.reveal(0, "5-5 4-3").reveal(1, "2-1 4-2 5-3")
    assert out_of(table, engine.Scored) == [engine.Scored(B, 17, engine.Reason.BONUS, "17")]


def blocked_by_sixes(rules: engine.Rules) -> Table:
    """Return a line with all seven sixes, and a 6 at both ends. 14 tiles were dealt and ten are played."""
    line = ("6-0", "0-1@E", "1-6@E", "6-2@E", "2-3@E", "3-6@E", "6-4@E", "4-5@E", "5-6@E", "6-6@E")
    return Table(rules).play(*line)


def test_a_provable_block_is_announced_ended_or_drawn_out() -> None:
    # A-G1: on_provable_block: announce and let the players decide; end_now; literal: draw it all
    for value, announced, phase in (
        ("announce", [engine.Blocked(14)], engine.Phase.PLAY),
        ("end_now", [], engine.Phase.REVEAL),
        ("literal", [], engine.Phase.PLAY),
    ):
        table = blocked_by_sixes(chosen(on_provable_block=value))
        assert (out_of(table, engine.Blocked), table.game.phase) == (announced, phase)
    # A-G1: announce: accept the hand-end button or observed draws; literal: the rules make the player draw it all
    assert kinds(blocked_by_sixes(chosen(on_provable_block="announce")).feed(engine.HandEnd())) == []
    literal = blocked_by_sixes(chosen(on_provable_block="literal")).feed(engine.HandEnd())
    assert kinds(literal) == [engine.ProblemKind.NOT_BLOCKED]
    # A-G1: literal with boneyard_reserve: the hand ends when all drawable tiles are drawn
    table = blocked_by_sixes(chosen(on_provable_block="literal", boneyard_reserve="2")).feed(engine.Draw(A, 12))
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.BLOCKED_BY_PROOF, None, (A, B))]


@pytest.mark.parametrize(
    ("value", "must"), [("announce", engine.Must.DRAW_OR_END), ("literal", engine.Must.PLAY_OR_DRAW)]
)
def test_a_provable_block_ends_once_the_boneyard_is_empty(value: str, must: engine.Must) -> None:
    # A-G1: announce: observed draws; literal: the player draws it all, and is offered nothing else
    table = blocked_by_sixes(chosen(on_provable_block=value))
    due = table.due
    assert out_of(table.draw(14), engine.ShowHands) == [engine.ShowHands(engine.Ending.BLOCKED_BY_PROOF, None, (A, B))]
    assert due == engine.Turn(A, must)


@pytest.mark.parametrize("target", [50, 100, 101, 150, 200])
def test_the_match_is_won_at_the_target_or_more(target: int) -> None:
    # 3.2 Play: the player who first reaches 100 points or more wins; 3.2 Options: 50, 150, 200, or 101
    rules = replace(chosen(target=str(target)), hand=1)
    table = Table(rules).play("6-5", seat=0).reveal(1, target - 1)
    assert table.game.winner is None
    table.feed(engine.NewHand()).play("6-5", seat=0).reveal(1, 1)
    assert table.outcomes[-1] == engine.MatchOver(A, (target, 0))
    assert engine.DRAW.target == 100
