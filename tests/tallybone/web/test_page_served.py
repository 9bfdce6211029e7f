"""Tests of the page of a running game over real HTTP and WebSocket: state, actions, pictures and open ends."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import cv2
import httpx
import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from engine import Scored, Tile, apply, legal_plays, profile, unseen
from tallybone.play.recorder import RecordingQuota
from tallybone.recording.format import Topic
from tallybone.recording.reader import RecordedMessage, input_of, read_recording
from tallybone.web.live.feed import CameraPicture, PagePictures
from tests.tallybone.truth_eye import PLAYERS_OF
from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.hand_photos import game_of
from tests.tallybone.web.true_table import PIN, TrueTable, file_recorder
from tests.waiting import until
from vision.tracking.camera_motion import Alignment

API = "/api/v1"


def viewer(table: TrueTable, **headers: str) -> ClientConnection:
    url = table.page.url.replace("http", "ws") + f"{API}/live"
    return connect(url, additional_headers=headers, compression=None, proxy=None)


def receive(socket: ClientConnection, timeout: float = 10) -> dict[str, object]:
    message: dict[str, object] = json.loads(socket.recv(timeout))
    return message


def closed_with(socket: ClientConnection) -> int | None:
    """Wait until the other side closes the connection, and return its close code."""
    with contextlib.suppress(ConnectionClosed):
        while True:
            socket.recv(20)
    return socket.close_code


def do(client: httpx.Client, **action: object) -> httpx.Response:
    return client.post(f"{API}/actions", json={"action": action})


def state(client: httpx.Client) -> dict[str, object]:
    found: dict[str, object] = client.get(f"{API}/state").json()
    return found


def totals(snapshot: dict[str, object]) -> list[int]:
    players = snapshot["players"]
    assert isinstance(players, list)
    return [player["total"] for player in players]


def test_the_snapshot_matches_the_game(table: TrueTable, guest: httpx.Client) -> None:
    shown = state(guest)
    game = game_of(table)
    assert tuple(totals(shown)) == game.totals
    assert shown["match"]["count"] == str(game.count)  # type: ignore[index]  # JSON
    assert [tile["seq"] for tile in shown["layout"]["tiles"]] == [node.id for node in game.layout.nodes]  # type: ignore[index]
    assert sum(end["counts"] for end in shown["layout"]["ends"]) == game.count.total  # type: ignore[index]
    assert shown["last"]["text"] == "Ben plays 4-1: 4 + 4 = 8"  # type: ignore[index]


def test_each_viewer_gets_the_state_in_their_language(table: TrueTable, guest: httpx.Client) -> None:
    url = table.page.url.replace("http", "ws") + f"{API}/live?lang=es"
    with connect(url, compression=None, proxy=None) as socket, viewer(table) as other:
        spanish, english = receive(socket), receive(other)
    assert english["last"]["text"] == "Ben plays 4-1: 4 + 4 = 8"  # type: ignore[index]  # JSON
    assert spanish["last"]["text"] == "Ben juega 4-1: 4 + 4 = 8"  # type: ignore[index]
    assert spanish["last"]["what"] == "Ben juega 4-1"  # type: ignore[index]
    assert spanish["waits_for"] == "Ann: juega o roba"
    assert guest.get(f"{API}/state?lang=es").json() == {key: value for key, value in spanish.items() if key != "type"}
    assert totals(spanish) == totals(english)


def test_every_sentence_is_translated(guest: httpx.Client) -> None:
    def sentences(language: str) -> list[str]:
        announced = guest.get(f"{API}/events?lang={language}").json()
        plays = guest.get(f"{API}/plays?hand=1&lang={language}").json()
        shown = guest.get(f"{API}/state?lang={language}").json()
        return [*(line["text"] for line in (*announced, *plays)), shown["waits_for"], shown["reader"]["text"]]

    english = sentences("en")
    assert len(english) > 20
    for language in ("es", "pt", "fr"):
        same = {text for text, other in zip(english, sentences(language), strict=True) if text == other}
        assert same == set()


def test_errors_give_the_reason_in_the_requested_language(insider: httpx.Client) -> None:
    action = {"action": {"type": "press", "button": "knock", "seat": 9}}
    answer = insider.post(f"{API}/actions?lang=fr", json=action)
    assert answer.json() == {"error": "personne n’est à la place 9"}
    answer = insider.post(f"{API}/actions?lang=../x", json=action)
    assert (answer.status_code, answer.json()) == (422, {"error": "nobody sits at seat 9"})


def test_viewing_needs_no_pin_but_actions_do_until_logout(guest: httpx.Client, table: TrueTable) -> None:
    for path in ("state", "events", "plays?hand=1", "picture.jpg", "tiles/3.jpg", "me", "openapi.json"):
        assert guest.get(f"{API}/{path}").status_code == 200
    before = state(guest)
    assert do(guest, type="press", button="undo").status_code == 401
    assert guest.get(f"{API}/me").json() == {"controls": False, "name": ""}
    assert state(guest) == before
    with httpx.Client(base_url=table.page.url) as client:
        client.post(f"{API}/login", json={"pin": PIN})
        kept = dict(client.cookies)
        assert client.post(f"{API}/logout", headers={"content-type": "application/json"}).status_code == 204
        assert do(client, type="press", button="undo").status_code == 401
        assert httpx.get(f"{table.page.url}{API}/me", cookies=kept).json()["controls"] is False


def test_a_correction_and_its_undo_reach_all_viewers(table: TrueTable, insider: httpx.Client) -> None:
    with viewer(table) as socket:
        before = receive(socket)
        done = do(insider, type="amend", seq=3, seat=1)
        assert done.status_code == 200
        after = receive(socket)
        assert totals(after) == [totals(before)[0] - 10, totals(before)[1] + 10]
        assert after["version"] == done.json()["version"] > before["version"]
        assert insider.post(f"{API}/actions", json={"action": done.json()["back"]}).status_code == 200
        assert totals(receive(socket)) == totals(before)
    done = do(insider, type="amend", seq=10, pips=[6, 1])
    assert state(insider)["plays"][-1]["pips"] == [1, 6]  # type: ignore[index]
    assert insider.post(f"{API}/actions", json={"action": done.json()["back"]}).status_code == 200


def test_simultaneous_undos_of_the_same_action_count_once(insider: httpx.Client) -> None:
    version = state(insider)["version"]
    request = {"action": {"type": "press", "button": "undo"}, "if_version": version}
    first, second = (insider.post(f"{API}/actions", json=request) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 409)
    assert insider.post(f"{API}/actions", json={"action": first.json()["back"]}).status_code == 200


@pytest.mark.parametrize(
    ("rules", "seed", "count", "scenes"),
    [
        pytest.param("bones", 1, 140, ["domino", "block", "domino", "domino", "match"], marks=pytest.mark.slow),
        ("super", 2, 30, ["spell"]),
        ("cutthroat", 2, 50, ["steal", "steal", "domino"]),
    ],
)
def test_rare_events_are_marked_once(rules: str, seed: int, count: int, scenes: list[str]) -> None:
    with at_table(seed=seed, hands=40, rules=profile(rules), players=PLAYERS_OF[rules]) as table:
        table.play(count)
        with httpx.Client(base_url=table.page.url) as client:

            def marked() -> list[str]:
                return [event["scene"] for event in client.get(f"{API}/events").json() if event["scene"]]

            until(lambda: marked() == scenes)
            shown = state(client)
            assert len(shown["players"]) == len(PLAYERS_OF[rules])  # type: ignore[arg-type]
            assert shown["layout"]["tiles"]  # type: ignore[index]


def test_events_are_numbered_in_order(guest: httpx.Client) -> None:
    events = guest.get(f"{API}/events").json()
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    assert guest.get(f"{API}/events", params={"after": 5}).json() == events[5:]


def test_a_picture_has_the_requested_width_and_is_cached(guest: httpx.Client) -> None:
    answer = guest.get(f"{API}/picture.jpg?width=320")
    assert int(answer.headers["age"]) < 60
    image = cv2.imdecode(np.frombuffer(answer.content, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    assert image.shape == (180, 320, 3)
    again = guest.get(f"{API}/picture.jpg?width=320", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert guest.get(f"{API}/picture.jpg?width=5000").status_code == 422


def test_a_crop_shows_the_tile_with_its_inner_half_on_the_left(table: TrueTable, guest: httpx.Client) -> None:
    answer = guest.get(f"{API}/tiles/4.jpg")
    image = cv2.imdecode(np.frombuffer(answer.content, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    assert image.shape == (120, 240, 3)
    assert image[15:105, 20:220].mean() > 150, "ivory, not felt"
    assert guest.get(f"{API}/tiles/99.jpg").status_code == 404


def test_the_coach_names_the_unseen_tiles_that_would_score_most(guest: httpx.Client, table: TrueTable) -> None:
    state = table.live.session.state
    assert state.game is not None
    found = [(Tile.of(*one["pips"]), one["points"]) for one in guest.get(f"{API}/coach").json()]
    every: dict[Tile, int] = {}
    for play in legal_plays(state, unseen(state.game)):
        outcomes = apply(state, play)[1]
        points = sum(one.points for one in outcomes if isinstance(one, Scored) and one.seat == play.seat)
        every[play.tile] = max(points, every.get(play.tile, 0))
    assert found
    assert all(every[tile] == points > 0 for tile, points in found)
    assert [points for _, points in found] == sorted(every.values(), reverse=True)[: len(found)]
    assert len(found) == 3 or len(found) == sum(points > 0 for points in every.values())


def test_the_coach_is_silent_in_games_whose_plays_do_not_score() -> None:
    with at_table(rules=profile("block")) as table, httpx.Client(base_url=table.page.url) as client:
        table.play(6)
        assert client.get(f"{API}/coach").json() is None


def test_a_ping_is_answered(table: TrueTable) -> None:
    with viewer(table) as socket:
        receive(socket)
        socket.send("ping")
        assert receive(socket) == {"type": "pong"}


def test_a_slow_viewer_catches_up_with_the_newest_state() -> None:
    with at_table() as table, viewer(table) as socket:
        table.play(12)
        while (shown := receive(socket))["plays"] == [] or shown["last"] is None or shown["last"]["seq"] != 11:  # type: ignore[index]
            pass
        assert [play["seq"] for play in shown["plays"]] == list(range(1, 12))  # type: ignore[attr-defined]


def test_the_author_of_an_action_is_recorded(tmp_path: Path) -> None:
    recorder = file_recorder(RecordingQuota(tmp_path, 10**9), tmp_path / "a.mcap")
    with at_table(recorder=recorder) as table, httpx.Client(base_url=table.page.url) as client:
        table.play(6)
        client.post(f"{API}/login", json={"pin": PIN, "name": "Zoë <b>"})
        assert do(client, type="points", seat=0, points=5).status_code == 200
        assert do(client, type="press", button="knock").status_code == 200
    recorder.close()
    records = [record for record in read_recording(tmp_path / "a.mcap") if isinstance(record, RecordedMessage)]
    inputs = [record for record in records if record.topic in (Topic.CORRECTION, Topic.BUTTON)]
    authors = [record.payload["by"] for record in inputs if isinstance(record.payload, dict) and "by" in record.payload]
    assert authors == ["Zoë <b>", "Zoë <b>"]
    assert all(input_of(record) is not None for record in inputs)


HOSTILE = ("<script>alert(1)</script>", "\u202eevil \x1b[31m" + "x" * 10_000)


def test_hostile_names_are_escaped_and_shortened() -> None:
    with at_table(players=HOSTILE) as table:
        table.play(8)
        answer = httpx.get(f"{table.page.url}{API}/state")
    assert len(answer.content) < 20_000
    assert b"\\u202e" not in answer.content
    names = [player["name"] for player in answer.json()["players"]]
    assert names[0] == HOSTILE[0]
    assert names[1] == "evil [31m" + "x" * 30 + "…"
    assert answer.headers["content-type"] == "application/json"


def test_the_page_ends_with_the_game() -> None:
    with at_table() as table, viewer(table) as socket:
        table.play(2)
        receive(socket)
        table.end()
        assert closed_with(socket) is not None
        with pytest.raises(httpx.ConnectError):
            httpx.get(table.page.url)


SPINNER, FIRST = 3, 4
"""The 5-5 that leads the hand, and the 5-1 to its right."""


def offered(client: httpx.Client, before: int, *pips: int) -> list[dict[str, object]]:
    answer = client.get(f"{API}/ends", params={"before": before, "pips": pips})
    assert answer.status_code == 200, answer.text
    ends: list[dict[str, object]] = answer.json()
    return ends


def test_both_sides_of_a_new_spinner_are_open(guest: httpx.Client) -> None:
    ends = offered(guest, FIRST, 5, 2)
    assert [(end["seq"], end["port"], end["value"]) for end in ends] == [(SPINNER, "W", 5), (SPINNER, "E", 5)]
    assert [end["fits"] for end in ends] == [True, True]
    assert [end["taken"] for end in ends] == [False, True]
    assert len({(end["x"], end["y"]) for end in ends}) == 2


def test_ends_are_those_open_at_that_time_and_mismatches_are_marked(table: TrueTable, guest: httpx.Client) -> None:
    assert offered(guest, SPINNER, 5, 5) == []
    assert [end["fits"] for end in offered(guest, FIRST, 6, 2)] == [False, False]
    game = game_of(table)
    later = {node.id for node in game.layout.nodes[2:]}
    assert not later & {end["seq"] for end in offered(guest, game.layout.nodes[2].id, 5, 2)}


def test_rejects_unknown_actions_and_invalid_pips(guest: httpx.Client) -> None:
    assert guest.get(f"{API}/ends", params={"before": 999, "pips": (5, 2)}).status_code == 404
    assert guest.get(f"{API}/ends", params={"before": FIRST, "pips": (5, 19)}).status_code == 422
    assert guest.get(f"{API}/ends", params={"before": FIRST, "pips": (5,)}).status_code == 422


SHIFT_PX = 40


def test_a_bump_of_the_camera_is_compensated() -> None:
    table = np.full((360, 640, 3), 60, np.uint8)
    cv2.rectangle(table, (300, 150), (360, 180), (220, 230, 240), -1)
    bumped = np.roll(table, SHIFT_PX, axis=1)
    aim = Alignment((1.0, 0.0, SHIFT_PX, 0.0, 1.0, 0.0))
    made = PagePictures(lambda: 0).of_width(CameraPicture(cv2.imencode(".jpg", bumped)[1].tobytes(), 1, aim), 640)
    assert made is not None
    shown = cv2.imdecode(np.frombuffer(made.jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert shown is not None
    assert np.abs(shown.astype(int) - table)[:, :-SHIFT_PX].mean() < 2
