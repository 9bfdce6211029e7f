"""A question that was answered with a wrong tap, over the wire: one tap back, and all of it is recorded."""

from __future__ import annotations

from pathlib import Path

import httpx

from engine import BONES, MatchStart, replay
from tallybone.play.recorder import RecordingQuota
from tallybone.recording.format import Topic
from tallybone.recording.messages import event_of_record, input_of
from tallybone.recording.reader import RecordedMessage, read_recording
from tallybone.session.inputs import Answer, AnswerBack
from tallybone.session.session import Session
from tallybone.session.sitting import Sitting, opened
from tests.tallybone.truth_eye import PLAYERS
from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.doubts import ASKED_AFTER, doubtful
from tests.tallybone.web.true_table import PIN, file_recorder, items_of, look_at
from tests.waiting import until
from vision.tracking.watch import Frame

API = "/api/v1"


def test_a_wrong_answer_is_taken_back_with_one_tap_and_the_recording_gives_the_same_game(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    recorder = file_recorder(RecordingQuota(tmp_path, 10**9), path)
    with at_table(recorder=recorder, eye=doubtful) as table, httpx.Client(base_url=table.page.url + API) as client:
        client.post("/login", json={"pin": PIN, "name": "Zoe"})
        table.play(ASKED_AFTER)
        until(lambda: client.get("/state").json()["question"] is not None)
        before = client.get("/state").json()
        topic = before["question"]["topic"]
        wrong = client.post("/actions", json={"action": {"type": "answer", "topic": topic, "choice": 1}})
        back = wrong.json()["back"]
        assert client.get("/state").json()["question"] is None
        table.play(2)  # two go on meanwhile
        done = client.post("/actions", json={"action": back})
        assert (done.status_code, done.json()["back"]) == (200, None)
        again = client.get("/state").json()
        assert again["question"] == before["question"]
        assert [one["tile"] for one in _played(again)] == [one["tile"] for one in _played(before)]
        assert client.post("/actions", json={"action": back}).status_code == 409, "it has been taken back already"
        client.post("/actions", json={"action": {"type": "answer", "topic": topic, "choice": 0}})
        until(
            lambda: table.live.session.state.game is not None and len(table.live.session.state.game.layout.nodes) == 5
        )
        live = table.live.session
        assert not live.state.irregular
    recorder.close()
    records = [one for one in read_recording(path) if isinstance(one, RecordedMessage)]
    log = [event_of_record(one) for one in records if one.topic is Topic.EVENT]
    assert replay([MatchStart(BONES, PLAYERS), *log]) == live.state
    said = [
        (one.payload["by"], input_of(one)) for one in records if isinstance(one.payload, dict) and "by" in one.payload
    ]
    assert [(by, type(one)) for by, one in said] == [("Zoe", Answer), ("Zoe", AnswerBack), ("Zoe", Answer)]
    assert _fed_again(records).state == live.state


def _played(shown: dict[str, list[dict[str, object]]]) -> list[dict[str, object]]:
    return [{"tile": one["pips"]} for one in shown["plays"] if one["kind"] == "play"]


def _fed_again(records: list[RecordedMessage]) -> Session:
    """What comes of the pictures and of what was said, fed once more."""
    items, seen = items_of(1, 1, BONES, PLAYERS)
    list(items)
    sitting = Sitting(lambda frame: doubtful(look_at(seen, frame)), opened(BONES, PLAYERS)[0])
    for one in records:
        said = input_of(one)
        if one.topic is Topic.CAMERA:
            sitting.feed(Frame(None, one.t_ns), one.t_ns)  # type: ignore[arg-type]  # this eye looks at the time only
        elif said is not None:
            sitting.feed(said, one.t_ns)
    return sitting.session
