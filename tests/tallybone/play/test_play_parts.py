"""Tests of a live game with the table's parts: the table file, and faults of parts, which are reported once."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from lab.emulate.command import PtyPort
from lab.emulate.displays import EmulatedSerLcd
from tallybone.cli.play import PlayOptions
from tests.tallybone.cli.test_play import GREY, run_play
from tests.tallybone.play.test_camera_faults import health
from tests.tallybone.replay.videos import write_video
from tests.tallybone.serve.served import at_served_table
from tests.tallybone.serve.test_matches import NEW, act, wait_for_match
from tests.tallybone.web.true_table import PIN
from tests.waiting import until


def table_file(folder: Path, text: str) -> Path:
    path = folder / "table.toml"
    path.write_text(text)
    return path


def test_all_mistakes_in_the_file_are_reported_before_the_start(tmp_path: Path) -> None:
    config = table_file(tmp_path, 'camera = 5\n[[hardware.leds]]\ndriver = "single"\npins = [5, 5]\n')
    code, out, err = run_play(PlayOptions(config=config))
    assert (code, out) == (2, "")
    assert f"tallybone play: {config}: camera: expected one table [camera]" in err
    assert f"tallybone play: {config}: [hardware.leds] pin 5 (LED 2) is taken by [hardware.leds] (LED 1)" in err


def test_the_camera_option_overrides_the_file(tmp_path: Path) -> None:
    config = table_file(tmp_path, '[camera]\nurl = "absent.avi"\n')
    assert "absent.avi" in run_play(PlayOptions(config=config))[2]
    video = write_video(tmp_path / "a.avi", [GREY] * 2, per_s=10)
    assert run_play(PlayOptions(config=config, camera=str(video), record="none", speed=0))[0] == 0


@pytest.mark.slow
def test_missing_parts_are_reported_and_the_game_is_played(tmp_path: Path) -> None:
    video = write_video(tmp_path / "a.avi", [GREY] * 10, per_s=10)
    config = table_file(tmp_path, f'[[hardware.displays]]\ndriver = "segment"\nurl = "{tmp_path / "absent"}"\n')
    code, out, err = run_play(PlayOptions(config=config, camera=str(video), record="none", as_json=True))
    assert code == 0
    assert json.loads(out.splitlines()[0])["event"] == "match_started"
    assert err.count("hardware.displays: the display on") == 1
    assert "check that it is plugged in" in err


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
