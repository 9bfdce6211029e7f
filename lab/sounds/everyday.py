"""Sounds of hands and small things, and the catalogue of everyday sounds that are no hit of the table.

All of them are physical models: no recording was used to build or to fit them. Each is dry, as at the source, at
16 kHz, with a peak of 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lab.sounds import backgrounds, utterances
from lab.sounds.signals import (
    RATE_HZ,
    Waveform,
    band_noise,
    bounces,
    burst,
    colour,
    convolve,
    levelled,
    normalized,
    overlay,
    panel,
    pulses,
    rhythm,
    ringing,
    samples_of,
    thuds,
    uniform_log,
    wander,
)

# Sounds of chairs, steps, doors, drawers, objects that fall on the floor, cups, glasses, plates and cutlery.


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
    """Return the ringing of a knife, fork or spoon, levelled. Its modes are those of a free bar."""
    # They rise as (2n + 1)^2 from 600 to 2500 Hz (Fletcher and Rossing, The Physics of Musical Instruments).
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
    lowest_hz = uniform_log(rng, 60, 500)
    below = convolve(
        force,
        panel(rng, from_hz=lowest_hz, to_hz=lowest_hz * rng.uniform(4, 14), count=25, loss=(0.04, 0.25), lasts_s=0.2),
    ) * 10 ** (rng.uniform(-30, 6) / 20)
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


def chair_scrape(rng: np.random.Generator) -> Waveform:
    """Return a chair dragged over a floor for 0.15 to 2 s, in one to three strokes.

    Sticking and slipping feet give 30 to 300 pulses per second with irregular gaps and loudness, which excite the
    frame. Regular slipping sounds as a squeal of up to 1200 Hz (Akay 2002, Acoustics of friction).
    """
    frame = _frame(rng)
    is_squeal = rng.random() < 0.2
    rate_hz = uniform_log(rng, 200, 1200) if is_squeal else uniform_log(rng, 30, 300)
    jitter = rng.uniform(0.003, 0.03) if is_squeal else rng.uniform(0.05, 0.6)
    width_s, rumble = uniform_log(rng, 0.0002, 0.002), uniform_log(rng, 0.01, 1.0)
    parts, at_s = [], 0.0
    for _ in range(int(rng.integers(1, 4))):
        lasts_s = uniform_log(rng, 0.15, 0.8)
        count = max(2, int(lasts_s * rate_hz))
        glide = 1 + 0.2 * rng.uniform(-1, 1) * np.linspace(-1, 1, count)
        gaps_s = glide * np.maximum(0.1, rng.normal(1, jitter, count)) / rate_hz
        drag = pulses(np.cumsum(gaps_s), rng.lognormal(0, jitter * 2, count), width_s, total_s=lasts_s)
        floor = band_noise(rng, len(drag), low_hz=60, high_hz=uniform_log(rng, 400, 5000), slope=rng.uniform(0, 2))
        swell = np.hanning(len(drag) + 2)[1:-1] ** rng.uniform(0.3, 1.5)
        sound = convolve((drag / (drag.std() + 1e-12) + floor * rumble) * swell, frame)
        parts.append((at_s, sound * rng.uniform(0.4, 1.0)))
        at_s += lasts_s + rng.uniform(0, 0.25)
    return normalized(colour(rng, overlay(parts), spread_db=rng.uniform(0, 4)))


def _frame(rng: np.random.Generator) -> Waveform:
    """Return the response of a chair, cupboard or shoe of wood, metal or plastic, levelled."""
    lowest_hz = uniform_log(rng, 80, 500)
    loss = ((0.02, 0.15), (0.003, 0.03), (0.05, 0.3))[int(rng.integers(3))]
    return panel(
        rng, from_hz=lowest_hz, to_hz=lowest_hz * rng.uniform(6, 20), count=int(rng.integers(6, 30)), loss=loss,
        tilt=rng.uniform(-1, 0.3), lasts_s=0.25,
    )  # fmt: skip


def creak(rng: np.random.Generator) -> Waveform:
    """Return a creaking chair, floor or hinge for 0.1 to 1.5 s: slips whose rate glides between 8 and 250 Hz."""
    lasts_s = uniform_log(rng, 0.1, 1.5)
    count = samples_of(lasts_s)
    rate_hz = uniform_log(rng, 15, 150) * 2 ** (rng.uniform(0.2, 1.0) * wander(rng, count, rate_hz=rng.uniform(2, 8)))
    turns = np.cumsum(rate_hz) / RATE_HZ
    at = np.flatnonzero(np.diff(np.floor(turns), prepend=0.0))
    times_s = at / RATE_HZ + rng.normal(0, rng.uniform(0, 0.003), len(at))
    swell = np.exp(rng.uniform(0.3, 2.0) * wander(rng, count, rate_hz=rng.uniform(3, 20)))[at]
    times_s, pushes = np.append(times_s, 0.0), np.append(swell * rng.lognormal(0, 0.3, len(at)), 0.5)
    force = pulses(times_s, pushes, uniform_log(rng, 0.0001, 0.001), total_s=lasts_s)
    return normalized(colour(rng, convolve(force, _frame(rng)), spread_db=rng.uniform(0, 5)))


def chair_down(rng: np.random.Generator) -> Waveform:
    """Return the legs of a chair put down: one to four thuds 5 to 150 ms apart, on floor and frame."""
    count = int(rng.integers(1, 5))
    times_s = np.cumsum(rng.uniform(0.2, 1.8, count) * uniform_log(rng, 0.005, 0.15))
    times_s -= times_s[0]
    force = thuds(rng, times_s, rng.uniform(0.2, 1, count), lasts_s=uniform_log(rng, 0.0003, 0.006))
    both = [(0.0, _floor(rng)), (0.0, _frame(rng) * 10 ** (rng.uniform(-15, 20) / 20))]
    return normalized(colour(rng, convolve(force, overlay(both)), spread_db=rng.uniform(0, 4)))


def _floor(rng: np.random.Generator) -> Waveform:
    """Return the response of a floor, levelled: modes from 30 Hz on for boards, or a damped thud for stone."""
    lowest_hz = uniform_log(rng, 30, 200)
    highest_hz = lowest_hz * uniform_log(rng, 4, 40)
    return panel(
        rng, from_hz=lowest_hz, to_hz=min(highest_hz, 5000), count=20, loss=(0.05, 0.4), tilt=rng.uniform(-1.2, 0.4),
        lasts_s=0.3,
    )  # fmt: skip


def footsteps(rng: np.random.Generator) -> Waveform:
    """Return one to five steps 0.3 to 0.8 s apart: heel, then toe 50 to 200 ms later, and a scuff of the sole.

    A heel touches for 1 to 12 ms, depending on the shoe. Source of the pattern: Ekimov and Sabatier 2006, Vibration and
    sound signatures of human footsteps in buildings.
    """
    count, gap_s = int(rng.integers(1, 6)), uniform_log(rng, 0.3, 0.8)
    heel_s, toe_after_s, toe = uniform_log(rng, 0.0008, 0.012), rng.uniform(0.05, 0.2), uniform_log(rng, 0.1, 1.0)
    times_s = rhythm(rng, count=count, gap_s=gap_s, jitter=0.06)
    pushes = rng.lognormal(0, 0.2, count)
    contacts_s = np.concatenate([times_s, times_s + toe_after_s * rng.normal(1, 0.1, count)])
    force = thuds(rng, contacts_s, np.concatenate([pushes, pushes * toe]), lasts_s=heel_s)
    sole = _frame(rng) * 10 ** (rng.uniform(-25, 10) / 20)
    steps = convolve(force, overlay([(0.0, _floor(rng)), (0.0, sole)]))
    parts, scuff = [(0.0, steps / np.abs(steps).max())], uniform_log(rng, 0.005, 0.6)
    for at_s in times_s:
        rub = band_noise(
            rng, samples_of(rng.uniform(0.04, 0.25)), low_hz=400, high_hz=uniform_log(rng, 1500, 7000), slope=1
        )
        parts.append((float(at_s) + rng.uniform(0, toe_after_s), rub * np.hanning(len(rub) + 2)[1:-1] * scuff * 0.3))
    return normalized(colour(rng, overlay(parts), spread_db=rng.uniform(0, 4)))


def door(rng: np.random.Generator) -> Waveform:
    """Return a door that closes: handle, latch, the thump of the panel at 35 to 400 Hz, and a rattle.

    The panel's contact with the frame lasts 2 to 20 ms. The latch clicks one to three times within 60 ms of it.
    """
    lowest_hz = uniform_log(rng, 35, 150)
    leaf = panel(
        rng,
        from_hz=lowest_hz,
        to_hz=lowest_hz * rng.uniform(3, 12),
        count=25,
        loss=(0.04, 0.3),
        tilt=-rng.uniform(0, 1.5),
    )
    slams_s = np.concatenate([[0.0], rng.uniform(0.01, 0.15, int(rng.integers(0, 3)))])
    pushes = np.concatenate([[1.0], rng.uniform(0.05, 0.5, len(slams_s) - 1)])
    slam = convolve(thuds(rng, slams_s, pushes, lasts_s=uniform_log(rng, 0.002, 0.02)), leaf)
    thump = slam / np.abs(slam).max()
    lock = panel(rng, from_hz=uniform_log(rng, 800, 2500), to_hz=7500, count=12, loss=(0.005, 0.06), lasts_s=0.15)
    at_s = rng.uniform(0.1, 0.6)
    clicks = at_s + rng.uniform(-0.06, 0.06, int(rng.integers(1, 4)))
    if rng.random() < 0.5:  # the handle is pressed before, or released after
        clicks = np.concatenate([clicks, at_s + rng.choice([-1, 1]) * rng.uniform(0.08, 0.3, 2)])
    click = convolve(
        pulses(np.abs(clicks), rng.uniform(0.1, 1, len(clicks)), uniform_log(rng, 0.0001, 0.001), total_s=1.0), lock
    )
    parts = [(at_s, thump), (0.0, click / np.abs(click).max() * uniform_log(rng, 0.03, 1.5))]
    if rng.random() < 0.4:
        parts.append((at_s, _rattle(rng, lock) * uniform_log(rng, 0.02, 0.4)))
    return normalized(colour(rng, overlay(parts), spread_db=rng.uniform(0, 4)))


def _rattle(rng: np.random.Generator, body: Waveform) -> Waveform:
    """Return loose parts that hit a body 15 to 90 times per second, ever weaker, with a peak of 1."""
    lasts_s, rate_hz = uniform_log(rng, 0.08, 0.8), uniform_log(rng, 15, 90)
    times_s = np.arange(0, lasts_s, 1 / rate_hz) * rng.uniform(0.95, 1.05)
    times_s = np.abs(times_s + rng.normal(0, 0.15 / rate_hz, len(times_s)))
    pushes = np.exp(-3 * times_s / lasts_s) * rng.lognormal(0, 0.5, len(times_s))
    sound = convolve(pulses(times_s, pushes, uniform_log(rng, 0.0001, 0.001), total_s=lasts_s * 1.1), body)
    return np.asarray(sound / np.abs(sound).max())


def drawer(rng: np.random.Generator) -> Waveform:
    """Return a drawer that rolls for 0.15 to 1 s, stops with a thump, and whose contents rattle."""
    body = _frame(rng)
    lasts_s = uniform_log(rng, 0.15, 1.0)
    count = samples_of(lasts_s)
    speed = np.sin(np.linspace(rng.uniform(0.1, 0.6), np.pi * rng.uniform(0.5, 0.9), count))
    grain = np.exp(rng.uniform(0.2, 1.0) * wander(rng, count, rate_hz=uniform_log(rng, 20, 300)))
    roll = convolve(
        band_noise(rng, count, low_hz=60, high_hz=uniform_log(rng, 800, 5000), slope=1) * speed * grain, body
    )
    parts = [(0.0, roll / np.abs(roll).max() * uniform_log(rng, 0.03, 0.8))]
    stop = convolve(
        pulses([0.0, rng.uniform(0.01, 0.08)], [1.0, rng.uniform(0, 0.5)], uniform_log(rng, 0.0008, 0.01), total_s=0.1),
        body,
    )
    parts.append((lasts_s, stop / np.abs(stop).max()))
    if rng.random() < 0.6:
        content = panel(rng, from_hz=uniform_log(rng, 500, 3000), to_hz=7000, count=10, loss=(0.005, 0.1), lasts_s=0.1)
        parts.append((lasts_s, _rattle(rng, content) * uniform_log(rng, 0.05, 0.7)))
    return normalized(colour(rng, overlay(parts), spread_db=rng.uniform(0, 4)))


def dropped(rng: np.random.Generator) -> Waveform:
    """Return an object that falls on the floor and bounces ever faster, or a book that slaps down once.

    The first flight lasts 0.05 to 0.5 s; each later one 0.3 to 0.88 times the one before. Contacts last 0.1 to 8 ms.
    """
    times_s, pushes = bounces(
        rng, gap_s=uniform_log(rng, 0.05, 0.5), restitution=rng.uniform(0.3, 0.88), most=int(rng.integers(2, 20))
    )
    is_early = times_s < 2.5
    times_s, pushes = times_s[is_early], pushes[is_early] * rng.lognormal(0, 0.2, int(is_early.sum()))
    if rng.random() < 0.2:
        times_s, pushes = times_s[:1], pushes[:1]
    force = thuds(rng, times_s, pushes, lasts_s=uniform_log(rng, 0.0001, 0.008))
    bodies = [(0.0, _floor(rng)), (0.0, _object(rng) * 10 ** (rng.uniform(-10, 30) / 20))]
    return normalized(colour(rng, convolve(force, overlay(bodies)), spread_db=rng.uniform(0, 4)))


def _object(rng: np.random.Generator) -> Waveform:
    """Return the response of a fallen object of any material, from a tin to a shoe, levelled."""
    lowest_hz = uniform_log(rng, 200, 4000)
    return panel(
        rng, from_hz=lowest_hz, to_hz=min(7800, lowest_hz * rng.uniform(2, 12)), count=int(rng.integers(2, 12)),
        loss=(0.002, 0.3), tilt=rng.uniform(-1, 0.5), lasts_s=0.5,
    )  # fmt: skip


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
    """Return one to twelve keystrokes, 2 to 12 per second, on a mechanical or membrane keyboard.

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


