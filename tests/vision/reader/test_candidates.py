"""What is in doubt is looked at more closely before it is called a tile, and before its pips are said."""

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
def eye() -> Reader:
    return load_reader(6)


@pytest.fixture(scope="module")
def table() -> RenderedPicture:
    scene = Scene((lay(5, 1, 60, 30, 130),), CLASSIC, FELT, LAMP, CAMERA)
    return render(scene, np.random.default_rng(3))


def _read(
    eye: Reader, table: RenderedPicture, poses: Poses, odds: float, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[int, ...]]:
    """The pips of the tiles that are said where all candidates are face-up tiles with the same log odds."""
    reading = _reading(eye, table, poses, odds, monkeypatch).without_unsure()
    return [tuple(half.pips for half in tile.halves) for tile in reading.tiles]


def _reading(
    eye: Reader, table: RenderedPicture, poses: Poses, odds: float, monkeypatch: pytest.MonkeyPatch
) -> Reading:
    """What is said where all candidates are face-up tiles with the same log odds."""
    candidates = poses, np.tile([0.1, 0.9, 0.0], (len(poses), 1)), np.full(len(poses), odds)
    monkeypatch.setattr(Candidates, "judge", lambda *_args, **_named: candidates)
    return eye.read(table.image)


def test_clear_pips_make_a_tile_of_what_is_nearly_one(
    eye: Reader, table: RenderedPicture, monkeypatch: pytest.MonkeyPatch
) -> None:
    poses, _ = truth_poses(table.truth)
    assert _read(eye, table, poses, -0.5, monkeypatch) == [(5, 1)]
    assert _read(eye, table, poses, -1.5, monkeypatch) == []


def test_cloth_without_clear_pips_is_no_tile(
    eye: Reader, table: RenderedPicture, monkeypatch: pytest.MonkeyPatch
) -> None:
    poses, _ = truth_poses(table.truth)
    side = float(sides_px(poses)[0])
    between = poses + np.array([1.0 * side, 0.9 * side, 0, 0, 0, 0])  # half on the tile, half on the cloth
    assert _read(eye, table, between, -0.5, monkeypatch) == []


def test_what_is_no_tile_but_looks_much_like_one_is_said_to_be_unsure(
    eye: Reader, table: RenderedPicture, monkeypatch: pytest.MonkeyPatch
) -> None:
    poses, _ = truth_poses(table.truth)
    reading = _reading(eye, table, poses, -FARTHEST_BELOW + 0.01, monkeypatch)
    (tile,) = reading.tiles
    assert (tile.face, tile.halves) == (Face.UNSURE, ())
    assert np.allclose(tile.center_px, poses[0, :2])
    assert _reading(eye, table, poses, -FARTHEST_BELOW - 0.01, monkeypatch).tiles == ()
    assert _reading(eye, table, poses, 1.0, monkeypatch).unsure == ()


def test_among_nothing_but_tiles_nothing_is_unsure(
    eye: Reader, table: RenderedPicture, monkeypatch: pytest.MonkeyPatch
) -> None:
    poses, _ = truth_poses(table.truth)
    asked = []

    def judge(
        *_args: object, spare: float, spare_apart: float
    ) -> tuple[Poses, NDArray[np.float64], NDArray[np.float64]]:
        asked.append(spare_apart)
        return poses[:0], np.zeros((0, 3)), np.zeros(0)

    monkeypatch.setattr(Candidates, "judge", judge)
    assert len(eye.find_tiles(build_pyramid(table.image), only_tiles=True)[0]) == 0
    assert asked == [0.0]


class Counting(Refiner):
    """Looks as the shipped network does, and notes at how many poses."""

    def __init__(self) -> None:
        self.shipped, self.looked = load_refiner(), list[int]()

    def look(self, levels: tuple[Level, ...], poses: Poses) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        self.looked.append(len(poses))
        return self.shipped.look(levels, poses)


def test_what_is_in_doubt_is_looked_at_from_beside(eye: Reader, table: RenderedPicture) -> None:
    counting = Counting()
    poses, _ = truth_poses(table.truth)
    both, closer = np.concatenate([poses, poses]), np.array([0.5, 9.0])
    judge = Candidates(eye.detector, counting)
    seen = judge._average_shifted(build_pyramid(table.image), both, closer, np.zeros(2))
    assert counting.looked == [1, 1, 1, 1]  # the sure one is left alone
    assert seen[1] == 9.0
    assert seen[0] > 0.5  # it is a tile from beside too


class Said(Refiner):
    """Says one chance of a tile at each look, and that the tile lies a little farther along."""

    def __init__(self, *chances: float) -> None:
        self.left = list(chances)

    def look(self, levels: tuple[Level, ...], poses: Poses) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        up = self.left.pop(0)
        return np.array([[1 - up, up, 0.0]]), np.array([[0.3, 0.0, 0.0, 0.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("chances", "kept"), [((0.999, 0.5, 0.01), 0), ((0.3, 0.9, 0.1), 1), ((0.6, 0.6, 0.6), 2)], ids=str
)
def test_a_refined_pose_is_kept_unless_it_is_less_of_a_tile(
    eye: Reader, table: RenderedPicture, chances: tuple[float, ...], kept: int
) -> None:
    poses, _ = truth_poses(table.truth)
    found, said = Candidates(eye.detector, Said(*chances)).refined(build_pyramid(table.image), poses, rounds=2)
    assert found == pytest.approx(poses + 0.3 * kept * np.array([*poses[0, 2:4], 0, 0, 0, 0]))
    assert said[0] == pytest.approx([1 - chances[kept], chances[kept], 0.0])


def test_beside_is_near_on_all_sides_and_nothing_else(table: RenderedPicture) -> None:
    poses, _ = truth_poses(table.truth)
    shifted = np.stack(shifted_poses(poses))
    assert shifted.mean(axis=0) == pytest.approx(poses)
    gaps = np.linalg.norm(shifted[..., :2] - poses[:, :2], axis=-1) / sides_px(poses)
    assert gaps == pytest.approx(np.full((4, 1), 0.03), abs=0.005)
    assert (shifted[..., 2:] == poses[:, 2:]).all()
