"""Train the sound classifier, from a seed to arrays: `tallybone train knock`. Needs torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Generator, Tensor, nn

from hardware.knock import classifier as knock_model
from lab.packages import LIBRARY
from lab.sounds.signals import require_library
from lab.training.networks import Batch, LearningSchedule, Tensors, fit, prefetch
from lab.training.recordings import Examples, collect_examples, figures, reweight

_WIDTHS = (16, 32, 64)
EMBEDDING = 64
_DROPOUT = 0.2
# Random responses: share of the sounds, number of peaks and their gain, and tilt per octave. A unit is 10 dB.
_COLOURED = 0.6
_PEAKS = 4
_PEAK_GAIN = 0.35
_TILT = 0.15
# Share of sounds whose statistics are mixed with those of another one, and the parameter of the Beta distribution.
_MIXED = 0.25
_MIX = 0.4
# Share of sounds with a noise floor, up to 30 dB above the lowest value, and noise on every value.
_FLOORED = 0.5
_HIGHEST_FLOOR = 3.0
_NOISE = 0.08
# Noise on the standardised numbers on the impact.
_NUMBER_NOISE = 0.15


class Branch(nn.Module):
    """Convolutions over one spectrogram, the last of them over all remaining bands."""

    def __init__(self, patch: knock_model.Patch) -> None:
        super().__init__()
        sides = [patch.bands]
        for _ in _WIDTHS:
            sides.append((sides[-1] + 1) // 2)
        inputs = (1, *_WIDTHS)
        layers = [_layer(a, b, 3, stride=2) for a, b in zip(inputs, _WIDTHS, strict=False)]
        self.layers = nn.Sequential(*layers, _layer(_WIDTHS[-1], _WIDTHS[-1], (1, sides[-1]), stride=1))

    def forward(self, patch: Tensor) -> Tensor:
        """Return the outputs frame by frame, shape (N, outputs), for a spectrogram of shape (N, frames, bands)."""
        outputs: Tensor = self.layers(patch[:, None] - float(knock_model.CENTRE))
        return outputs.squeeze(3).transpose(1, 2).flatten(1)

    def folded(self) -> tuple[knock_model.Layer, ...]:
        """Return the layers for the classifier, with the normalisation folded into the weights."""
        return tuple(_folded(layer) for layer in self.layers)


class KnockNet(nn.Module):
    """Classifies sounds from the features of `hardware.knock.classifier.measure`."""

    def __init__(self, mean: Tensor, scale: Tensor) -> None:
        """Initialise random weights. *mean* and *scale* standardise the features of the impact."""
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("scale", scale)
        self.impact = nn.Linear(len(mean), EMBEDDING)
        self.branches = nn.ModuleList([Branch(knock_model.DETAIL), Branch(knock_model.CONTEXT)])
        with torch.no_grad():
            inputs = sum(
                branch(torch.zeros(1, *patch.shape)).shape[1]
                for branch, patch in zip(self.branches, knock_model.PATCHES, strict=True)
            )
        self.hidden = nn.Linear(int(inputs) + EMBEDDING, EMBEDDING)
        self.output = nn.Linear(EMBEDDING, len(knock_model.SOUNDS))

    def forward(self, detail: Tensor, context: Tensor, numbers: Tensor) -> Tensor:
        """Return the logits, shape (N, number of sounds)."""
        parts = [branch(patch) for branch, patch in zip(self.branches, (detail, context), strict=True)]
        standard = ((numbers - self.mean) / self.scale).clamp(-knock_model.FARTHEST, knock_model.FARTHEST)
        if self.training:
            standard = standard + torch.randn_like(standard) * _NUMBER_NOISE
        seen = torch.cat([*parts, nn.functional.relu(self.impact(standard))], dim=1)
        dropped = nn.functional.dropout(seen, _DROPOUT, self.training)
        logits: Tensor = self.output(nn.functional.relu(self.hidden(dropped)))
        return logits


def split_features(features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the two spectrograms and the numbers on the impact of features, shape (N, FEATURES)."""
    counts = [patch.frames * patch.bands for patch in knock_model.PATCHES]
    detail, context, numbers = features.split([*counts, features.shape[1] - sum(counts)], dim=1)
    return detail.reshape(-1, *knock_model.DETAIL.shape), context.reshape(-1, *knock_model.CONTEXT.shape), numbers


