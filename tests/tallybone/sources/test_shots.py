"""Tests of replaying images, videos and recordings: identical output and error messages."""

from __future__ import annotations

import io
import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from tallybone.recording.format import ImageMessage
from tallybone.replay.command import replay
from tallybone.replay.run import ReplaySettings
from tallybone.sources.source import GameOverrides, shots_of_video
from tests.tallybone.recording.sittings import START, damage_of, records_of, write
from tests.tallybone.replay.test_command import CLOSED, NOTHING, PLACED, ScriptedPerception, picture
from tests.tallybone.replay.videos import write_video
from tests.vision.tables import lay, table_with
from vision.arrays import Image
from vision.tracking.perception import Perception
from vision.tracking.table_view import Change, ChangeKind, TableView


class RecordingPerception(Perception):
    """Perception that stores its images, and reports a new tile in each image but the first."""

    view = NOTHING

    def __init__(self) -> None:
        self.seen: list[Image] = []

    def feed(self, image: Image) -> TableView:
        self.seen.append(image)
        return PLACED if len(self.seen) > 1 else NOTHING


class Run:
    """A run of the command, with its output."""

    def __init__(self, path: Path, *, record: Path | None = None, perception: Perception | None = None) -> None:
        out, err = io.StringIO(), io.StringIO()
        settings = ReplaySettings(game=GameOverrides("free"), record=record)
        self.code = replay(path, settings, as_json=True, perception=perception, out=out, err=err)
        self.out, self.err = out.getvalue(), err.getvalue()

    @property
    def frames(self) -> list[object]:
        return [json.loads(line).get("frame") for line in self.out.splitlines()]


class FakeVideo:
    """A video with the given timestamps."""

    def __init__(self, times_ms: tuple[float, ...], per_s: float) -> None:
        self.remaining, self.now_ms, self.per_s = list(times_ms), 0.0, per_s

    def isOpened(self) -> bool:  # noqa: N802  # the name in OpenCV
        return True

    def read(self) -> tuple[bool, Image | None]:
        if not self.remaining:
            return False, None
        self.now_ms = self.remaining.pop(0)
        return True, noise(0)

    def get(self, property_id: int) -> float:
        return {cv2.CAP_PROP_POS_MSEC: self.now_ms, cv2.CAP_PROP_FPS: self.per_s}[property_id]

    def release(self) -> None:
        self.remaining.clear()


