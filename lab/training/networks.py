"""Networks, their losses and their training, from a seed to an ONNX file. Needs torch."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from lab.render.scene import MAX_PIPS
from lab.training import samples
from lab.training.tables import concatenated, draw_in_processes
from vision.networks import network
from vision.networks.detector import CHANNELS, FIRST_SHAPE

# Training loop for all networks, with prefetched batches and a decaying step size, and their export. Needs torch.


def save_onnx(net: nn.Module, path: Path, *, example: Tensor, free: dict[int, str]) -> None:
    """Write a network with a single input and output, and a checksum file next to it.

    Args:
        free: Dynamic axes of the input, and their names.
    """
    torch.onnx.export(
        net.eval().to(memory_format=torch.contiguous_format),
        (example,),
        str(path),
        input_names=["seen"],
        output_names=["said"],
        dynamic_axes={"seen": free, "said": {axis: f"{name} said" for axis, name in free.items()}},
        opset_version=13,
        dynamo=False,  # the newer exporter needs another package, and OpenCV 4 cannot read its files
    )
    network.write_checksum(path)


_AHEAD = 4
_MAX_GRADIENT = 10.0

Batch = tuple[NDArray[np.generic], ...]
Tensors = tuple[Tensor, ...]
"""A batch on the device that trains."""
Net = TypeVar("Net", bound=nn.Module)


@dataclass(frozen=True, slots=True)
class LearningSchedule:
    """Step size, weight decay and averaging of a training run.

    Attributes:
        step_size: Maximum step size, reached after *warm_up_steps*.
        warm_up_steps: Steps over which the step size rises linearly.
        mean_over_steps: Steps of the running mean of the weights. The result is this mean, which is more accurate than
            the weights of any single step.
    """

    step_size: float
    decay: float
    warm_up_steps: int
    mean_over_steps: int


def fit(
    net: Net,
    batches: Iterator[Batch],
    steps: int,
    *,
    loss: Callable[[Net, Tensors], Tensor],
    schedule: LearningSchedule,
    device: str = "cpu",
    progress: Callable[[float], None],
) -> Net:
    """Train *net* on *batches* on the CPU or a GPU (`cuda`), and return the running mean of its weights on the CPU."""
    net = net.to(device=device, memory_format=torch.channels_last)

    def running_mean(mean: Tensor, weight: Tensor, count: Tensor) -> Tensor:
        # Forget the poor weights of the first steps sooner.
        new = max(1 / schedule.mean_over_steps, 20 / (int(count) + 20))
        return mean + (weight - mean) * new if mean.is_floating_point() else weight

    mean = torch.optim.swa_utils.AveragedModel(net, avg_fn=running_mean, use_buffers=True)
    optimizer = torch.optim.AdamW(net.parameters(), lr=schedule.step_size, weight_decay=schedule.decay)
    for step, batch in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = (
                schedule.step_size
                * min(1.0, (step + 1) / schedule.warm_up_steps)
                * (0.5 * (1 + float(np.cos(np.pi * (step / steps)))) + 0.01)
            )
        net.train()
        optimizer.zero_grad()
        loss(net, tuple(torch.from_numpy(part).to(device) for part in batch)).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), _MAX_GRADIENT)
        optimizer.step()
        mean.update_parameters(net)
        progress((step + 1) / steps)
    averaged: Net = mean.module.cpu()
    return averaged


def prefetch(draw: Callable[[int], Batch], steps: int) -> Iterator[Batch]:
    """Yield the batches of *steps* steps, drawn on another thread during training."""
    with ThreadPoolExecutor(max_workers=1) as executor:
        ahead = [executor.submit(draw, step) for step in range(min(_AHEAD, steps))]
        for step in range(steps):
            yield ahead.pop(0).result()
            if step + _AHEAD < steps:
                ahead.append(executor.submit(draw, step + _AHEAD))


# Train the tile detector with torch, from a seed to an ONNX file: `tallybone train detector`.


# Channels at strides 2, 4, 8, 16 and 32, and before the last layer.
_DETECTOR_WIDTHS = (16, 32, 48, 104, 144)
_DETECTOR_LAST_WIDTH = 40
# Initial logit of the heat. Few cells contain a tile, so starting at 2 % instead of 50 % saves a thousand steps.
_INITIAL_HEAT = -4.0


class DetectorNet(nn.Module):
    """Small U-net: fine strides locate a tile, and coarse strides classify it with its surroundings."""

    def __init__(self) -> None:
        super().__init__()
        at2, at4, at8, at16, at32 = _DETECTOR_WIDTHS
        self.down2 = layer(3, at2, stride=2)
        self.down4 = nn.Sequential(layer(at2, at4, stride=2), layer(at4, at4))
        self.down8 = nn.Sequential(layer(at4, at8, stride=2), Residual(at8))
        self.down16 = nn.Sequential(layer(at8, at16, stride=2), Residual(at16))
        self.down32 = nn.Sequential(layer(at16, at32, stride=2), layer(at32, at32))
        self.up16, self.up8, self.up4 = (layer(a, b, size=1) for a, b in ((at32, at16), (at16, at8), (at8, at4)))
        self.mix16, self.mix8, self.mix4 = layer(at16, at16), layer(at8, at8), layer(at4, _DETECTOR_LAST_WIDTH)
        self.last = nn.Conv2d(_DETECTOR_LAST_WIDTH, CHANNELS, 1)
        nn.init.zeros_(self.last.bias)
        nn.init.constant_(self.last.bias[:2], _INITIAL_HEAT)
        self.twice = nn.Upsample(scale_factor=2, mode="nearest")

    def forward(self, picture: Tensor) -> Tensor:
        """Return logits and shapes, (N, CHANNELS, H / 4, W / 4).

        Args:
            picture: BGR from -1 to 1, shape (N, 3, H, W), with H and W multiples of 32.
        """
        at4 = self.down4(self.down2(picture))
        at8 = self.down8(at4)
        at16 = self.down16(at8)
        mixed = self.mix16(at16 + self.twice(self.up16(self.down32(at16))))
        mixed = self.mix8(at8 + self.twice(self.up8(mixed)))
        mixed = self.mix4(at4 + self.twice(self.up4(mixed)))
        cells: Tensor = self.last(mixed)
        return cells


class Residual(nn.Module):
    """Residual block of two layers (He, Zhang, Ren and Sun, Deep Residual Learning, CVPR 2016)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = layer(width, width)
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the activated sum of the inputs and the output of the layers, (N, width, H, W)."""
        return torch.relu(inputs + self.second(self.first(inputs)))


def layer(inputs: int, outputs: int, *, stride: int = 1, size: int = 3) -> nn.Sequential:
    """Return a convolution with a kernel of *size* pixels, followed by batch normalisation and ReLU."""
    convolution = nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


# Weights of the losses of centre, length and direction, relative to the heat. A direction is a point on a circle.
_PLACE = 1.0
_LENGTH = 1.5
_DIRECTION = 1.0


def loss_of(cells: Tensor, heat: Tensor, heat_counts: Tensor, shapes: Tensor, shape_counts: Tensor) -> Tensor:
    """Return the loss of the network's output, shape (N, CHANNELS, h, w), for batches of `Targets`."""
    tiles = (heat >= 1).sum().clamp(min=1)
    logits = cells[:, :FIRST_SHAPE]
    probability = torch.sigmoid(logits)
    is_center = (heat >= 1).float()
    right = is_center * (1 - probability) ** 2 * functional.logsigmoid(logits)
    wrong = (1 - is_center) * (1 - heat) ** 4 * probability**2 * functional.logsigmoid(-logits)
    return (-((right + wrong) * heat_counts[:, None].maximum(is_center)).sum()) / tiles + _shape_loss(
        cells[:, FIRST_SHAPE:], shapes, shape_counts
    )


