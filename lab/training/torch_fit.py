"""Training loop for all networks, with prefetched batches and a decaying step size, and their export. Needs torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
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


_AHEAD, _MAX_GRADIENT = 4, 10.0

Batch = tuple[NDArray[np.generic], ...]
Tensors = tuple[Tensor, ...]
"""A batch on the device that trains."""
Net = TypeVar("Net", bound=nn.Module)


@dataclass(frozen=True, slots=True)
class LearningSchedule:
    """Step size, weight decay and averaging of a training run.

    Attributes:
        step_size: Maximum step size, reached after *warm_up_steps*.
        decay: Weight decay.
        warm_up_steps: Steps over which the step size rises linearly.
        mean_over_steps: Steps of the running mean of the weights. The result is this mean, which is more accurate than
            the weights of any single step.
    """

    step_size: float
    decay: float
    warm_up_steps: int
    mean_over_steps: int


def fit(
    net: Net,
    batches: Iterator[Batch],
    steps: int,
    *,
    loss: Callable[[Net, Tensors], Tensor],
    schedule: LearningSchedule,
    device: str = "cpu",
    progress: Callable[[float], None],
) -> Net:
    """Train *net* on *batches* on the CPU or a GPU (`cuda`), and return the running mean of its weights on the CPU."""
    net = net.to(device=device, memory_format=torch.channels_last)

    def running_mean(mean: Tensor, weight: Tensor, count: Tensor) -> Tensor:
        # Forget the poor weights of the first steps sooner.
        new = max(1 / schedule.mean_over_steps, 20 / (int(count) + 20))
        return mean + (weight - mean) * new if mean.is_floating_point() else weight

    mean = torch.optim.swa_utils.AveragedModel(net, avg_fn=running_mean, use_buffers=True)
    optimizer = torch.optim.AdamW(net.parameters(), lr=schedule.step_size, weight_decay=schedule.decay)
    for step, batch in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = (
                schedule.step_size * min(1.0, (step + 1) / schedule.warm_up_steps) * _cosine_decay(step / steps)
            )
        net.train()
        optimizer.zero_grad()
        loss(net, tuple(torch.from_numpy(part).to(device) for part in batch)).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), _MAX_GRADIENT)
        optimizer.step()
        mean.update_parameters(net)
        progress((step + 1) / steps)
    averaged: Net = mean.module.cpu()
    return averaged


def prefetch(draw: Callable[[int], Batch], steps: int) -> Iterator[Batch]:
    """Yield the batches of *steps* steps, drawn on another thread during training."""
    with ThreadPoolExecutor(max_workers=1) as executor:
        ahead = [executor.submit(draw, step) for step in range(min(_AHEAD, steps))]
        for step in range(steps):
            yield ahead.pop(0).result()
            if step + _AHEAD < steps:
                ahead.append(executor.submit(draw, step + _AHEAD))


def _cosine_decay(share: float) -> float:
    """Return the relative step size after a share of the training: a half cosine from 1.01 to 0.01."""
    return 0.5 * (1 + float(np.cos(np.pi * share))) + 0.01
