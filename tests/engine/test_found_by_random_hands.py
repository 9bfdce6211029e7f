"""Regression tests for faults found by random hands, each as a short sequence of events.

See docs/reference/rules.md 3.5 unless noted otherwise.
"""

from __future__ import annotations

from dataclasses import replace

from engine import (
    SUPER,
    Decline,
    Draw,
    Event,
    Irregular,
    Knock,
    Lead,
    LeadRule,
    MatchStart,
    Must,
    NewHand,
    NodeId,
    NoDouble,
    Play,
    Policy,
    Port,
    Rules,
    Seat,
    Spinner,
    Spot,
    State,
    Tile,
    Turn,
    apply,
    full_set,
    legal_plays,
    problem_with,
    replay,
    turn,
)

ANN, BOB, CY = Seat(0), Seat(1), Seat(2)
STRICT = replace(SUPER, policy=Policy.STRICT)


def regular(rules: Rules, *events: Event, players: str = "ABC") -> State:
    """Return the state after *events*, and check that none is irregular."""
    state = replay([MatchStart(rules, tuple(players)), NewHand()])
    for event in events:
        state, outcomes = apply(state, event)
        assert not [outcome for outcome in outcomes if isinstance(outcome, Irregular)], event
    return state


def turn_of(state: State) -> Turn | None:
    assert state.game is not None
    return turn(state.game)


def test_a_knock_by_an_exempt_caster_makes_no_claim() -> None:
    # A2-5: the caster may break it voluntarily, else passes. Holding the 13-2, he may pass and play it a round later.
    state = regular(
        STRICT,
        Lead(ANN),
        Play(ANN, Tile(7, 7)),
        Draw(BOB, 2),
        Knock(BOB),
        Play(ANN, Tile(7, 13), Spot(NodeId(3), Port.ARM_1), 7),
        Draw(BOB, 2),
        Knock(BOB),
        Knock(ANN),
        Draw(BOB, 2),
        Knock(BOB),
        Play(ANN, Tile(2, 13), Spot(NodeId(6), Port.E), 13),
        players="AB",
    )
    assert state.irregular == ()


def test_a_late_forced_draw_does_not_end_another_players_turn() -> None:
    # 15-15 makes Bob and Cy draw. Cy does so after Bob has drawn his two, but before he plays.
    state = regular(
        STRICT,
        Lead(ANN),
        Play(ANN, Tile(15, 15)),
        Draw(BOB, 2),
        Draw(CY, 1, forced=True),
    )
    assert turn_of(state) == Turn(BOB, Must.PLAY_OR_KNOCK, extra=True)
    assert problem_with(state, Play(BOB, Tile(1, 15), Spot(NodeId(3), Port.ARM_1), 15)) is None


def test_the_starter_spell_does_not_open_closed_branches() -> None:
    # Options can remove the six arms. Then 13-13 is an ordinary spinner.
    state = regular(replace(STRICT, spinner=Spinner.FIRST), Lead(ANN), Play(ANN, Tile(13, 13)))
    plays = legal_plays(state, full_set(15))
    assert plays
    assert [play for play in plays if problem_with(state, play) is not None] == []


def test_the_starter_spell_without_six_arms_ends_when_both_sides_are_covered() -> None:
    state = regular(
        replace(STRICT, spinner=Spinner.NONE),
        Lead(ANN),
        Play(ANN, Tile(13, 13)),
        Play(BOB, Tile(1, 13), Spot(NodeId(3), Port.W), 13),
        Play(CY, Tile(2, 13), Spot(NodeId(3), Port.E), 13),
    )
    assert legal_plays(state, (Tile(1, 4), Tile(2, 4))) != ()


def test_the_orientation_of_a_leading_single_does_not_matter() -> None:
    # 2.1: W and E are only names. 14 lets the same player play again.
    rules = replace(STRICT, lead_first=LeadRule.HIGHEST_DOUBLE, no_double=NoDouble.HIGHEST_TILE)
    turns = [turn_of(regular(rules, Lead(ANN), Play(ANN, Tile(12, 14), None, inner=inner))) for inner in (12, 14)]
    assert turns[0] == turns[1]
    state = regular(rules, Lead(ANN), Play(ANN, Tile(12, 14), None, inner=12))
    assert problem_with(state, Decline(ANN)) is not None
