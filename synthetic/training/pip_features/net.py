"""Convolutional network of the pip features. Needs torch, which is only required for training."""

from __future__ import annotations

from torch import Tensor, nn

from synthetic.render.patterns import MAX_PIPS
from vision.networks.patches import half_grid
from vision.networks.pip_features import FEATURES

# Channels at strides 2, 4 and 8.
_WIDTHS = (24, 32, 48, 64)
_DROPOUT = 0.1


class PipFeatureNet(nn.Module):
    """Classifies pips from 0 to 18. Only `seeing`, all layers but the last, is exported to extract features."""

    def __init__(self) -> None:
        """Initialise random weights."""
        super().__init__()
        first, at2, at4, at8 = _WIDTHS
        cells = (half_grid(0).rows // 8) * (half_grid(0).columns // 8)
        self.seeing = nn.Sequential(
            _layer(3, first, stride=2),
            _layer(first, at2),
            _layer(at2, at4, stride=2),
            _layer(at4, at4),
            _layer(at4, at8, stride=2),
            _layer(at8, at8),
            nn.Flatten(),
            nn.Linear(at8 * cells, FEATURES),
            nn.ReLU(),
        )
        self.saying = nn.Sequential(nn.Dropout(_DROPOUT), nn.Linear(FEATURES, MAX_PIPS + 1))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return logits, (N, 19), for inputs from `vision.networks.patches.contrasts`, (N, 3, 32, 32)."""
        logits: Tensor = self.saying(self.seeing(inputs))
        return logits


def _layer(inputs: int, outputs: int, *, stride: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))
