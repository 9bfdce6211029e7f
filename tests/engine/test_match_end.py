"""Tests of the end of a match: it follows from the totals and the phase, after corrections too."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.value import changed
from tests.engine.wild_match import wild_match

A, B = engine.Seat(0), engine.Seat(1)
SHORT = replace(engine.BONES, hand=2, target=10)
LED = (engine.MatchStart(SHORT, ("Ann", "Bob")), engine.NewHand(), engine.Play(A, engine.Tile(5, 5)))
REPLY = engine.Play(B, engine.Tile(0, 5), engine.Spot(engine.NodeId(2), engine.Port.W))


def after(*events: engine.Event) -> tuple[engine.Game, tuple[engine.Outcome, ...]]:
    """Return the match after *events*, and the outcomes of the last."""
    state, outcomes = engine.State(), tuple[engine.Outcome, ...]()
    for event in events:
        state, outcomes = engine.apply(state, event)
    assert state.game is not None
    return state.game, outcomes


def test_a_correction_can_take_back_return_or_change_the_win() -> None:
    assert after(*LED)[0].winner == A
    game, outcomes = after(*LED, engine.Adjust(A, -10, "miscounted"))
    assert (game.phase, game.winner, game.totals) == (engine.Phase.PLAY, None, (0, 0))
    assert isinstance(outcomes[0], engine.Scored)
    assert isinstance(outcomes[1], engine.Turn)
    assert outcomes[1].seat == B
    game, outcomes = after(*LED, engine.Adjust(A, -10, "miscounted"), REPLY)
    assert (game.totals, outcomes[-1]) == ((0, 10), engine.MatchOver(B, (0, 10)))
    game, outcomes = after(*LED, engine.Adjust(A, -10, ""), engine.Adjust(A, 10, ""))
    assert (game.phase, game.winner, outcomes[-1]) == (engine.Phase.MATCH_OVER, A, engine.MatchOver(A, (10, 0)))
    game, outcomes = after(*LED, engine.Adjust(B, 15, "forgotten"))
    assert (game.winner, outcomes[-1]) == (B, engine.MatchOver(B, (10, 15)))
    assert after(*LED, engine.Adjust(B, 15, ""), engine.Adjust(B, -15, ""))[0].winner == A
    assert after(*LED, engine.Adjust(B, 10, "forgotten"))[0].phase is engine.Phase.PLAY


def test_a_win_by_the_last_tile_or_bonus_reopens_where_it_was() -> None:
    start = engine.MatchStart(replace(SHORT, hand=1), ("Ann", "Bob"))
    game, _ = after(start, engine.NewHand(), engine.Play(A, engine.Tile(5, 5)), engine.Adjust(A, -5, ""))
    assert game.phase is engine.Phase.REVEAL
    assert after(start, *LED[1:], engine.Adjust(A, -5, ""), engine.Reveal(B, (engine.Tile(2, 2),)))[0].totals == (10, 0)
    start = engine.MatchStart(replace(SHORT, hand=1, target=15, match_end=engine.MatchEnd.END_OF_HAND), ("Ann", "Bob"))
    over = (start, *LED[1:], engine.RevealPips(B, 7))
    assert after(*over)[0].winner == A
    game, _ = after(*over, engine.Adjust(A, -5, ""))
    assert (game.phase, game.winner) == (engine.Phase.DEAL, None)
    assert after(*over, engine.Adjust(A, -5, ""), engine.Adjust(A, 1, ""))[0].phase is engine.Phase.DEAL
    assert after(*over, engine.Adjust(A, -5, ""), engine.Adjust(A, 5, ""))[0].winner == A
    assert after(*over, engine.Adjust(A, -5, ""), engine.NewHand())[0].phase is engine.Phase.LEAD


def test_a_correction_during_a_hand_does_not_win_and_survives_a_redeal() -> None:
    start = engine.MatchStart(replace(SHORT, match_end=engine.MatchEnd.END_OF_HAND), ("Ann", "Bob"))
    assert after(start, engine.Adjust(A, 20, "handicap"))[0].phase is engine.Phase.DEAL
    assert after(start, *LED[1:], engine.Adjust(A, 20, ""))[0].phase is engine.Phase.PLAY
    start, again = engine.MatchStart(engine.BONES, ("Ann", "Bob")), engine.Redeal(engine.RedealReason.NO_DOUBLE)
    game, _ = after(start, engine.NewHand(), engine.Adjust(A, 20, "handicap"), engine.Adjust(B, -5, ""), again)
    assert (game.totals, game.scores) == ((20, -5), ((20,), (-5,)))


def test_a_closed_or_single_hand_match_stays_over() -> None:
    start = engine.MatchStart(replace(engine.BONES, hand=2), ("Ann", "Bob"))
    closed = (start, *LED[1:], engine.MatchClose())
    assert after(*closed)[0].winner == A
    assert after(*closed, engine.Adjust(A, -10, ""))[0].winner is None
    game, _ = after(*closed, engine.Adjust(B, 15, ""))
    assert (game.phase, game.winner) == (engine.Phase.MATCH_OVER, B)
    start = engine.MatchStart(replace(SHORT, hand=1, target=None), ("Ann", "Bob"))
    game, _ = after(start, *LED[1:], engine.RevealPips(B, 7), engine.Adjust(A, -50, ""))
    assert (game.phase, game.winner) == (engine.Phase.MATCH_OVER, A)


CONFIRMED = replace(
    engine.with_options(engine.TWOSET, "confirm_after_next_play=yes"), hand=3, target=10, call_required=False
)


def test_a_confirmed_win_taken_back_scores_the_play_that_confirmed_it() -> None:
    start = engine.MatchStart(CONFIRMED, ("Ann", "Bob", "Cy", "Di"))
    over = (start, *LED[1:], REPLY)
    assert (after(*over)[0].winner, after(*over)[0].totals) == (A, (10, 0, 0, 0))
    game, _ = after(*over, engine.Adjust(A, -5, ""))
    assert (game.phase, game.winner, game.totals) == (engine.Phase.PLAY, None, (5, 10, 0, 0))
    game, _ = after(*over, engine.Adjust(A, -5, ""), engine.Adjust(A, 5, ""))
    assert (game.phase, game.winner, game.totals) == (engine.Phase.MATCH_OVER, A, (10, 0, 0, 0))
    game, _ = after(*over, engine.Adjust(A, -5, ""), engine.Knock(engine.Seat(2)), engine.Adjust(A, 5, ""))
    assert game.phase is engine.Phase.PLAY
    game, _ = after(*LED, engine.Swap(A, B), engine.Adjust(B, -10, ""))
    assert (game.players, game.phase, game.totals) == (("Bob", "Ann"), engine.Phase.PLAY, (0, 0))
    assert game.hand is not None
    assert game.hand.turn == A


@pytest.mark.parametrize("end", list(engine.MatchEnd))
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), points=st.sampled_from([-40, -20, -5, 5, 20, 40]))
def test_a_correction_and_its_reverse_are_the_identity(end: engine.MatchEnd, seed: int, points: int) -> None:
    rng = random.Random(seed)
    games = [rules for rules in engine.PROFILES if rules.refereed]
    rules: engine.Rules = replace(rng.choice(games), match_end=end, target=rng.choice([None, 5, 20, 40]))
    seats = 4 if rules.name in ("twoset", "cutthroat") else rng.choice([2, 3])
    state = wild_match(rules, seats, rng, events=rng.randrange(5, 60), wildness=0.15)
    seat = engine.Seat(rng.randrange(seats))
    there, _ = engine.apply(state, engine.Adjust(seat, points, "there"))
    back, _ = engine.apply(there, engine.Adjust(seat, -points, "back"))
    assert state.game is not None
    assert back.game is not None
    assert _without_scores(back.game) == _without_scores(state.game)
    assert back.game.totals == state.game.totals
    assert engine.replay(back.log).game == back.game


def _without_scores(game: engine.Game) -> engine.Game:
    hand = None if game.hand is None else changed(game.hand, scores_before=())
    return changed(game, scores=(), totals=(), hand=hand)
