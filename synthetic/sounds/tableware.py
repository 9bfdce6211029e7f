"""Sounds of cups, glasses, bottles, plates and cutlery."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synthetic.sounds.impacts import RATE_HZ
from synthetic.sounds.signals import (
    band_noise,
    bounces,
    colour,
    convolve,
    levelled,
    normalized,
    overlay,
    panel,
    pulses,
    ringing,
    samples_of,
    uniform_log,
    wander,
)
from synthetic.sounds.surroundings import Waveform

# Highest modelled mode. Modes close to half the sample rate would alias.
_HIGHEST_HZ = 7_800
# Lowest mode in Hz and loss factor of each kind of object.
_VESSELS = {
    "glass": ((700, 3200), (0.0004, 0.008)),
    "bottle": ((900, 3500), (0.001, 0.01)),
    "porcelain": ((800, 3500), (0.001, 0.02)),
    "mug": ((600, 2500), (0.004, 0.05)),
    "tin": ((300, 2000), (0.003, 0.06)),
    "plastic": ((250, 1800), (0.03, 0.2)),
}


def _vessel(rng: np.random.Generator, *, held: float) -> Waveform:
    """Return the ringing of a cup, glass, bottle or tin, levelled. Its modes are those of a ring.

    The frequencies of a ring that bends rise as n (n^2 - 1) / sqrt(n^2 + 1) with the number of waves n (Rayleigh, The
    Theory of Sound, section 233). A handle or a flaw splits each mode into two close ones that beat. A liquid lowers
    all modes by up to 40 % (French 1983, In vino veritas: a study of wineglass acoustics).

    Args:
        rng: Random generator.
        held: Factor on the decay rates, for damping by a hand or the table.
    """
    lowest_hz, loss = _VESSELS[str(rng.choice(list(_VESSELS)))]
    waves = np.arange(2, 8)
    ratios = waves * (waves**2 - 1) / np.sqrt(waves**2 + 1.0)
    base_hz = uniform_log(rng, *lowest_hz) * rng.choice([1.0, rng.uniform(0.6, 1.0)])
    bent_hz = base_hz * ratios / ratios[0] * rng.normal(1, 0.05, len(waves))
    split_hz = bent_hz * (1 + uniform_log(rng, 0.001, 0.03))
    # The base vibrates as a plate, with modes that are unrelated to those of the wall.
    base_modes_hz = rng.uniform(base_hz, _HIGHEST_HZ, int(rng.integers(0, 5)))
    return _rings(rng, np.concatenate([bent_hz, split_hz, base_modes_hz]), loss, held=held)


def _cutlery(rng: np.random.Generator, *, held: float) -> Waveform:
    """Return the ringing of a knife, fork or spoon, levelled. Its modes are those of a free bar.

    They rise as (2n + 1)^2 from 600 to 2500 Hz (Fletcher and Rossing, The Physics of Musical Instruments).
    """
    bent_hz = uniform_log(rng, 600, 2500) * (np.arange(1, 6) * 2 + 1.0) ** 2 / 9 * rng.normal(1, 0.06, 5)
    twisted_hz = rng.uniform(2000, _HIGHEST_HZ, int(rng.integers(0, 4)))
    return _rings(rng, np.concatenate([bent_hz, twisted_hz]), (0.0008, 0.02), held=held)


def _plate(rng: np.random.Generator, *, held: float) -> Waveform:
    """Return the ringing of a plate or bowl, levelled: 5 to 12 inharmonic modes from 400 to 2000 Hz on."""
    lowest_hz = uniform_log(rng, 400, 2000)
    modes_hz = np.append(rng.uniform(lowest_hz, _HIGHEST_HZ, int(rng.integers(4, 12))), lowest_hz)
    return _rings(rng, modes_hz, (0.001, 0.03), held=held)


def _rings(
    rng: np.random.Generator, modes_hz: NDArray[np.float64], loss: tuple[float, float], *, held: float
) -> Waveform:
    """Return the sum of audible modes with random gains, levelled and cut off after 1.2 s at most."""
    audible_hz = modes_hz[modes_hz < _HIGHEST_HZ]
    decays = np.pi * audible_hz * uniform_log(rng, *loss) * held * rng.lognormal(0, 0.3, len(audible_hz)) + 3
    gains = rng.normal(0, 1, len(audible_hz)) * (audible_hz / audible_hz.min()) ** rng.uniform(-1, 0.5)
    lasts_s = float(np.clip(7 / decays.min(), 0.02, 1.2))
    return levelled(ringing(audible_hz, decays, gains, count=samples_of(lasts_s)))


def _support(rng: np.random.Generator) -> Waveform:
    """Return the impulse response of the table or tray below, levelled and short."""
    lowest_hz = uniform_log(rng, 60, 500)
    return panel(rng, from_hz=lowest_hz, to_hz=lowest_hz * rng.uniform(4, 14), count=25, loss=(0.04, 0.25), lasts_s=0.2)


def put_down(rng: np.random.Generator) -> Waveform:
    """Return a cup, glass, bottle, plate or spoon put down: one to eight contacts that come ever closer.

    The contacts last 0.1 to 1.2 ms and start 4 to 60 ms apart. The hand that holds the object damps its modes up to 20
    times. The share of the table's response is drawn from -30 to 6 dB.
    """
    thing = _thing(rng, held=uniform_log(rng, 1, 20))
    times_s, pushes = bounces(
        rng, gap_s=uniform_log(rng, 0.004, 0.06), restitution=rng.uniform(0.4, 0.95), most=int(rng.integers(2, 9))
    )
    kept = slice(0, int(rng.integers(1, len(times_s) + 1)))
    lasts_s = uniform_log(rng, 0.0001, 0.0012) * rng.uniform(0.7, 1.5, len(times_s))
    force = pulses(times_s[kept], pushes[kept], lasts_s[kept], total_s=float(times_s[kept][-1]) + 0.01)
    below = convolve(force, _support(rng)) * 10 ** (rng.uniform(-30, 6) / 20)
    return normalized(colour(rng, overlay([(0.0, convolve(force, thing)), (0.0, below)]), spread_db=rng.uniform(0, 4)))


def _thing(rng: np.random.Generator, *, held: float) -> Waveform:
    return (_vessel, _vessel, _plate, _cutlery)[int(rng.integers(4))](rng, held=held)


def clink(rng: np.random.Generator) -> Waveform:
    """Return two objects that touch one to five times, 0.03 to 0.5 s apart: a toast, a spoon against a cup, dishes."""
    held = uniform_log(rng, 1, 8)
    both = [(0.0, _thing(rng, held=held)), (0.0, _thing(rng, held=held) * uniform_log(rng, 0.1, 1))]
    count = int(rng.integers(1, 6))
    times_s = np.cumsum(rng.uniform(0.4, 1.6, count)) * uniform_log(rng, 0.03, 0.5)
    times_s -= times_s[0]
    force = pulses(
        times_s, rng.lognormal(0, 0.5, count), uniform_log(rng, 0.00008, 0.0006), total_s=float(times_s[-1]) + 0.01
    )
    return normalized(colour(rng, convolve(force, overlay(both)), spread_db=rng.uniform(0, 4)))


def dishes(rng: np.random.Generator) -> Waveform:
    """Return a clatter of dishes or cutlery for 0.3 to 2 s: 5 to 40 contacts per second among two to four objects."""
    total_s = uniform_log(rng, 0.3, 2.0)
    parts = []
    for _ in range(int(rng.integers(2, 5))):
        count = max(2, int(total_s * uniform_log(rng, 5, 40) / 2))
        times_s = np.sort(rng.beta(rng.uniform(0.7, 2), rng.uniform(0.7, 3), count)) * total_s
        force = pulses(times_s, rng.lognormal(0, 0.9, count), rng.uniform(0.0001, 0.0006, count), total_s=total_s)
        parts.append((0.0, convolve(force, _thing(rng, held=uniform_log(rng, 1.5, 10))) * uniform_log(rng, 0.2, 1)))
    return normalized(overlay(parts))


def scrape_plate(rng: np.random.Generator) -> Waveform:
    """Return cutlery dragged over a plate, or dishes pushed over a table: one to four strokes of 0.1 to 0.8 s.

    The rough contact excites the modes by noise whose loudness follows the speed of the stroke. A squeal, if any, is a
    mode from 1500 to 5000 Hz that feeds itself.
    """
    body = levelled(
        overlay([(0.0, _plate(rng, held=uniform_log(rng, 2, 20))), (0.0, _thing(rng, held=8.0) * rng.uniform(0, 1))])
    )
    squeal = rng.uniform(0.1, 1.5) if rng.random() < 0.3 else 0.0
    squeal_hz = uniform_log(rng, 1500, 5000)
    parts, at_s = [], 0.0
    for _ in range(int(rng.integers(1, 5))):
        count = samples_of(uniform_log(rng, 0.1, 0.8))
        shape = np.hanning(count + 2)[1:-1] ** rng.uniform(0.3, 1.5)
        grain = np.exp(rng.uniform(0.2, 1.3) * wander(rng, count, rate_hz=uniform_log(rng, 60, 1500)))
        rough = band_noise(rng, count, low_hz=200, high_hz=uniform_log(rng, 1000, 7000)) * shape * grain
        stroke = convolve(rough, body)
        turns = np.cumsum(squeal_hz * (1 + 0.03 * wander(rng, count, rate_hz=20))) / RATE_HZ
        stroke[:count] += np.sin(2 * np.pi * turns) * shape**3 * squeal * stroke.std() * 2
        parts.append((at_s, stroke))
        at_s += count / RATE_HZ + rng.uniform(0.0, 0.3)
    return normalized(colour(rng, overlay(parts), spread_db=rng.uniform(0, 4)))


def stir(rng: np.random.Generator) -> Waveform:
    """Return a spoon that stirs a cup for 0.4 to 2.5 s: one to four rounds per second, one to three contacts each.

    The liquid that spins shifts the modes from contact to contact by up to 3 %, so two responses alternate.
    """
    total_s = uniform_log(rng, 0.4, 2.5)
    rounds = np.arange(0, total_s, 1 / rng.uniform(1, 4))
    times_s = (rounds[:, None] + rng.uniform(0, 0.25, int(rng.integers(1, 4)))).ravel() + rng.normal(0, 0.01, 1)
    times_s = np.abs(times_s + rng.normal(0, 0.015, len(times_s)))
    pushes = rng.lognormal(0, 0.5, len(times_s))
    is_odd = rng.random(len(times_s)) < 0.5
    parts = []
    for part, held in ((is_odd, 3.0), (~is_odd, rng.uniform(1.5, 10))):
        force = pulses(times_s[part], pushes[part], uniform_log(rng, 0.0001, 0.0006), total_s=total_s + 0.3)
        parts.append((0.0, convolve(force, _vessel(rng, held=held))))
    hiss = band_noise(rng, samples_of(total_s), low_hz=500, high_hz=4000) * uniform_log(rng, 1e-4, 1e-2)
    return normalized(overlay([*parts, (0.0, hiss)]))
