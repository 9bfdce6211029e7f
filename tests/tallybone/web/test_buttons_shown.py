"""Tests of the buttons and irregular actions on the page, and of the reasons for disabled ones."""

from __future__ import annotations

from dataclasses import replace

from engine import (
    BLOCK,
    BONES,
    Draw,
    Event,
    HandEnd,
    Knock,
    MatchStart,
    NewHand,
    Play,
    Port,
    Redeal,
    RedealReason,
    Reveal,
    Rules,
    Seat,
    Spot,
    State,
    Tile,
    replay,
)
from engine import NodeId as Node
from tallybone.web.live.plays import Story, irregular_of
from tallybone.web.live.shapes import CanShown, IrregularShown, WhyShown
from tallybone.web.live.snapshot import buttons_shown

NAMES = ("Ann", "Ben")


def begun(rules: Rules = BONES, *events: Event) -> State:
    """Return a match in its first hand, which Ann led with the double five."""
    return replay([MatchStart(rules, NAMES), NewHand(), Play(Seat(0), Tile(5, 5)), *events])


def shown(state: State) -> tuple[CanShown, WhyShown, tuple[IrregularShown, ...]]:
    irregular = irregular_of(Story().after(state), NAMES)
    return *buttons_shown(state, irregular), irregular


def won(*events: Event, target: int | None = None) -> State:
    """Return a one-tile hand that Ann won after Ben led out of turn, followed by *events*."""
    rules = replace(BONES, hand=1) if target is None else replace(BONES, hand=1, target=target)
    led: list[Event] = [Play(Seat(0), Tile(5, 5)), Reveal(Seat(1), (Tile(6, 6),))]
    return replay([MatchStart(rules, NAMES), NewHand(), Knock(Seat(1)), *led, *events])


def test_a_hand_in_play_can_be_ended_and_dealt_again() -> None:
    can, why, _ = shown(begun())
    assert can.hand_end
    assert why.hand_end == "somebody may still be able to play"
    assert can.redeal
    assert why.redeal == "1 tile of this hand already on the table"


def test_every_disabled_button_has_a_reason() -> None:
    for state in (replay([MatchStart(BONES, NAMES)]), begun(), begun(BLOCK), won(), won(target=5)):
        can, why, _ = shown(state)
        names = CanShown.__slots__
        assert [name for name in names if not getattr(can, name) and not getattr(why, name)] == []


def test_next_is_disabled_while_the_hand_is_played() -> None:
    can, why, _ = shown(begun())
    assert not can.next
    assert why.next == "the hand is being played"


def test_a_game_without_a_boneyard_offers_no_draw() -> None:
    can, why, _ = shown(begun(BLOCK))
    assert (can.draw, why.draw) == (False, "this game has no drawing")


def test_an_irregular_play_can_be_accepted_while_its_hand_is_played() -> None:
    out_of_turn = Play(Seat(0), Tile(5, 6), Spot(Node(2), Port.W))
    can, _, irregular = shown(begun(BONES, out_of_turn))
    assert can.stands
    assert [action.can_stand for action in irregular] == [True]


def test_irregular_actions_are_cleared_at_the_end_of_their_hand() -> None:
    state = won()
    can, _, irregular = shown(state)
    assert state.irregular != ()
    assert irregular == ()
    assert not can.stands


def test_a_draw_before_the_deal_is_irregular_until_the_hand_is_dealt() -> None:
    early = Draw(Seat(0), 1)
    can, _, irregular = shown(won(early))
    assert [(action.text, action.can_stand) for action in irregular] == [
        ("the next hand has not been dealt (does not count)", False)
    ]
    assert not can.stands
    assert shown(won(early, NewHand()))[2] == ()


def test_a_finished_match_has_no_irregular_actions() -> None:
    state = won(Draw(Seat(0), 1), target=5)
    assert state.game is not None
    assert state.game.winner == Seat(0)
    can, _, irregular = shown(state)
    assert irregular == ()
    assert not can.stands


def test_a_misdeal_clears_the_list_of_irregular_actions() -> None:
    early: list[Event] = [MatchStart(BONES, NAMES), NewHand(), Knock(Seat(0))]
    assert len(shown(replay(early))[2]) == 1
    assert shown(replay([*early, Redeal(RedealReason.MISDEAL)]))[2] == ()


def test_an_illegal_end_of_hand_is_irregular_until_all_hands_are_open() -> None:
    assert [action.can_stand for action in shown(begun(BONES, HandEnd()))[2]] == [True]
