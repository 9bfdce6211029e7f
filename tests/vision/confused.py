"""A reader that reads every five as a six, for tests of learning from corrections."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vision.image.picture import Level
from vision.networks.network import HardCaseClassifier
from vision.poses import Poses
from vision.reader.reader import Reader, load_reader


class _Confused:
    """The shipped hard-case classifier, but it confuses fives with sixes, and prefers sixes."""

    def __init__(self, shipped: HardCaseClassifier) -> None:
        self.shipped = shipped

    def logs(self, levels: tuple[Level, ...], poses: Poses, halves: NDArray[np.intp]) -> NDArray[np.float64]:
        logs = self.shipped.logs(levels, poses, halves)
        either = np.logaddexp(logs[:, 5], logs[:, 6])
        logs[:, 5:7] = either[:, None] + np.log([0.2, 0.8])
        return logs


def confused_reader() -> Reader:
    """Return the shipped reader for a double-six set, which confuses fives with sixes and prefers sixes."""
    shipped = load_reader(6)
    weight, bias = shipped.pips.weights[-1].copy(), shipped.pips.biases[-1].copy()
    weight[:, 5] = weight[:, 6] = (weight[:, 5] + weight[:, 6]) / 2 + np.abs(weight[:, 5] - weight[:, 6]) / 4
    bias[5:7] = bias[5:7].mean() + np.array([-2.0, 2.0])
    pips = replace(
        shipped.pips,
        weights=(*shipped.pips.weights[:-1], weight),
        biases=(*shipped.pips.biases[:-1], bias),
    )
    return replace(shipped, pips=pips, hard_cases=_Confused(shipped.hard_cases))  # type: ignore[arg-type]
