"""Events sent to web addresses: signed, bounded, tried again, and never waited for."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random

import pytest

from tallybone.notify.events import TableEvent
from tallybone.notify.webhook import MOST_TRIES, MOST_WAITING, WebhookThread
from tallybone.store.table_file import EventKind, Webhook
from tests.waiting import until

AT = datetime(2026, 5, 1, 18, tzinfo=UTC)


class Wall:
    """Something that takes webhooks: it answers with *answers*, then with 204, and each as late as it is told."""

    def __init__(self, answers: list[int]) -> None:
        self.came: list[tuple[str, dict[str, str], bytes]] = []
        self.answers, self.goes_on = answers, threading.Event()
        self.goes_on.set()
        wall = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                wall.came.append((self.path, {key.lower(): one for key, one in self.headers.items()}, body))
                wall.goes_on.wait(20)
                status = wall.answers.pop(0) if wall.answers else 204
                self.send_response(status)
                if status == 302:
                    self.send_header("location", "/elsewhere")
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/lights?wall=1"

    @property
    def numbers(self) -> list[int]:
        return [json.loads(body)["seq"] for _, _, body in self.came]


@contextmanager
def a_wall(*answers: int) -> Iterator[Wall]:
    wall = Wall(list(answers))
    thread = threading.Thread(target=wall.server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield wall
    finally:
        wall.goes_on.set()
        wall.server.shutdown()
        thread.join()
        wall.server.server_close()


class Soon(Random):
    """Waits no time at all between two tries: jitter takes half of a wait at most, this one all of it."""

    def random(self) -> float:
        return -0.999


@contextmanager
def hook_to(wall: Wall, **more: object) -> Iterator[WebhookThread]:
    hook = WebhookThread(Webhook(url=wall.url, **more), lambda: AT, Soon(), "tallybone 1")  # type: ignore[arg-type]
    try:
        yield hook
    finally:
        hook.close()


def points(number: int, kind: EventKind = EventKind.POINTS) -> tuple[TableEvent, ...]:
    return (TableEvent(kind, {"seq": number, "table": "table-3"}),)


def test_an_event_arrives_as_json_with_a_signature_that_the_secret_explains() -> None:
    with a_wall() as wall, hook_to(wall, secret="sesame") as hook:
        hook.tell(points(1))
        until(lambda: wall.came)
        ((path, headers, body),) = wall.came
        assert path == "/lights?wall=1"
        assert headers["content-type"] == "application/json"
        assert json.loads(body) == {"seq": 1, "table": "table-3"}
        at = str(int(AT.timestamp()))
        wanted = hmac.new(b"sesame", f"{at}.".encode() + body, hashlib.sha256).hexdigest()
        assert headers["tallybone-signature"] == f"t={at},v1={wanted}"


def test_without_a_secret_nothing_is_signed_and_a_table_may_have_its_own_name() -> None:
    with a_wall() as wall, hook_to(wall, table="wall-7") as hook:
        hook.tell(points(1))
        until(lambda: wall.came)
        assert "tallybone-signature" not in wall.came[0][1]
        assert json.loads(wall.came[0][2])["table"] == "wall-7"


def test_only_what_is_wanted_is_sent() -> None:
    with a_wall() as wall, hook_to(wall, events=(EventKind.POINTS,)) as hook:
        hook.tell((*points(1, EventKind.PLAY), *points(2), *points(3, EventKind.QUESTION), *points(4)))
        until(lambda: len(wall.came) == 2)
        assert wall.numbers == [2, 4]


@pytest.mark.parametrize("answer", [500, 503, 429, 408])
def test_what_may_go_better_later_is_tried_again_in_order(answer: int) -> None:
    with a_wall(answer, answer) as wall, hook_to(wall) as hook:
        hook.tell((*points(1), *points(2)))
        until(lambda: len(wall.came) == 4)
        assert wall.numbers == [1, 1, 1, 2]


@pytest.mark.parametrize("answer", [400, 401, 404, 410, 302])
def test_a_no_stays_one_and_nobody_is_followed_elsewhere(answer: int, caplog: pytest.LogCaptureFixture) -> None:
    with a_wall(answer) as wall, hook_to(wall) as hook:
        hook.tell((*points(1), *points(2)))
        until(lambda: len(wall.came) == 2)
        assert wall.numbers == [1, 2]
        assert {path for path, _, _ in wall.came} == {"/lights?wall=1"}
        assert any(f"answered {answer}" in one for one in caplog.messages)
        assert "wall=1" not in caplog.text


def test_what_never_works_is_left_after_some_tries() -> None:
    with a_wall(*[500] * MOST_TRIES) as wall, hook_to(wall) as hook:
        hook.tell((*points(1), *points(2)))
        until(lambda: len(wall.came) == MOST_TRIES + 1)
        assert wall.numbers == [1] * MOST_TRIES + [2]


def test_a_wall_that_hangs_holds_nobody_up_and_the_oldest_events_go() -> None:
    with a_wall() as wall, hook_to(wall) as hook:
        wall.goes_on.clear()
        hook.tell(points(0))
        until(lambda: wall.came)
        for number in range(1, MOST_WAITING + 101):
            hook.tell(points(number))
        wall.goes_on.set()
        until(lambda: len(wall.came) == MOST_WAITING + 1)
        assert wall.numbers == [0, *range(101, MOST_WAITING + 101)]


def test_nobody_at_the_address_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with a_wall() as wall:
        url = wall.url
    hook = WebhookThread(Webhook(url=url), lambda: AT, Soon(), "tallybone 1")
    hook.tell((*points(1), *points(2)))
    until(lambda: caplog.messages)
    hook.close()
    assert len(caplog.messages) == 1
    assert "Connection refused" in caplog.messages[0]
