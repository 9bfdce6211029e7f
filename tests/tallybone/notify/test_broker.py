"""What a table says to a real broker: scores, events and availability, whatever happens to the broker."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("aiomqtt", reason="aiomqtt is not installed: pip install '.[mqtt]'")

from tallybone.clock import wall_time
from tallybone.finding import ok
from tallybone.notify.notifying import Beyond
from tallybone.store.table_file import BeyondSettings, TopicSettings
from tests.tallybone.notify.brokers import MOSQUITTO, WHY_NOT, RealBroker, hearing, real_broker, until_heard
from tests.tallybone.notify.snapshots import lobby, played, players, shown

pytestmark = [pytest.mark.slow, pytest.mark.skipif(MOSQUITTO is None, reason=WHY_NOT)]
TOPIC = "tallybone/v1/table-3"


def settings_of(**mqtt: object) -> BeyondSettings:
    return BeyondSettings(TopicSettings.model_validate({"table": "table-3", "name": "Table 3", **mqtt}).topics)


@contextmanager
def table_at(broker: str, **mqtt: object) -> Iterator[Beyond]:
    """Yield a table that publishes, at which no match is played yet."""
    beyond = Beyond(settings_of(broker=broker, **mqtt), lambda: (ok("camera", "works"),), Random(1), wall_time)
    beyond.follow(lobby(), 0)
    try:
        yield beyond
    finally:
        beyond.close()


@pytest.fixture(name="broker")
def a_broker(tmp_path: Path) -> Iterator[RealBroker]:
    with real_broker(tmp_path) as broker:
        yield broker


def test_a_table_says_how_it_stands_and_what_happens_and_goodbye(broker: RealBroker) -> None:
    with hearing(broker) as heard:
        with table_at(broker.url) as table:
            table.follow(shown(0, 0), 1)
            table.follow(shown(10, 0, plays=(played(1, points=10),)), 1)
            until_heard(lambda: len(heard.events) == 3)
            until_heard(lambda: heard.newest.keys() >= {f"{TOPIC}/{one}" for one in ("scores", "state", "health")})
            assert heard.newest[f"{TOPIC}/availability"] == b"online"
            assert [json.loads(one)["event"] for one in heard.events] == ["match_began", "play", "points"]
            assert [json.loads(one)["seq"] for one in heard.events] == [1, 2, 3]
            assert json.loads(heard.newest[f"{TOPIC}/health"])["grade"] == "ok"
        until_heard(lambda: heard.newest[f"{TOPIC}/availability"] == b"offline")


def test_who_comes_later_is_told_how_it_stands_and_no_old_event(broker: RealBroker) -> None:
    standing = {f"{TOPIC}/{one}" for one in ("scores", "state", "availability")}
    with table_at(broker.url) as table:
        with hearing(broker) as first:
            table.follow(shown(10, 0), 1)
            until_heard(lambda: len(first.events) == 1 and first.newest.keys() >= standing)
        with hearing(broker) as second:
            until_heard(lambda: second.newest.keys() >= standing)
            assert json.loads(second.newest[f"{TOPIC}/scores"])["players"][0]["total"] == 10
            assert standing <= second.retained
            assert second.events == []


def play_on(table: Beyond, plays: int) -> None:
    """Let Ann make five points in each of so many plays."""
    for number in range(1, plays + 1):
        done = tuple(played(seq, points=5) for seq in range(1, number + 1))
        table.follow(shown(5 * number, 0, plays=done), 1)


def test_a_broker_that_is_killed_in_a_match_knows_how_it_stands_once_it_is_back(broker: RealBroker) -> None:
    with table_at(broker.url) as table:
        table.follow(shown(0, 0), 1)
        with hearing(broker) as before:
            until_heard(lambda: f"{TOPIC}/scores" in before.newest)
        broker.kill()
        play_on(table, 20)
        broker.begin()
        with hearing(broker) as after:
            until_heard(lambda: after.newest.get(f"{TOPIC}/availability") == b"online", 90)
            until_heard(lambda: after.newest.keys() >= {f"{TOPIC}/{one}" for one in ("scores", "state", "health")})
            assert json.loads(after.newest[f"{TOPIC}/scores"])["players"][0]["total"] == 100


def test_no_event_is_lost_nor_counted_twice_while_the_broker_is_away(tmp_path: Path) -> None:
    kept = ("persistence true", f"persistence_location {tmp_path}/", "max_queued_messages 0")
    with real_broker(tmp_path, *kept) as broker, table_at(broker.url) as table, hearing(broker) as heard:
        table.follow(shown(0, 0), 1)
        until_heard(lambda: len(heard.events) == 1)
        broker.end()
        play_on(table, 20)
        broker.begin()
        until_heard(lambda: len({json.loads(one)["seq"] for one in heard.events}) == 41, 90)
        events = {json.loads(one)["seq"]: json.loads(one) for one in heard.events}
        assert list(events) == list(range(1, 42))
        assert sum(one["points"] for one in events.values() if one["event"] == "points") == 100


def test_a_table_that_is_killed_is_said_to_be_offline_by_the_broker(broker: RealBroker, tmp_path: Path) -> None:
    with hearing(broker) as heard:
        with subprocess.Popen([sys.executable, "-c", _KILLED, broker.url], cwd=Path(__file__).parents[3]) as process:
            until_heard(lambda: heard.newest.get(f"{TOPIC}/availability") == b"online")
            process.kill()
        until_heard(lambda: heard.newest[f"{TOPIC}/availability"] == b"offline", 90)


_KILLED = """
import sys, threading
sys.path.insert(0, ".")
from tests.tallybone.notify.test_broker import table_at
with table_at(sys.argv[1]):
    threading.Event().wait()
