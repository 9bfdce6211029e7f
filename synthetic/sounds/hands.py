"""Sounds of hands that do not touch the table: claps, applause, finger snaps and rubbing."""

from __future__ import annotations

import numpy as np

from synthetic.sounds.impacts import RATE_HZ
from synthetic.sounds.signals import (
    band_noise,
    burst,
    colour,
    convolve,
    levelled,
    normalized,
    overlay,
    rhythm,
    ringing,
    samples_of,
    uniform_log,
    wander,
)
from synthetic.sounds.surroundings import Waveform


def clap(rng: np.random.Generator) -> Waveform:
    """Return one to eight hand claps of one person, 0.12 to 0.6 s apart.

    A clap is a noise burst of two or three sub-impacts within 3 ms. The air between the palms resonates at 400 to
    2500 Hz, lower for cupped hands than for flat ones (Repp 1987, The sound of two hands clapping; Peltola et al. 2007,
    Synthesis of hand clapping sounds). A burst rises within 1 ms and falls by 20 dB within 2 to 16 ms.
    """
    return normalized(_clapping(rng, count=int(rng.integers(1, 9)), gap_s=uniform_log(rng, 0.12, 0.6)))


def applause(rng: np.random.Generator) -> Waveform:
    """Return the claps of two to six people for up to 2.5 s, each with their own rhythm and hands."""
    parts = []
    for _ in range(int(rng.integers(2, 7))):
        gap_s = uniform_log(rng, 0.16, 0.5)
        count = max(1, int(rng.uniform(0.5, 2.0) / gap_s))
        parts.append((rng.uniform(0, 0.3), _clapping(rng, count=count, gap_s=gap_s) * uniform_log(rng, 0.2, 1.0)))
    return normalized(overlay(parts))


def _clapping(rng: np.random.Generator, *, count: int, gap_s: float) -> Waveform:
    """Return the claps of one person with similar loudness, hands and gaps."""
    resonance_hz, bandwidth_hz = uniform_log(rng, 400, 2500), uniform_log(rng, 60, 700)
    share = rng.uniform(0.0, 1.0)  # of the resonance: small for flat hands, large for cupped ones
    high_hz, decay_s = uniform_log(rng, 2500, 9000), uniform_log(rng, 0.001, 0.007)
    parts = []
    for at_s in rhythm(rng, count=count, gap_s=gap_s, jitter=rng.uniform(0.02, 0.12)):
        hands = _sub_impacts(rng, decay_s=decay_s * rng.uniform(0.8, 1.25), high_hz=high_hz)
        tuned_hz = resonance_hz * rng.normal(1, 0.06)
        modes_hz = np.array([tuned_hz, tuned_hz * rng.uniform(1.8, 3.2)])
        decays = np.pi * bandwidth_hz * np.array([1.0, rng.uniform(1.2, 3)])
        cavity = ringing(modes_hz, decays, np.array([1.0, rng.uniform(0, 0.5)]), count=samples_of(0.04))
        sound = levelled(convolve(hands, cavity)) * share
        sound[: len(hands)] += levelled(hands) * (1 - share)
        parts.append((float(at_s), sound * rng.lognormal(0, 0.25)))
    return colour(rng, overlay(parts), spread_db=rng.uniform(0, 4))


def _sub_impacts(rng: np.random.Generator, *, decay_s: float, high_hz: float) -> Waveform:
    """Return the noise bursts of palm and fingers that land within 3 ms."""
    low_hz = uniform_log(rng, 80, 500)
    parts = []
    for index in range(int(rng.integers(1, 4))):
        rise_s, at_s = uniform_log(rng, 0.0001, 0.0009), rng.uniform(0, 0.003) if index else 0.0
        sound = burst(rng, rise_s=rise_s, decay_s=decay_s, low_hz=low_hz, high_hz=high_hz)
        parts.append((at_s, sound * rng.uniform(0.3, 1.0)))
    return overlay(parts)


def finger_snap(rng: np.random.Generator) -> Waveform:
    """Return one to four finger snaps: friction of up to 60 ms, then the finger hits the palm.

    The finger slips for about 7 ms before the impact (Acharya et al. 2021, The ultrafast snap of a finger). The cavity
    of the hand resonates at 900 to 3500 Hz and rings for 2 to 12 ms.
    """
    resonance_hz, gap_s = uniform_log(rng, 900, 3500), uniform_log(rng, 0.2, 0.8)
    friction_s, friction = rng.uniform(0.004, 0.06), uniform_log(rng, 0.005, 0.15)
    parts = []
    for at_s in rhythm(rng, count=int(rng.integers(1, 5)), gap_s=gap_s, jitter=0.08):
        rub = band_noise(rng, samples_of(friction_s), low_hz=900, high_hz=5000)
        rub = rub * np.linspace(0.2, 1, len(rub)) * friction
        modes_hz = resonance_hz * rng.normal(1, 0.04) * np.array([1.0, rng.uniform(1.5, 2.6), rng.uniform(0.3, 0.6)])
        decays = 1 / np.array([uniform_log(rng, 0.002, 0.012), 0.002, 0.004])
        cavity = ringing(
            modes_hz, decays, np.array([1, rng.uniform(0, 0.7), rng.uniform(0, 0.4)]), count=samples_of(0.06)
        )
        palm = burst(rng, rise_s=0.0002, decay_s=uniform_log(rng, 0.0004, 0.002), low_hz=400)
        sound = convolve(palm, cavity)
        hit = sound / np.abs(sound).max() * rng.lognormal(0, 0.2)
        parts += [(float(at_s), rub), (float(at_s) + friction_s, hit)]
    return normalized(colour(rng, overlay(parts), spread_db=rng.uniform(0, 4)))


def rubbing(rng: np.random.Generator) -> Waveform:
    """Return hands, sleeves or a cloth rubbed for 0.2 to 2 s, with one to six strokes per second."""
    count = samples_of(uniform_log(rng, 0.2, 2.0))
    times_s = np.arange(count) / RATE_HZ
    strokes = np.abs(np.sin(np.pi * uniform_log(rng, 1, 6) * times_s + rng.uniform(0, 3))) ** rng.uniform(0.5, 3)
    rough = np.exp(rng.uniform(0, 1.2) * wander(rng, count, rate_hz=uniform_log(rng, 30, 400)))
    sound = band_noise(
        rng, count, low_hz=uniform_log(rng, 200, 2000), high_hz=uniform_log(rng, 1500, 8000), slope=rng.uniform(0, 1.5)
    )
    return normalized(sound * strokes * rough)
