"""Train the hard-case classifier, from a seed to an ONNX file: `tallybone train hard-pips`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from lab.render.patterns import MAX_PIPS
from lab.training.detector.fit import Residual, layer
from lab.training.hard_pips import doubtful
from lab.training.hard_pips.doubtful import DoubtfulHalves, doubtful_grid, draw_doubtful
from lab.training.pip_features.fit import draw_warps, warp_patches
from lab.training.torch_fit import Batch, LearningSchedule, Tensors, fit, prefetch, save_onnx
from vision.networks.network import SIZE, SPAN, contrasts

# Channels at strides 2, 4 and 8.
_WIDTHS = (32, 64, 96)
_FEATURES = 128
_DROPOUT = 0.15


class HardCaseNet(nn.Sequential):
    """Returns logits, (N, 19), for inputs from `vision.networks.network.contrasts`, (N, 3, SIZE, SIZE)."""

    def __init__(self) -> None:
        """Initialise random weights."""
        at2, at4, at8 = _WIDTHS
        cells = (SIZE // 8) ** 2
        super().__init__(
            *(layer(3, at2, stride=2), Residual(at2)),
            *(layer(at2, at4, stride=2), Residual(at4)),
            *(layer(at4, at8, stride=2), Residual(at8)),
            *(nn.Flatten(), nn.Linear(at8 * cells, _FEATURES), nn.ReLU()),
            *(nn.Dropout(_DROPOUT), nn.Linear(_FEATURES, MAX_PIPS + 1)),
        )


_BATCH = 256
_SCHEDULE = LearningSchedule(step_size=2e-3, decay=2e-2, warm_up_steps=300, mean_over_steps=300)


def train_hard_case_classifier(
    *, seed: int, scenes: int, steps: int, jobs: int, device: str = "cpu", progress: Callable[[str, float], None]
) -> Callable[[Path], None]:
    """Render tables, train the network on their difficult halves, and return a function that writes it to a file.

    Args:
        seed: Random seed. The same seed gives the same network on the same machine.
        scenes: Number of tables to render.
        steps: Number of training batches.
        jobs: Number of rendering processes.
        device: `cpu`, or `cuda` for a GPU.
        progress: Called with a description of the current stage and its completed share.
    """
    halves = draw_doubtful(seed, scenes, jobs, partial(progress, "rendering tables"))
    report = partial(progress, "training")
    return fit_hard_case_classifier(halves, seed=seed, steps=steps, device=device, progress=report)


def fit_hard_case_classifier(
    halves: DoubtfulHalves, *, seed: int, steps: int, device: str = "cpu", progress: Callable[[float], None]
) -> Callable[[Path], None]:
    """Train the network on *halves*, and return a function that writes it to a file."""
    torch.manual_seed(seed)
    batches = prefetch(partial(draw_batch, seed, halves, np.cumsum(halves.chances())), steps)
    net = fit(HardCaseNet(), batches, steps, loss=_loss, schedule=_SCHEDULE, device=device, progress=progress)
    return partial(save_onnx, net, example=torch.zeros(1, 3, SIZE, SIZE), free={0: "halves"})


def _loss(net: HardCaseNet, batch: Tensors) -> Tensor:
    patches, warps, pips = batch
    inputs = warp_patches(patches, warps, SIZE)
    with torch.autocast(inputs.device.type, torch.bfloat16):  # takes two thirds of the time
        logits = net(inputs)
    return functional.cross_entropy(logits.float(), pips)


def draw_batch(seed: int, halves: DoubtfulHalves, below: NDArray[np.float64], step: int) -> Batch:
    """Return patches, (N, 3, S, S), random warps, (N, 2, 3), and pips, (N,), for a seed and step.

    *below*, shape (M,), is the cumulative probability of the halves.
    """
    rng = np.random.default_rng([seed, step])
    rows = np.minimum(np.searchsorted(below, rng.random(_BATCH)), len(below) - 1)
    patches = contrasts(halves.patches[rows], doubtful_grid(0))
    return patches, draw_warps(rng, _BATCH, SPAN / doubtful.SPAN), halves.pips[rows]