Model: TypeAlias = Callable[[np.random.Generator], Waveform]
"""Draws a random sound of a kind."""

GROUPS: Mapping[str, tuple[Model, ...]] = MappingProxyType(
    {
        "claps": (clap, clap, applause, finger_snap, rubbing),
        "coughs": (utterances.cough, utterances.throat_clearing, utterances.sneeze, utterances.laugh),
        "speech": (utterances.talk, utterances.talk, utterances.whisper, utterances.shout, utterances.pop),
        "cups": (put_down, clink, dishes, scrape_plate, stir),
        "chairs": (chair_scrape, creak, chair_down, footsteps),
        "doors": (door, drawer, dropped),
        "keys": (keys, coins, zip_fastener),
        "typing": (typing, switch),
        "others": (
            cards,
            crackle,
            page,
            backgrounds.wind,
            backgrounds.phone,
            backgrounds.vibration,
            backgrounds.music,
            backgrounds.television,
            backgrounds.dog_bark,
            backgrounds.dripping,
            backgrounds.beats,
            backgrounds.handling,
        ),
    }
)
"""Models of each group. A model that occurs twice is drawn twice as often."""


def _draw(models: tuple[Model, ...], rng: np.random.Generator) -> Waveform:
    """Return a random sound of a group."""
    return models[int(rng.integers(len(models)))](rng)


EVERYDAY: Mapping[str, Model] = MappingProxyType({group: partial(_draw, models) for group, models in GROUPS.items()})
"""One model for each group, which draws a random sound of it."""
