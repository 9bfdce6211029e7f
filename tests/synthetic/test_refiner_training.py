"""Training of the refiner: patches with their classes and corrections, turned and mirrored as pictures are."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from synthetic.render.scene import PlacedTile, Scene
from synthetic.training.refiner import samples as refiner_samples
from synthetic.training.refiner.samples import RefinerSamples, draw_refiner_samples, draw_refiner_table
from synthetic.training.refiner.views import augment
from synthetic.training.tables import LearningTable, table_of
from synthetic.training.truth import corner_errors, near_any
from tests.vision.tables import CAMERA, Looks, lay
from vision.arrays import Image
from vision.geometry.poses import Poses, deltas_between, empty_poses, move, swap_halves
from vision.image.pyramid import Level, build_pyramid
from vision.networks.patches import PatchGrid, contrasts, sample, tile_grid
from vision.networks.refiner import CORRECTION, DOWN, NOTHING, OUTPUTS, UP

NO_TORCH = "torch trains the networks; it is not among the tools of the tests"
FIELDS = RefinerSamples.__slots__


@cache
def table() -> LearningTable:
    """A table with two tiles face up, one face down, and one that the edge of the picture cuts off."""
    edge_mm = CAMERA.width_px / CAMERA.px_per_mm / 2
    cut_off = lay(4, 4, edge_mm, 0, 30)
    tiles = (lay(2, 6, -60, -30, 20), lay(5, 1, 60, 30, 130), PlacedTile(None, (0, 90), 1.0), cut_off)
    looks = Looks()
    scene = Scene(tiles, looks.tile, looks.table, looks.light, looks.camera)
    return table_of(scene, np.random.default_rng(3))


def mirrored(poses: Poses, width_px: int) -> Poses:
    """The poses in a picture that was mirrored left to right; v stays u turned clockwise."""
    flipped = poses * np.array([-1, 1, -1, 1, 1, -1.0])
    flipped[:, 0] += width_px - 1
    return np.asarray(flipped)


def four_ways(wrong: Poses, truth: Poses) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """How wrong poses look as they are, turned round, mirrored, and both, and what mends them: 4 * N rows each."""
    image = table().image
    seen, corrections = [], []
    for picture, poses, targets in (
        (image, wrong, truth),
        (np.ascontiguousarray(image[:, ::-1]), mirrored(wrong, image.shape[1]), mirrored(truth, image.shape[1])),
    ):
        for one, target in ((poses, targets), (swap_halves(poses), swap_halves(targets))):
            seen.append(contrasts(sample(build_pyramid(picture), one, tile_grid()), tile_grid()))
            corrections.append(deltas_between(one, target))
    return np.concatenate(seen), np.concatenate(corrections)


@pytest.mark.parametrize("tile", [0, 1])
def test_a_patch_that_is_turned_or_mirrored_is_corrected_as_the_tile_on_such_a_picture(tile: int) -> None:
    truth = table().poses[table().faces == UP][[tile]]
    wrong = move(truth, np.array([[0.15, -0.2, 0.05, 0.12, -0.1, -0.08]]))
    pictures, mends = four_ways(wrong, truth)
    assert min(np.abs(a - b).max() for i, a in enumerate(mends) for b in mends[:i]) > 0.05
    count = 200
    seen, corrections = augment(
        np.random.default_rng(1), np.repeat(pictures[:1], count, axis=0), np.repeat(mends[:1], count, axis=0)
    )
    ways = np.abs(corrections[:, None] - mends[None]).max(axis=2)
    assert ways.min(axis=1).max() < 1e-3
    which = ways.argmin(axis=1)
    assert np.bincount(which, minlength=4).min() > 25  # each way about as often
    for patch, way in zip(seen[:, 0], which, strict=True):  # lightness; a few are negatives
        likeness = [abs(np.corrcoef(patch.ravel(), picture[0].ravel())[0, 1]) for picture in pictures]
        assert int(np.argmax(likeness)) == way
        assert likeness[way] > 0.9


def grey_patches(count: int) -> NDArray[np.float32]:
    patches = np.zeros((count, 3, 24, 40), np.float32)
    patches[:, 0] = np.random.default_rng(1).normal(0, 0.3, patches[:, 0].shape)
    return patches


def test_other_colours_are_as_strong_and_grey_stays_grey() -> None:
    patches, none = grey_patches(300), np.zeros((300, 6), np.float32)
    grey, _ = augment(np.random.default_rng(2), patches, none)
    assert 0.6 < (np.abs(grey[:, 1:]).max(axis=(1, 2, 3)) == 0).mean() < 0.8  # noise has colours
    patches[:, 1], patches[:, 2] = 0.32, -0.24
    coloured, _ = augment(np.random.default_rng(2), patches, none)
    clean = np.abs(grey[:, 1:]).max(axis=(1, 2, 3)) == 0
    strength = np.hypot(coloured[clean, 1], coloured[clean, 2])
    lightness = np.abs(coloured[clean, 0]).mean(axis=(1, 2)) / np.abs(patches[clean, 0]).mean(axis=(1, 2))
    np.testing.assert_allclose(strength.mean(axis=(1, 2)) / lightness, 0.4, rtol=1e-4)
    hues = np.arctan2(coloured[clean, 2, 0, 0], coloured[clean, 1, 0, 0])
    assert np.histogram(hues, 6, (-np.pi, np.pi))[0].min() > 10


def test_the_same_seed_sees_the_same_and_leaves_what_it_was_given() -> None:
    patches, corrections = grey_patches(20), np.full((20, 6), 0.1, np.float32)
    patches_before, corrections_before = patches.copy(), corrections.copy()
    one, two = (augment(np.random.default_rng(4), patches, corrections) for _ in range(2))
    assert all((a == b).all() for a, b in zip(one, two, strict=True))
    assert (patches == patches_before).all()
    assert (corrections == corrections_before).all()
    assert (one[0] != patches).any()


def test_corrections_that_nobody_can_make_stay_unknown() -> None:
    _, corrections = augment(np.random.default_rng(4), grey_patches(20), np.full((20, 6), np.nan, np.float32))
    assert np.isnan(corrections).all()


class Drawn:
    """The samples of `table`, and the poses at which they were seen."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, earlier: Path | None = None, seed: int = 3) -> None:
        self.poses = empty_poses()

        def noting(levels: tuple[Level, ...], poses: Poses, grid: PatchGrid) -> Image:
            self.poses = poses
            return sample(levels, poses, grid)

        monkeypatch.setattr(refiner_samples, "draw_learning_table", lambda *_, **__: table())
        monkeypatch.setattr(refiner_samples, "sample", noting)
        self.samples = draw_refiner_table(seed, earlier, 0)


