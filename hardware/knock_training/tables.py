"""Tables that sound when they are struck: plates with modes, drawn at random; and what rings in tiles and glasses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardware.knock_training.contacts import LENGTH, RATE_HZ, Spectrum


@dataclass(frozen=True, slots=True)
class Material:
    """What a table top is made of.

    Attributes:
        speed_m_per_s: Of sound along the plate.
        thick_m: Lowest and highest thickness.
        loss: Lowest and highest share of energy lost in a radian at 500 Hz, the legs and the cloth included.
        rise: The power of frequency by which the loss grows.
    """

    speed_m_per_s: float
    thick_m: tuple[float, float]
    loss: tuple[float, float]
    rise: float


MATERIALS = {
    "wood": Material(3500, (0.015, 0.040), (0.02, 0.09), 0.3),
    "board": Material(2600, (0.015, 0.030), (0.025, 0.10), 0.2),
    "marble": Material(5200, (0.010, 0.030), (0.006, 0.06), 0.0),
    "glass": Material(5400, (0.005, 0.012), (0.006, 0.06), 0.0),
    "ceramic": Material(4500, (0.006, 0.012), (0.008, 0.07), 0.0),
    "desk": Material(2500, (0.018, 0.040), (0.03, 0.15), 0.1),
}
_AIR_M_PER_S = 343.0
_HIGHEST_HZ, _MOST_MODES = 7_700, 220
_TIMES_S = np.arange(LENGTH, dtype=np.float32) / np.float32(RATE_HZ)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The modes of one table.

    Attributes:
        ringing: Shape (K, LENGTH), each mode struck once.
        loudness: Shape (K,), how well each is heard.
    """

    ringing: NDArray[np.float32]
    loudness: NDArray[np.float64]

    def struck(self, rng: np.random.Generator) -> Spectrum:
        """Return what is heard of a unit of force at a random place, as a spectrum."""
        here = self.loudness * rng.normal(0, 1, len(self.loudness))
        return np.asarray(np.fft.rfft(here.astype(np.float32) @ self.ringing), np.complex128)


def draw_table(rng: np.random.Generator) -> Table:
    """Return a table of random material, size, thickness, damping and radiation."""
    material = MATERIALS[str(rng.choice(list(MATERIALS)))]
    area_m2, thick_m = rng.uniform(0.3, 1.8), rng.uniform(*material.thick_m)
    # Modes of a thin plate lie evenly spaced in frequency; the legs and the frame move the lowest.
    gap_hz = 2 * material.speed_m_per_s * thick_m / (np.sqrt(12) * area_m2)
    first_hz = rng.uniform(35, 160)
    # The many modes of a large plate sound as one: drawn thinner, they still do.
    modes_hz = first_hz + np.cumsum(rng.exponential(max(gap_hz, _HIGHEST_HZ / _MOST_MODES), 2 * _MOST_MODES))
    modes_hz = modes_hz[modes_hz < _HIGHEST_HZ]
    loss = _uniform_log(rng, *material.loss) * (modes_hz / 500) ** (material.rise + rng.uniform(-0.2, 0.1))
    decays = np.pi * modes_hz * loss + rng.uniform(5, 40)
    # Below this frequency a plate pushes air to and fro instead of radiating (coincidence).
    coincidence_hz = _AIR_M_PER_S**2 * np.sqrt(12) / (2 * np.pi * thick_m * material.speed_m_per_s)
    heard = np.minimum(1, modes_hz / coincidence_hz) ** rng.uniform(-0.6, 1.0)
    heard = heard * rng.lognormal(0, 0.5, len(modes_hz))
    return Table(_ringing(modes_hz, decays), heard)


def thing_rings(
    rng: np.random.Generator, *, from_hz: float, to_hz: float, loss: tuple[float, float], count: int
) -> Spectrum:
    """Return how a thing itself rings when it is struck: a tile clicks high and short, a glass long.

    Args:
        rng: What is drawn from.
        from_hz: Its lowest mode, at least.
        to_hz: Its highest, at most.
        loss: Lowest and highest share of energy lost in a radian.
        count: How many modes.
    """
    modes_hz = rng.uniform(from_hz, to_hz, count)
    decays = np.pi * modes_hz * _uniform_log(rng, *loss)
    rings = rng.normal(0, 1, count).astype(np.float32) @ _ringing(modes_hz, decays)
    return np.asarray(np.fft.rfft(rings), np.complex128)


def _ringing(modes_hz: NDArray[np.float64], decays: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return each mode struck once, shape (K, LENGTH)."""
    turns = modes_hz.astype(np.float32)[:, None] * _TIMES_S
    fading = np.exp(-decays.astype(np.float32)[:, None] * _TIMES_S)
    return np.asarray(fading * np.sin(np.float32(2 * np.pi) * (turns - np.floor(turns))), np.float32)


def _uniform_log(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))
