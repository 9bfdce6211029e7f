"""The players of a demo answer what is true, and nothing where no answer is."""

from __future__ import annotations

from engine import CUTTHROAT, Call, Knock, NodeId, Play, Port, Seat, Spot, State, Tile, legal_stacks, replay
from tallybone.session.feeding import SURE_KNOCK, feed
from tallybone.session.inputs import Answer, Button, KnockHeard, Press
from tallybone.simulate.players import TruthfulPlayers, answer_of, paths_of
from tests.tallybone.session.test_referee import lay, line, seen, table
from tests.tallybone.session.test_session_inputs import NOTHING_NEW, feed_timed, led
from tests.tallybone.session.test_table_changes import started_session


def truth(tile: str, inner: int) -> State:
    first = Play(Seat(0), Tile.parse("5-3"), None, 3)
    return replay((*table().state.log, first, Play(Seat(1), Tile.parse(tile), Spot(NodeId(3), Port.E), inner)))


def test_the_tile_that_was_played_is_answered_and_no_other() -> None:
    session, _ = lay(line(seen((3, 5), (0, 0))), seen((4, 1), (2, 0), sure=(0.98, 0.99)))
    assert session.open_question is not None
    assert session.open_question.choices[:2] == ("the 4-1", "the 5-1")
    assert answer_of(session, truth("5-1", 5)) == Answer(1, session.open_question.topic)
    assert answer_of(session, truth("4-1", 4)) == Answer(0, session.open_question.topic)
    assert answer_of(session, truth("6-5", 5)) is None


def test_nothing_is_answered_where_nothing_is_asked() -> None:
    session = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    assert answer_of(session, truth("5-4", 5)) is None


def test_who_has_knocked_says_so_and_who_has_not_says_no() -> None:
    faint = KnockHeard(Seat(1), confidence=SURE_KNOCK - 0.1)
    session, _ = feed_timed(led(), (10.0, faint), (13.0, NOTHING_NEW))
    assert session.open_question is not None
    knocked = replay((*session.state.log, Knock(Seat(1))))
    assert answer_of(session, knocked) == Answer(0, session.open_question.topic)
    assert answer_of(session, session.state) == Answer(1, session.open_question.topic)


def test_a_path_tells_where_a_tile_lies_whatever_it_is_called() -> None:
    session = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    assert tuple(paths_of(session.state).values()) == (
        ("5-3 3 inside",),
        ("5-3 3 inside", "E 5-4 5 inside"),
    )


def test_who_has_stacked_a_tile_says_on_which_copy_once_it_lies_there() -> None:
    session = started_session(CUTTHROAT, seats=4)
    for tile in (seen((2, 2), (0, 0), 90), seen((2, 1), (1.5, 0)), seen((0, 2), (-1.5, 0)), seen((4, 0), (-3.5, 0))):
        session, _ = lay(session, tile)
    session, _ = feed(session, Call(Seat(3)))
    (stack,) = (one for one in legal_stacks(session.state, (Tile.parse("4-0"),)))
    session, _ = feed(session, Press(Button.STACK))
    asked = session.open_question
    assert asked is not None
    players = TruthfulPlayers()
    players.truth = session.state
    assert players.answer(session) is None
    players.observe(stack)
    assert players.answer(session) == Answer(asked.choices.index("on the 4-0"), asked.topic)
    assert players.answer(session) is None  # an answer is given once
