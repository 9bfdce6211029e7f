"""People who try to get in, to break it, or to fill it up."""

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

from tallybone.web.access import MOST_BODY, Access
from tallybone.web.actions import PressButton
from tallybone.web.app import make_app
from tallybone.web.feed import LiveFeed, PagePictures, PageRequest
from tallybone.web.serving import Address, Serving, listen_on
from tests.tallybone.web.conftest import assert_nothing_broke, at_table
from tests.tallybone.web.test_page_served import closed_with, do, told, viewer
from tests.tallybone.web.true_table import PIN, TrueTable

API = "/api/v1"
JSON = {"content-type": "application/json"}


@pytest.fixture(autouse=True)
def nothing_breaks(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """What goes wrong in the page is logged as an error, and no secret ever is."""
    caplog.set_level(logging.INFO)
    yield
    assert_nothing_broke(caplog, PIN)


def log_of(table: TrueTable) -> int:
    return len(table.live.session.state.log)


def test_guessed_pins_are_soon_not_even_looked_at() -> None:
    with at_table() as table, httpx.Client(base_url=table.page.url) as client:
        answers = [client.post(f"{API}/login", json={"pin": f"{at:06d}"}) for at in range(8)]
        assert [answer.status_code for answer in answers] == [403] * 5 + [429] * 3
        assert int(answers[-1].headers["retry-after"]) > 0
        assert client.post(f"{API}/login", json={"pin": PIN}).status_code == 429
        assert not client.cookies


def test_a_cookie_is_for_this_table_and_no_script() -> None:
    with at_table() as table, httpx.Client(base_url=table.page.url) as client:
        cookie = client.post(f"{API}/login", json={"pin": PIN}).headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert PIN not in cookie
        forged = {"tallybone": "7b7d.00"}
        assert httpx.post(f"{table.page.url}{API}/actions", json={}, cookies=forged).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://[broken"},
        {"origin": ""},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_pages_of_others_do_nothing_even_with_the_cookie(
    table: TrueTable, insider: httpx.Client, headers: dict[str, str]
) -> None:
    before = log_of(table)
    said = {"action": {"type": "press", "button": "undo"}}
    assert insider.post(f"{API}/actions", json=said, headers=headers).status_code == 403
    assert insider.post(f"{API}/login", json={"pin": PIN}, headers=headers).status_code == 403
    with pytest.raises(InvalidStatus), viewer(table, **headers):
        pass
    assert log_of(table) == before


def test_its_own_page_is_let_in(table: TrueTable, insider: httpx.Client) -> None:
    own = {"origin": table.page.url, "sec-fetch-site": "same-origin"}
    said = {"action": {"type": "press", "button": "stands"}}
    assert insider.post(f"{API}/actions", json=said, headers=own).status_code == 200
    with viewer(table, origin=table.page.url) as watched:
        assert told(watched)["type"] == "snapshot"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_what_a_form_of_another_site_can_send_is_no_action(insider: httpx.Client, kind: str) -> None:
    body = json.dumps({"action": {"type": "press", "button": "undo"}})
    answer = insider.post(f"{API}/actions", content=body, headers={"content-type": kind})
    assert answer.status_code == 415


def test_every_answer_forbids_scripts_frames_and_other_readers(anybody: httpx.Client) -> None:
    for path in ("/", f"{API}/state", f"{API}/nothing", f"{API}/picture.jpg"):
        headers = anybody.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'self'; img-src 'self' blob: data:;")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


def test_no_answer_holds_the_pin(table: TrueTable, insider: httpx.Client) -> None:
    assert PIN in table.page.words
    for path in ("state", "events", "me", "plays?hand=1", "openapi.json"):
        assert PIN not in insider.get(f"{API}/{path}").text


def test_large_bodies_are_not_read(insider: httpx.Client) -> None:
    large = b'{"action": "' + b"x" * (2 * MOST_BODY) + b'"}'
    assert insider.post(f"{API}/actions", content=large, headers=JSON).status_code == 413
    pieces = (large[at : at + 1000] for at in range(0, len(large), 1000))
    assert insider.post(f"{API}/actions", content=pieces, headers=JSON).status_code == 413
    assert insider.post(f"{API}/actions", content=b"[" * MOST_BODY, headers=JSON).status_code in (400, 422)


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
_NAMES = st.sampled_from(
    [
        "type",
        "seq",
        "seat",
        "pips",
        "points",
        "button",
        "before",
        "kind",
        "at",
        "choice",
        "topic",
        "log",
        "why",
        "tiles",
    ]
)
_TYPES = st.sampled_from(
    ["press", "answer", "amend", "remove", "stands", "insert", "points", "lead", "left", "take_back", "x"]
)
_SMALL = st.integers(-1, 30) | st.lists(st.integers(-1, 19), min_size=2, max_size=2) | st.none() | _ANYTHING
_ACTIONS = st.builds(lambda kind, fields: {**fields, "type": kind}, _TYPES, st.dictionaries(_NAMES, _SMALL, max_size=4))
_BODIES = st.binary(max_size=200) | st.builds(
    lambda said: json.dumps(said).encode(),
    _ANYTHING | st.fixed_dictionaries({"action": _ACTIONS | _ANYTHING}, optional={"if_version": _ANYTHING}),
)


@pytest.fixture(scope="module")
def shaken() -> Iterator[TrueTable]:
    """A table of its own, for whoever does not mind how the game stands afterwards."""
    with at_table() as table:
        table.play(12)
        yield table


@pytest.fixture(scope="module")
def stranger(shaken: TrueTable) -> Iterator[httpx.Client]:
    """Somebody at that table who does not know the PIN."""
    with httpx.Client(base_url=shaken.page.url) as client:
        yield client


@pytest.fixture(scope="module")
def friend(shaken: TrueTable) -> Iterator[httpx.Client]:
    """Somebody at that table who does."""
    with httpx.Client(base_url=shaken.page.url) as client:
        client.post(f"{API}/login", json={"pin": PIN})
        yield client


@pytest.mark.slow
@given(_BODIES)
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_body_breaks_the_page_or_the_game(shaken: TrueTable, friend: httpx.Client, body: bytes) -> None:
    answer = friend.post(f"{API}/actions", content=body, headers=JSON)
    assert answer.status_code in (200, 400, 409, 422)
    assert answer.status_code == 200 or list(answer.json()) == ["error"]
    assert friend.get(f"{API}/state").status_code == 200
    assert shaken.thread is not None
    assert shaken.thread.is_alive()


@pytest.mark.slow
@given(_BODIES)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_body_gets_in_without_the_pin(shaken: TrueTable, stranger: httpx.Client, body: bytes) -> None:
    before = log_of(shaken)
    for path in ("actions", "login"):
        answer = stranger.post(f"{API}/{path}", content=body, headers=JSON)
        assert answer.status_code in (400, 401, 403, 422, 429)
        assert "set-cookie" not in answer.headers
    assert log_of(shaken) == before


@pytest.mark.slow
@given(st.text(max_size=60), st.sampled_from(["state", "events", "plays", "picture.jpg", "tiles/", "me", "x"]))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_address_breaks_the_page(stranger: httpx.Client, text: str, path: str) -> None:
    answer = stranger.get(f"{API}/{path}", params={"after": text, "hand": text, "width": text})
    assert answer.status_code in (200, 404, 422)


def asked(url: str, request: bytes, *, is_all: bool = True) -> bytes:
    """What comes back for bytes that no browser would send; unless that is all, the line stays open."""
    where = urlsplit(url)
    with socket.create_connection((where.hostname, where.port), timeout=10) as line:
        line.sendall(request)
        if is_all:
            with suppress(OSError):  # it may have answered and hung up already
                line.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := line.recv(65536):
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
def test_what_is_no_http_is_refused_and_the_page_goes_on(table: TrueTable, request_bytes: bytes) -> None:
    try:
        answer = asked(table.page.url, request_bytes)
    except ConnectionError:
        answer = b""
    assert not answer.startswith((b"HTTP/1.1 2", b"HTTP/1.1 5"))
    assert httpx.get(f"{table.page.url}{API}/state").status_code == 200


_SHAKE = (
    b"GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def shaken_hands_and_said(url: str, frame: bytes) -> bytes:
    """What comes back for bytes on a line that has become a WebSocket, until the other side closes it."""
    where = urlsplit(url)
    with socket.create_connection((where.hostname, where.port), timeout=10) as line:
        line.sendall(_SHAKE)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += line.recv(65536)
        assert answer.startswith(b"HTTP/1.1 101 Switching")
        line.sendall(frame)
        with suppress(ConnectionError):
            while piece := line.recv(65536):
                answer += piece
        return answer


@pytest.mark.parametrize(
    "frame",
    [
        b"\x81\x05hello",  # not masked
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0",  # eight exabytes are to follow
        b"\x81\xfe\xff\xff\0\0\0\0" + b"x" * 65535,
        b"\x81\x82\0\0\0\0\xff\xfe",  # no UTF-8
        b"\x80\x80\0\0\0\0",  # goes on with nothing
        b"\x89\xfe\x01\x00\0\0\0\0" + b"p" * 256,  # a ping that is too long
        b"\x01\x81\0\0\0\0a" * 100,
    ],
    ids=lambda given: repr(given[:12]),
)
def test_frames_that_are_none_close_their_own_line_only(table: TrueTable, frame: bytes) -> None:
    with viewer(table) as other:
        told(other)
        assert shaken_hands_and_said(table.page.url, frame)
        other.send("ping")
        assert told(other)["type"] == "pong"


def test_a_text_that_is_no_utf_8_closes_the_line_with_the_code_for_that(table: TrueTable) -> None:
    invalid = b"\x81\x82\0\0\0\0\xff\xfe"
    assert shaken_hands_and_said(table.page.url, invalid).endswith(b"\x88\x02" + (1007).to_bytes(2, "big"))


def test_no_path_of_a_websocket_is_a_fault_of_the_page(table: TrueTable) -> None:
    for path in ("/", f"{API}/nothing", f"{API}/state", f"{API}/%ff", f"{API}/live?lang=%ff"):
        with pytest.raises(InvalidStatus) as refused:
            connect(table.page.url.replace("http", "ws") + path, proxy=None)
        assert 400 <= refused.value.response.status_code < 500, path


def test_a_frame_of_more_than_a_kilobyte_closes_the_line(table: TrueTable) -> None:
    with viewer(table) as watched:
        told(watched)
        watched.send("x" * 1025)
        assert closed_with(watched) == 1009


def test_a_viewer_that_chatters_is_shown_the_door(table: TrueTable) -> None:
    with viewer(table) as watched:
        told(watched)
        with suppress(ConnectionClosed):  # the door may be shut before all is said
            for _ in range(60):
                watched.send("chatter")
        assert closed_with(watched) == 1008


def test_there_are_only_so_many_viewers(table: TrueTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallybone.web.app.MOST_VIEWERS", 2)
    with viewer(table) as one, viewer(table) as two:
        told(one)
        told(two)
        with pytest.raises(InvalidStatus), viewer(table):
            pass
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:  # until those two are known to be gone
        try:
            with viewer(table) as late:
                assert told(late)["type"] == "snapshot"
                return
        except InvalidStatus:
            continue
    pytest.fail("nobody is let in although there is room")


def test_only_so_much_is_asked_of_a_game_that_does_not_answer() -> None:
    feed = LiveFeed(time.monotonic_ns)
    press = PressButton(type="press", button="knock")
    taken = [feed.desk.ask(PageRequest(press, "", None)) for _ in range(60)]
    assert sum(one is not None for one in taken) == 50


def test_nothing_outside_its_folder_is_served(tmp_path: Path) -> None:
    static = tmp_path / "static"
    static.mkdir()
    (static / "index.html").write_text("<!doctype html>the page")
    (tmp_path / "secret.txt").write_text("secret")
    (static / "way.txt").symlink_to(tmp_path / "secret.txt")
    feed = LiveFeed(time.monotonic_ns)
    access = Access(PIN, b"k" * 32, time.monotonic_ns)
    listening = listen_on("127.0.0.1:0")
    url = Address.of(listening).url
    serving = Serving(make_app(feed, access, PagePictures(time.monotonic_ns), static=static), listening, feed)
    try:
        assert httpx.get(f"{url}/").text == "<!doctype html>the page"
        assert httpx.get(f"{url}/?display").status_code == 200
        for path in (
            "/../secret.txt",
            "/..%2fsecret.txt",
            "/%2e%2e/secret.txt",
            "/static/../../secret.txt",
            "//etc/passwd",
            "/..\\secret.txt",
            "/%00",
            "/way.txt",
            "/api/v1/../../secret.txt",
            f"{API}/tiles/..%2f..%2fsecret.jpg",
        ):
            answer = asked(
                url, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode(), is_all=False
            )
            assert answer.split(b" ")[1] in (b"404", b"400", b"422"), path
            assert b"secret" not in answer.partition(b"\r\n\r\n")[2], path
    finally:
        serving.close()


def test_a_long_or_hostile_name_of_an_author_is_cut(table: TrueTable) -> None:
    with httpx.Client(base_url=table.page.url) as client:
        client.post(f"{API}/login", json={"pin": PIN, "name": "\u202e<b>" + "n" * 190})
        assert client.get(f"{API}/me").json() == {
            "controls": True,
            "name": "<b>" + "n" * 36 + "…",
        }
        assert do(client, type="press", button="stack").status_code == 200


def test_a_port_that_is_taken_is_said(table: TrueTable) -> None:
    port = urlsplit(table.page.url).port
    with pytest.raises(OSError, match=f"127.0.0.1:{port}: another program uses this port"):
        listen_on(f"127.0.0.1:{port}")
    with pytest.raises(OSError, match="expected a port"):
        listen_on("127.0.0.1:http")


def test_the_schema_names_every_path(anybody: httpx.Client) -> None:
    paths = anybody.get(f"{API}/openapi.json").json()["paths"]
    assert {path.removeprefix(API) for path in paths} >= {"/state", "/events", "/login", "/logout", "/me", "/actions"}


def test_other_methods_are_refused(anybody: httpx.Client) -> None:
    assert anybody.put(f"{API}/actions", json={}).status_code == 405
    assert anybody.get(f"{API}/actions").status_code in (404, 405)
