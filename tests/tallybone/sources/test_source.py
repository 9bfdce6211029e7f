"""Tests of replay pipelines: settled images are all read, videos only when still."""

from __future__ import annotations

import io
import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from tallybone.recording.format import Pictures
from tallybone.recording.reader import read_recording
from tallybone.replay.command import replay
from tallybone.replay.run import ReplaySettings
from tallybone.sources.source import GameOverrides
from tests.tallybone.recording.sittings import START, write
from tests.tallybone.replay.test_command import NOTHING, PLACED
from tests.tallybone.replay.videos import write_video
from tests.vision.moving import Clip, play, still
from tests.vision.tables import lay, table_with
from vision.arrays import Image
from vision.tracking.perception import Perception, Start
from vision.tracking.settle import Side
from vision.tracking.table_view import TableView

THREE_FIVE, SIX_ONE = lay(3, 5, -110, -40, 20), lay(6, 1, 60, 40, 100)


class RecordingPerception(Perception):
    """Confident perception that stores its images, and reports a new tile in each image but the first."""

    is_unconfirmed = is_unsure = False
    view = NOTHING

    def __init__(self) -> None:
        self.seen: list[Image] = []

    def feed(self, image: Image) -> TableView:
        self.seen.append(image)
        return PLACED if len(self.seen) > 1 else NOTHING


class Run:
    """A run of the command, with its output."""

    def __init__(
        self,
        path: Path,
        *,
        record: Path | None = None,
        perception: Perception | None = None,
        start: Start = Start.EMPTY,
    ) -> None:
        out, err = io.StringIO(), io.StringIO()
        settings = ReplaySettings(game=GameOverrides("free"), record=record, start=start)
        self.code = replay(path, settings, as_json=True, perception=perception, out=out, err=err)
        self.out, self.err = out.getvalue(), err.getvalue()

    @property
    def events(self) -> list[tuple[object, ...]]:
        lines = [json.loads(line) for line in self.out.splitlines()[:-1]]
        return [(line["event"], line["frame"], line["t_ns"], sorted(line["pips"])) for line in lines]

    @property
    def result(self) -> dict[str, int]:
        return dict(json.loads(self.out.splitlines()[-1])["result"])


def block(left_px: int) -> Image:
    """Return a grey image with a bright object."""
    image = np.full((90, 160, 3), 80, np.uint8)
    image[30:60, left_px : left_px + 40] = 220
    return image


@pytest.fixture
def video(tmp_path: Path) -> Path:
    """Return a video at 10 Hz: half a second still, four frames of motion, half a second still."""
    places = [20] * 5 + [30, 50, 70, 90] + [100] * 5
    return write_video(tmp_path / "a.avi", [block(place) for place in places], per_s=10)


def test_only_settled_frames_of_a_video_are_read(video: Path) -> None:
    perception = RecordingPerception()
    run = Run(video, perception=perception)
    assert run.events == [("placed", "11", 1_100_000_000, [4, 6])]
    assert len(perception.seen) == 2
    assert [int(image[45, 25, 0]) > 150 for image in perception.seen] == [True, False]
    assert [int(image[45, 135, 0]) > 150 for image in perception.seen] == [False, True]
    assert (run.code, run.err, run.result["frames"], run.result["tiles"]) == (0, "", 14, 1)


def test_a_recorded_video_is_marked_as_moving_and_replays_identically(video: Path, tmp_path: Path) -> None:
    path, live, replayed = tmp_path / "a.mcap", RecordingPerception(), RecordingPerception()
    first, second = Run(video, record=path, perception=live), Run(path, perception=replayed)
    start = read_recording(path).start
    assert start is not None
    assert start.pictures is Pictures.MOVING
    assert first.out == second.out
    assert len(live.seen) == len(replayed.seen) == 2
    assert all(np.array_equal(a, b) for a, b in zip(live.seen, replayed.seen, strict=True))


def test_a_recorded_folder_is_marked_as_settled_and_every_image_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for index in range(4):
        assert cv2.imwrite(str(folder / f"{index}.png"), block(30 * index))
    live, replayed = RecordingPerception(), RecordingPerception()
    first = Run(folder, record=tmp_path / "a.mcap", perception=live)
    second = Run(tmp_path / "a.mcap", perception=replayed)
    start = read_recording(tmp_path / "a.mcap").start
    assert start is not None
    assert start.pictures is Pictures.SETTLED
    assert len(live.seen) == len(replayed.seen) == 4
    assert first.out == second.out