def _shape_loss(predicted: Tensor, shapes: Tensor, counts: Tensor) -> Tensor:
    kinds = predicted.new_tensor([_PLACE] * 2 + [_LENGTH] * 2 + [_DIRECTION] * 4)
    off = functional.smooth_l1_loss(predicted, shapes, beta=0.05, reduction="none") * kinds[None, :, None, None]
    return (off.sum(dim=1) * counts).sum() / counts.sum().clamp(min=1)


_DETECTOR_BATCH = 8
_DETECTOR_SCHEDULE = LearningSchedule(step_size=3e-3, decay=1e-4, warm_up_steps=150, mean_over_steps=500)


def train_detector(
    *, seed: int, scenes: int, steps: int, jobs: int, device: str = "cpu", progress: Callable[[str, float], None]
) -> Callable[[Path], None]:
    """Render tables, train the detector on crops of them, and return a function that writes it to a file."""
    pictures = list(
        draw_in_processes(partial(samples.draw_picture, seed), scenes, jobs, partial(progress, "rendering tables"))
    )
    torch.manual_seed(seed)
    batches = prefetch(partial(draw_detector_batch, seed, pictures), steps)
    net = fit(
        DetectorNet(),
        batches,
        steps,
        loss=_detector_loss,
        schedule=_DETECTOR_SCHEDULE,
        device=device,
        progress=partial(progress, "training the detector"),
    )
    # The network accepts any picture size that is a multiple of 32.
    return partial(save_onnx, net, example=torch.zeros(1, 3, 64, 96), free={2: "height", 3: "width"})


