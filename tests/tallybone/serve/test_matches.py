"""Matches that are begun, ended and gone on with from the page of a table that is always on."""

from __future__ import annotations

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


@pytest.fixture(name="table")
def a_served_table(tmp_path: Path) -> Iterator[Served]:
    with at_served_table(tmp_path) as table:
        yield table


@pytest.fixture(name="resting", scope="module")
def a_table_at_which_nothing_begins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with at_served_table(tmp_path_factory.mktemp("resting")) as table:
        yield table


def phase(client: httpx.Client) -> str:
    return str(client.get("/state").json()["match"]["phase"])


def in_lobby(client: httpx.Client) -> None:
    until(lambda: phase(client) == "lobby")


def played(client: httpx.Client) -> None:
    until(lambda: phase(client) == "deal")


def known_left(client: httpx.Client) -> dict[str, Any]:
    until(lambda: not client.get("/match").json()["is_looking"])
    found: dict[str, Any] = client.get("/match").json()["left"]
    return found


def act(client: httpx.Client, **action: Any) -> httpx.Response:
    return client.post("/actions", json={"action": action})


def test_without_a_match_the_page_shows_the_camera_and_that_there_is_none(table: Served) -> None:
    with table.client(knows_pin=False) as client:
        in_lobby(client)
        shown = client.get("/state").json()
        assert (shown["players"], shown["waits_for"]) == ([], "no match is being played")
        assert shown["eye"]["words"] == "usb:0, 128 x 72"
        assert client.get("/picture.jpg").status_code == 404
        table.plugs.show()
        until(lambda: client.get("/picture.jpg").status_code == 200)


def test_a_match_is_begun_from_the_page_and_recorded(table: Served) -> None:
    with table.client() as client:
        assert client.post("/match", json=NEW | {"options": {"target": "50"}}).status_code == 204
        played(client)
        shown = client.get("/state").json()
        assert (shown["match"]["game"], shown["match"]["target"]) == ("bones", 50)
        assert [player["name"] for player in shown["players"]] == ["Ann", "Ben"]
        (recording,) = (table.state_folder / "sessions").iterdir()
        start = survey(recording).start
        assert start is not None
        assert (start.players, start.options) == (("Ann", "Ben"), (("target", "50"),))


def test_who_begins_a_match_is_in_and_the_others_type_its_pin(tmp_path: Path) -> None:
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


def test_a_match_that_is_ended_leaves_its_result_and_another_can_begin(table: Served) -> None:
    with table.client() as client:
        client.post("/match", json=NEW)
        client.post("/login", json={"pin": PIN})
        played(client)
        assert act(client, type="points", seat=1, points=15).status_code == 200
        assert client.post("/match/end", json={}).status_code == 204
        in_lobby(client)
        shown = client.get("/state").json()
        assert [(one["name"], one["total"]) for one in shown["players"]] == [("Ann", 0), ("Ben", 15)]
        assert not any(shown["can"].values())
        assert act(client, type="press", button="undo").json() == {"error": "no match is being played"}
        assert client.post("/match", json=NEW | {"game": "draw"}).status_code == 204
        played(client)
        fresh = client.get("/state").json()
        assert fresh["match"]["game"] == "draw"
        assert [one["total"] for one in fresh["players"]] == [0, 0]
        assert [one["words"] for one in fresh["told"]] == ["match: Ann, Ben"], "nothing of the match before"
        assert fresh["version"] > shown["version"]


def test_a_match_that_was_left_goes_on_with_its_score(table: Served) -> None:
    with table.client() as client:
        assert client.post("/match/goes_on", json={}).status_code == 422
        client.post("/match", json=NEW)
        played(client)
        act(client, type="points", seat=0, points=20)
        client.post("/match/end", json={})
        in_lobby(client)
        left = known_left(client)
        assert (left["game"], left["players"], left["totals"]) == ("bones", ["Ann", "Ben"], [20, 0])
        assert client.post("/match/goes_on", json={}).status_code == 204
        played(client)
        shown = client.get("/match").json()
        assert (shown["playing"], shown["over"], shown["left"], shown["is_looking"]) == (True, False, None, False)
        assert [one["total"] for one in client.get("/state").json()["players"]] == [20, 0]


def test_who_is_told_that_a_match_goes_on_sees_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallybone.web.feed._PACE_S", 1.0)  # viewers hear of changes so seldom
    with at_served_table(tmp_path) as table, table.client() as client:
        assert client.post("/match", json=NEW).status_code == 204
        assert phase(client) == "deal"
        client.post("/match/end", json={})
        known_left(client)
        assert client.post("/match/goes_on", json={}).status_code == 204
        assert phase(client) == "deal"


