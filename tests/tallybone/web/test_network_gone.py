"""Tests of network outages: the game continues, dead viewers are dropped, and live ones recover."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from websockets.client import ClientProtocol
from websockets.uri import parse_uri

from tallybone.web.access import serving
from tests.tallybone.serve.served import at_served_table
from tests.tallybone.serve.test_matches import NEW, act, wait_for_match
from tests.tallybone.serve.test_metrics import fetched, samples
from tests.tallybone.web.true_table import PIN
from tests.waiting import until

ROOT = Path(__file__).parents[3]
VIEWERS = 40


def phone(url: str) -> socket.socket:
    """Open a live connection and then never read or write again, like a phone out of range."""
    watching = socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])))
    protocol = ClientProtocol(parse_uri(url.replace("http", "ws") + "/api/v1/live"))
    protocol.send_request(protocol.connect())
    watching.sendall(b"".join(protocol.data_to_send()))
    assert b" 101 " in watching.recv(200)
    return watching


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
