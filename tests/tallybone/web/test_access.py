"""Tests of access to the page: PINs, cookies and limits on guessing."""

from __future__ import annotations

from tallybone.web.access.access import Access, new_pin
from tests.tallybone.web.conftest import ManualClock

SECOND = 1_000_000_000


def access() -> tuple[Access, ManualClock]:
    clock = ManualClock()
    return Access("123456", b"a" * 32, clock), clock


def test_a_pin_is_six_digits_and_not_always_the_same() -> None:
    pins = {new_pin() for _ in range(20)}
    assert all(len(pin) == 6 and pin.isdecimal() for pin in pins)
    assert len(pins) > 10


def test_the_right_pin_returns_a_cookie_with_the_name() -> None:
    table, _ = access()
    cookie = table.try_pin("123456", "Zoë", "1.2.3.4")
    author = table.author_of(cookie)
    assert author is not None
    assert author.name == "Zoë"


def test_a_wrong_pin_returns_no_cookie() -> None:
    table, _ = access()
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


def test_many_addresses_together_can_try_at_most_375_pins_an_hour() -> None:
    table, clock = access()
    tries = 0
    for at in range(3600 // 5):
        clock.t_ns = at * 5 * SECOND
        for address in (f"10.0.{at % 200}.{last}" for last in range(3)):
            if not table.wait_s(address):
                tries += 1
                table.try_pin("000000", "", address)
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
