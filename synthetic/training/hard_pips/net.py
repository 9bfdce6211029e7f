"""Residual network of the hard-case classifier. Needs torch."""

from __future__ import annotations

from torch import nn

from synthetic.render.patterns import MAX_PIPS
from synthetic.training.detector.net import Residual, layer
from vision.networks.hard_case_classifier import SIZE

# Channels at strides 2, 4 and 8.
_WIDTHS = (32, 64, 96)
_FEATURES = 128
_DROPOUT = 0.15


class HardCaseNet(nn.Sequential):
    """Returns logits, (N, 19), for inputs from `vision.networks.patches.contrasts`, (N, 3, SIZE, SIZE)."""

    def __init__(self) -> None:
        """Initialise random weights."""
        at2, at4, at8 = _WIDTHS
        cells = (SIZE // 8) ** 2
        super().__init__(
            *(layer(3, at2, stride=2), Residual(at2)),
            *(layer(at2, at4, stride=2), Residual(at4)),
            *(layer(at4, at8, stride=2), Residual(at8)),
            *(nn.Flatten(), nn.Linear(at8 * cells, _FEATURES), nn.ReLU()),
            *(nn.Dropout(_DROPOUT), nn.Linear(_FEATURES, MAX_PIPS + 1)),
        )
