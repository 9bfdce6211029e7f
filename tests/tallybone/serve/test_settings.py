"""Settings of a table for its owner, and codes that let another phone in."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import cv2
import httpx
import numpy as np
import pytest

from tallybone.cli.serve import keep_password
from tallybone.serve.options import Environment
from tallybone.serve.routes.pairing import qr_rows
from tallybone.store.house import is_password, set_password
from tallybone.web.access import CODE_LASTS_S, Access
from tests.tallybone.serve.served import Served, at_served_table
from tests.tallybone.web.conftest import ManualClock

PASSWORD = "correct horse"
SECOND = 1_000_000_000


@pytest.fixture(name="table")
def a_table_with_an_owner(tmp_path: Path) -> Iterator[Served]:
    set_password(PASSWORD, tmp_path / "tallybone" / "owner.json")
    with at_served_table(tmp_path) as table:
        yield table


def own(client: httpx.Client) -> None:
    assert client.post("/owner/login", json={"password": PASSWORD}).status_code == 204


def test_only_the_owner_changes_settings_and_they_are_kept(table: Served) -> None:
    said = {"keep_gb": 5, "language": "es", "usual": {"game": "draw", "players": ["Ann", "Ben"]}}
    with table.client() as client:
        assert client.put("/settings", json=said).status_code == 401, "the PIN is not enough"
        own(client)
        assert client.put("/settings", json=said).status_code == 204
        shown = client.get("/settings").json()
        assert (shown["keep_gb"], shown["language"], shown["is_owner"], shown["has_password"]) == (5, "es", True, True)
        assert '<html lang="es">' in client.get(client.base_url.join("/")).text
        assert client.get("/match").json()["usual"] == said["usual"] | {"options": {}, "set": "auto"}  # type: ignore[operator]
        client.post("/match", json={"game": "bones", "players": ["Cleo", "Dora"]})
        assert client.get("/match").json()["usual"]["game"] == "draw", "what the owner says goes before the last one"
        assert client.put("/settings", json={}).status_code == 204
        assert client.get("/match").json()["usual"]["game"] == "bones"


def test_guessed_passwords_are_soon_not_even_looked_at(table: Served) -> None:
    with table.client(knows_pin=False) as client:
        codes = [client.post("/owner/login", json={"password": f"guess {at}"}).status_code for at in range(7)]
        assert codes == [403] * 5 + [429] * 2
        assert client.post("/owner/login", json={"password": PASSWORD}).status_code == 429
        assert not client.cookies


def test_the_cookie_of_the_owner_is_for_no_script_and_the_pin_is_another_door(table: Served) -> None:
    with table.client(knows_pin=False) as client:
        cookie = client.post("/owner/login", json={"password": PASSWORD}).headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert client.get("/me").json()["controls"] is False
        assert client.post("/match/end", json={}).status_code == 401
        for forged in ("7b7d.00", "", "x" * 5000):
            headers = {"cookie": f"tallybone-owner={forged}"}
            assert httpx.put(f"{table.url}/api/v1/settings", json={}, headers=headers).status_code == 401


def test_without_a_password_nobody_is_the_owner_and_it_is_said_what_to_do(tmp_path: Path) -> None:
    with at_served_table(tmp_path) as table, table.client() as client:
        answer = client.post("/owner/login", json={"password": ""})
        assert answer.status_code == 409
        assert "--set-password" in answer.json()["error"]
        assert client.get("/settings").json()["has_password"] is False
        assert client.put("/settings", json={}).status_code == 401


@pytest.mark.parametrize(
    "said",
    [
        [],
        {"keep_gb": 0},
        {"keep_gb": 10**9},
        {"keep_gb": "5"},
        {"language": "xx"},
        {"language": ["es"]},
        {"usual": {"game": "chess", "players": ["Ann", "Ben"]}},
        {"usual": {"game": "bones", "players": ["Ann", "Ann"]}},
        {"password": "new password"},
        {"last": None},
    ],
)
def test_settings_that_are_none_change_nothing(table: Served, said: Any) -> None:
    with table.client() as client:
        own(client)
        answer = client.put("/settings", json=said)
        assert answer.status_code == 422
        assert answer.json()["error"]
        assert client.get("/settings").json()["keep_gb"] is None


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", "settings"), ("POST", "owner/login"), ("POST", "pair"), ("POST", "pairing")]
)
def test_other_sites_and_large_bodies_are_refused(table: Served, method: str, path: str) -> None:
    with table.client() as client:
        own(client)
        assert client.request(method, path, json={}, headers={"origin": "http://evil.example"}).status_code == 403
        large = {"content": b"x" * 5000, "headers": {"content-type": "application/json"}}
        assert client.request(method, path, **large).status_code == 413  # type: ignore[arg-type]
        assert client.request(method, path, content=b"{", headers={"content-type": "text/plain"}).status_code == 415


def test_a_code_lets_one_more_in_once(table: Served) -> None:
    with table.client() as insider, table.client(knows_pin=False) as phone, table.client(knows_pin=False) as other:
        assert phone.post("/pairing", json={}).status_code == 401
        shown = insider.post("/pairing", json={}).json()
        address, _, code = shown["address"].partition("/#pair/")
        assert address == table.url
        assert phone.post("/pair", json={"code": code, "name": "phone"}).status_code == 204
        assert phone.get("/me").json() == {"controls": True, "name": "phone"}
        assert other.post("/pair", json={"code": code}).status_code == 403


def test_guessed_codes_count_as_guessed_pins(table: Served) -> None:
    with table.client(knows_pin=False) as client:
        codes = [client.post("/pair", json={"code": f"guess{at}"}).status_code for at in range(7)]
        assert codes == [403] * 5 + [429] * 2
        assert client.post("/login", json={"pin": "000000"}).status_code == 429


def test_codes_end_with_time_with_the_match_and_when_there_are_many() -> None:
    clock = ManualClock()
    access = Access("123456", b"a" * 32, clock)
    old = access.new_code()
    clock.t_ns += (CODE_LASTS_S + 1) * SECOND
    assert access.try_code(old, "", "1.2.3.4") is None
    first, *others = [access.new_code() for _ in range(21)]
    assert access.try_code(first, "", "1.2.3.5") is None
    assert access.try_code(others[0], "", "1.2.3.5") is not None
    access.renew("654321", b"b" * 32)
    assert access.try_code(others[1], "", "1.2.3.6") is None


def test_a_phone_reads_the_code_that_is_shown() -> None:
    text = "http://192.168.178.123:8080/#pair/abcdefghijklmnop_-1234"
    dark = np.array([[one == "1" for one in row] for row in qr_rows(text)])
    picture = np.where(np.kron(np.pad(dark, 4), np.ones((8, 8), bool)), 0, 255).astype(np.uint8)
    assert cv2.QRCodeDetector().detectAndDecode(picture)[0] == text


def test_the_password_is_set_at_the_terminal(tmp_path: Path) -> None:
    out, err = StringIO(), StringIO()
    world = Environment(out=out, err=err, environment={"XDG_STATE_HOME": str(tmp_path)}, home=tmp_path)
    assert keep_password("short", world) == 1
    assert "8 to 200 characters" in err.getvalue()
    assert keep_password(PASSWORD, world) == 0
    assert is_password(PASSWORD, tmp_path / "tallybone" / "owner.json")
    assert PASSWORD not in out.getvalue()
