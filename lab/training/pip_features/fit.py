"""Train the network that extracts pip features, from a seed to an ONNX file: `tallybone train pip-features`."""

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
from lab.training.pip_features.patches import SPAN, HalfPatches, draw_halves, training_grid
from lab.training.torch_fit import Batch, LearningSchedule, Tensors, fit, prefetch, save_onnx
from vision.networks.network import FEATURES, contrasts, half_grid

# Channels at strides 2, 4 and 8.
_WIDTHS = (24, 32, 48, 64)
_DROPOUT = 0.1


class PipFeatureNet(nn.Module):
    """Classifies pips from 0 to 18. Only `seeing`, all layers but the last, is exported to extract features."""

    def __init__(self) -> None:
        """Initialise random weights."""
        super().__init__()
        first, at2, at4, at8 = _WIDTHS
        cells = (half_grid(0).rows // 8) * (half_grid(0).columns // 8)
        self.seeing = nn.Sequential(
            _layer(3, first, stride=2),
            _layer(first, at2),
            _layer(at2, at4, stride=2),
            _layer(at4, at4),
            _layer(at4, at8, stride=2),
            _layer(at8, at8),
            nn.Flatten(),
            nn.Linear(at8 * cells, FEATURES),
            nn.ReLU(),
        )
        self.saying = nn.Sequential(nn.Dropout(_DROPOUT), nn.Linear(FEATURES, MAX_PIPS + 1))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return logits, (N, 19), for inputs from `vision.networks.network.contrasts`, (N, 3, 32, 32)."""
        logits: Tensor = self.saying(self.seeing(inputs))
        return logits


def _layer(inputs: int, outputs: int, *, stride: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


# Spread of the augmentation, in addition to the pose errors of the samples.
_SPREAD = 0.03


def draw_warps(rng: np.random.Generator, count: int, shown: float) -> NDArray[np.float32]:
    """Return random affine maps from network inputs to larger patches, shape (N, 2, 3), for `affine_grid`.

    Args:
        rng: Random generator.
        count: Number of maps.
        shown: Extent of an unstretched network input, as a share of the patch.
    """
    size, stretch = (np.exp(rng.normal(0, _SPREAD, count)) for _ in range(2))
    turn_rad, slant = rng.normal(0, 1.3 * _SPREAD, count), rng.normal(0, _SPREAD, count)
    shown_here, cos, sin = shown * size, np.cos(turn_rad), np.sin(turn_rad)
    warps = np.empty((count, 2, 3), np.float32)
    warps[:, 0, 0], warps[:, 0, 1] = shown_here * stretch * cos, shown_here * (slant - sin)
    warps[:, 1, 0], warps[:, 1, 1] = shown_here * sin, shown_here / stretch * cos
    warps[:, :, 2] = rng.normal(0, _SPREAD, (count, 2))
    return warps


def warp_patches(patches: Tensor, warps: Tensor, size: int) -> Tensor:
    """Sample network inputs, (N, 3, size, size), from patches, (N, 3, S, S), through *warps*, (N, 2, 3)."""
    grid = functional.affine_grid(warps, [len(patches), 3, size, size], align_corners=False)
    inputs = functional.grid_sample(patches, grid, align_corners=False, padding_mode="border")
    return inputs.contiguous(memory_format=torch.channels_last)


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
