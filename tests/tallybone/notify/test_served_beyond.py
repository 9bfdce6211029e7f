"""A table that is always on tells a broker and a web address how it stands, and never a secret."""

from __future__ import annotations

import json
import sys
from io import StringIO
from pathlib import Path

import pytest

pytest.importorskip("aiomqtt", reason="aiomqtt is not installed: pip install '.[mqtt]'")

from tallybone.cli.serve import serve
from tallybone.serve.options import Environment, ServeOptions
from tests.tallybone.notify.brokers import MOSQUITTO, WHY_NOT, hearing, real_broker, until_heard
from tests.tallybone.notify.test_webhook import a_wall
from tests.tallybone.serve.served import at_served_table
from tests.tallybone.web.true_table import PIN

TOPIC = "tallybone/v1/table-3"


@pytest.mark.slow
@pytest.mark.skipif(MOSQUITTO is None, reason=WHY_NOT)
def test_a_match_on_the_page_is_told_beyond_it_without_pin_cookie_or_picture(tmp_path: Path) -> None:
    config = tmp_path / "table.toml"
    with real_broker(tmp_path) as broker, a_wall() as wall, hearing(broker) as heard:
        said = f'[mqtt]\nbroker = "{broker.url}"\ntable = "table-3"\ndiscovery = true\n'
        config.write_text(said + f'[[webhooks]]\nurl = "{wall.url}"\n')
        with at_served_table(tmp_path / "state", config=config) as table, table.client() as client:
            table.plugs.show()
            until_heard(lambda: json.loads(heard.newest.get(f"{TOPIC}/state", b"{}")).get("phase") == "lobby")
            begun = client.post("/match", json={"game": "bones", "players": ["Ann", "Ben"]})
            assert begun.status_code == 204
            until_heard(lambda: json.loads(heard.newest[f"{TOPIC}/scores"])["playing"])
            until_heard(lambda: f"{TOPIC}/health" in heard.newest)
            assert client.post("/match/end", json={}).status_code == 204
            until_heard(lambda: json.loads(heard.newest[f"{TOPIC}/state"])["phase"] == "lobby")
            until_heard(lambda: len(wall.came) == 2)
        until_heard(lambda: heard.newest[f"{TOPIC}/availability"] == b"offline")
        names = [player["name"] for player in json.loads(heard.newest[f"{TOPIC}/scores"])["players"]]
        assert names == ["Ann", "Ben"]
        assert [json.loads(one)["event"] for one in heard.events] == ["match_began", "match_left"]
        assert [body for _, _, body in wall.came] == heard.events
        told = b"".join((*heard.newest.values(), *heard.events))
        assert PIN.encode() not in told
        assert not any(secret in told for secret in (b"\xff\xd8", b"cookie", client.cookies["tallybone"].encode()))


def test_a_library_that_is_missing_is_said_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "aiomqtt", None)
    config = tmp_path / "table.toml"
    config.write_text('[mqtt]\nbroker = "mqtt://127.0.0.1:1"\ntable = "a"\n')
    err = StringIO()
    world = Environment(out=StringIO(), err=err, environment={"XDG_STATE_HOME": str(tmp_path)}, home=tmp_path)
    assert serve(ServeOptions(at="127.0.0.1:0", camera="none", config=config), world) == 1
    assert "[mqtt] needs aiomqtt, which is not installed: pip install 'tallybone[mqtt]'" in err.getvalue()
