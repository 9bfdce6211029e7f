"""Tests of findings about unreachable brokers and webhooks at `/health` and in the doctor."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from random import Random

import httpx
import pytest

pytest.importorskip("aiomqtt", reason="aiomqtt is not installed: pip install '.[mqtt]'")

from tallybone.cli.play import PlayOptions, play
from tallybone.doctor.examine import Probes
from tallybone.finding import Grade
from tallybone.notify.broker import (
    MAX_WAITING,
    BrokerConnection,
    WebhookThread,
    broker_found,
    try_webhook,
    webhook_found,
)
from tallybone.notify.mqtt import Outbox
from tallybone.store.table_file import Broker, Webhook
from tallybone.texts import in_language
from tests.tallybone.notify.brokers import MOSQUITTO, WHY_NOT, free_port, real_broker
from tests.tallybone.notify.test_outbox import drained, event, state
from tests.tallybone.notify.test_webhook import AT, NoWait, hook_to, points, webhook_server
from tests.tallybone.serve.served import at_served_table
from tests.tallybone.serve.test_metrics import samples
from tests.waiting import PATIENCE_S, until

PROBES = Probes(lambda seconds: None)


def reasons(url: str) -> str:
    return " ".join(httpx.get(f"{url}/health", timeout=PATIENCE_S).json()["reasons"])


def found(url: str) -> dict[str, tuple[str, str]]:
    """Return grade and words of the finding of each part."""
    findings = httpx.get(f"{url}/api/v1/health", timeout=PATIENCE_S).json()["findings"]
    return {finding["part"]: (finding["grade"], finding["text"]) for finding in findings}


def config_for(folder: Path, broker: str, webhook: str) -> Path:
    path = folder / "table.toml"
    path.write_text(f'[mqtt]\nbroker = "{broker}"\ntable = "t"\n[[webhooks]]\nurl = "{webhook}"\n')
    return path


def test_the_oldest_events_are_dropped_from_a_full_queue_and_counted() -> None:
    outbox = Outbox(max_events=3)
    for number in range(10):
        outbox.put(event(number))
        outbox.put(state("a"))
    assert outbox.lost == 7
    assert drained(outbox) == [b"a", b"7", b"8", b"9"]


def test_rejected_events_are_counted_and_reported() -> None:
    with webhook_server(404) as receiver, hook_to(receiver) as hook:
        assert hook.found.grade is Grade.OK
        hook.tell(points(1))
        until(lambda: hook.found.grade is Grade.PROBLEM)
        until(lambda: hook.found.text.endswith("answered 404; 1 event was rejected"))
        hook.tell(points(2))
        until(lambda: hook.found.grade is Grade.WARNING)
        receiver.may_answer.clear()
        for number in range(MAX_WAITING + 12):
            hook.tell(points(number))
        until(lambda: "events were rejected" in hook.found.text)
        assert "wall=1" not in hook.found.text, "the path of the URL may be a secret"


def test_an_unreachable_webhook_is_a_problem_and_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    port = free_port()
    hook = WebhookThread(Webhook(url=f"http://127.0.0.1:{port}/"), lambda: AT, NoWait(), "tallybone 1")
    hook.tell(points(1))
    until(lambda: "Connection refused" in hook.found.text)
    assert hook.found.grade is Grade.PROBLEM
    hook.tell(points(2))
    hook.close()
    assert ["Connection refused" in message for message in caplog.messages] == [True]


def test_health_of_a_terminal_game_reports_unreachable_recipients(tmp_path: Path) -> None:
    config = config_for(tmp_path, f"mqtt://127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}/secret")
    reading, writing = os.pipe()
    out = StringIO()

    def check_and_quit() -> str:
        """Check the findings over HTTP, then quit by the key."""
        try:
            until(lambda: "page http" in out.getvalue())
            url = out.getvalue().partition("page ")[2].split()[0]
            until(lambda: "broker: no broker answers at mqtt://127.0.0.1:" in reasons(url))
            until(lambda: found(url)["webhook"][0] == "problem")
            assert "secret" not in httpx.get(f"{url}/api/v1/health").text
            assert found(url)["recording"][0] == "ok"
            return httpx.get(f"{url}/metrics", timeout=PATIENCE_S).text
        finally:
            os.write(writing, b"qq")

    options = PlayOptions(camera="none", config=config, record=str(tmp_path / "sessions"), serve="127.0.0.1:0")
    with ThreadPoolExecutor(1) as executor:
        checking = executor.submit(check_and_quit)
        assert play(options, out=out, err=out, keys_fd=reading) == 0
    for end in (reading, writing):
        os.close(end)
    numbers = samples(checking.result())
    assert (numbers["tallybone_match_played"], numbers["tallybone_part_up broker"]) == (1.0, 0.0)


@pytest.mark.skipif(MOSQUITTO is None, reason=WHY_NOT)
def test_a_killed_broker_is_reported_at_health_until_its_return(tmp_path: Path) -> None:
    with real_broker(tmp_path) as broker, webhook_server() as receiver:
        config = config_for(tmp_path, broker.url, receiver.url)
        with at_served_table(tmp_path, config=config) as table:
            until(lambda: found(table.url)["broker"] == ("ok", broker.url))
            assert found(table.url)["webhook"][0] == "ok"
            broker.kill()
            # On a busy machine, the first attempt to connect again may come before this.
            lost = (f"lost the connection to {broker.url}", f"no broker answers at {broker.url}")
            until(lambda: any(f"broker: {text}" in reasons(table.url) for text in lost))
            broker.start()
            until(lambda: found(table.url)["broker"][0] == "ok")


@pytest.mark.skipif(MOSQUITTO is None, reason=WHY_NOT)
def test_the_doctor_connects_to_each_recipient(tmp_path: Path) -> None:
    port = free_port()
    problem = PROBES.broker(Broker(host="127.0.0.1", port=port))
    assert problem == f"no broker answers at mqtt://127.0.0.1:{port}"
    with real_broker(tmp_path, "allow_anonymous false") as broker, webhook_server() as receiver:
        refused = PROBES.broker(Broker(host="127.0.0.1", port=broker.port))
        assert refused == f"{broker.url} requires a user: set user and password_file"
        assert PROBES.webhook(Webhook(url=receiver.url)) is None
        assert receiver.requests == [], "the check sends no request"
    with real_broker(tmp_path) as broker:
        assert PROBES.broker(Broker(host="127.0.0.1", port=broker.port)) is None
    assert "Connection refused" in str(PROBES.webhook(Webhook(url=f"http://127.0.0.1:{port}/a-secret?x=1")))
    assert "secret" not in str(PROBES.webhook(Webhook(url=f"http://127.0.0.1:{port}/a-secret?x=1")))


@pytest.mark.parametrize("language", ["es", "pt", "fr"])
def test_all_findings_are_translated(language: str) -> None:
    line, hook = BrokerConnection(Broker(host="hub", port=1), Random(1)), Webhook(url="http://127.0.0.1:1/")
    for lost in (0, 1, 3):
        for finding in (
            broker_found("mqtt://hub:1", line.problem, lost),
            broker_found("mqtt://hub:1", None, lost),
            webhook_found("http://127.0.0.1:1", try_webhook(hook), lost),
            webhook_found("http://127.0.0.1:1", None, lost),
        ):
            for text in (finding.part, finding.text, finding.remedy):
                translated = in_language(text, language)
                assert translated != text or text in ("", "mqtt://hub:1", "webhook") or "127.0.0.1" in text, text
                assert "event" not in translated.replace("événement", "")
