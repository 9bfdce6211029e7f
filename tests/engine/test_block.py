"""Tests of docs/reference/rules.md 3.4: block with and without partners. Leads are in test_leads."""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from engine.rules.options import with_options
from tests.engine.table import Table, kinds, out_of, text, won

A, B, C, D = engine.Seat(0), engine.Seat(1), engine.Seat(2), engine.Seat(3)
STRICT = replace(engine.BLOCK, policy=engine.Policy.STRICT)
FOUR = ("Ann", "Bob", "Cay", "Dot")


def blocked(rules: engine.Rules, *hands: str | int) -> Table:
    """Return a hand that ended with everybody knocking, with *hands* revealed."""
    table = Table(rules, FOUR[: len(hands)]).play("5-5", seat=0).knock(len(hands))
    for seat, hand in enumerate(hands):
        table.reveal(seat, hand)
    return table


@pytest.mark.parametrize(("seats", "dealt", "boneyard"), [(2, 7, 14), (3, 5, 13), (4, 5, 8)])
def test_two_players_get_seven_tiles_and_three_or_four_get_five(seats: int, dealt: int, boneyard: int) -> None:
    # 3.4 Setup: 2 -> 7, 3 -> 5, 4 -> 5
    table = Table(engine.BLOCK, FOUR[:seats])
    assert (table.hand.sizes, table.hand.boneyard) == ((dealt,) * seats, boneyard)
    assert engine.deal_problems(engine.BLOCK, 5) != ()


def test_a_player_without_a_play_knocks_and_does_not_draw() -> None:
    # 3.4 Setup: the tiles in the boneyard are not used; 3.4 Play: players may not draw
    table = Table(STRICT).play("5-5", seat=0)
    assert table.due == engine.Turn(B, engine.Must.PLAY_OR_KNOCK)
    assert text(table.draw()) == ["this game has no drawing"]
    assert table.knock().outcomes == (engine.Passed(B, 1), engine.Turn(A, engine.Must.PLAY_OR_KNOCK))
    # 3.4 Play: only a player that cannot make a move passes
    table = Table(engine.BLOCK).play("5-5", seat=0).knock().play("5-1@W", "5-2@E")
    assert text(table) == ["Tom knocked on 5, but held 5-2"]


def test_a_tile_goes_on_one_of_two_ends() -> None:
    # 3.4 Play: each player adds a domino to an open end, play proceeds to the left
    table = Table(STRICT, FOUR).play("5-5", seat=0).play("5-1@W", "5-2@E")
    assert table.to_move == D
    assert table.can_play("1-1 2-0 5-3") == ["1-1@W", "2-0@E"]
    assert kinds(table.play("5-3@5-5:N")) == [engine.ProblemKind.NO_BRANCH]
    # 3.4 Play: doubles crosswise by custom, inline equally proper: the line goes on at its other side
    table = Table(STRICT).play("5-5", seat=0).play("5-1@E", "1-1@E", "1-3@E")
    assert kinds(table) == []
    assert table.can_play("1-4 3-0 5-6") == ["3-0@E", "6-5@W"]


def test_a_hand_ends_with_the_last_tile_a_round_of_knocks_or_a_block() -> None:
    # 3.4 End: someone out; 3.4 Score: opponents' sum, own hand is empty
    table = Table(replace(STRICT, hand_for=(), hand=1), FOUR).play("5-5", seat=2)
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.DOMINO, C, (A, B, D))]
    table.reveal(0, 6).reveal(1, 7).reveal(3, 8)
    assert out_of(table, engine.Scored) == [engine.Scored(C, 21, engine.Reason.BONUS, "6 + 7 + 8 = 21")]
    # 3.4 End: or blocked; all seats have passed in succession
    table = Table(STRICT, ("A", "B", "C")).play("5-5", seat=0).knock(2)
    assert out_of(table, engine.ShowHands) == []
    table.play("5-1@W").knock(3)
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.BLOCKED_BY_KNOCKS, None, (A, B, C))]
    # 3.4 End: no more plays can be made
    rules = replace(STRICT, lead_first=engine.LeadRule.LOT_ANY)
    line = ("6-0", "0-1@E", "1-6@E", "6-2@E", "2-3@E", "3-6@E", "6-4@E", "4-5@E", "5-6@E")
    table = Table(rules).play(*line)
    assert out_of(table, engine.ShowHands) == []
    assert out_of(table.play("6-6@E"), engine.ShowHands) == [
        engine.ShowHands(engine.Ending.BLOCKED_BY_PROOF, None, (A, B))
    ]
    # 3.4 End: the hand-end and domino buttons cover ends that were not observed
    table = Table(engine.BLOCK).play("5-5", seat=0).feed(engine.HandEnd()).reveal(0, 4).reveal(1, 9)
    assert table.totals == (5, 0)
    assert Table(engine.BLOCK).play("5-5", seat=0).feed(engine.Domino(A)).reveal(1, 9).totals == (9, 0)


