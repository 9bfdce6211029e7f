"""Tests of candidates: pip evidence, unsure objects, averaging over shifted views, and refinement."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from synthetic.render.looks import CLASSIC, FELT, LAMP
from synthetic.render.paint import RenderedPicture, render
from synthetic.render.scene import Scene
from synthetic.training.truth import truth_poses
from tests.vision.tables import CAMERA, lay
from vision.geometry.poses import Poses, sides_px
from vision.image.pyramid import Level, build_pyramid
from vision.networks.refiner import Refiner, load_refiner
from vision.reader.candidates import Candidates, shifted_poses
from vision.reader.reader import Reader, load_reader
from vision.reader.unsure import FARTHEST_BELOW
from vision.reading import Face, Reading


@pytest.fixture(scope="module")
def reader() -> Reader:
    return load_reader(6)


@pytest.fixture(scope="module")
def table() -> RenderedPicture:
    scene = Scene((lay(5, 1, 60, 30, 130),), CLASSIC, FELT, LAMP, CAMERA)
    return render(scene, np.random.default_rng(3))


def _pips_read(
    reader: Reader, table: RenderedPicture, poses: Poses, odds: float, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[int, ...]]:
    """Return the pips of the confirmed tiles if all candidates are face-up tiles with the same log odds."""
    reading = _reading(reader, table, poses, odds, monkeypatch).without_unsure()
    return [tuple(half.pips for half in tile.halves) for tile in reading.tiles]


def _reading(
    reader: Reader, table: RenderedPicture, poses: Poses, odds: float, monkeypatch: pytest.MonkeyPatch
) -> Reading:
    """Return the reading if all candidates are face-up tiles with the same log odds."""
    candidates = poses, np.tile([0.1, 0.9, 0.0], (len(poses), 1)), np.full(len(poses), odds)
    monkeypatch.setattr(Candidates, "judge", lambda *_args, **_named: candidates)
    return reader.read(table.image)


def test_clear_pips_confirm_a_borderline_candidate(
    reader: Reader, table: RenderedPicture, monkeypatch: pytest.MonkeyPatch
) -> None:
    poses, _ = truth_poses(table.truth)
    assert _pips_read(reader, table, poses, -0.5, monkeypatch) == [(5, 1)]
    assert _pips_read(reader, table, poses, -1.5, monkeypatch) == []


def test_cloth_without_clear_pips_is_no_tile(
    reader: Reader, table: RenderedPicture, monkeypatch: pytest.MonkeyPatch
) -> None:
    poses, _ = truth_poses(table.truth)
    side = float(sides_px(poses)[0])
    beside = poses + np.array([1.0 * side, 0.9 * side, 0, 0, 0, 0])  # half on the tile, half on the cloth
    assert _pips_read(reader, table, beside, -0.5, monkeypatch) == []


def test_a_rejected_candidate_that_resembles_a_tile_is_unsure(
    reader: Reader, table: RenderedPicture, monkeypatch: pytest.MonkeyPatch
) -> None:
    poses, _ = truth_poses(table.truth)
    reading = _reading(reader, table, poses, -FARTHEST_BELOW + 0.01, monkeypatch)
    (tile,) = reading.tiles
    assert (tile.face, tile.halves) == (Face.UNSURE, ())
    assert np.allclose(tile.center_px, poses[0, :2])
    assert _reading(reader, table, poses, -FARTHEST_BELOW - 0.01, monkeypatch).tiles == ()
    assert _reading(reader, table, poses, 1.0, monkeypatch).unsure == ()


def test_nothing_is_unsure_when_only_tiles_are_expected(
    reader: Reader, table: RenderedPicture, monkeypatch: pytest.MonkeyPatch
) -> None:
    poses, _ = truth_poses(table.truth)
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
    poses, _ = truth_poses(table.truth)
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
    poses, _ = truth_poses(table.truth)
    refined, probabilities = Candidates(reader.detector, FakeRefiner(*chances)).refined(
        build_pyramid(table.image), poses, rounds=2
    )
    assert refined == pytest.approx(poses + 0.3 * kept * np.array([*poses[0, 2:4], 0, 0, 0, 0]))
    assert probabilities[0] == pytest.approx([1 - chances[kept], chances[kept], 0.0])


def test_shifted_poses_are_nearby_in_all_four_directions(table: RenderedPicture) -> None:
    poses, _ = truth_poses(table.truth)
    shifted = np.stack(shifted_poses(poses))
    assert shifted.mean(axis=0) == pytest.approx(poses)
    gaps = np.linalg.norm(shifted[..., :2] - poses[:, :2], axis=-1) / sides_px(poses)
    assert gaps == pytest.approx(np.full((4, 1), 0.03), abs=0.005)
    assert (shifted[..., 2:] == poses[:, 2:]).all()
