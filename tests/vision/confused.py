"""A reader that reads every five as a six, for tests of learning from corrections."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vision.reader.reader import Reader, load_reader


class _Undecided:
    """Hard-case classifier to which all numbers are equally likely."""

    def logs(self, levels: object, poses: NDArray[np.float64], halves: object) -> NDArray[np.float64]:
        return np.zeros((len(poses), 19))


def confused_reader() -> Reader:
    """Return the shipped reader for a double-six set, which cannot tell fives from sixes and takes sixes."""
    shipped = load_reader(6)
    weight, bias = shipped.pips.weights[-1].copy(), shipped.pips.biases[-1].copy()
    weight[:, 5] = weight[:, 6] = (weight[:, 5] + weight[:, 6]) / 2 + np.abs(weight[:, 5] - weight[:, 6]) / 4
    bias[5:7] = bias[5:7].mean() + np.array([-2.0, 2.0])
    pips = replace(
        shipped.pips,
        weights=(*shipped.pips.weights[:-1], weight),
        biases=(*shipped.pips.biases[:-1], bias),
    )
    return replace(shipped, pips=pips, hard_cases=_Undecided())  # type: ignore[arg-type]  # a stub
