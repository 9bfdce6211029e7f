"""Tests of sounds that may have been a pass: nobody is asked, and whatever is seen later decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import BLOCK, BONES, Action, Draw, Drawing, Knock, Lead, NewHand, Passed, Play, Revised, Seat, Turn, entries
from engine.state.outcomes import Must
from tallybone.json_values import from_json, to_json
from tallybone.session.course import as_one_correction
from tallybone.session.feeding import ONE_KNOCK_NS, feed
from tallybone.session.inputs import Answer, AnswerBack, Button, KnockHeard, Press
from tallybone.session.places import Places
from tallybone.session.session import Session
from tests.tallybone.session.test_referee import seen
from tests.tallybone.session.test_session_inputs import NOTHING_NEW, SECOND_NS, feed_timed, led, session_with
from tests.tallybone.session.zone_views import Table, before
from tests.tallybone.truth_eye import placed
from vision.tracking.table_view import TableView

FIRST, NEXT, THIRD = seen((3, 5), (0, 0)), seen((5, 4), (2, 0)), seen((4, 1), (4, 0))
DOUBTFUL = KnockHeard(confidence=0.4)
NEXT_LAID = placed(NEXT, before=(FIRST,))
BOTH_LAID = placed(THIRD, before=(FIRST, NEXT))


def actions(session: Session) -> list[str]:
    """Return the passes, draws and plays in force after the lead, such as "1 5-4"."""
    return [_text(entry.action) for entry in entries(session.state) if isinstance(entry.action, Knock | Draw | Play)][
        1:
    ]


def _text(action: Action) -> str:
    match action:
        case Play(seat=seat, tile=tile):
            return f"{seat} {tile}"
        case Draw(seat=seat):
            return f"{seat} draws"
        case _:
            return f"{action.seat} passes" if isinstance(action, Knock) else ""


def zoned(sound: KnockHeard = DOUBTFUL) -> Table:
    """Return a table with sides where Ann has led the 5-3, and a doubtful sound followed."""
    table = Table(BLOCK, NewHand(), Lead(Seat(0)))
    table.put(FIRST, side="bottom")
    table.feed(sound)
    table.feed(table.view(), 3.0)
    return table


def doubted(*confidences: float, seats: int = 3) -> Session:
    """Return a game without sides after a lead by Ann and doubtful sounds, 3 s apart."""
    session = led(seats=seats)
    for at, confidence in enumerate(confidences):
        heard_s = 10.0 + 3 * at
        knock = KnockHeard(confidence=confidence)
        session, _ = feed_timed(session, (heard_s, knock), (heard_s + 2.5, NOTHING_NEW))
    return session


def then(session: Session, *events: KnockHeard | TableView | Press | Answer | AnswerBack) -> Session:
    """Feed each event three seconds after the last."""
    for event in events:
        session, _ = feed(session, event, t_ns=session.t_ns + 3 * SECOND_NS)
    return session


def is_sure(session: Session) -> bool:
    return not (session.questions or session.is_provisional or session.state.irregular)


@pytest.mark.parametrize("confidence", [0.1, 0.3, 0.55, 0.9])
def test_the_likelier_course_is_followed_through_the_hand(confidence: float) -> None:
    session = then(doubted(confidence), NEXT_LAID, BOTH_LAID)
    is_pass = confidence > 0.5
    assert actions(session) == (["1 passes", "2 5-4", "0 4-1"] if is_pass else ["1 5-4", "2 4-1"])
    assert is_sure(session)
    together = TableView((FIRST, NEXT, THIRD), (), (*NEXT_LAID.changes, *BOTH_LAID.changes))
    assert actions(then(doubted(confidence), together)) == actions(session)


@pytest.mark.parametrize("confidence", [0.3, 0.55])
@pytest.mark.parametrize(
    ("sides", "result"),
    [
        (("top",), ["1 5-4"]),
        (("bottom",), ["1 passes", "0 5-4"]),
        (("", "top"), ["1 passes", "0 5-4", "1 4-1"]),
        (("", "bottom"), ["1 5-4", "0 4-1"]),
    ],
)
def test_the_side_of_a_later_tile_decides(confidence: float, sides: tuple[str, ...], result: list[str]) -> None:
    table = zoned(KnockHeard(confidence=confidence))
    for tile, side in zip((NEXT, THIRD), sides, strict=False):
        table.put(tile, side=side)
        assert sum(isinstance(announcement, Revised) for announcement in table.announcements) <= 1
    assert actions(table.session) == result
    assert is_sure(table.session)


def test_several_corrections_are_announced_as_one() -> None:
    session, turns = led(), [Turn(Seat(seat), Must.PLAY_OR_KNOCK) for seat in (0, 1, 0)]
    passed = Passed(Seat(0), 1)
    several = (turns[0], Revised((0, 0), (5, 0)), turns[1], passed, Revised((5, 0), (0, 5)), turns[2])
    assert as_one_correction(several, session.state) == (Revised((0, 0), (0, 5)), passed, turns[2])
    assert as_one_correction(several[:1], session.state) == several[:1]


def test_the_button_of_a_player_decides() -> None:
    session = doubted(0.4)
    passed = then(session, Press(Button.KNOCK, Seat(1)), NOTHING_NEW)
    assert actions(passed) == ["1 passes"]
    for both in (then(session, Press(Button.KNOCK, Seat(2)), NOTHING_NEW), then(passed, Press(Button.KNOCK, Seat(2)))):
        assert actions(then(both, NOTHING_NEW)) == ["1 passes", "2 passes"]


@pytest.mark.parametrize("knock", [KnockHeard(Seat(2)), KnockHeard(confidence=0.9)])
def test_a_later_knock_is_the_next_pass(knock: KnockHeard) -> None:
    session, _ = feed_timed(doubted(0.4), (20.0, knock), (23.0, NOTHING_NEW))
    assert actions(session) == ["1 passes", "2 passes"]


def test_a_double_knock_is_one_sound() -> None:
    twice_s = 0.5 * ONE_KNOCK_NS / SECOND_NS
    sounds = ((10.0, DOUBTFUL), (10.0 + twice_s, KnockHeard(Seat(1), confidence=0.9)))
    for events in (sounds, ((10.0, sounds[1][1]), (10.0 + twice_s, sounds[0][1]))):
        session, _ = feed_timed(led(seats=3), *events, (13.0, NOTHING_NEW))
        assert actions(session) == ["1 passes"]


def test_a_knock_from_another_side_after_a_tile_is_the_next_pass() -> None:
    table = Table(BLOCK, NewHand(), Lead(Seat(0)))
    table.put(FIRST, side="bottom")
    table.feed(KnockHeard(Seat(1)), 5.0)
    table.feed(KnockHeard(Seat(0)), 1.0)
    table.tiles = (*table.tiles, NEXT)
    table.look("top", after_s=0.5, changes=placed(NEXT).changes)
    table.feed(table.view(), 3.0)
    assert actions(table.session) == ["1 5-4", "0 passes"]


def test_open_hands_enter_the_doubtful_passes_that_end_the_hand() -> None:
    table = zoned()
    table.feed(DOUBTFUL)
    table.feed(table.view(), 3.0)
    table.put(before(0, 0, (6, 6)), side="bottom")
    table.put(before(1, 0, (2, 2)), side="top")
    table.look()
    assert actions(table.session) == ["1 passes", "0 passes"]


def test_a_tile_after_the_last_one_corrects_who_passed() -> None:
    """With two tiles each, a third tile of Cleo would be one too many, so Ann passed after Cleo's first."""
    rules = replace(BLOCK, hand=2, hand_for=())
    session = then(session_with(rules, Lead(Seat(0)), seats=3), placed(FIRST), Press(Button.KNOCK), NOTHING_NEW)
    session = then(session, placed(NEXT, before=(FIRST,)))
    heard_s = session.t_ns / SECOND_NS + 1
    session, _ = feed_timed(session, (heard_s, DOUBTFUL), (heard_s + 3, TableView((FIRST, NEXT), (), ())))
    last = seen((1, 6), (6, 0))
    session = then(session, placed(THIRD, before=(FIRST, NEXT)), placed(last, before=(FIRST, NEXT, THIRD)))
    assert actions(session) == ["1 passes", "2 5-4", "0 passes", "1 4-1", "2 6-1"]


