"""Training loop for all networks: batches drawn ahead, with a decaying step size. Needs torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

_AHEAD, _STEEPEST = 4, 10.0

Batch = tuple[NDArray[np.generic], ...]
Net = TypeVar("Net", bound=nn.Module)


@dataclass(frozen=True, slots=True)
class LearningSchedule:
    """How fast a network learns.

    Attributes:
        step_size: The largest, reached after *warm_up_steps*.
        decay: How strongly weights are pulled to zero.
        mean_over_steps: What is kept is a running mean of the weights over so many, which is better than any of them.
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
    loss: Callable[[Net, Batch], Tensor],
    schedule: LearningSchedule,
    progress: Callable[[float], None],
) -> Net:
    """Return a network that learned from *steps* batches."""
    net = net.to(memory_format=torch.channels_last)

    def running_mean(mean: Tensor, weight: Tensor, count: Tensor) -> Tensor:
        # The first ones, far off, are forgotten sooner.
        new = max(1 / schedule.mean_over_steps, 20 / (int(count) + 20))
        return mean + (weight - mean) * new if mean.is_floating_point() else weight

    mean = torch.optim.swa_utils.AveragedModel(net, avg_fn=running_mean, use_buffers=True)
    optimizer = torch.optim.AdamW(net.parameters(), lr=schedule.step_size, weight_decay=schedule.decay)
    for step, batch in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = schedule.step_size * min(1.0, (step + 1) / schedule.warm_up_steps) * _faded(step / steps)
        net.train()
        optimizer.zero_grad()
        loss(net, batch).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), _STEEPEST)
        optimizer.step()
        mean.update_parameters(net)
        progress((step + 1) / steps)
    found: Net = mean.module
    return found


def drawn_ahead(draw: Callable[[int], Batch], steps: int) -> Iterator[Batch]:
    """Yield the batches of steps from 0 on, drawn on another thread while the network learns."""
    with ThreadPoolExecutor(max_workers=1) as aside:
        ahead = [aside.submit(draw, step) for step in range(min(_AHEAD, steps))]
        for step in range(steps):
            yield ahead.pop(0).result()
            if step + _AHEAD < steps:
                ahead.append(aside.submit(draw, step + _AHEAD))


def _faded(share: float) -> float:
    """Return the step size after a share of the training: half a wave down to a hundredth."""
    return 0.5 * (1 + float(np.cos(np.pi * share))) + 0.01
