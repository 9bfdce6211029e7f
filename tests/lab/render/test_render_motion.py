"""Tests of rendered clips: still regions, hands, light, noise, and the truth for a bumped camera."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.render.look_types import CameraLook
from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.motion import Film, Moment
from lab.render.paint import render
from lab.render.scene import PlacedTile, Scene
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


def differing(first: Image, second: Image) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    return np.asarray(np.abs(first.astype(int) - second).max(axis=2) > 0)


def test_a_still_table_equals_the_rendered_scene() -> None:
    scene = Scene(TILES, CLASSIC, FELT, LAMP, QUIET)
    full = render(scene, np.random.default_rng(7)).image
    shown = film().picture(Moment(TILES))
    assert np.array_equal(shown, full[MARGIN_PX:-MARGIN_PX, MARGIN_PX:-MARGIN_PX])


def test_a_hand_changes_only_its_surroundings() -> None:
    clip = film()
    changed = differing(clip.picture(Moment(TILES)), clip.picture(Moment(TILES, (HAND,))))
    width = changed.shape[1]
    assert changed[:, : width // 3].mean() > 0.2
    assert not changed[:, 2 * width // 3 :].any()


def test_a_moving_tile_looks_like_a_resting_one() -> None:
    clip = film()
    resting = clip.picture(Moment(TILES)).astype(int)
    moving = clip.picture(Moment(TILES[:1], moving=TILES[1:]))
    changed = np.abs(resting - moving).max(axis=2)
    # Shadows of moving tiles are softer.
    assert (changed > 40).mean() < 0.001
    assert np.abs(resting - clip.picture(Moment(TILES[:1]))).max() > 100


def test_a_hand_hides_tiles_temporarily() -> None:
    clip = film()
    before = clip.picture(Moment(TILES))
    seen = reader().read(clip.picture(Moment(TILES, (HAND,)))).tiles
    confident = [tile for tile in seen if all(half.confidence >= SURE for half in tile.halves)]
    assert missing(clip.truth(TILES[:1]), confident) != []
    assert missing(clip.truth(TILES[1:2]), confident) == []
    assert np.array_equal(before, clip.picture(Moment(TILES)))


@pytest.mark.parametrize("bump", [(0.0, 0.0, 0.0), (6.0, -4.0, 0.0), (-3.0, 5.0, 0.6)])
def test_the_truth_follows_a_bumped_camera(bump: tuple[float, float, float]) -> None:
    clip = film()
    assert missing(clip.truth(TILES, bump), reader().read(clip.picture(Moment(TILES, bump=bump))).tiles) == []


def test_a_change_of_light_affects_the_whole_image() -> None:
    clip = film()
    usual = clip.picture(Moment(TILES)).astype(float)
    darker = clip.picture(Moment(TILES, gain=0.9, cast_bgr=(1.0, 1.0, 0.9)))
    assert np.abs(darker[..., :2] - 0.9 * usual[..., :2]).max() <= 1.0
    assert np.abs(darker[..., 2] - 0.81 * usual[..., 2]).max() <= 1.0


def test_each_frame_has_its_own_noise_and_equal_seeds_give_equal_frames() -> None:
    noisy = replace(QUIET, noise=2.0)
    clip, repeated, other = film(noisy), film(noisy), film(noisy, seed=2)
    first, second = clip.picture(Moment(TILES)), clip.picture(Moment(TILES))
    assert 1.0 < np.abs(first.astype(float) - second).mean() < 4.0
    assert np.array_equal(first, repeated.picture(Moment(TILES)))
    assert np.array_equal(second, repeated.picture(Moment(TILES)))
    assert not np.array_equal(first, other.picture(Moment(TILES)))


def test_the_noise_of_two_frames_is_uncorrelated_at_any_shift() -> None:
    table, clip = film().picture(Moment()).astype(float), film(replace(QUIET, noise=2.0))
    noises = [(clip.picture(Moment()) - table).mean(axis=2) for _ in range(2)]
    (first, second), strength = (
        (np.fft.rfft2(noise - noise.mean()) for noise in noises),
        np.prod(np.std(noises, axis=(1, 2))),
    )
    agreement = np.fft.irfft2(first.conj() * second, noises[0].shape) / (strength * noises[0].size)
    assert np.abs(agreement).max() < 0.1


@pytest.mark.parametrize("effect", [{"lens": 0.05}, {"bloom": 0.2}, {"fringe_px": 1.0}, {"metering": 0.5}])
def test_rejects_camera_effects_with_a_long_range(effect: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="camera: expected no lens"):
        film(replace(QUIET, **effect))  # type: ignore[arg-type]  # all of these are numbers
