"""Train the hard-case classifier, from a seed to an ONNX file: `tallybone train hard-pips`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from synthetic.training.hard_pips import doubtful
from synthetic.training.hard_pips.doubtful import DoubtfulHalves, doubtful_grid, draw_doubtful
from synthetic.training.hard_pips.net import SecondNet
from synthetic.training.onnx_file import save_onnx
from synthetic.training.pip_features.views import draw_warps, seen_through
from synthetic.training.torch_fit import Batch, LearningSchedule, drawn_ahead, fit
from vision.networks.hard_case_classifier import SIZE, SPAN
from vision.networks.patches import contrasts

_BATCH = 256
_SCHEDULE = LearningSchedule(step_size=2e-3, decay=2e-2, warm_up_steps=300, mean_over_steps=300)


def train_hard_case_classifier(
    *, seed: int, scenes: int, steps: int, jobs: int, progress: Callable[[str, float], None]
) -> Callable[[Path], None]:
    """Render tables, train the network on the halves that one look leaves in doubt, and return what writes it.

    Args:
        seed: Everything follows from it; the same seed gives the same network on the same machine.
        scenes: Number of tables to render.
        steps: How many batches of halves to learn from.
        jobs: Processes that render.
        progress: Called with what is being done and the share of it that is done.
    """
    halves = draw_doubtful(seed, scenes, jobs, partial(progress, "rendering tables"))
    return fit_hard_case_classifier(halves, seed=seed, steps=steps, progress=partial(progress, "training"))


def fit_hard_case_classifier(
    halves: DoubtfulHalves, *, seed: int, steps: int, progress: Callable[[float], None]
) -> Callable[[Path], None]:
    """Train the network on some halves, and return what writes it."""
    torch.manual_seed(seed)
    batches = drawn_ahead(partial(draw_batch, seed, halves, np.cumsum(halves.chances())), steps)
    net = fit(SecondNet(), batches, steps, loss=_loss, schedule=_SCHEDULE, progress=progress)
    return partial(save_onnx, net, example=torch.zeros(1, 3, SIZE, SIZE), free={0: "halves"})


def _loss(net: SecondNet, batch: Batch) -> Tensor:
    patches, warps, pips = batch
    seen = seen_through(patches, warps, SIZE)
    with torch.autocast("cpu", torch.bfloat16):  # in two thirds of the time
        said = net(seen)
    return functional.cross_entropy(said.float(), torch.from_numpy(pips))


def draw_batch(seed: int, halves: DoubtfulHalves, below: NDArray[np.float64], step: int) -> Batch:
    """Return patches, shape (N, 3, S, S), what to see of them, (N, 2, 3), and pips, (N,), for seed and step.

    *below* has shape (M,): how often each half or one before it is drawn.
    """
    rng = np.random.default_rng([seed, step])
    rows = np.minimum(np.searchsorted(below, rng.random(_BATCH)), len(below) - 1)
    patches = contrasts(halves.patches[rows], doubtful_grid(0))
    return patches, draw_warps(rng, _BATCH, SPAN / doubtful.SPAN), halves.pips[rows]
