"""Fit the sound classifier to this table and microphone, and measure how well it separates knocks from tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.errors import RefusedError
from calibration.knock.correction import TableExamples, fit_correction, learned
from engine.phrases import phrase
from hardware.knock.classifier import Classifier, load_classifier
from hardware.knock.detector import KnockDetector, SoundFinder
from hardware.knock.features import measure
from hardware.knock.heard import ClassifiedSound, SoundBlock

KNOCKS_PER_SEAT = 5
# Maximum number of sounds in ten seconds of silence. A chair may creak, but with more the room is too noisy.
_MOST_IN_QUIET = 3
_LEAST_TILES, _LEAST_KNOCKS = 8, 3
# Minimum share of knocks that are recognised, and maximum share of tile sounds mistaken for knocks. A few mistakes are
# acceptable, because the camera sees the tiles.
_LEAST_FOUND, _MOST_PASSED = 0.8, 0.1


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSound:
    """A sudden sound as the shipped classifier describes it.

    Attributes:
        t_ns: Time of the onset.
        strength: Peak amplitude, from 0 to 1.
        embedding: Description by the classifier, shape (E,).
    """

    t_ns: int
    strength: float
    embedding: NDArray[np.float32]


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

    def classifier(self) -> Classifier:
        """Return the shipped classifier, corrected for table and microphone."""
        return learned(load_classifier(), self.examples)


class CollectingDetector(KnockDetector):
    """A detector that collects sudden sounds instead of returning them, for use in a sensor."""

    def __init__(self) -> None:
        super().__init__()
        self._sounds, self._shipped = SoundFinder(), load_classifier()
        self._collected: list[JudgedSound] = []

    def feed(self, block: SoundBlock) -> tuple[ClassifiedSound, ...]:
        """Collect the sounds that this block completes, and return none."""
        for sound in self._sounds.feed(block):
            embedding = self._shipped.embed(measure(sound.around[None]))[0]
            self._collected.append(JudgedSound(sound.t_ns, sound.strength, embedding))
        return ()

    def take(self) -> tuple[JudgedSound, ...]:
        """Return and clear the collected sounds, in order of time."""
        collected, self._collected = tuple(self._collected), []
        return collected


def fit_knock(
    quiet: Sequence[JudgedSound], tiles: Sequence[JudgedSound], seats: Sequence[Sequence[JudgedSound]]
) -> KnockCalibration:
    """Fit the calibration of a table to recorded sounds.

    Args:
        quiet: Sounds in ten seconds of silence.
        tiles: Sounds while tiles were shuffled and put down.
        seats: Sounds while each seat knocked five times. Only the five loudest are used.

    Raises:
        RefusedError: If it was not quiet, there are too few sounds, or knocks and tiles are not separable.
    """
    loudest = [_loudest(seat) for seat in seats]
    _require_enough(quiet, tiles, loudest)
    shipped = load_classifier()
    knocks = [sound for seat in loudest for sound in seat]
    least = shipped.least_knock
    chances = sorted(_cross_validate(shipped, knocks, tiles))
    others = sorted(_cross_validate(shipped, tiles, knocks, is_tile=True))
    found, passed = [chance for chance in chances if chance >= least], sum(chance >= least for chance in others)
    if len(found) < _LEAST_FOUND * len(chances) or passed > _MOST_PASSED * len(others):
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
    examples = TableExamples(shipped.name, _rows(knocks), _rows(tiles))
    strengths = tuple(sorted(sound.strength for sound in seat)[len(seat) // 2] for seat in loudest)
    counts = len(chances), len(found), len(others), passed
    return KnockCalibration(found[0], others[-1], *counts, strengths, examples)


def _require_enough(
    quiet: Sequence[JudgedSound], tiles: Sequence[JudgedSound], seats: Sequence[Sequence[JudgedSound]]
) -> None:
    if len(quiet) > _MOST_IN_QUIET:
        raise RefusedError(phrase("it was not quiet: {sounds} sudden sounds were heard", sounds=len(quiet)))
    if len(tiles) < _LEAST_TILES:
        raise RefusedError(
            phrase(
                "only {sounds} tile sounds were heard, but at least {least} are needed: check that this is the"
                " right microphone and that it lies on the table",
                sounds=len(tiles),
                least=_LEAST_TILES,
            )
        )
    for seat, knocks in enumerate(seats):
        if len(knocks) < _LEAST_KNOCKS:
            raise RefusedError(
                phrase(
                    "seat {seat}: expected {asked} knocks, but heard {heard}",
                    seat=seat + 1,
                    heard=len(knocks),
                    asked=KNOCKS_PER_SEAT,
                )
            )


def _cross_validate(
    shipped: Classifier, own: Sequence[JudgedSound], others: Sequence[JudgedSound], *, is_tile: bool = False
) -> list[float]:
    """Return the knock probability of each sound in *own*, with a correction fitted without it (leave-one-out).

    *others* are the sounds of the other class. If *is_tile*, *own* are tile sounds and *others* are knocks.
    """
    mine, far = _embeddings(own), _embeddings(others)
    chances = []
    for at in range(len(own)):
        rest = np.delete(mine, at, axis=0)
        correction = fit_correction(shipped, far, rest) if is_tile else fit_correction(shipped, rest, far)
        classifier = replace(shipped, correction=correction)
        chances.append(float(classifier.probabilities(mine[at : at + 1])[0, 0]))
    return chances


def _embeddings(sounds: Sequence[JudgedSound]) -> NDArray[np.float32]:
    return np.stack([sound.embedding for sound in sounds])


def _rows(sounds: Sequence[JudgedSound]) -> tuple[tuple[float, ...], ...]:
    # Four digits are more precise than so few sounds allow, and keep the file short.
    return tuple(tuple(float(f"{value:.4g}") for value in sound.embedding) for sound in sounds)


def _loudest(sounds: Sequence[JudgedSound]) -> list[JudgedSound]:
    return sorted(sounds, key=lambda sound: -sound.strength)[:KNOCKS_PER_SEAT]
