"""Tests of the settings for the owner, and of pairing codes."""

from __future__ import annotations

import asyncio
from io import StringIO
from pathlib import Path
from typing import Any

import cv2
import httpx
import numpy as np
import pytest
from fastapi import FastAPI

from tallybone.cli.serve import keep_password
from tallybone.serve.options import Environment
from tallybone.serve.routes.settings import pairing_routes, qr_rows
from tallybone.store.house import is_password
from tallybone.web.access import serving
from tallybone.web.access.access import CODE_LASTS_S, Access
from tallybone.web.access.serving import Address
from tests.tallybone.serve.conftest import PASSWORD
from tests.tallybone.serve.served import Served, at_served_table
from tests.tallybone.web.conftest import ManualClock
from tests.waiting import until

SECOND = 1_000_000_000


def log_in_as_owner(client: httpx.Client) -> None:
    assert client.post("/owner/login", json={"password": PASSWORD}).status_code == 204


def test_only_the_owner_can_change_settings(table: Served) -> None:
    settings = {"keep_gb": 5, "language": "es", "usual": {"game": "draw", "players": ["Ann", "Ben"]}}
    with table.client() as client:
        assert client.put("/settings", json=settings).status_code == 401, "the PIN is not enough"
        log_in_as_owner(client)
        assert client.put("/settings", json=settings).status_code == 204
        shown = client.get("/settings").json()
        assert (shown["keep_gb"], shown["language"], shown["is_owner"], shown["has_password"]) == (5, "es", True, True)
        assert '<html lang="es">' in client.get(client.base_url.join("/")).text
        assert client.get("/match").json()["usual"] == settings["usual"] | {"options": {}, "set": "auto"}  # type: ignore[operator]
        client.post("/match", json={"game": "bones", "players": ["Cleo", "Dora"]})
        assert client.get("/match").json()["usual"]["game"] == "draw", (
            "the owner's choice takes precedence over the last match"
        )
        assert client.put("/settings", json={}).status_code == 204
        assert client.get("/match").json()["usual"]["game"] == "bones"


def test_repeated_wrong_passwords_are_refused_unchecked(table: Served) -> None:
    with table.client(knows_pin=False) as client:
        codes = [client.post("/owner/login", json={"password": f"guess {at}"}).status_code for at in range(7)]
        assert codes == [403] * 5 + [429] * 2
        assert client.post("/owner/login", json={"password": PASSWORD}).status_code == 429
        assert not client.cookies


def test_the_owner_cookie_is_http_only_and_independent_of_the_pin(table: Served) -> None:
    with table.client(knows_pin=False) as client:
        cookie = client.post("/owner/login", json={"password": PASSWORD}).headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert client.get("/me").json()["controls"] is False
        assert client.post("/match/end", json={}).status_code == 401
        for forged in ("7b7d.00", "", "x" * 5000):
            headers = {"cookie": f"tallybone-owner={forged}"}
            assert httpx.put(f"{table.url}/api/v1/settings", json={}, headers=headers).status_code == 401


def test_without_a_password_an_owner_login_names_the_command_to_set_it(tmp_path: Path) -> None:
    with at_served_table(tmp_path) as table, table.client() as client:
        answer = client.post("/owner/login", json={"password": ""})
        assert answer.status_code == 409
        assert "--set-password" in answer.json()["error"]
        assert client.get("/settings").json()["has_password"] is False
        assert client.put("/settings", json={}).status_code == 401


INVALID: list[Any] = [
    *([], {"keep_gb": 0}, {"keep_gb": 10**9}, {"keep_gb": "5"}, {"language": "xx"}, {"language": ["es"]}),
    {"usual": {"game": "chess", "players": ["Ann", "Ben"]}},
    {"usual": {"game": "bones", "players": ["Ann", "Ann"]}},
    *({"password": "new password"}, {"last": None}),
]


