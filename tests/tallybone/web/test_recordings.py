"""The recordings of a table over HTTP: what is told of them, step by step, other rules, files, and deleting."""

from __future__ import annotations

import csv
import io
import os
import re
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import anyio
import httpx
import pytest

from engine import profile
from tallybone.recording.folder import FOLDER, KEPT_S, prune
from tallybone.recording.format import Topic
from tallybone.recording.writer import RecordingWriter
from tallybone.session.session import Session
from tallybone.web.access import COOKIE, Access
from tallybone.web.app import make_app
from tallybone.web.feed import LiveFeed, PagePictures
from tallybone.web.recordings import recording_pages
from tests.tallybone.recorded_games import BEGAN, record_game, start_of
from tests.tallybone.recording.sittings import jpeg, records_of
from tests.tallybone.web.conftest import Hands
from tests.tallybone.web.true_table import PIN

API = "/api/v1"
JSON = {"content-type": "application/json"}


class Visitor:
    """Somebody at the page of a table with recordings, without a network between; errors are raised."""

    def __init__(self, folder: Path, *, knows_pin: bool = False) -> None:
        clock = Hands()
        access = Access(PIN, b"k" * 32, clock)
        self._app = make_app(LiveFeed(clock), access, PagePictures(clock), more=recording_pages(folder, access))
        cookie = access.try_pin(PIN, "Zoe", "here") if knows_pin else None
        self._cookies = {} if cookie is None else {COOKIE: cookie}

    def ask(self, method: str, path: str, **said: object) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://table.local", cookies=self._cookies
            ) as client:
                return await client.request(method, API + path, **said)  # type: ignore[arg-type]  # passed on

        return anyio.run(asked)

    def get(self, path: str, **said: object) -> httpx.Response:
        return self.ask("GET", path, **said)


@pytest.fixture(scope="session")
def bones(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Session]:
    """The recording of two hands of bones, and where they ended."""
    path = tmp_path_factory.mktemp("bones") / "bones.mcap"
    return path, record_game(path, hands=2)


@pytest.fixture
def folder(bones: tuple[Path, Session], tmp_path: Path) -> Path:
    """A folder with that recording."""
    os.link(bones[0], tmp_path / bones[0].name)
    return tmp_path


@pytest.fixture
def anybody(folder: Path) -> Visitor:
    return Visitor(folder)


def test_the_list_has_the_newest_first_and_marks_what_is_written(folder: Path, bones: tuple[Path, Session]) -> None:
    totals = bones[1].state.game.totals  # type: ignore[union-attr]  # it was played
    (folder / "letter.mcap").write_text("no recording")
    with RecordingWriter(folder / "now.mcap", start_of(began=BEGAN + timedelta(days=1))) as writer:
        writer.frame(5_000_000_000, jpeg(1))
        said = Visitor(folder).get("/recordings").json()
    assert [one["name"] for one in said["recordings"]] == ["now.mcap", "bones.mcap"]
    now, old = said["recordings"]
    assert (now["running"], now["frames"], now["totals"], now["damage"]) == (True, 1, None, [])
    assert (old["running"], old["game"], old["players"], old["damage"]) == (False, "bones", ["Ann", "Ben"], [])
    assert (tuple(old["totals"]), old["winner"]) == (totals, bones[1].state.game.winner)  # type: ignore[union-attr]
    records = records_of(bones[0])
    assert old["length_ms"] == (records[-1].t_ns - records[0].t_ns) // 1_000_000
    assert old["size_bytes"] == bones[0].stat().st_size
    assert said["others"] == ["letter.mcap: expected a recording, but it is no MCAP file"]


def test_two_hundred_recordings_are_listed_at_once(folder: Path) -> None:
    for number in range(200):
        os.link(folder / "bones.mcap", folder / f"{number}.mcap")
    anybody = Visitor(folder)
    assert len(anybody.get("/recordings").json()["recordings"]) == 201
    began_s = time.process_time()
    assert len(anybody.get("/recordings").json()["recordings"]) == 201
    assert time.process_time() - began_s < 0.2


def test_a_folder_that_is_not_there_has_no_recordings(tmp_path: Path) -> None:
    anybody = Visitor(tmp_path / "none")
    assert anybody.get("/recordings").json() == {"recordings": [], "others": [], "size_bytes": 0}
    assert anybody.get("/recordings/a.mcap").status_code == 404


def test_a_recording_tells_every_step(anybody: Visitor, bones: tuple[Path, Session]) -> None:
    said = anybody.get("/recordings/bones.mcap").json()
    log = bones[1].state.log
    assert (said["game"], said["target"], said["hands"], said["players"]) == ("bones", 150, 2, ["Ann", "Ben"])
    assert len(said["steps"]) == len(log) - 1
    first_play = next(step for step in said["steps"] if step["kind"] == "play")
    assert (first_play["words"], first_play["pips"], first_play["points"]) == (
        "Ann plays 5-5: 5 + 5 = 10, scores 10",
        [5, 5],
        10,
    )
    assert first_play["t_ms"] == 4000
    assert tuple(said["steps"][-1]["totals"]) == bones[1].state.game.totals  # type: ignore[union-attr]
    frames = said["frames"]
    assert (frames["every"], len(frames["t_ms"])) == (1, frames["count"])
    for step in said["steps"]:
        assert frames["t_ms"][step["frame"]] <= step["t_ms"] <= said["length_ms"]


