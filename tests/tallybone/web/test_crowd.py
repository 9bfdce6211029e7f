"""Tests of many idle, partial or flooding connections: others get in, and the log stays short."""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.sync.client import connect

from tallybone.web.access.access import Access
from tallybone.web.access.serving import Address, Limits, SeldomFilter, Serving, listen_on
from tallybone.web.live.app import make_app
from tallybone.web.live.feed import LiveFeed, PagePictures
from tests.tallybone.web.conftest import ManualClock
from tests.tallybone.web.true_table import PIN
from tests.waiting import until

API = "/api/v1"
SHAKE = (
    b"GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
)
TALLYBONE = str(Path(sys.executable).with_name("tallybone"))
HALF_HEAD = b"GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nX-Long: "
HALF_BODY = (
    b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"
)


@contextmanager
def served(limits: Limits, *small_buffers: int) -> Iterator[str]:
    """Yield the address of a page without a game. *small_buffers* are the socket buffers to shrink."""
    feed = LiveFeed(time.monotonic_ns)
    access = Access(PIN, b"k" * 32, time.monotonic_ns)
    listening = listen_on("127.0.0.1:0")
    for buffer in small_buffers:
        listening.setsockopt(socket.SOL_SOCKET, buffer, 4096)
    serving = Serving(make_app(feed, access, PagePictures(time.monotonic_ns)), listening, feed.run, limits)
    try:
        yield Address.of(listening).url
    finally:
        serving.close()


def connection_from(address: str, url: str, sent: bytes = b"") -> socket.socket:
    """Return a connection from a local address that has sent *sent* and then stays idle."""
    target = urlsplit(url)
    line = socket.create_connection((target.hostname or "", target.port or 0), timeout=120, source_address=(address, 0))
    line.sendall(sent)
    return line


def warnings_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def is_closed(line: socket.socket) -> bool:
    """Wait until the other side closes a connection, ignoring anything it sends."""
    try:
        while line.recv(4096):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize("sent", [b"", HALF_HEAD, HALF_BODY], ids=["nothing", "half a head", "half a body"])
def test_an_incomplete_request_is_closed(sent: bytes) -> None:
    with served(Limits(most=50, request_within_s=0.3)) as url, connection_from("127.0.0.2", url, sent) as line:
        assert is_closed(line)


def test_a_slowly_sent_head_is_closed() -> None:
    with served(Limits(most=50, request_within_s=0.3)) as url, connection_from("127.0.0.2", url, HALF_HEAD) as line:
        line.settimeout(0.02)

        def is_cut_off() -> bool:
            try:
                line.sendall(b"x")
                return line.recv(1) == b""
            except TimeoutError:
                return False
            except ConnectionError:
                return True

        until(is_cut_off)


@pytest.mark.parametrize(("min_bytes_per_s", "is_answered"), [(100.0, True), (1_000_000.0, False)])
def test_a_body_may_take_as_long_as_it_goes_on(min_bytes_per_s: float, is_answered: bool) -> None:
    body = b'{"pin": "' + b"1" * 3000 + b'"}'
    head = HALF_BODY.replace(b"20", str(len(body)).encode())[:-1]
    limits = Limits(most=50, request_within_s=0.3, min_bytes_per_s=min_bytes_per_s)
    with served(limits) as url, connection_from("127.0.0.2", url, head) as line:
        answer = b""
        try:
            for at in range(0, len(body), 100):
                line.sendall(body[at : at + 100])
                threading.Event().wait(0.03)
            answer = line.recv(4096)
        except ConnectionError:
            pass
        assert answer.startswith(b"HTTP/1.1 4") is is_answered


@pytest.mark.slow
def test_viewers_and_repeated_requests_stay_connected() -> None:
    with (
        served(Limits(most=50, request_within_s=1.0)) as url,
        connect(url.replace("http", "ws") + f"{API}/live", proxy=None) as watching,
        httpx.Client() as client,
    ):
        began_s = time.monotonic()
        until(lambda: client.get(f"{url}{API}/me").status_code == 200 and time.monotonic() - began_s > 1.5)
        watching.send("ping")
        assert watching.recv(10) == '{"type":"pong"}'


