"""Tests of the translation of page requests to game events, and of the page's snapshot."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import TypeAdapter, ValidationError

import engine
from engine import (
    BLOCK,
    BONES,
    Amend,
    Confirmed,
    Draw,
    Event,
    Inferred,
    Knock,
    MatchStart,
    NewHand,
    NodeId,
    Play,
    Port,
    Remove,
    Rules,
    Seat,
    Seq,
    State,
    Tile,
    apply,
    replay,
)
from engine.phrases import phrase
from tallybone.play.game import LiveState
from tallybone.session.inputs import Button, Press
from tallybone.session.questions import Ambiguity, Meaning, Question
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand
from tallybone.web.live.actions import PageAction, Refusal, Refused
from tallybone.web.live.feed import LiveFeed
from tallybone.web.live.page import inputs_for
from tallybone.web.live.plays import Story, irregular_of, plays_of
from tallybone.web.live.shapes import CanShown, IrregularShown, WhyShown
from tallybone.web.live.snapshot import Lobby, buttons_shown, lobby_snapshot, snapshot_of
from tests.tallybone.truth_eye import script
from tests.tallybone.web.true_table import TrueTable
from tests.vision.seen import unsure_tile
from vision.tracking.table_view import TableView

READ: TypeAdapter[PageAction] = TypeAdapter(PageAction)
LEADS, FIRST, SECOND = 3, 4, 5  # Ann's 5-5, Ben's 5-1 and Ann's 3-1, in a line


def played(plays: int = 8) -> engine.State:
    """Return a game of bones after *plays* plays: 5-5, 5-1, 3-1, 5-2, 2-0, 1-0, 4-3, 4-1."""
    steps = (step for step in script(1)[1] if step.is_seen)
    return [next(steps).state for _ in range(plays)][-1]


def intended(request: dict[str, object], state: engine.State, since: tuple[Event, ...] = ()) -> ByHand | Refused:
    found = inputs_for(READ.validate_python(request), Session(state), Story().after(state), since)
    if isinstance(found, Refused):
        return found
    (event,) = found
    return event


def game_after(state: engine.State, event: object) -> engine.Game:
    after, _ = apply(state, event)  # type: ignore[arg-type]  # an event, or the test fails
    assert after.game is not None
    return after.game


def first_after(state: engine.State, request: dict[str, object]) -> engine.Node:
    """Return the second tile of the layout after an amendment of it."""
    event = intended({"type": "amend", "seq": FIRST, **request}, state)
    assert isinstance(event, Amend)
    node = game_after(state, event).layout.find(NodeId(FIRST))
    assert node is not None
    return node


def test_every_button_of_a_table_becomes_a_press() -> None:
    state = played()
    assert intended({"type": "press", "button": "knock", "seat": 1}, state) == Press(Button.KNOCK, Seat(1))
    for button in Button:
        assert intended({"type": "press", "button": button.value}, state) == Press(button)


def test_a_correction_changes_pips_place_or_seat() -> None:
    for pips in ((5, 6), (6, 5)):
        node = first_after(played(), {"pips": pips})
        assert (node.inner, node.outer) == (5, 6), "oriented to match"
    state = played(2)
    node = first_after(state, {"pips": (3, 2)})
    assert (node.inner, node.outer) == (3, 2), "without a match the order is kept"
    after, _ = apply(state, intended({"type": "amend", "seq": FIRST, "pips": (3, 2)}, state))  # type: ignore[arg-type]
    assert after.irregular == (Seq(FIRST),)
    assert first_after(state, {"at": {"seq": LEADS, "port": "W"}}).joins == engine.Spot(NodeId(LEADS), Port.W)
    state = played(1)
    assert game_after(state, intended({"type": "amend", "seq": LEADS, "seat": 1}, state)).totals == (0, 10)


def test_repeated_corrections_of_points_use_a_single_adjustment() -> None:
    state = played(1)
    first = intended({"type": "amend", "seq": LEADS, "points": 25}, state)
    assert isinstance(first, engine.Adjust)
    state, _ = apply(state, first)
    for points, kind in ((15, Amend), (10, Remove)):
        again = intended({"type": "amend", "seq": LEADS, "points": points}, state)
        assert isinstance(again, kind)
        assert game_after(state, again).totals == (points, 0)


def test_missed_actions_are_inserted() -> None:
    event = intended({"type": "insert", "before": None, "seat": 0, "pips": [1, 3]}, played(2))
    assert event == Play(Seat(0), Tile(1, 3), engine.Spot(NodeId(FIRST), Port.E)), "at the matching end"
    without, _ = apply(played(3), Remove(Seq(FIRST)))
    before: dict[str, object] = {"type": "insert", "before": SECOND, "seat": 1}
    event = intended({**before, "pips": [1, 5], "at": {"seq": 3, "port": "E"}}, without)
    assert event == engine.Insert(Seq(SECOND), Play(Seat(1), Tile(1, 5), engine.Spot(NodeId(3), Port.E)))
    assert intended({**before, "kind": "knock"}, played()) == engine.Insert(Seq(SECOND), Knock(Seat(1)))
    draw = intended({**before, "kind": "draw", "tiles": 2}, played())
    assert draw == engine.Insert(Seq(SECOND), engine.Draw(Seat(1), 2))
    found = intended({"type": "insert", "seat": 1, "pips": [5, 6]}, played(1))
    assert found == Refused(Refusal.SENSELESS, "the 6-5 fits at 2 ends: specify which")


def test_actions_are_removed_or_accepted_and_points_given_by_hand() -> None:
    state = played()
    assert intended({"type": "remove", "seq": SECOND}, state) == Remove(Seq(SECOND))
    assert intended({"type": "stands", "seq": SECOND}, state) == engine.ItStands(Seq(SECOND))
    found = intended({"type": "points", "seat": 1, "points": -5, "why": "too\u202e loud"}, state)
    assert found == engine.Adjust(Seat(1), -5, "too loud")


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


def test_a_correction_conflicts_with_an_unseen_correction_and_an_undo_with_any_unseen_action() -> None:
    state = played()
    found = intended({"type": "press", "button": "undo"}, state, since=state.log[-1:])
    assert isinstance(found, Refused)
    assert found.kind is Refusal.CHANGED
    request_body: dict[str, object] = {"type": "amend", "seq": FIRST, "seat": 0}
    assert isinstance(intended(request_body, state, since=state.log[-2:]), Amend)
    assert isinstance(intended(request_body, state, since=(Amend(Seq(FIRST), Knock(Seat(0))),)), Refused)


def test_a_player_is_renamed_in_a_hand_but_changes_places_only_between_hands() -> None:
    assert intended({"type": "rename", "seat": 0, "name": " Ada\n"}, played()) == engine.Rename(Seat(0), "Ada")
    for name in ("", " \u202e", "ben"):
        assert isinstance(intended({"type": "rename", "seat": 0, "name": name}, played()), Refused), (
            "invisible or taken"
        )
    swap: dict[str, object] = {"type": "swap", "seat": 0, "other": 1}
    refused = intended(swap, played())
    assert isinstance(refused, Refused)
    assert refused.text == "players can change places between hands: finish this hand first"
    between = replay([engine.MatchStart(engine.BONES, ("Ann", "Ben"))])
    assert intended(swap, between) == engine.Swap(Seat(0), Seat(1))


@pytest.mark.parametrize(
    "request_body", [{"type": "points", "seat": 0, "points": 5}, {"type": "rename", "seat": 0, "name": "Ada"}]
)
def test_an_unseen_swap_makes_a_request_for_a_seat_a_conflict(request_body: dict[str, object]) -> None:
    found = intended(request_body, played(), since=(engine.Swap(Seat(0), Seat(1)),))
    assert isinstance(found, Refused)
    assert found.kind is Refusal.CHANGED
    assert not isinstance(intended(request_body, played(), since=(Knock(Seat(0)),)), Refused)


def test_plays_of_a_hand_keep_the_names_of_their_players_after_a_swap() -> None:
    ended: list[Event] = [engine.NewHand(), engine.Lead(Seat(0)), Play(Seat(0), Tile(5, 5)), engine.Abandon()]
    state = replay([engine.MatchStart(engine.BONES, ("Ann", "Ben")), *ended, engine.Swap(Seat(0), Seat(1))])
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
    log: list[Event] = list(played(12).log)
    corrected: list[Event] = [
        Amend(Seq(FIRST), Play(Seat(0), Tile(1, 5), engine.Spot(NodeId(3), Port.E))),
        Remove(Seq(7)),
    ]
    inferred: list[Event] = [Inferred((Seq(FIRST), Seq(8))), Confirmed((Seq(FIRST),))]
    late: list[Event] = [Inferred((Seq(LEADS),)), Remove(Seq(8))]
    both: tuple[list[Event], ...] = ([*log[:12], *corrected, *log[12:]], [*log[:9], *inferred, *log[9:], *late])
    for events in both:
        story = Story()
        for count in range(1, len(events) + 1):
            state = replay(events[:count])
            story = story.after(state)
            assert story.results == engine.history(state)
            assert story.after(state) is story
        assert Story().after(replay(events[:5])).after(replay(events)).results == story.results, (
            "several events at once"
        )
        assert [line.entry for line in story.results] == list(engine.entries(story.state))
    assert [line.entry.seq for line in story.results if line.entry.inferred] == [LEADS]


def test_inferred_actions_that_the_page_has_seen_are_confirmed_one_by_one_or_together() -> None:
    later = Inferred((Seq(SECOND),))
    before, _ = apply(played(), Inferred((Seq(FIRST),)))
    refused = Refused(Refusal.CHANGED, "already confirmed")
    assert intended({"type": "confirm", "seq": SECOND}, before) == refused
    assert intended({"type": "confirm"}, played()) == refused
    state, _ = apply(before, later)
    assert intended({"type": "confirm", "seq": SECOND}, state) == Confirmed((Seq(SECOND),))
    assert intended({"type": "confirm"}, state) == Confirmed((Seq(FIRST), Seq(SECOND)))
    assert isinstance(intended({"type": "confirm"}, state, (later,)), Refused)
    assert intended({"type": "confirm", "seq": FIRST}, state, (later,)) == Confirmed((Seq(FIRST),))
    assert isinstance(intended({"type": "confirm", "seq": FIRST}, state, (Amend(Seq(FIRST), Knock(Seat(0))),)), Refused)
    assert intended({"type": "confirm"}, state, (Knock(Seat(1)),)) == Confirmed((Seq(FIRST), Seq(SECOND)))


def test_another_leader_than_the_winner_can_be_named() -> None:
    rules = replace(engine.BONES, hand=1)
    begun: list[Event] = [engine.MatchStart(rules, ("Ann", "Ben")), engine.NewHand(), Play(Seat(1), Tile(5, 5))]
    won = replay([*begun, engine.Reveal(Seat(0), (Tile(6, 6),)), engine.NewHand()])
    assert won.game is not None
    assert won.game.hand_winner == Seat(1)
    can, _ = buttons_shown(won, ())
    assert can.next


NAMES = ("Ann", "Ben")


def begun(rules: Rules, *events: Event) -> State:
    """Return a match in its first hand, which Ann led with the double five."""
    return replay([MatchStart(rules, NAMES), NewHand(), Play(Seat(0), Tile(5, 5)), *events])


def shown(state: State) -> tuple[CanShown, WhyShown, tuple[IrregularShown, ...]]:
    irregular = irregular_of(Story().after(state), NAMES)
    return *buttons_shown(state, irregular), irregular


def won(*events: Event, target: int = 150) -> State:
    """Return a one-tile hand that Ann won after Ben led out of turn, followed by *events*."""
    led: list[Event] = [Knock(Seat(1)), Play(Seat(0), Tile(5, 5)), engine.Reveal(Seat(1), (Tile(6, 6),))]
    return replay([MatchStart(replace(BONES, hand=1, target=target), NAMES), NewHand(), *led, *events])


def test_every_disabled_button_has_a_reason() -> None:
    can, why, _ = shown(begun(BONES))
    assert (can.hand_end, why.hand_end) == (True, "somebody may still be able to play")
    assert (can.redeal, why.redeal) == (True, "1 tile of this hand already on the table")
    assert (can.next, why.next) == (False, "the hand is being played")
    can, why, _ = shown(begun(BLOCK))
    assert (can.draw, why.draw) == (False, "this game has no drawing")
    for state in (replay([MatchStart(BONES, NAMES)]), begun(BONES), begun(BLOCK), won(), won(target=5)):
        can, why, _ = shown(state)
        assert [name for name in CanShown.__slots__ if not getattr(can, name) and not getattr(why, name)] == []


def test_an_irregular_action_can_be_accepted_while_its_hand_is_played() -> None:
    out_of_turn = Play(Seat(0), Tile(5, 6), engine.Spot(engine.NodeId(2), engine.Port.W))
    can, _, irregular = shown(begun(BONES, out_of_turn))
    assert can.stands
    assert [action.can_stand for action in irregular] == [True]
    assert [action.can_stand for action in shown(begun(BONES, engine.HandEnd()))[2]] == [True], "not all hands are open"


def test_irregular_actions_are_cleared_with_their_hand_match_or_deal() -> None:
    state = won()
    can, _, irregular = shown(state)
    assert state.irregular != ()
    assert (irregular, can.stands) == ((), False)
    finished = won(Draw(Seat(0), 1), target=5)
    assert finished.game is not None
    assert finished.game.winner == Seat(0)
    can, _, irregular = shown(finished)
    assert (irregular, can.stands) == ((), False)
    early: list[Event] = [MatchStart(BONES, NAMES), NewHand(), Knock(Seat(0))]
    assert len(shown(replay(early))[2]) == 1
    assert shown(replay([*early, engine.Redeal(engine.RedealReason.MISDEAL)]))[2] == ()


def test_a_draw_before_the_deal_is_irregular_until_the_hand_is_dealt() -> None:
    early = Draw(Seat(0), 1)
    can, _, irregular = shown(won(early))
    assert [(action.text, action.can_stand) for action in irregular] == [
        ("the next hand has not been dealt (does not count)", False)
    ]
    assert not can.stands
    assert shown(won(early, NewHand()))[2] == ()


@pytest.mark.parametrize("chosen", [None, 1])
def test_the_choice_highlighted_by_the_buttons_is_shown(table: TrueTable, chosen: int | None) -> None:
    session = table.live.session
    ambiguity = Ambiguity(None, phrase("what is the score?"), ("Ann 30", phrase("something else")))
    question = Question(ambiguity, (Meaning(confirmed=((Seat(0), 30),)), Meaning()))
    now: LiveState = replace(table.live.now, session=replace(session, questions=(question,)), chosen=chosen)
    shown = snapshot_of(now, (), Story().after(session.state), version=1)
    assert shown is not None
    assert shown.question is not None
    assert (shown.question.choices[1], shown.question.chosen) == ("something else", chosen)
    assert type(shown.question.topic) is str, "the topic is never translated"


def test_an_unreadable_tile_is_shown_with_its_corners(table: TrueTable) -> None:
    session, tile = table.live.session, unsure_tile(x_px=100, y_px=100, side_px=20)
    now = replace(table.live.now, view=TableView((), (), (), unsure=(tile,)))
    shown = snapshot_of(now, (), Story().after(session.state), version=1)
    assert shown is not None
    (unsure,) = shown.layout.unsure
    assert set(unsure.corners_px) == {(80.0, 90.0), (120.0, 90.0), (120.0, 110.0), (80.0, 110.0)}
    assert (shown.question, shown.layout.waiting) == (None, ())
    lobby = lobby_snapshot(Lobby("settled", last=now), (), Story().after(session.state), version=1)
    assert lobby.layout.unsure == ()


def test_a_change_of_unreadable_tiles_publishes_a_new_version(table: TrueTable) -> None:
    feed = LiveFeed(lambda: 0)
    versions = []
    for unsure in ((), (unsure_tile(),), ()):
        feed.show(replace(table.live.now, view=TableView((), (), (), unsure=unsure)))
        versions.append(feed.publish())
    assert versions == [1, 2, 3]
