"""Tests of recording inputs and their results."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from engine import BONES, Event, Knock, Seat, replay
from tallybone.recording import reader
from tallybone.recording.format import SittingStart, Topic
from tallybone.recording.writer import RecordingWriter
from tallybone.session.inputs import Answer, AnswerBack, Button, KnockHeard, Press
from tallybone.session.sitting import ByHand, Sitting, Step, opened
from vision.reading import Face, Half, SeenTile
from vision.tracking.table_view import Change, ChangeKind, TableView
from vision.tracking.watch import Frame

_START = SittingStart(started_at=datetime(2026, 11, 21, tzinfo=UTC), players=("Ann", "Ben"), rules="bones")
_INPUTS: tuple[ByHand, ...] = (
    Press(Button.NEXT),
    KnockHeard(Seat(0)),
    Press(Button.KNOCK, Seat(1)),
    KnockHeard(),
    Answer(1, "5 / 6"),
    Knock(Seat(0)),
    AnswerBack(12),
)


_CORNERS = ((100.0, 100.0), (180.0, 100.0), (180.0, 140.0), (100.0, 140.0))
_DOUBLE_SIX = SeenTile(Face.UP, _CORNERS, (Half(6, 0.999, (120.0, 120.0)), Half(6, 0.999, (160.0, 120.0))))
_VIEW = TableView((_DOUBLE_SIX,), (), (Change(ChangeKind.PLACED, _DOUBLE_SIX),))
_FRAME = Frame(np.zeros((4, 4, 3), np.uint8), 3)


def _records(path: Path) -> list[reader.RecordedMessage]:
    return [record for record in reader.read_recording(path) if isinstance(record, reader.RecordedMessage)]


def test_inputs_are_read_as_written(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, _START) as writer:
        for t_ns, input_ in enumerate(_INPUTS):
            reader.write_input(writer, input_, t_ns, by="Zoe" if t_ns % 2 else "")
        writer.write(Topic.TABLE, 9, {})
    *records, other = _records(path)
    assert [reader.input_of(record) for record in records] == list(_INPUTS)
    assert [record.t_ns for record in records] == list(range(len(_INPUTS)))
    assert [record.topic for record in records] == [*[Topic.BUTTON, Topic.KNOCK] * 2, *[Topic.CORRECTION] * 3]
    assert [record.fact.get("by") for record in records] == [None, "Zoe"] * 3 + [None]
    assert reader.input_of(other) is None


def test_the_log_and_the_places_can_be_read_from_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    session, _ = opened(BONES, _START.players)
    sitting = Sitting(lambda _: _VIEW, session)
    events: list[Event] = list(session.state.log)
    with RecordingWriter(path, _START) as writer:
        for t_ns, item in ((1, Press(Button.NEXT)), (2, Press(Button.NEXT)), (3, _FRAME)):
            step = sitting.feed(item, t_ns)
            reader.write_step(writer, step, picture=7)
    records = _records(path)
    events += [reader.event_of_record(record) for record in records if record.topic is Topic.EVENT]
    assert replay(events) == sitting.session.state
    assert [str(node.tile) for node in sitting.session.state.game.layout.nodes] == ["6-6"]  # type: ignore[union-attr]
    last = [record for record in records if record.topic is Topic.TABLE][-1]
    assert reader.places_of_record(last) == sitting.session.places
    assert last.payload["picture"] == 7  # type: ignore[index]
    outcomes = [record.payload for record in records if record.topic is Topic.OUTCOME]
    assert "played" in [line["event"] for line in outcomes]  # type: ignore[index]


def test_a_frame_is_written_if_its_tiles_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    session, _ = opened(BONES, _START.players)
    with RecordingWriter(path, _START) as writer:
        for t_ns, view in ((5, TableView((), (), ())), (6, _VIEW)):
            reader.write_step(writer, Step(t_ns, session, view=view), picture=3)
        reader.write_step(writer, Step(7, session, item=Press(Button.NEXT)))
        reader.write_step(writer, Step(8, session, events=tuple(session.state.log)))
    changed, event, entered = _records(path)
    assert (changed.topic, changed.t_ns, sorted(changed.fact)) == (Topic.TABLE, 6, ["picture", "places", "tiles"])
    assert (event.topic, entered.topic, entered.t_ns, sorted(entered.fact)) == (Topic.EVENT, Topic.TABLE, 8, ["places"])
