"""Tests of training the pip features: patches, labels, export and reproducibility."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from lab.training.samples import (
    DOUBTFUL_SIZE,
    PATCH_SIZE,
    DoubtfulHalves,
    doubtful_of_table,
    draw_doubtful,
    draw_halves,
    draw_table_halves,
    training_grid,
)
from vision.networks.network import FEATURES, contrasts, half_grid
from vision.networks.network import SIZE as SEEN

NO_TORCH = "torch trains the networks; it is not among the tools of the tests"


@pytest.mark.slow
def test_patches_follow_from_the_seed_for_any_number_of_processes() -> None:
    sequential, parallel = (draw_halves(3, 2, jobs, lambda _: None) for jobs in (1, 2))
    assert (sequential.patches == parallel.patches).all()
    assert (sequential.pips == parallel.pips).all()
    assert sequential.patches.shape[1:] == (PATCH_SIZE * PATCH_SIZE, 3)
    assert len(sequential.patches) == len(sequential.pips) > 0
    assert draw_table_halves(4, 0).pips.tolist() != draw_table_halves(3, 0).pips.tolist()


@pytest.mark.slow
def test_a_blank_half_has_less_contrast_than_one_with_many_pips() -> None:
    # Compare the centres of halves, without bar and rim.
    drawn = draw_halves(5, 6, 1, lambda _: None)
    inner = slice(PATCH_SIZE // 4, -PATCH_SIZE // 4)
    contrast = np.abs(contrasts(drawn.patches, training_grid(0))[:, 0, inner, inner]).mean(axis=(1, 2))
    assert np.median(contrast[drawn.pips == 0]) < 0.5 * np.median(contrast[drawn.pips >= 5])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch recommends its newer exporter
def test_opencv_and_torch_outputs_agree_for_any_number_of_halves(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    pytest.importorskip("onnx", reason="onnx writes the networks")
    from lab.training.networks import PipFeatureNet, save_onnx

    torch.manual_seed(1)
    net, file, grid = PipFeatureNet().eval(), tmp_path / "pip_features.onnx", half_grid(0)
    save_onnx(net.seeing, file, example=torch.zeros(1, 3, grid.rows, grid.columns), free={0: "halves"})
    network = cv2.dnn.readNetFromONNX(str(file))
    for count in (1, 7, 56):
        halves = np.random.default_rng(count).normal(0, 1, (count, 3, grid.rows, grid.columns)).astype(np.float32)
        with torch.no_grad():
            expected = net.seeing(torch.from_numpy(halves)).numpy()
        network.setInput(halves)
        outputs = np.asarray(network.forward())
        assert outputs.shape == (count, FEATURES)
        np.testing.assert_allclose(outputs, expected, atol=1e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_equal_seeds_train_equal_networks(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=NO_TORCH)
    pytest.importorskip("onnx", reason="onnx writes the networks")
    from lab.training.networks import train_pip_features

    shares: list[float] = []
    files = [tmp_path / name for name in ("one.onnx", "two.onnx")]
    for file in files:
        train_pip_features(seed=1, scenes=2, epochs=1, jobs=1, progress=lambda _, share: shares.append(share))(file)
    assert shares[-1] == 1.0
    assert files[0].read_bytes() == files[1].read_bytes()


# Tests of training the hard-case classifier: sampling, export and reproducibility.


@pytest.mark.slow
def test_hard_patches_follow_from_the_seed_for_any_number_of_processes() -> None:
    sequential, parallel = (draw_doubtful(3, 12, jobs, lambda _: None) for jobs in (1, 2))
    assert (sequential.patches == parallel.patches).all()
    assert (sequential.pips == parallel.pips).all()
    assert sequential.patches.shape[1:] == (DOUBTFUL_SIZE * DOUBTFUL_SIZE, 3)
    assert len(sequential.patches) == len(sequential.pips) == len(sequential.doubtful) == len(sequential.legible) > 0
    assert sequential.doubtful.mean() > 0.5
    assert doubtful_of_table(4, 0).pips.tolist() != doubtful_of_table(3, 0).pips.tolist()


def test_doubtful_halves_are_sampled_more_often_and_illegible_ones_less() -> None:
    doubtful, legible = np.array([False, False, True, True, True]), np.array([True, True, True, True, False])
    chances = DoubtfulHalves(
        np.zeros((5, DOUBTFUL_SIZE * DOUBTFUL_SIZE, 3), np.uint8), np.zeros(5, np.int64), doubtful, legible
    ).chances()
    assert chances.sum() == pytest.approx(1)
    assert chances[:2].sum() == pytest.approx(0.15)
    assert chances[4] == pytest.approx(0.4 * chances[2])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch recommends its newer exporter
def test_hard_opencv_and_torch_outputs_agree_for_any_number_of_halves(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    pytest.importorskip("onnx", reason="onnx writes the networks")
    from lab.training.networks import HardCaseNet, save_onnx

    torch.manual_seed(1)
    net, file = HardCaseNet().eval(), tmp_path / "hard_cases.onnx"
    save_onnx(net, file, example=torch.zeros(1, 3, SEEN, SEEN), free={0: "halves"})
    network = cv2.dnn.readNetFromONNX(str(file))
    for count in (1, 7, 56):
        halves = np.random.default_rng(count).normal(0, 1, (count, 3, SEEN, SEEN)).astype(np.float32)
        with torch.no_grad():
            expected = net(torch.from_numpy(halves)).numpy()
        network.setInput(halves)
        np.testing.assert_allclose(np.asarray(network.forward()), expected, atol=1e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_hard_equal_seeds_train_equal_networks(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=NO_TORCH)
    pytest.importorskip("onnx", reason="onnx writes the networks")
    from lab.training.networks import train_hard_case_classifier

    shares: list[float] = []
    files = [tmp_path / name for name in ("one.onnx", "two.onnx")]
    for file in files:
        train_hard_case_classifier(seed=1, scenes=4, steps=2, jobs=1, progress=lambda _, share: shares.append(share))(
            file
        )
    assert shares[-1] == 1.0
    assert files[0].read_bytes() == files[1].read_bytes()
