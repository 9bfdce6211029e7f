"""Tests of serving: addresses, missing networks and outages, read-only file systems, and shutdown."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from fastapi import APIRouter, WebSocketDisconnect
from websockets.client import ClientProtocol
from websockets.uri import parse_uri

from tallybone.web.access import serving
from tallybone.web.access.serving import Address
from tallybone.web.live.app import _send_newest, watch
from tallybone.web.live.feed import LiveFeed
from tallybone.web.live.page import LivePage
from tests.tallybone.serve.served import at_served_table
from tests.tallybone.serve.test_matches import NEW, act, wait_for_match
from tests.tallybone.serve.test_metrics import fetched, samples
from tests.tallybone.web.true_table import PIN
from tests.waiting import until

TALLYBONE = str(Path(sys.executable).with_name("tallybone"))
IN_A_NAMESPACE = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root, and unshare of util-linux"
)
# Make everything read-only except the state folder.
READ_ONLY = """
mount --make-rprivate / && mount --bind "$0" "$0" && mount -o remount,bind,ro / || exit 9
touch "$0/../probe" 2>/dev/null && exit 8
exec "$@"
"""


def test_the_address_follows_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str | None] = [None]
    monkeypatch.setattr(serving, "own_address", lambda: found[0])
    page = LivePage("127.0.0.1:0", time.monotonic_ns, pin="123456")
    page.close()
    assert "no network" not in page.text, "its address was given"
    everywhere = Address("", 8080)
    assert (everywhere.url, everywhere.is_alone) == ("http://127.0.0.1:8080", True)
    found[0] = "192.168.1.7"
    assert (everywhere.url, everywhere.is_alone) == ("http://192.168.1.7:8080", False)
    found[0] = "fd00::7"
    assert everywhere.url == "http://[fd00::7]:8080"


def test_a_socket_for_all_addresses_is_recognised() -> None:
    with serving.listen_on("0") as everywhere, serving.listen_on("127.0.0.1:0") as here:
        assert Address.of(everywhere) == Address("", everywhere.getsockname()[1])
        assert Address.of(here) == Address("127.0.0.1", here.getsockname()[1])
        assert (Address.of(everywhere).is_closed, Address.of(here).is_closed) == (False, True)


@pytest.mark.parametrize("error", [WebSocketDisconnect(1006), OSError("gone"), RuntimeError("closed")])
def test_a_viewer_that_disconnects_during_a_send_is_no_error(error: Exception) -> None:
    left = asyncio.Event()

    class Leaving:
        client = None

        async def accept(self) -> None:
            pass

        async def send_text(self, text: str) -> None:
            left.set()
            raise error

        async def receive(self) -> dict[str, Any]:
            await left.wait()
            return {"type": "websocket.disconnect"}

    async def after(version: int) -> SimpleNamespace:
        return SimpleNamespace(version=version + 1, message=lambda language: "{}")

    feed = cast(LiveFeed, SimpleNamespace(after=after, viewers=0))
    leaving = cast(Any, Leaving())
    asyncio.run(watch(leaving, feed, lambda: _send_newest(leaving, feed, "en")))
    assert left.is_set()


@IN_A_NAMESPACE
@pytest.mark.slow
def test_serves_without_a_network_and_reports_it(tmp_path: Path) -> None:
    command = ["unshare", "-n", TALLYBONE, "serve", "--camera", "none"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment(tmp_path)) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert line.startswith("     page http://127.0.0.1:8080  (no network yet)")
        assert process.wait(30) == 0


@IN_A_NAMESPACE
@pytest.mark.slow
def test_works_with_everything_but_the_state_read_only(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    serve = [TALLYBONE, "serve", "--camera", "none", "--at", "127.0.0.1:0"]
    command = ["unshare", "-m", "sh", "-c", READ_ONLY, str(state), *serve]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment(state)) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "page http" in line, process.wait(30)
        try:
            _play_a_little(url=line.split()[1], pin=line.split()[-1])
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    found = {path.relative_to(state).as_posix() for path in state.rglob("*") if path.is_file()}
    assert "tallybone/house.json" in found
    assert sum(name.endswith(".mcap") for name in found) == 1
    assert not (tmp_path / "probe").exists()


def _play_a_little(*, url: str, pin: str) -> None:
    with httpx.Client(base_url=f"{url}/api/v1", timeout=120) as client:
        assert client.post("/login", json={"pin": pin}).status_code == 204
        assert client.post("/match", json={"game": "bones", "players": ["Ann", "Ben"]}).status_code == 204
        action = {"type": "points", "seat": 0, "points": 5, "why": "given"}
        assert client.post("/actions", json={"action": action}).status_code == 200


def _environment(state: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(state), "HOME": "/nonexistent", "PATH": os.environ["PATH"]}


def test_a_request_interrupted_by_shutdown_logs_no_error(caplog: pytest.LogCaptureFixture) -> None:
    begun, answers = threading.Event(), list[httpx.Response]()
    router = APIRouter()

    @router.get("/slow")
    async def slow() -> None:
        begun.set()
        await asyncio.Event().wait()

    clock = time.monotonic_ns
    page = LivePage("127.0.0.1:0", clock, more=lambda access: (router,))
    asking = threading.Thread(target=lambda: answers.append(httpx.get(f"{page.url}/api/v1/slow", timeout=60)))
    asking.start()
    assert begun.wait(20)
    page.close()
    asking.join()
    assert (answers[0].status_code, answers[0].json()) == (503, {"error": "the page ends"})
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


ROOT = Path(__file__).parents[3]
VIEWERS = 20


def phone(url: str) -> socket.socket:
    """Open a live connection and then never read or write again, like a phone out of range."""
    watching = socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])))
    protocol = ClientProtocol(parse_uri(url.replace("http", "ws") + "/api/v1/live"))
    protocol.send_request(protocol.connect())
    watching.sendall(b"".join(protocol.data_to_send()))
    assert b" 101 " in watching.recv(200)
    return watching


@pytest.mark.slow
def test_phones_out_of_range_are_dropped_without_affecting_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "ASKS_EVERY_S", 0.5)
    monkeypatch.setattr(serving, "ANSWERS_WITHIN_S", 0.5)
    with at_served_table(tmp_path) as table, table.client() as client:
        assert client.post("/match", json=NEW).status_code == 204
        assert client.post("/login", json={"pin": PIN}).status_code == 204
        wait_for_match(client)

        def observed(name: str) -> float:
            return samples(fetched(table, "/metrics").text)[name]

        before = observed("process_open_fds")
        phones = [phone(table.url) for _ in range(VIEWERS)]
        try:
            assert observed("tallybone_viewers") == VIEWERS
            for _ in range(10):
                assert act(client, type="points", seat=0, points=5).status_code == 200
            until(lambda: observed("tallybone_viewers") == 0)
            assert client.get("/state").json()["players"][0]["total"] == 50
        finally:
            for watching in phones:
                watching.close()
        until(lambda: observed("process_open_fds") <= before)


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None or shutil.which("ip") is None,
    reason="needs root, unshare of util-linux and ip of iproute2",
)
@pytest.mark.slow
def test_a_match_continues_without_network_and_viewers_catch_up_afterwards(tmp_path: Path) -> None:
    command = ["unshare", "-n", sys.executable, "-m", "tests.tallybone.web.network_gone", str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 0, done.stderr