def test_a_step_shows_the_table_as_it_was(anybody: Visitor, bones: tuple[Path, Session]) -> None:
    steps = anybody.get("/recordings/bones.mcap").json()["steps"]
    last = anybody.get(f"/recordings/bones.mcap/steps/{len(steps) - 1}").json()
    game = bones[1].state.game
    assert game is not None
    assert tuple(player["total"] for player in last["players"]) == game.totals
    assert [tile["seq"] for tile in last["layout"]["tiles"]] == [node.id for node in game.layout.nodes]
    assert last["layout"]["picture_px"] == [1280, 720]
    assert anybody.get(f"/recordings/bones.mcap/steps/{len(steps)}").status_code == 404


def test_pictures_are_as_they_were_recorded(anybody: Visitor, bones: tuple[Path, Session]) -> None:
    pictures = [one.payload.jpeg for one in records_of(bones[0]) if one.topic is Topic.CAMERA]  # type: ignore[union-attr]
    for number in (0, 7, len(pictures) - 1):
        given = anybody.get(f"/recordings/bones.mcap/frames/{number}.jpg")
        assert given.content == pictures[number]
        again = anybody.get(
            f"/recordings/bones.mcap/frames/{number}.jpg", headers={"if-none-match": given.headers["etag"]}
        )
        assert (again.status_code, again.content) == (304, b"")
    assert anybody.get(f"/recordings/bones.mcap/frames/{len(pictures)}.jpg").status_code == 404


def test_a_recording_that_grows_is_seen_to_grow(bones: tuple[Path, Session], tmp_path: Path) -> None:
    anybody, path = Visitor(tmp_path), tmp_path / "now.mcap"
    with RecordingWriter(path, start_of()) as writer:
        for number in range(3):
            writer.write(Topic.EVENT, number, {"is": "new_hand"} if not number else {"is": "lead", "seat": number - 1})
            said = anybody.get("/recordings/now.mcap").json()
            assert (len(said["steps"]), said["running"]) == (number + 1, True)
    assert anybody.get("/recordings/now.mcap").json()["running"] is False


def test_other_rules_are_told_apart_in_words(anybody: Visitor) -> None:
    same = anybody.ask("POST", "/recordings/bones.mcap/rescore", json={}).json()
    assert (same["differences"], same["count"], same["before"]) == ([], 0, same["now"])
    shorter = anybody.ask("POST", "/recordings/bones.mcap/rescore", json={"options": ["target=20"]}).json()
    assert shorter["now"]["winner"] is not None
    draw = anybody.ask("POST", "/recordings/bones.mcap/rescore", json={"rules": "draw"}).json()
    assert draw["game"] == "draw"
    assert draw["differences"][0] == "0:04 recorded: Ann plays 5-5, 10 points; now: Ann plays 5-5, 0 points"
    assert draw["before"] == same["before"]
    for wrong in ({"rules": "nonsense"}, {"options": ["x=y"]}, {"options": ["=" * 80]}, {"rules": "free"}, {"more": 1}):
        assert anybody.ask("POST", "/recordings/bones.mcap/rescore", json=wrong).status_code == 422, wrong


def test_a_recording_is_taken_away_as_a_file(anybody: Visitor, bones: tuple[Path, Session]) -> None:
    given = {kind: anybody.get(f"/recordings/bones.mcap/export.{kind}") for kind in ("dgr", "csv", "json")}
    assert all(one.status_code == 200 for one in given.values())
    assert given["dgr"].headers["content-disposition"] == 'attachment; filename="bones.dgr"'
    assert '[Date "2026-11-21"]' in given["dgr"].text
    rows = list(csv.reader(io.StringIO(given["csv"].text)))
    assert rows[1][:5] == ["0:04", "1", "1", "Ann", "5-5"]
    assert tuple(int(one) for one in rows[-1][-2:]) <= bones[1].state.game.totals  # type: ignore[union-attr]
    assert given["json"].json()["result"]["plays"] == len(rows) - 1
    assert anybody.get("/recordings/bones.mcap/export.mp4").status_code == 422


