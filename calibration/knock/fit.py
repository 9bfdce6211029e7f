"""Fit the sound classifier to this table and microphone, and measure how well it separates knocks from tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.errors import RefusedError
from calibration.knock.correction import TableExamples, leave_one_out, rows_of
from engine.phrases import phrase
from hardware.knock.classifier import load_classifier
from hardware.knock.detector import KnockDetector
from hardware.knock.heard import ClassifiedSound, SoundBlock

KNOCKS_PER_SEAT = 5
# Maximum number of sounds in ten seconds of silence. A chair may creak, but with more the room is too noisy.
_MOST_IN_QUIET = 3
_LEAST_TILES, _LEAST_KNOCKS = 8, 3
# Minimum share of knocks that are recognised, and maximum share of tile sounds mistaken for knocks. A few mistakes are
# acceptable, because the camera sees the tiles.
_LEAST_FOUND, _MOST_PASSED = 0.8, 0.1


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
    loudest = [_loudest(seat) for seat in seats]
    _require_enough(quiet, tiles, loudest)
    shipped = load_classifier()
    knocks = [sound for seat in loudest for sound in seat]
    least, examples = shipped.least_knock, TableExamples(shipped.name, _rows(knocks), _rows(tiles))
    chances, others = (sorted(left.tolist()) for left in leave_one_out(shipped, *rows_of(shipped, examples)))
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
    strengths = tuple(sorted(sound.strength for sound in seat)[len(seat) // 2] for seat in loudest)
    counts = len(chances), len(found), len(others), passed
    return KnockCalibration(found[0], others[-1], *counts, strengths, examples)


def _require_enough(
    quiet: Sequence[ClassifiedSound], tiles: Sequence[ClassifiedSound], seats: Sequence[Sequence[ClassifiedSound]]
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


def _rows(sounds: Sequence[ClassifiedSound]) -> tuple[tuple[float, ...], ...]:
    """Return the embeddings of sounds from a detector with a classifier."""
    # Four digits are more precise than so few sounds allow, and keep the file short.
    return tuple(tuple(float(f"{value:.4g}") for value in sound.embedding or ()) for sound in sounds)


def _loudest(sounds: Sequence[ClassifiedSound]) -> list[ClassifiedSound]:
    return sorted(sounds, key=lambda sound: -sound.strength)[:KNOCKS_PER_SEAT]
