"""Estimate a microphone's spectral tilt from confirmed knocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardware.knock.classifier import Classifier
from hardware.knock.features import measure
from hardware.knock.tone import without_tilt

# Candidate tilts in dB per octave, smallest magnitude first.
_CANDIDATES_DB = (0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 4.0, -4.0, 5.0, -5.0, 6.0, -6.0)
# Mean log probability of the knocks that is sufficient. The smallest sufficient tilt is chosen, because a tilt that
# makes knocks more probable also does so for taps.
_ENOUGH = float(np.log(0.8))
# Lower bound of probabilities, to limit the influence of a sound that was not a knock.
_LEAST = 1e-3


def estimate_tilt_db(knocks: NDArray[np.float32], classifier: Classifier) -> float:
    """Return the spectral tilt of a microphone in dB per octave. Positive if bright, 0 if knocks need no correction.

    A knuckle on a dull microphone sounds like a nail on a bright one, so confirmed knocks are required. If no candidate
    is sufficient, the best one is returned.

    Args:
        knocks: Recorded knocks, shape (K, BEFORE + AFTER).
        classifier: Classifier trained on microphones without tilt.
    """
    chances = [classifier.probabilities(measure(without_tilt(knocks, db)))[:, 0] for db in _CANDIDATES_DB]
    scores = [float(np.log(np.maximum(chance, _LEAST)).mean()) for chance in chances]
    sufficient = [db for db, score in zip(_CANDIDATES_DB, scores, strict=True) if score >= _ENOUGH]
    return sufficient[0] if sufficient else _CANDIDATES_DB[int(np.argmax(scores))]
