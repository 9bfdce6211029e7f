"""Compute the best position of a piezo under a table top from the theory of thin plates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

Shape: TypeAlias = tuple[float, float]
"""Displacement and curvature of a mode at a point."""

SIZES_M = ((0.85, 0.85), (1.20, 0.75))
PLACES = {
    "middle": (0.5, 0.5),
    "half way from the middle to a corner": (0.25, 0.25),
    "a third from two edges": (0.33, 0.33),
    "half way from the middle to a side": (0.5, 0.25),
    "at the middle of a side": (0.5, 0.07),
    "beside a leg": (0.07, 0.07),
}
_LOWEST_HZ, _HIGHEST_HZ, _MODES = 60.0, 1500.0, 12
# 20 mm of spruce, with the same stiffness across and along the grain.
_YOUNG_PA, _DENSITY, _THICK_M, _POISSON = 9e9, 650.0, 0.02, 0.3
_FREE = [4.73004, 7.85320, 10.99561, *((2 * n + 1) * np.pi / 2 for n in range(4, 14))]
_KNOCKS = [(along, edge) for along in (0.3, 0.5, 0.7) for edge in (0.12, 0.88)]


@dataclass(frozen=True, slots=True)
class Plate:
    """A table top with supported or free edges."""

    long_m: float
    wide_m: float
    is_free: bool


def _mode(number: int, share: float, *, is_free: bool) -> Shape:
    """Return a mode of a bar at a share of its length."""
    if not is_free:
        angle = (number + 1) * np.pi
        return float(np.sin(angle * share)), float(-(angle**2) * np.sin(angle * share))
    if number < 2:  # rigid translation or rotation
        return (1.0 if number == 0 else np.sqrt(3) * (2 * share - 1)), 0.0
    b = _FREE[number - 2]
    s = (np.cosh(b) - np.cos(b)) / (np.sinh(b) - np.sin(b))
    moves = np.cosh(b * share) + np.cos(b * share) - s * (np.sinh(b * share) + np.sin(b * share))
    bends = b**2 * (np.cosh(b * share) - np.cos(b * share) - s * (np.sinh(b * share) - np.sin(b * share)))
    return float(moves), float(bends)


def _waves(number: int, *, is_free: bool) -> float:
    if not is_free:
        return (number + 1) * np.pi
    return (0.0, 1.5)[number] if number < 2 else _FREE[number - 2]


def heard_db(plate: Plate, place: tuple[float, float]) -> list[float]:
    """Return the curvature that each knock causes at a point, in dB."""
    stiffness = _YOUNG_PA * _THICK_M**3 / 12 / (1 - _POISSON**2)
    sums = np.zeros(2 * len(_KNOCKS))
    knocks = [*_KNOCKS, *((edge, along) for along, edge in _KNOCKS)]
    for m in range(_MODES):
        for n in range(_MODES):
            k2 = (_waves(m, is_free=plate.is_free) / plate.long_m) ** 2
            k2 += (_waves(n, is_free=plate.is_free) / plate.wide_m) ** 2
            hz = np.sqrt(stiffness / (_DENSITY * _THICK_M)) * k2 / (2 * np.pi)
            if not _LOWEST_HZ < hz < _HIGHEST_HZ:
                continue
            (along, along_bent), (across, across_bent) = (
                _mode(number, share, is_free=plate.is_free) for number, share in zip((m, n), place, strict=True)
            )
            bent = along_bent * across / plate.long_m**2 + along * across_bent / plate.wide_m**2
            for index, (x, y) in enumerate(knocks):
                struck = _mode(m, x, is_free=plate.is_free)[0] * _mode(n, y, is_free=plate.is_free)[0]
                sums[index] += (bent * struck / hz) ** 2
    return list(10 * np.log10(sums + 1e-30))


def main() -> None:
    """Print the positions; docs/start/wiring.md has the main figures."""
    plates = [Plate(*size, is_free) for size in SIZES_M for is_free in (True, False)]
    grid = np.linspace(0.05, 0.5, 10)
    best = [max(min(heard_db(plate, (x, y))) for x in grid for y in grid) for plate in plates]
    for name, place in PLACES.items():
        heard = [heard_db(plate, place) for plate in plates]
        weakest = [min(responses) - most for responses, most in zip(heard, best, strict=True)]
        spread = [max(responses) - min(responses) for responses in heard]
        print(f"| {name} | {max(weakest):.1f} to {min(weakest):.1f} dB | {min(spread):.1f} to {max(spread):.1f} dB |")


if __name__ == "__main__":
    main()
