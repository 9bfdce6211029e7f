"""Fully convolutional network of the detector. Needs torch, which is only required for training."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from vision.networks.detector_decoding import CHANNELS

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
