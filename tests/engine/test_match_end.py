"""Tests of the end of a match: it follows from the totals and the phase, after corrections too."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import (
    BONES,
    PROFILES,
    TWOSET,
    Adjust,
    Event,
    Game,
    Knock,
    MatchClose,
    MatchEnd,
    MatchOver,
    MatchStart,
    NewHand,
    NodeId,
    Outcome,
    Phase,
    Play,
    Port,
    Redeal,
    RedealReason,
    Reveal,
    RevealPips,
    Rules,
    Scored,
    Seat,
    Spot,
    State,
    Swap,
    Tile,
    Turn,
    apply,
    replay,
    with_options,
)
from engine.value import changed
from tests.engine.wild_match import wild_match

A, B = Seat(0), Seat(1)
SHORT = replace(BONES, hand=2, target=10)
LED = (MatchStart(SHORT, ("Ann", "Bob")), NewHand(), Play(A, Tile(5, 5)))
REPLY = Play(B, Tile(0, 5), Spot(NodeId(2), Port.W))


def after(*events: Event) -> tuple[Game, tuple[Outcome, ...]]:
    """Return the match after *events*, and the outcomes of the last."""
    state, outcomes = State(), tuple[Outcome, ...]()
    for event in events:
        state, outcomes = apply(state, event)
    assert state.game is not None
    return state.game, outcomes


def test_points_taken_back_take_back_the_win() -> None:
    assert after(*LED)[0].winner == A
    game, outcomes = after(*LED, Adjust(A, -10, "miscounted"))
    assert (game.phase, game.winner, game.totals) == (Phase.PLAY, None, (0, 0))
    assert isinstance(outcomes[0], Scored)
    assert isinstance(outcomes[1], Turn)
    assert outcomes[1].seat == B
    game, outcomes = after(*LED, Adjust(A, -10, "miscounted"), REPLY)
    assert (game.totals, outcomes[-1]) == ((0, 10), MatchOver(B, (0, 10)))


def test_points_given_back_return_the_win() -> None:
    game, outcomes = after(*LED, Adjust(A, -10, ""), Adjust(A, 10, ""))
    assert (game.phase, game.winner, outcomes[-1]) == (Phase.MATCH_OVER, A, MatchOver(A, (10, 0)))


def test_a_correction_can_change_the_winner() -> None:
    game, outcomes = after(*LED, Adjust(B, 15, "forgotten"))
    assert (game.winner, outcomes[-1]) == (B, MatchOver(B, (10, 15)))
    assert after(*LED, Adjust(B, 15, ""), Adjust(B, -15, ""))[0].winner == A


def test_a_tie_at_the_target_reopens_the_match() -> None:
    assert after(*LED, Adjust(B, 10, "forgotten"))[0].phase is Phase.PLAY


def test_a_win_by_the_last_tile_reopens_at_the_reveal() -> None:
    start = MatchStart(replace(SHORT, hand=1), ("Ann", "Bob"))
    game, _ = after(start, NewHand(), Play(A, Tile(5, 5)), Adjust(A, -5, ""))
    assert game.phase is Phase.REVEAL
    assert after(start, *LED[1:], Adjust(A, -5, ""), Reveal(B, (Tile(2, 2),)))[0].totals == (10, 0)


def test_a_bonus_taken_back_reopens_the_match_before_the_next_deal() -> None:
    start = MatchStart(replace(SHORT, hand=1, target=15, match_end=MatchEnd.END_OF_HAND), ("Ann", "Bob"))
    over = (start, *LED[1:], RevealPips(B, 7))
    assert after(*over)[0].winner == A
    game, _ = after(*over, Adjust(A, -5, ""))
    assert (game.phase, game.winner) == (Phase.DEAL, None)
    assert after(*over, Adjust(A, -5, ""), Adjust(A, 1, ""))[0].phase is Phase.DEAL
    assert after(*over, Adjust(A, -5, ""), Adjust(A, 5, ""))[0].winner == A
    assert after(*over, Adjust(A, -5, ""), NewHand())[0].phase is Phase.LEAD


def test_a_correction_before_the_end_of_the_hand_does_not_win() -> None:
    start = MatchStart(replace(SHORT, match_end=MatchEnd.END_OF_HAND), ("Ann", "Bob"))
    assert after(start, Adjust(A, 20, "handicap"))[0].phase is Phase.DEAL
    assert after(start, *LED[1:], Adjust(A, 20, ""))[0].phase is Phase.PLAY


def test_points_given_by_hand_are_kept_if_the_hand_is_dealt_again() -> None:
    start, again = MatchStart(BONES, ("Ann", "Bob")), Redeal(RedealReason.NO_DOUBLE)
    game, _ = after(start, NewHand(), Adjust(A, 20, "handicap"), Adjust(B, -5, ""), again)
    assert (game.totals, game.scores) == ((20, -5), ((20,), (-5,)))


def test_a_closed_match_stays_over_and_follows_the_totals() -> None:
    start = MatchStart(replace(BONES, hand=2), ("Ann", "Bob"))
    closed = (start, *LED[1:], MatchClose())
    assert after(*closed)[0].winner == A
    assert after(*closed, Adjust(A, -10, ""))[0].winner is None
    game, _ = after(*closed, Adjust(B, 15, ""))
    assert (game.phase, game.winner) == (Phase.MATCH_OVER, B)


def test_a_single_hand_is_won_whatever_the_totals() -> None:
    start = MatchStart(replace(SHORT, hand=1, target=None), ("Ann", "Bob"))
    game, _ = after(start, *LED[1:], RevealPips(B, 7), Adjust(A, -50, ""))
    assert (game.phase, game.winner) == (Phase.MATCH_OVER, A)


CONFIRMED = replace(with_options(TWOSET, "confirm_after_next_play=yes"), hand=3, target=10, call_required=False)


def test_a_confirmed_win_taken_back_scores_the_play_that_confirmed_it() -> None:
    start = MatchStart(CONFIRMED, ("Ann", "Bob", "Cy", "Di"))
    over = (start, *LED[1:], REPLY)
    assert (after(*over)[0].winner, after(*over)[0].totals) == (A, (10, 0, 0, 0))
    game, _ = after(*over, Adjust(A, -5, ""))
    assert (game.phase, game.winner, game.totals) == (Phase.PLAY, None, (5, 10, 0, 0))
    game, _ = after(*over, Adjust(A, -5, ""), Adjust(A, 5, ""))
    assert (game.phase, game.winner, game.totals) == (Phase.MATCH_OVER, A, (10, 0, 0, 0))
    game, _ = after(*over, Adjust(A, -5, ""), Knock(Seat(2)), Adjust(A, 5, ""))
    assert game.phase is Phase.PLAY


def test_players_who_change_places_after_the_match_keep_the_turn_that_returns() -> None:
    game, _ = after(*LED, Swap(A, B), Adjust(B, -10, ""))
    assert (game.players, game.phase, game.totals) == (("Bob", "Ann"), Phase.PLAY, (0, 0))
    assert game.hand is not None
    assert game.hand.turn == A


@pytest.mark.parametrize("end", list(MatchEnd))
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), points=st.sampled_from([-40, -20, -5, 5, 20, 40]))
def test_a_correction_and_its_reverse_are_the_identity(end: MatchEnd, seed: int, points: int) -> None:
    rng = random.Random(seed)
    games = [rules for rules in PROFILES if rules.refereed]
    rules: Rules = replace(rng.choice(games), match_end=end, target=rng.choice([None, 5, 20, 40]))
    seats = 4 if rules.name in ("twoset", "cutthroat") else rng.choice([2, 3])
    state = wild_match(rules, seats, rng, events=rng.randrange(5, 60), wildness=0.15)
    seat = Seat(rng.randrange(seats))
    there, _ = apply(state, Adjust(seat, points, "there"))
    back, _ = apply(there, Adjust(seat, -points, "back"))
    assert state.game is not None
    assert back.game is not None
    assert _without_scores(back.game) == _without_scores(state.game)
    assert back.game.totals == state.game.totals
    assert replay(back.log).game == back.game


def _without_scores(game: Game) -> Game:
    hand = None if game.hand is None else changed(game.hand, scores_before=())
    return changed(game, scores=(), totals=(), hand=hand)