def _detector_loss(net: DetectorNet, batch: Tensors) -> Tensor:
    images, *targets = batch
    inputs = images.permute(0, 3, 1, 2).float().div(128).sub(1).contiguous(memory_format=torch.channels_last)
    with torch.autocast(inputs.device.type, torch.bfloat16):  # takes two thirds of the time of 32 bits
        cells = net(inputs)
    return loss_of(cells.float(), *targets)


def draw_detector_batch(seed: int, pictures: list[samples.StoredPicture], step: int) -> Batch:
    """Return crops, shape (N, H, W, 3), and their targets for `loss_of`. Deterministic for a seed and step."""
    rng = np.random.default_rng([seed, step])
    crops = [
        samples.draw_crop(rng, pictures[int(rng.integers(len(pictures)))].decode()) for _ in range(_DETECTOR_BATCH)
    ]
    truth = [samples.targets_of(crop) for crop in crops]
    parts = (
        [getattr(targets, name) for targets in truth] for name in ("heat", "heat_counts", "shapes", "shape_counts")
    )
    return (np.stack([crop.image for crop in crops]), *(np.stack(part) for part in parts))


# Train the refiner, from a seed to an ONNX file: `tallybone train refiner`. Needs torch.


# Channels at strides 2, 4 and 8, and before the last layer.
_WIDTHS = (16, 24, 40, 56)
_LAST_WIDTH = 96
_DROPOUT = 0.1