@pytest.mark.parametrize("seed", range(4))
def test_classes_and_corrections_are_those_of_the_truth(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
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
    assert set(nearest[is_tile].tolist()) == {0, 1, 2}  # every tile is seen
    refined = np.isfinite(samples.corrections).all(axis=1)
    assert (refined == (error < 0.6)).all()
    corrections = samples.corrections[refined].astype(np.float64)
    assert np.abs(move(poses[refined], corrections) - target[refined]).max() < 1e-3
    assert np.isnan(samples.corrections[~refined]).all()


def test_poses_by_chance_are_nothing_but_what_nobody_could_read_is_not_taught(monkeypatch: pytest.MonkeyPatch) -> None:
    found = refiner_samples._detector().find(build_pyramid(table().image)).poses
    assert near_any(found, table().unread_px).any(), "or this would test nothing"
    for seed in range(4):
        drawn = Drawn(monkeypatch, seed=seed)
        taught = drawn.samples.classes >= 0
        assert not near_any(drawn.poses[taught], table().unread_px).any()
        assert (drawn.samples.classes == NOTHING).sum() >= 10


def test_what_an_earlier_network_takes_for_a_tile_is_taught_as_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cloth = np.array([[500.0, 100.0, 30.0, 5.0, -2.5, 15.0]])
    asked: list[Path] = []

    class Mistaken:
        """Finds a tile on the cloth."""

        def refined(self, levels: tuple[Level, ...], poses: Poses, *, rounds: int) -> tuple[Poses, None]:
            return np.repeat(cloth, 300, axis=0), None

    def candidates(earlier: Path) -> Mistaken:
        asked.append(earlier)
        return Mistaken()

    monkeypatch.setattr(refiner_samples, "_candidates", candidates)
    earlier = tmp_path / "first.onnx"
    drawn = Drawn(monkeypatch, earlier=earlier)
    assert asked == [earlier]
    there = np.abs(drawn.poses - cloth).max(axis=1) == 0
    assert there.sum() > 10
    assert (drawn.samples.classes[there] == NOTHING).all()
    assert np.isnan(drawn.samples.corrections[there]).all()


@pytest.mark.slow
def test_samples_follow_from_the_seed_whatever_the_number_of_processes() -> None:
    one, two = (draw_refiner_samples(3, 2, jobs, lambda _: None, earlier=None) for jobs in (1, 2))
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert len(one.classes) > 50
    assert draw_refiner_table(4, None, 0).classes.tolist() != draw_refiner_table(3, None, 0).classes.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("index", range(4))
def test_any_table_can_be_learned_from(index: int) -> None:
    samples = draw_refiner_table(9, None, index)
    assert {-1, NOTHING, UP} <= set(samples.classes.tolist()) <= {-1, NOTHING, UP, DOWN}
    taught = np.asarray(np.isfinite(samples.corrections).all(axis=1))
    assert taught.any()
    assert np.abs(samples.corrections[taught]).max() < 3
    assert taught[samples.classes >= UP].all()


def test_no_table_without_tiles_is_a_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Looks()
    empty = table_of(Scene((), looks.tile, looks.table, looks.light, looks.camera), np.random.default_rng(3))
    monkeypatch.setattr(refiner_samples, "draw_learning_table", lambda *_, **__: empty)
    samples = draw_refiner_table(1, None, 0)
    assert set(samples.classes.tolist()) == {NOTHING}
    assert np.isnan(samples.corrections).all()


def made_up(count: int) -> RefinerSamples:
    """Samples that can be learned: dark cloth is nothing, what is seen along u tells the rest."""
    rng = np.random.default_rng(5)
    classes = rng.integers(0, 3, count)
    patches = np.full((count, 24, 40, 3), 120, np.uint8)
    patches[classes == UP, 8:16, 8:16] = 250
    patches[classes == DOWN, 8:16, :4] = 10
    patches[classes == DOWN, 8:16, -4:] = 10
    corrections = np.full((count, 6), np.nan, np.float32)
    corrections[classes == UP] = [0.05, -0.1, 0, 0, 0, 0.1]
    noisy = np.clip(patches + rng.normal(0, 4, patches.shape), 0, 255).astype(np.uint8)
    return RefinerSamples(noisy.reshape(count, -1, 3), classes, corrections)


def test_the_network_says_a_number_for_each_class_and_correction() -> None:
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    from synthetic.training.refiner.net import RefinerNet

    torch.manual_seed(1)
    net = RefinerNet().eval()
    grid = tile_grid()
    seen = torch.randn(5, 3, grid.rows, grid.columns)
    with torch.no_grad():
        before = net(seen).numpy()
        net.scale_logits(2.0)
        after = net(seen).numpy()
    assert before.shape == (5, OUTPUTS)
    np.testing.assert_allclose(after[:, :3], 2 * before[:, :3], rtol=1e-4)
    np.testing.assert_array_equal(after[:, 3:], before[:, 3:])


def test_batches_follow_from_seed_and_step_and_hold_what_is_taught() -> None:
    pytest.importorskip("torch", reason=NO_TORCH)
    from synthetic.training.refiner.fit import draw_batch

    samples = made_up(60)
    one, again, later, other = (draw_batch(seed, samples, step) for seed, step in ((1, 2), (1, 2), (1, 3), (2, 2)))
    for a, b in zip(one, again, strict=True):
        np.testing.assert_array_equal(a, b)
    seen, classes, corrections = one
    assert seen.shape == (len(classes), 3, 24, 40)
    assert seen.dtype == corrections.dtype == np.float32
    assert (np.isfinite(corrections).all(axis=1) == (classes == UP)).all()
    assert (classes != later[1]).any()
    assert (classes != other[1]).any()


def test_the_loss_is_of_what_is_taught_alone() -> None:
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    from synthetic.training.refiner.fit import _loss
    from synthetic.training.refiner.net import RefinerNet

    grid = tile_grid()

    def loss(classes: list[int], corrections: list[list[float]]) -> float:
        """What a network loses that says of everything: it is face up, and a tenth of a half-axis along."""
        said = torch.tensor([[0.0, 20.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]] * len(classes), requires_grad=True)

        class Network(RefinerNet):
            def forward(self, seen: Any) -> Any:
                return said

        seen = np.zeros((len(classes), 3, grid.rows, grid.columns), np.float32)
        lost = _loss(Network(), (seen, np.array(classes), np.array(corrections, np.float32)))
        lost.backward()
        assert torch.isfinite(said.grad).all()
        return float(lost.detach())

    unknown, right, wrong = [math.nan] * 6, [CORRECTION, 0.0, 0, 0, 0, 0], [0.0, CORRECTION, 0, 0, 0, 0]
    assert loss([UP, UP], [right, unknown]) == pytest.approx(0, abs=1e-6)
    assert loss([UP, -1], [unknown, unknown]) == pytest.approx(0, abs=1e-6)
    assert loss([NOTHING, -1], [right, right]) == pytest.approx(20, abs=0.1)
    assert loss([UP, -1], [right, wrong]) > 0.1


@pytest.fixture
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learn from little at a time, in large steps: hundreds of batches are for the shipped network."""
    pytest.importorskip("torch", reason=NO_TORCH)
    from synthetic.training.refiner import fit as refiner_fit
    from synthetic.training.torch_fit import LearningSchedule

    monkeypatch.setattr(refiner_fit, "_BATCH", 32)
    monkeypatch.setattr(refiner_fit, "_SCHEDULE", LearningSchedule(3e-3, 1e-3, warm_up_steps=5, mean_over_steps=5))


@pytest.mark.slow
@pytest.mark.usefixtures("_small_batches")
def test_the_network_learns_and_the_same_seed_learns_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    from synthetic.training.refiner import fit as refiner_fit

    losses, shares, loss = list[float](), list[float](), refiner_fit._loss

    def noting(*given: Any) -> Any:
        lost = loss(*given)
        losses.append(float(lost.detach()))
        return lost

    monkeypatch.setattr(refiner_fit, "_loss", noting)
    samples = made_up(200)
    first, second, other = (refiner_fit._fitted(seed, samples, 30, shares.append) for seed in (1, 1, 2))
    assert np.mean(losses[25:30]) < 0.6 * np.mean(losses[:5])
    assert losses[30:60] == losses[:30]
    assert losses[60:] != losses[:30]
    assert shares[-1] == 1.0
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first.parameters(), other.parameters(), strict=True))


def test_calibration_takes_back_what_makes_a_network_too_sure() -> None:
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    from synthetic.training.refiner.fit import _calibrate
    from synthetic.training.refiner.net import RefinerNet

    torch.manual_seed(1)
    net, check = RefinerNet(), made_up(300)
    grid = tile_grid()
    with torch.no_grad():
        said = net.eval()(torch.from_numpy(contrasts(check.patches, grid))).numpy()[:, :3]
    chances = np.exp(8 * said) / np.exp(8 * said).sum(axis=1, keepdims=True)
    rng = np.random.default_rng(2)
    drawn = np.array([rng.choice(3, p=row / row.sum()) for row in chances.astype(np.float64)])
    unknown = np.where(rng.random(300) < 0.2, -1, drawn)  # where only the correction is taught
    net.scale_logits(8.0)
    right = _calibrate(net, RefinerSamples(check.patches, unknown, check.corrections))
    net.scale_logits(2.0)
    assert _calibrate(net, RefinerSamples(check.patches, unknown, check.corrections)) == pytest.approx(
        right / 2, rel=0.1
    )
    assert right == pytest.approx(1, rel=0.35)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch would rather be asked for its newer exporter
def test_opencv_says_what_torch_says_of_any_number_of_tiles(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    pytest.importorskip("onnx", reason="onnx writes the networks")
    from synthetic.training.refiner.fit import _save
    from synthetic.training.refiner.net import RefinerNet

    torch.manual_seed(1)
    net, file, grid = RefinerNet(), tmp_path / "refiner.onnx", tile_grid()
    _save(net, file)
    network = cv2.dnn.readNetFromONNX(str(file))
    for count in (1, 7, 56):
        tiles = np.random.default_rng(count).normal(0, 1, (count, 3, grid.rows, grid.columns)).astype(np.float32)
        with torch.no_grad():
            expected = net.eval()(torch.from_numpy(tiles)).numpy()
        network.setInput(tiles)
        said = np.asarray(network.forward())
        assert said.shape == (count, OUTPUTS)
        np.testing.assert_allclose(said, expected, atol=1e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.usefixtures("_small_batches")
def test_the_same_seed_trains_the_same_network(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=NO_TORCH)
    pytest.importorskip("onnx", reason="onnx writes the networks")
    from synthetic.training.refiner.fit import train_refiner

    said: list[tuple[str, float]] = []
    files = [tmp_path / name for name in ("one.onnx", "two.onnx")]
    for file in files:
        train_refiner(seed=1, scenes=3, steps=2, jobs=1, progress=lambda what, share: said.append((what, share)))(file)
    assert said[-1][1] == 1.0
    assert len({what for what, _ in said}) == 5
    assert files[0].read_bytes() == files[1].read_bytes()
