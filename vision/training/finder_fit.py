"""Training of the finder's network with torch, from a seed to an ONNX file: `tallybone train-finder`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from vision.training.finder_crops import draw_crop
from vision.training.finder_loss import loss_of
from vision.training.finder_net import FinderNet, save_onnx
from vision.training.finder_pictures import StoredPicture, draw_pictures
from vision.training.finder_targets import targets_of

_BATCH, _AHEAD = 8, 4
_STEP_SIZE, _DECAY, _WARM_UP_STEPS, _STEEPEST = 3e-3, 1e-4, 150, 10.0
# What is shipped is a running mean of the weights, which is better than any of them.
_MEAN_OVER_STEPS = 500

Progress = Callable[[str, float], None]
# Images (N, H, W, 3), then what `vision.training.finder_loss.loss_of` takes.
Batch = tuple[NDArray[np.generic], ...]


def train_finder(*, seed: int, scenes: int, steps: int, jobs: int, progress: Progress) -> Callable[[Path], None]:
    """Render tables, train the network on crops of them, and return what writes it to a file.

    Args:
        seed: Everything follows from it; the same seed gives the same network on the same machine.
        scenes: Number of tables to render.
        steps: Number of batches to learn from.
        jobs: Processes that render.
        progress: Called with what is being done and the share of it that is done.
    """
    pictures = list(draw_pictures(seed, scenes, jobs, partial(progress, "rendering tables")))
    torch.manual_seed(seed)
    learned = partial(progress, "training the finder")
    return partial(save_onnx, fit_finder(FinderNet(), _batches(seed, steps, pictures), steps, learned))


def fit_finder(net: FinderNet, batches: Iterator[Batch], steps: int, progress: Callable[[float], None]) -> FinderNet:
    """Return a network that learned from *steps* batches."""
    net = net.to(memory_format=torch.channels_last)
    mean = torch.optim.swa_utils.AveragedModel(net, avg_fn=_running_mean, use_buffers=True)
    optimizer = torch.optim.AdamW(net.parameters(), lr=_STEP_SIZE, weight_decay=_DECAY)
    for step, batch in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = _STEP_SIZE * min(1.0, (step + 1) / _WARM_UP_STEPS) * _faded(step / steps)
        images, *targets = (torch.from_numpy(part) for part in batch)
        seen = images.permute(0, 3, 1, 2).float().div(128).sub(1).contiguous(memory_format=torch.channels_last)
        net.train()
        optimizer.zero_grad()
        loss_of(net(seen), *targets).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), _STEEPEST)
        optimizer.step()
        mean.update_parameters(net)
        progress((step + 1) / steps)
    found: FinderNet = mean.module
    return found


def _faded(share: float) -> float:
    """Return the step size after a share of the training: half a wave down to a hundredth."""
    return 0.5 * (1 + float(np.cos(np.pi * share))) + 0.01


def _running_mean(mean: torch.Tensor, weight: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
    """Return the mean after one more step; the first ones, far off, are forgotten sooner."""
    new = max(1 / _MEAN_OVER_STEPS, 20 / (int(count) + 20))
    return mean + (weight - mean) * new if mean.is_floating_point() else weight


def _batches(seed: int, steps: int, pictures: list[StoredPicture]) -> Iterator[Batch]:
    """Yield batches, drawn on another thread while the network learns."""
    with ThreadPoolExecutor(max_workers=1) as aside:
        ahead = [aside.submit(draw_batch, seed, step, pictures) for step in range(min(_AHEAD, steps))]
        for step in range(steps):
            yield ahead.pop(0).result()
            if step + _AHEAD < steps:
                ahead.append(aside.submit(draw_batch, seed, step + _AHEAD, pictures))


def draw_batch(seed: int, step: int, pictures: list[StoredPicture]) -> Batch:
    """Return crops and their targets, the same for the same seed and step."""
    rng = np.random.default_rng([seed, step])
    crops = [draw_crop(rng, pictures[int(rng.integers(len(pictures)))].opened()) for _ in range(_BATCH)]
    truth = [targets_of(crop) for crop in crops]
    parts = ([getattr(one, name) for one in truth] for name in ("heat", "heat_counts", "shapes", "shape_counts"))
    return (np.stack([crop.image for crop in crops]), *(np.stack(part) for part in parts))
