"""Tests of reverting a wrong answer: the question returns, and later observations are judged again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import (
    CUTTHROAT,
    Amend,
    Call,
    Confirmed,
    Inferred,
    ItStands,
    Knock,
    NewHand,
    NodeId,
    Placed,
    Play,
    Port,
    Remove,
    Seat,
    Seq,
    Spot,
    Stack,
    Tile,
    Undo,
    apply,
    entries,
)
from tallybone.session.feeding import MAX_SINCE, feed
from tallybone.session.inputs import Answer, AnswerBack, KnockHeard
from tallybone.session.referee.places import Around, OpenHand, Yard
from tallybone.session.session import Session
from tallybone.session.taking_back import back_to, renamed, reversal_events
from tests.tallybone.session.test_referee import lay, line, plays, questions, seen, table
from tests.tallybone.session.test_table_changes import started_session as started_session
from vision.tracking.table_view import Change, ChangeKind, TableView

FIRST = seen((3, 5), (0, 0))
DOUBTFUL = seen((5, 4), (2, 0), sure=(0.99, 0.5))
LATER = seen((3, 6), (-2, 0), 180)


def with_question() -> Session:
    """Return a session with an open question about the tile at the 5."""
    session, _ = lay(line(FIRST), DOUBTFUL)
    assert session.open_question is not None
    return session


def revert(session: Session) -> tuple[Session, list[str]]:
    assert session.answered is not None
    session, announcements = feed(session, AnswerBack(session.answered.log))
    return session, questions(announcements)


def effective_tiles(session: Session) -> list[str]:
    return [str(entry.action.tile) for entry in entries(session.state) if isinstance(entry.action, Play)]


def changing_views(count: int) -> list[TableView]:
    """Return views with changes: a distant tile appears and disappears."""
    far = seen((0, 1), (9, 9))
    placed, gone = Change(ChangeKind.PLACED, far), Change(ChangeKind.REMOVED, far)
    return [TableView((), (), (gone,) if at % 2 else (placed,)) for at in range(count)]


def test_a_reverted_question_is_open_again() -> None:
    before = with_question()
    question = before.open_question
    assert question is not None
    wrong, _ = feed(before, Answer(1))
    assert effective_tiles(wrong) != effective_tiles(before)
    again, announcements = revert(wrong)
    assert again.open_question == question
    assert announcements == [question.words]
    assert effective_tiles(again) == effective_tiles(before)
    assert again.state.game == before.state.game
    right, _ = feed(again, Answer(0))
    at_once, _ = feed(before, Answer(0))
    assert effective_tiles(right) == effective_tiles(at_once)
    assert [known_tile.tile for known_tile in right.places.known] == [
        known_tile.tile for known_tile in at_once.places.known
    ]
    assert {known_tile.node for known_tile in right.places.known} == {
        NodeId(entry.seq) for entry in entries(right.state)[-2:]
    }
    assert not right.state.irregular


def test_reverting_keeps_the_log() -> None:
    wrong, _ = feed(with_question(), Answer(0))
    again, _ = revert(wrong)
    assert again.state.log[: len(wrong.state.log)] == wrong.state.log
    assert again.state.log[-1] == Undo(Seq(len(wrong.state.log) - 1))


def test_later_tiles_wait_for_the_new_answer() -> None:
    before = with_question()
    wrong, _ = feed(before, Answer(1), t_ns=1)
    continued, announcements = feed(
        wrong, TableView((DOUBTFUL, LATER), (), (Change(ChangeKind.PLACED, LATER),)), t_ns=2
    )
    assert any(isinstance(announcement, Placed) for announcement in announcements)
    again, _ = revert(continued)
    assert effective_tiles(again) == effective_tiles(before)
    right, _ = feed(again, Answer(0), t_ns=3)
    assert plays(right)[-1] == "6-3@5-3W"
    at_once, _ = feed(before, Answer(0))
    assert effective_tiles(right) == [*effective_tiles(at_once), "6-3"]
    assert not right.state.irregular


def test_an_answered_amendment_is_undone() -> None:
    session = line(FIRST, seen((5, 4), (2, 0)))
    doubtful = seen((5, 6), (2, 0), sure=(0.999, 0.55))
    session, announcements = feed(session, TableView((FIRST, doubtful), (), ()))
    assert questions(announcements)
    assert session.open_question is not None
    before = effective_tiles(session)
    other = next(at for at, words in enumerate(session.open_question.choices) if "6-5" in words)
    wrong, _ = feed(session, Answer(other))
    assert isinstance(wrong.state.log[-1], Amend)
    assert effective_tiles(wrong) != before
    again, repeated = revert(wrong)
    assert effective_tiles(again) == before
    assert repeated == questions(announcements)


def test_removed_plays_return_with_their_positions() -> None:
    session = line(FIRST, seen((5, 4), (2, 0)), LATER)
    second = session.places.known[1].tile
    gone, announcements = feed(session, TableView((FIRST, LATER), (), (Change(ChangeKind.REMOVED, second),)))
    assert questions(announcements) == ["the 5-4 was removed: does it still count?"]
    without, _ = feed(gone, Answer(1))
    assert effective_tiles(without) == ["5-3"]
    again, repeated = revert(without)
    assert repeated == questions(announcements)
    assert effective_tiles(again) == effective_tiles(session)
    assert [known_tile.tile for known_tile in again.places.known] == [
        known_tile.tile for known_tile in gone.places.known
    ]
    assert again.state.game is not None
    assert [known_tile.node for known_tile in again.places.known] == [node.id for node in again.state.game.layout.nodes]
    counts, _ = feed(again, Answer(0))
    assert effective_tiles(counts) == ["5-3", "5-4", "6-3"]


@pytest.mark.parametrize("by_hand", [Knock(Seat(0)), NewHand(), Answer(0)], ids=repr)
def test_a_later_manual_input_prevents_reverting(by_hand: Knock | NewHand | Answer) -> None:
    session, _ = feed(with_question(), Answer(1))
    assert session.answered is not None
    log = session.answered.log
    session, _ = feed(session, by_hand)
    if isinstance(by_hand, Answer):
        assert session.answered is not None, "an answer without a question has no effect"
        return
    assert session.answered is None
    same, announcements = feed(session, AnswerBack(log))
    assert (same.state, same.places, announcements) == (session.state, session.places, ())


def test_only_the_last_answer_can_be_reverted() -> None:
    session, _ = feed(with_question(), Answer(1))
    same, announcements = feed(session, AnswerBack(99))
    assert (same, announcements) == (session, ())


def test_a_later_knock_counts_again() -> None:
    session, _ = feed(with_question(), Answer(1), t_ns=1)
    session, _ = feed(session, KnockHeard(Seat(0)), t_ns=10**9)
    again, _ = revert(session)
    assert [sound.seat for sound in again.heard] == [0]


def test_the_number_of_kept_views_is_limited() -> None:
    session, _ = feed(with_question(), Answer(1))
    *some, last = changing_views(MAX_SINCE + 1)
    for view in some:
        session, _ = feed(session, view)
    assert session.answered is not None
    assert len(session.answered.since) == MAX_SINCE
    session, _ = feed(session, last)
    assert session.answered is None


def test_unchanged_views_are_not_kept() -> None:
    session, _ = feed(with_question(), Answer(1))
    for _ in range(3):
        session, _ = feed(session, TableView((DOUBTFUL,), (), ()))
    assert session.answered is not None
    assert session.answered.since == ()


def test_of_views_without_changes_the_first_and_last_are_kept() -> None:
    session, _ = feed(with_question(), Answer(1))
    for at in range(3 * MAX_SINCE):
        doubtful = seen((5, 4), (2, 0), sure=(0.99, 0.5 + 0.01 * (at % 7)))
        session, _ = feed(session, TableView((FIRST, doubtful), (), ()), t_ns=at)
    assert session.answered is not None
    assert [at for _, at in session.answered.since] == [0, 3 * MAX_SINCE - 1]
    again, announcements = revert(session)
    assert again.open_question is not None
    assert announcements == [again.open_question.words]


def test_event_numbers_around_the_layout_are_renamed() -> None:
    hand = OpenHand(shown=Seq(7))
    around = Around(yard=Yard(seq=8, caused=(Seq(4), Seq(7))), hands=(hand, OpenHand()), lead_by_side=Seq(6))
    places = replace(table().places, around=around)
    found = renamed(places, {Seq(6): Seq(20), Seq(7): Seq(21), Seq(9): Seq(22)}, Seq(23)).around
    assert (found.lead_by_side, found.yard.caused, found.hands[0].shown) == (20, (4, 21), 21)
    assert found.yard.seq == 22, "the position after the count stays"
    assert renamed(places, {Seq(6): Seq(20)}, Seq(23)).around.yard.seq == 23
    assert renamed(places, {}, Seq(23)) is places


def test_reverting_without_events_changes_nothing() -> None:
    state = with_question().state
    assert back_to(state, len(state.log)) == (state, (), {})


def test_a_removed_play_returns_with_its_stacked_copy() -> None:
    session = started_session(CUTTHROAT, seats=4)
    for tile in (seen((2, 2), (0, 0), 90), seen((2, 1), (1.5, 0)), seen((0, 2), (-1.5, 0)), seen((4, 0), (-3.5, 0))):
        session, _ = lay(session, tile)
    at, played = len(session.state.log) - 1, session.state.log[-1]
    assert isinstance(played, Play)
    session, _ = feed(session, Call(Seat(3)))
    before, _ = apply(session.state, Stack(Seat(0), played.tile, NodeId(at)))
    state, _ = apply(before, Remove(Seq(at)))
    for event in reversal_events(state, len(before.log)):
        state, _ = apply(state, event)
    assert state.game is not None
    assert before.game is not None
    assert (len(state.game.layout.stacked), state.game.totals) == (1, before.game.totals)
    assert state.game.layout.tiles == before.game.layout.tiles
    assert not state.irregular


def test_a_removed_play_does_not_return_after_its_replacement() -> None:
    before = line(FIRST, seen((5, 4), (2, 0))).state
    removed, _ = apply(before, Remove(Seq(4)))
    assert reversal_events(removed, len(before.log)) == (before.log[4],)
    later, _ = apply(removed, Play(Seat(1), Tile.parse("5-0"), Spot(NodeId(3), Port.E), 5))
    assert reversal_events(later, len(before.log)) == ()


def test_reverting_restores_marks() -> None:
    before, _ = feed(with_question(), Answer(1))
    played = tuple(entry.seq for entry in entries(before.state) if isinstance(entry.action, Play))
    marked, _ = apply(before.state, Inferred(played))
    for event in (Confirmed(played), Confirmed(played[:1]), ItStands(played[0]), Undo(played[0])):
        changed, _ = apply(marked, event)
        assert changed.inferred != marked.inferred
        again, _, names = back_to(changed, len(marked.log))
        assert again.inferred == tuple(names.get(seq, seq) for seq in played)
        assert again.game is not None
        assert marked.game is not None
        assert again.game.totals == marked.game.totals
    unmarked, announcements, _ = back_to(marked, len(before.state.log))
    assert unmarked.inferred == ()
    assert announcements == (), "mark changes announce no score"


def test_the_tile_of_a_reverted_question_waits_again() -> None:
    session, _ = feed(with_question(), Answer(0))
    again, _ = revert(session)
    assert [waiting_tile.tile for waiting_tile in again.places.waiting] == [DOUBTFUL]
    assert again.places.dismissed == ()
