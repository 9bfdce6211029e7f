"""Loss of the detector on a batch of pictures."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from vision.networks.detector_decoding import FIRST_SHAPE

# Weights of the losses of centre, length and direction, relative to the heat. A direction is a point on a circle.
_PLACE, _LENGTH, _DIRECTION = 1.0, 1.5, 1.0


def loss_of(cells: Tensor, heat: Tensor, heat_counts: Tensor, shapes: Tensor, shape_counts: Tensor) -> Tensor:
    """Return the loss of the network's output, shape (N, CHANNELS, h, w), for batches of `targets.Targets`."""
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
