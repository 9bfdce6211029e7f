"""Tests of buttons, knocks and answers, in particular of passes and of knocks by tiles put down hard."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine import (
    BLOCK,
    BONES,
    TWOSET,
    Call,
    Confirmed,
    Decline,
    Draw,
    Event,
    HandEnd,
    Inferred,
    Irregular,
    ItStands,
    Knock,
    Lead,
    LeadRule,
    MatchStart,
    NewHand,
    NodeId,
    Passed,
    Phase,
    Play,
    Port,
    Redeal,
    RedealReason,
    Rename,
    RevealPips,
    Rules,
    Scored,
    Seat,
    Seq,
    Spot,
    Tile,
    Undo,
    entries,
)
from tallybone.session.feeding import KNOCK_WAITS_NS, PRESS_WAITS_NS, SURE_KNOCK, feed
from tallybone.session.inputs import Answer, Button, KnockHeard, Press, event_of
from tallybone.session.questions import Ambiguity
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Sitting, announcement_line, opened
from tests.tallybone.session.test_referee import between, lay, line, look, plays, questions, seen
from tests.tallybone.truth_eye import game_of, placed
from vision.tracking.table_view import Change, ChangeKind, TableView
from vision.tracking.watch import Frame

SECOND_NS = 1_000_000_000
FIRST, NEXT = seen((3, 5), (0, 0)), seen((5, 4), (2, 0))
NOTHING_NEW, NOTHING_YET = TableView((FIRST,), (), ()), TableView((), (), ())
NEXT_LAID, BOTH = placed(NEXT, before=(FIRST,)), TableView((FIRST, NEXT), (), ())


def session_with(rules: Rules, *events: Event, seats: int = 2) -> Session:
    session = Session()
    names = ("Ann", "Ben", "Cleo", "Dora")[:seats]
    for event in (MatchStart(replace(rules, lead_first=LeadRule.LOT_ANY), names), NewHand(), *events):
        session, _ = feed(session, event)
    return session


def led(rules: Rules = BLOCK, seats: int = 2) -> Session:
    session, _ = feed(session_with(rules, Lead(Seat(0)), seats=seats), placed(FIRST), t_ns=SECOND_NS)
    return session


def feed_timed(session: Session, *events: tuple[float, KnockHeard | TableView]) -> tuple[Session, list[object]]:
    announcements: list[object] = []
    shown = NOTHING_NEW
    for at_s, event in events:
        # The camera watches the table continuously.
        for at_ns in range(session.t_ns + SECOND_NS, int(at_s * SECOND_NS), SECOND_NS):
            session, fresh = feed(session, shown, t_ns=at_ns)
            announcements += fresh
        session, fresh = feed(session, event, t_ns=int(at_s * SECOND_NS))
        announcements += fresh
        shown = replace(event, changes=()) if isinstance(event, TableView) else shown
    return session, announcements


def passes(announcements: list[object]) -> list[int]:
    return [announcement.seat for announcement in announcements if isinstance(announcement, Passed)]


@pytest.mark.parametrize("seat", [None, Seat(1)], ids=["unknown seat", "known seat"])
def test_a_knock_without_a_play_is_a_pass(seat: Seat | None) -> None:
    session, announcements = feed_timed(led(), (10.0, KnockHeard(seat)))
    assert announcements == []
    session, announcements = feed_timed(session, (10.0 + KNOCK_WAITS_NS / SECOND_NS, NOTHING_NEW))
    assert passes(announcements) == [1]
    assert session.state.log[-1] == Knock(Seat(1))


def test_a_loud_tile_is_no_pass() -> None:
    session, announcements = feed_timed(led(), (10.0, KnockHeard()), (11.0, NEXT_LAID), (20.0, BOTH))
    assert passes(announcements) == []
    assert session.state.log[-1] == Play(Seat(1), Tile.parse("5-4"), Spot(NodeId(3), Port.E), 5)


def test_a_pass_and_an_immediately_following_play_are_distinguished() -> None:
    session, announcements = feed_timed(led(), (10.0, KnockHeard()), (11.2, KnockHeard()), (11.9, NEXT_LAID))
    assert passes(announcements) == [1]
    play = session.state.log[-1]
    assert isinstance(play, Play)
    assert play.seat == 0


def moving(since_s: float) -> TableView:
    return replace(NOTHING_NEW, is_settled=False, moved_since_ns=int(since_s * SECOND_NS))


def test_a_loud_tile_under_lingering_hands_is_no_pass() -> None:
    laid = replace(NEXT_LAID, moved_since_ns=int(9.5 * SECOND_NS))
    hands = [(at_s, moving(9.5)) for at_s in (10.5, 12.5, 14.0)]
    session, announcements = feed_timed(
        led(), (9.4, moving(9.5)), (10.0, KnockHeard(Seat(1))), *hands, (14.5, laid), (20.0, BOTH)
    )
    assert passes(announcements) == []
    play = session.state.log[-1]
    assert isinstance(play, Play)
    assert play.seat == 1


def test_a_knock_before_a_motion_is_a_pass() -> None:
    hands = ((at_s, moving(9.5)) for at_s in (9.6, 10.1))
    _, announcements = feed_timed(led(), (7.0, KnockHeard()), *hands)
    assert passes(announcements) == [1]


REST, LOST = NOTHING_NEW, replace(NOTHING_NEW, is_settled=False, lost="put the camera back")
OUT_OF_TURN = Press(Button.KNOCK, Seat(0))


@pytest.mark.parametrize(
    ("item", "views", "at_s"),
    [  # views from 2.5 s on, until the time after which the table is at rest, and the time of the answer
        *((OUT_OF_TURN, [], 6), (KnockHeard(Seat(1)), [], 5), (Knock(Seat(1)), [], 3)),
        *(
            (OUT_OF_TURN, [(moving(2.5), 4)], 6),
            (OUT_OF_TURN, [(moving(2.5), 10)], 10),
            (OUT_OF_TURN, [(LOST, 99)], 18),
        ),
        *((KnockHeard(Seat(1)), [(moving(2.5), 40)], 40), (KnockHeard(Seat(1)), [(LOST, 40)], 40)),
        *((OUT_OF_TURN, [(replace(LOST, is_settled=True), 99)], 18), (Knock(Seat(1)), [(moving(2.5), 99)], 3)),
        *((OUT_OF_TURN, [(None, 30)], 30), (KnockHeard(Seat(1)), [(None, 30)], 30), (Knock(Seat(1)), [(None, 30)], 3)),
        *((OUT_OF_TURN, [(None, 4), (LOST, 99)], 18), (OUT_OF_TURN, [(None, 4.25), (LOST, 99)], 19.25)),
        *((OUT_OF_TURN, [(None, 30), (moving(2.5), 99)], 45), (OUT_OF_TURN, [(None, 30), (moving(2.5), 40)], 40)),
    ],
)
def test_an_input_waits_for_a_view_that_may_explain_it(
    item: Press | KnockHeard | Knock, views: list[tuple[TableView | None, float]], at_s: float
) -> None:
    session = led()
    for quarter in range(5, 4 * 60):
        now_s = quarter / 4
        shown = next((view for view, until_s in views if 2.5 <= now_s < until_s), NOTHING_NEW)
        # Under hands, another input is needed to report a press: here a sound that counts for nothing.
        whisper = KnockHeard(confidence=0.0) if shown not in (None, REST) and item == OUT_OF_TURN else None
        for event in (item if now_s == 3 else None, shown, whisper):
            if event is not None:
                session, announcements = feed(session, event, t_ns=int(now_s * SECOND_NS))
                if announcements:
                    assert isinstance(announcements[0], Irregular if item == OUT_OF_TURN else Passed)
                    assert now_s == at_s
                    return
    raise AssertionError("nothing was announced")


@pytest.mark.parametrize(
    ("first", "second", "after_s", "heard"),
    [
        *(
            (1, 1, 0.69, [1]),
            (1, 1, 0.7, [1, 1]),
            (0, 1, 0.1, [0, 1]),
            (None, None, 0.1, [None]),
            (None, 1, 0.1, [None, 1]),
        ),
        *(("?", 1, 0.1, [1]), (1, "?", 0.1, [1]), ("?", "?", 0.1, [None]), (None, "?", 0.1, [None])),
    ],
)
def test_the_second_sound_of_a_double_knock_is_not_another(
    first: int | str | None, second: int | str | None, after_s: float, heard: list[int | None]
) -> None:
    session = led()
    for at_s, seat in ((10.0, first), (10.0 + after_s, second)):
        knock = KnockHeard(confidence=0.59) if seat == "?" else KnockHeard(None if seat is None else Seat(int(seat)))
        session, _ = feed(session, knock, t_ns=round(at_s * SECOND_NS))
    assert [(sound.seat, sound.confidence) for _, sound in session.heard] == [
        (seat, 0.59 if first == second == "?" else 1.0) for seat in heard
    ]
    assert session.heard[0][0] == 10 * SECOND_NS


@pytest.mark.parametrize(("after_s", "is_heard"), [(0.0, False), (0.29, False), (0.3, True)])
def test_a_sound_shortly_after_a_tile_is_its_echo(after_s: float, *, is_heard: bool) -> None:
    session, _ = feed(led(), NEXT_LAID, t_ns=10 * SECOND_NS)
    session, _ = feed(session, KnockHeard(), t_ns=round((10 + after_s) * SECOND_NS))
    assert bool(session.heard) is is_heard
    looked, _ = feed(led(), NOTHING_NEW, t_ns=10 * SECOND_NS)  # a look without a new tile has no echo
    assert feed(looked, KnockHeard(), t_ns=round((10 + after_s) * SECOND_NS))[0].heard


@pytest.mark.parametrize(("after_s", "draws"), [(0.0, 2), (0.1, 1), (0.49, 1), (0.5, 2)])
def test_the_second_of_two_equal_presses_at_once_is_not_another(after_s: float, draws: int) -> None:
    session, _ = feed(led(BONES), NOTHING_NEW, t_ns=2 * SECOND_NS)
    session, _ = feed(session, Press(Button.DRAW), t_ns=3 * SECOND_NS)
    session, _ = feed(session, Press(Button.DRAW), t_ns=round((3 + after_s) * SECOND_NS))
    session, _ = feed(session, NOTHING_NEW, t_ns=4 * SECOND_NS)
    assert sum(isinstance(entry.action, Draw) for entry in entries(session.state)) == draws


@pytest.mark.parametrize(("after_s", "marked", "asked"), [(1.9, 0, 0), (2.0, 1, 0), (5.9, 1, 0), (6.0, 1, 1)])
def test_doubtful_totals_are_marked_after_two_seconds_and_asked_after_six(
    after_s: float, marked: int, asked: int
) -> None:
    doubtful, _ = feed(led(BONES), placed(between((5, 4), (2, 0), 2), before=(FIRST,)), t_ns=10 * SECOND_NS)
    assert (doubtful.doubtful_ns, doubtful.is_provisional) == (10 * SECOND_NS, True)
    assert doubtful.seen is not None
    session = doubtful
    for at_s in (*(at for at in (2.0, 4.0) if at < after_s), after_s):
        session, _ = feed(session, replace(doubtful.seen, changes=()), t_ns=round((10 + at_s) * SECOND_NS))
    assert (len(session.state.inferred), len(session.questions)) == (marked, asked)


def test_a_knock_out_of_turn_is_no_pass_until_the_player_before_has_passed() -> None:
    session, announcements = feed_timed(led(seats=3), (10.0, KnockHeard(Seat(2))), (13.0, NOTHING_NEW))
    assert passes(announcements) == []
    assert not session.state.irregular
    session, announcements = feed_timed(session, (14.0, KnockHeard(Seat(1))), (17.0, NOTHING_NEW))
    assert passes(announcements)[0] == 1


@pytest.mark.parametrize(("confidence", "passed"), [(0.9, [1]), (SURE_KNOCK, [1]), (0.1, [])])
def test_a_knock_is_a_pass_if_that_is_likelier(confidence: float, passed: list[int]) -> None:
    session, announcements = feed_timed(led(), (10.0, KnockHeard(Seat(1), confidence=confidence)), (13.0, NOTHING_NEW))
    assert passes(announcements) == passed
    assert session.open_question is None  # no total depends on it


@pytest.mark.parametrize("seat", [Seat(0), None], ids=["out of turn", "before drawing"])
def test_an_uncertain_irregular_knock_is_ignored(seat: Seat | None) -> None:
    rules = BLOCK if seat == 0 else BONES
    session, announcements = feed_timed(led(rules), (10.0, KnockHeard(seat, confidence=0.3)), (13.0, NOTHING_NEW))
    assert (announcements, session.open_question) == ([], None)
    assert not any(isinstance(event, Knock) for event in session.state.log)


def test_a_knock_before_drawing_keeps_the_turn() -> None:
    session, announcements = feed_timed(led(BONES), (10.0, KnockHeard(Seat(1))), (13.0, NOTHING_NEW))
    assert passes(announcements) == []
    session, _ = feed_timed(session, (14.0, NEXT_LAID), (20.0, BOTH))
    assert [entry.action.seat for entry in entries(session.state) if isinstance(entry.action, Play)] == [0, 1]
    assert not session.state.irregular


@pytest.mark.parametrize("wrong", [{"confidence": 1.1}, {"confidence": float("nan")}, {"strength": -1.0}])
def test_a_knock_needs_a_probability_and_a_strength(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be 0"):
        KnockHeard(**wrong)  # type: ignore[arg-type]  # no seat among them


def test_unchanged_views_only_advance_the_time() -> None:
    session = led()
    for at_s in (2, 3, 4):
        session, _ = feed(session, NOTHING_NEW, t_ns=at_s * SECOND_NS)
    after, announcements = feed(session, NOTHING_NEW, t_ns=60 * SECOND_NS)
    assert announcements == ()
    assert after == replace(session, t_ns=60 * SECOND_NS, viewed_ns=60 * SECOND_NS)


@pytest.mark.parametrize(
    ("press", "event"),
    [
        (Press(Button.KNOCK), Knock(Seat(1))),
        (Press(Button.KNOCK, Seat(0)), Knock(Seat(0))),
        (Press(Button.DRAW), Draw(Seat(1))),
        (Press(Button.DONE), Decline(Seat(1))),
        (Press(Button.CALL, Seat(1)), Call(Seat(1))),
        (Press(Button.CALL), None),
        (Press(Button.HAND_END), HandEnd()),
        (Press(Button.REDEAL), Redeal(RedealReason.MISDEAL)),
        (Press(Button.UNDO), Undo(Seq(3))),
        (Press(Button.STANDS), None),
        (Press(Button.NEXT), None),
    ],
)
def test_buttons_map_to_events(press: Press, event: Event | None) -> None:
    assert event_of(press, led().state) == event


def test_undo_steps_back_but_keeps_the_match_and_next_selects_the_leader() -> None:
    session = led()
    for _ in range(8):
        session, _ = feed(session, Press(Button.UNDO))
    assert game_of(session).hand is None
    session = session_with(BLOCK)
    for seat in (0, 1, 0):
        session, _ = feed(session, Press(Button.NEXT))
        assert session.state.log[-1] == Lead(Seat(seat))
    for event in (Play(Seat(0), Tile.parse("5-3")), HandEnd(), *(Press(Button.NEXT),)):
        session, _ = feed(session, event)
    assert session.state.log[-1] == HandEnd()  # no hand is revealed yet
    session, _ = feed(led(), HandEnd())
    after, announcements = feed_timed(session, (10.0, KnockHeard()), (20.0, NOTHING_NEW))
    assert (announcements, after.state) == ([], session.state)  # knocks between hands are ignored


def test_the_call_button_calls_the_points_of_the_last_play() -> None:
    session, _ = feed(session_with(TWOSET, Lead(Seat(0)), seats=4), placed(seen((5, 5), (0, 0), 90)))
    session, announcements = feed(session, Press(Button.CALL))
    assert [announcement.points for announcement in announcements if isinstance(announcement, Scored)] == [10]
    session, announcements = feed(session, Press(Button.CALL, Seat(2)))
    assert announcements == ()  # the next view may explain the call
    session, announcements = look(session)
    assert any(isinstance(announcement, Irregular) for announcement in announcements)


def test_stands_accepts_an_irregular_play() -> None:
    session, announcements = lay(line(FIRST), seen((4, 1), (2, 0)))
    assert any(isinstance(announcement, Irregular) for announcement in announcements)
    session, _ = feed(session, Press(Button.STANDS))
    assert isinstance(session.state.log[-1], ItStands)
    assert not session.state.irregular
    session, announcements = lay(session, seen((1, 0), (4, 0)))
    assert plays(session)[-2:] == ["4-1@5-3E", "1-0@4-1E"]
    assert not session.state.irregular
    assert not session.is_provisional


def test_an_answer_names_the_leader() -> None:
    session, _ = lay(session_with(replace(BONES, lead_first=LeadRule.LOT_ANY), seats=3), seen((5, 5), (0, 0), 90))
    session, announcements = look(session)
    assert questions(announcements) == ["what is the score?"]
    assert session.open_question is not None
    cleo = next(at for at, text in enumerate(session.open_question.choices) if "Cleo 10" in text)
    session, _ = feed(session, Answer(cleo))
    assert session.open_question is None
    assert [entry.action.seat for entry in entries(session.state) if isinstance(entry.action, Lead | Play)] == [2, 2]


def test_an_answer_without_a_question_is_ignored() -> None:
    session = led()
    after, announcements = feed(session, Answer(0))
    assert (after.state, announcements) == (session.state, ())
    questioned, _ = look(lay(line(FIRST), between((5, 4), (2, 0), 2))[0])
    assert questioned.open_question is not None
    for answer in (Answer(99), Answer(-1), Answer(0, topic="something else")):
        after, announcements = feed(questioned, answer)
        assert (after.state, announcements) == (questioned.state, ())


def test_a_call_before_its_tile_is_visible_counts_for_the_tile() -> None:
    session, _ = feed(session_with(TWOSET, Lead(Seat(0)), seats=4), NOTHING_YET, t_ns=SECOND_NS)
    session, _ = feed(session, replace(NOTHING_YET, is_settled=False), t_ns=2 * SECOND_NS)
    session, announcements = feed(session, Press(Button.CALL, Seat(0)), t_ns=3 * SECOND_NS)
    assert announcements == ()
    session, announcements = feed(session, placed(seen((5, 5), (0, 0), 90)), t_ns=5 * SECOND_NS)
    assert [announcement.points for announcement in announcements if isinstance(announcement, Scored)] == [10]
    assert not session.pressed


def test_a_pass_pressed_during_a_motion_is_ordered_by_the_rules() -> None:
    for seat, order in ((0, [Play, Knock]), (1, [Knock, Play])):
        session, _ = feed(led(), NOTHING_NEW, t_ns=2 * SECOND_NS)
        session, _ = feed(session, moving(2.5), t_ns=3 * SECOND_NS)
        session, _ = feed(session, Press(Button.KNOCK, Seat(seat)), t_ns=4 * SECOND_NS)
        session, _ = feed(session, placed(NEXT, before=(FIRST,)), t_ns=5 * SECOND_NS)
        assert [type(event) for event in session.state.log[-2:]] == order
        assert session.questions == ()


def test_an_unanswered_question_does_not_hold_up_the_game() -> None:
    row = (FIRST, NEXT, seen((4, 1), (4, 0)), seen((1, 6), (6, 0)), seen((3, 0), (-2, 0), 180))
    session = session_with(BONES)  # the leader is unknown
    for tile in row:
        session, _ = lay(session, tile)
    assert plays(session) == ["5-3", "5-4@5-3E", "4-1@5-4E", "6-1@4-1E", "3-0@5-3W"]
    assert not session.state.irregular


def undone() -> Session:
    session, _ = feed(led(), placed(NEXT, before=(FIRST,)), t_ns=2 * SECOND_NS)
    session, announcements = feed(session, Press(Button.UNDO), t_ns=3 * SECOND_NS)
    assert "still on the table: the 5-4. Count it again, or take it off the table?" in questions(announcements)
    return session


def test_the_question_of_an_undone_tile_closes_when_it_is_answered_removed_or_moved() -> None:
    session, _ = feed(undone(), Answer(0), t_ns=4 * SECOND_NS)
    assert [type(event) for event in session.state.log[-3:]] == [Play, Undo, Play]
    assert session.questions == ()
    gone = TableView((FIRST,), (), (Change(ChangeKind.REMOVED, NEXT),))
    session, _ = feed(undone(), gone, t_ns=5 * SECOND_NS)
    assert session.questions == ()
    other = seen((5, 4), (0, 2))
    moved = TableView((FIRST, other), (), (Change(ChangeKind.MOVED, other, NEXT),))
    session, _ = feed(undone(), moved, t_ns=5 * SECOND_NS)
    assert not any("still on the table" in question.ambiguity.text for question in session.questions)
    session, _ = feed(undone(), Answer(1), t_ns=4 * SECOND_NS)
    session, _ = feed(session, TableView((FIRST, NEXT), (), ()), t_ns=5 * SECOND_NS)
    assert session.questions == ()
    assert isinstance(session.state.log[-1], Undo)


def test_an_undone_tile_counts_again_if_play_continues_without_an_answer() -> None:
    session, on_table = undone(), [FIRST, NEXT]
    further = *(seen(pips, (4 + 2 * at, 0)) for at, pips in enumerate(((4, 2), (2, 1), (1, 0)))), seen((0, 6), (10, 0))
    for number, tile in enumerate((seen((3, 6), (-2, 0), 180), *further)):
        session, _ = feed(session, placed(tile, before=tuple(on_table)), t_ns=(4 + number) * SECOND_NS)
        on_table.append(tile)
    assert [str(tile) for tile in game_of(session).layout.tiles] == ["5-3", "5-4", "6-3", "4-2", "2-1", "1-0", "6-0"]
    assert not session.state.irregular
    assert session.questions == ()


@pytest.mark.parametrize("button", list(Button))
def test_buttons_before_a_match_are_ignored_or_refused(button: Button) -> None:
    session, announcements = feed(Session(), Press(button))
    refused = {Button.HAND_END: HandEnd(), Button.REDEAL: Redeal(RedealReason.MISDEAL)}.get(button)
    assert list(session.state.log) == ([] if refused is None else [refused])
    assert [type(announcement) for announcement in announcements] == ([] if refused is None else [Irregular])
    assert session.state.game is None


@pytest.mark.parametrize("button", [Button.KNOCK, Button.CALL, Button.DRAW, Button.DONE])
def test_buttons_are_ignored_before_the_first_deal(button: Button) -> None:
    session, _ = feed(Session(), MatchStart(BLOCK, ("Ann", "Ben")))
    assert event_of(Press(button), session.state) is None
    for event in (Press(button), NOTHING_YET, KnockHeard()):
        session, announcements = feed(session, event, t_ns=session.t_ns + PRESS_WAITS_NS)
        assert announcements == ()
    assert len(session.state.log) == 1
    session, _ = feed(session, NewHand())
    assert (len(session.state.log), session.is_provisional) == (2, False)


@pytest.mark.parametrize(("target", "deals"), [(None, True), (1, False)])
def test_next_deals_after_a_single_hand_but_not_after_a_won_match(target: int | None, *, deals: bool) -> None:
    session = led(replace(BLOCK, target=target))
    for event in (HandEnd(), RevealPips(Seat(0), 5), RevealPips(Seat(1), 30)):
        session, _ = feed(session, event)
    assert game_of(session).phase is Phase.MATCH_OVER
    session, _ = feed(session, Press(Button.NEXT))
    assert (session.state.log[-1] == NewHand()) is deals


def test_confirmed_totals_are_not_marked_again() -> None:
    session, _ = look(lay(led(BONES), between((5, 4), (2, 0), 2))[0])
    assert session.state.inferred
    assert session.open_question is not None
    session, _ = feed(session, Confirmed(session.state.inferred), t_ns=session.t_ns + SECOND_NS)
    session, announcements = look(session)
    assert (session.open_question, session.is_provisional) == (None, False)
    assert not questions(announcements)
    session, _ = opened(BONES, ("Ann", "Ben"))
    confirmed, announcements = feed(session, Confirmed((Seq(0),)))
    assert (announcements, confirmed.state.game) == ((), session.state.game)


def test_marks_entered_by_hand_stay_until_a_person_confirms() -> None:
    session, _ = lay(led(BONES), NEXT)
    marked, _ = feed(session, Inferred((Seq(4),)))
    assert (marked.state.game, marked.is_provisional) == (session.state.game, True)
    assert lay(marked, seen((4, 1), (4, 0)))[0].is_provisional


def test_a_sitting_follows_every_kind_of_input() -> None:
    """Its steps hold the events that each input added to the log, as lines for recordings."""
    session, _ = opened(replace(BLOCK, lead_first=LeadRule.LOT_ANY), ("Ann", "Ben"))
    shown = iter((NOTHING_YET, placed(FIRST), NEXT_LAID))
    sitting = Sitting(lambda _: next(shown), session)
    frame = Frame(np.zeros((2, 2, 3), np.uint8), 0)
    inputs: tuple[Frame | ByHand, ...] = (frame, NewHand(), Lead(Seat(0)), frame, frame, Press(Button.KNOCK, Seat(0)))
    steps = [sitting.feed(item, at * 3 * SECOND_NS) for at, item in enumerate(inputs)]
    assert [event for step in steps for event in step.events] == list(sitting.session.state.log[1:])
    assert [line["event"] for step in steps for line in step.lines if line["event"] == "played"] == ["played"] * 2
    assert [step.view is not None for step in steps] == [isinstance(item, Frame) for item in inputs]


def test_announcement_lines_have_words_and_totals() -> None:
    session, (question,) = look(lay(led(BONES), between((5, 4), (2, 0), 2))[0])
    assert isinstance(question, Ambiguity)
    rest = {"totals": [0, 0], "provisional": True}
    assert announcement_line(question, 7, session) == rest | {
        "t_ns": 7,
        "event": "unclear",
        "text": question.text,
        "choices": list(question.choices),
    }
    session, announcements = feed(led(), Knock(Seat(1)), t_ns=3 * SECOND_NS)
    (knocked,) = (
        announcement_line(announcement, 8, session)
        for announcement in announcements
        if isinstance(announcement, Passed)
    )
    assert (knocked["event"], knocked["text"], knocked["seat"]) == ("passed", "Ben knocks", 1)
    assert "players" not in knocked
    session, (renamed, *_) = feed(session, Rename(Seat(1), "Zoe"))
    assert announcement_line(renamed, 9, session)["players"] == ["Ann", "Zoe"]


def test_undo_takes_back_a_press_that_waits_and_nothing_else() -> None:
    session, _ = feed(led(), NOTHING_NEW, t_ns=2 * SECOND_NS)
    pressed, _ = feed(session, Press(Button.CALL, Seat(0)), t_ns=3 * SECOND_NS)
    assert pressed.pressed
    undone, announcements = feed(pressed, Press(Button.UNDO), t_ns=4 * SECOND_NS)
    later, _ = feed(undone, NOTHING_NEW, t_ns=4 * SECOND_NS + PRESS_WAITS_NS)
    assert (announcements, later.state) == ((), session.state)


def test_an_entered_action_without_effect_does_not_shift_the_numbers_of_others() -> None:
    session, _ = feed(line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0))), RevealPips(Seat(0), 17))
    session, _ = feed(session, ItStands(Seq(3)))
    written = {seq for each in session.path for seq in each.seqs}
    assert written <= {entry.seq for entry in entries(session.state)}
    for each in session.path:
        for seq, named in zip(each.seqs, each.course.actions, strict=True):
            assert type(session.state.log[seq]) is type(named.action)
