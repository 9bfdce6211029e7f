"""What was filmed before looks like a camera: at its pace, the newest picture first, or all of it."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from tallybone.recording.format import Pictures
from tallybone.session.inputs import Button, Press
from tallybone.sources.camera import PacedCamera, Shown, open_filmed
from tallybone.sources.shots import Shot
from tallybone.sources.source import RecordedInput
from tests.tallybone.live_clips import Timed, jpeg_of, write_recording
from tests.tallybone.replay.videos import write_video
from vision.watch import Frame

MS = 1_000_000
GREY = np.full((48, 64, 3), 90, np.uint8)


class Clock:
    """A clock that a test turns."""

    def __init__(self, t_ns: int = 0) -> None:
        self.t_ns = t_ns

    def __call__(self) -> int:
        return self.t_ns


def shot(t_ms: int) -> Shot:
    return Shot(t_ms * MS, str(t_ms), "a video", lambda: GREY, lambda: b"")


def times_ms(camera: PacedCamera) -> list[int]:
    """All that it gives while the clock stands still, or waits for nothing."""
    found = []
    while (given := camera.take()) is not None:
        found.append(given.t_ns // MS)
    return found


def test_pictures_are_given_at_the_pace_at_which_they_were_taken() -> None:
    clock = Clock(5_000 * MS)
    camera = PacedCamera(iter([shot(40), shot(140), shot(240)]), clock)
    assert times_ms(camera) == [40]
    clock.t_ns += 99 * MS
    assert times_ms(camera) == []
    clock.t_ns += 1 * MS
    assert times_ms(camera) == [140]
    assert not camera.is_over
    clock.t_ns += 100 * MS
    assert times_ms(camera) == [240]
    assert camera.is_over


def test_pictures_that_came_while_nobody_looked_are_dropped_but_the_newest() -> None:
    clock = Clock()
    camera = PacedCamera(iter([shot(t_ms) for t_ms in range(0, 1000, 100)]), clock)
    camera.take()
    clock.t_ns = 450 * MS
    assert times_ms(camera) == [400]


def test_what_was_pressed_is_never_dropped_and_keeps_its_place() -> None:
    clock = Clock()
    press = RecordedInput(150 * MS, "it", lambda: Press(Button.KNOCK))
    items: list[Shown] = [shot(0), shot(100), press, shot(200), shot(300)]
    camera = PacedCamera(iter(items), clock)
    camera.take()
    clock.t_ns = 1000 * MS
    assert camera.take() is press
    assert times_ms(camera) == [300]


def test_twice_the_speed_is_twice_as_fast_and_says_the_time_of_what_is_shown() -> None:
    clock = Clock()
    camera = PacedCamera(iter([shot(0), shot(1000), shot(2000)]), clock, speed=2.0)
    camera.take()
    clock.t_ns = 500 * MS
    assert times_ms(camera) == [1000]
    clock.t_ns = 600 * MS
    assert camera.now_ns() == 1200 * MS


def test_at_speed_0_nothing_is_waited_for_and_nothing_dropped() -> None:
    camera = PacedCamera(iter([shot(0), shot(100), shot(5000)]), Clock(), speed=0)
    assert times_ms(camera) == [0, 100, 5000]
    assert camera.now_ns() == 5000 * MS


def test_a_video_a_recording_and_a_folder_are_cameras(tmp_path: Path) -> None:
    video = write_video(tmp_path / "a.avi", [GREY] * 3, per_s=10)
    # The last picture is held, so that the end of a film is a settled look.
    assert times_ms(open_filmed(video, Clock(), speed=0)) == [0, 100, *range(200, 1801, 200)]
    items: list[Frame | Timed] = [Frame(GREY, 1), Timed(Press(Button.NEXT), 2), Frame(GREY, 3)]
    camera = open_filmed(write_recording(tmp_path / "a.mcap", items), Clock(), speed=0)
    given = [camera.take() for _ in range(3)]
    assert [one.t_ns for one in given if one is not None] == [1, 2, 3]
    assert isinstance(given[1], RecordedInput)
    assert given[1].load() == Press(Button.NEXT)
    assert isinstance(given[0], Shot)
    assert given[0].jpeg() == jpeg_of(GREY)
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in ("a.png", "b.png"):
        cv2.imwrite(str(folder / name), GREY)
    # Each is shown until it counts as settled, with a hand in it too.
    shown = times_ms(open_filmed(folder, Clock(), speed=0))
    assert shown == [0, 500, 1000, 1500, 2000, 2500, 3000, 3500]


def test_settled_pictures_of_a_recording_are_held_like_those_of_a_folder(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "a.mcap", [Frame(GREY, 1), Frame(GREY, 2)], pictures=Pictures.SETTLED)
    assert len(times_ms(open_filmed(path, Clock(), speed=0))) == 8


@pytest.mark.parametrize("name", ["absent.avi", "text.txt"])
def test_what_is_no_camera_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "text.txt").write_text("no")
    with pytest.raises(OSError, match=name):
        open_filmed(tmp_path / name, Clock())
