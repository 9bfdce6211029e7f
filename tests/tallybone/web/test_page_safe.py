"""Tests of the page against attacks: access, malformed input and exhaustion."""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tallybone.web.access.access import MAX_BODY, Access
from tallybone.web.access.serving import Address, Serving, listen_on
from tallybone.web.live.actions import PressButton
from tallybone.web.live.app import make_app
from tallybone.web.live.feed import LiveFeed, PagePictures, PageRequest
from tests.tallybone.web.conftest import assert_nothing_broke, at_table
from tests.tallybone.web.test_page_served import closed_with, do, receive, viewer
from tests.tallybone.web.true_table import PIN, TrueTable

API = "/api/v1"
JSON = {"content-type": "application/json"}


@pytest.fixture(autouse=True)
def no_errors_are_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Check that the page logs no error and no secret."""
    caplog.set_level(logging.INFO)
    yield
    assert_nothing_broke(caplog, PIN)


def log_of(table: TrueTable) -> int:
    return len(table.live.session.state.log)


def test_repeated_wrong_pins_are_refused_unchecked() -> None:
    with at_table() as table, httpx.Client(base_url=table.page.url) as client:
        answers = [client.post(f"{API}/login", json={"pin": f"{at:06d}"}) for at in range(8)]
        assert [answer.status_code for answer in answers] == [403] * 5 + [429] * 3
        assert int(answers[-1].headers["retry-after"]) > 0
        assert client.post(f"{API}/login", json={"pin": PIN}).status_code == 429
        assert not client.cookies


def test_the_cookie_is_http_only_and_same_site() -> None:
    with at_table() as table, httpx.Client(base_url=table.page.url) as client:
        cookie = client.post(f"{API}/login", json={"pin": PIN}).headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert PIN not in cookie
        forged = {"tallybone": "7b7d.00"}
        assert httpx.post(f"{table.page.url}{API}/actions", json={}, cookies=forged).status_code == 401


def test_refuses_other_origins_even_with_the_cookie(table: TrueTable, insider: httpx.Client) -> None:
    before = log_of(table)
    undo = {"action": {"type": "press", "button": "undo"}}
    foreign = [{"origin": origin} for origin in ("http://evil.example", "null", "http://[broken", "")]
    for headers in (*foreign, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}):
        assert insider.post(f"{API}/actions", json=undo, headers=headers).status_code == 403, headers
        assert insider.post(f"{API}/login", json={"pin": PIN}, headers=headers).status_code == 403, headers
        with pytest.raises(InvalidStatus), viewer(table, **headers):
            pass
    assert log_of(table) == before
    own = {"origin": table.page.url, "sec-fetch-site": "same-origin"}
    request = {"action": {"type": "press", "button": "stands"}}
    assert insider.post(f"{API}/actions", json=request, headers=own).status_code == 200
    with viewer(table, origin=table.page.url) as watched:
        assert receive(watched)["type"] == "snapshot"


def test_refuses_content_types_that_a_foreign_form_can_send(insider: httpx.Client) -> None:
    body = json.dumps({"action": {"type": "press", "button": "undo"}})
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        assert insider.post(f"{API}/actions", content=body, headers={"content-type": kind}).status_code == 415, kind


def test_every_answer_has_security_headers(guest: httpx.Client) -> None:
    for path in ("/", f"{API}/state", f"{API}/nothing", f"{API}/picture.jpg"):
        headers = guest.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'self'; img-src 'self' blob: data:;")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


def test_large_bodies_are_not_read(insider: httpx.Client) -> None:
    large = b'{"action": "' + b"x" * (2 * MAX_BODY) + b'"}'
    assert insider.post(f"{API}/actions", content=large, headers=JSON).status_code == 413
    pieces = (large[at : at + 1000] for at in range(0, len(large), 1000))
    assert insider.post(f"{API}/actions", content=pieces, headers=JSON).status_code == 413
    assert insider.post(f"{API}/actions", content=b"[" * MAX_BODY, headers=JSON).status_code in (400, 422)


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
_FIELDS = "type seq seat pips points button before kind at choice topic log why tiles"
_KINDS = "press answer amend remove stands insert points lead left reveal take_back x"
_NAMES, _TYPES = st.sampled_from(_FIELDS.split()), st.sampled_from(_KINDS.split())
_SMALL = st.integers(-1, 30) | st.lists(st.integers(-1, 19), min_size=2, max_size=2) | st.none() | _ANYTHING
_ACTIONS = st.builds(lambda kind, fields: {**fields, "type": kind}, _TYPES, st.dictionaries(_NAMES, _SMALL, max_size=4))
_BODIES = st.binary(max_size=200) | st.builds(
    lambda body: json.dumps(body).encode(),
    _ANYTHING | st.fixed_dictionaries({"action": _ACTIONS | _ANYTHING}, optional={"if_version": _ANYTHING}),
)


@pytest.fixture(scope="module")
def scratch_table() -> Iterator[TrueTable]:
    """Return a separate table, for tests that leave the game in any state."""
    with at_table() as table:
        table.play(12)
        yield table


@pytest.mark.slow
@given(_BODIES)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_body_breaks_the_page_or_the_game(scratch_table: TrueTable, body: bytes) -> None:
    with httpx.Client(base_url=scratch_table.page.url) as friend:
        friend.post(f"{API}/login", json={"pin": PIN})
        answer = friend.post(f"{API}/actions", content=body, headers=JSON)
        assert answer.status_code in (200, 400, 409, 422)
        assert answer.status_code == 200 or list(answer.json()) == ["error"]
        assert friend.get(f"{API}/state").status_code == 200
    assert scratch_table.thread is not None
    assert scratch_table.thread.is_alive()


@pytest.mark.slow
@given(_BODIES)
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_body_gets_in_without_the_pin(scratch_table: TrueTable, body: bytes) -> None:
    before = log_of(scratch_table)
    for path in ("actions", "login"):
        answer = httpx.post(f"{scratch_table.page.url}{API}/{path}", content=body, headers=JSON)
        assert answer.status_code in (400, 401, 403, 422, 429)
        assert "set-cookie" not in answer.headers
    assert log_of(scratch_table) == before


def raw_answer(url: str, request: bytes, *, is_all: bool = True) -> bytes:
    """Return the answer to raw bytes. Half-close the connection after them if *is_all*."""
    target = urlsplit(url)
    with socket.create_connection((target.hostname, target.port), timeout=10) as connection:
        connection.sendall(request)
        if is_all:
            with suppress(OSError):  # it may have answered and closed already
                connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer


_POST = b"POST /api/v1/actions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET " + b"/a" * 50_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
        _POST + b"Content-Length: -5\r\n\r\n",
        _POST + b"Content-Length: 99\r\n\r\n{",
        b"GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
        bytes(range(256)) * 20,
    ],
    ids=lambda given: repr(given[:24]),
)
def test_refuses_malformed_http(table: TrueTable, request_bytes: bytes) -> None:
    try:
        answer = raw_answer(table.page.url, request_bytes)
    except ConnectionError:
        answer = b""
    assert not answer.startswith((b"HTTP/1.1 2", b"HTTP/1.1 5"))
    assert httpx.get(f"{table.page.url}{API}/state").status_code == 200


_SHAKE = (
    b"GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def websocket_answer(url: str, frame: bytes) -> bytes:
    """Return the answer to raw bytes on a WebSocket, until the other side closes it."""
    target = urlsplit(url)
    with socket.create_connection((target.hostname, target.port), timeout=10) as connection:
        connection.sendall(_SHAKE)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += connection.recv(65536)
        assert answer.startswith(b"HTTP/1.1 101 Switching")
        connection.sendall(frame)
        with suppress(ConnectionError):
            while piece := connection.recv(65536):
                answer += piece
        return answer


@pytest.mark.parametrize(
    "frame",
    [
        b"\x81\x05hello",  # not masked
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0",  # announces eight exabytes
        b"\x81\xfe\xff\xff\0\0\0\0" + b"x" * 65535,
        b"\x81\x82\0\0\0\0\xff\xfe",  # invalid UTF-8
        b"\x80\x80\0\0\0\0",  # continues no message
        b"\x89\xfe\x01\x00\0\0\0\0" + b"p" * 256,  # an oversized ping
        b"\x01\x81\0\0\0\0a" * 100,
    ],
    ids=lambda given: repr(given[:12]),
)
def test_malformed_frames_only_close_their_own_connection(table: TrueTable, frame: bytes) -> None:
    with viewer(table) as other:
        receive(other)
        answer = websocket_answer(table.page.url, frame)
        assert answer
        assert answer.endswith(b"\x88\x02" + (1007).to_bytes(2, "big")) or b"\xff\xfe" not in frame
        other.send("ping")
        assert receive(other)["type"] == "pong"


def test_unknown_websocket_paths_are_client_errors(table: TrueTable) -> None:
    for path in ("/", f"{API}/nothing", f"{API}/state", f"{API}/%ff", f"{API}/live?lang=%ff"):
        with pytest.raises(InvalidStatus) as refused:
            connect(table.page.url.replace("http", "ws") + path, proxy=None)
        assert 400 <= refused.value.response.status_code < 500, path


def test_a_viewer_that_sends_too_much_is_disconnected(table: TrueTable) -> None:
    with viewer(table) as watched:
        receive(watched)
        watched.send("x" * 1025)
        assert closed_with(watched) == 1009
    with viewer(table) as watched:
        receive(watched)
        with suppress(ConnectionClosed):  # the connection may close before everything is sent
            for _ in range(60):
                watched.send("chatter")
        assert closed_with(watched) == 1008


def test_the_number_of_viewers_is_limited(table: TrueTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallybone.web.live.app.MAX_VIEWERS", 2)
    with viewer(table) as first, viewer(table) as second:
        receive(first)
        receive(second)
        with pytest.raises(InvalidStatus), viewer(table):
            pass
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:  # until the page notices that both are gone
        try:
            with viewer(table) as late:
                assert receive(late)["type"] == "snapshot"
                return
        except InvalidStatus:
            continue
    pytest.fail("no viewer is accepted although there is room")


def test_the_queue_of_unanswered_requests_is_bounded() -> None:
    feed = LiveFeed(time.monotonic_ns)
    press = PressButton(type="press", button="knock")
    taken = [feed.desk.ask(PageRequest(press, "", None)) for _ in range(60)]
    assert sum(request is not None for request in taken) == 50


def test_files_outside_the_static_folder_are_not_served(tmp_path: Path) -> None:
    static = tmp_path / "static"
    static.mkdir()
    (static / "index.html").write_text("<!doctype html>the page")
    (tmp_path / "secret.txt").write_text("secret")
    (static / "way.txt").symlink_to(tmp_path / "secret.txt")
    feed = LiveFeed(time.monotonic_ns)
    access = Access(PIN, b"k" * 32, time.monotonic_ns)
    listening = listen_on("127.0.0.1:0")
    url = Address.of(listening).url
    serving = Serving(make_app(feed, access, PagePictures(time.monotonic_ns), static=(static,)), listening, feed.run)
    try:
        assert httpx.get(f"{url}/").text == "<!doctype html>the page"
        assert httpx.get(f"{url}/?display").status_code == 200
        outside = (
            "/../secret.txt /..%2fsecret.txt /%2e%2e/secret.txt /static/../../secret.txt //etc/passwd /..\\secret.txt"
        )
        others = f"/%00 /way.txt /api/v1/../../secret.txt {API}/tiles/..%2f..%2fsecret.jpg"
        for path in f"{outside} {others}".split():
            answer = raw_answer(
                url, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode(), is_all=False
            )
            assert answer.split(b" ")[1] in (b"404", b"400", b"422"), path
            assert b"secret" not in answer.partition(b"\r\n\r\n")[2], path
    finally:
        serving.close()


def test_a_long_or_hostile_author_name_is_shortened(table: TrueTable) -> None:
    with httpx.Client(base_url=table.page.url) as client:
        client.post(f"{API}/login", json={"pin": PIN, "name": "\u202e<b>" + "n" * 190})
        assert client.get(f"{API}/me").json() == {"controls": True, "name": "<b>" + "n" * 36 + "…"}
        assert do(client, type="press", button="stack").status_code == 200


def test_the_schema_names_every_path_and_other_methods_are_refused(guest: httpx.Client) -> None:
    paths = guest.get(f"{API}/openapi.json").json()["paths"]
    assert {path.removeprefix(API) for path in paths} >= {"/state", "/events", "/login", "/logout", "/me", "/actions"}
    assert guest.put(f"{API}/actions", json={}).status_code == 405
    assert guest.get(f"{API}/actions").status_code in (404, 405)
