"""Learn a table's knocks: a correction of the classifier from sounds that are known to be knocks or not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hardware.knock.classifier import Classifier, Correction

# Weight of the penalty on the squared weights of standardised numbers, so that few examples change little, and total
# weight of the modelled sounds, relative to one example. Chosen on 40 modelled tables and devices.
_PENALTY, _MODELLED_WEIGHT = 2.0, 80.0
_STEPS, _MOST_ODDS = 12, 12.0


@dataclass(frozen=True, slots=True)
class TableExamples:
    """Sounds of a table that are known to be knocks or not, as embeddings of the classifier.

    Attributes:
        model: Name of the classifier that made the embeddings. Those of another one mean nothing.
        knocks: Embedding of each knock.
        others: Embedding of each other sound, such as a tile.
    """

    model: str
    knocks: tuple[tuple[float, ...], ...] = ()
    others: tuple[tuple[float, ...], ...] = ()


def learned(shipped: Classifier, examples: TableExamples) -> Classifier:
    """Return the shipped classifier with what *examples* teach. TableExamples of another classifier are ignored."""
    if examples.model != shipped.name or not examples.knocks:
        return shipped
    knocks, others = (
        np.array(rows, np.float32).reshape(-1, shipped.others.shape[1]) for rows in (examples.knocks, examples.others)
    )
    return replace(shipped, correction=fit_correction(shipped, knocks, others))


def fit_correction(shipped: Classifier, knocks: NDArray[np.float32], others: NDArray[np.float32]) -> Correction:
    """Return a penalised logistic regression of knocks against other sounds, starting from the classifier's log odds.

    The modelled sounds of the classifier, taps among them, count as other sounds, so that the correction does not
    spread to sounds that the table has not heard.

    Args:
        shipped: Classifier without a correction.
        knocks, others: Embeddings, shape (N, E). *others* may be empty.
    """
    rows = np.concatenate([knocks, others, shipped.others]).astype(np.float64)
    counts = len(knocks), len(others), len(shipped.others)
    is_knock = np.repeat([1.0, 0.0, 0.0], counts)
    importance = np.repeat([1.0, 1.0, _MODELLED_WEIGHT / max(1, counts[2])], counts)
    scale = shipped.others.std(axis=0).astype(np.float64) + 0.1
    values = np.column_stack([rows / scale, np.ones(len(rows))])
    chances = shipped.probabilities(rows.astype(np.float32))[:, 0].astype(np.float64)
    known = np.clip(np.log(chances + 1e-9) - np.log(1 - chances + 1e-9), -_MOST_ODDS, _MOST_ODDS)
    penalty = np.diag(np.append(np.full(len(scale), _PENALTY), 0.5))
    solution = np.zeros(values.shape[1])
    for _ in range(_STEPS):  # Newton's method
        now = 1 / (1 + np.exp(-np.clip(known + values @ solution, -30, 30)))
        slope = values.T @ (importance * (now - is_knock)) + penalty @ solution
        bend = (values * (importance * now * (1 - now))[:, None]).T @ values + penalty
        solution -= np.linalg.solve(bend, slope)
    return Correction(np.asarray(solution[:-1] / scale, np.float32), float(solution[-1]))
