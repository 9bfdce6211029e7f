"""Tests of corrections and evidence over HTTP, and of their recording."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import httpx
import numpy as np
import pytest

from engine import BONES, MatchStart, Phase, Play, RevealPips, Seat, entries, profile, replay
from tallybone.play.recorder import RecordingQuota
from tallybone.play.start import session_of, state_of
from tallybone.recording.format import Topic
from tallybone.recording.reader import RecordedMessage, event_of_record, input_of, read_recording
from tallybone.recording.resume import Evidence, left_in
from tallybone.recording.survey import survey
from tallybone.session.inputs import Answer, AnswerBack
from tallybone.session.session import Session
from tallybone.session.sitting import Sitting, opened
from tests.tallybone.recording.sittings import records_of
from tests.tallybone.truth_eye import PLAYERS, PLAYERS_OF
from tests.tallybone.web.conftest import at_recorded_table, at_table
from tests.tallybone.web.doubts import ASKED_AFTER, doubtful
from tests.tallybone.web.hand_photos import game_of
from tests.tallybone.web.true_table import PIN, TrueTable, file_recorder, items_of, look_at
from tests.waiting import until
from vision.tracking.table_view import TableView
from vision.tracking.watch import Frame

API = "/api/v1"


@pytest.mark.slow
def test_undoing_a_wrong_answer_is_recorded_and_replayed(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with at_recorded_table(path, reader=doubtful) as (table, client):
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
    records = records_of(path)
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
    with at_recorded_table(path) as (table, client):
        table.play(8)
        before = game_of(table)
        undone = client.post("/actions", json={"action": {"type": "press", "button": "undo"}})
        assert table.live.session.state.game != before
        redone = client.post("/actions", json={"action": undone.json()["back"]})
        assert redone.status_code == 200
        again = game_of(table)
        assert again.totals == before.totals
        assert {node.tile for node in again.layout.nodes} == {node.tile for node in before.layout.nodes}
        table.play(4)
        live = table.live.session
        assert not live.state.irregular
    records = records_of(path)
    assert _refed(records, lambda view: view).state == live.state
    assert session_of(left_in(read_recording(path)), t_ns=0).state.game == live.state.game


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


def plays_of(table: TrueTable) -> list[int]:
    """Return the seqs of the plays in force."""
    return [entry.seq for entry in entries(table.live.session.state) if isinstance(entry.action, Play)]


def marks(state: dict[str, Any]) -> tuple[bool, list[int]]:
    """Return whether the totals are provisional, and the seqs of the inferred plays."""
    return state["match"]["provisional"], [play["seq"] for play in state["plays"] if play["inferred"]]


def test_a_confirmation_of_inferred_plays_can_be_undone(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with at_recorded_table(path) as (table, client):

        def state() -> dict[str, Any]:
            answer: dict[str, Any] = client.get("/state").json()
            return answer

        def act(action: dict[str, object]) -> httpx.Response:
            return client.post("/actions", json={"action": action, "if_version": state()["version"]})

        table.play(11)
        first, second, *_, last = plays_of(table)
        until(lambda: any(play["seq"] == last for play in state()["plays"]))
        assert marks(state()) == (False, [])
        totals = [player["total"] for player in state()["players"]]
        table.mark(first, second, last)
        until(lambda: state()["match"]["provisional"])
        assert marks(state()) == (True, [first, second, last])
        assert [player["total"] for player in state()["players"]] == totals

        assert act({"type": "confirm", "seq": second}).status_code == 200
        assert marks(state()) == (True, [first, last])
        assert act({"type": "confirm", "seq": second}).status_code == 409
        done = act({"type": "confirm"})
        assert marks(state()) == (False, [])
        assert [player["total"] for player in state()["players"]] == totals
        assert act(done.json()["back"]).status_code == 200
        assert marks(state()) == (True, [first, last])
        marked = table.live.session.state
    left = left_in(read_recording(path))
    assert left.events == marked.log[1:], "a restart restores the same marks"


def leave_hands_unseen(table: TrueTable) -> list[int]:
    """Play to the end of a hand at which nobody shows tiles, and return the seqs of the estimated pips."""
    while (game := table.live.session.state.game) is None or game.phase is not Phase.REVEAL:
        table.play(1)
    assert game.hand is not None
    for seat, holding in enumerate(game.hand.holdings):
        if holding is None and seat != game.hand.out:
            table.camera.give(RevealPips(Seat(seat), 12))
            table.play(0)
    seqs: list[int] = [entry.seq for entry in entries(table.live.session.state) if isinstance(entry.action, RevealPips)]
    table.mark(*seqs)
    return seqs


@pytest.mark.slow
def test_the_pips_of_an_unseen_hand_are_asked_for_until_they_are_entered_or_two_hands_later() -> None:
    with at_table(hands=4) as table, httpx.Client(base_url=table.page.url + API) as client:
        client.post("/login", json={"pin": PIN, "name": "Zoe"})

        def unseen() -> list[tuple[int, int]]:
            return [(one["seq"], one["seat"]) for one in client.get("/state").json()["unseen_hands"]]

        def deal() -> None:
            hand = client.get("/state").json()["match"]["hand"]
            while client.get("/state").json()["match"]["hand"] == hand:
                table.play(1)

        (seq,) = leave_hands_unseen(table)
        until(unseen)
        entry = entries(table.live.session.state)[-1]
        assert isinstance(entry.action, RevealPips)
        assert unseen() == [(seq, entry.action.seat)]
        client.post("/actions", json={"action": {"type": "press", "button": "next"}})
        until(lambda: client.get("/state").json()["match"]["hand"] == 2)
        assert unseen() == [(seq, entry.action.seat)], "the last hand is asked for too"
        amend = {"type": "amend", "seq": seq}
        refused = client.post("/actions", json={"action": {**amend, "points": -1}})
        assert refused.status_code == 422
        saved = client.post("/actions", json={"action": {**amend, "points": 40}})
        assert saved.status_code == 200
        assert unseen() == []
        assert not table.live.session.state.inferred
        assert entries(table.live.session.state)[-2].action == RevealPips(entry.action.seat, 40)
        assert client.post("/actions", json={"action": saved.json()["back"]}).status_code == 200
        assert unseen() == [(seq, entry.action.seat)]
        deal()
        assert unseen() == []


@pytest.mark.slow
def test_a_mark_outlives_its_hand() -> None:
    with at_table(hands=2) as table, httpx.Client(base_url=table.page.url + API) as client:
        table.play(5)
        first = plays_of(table)[0]
        table.mark(first)
        while (client.get("/state").json()["match"]["hand"] or 0) < 2:
            table.play(1)
        state = client.get("/state").json()
        assert state["match"]["provisional"]
        assert first not in [play["seq"] for play in state["plays"]]
        earlier = client.get("/plays", params={"hand": 1}).json()
        assert [play["seq"] for play in earlier if play["inferred"]] == [first]


def test_points_win_a_match_and_take_the_win_back(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with at_recorded_table(path) as (table, client):

        def give(points: int) -> dict[str, Any]:
            version = client.get("/state").json()["version"]
            action = {"type": "points", "seat": 0, "points": points}
            assert client.post("/actions", json={"action": action, "if_version": version}).status_code == 200
            match: dict[str, Any] = client.get("/state").json()["match"]
            return match

        def play(items: int) -> None:
            table.play(items)
            last = plays_of(table)[-1]
            until(lambda: any(shown["seq"] == last for shown in client.get("/state").json()["plays"]))

        play(8)
        before = client.get("/state").json()
        won = give(500)
        assert (won["over"], won["winner"], won["phase"]) == (True, 0, "match_over")
        assert give(-500) == before["match"]
        assert [player["turn"] for player in client.get("/state").json()["players"]] == [
            player["turn"] for player in before["players"]
        ]
        plays = len(client.get("/state").json()["plays"])
        play(3)
        assert len(client.get("/state").json()["plays"]) > plays, "play goes on"
    game = state_of(left_in(read_recording(path))).game
    assert game is not None
    assert game.phase is not Phase.MATCH_OVER
    assert survey(path).facts.winner is None


FIVES = "a play scores if its count is a multiple of this number: 5"


def is_picture(answer: httpx.Response) -> bool:
    image = cv2.imdecode(np.frombuffer(answer.content, np.uint8), cv2.IMREAD_COLOR)
    return answer.headers["content-type"] == "image/jpeg" and image is not None


def laid_in(plays: list[dict[str, Any]]) -> list[int]:
    return [play["seq"] for play in plays if play["kind"] == "play"]


@pytest.mark.slow
def test_a_finished_hand_and_its_recording_serve_a_crop_for_each_play(tmp_path: Path) -> None:
    recorder = file_recorder(RecordingQuota(tmp_path, 10**9), tmp_path / "a.mcap")
    with at_table(recorder=recorder, hands=2, recordings=tmp_path) as table:
        table.play(3)
        while (hand := game_of(table).hand) is None or hand.number < 2 or len(game_of(table).layout.nodes) < 7:
            table.play(1)
        with httpx.Client(base_url=table.page.url + API) as client:
            until(lambda: len(laid_in(client.get("/plays?hand=2").json())) > 5)
            first = laid_in(client.get("/plays?hand=1").json())
            crops = {seq: client.get(f"/evidence/{seq}.jpg") for seq in first}
            assert all(is_picture(crop) for crop in crops.values())
            assert len({crop.content for crop in crops.values()}) == len(first) > 5
            assert client.get(f"/tiles/{first[0]}.jpg").status_code == 404, "the camera sees the second hand"
            etag = crops[first[0]].headers["etag"]
            again = client.get(f"/evidence/{first[0]}.jpg", headers={"if-none-match": etag})
            assert again.status_code == 304
            assert client.get("/evidence/0.jpg").status_code == 404
            recorder.close()
            steps = client.get("/recordings/a.mcap").json()["steps"]
            assert [step["evidence"] for step in steps] == [step["kind"] == "play" for step in steps]
            numbers = [number for number, step in enumerate(steps) if step["evidence"]]
            recorded = [client.get(f"/recordings/a.mcap/steps/{number}/evidence.jpg") for number in numbers]
            assert [answer.content for answer in recorded[: len(first)]] == [crops[seq].content for seq in first]
            assert all("etag" in answer.headers for answer in recorded)
            assert client.get("/recordings/a.mcap/steps/0/evidence.jpg").status_code == 404
            assert client.get("/recordings/a.mcap/steps/99999/evidence.jpg").status_code == 404


def test_a_play_without_a_crop_is_shown_from_the_current_picture() -> None:
    with at_table() as table, httpx.Client(base_url=table.page.url + API) as client:
        table.play(5)
        until(lambda: len(laid_in(client.get("/state").json()["plays"])) >= 2)
        seq = laid_in(client.get("/state").json()["plays"])[0]
        kept = client.get(f"/evidence/{seq}.jpg").content
        table.page.feed.restart()
        now = client.get(f"/evidence/{seq}.jpg").content
        assert now == client.get(f"/tiles/{seq}.jpg").content != kept


def test_a_question_serves_its_evidence() -> None:
    with at_table(reader=doubtful) as table, httpx.Client(base_url=table.page.url + API) as client:
        table.play(ASKED_AFTER)
        until(lambda: client.get("/state").json()["question"] is not None)
        question = client.get("/state").json()["question"]
        assert question["evidence"]
        assert is_picture(client.get("/evidence/question.jpg", params={"topic": question["topic"]}))
        assert client.get("/evidence/question.jpg", params={"topic": "another"}).status_code == 404
        assert client.get("/evidence/question.jpg").status_code == 422


def test_a_damaged_crop_does_not_affect_the_rest_of_its_recording(tmp_path: Path) -> None:
    recorder = file_recorder(RecordingQuota(tmp_path, 10**9), tmp_path / "a.mcap")
    with at_table(recorder=recorder, recordings=tmp_path) as table:
        table.play(5)
        recorder.evidence(Evidence(4, 0, b"\xff"))
        recorder._write(lambda: recorder._writer.write(Topic.EVIDENCE, 0, {"seq": 3, "jpeg": "?"}))
        recorder.close()
        shown = httpx.get(f"{table.page.url}{API}/recordings/a.mcap").json()
        assert shown["complaints"] == []
        assert sum(step["evidence"] for step in shown["steps"]) >= 2


@pytest.mark.parametrize(
    ("game", "paid"),
    [
        ("bones", {FIVES}),
        ("cutthroat", {f"{FIVES}; points count only if called before the next play"}),
        ("block", set()),
    ],
)
def test_a_play_names_the_rule_that_pays_its_count(game: str, paid: set[str]) -> None:
    with at_table(rules=profile(game), players=PLAYERS_OF[game]) as table:
        table.play(14)
        with httpx.Client(base_url=table.page.url + API) as client:
            until(lambda: len(client.get("/plays?hand=1").json()) > 9)
            plays = client.get("/plays?hand=1").json()
            spanish = client.get("/plays?hand=1&lang=es").json()
    assert {play["rule"] for play in plays if play["rule"] is not None} == paid
    scored = [play for play in plays if play["points"] and play["kind"] == "play"]
    assert all(play["rule"] is not None for play in scored)
    assert all(play["sum"].endswith(("5", "0")) for play in scored)
    assert game != "bones" or "una jugada anota si su cuenta es múltiplo de este número: 5" in {
        play["rule"] for play in spanish
    }
