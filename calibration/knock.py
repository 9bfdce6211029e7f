"""Fit the sound classifier to this table and microphone, and measure how well it separates knocks from tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration import RefusedError
from engine.phrases import phrase
from hardware.knock.classifier import Classifier, Correction, load_classifier
from hardware.knock.detector import KnockDetector
from hardware.knock.sensor import ClassifiedSound, SoundBlock

# Weight of the penalty on the squared weights of standardised numbers, so that few examples change little, and total
# weight of the modelled sounds, relative to one example. Chosen on 40 modelled tables and devices.
_PENALTY = 2.0
_MODELLED_WEIGHT = 40.0
_STEPS = 12
_MAX_HALVINGS = 6
_MAX_ODDS = 12.0
# Minimum number of knocks. Leaving one out of fewer proves nothing.
_MIN_TO_LEARN = 3
# Maximum increase of the share of modelled sounds that pass for knocks.
_MAX_MORE_MODELLED = 0.02


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
    if examples.model != shipped.name or len(examples.knocks) < _MIN_TO_LEARN:
        return shipped
    knocks, others = rows_of(shipped, examples)
    fits = (others, others[:0]) if len(others) else (others,)
    return next((found for fitted in fits if (found := _improved(shipped, knocks, others, fitted)) is not None), None)


def _improved(
    shipped: Classifier, knocks: NDArray[np.float32], others: NDArray[np.float32], fitted: NDArray[np.float32]
) -> Classifier | None:
    """Return the classifier fitted to *knocks* and *fitted*, all or none of *others*, or None if it would be worse."""
    after = replace(shipped, correction=fit_correction(shipped, knocks, fitted))
    least = shipped.min_knock
    left_out = leave_one_out(shipped, knocks, fitted)
    found, passed = (int(np.count_nonzero(chances >= least)) for chances in left_out)
    if not len(fitted):
        passed = _count_knocks(after, others)
    found_before, passed_before = (_count_knocks(shipped, rows) for rows in (knocks, others))
    max_modelled = _count_knocks(shipped, shipped.others) + _MAX_MORE_MODELLED * len(shipped.others)
    is_worse = found < found_before or found - passed < found_before - passed_before
    return None if is_worse or _count_knocks(after, shipped.others) > max_modelled else after


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
        self._known = np.clip(np.log(chances + 1e-9) - np.log(1 - chances + 1e-9), -_MAX_ODDS, _MAX_ODDS)
        self._penalty = np.diag(np.append(np.full(len(self.scale), _PENALTY), 0.5))
        self.solution = np.zeros(self.values.shape[1])
        for _ in range(_STEPS):  # Newton's method
            _, now, bend = self.state()
            slope = self.values.T @ (self.importance * (now - self.is_knock)) + self._penalty @ self.solution
            whole, step, loss = self.solution, np.linalg.solve(bend, slope), self._loss()
            for halvings in range(_MAX_HALVINGS):  # far from the solution, a whole step may overshoot
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
    return int(np.count_nonzero(classifier.probabilities(embeddings)[:, 0] >= classifier.min_knock))


KNOCKS_PER_SEAT = 5
# Maximum number of sounds in ten seconds of silence. A chair may creak, but with more the room is too noisy.
_MAX_IN_QUIET = 3
_MIN_TILES = 8
_MIN_KNOCKS = 3
# Minimum share of knocks that are recognised, and maximum share of tile sounds mistaken for knocks. A few mistakes are
# acceptable, because the camera sees the tiles.
_MIN_FOUND = 0.8
_MAX_PASSED = 0.1


_NONE = TableExamples("")


@dataclass(frozen=True, slots=True)
class KnockCalibration:
    """Knock calibration of a table, with figures from leave-one-out cross-validation.

    Attributes:
        weakest: Lowest probability of a detected knock.
        likest: Highest knock probability of a tile sound.
        knocks, found: Number of knocks, and number of detected knocks.
        tiles, passed: Number of tile sounds, and number of those classified as knocks.
        strengths: Median strength of the knocks of each seat.
        examples: Knocks and tile sounds of the calibration. Files of older versions have none.
    """

    weakest: float
    likest: float
    knocks: int
    found: int
    tiles: int
    passed: int
    strengths: tuple[float, ...] = ()
    examples: TableExamples = _NONE

    @property
    def margin(self) -> float:
        """Difference of `weakest` and `likest`, from -1 to 1."""
        return self.weakest - self.likest

    @property
    def is_outdated(self) -> bool:
        """True if it was made with another classifier, so that its examples mean nothing now."""
        return self.examples.model != load_classifier().name


class CollectingDetector(KnockDetector):
    """A detector with the shipped classifier that collects sudden sounds instead of returning them, for a sensor."""

    def __init__(self) -> None:
        super().__init__()
        self._collected: list[ClassifiedSound] = []

    def feed(self, block: SoundBlock) -> tuple[ClassifiedSound, ...]:
        """Collect the sounds that this block completes, and return none."""
        self._collected += super().feed(block)
        return ()

    def take(self) -> tuple[ClassifiedSound, ...]:
        """Return and clear the collected sounds, in order of time."""
        collected, self._collected = tuple(self._collected), []
        return collected


def fit_knock(
    quiet: Sequence[ClassifiedSound], tiles: Sequence[ClassifiedSound], seats: Sequence[Sequence[ClassifiedSound]]
) -> KnockCalibration:
    """Fit the calibration of a table to recorded sounds.

    Args:
        quiet: Sounds in ten seconds of silence.
        tiles: Sounds while tiles were shuffled and put down.
        seats: Sounds while each seat knocked five times. Only the five loudest are used.

    Raises:
        RefusedError: If it was not quiet, there are too few sounds, or knocks and tiles are not separable.
    """
    loudest = [sorted(seat, key=lambda sound: -sound.strength)[:KNOCKS_PER_SEAT] for seat in seats]
    _require_enough(quiet, tiles, loudest)
    shipped = load_classifier()
    knocks = [sound for seat in loudest for sound in seat]
    least, examples = shipped.min_knock, TableExamples(shipped.name, _rows(knocks), _rows(tiles))
    chances, others = (sorted(left.tolist()) for left in leave_one_out(shipped, *rows_of(shipped, examples)))
    found, passed = [chance for chance in chances if chance >= least], sum(chance >= least for chance in others)
    if len(found) < _MIN_FOUND * len(chances) or passed > _MAX_PASSED * len(others):
        raise RefusedError(
            phrase(
                "{found} of {knocks} knocks and {passed} of {tiles} tile sounds were recognized as knocks:"
                " knock with your knuckles on the bare table; put the microphone on the table; or use buttons"
                " to pass",
                found=len(found),
                knocks=len(chances),
                passed=passed,
                tiles=len(others),
            )
        )
    strengths = tuple(sorted(sound.strength for sound in seat)[len(seat) // 2] for seat in loudest)
    counts = len(chances), len(found), len(others), passed
    return KnockCalibration(found[0], others[-1], *counts, strengths, examples)


def _require_enough(
    quiet: Sequence[ClassifiedSound], tiles: Sequence[ClassifiedSound], seats: Sequence[Sequence[ClassifiedSound]]
) -> None:
    if len(quiet) > _MAX_IN_QUIET:
        raise RefusedError(phrase("it was not quiet: {sounds} sudden sounds were heard", sounds=len(quiet)))
    if len(tiles) < _MIN_TILES:
        raise RefusedError(
            phrase(
                "only {sounds} tile sounds were heard, but at least {least} are needed: check that this is the"
                " right microphone and that it lies on the table",
                sounds=len(tiles),
                least=_MIN_TILES,
            )
        )
    for seat, knocks in enumerate(seats):
        if len(knocks) < _MIN_KNOCKS:
            raise RefusedError(
                phrase(
                    "seat {seat}: expected {asked} knocks, but heard {heard}",
                    seat=seat + 1,
                    heard=len(knocks),
                    asked=KNOCKS_PER_SEAT,
                )
            )


def _rows(sounds: Sequence[ClassifiedSound]) -> tuple[tuple[float, ...], ...]:
    """Return the embeddings of sounds from a detector with a classifier."""
    # Four digits are more precise than so few sounds allow, and keep the file short.
    return tuple(tuple(float(f"{value:.4g}") for value in sound.embedding or ()) for sound in sounds)
