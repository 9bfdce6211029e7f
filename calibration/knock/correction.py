"""Per-table linear correction to the sound classifier."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hardware.knock.classifier import SOUNDS, Classifier
from hardware.knock.features import FEATURES
from hardware.knock.heard import Sound

# Variance added to each feature, because five to twenty knocks give poor estimates, and weight of the correction
# relative to the classifier. Chosen on 22 simulated tables. benchmarks/bench_calibrate_knock.py uses others.
_VARIANCE, _COUNTS = 0.5, 1.5
# Sounds not made by a hand, to which the correction applies. It excludes taps, which are not recorded and resemble
# knocks: when the correction was added to the knock output instead, 178 of 219 finger taps were accepted as knocks,
# against 49 without a correction.
OTHER_SOUNDS = (Sound.TILE, Sound.SLAM, Sound.SHUFFLE, Sound.GLASS, Sound.SPEECH, Sound.NOTHING)
# Standardised features are clipped to this magnitude.
_FARTHEST = 5.0


@dataclass(frozen=True, slots=True)
class Addition:
    """Linear correction to the classifier's log odds of a knock against `OTHER_SOUNDS`.

    Attributes:
        weights: Weight of each standardised feature.
        bias: Constant term.
    """

    weights: tuple[float, ...]
    bias: float

    def __post_init__(self) -> None:
        if len(self.weights) != FEATURES or not all(math.isfinite(value) for value in (*self.weights, self.bias)):
            raise ValueError(f"weights and bias: expected {FEATURES} numbers and one, got {len(self.weights)}")

    def odds(self, features: NDArray[np.float32]) -> float:
        """Return the correction of the log odds for standardised features of shape (FEATURES,)."""
        return float(np.array(self.weights) @ features) + self.bias


def fit_addition(knocks: NDArray[np.float32], tiles: NDArray[np.float32]) -> Addition:
    """Return a linear discriminant, with independent features, that is 0 halfway between the means of two sounds.

    Args:
        knocks, tiles: Standardised features, shape (N, FEATURES) with N at least 1.
    """
    near, far = knocks.mean(axis=0), tiles.mean(axis=0)
    spread = (knocks.var(axis=0) * len(knocks) + tiles.var(axis=0) * len(tiles)) / (len(knocks) + len(tiles))
    weights = _COUNTS / math.sqrt(FEATURES) * (near - far) / (spread + _VARIANCE)
    # Five digits are more precise than so few sounds allow, and keep the file short.
    rounded = tuple(float(f"{weight:.5g}") for weight in weights.tolist())
    return Addition(rounded, -float(np.array(rounded) @ (near + far)) / 2)


def with_addition(classifier: Classifier, addition: Addition) -> Classifier:
    """Return a classifier that subtracts the correction from the outputs of `OTHER_SOUNDS`.

    The correction becomes an additional unit in each layer, with a bias large enough to keep ReLU from clipping it.
    """
    line = np.array(addition.weights, np.float32)
    offset = np.float32(_FARTHEST * np.abs(line).sum())
    weights, biases = list(classifier.weights), list(classifier.biases)
    last, outputs = len(weights) - 1, [SOUNDS.index(sound) for sound in OTHER_SOUNDS]
    weights[0], biases[0] = np.column_stack([weights[0], line]), np.append(biases[0], offset)
    for layer in range(1, last + 1):
        extended = np.zeros((weights[layer].shape[0] + 1, weights[layer].shape[1] + (layer < last)), np.float32)
        extended[:-1, : weights[layer].shape[1]] = weights[layer]
        # Hidden layers pass the unit on unchanged.
        if layer < last:
            extended[-1, -1] = 1.0
        else:
            extended[-1, outputs] = -1.0
        weights[layer] = extended
        if layer < last:
            biases[layer] = np.append(biases[layer], np.float32(0.0))
    biases[last] = biases[last].copy()
    biases[last][outputs] -= np.float32(addition.bias) - offset
    return replace(classifier, weights=tuple(weights), biases=tuple(biases))
