"""Tests of a live game with the table's parts: the table file, and faults of parts."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from engine import NewHand
from lab.emulate.command import PtyPort
from lab.emulate.displays import EmulatedSerLcd
from tallybone.cli.play import PlayOptions
from tallybone.replay.command import replay
from tallybone.session.inputs import Button, Press
from tests.tallybone.cli.test_play import GREY, run_play
from tests.tallybone.live_clips import Timed, game_clip, write_recording
from tests.tallybone.replay.videos import write_video


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


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    code, _, err = run_play(PlayOptions(config=tmp_path / "absent.toml"))
    assert code == 1
    assert "absent.toml" in err


def test_the_camera_option_overrides_the_file(tmp_path: Path) -> None:
    config = table_file(tmp_path, '[camera]\nurl = "absent.avi"\n')
    assert "absent.avi" in run_play(PlayOptions(config=config))[2]
    video = write_video(tmp_path / "a.avi", [GREY] * 2, per_s=10)
    assert run_play(PlayOptions(config=config, camera=str(video), record="none", speed=0))[0] == 0


def test_missing_parts_are_reported_and_the_game_is_played(tmp_path: Path) -> None:
    video = write_video(tmp_path / "a.avi", [GREY] * 10, per_s=10)
    config = table_file(tmp_path, f'[[hardware.displays]]\ndriver = "segment"\nurl = "{tmp_path / "absent"}"\n')
    code, out, err = run_play(PlayOptions(config=config, camera=str(video), record="none", as_json=True))
    assert code == 0
    assert json.loads(out.splitlines()[0])["event"] == "match_started"
    assert err.count("hardware.displays: the display on") == 1
    assert "check that it is plugged in" in err


@contextmanager
def unplugged_in_mid_game(port: PtyPort) -> Iterator[list[str]]:
    """Unplug a display when it shows a play, and plug it in again. Yield the list of actions."""
    done: list[str] = []
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.01):
            if "plays" in " ".join(port.screen()):
                port.close()
                done.append("unplugged")
                ended.wait(0.3)
                port.plug()
                done.append("plugged")
                return

    hand = threading.Thread(target=watch)
    hand.start()
    try:
        yield done
    finally:
        ended.set()
        hand.join()


@pytest.mark.slow
def test_a_game_with_an_unplugged_display_continues_and_replays_identically(tmp_path: Path) -> None:
    items, _ = game_clip(4, 4)
    pressed = tuple(
        replace(item, item=Press(Button.NEXT)) if isinstance(item, Timed) and isinstance(item.item, NewHand) else item
        for item in items
    )
    last = pressed[-1]
    # The table is still while the display reconnects, which takes a second or two on any machine.
    still = tuple(replace(last, t_ns=last.t_ns + number * 100_000_000) for number in range(1, 301))
    source = write_recording(tmp_path / "source.mcap", (*pressed, *still))
    port = PtyPort(EmulatedSerLcd(20, 4), tmp_path / "display")
    port.plug()
    config = table_file(
        tmp_path,
        f'[camera]\nurl = "{source}"\n[hardware.buttons]\ndriver = "virtual"\n[[hardware.leds]]\ndriver = "strip"\n'
        f'shows = "all"\ncount = 6\n[[hardware.displays]]\ndriver = "serlcd-20x4"\nurl = "{tmp_path / "display"}"\n',
    )
    folder = tmp_path / "sessions"
    with unplugged_in_mid_game(port) as done:
        code, live, err = run_play(
            PlayOptions(config=config, players="Ann,Ben", record=str(folder), speed=4, as_json=True)
        )
    port.close()
    assert code == 0
    assert done == ["unplugged", "plugged"]
    assert err.count("hardware.leds: ") == 1  # there is no SPI here
    assert err.count("hardware.displays: the display on") == 1
    assert "hardware.displays works again" in err
    *announced, _ = live.splitlines()
    (recording,) = folder.glob("*.mcap")
    out = StringIO()
    assert replay(recording, as_json=True, out=out) == 0
    assert any(json.loads(line)["event"] == "scored" for line in announced)
    assert [line for line in out.getvalue().splitlines() if "frame" not in json.loads(line)][:-1] == announced
