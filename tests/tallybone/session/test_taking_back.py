"""A wrong answer loses nothing: it is asked again, and what was seen since is judged by the right one."""

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
from tests.tallybone.session.test_table_changes import sitting as stacking
from vision.tracking.table_view import Change, ChangeKind, TableView

FIRST = seen((3, 5), (0, 0))
DOUBTFUL = seen((5, 4), (2, 0), sure=(0.99, 0.5))
LATER = seen((3, 6), (-2, 0), 180)


def asked() -> Session:
    """A table that is asked which tile was laid against the 5."""
    session, _ = lay(line(FIRST), DOUBTFUL)
    assert session.open_question is not None
    return session


def back(session: Session) -> tuple[Session, list[str]]:
    assert session.answered is not None
    session, said = feed(session, AnswerBack(session.answered.log))
    return session, questions(said)


def in_force(session: Session) -> list[str]:
    return [str(one.action.tile) for one in entries(session.state) if isinstance(one.action, Play)]


def looks(count: int) -> list[TableView]:
    """Looks that each show something: a far tile that comes and goes."""
    far = seen((0, 1), (9, 9))
    come, gone = Change(ChangeKind.PLACED, far), Change(ChangeKind.REMOVED, far)
    return [TableView((), (), (gone,) if at % 2 else (come,)) for at in range(count)]


def test_what_was_answered_wrongly_is_asked_again_and_answered_rightly() -> None:
    before = asked()
    question = before.open_question
    assert question is not None
    wrong, _ = feed(before, Answer(1))
    assert in_force(wrong) != in_force(before)
    again, said = back(wrong)
    assert again.open_question == question
    assert said == [question.words]
    assert in_force(again) == in_force(before)
    assert again.state.game == before.state.game
    right, _ = feed(again, Answer(0))
    at_once, _ = feed(before, Answer(0))
    assert in_force(right) == in_force(at_once)
    assert [one.tile for one in right.places.known] == [one.tile for one in at_once.places.known]
    assert {one.node for one in right.places.known} == {NodeId(one.seq) for one in entries(right.state)[-2:]}
    assert not right.state.irregular


def test_nothing_is_rubbed_out_of_the_log() -> None:
    wrong, _ = feed(asked(), Answer(0))
    again, _ = back(wrong)
    assert again.state.log[: len(wrong.state.log)] == wrong.state.log
    assert again.state.log[-1] == Undo(Seq(len(wrong.state.log) - 1))


def test_what_was_laid_since_waits_for_the_right_answer() -> None:
    before = asked()
    wrong, _ = feed(before, Answer(1), t_ns=1)
    went_on, said = feed(wrong, TableView((DOUBTFUL, LATER), (), (Change(ChangeKind.PLACED, LATER),)), t_ns=2)
    assert any(isinstance(one, Placed) for one in said)
    again, _ = back(went_on)
    assert in_force(again) == in_force(before)
    right, _ = feed(again, Answer(0), t_ns=3)
    assert plays(right)[-1] == "6-3@5-3W"
    at_once, _ = feed(before, Answer(0))
    assert in_force(right) == [*in_force(at_once), "6-3"]
    assert not right.state.irregular


def test_an_amendment_that_was_answered_is_undone() -> None:
    session = line(FIRST, seen((5, 4), (2, 0)))
    doubtful = seen((5, 6), (2, 0), sure=(0.999, 0.55))
    session, said = feed(session, TableView((FIRST, doubtful), (), ()))
    assert questions(said)
    assert session.open_question is not None
    before = in_force(session)
    other = next(at for at, words in enumerate(session.open_question.choices) if "6-5" in words)
    wrong, _ = feed(session, Answer(other))
    assert isinstance(wrong.state.log[-1], Amend)
    assert in_force(wrong) != before
    again, said_again = back(wrong)
    assert in_force(again) == before
    assert said_again == questions(said)


def test_plays_that_an_answer_took_back_are_there_again_with_their_places() -> None:
    session = line(FIRST, seen((5, 4), (2, 0)), LATER)
    middle = session.places.known[1].tile
    gone, said = feed(session, TableView((FIRST, LATER), (), (Change(ChangeKind.REMOVED, middle),)))
    assert questions(said) == ["the 5-4 was removed: does it still count?"]
    without, _ = feed(gone, Answer(1))
    assert in_force(without) == ["5-3"]
    again, asked_again = back(without)
    assert asked_again == questions(said)
    assert in_force(again) == in_force(session)
    assert [one.tile for one in again.places.known] == [one.tile for one in gone.places.known]
    assert again.state.game is not None
    assert [one.node for one in again.places.known] == [node.id for node in again.state.game.layout.nodes]
    counts, _ = feed(again, Answer(0))
    assert in_force(counts) == ["5-3", "5-4", "6-3"]


