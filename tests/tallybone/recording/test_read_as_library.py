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
    for other, reason in ((b"no image", "the image: "), ("nothing.jpg", r"nothing\.jpg")):
        with pytest.raises(VisionError, match=reason):
            tallybone.read(other)


@pytest.mark.parametrize(("from_log", "totals"), [(True, (10, 15)), (False, (0, 0))])  # the pictures are grey
def test_a_recording_is_scored_from_its_log_or_its_pictures(totals: tuple[int, int], *, from_log: bool) -> None:
    live = game_of(tallybone.replay_recording(KEPT, from_log=from_log))
    assert (live.players, live.totals) == (("Ann", "Ben"), totals)


def test_what_has_no_score_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"reading\.jpg"):
        tallybone.replay_recording(PHOTO, from_log=True)
    with RecordingWriter(path := tmp_path / "free.mcap", SittingStart(started_at=START.started_at)):
        pass
    for from_log in (True, False):
        with pytest.warns() if from_log else nullcontext(), pytest.raises(RecordingError, match="expected"):
            tallybone.replay_recording(path, from_log=from_log)