@pytest.mark.parametrize(
    "sent",
    [b"", pytest.param(HALF_HEAD, marks=pytest.mark.slow), pytest.param(HALF_BODY, marks=pytest.mark.slow)],
    ids=["nothing", "half a head", "half a body"],
)
def test_idle_connections_give_way_to_requests(sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    with served(Limits(most=40, max_of_one=10)) as url, ExitStack() as stack:
        for at in range(100):
            stack.enter_context(connection_from(f"127.0.1.{at % 50}", url, sent))
        for last in range(8):
            transport = httpx.HTTPTransport(local_address=f"127.0.2.{last}")
            with httpx.Client(transport=transport, timeout=120) as client:
                assert client.get(f"{url}{API}/me").status_code == 200
    assert len(caplog.records) <= 2


@pytest.mark.parametrize(
    "frames",
    [b"\x81\x80\0\0\0\0", b"\x89\x80\0\0\0\0", b"\x01\x80\0\0\0\0" + b"\x00\x80\0\0\0\0" * 39_999],
    ids=["texts", "pings", "parts of one message"],
)
def test_flooding_a_websocket_blocks_an_address_for_a_while(frames: bytes, caplog: pytest.LogCaptureFixture) -> None:
    flood = frames * (240_000 // len(frames))
    with served(Limits(most=40, max_of_one=10)) as url, ExitStack() as stack:
        live = url.replace("http", "ws") + f"{API}/live"
        flooding = [stack.enter_context(connection_from("127.0.0.2", url, SHAKE)) for _ in range(5)]
        for line in flooding:
            assert line.recv(12) == b"HTTP/1.1 101"
        for line in flooding:
            with suppress(ConnectionError):
                line.sendall(flood)
            assert is_closed(line)
        with pytest.raises(httpx.TransportError):
            httpx.Client(transport=httpx.HTTPTransport(local_address="127.0.0.2")).get(f"{url}{API}/me")
        with connect(live, proxy=None, sock=connection_from("127.0.0.3", url)) as other:
            other.send("ping")
            assert other.recv(10) == '{"type":"pong"}'
    assert warnings_in(caplog) == ["127.0.0.2 sends too much on a WebSocket: blocked for a minute"]


def test_localhost_is_not_blocked_for_a_flood() -> None:
    with served(Limits(most=40)) as url:
        with connection_from("127.0.0.1", url, SHAKE) as line:
            assert line.recv(12) == b"HTTP/1.1 101"
            with suppress(ConnectionError):
                line.sendall(b"\x81\x80\0\0\0\0" * 40_000)
            assert is_closed(line)
        assert httpx.get(f"{url}{API}/me").status_code == 200


BAD_CHUNK = b"zz\r\n{}\r\n0\r\n\r\n"


@pytest.mark.parametrize("kind", [b"text/plain", b"application/json"], ids=["answered early", "answered late"])
@pytest.mark.parametrize("waits", [False, True], ids=["at once", "after the head"])
def test_a_bad_chunk_closes_the_connection_without_a_traceback(
    kind: bytes, waits: bool, caplog: pytest.LogCaptureFixture
) -> None:
    head = (
        b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + kind + b"\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )
    early = waits and kind == b"text/plain"
    with served(Limits(most=10)) as url, connection_from("127.0.0.2", url, head if waits else head + BAD_CHUNK) as line:
        answer = b""
        if early:
            answer = line.recv(65536)
        if waits:
            line.sendall(BAD_CHUNK)
        answer = answer or line.recv(65536)
        assert answer.startswith(b"HTTP/1.1 415 " if early else b"HTTP/1.1 400 ")
        assert is_closed(line)
    assert warnings_in(caplog) == ["Invalid HTTP request received."]


@pytest.mark.parametrize("first", [b"Content-Length: 4", b"Transfer-Encoding: chunked"])
def test_a_request_with_two_lengths_is_refused(first: bytes, caplog: pytest.LogCaptureFixture) -> None:
    second = b"Content-Length: 4" if first.startswith(b"T") else b"Transfer-Encoding: chunked"
    smuggled = b"0\r\n\r\nGET /api/v1/me HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
    sent = b"\r\n".join((head, first, second, b"", smuggled))
    answers = b""
    with served(Limits(most=10)) as url, connection_from("127.0.0.2", url, sent) as line, suppress(ConnectionError):
        while piece := line.recv(65536):
            answers += piece
    assert answers.startswith(b"HTTP/1.1 400 ")
    assert answers.count(b"HTTP/1.1 ") == 1
    assert warnings_in(caplog) == ["Invalid HTTP request received."]


def stalled_connection(stack: ExitStack, address: str, url: str, path: bytes = b"/", times: int = 500) -> socket.socket:
    """Return a connection that requests a file repeatedly and reads nothing."""
    line = stack.enter_context(socket.socket())
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.bind((address, 0))
    target = urlsplit(url)
    line.connect((target.hostname, target.port))
    line.sendall((b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n") * times)
    return line


def can_request(url: str, address: str) -> bool:
    """Check that the page answers a request from an address."""
    with httpx.Client(transport=httpx.HTTPTransport(local_address=address), timeout=120) as client:
        try:
            return client.get(f"{url}{API}/me").status_code == 200
        except httpx.TransportError:
            return False


@pytest.mark.slow
def test_a_client_that_does_not_read_its_answers_is_disconnected(caplog: pytest.LogCaptureFixture) -> None:
    closed = "127.0.0.2 does not read its responses: closed a connection"
    with served(Limits(most=10, unread_within_s=1.0)) as url, ExitStack() as stack:
        for _ in range(10):
            stalled_connection(stack, "127.0.0.2", url)
        until(lambda: closed in [record.getMessage() for record in caplog.records])
        until(lambda: can_request(url, "127.0.0.3"))


def test_some_connections_are_reserved_for_localhost() -> None:
    # On a busy machine, the stalled connections would otherwise be closed before the next one is tried.
    with served(Limits(most=30, request_within_s=120, unread_within_s=120)) as url, ExitStack() as stack:
        for _ in range(30):
            stalled_connection(stack, "127.0.0.2", url)
        until(lambda: not can_request(url, "127.0.0.3"), 90)
        assert can_request(url, "127.0.0.1")


@pytest.mark.slow
def test_an_answer_that_is_read_late_is_complete() -> None:
    with served(Limits(most=10, request_within_s=1.0), socket.SO_SNDBUF) as url, ExitStack() as stack:
        script = re.search(r'src="([^"]+)"', httpx.get(url).text)
        assert script is not None
        line = stalled_connection(stack, "127.0.0.2", url, b"/" + script[1].encode(), times=1)
        began_s = time.monotonic()
        until(lambda: time.monotonic() > began_s + 1.5)
        answer = b""
        line.settimeout(10)
        while piece := line.recv(65536):
            answer += piece
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        assert f"content-length: {len(body)}".encode() in head


def test_the_connections_of_one_address_are_limited(caplog: pytest.LogCaptureFixture) -> None:
    with served(Limits(most=40, max_of_one=10)) as url, ExitStack() as stack:
        live = url.replace("http", "ws") + f"{API}/live"
        watching = [
            stack.enter_context(connect(live, proxy=None, sock=connection_from("127.0.0.2", url))) for _ in range(10)
        ]
        for _ in range(20):
            assert is_closed(
                stack.enter_context(connection_from("127.0.0.2", url, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            )
        watching[0].send("ping")
        assert watching[0].recv(10) == '{"type":"pong"}', "connections in use stay open"
        with httpx.Client() as client:
            assert client.get(f"{url}{API}/me").status_code == 200
    assert warnings_in(caplog) == ["127.0.0.2 has 10 connections in use: rejecting more"]


def test_refuses_and_logs_when_all_connections_are_in_use(caplog: pytest.LogCaptureFixture) -> None:
    with served(Limits(most=12)) as url, ExitStack() as stack:
        live = url.replace("http", "ws") + f"{API}/live"
        for _ in range(12):
            stack.enter_context(connect(live, proxy=None))
        for _ in range(5):
            with pytest.raises(httpx.TransportError):
                httpx.get(f"{url}{API}/me")
    assert warnings_in(caplog) == ["all 12 connections are in use: rejecting more"]


def test_a_repeated_fault_is_logged_once_a_minute_with_its_count() -> None:
    clock = ManualClock()
    seldom = SeldomFilter(clock)

    def logged(text: str, *values: object, error: BaseException | None = None) -> str | None:
        found = None if error is None else (type(error), error, error.__traceback__)
        record = logging.LogRecord("page", logging.WARNING, "", 0, text, values, found)
        return record.getMessage() if seldom.filter(record) else None

    assert logged("from %s", "a") == "from a"
    assert logged("from %s", "b") is None
    assert logged("no descriptor\nsocket: 7") == "no descriptor\nsocket: 7"
    assert logged("no descriptor\nsocket: 8") is None
    assert logged("broke", error=ValueError("1")) == "broke"
    assert logged("broke", error=ValueError("2")) is None
    assert logged("broke", error=KeyError("2")) == "broke"
    clock.t_ns += 60_000_000_000
    assert logged("from %s", "c") == "from c (1 similar since the last one)"
    for at in range(5000):
        logged(f"always another {at}")
    assert seldom.known <= 1000


@pytest.mark.slow
def test_survives_ten_times_as_many_connections_as_descriptors(tmp_path: Path) -> None:
    serve = [TALLYBONE, "serve", "--camera", "none", "--at", "127.0.0.1:0"]
    command = ["sh", "-c", 'ulimit -n 256 && exec "$@"', "sh", *serve]
    errors = tmp_path / "errors"
    with (
        errors.open("w") as err,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=err,
            text=True,
            env=os.environ | {"XDG_STATE_HOME": str(tmp_path), "HOME": "/nonexistent"},
        ) as process,
        ExitStack() as stack,
    ):
        assert process.stdout is not None
        url = process.stdout.readline().split()[1]
        until(lambda: httpx.get(f"{url}{API}/state", timeout=120).status_code == 200)
        for at in range(2500):
            sent = (b"", HALF_HEAD)[at % 2]
            stack.enter_context(connection_from(f"127.0.{1 + at // 250}.{1 + at % 250}", url, sent))
            if at % 100 == 99:
                assert httpx.get(f"{url}{API}/state", timeout=120).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert len(errors.read_text().splitlines()) <= 10
