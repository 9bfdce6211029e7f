"""The detector's network: fully convolutional, from colours to cells. Needs torch, which only training needs."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from vision.networks.detector_decoding import CHANNELS

# Channels at strides 2, 4, 8, 16 and 32, and before the last layer.
_WIDTHS, _LAST_WIDTH = (16, 32, 48, 104, 144), 40
# Few cells hold a tile: starting from 2 % instead of a half saves the first thousand steps.
_RARE = -4.0


class FinderNet(nn.Module):
    """Sees 32 pixels at a glance for the place, the whole tile and its neighbours for what it is (a small U-net)."""

    def __init__(self) -> None:
        """Start with random weights."""
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
        nn.init.constant_(self.last.bias[:2], _RARE)
        self.twice = nn.Upsample(scale_factor=2, mode="nearest")

    def forward(self, picture: Tensor) -> Tensor:
        """Return logits and shapes, (N, CHANNELS, H / 4, W / 4), for BGR around 0, (N, 3, H, W); H and W by 32."""
        at4 = self.down4(self.down2(picture))
        at8 = self.down8(at4)
        at16 = self.down16(at8)
        seen = self.mix16(at16 + self.twice(self.up16(self.down32(at16))))
        seen = self.mix8(at8 + self.twice(self.up8(seen)))
        seen = self.mix4(at4 + self.twice(self.up4(seen)))
        cells: Tensor = self.last(seen)
        return cells


class Residual(nn.Module):
    """Two layers that add to what goes in (He, Zhang, Ren and Sun, Deep Residual Learning, CVPR 2016)."""

    def __init__(self, width: int) -> None:
        """Start with random weights."""
        super().__init__()
        self.first = layer(width, width)
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))

    def forward(self, seen: Tensor) -> Tensor:
        """Return what goes in and what the layers add to it, (N, width, H, W)."""
        return torch.relu(seen + self.second(self.first(seen)))


def layer(inputs: int, outputs: int, *, stride: int = 1, size: int = 3) -> nn.Sequential:
    """Return a convolution over *size* pixels with its normalisation and ReLU."""
    convolution = nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))
