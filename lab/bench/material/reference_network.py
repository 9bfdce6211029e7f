"""Reference network for timing, with the size of the smallest detector in common use.

Its layers have the shapes of YOLOv8n at 640 x 640, with random weights. The time does not depend on the weights, and
the licence of the trained weights is not compatible with this project.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

SIDE_PX = 640
_CLASSES, _BOX_CHANNELS = 80, 64


@dataclass(frozen=True, slots=True)
class Wire:
    """An array between two layers. Its height and width are *side_px*."""

    name: str
    channels: int
    side_px: int


def is_installed() -> bool:
    """Return True if the extra `bench` is installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("onnx", "onnxruntime"))


def forward_pass(threads: int) -> tuple[Callable[[], object], str]:
    """Return a function that runs the network once, and a description of its size."""
    import onnxruntime

    network = _Network(np.random.default_rng(1))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(network.as_onnx(), options, providers=["CPUExecutionProvider"])
    image = np.random.default_rng(2).random((1, 3, SIDE_PX, SIDE_PX), np.float32)
    size = f"{network.parameters / 1e6:.2f} M parameters, {network.flop / 1e9:.1f} GFLOP at {SIDE_PX} px"
    return lambda: session.run(None, {"image": image}), size


@dataclass(slots=True)
class _Network:
    """Builds the network layer by layer, and counts parameters and operations. A multiply-add is two operations."""

    rng: np.random.Generator
    parameters: int = 0
    flop: int = 0
    _nodes: list[object] = field(default_factory=list)
    _weights: list[object] = field(default_factory=list)

    def as_onnx(self) -> bytes:
        """Return the network as the contents of an ONNX file."""
        from onnx import TensorProto, helper

        outputs = self._layers(Wire("image", 3, SIDE_PX))
        values = [
            helper.make_tensor_value_info(w.name, TensorProto.FLOAT, [1, w.channels, w.side_px, w.side_px])
            for w in (Wire("image", 3, SIDE_PX), *outputs)
        ]
        graph = helper.make_graph(self._nodes, "reference", values[:1], values[1:], self._weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        return bytes(model.SerializeToString())

    def _layers(self, image: Wire) -> list[Wire]:
        eighth = self._block(self._conv(self._stem(image), 64, 3, step=2), 64, 2, shortcut=True)
        sixteenth = self._block(self._conv(eighth, 128, 3, step=2), 128, 2, shortcut=True)
        last = self._block(self._conv(sixteenth, 256, 3, step=2), 256, 1, shortcut=True)
        deep = self._pooled(last)
        middle = self._block(self._joined(self._doubled(deep), sixteenth), 128, 1)
        fine = self._block(self._joined(self._doubled(middle), eighth), 64, 1)
        middle = self._block(self._joined(self._conv(fine, 64, 3, step=2), middle), 128, 1)
        coarse = self._block(self._joined(self._conv(middle, 128, 3, step=2), deep), 256, 1)
        return [out for wire in (fine, middle, coarse) for out in (self._head(wire, _BOX_CHANNELS), self._head(wire))]

    def _stem(self, image: Wire) -> Wire:
        wire = self._conv(self._conv(image, 16, 3, step=2), 32, 3, step=2)
        return self._block(wire, 32, 1, shortcut=True)

    def _head(self, wire: Wire, channels: int = _CLASSES) -> Wire:
        wire = self._conv(self._conv(wire, channels, 3), channels, 3)
        return self._conv(wire, channels, 1, activated=False)

    def _block(self, wire: Wire, channels: int, repeats: int, *, shortcut: bool = False) -> Wire:
        """Split the channels, apply pairs of convolutions to one part, and concatenate all intermediate results."""
        half = channels // 2
        both = self._conv(wire, channels, 1)
        names = self._node("Split", [both.name], outputs=2, axis=1)
        parts = [Wire(name, half, wire.side_px) for name in names]
        for _ in range(repeats):
            made = self._conv(self._conv(parts[-1], half, 3), half, 3)
            if shortcut:
                made = Wire(self._node("Add", [parts[-1].name, made.name])[0], half, wire.side_px)
            parts.append(made)
        return self._conv(self._joined(*parts), channels, 1)

    def _pooled(self, wire: Wire) -> Wire:
        parts = [self._conv(wire, wire.channels // 2, 1)]
        for _ in range(3):
            (name,) = self._node("MaxPool", [parts[-1].name], kernel_shape=[5, 5], pads=[2, 2, 2, 2])
            parts.append(Wire(name, parts[0].channels, wire.side_px))
        return self._conv(self._joined(*parts), wire.channels, 1)

    def _joined(self, *wires: Wire) -> Wire:
        (name,) = self._node("Concat", [wire.name for wire in wires], axis=1)
        return Wire(name, sum(wire.channels for wire in wires), wires[0].side_px)

    def _doubled(self, wire: Wire) -> Wire:
        scales = self._weight(np.array([1, 1, 2, 2], np.float32))
        inputs = [wire.name, "", scales]
        (name,) = self._node("Resize", inputs, coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        return Wire(name, wire.channels, wire.side_px * 2)

    def _conv(self, wire: Wire, channels: int, kernel: int, *, step: int = 1, activated: bool = True) -> Wire:
        shape = (channels, wire.channels, kernel, kernel)
        weight = (self.rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        bias = np.zeros(channels, np.float32)
        names = [wire.name, self._weight(weight), self._weight(bias)]
        pad = kernel // 2
        (name,) = self._node("Conv", names, kernel_shape=[kernel] * 2, strides=[step] * 2, pads=[pad] * 4)
        out = Wire(name, channels, wire.side_px // step)
        self.parameters += weight.size + bias.size
        self.flop += 2 * weight.size * out.side_px**2
        if activated:
            (gate,) = self._node("Sigmoid", [name])
            out = Wire(self._node("Mul", [name, gate])[0], channels, out.side_px)
        return out

    def _weight(self, values: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> str:
        from onnx import numpy_helper

        name = f"weight{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(values, name))
        return name

    def _node(self, kind: str, inputs: list[str], *, outputs: int = 1, **attributes: object) -> list[str]:
        from onnx import helper

        names = [f"{kind}{len(self._nodes)}_{part}" for part in range(outputs)]
        self._nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names
