"""Tests of the pip features: shapes, batch independence, and similarity of equal pips."""

from __future__ import annotations

import numpy as np

from lab.render.paint import RenderedPicture
from lab.training.tables import true_pips, truth_poses
from tests.vision.tables import Looks, lay, table_with
from vision.image.picture import Level, build_pyramid
from vision.networks.network import FEATURES, PICTURE_FEATURES, load_pip_features
from vision.poses import Poses, empty_poses


def rendered_table() -> RenderedPicture:
    return table_with([lay(0, 6, -80, -30, 20), lay(5, 1, 60, 30, 130), lay(6, 6, 0, -70, 75)], Looks(seed=3))


def table() -> tuple[tuple[Level, ...], Poses]:
    """Return an image with the tiles 0-6, 5-1 and 6-6, and their poses."""
    rendered = rendered_table()
    return build_pyramid(rendered.image), truth_poses(rendered.truth)[0]


def test_features_of_half_0_of_all_tiles_come_first() -> None:
    levels, poses = table()
    features = load_pip_features().describe(levels, poses)
    assert features.shape == (2 * len(poses), FEATURES)
    assert np.isfinite(features).all()
    turned = load_pip_features().describe(levels, poses * np.array([1, 1, -1, -1, -1, -1]))
    np.testing.assert_allclose(turned[: len(poses)], features[len(poses) :], atol=0.02)
    np.testing.assert_allclose(turned[len(poses) :], features[: len(poses)], atol=0.02)


def test_pictures_of_halves_follow_the_features() -> None:
    levels, poses = table()
    features = load_pip_features().describe_with_pictures(levels, poses)
    assert features.shape == (2 * len(poses), FEATURES + PICTURE_FEATURES)
    np.testing.assert_array_equal(features[:, :FEATURES], load_pip_features().describe(levels, poses))
    pips = true_pips(rendered_table().truth).T.ravel()
    lightness = np.abs(features[:, FEATURES : FEATURES + PICTURE_FEATURES // 3]).mean(axis=1)
    assert lightness[pips == 6].min() > lightness[pips == 0].max(initial=0.0)
    assert load_pip_features().describe_with_pictures(levels, poses[:0]).shape == (0, FEATURES + PICTURE_FEATURES)


def test_the_features_of_a_half_do_not_depend_on_the_batch() -> None:
    levels, poses = table()
    network = load_pip_features()
    together = network.describe(levels, poses)
    for index in range(len(poses)):
        alone = network.describe(levels, poses[[index]])
        np.testing.assert_allclose(alone, together[[index, len(poses) + index]], atol=1e-4)
    assert network.describe(levels, empty_poses()).shape == (0, FEATURES)


def test_halves_with_the_same_pips_have_similar_features() -> None:
    levels, poses = table()
    features = load_pip_features().describe(levels, poses)
    pips = true_pips(rendered_table().truth).T.ravel()
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    similarity = features @ features.T - 2 * np.eye(len(features))
    sixes = np.nonzero(pips == 6)[0]
    assert len(sixes) == 3
    for six in sixes:
        assert pips[similarity[six].argmax()] == 6
