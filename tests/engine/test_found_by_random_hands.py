"""Regression tests for faults found by random hands, each as a short sequence of events.

See docs/reference/rules.md 3.5 unless noted otherwise.
"""

from __future__ import annotations

from dataclasses import replace

import engine

ANN, BOB, CY = engine.Seat(0), engine.Seat(1), engine.Seat(2)
STRICT = replace(engine.SUPER, policy=engine.Policy.STRICT)


def regular(rules: engine.Rules, *events: engine.Event, players: str = "ABC") -> engine.State:
    """Return the state after *events*, and check that none is irregular."""
    state = engine.replay([engine.MatchStart(rules, tuple(players)), engine.NewHand()])
    for event in events:
        state, outcomes = engine.apply(state, event)
        assert not [outcome for outcome in outcomes if isinstance(outcome, engine.Irregular)], event
    return state


def turn_of(state: engine.State) -> engine.Turn | None:
    assert state.game is not None
    return engine.turn(state.game)


def test_a_knock_by_an_exempt_caster_makes_no_claim() -> None:
    # A2-5: the caster may break it voluntarily, else passes. Holding the 13-2, he may pass and play it a round later.
    state = regular(
        STRICT,
        engine.Lead(ANN),
        engine.Play(ANN, engine.Tile(7, 7)),
        engine.Draw(BOB, 2),
        engine.Knock(BOB),
        engine.Play(ANN, engine.Tile(7, 13), engine.Spot(engine.NodeId(3), engine.Port.ARM_1), 7),
        engine.Draw(BOB, 2),
        engine.Knock(BOB),
        engine.Knock(ANN),
        engine.Draw(BOB, 2),
        engine.Knock(BOB),
        engine.Play(ANN, engine.Tile(2, 13), engine.Spot(engine.NodeId(6), engine.Port.E), 13),
        players="AB",
    )
    assert state.irregular == ()


def test_a_late_forced_draw_does_not_end_another_players_turn() -> None:
    # 15-15 makes Bob and Cy draw. Cy does so after Bob has drawn his two, but before he plays.
    state = regular(
        STRICT,
        engine.Lead(ANN),
        engine.Play(ANN, engine.Tile(15, 15)),
        engine.Draw(BOB, 2),
        engine.Draw(CY, 1, forced=True),
    )
    assert turn_of(state) == engine.Turn(BOB, engine.Must.PLAY_OR_KNOCK, extra=True)
    assert (
        engine.problem_with(
            state, engine.Play(BOB, engine.Tile(1, 15), engine.Spot(engine.NodeId(3), engine.Port.ARM_1), 15)
        )
        is None
    )


def test_a_starter_spell_without_six_arms_opens_no_branches_and_ends() -> None:
    # Options can remove the six arms. Then 13-13 is an ordinary spinner.
    state = regular(
        replace(STRICT, spinner=engine.Spinner.FIRST), engine.Lead(ANN), engine.Play(ANN, engine.Tile(13, 13))
    )
    plays = engine.legal_plays(state, engine.full_set(15))
    assert plays
    assert [play for play in plays if engine.problem_with(state, play) is not None] == []
    state = regular(
        replace(STRICT, spinner=engine.Spinner.NONE),
        engine.Lead(ANN),
        engine.Play(ANN, engine.Tile(13, 13)),
        engine.Play(BOB, engine.Tile(1, 13), engine.Spot(engine.NodeId(3), engine.Port.W), 13),
        engine.Play(CY, engine.Tile(2, 13), engine.Spot(engine.NodeId(3), engine.Port.E), 13),
    )
    assert engine.legal_plays(state, (engine.Tile(1, 4), engine.Tile(2, 4))) != ()


def test_the_orientation_of_a_leading_single_does_not_matter() -> None:
    # 2.1: W and E are only names. 14 lets the same player play again.
    rules = replace(STRICT, lead_first=engine.LeadRule.HIGHEST_DOUBLE, no_double=engine.NoDouble.HIGHEST_TILE)
    turns = [
        turn_of(regular(rules, engine.Lead(ANN), engine.Play(ANN, engine.Tile(12, 14), None, inner=inner)))
        for inner in (12, 14)
    ]
    assert turns[0] == turns[1]
    state = regular(rules, engine.Lead(ANN), engine.Play(ANN, engine.Tile(12, 14), None, inner=12))
    assert engine.problem_with(state, engine.Decline(ANN)) is not None
