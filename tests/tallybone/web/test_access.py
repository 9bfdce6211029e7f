"""Tests of access to the page: PINs, cookies, limits on guessing from many addresses, and host names."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from tallybone.web.access.access import Access, new_pin
from tallybone.web.access.visitors import THIS_MACHINE, KnownHosts
from tests.tallybone.serve.served import API, Served, at_served_table
from tests.tallybone.web.conftest import ManualClock, at_table
from tests.tallybone.web.true_table import PIN, TrueTable

SECOND = 1_000_000_000


def access() -> tuple[Access, ManualClock]:
    clock = ManualClock()
    return Access("123456", b"a" * 32, clock), clock


def test_a_pin_is_six_digits_and_not_always_the_same() -> None:
    pins = {new_pin() for _ in range(20)}
    assert all(len(pin) == 6 and pin.isdecimal() for pin in pins)
    assert len(pins) > 10


def test_only_the_right_pin_returns_a_cookie_with_the_name() -> None:
    table, _ = access()
    cookie = table.try_pin("123456", "Zoë", "1.2.3.4")
    author = table.author_of(cookie)
    assert author is not None
    assert author.name == "Zoë"
    for pin in ("", "123457", "1234567", "１２３４５６", "\ud800", "123456\0"):
        assert table.try_pin(pin, "", "1.2.3.4") is None


def test_rejects_a_forged_cookie() -> None:
    table, _ = access()
    cookie = table.try_pin("123456", "", "1.2.3.4")
    assert cookie is not None
    body, _, signature = cookie.partition(".")
    other = Access("123456", b"b" * 32, ManualClock()).try_pin("123456", "", "1.2.3.4")
    for forged in (
        body,
        f"{body}.",
        f".{signature}",
        f"{body}.{signature[:-1]}x",
        f"{body}00.{signature}",
        f"{bytes.fromhex(body).replace(b'{', b'[').hex()}.{signature}",
        other,
        "\ud800.é",
        "a" * 100_000,
        None,
    ):
        assert table.author_of(forged) is None
    assert table.author_of(cookie) is not None


def test_a_cookie_expires_after_twelve_hours_and_on_logout() -> None:
    table, clock = access()
    first, second = (table.try_pin("123456", "", "1.2.3.4") for _ in range(2))
    author = table.author_of(first)
    assert author is not None
    table.leave(author)
    assert table.author_of(first) is None
    assert table.author_of(second) is not None
    clock.t_ns = 12 * 3600 * SECOND
    assert table.author_of(second) is not None
    clock.t_ns += SECOND
    assert table.author_of(second) is None


def test_five_wrong_pins_block_an_address() -> None:
    table, clock = access()
    for _ in range(5):
        assert table.wait_s("1.2.3.4") == 0
        table.try_pin("000000", "", "1.2.3.4")
    assert table.wait_s("1.2.3.4") == 30
    assert table.wait_s("5.6.7.8") == 0
    clock.t_ns += 30 * SECOND
    assert table.wait_s("1.2.3.4") == 0


@pytest.mark.parametrize("step_s", [1, 5])
def test_ever_new_addresses_together_can_try_at_most_375_pins_an_hour(step_s: int) -> None:
    table, clock = access()
    tries = 0
    for second in range(0, 3600, step_s):
        clock.t_ns = second * SECOND
        tries += guess_from(table, [f"10.{second // 200}.{second % 200}.{last}" for last in range(9)])
    assert 300 < tries <= 375


def test_memory_for_addresses_and_logouts_is_bounded() -> None:
    table, _ = access()
    for at in range(1500):
        table.wait_s(f"10.{at // 250}.{at % 250}.1")
        author = table.author_of(table.try_pin("123456", "", f"10.{at // 250}.{at % 250}.1"))
        assert author is not None
        table.leave(author)
    assert len(table._tries._networks) <= 500
    assert len(table._lock.cookies._left) <= 1000


GUESSERS = [f"127.0.0.{last}" for last in range(2, 9)]

IN_A_NAMESPACE = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None or shutil.which("ip") is None,
    reason="needs root, unshare of util-linux, and iproute2",
)
GUESS_IN_ONE_NETWORK = """
import time, httpx
from tallybone.web.live.page import LivePage

page = LivePage("[fd77::1]:0", time.monotonic_ns, pin="123456")
for address, pin in [("fd77::2", "000000")] * 6 + [("fd77::3", "123456")]:
    with httpx.Client(transport=httpx.HTTPTransport(local_address=address)) as client:
        print(client.post(page.url + "/api/v1/login", json={"pin": pin}).status_code)
