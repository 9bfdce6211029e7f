"""Tests of training the networks with torch: losses, calibration, export and reproducibility."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from lab.training.samples import RefinerSamples
from vision.networks.detector import CHANNELS, STRIDE_PX
from vision.networks.network import (
    CORRECTION,
    DOWN,
    FEATURES,
    NOTHING,
    OUTPUTS,
    SIZE,
    UP,
    contrasts,
    half_grid,
    tile_grid,
)

NO_TORCH = "torch trains the networks; it is not among the tools of the tests"


def synthetic_samples(count: int) -> RefinerSamples:
    """Return learnable samples: plain patches are no tile, and marks determine the other classes."""
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


def test_the_network_has_an_output_for_each_class_and_correction() -> None:
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    from lab.training.networks import RefinerNet

    torch.manual_seed(1)
    net = RefinerNet().eval()
    grid = tile_grid()
    patches = torch.randn(5, 3, grid.rows, grid.columns)
    with torch.no_grad():
        before = net(patches).numpy()
        net.scale_logits(2.0)
        after = net(patches).numpy()
    assert before.shape == (5, OUTPUTS)
    np.testing.assert_allclose(after[:, :3], 2 * before[:, :3], rtol=1e-4)
    np.testing.assert_array_equal(after[:, 3:], before[:, 3:])


def test_batches_follow_from_seed_and_step_and_contain_the_targets() -> None:
    pytest.importorskip("torch", reason=NO_TORCH)
    from lab.training.networks import draw_refiner_batch

    samples = synthetic_samples(60)
    first, repeated, later, other = (
        draw_refiner_batch(seed, samples, step) for seed, step in ((1, 2), (1, 2), (1, 3), (2, 2))
    )
    for a, b in zip(first, repeated, strict=True):
        np.testing.assert_array_equal(a, b)
    patches, classes, corrections = first
    assert patches.shape == (len(classes), 3, 24, 40)
    assert patches.dtype == corrections.dtype == np.float32
    assert (np.isfinite(corrections).all(axis=1) == (classes == UP)).all()
    assert (classes != later[1]).any()
    assert (classes != other[1]).any()


def test_the_loss_ignores_unknown_targets() -> None:
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    from lab.training.networks import RefinerNet, _refiner_loss

    grid = tile_grid()

    def loss(classes: list[int], corrections: list[list[float]]) -> float:
        """Return the loss of a network with constant outputs: face up, and a tenth of a half-axis along."""
        outputs = torch.tensor([[0.0, 20.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]] * len(classes), requires_grad=True)

        class Network(RefinerNet):
            def forward(self, patches: Any) -> Any:
                return outputs

        patches = np.zeros((len(classes), 3, grid.rows, grid.columns), np.float32)
        value = _refiner_loss(
            Network(),
            tuple(map(torch.from_numpy, (patches, np.array(classes), np.array(corrections, np.float32)))),
        )
        value.backward()
        assert torch.isfinite(outputs.grad).all()
        return float(value.detach())

    unknown, correct, wrong = [math.nan] * 6, [CORRECTION, 0.0, 0, 0, 0, 0], [0.0, CORRECTION, 0, 0, 0, 0]
    assert loss([UP, UP], [correct, unknown]) == pytest.approx(0, abs=1e-6)
    assert loss([UP, -1], [unknown, unknown]) == pytest.approx(0, abs=1e-6)
    assert loss([NOTHING, -1], [correct, correct]) == pytest.approx(20, abs=0.1)
    assert loss([UP, -1], [correct, wrong]) > 0.1


@pytest.fixture
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use small batches and large steps. The built-in network needs hundreds of batches."""
    pytest.importorskip("torch", reason=NO_TORCH)
    from lab.training import networks
    from lab.training.networks import LearningSchedule

    monkeypatch.setattr(networks, "_BATCH", 32)
    monkeypatch.setattr(networks, "_REFINER_SCHEDULE", LearningSchedule(3e-3, 1e-3, warm_up_steps=5, mean_over_steps=5))


@pytest.mark.slow
@pytest.mark.usefixtures("_small_batches")
def test_the_network_learns_reproducibly(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    from lab.training import networks

    losses, shares, loss = list[float](), list[float](), networks._refiner_loss

    def recording(*given: Any) -> Any:
        value = loss(*given)
        losses.append(float(value.detach()))
        return value

    monkeypatch.setattr(networks, "_refiner_loss", recording)
    samples = synthetic_samples(200)
    first, second, other = (
        networks._fit_refiner(seed, samples, 30, device="cpu", progress=shares.append) for seed in (1, 1, 2)
    )
    assert np.mean(losses[25:30]) < 0.6 * np.mean(losses[:5])
    assert losses[30:60] == losses[:30]
    assert losses[60:] != losses[:30]
    assert shares[-1] == 1.0
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first.parameters(), other.parameters(), strict=True))


