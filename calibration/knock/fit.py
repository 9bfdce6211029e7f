"""Fit the sound classifier to this table and microphone, and measure how well it separates knocks from tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.errors import RefusedError
from calibration.knock.correction import NO_HITS_OF_HANDS, Addition, fit_addition, with_addition
from calibration.knock.spectral_tilt import brightness_of
from engine.phrases import phrase
from hardware.knock.classifier import SOUNDS, Classifier, load_classifier
from hardware.knock.detector import KnockDetector, SoundFinder
from hardware.knock.features import measure
from hardware.knock.heard import ClassifiedSound, SoundBlock
from hardware.knock.tone import without_tilt

KNOCKS_PER_SEAT = 5
# In ten seconds of quiet a chair may creak; more than that is a room in which knocks cannot be told.
_MOST_IN_QUIET = 3
_LEAST_TILES, _LEAST_KNOCKS = 8, 3
# So many of the knocks have to be found, and so many of the tiles may pass for one: there the eye sees the tile.
_LEAST_FOUND, _MOST_PASSED = 0.8, 0.1
_MOST_ODDS = 30.0
_OTHERS = [SOUNDS.index(sound) for sound in NO_HITS_OF_HANDS]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSound:
    """A sudden sound, and what the shipped classifier says of it.

    Attributes:
        t_ns: When it began.
        knock: How likely it is a knock as the classifier is shipped, 0 to 1.
        other: How likely it is no hit of a hand at all, such as a tile; the rest is taps.
        strength: Its highest peak, 0 to 1.
        features: Shape (FEATURES,), standardised as the classifier does it.
        around: Shape (BEFORE + AFTER,), its samples: it begins at BEFORE.
    """

    t_ns: int
    knock: float
    other: float
    strength: float
    features: NDArray[np.float32]
    around: NDArray[np.float32]

    def without(self, brighter_db: float, shipped: Classifier) -> JudgedSound:
        """Return it as a microphone would have heard it that is by so much in each octave less bright."""
        if brighter_db == 0:
            return self
        return judge_sound(self.t_ns, self.strength, self.around, shipped, brighter_db=brighter_db)

    def chance(self, addition: Addition) -> float:
        """Return how likely it is a knock with what a table adds."""
        taps = max(0.0, 1 - self.knock - self.other)
        # Far from the line it says nothing more.
        against = self.other * math.exp(-max(-_MOST_ODDS, min(_MOST_ODDS, addition.odds(self.features))))
        return self.knock / max(self.knock + against + taps, 1e-12)


@dataclass(frozen=True, slots=True)
class KnockCalibration:
    """The calibration for the knocks at a table. Each sound was judged by what the others say.

    Attributes:
        addition: What is added to the classifier.
        weakest: The least probability of a knock that was found.
        likest: The highest probability that a tile had; both say how large the margin is.
        knocks, found: How many there were, and how many of them are found.
        tiles, passed: How many sounds of tiles, and how many of them pass for a knock.
        strengths: Median strength of the knocks of each seat.
        brighter_db: By how much in each octave the microphone is brighter than most.
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
        """How far the weakest knock lies above the most likely tile, -1 to 1."""
        return self.weakest - self.likest

    def classifier(self) -> Classifier:
        """Return the shipped classifier with the addition, for this microphone."""
        return replace(with_addition(load_classifier(), self.addition), brighter_db=self.brighter_db)


class KeepingDetector(KnockDetector):
    """A detector for a sensor that keeps every sudden sound, and tells nobody."""

    def __init__(self) -> None:
        super().__init__()
        self._sounds, self._shipped = SoundFinder(), load_classifier()
        self._kept: list[JudgedSound] = []

    def feed(self, block: SoundBlock) -> tuple[ClassifiedSound, ...]:
        """Keep what can be told with this block."""
        for one in self._sounds.feed(block):
            self._kept.append(judge_sound(one.t_ns, one.strength, one.around, self._shipped, brighter_db=0.0))
        return ()

    def taken(self) -> tuple[JudgedSound, ...]:
        """Return what was kept since the last call, in the order of time."""
        kept, self._kept = tuple(self._kept), []
        return kept


