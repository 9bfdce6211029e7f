"""Fit the sound classifier to this table and microphone, and measure how well it separates knocks from tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.errors import RefusedError
from calibration.knock.correction import OTHER_SOUNDS, Addition, fit_addition, with_addition
from calibration.knock.spectral_tilt import estimate_tilt_db
from engine.phrases import phrase
from hardware.knock.classifier import SOUNDS, Classifier, load_classifier
from hardware.knock.detector import KnockDetector, SoundFinder
from hardware.knock.features import measure
from hardware.knock.heard import ClassifiedSound, SoundBlock
from hardware.knock.tone import without_tilt

KNOCKS_PER_SEAT = 5
# Maximum number of sounds in ten seconds of silence. A chair may creak, but with more the room is too noisy.
_MOST_IN_QUIET = 3
_LEAST_TILES, _LEAST_KNOCKS = 8, 3
# Minimum share of knocks that are recognised, and maximum share of tile sounds mistaken for knocks. A few mistakes are
# acceptable, because the camera sees the tiles.
_LEAST_FOUND, _MOST_PASSED = 0.8, 0.1
_MOST_ODDS = 30.0
_OTHERS = [SOUNDS.index(sound) for sound in OTHER_SOUNDS]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSound:
    """A sudden sound with the probabilities of the shipped classifier.

    Attributes:
        t_ns: Time of the onset.
        knock: Probability of a knock, from 0 to 1.
        other: Probability of `OTHER_SOUNDS`, from 0 to 1. The remainder is the probability of a tap.
        strength: Peak amplitude, from 0 to 1.
        features: Standardised features, shape (FEATURES,).
        around: Samples around the onset, shape (BEFORE + AFTER,). The onset is at index BEFORE.
    """

    t_ns: int
    knock: float
    other: float
    strength: float
    features: NDArray[np.float32]
    around: NDArray[np.float32]

    def without(self, brighter_db: float, shipped: Classifier) -> JudgedSound:
        """Return the sound judged again after removing a spectral tilt in dB per octave."""
        if brighter_db == 0:
            return self
        return judge_sound(self.t_ns, self.strength, self.around, shipped, brighter_db=brighter_db)

    def chance(self, addition: Addition) -> float:
        """Return the probability of a knock with the table's correction, whose log odds are clipped to 30."""
        taps = max(0.0, 1 - self.knock - self.other)
        other = self.other * math.exp(-max(-_MOST_ODDS, min(_MOST_ODDS, addition.odds(self.features))))
        return self.knock / max(self.knock + other + taps, 1e-12)


@dataclass(frozen=True, slots=True)
class KnockCalibration:
    """Knock calibration of a table, with figures from leave-one-out cross-validation.

    Attributes:
        addition: Correction to the classifier.
        weakest: Lowest probability of a detected knock.
        likest: Highest knock probability of a tile sound.
        knocks, found: Number of knocks, and number of detected knocks.
        tiles, passed: Number of tile sounds, and number of those classified as knocks.
        strengths: Median strength of the knocks of each seat.
        brighter_db: Spectral tilt of the microphone relative to most microphones, in dB per octave.
    """

    addition: Addition
    weakest: float
    likest: float
    knocks: int
    found: int
    tiles: int
    passed: int
    strengths: tuple[float, ...] = ()
    brighter_db: float = 0.0

    @property
    def margin(self) -> float:
        """Difference of `weakest` and `likest`, from -1 to 1."""
        return self.weakest - self.likest

    def classifier(self) -> Classifier:
        """Return the shipped classifier, corrected for table and microphone."""
        return replace(with_addition(load_classifier(), self.addition), brighter_db=self.brighter_db)


class CollectingDetector(KnockDetector):
    """A detector that collects sudden sounds instead of returning them, for use in a sensor."""

    def __init__(self) -> None:
        super().__init__()
        self._sounds, self._shipped = SoundFinder(), load_classifier()
        self._collected: list[JudgedSound] = []

    def feed(self, block: SoundBlock) -> tuple[ClassifiedSound, ...]:
        """Collect the sounds that this block completes, and return none."""
        for sound in self._sounds.feed(block):
            judged = judge_sound(sound.t_ns, sound.strength, sound.around, self._shipped, brighter_db=0.0)
            self._collected.append(judged)
        return ()

    def take(self) -> tuple[JudgedSound, ...]:
        """Return and clear the collected sounds, in order of time."""
        collected, self._collected = tuple(self._collected), []
        return collected


def judge_sound(
    t_ns: int, strength: float, around: NDArray[np.float32], shipped: Classifier, *, brighter_db: float
) -> JudgedSound:
    """Return a sound with the probabilities of the shipped classifier, after removing *brighter_db* dB per octave."""
    measured = measure(without_tilt(around, brighter_db))
    chances = shipped.probabilities(measured[None])[0]
    features = np.clip((measured - shipped.mean) / shipped.scale, -5, 5)
    return JudgedSound(t_ns, float(chances[0]), float(chances[_OTHERS].sum()), strength, features, around)


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
    brighter_db = estimate_tilt_db(np.stack([sound.around for seat in loudest for sound in seat]), shipped)
    knocks = [sound.without(brighter_db, shipped) for seat in loudest for sound in seat]
    tiles = [sound.without(brighter_db, shipped) for sound in tiles]
    least = shipped.least_knock
    chances = sorted(_cross_validate(knocks, tiles))
    others = sorted(_cross_validate(tiles, knocks, is_tile=True))
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
    addition = fit_addition(_features(knocks), _features(tiles))
    strengths = tuple(sorted(sound.strength for sound in seat)[len(seat) // 2] for seat in loudest)
    counts = len(chances), len(found), len(others), passed
    return KnockCalibration(addition, found[0], others[-1], *counts, strengths, brighter_db)


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


def _cross_validate(own: Sequence[JudgedSound], others: Sequence[JudgedSound], *, is_tile: bool = False) -> list[float]:
    """Return the knock probability of each sound in *own*, with a correction fitted without it (leave-one-out).

    *others* are the sounds of the other class. If *is_tile*, *own* are tile sounds and *others* are knocks.
    """
    chances = []
    for at, sound in enumerate(own):
        rest, far = _features([*own[:at], *own[at + 1 :]]), _features(others)
        addition = fit_addition(far, rest) if is_tile else fit_addition(rest, far)
        chances.append(sound.chance(addition))
    return chances


def _features(sounds: Sequence[JudgedSound]) -> NDArray[np.float32]:
    return np.stack([sound.features for sound in sounds])


def _loudest(sounds: Sequence[JudgedSound]) -> list[JudgedSound]:
    return sorted(sounds, key=lambda sound: -sound.strength)[:KNOCKS_PER_SEAT]
