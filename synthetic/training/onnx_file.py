"""Export torch networks to ONNX for OpenCV, with checksums. Needs torch, which is only required for training."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from vision.networks.network import write_checksum


def save_onnx(net: nn.Module, path: Path, *, example: Tensor, free: dict[int, str]) -> None:
    """Write a network with a single input and output, and a checksum file next to it.

    Args:
        net: The network.
        path: File to write.
        example: Example input.
        free: Dynamic axes of the input, and their names.
    """
    torch.onnx.export(
        net.eval().to(memory_format=torch.contiguous_format),
        (example,),
        str(path),
        input_names=["seen"],
        output_names=["said"],
        dynamic_axes={"seen": free, "said": {axis: f"{name} said" for axis, name in free.items()}},
        opset_version=13,
        dynamo=False,  # the newer exporter needs another package, and OpenCV 4 cannot read its files
    )
    write_checksum(path)
