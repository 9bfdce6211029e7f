"""What is in doubt is looked at more closely before it is called a tile, and before its pips are said."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.vision.tables import CAMERA, lay
from vision.candidates import Candidates, beside
from vision.poses import Poses, sides_px
from vision.pyramid import Level, build_pyramid
from vision.reader import Reader, load_reader
from vision.render.looks import CLASSIC, FELT, LAMP
from vision.render.paint import RenderedPicture, render
from vision.render.scene import Scene
from vision.training.samples import truth_poses


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
    candidates = poses, np.tile([0.1, 0.9, 0.0], (len(poses), 1)), np.full(len(poses), odds)
    monkeypatch.setattr(Candidates, "judge", lambda *_args, **_named: candidates)
    return [tuple(half.pips for half in tile.halves) for tile in eye.read(table.image).tiles]


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


def test_what_is_in_doubt_is_looked_at_from_beside(
    eye: Reader, table: RenderedPicture, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels, looked = build_pyramid(table.image), []
    look = Candidates._looked_at

    def counted(
        self: Candidates, levels: tuple[Level, ...], poses: Poses
    ) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        looked.append(len(poses))
        return look(self, levels, poses)

    monkeypatch.setattr(Candidates, "_looked_at", counted)
    judge = Candidates(eye.heads, eye.finder)
    poses, _ = truth_poses(table.truth)
    both, closer = np.concatenate([poses, poses]), np.array([0.5, 9.0])
    seen = judge._seen_from_beside(levels, both, closer, np.zeros(2))
    assert looked == [1, 1, 1, 1]  # the sure one is left alone
    assert seen[1] == 9.0
    assert seen[0] > 0.5  # it is a tile from beside too


def test_beside_is_near_on_all_sides_and_nothing_else(table: RenderedPicture) -> None:
    poses, _ = truth_poses(table.truth)
    shifted = np.stack(beside(poses))
    assert shifted.mean(axis=0) == pytest.approx(poses)
    gaps = np.linalg.norm(shifted[..., :2] - poses[:, :2], axis=-1) / sides_px(poses)
    assert gaps == pytest.approx(np.full((4, 1), 0.03), abs=0.005)
    assert (shifted[..., 2:] == poses[:, 2:]).all()
