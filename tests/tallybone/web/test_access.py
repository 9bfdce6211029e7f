"""Who comes in, and who does not."""

from __future__ import annotations

from tallybone.web.access import Access, new_pin
from tests.tallybone.web.conftest import Hands

SECOND = 1_000_000_000


def access() -> tuple[Access, Hands]:
    clock = Hands()
    return Access("123456", b"a" * 32, clock), clock


def test_a_pin_is_six_digits_and_not_always_the_same() -> None:
    pins = {new_pin() for _ in range(20)}
    assert all(len(pin) == 6 and pin.isdecimal() for pin in pins)
    assert len(pins) > 10


def test_who_knows_the_pin_gets_a_cookie_that_says_who_he_is() -> None:
    table, _ = access()
    cookie = table.try_pin("123456", "Zoë", "1.2.3.4")
    author = table.author_of(cookie)
    assert author is not None
    assert author.name == "Zoë"


def test_a_wrong_pin_gets_none() -> None:
    table, _ = access()
    for pin in ("", "123457", "1234567", "１２３４５６", "\ud800", "123456\0"):
        assert table.try_pin(pin, "", "1.2.3.4") is None


def test_a_changed_cookie_opens_nothing() -> None:
    table, _ = access()
    cookie = table.try_pin("123456", "", "1.2.3.4")
    assert cookie is not None
    body, _, signature = cookie.partition(".")
    other = Access("123456", b"b" * 32, Hands()).try_pin("123456", "", "1.2.3.4")
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


def test_a_cookie_ends_after_twelve_hours_and_with_a_logout() -> None:
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


def test_after_five_wrong_pins_an_address_waits_and_the_right_one_is_refused_too() -> None:
    table, clock = access()
    for _ in range(5):
        assert table.wait_s("1.2.3.4") == 0
        table.try_pin("000000", "", "1.2.3.4")
    assert table.wait_s("1.2.3.4") == 30
    assert table.wait_s("5.6.7.8") == 0
    clock.t_ns += 30 * SECOND
    assert table.wait_s("1.2.3.4") == 0


def test_many_addresses_together_guess_no_more_than_375_pins_an_hour() -> None:
    table, clock = access()
    tries = 0
    for at in range(3600 // 5):
        clock.t_ns = at * 5 * SECOND
        for address in (f"10.0.{at % 200}.{last}" for last in range(3)):
            if not table.wait_s(address):
                tries += 1
                table.try_pin("000000", "", address)
    assert 300 < tries <= 375


def test_what_is_remembered_of_addresses_and_logouts_is_bounded() -> None:
    table, _ = access()
    for at in range(1500):
        table.wait_s(f"10.{at // 250}.{at % 250}.1")
        author = table.author_of(table.try_pin("123456", "", f"10.{at // 250}.{at % 250}.1"))
        assert author is not None
        table.leave(author)
    assert len(table._tries._networks) <= 500
    assert len(table._lock.cookies._left) <= 1000
