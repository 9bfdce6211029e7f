"""Tests of questions and unreadable tiles in the page's snapshot."""

from __future__ import annotations

from dataclasses import replace

from engine import Seat
from engine.phrases import phrase
from tallybone.play.game import LiveState
from tallybone.session.questions import Ambiguity, Meaning, Question
from tallybone.web.live.feed import LiveFeed
from tallybone.web.live.plays import Story
from tallybone.web.live.shapes import QuestionShown
from tallybone.web.live.snapshot import Lobby, lobby_snapshot, snapshot_of
from tests.tallybone.web.true_table import TrueTable
from tests.vision.seen import unsure_tile
from vision.tracking.table_view import TableView


def question_shown(table: TrueTable, *, chosen: int | None) -> QuestionShown | None:
    """Return the snapshot of a question. *chosen* is the choice highlighted by the table's buttons."""
    session = table.live.session
    ambiguity = Ambiguity(None, phrase("what is the score?"), ("Ann 30", phrase("something else")))
    question = Question(ambiguity, (Meaning(confirmed=((Seat(0), 30),)), Meaning()))
    now: LiveState = replace(table.live.now, session=replace(session, questions=(question,)), chosen=chosen)
    shown = snapshot_of(now, (), Story().after(session.state), version=1)
    return None if shown is None else shown.question


def test_the_choice_highlighted_by_the_buttons_is_shown(table: TrueTable) -> None:
    shown = question_shown(table, chosen=1)
    assert shown is not None
    assert shown.choices[1] == "something else"
    assert shown.chosen == 1


def test_a_question_not_answered_with_buttons_has_no_highlighted_choice(table: TrueTable) -> None:
    shown = question_shown(table, chosen=None)
    assert shown is not None
    assert shown.chosen is None
    assert type(shown.topic) is str, "the topic is never translated"


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
