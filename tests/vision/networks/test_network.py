"""Tests of loading the built-in networks in OpenCV, and of their checksums."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from vision import ModelError
from vision.networks.network import (
    load_hard_case_classifier,
    load_network,
    load_pip_classifier,
    load_pip_features,
    write_checksum,
)

SHIPPED = Path(str(resources.files("vision"))) / "models"


@pytest.mark.parametrize("shipped", ["detector.onnx", "refiner.onnx", "pip_features.onnx", "hard_cases.onnx"])
def test_networks_use_the_faster_engine(shipped: str) -> None:
    # OpenCV 5 defaults to its newer engine, which has other layers, unless one is requested and a file given.
    network = load_network(None, shipped=shipped)
    assert "Convolution" in {network.getLayer(network.getLayerId(name)).type for name in network.getLayerNames()}


@pytest.fixture(name="copied")
def copied_network(tmp_path: Path) -> Path:
    for name in ("pip_features.onnx", "pip_features.onnx.sha256"):
        shutil.copy(SHIPPED / name, tmp_path)
    return tmp_path / "pip_features.onnx"


def test_a_flipped_bit_in_a_network_is_reported(copied: Path) -> None:
    load_network(copied, shipped="")
    content = bytearray(copied.read_bytes())
    content[len(content) // 2] ^= 1  # in the weights: OpenCV loads it, but it reads other pips
    copied.write_bytes(content)
    with pytest.raises(ModelError, match=r"pip_features\.onnx: the file is damaged: expected SHA-256 \w{64}, but got"):
        load_network(copied, shipped="")


@pytest.mark.parametrize("checksum", [None, b"", b"\xff", b"0" * 64])
def test_rejects_a_network_without_a_valid_checksum(copied: Path, checksum: bytes | None) -> None:
    checksum_file = copied.with_name("pip_features.onnx.sha256")
    checksum_file.unlink()
    if checksum is not None:
        checksum_file.write_bytes(checksum)
    with pytest.raises(ModelError, match=r"pip_features\.onnx"):
        load_network(copied, shipped="")


@pytest.mark.parametrize("load", [load_hard_case_classifier, load_pip_features, partial(load_network, shipped="")])
def test_rejects_a_file_that_is_no_network(load: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "other.onnx"
    path.write_bytes(b"no network at all")
    for _ in range(2):
        with pytest.raises(ModelError, match=r"other\.onnx: not a readable network"):
            load(path)
        write_checksum(path)  # it is intact, but still no network


@pytest.mark.parametrize("name", ["detector.onnx", "refiner.onnx", "pip_features.onnx", "hard_cases.onnx"])
def test_checksum_files_match_sha256sum(name: str, tmp_path: Path) -> None:
    shutil.copy(SHIPPED / name, tmp_path)
    write_checksum(tmp_path / name)
    shipped = (SHIPPED / f"{name}.sha256").read_text()
    assert (tmp_path / f"{name}.sha256").read_text() == shipped, f"cd {SHIPPED} && sha256sum {name} > {name}.sha256"
    assert shipped.endswith(f"  {name}\n")


def test_a_flipped_bit_in_a_classifier_never_goes_unnoticed(tmp_path: Path) -> None:
    content, original, path = (SHIPPED / "pips.npz").read_bytes(), load_pip_classifier(), tmp_path / "pips.npz"
    rng, refused = np.random.default_rng(1), 0
    for _ in range(150):
        flipped = bytearray(content)
        flipped[rng.integers(len(content))] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        try:
            classifier = load_pip_classifier(path)
        except ModelError:
            refused += 1
            continue
        for values, expected in zip(
            (*classifier.weights, *classifier.biases), (*original.weights, *original.biases), strict=True
        ):
            np.testing.assert_array_equal(values, expected)
        assert (classifier.sharpness, classifier.misread) == (original.sharpness, original.misread)
    assert refused > 100
