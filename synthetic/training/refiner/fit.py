"""Train the refiner, from a seed to an ONNX file: `tallybone train refiner`. Needs torch."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from synthetic.training.onnx_file import save_onnx
from synthetic.training.processes import concatenated
from synthetic.training.refiner.net import CloserNet
from synthetic.training.refiner.samples import RefinerSamples, draw_refiner_samples
from synthetic.training.refiner.views import seen_otherwise
from synthetic.training.torch_fit import Batch, LearningSchedule, drawn_ahead, fit
from vision.networks.patches import contrasts, tile_grid
from vision.networks.refiner import CLASSES, CORRECTION

_BATCH = 256
_SCHEDULE = LearningSchedule(step_size=2e-3, decay=1e-3, warm_up_steps=200, mean_over_steps=500)
# Of the tables the first network, which only finds mistakes for the second to learn from, learns from a quarter, in as
# small a share of the batches. Others are kept back to calibrate the second.
_FIRST, _HELD_OUT = 0.25, 0.05
# Corrections of the outline beside the loss of the classes.
_CORRECTIONS = 1.5
_SHARPNESS = np.geomspace(0.3, 3, 47)


def train_refiner(
    *, seed: int, scenes: int, steps: int, jobs: int, progress: Callable[[str, float], None]
) -> Callable[[Path], None]:
    """Render tables, train the network on what may be tiles there, and return what writes it to a file.

    Two rounds: a part of the tables for a network that finds its way, then the rest, where what that network wrongly
    takes for tiles is taught as nothing.

    Args:
        seed: Everything follows from it; the same seed gives the same network on the same machine.
        scenes: Number of tables to render in all.
        steps: Number of batches to learn from.
        jobs: Processes that render.
        progress: Called with what is being done and the share of it that is done.
    """
    first, held_out = max(1, round(_FIRST * scenes)), max(1, round(_HELD_OUT * scenes))

    def tables(what: str, seed: int, count: int, earlier: Path | None) -> RefinerSamples:
        return draw_refiner_samples(seed, max(1, count), jobs, partial(progress, what), earlier=earlier)

    early = tables("rendering tables, first round", seed, first, None)
    net = _fitted(seed, early, max(1, round(_FIRST * steps)), partial(progress, "first round"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "first.onnx"
        _save(net, path)
        late = tables("rendering tables, second round", seed + 1, scenes - first - held_out, path)
        check = tables("rendering held-out tables", seed + 2, held_out, path)
    net = _fitted(seed + 1, concatenated([early, late]), steps, partial(progress, "second round"))
    net.sharpened(_calibrated(net, check))
    return partial(_save, net)


def _save(net: CloserNet, path: Path) -> None:
    grid = tile_grid()
    save_onnx(net, path, example=torch.zeros(1, 3, grid.rows, grid.columns), free={0: "tiles"})


def _fitted(seed: int, samples: RefinerSamples, steps: int, progress: Callable[[float], None]) -> CloserNet:
    torch.manual_seed(seed)
    batches = drawn_ahead(partial(draw_batch, seed, samples), steps)
    return fit(CloserNet(), batches, steps, loss=_loss, schedule=_SCHEDULE, progress=progress)


def draw_batch(seed: int, samples: RefinerSamples, step: int) -> Batch:
    """Return what is seen, (N, 3, rows, columns), classes, (N,), and corrections, (N, 6), for seed and step.

    Corrections that nobody can make are NaN.
    """
    rng = np.random.default_rng([seed, step])
    rows = rng.integers(0, len(samples.classes), _BATCH)
    seen = contrasts(samples.patches[rows], tile_grid())
    seen, corrections = seen_otherwise(rng, seen, samples.corrections[rows])
    return seen, samples.classes[rows], corrections


def _loss(net: CloserNet, batch: Batch) -> Tensor:
    seen, classes, corrections = (torch.from_numpy(part) for part in batch)
    said = net(seen.contiguous(memory_format=torch.channels_last))
    known = torch.isfinite(corrections).all(dim=1)
    off = functional.smooth_l1_loss(said[known, CLASSES:], corrections[known] / CORRECTION, beta=0.1)
    return functional.cross_entropy(said[:, :CLASSES], classes, ignore_index=-1) + _CORRECTIONS * off.nan_to_num(0.0)


def _calibrated(net: CloserNet, check: RefinerSamples) -> float:
    """Return the factor on the logits that gives held-out classes the highest likelihood (temperature scaling)."""
    net.eval()
    said: list[NDArray[np.float32]] = []
    with torch.no_grad():
        for start in range(0, len(check.classes), _BATCH):
            seen = contrasts(check.patches[start : start + _BATCH], tile_grid())
            said.append(net(torch.from_numpy(seen)).numpy()[:, :CLASSES])
    logits, truth = torch.from_numpy(np.concatenate(said)), torch.from_numpy(check.classes)

    def loss(factor: float) -> float:
        return float(functional.cross_entropy(logits * factor, truth, ignore_index=-1))

    return float(min(_SHARPNESS, key=loss))
