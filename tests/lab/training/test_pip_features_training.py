"""Tests of training the pip features: patches, labels, export and reproducibility."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from lab.training.pip_features.patches import SIZE, draw_halves, draw_table_halves, training_grid
from vision.networks.network import FEATURES, contrasts, half_grid

NO_TORCH = "torch trains the networks; it is not among the tools of the tests"


@pytest.mark.slow
def test_patches_follow_from_the_seed_for_any_number_of_processes() -> None:
    sequential, parallel = (draw_halves(3, 2, jobs, lambda _: None) for jobs in (1, 2))
    assert (sequential.patches == parallel.patches).all()
    assert (sequential.pips == parallel.pips).all()
    assert sequential.patches.shape[1:] == (SIZE * SIZE, 3)
    assert len(sequential.patches) == len(sequential.pips) > 0
    assert draw_table_halves(4, 0).pips.tolist() != draw_table_halves(3, 0).pips.tolist()


@pytest.mark.slow
def test_a_blank_half_has_less_contrast_than_one_with_many_pips() -> None:
    # Compare the centres of halves, without bar and rim.
    drawn = draw_halves(5, 6, 1, lambda _: None)
    inner = slice(SIZE // 4, -SIZE // 4)
    contrast = np.abs(contrasts(drawn.patches, training_grid(0))[:, 0, inner, inner]).mean(axis=(1, 2))
    assert np.median(contrast[drawn.pips == 0]) < 0.5 * np.median(contrast[drawn.pips >= 5])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch recommends its newer exporter
def test_opencv_and_torch_outputs_agree_for_any_number_of_halves(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    pytest.importorskip("onnx", reason="onnx writes the networks")
    from lab.training.pip_features.fit import PipFeatureNet
    from lab.training.torch_fit import save_onnx

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
    from lab.training.pip_features.fit import train_pip_features

    shares: list[float] = []
    files = [tmp_path / name for name in ("one.onnx", "two.onnx")]
    for file in files:
        train_pip_features(seed=1, scenes=2, epochs=1, jobs=1, progress=lambda _, share: shares.append(share))(file)
    assert shares[-1] == 1.0
    assert files[0].read_bytes() == files[1].read_bytes()
