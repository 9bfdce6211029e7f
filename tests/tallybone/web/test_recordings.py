"""Tests of recordings over HTTP: list, steps, rescoring, exports, deletion, shared hands and hostile input."""

from __future__ import annotations

import csv
import gc
import io
import json
import os
import random
import re
import time
import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import cv2
import httpx
import numpy as np
import pytest

from engine import BONES, Adjust, Event, MatchClose, NewHand, Seat, profile
from tallybone.json_values import to_json
from tallybone.recording.folder import FOLDER, prune
from tallybone.recording.format import SittingStart, Topic
from tallybone.recording.writer import RecordingWriter
from tallybone.session.session import Session
from tallybone.web.access.access import COOKIE, Access
from tallybone.web.live.app import make_app
from tallybone.web.live.feed import LiveFeed, PagePictures
from tallybone.web.recordings.routes import recording_pages
from tallybone.web.recordings.shown import MAX_BYTES, shared_hand
from tests.tallybone.live_clips import jpeg_of
from tests.tallybone.recorded_games import BEGAN, record_game, start_of
from tests.tallybone.recording.sittings import jpeg, records_of, write
from tests.tallybone.web.conftest import ManualClock
from tests.tallybone.web.true_table import PIN
from tests.vision.picture_files import encoded, many_scans

API = "/api/v1"
JSON = {"content-type": "application/json"}


class Visitor:
    """A client of a page with recordings, without a network in between, so errors are raised here."""

    def __init__(self, folder: Path, *, knows_pin: bool = False) -> None:
        clock = ManualClock()
        access = Access(PIN, b"k" * 32, clock)
        self._app = make_app(LiveFeed(clock), access, PagePictures(clock), more=recording_pages(folder, access))
        cookie = access.try_pin(PIN, "Zoe", "here") if knows_pin else None
        self._cookies = {} if cookie is None else {COOKIE: cookie}

    def ask(self, method: str, path: str, **options: object) -> httpx.Response:
        async def answer() -> httpx.Response:
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://table.local", cookies=self._cookies
            ) as client:
                return await client.request(method, API + path, **options)  # type: ignore[arg-type]  # passed on

        return anyio.run(answer)

    def get(self, path: str, **options: object) -> httpx.Response:
        return self.ask("GET", path, **options)


@pytest.fixture(scope="session")
def bones(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Session]:
    """Return the recording of two hands of bones, and its final session."""
    path = tmp_path_factory.mktemp("bones") / "bones.mcap"
    return path, record_game(path, hands=2)


@pytest.fixture
def folder(bones: tuple[Path, Session], tmp_path: Path) -> Path:
    """Return a folder with that recording."""
    here = tmp_path / "recordings"
    here.mkdir()
    os.link(bones[0], here / bones[0].name)
    return here


@pytest.fixture
def guest(folder: Path) -> Visitor:
    return Visitor(folder)


def test_the_list_is_newest_first_and_marks_running_recordings(folder: Path, bones: tuple[Path, Session]) -> None:
    totals = bones[1].state.game.totals  # type: ignore[union-attr]  # it was played
    (folder / "letter.mcap").write_text("no recording")
    with RecordingWriter(folder / "now.mcap", start_of(began=BEGAN + timedelta(days=1))) as writer:
        writer.frame(5_000_000_000, jpeg(1))
        listing = Visitor(folder).get("/recordings").json()
    assert [entry["name"] for entry in listing["recordings"]] == ["now.mcap", "bones.mcap"]
    now, old = listing["recordings"]
    assert (now["running"], now["frames"], now["totals"], now["damage"]) == (True, 1, None, [])
    assert (old["running"], old["game"], old["players"], old["damage"]) == (False, "bones", ["Ann", "Ben"], [])
    assert (tuple(old["totals"]), old["winner"]) == (totals, bones[1].state.game.winner)  # type: ignore[union-attr]
    records = records_of(bones[0])
    assert old["length_ms"] == (records[-1].t_ns - records[0].t_ns) // 1_000_000
    assert old["size_bytes"] == bones[0].stat().st_size
    assert listing["others"] == ["letter.mcap: expected a recording, but it is not an MCAP file"]


