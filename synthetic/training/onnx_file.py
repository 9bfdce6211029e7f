"""Export torch networks to ONNX for OpenCV, with their checksums. Needs torch, which only training needs."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from vision.networks.network import write_checksum


def save_onnx(net: nn.Module, path: Path, *, example: Tensor, free: dict[int, str]) -> None:
    """Write a network with one input and one output, and its checksum beside it.

    Args:
        net: The network.
        path: File to write.
        example: An input of the shape that it takes.
        free: Which dimensions of the input may differ from the example, and their names.
    """
    torch.onnx.export(
        net.eval().to(memory_format=torch.contiguous_format),
        (example,),
        str(path),
        input_names=["seen"],
        output_names=["said"],
        dynamic_axes={"seen": free, "said": {axis: f"{name} said" for axis, name in free.items()}},
        opset_version=13,
        dynamo=False,  # the newer exporter needs a further package, and OpenCV 4 cannot read what it writes
    )
    write_checksum(path)
