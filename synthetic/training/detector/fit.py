"""Train the tile detector with torch, from a seed to an ONNX file: `tallybone train detector`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from synthetic.training.detector.crops import draw_crop
from synthetic.training.detector.loss import loss_of
from synthetic.training.detector.net import DetectorNet
from synthetic.training.detector.pictures import StoredPicture, draw_pictures
from synthetic.training.detector.targets import targets_of
from synthetic.training.onnx_file import save_onnx
from synthetic.training.torch_fit import Batch, LearningSchedule, Tensors, fit, prefetch

_BATCH = 8
_SCHEDULE = LearningSchedule(step_size=3e-3, decay=1e-4, warm_up_steps=150, mean_over_steps=500)


def train_detector(
    *, seed: int, scenes: int, steps: int, jobs: int, device: str = "cpu", progress: Callable[[str, float], None]
) -> Callable[[Path], None]:
    """Render tables, train the detector on crops of them, and return a function that writes it to a file.

    Args:
        seed: Random seed. The same seed gives the same network on the same machine.
        scenes: Number of tables to render.
        steps: Number of training batches.
        jobs: Number of rendering processes.
        device: `cpu`, or `cuda` for a GPU.
        progress: Called with a description of the current stage and its completed share.
    """
    pictures = list(draw_pictures(seed, scenes, jobs, partial(progress, "rendering tables")))
    torch.manual_seed(seed)
    batches = prefetch(partial(draw_batch, seed, pictures), steps)
    net = fit(
        DetectorNet(),
        batches,
        steps,
        loss=_loss,
        schedule=_SCHEDULE,
        device=device,
        progress=partial(progress, "training the detector"),
    )
    # The network accepts any picture size that is a multiple of 32.
    return partial(save_onnx, net, example=torch.zeros(1, 3, 64, 96), free={2: "height", 3: "width"})


def _loss(net: DetectorNet, batch: Tensors) -> Tensor:
    images, *targets = batch
    inputs = images.permute(0, 3, 1, 2).float().div(128).sub(1).contiguous(memory_format=torch.channels_last)
    with torch.autocast(inputs.device.type, torch.bfloat16):  # takes two thirds of the time of 32 bits
        cells = net(inputs)
    return loss_of(cells.float(), *targets)


def draw_batch(seed: int, pictures: list[StoredPicture], step: int) -> Batch:
    """Return crops, shape (N, H, W, 3), and their targets for `loss_of`. Deterministic for a seed and step."""
    rng = np.random.default_rng([seed, step])
    crops = [draw_crop(rng, pictures[int(rng.integers(len(pictures)))].decode()) for _ in range(_BATCH)]
    truth = [targets_of(crop) for crop in crops]
    parts = (
        [getattr(targets, name) for targets in truth] for name in ("heat", "heat_counts", "shapes", "shape_counts")
    )
    return (np.stack([crop.image for crop in crops]), *(np.stack(part) for part in parts))
