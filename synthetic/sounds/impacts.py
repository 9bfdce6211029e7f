"""Force spectra of impacts on a table: the pulses of a knuckle, a finger, a nail, a tile and a glass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 16_000
# Half a second holds what rings after a hit.
LENGTH = 8192

Spectrum = NDArray[np.complex128]


@dataclass(frozen=True, slots=True)
class Impact:
    """One impact of a thing on the table.

    Attributes:
        at_s: When it begins, from the first contact.
        lasts_s: How long the two press on each other. Soft and heavy things press long and sound dull.
        push: Its impulse.
        softness: 0 for a half sine, which steel on steel comes near, 1 for the rounder pulse of skin.
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
    """Return the spectrum of the force of all impacts; exact, so that the shortest pulse does not alias."""
    sum_ = np.zeros(len(frequencies()), np.complex128)
    for one in impacts:
        turns = frequencies() * one.lasts_s
        pulse = one.softness * _round_pulse(turns) + (1 - one.softness) * _half_sine(turns)
        sum_ += one.push * pulse * np.exp(-2j * np.pi * frequencies() * (one.at_s + one.lasts_s / 2))
    return sum_


def _half_sine(turns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the spectrum of a half sine of area 1, about its middle; *turns* is frequency times length."""
    below = 1 - 4 * turns**2
    safe = np.where(np.abs(below) < 1e-6, 1.0, below)
    return np.where(np.abs(below) < 1e-6, np.pi / 4, np.cos(np.pi * turns) / safe)


def _round_pulse(turns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the same of a sine squared, which falls by 18 dB in an octave where the half sine falls by 12."""
    below = 1 - turns**2
    safe = np.where(np.abs(below) < 1e-6, 1.0, below)
    return np.where(np.abs(below) < 1e-6, 0.5, np.sinc(turns) / safe)


def knuckle(rng: np.random.Generator) -> list[Impact]:
    """Return one knock: bone under thin skin, the weight of a hand behind it, at times two knuckles or a bounce."""
    lasts_s = float(np.exp(rng.uniform(np.log(0.0005), np.log(0.0035))))
    impacts = [Impact(0.0, lasts_s, 1.0, rng.uniform(0.4, 1.0))]
    if rng.random() < 0.8:  # bone gets harder the deeper it is pressed: a short peak on top
        # Skin lies between: even the peak is no click.
        peak_s, push = rng.uniform(0.0004, 0.0010), float(np.exp(rng.uniform(-3.5, 0.0)))
        impacts.append(Impact(rng.uniform(0, lasts_s), peak_s, push, rng.uniform(0.5, 1.0)))
    if rng.random() < 0.35:  # two knuckles do not land together
        impacts.append(Impact(rng.uniform(0.0003, 0.004), lasts_s * rng.uniform(0.8, 1.3), rng.uniform(0.2, 0.9), 0.8))
    if rng.random() < 0.7:  # the hand follows its bone, joint after joint
        push = float(np.exp(rng.uniform(-2.3, 1.2)))
        impacts.append(Impact(rng.uniform(0.0, 0.006), rng.uniform(0.003, 0.012), push, 1.0))
    if rng.random() < 0.15:
        impacts.append(Impact(rng.uniform(0.012, 0.04), lasts_s * 1.3, rng.uniform(0.05, 0.25), 0.9))
    return impacts


def finger_pad(rng: np.random.Generator) -> list[Impact]:
    """Return a tap with the soft of a finger: long and dull; at times the skin slaps at first."""
    impacts = [Impact(0.0, rng.uniform(0.005, 0.016), 1.0, rng.uniform(0.7, 1.0))]
    if rng.random() < 0.7:
        push = float(np.exp(rng.uniform(-6.0, -2.5)))
        impacts.append(Impact(0.0, rng.uniform(0.0003, 0.002), push, rng.uniform(0.5, 1.0)))
    return impacts


def nail(rng: np.random.Generator) -> list[Impact]:
    """Return a tap with the flat of a nail: little weight, a short hard contact."""
    impacts = [Impact(0.0, rng.uniform(0.0001, 0.0004), 1.0, rng.uniform(0.0, 0.6))]
    if rng.random() < 0.4:  # the finger behind it
        push = float(np.exp(rng.uniform(-2.3, 0.0)))
        impacts.append(Impact(rng.uniform(0.0, 0.003), rng.uniform(0.002, 0.008), push, 1.0))
    if rng.random() < 0.3:
        impacts.append(Impact(rng.uniform(0.002, 0.009), rng.uniform(0.0002, 0.0005), rng.uniform(0.1, 0.6), 0.5))
    return impacts


def nail_tip(rng: np.random.Generator) -> list[Impact]:
    """Return a tap with the edge of a nail, the finger's weight following it."""
    impacts = [Impact(0.0, rng.uniform(0.00006, 0.0003), rng.uniform(0.05, 0.5), rng.uniform(0.0, 0.5))]
    impacts.append(
        Impact(rng.uniform(0.0, 0.003), rng.uniform(0.002, 0.008), rng.uniform(0.2, 1.0), rng.uniform(0.5, 1.0))
    )
    return impacts


def tile(rng: np.random.Generator) -> list[Impact]:
    """Return a tile being put down: an edge first, then clicks within 5 to 40 ms until it lies."""
    count = int(rng.integers(2, 7))
    first_s = rng.uniform(0.0001, 0.0005)
    gaps_s = np.cumsum(rng.uniform(0.002, 0.012, count) * rng.uniform(0.5, 1.5))
    pushes = rng.uniform(0.1, 1.0, count) * 0.85 ** np.arange(count)
    times_s = np.concatenate([[0.0], gaps_s[:-1]])
    return [
        Impact(float(at_s), first_s * rng.uniform(0.6, 1.6), float(push), rng.uniform(0, 0.5))
        for at_s, push in zip(times_s, pushes, strict=True)
    ]


def slam(rng: np.random.Generator) -> list[Impact]:
    """Return a tile thrown down by a hand: hard impacts close together, and the hand that comes with it."""
    impacts = [Impact(0.0, rng.uniform(0.0001, 0.0004), 1.0, rng.uniform(0, 0.4))]
    for _ in range(int(rng.integers(1, 6))):
        at_s = rng.uniform(0.0008, 0.02)
        impacts.append(Impact(at_s, rng.uniform(0.0001, 0.0005), rng.uniform(0.2, 1.0), rng.uniform(0, 0.4)))
    if rng.random() < 0.8:
        impacts.append(Impact(rng.uniform(0, 0.008), rng.uniform(0.002, 0.012), rng.uniform(0.5, 5.0), 1.0))
    return impacts


def shuffle(rng: np.random.Generator, *, lasts_s: float) -> list[Impact]:
    """Return tiles being shuffled for a while: clicks upon clicks."""
    count = max(3, int(lasts_s * rng.uniform(15, 90)))
    times_s = np.sort(rng.uniform(0, lasts_s, count))
    pushes = rng.lognormal(0, 0.9, count)
    return [
        Impact(float(at_s), rng.uniform(0.00008, 0.0004), float(push), rng.uniform(0, 0.5))
        for at_s, push in zip(times_s, pushes, strict=True)
    ]


def glass(rng: np.random.Generator) -> list[Impact]:
    """Return a glass or a cup being put down: its rim rocks for a moment."""
    count = int(rng.integers(1, 6))
    lasts_s = rng.uniform(0.0002, 0.0008)
    times_s = np.concatenate([[0.0], np.cumsum(rng.uniform(0.006, 0.03, count))])
    return [
        Impact(float(at_s), lasts_s, float(rng.uniform(0.3, 1.0) * 0.7**index), rng.uniform(0, 0.5))
        for index, at_s in enumerate(times_s)
    ]
