"""Tests of `tallybone.read` and `tallybone.replay_recording` as functions of a library."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import cv2
import pytest

import tallybone
from tallybone.recording.format import RecordingError, SittingStart
from tallybone.recording.writer import RecordingWriter
from tests.tallybone.recording.sittings import START
from tests.tallybone.truth_eye import game_of
from vision import VisionError
from vision.image.picture import load_picture

ROOT = Path(__file__).resolve().parents[3]
PHOTO = ROOT / "docs" / "images" / "reading.jpg"
KEPT = ROOT / "tests" / "tallybone" / "kept" / "recording.mcap"


def test_a_path_bytes_and_an_array_are_read_alike(tmp_path: Path) -> None:
    path, image = tmp_path / "a.png", load_picture(PHOTO)[13:191, 682:806]
    cv2.imwrite(str(path), image)
    reading = tallybone.read(path, max_pips=6)
    assert [[half.alone.pips for half in tile.halves] for tile in reading.tiles] == [[0, 4]]
    for same in (str(path), path.read_bytes(), image):
        assert tallybone.read(same, max_pips=6) == reading


def test_what_is_no_image_is_rejected() -> None:
    with pytest.raises(VisionError, match="the image: "):
        tallybone.read(b"no image")
    with pytest.raises(VisionError, match=r"nothing\.jpg"):
        tallybone.read("nothing.jpg")


def test_a_recorded_log_is_scored() -> None:
    state = tallybone.replay_recording(KEPT, from_log=True)
    assert (game_of(state).players, game_of(state).totals) == (("Ann", "Ben"), (10, 15))


def test_pictures_are_read_again() -> None:
    state = tallybone.replay_recording(KEPT)
    # Its pictures are grey, so no plays are seen.
    assert (game_of(state).players, game_of(state).totals) == (("Ann", "Ben"), (0, 0))


def test_what_has_no_score_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"reading\.jpg"):
        tallybone.replay_recording(PHOTO, from_log=True)
    with RecordingWriter(path := tmp_path / "free.mcap", SittingStart(started_at=START.started_at)):
        pass
    for from_log in (True, False):
        with pytest.warns() if from_log else nullcontext(), pytest.raises(RecordingError, match="expected"):
            tallybone.replay_recording(path, from_log=from_log)
