"""Tests of a score display that is unplugged in a match: reported once, and correct after it returns."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from lab.emulate.command import PtyPort
from lab.emulate.displays import EmulatedSerLcd
from tests.tallybone.play.test_camera_faults import health
from tests.tallybone.play.test_play_parts import table_file
from tests.tallybone.serve.served import at_served_table
from tests.tallybone.serve.test_matches import NEW, act, wait_for_match
from tests.tallybone.web.true_table import PIN
from tests.waiting import until

# Long enough to reach the steady retry interval: retries follow after 0.1, 0.2, 0.4 and then every 0.8 s.
_AWAY_S = 2.5
_PAUSE = threading.Event()


@pytest.mark.slow
def test_a_reconnected_display_shows_the_current_score(tmp_path: Path) -> None:
    port = PtyPort(EmulatedSerLcd(20, 4), tmp_path / "display")
    port.plug()
    config = table_file(tmp_path, f'[[hardware.displays]]\ndriver = "serlcd-20x4"\nurl = "{tmp_path / "display"}"\n')
    try:
        with at_served_table(tmp_path, config=config) as table, table.client() as client:
            table.plugs.show()
            assert client.post("/match", json=NEW).status_code == 204
            assert client.post("/login", json={"pin": PIN}).status_code == 204
            wait_for_match(client)
            assert act(client, type="points", seat=0, points=5).status_code == 200
            until(lambda: port.screen()[0].split()[-2:] == ["Ann", "5"])
            port.close()
            until(lambda: "display: the display on" in health(table)[1])
            until(lambda: "check that it is plugged in" in " ".join(client.get("/state").json()["problems"]))
            for _ in range(4):
                assert act(client, type="points", seat=0, points=10).status_code == 200
            _PAUSE.wait(_AWAY_S)
            assert table.out.getvalue().count("check that it is plugged in") == 1, "reported once"
            port.plug()
            until(lambda: port.screen()[0].split()[-2:] == ["Ann", "45"])
            until(lambda: "hardware.displays works again" in table.out.getvalue())
            until(lambda: client.get("/state").json()["problems"] == [])
            assert "display" not in health(table)[1]
            assert client.get("/state").json()["players"][0]["total"] == 45
    finally:
        port.close()
