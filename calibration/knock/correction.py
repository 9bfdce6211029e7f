"""Learn a table's knocks: a correction of the classifier from sounds that are known to be knocks or not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hardware.knock.classifier import Classifier, Correction

# Weight of the penalty on the squared weights of standardised numbers, so that few examples change little, and total
# weight of the modelled sounds, relative to one example. Chosen on 40 modelled tables and devices.
_PENALTY, _MODELLED_WEIGHT = 2.0, 40.0
_STEPS, _MOST_HALVINGS, _MOST_ODDS = 12, 6, 12.0
# Minimum number of knocks. Leaving one out of fewer proves nothing.
_LEAST_KNOCKS = 3
# Maximum increase of the share of modelled sounds that pass for knocks.
_MOST_MORE_MODELLED = 0.02


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
    """Return the shipped classifier corrected by *examples*. Those of another classifier are ignored."""
    if examples.model != shipped.name or not examples.knocks:
        return shipped
    return replace(shipped, correction=fit_correction(shipped, *rows_of(shipped, examples)))


def improvement(shipped: Classifier, examples: TableExamples) -> Classifier | None:
    """Return the classifier that has learned *examples*, or None if it would be worse than the shipped one.

    Too few knocks are not learned: the shipped classifier is returned. If the other sounds do harm, for example because
    some were knocks, only the knocks are learned.
    It is worse if, by leave-one-out, it detects fewer of the knocks or classifies fewer of the sounds correctly, or if
    it accepts clearly more of the modelled sounds.
    """
    if examples.model != shipped.name or len(examples.knocks) < _LEAST_KNOCKS:
        return shipped
    knocks, others = rows_of(shipped, examples)
    fits = (others, others[:0]) if len(others) else (others,)
    return next((found for fitted in fits if (found := _improved(shipped, knocks, others, fitted)) is not None), None)


def _improved(
    shipped: Classifier, knocks: NDArray[np.float32], others: NDArray[np.float32], fitted: NDArray[np.float32]
) -> Classifier | None:
    """Return the classifier fitted to *knocks* and *fitted*, all or none of *others*, or None if it would be worse."""
    after = replace(shipped, correction=fit_correction(shipped, knocks, fitted))
    least = shipped.least_knock
    left_out = leave_one_out(shipped, knocks, fitted)
    found, passed = (int(np.count_nonzero(chances >= least)) for chances in left_out)
    if not len(fitted):
        passed = _count_knocks(after, others)
    found_before, passed_before = (_count_knocks(shipped, rows) for rows in (knocks, others))
    most_modelled = _count_knocks(shipped, shipped.others) + _MOST_MORE_MODELLED * len(shipped.others)
    is_worse = found < found_before or found - passed < found_before - passed_before
    return None if is_worse or _count_knocks(after, shipped.others) > most_modelled else after


def rows_of(shipped: Classifier, examples: TableExamples) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the embeddings of the knocks and of the other sounds, each of shape (N, E)."""
    size = shipped.others.shape[1]
    knocks, others = (np.array(rows, np.float32).reshape(-1, size) for rows in (examples.knocks, examples.others))
    return knocks, others


def fit_correction(shipped: Classifier, knocks: NDArray[np.float32], others: NDArray[np.float32]) -> Correction:
    """Return a penalised logistic regression of knocks against other sounds, starting from the classifier's log odds.

    The modelled sounds of the classifier, taps among them, count as other sounds, so that the correction does not
    spread to sounds that the table has not heard.

    Args:
        shipped: Classifier without a correction.
        knocks, others: Embeddings, shape (N, E). *others* may be empty.
    """
    fit = _Regression(shipped, knocks, others)
    return Correction(np.asarray(fit.solution[:-1] / fit.scale, np.float32), float(fit.solution[-1]))


def leave_one_out(
    shipped: Classifier, knocks: NDArray[np.float32], others: NDArray[np.float32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the knock probability of each knock and of each other sound, from a correction fitted without it.

    Each of these corrections is one step of Newton's method away from the one that is fitted to all sounds.
    """
    fit = _Regression(shipped, knocks, others)
    odds, now, bend = fit.state()
    reach = np.einsum("ij,jk,ik->i", fit.values, np.linalg.inv(bend), fit.values)
    pull = fit.importance * (now - fit.is_knock)
    odds += pull * reach / (1 - fit.importance * now * (1 - now) * reach)
    chances = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
    return chances[: len(knocks)], chances[len(knocks) : len(knocks) + len(others)]


class _Regression:
    """The regression of `fit_correction`, solved. Its rows are the knocks, the other sounds and the modelled ones."""

    def __init__(self, shipped: Classifier, knocks: NDArray[np.float32], others: NDArray[np.float32]) -> None:
        rows = np.concatenate([knocks, others, shipped.others]).astype(np.float64)
        counts = len(knocks), len(others), len(shipped.others)
        self.is_knock = np.repeat([1.0, 0.0, 0.0], counts)
        self.importance = np.repeat([1.0, 1.0, _MODELLED_WEIGHT / max(1, counts[2])], counts)
        self.scale = shipped.others.std(axis=0).astype(np.float64) + 0.1
        self.values = np.column_stack([rows / self.scale, np.ones(len(rows))])
        chances = shipped.probabilities(rows.astype(np.float32))[:, 0].astype(np.float64)
        self._known = np.clip(np.log(chances + 1e-9) - np.log(1 - chances + 1e-9), -_MOST_ODDS, _MOST_ODDS)
        self._penalty = np.diag(np.append(np.full(len(self.scale), _PENALTY), 0.5))
        self.solution = np.zeros(self.values.shape[1])
        for _ in range(_STEPS):  # Newton's method
            _, now, bend = self.state()
            slope = self.values.T @ (self.importance * (now - self.is_knock)) + self._penalty @ self.solution
            whole, step, loss = self.solution, np.linalg.solve(bend, slope), self._loss()
            for halvings in range(_MOST_HALVINGS):  # far from the solution, a whole step may overshoot
                self.solution = whole - step / 2**halvings
                if self._loss() <= loss:
                    break

    def _loss(self) -> float:
        odds = self._known + self.values @ self.solution
        misses = np.logaddexp(0, odds) - self.is_knock * odds
        return float(self.importance @ misses + self.solution @ self._penalty @ self.solution / 2)

    def state(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the log odds and the probability of a knock for each row, and the second derivative of the loss."""
        odds = self._known + self.values @ self.solution
        now = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
        weights = self.importance * now * (1 - now)
        return odds, now, (self.values * weights[:, None]).T @ self.values + self._penalty


def _count_knocks(classifier: Classifier, embeddings: NDArray[np.float32]) -> int:
    return int(np.count_nonzero(classifier.probabilities(embeddings)[:, 0] >= classifier.least_knock))
