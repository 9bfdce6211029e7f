"""How knocks on this table sound to this microphone: from which probability on a sound is one, and with what margin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from calibration.errors import RefusedError
from hardware.knock.classifier import Classifier, load_classifier
from hardware.knock.detector import KnockDetector, SoundFinder
from hardware.knock.heard import KnockHeard, SoundBlock

KNOCKS_PER_SEAT = 5
# In ten seconds of quiet a chair may creak; more than that is a room in which knocks cannot be told.
_MOST_IN_QUIET = 3
_LEAST_TILES, _LEAST_KNOCKS = 8, 3
# So many of the knocks have to be found, and so many of the tiles may pass for one: there the eye sees the tile.
_LEAST_FOUND, _MOST_PASSED = 0.8, 0.05
# Taps and glasses are not asked for: it is taken that one reaches so much, as many do (docs/knock.md).
_TAPS = 0.2
_HIGHEST = 0.9


@dataclass(frozen=True, slots=True)
class SoundHeard:
    """A sudden sound.

    Attributes:
        t_ns: When it began.
        chance: How likely it is a knock, as the classifier is shipped, 0 to 1.
        strength: Its highest peak, 0 to 1.
    """

    t_ns: int
    chance: float
    strength: float


@dataclass(frozen=True, slots=True)
class KnockKept:
    """What is stored of the knocks at a table.

    Attributes:
        least_knock: A sound is a knock from this probability on.
        weakest: The least probability of a knock that was found.
        likest: The highest probability that a tile had; both say how large the margin is.
        knocks, found: How many there were, and how many of them are found.
        tiles, passed: How many sounds of tiles, and how many of them pass for a knock.
        strengths: Median strength of the knocks of each seat.
    """

    least_knock: float
    weakest: float
    likest: float
    knocks: int
    found: int
    tiles: int
    passed: int
    strengths: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.least_knock < 1:
            raise ValueError(f"least_knock: expected above 0 and below 1, got {self.least_knock}")

    @property
    def margin(self) -> float:
        """How far the weakest knock lies above the most likely tile, -1 to 1."""
        return self.weakest - self.likest

    def classifier(self) -> Classifier:
        """Return the shipped classifier with this limit."""
        return replace(load_classifier(), least_knock=self.least_knock)


class KeepingDetector(KnockDetector):
    """A detector for a sensor that keeps every sudden sound with its chance, and tells nobody."""

    def __init__(self) -> None:
        super().__init__()
        self._sounds, self._shipped = SoundFinder(), load_classifier()
        self._kept: list[SoundHeard] = []

    def feed(self, block: SoundBlock) -> tuple[KnockHeard, ...]:
        """Keep what can be told with this block."""
        for one in self._sounds.feed(block):
            chance = float(self._shipped.probabilities(one.features[None])[0, 0])
            self._kept.append(SoundHeard(one.t_ns, chance, one.strength))
        return ()

    def taken(self) -> tuple[SoundHeard, ...]:
        """Return what was kept since the last call, in the order of time."""
        kept, self._kept = tuple(self._kept), []
        return kept


def fit_knock(
    quiet: Sequence[SoundHeard], tiles: Sequence[SoundHeard], seats: Sequence[Sequence[SoundHeard]]
) -> KnockKept:
    """Return the limit that tells knocks from tiles at a table.

    Args:
        quiet: What was heard in ten seconds of quiet.
        tiles: While tiles were shuffled and put down.
        seats: While each seat knocked five times. Of more sounds the five loudest count.

    Raises:
        RefusedError: If it was not quiet, too little was heard, or knocks cannot be told from tiles.
    """
    if len(quiet) > _MOST_IN_QUIET:
        raise RefusedError(f"it was not quiet: {len(quiet)} sudden sounds were heard")
    if len(tiles) < _LEAST_TILES:
        raise RefusedError(
            f"{len(tiles)} sounds of tiles were heard, and {_LEAST_TILES} or more are needed: is it the right"
            " microphone, and does it lie on the table?"
        )
    knocks = [_loudest(seat) for seat in seats]
    for at, own in enumerate(knocks):
        if len(own) < _LEAST_KNOCKS:
            raise RefusedError(f"seat {at + 1}: {len(own)} knocks were heard, and {KNOCKS_PER_SEAT} were asked for")
    chances = sorted(one.chance for own in knocks for one in own)
    others = sorted(one.chance for one in tiles)
    limit = _limit(chances, others)
    found = [chance for chance in chances if chance >= limit]
    passed = sum(chance >= limit for chance in others)
    if len(found) < _LEAST_FOUND * len(chances):
        raise RefusedError(
            f"only {len(found)} of {len(chances)} knocks sound like one and not like a tile: knock with the knuckle, on"
            " the bare table; put the microphone on the table; or use buttons for passes"
        )
    strengths = tuple(sorted(one.strength for one in own)[len(own) // 2] for own in knocks)
    return KnockKept(limit, found[0], others[-1], len(chances), len(found), len(others), passed, strengths)


def _limit(chances: Sequence[float], others: Sequence[float]) -> float:
    """Return the limit between knocks and tiles; both are sorted."""
    allowed = int(_MOST_PASSED * len(others))
    is_clear = chances[0] > others[-1]
    highest = max(_TAPS, others[-1] if is_clear else others[-1 - allowed])
    above = [chance for chance in chances if chance > highest]
    if not above:
        return _HIGHEST
    # Half way in log odds, between the tiles that must not pass and the weakest knock above them.
    middle = (_odds(highest) + _odds(above[0])) / 2
    return min(_HIGHEST, 1 / (1 + math.exp(-middle)))


def _odds(chance: float) -> float:
    held = min(1 - 1e-6, max(1e-6, chance))
    return math.log(held / (1 - held))


def _loudest(sounds: Sequence[SoundHeard]) -> list[SoundHeard]:
    return sorted(sounds, key=lambda one: -one.strength)[:KNOCKS_PER_SEAT]
