"""The network that looks again at halves that one look leaves in doubt: convolutional, residual. Needs torch."""

from __future__ import annotations

from torch import Tensor, nn

from vision.render.patterns import MAX_PIPS
from vision.second_look import SIZE

# Channels at strides 2, 4 and 8.
_WIDTHS = (32, 64, 96)
_FEATURES = 128
_DROPPED = 0.15


class SecondNet(nn.Sequential):
    """Returns logits, (N, 19), for what `vision.patches.contrasts` returns, (N, 3, SIZE, SIZE)."""

    def __init__(self) -> None:
        """Start with random weights."""
        at2, at4, at8 = _WIDTHS
        cells = (SIZE // 8) ** 2
        super().__init__(
            *(_layer(3, at2, stride=2), _Residual(at2)),
            *(_layer(at2, at4, stride=2), _Residual(at4)),
            *(_layer(at4, at8, stride=2), _Residual(at8)),
            *(nn.Flatten(), nn.Linear(at8 * cells, _FEATURES), nn.ReLU()),
            *(nn.Dropout(_DROPPED), nn.Linear(_FEATURES, MAX_PIPS + 1)),
        )


class _Residual(nn.Module):
    """Two layers that add to what goes in (He, Zhang, Ren and Sun, Deep Residual Learning, CVPR 2016)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = _layer(width, width)
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))

    def forward(self, seen: Tensor) -> Tensor:
        added: Tensor = seen + self.second(self.first(seen))
        return added.relu()


def _layer(inputs: int, outputs: int, *, stride: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))
