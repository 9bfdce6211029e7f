"""What the network says of halves: the same whatever else is asked, and other things of other pips."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from synthetic.render.paint import RenderedPicture
from synthetic.training.truth import true_pips, truth_poses
from tests.vision.tables import Looks, lay, table_with
from vision.errors import ModelError
from vision.geometry.poses import Poses, empty_poses
from vision.image.pyramid import Level, build_pyramid
from vision.networks.pip_features import FEATURES, PICTURE_FEATURES, load_pip_features


def rendered_table() -> RenderedPicture:
    return table_with([lay(0, 6, -80, -30, 20), lay(5, 1, 60, 30, 130), lay(6, 6, 0, -70, 75)], Looks(seed=3))


def table() -> tuple[tuple[Level, ...], Poses]:
    """A picture with the tiles 0-6, 5-1 and 6-6, and where they lie."""
    rendered = rendered_table()
    return build_pyramid(rendered.image), truth_poses(rendered.truth)[0]


def test_every_half_is_described_half_0_of_all_tiles_first() -> None:
    levels, poses = table()
    said = load_pip_features().describe(levels, poses)
    assert said.shape == (2 * len(poses), FEATURES)
    assert np.isfinite(said).all()
    turned = load_pip_features().describe(levels, poses * np.array([1, 1, -1, -1, -1, -1]))
    np.testing.assert_allclose(turned[: len(poses)], said[len(poses) :], atol=0.02)
    np.testing.assert_allclose(turned[len(poses) :], said[: len(poses)], atol=0.02)


def test_pictures_of_halves_stand_behind_what_the_network_says() -> None:
    levels, poses = table()
    said = load_pip_features().describe_with_pictures(levels, poses)
    assert said.shape == (2 * len(poses), FEATURES + PICTURE_FEATURES)
    np.testing.assert_array_equal(said[:, :FEATURES], load_pip_features().describe(levels, poses))
    pips = true_pips(rendered_table().truth).T.ravel()
    lightness = np.abs(said[:, FEATURES : FEATURES + PICTURE_FEATURES // 3]).mean(axis=1)
    assert lightness[pips == 6].min() > lightness[pips == 0].max(initial=0.0)
    assert load_pip_features().describe_with_pictures(levels, poses[:0]).shape == (0, FEATURES + PICTURE_FEATURES)


def test_a_half_is_described_alike_alone_and_among_others() -> None:
    levels, poses = table()
    network = load_pip_features()
    together = network.describe(levels, poses)
    for index in range(len(poses)):
        alone = network.describe(levels, poses[[index]])
        np.testing.assert_allclose(alone, together[[index, len(poses) + index]], atol=1e-4)


def test_halves_with_the_same_pips_are_described_alike() -> None:
    levels, poses = table()
    said = load_pip_features().describe(levels, poses)
    pips = true_pips(rendered_table().truth).T.ravel()
    said /= np.linalg.norm(said, axis=1, keepdims=True)
    likeness = said @ said.T - 2 * np.eye(len(said))
    sixes = np.nonzero(pips == 6)[0]
    assert len(sixes) == 3
    for six in sixes:
        assert pips[likeness[six].argmax()] == 6


def test_no_tiles_have_no_halves() -> None:
    levels, _ = table()
    assert load_pip_features().describe(levels, empty_poses()).shape == (0, FEATURES)


def test_a_file_that_is_no_network_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pip_features.onnx"
    path.write_bytes(b"no network at all")
    with pytest.raises(ModelError, match=r"pip_features\.onnx: not a readable network"):
        load_pip_features(path)
