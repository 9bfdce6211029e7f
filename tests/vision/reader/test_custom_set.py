import numpy as np
import pytest

from vision.geometry.poses import upright_poses
from vision.networks.pip_classifier import PipClassifier
from vision.networks.tile_sheet import SIDE_PX, cut_out, simulate_view, tile_mask
from vision.reader.custom_set import CustomSet
from vision.reader.custom_set_fit import Restraint, Views, fit, held_out, misread, surprise

RESTRAINT = Restraint(0.001, 1.0)


def views_of(pips: np.ndarray, rng: np.random.Generator) -> Views:
    """What is seen tells the number; the shipped head takes a 2 for a 3 and is sure of it."""
    seen = np.eye(8)[pips][None].repeat(4, axis=0) + rng.normal(0, 0.1, (4, *pips.shape, 8))
    seen[..., 7] = 1
    chances = np.full((4, *pips.shape, 7), 0.01)
    said = np.where(pips == 2, 3, pips)
    np.put_along_axis(chances, np.broadcast_to(said, (4, *pips.shape))[..., None], 0.9, axis=3)
    return Views(seen, np.log(chances))


def test_a_number_that_is_always_misread_is_learned_from_other_tiles() -> None:
    pips = np.array([(a, b) for a in range(7) for b in range(a, 7)])
    views = views_of(pips, np.random.default_rng(1))
    assert misread(np.exp(views.logs), pips) == pytest.approx(8 / 56)
    chances = held_out(views, pips, RESTRAINT)
    assert misread(chances, pips) == 0
    assert surprise(chances, pips) < surprise(np.exp(views.logs), pips)


def test_numbers_that_were_not_shown_get_no_weights() -> None:
    pips = np.array([(a, b) for a in range(5) for b in range(a, 5)])
    own = fit(views_of(pips, np.random.default_rng(1)), pips, RESTRAINT)
    assert (own.weights[:, 5:] == 0).all()
    assert (own.weights[:, :5] != 0).any()


def test_a_number_that_only_its_colour_tells_is_learned_from_pictures() -> None:
    pips = np.array([(a, b) for a in range(7) for b in range(a, 7)])
    rng = np.random.default_rng(1)
    views = views_of(pips, rng)
    alike = np.where(pips == 5, 4, pips)  # the network says the same of both
    blind = views_of(alike, rng)
    colors = np.where(pips == 5, 0.4, 0.3)[None, ..., None] + rng.normal(0, 0.01, (4, *pips.shape, 3))
    shown = Views(np.concatenate([colors, blind.seen], axis=3), blind.logs, pictures=3)
    assert misread(held_out(shown.without_pictures(), pips, RESTRAINT), pips) > 0.1
    assert misread(held_out(shown, pips, RESTRAINT), pips) == 0
    own = fit(shown, pips, RESTRAINT)
    assert own.weights.shape == (11, 7)
    outputs = shown.logs + shown.seen @ own.weights
    assert (outputs.argmax(axis=3) == pips).all(), "the weights are those of pictures as they are seen"
    assert misread(np.exp(views.logs), pips) > 0


def test_without_weights_the_shipped_head_is_what_counts() -> None:
    rng = np.random.default_rng(2)
    head = PipClassifier(
        np.zeros(4, np.float32),
        np.ones(4, np.float32),
        (rng.normal(size=(4, 19)).astype(np.float32),),
        (np.zeros(19, np.float32),),
    )
    described = rng.normal(size=(5, 4)).astype(np.float32)
    shipped = head.probabilities(described)[:, :10]
    own = CustomSet(np.zeros((5, 10)), 1.0).probabilities(head, described)
    assert own[:, :10] == pytest.approx(shipped / shipped.sum(axis=1, keepdims=True), rel=1e-3, abs=1e-4)
    assert own[:, 10:].max() < 1e-9
    weighed = np.zeros((5, 10))
    weighed[4, 7] = 50.0
    assert (CustomSet(weighed, 1.0).probabilities(head, described).argmax(axis=1) == 7).all()


def test_tiles_are_cut_out_as_they_lie() -> None:
    image = np.full((300, 400, 3), 90, np.uint8)
    image[100:140, 200:280] = 220  # a light tile, its right half dark
    image[100:140, 240:280] = 30
    pose = upright_poses(np.array([[239.5, 119.5]]), np.zeros(1), np.array([80.0]), np.array([40.0]))
    sheet = cut_out(image, pose)
    cell = sheet.image
    assert cell[tile_mask(-0.5, 0.8, length=0.4)].min() > 210
    assert cell[tile_mask(0.5, 0.8, length=0.4)].max() < 40
    assert cell[0, 0].tolist() == [90, 90, 90]
    both = sheet.joined(sheet)
    assert both.count == 2
    assert both.poses[1, 0] - both.poses[0, 0] == sheet.image.shape[1]


def test_other_light_shows_the_same_tiles_where_it_says() -> None:
    image = np.full((200, 200, 3), 60, np.uint8)
    image[80:120, 60:140] = 200
    pose = upright_poses(np.array([[99.5, 99.5]]), np.zeros(1), np.array([80.0]), np.array([40.0]))
    for seed in range(8):
        seen, poses = simulate_view(cut_out(image, pose), np.random.default_rng(seed))
        x, y = np.rint(poses[0, :2]).astype(int)
        assert np.median(seen[y - 3 : y + 4, x - 6 : x + 7]) > np.median(seen[:3]) + 20
        assert 0.4 * SIDE_PX * 2 < np.hypot(*poses[0, 2:4]) * 2 <= SIDE_PX * 2


def test_a_sheet_of_another_size_is_refused() -> None:
    from vision.networks.tile_sheet import TileSheet

    with pytest.raises(ValueError, match="a sheet of 2 tiles"):
        TileSheet(np.zeros((64, 100, 3), np.uint8), 2)