def test_invalid_settings_other_sites_and_large_bodies_are_refused(table: Served) -> None:
    with table.client() as client:
        log_in_as_owner(client)
        for body in INVALID:
            answer = client.put("/settings", json=body)
            assert (answer.status_code, bool(answer.json()["error"])) == (422, True), body
            assert client.get("/settings").json()["keep_gb"] is None
        for method, path in (("PUT", "settings"), ("POST", "owner/login"), ("POST", "pair"), ("POST", "pairing")):
            assert client.request(method, path, json={}, headers={"origin": "http://evil.example"}).status_code == 403
            large = {"content": b"x" * 5000, "headers": {"content-type": "application/json"}}
            assert client.request(method, path, **large).status_code == 413  # type: ignore[arg-type]
            plain = {"content-type": "text/plain"}
            assert client.request(method, path, content=b"{", headers=plain).status_code == 415


def test_a_code_is_valid_once(table: Served) -> None:
    with table.client() as insider, table.client(knows_pin=False) as phone, table.client(knows_pin=False) as other:
        assert phone.post("/pairing", json={}).status_code == 401
        shown = insider.post("/pairing", json={}).json()
        address, _, code = shown["address"].partition("/#pair/")
        assert address == table.url
        assert phone.post("/pair", json={"code": code, "name": "phone"}).status_code == 204
        assert phone.get("/me").json() == {"controls": True, "name": "phone"}
        assert other.post("/pair", json={"code": code}).status_code == 403


def test_the_address_for_phones_is_that_of_the_network(table: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    with table.client(knows_pin=False) as client:
        port = int(table.url.rpartition(":")[2])
        assert client.get("/address").json() == {"url": None, "rows": [], "is_closed": True, "port": port}
    app = FastAPI()
    app.include_router(pairing_routes(Access("123456", b"a" * 32, ManualClock()), Address("", 8080)))
    found: list[str | None] = [None]
    monkeypatch.setattr(serving, "own_address", lambda: found[0])

    async def answers() -> list[dict[str, Any]]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://table") as client:
            return [(await client.get("/address")).json() for found[0] in ("192.168.1.7", None)]

    served, alone = asyncio.run(answers())
    assert (served["url"], served["is_closed"]) == ("http://192.168.1.7:8080", False)
    assert served["rows"] == list(qr_rows("http://192.168.1.7:8080/"))
    assert alone["url"] is None


def test_wrong_codes_count_as_wrong_pins(table: Served) -> None:
    with table.client(knows_pin=False) as client:
        codes = [client.post("/pair", json={"code": f"guess{at}"}).status_code for at in range(7)]
        assert codes == [403] * 5 + [429] * 2
        assert client.post("/login", json={"pin": "000000"}).status_code == 429


def test_codes_expire_with_time_with_the_match_and_with_newer_codes() -> None:
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


def test_the_qr_code_is_readable() -> None:
    text = "http://192.168.178.123:8080/#pair/abcdefghijklmnop_-1234"
    dark = np.array([[module == "1" for module in row] for row in qr_rows(text)])
    picture = np.where(np.kron(np.pad(dark, 4), np.ones((8, 8), bool)), 0, 255).astype(np.uint8)
    assert cv2.QRCodeDetector().detectAndDecode(picture)[0] == text


def test_the_password_is_set_in_the_terminal(tmp_path: Path) -> None:
    out, err = StringIO(), StringIO()
    environment = Environment(out=out, err=err, environment={"XDG_STATE_HOME": str(tmp_path)}, home=tmp_path)
    assert keep_password("short", environment) == 1
    assert "8 to 200 characters" in err.getvalue()
    assert keep_password(PASSWORD, environment) == 0
    assert is_password(PASSWORD, tmp_path / "tallybone" / "owner.json")
    assert PASSWORD not in out.getvalue()


def test_a_broken_configuration_is_shown_on_the_page_and_in_the_health(tmp_path: Path) -> None:
    config = tmp_path / "table.toml"
    config.write_text("[camera]\nurl = 5\n")
    fault = f"{config}: [camera] url: expected a text, but got 5"
    with at_served_table(tmp_path, config=config) as table, table.client() as client:
        until(lambda: any(fault in text for text in client.get("/state").json()["problems"]))
        (found,) = (finding for finding in client.get("/health").json()["findings"] if finding["part"] == "settings")
        assert (found["grade"], found["text"]) == ("problem", fault)