def noise(seed: int) -> Image:
    return np.random.default_rng(seed).integers(0, 256, (48, 64, 3), np.uint8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with an image of each format, all noise, which makes any loss visible."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    for index, suffix in enumerate((".jpg", ".png", ".jpeg", ".bmp")):
        assert cv2.imwrite(str(folder / f"{index}{suffix}"), noise(index))
    return folder


def test_perception_gets_exactly_the_recorded_images(folder: Path, tmp_path: Path) -> None:
    path, live, replayed = tmp_path / "a.mcap", RecordingPerception(), RecordingPerception()
    first = Run(folder, record=path, perception=live)
    second = Run(path, perception=replayed)
    assert (first.code, first.err) == (second.code, second.err) == (0, "")
    assert first.out == second.out
    assert first.frames == ["1.png", "2.jpeg", "3.bmp", None]
    assert len(live.seen) == len(replayed.seen) == 4
    assert all(np.array_equal(a, b) for a, b in zip(live.seen, replayed.seen, strict=True))
    assert not np.array_equal(live.seen[1], noise(1))  # the PNG became a JPEG first


def test_records_a_jpeg_byte_for_byte(folder: Path, tmp_path: Path) -> None:
    Run(folder, record=tmp_path / "a.mcap", perception=RecordingPerception())
    images = [r.payload for r in records_of(tmp_path / "a.mcap") if isinstance(r.payload, ImageMessage)]
    assert [image.jpeg for image in images][::2] == [(folder / name).read_bytes() for name in ("0.jpg", "2.jpeg")]
    assert all(image.jpeg.startswith(b"\xff\xd8\xff") for image in images)
    assert damage_of(tmp_path / "a.mcap") == []


@pytest.mark.slow
def test_a_rendered_table_replays_identically_with_the_built_in_reader(tmp_path: Path) -> None:
    tiles = (lay(3, 5, -70, -40, 20), lay(6, 1, 60, 40, 100))
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for count, suffix in enumerate((".png", ".jpg", ".png")):
        cv2.imwrite(str(pictures / f"{count:02}{suffix}"), table_with(tiles[:count], frame=count).image)
    first, second = Run(pictures, record=tmp_path / "a.mcap"), Run(tmp_path / "a.mcap")
    assert first.out == second.out
    assert first.frames == ["01.jpg", "02.png", None]
    assert (first.code, second.code) == (0, 0)


def test_an_unreadable_image_is_named_and_not_recorded(folder: Path, tmp_path: Path) -> None:
    (folder / "2.jpeg").write_bytes((folder / "2.jpeg").read_bytes()[:700])
    run = Run(folder, record=tmp_path / "a.mcap", perception=RecordingPerception())
    assert run.code == 1
    assert "2.jpeg" in run.err
    assert len(records_of(tmp_path / "a.mcap")) == 3


def test_images_without_names_are_numbered(tmp_path: Path) -> None:
    from tallybone.recording.writer import RecordingWriter

    data = picture(tmp_path / "a.jpg").read_bytes()
    with RecordingWriter(tmp_path / "a.mcap", START) as writer:
        for index in range(3):
            writer.frame(index * 77, data)
    run = Run(tmp_path / "a.mcap", perception=RecordingPerception())
    assert [(line["frame"], line["t_ns"]) for line in map(json.loads, run.out.splitlines()[:-1])] == [
        ("1", 77),
        ("2", 154),
    ]


def test_a_truncated_recording_is_replayed_as_far_as_possible(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    complete = Run(folder, record=path, perception=RecordingPerception())
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    run = Run(path, perception=RecordingPerception())
    assert run.code == 1
    assert run.out.splitlines()[0] == complete.out.splitlines()[0]
    assert len(run.out.splitlines()) == 2
    assert f"tallybone replay: {path}: byte" in run.err
    assert "without its index" in run.err


def test_names_an_invalid_image_in_a_recording(tmp_path: Path) -> None:
    run = Run(write(tmp_path / "a.mcap"), perception=RecordingPerception())
    assert f"{tmp_path / 'a.mcap'}: record 0: " in run.err
    assert "empty table" in run.err
    assert run.code == 1


@pytest.mark.parametrize("name", ["a.mcap", "a.mp4", "nowhere.mcap", "nowhere.mp4"])
def test_names_an_invalid_recording_or_video(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.mcap").write_text("no recording")
    (tmp_path / "a.mp4").write_text("no video")
    run = Run(tmp_path / name, perception=RecordingPerception())
    assert (run.code, run.out) == (1, "")
    assert str(tmp_path / name) in run.err


def test_rejects_recording_a_recording_and_replacing_a_file(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    Run(folder, record=path, perception=RecordingPerception())
    before = path.read_bytes()
    assert "a recording already" in Run(path, record=tmp_path / "b.mcap", perception=RecordingPerception()).err
    assert not (tmp_path / "b.mcap").exists()
    assert "there is a file of that name" in Run(folder, record=path, perception=RecordingPerception()).err
    assert path.read_bytes() == before


def test_a_video_delivers_frames_with_times_and_numbers(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.avi", [np.full((48, 64, 3), 40 * index, np.uint8) for index in range(3)], per_s=4)
    shots = list(shots_of_video(path))
    assert [(shot.name, shot.t_ns) for shot in shots] == [("0", 0), ("1", 250_000_000), ("2", 500_000_000)]
    assert [abs(int(shot.load()[0, 0, 0]) - 40 * index) < 4 for index, shot in enumerate(shots)] == [True] * 3


@pytest.mark.parametrize(
    ("times_ms", "per_s", "times_ns"),
    [
        ((0.0, 0.0, 0.0), 4.0, [0, 250_000_000, 500_000_000]),
        ((0.0, 90.0, 40.0), 10.0, [0, 90_000_000, 190_000_000]),
        ((-1.0, -1.0, -1.0), 0.0, [33_333_333, 66_666_666, 99_999_999]),
    ],
    ids=["no times", "a time that goes back", "neither times nor frame rate"],
)
def test_frame_times_are_strictly_increasing(
    monkeypatch: pytest.MonkeyPatch, times_ms: tuple[float, ...], per_s: float, times_ns: list[int]
) -> None:
    monkeypatch.setattr(cv2, "VideoCapture", lambda _: FakeVideo(times_ms, per_s))
    assert [shot.t_ns for shot in shots_of_video(Path("a.avi"))] == times_ns


def test_removed_tiles_are_counted_in_recordings_and_folders(folder: Path, tmp_path: Path) -> None:
    views = [NOTHING, PLACED, TableView((), (), (Change(ChangeKind.REMOVED, CLOSED),)), NOTHING]
    first = Run(folder, record=tmp_path / "a.mcap", perception=ScriptedPerception(views))
    assert Run(tmp_path / "a.mcap", perception=ScriptedPerception(views)).out == first.out
    assert json.loads(first.out.splitlines()[-1])["result"] == {
        "frames": 4,
        "placed": 1,
        "moved": 0,
        "removed": 1,
        "turned": 0,
        "stacked": 0,
        "reread": 0,
        "tiles": 0,
        "unsure": 0,
    }


@pytest.mark.slow
def test_a_real_game_replays_identically_from_its_recording(shared_data: Path, tmp_path: Path) -> None:
    game = tmp_path / "game"
    game.mkdir()
    for each in sorted((shared_data / "sequences" / "ddd" / "game1").iterdir())[:7]:
        game.joinpath(each.name).symlink_to(each)
    first = Run(game, record=tmp_path / "a.mcap")
    assert Run(tmp_path / "a.mcap").out == first.out
    assert len(first.frames) > 5
    assert damage_of(tmp_path / "a.mcap") == []
