"""Buttons, knocks and answers: what each means at its moment, and that a tile put down hard is no pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import (
    BLOCK,
    BONES,
    SUPER,
    TWOSET,
    Call,
    Decline,
    Draw,
    Event,
    HandEnd,
    Irregular,
    ItStands,
    Knock,
    Lead,
    LeadRule,
    MatchStart,
    NewHand,
    Passed,
    Phase,
    Play,
    Redeal,
    RedealReason,
    RevealPips,
    Rules,
    Scored,
    Seat,
    Seq,
    Tile,
    Undo,
)
from tallybone.session.feeding import BLIND_NS, PRESS_WAITS_NS, SURE_KNOCK, TILE_ECHOES_NS, feed
from tallybone.session.inputs import Answer, Button, KnockHeard, Press, event_of
from tallybone.session.knocks import KNOCK_WAITS_NS, ONE_KNOCK_NS
from tallybone.session.referee import Ambiguity
from tallybone.session.session import Session
from tallybone.session.sitting import announcement_line
from tests.tallybone.session.test_referee import line, questions, seen
from tests.tallybone.truth_eye import placed
from vision.tracking.table_view import Change, ChangeKind, TableView

SECOND_NS = 1_000_000_000
FIRST, NEXT = seen((3, 5), (0, 0)), seen((5, 4), (2, 0))
NOTHING_NEW, NOTHING_YET = TableView((FIRST,), (), ()), TableView((), (), ())


def sitting(rules: Rules, *events: Event, seats: int = 2) -> Session:
    session = Session()
    names = ("Ann", "Ben", "Cleo", "Dora")[:seats]
    for event in (MatchStart(replace(rules, lead_first=LeadRule.LOT_ANY), names), NewHand(), *events):
        session, _ = feed(session, event)
    return session


def led(rules: Rules = BLOCK, seats: int = 2) -> Session:
    session, _ = feed(sitting(rules, Lead(Seat(0)), seats=seats), placed(FIRST), t_ns=SECOND_NS)
    return session


def heard(session: Session, *events: tuple[float, KnockHeard | TableView]) -> tuple[Session, list[object]]:
    told: list[object] = []
    shown = NOTHING_NEW
    for at_s, event in events:
        # A camera shows the table all the time.
        for at_ns in range(session.t_ns + BLIND_NS // 2, int(at_s * SECOND_NS), BLIND_NS // 2):
            session, said = feed(session, shown, t_ns=at_ns)
            told += said
        session, said = feed(session, event, t_ns=int(at_s * SECOND_NS))
        told += said
        shown = replace(event, changes=()) if isinstance(event, TableView) else shown
    return session, told


def passes(told: list[object]) -> list[int]:
    return [one.seat for one in told if isinstance(one, Passed)]


@pytest.mark.parametrize("seat", [None, Seat(1)], ids=["nobody knows whose", "the seat is known"])
def test_a_knock_that_leaves_the_table_as_it_is_passes(seat: Seat | None) -> None:
    session, told = heard(led(), (10.0, KnockHeard(seat)))
    assert told == []
    session, told = heard(session, (10.0 + KNOCK_WAITS_NS / SECOND_NS, NOTHING_NEW))
    assert passes(told) == [1]
    assert session.state.log[-1] == Knock(Seat(1))


def test_a_tile_put_down_hard_is_no_pass() -> None:
    session, told = heard(led(), (10.0, KnockHeard()), (11.0, placed(NEXT)), (20.0, NOTHING_NEW))
    assert passes(told) == []
    assert isinstance(session.state.log[-1], Play)


def test_a_hand_that_touches_the_table_as_it_leaves_is_no_pass() -> None:
    echo_s = 0.5 * TILE_ECHOES_NS / SECOND_NS
    _, told = heard(led(), (10.0, placed(NEXT)), (10.0 + echo_s, KnockHeard()), (20.0, NOTHING_NEW))
    assert passes(told) == []


def test_a_pass_and_the_next_players_tile_right_after_it_are_told_apart() -> None:
    session, told = heard(led(), (10.0, KnockHeard()), (11.2, KnockHeard()), (11.9, placed(NEXT)))
    assert passes(told) == [1]
    play = session.state.log[-1]
    assert isinstance(play, Play)
    assert play.seat == 0


def moving(since_s: float) -> TableView:
    return replace(NOTHING_NEW, is_settled=False, moved_since_ns=int(since_s * SECOND_NS))


def test_a_tile_put_down_hard_while_hands_stay_over_the_table_is_no_pass() -> None:
    laid = replace(placed(NEXT, before=(FIRST,)), moved_since_ns=int(9.5 * SECOND_NS))
    hands = [(at_s, moving(9.5)) for at_s in (10.5, 12.5, 14.0)]
    session, told = heard(
        led(), (9.4, moving(9.5)), (10.0, KnockHeard(Seat(1))), *hands, (14.5, laid), (20.0, NOTHING_NEW)
    )
    assert passes(told) == []
    assert isinstance(session.state.log[-1], Play)


def test_a_knock_before_a_hand_came_is_a_pass_however_long_the_hand_stays() -> None:
    _, told = heard(led(), (8.0, KnockHeard()), *((at_s, moving(9.5)) for at_s in (9.6, 10.1)))
    assert passes(told) == [1]


def test_a_knock_while_somebody_stands_in_front_waits_until_the_table_is_seen() -> None:
    session, told = heard(led(), (9.9, moving(9.5)), (10.0, KnockHeard()), (40.0, moving(9.5)))
    assert passes(told) == []
    _, told = heard(session, (41.0, NOTHING_NEW))
    assert passes(told) == [1]


def test_while_the_table_is_lost_a_knock_waits_however_long_that_takes() -> None:
    lost = replace(NOTHING_NEW, is_settled=False, lost="put the camera back")
    waits = ((at_s, lost) for at_s in (9.0, 13.0, 40.0))
    session, told = heard(led(), (8.9, lost), (9.5, KnockHeard()), *waits)
    assert passes(told) == []
    _, told = heard(session, (41.0, NOTHING_NEW))
    assert passes(told) == [1]


def test_who_knocks_twice_passes_once() -> None:
    twice_s = 0.5 * ONE_KNOCK_NS / SECOND_NS
    _, told = heard(led(), (10.0, KnockHeard()), (10.0 + twice_s, KnockHeard()), (20.0, NOTHING_NEW))
    assert passes(told) == [1]


def test_a_knock_of_another_is_told_and_waits() -> None:
    session, told = heard(led(), (10.0, KnockHeard(Seat(0))), (13.0, NOTHING_NEW))
    (wrong,) = (one for one in told if isinstance(one, Irregular))
    assert "it is Ben's turn" in wrong.problem.words
    assert not wrong.stands
    session, _ = feed(session, Press(Button.STANDS))
    assert not session.state.irregular


def test_a_knock_that_is_not_sure_is_asked_about() -> None:
    faint = KnockHeard(Seat(1), confidence=SURE_KNOCK - 0.1)
    session, told = heard(led(), (10.0, faint), (13.0, NOTHING_NEW))
    assert questions(tuple(told)) == ["did Ben knock?"]  # type: ignore[arg-type]  # of what was said
    assert session.open_question is not None
    assert session.open_question.holds_up
    _, said = feed(session, Answer(0))
    assert passes(list(said)) == [1]
    went_on, said = feed(session, Answer(1))
    assert (passes(list(said)), went_on.open_question) == ([], None)
    assert Knock(Seat(1)) not in went_on.state.log


@pytest.mark.parametrize("seat", [Seat(0), None], ids=["of another", "before drawing"])
def test_a_knock_that_is_not_sure_and_would_be_wrong_is_nothing(seat: Seat | None) -> None:
    rules = BLOCK if seat == 0 else BONES
    session, told = heard(led(rules), (10.0, KnockHeard(seat, confidence=0.3)), (13.0, NOTHING_NEW))
    assert (told, session.open_question) == ([], None)
    assert not any(isinstance(event, Knock) for event in session.state.log)


def test_who_has_to_draw_first_is_told_so_and_keeps_the_turn() -> None:
    session, told = heard(led(BONES), (10.0, KnockHeard(Seat(1))), (13.0, NOTHING_NEW))
    assert questions(tuple(told)) == ["Ben knocked? draw before knocking: 14 tiles left in the boneyard"]  # type: ignore[arg-type]
    assert session.open_question is not None
    assert not session.open_question.holds_up
    stands, said = feed(session, Answer(0))
    assert passes(list(said)) == [1]
    assert stands.state.irregular
    played, told = heard(session, (14.0, placed(NEXT)), (20.0, NOTHING_NEW))
    assert played.open_question is None
    play = played.state.log[-1]
    assert isinstance(play, Play)
    assert play.seat == 1


def test_of_two_knocks_that_are_one_the_surer_counts() -> None:
    faint, clear = KnockHeard(Seat(1), confidence=0.3), KnockHeard(Seat(1), confidence=0.9)
    _, told = heard(led(), (10.0, faint), (10.3, clear), (13.0, NOTHING_NEW))
    assert passes(told) == [1]


@pytest.mark.parametrize("wrong", [{"confidence": 1.1}, {"confidence": float("nan")}, {"strength": -1.0}])
def test_a_knock_needs_a_probability_and_a_strength(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be 0"):
        KnockHeard(**wrong)  # type: ignore[arg-type]  # no seat among them


def test_a_knock_while_a_question_holds_up_the_game_waits_for_its_answer() -> None:
    unsure = seen((5, 4), (2, 0), sure=(0.99, 0.5))
    session, _ = heard(led(), (5.0, placed(unsure, before=(FIRST,))), (10.0, KnockHeard()))
    session, told = heard(session, (13.0, NOTHING_NEW))
    assert told == []
    session, _ = feed(session, Answer(0))
    session, told = heard(session, (14.0, TableView((FIRST, unsure), (), ())))
    assert passes(told) == [0]


def test_frames_that_show_nothing_new_change_nothing_but_the_time() -> None:
    session = led()
    view = TableView((FIRST,), (), ())
    session, _ = feed(session, view, t_ns=2 * SECOND_NS)
    after, told = feed(session, view, t_ns=3 * SECOND_NS)
    assert told == ()
    now_ns = 3 * SECOND_NS
    assert after == replace(session, t_ns=now_ns, viewed_ns=now_ns, shown_ns=now_ns)


def test_knocks_between_hands_are_the_shuffle() -> None:
    session, _ = feed(led(), HandEnd())
    assert session.state.game is not None
    assert session.state.game.phase is Phase.REVEAL
    after, told = heard(session, (10.0, KnockHeard()), (20.0, NOTHING_NEW))
    assert told == []
    assert after.state == session.state


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
def test_a_button_means_what_fits_the_moment(press: Press, event: Event | None) -> None:
    assert event_of(press, led().state) == event


def test_next_names_the_next_leader_and_deals_the_next_hand() -> None:
    session = sitting(BLOCK)
    for seat in (0, 1, 0):
        session, _ = feed(session, Press(Button.NEXT))
        assert session.state.log[-1] == Lead(Seat(seat))
    for event in (Play(Seat(0), Tile.parse("5-3")), HandEnd(), *(Press(Button.NEXT),)):
        session, _ = feed(session, event)
    assert session.state.log[-1] == HandEnd()  # the hands are not open yet


def test_undo_takes_back_one_thing_after_the_other_and_leaves_the_match() -> None:
    session = led()
    for _ in range(8):
        session, _ = feed(session, Press(Button.UNDO))
    assert session.state.game is not None
    assert session.state.game.hand is None


def test_the_call_button_calls_the_points_of_the_last_play() -> None:
    session, _ = feed(sitting(TWOSET, Lead(Seat(0)), seats=4), placed(seen((5, 5), (0, 0), 90)))
    session, said = feed(session, Press(Button.CALL))
    assert [one.points for one in said if isinstance(one, Scored)] == [10]
    session, said = feed(session, Press(Button.CALL, Seat(2)))
    assert said == ()  # the next look may show what the call is for
    session, said = feed(session, KnockHeard(), t_ns=session.t_ns + PRESS_WAITS_NS)
    assert any(isinstance(one, Irregular) for one in said)


def test_it_stands_accepts_what_was_against_the_rules() -> None:
    session, said = feed(line(FIRST), placed(seen((4, 1), (2, 0))))
    assert any(isinstance(one, Irregular) for one in said)
    session, _ = feed(session, Press(Button.STANDS))
    assert isinstance(session.state.log[-1], ItStands)
    assert not session.state.irregular
    session, said = feed(session, placed(seen((1, 0), (4, 0))))
    assert not questions(said)


def test_who_leads_is_answered_on_the_page() -> None:
    session, said = feed(sitting(SUPER, seats=3), placed(seen((7, 7), (0, 0), 90)))
    assert questions(said) == ["who leads the 7-7?"]
    session, _ = feed(session, Answer(2))
    assert session.open_question is None
    play = session.state.log[-1]
    assert isinstance(play, Play)
    assert play.seat == 2


def test_an_answer_to_nothing_changes_nothing() -> None:
    session = led()
    after, said = feed(session, Answer(0))
    assert (after.state, said) == (session.state, ())
    asked, _ = feed(session, placed(seen((5, 4), (2, 0), sure=(0.99, 0.5))))
    for answer in (Answer(99), Answer(-1), Answer(0, topic="something else")):
        after, said = feed(asked, answer)
        assert (after.state, said) == (asked.state, ())


def test_points_called_while_the_hand_is_still_over_its_tile_are_those_of_the_tile() -> None:
    session, _ = feed(sitting(TWOSET, Lead(Seat(0)), seats=4), NOTHING_YET, t_ns=SECOND_NS)
    session, _ = feed(session, replace(NOTHING_YET, is_settled=False), t_ns=2 * SECOND_NS)
    session, said = feed(session, Press(Button.CALL, Seat(0)), t_ns=3 * SECOND_NS)
    assert said == ()
    session, said = feed(session, placed(seen((5, 5), (0, 0), 90)), t_ns=5 * SECOND_NS)
    assert [one.points for one in said if isinstance(one, Scored)] == [10]
    assert not session.places.pressed


def test_a_pass_pressed_while_something_moves_is_before_or_after_the_tile_as_the_rules_allow() -> None:
    for seat, order in ((0, [Play, Knock]), (1, [Knock, Play])):
        session, _ = feed(led(), NOTHING_NEW, t_ns=2 * SECOND_NS)
        session, _ = feed(session, moving(2.5), t_ns=3 * SECOND_NS)
        session, _ = feed(session, Press(Button.KNOCK, Seat(seat)), t_ns=4 * SECOND_NS)
        session, _ = feed(session, placed(NEXT, before=(FIRST,)), t_ns=5 * SECOND_NS)
        assert [type(one) for one in session.state.log[-2:]] == order
        assert session.questions == ()


@pytest.mark.parametrize("last", [NOTHING_NEW, KnockHeard()])
def test_a_press_for_nothing_is_said_within_three_seconds(last: TableView | KnockHeard) -> None:
    session, _ = feed(led(), NOTHING_NEW, t_ns=2 * SECOND_NS)
    session, said = feed(session, Press(Button.KNOCK, Seat(0)), t_ns=3 * SECOND_NS)
    assert said == ()
    session, said = feed(session, NOTHING_NEW, t_ns=4 * SECOND_NS)
    assert said == ()
    _, said = feed(session, last, t_ns=3 * SECOND_NS + PRESS_WAITS_NS)
    assert any(isinstance(one, Irregular) for one in said)


def test_a_press_before_the_hand_was_seen_is_explained_by_the_look_after_it() -> None:
    session, _ = feed(sitting(TWOSET, Lead(Seat(0)), seats=4), NOTHING_YET, t_ns=SECOND_NS)
    session, _ = feed(session, Press(Button.CALL, Seat(0)), t_ns=2 * SECOND_NS)
    session, said = feed(session, placed(seen((5, 5), (0, 0), 90)), t_ns=4 * SECOND_NS)
    assert [one.points for one in said if isinstance(one, Scored)] == [10]


def test_a_question_that_nobody_answers_no_longer_holds_up_a_game_that_goes_on() -> None:
    session, _ = heard(sitting(BLOCK, seats=2), (1.0, placed(FIRST)))
    assert session.open_question is not None  # who leads?
    lying = [FIRST]
    for number, tile in enumerate((NEXT, seen((4, 1), (4, 0)), seen((1, 6), (6, 0)), seen((3, 0), (-2, 0), 180))):
        session, _ = feed(session, placed(tile, before=tuple(lying)), t_ns=(5 + 3 * number) * SECOND_NS)
        lying.append(tile)
    assert sum(isinstance(one, Play) for one in session.state.log) == 5
    assert session.state.is_provisional
    assert not any(one.ambiguity.holds_up for one in session.questions)


def undone() -> Session:
    session, _ = feed(led(), placed(NEXT, before=(FIRST,)), t_ns=2 * SECOND_NS)
    session, said = feed(session, Press(Button.UNDO), t_ns=3 * SECOND_NS)
    assert "still on the table: the 5-4. Play again, or remove from the table?" in questions(said)
    return session


def test_a_tile_that_lies_there_after_its_play_was_undone_counts_again_if_the_table_says_so() -> None:
    session, _ = feed(undone(), Answer(0), t_ns=4 * SECOND_NS)
    assert [type(one) for one in session.state.log[-3:]] == [Play, Undo, Play]
    assert session.questions == ()


def test_a_tile_whose_play_was_undone_is_asked_about_until_it_is_gone_or_laid_anew() -> None:
    gone = TableView((FIRST,), (), (Change(ChangeKind.REMOVED, NEXT),))
    session, _ = feed(undone(), gone, t_ns=5 * SECOND_NS)
    assert session.questions == ()
    other = seen((5, 4), (0, 2))
    moved = TableView((FIRST, other), (), (Change(ChangeKind.MOVED, other, NEXT),))
    session, _ = feed(undone(), moved, t_ns=5 * SECOND_NS)
    assert not any("still on the table" in one.ambiguity.words for one in session.questions)
    session, _ = feed(undone(), Answer(1), t_ns=4 * SECOND_NS)
    session, _ = feed(session, TableView((FIRST, NEXT), (), ()), t_ns=5 * SECOND_NS)
    assert session.questions == ()
    assert isinstance(session.state.log[-1], Undo)


def test_a_tile_whose_play_was_undone_counts_again_where_the_players_go_on_without_an_answer() -> None:
    session, lying = undone(), [FIRST, NEXT]
    further = *(seen(pips, (4 + 2 * at, 0)) for at, pips in enumerate(((4, 2), (2, 1), (1, 0)))), seen((0, 6), (10, 0))
    for number, tile in enumerate((seen((3, 6), (-2, 0), 180), *further)):
        session, _ = feed(session, placed(tile, before=tuple(lying)), t_ns=(4 + number) * SECOND_NS)
        lying.append(tile)
    assert session.state.game is not None
    assert [str(one) for one in session.state.game.layout.tiles] == ["5-3", "5-4", "6-3", "4-2", "2-1", "1-0", "6-0"]
    assert session.state.is_provisional
    assert not any(one.ambiguity.holds_up for one in session.questions)


@pytest.mark.parametrize("button", [Button.KNOCK, Button.CALL, Button.DRAW, Button.DONE])
def test_before_the_first_deal_no_button_is_anybodys(button: Button) -> None:
    session, _ = feed(Session(), MatchStart(BLOCK, ("Ann", "Ben")))
    assert event_of(Press(button), session.state) is None
    assert feed(session, Press(button)) == (session, ())


@pytest.mark.parametrize(("target", "deals"), [(None, True), (1, False)])
def test_the_button_deals_after_a_match_of_one_hand_and_not_after_a_match_that_is_won(
    target: int | None, *, deals: bool
) -> None:
    session = led(replace(BLOCK, target=target))
    for event in (HandEnd(), RevealPips(Seat(0), 5), RevealPips(Seat(1), 30)):
        session, _ = feed(session, event)
    assert session.state.game is not None
    assert session.state.game.phase is Phase.MATCH_OVER
    session, _ = feed(session, Press(Button.NEXT))
    assert (session.state.log[-1] == NewHand()) is deals


def test_what_is_said_is_written_with_its_words_and_the_totals() -> None:
    doubtful = seen((5, 4), (2, 0), sure=(0.99, 0.5))
    session, (question,) = feed(led(BONES), placed(doubtful, before=(FIRST,)), t_ns=2 * SECOND_NS)
    assert isinstance(question, Ambiguity)
    rest = {"totals": [0, 0], "provisional": False}
    assert announcement_line(question, 7, session.state) == rest | {
        "t_ns": 7,
        "event": "unclear",
        "words": question.words,
        "choices": list(question.choices),
        "holds_up": True,
    }
    session, said = feed(led(), Knock(Seat(1)), t_ns=3 * SECOND_NS)
    (knocked,) = (announcement_line(one, 8, session.state) for one in said if isinstance(one, Passed))
    assert (knocked["event"], knocked["words"], knocked["seat"]) == ("passed", "Ben knocks", 1)
