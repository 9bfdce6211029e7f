"""Tests of publishing to a real broker: scores, events and availability, despite failures of the broker."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("aiomqtt", reason="aiomqtt is not installed: pip install '.[mqtt]'")

from engine import Undo
from tallybone.clock import wall_time
from tallybone.finding import ok
from tallybone.notify.mqtt import PageLink
from tallybone.notify.notifying import Beyond, telling
from tallybone.store.table_file import BeyondSettings, TopicSettings
from tests.tallybone.notify.brokers import MOSQUITTO, WHY_NOT, RealBroker, real_broker, subscribed, until_broker
from tests.tallybone.notify.snapshots import lobby, played, players, shown
from tests.tallybone.web.conftest import at_table

pytestmark = [pytest.mark.slow, pytest.mark.skipif(MOSQUITTO is None, reason=WHY_NOT)]
TOPIC = "tallybone/v1/table-3"


def settings_of(**mqtt: object) -> BeyondSettings:
    return BeyondSettings(TopicSettings.model_validate({"table": "table-3", "name": "Table 3", **mqtt}).topics)


@contextmanager
def table_at(broker: str, **mqtt: object) -> Iterator[Beyond]:
    """Yield a publishing table, still without a match."""
    settings = settings_of(broker=broker, **mqtt)
    beyond = Beyond(settings, lambda: (ok("camera", "works"),), Random(1), wall_time, PageLink())
    beyond.follow(lobby(), 0)
    try:
        yield beyond
    finally:
        beyond.close()


@pytest.fixture(name="broker")
def a_broker(tmp_path: Path) -> Iterator[RealBroker]:
    with real_broker(tmp_path) as broker:
        yield broker


def test_a_table_publishes_scores_events_and_availability(broker: RealBroker) -> None:
    with subscribed(broker) as subscriber:
        with table_at(broker.url) as table:
            table.follow(shown(0, 0), 1)
            table.follow(shown(10, 0, plays=(played(1, points=10),)), 1)
            until_broker(lambda: len(subscriber.events) == 3)
            until_broker(
                lambda: subscriber.newest.keys() >= {f"{TOPIC}/{name}" for name in ("scores", "state", "health")}
            )
            assert subscriber.newest[f"{TOPIC}/availability"] == b"online"
            assert [json.loads(event)["event"] for event in subscriber.events] == ["match_began", "play", "points"]
            assert [json.loads(event)["seq"] for event in subscriber.events] == [1, 2, 3]
            assert json.loads(subscriber.newest[f"{TOPIC}/health"])["grade"] == "ok"
        until_broker(lambda: subscriber.newest[f"{TOPIC}/availability"] == b"offline")


def test_late_subscribers_get_the_state_but_no_old_events(broker: RealBroker) -> None:
    standing = {f"{TOPIC}/{name}" for name in ("scores", "state", "availability")}
    with table_at(broker.url) as table:
        with subscribed(broker) as first:
            table.follow(shown(10, 0), 1)
            until_broker(lambda: len(first.events) == 1 and first.newest.keys() >= standing)
        with subscribed(broker) as second:
            until_broker(lambda: second.newest.keys() >= standing)
            assert json.loads(second.newest[f"{TOPIC}/scores"])["players"][0]["total"] == 10
            assert standing <= second.retained
            assert second.events == []


def play_on(table: Beyond, plays: int) -> None:
    """Publish plays by Ann of five points each."""
    for number in range(1, plays + 1):
        done = tuple(played(seq, points=5) for seq in range(1, number + 1))
        table.follow(shown(5 * number, 0, plays=done), 1)


def test_a_restarted_broker_gets_the_state_of_the_match(broker: RealBroker) -> None:
    with table_at(broker.url) as table:
        table.follow(shown(0, 0), 1)
        with subscribed(broker) as before:
            until_broker(lambda: f"{TOPIC}/scores" in before.newest)
        broker.kill()
        play_on(table, 20)
        broker.start()
        with subscribed(broker) as after:
            until_broker(lambda: after.newest.get(f"{TOPIC}/availability") == b"online", 90)
            until_broker(lambda: after.newest.keys() >= {f"{TOPIC}/{name}" for name in ("scores", "state", "health")})
            assert json.loads(after.newest[f"{TOPIC}/scores"])["players"][0]["total"] == 100


def test_no_event_is_lost_or_duplicated_without_the_broker(tmp_path: Path) -> None:
    kept = ("persistence true", f"persistence_location {tmp_path}/", "max_queued_messages 0")
    with real_broker(tmp_path, *kept) as broker, table_at(broker.url) as table, subscribed(broker) as subscriber:
        table.follow(shown(0, 0), 1)
        until_broker(lambda: len(subscriber.events) == 1)
        broker.stop()
        play_on(table, 20)
        broker.start()
        until_broker(lambda: len({json.loads(event)["seq"] for event in subscriber.events}) == 41, 90)
        events = {json.loads(event)["seq"]: json.loads(event) for event in subscriber.events}
        assert list(events) == list(range(1, 42))
        assert sum(event["points"] for event in events.values() if event["event"] == "points") == 100


def test_the_broker_publishes_a_killed_table_as_offline(broker: RealBroker, tmp_path: Path) -> None:
    with subscribed(broker) as subscriber:
        with subprocess.Popen(
            [sys.executable, "-c", _PUBLISH_FOREVER, broker.url], cwd=Path(__file__).parents[3]
        ) as process:
            until_broker(lambda: subscriber.newest.get(f"{TOPIC}/availability") == b"online")
            process.kill()
        until_broker(lambda: subscriber.newest[f"{TOPIC}/availability"] == b"offline", 90)


_PUBLISH_FOREVER = """
import sys, threading
sys.path.insert(0, ".")
from tests.tallybone.notify.test_broker import table_at
with table_at(sys.argv[1]):
    threading.Event().wait()
