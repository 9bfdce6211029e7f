"""Faults that random hands have found, each as a short sequence of events.

See docs/reference/rules.md 3.5 unless said otherwise.
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
    """The state after events with which nothing is wrong."""
    state = replay([MatchStart(rules, tuple(players)), NewHand()])
    for event in events:
        state, outcomes = apply(state, event)
        assert not [outcome for outcome in outcomes if isinstance(outcome, Irregular)], event
    return state


def whose(state: State) -> Turn | None:
    assert state.game is not None
    return turn(state.game)


def test_a_caster_who_need_not_break_his_spell_says_nothing_by_knocking() -> None:
    # A2-5: he may break it voluntarily, else passes. With the 13-2 in his hand he may pass, and play it a lap later.
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


def test_a_forced_draw_that_is_seen_late_does_not_end_the_turn_of_another() -> None:
    # 15-15 makes Bob and Cy draw. Cy does so while Bob, who has drawn his two, looks for a place.
    state = regular(
        STRICT,
        Lead(ANN),
        Play(ANN, Tile(15, 15)),
        Draw(BOB, 2),
        Draw(CY, 1, forced=True),
    )
    assert whose(state) == Turn(BOB, Must.PLAY_OR_KNOCK, extra=True)
    assert problem_with(state, Play(BOB, Tile(1, 15), Spot(NodeId(3), Port.ARM_1), 15)) is None


def test_under_the_spell_of_the_first_tile_closed_tips_stay_closed() -> None:
    # Options can take the six arms away from the game: then 13-13 is a spinner like any other.
    state = regular(replace(STRICT, spinner=Spinner.FIRST), Lead(ANN), Play(ANN, Tile(13, 13)))
    plays = legal_plays(state, full_set(15))
    assert plays
    assert [play for play in plays if problem_with(state, play) is not None] == []


def test_the_spell_of_a_first_tile_without_six_arms_ends_when_its_sides_are_covered() -> None:
    state = regular(
        replace(STRICT, spinner=Spinner.NONE),
        Lead(ANN),
        Play(ANN, Tile(13, 13)),
        Play(BOB, Tile(1, 13), Spot(NodeId(3), Port.W), 13),
        Play(CY, Tile(2, 13), Spot(NodeId(3), Port.E), 13),
    )
    assert legal_plays(state, (Tile(1, 4), Tile(2, 4))) != ()


def test_which_way_round_a_led_single_lies_does_not_matter() -> None:
    # 2.1: W and E are names only. 14 is the number with which the same player may play again.
    rules = replace(STRICT, lead_first=LeadRule.HIGHEST_DOUBLE, no_double=NoDouble.HIGHEST_TILE)
    turns = [whose(regular(rules, Lead(ANN), Play(ANN, Tile(12, 14), None, inner=inner))) for inner in (12, 14)]
    assert turns[0] == turns[1]
    state = regular(rules, Lead(ANN), Play(ANN, Tile(12, 14), None, inner=12))
    assert problem_with(state, Decline(ANN)) is not None