def test_the_lightest_hand_wins_the_other_hands_less_its_own() -> None:
    # 3.4 Score: lightest hand wins opponents' sum minus own
    table = blocked(STRICT, 12, 7, 20)
    assert out_of(table, engine.Scored) == [engine.Scored(B, 25, engine.Reason.BONUS, "12 + 20 - 7 = 25")]
    # 3.4 Score: tie: 1-2, 2-4, 3-5 beats 5-5, 3-4; A1-43: in a two-player hand it pays 17 - 17 = 0
    table = blocked(STRICT, "5-5 3-4", "1-2 2-4 3-5")
    assert (won(table), table.totals) == (B, (0, 0))
    assert table.game.hand_winner == B
    # A1-43: the winner of a tie is paid with 3 and more players
    assert blocked(STRICT, "5-5 3-4", "1-2 2-4 3-5", 30).totals == (0, 30, 0)
    # A1-44: lightest tiles tie too: next lightest, and so on
    assert won(blocked(STRICT, "2-1 5-5", "3-0 4-2 2-2")) == B
    # A1-44: identical: nobody scores
    table = blocked(STRICT, "2-1 5-5", "3-0 6-4", 40)
    assert (won(table), table.totals) == (None, (0, 0, 0))


def test_a_total_has_to_exceed_the_winning_score_or_reach_it() -> None:
    # 3.4 Match: game over when a total exceeds 100; A1-45: literal exceed
    table = Table(replace(engine.BLOCK, hand=1)).play("5-5", seat=0).reveal(1, 100)
    assert (table.totals, table.game.winner) == ((100, 0), None)
    table.feed(engine.NewHand()).play("4-4", seat=0).reveal(1, 1)
    assert table.outcomes[-1] == engine.MatchOver(A, (101, 0))
    # A1-45: option reach
    rules = replace(with_options(engine.BLOCK, {"target_test": "reach"}), hand=1)
    assert Table(rules).play("5-5", seat=0).reveal(1, 100).game.winner == A


def pairs(mode: str = "individual") -> engine.Rules:
    return with_options(STRICT, {"partners": "yes", "partners_mode": mode})


def out_first(rules: engine.Rules) -> Table:
    """Return a hand where Cay goes out. Ann, her partner, has 6, Bob 7 and Dot 8."""
    table = Table(replace(rules, hand=1, hand_for=()), FOUR).play("5-5", seat=2)
    return table.reveal(0, 6).reveal(1, 7).reveal(3, 8)


def test_partners_sit_across_and_reach_the_target_together() -> None:
    # 3.4 Setup: four may play as partners, sitting across
    assert Table(pairs(), FOUR).game.sides == ((A, C), (B, D))
    assert engine.deal_problems(pairs(), 3) == ("partners need 4 players, got 3",)
    assert Table(engine.BLOCK, FOUR).game.sides == ((A,), (B,), (C,), (D,))
    # A1-46: points are scored for the pair
    rules = replace(pairs(), hand=1, hand_for=(), target=20)
    table = Table(rules, FOUR).play("5-5", seat=0)
    table.reveal(1, 8).reveal(2, 0).reveal(3, 7).feed(engine.NewHand()).play("4-4", seat=2)
    table.reveal(0, 0).reveal(1, 5).reveal(3, 1)
    assert table.outcomes[-1] == engine.MatchOver(C, (15, 0, 6, 0), A)


@pytest.mark.parametrize(("mode", "paid"), [("individual", 15), ("team_total", 15), ("all_three", 21)])
def test_going_out_pays_a_pair(mode: str, paid: int) -> None:
    # A1-46: individual and team_total: the opposing pair's pips; all_three: all three other hands
    assert out_first(pairs(mode)).totals == (0, 0, paid, 0)


def test_a_block_goes_to_the_pair_of_the_lightest_hand_or_the_lighter_pair() -> None:
    # A1-46: partners_mode=individual: the opposing pair's pips less the winner's own hand
    table = blocked(pairs(), 30, 10, 5, 9)
    assert out_of(table, engine.Scored) == [engine.Scored(C, 14, engine.Reason.BONUS, "10 + 9 - 5 = 14")]
    # A1-46: option team_total: compare pair sums, winners take the losers' pips
    table = blocked(pairs("team_total"), 30, 10, 5, 9)
    (paid,) = out_of(table, engine.Scored)
    assert isinstance(paid, engine.Scored)
    assert (paid.seat in (B, D), paid.points) == (True, 35)
    assert table.game.side_total(B) == table.game.side_total(D) == 35
    # A1-46: team_total, A1-44: tie = 0
    assert blocked(pairs("team_total"), "6-6", "5-5", "5-3", "6-4").totals == (0, 0, 0, 0)
    # A1-46: team_total, A1-44: tie = 0: no tile could break it
    assert won(blocked(pairs("team_total"), 10, 9, 9, 10)) is None
    # A1-46: individual: both lightest hands belong to one pair
    assert blocked(pairs(), 4, 10, 4, 9).game.side_total(A) == 10 + 9 - 4
    assert won(blocked(pairs(), "2-1", "3-0", 10, 10)) is None  # the lightest hands of two pairs are equal
    # A1-46: option all_three: winners take everything; the lightest hand wins a block
    table = blocked(pairs("all_three"), 30, 10, 5, 9)
    assert won(table) == C