@pytest.mark.parametrize("by_hand", [Knock(Seat(0)), NewHand(), Answer(0)], ids=repr)
def test_who_has_gone_on_by_hand_cannot_take_it_back(by_hand: Knock | NewHand | Answer) -> None:
    session, _ = feed(asked(), Answer(1))
    assert session.answered is not None
    log = session.answered.log
    session, _ = feed(session, by_hand)
    if isinstance(by_hand, Answer):
        assert session.answered is not None, "an answer to nothing changes nothing"
        return
    assert session.answered is None
    same, said = feed(session, AnswerBack(log))
    assert (same.state, same.places, said) == (session.state, session.places, ())


def test_another_answer_than_the_last_is_not_taken_back() -> None:
    session, _ = feed(asked(), Answer(1))
    same, said = feed(session, AnswerBack(99))
    assert (same, said) == (session, ())


def test_a_knock_that_was_heard_since_is_heard_again() -> None:
    session, _ = feed(asked(), Answer(1), t_ns=1)
    session, _ = feed(session, KnockHeard(Seat(0)), t_ns=10**9)
    again, _ = back(session)
    assert [one.seat for one in again.heard] == [0]


def test_only_so_many_looks_are_kept() -> None:
    session, _ = feed(asked(), Answer(1))
    *some, last = looks(MAX_SINCE + 1)
    for view in some:
        session, _ = feed(session, view)
    assert session.answered is not None
    assert len(session.answered.since) == MAX_SINCE
    session, _ = feed(session, last)
    assert session.answered is None


def test_a_look_that_shows_nothing_new_costs_nothing() -> None:
    session, _ = feed(asked(), Answer(1))
    for _ in range(3):
        session, _ = feed(session, TableView((DOUBTFUL,), (), ()))
    assert session.answered is not None
    assert session.answered.since == ()


def test_looks_that_show_no_change_are_kept_but_twice() -> None:
    session, _ = feed(asked(), Answer(1))
    for at in range(3 * MAX_SINCE):
        doubtful = seen((5, 4), (2, 0), sure=(0.99, 0.5 + 0.01 * (at % 7)))
        session, _ = feed(session, TableView((FIRST, doubtful), (), ()), t_ns=at)
    assert session.answered is not None
    assert [at for _, at in session.answered.since] == [0, 3 * MAX_SINCE - 1]
    again, said = back(session)
    assert again.open_question is not None
    assert said == [again.open_question.words]


def test_what_lies_around_the_layout_keeps_its_names() -> None:
    hand = OpenHand(shown=Seq(7))
    around = Around(yard=Yard(seq=8, caused=(Seq(4), Seq(7))), hands=(hand, OpenHand()), lead_by_side=Seq(6))
    places = replace(table().places, around=around)
    found = renamed(places, {Seq(6): Seq(20), Seq(7): Seq(21), Seq(9): Seq(22)}, Seq(23)).around
    assert (found.lead_by_side, found.yard.caused, found.hands[0].shown) == (20, (4, 21), 21)
    assert found.yard.seq == 22, "what came after the count comes after it still"
    assert renamed(places, {Seq(6): Seq(20)}, Seq(23)).around.yard.seq == 23
    assert renamed(places, {}, Seq(23)) is places


def test_the_way_back_is_no_way_at_all_where_nothing_was_done() -> None:
    state = asked().state
    assert back_to(state, len(state.log)) == (state, (), {})


def test_a_removed_play_comes_back_with_the_copy_that_was_stacked_on_it() -> None:
    session = stacking(CUTTHROAT, seats=4)
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


def test_a_removed_play_does_not_come_back_once_another_took_its_turn() -> None:
    before = line(FIRST, seen((5, 4), (2, 0))).state
    removed, _ = apply(before, Remove(Seq(4)))
    assert reversal_events(removed, len(before.log)) == (before.log[4],)
    later, _ = apply(removed, Play(Seat(1), Tile.parse("5-0"), Spot(NodeId(3), Port.E), 5))
    assert reversal_events(later, len(before.log)) == ()


def test_the_way_back_restores_marks() -> None:
    before, _ = feed(asked(), Answer(1))
    played = tuple(one.seq for one in entries(before.state) if isinstance(one.action, Play))
    marked, _ = apply(before.state, Inferred(played))
    for event in (Confirmed(played), Confirmed(played[:1]), ItStands(played[0]), Undo(played[0])):
        changed, _ = apply(marked, event)
        assert changed.inferred != marked.inferred
        again, _, names = back_to(changed, len(marked.log))
        assert again.inferred == tuple(names.get(seq, seq) for seq in played)
        assert again.game is not None
        assert marked.game is not None
        assert again.game.totals == marked.game.totals
    unmarked, said, _ = back_to(marked, len(before.state.log))
    assert unmarked.inferred == ()
    assert said == (), "no score is announced where only marks change"


def test_the_tile_in_question_waits_again() -> None:
    session, _ = feed(asked(), Answer(0))
    again, _ = back(session)
    assert [one.tile for one in again.places.waiting] == [DOUBTFUL]
    assert again.places.dismissed == ()
