"""Random tables as vibrating plates with modes, and the ringing of tiles and glasses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from synthetic.sounds.impacts import LENGTH, RATE_HZ, Spectrum


@dataclass(frozen=True, slots=True)
class Material:
    """Material of a table top.

    Attributes:
        speed_m_per_s: Speed of sound along the plate.
        thick_m: Minimum and maximum thickness.
        loss: Minimum and maximum loss factor (share of energy lost per radian) at 500 Hz, including legs and cloth.
        rise: Exponent of the increase of the loss with frequency.
        across: Minimum and maximum speed across the grain, relative to the speed along it.
    """

    speed_m_per_s: float
    thick_m: tuple[float, float]
    loss: tuple[float, float]
    rise: float
    across: tuple[float, float] = (0.95, 1.0)


MATERIALS = {
    "wood": Material(4500, (0.012, 0.040), (0.02, 0.15), 0.3, (0.3, 0.9)),
    "board": Material(2600, (0.010, 0.030), (0.025, 0.15), 0.2),
    "thin board": Material(2400, (0.003, 0.010), (0.03, 0.20), 0.2),
    "marble": Material(5200, (0.010, 0.030), (0.006, 0.08), 0.0),
    "glass": Material(5400, (0.005, 0.012), (0.006, 0.08), 0.0),
    "ceramic": Material(4500, (0.006, 0.012), (0.008, 0.08), 0.0),
    "desk": Material(2500, (0.016, 0.040), (0.03, 0.20), 0.1),
}
_AIR_M_PER_S = 343.0
_HIGHEST_HZ = 7_700
# Maximum number of modes, which limits the size of plates. Larger plates sound the same, because reflections from their
# edges are late and weak.
_MAX_MODES = 900
# Powers of each mode are split into coarse and fine steps, to sum all modes with a single matrix product.
_COARSE, _FINE = 128, LENGTH // 128


@dataclass(frozen=True, slots=True, eq=False)
class TableModes:
    """Modes of a table and the points that the microphone picks up.

    Attributes:
        modes_hz: Frequency of each mode, shape (K,).
        decays: Decay rate of each mode in 1/s, shape (K,).
        waves: Number of half waves of each mode along and across the table, shape (K, 2).
        loudness: Radiation of each mode, shape (K,).
        ears: Points on the table that are picked up, 0 to 1 along and across, shape (E, 2). A single point for a
            microphone on the table, several for a microphone above it.
        gains: Gain of each point, shape (E,).
        own_gain: Gain of the struck point itself.
    """

    modes_hz: NDArray[np.float64]
    decays: NDArray[np.float64]
    waves: NDArray[np.float64]
    loudness: NDArray[np.float64]
    ears: NDArray[np.float64]
    gains: NDArray[np.float64]
    own_gain: float

    def struck(self, rng: np.random.Generator, *, held: float = 1.0) -> Spectrum:
        """Return the spectrum of the response to a unit impulse at a random point.

        High frequencies arrive first, because they travel faster through a plate than low ones.

        Args:
            rng: Random generator.
            held: Factor on the decay rates, for damping by a hand.
        """
        here = self._shapes(rng.uniform(0.02, 0.98, 2))
        there = self.own_gain * here + self.gains @ np.stack([self._shapes(ear) for ear in self.ears])
        return np.asarray(np.fft.rfft(_ringing(self.modes_hz, self.decays * held, self.loudness * here * there)))

    def _shapes(self, place: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the amplitude of each mode at a point, shape (K,)."""
        return np.asarray(np.cos(np.pi * self.waves * place).prod(axis=1))


