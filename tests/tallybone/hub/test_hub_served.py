"""Tests of a hub with a real broker: tables, junk, and the API."""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Iterator
from dataclasses import fields
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("aiomqtt", reason="aiomqtt is not installed: pip install '.[mqtt]'")

from websockets.sync.client import connect

from tallybone.cli.hub import HubOptions, run_hub
from tallybone.hub.hall import PACE_S, HubShown
from tests.tallybone.hub.hubs import FakeTables, ServedHub, served_hub
from tests.tallybone.notify.brokers import MOSQUITTO, WHY_NOT, RealBroker, real_broker, until_broker

_PAUSE = threading.Event()
needs_broker = [pytest.mark.slow, pytest.mark.skipif(MOSQUITTO is None, reason=WHY_NOT)]


@pytest.fixture(name="broker")
def running_broker(tmp_path: Path) -> Iterator[RealBroker]:
    with real_broker(tmp_path) as broker:
        yield broker


@pytest.fixture(name="tables")
def fake_tables(broker: RealBroker) -> Iterator[FakeTables]:
    tables = FakeTables(broker)
    yield tables
    tables.close()


@pytest.fixture(name="hub")
def running_hub(broker: RealBroker, tmp_path: Path) -> Iterator[ServedHub]:
    with served_hub(broker, tmp_path) as hub:
        yield hub


def state_of(hub: ServedHub) -> Any:
    return httpx.get(f"{hub.url}/api/v1/state", timeout=30).json()


def is_quiet(hub: ServedHub) -> bool:
    """Check that no received message is waiting for a new version."""
    before = state_of(hub)["version"]
    _PAUSE.wait(5 * PACE_S)
    return bool(state_of(hub)["version"] == before)


