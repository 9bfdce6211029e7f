"""Tests of calibration over HTTP: state, pictures, decisions, access and validation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import httpx
import numpy as np
import pytest

from calibration.table.zones import ZoneSource
from tallybone.calibrate.guide.steps import StepName
from tallybone.store.calibration_file import Calibration
from tallybone.web.calibration.desk import Calibrating, GoTo
from tests.tallybone.calibrate.bare_table import GreyLook
from tests.tallybone.calibrate.test_course import course_of
from tests.tallybone.serve.calibrated import MEASURED, Calibrated, at_calibration

ZONE = {"name": "boneyard", "corners": [[700, 200], [900, 200], [900, 500]]}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Calibrated]:
    """Return a shared calibration. Each test first goes to the step that it needs."""
    with at_calibration(tmp_path_factory.mktemp("table") / "c.json") as begun:
        yield begun


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Calibrated]:
    with at_calibration(tmp_path / "c.json") as begun:
        yield begun


@pytest.fixture
def insider(table: Calibrated) -> Iterator[httpx.Client]:
    with table.client() as client:
        yield client


@pytest.fixture
def guest(table: Calibrated) -> Iterator[httpx.Client]:
    with table.client(knows_pin=False) as client:
        yield client


def shown(client: httpx.Client) -> dict[str, Any]:
    answer = client.get("/calibration")
    assert answer.status_code == 200
    state: dict[str, Any] = answer.json()
    return state


def once(client: httpx.Client, condition: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Return the shown state as soon as it meets a condition."""
    end_s = time.monotonic() + 30
    while not condition(state := shown(client)):
        assert time.monotonic() < end_s, state
    return state


def press(client: httpx.Client, press: str) -> httpx.Response:
    state = shown(client)
    return client.post("/calibration/press", json={"press": press, "step": state["step"], "stage": state["stage"]})


def test_anyone_can_see_the_state(fresh: Calibrated) -> None:
    with fresh.client(knows_pin=False) as guest:
        state = once(guest, lambda state: state["picture"])
    assert (state["camera"], state["stage"], state["step"]) == ("usb:0", "before", "lens")
    assert [step["name"] for step in state["steps"]] == ["lens", "table", "zones", "light", "set"]
    assert state["choices"] == [{"press": "go_on", "text": "keep"}, {"press": "again", "text": "repeat"}]
    assert (state["picture"]["width_px"], state["picture"]["height_px"]) == (1280, 720)