@pytest.mark.timed
def test_two_hundred_recordings_are_listed_quickly(folder: Path) -> None:
    for number in range(200):
        os.link(folder / "bones.mcap", folder / f"{number}.mcap")
    guest = Visitor(folder)
    assert len(guest.get("/recordings").json()["recordings"]) == 201
    began_s = time.process_time()
    assert len(guest.get("/recordings").json()["recordings"]) == 201
    assert time.process_time() - began_s < 0.2


def test_a_missing_folder_has_no_recordings(tmp_path: Path) -> None:
    guest = Visitor(tmp_path / "none")
    assert guest.get("/recordings").json() == {"recordings": [], "others": [], "size_bytes": 0}
    assert guest.get("/recordings/a.mcap").status_code == 404


def test_each_step_has_a_description_and_the_state_at_that_time(guest: Visitor, bones: tuple[Path, Session]) -> None:
    shown = guest.get("/recordings/bones.mcap").json()
    log = bones[1].state.log
    assert (shown["game"], shown["target"], shown["hands"], shown["players"]) == ("bones", 150, 2, ["Ann", "Ben"])
    assert len(shown["steps"]) == len(log) - 1
    first_play = next(step for step in shown["steps"] if step["kind"] == "play")
    assert (first_play["text"], first_play["pips"], first_play["points"]) == (
        "Ann plays 5-5: 5 + 5 = 10, scores 10",
        [5, 5],
        10,
    )
    assert first_play["t_ms"] == 4000
    assert tuple(shown["steps"][-1]["totals"]) == bones[1].state.game.totals  # type: ignore[union-attr]
    frames = shown["frames"]
    assert (frames["every"], len(frames["t_ms"])) == (1, frames["count"])
    for step in shown["steps"]:
        assert frames["t_ms"][step["frame"]] <= step["t_ms"] <= shown["length_ms"]
    steps = shown["steps"]
    last = guest.get(f"/recordings/bones.mcap/steps/{len(steps) - 1}").json()
    game = bones[1].state.game
    assert game is not None
    assert tuple(player["total"] for player in last["players"]) == game.totals
    assert [tile["seq"] for tile in last["layout"]["tiles"]] == [node.id for node in game.layout.nodes]
    assert last["layout"]["picture_px"] == [1280, 720]
    assert guest.get(f"/recordings/bones.mcap/steps/{len(steps)}").status_code == 404


def test_pictures_are_served_unchanged(guest: Visitor, bones: tuple[Path, Session]) -> None:
    pictures = [record.payload.jpeg for record in records_of(bones[0]) if record.topic is Topic.CAMERA]  # type: ignore[union-attr]
    for number in (0, 7, len(pictures) - 1):
        answer = guest.get(f"/recordings/bones.mcap/frames/{number}.jpg")
        assert answer.content == pictures[number]
        again = guest.get(
            f"/recordings/bones.mcap/frames/{number}.jpg", headers={"if-none-match": answer.headers["etag"]}
        )
        assert (again.status_code, again.content) == (304, b"")
    assert guest.get(f"/recordings/bones.mcap/frames/{len(pictures)}.jpg").status_code == 404


def test_a_growing_recording_is_reread(bones: tuple[Path, Session], tmp_path: Path) -> None:
    guest, path = Visitor(tmp_path), tmp_path / "now.mcap"
    with RecordingWriter(path, start_of()) as writer:
        for number in range(3):
            writer.write(Topic.EVENT, number, {"is": "new_hand"} if not number else {"is": "lead", "seat": number - 1})
            shown = guest.get("/recordings/now.mcap").json()
            assert (len(shown["steps"]), shown["running"]) == (number + 1, True)
    assert guest.get("/recordings/now.mcap").json()["running"] is False


def test_rescoring_by_other_rules_lists_the_differences(guest: Visitor) -> None:
    same = guest.ask("POST", "/recordings/bones.mcap/rescore", json={}).json()
    assert (same["differences"], same["count"], same["before"]) == ([], 0, same["now"])
    shorter = guest.ask("POST", "/recordings/bones.mcap/rescore", json={"options": ["target=20"]}).json()
    assert shorter["now"]["winner"] is not None
    draw = guest.ask("POST", "/recordings/bones.mcap/rescore", json={"rules": "draw"}).json()
    assert draw["game"] == "draw"
    assert draw["differences"][0] == "0:04 recorded: Ann plays 5-5, 10 points; now: Ann plays 5-5, 0 points"
    assert draw["before"] == same["before"]
    for wrong in ({"rules": "nonsense"}, {"options": ["x=y"]}, {"options": ["=" * 80]}, {"rules": "free"}, {"more": 1}):
        assert guest.ask("POST", "/recordings/bones.mcap/rescore", json=wrong).status_code == 422, wrong


