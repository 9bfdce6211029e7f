"""The players of a demo answer what is true, and nothing where no answer is."""

from __future__ import annotations

from engine import Knock, NodeId, Play, Port, Seat, Spot, State, Tile, replay
from tallybone.session.inputs import Answer, KnockHeard
from tallybone.session.session import SURE_KNOCK
from tallybone.simulate.players import answer_of, paths_of
from tests.tallybone.session.test_referee import lay, line, seen, table
from tests.tallybone.session.test_session_inputs import NOTHING_NEW, heard, led


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
    session, _ = heard(led(), (10.0, faint), (13.0, NOTHING_NEW))
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
