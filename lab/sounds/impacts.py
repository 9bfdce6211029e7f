"""Force spectra of impacts on a table by a hand, a finger, a tile or a glass, and the rhythm of knocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 16_000
# Samples per modelled sound. Half a second covers the decay after a hit.
LENGTH = 8192

Spectrum = NDArray[np.complex128]


@dataclass(frozen=True, slots=True)
class Impact:
    """A single contact of an object with the table.

    Attributes:
        at_s: Start, relative to the first contact.
        lasts_s: Duration of the contact. It is longer, and sounds duller, for soft and heavy objects.
        push: Impulse, relative to the other contacts of the sound.
        softness: Pulse shape, from 0 (half sine, close to steel on steel) to 1 (rounder, as for skin).
    """

    at_s: float
    lasts_s: float
    push: float
    softness: float = 0.5


@cache
def frequencies() -> NDArray[np.float64]:
    """Return the frequencies of a spectrum in Hz, shape (LENGTH / 2 + 1,)."""
    return np.asarray(np.fft.rfftfreq(LENGTH, 1 / RATE_HZ), np.float64)


def force(impacts: list[Impact]) -> Spectrum:
    """Return the force spectrum of all *impacts*, computed analytically so that short pulses do not alias."""
    total = np.zeros(len(frequencies()), np.complex128)
    for impact in impacts:
        turns = frequencies() * impact.lasts_s
        pulse = impact.softness * _round_pulse(turns) + (1 - impact.softness) * _half_sine(turns)
        total += impact.push * pulse * np.exp(-2j * np.pi * frequencies() * (impact.at_s + impact.lasts_s / 2))
    return total


def _half_sine(turns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the spectrum of a centred half sine of area 1. *turns* is frequency times duration."""
    below = 1 - 4 * turns**2
    safe = np.where(np.abs(below) < 1e-6, 1.0, below)
    return np.where(np.abs(below) < 1e-6, np.pi / 4, np.cos(np.pi * turns) / safe)


