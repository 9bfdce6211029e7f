"""Network of the refiner. Needs torch, which is only required for training."""

from __future__ import annotations

from torch import Tensor, nn

from synthetic.training.detector.net import Residual, layer
from vision.networks.patches import tile_grid
from vision.networks.refiner import CLASSES, OUTPUTS

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
        """Return logits and corrections, (N, OUTPUTS), for inputs from `vision.networks.patches.contrasts`."""
        outputs: Tensor = self.saying(self.seeing(inputs))
        return outputs

    def scale_logits(self, factor: float) -> None:
        """Multiply the class logits by *factor*, to calibrate the probabilities."""
        self.saying.weight.data[:CLASSES] *= factor
        self.saying.bias.data[:CLASSES] *= factor
