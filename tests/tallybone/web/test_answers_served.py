"""Tests of undoing and redoing over HTTP, and of its recording."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx

from engine import BONES, MatchStart, replay
from tallybone.play.recorder import RecordingQuota
from tallybone.play.start import session_of
from tallybone.recording.format import Topic
from tallybone.recording.reader import RecordedMessage, event_of_record, input_of, read_recording
from tallybone.recording.resume import left_in
from tallybone.session.inputs import Answer, AnswerBack
from tallybone.session.session import Session
from tallybone.session.sitting import Sitting, opened
from tests.tallybone.truth_eye import PLAYERS
from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.doubts import ASKED_AFTER, doubtful
from tests.tallybone.web.true_table import PIN, file_recorder, items_of, look_at
from tests.waiting import until
from vision.tracking.table_view import TableView
from vision.tracking.watch import Frame

API = "/api/v1"


def test_undoing_a_wrong_answer_is_recorded_and_replayed(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    recorder = file_recorder(RecordingQuota(tmp_path, 10**9), path)
    with at_table(recorder=recorder, reader=doubtful) as table, httpx.Client(base_url=table.page.url + API) as client:
        client.post("/login", json={"pin": PIN, "name": "Zoe"})
        table.play(ASKED_AFTER)
        until(lambda: client.get("/state").json()["question"] is not None)
        before = client.get("/state").json()
        topic = before["question"]["topic"]
        wrong = client.post("/actions", json={"action": {"type": "answer", "topic": topic, "choice": 1}})
        back = wrong.json()["back"]
        assert client.get("/state").json()["question"] is None
        table.play(2)  # play continues meanwhile
        done = client.post("/actions", json={"action": back})
        assert (done.status_code, done.json()["back"]) == (200, None)
        again = client.get("/state").json()
        assert again["question"]["topic"] == topic, "though the totals in its choices have changed"
        assert _played(again)[:-1] == _played(before), "a tile was played meanwhile"
        assert client.post("/actions", json={"action": back}).status_code == 409, "it has already been undone"
        client.post("/actions", json={"action": {"type": "answer", "topic": topic, "choice": 0}})
        until(lambda: client.get("/state").json()["question"] is None)
        live = table.live.session
        assert not live.state.irregular
    recorder.close()
    records = [record for record in read_recording(path) if isinstance(record, RecordedMessage)]
    log = [event_of_record(record) for record in records if record.topic is Topic.EVENT]
    assert replay([MatchStart(BONES, PLAYERS), *log]) == live.state
    requests = [
        (record.payload["by"], input_of(record))
        for record in records
        if isinstance(record.payload, dict) and "by" in record.payload
    ]
    assert [(by, type(request)) for by, request in requests] == [("Zoe", Answer), ("Zoe", AnswerBack), ("Zoe", Answer)]
    assert _refed(records).state == live.state


def test_a_redone_play_is_recorded_and_replayed(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    recorder = file_recorder(RecordingQuota(tmp_path, 10**9), path)
    with at_table(recorder=recorder) as table, httpx.Client(base_url=table.page.url + API) as client:
        client.post("/login", json={"pin": PIN, "name": "Zoe"})
        table.play(8)
        before = table.live.session.state.game
        assert before is not None
        undone = client.post("/actions", json={"action": {"type": "press", "button": "undo"}})
        assert table.live.session.state.game != before
        redone = client.post("/actions", json={"action": undone.json()["back"]})
        assert redone.status_code == 200
        assert _result(table.live.session) == (before.totals, {node.tile for node in before.layout.nodes})
        table.play(4)
        live = table.live.session
        assert not live.state.irregular
    recorder.close()
    records = [record for record in read_recording(path) if isinstance(record, RecordedMessage)]
    assert _refed(records, lambda view: view).state == live.state
    assert session_of(left_in(read_recording(path)), t_ns=0).state.game == live.state.game


def _result(session: Session) -> tuple[object, ...]:
    game = session.state.game
    assert game is not None
    return game.totals, {node.tile for node in game.layout.nodes}


def _played(shown: dict[str, list[dict[str, object]]]) -> list[dict[str, object]]:
    return [{"tile": entry["pips"]} for entry in shown["plays"] if entry["kind"] == "play"]


def _refed(records: list[RecordedMessage], reader: Callable[[TableView], TableView] = doubtful) -> Session:
    """Return the session after feeding the recorded pictures and inputs again."""
    items, seen = items_of(1, 1, BONES, PLAYERS)
    list(items)
    sitting = Sitting(lambda frame: reader(look_at(seen, frame)), opened(BONES, PLAYERS)[0])
    for record in records:
        request = input_of(record)
        if record.topic is Topic.CAMERA:
            sitting.feed(Frame(None, record.t_ns), record.t_ns)  # type: ignore[arg-type]  # this reader only uses the time
        elif request is not None:
            sitting.feed(request, record.t_ns)
    return sitting.session