def judge_sound(
    t_ns: int, strength: float, around: NDArray[np.float32], shipped: Classifier, *, brighter_db: float
) -> JudgedSound:
    """Return what the shipped classifier says of a sound, heard without so much brightness."""
    measured = measure(without_tilt(around, brighter_db))
    chances = shipped.probabilities(measured[None])[0]
    features = np.clip((measured - shipped.mean) / shipped.scale, -5, 5)
    return JudgedSound(t_ns, float(chances[0]), float(chances[_OTHERS].sum()), strength, features, around)


def fit_knock(
    quiet: Sequence[JudgedSound], tiles: Sequence[JudgedSound], seats: Sequence[Sequence[JudgedSound]]
) -> KnockCalibration:
    """Return what tells knocks from tiles at a table.

    Args:
        quiet: What was heard in ten seconds of quiet.
        tiles: While tiles were shuffled and put down.
        seats: While each seat knocked five times. Of more sounds the five loudest count.

    Raises:
        RefusedError: If it was not quiet, too little was heard, or knocks cannot be told from tiles.
    """
    own = [_loudest(seat) for seat in seats]
    _require_enough(quiet, tiles, own)
    shipped = load_classifier()
    brighter_db = brightness_of(np.stack([one.around for seat in own for one in seat]), shipped)
    knocks = [one.without(brighter_db, shipped) for seat in own for one in seat]
    tiles = [one.without(brighter_db, shipped) for one in tiles]
    least = shipped.least_knock
    chances = sorted(_left_out(knocks, tiles))
    others = sorted(_left_out(tiles, knocks, is_tile=True))
    found, passed = [one for one in chances if one >= least], sum(one >= least for one in others)
    if len(found) < _LEAST_FOUND * len(chances) or passed > _MOST_PASSED * len(others):
        raise RefusedError(
            phrase(
                "{found} of {knocks} knocks sound like one, and {passed} of {tiles} sounds of tiles do: knock with the"
                " knuckle, on the bare table; put the microphone on the table; or use buttons for passes",
                found=len(found),
                knocks=len(chances),
                passed=passed,
                tiles=len(others),
            )
        )
    addition = fit_addition(_features(knocks), _features(tiles))
    strengths = tuple(sorted(one.strength for one in seat)[len(seat) // 2] for seat in own)
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
                "{sounds} sounds of tiles were heard, and {least} or more are needed: is it the right microphone, and"
                " does it lie on the table?",
                sounds=len(tiles),
                least=_LEAST_TILES,
            )
        )
    for at, own in enumerate(seats):
        if len(own) < _LEAST_KNOCKS:
            raise RefusedError(
                phrase(
                    "seat {seat}: {heard} knocks were heard, and {asked} were asked for",
                    seat=at + 1,
                    heard=len(own),
                    asked=KNOCKS_PER_SEAT,
                )
            )


def _left_out(own: Sequence[JudgedSound], others: Sequence[JudgedSound], *, is_tile: bool = False) -> list[float]:
    """Return how likely each sound is a knock, told by what all the others say."""
    chances = []
    for at, one in enumerate(own):
        rest, far = _features([*own[:at], *own[at + 1 :]]), _features(others)
        addition = fit_addition(far, rest) if is_tile else fit_addition(rest, far)
        chances.append(one.chance(addition))
    return chances


def _features(sounds: Sequence[JudgedSound]) -> NDArray[np.float32]:
    return np.stack([one.features for one in sounds])


def _loudest(sounds: Sequence[JudgedSound]) -> list[JudgedSound]:
    return sorted(sounds, key=lambda one: -one.strength)[:KNOCKS_PER_SEAT]
