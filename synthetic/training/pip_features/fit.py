"""Train the network that extracts pip features, from a seed to an ONNX file: `tallybone train pip-features`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from synthetic.training.onnx_file import save_onnx
from synthetic.training.pip_features.net import PipFeatureNet
from synthetic.training.pip_features.patches import SPAN, HalfPatches, draw_halves, training_grid
from synthetic.training.pip_features.views import draw_warps, warp_patches
from synthetic.training.torch_fit import Batch, LearningSchedule, Tensors, fit, prefetch
from vision.networks.patches import contrasts, half_grid

_BATCH = 256
_SCHEDULE = LearningSchedule(step_size=2e-3, decay=1e-3, warm_up_steps=100, mean_over_steps=300)
# Extent of the network's input as a share of a patch.
_SHOWN = half_grid(0).step * half_grid(0).columns / SPAN


def train_pip_features(
    *, seed: int, scenes: int, epochs: int, jobs: int, device: str = "cpu", progress: Callable[[str, float], None]
) -> Callable[[Path], None]:
    """Render tables, train the network on their halves, and return a function that writes it to a file.

    Args:
        seed: Random seed. The same seed gives the same network on the same machine.
        scenes: Number of tables to render.
        epochs: Number of passes over the halves on the tables.
        jobs: Number of rendering processes.
        device: `cpu`, or `cuda` for a GPU.
        progress: Called with a description of the current stage and its completed share.
    """
    halves = draw_halves(seed, scenes, jobs, partial(progress, "rendering tables"))
    steps = max(1, epochs * len(halves.pips) // _BATCH)
    torch.manual_seed(seed)
    batches = prefetch(partial(draw_batch, seed, halves), steps)
    report = partial(progress, "training the pip features")
    net = fit(PipFeatureNet(), batches, steps, loss=_loss, schedule=_SCHEDULE, device=device, progress=report)
    grid = half_grid(0)
    return partial(save_onnx, net.seeing, example=torch.zeros(1, 3, grid.rows, grid.columns), free={0: "halves"})


def _loss(net: PipFeatureNet, batch: Tensors) -> Tensor:
    patches, warps, pips = batch
    inputs = warp_patches(patches, warps, half_grid(0).rows)
    with torch.autocast(inputs.device.type, torch.bfloat16):
        logits = net(inputs)
    return functional.cross_entropy(logits.float(), pips)


def draw_batch(seed: int, halves: HalfPatches, step: int) -> Batch:
    """Return patches, (N, 3, SIZE, SIZE), random warps, (N, 2, 3), and pips, (N,), for a seed and step."""
    rng = np.random.default_rng([seed, step])
    rows = rng.integers(0, len(halves.pips), _BATCH)
    return contrasts(halves.patches[rows], training_grid(0)), draw_warps(rng, _BATCH, _SHOWN), halves.pips[rows]
