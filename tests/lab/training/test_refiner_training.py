"""Tests of the samples of the refiner, and their augmentation."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.render.scene import PlacedTile, Scene
from lab.training import samples as refiner_samples
from lab.training import tables
from lab.training.encoding import deltas_between
from lab.training.samples import RefinerSamples, augment, draw_refiner_table
from lab.training.tables import LearningTable, corner_errors, near_any, table_of
from tests.vision.tables import CAMERA, Looks, lay
from vision.arrays import Image
from vision.image.picture import Level, build_pyramid
from vision.networks.network import DOWN, NOTHING, UP, PatchGrid, contrasts, sample, tile_grid
from vision.poses import Poses, empty_poses, move, swap_halves

NO_TORCH = "torch trains the networks; it is not among the tools of the tests"
FIELDS = RefinerSamples.__slots__


@cache
def table() -> LearningTable:
    """Return a table with two tiles face up, one face down, and one cut off by the border."""
    edge_mm = CAMERA.width_px / CAMERA.px_per_mm / 2 - 12
    cut_off = lay(4, 4, edge_mm, 0, 30)
    tiles = (lay(2, 6, -60, -30, 20), lay(5, 1, 60, 30, 130), PlacedTile(None, (0, 90), 1.0), cut_off)
    looks = Looks()
    scene = Scene(tiles, looks.tile, looks.table, looks.light, looks.camera)
    return table_of(scene, np.random.default_rng(3))


def mirrored(poses: Poses, width_px: int) -> Poses:
    """Return the poses in a mirrored image. v stays u rotated clockwise."""
    flipped = poses * np.array([-1, 1, -1, 1, 1, -1.0])
    flipped[:, 0] += width_px - 1
    return np.asarray(flipped)


def four_ways(wrong: Poses, truth: Poses) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return patches at wrong poses as given, rotated, mirrored and both, with their corrections: 4 * N rows each."""
    image = table().image
    patches, corrections = [], []
    for picture, poses, targets in (
        (image, wrong, truth),
        (np.ascontiguousarray(image[:, ::-1]), mirrored(wrong, image.shape[1]), mirrored(truth, image.shape[1])),
    ):
        for start, target in ((poses, targets), (swap_halves(poses), swap_halves(targets))):
            patches.append(contrasts(sample(build_pyramid(picture), start, tile_grid()), tile_grid()))
            corrections.append(deltas_between(start, target))
    return np.concatenate(patches), np.concatenate(corrections)


@pytest.mark.parametrize("tile", [0, 1])
def test_augmented_corrections_match_the_rotated_and_mirrored_patches(tile: int) -> None:
    truth = table().poses[table().faces == UP][[tile]]
    wrong = move(truth, np.array([[0.15, -0.2, 0.05, 0.12, -0.1, -0.08]]))
    pictures, exact = four_ways(wrong, truth)
    assert min(np.abs(a - b).max() for i, a in enumerate(exact) for b in exact[:i]) > 0.05
    count = 200
    augmented, corrections = augment(
        np.random.default_rng(1), np.repeat(pictures[:1], count, axis=0), np.repeat(exact[:1], count, axis=0)
    )
    errors = np.abs(corrections[:, None] - exact[None]).max(axis=2)
    assert errors.min(axis=1).max() < 1e-3
    variants = errors.argmin(axis=1)
    assert np.bincount(variants, minlength=4).min() > 25  # all variants about equally often
    for patch, variant in zip(augmented[:, 0], variants, strict=True):  # lightness, negated in a few
        similarity = [abs(np.corrcoef(patch.ravel(), picture[0].ravel())[0, 1]) for picture in pictures]
        assert int(np.argmax(similarity)) == variant
        assert similarity[variant] > 0.9


def grey_patches(count: int) -> NDArray[np.float32]:
    patches = np.zeros((count, 3, 24, 40), np.float32)
    patches[:, 0] = np.random.default_rng(1).normal(0, 0.3, patches[:, 0].shape)
    return patches


def test_recoloured_patches_keep_their_saturation_and_grey_stays_grey() -> None:
    patches, none = grey_patches(300), np.zeros((300, 6), np.float32)
    grey, _ = augment(np.random.default_rng(2), patches, none)
    assert 0.6 < (np.abs(grey[:, 1:]).max(axis=(1, 2, 3)) == 0).mean() < 0.8  # noise is coloured
    patches[:, 1], patches[:, 2] = 0.32, -0.24
    coloured, _ = augment(np.random.default_rng(2), patches, none)
    clean = np.abs(grey[:, 1:]).max(axis=(1, 2, 3)) == 0
    strength = np.hypot(coloured[clean, 1], coloured[clean, 2])
    lightness = np.abs(coloured[clean, 0]).mean(axis=(1, 2)) / np.abs(patches[clean, 0]).mean(axis=(1, 2))
    np.testing.assert_allclose(strength.mean(axis=(1, 2)) / lightness, 0.4, rtol=1e-4)
    hues = np.arctan2(coloured[clean, 2, 0, 0], coloured[clean, 1, 0, 0])
    assert np.histogram(hues, 6, (-np.pi, np.pi))[0].min() > 10


