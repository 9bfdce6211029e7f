"""Tests of publishing by a served table to a broker and a webhook, without secrets."""

from __future__ import annotations

import json
import sys
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest

from hardware.libraries import install_command

pytest.importorskip("aiomqtt", reason="aiomqtt is not installed: pip install '.[mqtt]'")

from tallybone.cli.serve import serve
from tallybone.notify.notifying import telling
from tallybone.serve.options import Environment, ServeOptions
from tallybone.store.table_file import BeyondSettings, Webhook
from tests.tallybone.notify.brokers import MOSQUITTO, WHY_NOT, real_broker, subscribed, until_broker
from tests.tallybone.notify.test_webhook import webhook_server
from tests.tallybone.serve.served import at_served_table
from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.true_table import PIN
from tests.waiting import until

TOPIC = "tallybone/v1/table-3"


@pytest.mark.slow
@pytest.mark.skipif(MOSQUITTO is None, reason=WHY_NOT)
def test_a_match_is_published_without_pin_cookie_or_picture(tmp_path: Path) -> None:
    config = tmp_path / "table.toml"
    with real_broker(tmp_path) as broker, webhook_server() as receiver, subscribed(broker) as subscriber:
        settings = f'[mqtt]\nbroker = "{broker.url}"\ntable = "table-3"\ndiscovery = true\n'
        config.write_text(settings + f'[[webhooks]]\nurl = "{receiver.url}"\n')
        with at_served_table(tmp_path / "state", config=config) as table, table.client() as client:
            table.plugs.show()
            until_broker(lambda: json.loads(subscriber.newest.get(f"{TOPIC}/state", b"{}")).get("phase") == "lobby")
            response = client.post("/match", json={"game": "bones", "players": ["Ann", "Ben"]})
            assert response.status_code == 204
            until_broker(lambda: json.loads(subscriber.newest[f"{TOPIC}/scores"])["playing"])
            until_broker(lambda: f"{TOPIC}/health" in subscriber.newest)
            assert client.post("/match/end", json={}).status_code == 204
            until_broker(lambda: json.loads(subscriber.newest[f"{TOPIC}/state"])["phase"] == "lobby")
            until_broker(lambda: len(receiver.requests) == 2)
        until_broker(lambda: subscriber.newest[f"{TOPIC}/availability"] == b"offline")
        names = [player["name"] for player in json.loads(subscriber.newest[f"{TOPIC}/scores"])["players"]]
        assert names == ["Ann", "Ben"]
        assert [json.loads(event)["event"] for event in subscriber.events] == ["match_began", "match_left"]
        assert [body for _, _, body in receiver.requests] == subscriber.events
        published = b"".join((*subscriber.newest.values(), *subscriber.events))
        assert PIN.encode() not in published
        assert not any(secret in published for secret in (b"\xff\xd8", b"cookie", client.cookies["tallybone"].encode()))


def test_a_missing_library_is_reported_with_its_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aiomqtt", None)
    config = tmp_path / "table.toml"
    config.write_text('[mqtt]\nbroker = "mqtt://127.0.0.1:1"\ntable = "a"\n')
    err = StringIO()
    environment = Environment(out=StringIO(), err=err, environment={"XDG_STATE_HOME": str(tmp_path)}, home=tmp_path)
    assert serve(ServeOptions(at="127.0.0.1:0", camera="none", config=config), environment) == 1
    assert f"[mqtt] needs aiomqtt, which is not installed: {install_command('mqtt')}" in err.getvalue()


@pytest.mark.slow
def test_all_plays_are_published_once_and_the_points_add_up() -> None:
    with webhook_server() as receiver, at_table() as table:
        settings = BeyondSettings(webhooks=(Webhook(url=receiver.url),))
        with telling(settings, table.page.feed, tuple, lambda: table.page.url):
            until(lambda: receiver.requests)
            table.play(20)

            def received() -> list[dict[str, object]]:
                return [json.loads(body) for _, _, body in list(receiver.requests)]

            def points() -> Counter[object]:
                sums: Counter[object] = Counter()
                for each in received():
                    if each["event"] == "points":
                        sums[each["seat"]] += each["points"]  # type: ignore[operator]
                return sums

            def totals() -> dict[int, int]:
                game = table.live.session.state.game
                return {} if game is None else {seat: total for seat, total in enumerate(game.totals) if total}

            until(lambda: table.camera.is_idle and points() == totals())
            assert totals()
            events = received()
            assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
            assert events[0]["event"] == "match_began"
            plays = [event["play"]["seq"] for event in events if event["event"] == "play"]  # type: ignore[index]
            assert len(plays) == len(set(plays)) > 8
