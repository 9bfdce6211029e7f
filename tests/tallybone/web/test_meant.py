"""Tests of the translation of page requests to game events."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import TypeAdapter, ValidationError

from engine import (
    BONES,
    Abandon,
    Adjust,
    Amend,
    Confirmed,
    Draw,
    Event,
    Inferred,
    Insert,
    ItStands,
    Knock,
    Lead,
    MatchStart,
    NewHand,
    NodeId,
    Play,
    Port,
    Remove,
    Rename,
    Reveal,
    Seat,
    Seq,
    Spot,
    State,
    Swap,
    Tile,
    apply,
    entries,
    history,
    replay,
)
from tallybone.session.inputs import Answer, Button, Press
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand
from tallybone.web.live.actions import PageAction, Refusal, Refused
from tallybone.web.live.page import meant_by
from tallybone.web.live.plays import Story, plays_of
from tallybone.web.live.snapshot import buttons_shown
from tests.tallybone.truth_eye import script

READ: TypeAdapter[PageAction] = TypeAdapter(PageAction)
LEADS, FIRST, SECOND = 3, 4, 5  # Ann's 5-5, Ben's 5-1 and Ann's 3-1, in a line


def played(plays: int = 8) -> State:
    """Return a game of bones after *plays* plays: 5-5, 5-1, 3-1, 5-2, 2-0, 1-0, 4-3, 4-1."""
    steps = (step for step in script(1)[1] if step.is_seen)
    return [next(steps).state for _ in range(plays)][-1]


def intended(request: dict[str, object], state: State, since: tuple[Event, ...] = ()) -> ByHand | Refused:
    found = meant_by(READ.validate_python(request), Session(state), Story().after(state), since)
    if isinstance(found, Refused):
        return found
    (event,) = found
    return event


def totals_after(state: State, event: object) -> tuple[int, ...]:
    after, _ = apply(state, event)  # type: ignore[arg-type]  # an event, or the test fails
    assert after.game is not None
    return after.game.totals


def test_a_button_becomes_a_press() -> None:
    state = played()
    assert intended({"type": "press", "button": "knock", "seat": 1}, state) == Press(Button.KNOCK, Seat(1))
    assert intended({"type": "press", "button": "undo"}, state) == Press(Button.UNDO)


@pytest.mark.parametrize("button", [button.value for button in Button])
def test_every_button_of_a_table_is_on_the_page(button: str) -> None:
    assert intended({"type": "press", "button": button}, played()) == Press(Button(button))


def test_corrected_pips_are_oriented_to_match_in_either_order() -> None:
    state = played()
    for pips in ((5, 6), (6, 5)):
        event = intended({"type": "amend", "seq": FIRST, "pips": pips}, state)
        assert isinstance(event, Amend)
        after, _ = apply(state, event)
        assert after.game is not None
        node = after.game.layout.find(NodeId(FIRST))
        assert node is not None
        assert (node.inner, node.outer) == (5, 6)


def test_corrected_pips_that_do_not_match_keep_their_order() -> None:
    state = played(2)
    after, _ = apply(state, intended({"type": "amend", "seq": FIRST, "pips": (3, 2)}, state))  # type: ignore[arg-type]
    assert after.game is not None
    node = after.game.layout.find(NodeId(FIRST))
    assert node is not None
    assert (node.inner, node.outer) == (3, 2)
    assert after.irregular == (Seq(FIRST),)


def test_a_corrected_seat_also_gets_the_points() -> None:
    state = played(1)
    assert totals_after(state, intended({"type": "amend", "seq": LEADS, "seat": 1}, state)) == (0, 10)


def test_a_corrected_place_is_used() -> None:
    state = played(2)
    event = intended({"type": "amend", "seq": FIRST, "at": {"seq": LEADS, "port": "W"}}, state)
    after, _ = apply(state, event)  # type: ignore[arg-type]  # an event
    assert after.game is not None
    node = after.game.layout.find(NodeId(FIRST))
    assert node is not None
    assert node.joins == Spot(NodeId(LEADS), Port.W)


def test_repeated_corrections_of_points_use_a_single_adjustment() -> None:
    state = played(1)
    first = intended({"type": "amend", "seq": LEADS, "points": 25}, state)
    assert isinstance(first, Adjust)
    state, _ = apply(state, first)
    again = intended({"type": "amend", "seq": LEADS, "points": 15}, state)
    assert isinstance(again, Amend)
    assert totals_after(state, again) == (15, 0)
    back = intended({"type": "amend", "seq": LEADS, "points": 10}, state)
    assert isinstance(back, Remove)
    assert totals_after(state, back) == (10, 0)


def test_a_missed_play_goes_to_the_matching_end() -> None:
    state = played(2)
    event = intended({"type": "insert", "before": None, "seat": 0, "pips": [1, 3]}, state)
    assert event == Play(Seat(0), Tile(1, 3), Spot(NodeId(FIRST), Port.E))


def test_a_missed_play_before_another_is_inserted() -> None:
    state = played(3)
    without, _ = apply(state, Remove(Seq(FIRST)))
    event = intended(
        {"type": "insert", "before": SECOND, "seat": 1, "pips": [1, 5], "at": {"seq": 3, "port": "E"}}, without
    )
    assert event == Insert(Seq(SECOND), Play(Seat(1), Tile(1, 5), Spot(NodeId(3), Port.E)))


def test_a_tile_that_fits_at_two_ends_needs_a_place() -> None:
    found = intended({"type": "insert", "seat": 1, "pips": [5, 6]}, played(1))
    assert isinstance(found, Refused)
    assert found == Refused(Refusal.SENSELESS, "the 6-5 fits at 2 ends: specify which")


def test_missed_knocks_and_draws_are_inserted() -> None:
    state = played()
    assert intended({"type": "insert", "before": FIRST, "kind": "knock", "seat": 1}, state) == Insert(
        Seq(FIRST), Knock(Seat(1))
    )
    assert intended({"type": "insert", "before": FIRST, "kind": "draw", "seat": 1, "tiles": 2}, state) == Insert(
        Seq(FIRST), Draw(Seat(1), 2)
    )


def test_an_action_can_be_removed_or_accepted() -> None:
    state = played()
    assert intended({"type": "remove", "seq": SECOND}, state) == Remove(Seq(SECOND))
    assert intended({"type": "stands", "seq": SECOND}, state) == ItStands(Seq(SECOND))


def test_points_are_given_by_hand() -> None:
    found = intended({"type": "points", "seat": 1, "points": -5, "why": "too\u202e loud"}, played())
    assert found == Adjust(Seat(1), -5, "too loud")


@pytest.mark.parametrize(
    "request_body",
    [
        {"type": "press", "button": "knock", "seat": 2},
        {"type": "points", "seat": 9, "points": 5},
        {"type": "amend", "seq": FIRST},
        {"type": "amend", "seq": 1, "pips": [1, 2]},
        {"type": "amend", "seq": 2, "points": 5},
        {"type": "amend", "seq": FIRST, "points": 5, "seat": 0},
        {"type": "remove", "seq": 0},
        {"type": "remove", "seq": 1},
        {"type": "insert", "seat": 0},
        {"type": "lead", "seat": 0},
        {"type": "left", "seat": 0, "pips": 5},
        {"type": "reveal", "seat": 0, "tiles": [[6, 5]]},
    ],
)
def test_refuses_invalid_requests_with_a_message(request_body: dict[str, object]) -> None:
    found = intended(request_body, played())
    assert isinstance(found, Refused)
    assert found.kind is Refusal.SENSELESS
    assert found.text


@pytest.mark.parametrize(
    "request_body",
    [
        {"type": "remove", "seq": 999},
        {"type": "amend", "seq": 999, "seat": 1},
        {"type": "insert", "before": 999, "kind": "knock", "seat": 1},
        {"type": "answer", "topic": "5-4 / 6-4", "choice": 0},
        {"type": "take_back", "log": 999},
    ],
)
def test_a_missing_target_is_a_conflict(request_body: dict[str, object]) -> None:
    found = intended(request_body, played())
    assert isinstance(found, Refused)
    assert found.kind is Refusal.CHANGED


def test_refuses_to_undo_an_unseen_action() -> None:
    state = played()
    found = intended({"type": "press", "button": "undo"}, state, since=state.log[-1:])
    assert isinstance(found, Refused)
    assert found.kind is Refusal.CHANGED


def test_a_correction_is_accepted_during_play_but_not_with_another_correction() -> None:
    state = played()
    request_body: dict[str, object] = {"type": "amend", "seq": FIRST, "seat": 0}
    assert isinstance(intended(request_body, state, since=state.log[-2:]), Amend)
    found = intended(request_body, state, since=(Amend(Seq(FIRST), Knock(Seat(0))),))
    assert isinstance(found, Refused)


def test_a_player_is_renamed_in_a_hand_but_changes_places_only_between_hands() -> None:
    assert intended({"type": "rename", "seat": 0, "name": " Ada\n"}, played()) == Rename(Seat(0), "Ada")
    swap: dict[str, object] = {"type": "swap", "seat": 0, "other": 1}
    refused = intended(swap, played())
    assert isinstance(refused, Refused)
    assert refused.text == "players can change places between hands: finish this hand first"
    between = replay([MatchStart(BONES, ("Ann", "Ben"))])
    assert intended(swap, between) == Swap(Seat(0), Seat(1))


@pytest.mark.parametrize("name", ["", " \u202e", "ben"])
def test_a_name_must_be_visible_and_unique(name: str) -> None:
    assert isinstance(intended({"type": "rename", "seat": 0, "name": name}, played()), Refused)


@pytest.mark.parametrize(
    "request_body", [{"type": "points", "seat": 0, "points": 5}, {"type": "rename", "seat": 0, "name": "Ada"}]
)
def test_an_unseen_swap_makes_a_request_for_a_seat_a_conflict(request_body: dict[str, object]) -> None:
    found = intended(request_body, played(), since=(Swap(Seat(0), Seat(1)),))
    assert isinstance(found, Refused)
    assert found.kind is Refusal.CHANGED
    assert not isinstance(intended(request_body, played(), since=(Knock(Seat(0)),)), Refused)


def test_plays_of_a_hand_keep_the_names_of_their_players_after_a_swap() -> None:
    ended: list[Event] = [NewHand(), Lead(Seat(0)), Play(Seat(0), Tile(5, 5)), Abandon()]
    state = replay([MatchStart(BONES, ("Ann", "Ben")), *ended, Swap(Seat(0), Seat(1))])
    story = Story().after(state)
    plays = plays_of(story.hands()[-1], story, ("Ben", "Ann"))
    assert plays[2].text.startswith("Ann plays 5-5")
    assert plays[2].seat == 1, "where Ann sits now"
    assert plays[-1].text == "Ben and Ann change places"
    amended = intended({"type": "amend", "seq": plays[2].seq, "seat": 0}, state)
    assert amended == Amend(Seq(plays[2].seq), Play(Seat(1), Tile(5, 5))), "Ben sat at the second seat"


@pytest.mark.parametrize(
    "request_body",
    [
        {},
        {"type": "fly"},
        {"type": "press", "button": "self_destruct"},
        {"type": "press", "button": "knock", "seat": -1},
        {"type": "press", "button": "knock", "seat": True},
        {"type": "press", "button": "knock", "seat": "1"},
        {"type": "press", "button": "knock", "colour": "red"},
        {"type": "amend", "seq": 4, "pips": [1, 19]},
        {"type": "amend", "seq": 4, "pips": [1]},
        {"type": "amend", "seq": 1.5},
        {"type": "points", "seat": 0, "points": 10**9},
        {"type": "points", "seat": 0, "points": 5, "why": "x" * 81},
        {"type": "insert", "seat": 0, "pips": [1, 2], "at": {"seq": 3, "port": "Q"}},
        {"type": "insert", "seat": 0, "kind": "draw", "tiles": 0},
    ],
)
def test_rejects_malformed_actions(request_body: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        READ.validate_python(request_body)


def test_the_incremental_story_equals_a_full_replay() -> None:
    story = Story()
    log: list[Event] = list(played(12).log)
    log[12:12] = [Amend(Seq(FIRST), Play(Seat(0), Tile(1, 5), Spot(NodeId(3), Port.E))), Remove(Seq(7))]
    for count in range(1, len(log) + 1):
        state = replay(log[:count])
        story = story.after(state)
        assert story.results == history(state)
        assert story.after(state) is story
    assert Story().after(replay(log)).results == story.after(replay(log[:5])).after(replay(log)).results
    assert [line.entry for line in story.results] == list(entries(story.state))


def test_inferred_actions_are_confirmed_one_by_one_or_together() -> None:
    state, _ = apply(played(), Inferred((Seq(FIRST), Seq(SECOND))))
    assert intended({"type": "confirm", "seq": SECOND}, state) == Confirmed((Seq(SECOND),))
    assert intended({"type": "confirm"}, state) == Confirmed((Seq(FIRST), Seq(SECOND)))


def test_refuses_to_confirm_an_action_that_is_not_inferred() -> None:
    state, _ = apply(played(), Inferred((Seq(FIRST),)))
    refused = Refused(Refusal.CHANGED, "already confirmed")
    assert intended({"type": "confirm", "seq": SECOND}, state) == refused
    assert intended({"type": "confirm"}, played()) == refused


def test_only_marks_that_the_page_has_seen_are_confirmed_together() -> None:
    before, _ = apply(played(), Inferred((Seq(FIRST),)))
    later = Inferred((Seq(SECOND),))
    state, _ = apply(before, later)
    assert isinstance(intended({"type": "confirm"}, state, (later,)), Refused)
    assert intended({"type": "confirm", "seq": FIRST}, state, (later,)) == Confirmed((Seq(FIRST),))
    assert isinstance(intended({"type": "confirm", "seq": FIRST}, state, (Amend(Seq(FIRST), Knock(Seat(0))),)), Refused)
    assert intended({"type": "confirm"}, state, (Knock(Seat(1)),)) == Confirmed((Seq(FIRST), Seq(SECOND)))


def test_marks_do_not_break_the_incremental_story() -> None:
    story = Story()
    log: list[Event] = list(played(12).log)
    log[9:9] = [Inferred((Seq(FIRST), Seq(8))), Confirmed((Seq(FIRST),))]
    log += [Inferred((Seq(LEADS),)), Remove(Seq(8))]
    for count in range(1, len(log) + 1):
        state = replay(log[:count])
        story = story.after(state)
        assert story.results == history(state)
    assert [line.entry.seq for line in story.results if line.entry.inferred] == [LEADS]
    assert Story().after(replay(log[:11])).results == history(replay(log[:11])), "several events at once"


def test_an_answer_must_name_an_offered_choice() -> None:
    assert isinstance(intended({"type": "answer", "topic": "x", "choice": 3}, played()), Refused)
    assert Answer(0, "x") != Answer(1, "x")


def test_another_leader_than_the_winner_can_be_named() -> None:
    rules = replace(BONES, hand=1)
    begun: list[Event] = [MatchStart(rules, ("Ann", "Ben")), NewHand(), Play(Seat(1), Tile(5, 5))]
    won = replay([*begun, Reveal(Seat(0), (Tile(6, 6),)), NewHand()])
    assert won.game is not None
    assert won.game.hand_winner == Seat(1)
    can, _ = buttons_shown(won, ())
    assert can.next
