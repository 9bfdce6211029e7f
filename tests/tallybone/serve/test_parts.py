"""Tests of a table's parts: virtual parts over HTTP, and the test of all parts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest

from hardware.table import HardwareSettings, PartOpener, VirtualPanel
from tallybone.play.parts import with_panel
from tallybone.serve.parts_test import PartsTest, PartVerdict
from tests.tallybone.serve.served import Served, at_served_table
from tests.tallybone.serve.test_matches import NEW, wait_for_lobby, wait_for_match
from tests.tallybone.web.conftest import ManualClock
from tests.tallybone.web.true_table import PIN
from tests.waiting import until


def state(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/parts/test").json()
    return found


def wait_for_line(client: httpx.Client, text: str) -> None:
    until(lambda: any(text in line for line in state(client)["lines"]))


def answer(client: httpx.Client, key: str) -> None:
    until(lambda: key in state(client)["keys"])
    assert client.post("/parts/test/answer", json={"key": key}).status_code == 204


def panel(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/panel").json()
    return found


@pytest.mark.slow
def test_without_a_match_the_display_shows_the_pin_to_insiders_only(table: Served) -> None:
    with table.client() as client, table.client(knows_pin=False) as guest:
        until(lambda: PIN in " ".join(panel(client)["screen"]))
        assert f"PIN {PIN}" in table.out.getvalue()  # as only a virtual display shows it
        assert guest.get("/panel").status_code == 401


@pytest.mark.slow
def test_no_answer_contains_the_pin(table: Served) -> None:
    with table.client() as client, table.client(knows_pin=False) as guest:
        client.post("/match", json=NEW)
        wait_for_match(client)
        paths = ("state", "events", "me", "plays?hand=1", "match", "games", "health", "settings", "parts/test", "panel")
        for path in (*paths, "openapi.json"):
            assert PIN not in guest.get(f"/{path}").text


@pytest.mark.slow
def test_the_panel_works_in_a_match(table: Served) -> None:
    with table.client() as client:
        client.post("/match", json=NEW)
        wait_for_match(client)
        assert client.post("/panel", json={"button": "next"}).status_code == 204
        until(lambda: client.get("/state").json()["match"]["phase"] == "lead")
        assert client.post("/panel", json={"button": None}).status_code == 204
        until(lambda: panel(client)["knocked"])
        assert client.post("/panel", json={"button": "self_destruct"}).status_code == 404


@pytest.mark.slow
def test_parts_are_tested_from_the_page(table: Served) -> None:
    with table.client() as client:
        assert state(client)["running"] is False
        assert client.post("/parts/test", json={}).status_code == 204
        wait_for_line(client, "LED 1 of 8")
        until(lambda: panel(client)["leds"][0]["colours"][0] != "#000000")
        answer(client, "y")
        wait_for_line(client, "LED 2 of 8")
        answer(client, "s")
        wait_for_line(client, "press each")
        client.post("/panel", json={"button": "undo"})
        wait_for_line(client, "that was undo")
        client.post("/panel", json={"button": "knock"})
        wait_for_line(client, "short")
        answer(client, "q")
        until(lambda: not state(client)["running"])
        results = [(result["part"], result["outcome"]) for result in state(client)["results"]]
        assert results == [("LEDs (all)", "skipped"), ("the rest", "skipped")]
        until(lambda: PIN in " ".join(panel(client)["screen"]))
        assert client.post("/match", json=NEW).status_code == 204, "the parts are open again for a match"


@pytest.mark.slow
def test_a_parts_test_and_a_match_exclude_each_other(table: Served) -> None:
    with table.client() as client:
        client.post("/parts/test", json={})
        wait_for_line(client, "LED 1")
        for path, body in (("match", NEW), ("match/goes_on", {}), ("parts/test", {})):
            refused = client.post(f"/{path}", json=body)
            assert (refused.status_code, "a test of the parts is running" in refused.json()["error"]) == (409, True)
        answer(client, "q")
        until(lambda: not state(client)["running"])
        client.post("/match", json=NEW)
        wait_for_match(client)
        assert client.post("/parts/test", json={}).status_code == 409
        client.post("/match/end", json={})
        wait_for_lobby(client)


@pytest.mark.slow
def test_parts_need_the_pin(table: Served) -> None:
    with table.client(knows_pin=False) as guest, table.client() as client:
        for path in ("parts/test", "parts/test/answer", "panel"):
            body = {"key": "y"} if path.endswith("answer") else {"button": "next"}
            assert guest.post(f"/{path}", json=body).status_code == 401
            assert client.post(f"/{path}", json=body, headers={"origin": "http://evil.example"}).status_code == 403
            assert state(client)["running"] is False


@pytest.mark.slow
def test_malformed_answers_and_buttons_are_refused(table: Served) -> None:
    with table.client() as client:
        bodies: list[Any] = [{}, [], {"key": "x"}, {"key": "yy"}, {"key": 7}, {"button": 7}, {"button": "x" * 41}]
        for body, path in product(bodies, ("parts/test/answer", "panel")):
            assert client.post(f"/{path}", json=body).status_code == 422, body
        assert client.post("/parts/test/answer", json={"key": "y"}).status_code == 409, "no question is open"


@pytest.mark.slow
def test_the_pin_is_not_logged_if_a_real_display_shows_it(tmp_path: Path) -> None:
    config = tmp_path / "table.toml"
    config.write_text('[[hardware.displays]]\ndriver = "serlcd-20x4"\nurl = "loop://"\n')
    with at_served_table(tmp_path, config=config, panel=True) as table, table.client() as client:
        client.post("/match", json=NEW)
        wait_for_match(client)
        assert "page http" in table.out.getvalue()
        assert PIN not in table.out.getvalue()


PARTS = with_panel(HardwareSettings(), 2)


def run_test(test: PartsTest, clock: ManualClock, meanwhile: Callable[[], bool]) -> None:
    test.run(PARTS, PartOpener(PARTS.pins, VirtualPanel(("next",)), clock), meanwhile)


def test_it_ends_if_its_state_is_not_requested_for_a_minute() -> None:
    clock = ManualClock()
    test = PartsTest(clock)
    looks = []

    def meanwhile() -> bool:
        clock.t_ns += 30_000_000_000
        looks.append(clock.t_ns)
        return True

    run_test(test, clock, meanwhile)
    assert len(looks) == 2
    state = test.state
    assert not state.is_running
    assert [result.outcome for result in state.results] == [PartVerdict.SKIPPED]
    assert "LED 1 of" in state.text


def test_it_continues_while_watched_and_ends_with_the_program() -> None:
    clock = ManualClock()
    test = PartsTest(clock)
    looks = []

    def meanwhile() -> bool:
        clock.t_ns += 30_000_000_000
        looks.append(test.state.is_running)
        return len(looks) < 4

    run_test(test, clock, meanwhile)
    assert looks == [True] * 4


def test_only_offered_keys_are_accepted() -> None:
    clock = ManualClock()
    test = PartsTest(clock)
    taken: dict[str, bool] = {}

    def meanwhile() -> bool:
        for key in "xyq":
            taken.setdefault(key, test.answer(key))
        return True

    assert not test.answer("y")
    run_test(test, clock, meanwhile)
    assert taken == {"x": False, "y": True, "q": True}
    assert not test.answer("q")
