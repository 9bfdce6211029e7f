"""Tests of serving: addresses, missing networks, read-only file systems and shutdown."""

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

from tallybone.web.access import serving
from tallybone.web.access.serving import Address
from tallybone.web.live.app import _send_newest, watch
from tallybone.web.live.feed import LiveFeed
from tallybone.web.live.page import LivePage

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


def test_an_occupied_port_is_named_in_the_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            OSError, match=f"page at 127.0.0.1:{port}: another program uses this port; stop it, or choose another"
        ):
            serving.listen_on(f"127.0.0.1:{port}")
