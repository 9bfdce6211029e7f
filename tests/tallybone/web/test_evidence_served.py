"""Tests of evidence over HTTP: crops of plays, questions and recorded steps, and the scoring rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import httpx
import numpy as np
import pytest

from engine import profile
from tallybone.play.recorder import RecordingQuota
from tallybone.recording.format import Topic
from tallybone.recording.resume import Evidence
from tests.tallybone.truth_eye import PLAYERS_OF
from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.doubts import ASKED_AFTER, doubtful
from tests.tallybone.web.true_table import file_recorder
from tests.waiting import until

API = "/api/v1"
FIVES = "a play scores if its count is a multiple of this number: 5"


def is_picture(answer: httpx.Response) -> bool:
    image = cv2.imdecode(np.frombuffer(answer.content, np.uint8), cv2.IMREAD_COLOR)
    return answer.headers["content-type"] == "image/jpeg" and image is not None


def laid_in(plays: list[dict[str, Any]]) -> list[int]:
    return [play["seq"] for play in plays if play["kind"] == "play"]


def test_a_finished_hand_and_its_recording_serve_a_crop_for_each_play(tmp_path: Path) -> None:
    recorder = file_recorder(RecordingQuota(tmp_path, 10**9), tmp_path / "a.mcap")
    with at_table(recorder=recorder, hands=2, recordings=tmp_path) as table:
        while not table.camera.is_done:
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
    with at_table(recorder=recorder, recordings=tmp_path) as table, httpx.Client(base_url=table.page.url) as client:
        table.play(5)
        recorder.evidence(Evidence(4, 0, b"\xff"))
        recorder._write(lambda: recorder._writer.write(Topic.EVIDENCE, 0, {"seq": 3, "jpeg": "?"}))
        recorder.close()
        shown = client.get(f"{API}/recordings/a.mcap").json()
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
