"""Tests of hostile input about recordings: paths, numbers, names, and damaged or replaced files."""

from __future__ import annotations

import gc
import os
import random
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine import BONES
from tallybone.recording.folder import FOLDER
from tallybone.recording.format import SittingStart, Topic
from tallybone.recording.writer import RecordingWriter
from tallybone.session.session import Session
from tests.tallybone.recorded_games import start_of
from tests.tallybone.recording.sittings import jpeg, write
from tests.tallybone.web.test_recordings import JSON, Visitor, bones

__all__ = ["bones"]
PATHS = (
    "",
    "/steps/0",
    "/steps/9",
    "/frames/0.jpg",
    "/frames/9.jpg",
    "/statistics",
    "/hand/1.html?pictures=without",
    "/export.dgr",
    "/export.csv",
    "/export.json",
)


@pytest.fixture
def folder(bones: tuple[Path, Session], tmp_path: Path) -> Iterator[Path]:
    """Return a folder with a recording, next to a secret file."""
    here = tmp_path / "recordings"
    here.mkdir()
    os.link(bones[0], here / "bones.mcap")
    write(tmp_path / "secret.mcap")
    return here  # type: ignore[return-value]  # a fixture


def statuses(visitor: Visitor, name: str) -> set[int]:
    """Return the status codes of all paths of a recording. Errors are raised."""
    found = {visitor.get(f"/recordings/{name}{path}").status_code for path in PATHS}
    found.add(visitor.ask("POST", f"/recordings/{name}/rescore", json={}).status_code)
    return found | {visitor.get("/recordings").status_code, visitor.get("/statistics").status_code}


@pytest.mark.parametrize(
    "name",
    [
        "../secret.mcap",
        "..%2Fsecret.mcap",
        "%2e%2e/secret.mcap",
        "..%5csecret.mcap",
        "%2Fetc%2Fpasswd",
        "secret.mcap",
        "%2e.",
        "bones.mcap%00",
        "bones",
        "BONES.MCAP",
        "x" * 5000,
        "%ff%fe",
        "link.mcap",
        "folder.mcap",
        f"{FOLDER}/gone.mcap",
        f"{FOLDER}%2Fgone.mcap",
    ],
)
def test_no_path_escapes_the_folder(folder: Path, name: str) -> None:
    (folder / "link.mcap").symlink_to(folder.parent / "secret.mcap")
    (folder / "folder.mcap").mkdir()
    (folder / FOLDER).mkdir()
    write(folder / FOLDER / "gone.mcap")
    insider = Visitor(folder, knows_pin=True)
    for path in PATHS:
        assert insider.get(f"/recordings/{name}{path}").status_code in (404, 405, 422)
    assert insider.ask("DELETE", f"/recordings/{name}", headers=JSON).status_code in (404, 405, 422)
    assert insider.ask("POST", f"/recordings/{name}/restore", headers=JSON).status_code in (404, 405, 422)
    assert (folder.parent / "secret.mcap").is_file()
    assert (folder / FOLDER / "gone.mcap").is_file()


@pytest.mark.parametrize("number", ["-1", "1e9", "9" * 30, "0x1", "NaN", "%00", "1.5", "١"])
def test_malformed_numbers_are_refused(folder: Path, number: str) -> None:
    guest = Visitor(folder)
    for path in (f"/steps/{number}", f"/frames/{number}.jpg", f"/hand/{number}.html"):
        assert guest.get(f"/recordings/bones.mcap{path}").status_code in (200, 404, 422)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'"x"', b'{"rules": 1}', b'{"options": "x"}', b'{"options": [1]}', b"\xff", b"[" * 4000]
)
def test_malformed_requests_are_refused(folder: Path, body: bytes) -> None:
    answer = Visitor(folder).ask("POST", "/recordings/bones.mcap/rescore", content=body, headers=JSON)
    assert answer.status_code in (400, 413, 422)


@pytest.mark.slow
def test_a_truncated_file_is_handled(bones: tuple[Path, Session], tmp_path: Path) -> None:
    whole = bones[0].read_bytes()
    guest = Visitor(tmp_path)
    for size_bytes in (0, 1, 7, 8, 9, 50, 300, 700, *random.Random(1).sample(range(1000, len(whole)), 8)):
        (tmp_path / "a.mcap").write_bytes(whole[:size_bytes])
        assert statuses(guest, "a.mcap") <= {200, 404, 422}


@pytest.mark.slow
def test_a_corrupted_file_is_handled(bones: tuple[Path, Session], tmp_path: Path) -> None:
    whole, dice = bones[0].read_bytes(), random.Random(2)
    guest = Visitor(tmp_path)
    for _ in range(15):
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
    values: tuple[object, ...] = (
        0,
        1,
        2,
        -1,
        99,
        10**9,
        10**12,
        1e300,
        None,
        "",
        "W",
        [],
        [1, 2],
        {"low": 1, "high": 6},
    )
    guest = Visitor(tmp_path)
    for number in range(12):
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