def test_a_draw_decides_by_the_rules() -> None:
    table = Table(replace(BONES, draw=Drawing.TWO), NewHand(), Lead(Seat(0)))
    table.put(FIRST, side="bottom")
    table.take(*table.backs(2), side="top")
    table.look()
    assert actions(table.session) == ["1 draws"]
    table.feed(DOUBTFUL)
    table.feed(table.view(), 3.0)
    table.take(*table.backs(1), side="bottom")
    table.look()
    assert actions(table.session) == ["1 draws", "1 passes", "0 draws"]


def test_undo_removes_the_tile_and_keeps_the_pass() -> None:
    session = then(doubted(0.55), NEXT_LAID, Press(Button.UNDO))
    assert actions(session) == ["1 passes"]
    assert not session.is_provisional


def test_places_and_inputs_restored_from_json_give_the_same_result() -> None:
    both = TableView((FIRST, NEXT), (), ())
    inputs = (DOUBTFUL, NOTHING_NEW, NOTHING_NEW, NEXT_LAID, KnockHeard(confidence=0.5), both, both)
    first = then(led(seats=3), *inputs)
    again = led(seats=3)
    for item in inputs:
        again = then(again, from_json(to_json(item, KnockHeard), KnockHeard) if isinstance(item, KnockHeard) else item)
    assert again == first
    assert from_json(to_json(first.places, Places), Places) == first.places
