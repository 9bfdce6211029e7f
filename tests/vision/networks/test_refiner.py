"""Tests of the refiner: classes, pose corrections, and batch independence."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.render.scene import PlacedTile
from lab.training.tables import corner_errors, truth_poses
from tests.vision.tables import CAMERA, Looks, lay, table_with
from vision import ModelError
from vision.image.picture import Level, build_pyramid
from vision.networks.network import NOTHING, load_refiner
from vision.poses import Poses, empty_poses, move, swap_halves, upright_poses


@cache
def table() -> tuple[tuple[Level, ...], Poses, NDArray[np.int64]]:
    """Return an image of three face-up and two face-down tiles, their poses and faces."""
    backs = [PlacedTile(None, (0, 60), 1.0), PlacedTile(None, (110, -80), 2.6)]
    up = [lay(0, 6, -80, -30, 20), lay(5, 1, 60, 30, 130), lay(6, 6, 0, -70, 75)]
    rendered = table_with([*up, *backs], Looks(seed=3))
    return build_pyramid(rendered.image), *truth_poses(rendered.truth)


def test_cloth_and_the_gap_between_two_tiles_are_no_tiles() -> None:
    levels, poses, faces = table()
    sizes = np.full(3, 24 * CAMERA.px_per_mm)
    centers = np.array([CAMERA.width_px, CAMERA.height_px]) * [[0.15, 0.85], [0.1, 0.1], [0.85, 0.85]]
    cloth = upright_poses(centers, np.array([0.0, 1.0, 2.0]), 2 * sizes, sizes)
    chances, corrections = load_refiner().look(levels, np.concatenate([poses, cloth]))
    assert chances.argmax(axis=1).tolist() == [*faces.tolist(), NOTHING, NOTHING, NOTHING]
    assert chances.max(axis=1).min() > 0.8
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert corrections.shape == (8, 6)
    beside = move(poses, np.tile([0.0, 1.0, 0, 0, 0, 0], (len(poses), 1)))  # half a tile sideways
    along = move(poses, np.tile([1.0, 0.0, 0, 0, 0, 0], (len(poses), 1)))
    chances, _ = load_refiner().look(levels, np.concatenate([beside, along]))
    assert (chances.argmax(axis=1) == NOTHING).mean() >= 0.9


WRONG = {
    "along": [0.12, 0, 0, 0, 0, 0],
    "back": [-0.12, 0, 0, 0, 0, 0],
    "aside": [0, 0.2, 0, 0, 0, 0],
    "turned": [0, 0, 0, 0.2, -0.05, 0],
    "too long": [0, 0, 0.12, 0, 0, 0],
    "too narrow": [0, 0, 0, 0, 0, -0.25],
    "all": [0.06, -0.1, -0.05, -0.1, 0.03, 0.08],
}


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("is_rotated", [False, True])
def test_corrections_move_a_wrong_pose_towards_the_tile(kind: str, is_rotated: bool) -> None:
    levels, truth, _ = table()
    wrong = move(swap_halves(truth) if is_rotated else truth, np.tile(WRONG[kind], (len(truth), 1)))
    before = corner_errors(wrong, truth)[0]
    after = corner_errors(move(wrong, load_refiner().look(levels, wrong)[1]), truth)[0]
    assert before.min() > 0.08
    assert (after < before).all()
    assert after.mean() < 0.6 * before.mean()


def test_the_result_for_a_pose_does_not_depend_on_the_batch() -> None:
    levels, poses, _ = table()
    look = load_refiner().look
    together = look(levels, poses)
    many = look(levels, np.repeat(poses, 20, axis=0))
    for index in range(len(poses)):
        for single, batched, repeated in zip(look(levels, poses[[index]]), together, many, strict=True):
            np.testing.assert_allclose(single, batched[[index]], atol=1e-3)
            np.testing.assert_allclose(single, repeated[[20 * index]], atol=1e-3)
    chances, corrections = look(levels, empty_poses())
    assert (chances.shape, corrections.shape) == ((0, 3), (0, 6))


@pytest.mark.parametrize("content", [b"", b"no network", None], ids=["empty", "text", "absent"])
def test_rejects_a_file_that_is_no_network(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "refiner.onnx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError, match=r"refiner\.onnx: not a readable network"):
        load_refiner(path)
