"""Tests of PIN guessing from many addresses: other visitors can still log in."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tallybone.web.access.access import Access
from tests.tallybone.serve.served import API, Served, at_served_table
from tests.tallybone.web.conftest import ManualClock
from tests.tallybone.web.true_table import PIN

SECOND = 1_000_000_000
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


def access() -> tuple[Access, ManualClock]:
    clock = ManualClock()
    return Access("123456", b"a" * 32, clock), clock


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


def test_guesses_from_ever_new_addresses_are_bounded() -> None:
    table, clock = access()
    tries = 0
    for second in range(3600):
        clock.t_ns = second * SECOND
        tries += guess_from(table, [f"10.{second // 200}.{second % 200}.{last}" for last in range(9)])
    assert tries <= 375


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
    assert table.wait_s("fe80::1%eth0") > 0
    assert table.wait_s("fe80::2%eth0") == 0


def test_guesses_from_ever_new_local_addresses_are_bounded() -> None:
    table, clock = access()
    tries = 0
    for second in range(3600):
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
    known = [f"fe80::77:{last}" for last in range(200)]
    for address in known:
        assert table.try_pin("123456", "", address) is not None
    table.renew("654321", b"b" * 32)
    tries = 0
    for second in range(3600):
        clock.t_ns = second * SECOND
        tries += guess_from(table, known)
    assert tries <= 5 * 100 + 30 + 3600 // 30


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
