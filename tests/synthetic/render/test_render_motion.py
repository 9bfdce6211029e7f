"""Moving pictures: still where nothing moves, moving where a hand does, with the truth of a camera that was bumped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from synthetic.render.look_types import CameraLook
from synthetic.render.looks import CLASSIC, FELT, LAMP
from synthetic.render.motion import Film, Moment
from synthetic.render.paint import render
from synthetic.render.scene import PlacedTile, Scene
from tests.vision.moving import CAMERA, MARGIN_PX, hand_at
from tests.vision.tables import lay, missing, reader
from vision.arrays import Image
from vision.reading import SURE
from vision.tracking.settle import Side

TILES = (lay(3, 5, -110, -40, 20), lay(6, 1, 60, 40, 100), PlacedTile(None, (120.0, -60.0), 0.3))
HAND = hand_at((-110.0, -40.0), Side.LEFT, 0.0)
QUIET = replace(CAMERA, noise=0.0, jpeg_quality=None)


def film(camera: CameraLook = QUIET, seed: int = 1) -> Film:
    scene = Scene((), CLASSIC, FELT, LAMP, camera)
    return Film(scene, seed=7, margin_px=MARGIN_PX, rng=np.random.default_rng(seed))


def differing(one: Image, other: Image) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    return np.asarray(np.abs(one.astype(int) - other).max(axis=2) > 0)


def test_a_still_table_is_what_the_renderer_draws() -> None:
    scene = Scene(TILES, CLASSIC, FELT, LAMP, QUIET)
    whole = render(scene, np.random.default_rng(7)).image
    shown = film().picture(Moment(TILES))
    assert np.array_equal(shown, whole[MARGIN_PX:-MARGIN_PX, MARGIN_PX:-MARGIN_PX])


def test_a_hand_changes_nothing_away_from_it_and_its_shadow() -> None:
    one = film()
    changed = differing(one.picture(Moment(TILES)), one.picture(Moment(TILES, (HAND,))))
    width = changed.shape[1]
    assert changed[:, : width // 3].mean() > 0.2
    assert not changed[:, 2 * width // 3 :].any()


def test_a_tile_that_moves_looks_like_one_that_lies_there() -> None:
    one = film()
    lies = one.picture(Moment(TILES)).astype(int)
    moves = one.picture(Moment(TILES[:1], moving=TILES[1:]))
    changed = np.abs(lies - moves).max(axis=2)
    # Shadows of what moves are softer.
    assert (changed > 40).mean() < 0.001
    assert np.abs(lies - one.picture(Moment(TILES[:1]))).max() > 100


def test_what_a_hand_hides_is_hidden_and_comes_back() -> None:
    one = film()
    before = one.picture(Moment(TILES))
    seen = reader().read(one.picture(Moment(TILES, (HAND,)))).tiles
    surely = [tile for tile in seen if all(half.confidence >= SURE for half in tile.halves)]
    assert missing(one.truth(TILES[:1]), surely) != []
    assert missing(one.truth(TILES[1:2]), surely) == []
    assert np.array_equal(before, one.picture(Moment(TILES)))


@pytest.mark.parametrize("bump", [(0.0, 0.0, 0.0), (6.0, -4.0, 0.0), (-3.0, 5.0, 0.6)])
def test_truth_says_where_a_bumped_camera_sees_the_tiles(bump: tuple[float, float, float]) -> None:
    one = film()
    assert missing(one.truth(TILES, bump), reader().read(one.picture(Moment(TILES, bump=bump))).tiles) == []


def test_light_changes_the_whole_picture_at_once() -> None:
    one = film()
    usual = one.picture(Moment(TILES)).astype(float)
    darker = one.picture(Moment(TILES, gain=0.9, cast_bgr=(1.0, 1.0, 0.9)))
    assert np.abs(darker[..., :2] - 0.9 * usual[..., :2]).max() <= 1.0
    assert np.abs(darker[..., 2] - 0.81 * usual[..., 2]).max() <= 1.0


def test_each_frame_has_noise_of_its_own_and_each_seed_the_same_frames() -> None:
    noisy = replace(QUIET, noise=2.0)
    one, again, other = film(noisy), film(noisy), film(noisy, seed=2)
    first, second = one.picture(Moment(TILES)), one.picture(Moment(TILES))
    assert 1.0 < np.abs(first.astype(float) - second).mean() < 4.0
    assert np.array_equal(first, again.picture(Moment(TILES)))
    assert np.array_equal(second, again.picture(Moment(TILES)))
    assert not np.array_equal(first, other.picture(Moment(TILES)))


def test_the_noise_of_two_frames_has_nothing_in_common_wherever_one_is_laid_over_the_other() -> None:
    table, one = film().picture(Moment()).astype(float), film(replace(QUIET, noise=2.0))
    noises = [(one.picture(Moment()) - table).mean(axis=2) for _ in range(2)]
    (first, second), strength = (
        (np.fft.rfft2(noise - noise.mean()) for noise in noises),
        np.prod(np.std(noises, axis=(1, 2))),
    )
    agreement = np.fft.irfft2(first.conj() * second, noises[0].shape) / (strength * noises[0].size)
    assert np.abs(agreement).max() < 0.1


@pytest.mark.parametrize("what", [{"lens": 0.05}, {"bloom": 0.2}, {"fringe_px": 1.0}, {"metering": 0.5}])
def test_a_camera_that_changes_far_away_pixels_is_refused(what: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="camera: expected no lens"):
        film(replace(QUIET, **what))  # type: ignore[arg-type]  # all of these are numbers