def test_a_recording_is_exported_to_files(guest: Visitor, bones: tuple[Path, Session]) -> None:
    given = {kind: guest.get(f"/recordings/bones.mcap/export.{kind}") for kind in ("dgr", "csv", "json")}
    assert all(answer.status_code == 200 for answer in given.values())
    assert given["dgr"].headers["content-disposition"] == 'attachment; filename="bones.dgr"'
    assert '[Date "2026-11-21"]' in given["dgr"].text
    rows = list(csv.reader(io.StringIO(given["csv"].text)))
    assert rows[1][:5] == ["0:04", "1", "1", "Ann", "5-5"]
    assert tuple(int(total) for total in rows[-1][-2:]) <= bones[1].state.game.totals  # type: ignore[union-attr]
    assert given["json"].json()["result"]["plays"] == len(rows) - 1
    assert guest.get("/recordings/bones.mcap/export.mp4").status_code == 422


def test_deleting_and_restoring_need_the_pin(folder: Path) -> None:
    guest, insider = Visitor(folder), Visitor(folder, knows_pin=True)
    assert guest.ask("DELETE", "/recordings/bones.mcap", headers=JSON).status_code == 401
    assert guest.ask("POST", "/recordings/bones.mcap/restore", headers=JSON).status_code == 401
    assert insider.ask("DELETE", "/recordings/bones.mcap", headers=JSON).status_code == 204
    assert insider.get("/recordings").json()["recordings"] == []
    assert insider.get("/recordings/bones.mcap").status_code == 404
    assert (folder / FOLDER / "bones.mcap").is_file()
    assert insider.ask("DELETE", "/recordings/bones.mcap", headers=JSON).status_code == 404
    assert insider.ask("POST", "/recordings/bones.mcap/restore", headers=JSON).status_code == 204
    assert insider.ask("POST", "/recordings/bones.mcap/restore", headers=JSON).status_code == 404
    assert insider.get("/recordings/bones.mcap").status_code == 200


