"""Tests of docs/reference/rules.md 3.5: ends of hands and matches of the six-arm game."""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from engine.rules.options import with_options
from tests.engine.table import Table, kinds, out_of, won

A, B, C = engine.Seat(0), engine.Seat(1), engine.Seat(2)
TWO, THREE, FOUR = ("Ann", "Bob"), ("Ann", "Bob", "Cay"), ("Ann", "Bob", "Cay", "Dot")
STRICT = replace(engine.SUPER, policy=engine.Policy.STRICT)


def led(starter: str = "7-7", rules: engine.Rules = STRICT, players: tuple[str, ...] = FOUR) -> Table:
    """Return a table where Ann has led."""
    return Table(rules, players).lead(0).play(starter)


def test_going_out_wins_a_point_for_each_tile_or_pip() -> None:
    # 3.5 Hand end: first out wins; 3.5 Scoring: simple: each domino one point; A2-10: per domino in the other hands
    table = led(rules=replace(STRICT, hand=1), players=THREE)
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.DOMINO, A, (B, C))]
    table.reveal(1, "15-15").reveal(2, "0-0")
    assert out_of(table, engine.Scored) == [engine.Scored(A, 2, engine.Reason.BONUS, "1 + 1 = 2 tiles")]
    # 3.5 Scoring: advanced: winner takes each player's pips
    rules = with_options(replace(STRICT, hand=1), {"mode": "advanced"})
    table = led(rules=rules, players=THREE).reveal(1, "15-15").reveal(2, "1-0")
    assert out_of(table, engine.Scored) == [engine.Scored(A, 31, engine.Reason.BONUS, "30 + 1 = 31")]


@pytest.mark.parametrize(("value", "sizes"), [("no", (1, 1)), ("yes", (2, 2))])
def test_the_winning_tile_has_no_effect(value: str, sizes: tuple[int, int]) -> None:
    # A2-7: effects of the winning tile: none, hand is over; option effects_before_end
    table = led("15-15", rules=with_options(replace(STRICT, hand=1), {"effects_before_end": value}), players=THREE)
    assert table.hand.sizes[1:] == sizes
    assert (out_of(table, engine.ForcedDraw) != []) is (value == "yes")
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.DOMINO, A, (B, C))]


def blocked(*hands: str, **options: str) -> Table:
    """Return a table with an empty boneyard where everybody has passed and revealed *hands*."""
    rules = with_options(replace(engine.SUPER, hand=136 // len(hands)), options)
    table = led(rules=rules, players=FOUR[: len(hands)])
    if table.hand.boneyard:
        table.draw()
    table.knock(len(hands))
    assert out_of(table, engine.ShowHands) == [
        engine.ShowHands(engine.Ending.BLOCKED_BY_KNOCKS, None, tuple(map(engine.Seat, range(len(hands)))))
    ]
    for seat, hand in enumerate(hands):
        table.reveal(seat, hand)
    return table


def test_the_fewest_tiles_win_a_block_and_then_the_fewest_pips() -> None:
    # 3.5 Hand end: all pieces drawn and no one able: fewest dominoes wins; 3.7 block: fewest tiles
    # A2-10: blocked: difference in counts
    table = blocked("1-0 2-0 3-0", "15-15", "4-0 5-0")
    assert (won(table), table.totals) == (B, (0, 3, 0))
    # 3.5 Hand end: tie: fewest pips among those
    assert won(blocked("15-15", "15-14", "1-0 0-0")) == B
    # A2-12: tiles and pips both tie: no winner
    table = blocked("15-12", "14-13", "1-0 0-0")
    assert (won(table), table.totals) == (None, (0, 0, 0))
    # 3.5 Hand end: all the pieces have been drawn
    table = led(players=THREE)
    for _ in range(3):
        table.draw(2).knock()
    assert (out_of(table, engine.ShowHands), table.to_move) == ([], B)
    # 3.5 Scoring: the winner of a blocked game wins from each player only the difference
    assert blocked("15-0 2-0", "5-0", "15-5 1-1", mode="advanced").totals == (0, (17 - 5) + (22 - 5), 0)
    # 3.5 Hand end: the hand-end button
    table = led(rules=engine.SUPER, players=TWO).feed(engine.HandEnd()).reveal(0, "1-0").reveal(1, "0-0 2-0")
    assert won(table) == A


@pytest.mark.parametrize(("signed", "paid"), [("no", 15), ("yes", 15 - 27)])
def test_a_player_with_fewer_pips_than_the_winner_pays_nothing(signed: str, paid: int) -> None:
    # A2-11: clamp each difference at 0; option signed
    assert blocked("1-0 2-0", "15-15", "15-14 15-1", mode="advanced", signed=signed).totals == (0, paid, 0)


def test_a_match_is_one_hand_or_has_a_target() -> None:
    # A2-13: match length: one hand
    table = led(rules=replace(STRICT, hand=1), players=TWO).reveal(1, "1-0")
    assert table.outcomes[-1] == engine.MatchOver(A, (1, 0))
    assert kinds(table.feed(engine.NewHand())) == []
    # A2-13: or target
    table = led(rules=with_options(replace(STRICT, hand=1), {"target": "2"}), players=TWO).reveal(1, "1-0")
    assert table.game.winner is None
    table.feed(engine.NewHand()).play("5-5", seat=1).reveal(0, "1-0").feed(engine.NewHand()).play("5-5").reveal(
        1, "1-0"
    )
    assert table.outcomes[-1] == engine.MatchOver(A, (2, 1))