def test_the_announced_picture_can_be_fetched(guest: httpx.Client) -> None:
    number = once(guest, lambda state: state["picture"])["picture"]["number"]
    answer = guest.get("/calibration/picture.jpg", params={"number": number, "width": "320"})
    image = cv2.imdecode(np.frombuffer(answer.content, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    assert image.shape == (180, 320, 3)
    assert guest.get("/calibration/picture.jpg", params={"number": number + 1000}).status_code == 404
    assert guest.get("/calibration/picture.jpg", params={"number": number, "width": "99999"}).status_code == 422


def test_a_step_is_done_accepted_and_kept(fresh: Calibrated) -> None:
    with fresh.client() as insider:
        calibrate_two_zones(insider, fresh)
    zones = fresh.kept.zones
    assert zones is not None
    assert len(zones.seats) == 2


def calibrate_two_zones(insider: httpx.Client, table: Calibrated | None = None) -> None:
    assert insider.post("/calibration/step", json={"step": "zones"}).status_code == 200
    once(insider, lambda state: state["stage"] == "looks" and {"zone"} == {shape["kind"] for shape in state["drawn"]})
    assert press(insider, "2").status_code == 200
    assert shown(insider)["seen"][0].startswith("2 seats, from the mat")
    assert press(insider, "go_on").status_code == 200
    once(insider, lambda state: state["stage"] == "result")
    assert table is None or table.kept == Calibration(), "not stored until somebody accepts it"
    assert press(insider, "go_on").status_code == 200
    assert shown(insider)["steps"][2]["outcome"].startswith("2 seats")


def test_zones_are_drawn_and_kept(table: Calibrated, insider: httpx.Client) -> None:
    insider.post("/calibration/step", json={"step": "zones"})
    press(insider, "4")
    names = [zone["name"] for zone in once(insider, lambda state: state["zones"])["zones"]]
    assert names == ["seat 1", "seat 2", "seat 3", "seat 4", "boneyard", "layout"]
    assert insider.put("/calibration/zones", json={"zones": [ZONE]}).status_code == 200
    assert next(zone for zone in shown(insider)["zones"] if zone["name"] == "boneyard") == ZONE
    press(insider, "go_on")
    once(insider, lambda state: state["stage"] == "result")
    press(insider, "go_on")
    kept = table.kept.zones
    assert kept is not None
    assert kept.source is ZoneSource.GIVEN


def test_an_invalid_zone_is_refused_with_the_reason(insider: httpx.Client) -> None:
    crossed = {"name": "layout", "corners": [[600, 300], [700, 400], [700, 300], [600, 400]]}
    insider.post("/calibration/step", json={"step": "lens"})
    answer = insider.put("/calibration/zones", json={"zones": [crossed]})
    assert (answer.status_code, answer.json()["error"]) == (422, "the current step does not calibrate zones")
    insider.post("/calibration/step", json={"step": "zones"})
    before = shown(insider)["zones"]
    answer = insider.put("/calibration/zones", json={"zones": [crossed]})
    assert (answer.status_code, answer.json()["error"]) == (422, "layout: its edges cross each other")
    assert shown(insider)["zones"] == before


def test_a_decision_on_an_earlier_step_is_refused(insider: httpx.Client) -> None:
    insider.post("/calibration/step", json={"step": "zones"})
    late = {"press": "go_on", "step": "lens", "stage": "before"}
    answer = insider.post("/calibration/press", json=late)
    assert (answer.status_code, answer.json()["error"]) == (409, "the calibration has moved on: check again")
    assert shown(insider)["step"] == "zones"
    assert press(insider, "9").status_code == 409


def test_a_finished_calibration_lists_its_results(insider: httpx.Client) -> None:
    insider.post("/calibration/step", json={"step": "set"})
    press(insider, "skip")
    state = shown(insider)
    assert (state["stage"], state["step"], state["choices"]) == ("over", None, [])
    assert any(line.startswith("Table: measured from 4 of 4 corner blocks") for line in state["known"])
    assert insider.post("/calibration/step", json={"step": "lens"}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/calibration/press", {"press": "go_on", "step": "lens", "stage": "before"}),
        ("POST", "/calibration/step", {"step": "zones"}),
        ("PUT", "/calibration/zones", {"zones": [ZONE]}),
        ("PUT", "/calibration/tile", {"number": 1, "pips": [6, 5]}),
    ],
)
def test_changes_need_the_pin_and_the_same_origin(
    guest: httpx.Client, insider: httpx.Client, method: str, path: str, body: dict[str, Any]
) -> None:
    insider.post("/calibration/step", json={"step": "table"})
    before = shown(guest)["step"]
    assert guest.request(method, path, json=body).status_code == 401
    foreign = {"Origin": "http://elsewhere.example"}
    assert insider.request(method, path, json=body, headers=foreign).status_code == 403
    assert insider.request(method, path, json={**body, "x": "y" * 5000}).status_code == 413
    assert insider.request(method, path, content=b"{", headers={"Content-Type": "application/json"}).status_code == 422
    assert insider.request(method, path, content=b"step=zones").status_code == 415
    assert insider.request(method, path, json={**body, "more": 1}).status_code == 422
    assert shown(guest)["step"] == before


def test_rejects_zones_tiles_and_steps_out_of_bounds(insider: httpx.Client) -> None:
    insider.post("/calibration/step", json={"step": "zones"})
    assert insider.put("/calibration/zones", json={"zones": []}).status_code == 422
    assert insider.put("/calibration/zones", json={"zones": [ZONE] * 9}).status_code == 422
    strange: tuple[Any, ...] = ([[1, 2]], [[1, 2]] * 25, [[1e9, 0], [1, 1], [2, 5]], [["a", 0], [1, 1], [2, 5]], None)
    wrongs: list[dict[str, Any]] = [{"name": "x" * 21}, *({"corners": corners} for corners in strange)]
    for wrong in wrongs:
        assert insider.put("/calibration/zones", json={"zones": [{**ZONE, **wrong}]}).status_code == 422, wrong
    insider.post("/calibration/step", json={"step": "set"})
    for number, pips in ((0, [1, 2]), (1, [1]), (1, [1, 19])):
        assert insider.put("/calibration/tile", json={"number": number, "pips": pips}).status_code == 422, pips
    answer = insider.put("/calibration/tile", json={"number": 1, "pips": [1, 2]})
    assert (answer.status_code, answer.json()["error"]) == (422, "the current step does not calibrate tiles")
    for step in ("knock", "soup"):
        assert insider.post("/calibration/step", json={"step": step}).status_code == 422


def test_a_camera_without_pictures_reports_the_reason(tmp_path: Path) -> None:
    look = GreyLook(problem="it was\x1b[31m unplugged\u202e")
    with at_calibration(tmp_path / "c.json", Calibration(), look=look) as table, table.client() as client:
        assert shown(client)["problem"] == "it was[31m unplugged"


def test_an_ended_calibration_refuses_requests_and_a_running_one_bounds_them(tmp_path: Path) -> None:
    calibrating = Calibrating(lambda: 0)
    calibrating.begin(course_of(tmp_path / "c.json", MEASURED), "usb:0")
    done = calibrating.desk.ask(GoTo(StepName.ZONES))
    calibrating.turn()
    assert done is not None
    assert done.result(timeout=0) is None
    late = calibrating.desk.ask(GoTo(StepName.LENS))
    calibrating.end()
    assert calibrating.newest is None
    assert late is not None
    refused = late.result(timeout=0)
    assert refused is not None
    assert refused.text == "no calibration is running"
    calibrating = Calibrating(lambda: 0)
    asked = [calibrating.desk.ask(GoTo(StepName.LENS)) for _ in range(10)]
    assert [request is not None for request in asked] == [True] * 8 + [False] * 2