"""


def test_discovery_is_repeated_after_a_restart_of_home_assistant(broker: RealBroker) -> None:
    with table_at(broker.url), subscribed(broker) as subscriber:
        until_broker(lambda: f"{TOPIC}/health" in subscriber.newest)
        assert [topic for topic in subscriber.newest if not topic.startswith(f"{TOPIC}/")] == []  # off by default
    device = "homeassistant/device/tallybone_table-3/config"
    with table_at(broker.url, discovery=True), subscribed(broker) as subscriber:
        until_broker(lambda: device in subscriber.newest and f"{TOPIC}/scores" in subscriber.newest)
        subscriber.newest.clear()
        subscriber.client.publish("homeassistant/status", b"offline", qos=1)
        subscriber.client.publish("homeassistant/status", b"online", qos=1)
        until_broker(lambda: subscriber.newest.keys() >= {device, f"{TOPIC}/availability", f"{TOPIC}/scores"})


def test_additional_players_are_published_to_home_assistant(broker: RealBroker) -> None:
    device = "homeassistant/device/tallybone_table-3/config"
    with table_at(broker.url, discovery=True) as table, subscribed(broker) as subscriber:
        until_broker(lambda: device in subscriber.newest)
        assert "score_2" not in json.loads(subscriber.newest[device])["components"]
        three = players(0, 0, 0, names=("Ann", "Ben", "Cid"))
        table.follow(shown(players=three), 1)
        until_broker(lambda: "score_2" in json.loads(subscriber.newest[device])["components"])


def test_a_wrong_password_is_reported_without_showing_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    passwords = tmp_path / "passwords"
    subprocess.run(["mosquitto_passwd", "-b", "-c", passwords, "tables", "right"], check=True, capture_output=True)
    passwords.chmod(0o644)
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    for path in (right, wrong):
        path.write_text(path.name)
        path.chmod(0o600)
    with real_broker(tmp_path, "allow_anonymous false", f"password_file {passwords}") as broker:
        with table_at(broker.url, user="tables", password_file=str(wrong)):
            text = f"{broker.url} rejected the user: check user and password_file; trying again"
            until_broker(lambda: text in caplog.messages)
        assert "wrong" not in caplog.text
        with table_at(broker.url, user="tables", password_file=str(right)):
            until_broker(lambda: f"connected to {broker.url}" in caplog.messages)


def test_a_missing_broker_is_reported_once_without_blocking_the_table(caplog: pytest.LogCaptureFixture) -> None:
    with table_at("mqtt://127.0.0.1:1") as table:
        until_broker(lambda: "no broker answers at mqtt://127.0.0.1:1; trying again" in caplog.messages)
        for number in range(1000):
            table.follow(shown(number, 0), 1)
    assert sum("no broker answers" in message for message in caplog.messages) == 1


def certificates(folder: Path) -> None:
    """Create a CA, and certificates for a broker at 127.0.0.1 and a table."""

    def openssl(*text: str) -> None:
        subprocess.run(["openssl", *text], cwd=folder, check=True, capture_output=True)

    days = ("-days", "2", "-nodes", "-newkey", "rsa:2048")
    openssl("req", "-x509", *days, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=Our club")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    for name in ("broker", "table"):
        request = ("-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        openssl("req", "-nodes", "-newkey", "rsa:2048", *request)
        signed = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names")
        openssl("x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.crt", *signed)
    for path in folder.glob("*.key"):
        path.chmod(0o600)
    folder.chmod(0o755)


# The library does not close the socket of a refused connection.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_encrypted_connection_needs_the_ca_and_a_client_certificate(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    certificates(tmp_path)
    lines = [f"{key} {tmp_path / name}" for key, name in (("cafile", "ca.crt"), ("certfile", "broker.crt"))]
    lines += [f"keyfile {tmp_path / 'broker.key'}", "require_certificate true"]
    with real_broker(tmp_path, *lines) as broker:
        url = broker.url.replace("mqtt:", "mqtts:")
        with table_at(url):
            until_broker(lambda: any(f"cannot verify the identity of {url}" in message for message in caplog.messages))
        own = {"cert_file": str(tmp_path / "table.crt"), "key_file": str(tmp_path / "table.key")}
        with table_at(url, ca_file=str(tmp_path / "ca.crt"), **own):
            until_broker(lambda: f"connected to {url}" in caplog.messages)
        caplog.clear()
        with table_at(url, ca_file=str(tmp_path / "ca.crt")):
            until_broker(lambda: any("trying again" in message for message in caplog.messages))


def test_only_new_presses_of_known_buttons_are_accepted(broker: RealBroker) -> None:
    pressed: list[str] = []
    with subscribed(broker) as client:
        client.client.publish(f"{TOPIC}/press", b"undo", qos=1, retain=True)
        until_broker(lambda: f"{TOPIC}/press" in client.newest)
        link = PageLink(press=pressed.append)
        table = Beyond(settings_of(broker=broker.url), tuple, Random(1), wall_time, link)
        table.follow(lobby(), 0)
        until_broker(lambda: f"{TOPIC}/state" in client.newest)
        for payload in (b"redeal", b"next", b"\xff" * 5000, b"table"):
            client.client.publish(f"{TOPIC}/press", payload, qos=1)
        until_broker(lambda: "table" in pressed)
        table.close()
    assert pressed == ["next", "table"]


@pytest.mark.parametrize("is_allowed", [True, False])
def test_buttons_act_like_those_of_the_page_if_allowed(broker: RealBroker, *, is_allowed: bool) -> None:
    mqtt = settings_of(broker=broker.url).mqtt
    assert mqtt is not None
    settings = BeyondSettings(replace(mqtt, has_buttons=is_allowed))
    with at_table() as table, subscribed(broker) as client:
        with telling(settings, table.page.feed, tuple, lambda: table.page.url):
            table.play(8)
            until_broker(lambda: table.camera.is_idle and f"{TOPIC}/state" in client.newest)
            before = len(table.live.session.state.log)
            client.client.publish(f"{TOPIC}/press", b"undo", qos=1)
            until_broker(lambda: f"{TOPIC}/press" in client.newest)
            until_broker(lambda: len(table.live.session.state.log) > before or not is_allowed)
        assert [type(event) for event in table.live.session.state.log[before:]] == [Undo] * is_allowed
