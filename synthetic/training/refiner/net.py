"""The refiner's network. Needs torch, which only training needs."""

from __future__ import annotations

from torch import Tensor, nn

from synthetic.training.detector.net import Residual, layer
from vision.networks.patches import tile_grid
from vision.networks.refiner import CLASSES, OUTPUTS

# Channels at strides 2, 4 and 8, and before the last layer.
_WIDTHS, _LAST_WIDTH = (16, 24, 40, 56), 96
_DROPPED = 0.1


class CloserNet(nn.Module):
    """Says classes, and corrections of the outline, from how a patch differs from the colour of its face."""

    def __init__(self) -> None:
        """Start with random weights."""
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
            nn.Dropout(_DROPPED),
        )
        self.saying = nn.Linear(_LAST_WIDTH, OUTPUTS)

    def forward(self, seen: Tensor) -> Tensor:
        """Return logits and corrections, (N, OUTPUTS), for what `vision.networks.patches.contrasts` returns."""
        said: Tensor = self.saying(self.seeing(seen))
        return said

    def sharpened(self, factor: float) -> None:
        """Multiply the logits of the classes, so that probabilities are calibrated."""
        self.saying.weight.data[:CLASSES] *= factor
        self.saying.bias.data[:CLASSES] *= factor