def _round_pulse(turns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the spectrum of a centred squared sine of area 1. It falls by 18 dB per octave, a half sine by 12."""
    below = 1 - turns**2
    safe = np.where(np.abs(below) < 1e-6, 1.0, below)
    return np.where(np.abs(below) < 1e-6, 0.5, np.sinc(turns) / safe)


def knuckle(rng: np.random.Generator) -> list[Impact]:
    """Return a random knock: bone under thin skin with the weight of a hand, sometimes two knuckles or a bounce."""
    lasts_s = float(np.exp(rng.uniform(np.log(0.0005), np.log(0.0035))))
    impacts = [Impact(0.0, lasts_s, 1.0, rng.uniform(0.4, 1.0))]
    if rng.random() < 0.8:  # a short peak, because bone stiffens under pressure
        # Skin softens even the peak.
        peak_s, push = rng.uniform(0.0004, 0.0010), float(np.exp(rng.uniform(-3.5, 0.0)))
        impacts.append(Impact(rng.uniform(0, lasts_s), peak_s, push, rng.uniform(0.5, 1.0)))
    if rng.random() < 0.35:  # a second knuckle lands slightly later
        impacts.append(Impact(rng.uniform(0.0003, 0.004), lasts_s * rng.uniform(0.8, 1.3), rng.uniform(0.2, 0.9), 0.8))
    if rng.random() < 0.7:  # the hand follows, joint by joint
        push = float(np.exp(rng.uniform(-2.3, 1.2)))
        impacts.append(Impact(rng.uniform(0.0, 0.006), rng.uniform(0.003, 0.012), push, 1.0))
    if rng.random() < 0.15:
        impacts.append(Impact(rng.uniform(0.012, 0.04), lasts_s * 1.3, rng.uniform(0.05, 0.25), 0.9))
    return impacts


def struck_again(rng: np.random.Generator, impacts: list[Impact]) -> list[Impact]:
    """Return the contacts of the next hit by the same hand: times, durations and impulses vary by about 15 %."""
    return [
        replace(
            impact,
            at_s=impact.at_s * rng.lognormal(0, 0.15),
            lasts_s=impact.lasts_s * rng.lognormal(0, 0.12),
            push=impact.push * rng.lognormal(0, 0.15),
        )
        for impact in impacts
    ]


def palm(rng: np.random.Generator) -> list[Impact]:
    """Return a random slap with the flat hand: skin of palm and fingers within 8 ms, then the weight of the hand.

    The skin lands in two to five patches of 0.4 to 4 ms each. The hand presses for 6 to 25 ms.
    """
    skin_s = float(np.exp(rng.uniform(np.log(0.0004), np.log(0.004))))
    spread_s = rng.uniform(0.0005, 0.008)
    impacts = [Impact(0.0, skin_s, 1.0, rng.uniform(0.4, 1.0))]
    for _ in range(int(rng.integers(1, 5))):
        lasts_s = skin_s * rng.uniform(0.6, 1.8)
        impacts.append(Impact(rng.uniform(0, spread_s), lasts_s, rng.uniform(0.1, 1.0), rng.uniform(0.5, 1.0)))
    push = float(np.exp(rng.uniform(-1.0, 2.0)))
    impacts.append(Impact(rng.uniform(0.0, 0.005), rng.uniform(0.006, 0.025), push, 1.0))
    return impacts


def fist(rng: np.random.Generator) -> list[Impact]:
    """Return a random thump with the side or the knuckles of a fist: a soft contact of 3 to 15 ms with great weight.

    The arm follows for 10 to 40 ms. Bone below the skin adds a harder peak to some thumps.
    """
    lasts_s = float(np.exp(rng.uniform(np.log(0.003), np.log(0.015))))
    impacts = [Impact(0.0, lasts_s, 1.0, rng.uniform(0.6, 1.0))]
    if rng.random() < 0.6:
        push = float(np.exp(rng.uniform(-4.5, -0.7)))
        impacts.append(Impact(rng.uniform(0, lasts_s / 2), rng.uniform(0.0008, 0.003), push, rng.uniform(0.6, 1.0)))
    if rng.random() < 0.7:
        push = float(np.exp(rng.uniform(-1.5, 1.0)))
        impacts.append(Impact(rng.uniform(0.001, 0.01), rng.uniform(0.010, 0.040), push, 1.0))
    if rng.random() < 0.1:
        impacts.append(Impact(rng.uniform(0.03, 0.08), lasts_s * 1.3, rng.uniform(0.05, 0.3), 0.9))
    return impacts


def knock_times(rng: np.random.Generator, *, count: int | None = None) -> list[float]:
    """Return the times in seconds of one to five knocks, or of *count* knocks, in a series, from 0 on.

    45 % of the series have one knock, 35 % two, and 20 % three to five. The gaps of 0.12 to 0.5 s vary by 10 % within a
    series, as in human tapping.
    """
    if count is None:
        count = int(rng.choice([1, 2, 3, 4, 5], p=[0.45, 0.35, 0.10, 0.06, 0.04]))
    gap_s = float(np.exp(rng.uniform(np.log(0.12), np.log(0.5))))
    gaps_s = gap_s * np.clip(rng.normal(1, 0.1, count - 1), 0.7, 1.3)
    return [0.0, *(float(t_s) for t_s in np.cumsum(gaps_s))]


def knock_pushes(rng: np.random.Generator, *, count: int) -> list[float]:
    """Return the loudness of each knock of a series relative to its loudest, from a trend, an accent and chance.

    The trend has a standard deviation of 1 dB per knock, chance 2 dB. An accent adds 2 to 8 dB to one knock in 30 % of
    the series. No knock is more than 18 dB weaker than the loudest.
    """
    levels_db = rng.normal(0, 1) * np.arange(count) + rng.normal(0, 2, count)
    if rng.random() < 0.3:
        levels_db[int(rng.integers(count))] += rng.uniform(2, 8)
    return [float(push) for push in 10 ** (np.maximum(levels_db - levels_db.max(), -18) / 20)]


def finger_pad(rng: np.random.Generator) -> list[Impact]:
    """Return a random tap with a fingertip: long and dull, often with a slap of skin at the start."""
    impacts = [Impact(0.0, rng.uniform(0.005, 0.016), 1.0, rng.uniform(0.7, 1.0))]
    if rng.random() < 0.7:
        push = float(np.exp(rng.uniform(-6.0, -2.5)))
        impacts.append(Impact(0.0, rng.uniform(0.0003, 0.002), push, rng.uniform(0.5, 1.0)))
    return impacts


def nail(rng: np.random.Generator) -> list[Impact]:
    """Return a random tap with the flat of a nail: a short, hard contact with little weight."""
    impacts = [Impact(0.0, rng.uniform(0.0001, 0.0004), 1.0, rng.uniform(0.0, 0.6))]
    if rng.random() < 0.4:  # the finger behind the nail
        push = float(np.exp(rng.uniform(-2.3, 0.0)))
        impacts.append(Impact(rng.uniform(0.0, 0.003), rng.uniform(0.002, 0.008), push, 1.0))
    if rng.random() < 0.3:
        impacts.append(Impact(rng.uniform(0.002, 0.009), rng.uniform(0.0002, 0.0005), rng.uniform(0.1, 0.6), 0.5))
    return impacts


def nail_tip(rng: np.random.Generator) -> list[Impact]:
    """Return a random tap with the edge of a nail, followed by the weight of the finger."""
    impacts = [Impact(0.0, rng.uniform(0.00006, 0.0003), rng.uniform(0.05, 0.5), rng.uniform(0.0, 0.5))]
    impacts.append(
        Impact(rng.uniform(0.0, 0.003), rng.uniform(0.002, 0.008), rng.uniform(0.2, 1.0), rng.uniform(0.5, 1.0))
    )
    return impacts


def tile(rng: np.random.Generator) -> list[Impact]:
    """Return the impacts of a tile put down: two to six clicks as it settles, 1 to 18 ms apart."""
    count = int(rng.integers(2, 7))
    contact_s = rng.uniform(0.0001, 0.0005)
    gaps_s = np.cumsum(rng.uniform(0.002, 0.012, count) * rng.uniform(0.5, 1.5))
    pushes = rng.uniform(0.1, 1.0, count) * 0.85 ** np.arange(count)
    times_s = np.concatenate([[0.0], gaps_s[:-1]])
    return [
        Impact(float(at_s), contact_s * rng.uniform(0.6, 1.6), float(push), rng.uniform(0, 0.5))
        for at_s, push in zip(times_s, pushes, strict=True)
    ]


def slam(rng: np.random.Generator) -> list[Impact]:
    """Return the impacts of a slammed tile: hard impacts close together, usually followed by the hand."""
    impacts = [Impact(0.0, rng.uniform(0.0001, 0.0004), 1.0, rng.uniform(0, 0.4))]
    for _ in range(int(rng.integers(1, 6))):
        at_s = rng.uniform(0.0008, 0.02)
        impacts.append(Impact(at_s, rng.uniform(0.0001, 0.0005), rng.uniform(0.2, 1.0), rng.uniform(0, 0.4)))
    if rng.random() < 0.8:
        impacts.append(Impact(rng.uniform(0, 0.008), rng.uniform(0.002, 0.012), rng.uniform(0.5, 5.0), 1.0))
    return impacts


def shuffle(rng: np.random.Generator, *, lasts_s: float) -> list[Impact]:
    """Return the impacts of tiles being shuffled for *lasts_s*: 15 to 90 clicks per second."""
    count = max(3, int(lasts_s * rng.uniform(15, 90)))
    times_s = np.sort(rng.uniform(0, lasts_s, count))
    pushes = rng.lognormal(0, 0.9, count)
    return [
        Impact(float(at_s), rng.uniform(0.00008, 0.0004), float(push), rng.uniform(0, 0.5))
        for at_s, push in zip(times_s, pushes, strict=True)
    ]


def glass(rng: np.random.Generator) -> list[Impact]:
    """Return the impacts of a glass or cup put down, as its base rocks briefly."""
    count = int(rng.integers(1, 6))
    lasts_s = rng.uniform(0.0002, 0.0008)
    times_s = np.concatenate([[0.0], np.cumsum(rng.uniform(0.006, 0.03, count))])
    return [
        Impact(float(at_s), lasts_s, float(rng.uniform(0.3, 1.0) * 0.7**index), rng.uniform(0, 0.5))
        for index, at_s in enumerate(times_s)
    ]
