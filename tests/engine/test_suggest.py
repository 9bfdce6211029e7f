"""What a shown hand can do: the points are those of the game itself, and the order is the one that is documented."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from engine import (
    ALLFIVES,
    BONES,
    CUTTHROAT,
    DRAW,
    SUPER,
    TWOSET,
    Call,
    Claimable,
    ForcedDraw,
    Forfeited,
    Irregular,
    LeadRule,
    MatchOver,
    MatchStart,
    Must,
    NewHand,
    Outcome,
    Phase,
    Play,
    Policy,
    Reason,
    Rules,
    Scored,
    Seat,
    ShowHands,
    Spelled,
    Stack,
    State,
    StealGain,
    Tile,
    Turn,
    apply,
    describe,
    full_set,
    legal_plays,
    legal_stacks,
    replay,
)
from engine.library.suggest import Suggestion, best_plays
from tests.engine.table import Table, tiles

A, B, C, D = (Seat(at) for at in range(4))
FOUR = ("A", "B", "C", "D")


def best(table: Table, hand: str, seat: Seat | None = None) -> tuple[Suggestion, ...]:
    return best_plays(table.state, tiles(hand), seat=seat)


def in_order(suggestions: tuple[Suggestion, ...]) -> list[str]:
    """ "5-4" for a tile that is played, "5-4^" for one that is stacked, with its points."""
    return [f"{one.play.tile}{'^' if isinstance(one.play, Stack) else ''} {one.points}" for one in suggestions]


def of(suggestion: Suggestion, kind: type[Outcome]) -> list[Outcome]:
    return [outcome for outcome in suggestion.outcomes if isinstance(outcome, kind)]


# ---- what a play pays ----


def test_each_play_comes_with_its_points_and_the_sum_behind_them() -> None:
    table = Table().play("1-1", "1-6@W", "6-3@W", "1-5@E", "1-2@N")
    found = best(table, "5-4 5-5 2-2")
    assert [(str(one.play.tile), one.points, str(one.count)) for one in found] == [
        ("5-5", 15, "3 + 2 + 5 + 5 = 15"),
        ("5-4", 0, "3 + 2 + 4 = 9"),
        ("2-2", 0, "3 + 2 + 2 + 5 = 12"),
    ]


def test_one_tile_is_suggested_for_every_end_that_it_fits() -> None:
    found = best(Table().play("1-3", "3-5@E"), "5-1")
    assert [(str(one.count), one.points) for one in found] == [("5 + 5 = 10", 10), ("1 + 1 = 2", 0)]


def test_a_game_without_points_has_no_count() -> None:
    (only,) = best(Table(DRAW).play("6-2"), "2-5")
    assert (only.points, only.count) == (0, None)


def test_points_that_have_to_be_called_are_counted_as_called() -> None:
    table = Table(TWOSET, FOUR).play("5-5", "5-1@W")
    (only,) = best(table, "1-0")
    assert (only.points, str(only.count)) == (10, "0 + 5 + 5 = 10")
    assert of(only, Claimable) == [Claimable(C, 10, "0 + 5 + 5 = 10")]
    assert of(only, Scored) == [Scored(C, 10, Reason.PLAY, "0 + 5 + 5 = 10")]
    assert of(only, Turn) == [Turn(D, Must.PLAY_OR_DRAW)]


def test_points_of_the_last_tile_are_called_when_the_hand_is_over() -> None:
    dealt = NewHand(dealt=(2, 1, 1, 1))
    state = replay([MatchStart(TWOSET, FOUR), dealt, Play(A, Tile(5, 5))])
    only = best_plays(state, tiles("5-0"))[0]
    assert only.points == 10
    assert [outcome.out for outcome in only.outcomes if isinstance(outcome, ShowHands)] == [B]


def test_points_that_the_player_before_lets_go_are_not_his_own() -> None:
    (only,) = best(Table(TWOSET, FOUR).play("5-5", "5-0@W"), "6-0")
    assert only.points == 0
    assert of(only, Forfeited) == [Forfeited(B, 10)]
    assert not of(only, Scored)


def test_a_play_that_ends_the_match_says_so() -> None:
    table = Table(replace(BONES, lead_first=LeadRule.LOT_ANY, target=20)).play("6-6", "6-3@E", "3-0@E", "0-0@E")
    found = best(table, "6-5 6-4")
    assert in_order(found) == ["6-5 5", "6-4 0"]
    assert not of(found[0], MatchOver)
    assert of(best(Table(replace(table.rules, target=10)), "5-5", seat=A)[0], MatchOver)


# ---- stacking ----


def stolen_from(rules: Rules = CUTTHROAT) -> Table:
    """Seat 0 has called 10 for 6 + 4, the 6 of the 3-3; seat 1 may stack."""
    return Table(rules, FOUR).play("6-6", "6-3@W", "6-0@E", "3-3@W", "0-4@E").feed(Call(A))


def test_a_stack_is_suggested_with_what_it_steals() -> None:
    found = best(stolen_from(), "4-0")
    assert in_order(found) == ["4-0^ 10", "4-0 0"]
    assert {(outcome.seat, outcome.points) for outcome in found[0].outcomes if isinstance(outcome, Scored)} == {
        (B, 10),
        (A, -10),
    }
    assert str(found[0].count) == "3 + 3 + 4 = 10"


def test_a_double_that_is_stacked_pays_double() -> None:
    assert in_order(best(stolen_from(), "4-0 3-3")) == ["3-3^ 20", "4-0^ 10", "3-3 10", "4-0 0"]


def test_a_stack_may_gain_what_it_steals_besides() -> None:
    rules = replace(CUTTHROAT, steal_gain=StealGain.SCORE_PLUS_STOLEN)
    assert in_order(best(stolen_from(rules), "4-0"))[0] == "4-0^ 20"


def test_nothing_is_stacked_on_points_that_nobody_called() -> None:
    table = Table(CUTTHROAT, FOUR).play("6-6", "6-3@W", "6-0@E", "3-3@W", "0-4@E")
    assert in_order(best(table, "4-0")) == ["4-0 0"]


# ---- the order ----


def test_the_most_points_come_first() -> None:
    assert in_order(best(Table().play("5-5"), "6-5 5-0")) == ["5-0 10", "5-0 10", "6-5 0", "6-5 0"]


def test_of_equal_points_those_that_another_loses_come_first() -> None:
    assert in_order(best(stolen_from(), "6-3 4-0"))[:2] == ["4-0^ 10", "6-3 10"]


def test_then_the_heavier_tile_leaves_the_hand() -> None:
    assert in_order(best(Table(DRAW).play("6-2"), "2-1 6-5")) == ["6-5 0", "2-1 0"]


def test_then_more_different_numbers_stay_in_the_hand() -> None:
    assert in_order(best(Table(DRAW).play("6-2"), "2-5 6-1 1-4")) == ["6-1 0", "5-2 0"]


def test_then_the_double_comes_first() -> None:
    assert in_order(best(Table(DRAW).play("3-2"), "2-4 3-3 4-0")) == ["3-3 0", "4-2 0"]


def test_of_two_copies_one_stays_in_the_hand() -> None:
    # 6-1 leaves 5, 2, 6 and 1 because its copy stays; 5-2 leaves only 6 and 1.
    table = Table(replace(DRAW, copies=2)).play("6-2")
    assert in_order(best(table, "5-2 6-1 6-1")) == ["6-1 0", "5-2 0"]


# ---- the six-arm game ----


def test_effects_are_told_in_words() -> None:
    table = Table(SUPER, ("A", "B", "C")).play("7-7")
    found = best(table, "7-13 7-15 7-9")
    assert in_order(found) == ["15-7 0", "13-7 0", "9-7 0"]
    assert [outcome.seat for outcome in of(found[0], ForcedDraw) if isinstance(outcome, ForcedDraw)] == [C, A]
    assert of(found[1], Spelled)
    for one in found:
        assert all(describe(outcome, table.players) for outcome in one.outcomes)


# ---- who, and when ----


def test_while_nobody_knows_who_leads_it_is_told_for_everybody_or_for_one() -> None:
    table = Table()
    assert [one.play.seat for one in best(table, "5-5")] == [A, B]
    assert [(one.play.seat, one.points) for one in best(table, "5-5", seat=B)] == [(B, 10)]


@pytest.mark.parametrize("state", [State(), replay([MatchStart(BONES, ("A", "B"))])], ids=["no match", "not dealt"])
def test_there_is_nothing_to_suggest_before_the_deal(state: State) -> None:
    assert best_plays(state, tiles("5-5")) == ()


def test_there_is_nothing_to_suggest_out_of_turn_or_without_a_tile_that_fits() -> None:
    table = Table().play("5-5")
    assert best(table, "5-1", seat=A) == ()
    assert best(table, "6-1") == ()


# ---- against the game itself ----


@pytest.mark.parametrize("rules", [BONES, ALLFIVES, TWOSET, CUTTHROAT, SUPER, DRAW], ids=lambda rules: str(rules.name))
def test_whatever_the_position_it_is_what_the_game_then_pays(rules: Rules) -> None:
    rng = random.Random(5)
    # Late in a hand of many tiles most ends and stacks have come up; nobody is near the target.
    rules = replace(rules, hand=14, hand_for=(), target=None, policy=Policy.STRICT)
    rules = replace(rules, lead_first=LeadRule.LOT_ANY, redeal_if_doubles_over=None)
    for _ in range(3):
        state = replay([MatchStart(rules, FOUR[: 4 if rules.copies == 2 else 2]), NewHand()])
        for _ in range(20):
            hand = rng.sample(full_set(rules.max_pips), 7)
            found = best_plays(state, hand)
            legal = {*legal_plays(state, hand), *legal_stacks(state, hand)}
            assert {one.play for one in found} == legal
            assert len(found) == len(legal)
            assert [one.points for one in found] == sorted((one.points for one in found), reverse=True)
            for one in found:
                assert one.points == paid(state, one.play)
            if found:
                state = followed(state, rng.choice(found).play, rng)


def paid(state: State, play: Play | Stack) -> int:
    """What the seat has more once *play* is made and called."""
    after, outcomes = apply(state, play)
    assert not any(isinstance(outcome, Irregular) for outcome in outcomes)
    after, _ = apply(after, Call(play.seat))
    assert state.game is not None
    assert after.game is not None
    return after.game.totals[play.seat] - state.game.totals[play.seat]


def followed(state: State, play: Play | Stack, rng: random.Random) -> State:
    """The state after *play*, mostly called; before it, when that ends the hand."""
    after, _ = apply(state, play)
    if rng.random() < 0.8:
        after, _ = apply(after, Call(play.seat))
    assert after.game is not None
    return after if after.game.phase is Phase.PLAY else state