def test_equal_seeds_augment_equally_without_modifying_the_input() -> None:
    patches, corrections = grey_patches(20), np.full((20, 6), 0.1, np.float32)
    patches_before, corrections_before = patches.copy(), corrections.copy()
    first, second = (augment(np.random.default_rng(4), patches, corrections) for _ in range(2))
    assert all((a == b).all() for a, b in zip(first, second, strict=True))
    assert (patches == patches_before).all()
    assert (corrections == corrections_before).all()
    assert (first[0] != patches).any()


def test_unknown_corrections_stay_unknown() -> None:
    _, corrections = augment(np.random.default_rng(4), grey_patches(20), np.full((20, 6), np.nan, np.float32))
    assert np.isnan(corrections).all()


class Drawn:
    """Samples of `table`, and the poses of their patches."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, earlier: Path | None = None, seed: int = 3) -> None:
        self.poses = empty_poses()

        def recording(levels: tuple[Level, ...], poses: Poses, grid: PatchGrid) -> Image:
            self.poses = poses
            return sample(levels, poses, grid)

        monkeypatch.setattr(tables, "draw_learning_table", lambda *_, **__: table())
        monkeypatch.setattr(refiner_samples, "sample", recording)
        self.samples = draw_refiner_table(seed, earlier, 0)


@pytest.mark.parametrize("seed", range(4))
def test_classes_and_corrections_agree_with_the_truth(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    drawn = Drawn(monkeypatch, seed=seed)
    samples, poses = drawn.samples, drawn.poses
    assert len(poses) == len(samples.patches) == len(samples.classes) == len(samples.corrections)
    assert samples.patches.shape[1:] == (24 * 40, 3)
    error, nearest, target = corner_errors(poses, table().poses)
    is_tile = np.isin(samples.classes, [UP, DOWN])
    assert (samples.classes[is_tile] == table().faces[nearest[is_tile]]).all()
    assert error[is_tile].max() < 0.2
    assert error[samples.classes == NOTHING].min() > 0.35
    assert set(samples.classes.tolist()) == {-1, NOTHING, UP, DOWN}
    assert set(nearest[is_tile].tolist()) == {0, 1, 2}  # every tile occurs
    refined = np.isfinite(samples.corrections).all(axis=1)
    assert (refined == (error < 0.6)).all()
    corrections = samples.corrections[refined].astype(np.float64)
    assert np.abs(move(poses[refined], corrections) - target[refined]).max() < 1e-3
    assert np.isnan(samples.corrections[~refined]).all()


def test_random_poses_are_nothing_and_illegible_tiles_are_excluded(monkeypatch: pytest.MonkeyPatch) -> None:
    found = refiner_samples._detector().find(build_pyramid(table().image)).poses
    assert near_any(found, table().unread_px).any(), "the detector must find an illegible tile, or this tests nothing"
    for seed in range(4):
        drawn = Drawn(monkeypatch, seed=seed)
        used = drawn.samples.classes >= 0
        assert not near_any(drawn.poses[used], table().unread_px).any()
        assert (drawn.samples.classes == NOTHING).sum() >= 10


def test_false_positives_of_an_earlier_network_become_hard_negatives(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cloth = np.array([[500.0, 100.0, 30.0, 5.0, -2.5, 15.0]])
    loaded: list[Path] = []

    class MistakenCandidates:
        """Candidates that find a tile on the cloth."""

        def refined(self, levels: tuple[Level, ...], poses: Poses, *, rounds: int) -> tuple[Poses, None]:
            return np.repeat(cloth, 300, axis=0), None

    def candidates(earlier: Path) -> MistakenCandidates:
        loaded.append(earlier)
        return MistakenCandidates()

    monkeypatch.setattr(refiner_samples, "_candidates", candidates)
    earlier = tmp_path / "first.onnx"
    drawn = Drawn(monkeypatch, earlier=earlier)
    assert loaded == [earlier]
    on_cloth = np.abs(drawn.poses - cloth).max(axis=1) == 0
    assert on_cloth.sum() > 10
    assert (drawn.samples.classes[on_cloth] == NOTHING).all()
    assert np.isnan(drawn.samples.corrections[on_cloth]).all()


@pytest.mark.slow
@pytest.mark.parametrize("index", range(2))
def test_samples_can_be_drawn_from_any_table(index: int) -> None:
    samples = draw_refiner_table(9, None, index)
    assert {-1, NOTHING, UP} <= set(samples.classes.tolist()) <= {-1, NOTHING, UP, DOWN}
    used = np.asarray(np.isfinite(samples.corrections).all(axis=1))
    assert used.any()
    assert np.abs(samples.corrections[used]).max() < 3
    assert used[samples.classes >= UP].all()


def test_a_table_without_tiles_gives_only_negatives(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Looks()
    empty = table_of(Scene((), looks.tile, looks.table, looks.light, looks.camera), np.random.default_rng(3))
    monkeypatch.setattr(tables, "draw_learning_table", lambda *_, **__: empty)
    samples = draw_refiner_table(1, None, 0)
    assert set(samples.classes.tolist()) == {NOTHING}
    assert np.isnan(samples.corrections).all()