"""


def test_home_assistant_is_told_again_when_it_begins_anew(broker: RealBroker) -> None:
    device = "homeassistant/device/tallybone_table-3/config"
    with table_at(broker.url, discovery=True), hearing(broker) as heard:
        until_heard(lambda: device in heard.newest and f"{TOPIC}/scores" in heard.newest)
        heard.newest.clear()
        heard.client.publish("homeassistant/status", b"offline", qos=1)
        heard.client.publish("homeassistant/status", b"online", qos=1)
        until_heard(lambda: heard.newest.keys() >= {device, f"{TOPIC}/availability", f"{TOPIC}/scores"})


def test_home_assistant_is_told_nothing_unless_it_is_asked_for(broker: RealBroker) -> None:
    with table_at(broker.url), hearing(broker) as heard:
        until_heard(lambda: f"{TOPIC}/health" in heard.newest)
        assert [topic for topic in heard.newest if not topic.startswith("tallybone/v1/table-3/")] == []


def test_more_players_than_home_assistant_knows_are_told_to_it(broker: RealBroker) -> None:
    device = "homeassistant/device/tallybone_table-3/config"
    with table_at(broker.url, discovery=True) as table, hearing(broker) as heard:
        until_heard(lambda: device in heard.newest)
        assert "score_2" not in json.loads(heard.newest[device])["components"]
        three = players(0, 0, 0, names=("Ann", "Ben", "Cid"))
        table.follow(shown(players=three), 1)
        until_heard(lambda: "score_2" in json.loads(heard.newest[device])["components"])


def test_a_wrong_password_is_said_plainly_and_never_shown(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
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
            words = f"{broker.url} rejected the user: check user and password_file; trying again"
            until_heard(lambda: words in caplog.messages)
        assert "wrong" not in caplog.text
        with table_at(broker.url, user="tables", password_file=str(right)):
            until_heard(lambda: f"line to {broker.url} is open" in caplog.messages)


def test_no_broker_is_said_once_and_costs_the_table_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with table_at("mqtt://127.0.0.1:1") as table:
        until_heard(lambda: "no broker answers at mqtt://127.0.0.1:1; trying again" in caplog.messages)
        for number in range(1000):
            table.follow(shown(number, 0), 1)
    assert sum("no broker answers" in one for one in caplog.messages) == 1


def certificates(folder: Path) -> None:
    """Make a CA of our own, and what a broker at 127.0.0.1 and a table show of themselves."""

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

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


# The library leaves the socket of a line that was refused to Python.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_line_that_encrypts_needs_our_ca_and_shows_who_we_are(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    certificates(tmp_path)
    lines = [f"{key} {tmp_path / name}" for key, name in (("cafile", "ca.crt"), ("certfile", "broker.crt"))]
    lines += [f"keyfile {tmp_path / 'broker.key'}", "require_certificate true"]
    with real_broker(tmp_path, *lines) as broker:
        url = broker.url.replace("mqtt:", "mqtts:")
        with table_at(url):
            until_heard(lambda: any(f"{url} does not show who it is" in one for one in caplog.messages))
        own = {"cert_file": str(tmp_path / "table.crt"), "key_file": str(tmp_path / "table.key")}
        with table_at(url, ca_file=str(tmp_path / "ca.crt"), **own):
            until_heard(lambda: f"line to {url} is open" in caplog.messages)
        caplog.clear()
        with table_at(url, ca_file=str(tmp_path / "ca.crt")):
            until_heard(lambda: any("trying again" in one for one in caplog.messages))