def answers_of(client: httpx.Client, method: str, path: str) -> dict[str, Any]:
    """The answers that the description of the API promises."""
    found: dict[str, Any] = client.get("/openapi.json").json()["paths"][f"{API}{path}"][method]["responses"]
    return found


def test_the_answers_to_a_new_match_are_those_that_are_described(resting: Served) -> None:
    with resting.client() as client:
        for method, path in (("post", "/match"), ("put", "/settings")):
            answers = answers_of(client, method, path)
            assert set(answers) == {"204", "422", "default"}, path
            shapes = answers["422"]["content"]["application/json"]["schema"]["anyOf"]
            assert {one["$ref"].rpartition("/")[2] for one in shapes} == {"NotBegun", "Error"}, path
        assert set(client.post("/match", json=NEW | {"players": ["Ann", "Ann"]}).json()) == {"error", "faults"}
        assert set(client.post("/match", json={"game": 5}).json()) == {"error"}


def test_a_match_is_not_begun_over_one_that_is_played_but_after_one_that_is_over(table: Served) -> None:
    with table.client() as client:
        client.post("/match", json=NEW | {"options": {"target": "10"}})
        played(client)
        refused = client.post("/match", json=NEW)
        assert (refused.status_code, refused.json()["error"]) == (409, "a match is being played: end it first")
        assert client.post("/match/goes_on", json={}).status_code == 409
        act(client, type="press", button="next")
        act(client, type="points", seat=0, points=10)
        until(lambda: client.get("/state").json()["match"]["over"])
        assert client.get("/match").json()["over"] is True
        assert client.post("/match", json=NEW).status_code == 204
        played(client)
        assert [one["total"] for one in client.get("/state").json()["players"]] == [0, 0]


def test_without_a_match_there_is_none_to_end(resting: Served) -> None:
    with resting.client() as client:
        refused = client.post("/match/end", json={})
        assert (refused.status_code, refused.json()["error"]) == (409, "no match is being played")


def test_a_camera_that_is_not_there_is_said_and_a_match_says_why_it_does_not_begin(tmp_path: Path) -> None:
    plugs = Plugs(None)
    with at_served_table(tmp_path, plugs=plugs) as table, table.client() as client:
        until(lambda: client.get("/state").json()["problems"])
        assert client.get("/state").json()["problems"] == ["usb:0: there is no such camera: is it plugged in?"]
        refused = client.post("/match", json=NEW)
        assert (refused.status_code, refused.json()["error"]) == (
            422,
            "usb:0: there is no such camera: is it plugged in?",
        )
        assert client.get("/me").json()["controls"] is True, "nobody is sent out by a match that did not begin"
        plugs.device = Plugs().device
        assert client.post("/match", json=NEW).status_code == 204
        client.post("/match/end", json={})
        in_lobby(client)
        assert client.get("/state").json()["problems"] == []


def test_the_camera_stays_open_between_matches_and_its_light_is_free(table: Served) -> None:
    with table.client() as client:
        client.post("/match", json=NEW)
        played(client)
        device = table.plugs.device
        assert device is not None
        assert device.light.value == "held"
        client.post("/match/end", json={})
        in_lobby(client)
        assert device.light.value == "free"
        assert not device.is_closed


@pytest.mark.parametrize(
    ("wrong", "fields"),
    [
        ({"options": {"target": "many"}}, ["target"]),
        ({"options": {"colour": "red", "hand": "0"}}, ["", "hand"]),
        ({"options": {"hand": "90"}}, ["players"]),
        ({"players": ["Ann", "Ben", "Cleo", "Dora", "Eve", "Fay"]}, ["players"]),
        ({"players": ["Ann", " \u202e "]}, ["players"]),
        ({"players": ["Ann", "Ann"]}, ["players"]),
        ({"game": "chess"}, [""]),
        ({"game": "free"}, [""]),
        ({"set": "double-7"}, ["set"]),
    ],
)
def test_what_cannot_be_played_is_said_at_its_field(resting: Served, wrong: dict[str, Any], fields: list[str]) -> None:
    with resting.client() as client:
        answer = client.post("/match", json=NEW | wrong)
        assert answer.status_code == 422
        assert sorted({one["field"] for one in answer.json()["faults"]}) == fields
        assert all(one["words"] for one in answer.json()["faults"])
        assert phase(client) == "lobby"


def test_the_last_match_is_offered_again_after_a_restart_too(tmp_path: Path) -> None:
    said = NEW | {"game": "block", "options": {"target": "75"}, "set": "double-9"}
    with at_served_table(tmp_path) as table, table.client() as client:
        assert client.get("/match").json()["usual"] is None
        assert client.post("/match", json=said).status_code == 204
    with at_served_table(tmp_path) as table, table.client(knows_pin=False) as client:
        assert client.get("/match").json()["usual"] == said


