"""Tests of calibrating a served table: start, end, exclusivity, storage and restoring."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from calibration.knock import TableExamples
from hardware.knock.classifier import load_classifier
from tallybone.finding import Grade
from tallybone.serve.calibration import sight_findings
from tallybone.store.calibration_file import Calibration, save_calibration
from tallybone.store.learned_file import learned_path, save_learned
from tests.tallybone.calibrate.bare_table import LENS, table_below
from tests.tallybone.serve.served import Served, at_served_table
from tests.tallybone.serve.test_matches import NEW, wait_for_lobby, wait_for_match
from tests.tallybone.web.test_calibrating import calibrate_two_zones, press, shown
from tests.waiting import until

pytestmark = pytest.mark.slow

MEASURED = Calibration(LENS, table_below())


@pytest.fixture(name="table")
def a_table(tmp_path: Path) -> Iterator[Served]:
    with at_served_table(tmp_path) as table:
        table.plugs.show()
        yield table


def file_of(table: Served) -> Path:
    return table.state_folder / "calibration" / "usb-0.json"


def stored(client: httpx.Client, language: str = "en") -> dict[str, Any]:
    found: dict[str, Any] = client.get("/calibration/stored", params={"lang": language}).json()
    return found


def begin(client: httpx.Client) -> None:
    assert client.post("/calibration", json={}).status_code == 204
    assert stored(client)["is_running"] is True


def end(client: httpx.Client) -> None:
    assert client.post("/calibration/end", json={}).status_code == 204
    assert stored(client)["is_running"] is False


@contextmanager
def pictures(table: Served) -> Iterator[None]:
    """Give the camera pictures until the end of the block."""
    over = threading.Event()

    def show() -> None:
        while not over.wait(0.02):
            table.plugs.show()

    thread = threading.Thread(target=show)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_the_camera_its_light_and_tilt_are_judged_before_the_first_match(table: Served) -> None:
    with table.client(knows_pin=False) as guest:
        table.plugs.show(3)
        until(lambda: len(guest.get("/calibration/sight").json()) == 3)
        camera, light, tilt = guest.get("/calibration/sight", params={"lang": "fr"}).json()
        assert (camera["part"], camera["grade"]) == ("caméra", "ok")
        assert (light["part"], light["grade"]) == ("image", "problem")
        assert light["text"].startswith("uniforme (gris ")
        assert tilt["grade"] == "not there"


def test_the_tilt_of_a_calibrated_camera_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    for degrees, grade in ((0, Grade.OK), (40, Grade.WARNING)):
        sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
        axes = (1.0, 0.0, 0.0, 0.0, -cosine, -sine, 0.0, sine, -cosine)
        save_calibration(Calibration(LENS, replace(table_below(), axes=axes)), path)
        (tilt,) = sight_findings(None, path)
        assert tilt.grade is grade


def test_a_calibration_is_started_followed_and_ended(table: Served) -> None:
    with table.client(knows_pin=False) as guest:
        listing = stored(guest)
        found = (listing["camera"], listing["written_at"], listing["known"], listing["earlier"])
        assert found == ("usb:0", None, [], [])
        assert guest.get("/calibration").status_code == 404
    with table.client() as client:
        with pictures(table):
            found = client.post("/calibration/check", json={}).json()
        assert found[0] == {"well": False, "text": "lens and table not measured yet: positions cannot be checked."}
        begin(client)
        assert [step["name"] for step in shown(client)["steps"]] == ["lens", "table", "zones", "light", "set"]
        table.plugs.show(50)
        until(lambda: shown(client)["seen"] and shown(client)["picture"] is not None)
        end(client)
        assert client.get("/calibration").status_code == 404
        assert client.post("/calibration/end", json={}).status_code == 404
        begin(client)
        assert client.post("/calibration/step", json={"step": "set"}).status_code == 200
        assert press(client, "skip").status_code == 200
        assert shown(client)["stage"] == "over"
        end(client)
    table.plugs.device = None
    with at_served_table(table.state_folder, plugs=table.plugs) as other, other.client() as client:
        refused = client.post("/calibration", json={})
        assert (refused.status_code, "check that it is plugged in" in refused.json()["error"]) == (422, True)


def test_a_calibration_is_stored_and_used_by_the_next_match(table: Served) -> None:
    save_calibration(MEASURED, file_of(table))
    with table.client() as client:
        begin(client)
        calibrate_two_zones(client)
        end(client)
        listing = stored(client)
        assert any(text.startswith("Zones (source: the mat): seat 1, seat 2, boneyard") for text in listing["known"])
        assert listing["earlier"][0]["parts"] == ["lens", "table"]
        client.post("/match", json=NEW)
        wait_for_match(client)
        messages = [event["text"] for event in client.get("/events").json()]
        assert any("Using the calibration" in text and "the zones of 2 seats" in text for text in messages), messages


def test_calibration_match_and_parts_test_exclude_each_other(table: Served) -> None:
    with table.client() as client:
        begin(client)
        for path, body in (("match", NEW), ("match/goes_on", {}), ("parts/test", {}), ("calibration", {})):
            refused = client.post(f"/{path}", json=body)
            assert (refused.status_code, "a calibration is running" in refused.json()["error"]) == (409, True), path
        assert client.post("/calibration/check", json={}).status_code == 409
        assert client.post("/calibration/restore", json={"number": 1}).status_code == 409
        end(client)
        client.post("/match", json=NEW)
        wait_for_match(client)
        for path in ("calibration", "calibration/check"):
            assert client.post(f"/{path}", json={}).status_code == 409, path
        assert client.post("/calibration/restore", json={"number": 1}).status_code == 409
        client.post("/match/end", json={})
        wait_for_lobby(client)
        begin(client)


def test_an_earlier_calibration_is_restored_also_after_damage(table: Served) -> None:
    save_calibration(MEASURED, file_of(table))
    save_calibration(Calibration(), file_of(table))
    with table.client() as client:
        assert stored(client)["known"][0] == "Lens: not measured; an estimate is used."
        assert client.post("/calibration/restore", json={"number": 1}).status_code == 204
        assert stored(client)["known"][0].startswith("Lens: 1280 x 720")
        assert stored(client, "es")["known"][0].startswith("Objetivo: 1280 x 720")
        missing = client.post("/calibration/restore", json={"number": 5})
        assert (missing.status_code, "no more than" in missing.json()["error"]) == (422, True)
        assert client.post("/calibration/restore", json={"number": 6}).status_code == 422
        file_of(table).write_text('{"version": 1, "sha256": "", "calibration": {}}')
        assert "checksum is wrong" in stored(client)["problem"]
        refused = client.post("/calibration", json={})
        assert (refused.status_code, "checksum is wrong" in refused.json()["error"]) == (422, True)
        assert client.post("/calibration/restore", json={"number": 1}).status_code == 204
        assert stored(client)["problem"] is None


def test_learned_knocks_are_shown_and_forgotten(table: Served) -> None:
    shipped = load_classifier()
    row = (0.5,) * shipped.others.shape[1]
    save_learned(learned_path(file_of(table)), TableExamples(shipped.name, (row,) * 3, (row,)))
    with table.client() as client:
        assert stored(client)["learned"] == ["Learned at this table: passes 3, tiles 1."]
        assert stored(client, "es")["learned"] == ["Aprendido en esta mesa: pases 3, fichas 1."]
        assert client.post("/calibration/forget", json={}).status_code == 204
        assert stored(client)["learned"] == []
    assert not learned_path(file_of(table)).exists()


def test_calibration_needs_the_pin(table: Served) -> None:
    with table.client(knows_pin=False) as guest, table.client() as client:
        for path in ("calibration", *(f"calibration/{name}" for name in ("end", "check", "restore", "forget"))):
            body = {"number": 1} if path.endswith("restore") else {}
            assert guest.post(f"/{path}", json=body).status_code == 401
            assert client.post(f"/{path}", json=body, headers={"origin": "http://evil.example"}).status_code == 403
            assert stored(client)["is_running"] is False
