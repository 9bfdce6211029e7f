"""Train the refiner, from a seed to an ONNX file: `tallybone train refiner`. Needs torch."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from lab.training.detector.fit import Residual, layer
from lab.training.processes import concatenated
from lab.training.refiner.samples import RefinerSamples, augment, draw_refiner_samples
from lab.training.torch_fit import Batch, LearningSchedule, Tensors, fit, prefetch, save_onnx
from vision.networks.network import CLASSES, CORRECTION, OUTPUTS, contrasts, tile_grid

# Channels at strides 2, 4 and 8, and before the last layer.
_WIDTHS, _LAST_WIDTH = (16, 24, 40, 56), 96
_DROPOUT = 0.1


class RefinerNet(nn.Module):
    """Predicts the class of a patch and a correction of its outline, from its contrast to the face colour."""

    def __init__(self) -> None:
        """Initialise random weights."""
        super().__init__()
        first, at2, at4, at8 = _WIDTHS
        cells = (tile_grid().rows // 8) * (tile_grid().columns // 8)
        self.seeing = nn.Sequential(
            layer(3, first, stride=2),
            layer(first, at2),
            layer(at2, at4, stride=2),
            Residual(at4),
            layer(at4, at8, stride=2),
            nn.Flatten(),
            nn.Linear(at8 * cells, _LAST_WIDTH),
            nn.ReLU(),
            nn.Dropout(_DROPOUT),
        )
        self.saying = nn.Linear(_LAST_WIDTH, OUTPUTS)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return logits and corrections, (N, OUTPUTS), for inputs from `vision.networks.network.contrasts`."""
        outputs: Tensor = self.saying(self.seeing(inputs))
        return outputs

    def scale_logits(self, factor: float) -> None:
        """Multiply the class logits by *factor*, to calibrate the probabilities."""
        self.saying.weight.data[:CLASSES] *= factor
        self.saying.bias.data[:CLASSES] *= factor


_BATCH = 256
_SCHEDULE = LearningSchedule(step_size=2e-3, decay=1e-3, warm_up_steps=200, mean_over_steps=500)
# The first network only provides hard negatives for the second, so a quarter of the tables and batches is enough for
# the first. The held-out share of the tables calibrates the second network.
_FIRST, _HELD_OUT = 0.25, 0.05
# Weight of the loss of corrections relative to the loss of classes.
_CORRECTIONS = 1.5
_SHARPNESS = np.geomspace(0.3, 3, 47)


def train_refiner(
    *, seed: int, scenes: int, steps: int, jobs: int, device: str = "cpu", progress: Callable[[str, float], None]
) -> Callable[[Path], None]:
    """Render tables, train the refiner on their tile candidates, and return a function that writes it to a file.

    Training has two rounds. The false positives of the first network become hard negatives for the second.

    Args:
        seed: Random seed. The same seed gives the same network on the same machine.
        scenes: Total number of tables to render.
        steps: Number of batches of the second round.
        jobs: Number of rendering processes.
        device: `cpu`, or `cuda` for a GPU.
        progress: Called with a description of the current stage and its completed share.
    """
    first, held_out = max(1, round(_FIRST * scenes)), max(1, round(_HELD_OUT * scenes))

    def tables(stage: str, seed: int, count: int, earlier: Path | None) -> RefinerSamples:
        return draw_refiner_samples(seed, max(1, count), jobs, partial(progress, stage), earlier=earlier)

    early = tables("rendering tables, first round", seed, first, None)
    fitted = partial(_fitted, device=device)
    net = fitted(seed, early, max(1, round(_FIRST * steps)), progress=partial(progress, "first round"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "first.onnx"
        _save(net, path)
        late = tables("rendering tables, second round", seed + 1, scenes - first - held_out, path)
        check = tables("rendering held-out tables", seed + 2, held_out, path)
    net = fitted(seed + 1, concatenated([early, late]), steps, progress=partial(progress, "second round"))
    net.scale_logits(_calibrate(net, check))
    return partial(_save, net)


def _save(net: RefinerNet, path: Path) -> None:
    grid = tile_grid()
    save_onnx(net, path, example=torch.zeros(1, 3, grid.rows, grid.columns), free={0: "tiles"})


def _fitted(
    seed: int, samples: RefinerSamples, steps: int, *, device: str, progress: Callable[[float], None]
) -> RefinerNet:
    torch.manual_seed(seed)
    batches = prefetch(partial(draw_batch, seed, samples), steps)
    return fit(RefinerNet(), batches, steps, loss=_loss, schedule=_SCHEDULE, device=device, progress=progress)


def draw_batch(seed: int, samples: RefinerSamples, step: int) -> Batch:
    """Return inputs, (N, 3, rows, columns), classes, (N,), and corrections, (N, 6), for a seed and step.

    Unknown corrections are NaN.
    """
    rng = np.random.default_rng([seed, step])
    rows = rng.integers(0, len(samples.classes), _BATCH)
    inputs = contrasts(samples.patches[rows], tile_grid())
    inputs, corrections = augment(rng, inputs, samples.corrections[rows])
    return inputs, samples.classes[rows], corrections


def _loss(net: RefinerNet, batch: Tensors) -> Tensor:
    inputs, classes, corrections = batch
    with torch.autocast(inputs.device.type, torch.bfloat16):
        outputs = net(inputs.contiguous(memory_format=torch.channels_last)).float()
    known = torch.isfinite(corrections).all(dim=1)
    off = functional.smooth_l1_loss(outputs[known, CLASSES:], corrections[known] / CORRECTION, beta=0.1)
    return functional.cross_entropy(outputs[:, :CLASSES], classes, ignore_index=-1) + _CORRECTIONS * off.nan_to_num(0.0)


def _calibrate(net: RefinerNet, check: RefinerSamples) -> float:
    """Return the factor on the logits that maximises the likelihood of held-out classes (temperature scaling)."""
    net.eval()
    parts: list[NDArray[np.float32]] = []
    with torch.no_grad():
        for start in range(0, len(check.classes), _BATCH):
            inputs = contrasts(check.patches[start : start + _BATCH], tile_grid())
            parts.append(net(torch.from_numpy(inputs)).numpy()[:, :CLASSES])
    logits, truth = torch.from_numpy(np.concatenate(parts)), torch.from_numpy(check.classes)

    def loss(factor: float) -> float:
        return float(functional.cross_entropy(logits * factor, truth, ignore_index=-1))

    return float(min(_SHARPNESS, key=loss))
