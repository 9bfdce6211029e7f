"""Train the tile detector with torch, from a seed to an ONNX file: `tallybone train detector`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from lab.training.detector.pictures import StoredPicture, draw_crop, draw_pictures, targets_of
from lab.training.torch_fit import Batch, LearningSchedule, Tensors, fit, prefetch, save_onnx
from vision.networks.detector import CHANNELS, FIRST_SHAPE

# Channels at strides 2, 4, 8, 16 and 32, and before the last layer.
_WIDTHS, _LAST_WIDTH = (16, 32, 48, 104, 144), 40
# Initial logit of the heat. Few cells contain a tile, so starting at 2 % instead of 50 % saves a thousand steps.
_INITIAL_HEAT = -4.0


class DetectorNet(nn.Module):
    """Small U-net: fine strides locate a tile, and coarse strides classify it with its surroundings."""

    def __init__(self) -> None:
        """Initialise random weights."""
        super().__init__()
        at2, at4, at8, at16, at32 = _WIDTHS
        self.down2 = layer(3, at2, stride=2)
        self.down4 = nn.Sequential(layer(at2, at4, stride=2), layer(at4, at4))
        self.down8 = nn.Sequential(layer(at4, at8, stride=2), Residual(at8))
        self.down16 = nn.Sequential(layer(at8, at16, stride=2), Residual(at16))
        self.down32 = nn.Sequential(layer(at16, at32, stride=2), layer(at32, at32))
        self.up16, self.up8, self.up4 = (layer(a, b, size=1) for a, b in ((at32, at16), (at16, at8), (at8, at4)))
        self.mix16, self.mix8, self.mix4 = layer(at16, at16), layer(at8, at8), layer(at4, _LAST_WIDTH)
        self.last = nn.Conv2d(_LAST_WIDTH, CHANNELS, 1)
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
        """Initialise random weights."""
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
_PLACE, _LENGTH, _DIRECTION = 1.0, 1.5, 1.0


def loss_of(cells: Tensor, heat: Tensor, heat_counts: Tensor, shapes: Tensor, shape_counts: Tensor) -> Tensor:
    """Return the loss of the network's output, shape (N, CHANNELS, h, w), for batches of `Targets`."""
    tiles = (heat >= 1).sum().clamp(min=1)
    return _heat_loss(cells[:, :FIRST_SHAPE], heat, heat_counts) / tiles + _shape_loss(
        cells[:, FIRST_SHAPE:], shapes, shape_counts
    )


def _heat_loss(logits: Tensor, heat: Tensor, counts: Tensor) -> Tensor:
    """Return the focal loss of CenterNet, which gives less weight to cells near a centre and to confident cells."""
    probability = torch.sigmoid(logits)
    is_center = (heat >= 1).float()
    right = is_center * (1 - probability) ** 2 * functional.logsigmoid(logits)
    wrong = (1 - is_center) * (1 - heat) ** 4 * probability**2 * functional.logsigmoid(-logits)
    return -((right + wrong) * counts[:, None].maximum(is_center)).sum()


def _shape_loss(predicted: Tensor, shapes: Tensor, counts: Tensor) -> Tensor:
    kinds = predicted.new_tensor([_PLACE] * 2 + [_LENGTH] * 2 + [_DIRECTION] * 4)
    off = functional.smooth_l1_loss(predicted, shapes, beta=0.05, reduction="none") * kinds[None, :, None, None]
    return (off.sum(dim=1) * counts).sum() / counts.sum().clamp(min=1)


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
