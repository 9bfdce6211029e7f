"""Train the sound classifier, from a seed to arrays: `tallybone train knock`. Needs torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hardware.knock.classifier import SOUNDS, Classifier, Dense
from synthetic.library.packages import LIBRARY
from synthetic.sounds.library import require_library
from synthetic.training.knock.examples import Examples, collect_examples, figures, reweight
from synthetic.training.knock.net import Branch, KnockNet, augment_features, split_features
from synthetic.training.torch_fit import Batch, LearningSchedule, Tensors, fit, prefetch

_HELD_OUT = 0.1
_BATCH = 256
_SCHEDULE = LearningSchedule(step_size=3e-3, decay=1e-2, warm_up_steps=200, mean_over_steps=1_000)
_SMOOTHING = 0.03
# Embeddings of other sounds that the classifier keeps, as many of each kind as possible.
_KEPT_OTHERS = 240
_THRESHOLD = 0.5
_LEAST_SCALE = 0.05


def train_knock(
    *,
    seed: int,
    scenes: int,
    epochs: int,
    jobs: int,
    device: str = "cpu",
    progress: Callable[[str, float], None],
    library: Path | None = LIBRARY,
) -> Classifier:
    """Train the sound classifier on modelled recordings and measure it on held-out ones.

    Args:
        seed: Random seed. The same seed gives the same classifier on the same machine.
        scenes: Number of training recordings.
        epochs: Number of passes over the training sounds.
        jobs: Number of processes that model recordings.
        device: `cpu`, or `cuda` for a GPU.
        progress: Called with a description of the current stage and its completed share.
        library: Folder of recorded everyday sounds, or None to model all of them.

    Raises:
        MissingPackagesError: If recorded sounds are missing.
    """
    if library is not None:
        require_library(library)
    learn = collect_examples(seed, scenes, library, jobs, lambda share: progress("modelling recordings", share))
    held_out = max(1, round(scenes * _HELD_OUT))
    check = collect_examples(
        seed + 1, held_out, library, jobs, lambda share: progress("modelling recordings to judge by", share)
    )
    net = fit_net(learn, seed, epochs, lambda share: progress("learning", share), device)
    classifier = reweight(as_classifier(net), check)
    classifier = replace(classifier, others=_kept_others(classifier, check))
    notes: dict[str, object] = {"seed": seed, "scenes": scenes, "epochs": epochs}
    return replace(classifier, notes=notes | figures(classifier, check))


def fit_net(
    learn: Examples, seed: int, epochs: int, progress: Callable[[float], None], device: str = "cpu"
) -> KnockNet:
    """Return a network fitted to examples."""
    torch.manual_seed(seed)
    random = torch.Generator().manual_seed(seed)
    count = len(learn.sounds)
    batch = min(_BATCH, count)
    steps = epochs * (count // batch)
    orders = [np.random.default_rng([seed, epoch]).permutation(count) for epoch in range(epochs)]

    numbers = split_features(torch.from_numpy(learn.features))[2].float()
    fresh = KnockNet(numbers.mean(0), numbers.std(0) + _LEAST_SCALE)

    def draw(step: int) -> Batch:
        epoch, index = divmod(step, count // batch)
        chosen = orders[epoch][index * batch : (index + 1) * batch]
        detail, context, numbers = split_features(torch.from_numpy(learn.features[chosen]).float())
        detail, context = augment_features(detail, context, random)
        return detail.numpy(), context.numpy(), numbers.numpy(), learn.sounds[chosen]

    batches = prefetch(draw, steps)
    net: KnockNet = fit(fresh, batches, steps, loss=_loss, schedule=_SCHEDULE, device=device, progress=progress)
    net.eval()
    return net


def _loss(net: KnockNet, batch: Tensors) -> Tensor:
    *seen, sounds = batch
    return torch.nn.functional.cross_entropy(net(*seen), sounds, label_smoothing=_SMOOTHING)


def as_classifier(net: KnockNet) -> Classifier:
    """Convert a network to a classifier without examples of other sounds."""
    branches = [branch.folded() for branch in net.branches if isinstance(branch, Branch)]
    impact, hidden, output = (
        Dense(layer.weight.detach().numpy().T, layer.bias.detach().numpy())
        for layer in (net.impact, net.hidden, net.output)
    )
    none = np.zeros((0, len(hidden.bias)), np.float32)
    mean, scale = net.mean.numpy(), net.scale.numpy()
    return Classifier((branches[0], branches[1]), impact, mean, scale, hidden, output, none, _THRESHOLD, {})


def _kept_others(classifier: Classifier, check: Examples) -> NDArray[np.float32]:
    """Return embeddings of held-out sounds that are no knocks, equally many of each kind if there are enough."""
    kinds = [np.flatnonzero(check.sounds == index) for index in range(1, len(SOUNDS))]
    each = _KEPT_OTHERS // len(kinds)
    chosen = np.concatenate([rows[:each] for rows in kinds])
    return classifier.embed(check.features[chosen].astype(np.float32))