def random_table(rng: np.random.Generator) -> TableModes:
    """Return a table with random material, size, thickness, damping and radiation."""
    material = MATERIALS[str(rng.choice(list(MATERIALS)))]
    thick_m = _uniform_log(rng, *material.thick_m)
    modes_hz, waves = _modes(rng, material, thick_m)
    loss = _uniform_log(rng, *material.loss) * (modes_hz / 500) ** (material.rise + rng.uniform(-0.2, 0.1))
    decays = np.pi * modes_hz * loss + _uniform_log(rng, 8, 200)
    # Coincidence frequency. Below it, a plate radiates little.
    coincidence_hz = _AIR_M_PER_S**2 * np.sqrt(12) / (2 * np.pi * thick_m * material.speed_m_per_s)
    loudness = np.minimum(1, modes_hz / coincidence_hz) ** rng.uniform(-0.3, 1.0) * modes_hz ** rng.uniform(-0.7, 0.5)
    is_on_table = rng.random() < 0.5
    ears = rng.uniform(0, 1, (1 if is_on_table else 4, 2))
    gains = np.ones(1) if is_on_table else rng.normal(0, 1, 4)
    own_gain = 0.0 if is_on_table else rng.uniform(0.2, 2.0)
    return TableModes(modes_hz, decays, waves, loudness * rng.lognormal(0, 0.3, len(modes_hz)), ears, gains, own_gain)


def _modes(
    rng: np.random.Generator, material: Material, thick_m: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the frequencies of a plate's modes, shape (K,), and their half waves along and across it, shape (K, 2)."""
    sizes_m = np.array([rng.uniform(0.6, 2.0), rng.uniform(0.45, 1.1)])
    speeds = material.speed_m_per_s * np.array([1.0, rng.uniform(*material.across)])
    stiff = np.pi * thick_m * speeds / (2 * np.sqrt(12))
    # The modes below a frequency fill a quarter of an ellipse.
    count = np.pi / 4 * _HIGHEST_HZ * (sizes_m / np.sqrt(stiff)).prod()
    sizes_m = sizes_m * min(1.0, np.sqrt(_MAX_MODES / count))
    most = (sizes_m * np.sqrt(_HIGHEST_HZ / stiff)).astype(int) + 1
    waves = np.stack(np.meshgrid(np.arange(most[0] + 1), np.arange(most[1] + 1)), axis=-1).reshape(-1, 2)
    modes_hz = (stiff * (waves / sizes_m) ** 2).sum(axis=1)
    # Legs and frame stiffen the lowest modes, and plates are never perfectly even.
    modes_hz = np.hypot(modes_hz, rng.uniform(25, 120)) * rng.normal(1, 0.02, len(modes_hz))
    is_audible = modes_hz < _HIGHEST_HZ
    return modes_hz[is_audible], waves[is_audible].astype(np.float64)


def thing_rings(
    rng: np.random.Generator, *, from_hz: float, to_hz: float, loss: tuple[float, float], count: int
) -> Spectrum:
    """Return the spectrum of an object's own ringing, such as the short click of a tile or the long ring of a glass.

    Args:
        rng: Random generator.
        from_hz: Minimum frequency of a mode.
        to_hz: Maximum frequency of a mode.
        loss: Minimum and maximum loss factor (share of energy lost per radian).
        count: Number of modes.
    """
    modes_hz = rng.uniform(from_hz, to_hz, count)
    decays = np.pi * modes_hz * _uniform_log(rng, *loss)
    return np.asarray(np.fft.rfft(_ringing(modes_hz, decays, rng.normal(0, 1, count))))


def _ringing(
    modes_hz: NDArray[np.float64], decays: NDArray[np.float64], loudness: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the sum of modes excited at the same time, shape (LENGTH,)."""
    turn = (2j * np.pi * modes_hz - decays) / RATE_HZ
    fine = _powers(np.exp(turn), _FINE)
    coarse = _powers(np.exp(_FINE * turn), _COARSE) * loudness
    return np.asarray((coarse @ fine.T).imag.ravel(), np.float64)


def _powers(values: NDArray[np.complex128], count: int) -> NDArray[np.complex64]:
    """Return the powers 0 to *count* - 1 of each value, shape (count, K)."""
    rows = np.broadcast_to(values, (count, len(values))).copy()
    rows[0] = 1
    return np.cumprod(rows, axis=0).astype(np.complex64)


def _uniform_log(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))
