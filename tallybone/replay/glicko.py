"""Glicko-2 ratings, after Glickman's paper, whose steps the comments name: http://www.glicko.net/glicko/glicko2.pdf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, pi, sqrt

_SCALE = 173.7178
_START = 1500.0
_TAU = 0.5  # limits changes of the volatility; the paper suggests 0.3 to 1.2, and its example has 0.5
_PRECISION = 1e-6


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating, its standard deviation, and the volatility of the player's results. The defaults are a new player's."""

    value: float = _START
    deviation: float = 350.0
    volatility: float = 0.06


def rated(old: Rating, results: Sequence[tuple[Rating, float]]) -> Rating:
    """Return a rating after a period with at least one result.

    Args:
        old: The rating before.
        results: Ratings of the opponents before, and the scores against them: 1 won, 0.5 drawn, 0 lost.
    """
    phi = old.deviation / _SCALE  # step 2
    precision = gain = 0.0
    for other, score in results:  # steps 3 and 4
        g = 1 / sqrt(1 + 3 * (other.deviation / _SCALE / pi) ** 2)
        expected = 1 / (1 + exp(-g * (old.value - other.value) / _SCALE))
        precision += g * g * expected * (1 - expected)
        gain += g * (score - expected)
    sigma = _volatility(old.volatility, phi, 1 / precision, gain / precision)
    phi = 1 / sqrt(1 / (phi * phi + sigma * sigma) + precision)  # steps 6 and 7
    return Rating(old.value + _SCALE * phi * phi * gain, _SCALE * phi, sigma)  # step 8


def _volatility(sigma: float, phi: float, variance: float, delta: float) -> float:
    """Return the new volatility by the Illinois algorithm: step 5."""
    start = log(sigma * sigma)

    def f(x: float) -> float:
        spread = phi * phi + variance + exp(x)
        return exp(x) * (delta * delta - spread) / (2 * spread * spread) - (x - start) / (_TAU * _TAU)

    low, high = start, start - _TAU
    if delta * delta > phi * phi + variance:
        high = log(delta * delta - phi * phi - variance)
    else:
        while f(high) < 0:
            high -= _TAU
    f_low, f_high = f(low), f(high)
    while abs(high - low) > _PRECISION:
        middle = low + (low - high) * f_low / (f_high - f_low)
        f_middle = f(middle)
        if f_middle * f_high <= 0:
            low, f_low = high, f_high
        else:
            f_low /= 2
        high, f_high = middle, f_middle
    return exp(low / 2)
