"""Tests of webhooks: signatures, queue limits, retries, and no blocking."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random

import pytest

from tallybone.notify.broker import MAX_TRIES, MAX_WAITING, WebhookThread
from tallybone.notify.mqtt import TableEvent
from tallybone.store.table_file import EventKind, Webhook
from tests.waiting import until

AT = datetime(2026, 5, 1, 18, tzinfo=UTC)


class WebhookServer:
    """A server of webhooks, which answers with *answers*, then 204, optionally delayed."""

    def __init__(self, answers: list[int]) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.answers, self.may_answer = answers, threading.Event()
        self.may_answer.set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.requests.append((self.path, {key.lower(): each for key, each in self.headers.items()}, body))
                receiver.may_answer.wait(20)
                status = receiver.answers.pop(0) if receiver.answers else 204
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
        return [json.loads(body)["seq"] for _, _, body in self.requests]


@contextmanager
def webhook_server(*answers: int) -> Iterator[WebhookServer]:
    receiver = WebhookServer(list(answers))
    thread = threading.Thread(target=receiver.server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield receiver
    finally:
        receiver.may_answer.set()
        receiver.server.shutdown()
        thread.join()
        receiver.server.server_close()


class NoWait(Random):
    """A generator without waits between retries, as its jitter cancels the whole wait."""

    def random(self) -> float:
        return -0.999


@contextmanager
def hook_to(receiver: WebhookServer, **more: object) -> Iterator[WebhookThread]:
    hook = WebhookThread(Webhook(url=receiver.url, **more), lambda: AT, NoWait(), "tallybone 1")  # type: ignore[arg-type]
    try:
        yield hook
    finally:
        hook.close()


def points(number: int, kind: EventKind = EventKind.POINTS) -> tuple[TableEvent, ...]:
    return (TableEvent(kind, {"seq": number, "table": "table-3"}),)


def test_an_event_is_sent_as_signed_json() -> None:
    with webhook_server() as receiver, hook_to(receiver, secret="sesame") as hook:
        hook.tell(points(1))
        until(lambda: receiver.requests)
        ((path, headers, body),) = receiver.requests
        assert path == "/lights?wall=1"
        assert headers["content-type"] == "application/json"
        assert json.loads(body) == {"seq": 1, "table": "table-3"}
        at = str(int(AT.timestamp()))
        expected = hmac.new(b"sesame", f"{at}.".encode() + body, hashlib.sha256).hexdigest()
        assert headers["tallybone-signature"] == f"t={at},v1={expected}"


def test_only_configured_events_are_sent_with_the_name_of_the_table() -> None:
    with webhook_server() as receiver, hook_to(receiver, events=(EventKind.POINTS,)) as hook:
        hook.tell((*points(1, EventKind.PLAY), *points(2), *points(3, EventKind.QUESTION), *points(4)))
        until(lambda: len(receiver.requests) == 2)
        assert receiver.numbers == [2, 4]
    with webhook_server() as receiver, hook_to(receiver, table="wall-7") as hook:
        hook.tell(points(1))
        until(lambda: receiver.requests)
        assert "tallybone-signature" not in receiver.requests[0][1]
        assert json.loads(receiver.requests[0][2])["table"] == "wall-7"


@pytest.mark.parametrize("answers", [[500] * MAX_TRIES, [503, 429, 408]])
def test_temporary_errors_are_retried_in_order_with_a_limit(answers: list[int]) -> None:
    with webhook_server(*answers) as receiver, hook_to(receiver) as hook:
        hook.tell((*points(1), *points(2)))
        tries = min(MAX_TRIES, len(answers) + 1)
        until(lambda: len(receiver.requests) == tries + 1)
        assert receiver.numbers == [1] * tries + [2]


@pytest.mark.parametrize("answer", [400, 401, 404, 410, 302])
def test_permanent_errors_and_redirects_are_not_retried(answer: int, caplog: pytest.LogCaptureFixture) -> None:
    with webhook_server(answer) as receiver, hook_to(receiver) as hook:
        hook.tell((*points(1), *points(2)))
        until(lambda: len(receiver.requests) == 2)
        assert receiver.numbers == [1, 2]
        assert {path for path, _, _ in receiver.requests} == {"/lights?wall=1"}
        assert any(f"answered {answer}" in message for message in caplog.messages)
        assert "wall=1" not in caplog.text


def test_a_hanging_server_drops_the_oldest_events_without_blocking() -> None:
    with webhook_server() as receiver, hook_to(receiver) as hook:
        receiver.may_answer.clear()
        hook.tell(points(0))
        until(lambda: receiver.requests)
        for number in range(1, MAX_WAITING + 101):
            hook.tell(points(number))
        receiver.may_answer.set()
        until(lambda: len(receiver.requests) == MAX_WAITING + 1)
        assert receiver.numbers == [0, *range(101, MAX_WAITING + 101)]
