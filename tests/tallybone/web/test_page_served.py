"""The page of a running game over real HTTP and WebSocket: what is shown, what is done, how fast."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import cv2
import httpx
import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from engine import profile
from tallybone.play.recorder import RecordingQuota
from tallybone.recording.format import Topic
from tallybone.recording.messages import input_of
from tallybone.recording.reader import RecordedMessage, read_recording
from tests.tallybone.truth_eye import PLAYERS_OF
from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.true_table import PIN, TrueTable, file_recorder

API = "/api/v1"


def viewer(table: TrueTable, **headers: str) -> ClientConnection:
    url = table.page.url.replace("http", "ws") + f"{API}/live"
    return connect(url, additional_headers=headers, compression=None, proxy=None)


def told(socket: ClientConnection, timeout: float = 10) -> dict[str, object]:
    message: dict[str, object] = json.loads(socket.recv(timeout))
    return message


def closed_with(socket: ClientConnection) -> int | None:
    """The code with which the other side closes a line, once it does."""
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


def test_the_snapshot_says_what_the_table_says(table: TrueTable, anybody: httpx.Client) -> None:
    shown = state(anybody)
    game = table.live.session.state.game
    assert game is not None
    assert tuple(totals(shown)) == game.totals
    assert shown["match"]["count"] == str(game.count)  # type: ignore[index]  # JSON
    assert [tile["seq"] for tile in shown["layout"]["tiles"]] == [node.id for node in game.layout.nodes]  # type: ignore[index]
    assert sum(end["counts"] for end in shown["layout"]["ends"]) == game.count.total  # type: ignore[index]
    assert shown["last"]["words"] == "Ben plays 4-1: 4 + 4 = 8"  # type: ignore[index]


def test_each_viewer_reads_the_table_in_his_own_language(table: TrueTable, anybody: httpx.Client) -> None:
    url = table.page.url.replace("http", "ws") + f"{API}/live?lang=es"
    with connect(url, compression=None, proxy=None) as socket, viewer(table) as other:
        spanish, english = told(socket), told(other)
    assert english["last"]["words"] == "Ben plays 4-1: 4 + 4 = 8"  # type: ignore[index]  # JSON
    assert spanish["last"]["words"] == "Ben juega 4-1: 4 + 4 = 8"  # type: ignore[index]
    assert spanish["last"]["what"] == "Ben juega 4-1"  # type: ignore[index]
    assert spanish["waits_for"] == "Ann: juega o roba"
    assert anybody.get(f"{API}/state?lang=es").json() == {key: one for key, one in spanish.items() if key != "type"}
    assert totals(spanish) == totals(english)


def test_no_sentence_of_the_table_stays_english_elsewhere(anybody: httpx.Client) -> None:
    def sentences(language: str) -> list[str]:
        told_so_far = anybody.get(f"{API}/events?lang={language}").json()
        plays = anybody.get(f"{API}/plays?hand=1&lang={language}").json()
        shown = anybody.get(f"{API}/state?lang={language}").json()
        return [*(one["words"] for one in (*told_so_far, *plays)), shown["waits_for"], shown["eye"]["words"]]

    english = sentences("en")
    assert len(english) > 20
    for language in ("es", "pt", "fr"):
        same = {one for one, other in zip(english, sentences(language), strict=True) if one == other}
        assert same == set()


def test_what_is_refused_is_refused_in_the_language_of_who_asked(insider: httpx.Client) -> None:
    action = {"action": {"type": "press", "button": "knock", "seat": 9}}
    answer = insider.post(f"{API}/actions?lang=fr", json=action)
    assert answer.json() == {"error": "personne n'est à la place 9"}
    assert insider.post(f"{API}/actions?lang=../x", json=action).json() == {"error": "nobody sits on seat 9"}


def test_everybody_may_look_and_nobody_may_touch(anybody: httpx.Client) -> None:
    for path in ("state", "events", "plays?hand=1", "picture.jpg", "tiles/3.jpg", "me", "openapi.json"):
        assert anybody.get(f"{API}/{path}").status_code == 200
    before = state(anybody)
    assert do(anybody, type="press", button="undo").status_code == 401
    assert anybody.get(f"{API}/me").json() == {"controls": False, "name": ""}
    assert state(anybody) == before


def test_who_knows_the_pin_puts_right_and_takes_it_back_and_all_see_it(table: TrueTable, insider: httpx.Client) -> None:
    with viewer(table) as socket:
        before = told(socket)
        done = do(insider, type="amend", seq=3, seat=1)
        assert done.status_code == 200
        after = told(socket)
        assert totals(after) == [totals(before)[0] - 10, totals(before)[1] + 10]
        assert after["version"] == done.json()["version"] > before["version"]
        assert insider.post(f"{API}/actions", json={"action": done.json()["back"]}).status_code == 200
        assert totals(told(socket)) == totals(before)


def test_pips_are_put_right_over_the_wire(insider: httpx.Client) -> None:
    done = do(insider, type="amend", seq=10, pips=[6, 1])
    assert done.status_code == 200
    assert state(insider)["plays"][-1]["pips"] == [1, 6]  # type: ignore[index]
    assert insider.post(f"{API}/actions", json={"action": done.json()["back"]}).status_code == 200


def test_two_who_undo_the_same_thing_undo_it_once(insider: httpx.Client) -> None:
    version = state(insider)["version"]
    said = {"action": {"type": "press", "button": "undo"}, "if_version": version}
    first, second = (insider.post(f"{API}/actions", json=said) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 409)
    assert insider.post(f"{API}/actions", json={"action": first.json()["back"]}).status_code == 200


def test_what_makes_no_sense_is_answered_in_words(insider: httpx.Client) -> None:
    answer = do(insider, type="press", button="knock", seat=7)
    assert answer.status_code == 422
    assert answer.json() == {"error": "nobody sits on seat 7"}


def test_who_has_logged_out_may_only_look(table: TrueTable) -> None:
    with httpx.Client(base_url=table.page.url) as client:
        client.post(f"{API}/login", json={"pin": PIN})
        kept = dict(client.cookies)
        assert client.post(f"{API}/logout", headers={"content-type": "application/json"}).status_code == 204
        assert do(client, type="press", button="undo").status_code == 401
        assert httpx.get(f"{table.page.url}{API}/me", cookies=kept).json()["controls"] is False


def test_events_are_told_once_each_in_order(anybody: httpx.Client) -> None:
    events = anybody.get(f"{API}/events").json()
    assert [one["id"] for one in events] == list(range(1, len(events) + 1))
    assert anybody.get(f"{API}/events", params={"after": 5}).json() == events[5:]


def test_a_picture_is_as_wide_as_it_is_wanted_and_not_sent_twice(anybody: httpx.Client) -> None:
    answer = anybody.get(f"{API}/picture.jpg?width=320")
    image = cv2.imdecode(np.frombuffer(answer.content, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    assert image.shape == (180, 320, 3)
    again = anybody.get(f"{API}/picture.jpg?width=320", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert anybody.get(f"{API}/picture.jpg?width=5000").status_code == 422


def test_a_crop_shows_the_tile_with_its_inner_half_on_the_left(table: TrueTable, anybody: httpx.Client) -> None:
    answer = anybody.get(f"{API}/tiles/4.jpg")
    image = cv2.imdecode(np.frombuffer(answer.content, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    assert image.shape == (120, 240, 3)
    assert image[15:105, 20:220].mean() > 150, "ivory, not felt"
    assert anybody.get(f"{API}/tiles/99.jpg").status_code == 404


def test_a_ping_is_answered(table: TrueTable) -> None:
    with viewer(table) as socket:
        told(socket)
        socket.send("ping")
        assert told(socket) == {"type": "pong"}


def test_whoever_watches_sees_the_newest_in_the_end() -> None:
    with at_table() as table, viewer(table) as socket:
        table.play(12)
        while (shown := told(socket))["plays"] == [] or shown["last"] is None or shown["last"]["seq"] != 11:  # type: ignore[index]
            pass
        assert [one["seq"] for one in shown["plays"]] == list(range(1, 12))  # type: ignore[attr-defined]


def test_who_did_what_is_recorded_and_a_reader_needs_not_know(tmp_path: Path) -> None:
    recorder = file_recorder(RecordingQuota(tmp_path, 10**9), tmp_path / "a.mcap")
    with at_table(recorder=recorder) as table, httpx.Client(base_url=table.page.url) as client:
        table.play(6)
        client.post(f"{API}/login", json={"pin": PIN, "name": "Zoë <b>"})
        assert do(client, type="points", seat=0, points=5).status_code == 200
        assert do(client, type="press", button="knock").status_code == 200
    recorder.close()
    records = [one for one in read_recording(tmp_path / "a.mcap") if isinstance(one, RecordedMessage)]
    said = [one for one in records if one.topic in (Topic.CORRECTION, Topic.BUTTON)]
    authors = [one.payload["by"] for one in said if isinstance(one.payload, dict) and "by" in one.payload]
    assert authors == ["Zoë <b>", "Zoë <b>"]
    assert all(input_of(one) is not None for one in said)


HOSTILE = ("<script>alert(1)</script>", "\u202eevil \x1b[31m" + "x" * 10_000)


@pytest.fixture
def hostile() -> Iterator[TrueTable]:
    with at_table(players=HOSTILE) as table:
        table.play(8)
        yield table


def test_hostile_names_are_data_and_cut(hostile: TrueTable) -> None:
    answer = httpx.get(f"{hostile.page.url}{API}/state")
    assert len(answer.content) < 20_000
    assert b"\\u202e" not in answer.content
    names = [player["name"] for player in answer.json()["players"]]
    assert names[0] == HOSTILE[0]
    assert names[1] == "evil [31m" + "x" * 30 + "…"
    assert answer.headers["content-type"] == "application/json"


def test_a_game_of_another_kind_is_shown_too() -> None:
    with at_table(rules=profile("super"), players=PLAYERS_OF["super"]) as table:
        table.play(15)
        with httpx.Client(base_url=table.page.url) as client:
            shown = state(client)
            assert len(shown["players"]) == 3  # type: ignore[arg-type]
            assert shown["layout"]["tiles"]  # type: ignore[index]


def test_the_page_ends_with_the_game() -> None:
    with at_table() as table, viewer(table) as socket:
        table.play(2)
        told(socket)
        table.end()
        assert closed_with(socket) is not None
        with pytest.raises(httpx.ConnectError):
            httpx.get(table.page.url)