class RefinerNet(nn.Module):
    """Predicts the class of a patch and a correction of its outline, from its contrast to the face colour."""

    def __init__(self) -> None:
        super().__init__()
        first, at2, at4, at8 = _WIDTHS
        cells = (network.tile_grid().rows // 8) * (network.tile_grid().columns // 8)
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
        self.saying = nn.Linear(_LAST_WIDTH, network.OUTPUTS)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return logits and corrections, (N, OUTPUTS), for inputs from `vision.networks.network.contrasts`."""
        outputs: Tensor = self.saying(self.seeing(inputs))
        return outputs

    def scale_logits(self, factor: float) -> None:
        """Multiply the class logits by *factor*, to calibrate the probabilities."""
        self.saying.weight.data[: network.CLASSES] *= factor
        self.saying.bias.data[: network.CLASSES] *= factor


_BATCH = 256
_REFINER_SCHEDULE = LearningSchedule(step_size=2e-3, decay=1e-3, warm_up_steps=200, mean_over_steps=500)
# The first network only provides hard negatives for the second, so a quarter of the tables and batches is enough for
# the first. The held-out share of the tables calibrates the second network.
_FIRST = 0.25
_HELD_OUT = 0.05
# Weight of the loss of corrections relative to the loss of classes.
_CORRECTIONS = 1.5
_SHARPNESS = np.geomspace(0.3, 3, 47)


def train_refiner(
    *, seed: int, scenes: int, steps: int, jobs: int, device: str = "cpu", progress: Callable[[str, float], None]
) -> Callable[[Path], None]:
    """Render tables, train the refiner on their tile candidates, and return a function that writes it to a file.

    Training has two rounds. The false positives of the first network become hard negatives for the second.
    """
    first, held_out = max(1, round(_FIRST * scenes)), max(1, round(_HELD_OUT * scenes))

    def tables(stage: str, seed: int, count: int, earlier: Path | None) -> samples.RefinerSamples:
        draw = partial(samples.draw_refiner_table, seed, earlier)
        return concatenated(list(draw_in_processes(draw, max(1, count), jobs, partial(progress, stage))))

    early = tables("rendering tables, first round", seed, first, None)
    fitted = partial(_fit_refiner, device=device)
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
    grid = network.tile_grid()
    save_onnx(net, path, example=torch.zeros(1, 3, grid.rows, grid.columns), free={0: "tiles"})


def _fit_refiner(
    seed: int, learn: samples.RefinerSamples, steps: int, *, device: str, progress: Callable[[float], None]
) -> RefinerNet:
    torch.manual_seed(seed)
    batches = prefetch(partial(draw_refiner_batch, seed, learn), steps)
    return fit(
        RefinerNet(), batches, steps, loss=_refiner_loss, schedule=_REFINER_SCHEDULE, device=device, progress=progress
    )


def draw_refiner_batch(seed: int, learn: samples.RefinerSamples, step: int) -> Batch:
    """Return inputs, (N, 3, rows, columns), classes, (N,), and corrections, (N, 6), for a seed and step.

    Unknown corrections are NaN.
    """
    rng = np.random.default_rng([seed, step])
    rows = rng.integers(0, len(learn.classes), _BATCH)
    inputs = network.contrasts(learn.patches[rows], network.tile_grid())
    inputs, corrections = samples.augment(rng, inputs, learn.corrections[rows])
    return inputs, learn.classes[rows], corrections


def _refiner_loss(net: RefinerNet, batch: Tensors) -> Tensor:
    inputs, classes, corrections = batch
    with torch.autocast(inputs.device.type, torch.bfloat16):
        outputs = net(inputs.contiguous(memory_format=torch.channels_last)).float()
    known = torch.isfinite(corrections).all(dim=1)
    off = functional.smooth_l1_loss(
        outputs[known, network.CLASSES :], corrections[known] / network.CORRECTION, beta=0.1
    )
    return functional.cross_entropy(
        outputs[:, : network.CLASSES], classes, ignore_index=-1
    ) + _CORRECTIONS * off.nan_to_num(0.0)


def _calibrate(net: RefinerNet, check: samples.RefinerSamples) -> float:
    """Return the factor on the logits that maximises the likelihood of held-out classes (temperature scaling)."""
    net.eval()
    parts: list[NDArray[np.float32]] = []
    with torch.no_grad():
        for start in range(0, len(check.classes), _BATCH):
            inputs = network.contrasts(check.patches[start : start + _BATCH], network.tile_grid())
            parts.append(net(torch.from_numpy(inputs)).numpy()[:, : network.CLASSES])
    logits, truth = torch.from_numpy(np.concatenate(parts)), torch.from_numpy(check.classes)

    def loss(factor: float) -> float:
        return float(functional.cross_entropy(logits * factor, truth, ignore_index=-1))

    return float(min(_SHARPNESS, key=loss))


# Train the network that extracts pip features, from a seed to an ONNX file: `tallybone train pip-features`.


# Channels at strides 2, 4 and 8.
_PIP_FEATURES_WIDTHS = (24, 32, 48, 64)


class PipFeatureNet(nn.Module):
    """Classifies pips from 0 to 18. Only `seeing`, all layers but the last, is exported to extract features."""

    def __init__(self) -> None:
        super().__init__()
        first, at2, at4, at8 = _PIP_FEATURES_WIDTHS
        cells = (network.half_grid(0).rows // 8) * (network.half_grid(0).columns // 8)
        self.seeing = nn.Sequential(
            layer(3, first, stride=2),
            layer(first, at2),
            layer(at2, at4, stride=2),
            layer(at4, at4),
            layer(at4, at8, stride=2),
            layer(at8, at8),
            nn.Flatten(),
            nn.Linear(at8 * cells, network.FEATURES),
            nn.ReLU(),
        )
        self.saying = nn.Sequential(nn.Dropout(_DROPOUT), nn.Linear(network.FEATURES, MAX_PIPS + 1))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return logits, (N, 19), for inputs from `vision.networks.network.contrasts`, (N, 3, 32, 32)."""
        logits: Tensor = self.saying(self.seeing(inputs))
        return logits


# Spread of the augmentation, in addition to the pose errors of the samples.
_SPREAD = 0.03


def draw_warps(rng: np.random.Generator, count: int, shown: float) -> NDArray[np.float32]:
    """Return random affine maps from network inputs to larger patches, shape (N, 2, 3), for `affine_grid`.

    Args:
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


_PIP_FEATURES_SCHEDULE = LearningSchedule(step_size=2e-3, decay=1e-3, warm_up_steps=100, mean_over_steps=300)
# Extent of the network's input as a share of a patch.
_SHOWN = network.half_grid(0).step * network.half_grid(0).columns / samples.PATCH_SPAN


def train_pip_features(
    *, seed: int, scenes: int, epochs: int, jobs: int, device: str = "cpu", progress: Callable[[str, float], None]
) -> Callable[[Path], None]:
    """Render tables, train the network on their halves, and return a function that writes it to a file."""
    draw, rendering = partial(samples.draw_table_halves, seed), partial(progress, "rendering tables")
    halves = concatenated(list(draw_in_processes(draw, scenes, jobs, rendering)))
    steps = max(1, epochs * len(halves.pips) // _BATCH)
    torch.manual_seed(seed)
    batches = prefetch(partial(draw_pip_feature_batch, seed, halves), steps)
    report = partial(progress, "training the pip features")
    net = fit(
        PipFeatureNet(),
        batches,
        steps,
        loss=_pip_features_loss,
        schedule=_PIP_FEATURES_SCHEDULE,
        device=device,
        progress=report,
    )
    grid = network.half_grid(0)
    return partial(save_onnx, net.seeing, example=torch.zeros(1, 3, grid.rows, grid.columns), free={0: "halves"})


def _pip_features_loss(net: PipFeatureNet, batch: Tensors) -> Tensor:
    patches, warps, pips = batch
    inputs = warp_patches(patches, warps, network.half_grid(0).rows)
    with torch.autocast(inputs.device.type, torch.bfloat16):
        logits = net(inputs)
    return functional.cross_entropy(logits.float(), pips)


def draw_pip_feature_batch(seed: int, halves: samples.HalfPatches, step: int) -> Batch:
    """Return patches, (N, 3, PATCH_SIZE, PATCH_SIZE), random warps, (N, 2, 3), and pips, (N,), for a seed and step."""
    rng = np.random.default_rng([seed, step])
    rows = rng.integers(0, len(halves.pips), _BATCH)
    return (
        network.contrasts(halves.patches[rows], samples.training_grid(0)),
        draw_warps(rng, _BATCH, _SHOWN),
        halves.pips[rows],
    )


# Train the hard-case classifier, from a seed to an ONNX file: `tallybone train hard-pips`.


# Channels at strides 2, 4 and 8.
_HARD_PIPS_WIDTHS = (32, 64, 96)
_FEATURES = 128
_HARD_PIPS_DROPOUT = 0.15


class HardCaseNet(nn.Sequential):
    """Returns logits, (N, 19), for inputs from `vision.networks.network.contrasts`, (N, 3, SIZE, SIZE)."""

    def __init__(self) -> None:
        at2, at4, at8 = _HARD_PIPS_WIDTHS
        cells = (network.SIZE // 8) ** 2
        super().__init__(
            *(layer(3, at2, stride=2), Residual(at2)),
            *(layer(at2, at4, stride=2), Residual(at4)),
            *(layer(at4, at8, stride=2), Residual(at8)),
            *(nn.Flatten(), nn.Linear(at8 * cells, _FEATURES), nn.ReLU()),
            *(nn.Dropout(_HARD_PIPS_DROPOUT), nn.Linear(_FEATURES, MAX_PIPS + 1)),
        )


_HARD_PIPS_SCHEDULE = LearningSchedule(step_size=2e-3, decay=2e-2, warm_up_steps=300, mean_over_steps=300)


def train_hard_case_classifier(
    *, seed: int, scenes: int, steps: int, jobs: int, device: str = "cpu", progress: Callable[[str, float], None]
) -> Callable[[Path], None]:
    """Render tables, train the network on their difficult halves, and return a function that writes it to a file."""
    draw, rendering = partial(samples.doubtful_of_table, seed), partial(progress, "rendering tables")
    halves = concatenated(list(draw_in_processes(draw, scenes, jobs, rendering)))
    report = partial(progress, "training")
    return fit_hard_case_classifier(halves, seed=seed, steps=steps, device=device, progress=report)


def fit_hard_case_classifier(
    halves: samples.DoubtfulHalves, *, seed: int, steps: int, device: str = "cpu", progress: Callable[[float], None]
) -> Callable[[Path], None]:
    """Train the network on *halves*, and return a function that writes it to a file."""
    torch.manual_seed(seed)
    batches = prefetch(partial(draw_hard_case_batch, seed, halves, np.cumsum(halves.chances())), steps)
    net = fit(
        HardCaseNet(),
        batches,
        steps,
        loss=_hard_pips_loss,
        schedule=_HARD_PIPS_SCHEDULE,
        device=device,
        progress=progress,
    )
    return partial(save_onnx, net, example=torch.zeros(1, 3, network.SIZE, network.SIZE), free={0: "halves"})


def _hard_pips_loss(net: HardCaseNet, batch: Tensors) -> Tensor:
    patches, warps, pips = batch
    inputs = warp_patches(patches, warps, network.SIZE)
    with torch.autocast(inputs.device.type, torch.bfloat16):  # takes two thirds of the time
        logits = net(inputs)
    return functional.cross_entropy(logits.float(), pips)


def draw_hard_case_batch(seed: int, halves: samples.DoubtfulHalves, below: NDArray[np.float64], step: int) -> Batch:
    """Return patches, (N, 3, S, S), random warps, (N, 2, 3), and pips, (N,), for a seed and step.

    *below*, shape (M,), is the cumulative probability of the halves.
    """
    rng = np.random.default_rng([seed, step])
    rows = np.minimum(np.searchsorted(below, rng.random(_BATCH)), len(below) - 1)
    patches = network.contrasts(halves.patches[rows], samples.doubtful_grid(0))
    return patches, draw_warps(rng, _BATCH, network.SPAN / samples.DOUBTFUL_SPAN), halves.pips[rows]
