"""Tests of simulated players: they answer truthfully, or not at all."""

from __future__ import annotations

from engine import Adjust, NodeId, Play, Port, Seat, Spot, State, Tile, Undo, replay
from lab.matches.players import TruthfulPlayers, answer_of, paths_of
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, Button, Press
from tests.tallybone.in_question import CHOICES, asked
from tests.tallybone.session.test_referee import line, seen, table


def truth(tile: str, inner: int) -> State:
    first = Play(Seat(0), Tile.parse("5-3"), None, 3)
    return replay((*table().state.log, first, Play(Seat(1), Tile.parse(tile), Spot(NodeId(3), Port.E), inner)))


def test_players_answer_with_the_true_totals() -> None:
    session = asked()
    assert session.open_question is not None
    topic = session.open_question.topic
    assert answer_of(session, truth("5-4", 5)) == Answer(0, topic)
    assert answer_of(session, truth("5-2", 5)) == Answer(1, topic)
    other = replay((*truth("5-4", 5).log, Adjust(Seat(1), 10, "given")))
    assert answer_of(session, other) == Answer(CHOICES.index("something else"), topic)


def test_players_answer_nothing_without_a_question() -> None:
    session = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    assert answer_of(session, truth("5-4", 5)) is None


def test_players_count_a_tile_that_was_undone_by_mistake() -> None:
    session = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    session, _ = feed(session, Press(Button.UNDO))
    assert isinstance(session.state.log[-1], Undo)
    assert session.open_question is not None
    assert answer_of(session, truth("5-4", 5)) == Answer(0, session.open_question.topic)


def test_players_cannot_tell_which_hand_is_on_the_table() -> None:
    session, _ = feed(line(seen((3, 5), (0, 0))), Press(Button.TABLE))
    assert session.open_question is not None
    assert answer_of(session, truth("5-4", 5)) is None


def test_paths_identify_tiles_independently_of_their_pips() -> None:
    session = line(seen((3, 5), (0, 0)), seen((5, 4), (2, 0)))
    assert tuple(paths_of(session.state).values()) == (
        ("5-3 3 inside",),
        ("5-3 3 inside", "E 5-4 5 inside"),
    )


def test_a_question_is_considered_once_per_event() -> None:
    players = TruthfulPlayers()
    assert players.answer(asked()) is None, "no match is known yet"
    for event in truth("5-4", 5).log:
        players.observe(event)
    assert players.answer(asked()) == Answer(0, asked().questions[0].ambiguity.topic)
    assert players.answer(asked()) is None
    players.observe(Adjust(Seat(0), 5, "given"))
    assert players.answer(asked()) == Answer(0, asked().questions[0].ambiguity.topic)
