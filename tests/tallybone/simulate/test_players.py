"""Tests of simulated players: they answer truthfully, or not at all."""

from __future__ import annotations

from engine import CUTTHROAT, Call, Knock, NodeId, Play, Port, Seat, Spot, State, Tile, legal_stacks, replay
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, Button, KnockHeard, Press
from tallybone.session.knocks import SURE_KNOCK
from tallybone.simulate.players import TruthfulPlayers, answer_of, paths_of
from tests.tallybone.session.test_referee import lay, line, seen, table
from tests.tallybone.session.test_session_inputs import NOTHING_NEW, feed_timed, led
from tests.tallybone.session.test_table_changes import started_session


def truth(tile: str, inner: int) -> State:
    first = Play(Seat(0), Tile.parse("5-3"), None, 3)
    return replay((*table().state.log, first, Play(Seat(1), Tile.parse(tile), Spot(NodeId(3), Port.E), inner)))


def test_players_answer_with_the_tile_played() -> None:
    session, _ = lay(line(seen((3, 5), (0, 0))), seen((4, 1), (2, 0), sure=(0.98, 0.99)))
    assert session.open_question is not None
    assert session.open_question.choices[:2] == ("the 4-1", "the 5-1")
    assert answer_of(session, truth("5-1", 5)) == Answer(1, session.open_question.topic)
    assert answer_of(session, truth("4-1", 4)) == Answer(0, session.open_question.topic)
    assert answer_of(session, truth("6-5", 5)) is None


def test_players_answer_nothing_without_a_question() -> None:
    session = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    assert answer_of(session, truth("5-4", 5)) is None


def test_players_confirm_or_deny_a_knock() -> None:
    faint = KnockHeard(Seat(1), confidence=SURE_KNOCK - 0.1)
    session, _ = feed_timed(led(), (10.0, faint), (13.0, NOTHING_NEW))
    assert session.open_question is not None
    knocked = replay((*session.state.log, Knock(Seat(1))))
    assert answer_of(session, knocked) == Answer(0, session.open_question.topic)
    assert answer_of(session, session.state) == Answer(1, session.open_question.topic)


def test_paths_identify_tiles_independently_of_their_pips() -> None:
    session = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    assert tuple(paths_of(session.state).values()) == (
        ("5-3 3 inside",),
        ("5-3 3 inside", "E 5-4 5 inside"),
    )


def test_players_name_the_copy_once_the_tile_is_stacked() -> None:
    session = started_session(CUTTHROAT, seats=4)
    for tile in (seen((2, 2), (0, 0), 90), seen((2, 1), (1.5, 0)), seen((0, 2), (-1.5, 0)), seen((4, 0), (-3.5, 0))):
        session, _ = lay(session, tile)
    session, _ = feed(session, Call(Seat(3)))
    (stack,) = (event for event in legal_stacks(session.state, (Tile.parse("4-0"),)))
    session, _ = feed(session, Press(Button.STACK))
    question = session.open_question
    assert question is not None
    players = TruthfulPlayers()
    players.truth = session.state
    assert players.answer(session) is None
    players.observe(stack)
    assert players.answer(session) == Answer(question.choices.index("on the 4-0"), question.topic)
    assert players.answer(session) is None  # each question is answered once
