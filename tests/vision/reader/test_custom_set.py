import numpy as np
import pytest

from vision.networks.network import PipClassifier
from vision.networks.tile_sheet import SIDE_PX, TileSheet, cut_out, simulate_view, tile_mask
from vision.poses import upright_poses
from vision.reader.custom_set import CustomSet, Restraint, Views, fit, held_out, misread, surprise

RESTRAINT = Restraint(0.001, 1.0)


def views_of(pips: np.ndarray, rng: np.random.Generator) -> Views:
    """Return views whose features determine the number, while the built-in classifier confidently reads a 2 as a 3."""
    features = np.eye(8)[pips][None].repeat(4, axis=0) + rng.normal(0, 0.1, (4, *pips.shape, 8))
    features[..., 7] = 1
    chances = np.full((4, *pips.shape, 7), 0.01)
    misread_pips = np.where(pips == 2, 3, pips)
    np.put_along_axis(chances, np.broadcast_to(misread_pips, (4, *pips.shape))[..., None], 0.9, axis=3)
    return Views(features, np.log(chances))


def test_learns_a_systematically_misread_number_from_other_tiles() -> None:
    pips = np.array([(a, b) for a in range(7) for b in range(a, 7)])
    views = views_of(pips, np.random.default_rng(1))
    assert misread(np.exp(views.logs), pips) == pytest.approx(8 / 56)
    chances = held_out(views, pips, RESTRAINT)
    assert misread(chances, pips) == 0
    assert surprise(chances, pips) < surprise(np.exp(views.logs), pips)


def test_numbers_without_examples_get_no_weights() -> None:
    pips = np.array([(a, b) for a in range(5) for b in range(a, 5)])
    custom = fit(views_of(pips, np.random.default_rng(1)), pips, RESTRAINT)
    assert (custom.weights[:, 5:] == 0).all()
    assert (custom.weights[:, :5] != 0).any()


def test_learns_a_number_that_differs_only_in_colour_from_pictures() -> None:
    pips = np.array([(a, b) for a in range(7) for b in range(a, 7)])
    rng = np.random.default_rng(1)
    views = views_of(pips, rng)
    same = np.where(pips == 5, 4, pips)  # the pip features of both are the same
    blind = views_of(same, rng)
    colors = np.where(pips == 5, 0.4, 0.3)[None, ..., None] + rng.normal(0, 0.01, (4, *pips.shape, 3))
    shown = Views(np.concatenate([colors, blind.seen], axis=3), blind.logs, pictures=3)
    assert misread(held_out(shown.without_pictures(), pips, RESTRAINT), pips) > 0.1
    assert misread(held_out(shown, pips, RESTRAINT), pips) == 0
    custom = fit(shown, pips, RESTRAINT)
    assert custom.weights.shape == (11, 7)
    outputs = shown.logs + shown.seen @ custom.weights
    assert (outputs.argmax(axis=3) == pips).all(), "the weights must apply to unscaled features"
    assert misread(np.exp(views.logs), pips) > 0


def test_zero_weights_give_the_built_in_result() -> None:
    rng = np.random.default_rng(2)
    classifier = PipClassifier(
        np.zeros(4, np.float32),
        np.ones(4, np.float32),
        (rng.normal(size=(4, 19)).astype(np.float32),),
        (np.zeros(19, np.float32),),
    )
    features = rng.normal(size=(5, 4)).astype(np.float32)
    built_in = classifier.probabilities(features)[:, :10]
    custom = CustomSet(np.zeros((5, 10)), 1.0).probabilities(classifier, features)
    assert custom[:, :10] == pytest.approx(built_in / built_in.sum(axis=1, keepdims=True), rel=1e-3, abs=1e-4)
    assert custom[:, 10:].max() < 1e-9
    biased = np.zeros((5, 10))
    biased[4, 7] = 50.0
    assert (CustomSet(biased, 1.0).probabilities(classifier, features).argmax(axis=1) == 7).all()


def test_cuts_out_tiles_at_their_pose() -> None:
    image = np.full((300, 400, 3), 90, np.uint8)
    image[100:140, 200:280] = 220  # a light tile with a dark right half
    image[100:140, 240:280] = 30
    pose = upright_poses(np.array([[239.5, 119.5]]), np.zeros(1), np.array([80.0]), np.array([40.0]))
    sheet = cut_out(image, pose)
    cell = sheet.image
    assert cell[tile_mask(-0.5, 0.8, length=0.4)].min() > 210
    assert cell[tile_mask(0.5, 0.8, length=0.4)].max() < 40
    assert cell[0, 0].tolist() == [90, 90, 90]
    with pytest.raises(ValueError, match="a sheet of 2 tiles"):
        TileSheet(np.zeros((64, 100, 3), np.uint8), 2)
    both = sheet.joined(sheet)
    assert both.count == 2
    assert both.poses[1, 0] - both.poses[0, 0] == sheet.image.shape[1]


def test_simulated_views_show_the_tiles_at_the_returned_poses() -> None:
    image = np.full((200, 200, 3), 60, np.uint8)
    image[80:120, 60:140] = 200
    pose = upright_poses(np.array([[99.5, 99.5]]), np.zeros(1), np.array([80.0]), np.array([40.0]))
    for seed in range(8):
        view, poses = simulate_view(cut_out(image, pose), np.random.default_rng(seed))
        x, y = np.rint(poses[0, :2]).astype(int)
        assert np.median(view[y - 3 : y + 4, x - 6 : x + 7]) > np.median(view[:3]) + 20
        assert 0.4 * SIDE_PX * 2 < np.hypot(*poses[0, 2:4]) * 2 <= SIDE_PX * 2
