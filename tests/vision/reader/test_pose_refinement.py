"""Tests of pose refinement: tiles with ambiguous pips are realigned."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.paint import RenderedPicture, render
from lab.render.scene import Scene
from lab.training.tables import truth_poses
from tests.vision.tables import CAMERA, lay
from vision.image.picture import Level, build_pyramid
from vision.poses import Poses, half_centers, sides_px
from vision.reader.candidates import Candidates, Plane, find_plane
from vision.reader.reader import Reader, load_reader, relocate


@pytest.fixture(scope="module")
def reader() -> Reader:
    return load_reader(6)


@pytest.fixture(scope="module")
def table() -> RenderedPicture:
    """Return an image of a line of play with a crosswise double, and a separate tile."""
    tiles = (lay(5, 1, -70, 0, 0), lay(1, 1, -34, 0, 90), lay(1, 4, 2, 0, 0), lay(4, 6, 50, 0, 0), lay(3, 2, 0, 60, 40))
    return render(Scene(tiles, CLASSIC, FELT, LAMP, CAMERA), np.random.default_rng(3))


@pytest.fixture(scope="module")
def levels(table: RenderedPicture) -> tuple[Level, ...]:
    return build_pyramid(table.image)


@pytest.fixture(scope="module")
def plane(table: RenderedPicture, levels: tuple[Level, ...]) -> Plane:
    poses, _ = truth_poses(table.truth)
    return find_plane(poses, np.full(len(poses), 0.999), levels[0].full_size_px)


def _displaced(poses: Poses, along: float, turned_rad: float) -> Poses:
    """Return poses shifted along the tile, in sides, and rotated."""
    cos, sin = np.cos(turned_rad), np.sin(turned_rad)
    turn = np.array([[cos, sin], [-sin, cos]])
    axes = [poses[:, 2:4] @ turn, poses[:, 4:] @ turn]
    return np.concatenate([poses[:, :2] + along * poses[:, 2:4], *axes], axis=1)


def _relocated(reader: Reader, levels: tuple[Level, ...], plane: Plane, poses: Poses) -> Poses:
    candidates = Candidates(reader.detector, reader.refiner)
    looks = candidates.refined(levels, poses, rounds=0)
    return relocate(levels, candidates, plane, looks, partial(reader._pips_at, levels))


def _errors(poses: Poses, truth: Poses) -> np.ndarray:
    """Return the largest error of the half centres of each tile, in sides."""
    gaps = np.linalg.norm(half_centers(poses) - half_centers(truth), axis=-1)
    return np.asarray(gaps.max(axis=1) / sides_px(truth))


@pytest.mark.parametrize(("along", "turned_rad"), [(0.25, 0.0), (-0.25, 0.0), (0.0, 0.12), (0.15, -0.1), (0.0, 0.0)])
def test_moves_displaced_tiles_to_their_true_poses(
    reader: Reader, table: RenderedPicture, levels: tuple[Level, ...], plane: Plane, along: float, turned_rad: float
) -> None:
    truth, _ = truth_poses(table.truth)
    seen = _displaced(truth, along, turned_rad)
    relocated = _relocated(reader, levels, plane, seen)
    assert _errors(relocated, truth) == pytest.approx(0, abs=0.08)
    assert _relocated(reader, levels, plane, np.empty((0, 6))).shape == (0, 6)


@pytest.mark.parametrize("along", [0.6, 0.8, 1.0, -0.7, -1.0])
def test_never_moves_a_tile_to_the_place_of_its_neighbour(
    reader: Reader, table: RenderedPicture, levels: tuple[Level, ...], plane: Plane, along: float
) -> None:
    truth, _ = truth_poses(table.truth)
    seen = _displaced(truth, along, 0.0)
    relocated = _relocated(reader, levels, plane, seen)
    assert (np.linalg.norm(relocated[:, :2] - seen[:, :2], axis=1) <= 0.5 * sides_px(seen)).all()


def test_reads_a_tile_detected_beside_its_place(
    reader: Reader, table: RenderedPicture, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, _ = truth_poses(table.truth)
    seen = _displaced(truth, 0.28, 0.08)
    found = seen, np.tile([0.01, 0.99, 0.0], (len(seen), 1)), np.full(len(seen), 4.0)
    monkeypatch.setattr(Candidates, "judge", lambda *_args, **_named: found)
    read = {tuple(sorted(half.pips for half in tile.halves)) for tile in reader.read(table.image).tiles}
    assert read == {(1, 5), (1, 1), (1, 4), (4, 6), (2, 3)}
