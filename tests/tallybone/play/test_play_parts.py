"""A live game with the parts of its table: what the file says, and that the game goes on whatever they do."""

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
from hardware.display.emulation.pty_port import PtyPort
from hardware.display.emulation.serlcd import EmulatedSerLcd
from tallybone.cli.play import PlayOptions
from tallybone.replay.command import replay
from tallybone.session.inputs import Button, Press
from tests.tallybone.cli.test_play import GREY, told
from tests.tallybone.live_clips import Timed, game_clip, write_recording
from tests.tallybone.replay.videos import write_video


def table_file(folder: Path, text: str) -> Path:
    path = folder / "table.toml"
    path.write_text(text)
    return path


def test_every_mistake_in_the_file_is_said_before_anything_begins(tmp_path: Path) -> None:
    config = table_file(tmp_path, 'camera = 5\n[[hardware.leds]]\ndriver = "single"\npins = [5, 5]\n')
    code, out, err = told(PlayOptions(config=config))
    assert (code, out) == (2, "")
    assert f"tallybone play: {config}: camera: expected one table [camera]" in err
    assert f"tallybone play: {config}: [hardware.leds] pin 5 (LED 2) is taken by [hardware.leds] (LED 1)" in err


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    code, _, err = told(PlayOptions(config=tmp_path / "absent.toml"))
    assert code == 1
    assert "absent.toml" in err


def test_the_camera_of_the_file_is_used_unless_another_is_named(tmp_path: Path) -> None:
    config = table_file(tmp_path, '[camera]\nurl = "absent.avi"\n')
    assert "absent.avi" in told(PlayOptions(config=config))[2]
    video = write_video(tmp_path / "a.avi", [GREY] * 2, per_s=10)
    assert told(PlayOptions(config=config, camera=str(video), record="none", speed=0))[0] == 0


def test_parts_that_are_missing_are_said_and_the_game_is_played(tmp_path: Path) -> None:
    video = write_video(tmp_path / "a.avi", [GREY] * 10, per_s=10)
    config = table_file(tmp_path, f'[[hardware.displays]]\ndriver = "segment"\nurl = "{tmp_path / "absent"}"\n')
    code, out, err = told(PlayOptions(config=config, camera=str(video), record="none", as_json=True))
    assert code == 0
    assert json.loads(out.splitlines()[0])["event"] == "match_started"
    assert err.count("hardware.displays: the display on") == 1
    assert "is it plugged in?" in err


@contextmanager
def unplugged_in_mid_game(port: PtyPort) -> Iterator[list[str]]:
    """Unplug a display when it shows a play, and plug it in again; yield what was done."""
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
def test_a_game_goes_on_while_its_display_is_unplugged_and_is_replayed_as_it_was(tmp_path: Path) -> None:
    items, _ = game_clip(4, 4)
    pressed = tuple(
        replace(one, item=Press(Button.NEXT)) if isinstance(one, Timed) and isinstance(one.item, NewHand) else one
        for one in items
    )
    last = pressed[-1]
    # Nothing more is laid while the display comes back, which takes a second or two however fast the machine is.
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
        code, live, err = told(PlayOptions(config=config, players="Ann,Ben", record=str(folder), speed=4, as_json=True))
    port.close()
    assert code == 0
    assert done == ["unplugged", "plugged"]
    assert err.count("hardware.leds: ") == 1  # there is no SPI here
    assert err.count("hardware.displays: the display on") == 1
    assert "hardware.displays works again" in err
    *said, _ = live.splitlines()
    (recording,) = folder.iterdir()
    out = StringIO()
    assert replay(recording, as_json=True, out=out) == 0
    assert any(json.loads(line)["event"] == "scored" for line in said)
    assert [line for line in out.getvalue().splitlines() if "frame" not in json.loads(line)][:-1] == said