def augment_features(detail: Tensor, context: Tensor, random: Generator) -> tuple[Tensor, Tensor]:
    """Return spectrograms as of other devices and rooms.

    Random responses of devices, mixed statistics of frequencies (Freq-MixStyle, Kim et al. 2022, "Domain generalization
    with relaxed instance frequency-wise normalization"), noise floors and onsets that are a frame early or late.
    """
    count = len(detail)
    gains = torch.randn(count, _PEAKS, 1, generator=random) * _PEAK_GAIN
    centres = torch.rand(count, _PEAKS, 1, generator=random) * 7 - 4
    widths = torch.rand(count, _PEAKS, 1, generator=random) * 1.2 + 0.15
    tilts = torch.randn(count, 1, generator=random) * _TILT
    is_coloured = (torch.rand(count, 1, generator=random) < _COLOURED).float()
    partners = torch.randperm(count, generator=random)
    seed = int(torch.randint(2**31, (1,), generator=random))
    shares = torch.tensor(np.random.default_rng(seed).beta(_MIX, _MIX, (count, 1, 1)), dtype=torch.float32)
    shares = torch.maximum(shares, 1 - shares)
    is_mixed = (torch.rand(count, 1, 1, generator=random) < _MIXED).float()
    is_floored = torch.rand(count, 1, 1, generator=random) < _FLOORED
    floors = torch.rand(count, 1, 1, generator=random) * _HIGHEST_FLOOR * is_floored + knock_model.LOWEST
    changed = []
    for values, patch in ((detail, knock_model.DETAIL), (context, knock_model.CONTEXT)):
        octaves = torch.tensor(np.log2(knock_model.band_edges_hz(patch)[1:-1] / 1_000), dtype=torch.float32)
        curves = tilts * octaves + (gains * torch.exp(-(((octaves - centres) / widths) ** 2))).sum(1)
        coloured = values + (curves * is_coloured)[:, None]
        mean, spread = coloured.mean(1, keepdim=True), coloured.std(1, keepdim=True) + 0.1
        mixed = (coloured - mean) / spread * (shares * spread + (1 - shares) * spread[partners])
        mixed = mixed + shares * mean + (1 - shares) * mean[partners]
        other = is_mixed * mixed + (1 - is_mixed) * coloured
        relative = other - other[:, patch.loudest_from :].amax((1, 2), keepdim=True) + knock_model.LOUDEST
        noise = torch.randn(relative.shape, generator=random) * _NOISE
        changed.append(torch.maximum(relative, floors) + noise)
    shift = int(torch.randint(-1, 2, (1,), generator=random))
    return torch.roll(changed[0], shift, 1), torch.clamp(changed[1], knock_model.LOWEST, knock_model.HIGHEST)


def _layer(inputs: int, outputs: int, size: int | tuple[int, int], *, stride: int) -> nn.Sequential:
    padding = 1 if stride > 1 else 0
    convolution = nn.Conv2d(inputs, outputs, size, stride=stride, padding=padding, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU())


def _folded(layer: nn.Module) -> knock_model.Layer:
    convolution, norm, _ = layer.children()
    assert isinstance(convolution, nn.Conv2d)
    assert isinstance(norm, nn.BatchNorm2d)
    assert norm.running_mean is not None
    assert norm.running_var is not None
    with torch.no_grad():
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        weight = convolution.weight * scale[:, None, None, None]
        bias = norm.bias - norm.running_mean * scale
    return knock_model.Layer(weight.contiguous().numpy(), bias.numpy(), convolution.stride[0])


_HELD_OUT = 0.1
_BATCH = 256
_SCHEDULE = LearningSchedule(step_size=3e-3, decay=1e-2, warm_up_steps=200, mean_over_steps=1_000)
_SMOOTHING = 0.03
# Embeddings of other sounds that the classifier keeps, as many of each kind as possible.
_KEPT_OTHERS = 240
_THRESHOLD = 0.5
_MIN_SCALE = 0.05


def train_knock(
    *,
    seed: int,
    scenes: int,
    epochs: int,
    jobs: int,
    device: str = "cpu",
    progress: Callable[[str, float], None],
    library: Path | None = LIBRARY,
) -> knock_model.Classifier:
    """Train the sound classifier on modelled recordings and measure it on held-out ones.

    Args:
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
    kinds = [np.flatnonzero(check.sounds == index) for index in range(1, len(knock_model.SOUNDS))]
    each = _KEPT_OTHERS // len(kinds)
    chosen = np.concatenate([rows[:each] for rows in kinds])
    classifier = replace(classifier, others=classifier.embed(check.features[chosen].astype(np.float32)))
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
    fresh = KnockNet(numbers.mean(0), numbers.std(0) + _MIN_SCALE)

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


def as_classifier(net: KnockNet) -> knock_model.Classifier:
    """Convert a network to a classifier without examples of other sounds."""
    branches = [branch.folded() for branch in net.branches if isinstance(branch, Branch)]
    impact, hidden, output = (
        knock_model.Dense(layer.weight.detach().numpy().T, layer.bias.detach().numpy())
        for layer in (net.impact, net.hidden, net.output)
    )
    none = np.zeros((0, len(hidden.bias)), np.float32)
    mean, scale = net.mean.numpy(), net.scale.numpy()
    return knock_model.Classifier((branches[0], branches[1]), impact, mean, scale, hidden, output, none, _THRESHOLD, {})
