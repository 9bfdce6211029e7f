"""Per-table linear correction to the sound classifier."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hardware.knock.classifier import SOUNDS, Classifier
from hardware.knock.features import FEATURES
from hardware.knock.heard import Sound

# Five to twenty knocks say little of how features vary: so much variance is added to each. And so much the line counts
# beside the classifier (chosen on 22 modelled tables; benchmarks/bench_calibrate_knock.py has others).
_VARIANCE, _COUNTS = 0.5, 1.5
# What the line speaks of. Taps are not asked for, and lie on the side of the knocks: added to the knock itself, it let
# 178 of 219 taps of a finger pass, and 49 without it.
NO_HITS_OF_HANDS = (Sound.TILE, Sound.SLAM, Sound.SHUFFLE, Sound.GLASS, Sound.SPEECH, Sound.NOTHING)
# Standardised features are cut off there.
_FARTHEST = 5.0


@dataclass(frozen=True, slots=True)
class Addition:
    """Log odds of a knock against all that is no hit of a hand, to be added to those of the classifier.

    Attributes:
        weights: One for each standardised feature.
        bias: Without any.
    """

    weights: tuple[float, ...]
    bias: float

    def __post_init__(self) -> None:
        if len(self.weights) != FEATURES or not all(math.isfinite(one) for one in (*self.weights, self.bias)):
            raise ValueError(f"weights and bias: expected {FEATURES} numbers and one, got {len(self.weights)}")

    def odds(self, features: NDArray[np.float32]) -> float:
        """Return what is added for standardised features, shape (FEATURES,)."""
        return float(np.array(self.weights) @ features) + self.bias


def fit_addition(knocks: NDArray[np.float32], tiles: NDArray[np.float32]) -> Addition:
    """Return the line half way between two kinds of sounds, across the way in which they differ.

    Args:
        knocks, tiles: Standardised features, shape (N, FEATURES), at least one each.
    """
    near, far = knocks.mean(axis=0), tiles.mean(axis=0)
    spread = (knocks.var(axis=0) * len(knocks) + tiles.var(axis=0) * len(tiles)) / (len(knocks) + len(tiles))
    weights = _COUNTS / math.sqrt(FEATURES) * (near - far) / (spread + _VARIANCE)
    # Five digits are more than so few sounds can say, and keep the file short.
    rounded = tuple(float(f"{one:.5g}") for one in weights.tolist())
    return Addition(rounded, -float(np.array(rounded) @ (near + far)) / 2)


def with_addition(classifier: Classifier, addition: Addition) -> Classifier:
    """Return a classifier that takes this from the outputs of all that is no hit of a hand.

    The line becomes one more unit in each layer. It is lifted so far that no unit ever cuts it off.
    """
    line = np.array(addition.weights, np.float32)
    lift = np.float32(_FARTHEST * np.abs(line).sum())
    weights, biases = list(classifier.weights), list(classifier.biases)
    last, outputs = len(weights) - 1, [SOUNDS.index(sound) for sound in NO_HITS_OF_HANDS]
    weights[0], biases[0] = np.column_stack([weights[0], line]), np.append(biases[0], lift)
    for layer in range(1, last + 1):
        grown = np.zeros((weights[layer].shape[0] + 1, weights[layer].shape[1] + (layer < last)), np.float32)
        grown[:-1, : weights[layer].shape[1]] = weights[layer]
        # Before the outputs the unit goes on as it is.
        if layer < last:
            grown[-1, -1] = 1.0
        else:
            grown[-1, outputs] = -1.0
        weights[layer] = grown
        if layer < last:
            biases[layer] = np.append(biases[layer], np.float32(0.0))
    biases[last] = biases[last].copy()
    biases[last][outputs] -= np.float32(addition.bias) - lift
    return replace(classifier, weights=tuple(weights), biases=tuple(biases))
