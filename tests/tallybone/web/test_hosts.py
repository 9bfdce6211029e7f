"""Tests of the host names that a page accepts, as a defence against DNS rebinding."""

from __future__ import annotations

import socket
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from tallybone.web.access.visitors import THIS_MACHINE, KnownHosts
from tests.tallybone.serve.served import API, at_served_table
from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.true_table import PIN, TrueTable


def test_refuses_a_foreign_host_name(table: TrueTable) -> None:
    """With DNS rebinding, the browser treats this table as part of the attacker's site."""
    foreign = {"host": "evil.example:8080", "origin": "http://evil.example:8080"}
    with httpx.Client(base_url=table.page.url, headers=foreign) as client:
        for path in ("/", f"{API}/state", f"{API}/picture.jpg", f"{API}/me", f"{API}/openapi.json"):
            assert client.get(path).status_code == 421, path
        refused = client.post(f"{API}/login", json={"pin": PIN})
        assert refused.status_code == 421
        assert "set-cookie" not in refused.headers
        text = refused.json()["error"]
    assert "evil.example" in text
    assert "[page] names" in text, "the error names the setting"
    with pytest.raises(InvalidStatus) as closed:
        connect(
            f"ws://evil.example{API}/live",
            sock=socket.create_connection(table_address(table)),
            origin=Origin("http://evil.example"),
        )
    assert closed.value.response.status_code == 403


def table_address(table: TrueTable) -> tuple[str, int]:
    where = httpx.URL(table.page.url)
    assert where.port is not None
    return where.host, where.port


def test_a_name_in_the_table_file_is_known(tmp_path: Path) -> None:
    config = tmp_path / "table.toml"
    config.write_text('[page]\nnames = ["Score.Club.Example"]\n')
    with at_served_table(tmp_path, config=config) as served:
        for host, status in (("score.club.example", 200), ("score.club.example.:8080", 200), ("club.example", 421)):
            assert httpx.get(f"{served.url}{API}/state", headers={"host": host}).status_code == status, host


def test_a_request_of_http_1_0_may_name_no_host(table: TrueTable) -> None:
    """Browsers always send a host, but simple health checks of load balancers do not."""
    with socket.create_connection(table_address(table), timeout=10) as line:
        line.sendall(b"GET /api/v1/state HTTP/1.0\r\n\r\n")
        assert line.recv(100).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "host",
    [
        "192.168.1.7",
        "192.168.1.7:8080",
        "[fd00::7]:8080",
        "[::1]",
        "localhost:8080",
        "LOCALHOST",
        "tallybone.local",
        "a.b.local.",
        "hall",
        "hall.club.example",
        "hall.lan:80",
        "hall.home.arpa",
        "hall.internal",
    ],
)
def test_knows_addresses_and_names_of_this_machine(host: str) -> None:
    assert KnownHosts(own_name=lambda: "Hall.Club.Example").knows(host)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "local",
        "xlocal",
        "evil-local",
        "hall.evil.example",
        "other.lan",
        "localhost.evil.example",
        "192.168.1.7.evil.example",
        "fd00::7",
        "[::1",
        "[evil.example]",
        "a b.local",
        "127.0.0.1@evil.example",
        "hall:80:80",
        ".local",
        "ha\u017f.local\udcff",
    ],
)
def test_does_not_know_other_names(host: str) -> None:
    assert not KnownHosts(own_name=lambda: "Hall.Club.Example").knows(host)


def test_knows_the_current_name_of_this_machine() -> None:
    assert THIS_MACHINE.knows(socket.gethostname())


def test_a_page_under_its_own_name_can_act() -> None:
    with at_table() as table:
        own = {"host": "table.local", "origin": "http://table.local"}
        assert httpx.post(f"{table.page.url}{API}/login", json={"pin": PIN}, headers=own).status_code == 204
