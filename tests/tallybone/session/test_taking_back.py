"""Tests of reverting a wrong answer, and of restoring removed actions."""

from __future__ import annotations

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
    Play,
    Port,
    Remove,
    Seat,
    Seq,
    Spot,
    Stack,
    State,
    Tile,
    Undo,
    apply,
    entries,
)
from tallybone.session.course import reversal_events
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, AnswerBack, KnockHeard
from tallybone.session.session import Session
from tests.tallybone.session.test_referee import between, lay, line, look, plays, questions, seen
from tests.tallybone.session.test_table_changes import started_session
from tests.tallybone.truth_eye import game_of

FIRST, NEXT = seen((3, 5), (0, 0)), seen((5, 4), (2, 0))
DOUBTFUL = between((5, 4), (2, 0), 2)  # the 5-2 would score
LATER = seen((3, 6), (-2, 0), 180)


def with_question() -> Session:
    """Return a session with an open question about the totals: 0 by the 5-4, or 5 by the 5-2."""
    session, _ = look(lay(line(FIRST), DOUBTFUL)[0])
    assert session.open_question is not None
    return session


def answered(session: Session, choice: int) -> Session:
    return feed(session, Answer(choice), t_ns=session.t_ns + 10**9)[0]


def revert(session: Session) -> tuple[Session, list[str]]:
    assert session.answered is not None
    session, announcements = feed(session, AnswerBack(session.answered.log), t_ns=session.t_ns + 10**9)
    return session, questions(announcements)


def totals(state: State) -> tuple[int, ...]:
    return game_of(state).totals


@pytest.mark.parametrize("choice", [0, 1, 2])
def test_a_reverted_answer_is_asked_again(choice: int) -> None:
    before = with_question()
    wrong = answered(before, choice)
    again, announcements = revert(wrong)
    assert again.open_question == before.open_question
    assert announcements == ([] if wrong.open_question is not None else ["what is the score?"])
    assert (plays(again), totals(again.state)) == (plays(before), totals(before.state))
    assert again.is_provisional
    assert again.state.log[: len(wrong.state.log)] == wrong.state.log
    for right, tile in ((0, "5-4"), (1, "5-2")):
        now = answered(again, right)
        assert plays(now)[-1] == f"{tile}@5-3E"
        assert (totals(now.state), now.is_provisional) == ((0, 5 * right), False)
        assert [known.tile for known in now.places.known] == [known.tile for known in before.places.known]


def test_totals_stay_doubtful_after_all_offered_ones_were_wrong() -> None:
    session = answered(with_question(), 2)
    session, _ = lay(session, seen((4, 1), (4, 0)))  # it can only have been the 5-4
    session, announcements = look(session)
    assert plays(session)[1:] == ["5-4@5-3E", "4-1@5-4E"]
    assert session.is_provisional
    assert questions(announcements) == []
    corrected, _ = feed(session, Amend(Seq(4), Play(Seat(1), Tile.parse("5-4"), Spot(NodeId(3), Port.E), 5)))
    assert not look(corrected)[0].doubtful_ns


def test_later_tiles_count_after_the_new_answer() -> None:
    session, _ = lay(answered(with_question(), 1), LATER)
    assert plays(session) == ["5-3", "5-2@5-3E", "6-3@5-3W"]
    again, _ = revert(session)
    right = answered(again, 0)
    assert plays(right) == ["5-3", "5-4@5-3E", "6-3@5-3W"]
    assert not right.state.irregular


@pytest.mark.parametrize(
    "by_hand", [Undo(Seq(4)), Play(Seat(0), Tile.parse("6-3"), Spot(NodeId(3), Port.W), 3)], ids=repr
)
def test_a_later_correction_prevents_reverting(by_hand: Undo | Play) -> None:
    session = answered(with_question(), 1)
    assert session.answered is not None
    log = session.answered.log
    session, _ = feed(session, by_hand)
    assert session.answered is None
    same, announcements = feed(session, AnswerBack(log))
    assert (same.state, same.places, announcements) == (session.state, session.places, ())


def test_only_the_last_answer_can_be_reverted() -> None:
    session = answered(with_question(), 1)
    same, announcements = feed(session, AnswerBack(99))
    assert (same, announcements) == (session, ())
    session = answered(session, 0)  # an answer without a question has no effect
    assert session.answered is not None


def test_a_sound_that_waits_still_waits_after_reverting() -> None:
    session = answered(with_question(), 1)
    session, _ = feed(session, KnockHeard(Seat(0)), t_ns=session.t_ns + 10**8)
    again, _ = revert(session)
    assert [sound.seat for _, sound in again.heard] == [0]


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
    assert (len(game_of(state).layout.stacked), game_of(state).totals) == (1, game_of(before).totals)
    assert game_of(state).layout.tiles == game_of(before).layout.tiles
    assert not state.irregular


def test_a_removed_play_does_not_return_after_its_replacement() -> None:
    before = line(FIRST, NEXT).state
    removed, _ = apply(before, Remove(Seq(4)))
    assert reversal_events(removed, len(before.log)) == (before.log[4],)
    later, _ = apply(removed, Play(Seat(1), Tile.parse("5-0"), Spot(NodeId(3), Port.E), 5))
    assert reversal_events(later, len(before.log)) == ()


def test_marks_are_reversed_like_other_events() -> None:
    before = line(FIRST, NEXT).state
    played = tuple(entry.seq for entry in entries(before) if isinstance(entry.action, Play))
    marked, _ = apply(before, Inferred(played))
    for event in (Confirmed(played), Confirmed(played[:1]), ItStands(played[0]), Undo(played[0])):
        changed, _ = apply(marked, event)
        assert changed.inferred != marked.inferred
        for reversal in reversal_events(changed, len(marked.log)):
            changed, _ = apply(changed, reversal)
        assert len(changed.inferred) == len(played)
        assert (totals(changed), [entry.action for entry in entries(changed)][:3]) == (
            totals(marked),
            [entry.action for entry in entries(marked)][:3],
        )


def test_a_reversed_amendment_restores_the_tile() -> None:
    before = line(FIRST, NEXT).state
    played = before.log[4]
    assert isinstance(played, Play)
    amended, _ = apply(before, Amend(Seq(4), Play(played.seat, Tile.parse("5-1"), played.at, played.inner)))
    for event in reversal_events(amended, len(before.log)):
        amended, _ = apply(amended, event)
    assert amended.game == before.game


@pytest.mark.parametrize("event", [Knock(Seat(0)), NewHand()])
def test_appended_actions_are_removed_unless_they_clear_the_table(event: Knock | NewHand) -> None:
    before = line(FIRST, NEXT).state
    after, _ = apply(before, event)
    assert reversal_events(after, len(before.log)) == ((Remove(Seq(5)),) if isinstance(event, Knock) else ())
    assert reversal_events(after, 99) == ()
