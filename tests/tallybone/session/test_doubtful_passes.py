"""Tests of sounds that may have been a pass: they ask a question, and playing on answers it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from engine import (
    BLOCK,
    BONES,
    Action,
    Amend,
    Draw,
    Drawing,
    HandEnd,
    Knock,
    Lead,
    NewHand,
    Play,
    RevealPips,
    Revised,
    Seat,
    Turn,
    entries,
)
from tallybone.json_values import from_json, to_json
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, AnswerBack, Button, KnockHeard, Press
from tallybone.session.knocks import ONE_KNOCK_NS
from tallybone.session.referee.places import Places
from tallybone.session.session import Session
from tallybone.simulate.players import answer_of
from tests.tallybone.session.test_referee import seen
from tests.tallybone.session.test_session_inputs import NOTHING_NEW, SECOND_NS, feed_timed, led, session_with
from tests.tallybone.session.zone_views import Table, before
from tests.tallybone.truth_eye import placed
from vision.tracking.table_view import TableView

FIRST, NEXT, THIRD = seen((3, 5), (0, 0)), seen((5, 4), (2, 0)), seen((4, 1), (4, 0))
DOUBTFUL = KnockHeard(confidence=0.4)
ASKED, WHO = "did Ben pass?", "who played the 5-4?"


def actions(session: Session) -> list[str]:
    """Return the passes, draws and plays in force after the lead, such as "1 5-4"."""
    return [_words(entry.action) for entry in entries(session.state) if isinstance(entry.action, Knock | Draw | Play)][
        1:
    ]


def _words(action: Action) -> str:
    match action:
        case Play(seat=seat, tile=tile):
            return f"{seat} {tile}"
        case Draw(seat=seat):
            return f"{seat} draws"
        case _:
            return f"{action.seat} passes" if isinstance(action, Knock) else ""


def asked(session: Session) -> list[str]:
    return [question.ambiguity.words for question in session.questions]


def choices(session: Session) -> tuple[str, ...]:
    assert session.open_question is not None
    return session.open_question.choices


def zoned(sound: KnockHeard = DOUBTFUL) -> Table:
    """Return a table with sides where Ann has led the 5-3, and a doubtful sound followed."""
    table = Table(BLOCK, NewHand(), Lead(Seat(0)))
    table.put(FIRST, side="bottom")
    table.feed(sound)
    table.feed(table.view(), 3.0)
    assert table.asked == [ASKED]
    return table


def doubted(*confidences: float, seats: int = 3) -> Session:
    """Return a game without sides after a lead by Ann and doubtful sounds, 3 s apart."""
    session = led(seats=seats)
    for at, confidence in enumerate(confidences):
        heard_s = 10.0 + 3 * at
        knock = KnockHeard(confidence=confidence)
        session, _ = feed_timed(session, (heard_s, knock), (heard_s + 2.5, NOTHING_NEW))
    assert asked(session) == [ASKED]
    return session


def then(session: Session, *events: KnockHeard | TableView | Press | Answer | AnswerBack) -> Session:
    """Feed each event three seconds after the last."""
    for event in events:
        session, _ = feed(session, event, t_ns=session.t_ns + 3 * SECOND_NS)
    return session


NEXT_LAID = placed(NEXT, before=(FIRST,))
BOTH_LAID = placed(THIRD, before=(FIRST, NEXT))


def test_the_question_does_not_hold_up_the_game() -> None:
    session = doubted(0.4)
    assert session.open_question is not None
    assert not session.open_question.holds_up
    assert session.open_question.seat == 1
    assert choices(session) == ("Ben passed", "nobody passed")
    assert actions(then(session, Answer(0))) == ["1 passes"]
    assert actions(then(session, Answer(1))) == []


@pytest.mark.parametrize("choice", [0, 1])
def test_a_wrong_answer_can_be_taken_back(choice: int) -> None:
    session = then(doubted(0.4), Answer(choice))
    assert session.answered is not None
    again = then(session, AnswerBack(session.answered.log))
    assert asked(again) == [ASKED]
    assert actions(then(again, Answer(1 - choice))) == ["1 passes"][:choice]


def test_the_tile_of_the_same_player_drops_the_doubt() -> None:
    table = zoned()
    table.put(NEXT, side="top")
    assert (actions(table.session), table.asked) == (["1 5-4"], [])
    assert not table.session.state.is_provisional


def test_the_tile_of_the_next_player_enters_the_pass() -> None:
    table = zoned()
    table.put(NEXT, side="bottom")
    assert (actions(table.session), table.asked) == (["1 passes", "0 5-4"], [])
    assert not table.session.state.is_provisional
    assert not table.session.state.irregular


@pytest.mark.parametrize(("confidence", "entered"), [(0.3, ["1 5-4"]), (0.55, ["1 passes", "2 5-4"])])
def test_an_undecided_pass_raises_one_question_with_both_courses(confidence: float, entered: list[str]) -> None:
    session = then(doubted(confidence), NEXT_LAID)
    assert (actions(session), asked(session)) == (entered, [WHO])
    courses = ("Ben played the 5-4", "Ben passed, then Cleo played the 5-4")
    assert choices(session) == (courses if len(entered) == 1 else courses[::-1])
    assert session.open_question is not None
    assert not session.open_question.holds_up
    assert session.state.is_provisional
    for words, result in zip(courses, (["1 5-4"], ["1 passes", "2 5-4"]), strict=True):
        answered = then(session, Answer(choices(session).index(words)))
        assert (actions(answered), asked(answered)) == (result, [])
        assert not answered.state.is_provisional
        assert not answered.state.irregular


@pytest.mark.parametrize("confidence", [0.3, 0.55])
def test_an_answer_corrects_the_later_plays(confidence: float) -> None:
    session = then(doubted(confidence), NEXT_LAID, BOTH_LAID)
    assert asked(session) == [WHO]
    without, passed = (
        then(session, Answer(choices(session).index(words)))
        for words in ("Ben played the 5-4", "Ben passed, then Cleo played the 5-4")
    )
    assert actions(without) == ["1 5-4", "2 4-1"]
    assert actions(passed) == ["1 passes", "2 5-4", "0 4-1"]
    assert not without.state.irregular
    assert not passed.state.irregular
    for answered in (without, passed):
        assert answered.answered is not None
        again = then(answered, AnswerBack(answered.answered.log))
        assert (actions(again), asked(again)) == (actions(session), [WHO])


@pytest.mark.parametrize("confidence", [0.3, 0.55])
def test_a_correction_of_later_plays_is_announced_once(confidence: float) -> None:
    session = then(doubted(confidence), NEXT_LAID, BOTH_LAID)
    _, announcements = feed(session, Answer(1))
    assert [type(announcement) for announcement in announcements] == [Revised, Turn]


def test_a_late_answer_to_the_first_question_counts() -> None:
    session = doubted(0.4)
    assert session.open_question is not None
    topic = session.open_question.topic
    late = then(session, NEXT_LAID)
    assert actions(then(late, Answer(0, topic))) == ["1 passes", "2 5-4"]
    assert actions(then(late, Answer(1, topic))) == ["1 5-4"]


def test_the_side_of_a_later_tile_decides() -> None:
    for side, result in (("top", ["1 passes", "0 5-4", "1 4-1"]), ("bottom", ["1 5-4", "0 4-1"])):
        table = zoned()
        table.put(NEXT)
        assert table.asked == [WHO]
        table.put(THIRD, side=side)
        assert (actions(table.session), table.asked) == (result, [])
        assert not table.session.state.is_provisional
        assert not table.session.state.irregular


def test_a_pass_that_nobody_heard_follows_from_the_sides_of_the_next_hands() -> None:
    table = Table(BLOCK, NewHand(), Lead(Seat(0)))
    table.put(FIRST, side="bottom")
    table.put(NEXT, side="bottom")  # Ann again, although it was Ben's turn
    assert (actions(table.session), table.asked) == (["1 passes", "0 5-4"], [WHO])
    assert table.session.open_question is not None
    assert not table.session.open_question.holds_up
    answered = then(table.session, Answer(choices(table.session).index("Ben played the 5-4")))
    assert (actions(answered), asked(answered)) == (["1 5-4"], [])
    table.put(THIRD, side="top")
    assert (actions(table.session), table.asked) == (["1 passes", "0 5-4", "1 4-1"], [])
    assert not table.session.state.is_provisional
    assert not table.session.state.irregular


def test_a_hand_from_another_side_is_no_pass_if_the_player_may_not_pass() -> None:
    table = Table(replace(BLOCK, draw=Drawing.UNTIL_PLAYABLE), NewHand(), Lead(Seat(0)))
    table.put(FIRST, side="bottom")
    table.put(NEXT, side="bottom")
    assert not any(action.endswith("passes") for action in actions(table.session))
    assert table.asked


def test_the_rules_decide_if_the_pass_would_end_the_hand() -> None:
    session = then(led(seats=2), Press(Button.KNOCK))
    session = then(session, NEXT_LAID)
    assert actions(session) == ["1 passes", "0 5-4"]
    session, _ = feed_timed(then(led(seats=2), Press(Button.KNOCK)), (20.0, DOUBTFUL), (23.0, NOTHING_NEW))
    assert asked(session) == ["did Ann pass?"]
    session = then(session, NEXT_LAID)
    assert (actions(session), asked(session)) == (["1 passes", "0 5-4"], [])


def test_two_doubtful_sounds_are_two_possible_passes() -> None:
    session = doubted(0.4, 0.4)
    passed = then(session, Answer(0))
    assert (actions(passed), asked(passed)) == (["1 passes"], ["did Cleo pass?"])
    assert asked(then(session, Answer(1))) == []
    session = then(session, NEXT_LAID)
    assert sorted(choices(session)) == [
        "Ben and Cleo passed, then Ann played the 5-4",
        "Ben passed, then Cleo played the 5-4",
        "Ben played the 5-4",
    ]
    last = then(session, Answer(choices(session).index("Ben and Cleo passed, then Ann played the 5-4")))
    assert actions(last) == ["1 passes", "2 passes", "0 5-4"]
    assert not last.state.irregular


def test_a_double_knock_is_one_doubt() -> None:
    twice_s = 0.5 * ONE_KNOCK_NS / SECOND_NS
    session, _ = feed_timed(led(), (10.0, DOUBTFUL), (10.0 + twice_s, DOUBTFUL), (13.0, NOTHING_NEW))
    assert session.places.pass_chances == (0.4,)
    louder, _ = feed_timed(session, (20.0, KnockHeard(Seat(1), confidence=0.5)), (23.0, NOTHING_NEW))
    assert louder.places.pass_chances == (0.5,)


def test_the_button_of_a_player_decides() -> None:
    session = doubted(0.4)
    assert actions(then(session, Press(Button.KNOCK, Seat(1)), NOTHING_NEW)) == ["1 passes"]
    later = then(session, Press(Button.KNOCK, Seat(2)), NOTHING_NEW)
    assert (actions(later), asked(later)) == (["1 passes", "2 passes"], [])


def test_a_certain_knock_of_the_next_seat_decides() -> None:
    session, _ = feed_timed(doubted(0.4), (20.0, KnockHeard(Seat(2))), (23.0, NOTHING_NEW))
    assert (actions(session), asked(session)) == (["1 passes", "2 passes"], [])


def test_a_certain_knock_of_an_unknown_seat_raises_a_question() -> None:
    session, _ = feed_timed(doubted(0.4), (20.0, KnockHeard()), (23.0, NOTHING_NEW))
    assert (actions(session), asked(session)) == (["1 passes"], ["who passed?"])
    assert choices(session) == ("Ben passed", "Ben and Cleo passed")
    assert actions(then(session, Answer(0))) == ["1 passes"]
    assert actions(then(session, Answer(1))) == ["1 passes", "2 passes"]


def test_undo_ends_the_doubt() -> None:
    assert asked(then(doubted(0.4), Press(Button.UNDO))) != [ASKED]
    session = then(doubted(0.4), NEXT_LAID)
    undone = then(session, Press(Button.UNDO))
    assert (actions(undone), WHO in asked(undone)) == ([], False)
    assert not undone.state.is_provisional


def test_a_doubt_ends_with_the_hand() -> None:
    session = then(doubted(0.4), NEXT_LAID)
    session, _ = feed(session, HandEnd())
    assert WHO in asked(session)
    session, _ = feed(session, NewHand())
    assert WHO in asked(session), "refused: the hands have not been counted"
    for seat in range(3):
        session, _ = feed(session, RevealPips(Seat(seat), 5 + seat))
    session, _ = feed(session, NewHand())
    assert session.places.undecided is None
    assert session.places.maybe_passed is None


def test_doubts_are_stored() -> None:
    for session in (doubted(0.4, 0.3), then(doubted(0.4), NEXT_LAID)):
        stored = json.loads(json.dumps(to_json(session.places, Places)))
        assert from_json(stored, Places) == session.places


def test_several_tiles_at_once_are_explained_with_the_doubt() -> None:
    for confidence in (0.25, 0.55):
        session = doubted(confidence)
        both = TableView((FIRST, NEXT, THIRD), (), (*NEXT_LAID.changes, *BOTH_LAID.changes))
        session = then(session, both)
        assert len(asked(session)) == 1
        assert ASKED not in asked(session)


def test_a_knock_from_another_side_after_a_tile_is_the_next_pass() -> None:
    table = Table(BLOCK, NewHand(), Lead(Seat(0)))
    table.put(FIRST, side="bottom")
    table.feed(KnockHeard(Seat(1)), 5.0)
    table.feed(KnockHeard(Seat(0)), 1.0)
    table.tiles = (*table.tiles, NEXT)
    table.look("top", after_s=0.5, changes=placed(NEXT).changes)
    assert actions(table.session) == ["1 5-4"]
    table.feed(table.view(), 3.0)
    assert actions(table.session) == ["1 5-4", "0 passes"]


def test_a_doubtful_sound_of_an_unknown_seat_belongs_to_the_knock_beside_it() -> None:
    for first, second in ((KnockHeard(Seat(1)), DOUBTFUL), (DOUBTFUL, KnockHeard(Seat(1)))):
        session, _ = feed_timed(led(), (10.0, first), (10.3, second), (14.0, NOTHING_NEW))
        assert (actions(session), asked(session)) == (["1 passes"], [])


def test_open_hands_enter_the_doubtful_passes_that_end_the_hand() -> None:
    table = zoned()
    table.feed(DOUBTFUL)
    table.feed(table.view(), 3.0)
    assert table.session.places.pass_chances == (0.4, 0.4)
    table.put(before(0, 0, (6, 6)), side="bottom")
    table.put(before(1, 0, (2, 2)), side="top")
    table.look()
    assert actions(table.session) == ["1 passes", "0 passes"]
    assert table.session.state.is_provisional


def test_a_play_after_the_last_tile_corrects_who_played_it() -> None:
    rules = replace(BLOCK, hand=2, hand_for=())
    session = then(session_with(rules, Lead(Seat(0)), seats=3), placed(FIRST), Press(Button.KNOCK), NOTHING_NEW)
    session = then(session, placed(NEXT, before=(FIRST,)))
    heard_s = session.t_ns / SECOND_NS + 1
    session, _ = feed_timed(session, (heard_s, DOUBTFUL), (heard_s + 3, TableView((FIRST, NEXT), (), ())))
    assert asked(session) == ["did Ann pass?"]
    session = then(session, placed(THIRD, before=(FIRST, NEXT)))
    assert actions(session) == ["1 passes", "2 5-4", "0 4-1"]
    last = seen((1, 6), (6, 0))
    session = then(session, placed(last, before=(FIRST, NEXT, THIRD)))
    assert actions(session) == ["1 passes", "2 5-4", "0 passes", "1 4-1", "2 6-1"]
    assert session.state.is_provisional


@pytest.mark.parametrize(("side", "result"), [("bottom", ["1 passes", "0 draws"]), ("", ["1 passes", "0 draws"])])
def test_a_draw_decides_by_the_rules(side: str, result: list[str]) -> None:
    table = Table(replace(BONES, draw=Drawing.TWO), NewHand(), Lead(Seat(0)))
    table.put(FIRST, side="bottom")
    table.take(*table.backs(2), side="top")
    table.look()
    assert actions(table.session) == ["1 draws"]
    table.feed(DOUBTFUL)
    table.feed(table.view(), 3.0)
    assert table.asked == [ASKED]
    table.take(*table.backs(1), side=side)
    table.look()
    assert (actions(table.session), table.asked) == (["1 draws", *result], [])


def test_a_question_about_a_pass_is_shown_before_other_open_questions() -> None:
    session = doubted(0.4)
    loose = seen((2, 2), (9, 9))
    session = then(session, placed(loose, before=(FIRST,)))
    assert asked(session)[-1] == ASKED
    assert len(asked(session)) == 2


def test_another_player_named_by_hand_ends_the_question() -> None:
    session = then(doubted(0.4), NEXT_LAID)
    entry = entries(session.state)[-1]
    assert isinstance(entry.action, Play)
    session, _ = feed(session, Amend(entry.seq, replace(entry.action, seat=Seat(2))))
    assert WHO not in asked(session)


def test_simulated_players_know_who_acted() -> None:
    session = then(doubted(0.4), NEXT_LAID)
    for words in choices(session):
        answered = then(session, Answer(choices(session).index(words)))
        answer = answer_of(session, answered.state)
        assert answer is not None
        assert choices(session)[answer.choice] == words


def test_inputs_restored_from_json_give_the_same_result() -> None:
    both = TableView((FIRST, NEXT), (), ())
    inputs = (DOUBTFUL, NOTHING_NEW, NOTHING_NEW, NEXT_LAID, KnockHeard(confidence=0.5), both, both)
    first = then(then(led(seats=3), *inputs), Answer(0))
    again = led(seats=3)
    for item in inputs:
        is_knock = isinstance(item, KnockHeard)
        again = then(again, from_json(to_json(item, KnockHeard), KnockHeard) if is_knock else item)
    again = then(again, from_json(to_json(Answer(0), Answer), Answer))
    assert again == first
    assert asked(first) != []