def test_calibration_corrects_overconfidence() -> None:
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    from lab.training.networks import RefinerNet, _calibrate

    torch.manual_seed(1)
    net, check = RefinerNet(), synthetic_samples(300)
    grid = tile_grid()
    with torch.no_grad():
        outputs = net.eval()(torch.from_numpy(contrasts(check.patches, grid))).numpy()[:, :3]
    chances = np.exp(8 * outputs) / np.exp(8 * outputs).sum(axis=1, keepdims=True)
    rng = np.random.default_rng(2)
    drawn = np.array([rng.choice(3, p=row / row.sum()) for row in chances.astype(np.float64)])
    unknown = np.where(rng.random(300) < 0.2, -1, drawn)  # samples with a correction but no class
    net.scale_logits(8.0)
    correct = _calibrate(net, RefinerSamples(check.patches, unknown, check.corrections))
    net.scale_logits(2.0)
    assert _calibrate(net, RefinerSamples(check.patches, unknown, check.corrections)) == pytest.approx(
        correct / 2, rel=0.1
    )
    assert correct == pytest.approx(1, rel=0.35)


def detector(networks: Any, file: Path) -> Any:
    import torch

    net = networks.DetectorNet()
    networks.save_onnx(net, file, example=torch.zeros(1, 3, 64, 96), free={2: "height", 3: "width"})
    return net


def refiner(networks: Any, file: Path) -> Any:
    net = networks.RefinerNet()
    networks._save(net, file)
    return net


def pip_features(networks: Any, file: Path) -> Any:
    import torch

    net, grid = networks.PipFeatureNet().eval(), half_grid(0)
    networks.save_onnx(net.seeing, file, example=torch.zeros(1, 3, grid.rows, grid.columns), free={0: "halves"})
    return net.seeing


def hard_cases(networks: Any, file: Path) -> Any:
    import torch

    net = networks.HardCaseNet().eval()
    networks.save_onnx(net, file, example=torch.zeros(1, 3, SIZE, SIZE), free={0: "halves"})
    return net


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch recommends its newer exporter
@pytest.mark.parametrize(
    ("save", "shapes", "outputs"),
    [
        (detector, [(1, 3, 96, 160)], (CHANNELS, 96 // STRIDE_PX, 160 // STRIDE_PX)),
        (refiner, [(count, 3, tile_grid().rows, tile_grid().columns) for count in (1, 7, 56)], (OUTPUTS,)),
        (pip_features, [(count, 3, half_grid(0).rows, half_grid(0).columns) for count in (1, 7, 56)], (FEATURES,)),
        (hard_cases, [(count, 3, SIZE, SIZE) for count in (1, 7, 56)], (19,)),
    ],
)
def test_opencv_and_torch_outputs_agree(
    save: Callable[[Any, Path], Any], shapes: list[tuple[int, ...]], outputs: tuple[int, ...], tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    pytest.importorskip("onnx", reason="onnx writes the networks")
    from lab.training import networks

    torch.manual_seed(1)
    file = tmp_path / "net.onnx"
    net, network = save(networks, file), cv2.dnn.readNetFromONNX(str(file))
    for shape in shapes:
        seen = np.random.default_rng(shape[0]).normal(0, 1, shape).astype(np.float32)
        with torch.no_grad():
            expected = net.eval()(torch.from_numpy(seen)).numpy()
        network.setInput(seen)
        found = np.asarray(network.forward())
        assert found.shape == (shape[0], *outputs)
        np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.usefixtures("_small_batches")
@pytest.mark.parametrize(
    ("model", "numbers", "stages"),
    [
        ("detector", {"scenes": 2, "steps": 2}, 2),
        ("refiner", {"scenes": 3, "steps": 2}, 5),
        ("pip_features", {"scenes": 2, "epochs": 1}, 2),
        ("hard_case_classifier", {"scenes": 4, "steps": 2}, 2),
    ],
)
def test_equal_seeds_train_equal_networks(model: str, numbers: dict[str, int], stages: int, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=NO_TORCH)
    pytest.importorskip("onnx", reason="onnx writes the networks")
    from lab.training import networks

    reports: list[tuple[str, float]] = []
    files = [tmp_path / name for name in ("one.onnx", "two.onnx")]
    for file in files:
        train = getattr(networks, f"train_{model}")
        train(seed=1, jobs=1, progress=lambda stage, share: reports.append((stage, share)), **numbers)(file)
    assert reports[-1][1] == 1.0
    assert len({stage for stage, _ in reports}) == stages
    assert files[0].read_bytes() == files[1].read_bytes()
