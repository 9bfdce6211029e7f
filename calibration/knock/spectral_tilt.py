"""Estimate a microphone's spectral tilt from confirmed knocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardware.knock.classifier import Classifier
from hardware.knock.features import measure
from hardware.knock.tone import without_tilt

# Decibels in each octave that are tried, the least first.
_TRIED_DB = (0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 4.0, -4.0, 5.0, -5.0, 6.0, -6.0)
# The least tilt with which knocks are so likely (in the mean of their logarithms) is believed: what makes knocks
# likelier makes taps so too.
_ENOUGH = float(np.log(0.8))
# One sound that was no knock must not decide.
_LEAST = 1e-3


def brightness_of(knocks: NDArray[np.float32], classifier: Classifier) -> float:
    """Return how many decibels brighter in each octave a microphone is; 0 where knocks are found as it is.

    The sound of a knuckle on a dull microphone is that of a nail on a bright one: only who knows that these are knocks
    can tell.

    Args:
        knocks: Shape (K, BEFORE + AFTER), as the microphone hears them.
        classifier: Learned from microphones that are neither.
    """
    chances = [classifier.probabilities(measure(without_tilt(knocks, db)))[:, 0] for db in _TRIED_DB]
    sure = [float(np.log(np.maximum(one, _LEAST)).mean()) for one in chances]
    enough = [db for db, one in zip(_TRIED_DB, sure, strict=True) if one >= _ENOUGH]
    return enough[0] if enough else _TRIED_DB[int(np.argmax(sure))]