def test_a_running_recording_cannot_be_deleted(tmp_path: Path) -> None:
    insider = Visitor(tmp_path, knows_pin=True)
    with RecordingWriter(tmp_path / "now.mcap", start_of()):
        answer = insider.ask("DELETE", "/recordings/now.mcap", headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (422, "it is being recorded: end the match first")
    assert (tmp_path / "now.mcap").is_file()


def test_deleted_recordings_are_pruned_first(folder: Path) -> None:
    insider = Visitor(folder, knows_pin=True)
    (folder / "new.mcap").write_bytes((folder / "bones.mcap").read_bytes())
    assert insider.ask("DELETE", "/recordings/new.mcap", headers=JSON).status_code == 204
    gone = prune(folder, keep_bytes=(folder / "bones.mcap").stat().st_size)
    assert [path.parent.name for path in gone] == [FOLDER]


def test_a_recording_of_another_game_is_shown(tmp_path: Path) -> None:
    record_game(tmp_path / "a.mcap", rules=profile("super"), players=("Ann", "Ben", "Cleo"))
    guest = Visitor(tmp_path)
    shown = guest.get("/recordings/a.mcap").json()
    assert shown["complaints"] == []
    for number in range(0, len(shown["steps"]), 5):
        assert guest.get(f"/recordings/a.mcap/steps/{number}").status_code == 200


def test_statistics_of_one_game_and_of_all_games(folder: Path, bones: tuple[Path, Session]) -> None:
    guest = Visitor(folder)
    game = guest.get("/recordings/bones.mcap/statistics").json()
    assert tuple(game["paid"][-1]["totals"]) == bones[1].state.game.totals  # type: ignore[union-attr]
    os.link(folder / "bones.mcap", folder / "again.mcap")
    (folder / "letter.mcap").write_text("no recording")
    everything = guest.get("/statistics").json()
    assert (everything["games"], everything["left"]) == (2, 0)
    assert [player["name"] for player in everything["players"]] == ["Ann", "Ben"]
    assert everything["players"][0]["points"] == 2 * game["paid"][-1]["totals"][0]
    assert guest.get("/recordings/none.mcap/statistics").status_code == 404


@pytest.mark.parametrize(("is_scored", "seconds", "games"), [(False, 59, 0), (False, 60, 1), (True, 5, 1)])
def test_a_match_of_seconds_without_points_does_not_count(
    tmp_path: Path, is_scored: bool, seconds: int, games: int
) -> None:
    events: list[Event] = [NewHand(), *([Adjust(Seat(0), 5, "")] if is_scored else []), MatchClose()]
    with RecordingWriter(tmp_path / "short.mcap", start_of()) as writer:
        for at, event in enumerate(events):
            t_ns = 1 + (seconds * 10**9 if at + 1 == len(events) else 0)
            writer.write(Topic.EVENT, t_ns, to_json(event, Event))
    everything = Visitor(tmp_path).get("/statistics").json()
    assert (everything["games"], len(everything["players"])) == (games, 2 * games)


def test_a_continued_game_is_counted_once(folder: Path) -> None:
    later = replace(start_of(began=BEGAN + timedelta(days=1)), continues="bones.mcap")
    with RecordingWriter(folder / "later.mcap", later) as writer:
        for record in records_of(folder / "bones.mcap"):
            if record.topic is Topic.EVENT:
                writer.write(Topic.EVENT, record.t_ns, record.payload)  # type: ignore[arg-type]  # JSON
    assert Visitor(folder).get("/statistics").json()["games"] == 1


def test_content_types_are_as_described(guest: Visitor) -> None:
    described = guest.get("/openapi.json").json()["paths"]
    for path in ("export.dgr", "export.csv", "export.json", "hand/1.html", "frames/0.jpg"):
        template = re.sub(r"export\..*", "export.{kind}", re.sub(r"\d+", "{number}", path))
        answers = described[f"{API}/recordings/{{name}}/{template}"]["get"]["responses"]
        answer = guest.get(f"/recordings/bones.mcap/{path}")
        assert answer.status_code == 200
        assert answer.headers["content-type"].partition(";")[0] in answers["200"]["content"]


PATHS = ["", "/steps/0", "/steps/9", "/frames/0.jpg", "/frames/9.jpg", "/statistics", "/hand/1.html?pictures=without"]
PATHS += ["/export.dgr", "/export.csv", "/export.json"]


def statuses(visitor: Visitor, name: str) -> set[int]:
    """Return the status codes of all paths of a recording. Errors are raised."""
    found = {visitor.get(f"/recordings/{name}{path}").status_code for path in PATHS}
    found.add(visitor.ask("POST", f"/recordings/{name}/rescore", json={}).status_code)
    return found | {visitor.get("/recordings").status_code, visitor.get("/statistics").status_code}


def test_no_path_escapes_the_folder(folder: Path) -> None:
    write(folder.parent / "secret.mcap")
    (folder / "link.mcap").symlink_to(folder.parent / "secret.mcap")
    (folder / "folder.mcap").mkdir()
    (folder / FOLDER).mkdir()
    write(folder / FOLDER / "gone.mcap")
    insider = Visitor(folder, knows_pin=True)
    outside = "../secret.mcap ..%2Fsecret.mcap %2e%2e/secret.mcap ..%5csecret.mcap %2Fetc%2Fpasswd secret.mcap"
    others = f"%2e. bones.mcap%00 bones BONES.MCAP %ff%fe link.mcap folder.mcap {FOLDER}/gone.mcap {FOLDER}%2Fgone.mcap"
    for name in [*outside.split(), *others.split(), "x" * 5000]:
        asked = [insider.get(f"/recordings/{name}{path}") for path in PATHS]
        asked.append(insider.ask("DELETE", f"/recordings/{name}", headers=JSON))
        asked.append(insider.ask("POST", f"/recordings/{name}/restore", headers=JSON))
        assert {answer.status_code for answer in asked} <= {404, 405, 422}, name
    assert (folder.parent / "secret.mcap").is_file()
    assert (folder / FOLDER / "gone.mcap").is_file()


def test_malformed_numbers_and_requests_are_refused(guest: Visitor) -> None:
    for number in ("-1", "1e9", "9" * 30, "0x1", "NaN", "%00", "1.5", "١"):
        for path in (f"/steps/{number}", f"/frames/{number}.jpg", f"/hand/{number}.html"):
            assert guest.get(f"/recordings/bones.mcap{path}").status_code in (200, 404, 422)
    bodies = (b"", b"[]", b"{", b'"x"', b'{"rules": 1}', b'{"options": "x"}', b'{"options": [1]}', b"\xff", b"[" * 4000)
    for body in bodies:
        answer = guest.ask("POST", "/recordings/bones.mcap/rescore", content=body, headers=JSON)
        assert answer.status_code in (400, 413, 422), body


@pytest.mark.slow
def test_a_truncated_file_is_handled(bones: tuple[Path, Session], tmp_path: Path) -> None:
    whole = bones[0].read_bytes()
    guest = Visitor(tmp_path)
    for size_bytes in (0, 1, 7, 8, 9, 50, 300, 700, *random.Random(1).sample(range(1000, len(whole)), 4)):
        (tmp_path / "a.mcap").write_bytes(whole[:size_bytes])
        assert statuses(guest, "a.mcap") <= {200, 404, 422}


@pytest.mark.slow
def test_a_corrupted_file_is_handled(bones: tuple[Path, Session], tmp_path: Path) -> None:
    whole, dice = bones[0].read_bytes(), random.Random(2)
    guest = Visitor(tmp_path)
    for _ in range(6):
        data = bytearray(whole)
        for at in dice.sample(range(8, 60_000), 5):
            data[at] = dice.randrange(256)
        (tmp_path / "a.mcap").write_bytes(data)
        assert statuses(guest, "a.mcap") <= {200, 404, 422}


def test_a_replaced_file_is_reread(bones: tuple[Path, Session], tmp_path: Path) -> None:
    guest, path = Visitor(tmp_path), tmp_path / "a.mcap"
    path.write_bytes(bones[0].read_bytes())
    assert len(guest.get("/recordings/a.mcap").json()["steps"]) > 50
    path.unlink()
    write(path)
    assert guest.get("/recordings/a.mcap").json()["steps"] == []
    path.write_bytes(b"\0" * 100)
    assert statuses(guest, "a.mcap") <= {200, 404, 422}
    path.unlink()
    assert statuses(guest, "a.mcap") == {200, 404}


def test_hostile_metadata_is_handled(tmp_path: Path) -> None:
    hostile = SittingStart(
        started_at=datetime(1, 1, 1, tzinfo=UTC),
        players=("<script>", "\ud800", "x" * 100_000, *(str(number) for number in range(50))),
        rules="\u202e" * 1000,
        options=(("x", "y"), ("target", "9" * 4000)),
    )
    with RecordingWriter(tmp_path / "a.mcap", hostile) as writer:
        writer.frame(2**62, jpeg(1))
        writer.write(Topic.OUTCOME, 2**63 - 1, {"totals": [10**4000], "event": "match_over", "winner": -1})
    guest = Visitor(tmp_path)
    (listed,) = guest.get("/recordings").json()["recordings"]
    assert (listed["totals"], listed["winner"], len(listed["players"])) == (None, None, 16)
    assert max(len(name) for name in listed["players"]) <= 40
    assert statuses(guest, "a.mcap") <= {200, 404, 422}


@pytest.mark.slow
def test_malformed_events_are_handled(tmp_path: Path) -> None:
    dice = random.Random(3)
    names = ("new_hand", "lead", "play", "knock", "draw", "undo", "amend", "remove", "insert", "adjust", "hand_end")
    fields = ("seat", "seq", "points", "tile", "at", "action", "low", "high", "tiles", "inner", "why", "pips")
    values: list[object] = [0, 1, 2, -1, 99, 10**9, 10**12, 1e300, None, "", "W", []]
    values += [[1, 2], {"low": 1, "high": 6}]
    guest = Visitor(tmp_path)
    for number in range(5):
        with RecordingWriter(tmp_path / f"{number}.mcap", start_of(BONES)) as writer:
            writer.write(Topic.EVENT, 1, {"is": "new_hand"})
            writer.write(Topic.EVENT, 1, {"is": "lead", "seat": 0})
            for t_ns in range(2, 60):
                content = {name: dice.choice(values) for name in dice.sample(fields, 3)}
                writer.write(Topic.EVENT, t_ns, {"is": dice.choice(names), **content})
                writer.write(Topic.OUTCOME, t_ns, {"event": "played", "node": dice.choice((1, 9, 10**9, -1, "x"))})
                writer.write(Topic.TABLE, t_ns, {"places": dice.choice(values), "picture": dice.choice(values)})
        assert statuses(guest, f"{number}.mcap") <= {200, 404, 422}


@pytest.mark.slow
def test_repeated_requests_use_no_more_memory(folder: Path) -> None:
    for number in range(12):
        os.link(folder / "bones.mcap", folder / f"{number}.mcap")
    guest = Visitor(folder)

    def request_all() -> None:
        for number in range(12):
            guest.get(f"/recordings/{number}.mcap/steps/5")
            guest.get(f"/recordings/{number}.mcap/frames/5.jpg")

    request_all()
    tracemalloc.start()
    request_all()
    gc.collect()  # uncollected cycles do not count as a leak
    held_bytes = tracemalloc.get_traced_memory()[0]
    request_all()
    request_all()
    gc.collect()
    grown_bytes = tracemalloc.get_traced_memory()[0] - held_bytes
    tracemalloc.stop()
    assert grown_bytes < 500_000


HOSTILE = ("</script><script>document.title='hacked'</script>", "<!--<script>\u2028\u202e")


def embedded_in(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="told">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    content: dict[str, object] = json.loads(found[1])
    return content


def test_a_hand_contains_its_steps_layouts_and_pictures(guest: Visitor) -> None:
    steps = [step for step in guest.get("/recordings/bones.mcap").json()["steps"] if step["hand"] == 2]
    answer = guest.get("/recordings/bones.mcap/hand/2.html")
    assert answer.headers["content-disposition"] == 'attachment; filename="bones-hand-2.html"'
    content = embedded_in(answer.text)
    assert [step["step"] for step in content["steps"]] == steps  # type: ignore[attr-defined]  # JSON
    assert len(content["steps"][-1]["layout"]["tiles"]) > 5  # type: ignore[index]
    assert all(url.startswith("data:image/jpeg;base64,") for url in content["pictures"])  # type: ignore[attr-defined]
    assert 50_000 < len(answer.content) <= 2_000_000


def test_pictures_can_be_left_out_of_a_self_contained_file(guest: Visitor) -> None:
    answer = guest.get("/recordings/bones.mcap/hand/1.html?pictures=without")
    assert set(embedded_in(answer.text)["pictures"]) == {None}  # type: ignore[call-overload]
    assert guest.get("/recordings/bones.mcap/hand/3.html").status_code == 404
    assert guest.get("/recordings/bones.mcap/hand/1.html?pictures=maybe").status_code == 422
    page = answer.text
    assert "import " not in re.sub(r"//.*", "", page.split("<script>")[1])
    assert not re.search(r"""(?:src|href)\s*=\s*["']|url\(|@import|https?://(?!www\.w3\.org/2000/svg)""", page)
    assert "default-src &#x27;none&#x27;" in page


def test_names_are_escaped(tmp_path: Path) -> None:
    record_game(tmp_path / "a.mcap", players=HOSTILE)
    page = Visitor(tmp_path).get("/recordings/a.mcap/hand/1.html?pictures=without").text
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert "<!--" not in page
    assert "\u202e" not in page
    assert HOSTILE[0][:39] in embedded_in(page)["title"]  # type: ignore[operator]


def test_a_picture_that_is_slow_to_decode_is_left_out() -> None:
    written = encoded(".jpg", None, cv2.IMWRITE_JPEG_PROGRESSIVE, 1)
    assert "data:image" in shared_hand("x", [], [], [written]).decode()
    assert "data:image" not in shared_hand("x", [], [], [many_scans(written, 114)]).decode()


@pytest.mark.slow
def test_large_pictures_do_not_exceed_the_size_limit(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (1440, 2560, 3)).astype(np.uint8)
    jpeg = jpeg_of(noise)
    for count in (12, 60):
        page = shared_hand("x", [], [], [jpeg] * count)
        assert len(page) <= MAX_BYTES
    assert "data:image" in shared_hand("x", [], [], [jpeg] * 12).decode()
    assert shared_hand("x", [], [], [b"no picture", None]).decode().count("data:image") == 0