page.close()
"""


def tried(served: Served, address: str, path: str = "login", **body: str) -> int:
    """Return the status of a login attempt from a local address."""
    transport = httpx.HTTPTransport(local_address=address)
    with httpx.Client(base_url=served.url + API, transport=transport, timeout=60) as client:
        return client.post(f"/{path}", json=body).status_code


@pytest.mark.slow
def test_a_few_guessing_addresses_do_not_lock_out_others(tmp_path: Path) -> None:
    with at_served_table(tmp_path) as served, served.client() as insider:
        code = insider.post("/pairing", json={}).json()["address"].partition("#pair/")[2]
        for _ in range(3):
            for address in GUESSERS:
                tried(served, address, pin="000000")
        assert {tried(served, address, pin="000000") for address in GUESSERS} == {429}
        assert tried(served, "127.0.0.77", pin=PIN) == 204, "an address without wrong guesses"
        assert tried(served, "127.0.0.1", pin="000000") == 403, "the console may mistype"
        assert tried(served, "127.0.0.1", pin=PIN) == 204, "and can still log in"
        assert tried(served, GUESSERS[0], pin=PIN) == 429, "a guesser waits even with the right PIN"
        assert tried(served, GUESSERS[0], "pair", code="guessed") == 429
        assert tried(served, GUESSERS[0], "pair", code=code) == 204, "a code cannot be guessed"
        assert tried(served, "127.0.0.78", "pair", code=code) == 403, "and is valid only once"


def guess_from(table: Access, addresses: list[str]) -> int:
    """Guess as often as these addresses are allowed to now, and return the number of guesses."""
    count = 0
    for address in addresses:
        while not table.wait_s(address):
            assert table.try_pin("000000", "", address) is None
            count += 1
    return count


def test_the_right_pin_clears_a_wrong_guess() -> None:
    table, _ = access()
    table.try_pin("000000", "", "10.0.0.99")
    assert table.try_pin("123456", "", "10.0.0.99") is not None
    guess_from(table, GUESSERS)
    assert table.wait_s("10.0.0.99") == 0


@pytest.mark.parametrize(
    ("address", "other"), [("2001:db8::1:2:3:4", "2001:db8::9:8:7:6"), ("::ffff:10.0.0.1", "10.0.0.1")]
)
def test_freely_chosen_addresses_of_a_visitor_count_as_the_same(address: str, other: str) -> None:
    table, _ = access()
    guess_from(table, [address])
    assert table.wait_s(other) == table.wait_s(address) > 0


def test_another_device_in_the_same_local_ipv6_network_can_log_in() -> None:
    table, _ = access()
    guess_from(table, ["fe80::1%eth0"])
    assert table.wait_s("fe80::1%eth0") > table.wait_s("fe80::2%eth0") == 0


def test_guesses_from_ever_new_local_addresses_are_bounded() -> None:
    table, clock = access()
    tries = 0
    for second in range(0, 3600, 5):
        clock.t_ns = second * SECOND
        tries += guess_from(table, [f"fe80::{second:x}:{last}" for last in range(9)])
        assert table.wait_s("10.0.0.1") == 0, "an IPv4 visitor without attempts"
    assert tries <= 30 + 3600 // 30


def test_earlier_visitors_can_log_in_while_others_guess() -> None:
    table, clock = access()
    for address in ("fe80::77", "10.0.0.77"):
        assert table.try_pin("123456", "", address) is not None
    for second in range(600):
        clock.t_ns = second * SECOND
        guess_from(table, [f"fe80::{second:x}:{last}" for last in range(9)])
        guess_from(table, [f"10.{second // 200}.{second % 200}.{last}" for last in range(9)])
    assert table.wait_s("fe80::78") > 0
    for address in ("fe80::77", "10.0.0.77"):
        table.try_pin("000000", "", address)
        assert table.wait_s(address) == 0, "and may mistype"


def test_earlier_visitors_cannot_guess_a_new_pin_without_limit() -> None:
    table, clock = access()
    known = [f"fe80::77:{last}" for last in range(150)]
    for address in known:
        assert table.try_pin("123456", "", address) is not None
    table.renew("654321", b"b" * 32)
    tries = 0
    for second in range(0, 3600, 30):  # as long as one of them waits
        clock.t_ns = second * SECOND
        tries += guess_from(table, known)
    assert tries <= 5 * 100 + 30 + 3600 // 30


@pytest.mark.slow
@IN_A_NAMESPACE
def test_two_devices_in_one_ipv6_network_do_not_lock_each_other_out() -> None:
    addresses = "".join(f"ip -6 addr add fd77::{last}/64 dev lo nodad && " for last in range(1, 5))
    command = f"ip link set lo up && {addresses} exec {sys.executable} -c {shlex.quote(GUESS_IN_ONE_NETWORK)}"
    done = subprocess.run(["unshare", "-n", "sh", "-c", command], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["403"] * 5 + ["429", "204"], done.stderr


def test_wrong_codes_of_a_blocked_address_do_not_affect_others() -> None:
    table, clock = access()
    guess_from(table, ["10.0.0.1"])
    for _ in range(1000):
        assert table.try_code("guess", "", "10.0.0.1") is None
    assert table.wait_s("10.0.0.1") == 30
    assert table.wait_s("10.0.0.2") == 0
    clock.t_ns = 30 * SECOND
    assert table.wait_s("10.0.0.1") == 0


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


def test_knows_addresses_and_names_of_this_machine_only() -> None:
    hosts = KnownHosts(own_name=lambda: "Hall.Club.Example")
    own = "192.168.1.7 192.168.1.7:8080 [fd00::7]:8080 [::1] localhost:8080 LOCALHOST tallybone.local a.b.local."
    for host in f"{own} hall hall.club.example hall.lan:80 hall.home.arpa hall.internal".split():
        assert hosts.knows(host), host
    others = "evil.example local xlocal evil-local hall.evil.example other.lan localhost.evil.example .local hall:80:80"
    strange = "192.168.1.7.evil.example fd00::7 [::1 [evil.example] 127.0.0.1@evil.example ha\u017f.local\udcff"
    for host in [*others.split(), *strange.split(), "a b.local"]:
        assert not hosts.knows(host), host


def test_knows_the_current_name_of_this_machine() -> None:
    assert THIS_MACHINE.knows(socket.gethostname())


def test_a_page_under_its_own_name_can_act() -> None:
    with at_table() as table:
        own = {"host": "table.local", "origin": "http://table.local"}
        assert httpx.post(f"{table.page.url}{API}/login", json={"pin": PIN}, headers=own).status_code == 204