def test_only_a_settled_recording_requires_its_first_frame(video: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    Run(video, record=path, perception=RecordingPerception())
    data = path.read_bytes()
    first = data.index(b"\xff\xd8\xff")
    path.write_bytes(data[:first] + b"\0\0\0" + data[first + 3 :])
    run = Run(path, perception=RecordingPerception())
    assert [event[1] for event in run.events] == ["11"]
    assert run.code == 1
    settled = Run(write(tmp_path / "b.mcap"), perception=RecordingPerception())
    assert "empty table" in settled.err
    assert START.pictures is Pictures.SETTLED


@pytest.mark.parametrize("pictures", [10, 11, 12])
def test_a_video_that_ends_in_motion_still_ends_with_a_settled_look(pictures: int, tmp_path: Path) -> None:
    places = [20] * 5 + [30, 50, 70, 90] + [100] * 5
    images = [block(place) for place in places[:pictures]]
    perception, replayed = RecordingPerception(), RecordingPerception()
    run = Run(write_video(tmp_path / "a.avi", images, per_s=10), record=tmp_path / "a.mcap", perception=perception)
    ((event, frame, t_ns, _),) = run.events
    assert (event, frame) == ("placed", str(pictures - 1))
    assert t_ns == (1_100_000_000 if pictures == 12 else (pictures + 1) * 100_000_000)
    assert [int(image[45, 135, 0]) > 150 for image in perception.seen] == [False, True]
    assert run.result["frames"] == pictures
    assert Run(tmp_path / "a.mcap", perception=replayed).out == run.out


@pytest.mark.slow
def test_a_tile_placed_in_a_video_is_reported_once_after_the_hand_leaves(tmp_path: Path) -> None:
    moments = [
        *still((), 4),
        *play((), (THREE_FIVE,), THREE_FIVE.center_mm, Side.LEFT),
        *still((THREE_FIVE,), 4),
    ]
    video = write_video(tmp_path / "a.avi", [frame.image for frame in Clip(seed=3).frames(moments)], per_s=10)
    first = Run(video, record=tmp_path / "a.mcap")
    # The hand is visible in frames 7 to 10, its shadow until 11. All is settled a fifth of a second after 12.
    assert first.events == [("placed", "14", 1_400_000_000, [3, 5])]
    assert (first.code, first.result["frames"], first.result["tiles"]) == (0, 18, 1)
    assert Run(tmp_path / "a.mcap").out == first.out


@pytest.mark.slow
def test_starting_in_play_reports_the_first_tiles_as_placed_and_an_empty_start_does_not(tmp_path: Path) -> None:
    for index, tiles in enumerate(((THREE_FIVE,), (THREE_FIVE, SIX_ONE))):
        cv2.imwrite(str(tmp_path / f"{index}.png"), table_with(tiles, frame=index).image)
    in_play = Run(tmp_path, start=Start.IN_PLAY)
    assert in_play.events == [("placed", "0.png", 0, [3, 5]), ("placed", "1.png", 1_000_000_000, [1, 6])]
    assert in_play.result["tiles"] == 2
    assert Run(tmp_path).events == [("placed", "1.png", 1_000_000_000, [1, 6])]


@pytest.mark.slow
@pytest.mark.parametrize("more", [0, 2, 4], ids=["its hand still rests", "its hand leaves", "its hand has just left"])
def test_the_last_tile_is_seen_if_the_video_ends_half_a_second_later(more: int, tmp_path: Path) -> None:
    moments_of_play = play((), (THREE_FIVE,), THREE_FIVE.center_mm, Side.LEFT)
    moments = [*still((), 4), *moments_of_play[: len(moments_of_play) - 4 + more]]
    video = write_video(tmp_path / "a.avi", [frame.image for frame in Clip(seed=3).frames(moments)], per_s=10)
    assert [(event, pips) for event, _, _, pips in Run(video).events] == [("placed", [3, 5])] * (more > 0)
