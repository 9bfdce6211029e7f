"""Tests of corrections over HTTP that win a match, take the win back and return it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from engine import Phase
from tallybone.play.recorder import RecordingQuota
from tallybone.play.start import state_of
from tallybone.recording.reader import read_recording
from tallybone.recording.resume import left_in
from tallybone.recording.survey import survey
from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.test_provisional_served import plays_of
from tests.tallybone.web.true_table import PIN, file_recorder
from tests.waiting import until

API = "/api/v1"


def test_points_win_a_match_and_take_the_win_back(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    recorder = file_recorder(RecordingQuota(tmp_path, 10**9), path)
    with at_table(recorder=recorder) as table, httpx.Client(base_url=table.page.url + API) as client:
        client.post("/login", json={"pin": PIN, "name": "Zoe"})

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
    recorder.close()
    game = state_of(left_in(read_recording(path))).game
    assert game is not None
    assert game.phase is not Phase.MATCH_OVER
    assert survey(path).facts.winner is None
