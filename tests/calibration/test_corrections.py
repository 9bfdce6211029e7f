"""Tests of learning single tiles from corrections, with a reader that confuses fives and sixes."""

from __future__ import annotations

import base64
from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration import RefusedError
from calibration.tiles import tile_set
from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.paint import render
from lab.render.scene import PlacedTile, Scene
from lab.training.tables import truth_poses
from tests.calibration import laid
from tests.vision.confused import confused_reader
from vision.arrays import Image
from vision.networks.tile_sheet import cut_out
from vision.poses import Poses
from vision.reader.custom_set import RecordedSet
from vision.reader.reader import Reader

CAMERA = replace(laid.CAMERA, width_px=1280, height_px=720, px_per_mm=1.8, tilt_rad=0.2)
FIVES = ((5, 3), (6, 2), (1, 4), (0, 6))
ELSEWHERE = ((6, 1), (2, 2), (5, 3), (4, 6))


@pytest.fixture(scope="module")
def reader() -> Reader:
    return confused_reader()


def table(pips: tuple[tile_set.TilePair, ...], *, theta_rad: float = 0.1, seed: int = 3) -> tuple[Image, Poses]:
    """Return a picture of tiles and their poses, half 0 first."""
    rng = np.random.default_rng(seed)
    tiles = tuple(PlacedTile(pair, (120.0 * at - 180, 20.0 * at - 30), theta_rad + at) for at, pair in enumerate(pips))
    rendered = render(Scene(tiles, CLASSIC, FELT, LAMP, CAMERA), rng)
    return rendered.image, truth_poses(rendered.truth)[0]


def read(reader: Reader, image: Image, poses: Poses) -> list[tile_set.TilePair]:
    return [(tile.halves[0].pips, tile.halves[1].pips) for tile in reader.read_again(image, poses) if tile.halves]


def corrected(
    pips: tile_set.TilePair, was_read: tile_set.TilePair, tiles: tuple[tile_set.TilePair, ...]
) -> tile_set.TileCorrection:
    """Return a correction of the first of *tiles*. The others are read with confidence."""
    image, poses = table(tiles)
    return tile_set.TileCorrection(image, poses, pips, was_read, tuple(range(1, len(tiles))))


@pytest.fixture(scope="module")
def learned(reader: Reader) -> tile_set.Lessons:
    lessons, verdict = tile_set.learn_correction(tile_set.Lessons(), corrected((5, 3), (6, 3), FIVES), reader)
    assert verdict is tile_set.LessonResult.LEARNED
    return lessons


def test_a_corrected_tile_is_read_right_elsewhere_and_after_storing(reader: Reader, learned: tile_set.Lessons) -> None:
    image, poses = table(ELSEWHERE, theta_rad=2.0, seed=4)
    assert read(reader, image, poses) == [(6, 1), (2, 2), (6, 3), (4, 6)]
    taught = replace(reader, exemplars=learned.exemplars)
    assert read(taught, image, poses) == list(ELSEWHERE)
    assert learned.exemplars is not None
    recorded = RecordedSet(6, tile_set.reader_checksum(), "", 1.0, learned.exemplars.format())
    image, poses = table(ELSEWHERE, seed=4)
    assert read(tile_set.custom_reader(reader, recorded), image, poses) == list(ELSEWHERE)
    again = tile_set.examples_from([example.tile for example in learned.examples], reader)
    refitted = replace(reader, exemplars=tile_set.lessons_of(again).exemplars)
    assert read(refitted, image, poses) == list(ELSEWHERE)


@pytest.mark.parametrize("text", ["AAAA", "?", "A" * 4128])
def test_damaged_exemplars_are_refused_and_uncorrected_tiles_give_none(
    reader: Reader, text: str, learned: tile_set.Lessons
) -> None:
    recorded = RecordedSet(6, tile_set.reader_checksum(), "", 1.0, text)
    with pytest.raises(RefusedError, match="corrected tiles are damaged"):
        tile_set.custom_reader(reader, recorded)
    others = tuple(example for example in learned.examples if not example.tile.is_corrected)
    assert len(others) == 3
    assert tile_set.lessons_of(others).exemplars is None


def test_a_correction_that_would_change_another_tile_is_refused(reader: Reader) -> None:
    # The first tile shows a six, as the second does, but is said to show a five. The noise of the picture decides
    # whether they are so similar that the second would become a five too.
    verdicts = []
    for seed in range(3, 6):
        image, poses = table(((6, 2), (6, 4), (1, 1)), seed=seed)
        lessons, verdict = tile_set.learn_correction(
            tile_set.Lessons(), tile_set.TileCorrection(image, poses, (5, 2), (6, 2), (1, 2)), reader
        )
        taught = replace(reader, exemplars=lessons.exemplars)
        assert read(taught, image, poses)[1:] == [(6, 4), (1, 1)]
        assert (lessons.exemplars is None) == (verdict is tile_set.LessonResult.HARMFUL)
        verdicts.append(verdict)
    assert tile_set.LessonResult.HARMFUL in verdicts


def test_contradictory_corrections_cancel(reader: Reader, learned: tile_set.Lessons) -> None:
    taught = replace(reader, exemplars=learned.exemplars)
    wrong = corrected((4, 3), (5, 3), FIVES)
    lessons, verdict = tile_set.learn_correction(learned, wrong, reader)
    assert verdict is tile_set.LessonResult.CONTRADICTORY
    assert lessons.exemplars is None
    image, poses = table(ELSEWHERE, seed=4)
    assert read(taught, image, poses) == list(ELSEWHERE), "before"


def test_a_calibrated_tile_is_not_spoilt(reader: Reader) -> None:
    fixed = tile_set.calibrated_examples(calibrated(((6, 4), (6, 2), (1, 1))), reader)
    assert [example.tile.pips for example in fixed] == [(6, 4), (6, 2), (1, 1)]
    wrong = corrected((5, 2), (6, 2), ((6, 2), (1, 1)))
    assert tile_set.learn_correction(tile_set.Lessons(), wrong, reader)[1] is tile_set.LessonResult.LEARNED
    assert tile_set.learn_correction(tile_set.Lessons(), wrong, reader, fixed)[1] is tile_set.LessonResult.HARMFUL


def calibrated(tiles: tuple[tile_set.TilePair, ...]) -> tile_set.LearnedSet:
    """Return a set as calibrated from a picture, which the shipped reader reads as well."""
    jpeg = cv2.imencode(".jpg", cut_out(*table(tiles, seed=7)).image)[1]
    look = tile_set.SetLook((255, 255, 255), (), tile_set.PipColors.DARK, tile_set.BarSeen.LINE, 2.0)
    sheet = base64.b64encode(jpeg.tobytes()).decode()
    return tile_set.LearnedSet(6, tiles, sheet, look, tile_set.reader_checksum(), "", 0.01, 1.0, (0.0, 0.0))
