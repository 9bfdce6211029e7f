"""Tests of detecting bright microphones from knocks and correcting them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from calibration.knock.spectral_tilt import estimate_tilt_db
from hardware.knock.classifier import load_classifier
from hardware.knock.detector import SoundFinder
from hardware.knock.features import measure
from hardware.knock.heard import Sound
from hardware.knock.tone import without_tilt
from synthetic.sounds.microphones import apply_response, tilted
from tests.hardware.knock.sounds import block, with_hits

TIMES_S = tuple(0.5 + 0.8 * at for at in range(12))
SHIPPED = load_classifier()


def sounds(kind: Sound, brighter_db: float, seed: int) -> NDArray[np.float32]:
    """Return the sounds found for twelve hits on a modelled table."""
    samples = apply_response(with_hits(kind, TIMES_S, seed=seed), tilted(brighter_db))
    return np.stack([sound.around for sound in SoundFinder().feed(block(samples))])


def knocks(around: NDArray[np.float32], brighter_db: float) -> int:
    """Return the number of sounds classified as knocks by the shipped classifier."""
    chances = SHIPPED.probabilities(measure(without_tilt(around, brighter_db)))[:, 0]
    return int((chances >= SHIPPED.least_knock).sum())


@pytest.mark.parametrize("seed", [4, 9])
def test_five_knocks_determine_the_brightness_of_a_microphone(seed: int) -> None:
    around = sounds(Sound.KNOCK, 6.0, seed)
    brighter_db = estimate_tilt_db(around[:5], SHIPPED)
    assert 3 <= brighter_db <= 6
    assert knocks(around[5:], 0.0) <= 4
    assert knocks(around[5:], brighter_db) >= 6
    assert knocks(sounds(Sound.NAIL, 6.0, seed), brighter_db) == 0
    assert knocks(sounds(Sound.TILE, 6.0, seed), brighter_db) == 0


@pytest.mark.parametrize("seed", [1, 2, 9])
def test_a_working_microphone_needs_no_correction(seed: int) -> None:
    assert estimate_tilt_db(sounds(Sound.KNOCK, 0.0, seed), SHIPPED) == 0


def test_silence_gives_no_correction() -> None:
    silence = np.zeros((5, 6_016), np.float32)
    assert estimate_tilt_db(silence, SHIPPED) == 0