def test_only_who_knows_the_pin_deletes_and_may_put_it_back(folder: Path) -> None:
    anybody, insider = Visitor(folder), Visitor(folder, knows_pin=True)
    assert anybody.ask("DELETE", "/recordings/bones.mcap", headers=JSON).status_code == 401
    assert anybody.ask("POST", "/recordings/bones.mcap/restore", headers=JSON).status_code == 401
    assert insider.ask("DELETE", "/recordings/bones.mcap", headers=JSON).status_code == 204
    assert insider.get("/recordings").json()["recordings"] == []
    assert insider.get("/recordings/bones.mcap").status_code == 404
    assert (folder / FOLDER / "bones.mcap").is_file()
    assert insider.ask("DELETE", "/recordings/bones.mcap", headers=JSON).status_code == 404
    assert insider.ask("POST", "/recordings/bones.mcap/restore", headers=JSON).status_code == 204
    assert insider.ask("POST", "/recordings/bones.mcap/restore", headers=JSON).status_code == 404
    assert insider.get("/recordings/bones.mcap").status_code == 200


def test_what_is_being_recorded_is_never_deleted(tmp_path: Path) -> None:
    insider = Visitor(tmp_path, knows_pin=True)
    with RecordingWriter(tmp_path / "now.mcap", start_of()):
        answer = insider.ask("DELETE", "/recordings/now.mcap", headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (422, "it is being recorded: end the match first")
    assert (tmp_path / "now.mcap").is_file()


def test_what_was_deleted_is_gone_for_good_after_a_week(folder: Path) -> None:
    insider = Visitor(folder, knows_pin=True)
    for name in ("old.mcap", "new.mcap"):
        os.link(folder / "bones.mcap", folder / f"x{name}")
        (folder / name).write_bytes((folder / "bones.mcap").read_bytes())
        assert insider.ask("DELETE", f"/recordings/{name}", headers=JSON).status_code == 204
    old, new = (folder / FOLDER / name for name in ("old.mcap", "new.mcap"))
    os.utime(old, (new.stat().st_mtime - KEPT_S - 1,) * 2)
    assert insider.ask("DELETE", "/recordings/xnew.mcap", headers=JSON).status_code == 204
    assert (old.exists(), new.exists()) == (False, True)


def test_where_room_is_short_what_was_deleted_goes_first(folder: Path) -> None:
    insider = Visitor(folder, knows_pin=True)
    (folder / "new.mcap").write_bytes((folder / "bones.mcap").read_bytes())
    assert insider.ask("DELETE", "/recordings/new.mcap", headers=JSON).status_code == 204
    gone = prune(folder, keep_bytes=(folder / "bones.mcap").stat().st_size)
    assert [path.parent.name for path in gone] == [FOLDER]


def test_every_game_can_be_looked_into(tmp_path: Path) -> None:
    record_game(tmp_path / "a.mcap", rules=profile("super"), players=("Ann", "Ben", "Cleo"))
    anybody = Visitor(tmp_path)
    said = anybody.get("/recordings/a.mcap").json()
    assert said["complaints"] == []
    for number in range(len(said["steps"])):
        assert anybody.get(f"/recordings/a.mcap/steps/{number}").status_code == 200


def test_statistics_of_one_game_and_of_everybody(folder: Path, bones: tuple[Path, Session]) -> None:
    anybody = Visitor(folder)
    one = anybody.get("/recordings/bones.mcap/statistics").json()
    assert tuple(one["paid"][-1]["totals"]) == bones[1].state.game.totals  # type: ignore[union-attr]
    os.link(folder / "bones.mcap", folder / "again.mcap")
    (folder / "letter.mcap").write_text("no recording")
    said = anybody.get("/statistics").json()
    assert (said["games"], said["left"]) == (2, 0)
    assert [player["name"] for player in said["players"]] == ["Ann", "Ben"]
    assert said["players"][0]["points"] == 2 * one["paid"][-1]["totals"][0]
    assert anybody.get("/recordings/none.mcap/statistics").status_code == 404


def test_a_game_that_goes_on_is_counted_once(folder: Path) -> None:
    later = replace(start_of(began=BEGAN + timedelta(days=1)), continues="bones.mcap")
    with RecordingWriter(folder / "later.mcap", later) as writer:
        for one in records_of(folder / "bones.mcap"):
            if one.topic is Topic.EVENT:
                writer.write(Topic.EVENT, one.t_ns, one.payload)  # type: ignore[arg-type]  # JSON
    assert Visitor(folder).get("/statistics").json()["games"] == 1


@pytest.mark.parametrize("path", ["export.dgr", "export.csv", "export.json", "hand/1.html", "frames/0.jpg"])
def test_files_are_of_the_kinds_that_are_described(anybody: Visitor, path: str) -> None:
    described = anybody.get("/openapi.json").json()["paths"]
    template = re.sub(r"export\..*", "export.{kind}", re.sub(r"\d+", "{number}", path))
    answers = described[f"{API}/recordings/{{name}}/{template}"]["get"]["responses"]
    answer = anybody.get(f"/recordings/bones.mcap/{path}")
    assert answer.status_code == 200
    assert answer.headers["content-type"].partition(";")[0] in answers["200"]["content"]
