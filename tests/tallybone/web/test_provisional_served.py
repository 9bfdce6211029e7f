"""Tests of inferred plays over HTTP: markers in the snapshot, and confirmation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from engine import Phase, Play, RevealPips, Seat, entries
from tallybone.play.recorder import RecordingQuota
from tallybone.recording.reader import read_recording
from tallybone.recording.resume import left_in
from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.true_table import PIN, TrueTable, file_recorder
from tests.waiting import until

API = "/api/v1"


def plays_of(table: TrueTable) -> list[int]:
    """Return the seqs of the plays in force."""
    return [entry.seq for entry in entries(table.live.session.state) if isinstance(entry.action, Play)]


def marks(state: dict[str, Any]) -> tuple[bool, list[int]]:
    """Return whether the totals are provisional, and the seqs of the inferred plays."""
    return state["match"]["provisional"], [play["seq"] for play in state["plays"] if play["inferred"]]


def test_a_confirmation_of_inferred_plays_can_be_undone(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    recorder = file_recorder(RecordingQuota(tmp_path, 10**9), path)
    with at_table(recorder=recorder) as table, httpx.Client(base_url=table.page.url + API) as client:
        client.post("/login", json={"pin": PIN, "name": "Zoe"})

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
    recorder.close()
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
        game = table.live.session.state.game
        assert game is not None
        assert not table.live.session.state.inferred
        assert entries(table.live.session.state)[-2].action == RevealPips(entry.action.seat, 40)
        assert client.post("/actions", json={"action": saved.json()["back"]}).status_code == 200
        assert unseen() == [(seq, entry.action.seat)]
        deal()
        assert unseen() == []


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
