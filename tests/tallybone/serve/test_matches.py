"""Tests of starting, ending and resuming matches over HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tallybone.recording.survey import survey
from tests.tallybone.serve.served import API, Plugs, Served, at_served_table
from tests.tallybone.web.true_table import PIN
from tests.waiting import until

NEW = {"game": "bones", "players": ["Ann", "Ben"]}


@pytest.fixture(name="resting", scope="module")
def a_table_without_matches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with at_served_table(tmp_path_factory.mktemp("resting")) as table:
        yield table


def phase(client: httpx.Client) -> str:
    return str(client.get("/state").json()["match"]["phase"])


def wait_for_lobby(client: httpx.Client) -> None:
    until(lambda: phase(client) == "lobby")


def wait_for_match(client: httpx.Client) -> None:
    until(lambda: phase(client) == "deal")


def left_match(client: httpx.Client) -> dict[str, Any]:
    until(lambda: not client.get("/match").json()["is_looking"])
    found: dict[str, Any] = client.get("/match").json()["left"]
    return found


def act(client: httpx.Client, **action: Any) -> httpx.Response:
    return client.post("/actions", json={"action": action})


def test_without_a_match_the_page_shows_the_camera(table: Served) -> None:
    with table.client(knows_pin=False) as client:
        wait_for_lobby(client)
        shown = client.get("/state").json()
        assert (shown["players"], shown["waits_for"]) == ([], "no match is being played")
        assert shown["reader"]["text"] == "usb:0, 128 x 72"
        assert client.get("/picture.jpg").status_code == 404
        table.plugs.show()
        until(lambda: client.get("/picture.jpg").status_code == 200)


def test_matches_are_recorded_and_offered_again_with_new_names_and_safe_file_names(table: Served) -> None:
    with table.client() as client:
        assert client.post("/match", json=NEW | {"options": {"target": "50"}}).status_code == 204
        wait_for_match(client)
        shown = client.get("/state").json()
        assert (shown["match"]["game"], shown["match"]["target"]) == ("bones", 50)
        assert [player["name"] for player in shown["players"]] == ["Ann", "Ben"]
        (recording,) = (table.state_folder / "sessions").glob("*.mcap")
        start = survey(recording).start
        assert start is not None
        assert (start.players, start.options) == (("Ann", "Ben"), (("target", "50"),))
        device = table.plugs.device
        assert device is not None
        assert device.light.value == "held"
        assert act(client, type="rename", seat=0, name="Ada").status_code == 200
        assert act(client, type="swap", seat=0, other=1).status_code == 200
        until(lambda: client.get("/match").json()["usual"]["players"] == ["Ben", "Ada"])
        assert client.post("/match/end", json={}).status_code == 204
        wait_for_lobby(client)
        assert client.get("/match").json()["usual"]["players"] == ["Ben", "Ada"]
        assert (device.light.value, device.is_closed) == ("free", False)  # between matches
        names = ["<script>alert(1)</script>", "x" * 200]
        assert client.post("/match", json=NEW | {"players": names}).status_code == 204
        wait_for_match(client)
        shown = [player["name"] for player in client.get("/state").json()["players"]]
        assert shown == [names[0], "x" * 39 + "…"]
        assert all(re.fullmatch(r"[\w.-]+", path.name) for path in recording.parent.iterdir())


def test_starting_a_match_renews_the_pin_for_the_others(tmp_path: Path) -> None:
    with at_served_table(tmp_path, pin=None) as table:
        pin = table.out.getvalue().partition("PIN ")[2][:6]
        with table.client(knows_pin=False) as ann, table.client(knows_pin=False) as ben:
            for client in (ann, ben):
                assert client.post("/login", json={"pin": pin, "name": "me"}).status_code == 204
            assert ann.post("/match", json=NEW).status_code == 204
            assert ann.get("/me").json() == {"controls": True, "name": "me"}
            assert ben.get("/me").json()["controls"] is False
            assert ben.post("/login", json={"pin": pin}).status_code == 403
            fresh = table.out.getvalue().rpartition("PIN ")[2][:6]
            assert fresh != pin
            assert ben.post("/login", json={"pin": fresh}).status_code == 204


def test_an_ended_match_leaves_its_result_until_the_next_starts(table: Served) -> None:
    with table.client() as client:
        client.post("/match", json=NEW)
        client.post("/login", json={"pin": PIN})
        wait_for_match(client)
        assert act(client, type="points", seat=1, points=15).status_code == 200
        assert client.post("/match/end", json={}).status_code == 204
        wait_for_lobby(client)
        shown = client.get("/state").json()
        assert [(player["name"], player["total"]) for player in shown["players"]] == [("Ann", 0), ("Ben", 15)]
        assert not any(shown["can"].values())
        assert act(client, type="press", button="undo").json() == {"error": "no match is being played"}
        assert client.post("/match", json=NEW | {"game": "draw"}).status_code == 204
        wait_for_match(client)
        fresh = client.get("/state").json()
        assert fresh["match"]["game"] == "draw"
        assert [player["total"] for player in fresh["players"]] == [0, 0]
        assert [announcement["text"] for announcement in fresh["messages"]] == ["match: Ann, Ben"], (
            "no announcements of the previous match"
        )
        assert fresh["version"] > shown["version"]


def test_an_ended_match_is_resumed_with_its_score(table: Served) -> None:
    with table.client() as client:
        assert client.post("/match/goes_on", json={}).status_code == 422
        client.post("/match", json=NEW)
        wait_for_match(client)
        act(client, type="points", seat=0, points=20)
        client.post("/match/end", json={})
        wait_for_lobby(client)
        left = left_match(client)
        assert (left["game"], left["players"], left["totals"]) == ("bones", ["Ann", "Ben"], [20, 0])
        assert client.post("/match/goes_on", json={}).status_code == 204
        wait_for_match(client)
        shown = client.get("/match").json()
        assert (shown["playing"], shown["over"], shown["left"], shown["is_looking"]) == (True, False, None, False)
        assert [player["total"] for player in client.get("/state").json()["players"]] == [20, 0]


@pytest.mark.slow
def test_a_resumed_match_is_visible_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallybone.web.live.feed._PACE_S", 1.0)  # a long interval between updates for viewers
    with at_served_table(tmp_path) as table, table.client() as client:
        assert client.post("/match", json=NEW).status_code == 204
        assert phase(client) == "deal"
        client.post("/match/end", json={})
        left_match(client)
        assert client.post("/match/goes_on", json={}).status_code == 204
        assert phase(client) == "deal"


def answers_of(client: httpx.Client, method: str, path: str) -> dict[str, Any]:
    """Return the responses in the API description."""
    found: dict[str, Any] = client.get("/openapi.json").json()["paths"][f"{API}{path}"][method]["responses"]
    return found


def test_the_answers_to_a_new_match_are_as_described(resting: Served) -> None:
    with resting.client() as client:
        for method, path in (("post", "/match"), ("put", "/settings")):
            answers = answers_of(client, method, path)
            assert set(answers) == {"204", "422", "default"}, path
            shapes = answers["422"]["content"]["application/json"]["schema"]["anyOf"]
            assert {shape["$ref"].rpartition("/")[2] for shape in shapes} == {"NotBegun", "Error"}, path
        assert set(client.post("/match", json=NEW | {"players": ["Ann", "Ann"]}).json()) == {"error", "faults"}
        assert set(client.post("/match", json={"game": 5}).json()) == {"error"}
        refused = client.post("/match/end", json={})
        assert (refused.status_code, refused.json()["error"]) == (409, "no match is being played")


def test_a_match_can_only_start_after_the_previous_one_is_over(table: Served) -> None:
    with table.client() as client:
        client.post("/match", json=NEW | {"options": {"target": "10"}})
        wait_for_match(client)
        refused = client.post("/match", json=NEW)
        assert (refused.status_code, refused.json()["error"]) == (409, "a match is being played: end it first")
        assert client.post("/match/goes_on", json={}).status_code == 409
        act(client, type="press", button="next")
        act(client, type="points", seat=0, points=10)
        until(lambda: client.get("/state").json()["match"]["over"])
        assert client.get("/match").json()["over"] is True
        assert client.post("/match", json=NEW).status_code == 204
        wait_for_match(client)
        assert [player["total"] for player in client.get("/state").json()["players"]] == [0, 0]


def test_a_missing_camera_is_reported_and_prevents_a_match(tmp_path: Path) -> None:
    plugs = Plugs(None)
    with at_served_table(tmp_path, plugs=plugs) as table, table.client() as client:
        until(lambda: client.get("/state").json()["problems"])
        assert client.get("/state").json()["problems"] == ["usb:0: no such camera: check that it is plugged in?"]
        refused = client.post("/match", json=NEW)
        assert (refused.status_code, refused.json()["error"]) == (
            422,
            "usb:0: no such camera: check that it is plugged in?",
        )
        assert client.get("/me").json()["controls"] is True, "a failed start logs nobody out"
        plugs.device = Plugs().device
        assert client.post("/match", json=NEW).status_code == 204
        client.post("/match/end", json={})
        wait_for_lobby(client)
        assert client.get("/state").json()["problems"] == []


@pytest.mark.parametrize(
    ("wrong", "fields"),
    [
        ({"options": {"target": "many"}}, ["target"]),
        ({"options": {"colour": "red", "hand": "0"}}, ["", "hand"]),
        ({"options": {"hand": "90"}}, ["players"]),
        ({"players": ["Ann", "Ben", "Cleo", "Dora", "Eve", "Fay"]}, ["players"]),
        ({"players": ["Ann", " \u202e "]}, ["players"]),
        ({"players": ["Ann", "Ann"]}, ["players"]),
        ({"players": ["Ann Lee", "ann  lee"]}, ["players"]),
        ({"game": "chess"}, [""]),
        ({"game": "free"}, [""]),
        ({"set": "double-7"}, ["set"]),
    ],
)
def test_errors_name_their_field(resting: Served, wrong: dict[str, Any], fields: list[str]) -> None:
    with resting.client() as client:
        answer = client.post("/match", json=NEW | wrong)
        assert answer.status_code == 422
        assert sorted({fault["field"] for fault in answer.json()["faults"]}) == fields
        assert all(fault["text"] for fault in answer.json()["faults"])
        assert phase(client) == "lobby"


def test_the_last_match_is_offered_again_after_a_restart(tmp_path: Path) -> None:
    match = NEW | {"game": "block", "options": {"target": "75"}, "set": "double-9"}
    with at_served_table(tmp_path) as table, table.client() as client:
        assert client.get("/match").json()["usual"] is None
        assert client.post("/match", json=match).status_code == 204
    with at_served_table(tmp_path) as table, table.client(knows_pin=False) as client:
        assert client.get("/match").json()["usual"] == match


def test_damaged_settings_are_reported_and_the_table_is_served(tmp_path: Path) -> None:
    path = tmp_path / "tallybone" / "house.json"
    path.parent.mkdir()
    path.write_text('{"last": 7}')
    with at_served_table(tmp_path) as table, table.client(knows_pin=False) as client:
        until(lambda: client.get("/state").json()["problems"])
        assert "settings of the table cannot be read" in client.get("/state").json()["problems"][0]


def test_every_game_is_offered_with_explained_options(resting: Served) -> None:
    with resting.client(knows_pin=False) as client:
        shown = client.get("/games").json()
        assert [game["game"] for game in shown["games"]] == [
            "bones",
            "draw",
            "allfives",
            "block",
            "super",
            "twoset",
            "cutthroat",
        ]
        assert all(option["meaning"] and option["allowed"] for option in shown["options"])
        known = {option["key"]: option for option in shown["options"]}
        assert [choice["value"] for choice in known["spinner"]["choices"]] == ["none", "first", "all", "starter6"]
        assert known["target"]["none"] == "play a single hand"


def test_a_choice_of_options_returns_its_effects_and_errors(resting: Served) -> None:
    with resting.client(knows_pin=False) as client:
        choice = {"option": ["variation=muggins", "partners=yes"]}
        shown = client.get("/games/bones", params=choice).json()
        assert shown["changed"] == [["partners", "yes"], ["spinner", "none"]]
        assert {value["key"]: value["matters"] for value in shown["values"]}["branch_order"] is False
        assert shown["seats"] == [4]
        assert [fault["field"] for fault in client.get("/games/bones?option=target=x").json()["faults"]] == ["target"]
        assert [fault["field"] for fault in client.get("/games/bones?players=9").json()["faults"]] == ["players"]
        assert client.get("/games/chess").json()["faults"][0]["field"] == ""


@pytest.mark.parametrize("path", ["match", "match/goes_on", "match/end"])
def test_matches_need_the_pin_and_the_same_origin(resting: Served, path: str) -> None:
    with resting.client(knows_pin=False) as client, resting.client() as insider:
        assert client.post(f"/{path}", json=NEW).status_code == 401
        assert insider.post(f"/{path}", json=NEW, headers={"origin": "http://evil.example"}).status_code == 403
        assert (
            insider.post(f"/{path}", content=b"x" * 5000, headers={"content-type": "application/json"}).status_code
            == 413
        )
        assert insider.post(f"/{path}", data={"game": "bones"}).status_code == 415
        assert phase(client) == "lobby"


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"game": 7, "players": ["Ann", "Ben"]},
        {"game": "bones", "players": "Ann"},
        {"game": "bones", "players": []},
        {"game": "bones", "players": ["x"] * 17},
        {"game": "bones", "players": ["Ann", "Ben"], "options": {"target=5 colour": "red"}},
        {"game": "bones", "players": ["Ann", "Ben"], "options": {"target": "50 colour=red"}},
        {"game": "bones", "players": ["Ann", "Ben"], "options": {"target": 50}},
        {"game": "bones", "players": ["Ann", "Ben"], "folder": "/"},
        {"game": "x" * 41, "players": ["Ann", "Ben"]},
    ],
)
def test_malformed_matches_are_refused_with_a_message(resting: Served, body: object) -> None:
    with resting.client() as client:
        answer = client.post("/match", json=body)
        assert answer.status_code == 422
        assert answer.json()["error"]


def test_anyone_can_see_the_health_of_the_table(resting: Served) -> None:
    with resting.client(knows_pin=False) as client:
        resting.plugs.show()
        until(lambda: client.get("/health").json()["picture_age_s"] is not None)
        shown = client.get("/health").json()
        parts = {finding["part"]: finding for finding in shown["findings"]}
        assert parts["camera"]["text"] == "usb:0, 128 x 72"
        assert {"LEDs", "buttons", "knock", "display", "recordings", "heat", "power", "memory", "clock"} <= set(parts)
        assert shown["version"]
        spanish = client.get("/health", params={"lang": "es"}).json()["findings"]
        assert [finding["part"] for finding in spanish[:2]] == ["cámara", "LED"]
        assert spanish[1]["text"] == "ninguno en table.toml"


@pytest.mark.slow
def test_an_unfinished_match_is_found_after_a_restart(tmp_path: Path) -> None:
    with at_served_table(tmp_path) as table, table.client() as client:
        client.post("/match", json=NEW)
        wait_for_match(client)
    with at_served_table(tmp_path) as table, table.client() as client:
        assert left_match(client)["players"] == ["Ann", "Ben"]
        assert client.post("/match/goes_on", json={}).status_code == 204
        act(client, type="press", button="next")
        act(client, type="points", seat=0, points=150)
        until(lambda: client.get("/match").json()["over"])
        client.post("/match/end", json={})
        assert left_match(client) is None


def test_a_match_starts_without_writable_settings(tmp_path: Path) -> None:
    (tmp_path / "tallybone" / "house.json").mkdir(parents=True)
    with at_served_table(tmp_path) as table, table.client() as client:
        assert client.post("/match", json=NEW).status_code == 204
        wait_for_match(client)
        assert client.get("/match").json()["usual"] is None
