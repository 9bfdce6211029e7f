"""Training of the network that looks at halves, from a seed to an ONNX file: `tallybone train-halves`. Needs torch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from vision.patches import contrasts, half_grid
from vision.training.half_net import HalfNet
from vision.training.half_patches import SPAN, HalfPatches, draw_halves, training_grid
from vision.training.onnx_file import save_onnx
from vision.training.torch_fit import Batch, Pace, drawn_ahead, fit

_BATCH = 256
_PACE = Pace(step_size=2e-3, decay=1e-3, warm_up_steps=100, mean_over_steps=300)
# How much halves are moved, turned, stretched and slanted on top of the poses they were sampled through.
_SPREAD = 0.03

# What the network sees of a patch.
_SHOWN = half_grid(0).step * half_grid(0).columns / SPAN

Progress = Callable[[str, float], None]


def train_halves(*, seed: int, scenes: int, epochs: int, jobs: int, progress: Progress) -> Callable[[Path], None]:
    """Render tables, train the network on their halves, and return what writes it to a file.

    Args:
        seed: Everything follows from it; the same seed gives the same network on the same machine.
        scenes: Number of tables to render.
        epochs: Passes over their halves.
        jobs: Processes that render.
        progress: Called with what is being done and the share of it that is done.
    """
    halves = draw_halves(seed, scenes, jobs, partial(progress, "rendering tables"))
    steps = max(1, epochs * len(halves.pips) // _BATCH)
    torch.manual_seed(seed)
    batches = drawn_ahead(partial(draw_batch, seed, halves), steps)
    learned = partial(progress, "training the eye for halves")
    net = fit(HalfNet(), batches, steps, loss=_loss, pace=_PACE, progress=learned)
    grid = half_grid(0)
    return partial(save_onnx, net.seeing, example=torch.zeros(1, 3, grid.rows, grid.columns), free={0: "halves"})


def _loss(net: HalfNet, batch: Batch) -> Tensor:
    patches, warps, pips = (torch.from_numpy(part) for part in batch)
    grid = half_grid(0)
    places = functional.affine_grid(warps, [len(patches), 3, grid.rows, grid.columns], align_corners=False)
    seen = functional.grid_sample(patches, places, align_corners=False, padding_mode="border")
    return functional.cross_entropy(net(seen.contiguous(memory_format=torch.channels_last)), pips)


def draw_batch(seed: int, halves: HalfPatches, step: int) -> Batch:
    """Return patches, shape (N, 3, SIZE, SIZE), what to see of them, (N, 2, 3), and pips, (N,), for seed and step."""
    rng = np.random.default_rng([seed, step])
    rows = rng.integers(0, len(halves.pips), _BATCH)
    return contrasts(halves.patches[rows], training_grid(0)), _warps(rng), halves.pips[rows]


def _warps(rng: np.random.Generator) -> NDArray[np.float32]:
    """Return affine maps from what the network sees to the larger patch, as `affine_grid` takes them."""
    size, stretch = (np.exp(rng.normal(0, _SPREAD, _BATCH)) for _ in range(2))
    turn_rad, slant = rng.normal(0, 1.3 * _SPREAD, _BATCH), rng.normal(0, _SPREAD, _BATCH)
    shown, cos, sin = _SHOWN * size, np.cos(turn_rad), np.sin(turn_rad)
    warps = np.empty((_BATCH, 2, 3), np.float32)
    warps[:, 0, 0], warps[:, 0, 1] = shown * stretch * cos, shown * (slant - sin)
    warps[:, 1, 0], warps[:, 1, 1] = shown * sin, shown / stretch * cos
    warps[:, :, 2] = rng.normal(0, _SPREAD, (_BATCH, 2))
    return warps
