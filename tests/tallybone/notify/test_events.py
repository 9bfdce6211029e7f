"""Tests of events between two snapshots."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tallybone.notify.mqtt import TableEvent, events_between
from tallybone.store.table_file import EventKind
from tallybone.web.live.shapes import Snapshot
from tests.tallybone.notify.snapshots import asked, lobby, match, played, players, shown


def between(before: Snapshot | None, after: Snapshot, *, is_same_match: bool = True) -> list[TableEvent]:
    return list(events_between(before, after, is_same_match=is_same_match))


def kinds(before: Snapshot | None, after: Snapshot, *, is_same_match: bool = True) -> list[EventKind]:
    return [event.kind for event in between(before, after, is_same_match=is_same_match)]


def test_plays_and_points_have_the_new_total() -> None:
    play, points = between(shown(5, 0), shown(15, 0, plays=(played(3, points=10),)))
    assert play.kind is EventKind.PLAY
    assert play.payload["hand"] == 1
    assert play.payload["play"] == {
        "seq": 3,
        "kind": "play",
        "seat": 0,
        "name": "Ann",
        "pips": [6, 4],
        "points": 10,
        "sum": "6 + 4 = 10",
        "text": "Ann plays 6-4",
        "irregular": None,
        "inferred": False,
    }
    expected = {"seat": 0, "name": "Ann", "points": 10, "total": 15, "provisional": False}
    assert (points.kind, points.payload) == (EventKind.POINTS, expected)


def test_marked_plays_and_points_are_provisional() -> None:
    marked = replace(match(), provisional=True)
    (changed,) = between(
        shown(5, 0, plays=(played(3),)), shown(5, 0, plays=(replace(played(3), inferred=True),), match=marked)
    )
    assert changed.kind is EventKind.PLAY_CHANGED
    assert changed.payload["play"]["inferred"] is True  # type: ignore[index,call-overload]
    (points,) = between(shown(5, 0), shown(15, 0, match=marked))
    assert points.payload["provisional"] is True
    *_, ended = between(shown(140, 40), shown(150, 40, match=replace(match(over=True, winner=0), provisional=True)))
    assert ended.payload["provisional"] is True


def test_a_corrected_or_removed_play_changes_the_play_and_the_points() -> None:
    before, after = shown(10, 0, plays=(played(1, points=10),)), shown(0, 0, plays=(played(1, pips=(6, 3)),))
    changed, points = between(before, after)
    assert changed.kind is EventKind.PLAY_CHANGED
    assert (points.kind, points.payload["points"], points.payload["total"]) == (EventKind.POINTS, -10, 0)
    (gone,) = between(shown(0, 0, plays=(played(1), played(2))), shown(0, 0, plays=(played(1),)))
    assert (gone.kind, gone.payload["play"]) == (EventKind.PLAY_REMOVED, {"seq": 2})


def test_a_rename_and_a_swap_are_no_points_and_change_no_plays() -> None:
    play = played(3)
    before = shown(5, 20, plays=(play,))
    assert kinds(before, before) == []
    renamed = replace(before, players=players(5, 20, names=("Ada", "Ben")), plays=(replace(play, text="Ada plays"),))
    assert kinds(before, renamed) == []
    swapped = replace(before, players=players(20, 5, names=("Ben", "Ann")))
    assert kinds(before, swapped) == []


def test_a_new_hand_and_its_undo_repeat_no_plays() -> None:
    first, second = shown(0, 0, plays=(played(1), played(2))), shown(0, 0, hand=2)
    assert kinds(first, second) == [EventKind.HAND_BEGAN]
    assert kinds(second, first) == []


def test_the_start_and_end_of_a_match_are_events() -> None:
    (started,) = between(lobby(0, 0), shown(), is_same_match=False)
    assert started.kind is EventKind.MATCH_BEGAN
    assert started.payload == {"game": "bones", "target": 150, "players": ["Ann", "Ben"]}
    assert kinds(shown(), lobby()) == [EventKind.MATCH_LEFT]
    over = shown(150, 40, match=match(over=True, winner=0))
    *_, ended = between(shown(140, 40), over)
    expected = {"seat": 0, "name": "Ann", "totals": [150, 40], "provisional": False}
    assert (ended.kind, ended.payload) == (EventKind.MATCH_OVER, expected)
    assert kinds(over, lobby(150, 40)) == []
    assert kinds(over, shown(), is_same_match=False) == [EventKind.MATCH_BEGAN]  # without points
    # A resumed match repeats no events.
    assert kinds(None, shown(50, 60, hand=3, plays=(played(40), played(41)))) == [EventKind.MATCH_BEGAN]


def test_a_correction_that_takes_back_or_moves_a_win_is_reported() -> None:
    over = shown(150, 140, match=match(over=True, winner=0))
    moved = shown(150, 160, match=match(over=True, winner=1))
    assert kinds(over, moved) == [EventKind.POINTS, EventKind.MATCH_OVER]
    reopened = shown(140, 140)
    assert kinds(over, reopened) == [EventKind.POINTS]
    assert kinds(reopened, over) == [EventKind.POINTS, EventKind.MATCH_OVER]
    swapped = replace(moved, players=players(160, 150, names=("Ben", "Ann")), match=match(over=True, winner=0))
    assert kinds(moved, swapped) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, asked(), [EventKind.QUESTION]),
        (asked(), asked(), []),
        (asked(), None, [EventKind.ANSWERED]),
        (asked(), asked("end 5"), [EventKind.ANSWERED, EventKind.QUESTION]),
    ],
)
def test_a_question_and_its_answer_are_each_an_event(before: object, after: object, expected: list[EventKind]) -> None:
    assert kinds(shown(question=before), shown(question=after)) == expected
