"""The networks that the package ships, as OpenCV runs them."""

from __future__ import annotations

import pytest

from vision.network import load_network


@pytest.mark.parametrize("shipped", ["finder.onnx", "closer_look.onnx", "halves.onnx", "second_look.onnx"])
def test_networks_run_on_the_faster_engine(shipped: str) -> None:
    # OpenCV 5 takes its newer one, which knows other layers, unless it is told and given a file.
    network = load_network(None, shipped=shipped)
    assert "Convolution" in {network.getLayer(network.getLayerId(name)).type for name in network.getLayerNames()}
