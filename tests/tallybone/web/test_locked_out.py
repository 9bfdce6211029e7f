"""Somebody guesses PINs from several addresses: all others still come in."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tallybone.web.access import Access
from tests.tallybone.serve.served import API, Served, at_served_table
from tests.tallybone.web.conftest import Hands
from tests.tallybone.web.true_table import PIN

SECOND = 1_000_000_000
GUESSERS = [f"127.0.0.{last}" for last in range(2, 9)]


def tried(served: Served, address: str, path: str = "login", **said: str) -> int:
    """Return the status for a try from an address of this machine."""
    transport = httpx.HTTPTransport(local_address=address)
    with httpx.Client(base_url=served.url + API, transport=transport, timeout=60) as client:
        return client.post(f"/{path}", json=said).status_code


def test_a_few_who_guess_keep_nobody_else_out(tmp_path: Path) -> None:
    with at_served_table(tmp_path) as served, served.client() as insider:
        code = insider.post("/pairing", json={}).json()["address"].partition("#pair/")[2]
        for _ in range(3):
            for address in GUESSERS:
                tried(served, address, pin="000000")
        assert {tried(served, address, pin="000000") for address in GUESSERS} == {429}
        assert tried(served, "127.0.0.77", pin=PIN) == 204, "an address that has not guessed wrong"
        assert tried(served, "127.0.0.1", pin="000000") == 403, "the console may mistype"
        assert tried(served, "127.0.0.1", pin=PIN) == 204, "and still gets in"
        assert tried(served, GUESSERS[0], pin=PIN) == 429, "a guesser waits, whatever he says"
        assert tried(served, GUESSERS[0], "pair", code="guessed") == 429
        assert tried(served, GUESSERS[0], "pair", code=code) == 204, "a code cannot be guessed"
        assert tried(served, "127.0.0.78", "pair", code=code) == 403, "and is good for once"


def access() -> tuple[Access, Hands]:
    clock = Hands()
    return Access("123456", b"a" * 32, clock), clock


def guess_from(table: Access, addresses: list[str]) -> int:
    """Guess as often as these addresses may at this moment; return how often that was."""
    count = 0
    for address in addresses:
        while not table.wait_s(address):
            assert table.try_pin("000000", "", address) is None
            count += 1
    return count


def test_the_right_pin_makes_up_for_a_wrong_one() -> None:
    table, _ = access()
    table.try_pin("000000", "", "10.0.0.99")
    assert table.try_pin("123456", "", "10.0.0.99") is not None
    guess_from(table, GUESSERS)
    assert table.wait_s("10.0.0.99") == 0


def test_who_guesses_from_ever_new_addresses_is_bounded_too() -> None:
    table, clock = access()
    tries = 0
    for second in range(3600):
        clock.t_ns = second * SECOND
        tries += guess_from(table, [f"10.{second // 200}.{second % 200}.{last}" for last in range(9)])
    assert tries <= 375


@pytest.mark.parametrize(
    ("one", "other"),
    [("fd00::1:2:3:4", "fd00::9:8:7:6"), ("::ffff:10.0.0.1", "10.0.0.1"), ("fe80::1%eth0", "fe80::2%wlan0")],
)
def test_addresses_that_one_machine_can_take_at_will_are_one(one: str, other: str) -> None:
    table, _ = access()
    guess_from(table, [one])
    assert table.wait_s(other) == table.wait_s(one) > 0


def test_wrong_codes_of_one_who_has_to_wait_cost_nobody_anything() -> None:
    table, clock = access()
    guess_from(table, ["10.0.0.1"])
    for _ in range(1000):
        assert table.try_code("guess", "", "10.0.0.1") is None
    assert table.wait_s("10.0.0.1") == 30
    assert table.wait_s("10.0.0.2") == 0
    clock.t_ns = 30 * SECOND
    assert table.wait_s("10.0.0.1") == 0