def test_settings_that_are_damaged_are_said_and_the_table_is_there(tmp_path: Path) -> None:
    path = tmp_path / "tallybone" / "house.json"
    path.parent.mkdir()
    path.write_text('{"last": 7}')
    with at_served_table(tmp_path) as table, table.client(knows_pin=False) as client:
        until(lambda: client.get("/state").json()["problems"])
        assert "settings of the table cannot be read" in client.get("/state").json()["problems"][0]


def test_every_game_is_offered_with_every_option_explained(resting: Served) -> None:
    with resting.client(knows_pin=False) as client:
        shown = client.get("/games").json()
        assert [one["game"] for one in shown["games"]] == [
            "bones",
            "draw",
            "allfives",
            "block",
            "super",
            "twoset",
            "cutthroat",
        ]
        assert all(one["meaning"] and one["allowed"] for one in shown["options"])
        known = {one["key"]: one for one in shown["options"]}
        assert [one["value"] for one in known["spinner"]["choices"]] == ["none", "first", "all", "starter6"]
        assert known["target"]["none"] == "play a single hand"


def test_a_choice_says_what_holds_then_and_what_is_wrong(resting: Served) -> None:
    with resting.client(knows_pin=False) as client:
        asked = {"option": ["variation=muggins", "partners=yes"]}
        shown = client.get("/games/bones", params=asked).json()
        assert shown["changed"] == [["partners", "yes"], ["spinner", "none"]]
        assert {one["key"]: one["matters"] for one in shown["values"]}["branch_order"] is False
        assert shown["seats"] == [4]
        assert [one["field"] for one in client.get("/games/bones?option=target=x").json()["faults"]] == ["target"]
        assert [one["field"] for one in client.get("/games/bones?players=9").json()["faults"]] == ["players"]
        assert client.get("/games/chess").json()["faults"][0]["field"] == ""


@pytest.mark.parametrize("path", ["match", "match/goes_on", "match/end"])
def test_matches_are_only_for_those_who_know_the_pin_and_for_this_page(resting: Served, path: str) -> None:
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
    "said",
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
def test_malformed_matches_are_refused_in_words(resting: Served, said: object) -> None:
    with resting.client() as client:
        answer = client.post("/match", json=said)
        assert answer.status_code == 422
        assert answer.json()["error"]


def test_names_are_data_in_a_match_too(table: Served) -> None:
    with table.client() as client:
        names = ["<script>alert(1)</script>", "x" * 200]
        assert client.post("/match", json=NEW | {"players": names}).status_code == 204
        played(client)
        shown = [player["name"] for player in client.get("/state").json()["players"]]
        assert shown == [names[0], "x" * 39 + "…"]
        (recording,) = (table.state_folder / "sessions").iterdir()
        assert "/" not in recording.name.removeprefix(str(table.state_folder))


def test_everybody_sees_how_the_table_is(resting: Served) -> None:
    with resting.client(knows_pin=False) as client:
        resting.plugs.show()
        until(lambda: client.get("/health").json()["picture_age_s"] is not None)
        shown = client.get("/health").json()
        parts = {one["part"]: one for one in shown["findings"]}
        assert parts["camera"]["words"] == "usb:0, 128 x 72"
        assert {"LEDs", "buttons", "knock", "display", "recordings", "heat", "power", "memory", "clock"} <= set(parts)
        assert shown["version"]
        spanish = client.get("/health", params={"lang": "es"}).json()["findings"]
        assert [one["part"] for one in spanish[:2]] == ["cámara", "LED"]
        assert spanish[1]["words"] == "ninguno en table.toml"


def test_a_match_that_was_left_before_the_start_is_found_and_one_that_is_over_is_not(tmp_path: Path) -> None:
    with at_served_table(tmp_path) as table, table.client() as client:
        client.post("/match", json=NEW)
        played(client)
    with at_served_table(tmp_path) as table, table.client() as client:
        assert known_left(client)["players"] == ["Ann", "Ben"]
        assert client.post("/match/goes_on", json={}).status_code == 204
        act(client, type="press", button="next")
        act(client, type="points", seat=0, points=150)
        until(lambda: client.get("/match").json()["over"])
        client.post("/match/end", json={})
        assert known_left(client) is None


def test_a_match_begins_where_nothing_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "tallybone" / "house.json").mkdir(parents=True)
    with at_served_table(tmp_path) as table, table.client() as client:
        assert client.post("/match", json=NEW).status_code == 204
        played(client)
        assert client.get("/match").json()["usual"] is None
