"""What has happened between two snapshots."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tallybone.notify.events import TableEvent, events_between
from tallybone.store.table_file import EventKind
from tallybone.web.shapes import Snapshot
from tests.tallybone.notify.snapshots import asked, lobby, match, played, shown


def between(before: Snapshot | None, after: Snapshot, *, is_same_match: bool = True) -> list[TableEvent]:
    return list(events_between(before, after, is_same_match=is_same_match))


def kinds(before: Snapshot | None, after: Snapshot, *, is_same_match: bool = True) -> list[EventKind]:
    return [event.kind for event in between(before, after, is_same_match=is_same_match)]


def test_a_play_and_its_points_are_told_with_the_total_after_them() -> None:
    play, points = between(shown(5, 0), shown(15, 0, plays=(played(3, points=10),)))
    assert play.kind is EventKind.PLAY
    assert play.said["hand"] == 1
    assert play.said["play"] == {
        "seq": 3,
        "kind": "play",
        "seat": 0,
        "name": "Ann",
        "pips": [6, 4],
        "points": 10,
        "sum": "6 + 4 = 10",
        "words": "Ann plays 6-4",
        "irregular": None,
        "inferred": False,
    }
    told = {"seat": 0, "name": "Ann", "points": 10, "total": 15, "provisional": False}
    assert (points.kind, points.said) == (EventKind.POINTS, told)


def test_a_mark_changes_its_play_and_points_are_told_as_provisional() -> None:
    marked = replace(match(), provisional=True)
    (changed,) = between(
        shown(5, 0, plays=(played(3),)), shown(5, 0, plays=(replace(played(3), inferred=True),), match=marked)
    )
    assert changed.kind is EventKind.PLAY_CHANGED
    assert changed.said["play"]["inferred"] is True  # type: ignore[index,call-overload]
    (points,) = between(shown(5, 0), shown(15, 0, match=marked))
    assert points.said["provisional"] is True
    *_, ended = between(shown(140, 40), shown(150, 40, match=replace(match(over=True, winner=0), provisional=True)))
    assert ended.said["provisional"] is True


def test_what_stays_as_it_was_is_not_told() -> None:
    assert kinds(shown(5, 5, plays=(played(1),)), shown(5, 5, plays=(played(1),))) == []


def test_a_play_that_is_put_right_is_no_new_play_and_points_that_go_are_negative() -> None:
    before, after = shown(10, 0, plays=(played(1, points=10),)), shown(0, 0, plays=(played(1, pips=(6, 3)),))
    changed, points = between(before, after)
    assert changed.kind is EventKind.PLAY_CHANGED
    assert (points.kind, points.said["points"], points.said["total"]) == (EventKind.POINTS, -10, 0)


def test_a_play_that_is_taken_back_is_told() -> None:
    (gone,) = between(shown(0, 0, plays=(played(1), played(2))), shown(0, 0, plays=(played(1),)))
    assert (gone.kind, gone.said["play"]) == (EventKind.PLAY_REMOVED, {"seq": 2})


def test_a_new_hand_takes_no_play_back_and_an_undone_deal_tells_none_again() -> None:
    first, second = shown(0, 0, plays=(played(1), played(2))), shown(0, 0, hand=2)
    assert kinds(first, second) == [EventKind.HAND_BEGAN]
    assert kinds(second, first) == []


def test_a_match_is_told_when_it_begins_is_left_and_is_over() -> None:
    (began,) = between(lobby(0, 0), shown(), is_same_match=False)
    assert began.kind is EventKind.MATCH_BEGAN
    assert began.said == {"game": "bones", "target": 150, "players": ["Ann", "Ben"]}
    assert kinds(shown(), lobby()) == [EventKind.MATCH_LEFT]
    over = shown(150, 40, match=match(over=True, winner=0))
    *_, ended = between(shown(140, 40), over)
    told = {"seat": 0, "name": "Ann", "totals": [150, 40], "provisional": False}
    assert (ended.kind, ended.said) == (EventKind.MATCH_OVER, told)
    assert kinds(over, lobby(150, 40)) == []


def test_another_match_right_after_one_begins_with_no_points() -> None:
    over = shown(150, 40, match=match(over=True, winner=0))
    assert kinds(over, shown(), is_same_match=False) == [EventKind.MATCH_BEGAN]


def test_a_match_that_goes_on_tells_nothing_of_what_was_before() -> None:
    assert kinds(None, shown(50, 60, hand=3, plays=(played(40), played(41)))) == [EventKind.MATCH_BEGAN]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (None, asked(), [EventKind.QUESTION]),
        (asked(), asked(), []),
        (asked(), None, [EventKind.ANSWERED]),
        (asked(), asked("end 5"), [EventKind.ANSWERED, EventKind.QUESTION]),
    ],
)
def test_a_question_is_told_once_and_that_it_is_answered(before: object, after: object, told: list[EventKind]) -> None:
    assert kinds(shown(question=before), shown(question=after)) == told
