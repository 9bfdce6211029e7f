"""Tests of candidates: pip evidence, unsure objects, averaging over shifted views, and refinement."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.paint import RenderedPicture, render
from lab.render.scene import Scene
from lab.training.tables import truth_poses
from tests.vision.tables import CAMERA, lay
from vision.image.picture import Level, build_pyramid
from vision.networks.detector import Focus
from vision.networks.network import Refiner, load_refiner
from vision.poses import Poses, sides_px, upright_poses
from vision.reader.candidates import Candidates, shifted_poses
from vision.reader.reader import FARTHEST_BELOW, Reader, load_reader
from vision.reading import Face, Reading

_CLEAR_ODDS = 9.0


@pytest.fixture(scope="module")
def reader() -> Reader:
    return load_reader(6)


@pytest.fixture(scope="module")
def table() -> RenderedPicture:
    scene = Scene((lay(5, 1, 60, 30, 130), lay(6, 4, -60, -30, 20)), CLASSIC, FELT, LAMP, CAMERA)
    return render(scene, np.random.default_rng(3))


def _two_tiles(table: RenderedPicture) -> tuple[Poses, Poses]:
    """Return the poses of the tile under test and of the clear one, each of shape (1, 6)."""
    poses, _ = truth_poses(table.truth)
    order = sorted((0, 1), key=lambda at: min(half.pips for half in table.truth.tiles[at].halves))
    return poses[order[:1]], poses[order[1:]]


def _pips_read(
    reader: Reader, table: RenderedPicture, poses: Poses, odds: float, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[int, ...]]:
    """Return the pips of the confirmed tiles, without the clear one, for `_reading`."""
    reading = _reading(reader, table, poses, odds, monkeypatch).without_unsure()
    pips = [tuple(half.pips for half in tile.halves) for tile in reading.tiles]
    pips.remove((6, 4))
    return pips


def _reading(
    reader: Reader, table: RenderedPicture, poses: Poses, odds: float, monkeypatch: pytest.MonkeyPatch
) -> Reading:
    """Return the reading if there are a clear tile and face-up candidates with the same log odds."""
    _, clear = _two_tiles(table)
    every, all_odds = np.concatenate([poses, clear]), np.append(np.full(len(poses), odds), _CLEAR_ODDS)
    candidates = every, np.tile([0.1, 0.9, 0.0], (len(every), 1)), all_odds
    monkeypatch.setattr(Candidates, "judge", lambda *_args, **_named: candidates)
    return reader.read(table.image)


def test_clear_pips_confirm_a_borderline_candidate_but_cloth_is_no_tile(
    reader: Reader, table: RenderedPicture, monkeypatch: pytest.MonkeyPatch
) -> None:
    poses, _ = _two_tiles(table)
    assert _pips_read(reader, table, poses, -0.5, monkeypatch) == [(5, 1)]
    assert _pips_read(reader, table, poses, -1.5, monkeypatch) == []
    poses, _ = _two_tiles(table)
    side = float(sides_px(poses)[0])
    beside = poses + np.array([1.0 * side, 0.9 * side, 0, 0, 0, 0])  # half on the tile, half on the cloth
    assert _pips_read(reader, table, beside, -0.5, monkeypatch) == []


def test_a_rejected_candidate_that_resembles_a_tile_is_unsure(
    reader: Reader, table: RenderedPicture, monkeypatch: pytest.MonkeyPatch
) -> None:
    poses, _ = _two_tiles(table)
    reading = _reading(reader, table, poses, -FARTHEST_BELOW + 0.01, monkeypatch)
    (tile,) = reading.unsure
    assert (tile.face, tile.halves) == (Face.UNSURE, ())
    assert np.allclose(tile.center_px, poses[0, :2])
    assert _reading(reader, table, poses, -FARTHEST_BELOW - 0.01, monkeypatch).unsure == ()
    assert _reading(reader, table, poses, 1.0, monkeypatch).unsure == ()


def test_a_lone_candidate_must_be_clearer(
    reader: Reader, table: RenderedPicture, monkeypatch: pytest.MonkeyPatch
) -> None:
    lone, _ = _two_tiles(table)
    for odds, known, is_said in ((1.0, False, False), (1.0, True, True), (4.0, False, True)):
        candidates = lone, np.array([[0.1, 0.9, 0.0]]), np.array([odds])
        monkeypatch.setattr(Candidates, "judge", lambda *_args, seen=candidates, **_named: seen)
        x, y = lone[0, :2]
        box = (x - 50, y - 50, x + 50, y + 50)
        reading = reader.read(table.image, focus=Focus(box, None, is_all=True) if known else None)
        assert len(reading.without_unsure().tiles) == is_said
        assert len(reading.unsure) == (not is_said)
    assert _pips_read(reader, table, lone, 1.0, monkeypatch) == [(5, 1)]


def test_only_one_doubtful_double_blank_is_said(
    reader: Reader, table: RenderedPicture, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = np.full(3, sides_px(_two_tiles(table)[0])[0])
    cloth = upright_poses(np.array([[x, 40.0] for x in (60.0, 200.0, 340.0)]), np.zeros(3), 2 * side, side)
    assert _pips_read(reader, table, cloth, 1.5, monkeypatch) == [(0, 0)]
    assert len(_reading(reader, table, cloth, 1.5, monkeypatch).unsure) == 2
    assert _pips_read(reader, table, cloth, 0.5, monkeypatch) == []


def test_nothing_is_unsure_when_only_tiles_are_expected(
    reader: Reader, table: RenderedPicture, monkeypatch: pytest.MonkeyPatch
) -> None:
    poses, _ = _two_tiles(table)
    requested = []

    def judge(
        *_args: object, spare: float, spare_apart: float
    ) -> tuple[Poses, NDArray[np.float64], NDArray[np.float64]]:
        requested.append(spare_apart)
        return poses[:0], np.zeros((0, 3)), np.zeros(0)

    monkeypatch.setattr(Candidates, "judge", judge)
    assert len(reader.find_tiles(build_pyramid(table.image), only_tiles=True)[0]) == 0
    assert requested == [0.0]


class CountingRefiner(Refiner):
    """Refiner that wraps the built-in one, and records the number of poses in each call."""

    def __init__(self) -> None:
        self.built_in, self.counts = load_refiner(), list[int]()

    def look(self, levels: tuple[Level, ...], poses: Poses) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        self.counts.append(len(poses))
        return self.built_in.look(levels, poses)


def test_doubtful_candidates_are_averaged_over_shifted_views(reader: Reader, table: RenderedPicture) -> None:
    counting_refiner = CountingRefiner()
    poses, _ = _two_tiles(table)
    both, odds = np.concatenate([poses, poses]), np.array([0.5, 9.0])
    judge = Candidates(reader.detector, counting_refiner)
    seen = judge._average_shifted(build_pyramid(table.image), both, odds, np.zeros(2))
    assert counting_refiner.counts == [1, 1, 1, 1]  # the confident one is skipped
    assert seen[1] == 9.0
    assert seen[0] > 0.5  # it also looks like a tile from shifted positions


class FakeRefiner(Refiner):
    """Refiner that returns the next of some probabilities in each call, and a constant correction along the tile."""

    def __init__(self, *chances: float) -> None:
        self.remaining = list(chances)

    def look(self, levels: tuple[Level, ...], poses: Poses) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        up = self.remaining.pop(0)
        return np.array([[1 - up, up, 0.0]]), np.array([[0.3, 0.0, 0.0, 0.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("chances", "kept"), [((0.999, 0.5, 0.01), 0), ((0.3, 0.9, 0.1), 1), ((0.6, 0.6, 0.6), 2)], ids=str
)
def test_keeps_a_refined_pose_unless_it_looks_less_like_a_tile(
    reader: Reader, table: RenderedPicture, chances: tuple[float, ...], kept: int
) -> None:
    poses, _ = _two_tiles(table)
    refined, probabilities = Candidates(reader.detector, FakeRefiner(*chances)).refined(
        build_pyramid(table.image), poses, rounds=2
    )
    assert refined == pytest.approx(poses + 0.3 * kept * np.array([*poses[0, 2:4], 0, 0, 0, 0]))
    assert probabilities[0] == pytest.approx([1 - chances[kept], chances[kept], 0.0])


def test_shifted_poses_are_nearby_in_all_four_directions(table: RenderedPicture) -> None:
    poses, _ = _two_tiles(table)
    shifted = np.stack(shifted_poses(poses))
    assert shifted.mean(axis=0) == pytest.approx(poses)
    gaps = np.linalg.norm(shifted[..., :2] - poses[:, :2], axis=-1) / sides_px(poses)
    assert gaps == pytest.approx(np.full((4, 1), 0.03), abs=0.005)
    assert (shifted[..., 2:] == poses[:, 2:]).all()