class TestWithBroker:
    pytestmark = needs_broker

    def test_retained_and_new_tables_are_listed(self, broker: RealBroker, tables: FakeTables, tmp_path: Path) -> None:
        tables.table("early", 5, 10)
        with served_hub(broker, tmp_path) as hub:
            tables.table("late", 1, 2)
            until_broker(lambda: [table["online"] for table in state_of(hub)["tables"]] == [True, True])
            by_id = {table["id"]: table for table in state_of(hub)["tables"]}
            assert [player["total"] for player in by_id["early"]["players"]] == [5, 10]
            tables.publish("late", "availability", b"offline")
            until_broker(lambda: {table["id"]: table["online"] for table in state_of(hub)["tables"]}["late"] is False)

    def test_a_viewer_gets_all_tables_once_and_then_changes(self, tables: FakeTables, hub: ServedHub) -> None:
        for index in range(5):
            tables.table(f"t{index}", 0, 0)
        until_broker(lambda: sum(table["online"] for table in state_of(hub)["tables"]) == 5)
        until_broker(lambda: is_quiet(hub))
        with connect(hub.url.replace("http", "ws") + "/api/v1/live", compression=None) as socket:
            first = json.loads(socket.recv(30))
            assert (first.pop("type"), first["whole"], len(first["tables"])) == ("snapshot", True, 5)
            assert set(first) == {field.name for field in fields(HubShown)}
            tables.table("t3", 10, 0)
            second = json.loads(socket.recv(30))
            assert (second["whole"], [table["id"] for table in second["tables"]]) == (False, ["t3"])
            assert second["standings"] is None
            tables.publish("t4", "scores", b"")
            assert json.loads(socket.recv(30))["gone"] == ["t4"]

    def test_junk_changes_nothing_and_is_logged_once(
        self, tables: FakeTables, hub: ServedHub, caplog: pytest.LogCaptureFixture
    ) -> None:
        tables.table("good", 5, 10)
        for junk in (
            b"\xff",
            b"{}",
            b"[" * 9000,
            b"x" * 60_000,
            b"x" * 600_000,
            b'{"v":1e999}',
            b'{"v":1,"players":7}',
        ):
            tables.publish("bad", "scores", junk)
        for junk in (b"\xff", b"{}", b"[1]", b'{"v":3}'):
            tables.publish("bad", "state", junk)
        tables.publish("good", "availability", b"maybe")
        tables.table("last", 1, 2)
        until_broker(lambda: {table["id"] for table in state_of(hub)["tables"]} >= {"good", "last"})
        assert {table["id"] for table in state_of(hub)["tables"]} == {"good", "last"}
        assert state_of(hub)["line"] is None
        assert len([message for message in caplog.messages if "ignored an invalid message" in message]) == 1
        assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []

    def test_players_are_found_and_standings_are_stored(
        self, broker: RealBroker, tables: FakeTables, tmp_path: Path
    ) -> None:
        with served_hub(broker, tmp_path) as hub:
            tables.table("t1", 150, 40, over=True, winner=0, tournament="Spring")
            tables.table("t2", 0, 0, names=("Cid", "Dán"))
            until_broker(lambda: len(state_of(hub)["tables"]) == 2)
            with httpx.Client(base_url=f"{hub.url}/api/v1", timeout=30) as client:
                assert [table["id"] for table in client.get("/tables", params={"find": "dan"}).json()] == ["t2"]
                until_broker(lambda: client.get("/standings").json() != [])
        tables.publish("t1", "scores", b"")
        with served_hub(broker, tmp_path) as restarted:
            (spring,) = httpx.get(f"{restarted.url}/api/v1/standings", timeout=30).json()
            assert spring["name"] == "Spring"
            assert spring["standings"][0] == {"rank": 1, "player": "Ann", "played": 1, "wins": 1, "points": 150}

    def test_a_lost_broker_and_its_return_are_reported(
        self, broker: RealBroker, tables: FakeTables, hub: ServedHub
    ) -> None:
        tables.table("t1", 5, 10)
        until_broker(lambda: len(state_of(hub)["tables"]) == 1)
        broker.kill()
        until_broker(lambda: state_of(hub)["line"] is not None)
        assert len(state_of(hub)["tables"]) == 1
        health = httpx.get(f"{hub.url}/health", timeout=30)
        assert health.status_code == 503
        assert health.json()["reasons"][0].startswith("broker: ")
        broker.start()
        until_broker(lambda: state_of(hub)["line"] is None, 90)
        assert httpx.get(f"{hub.url}/health", timeout=30).json()["ok"]
        tables.table("t2", 0, 0)
        until_broker(lambda: len(state_of(hub)["tables"]) == 2)

    def test_the_page_and_its_files_are_served_with_a_strict_policy(self, hub: ServedHub) -> None:
        with httpx.Client(base_url=hub.url, timeout=30) as client:
            page = client.get("/")
            addresses = re.findall(r'(?:href|src)="([\w/.]+)"', page.text)
            assert [address.rpartition("/")[2] for address in addresses] == ["icon.svg", "page.css", "page.js"]
            assert page.headers["content-security-policy"].startswith("default-src 'self';")
            for address in addresses:
                assert client.get(f"/{address}").status_code == 200, address
            spanish = re.findall(r'src="([\w/.]+)"', client.get("/?lang=es").text)
            assert "Clasificación" in client.get(f"/{spanish[0]}").text
            assert client.post("/api/v1/state", json={}).status_code == 405


def run_with(tmp_path: Path, names: list[str] | None = None, **broker: str) -> tuple[int, str]:
    err = StringIO()
    code = run_hub(
        HubOptions(at="127.0.0.1:0", names=names, **broker), {"XDG_STATE_HOME": str(tmp_path)}, tmp_path, err=err
    )
    return code, err.getvalue()


def test_invalid_options_are_all_reported_at_once(tmp_path: Path) -> None:
    code, errors = run_with(tmp_path, names=["a b"], broker="http://club", password_file="/absent", prefix="a/#")
    assert code == 2
    assert [line.split(": ")[1] for line in errors.splitlines()] == ["broker", "password_file", "prefix", "name"]
