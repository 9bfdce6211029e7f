"""Sounds of small things in hands: keys, coins, zips, keyboards, switches, paper, cards and bags."""

from __future__ import annotations

import numpy as np

from synthetic.sounds.impacts import RATE_HZ
from synthetic.sounds.signals import (
    band_noise,
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


def keys(rng: np.random.Generator) -> Waveform:
    """Return a bunch of keys that jingles for 0.1 to 2 s: 10 to 150 contacts per second, in one to six shakes.

    Each of two to four groups of keys has 4 to 14 inharmonic modes between 2 and 7.8 kHz that ring for 2 to 100 ms.
    """
    total_s = uniform_log(rng, 0.1, 2.0)
    shakes = np.abs(np.sin(np.pi * uniform_log(rng, 1, 6) * np.linspace(0, total_s, 200) + rng.uniform(0, 3)))
    chances = shakes ** rng.uniform(0.3, 3) + 1e-3
    parts = []
    for _ in range(int(rng.integers(2, 5))):
        count = max(1, int(total_s * uniform_log(rng, 10, 150) / 3))
        times_s = (rng.choice(200, count, p=chances / chances.sum()) + rng.uniform(0, 1, count)) * total_s / 200
        force = pulses(times_s, rng.lognormal(0, 0.8, count), rng.uniform(0.00008, 0.0004, count), total_s=total_s)
        parts.append((0.0, convolve(force, _metal(rng, from_hz=2000, to_hz=7800)) * uniform_log(rng, 0.2, 1)))
    return normalized(colour(rng, overlay(parts), spread_db=rng.uniform(0, 4)))


def _metal(rng: np.random.Generator, *, from_hz: float, to_hz: float) -> Waveform:
    """Return the ringing of a small metal object, levelled, with decays of 2 to 100 ms."""
    modes_hz = rng.uniform(from_hz, to_hz, int(rng.integers(4, 15)))
    decays = rng.lognormal(0, 0.4, len(modes_hz)) / uniform_log(rng, 0.002, 0.1)
    lasts_s = min(0.6, 7 / float(decays.min()))
    return levelled(ringing(modes_hz, decays, rng.normal(0, 1, len(modes_hz)), count=samples_of(lasts_s)))


def coins(rng: np.random.Generator) -> Waveform:
    """Return coins that clink, fall or spin out on a surface for 0.1 to 2 s.

    The rate of contacts of a spinning disc rises as (t_end - t)^-n, with n = 1/6 if air slows it (Moffatt 2000, Euler's
    disk and its finite-time singularity) and 1/3 if rolling friction does. Modes lie from 3 kHz on.
    """
    total_s = uniform_log(rng, 0.1, 2.0)
    if rng.random() < 0.4:
        first_hz = uniform_log(rng, 8, 30)
        exponent = rng.uniform(1 / 6, 1 / 3)
        turns = first_hz * total_s / (1 - exponent)
        times_s = total_s * (1 - (1 - np.arange(int(turns)) / turns) ** (1 / (1 - exponent)))
        pushes = rng.lognormal(0, 0.3, len(times_s)) * np.linspace(1, 0.3, len(times_s))
    else:
        times_s = np.sort(rng.uniform(0, total_s, max(1, int(total_s * uniform_log(rng, 3, 40)))))
        pushes = rng.lognormal(0, 0.8, len(times_s))
    times_s, pushes = np.append(times_s, 0.0), np.append(pushes, 1.0)
    force = pulses(times_s, pushes, uniform_log(rng, 0.00008, 0.0004), total_s=total_s + 0.02)
    table = panel(rng, from_hz=uniform_log(rng, 80, 600), to_hz=3000, count=20, loss=(0.05, 0.3), lasts_s=0.1)
    both = [(0.0, _metal(rng, from_hz=3000, to_hz=7900)), (0.0, table * uniform_log(rng, 0.02, 1.5))]
    return normalized(colour(rng, convolve(force, overlay(both)), spread_db=rng.uniform(0, 4)))


def zip_fastener(rng: np.random.Generator) -> Waveform:
    """Return a zip drawn for 0.12 to 1 s: 150 to 2500 teeth per second, at a speed that rises and falls."""
    total_s = uniform_log(rng, 0.12, 1.0)
    count = samples_of(total_s)
    stroke = np.sin(np.linspace(0.05, np.pi * rng.uniform(0.5, 0.98), count)) ** rng.uniform(0.3, 1.2)
    rate_hz = uniform_log(rng, 300, 2500) * stroke * (1 + 0.2 * wander(rng, count, rate_hz=10))
    at = np.flatnonzero(np.diff(np.floor(np.cumsum(np.maximum(rate_hz, 20)) / RATE_HZ), prepend=0.0))
    pushes = rng.lognormal(0, 0.4, len(at)) * stroke[at]
    force = pulses(
        at / RATE_HZ + rng.normal(0, 0.0001, len(at)), pushes, uniform_log(rng, 0.0001, 0.0003), total_s=total_s
    )
    body = panel(rng, from_hz=uniform_log(rng, 300, 3000), to_hz=7800, count=25, loss=(0.05, 0.4), lasts_s=0.05)
    cloth = band_noise(rng, count, low_hz=1000) * stroke * uniform_log(rng, 0.01, 0.5)
    teeth = convolve(force, body)
    teeth[:count] += cloth * teeth.std()
    return normalized(colour(rng, teeth, spread_db=rng.uniform(0, 4)))


def _click(rng: np.random.Generator, *, contact_s: float, snap: bool) -> Waveform:
    """Return the force of a switch: one to three contacts within 4 ms, and before it a spring that snaps, if any."""
    count = int(rng.integers(1, 4))
    times_s = np.concatenate([[0.0], rng.uniform(0.0003, 0.004, count - 1)])
    pushes = np.concatenate([[1.0], rng.uniform(0.05, 0.7, count - 1)])
    if snap:
        times_s = np.concatenate([times_s + rng.uniform(0.004, 0.025), [0.0]])
        pushes = np.append(pushes, rng.uniform(0.1, 1.2))
    return pulses(times_s, pushes, contact_s * rng.uniform(0.7, 1.4, len(times_s)), total_s=0.04)


def typing(rng: np.random.Generator) -> Waveform:
    """Return one to twelve key strokes, 2 to 12 per second, on a mechanical or membrane keyboard.

    A press ends with the key at the bottom: 0.1 to 0.6 ms of contact for a mechanical key, 0.8 to 4 ms for a membrane.
    Key switches snap 4 to 25 ms before. The release follows after 50 to 150 ms and is 3 to 20 dB weaker. The case
    resonates from 120 Hz on, each key in its own mixture of two responses. Timing of strokes after Dhakal et al. 2018,
    Observations on typing from 136 million keystrokes.
    """
    is_mechanical = bool(rng.random() < 0.5)
    contact_s = uniform_log(rng, 0.0001, 0.0006) if is_mechanical else uniform_log(rng, 0.0008, 0.004)
    snaps = is_mechanical and bool(rng.random() < 0.6)
    count, rate_hz = int(rng.integers(1, 13)), uniform_log(rng, 2, 12)
    times_s = np.cumsum(rng.lognormal(0, rng.uniform(0.1, 0.5), count)) / rate_hz
    times_s -= times_s[0]
    release = 10 ** (-rng.uniform(3, 20) / 20)
    down, up = (
        [_click(rng, contact_s=contact_s * rng.uniform(0.6, 1.5), snap=s) for _ in range(3)] for s in (snaps, False)
    )
    forces: list[list[tuple[float, Waveform]]] = [[(0.0, np.zeros(64))], [(0.0, np.zeros(64))]]
    for at_s in times_s[times_s < 3.5]:
        push, which = rng.lognormal(0, 0.25), int(rng.integers(2))
        forces[which].append((float(at_s), down[int(rng.integers(3))] * push))
        forces[which].append((float(at_s) + rng.uniform(0.05, 0.15), up[int(rng.integers(3))] * push * release))
    parts = [(0.0, convolve(overlay(force), _case(rng, from_hz=uniform_log(rng, 120, 900)))) for force in forces]
    return normalized(colour(rng, overlay(parts), spread_db=rng.uniform(0, 4)))


def _case(rng: np.random.Generator, *, from_hz: float) -> Waveform:
    """Return the response of a small case of plastic or metal, levelled."""
    loss = (0.03, 0.3) if rng.random() < 0.7 else (0.006, 0.05)
    return panel(
        rng, from_hz=from_hz, to_hz=min(7800, from_hz * rng.uniform(5, 30)), count=int(rng.integers(8, 30)), loss=loss,
        tilt=rng.uniform(-0.8, 0.5), lasts_s=0.12,
    )  # fmt: skip


def switch(rng: np.random.Generator) -> Waveform:
    """Return a click of a mouse, pen, lighter or light switch, or up to four of them 0.1 to 0.6 s apart.

    Each consists of a press and, for most, a release 30 to 200 ms later. Contacts last 0.08 to 1 ms.
    """
    case = _case(rng, from_hz=uniform_log(rng, 150, 2500))
    contact_s = uniform_log(rng, 0.00008, 0.001)
    hold_s, release = uniform_log(rng, 0.03, 0.2), float(rng.choice([0.0, uniform_log(rng, 0.15, 1.5)], p=[0.3, 0.7]))
    parts, at_s = [], 0.0
    for _ in range(int(rng.choice([1, 2, 3, 4], p=[0.5, 0.3, 0.12, 0.08]))):
        push = rng.lognormal(0, 0.2)
        parts.append((at_s, _click(rng, contact_s=contact_s, snap=bool(rng.random() < 0.3)) * push))
        parts.append(
            (at_s + hold_s * rng.uniform(0.8, 1.2), _click(rng, contact_s=contact_s, snap=False) * release * push)
        )
        at_s += hold_s + uniform_log(rng, 0.1, 0.6)
    return normalized(colour(rng, convolve(overlay(parts), case), spread_db=rng.uniform(0, 5)))


def cards(rng: np.random.Generator) -> Waveform:
    """Return cards riffled, dealt or bridged for 0.2 to 1.5 s: 20 to 200 snaps per second whose rate glides."""
    total_s = uniform_log(rng, 0.2, 1.5)
    count = max(4, int(total_s * uniform_log(rng, 20, 200)))
    times_s = total_s * np.linspace(0, 1, count) ** uniform_log(rng, 0.5, 2) + rng.normal(
        0, 0.2 * total_s / count, count
    )
    times_s = np.sort(np.clip(times_s, 0, total_s))
    pushes = rng.lognormal(0, 0.4, count) * (0.3 + np.hanning(count + 2)[1:-1])
    force = pulses(times_s, pushes, uniform_log(rng, 0.0001, 0.001), total_s=total_s)
    paper = panel(rng, from_hz=uniform_log(rng, 300, 2000), to_hz=7800, count=30, loss=(0.1, 0.6), lasts_s=0.05)
    snaps = convolve(force, paper)
    rub = band_noise(rng, len(snaps), low_hz=800, high_hz=6000) * snaps.std() * uniform_log(rng, 0.02, 0.7)
    return normalized(colour(rng, snaps + rub * np.hanning(len(snaps)), spread_db=rng.uniform(0, 4)))


def crackle(rng: np.random.Generator) -> Waveform:
    """Return a plastic bag, foil or paper that is crumpled for 0.2 to 2 s.

    Crumpling releases energy in clicks whose loudness follows a power law (Kramer and Lobkovsky 1996, Universal power
    law in the noise from a crumpled elastic sheet). The sheet's modes lie between 500 and 7800 Hz.
    """
    total_s = uniform_log(rng, 0.2, 2.0)
    count = max(3, int(total_s * uniform_log(rng, 20, 1200)))
    moves = np.exp(rng.uniform(0.5, 2.0) * wander(rng, 200, rate_hz=RATE_HZ / 200 * uniform_log(rng, 2, 20) * total_s))
    times_s = (rng.choice(200, count, p=moves / moves.sum()) + rng.uniform(0, 1, count)) * total_s / 200
    pushes = rng.pareto(rng.uniform(1.0, 2.5), count) + 0.05
    force = pulses(
        times_s, np.minimum(pushes, 30) * rng.choice([-1, 1], count), uniform_log(rng, 0.00008, 0.0005), total_s=total_s
    )
    sheet = panel(rng, from_hz=uniform_log(rng, 500, 3000), to_hz=7800, count=30, loss=(0.1, 0.5), lasts_s=0.03)
    return normalized(colour(rng, convolve(force, sheet), spread_db=rng.uniform(0, 4)))


def page(rng: np.random.Generator) -> Waveform:
    """Return a page turned, a newspaper folded or a sheet torn: noise of 0.15 to 1.2 s with a grain of 40 to 800 Hz."""
    count = samples_of(uniform_log(rng, 0.15, 1.2))
    grain = np.exp(rng.uniform(0.3, 1.8) * wander(rng, count, rate_hz=uniform_log(rng, 40, 800)))
    swell = np.linspace(0, 1, count) ** rng.uniform(0.3, 3) * np.linspace(1, 0, count) ** rng.uniform(0.3, 2)
    sound = band_noise(
        rng, count, low_hz=uniform_log(rng, 200, 2500), high_hz=uniform_log(rng, 2500, 8000), slope=rng.uniform(0, 1)
    )
    return normalized(colour(rng, sound * grain * swell, spread_db=rng.uniform(0, 4)))
