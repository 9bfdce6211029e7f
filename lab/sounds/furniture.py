"""Sounds of chairs, steps, doors, drawers, objects that fall on the floor, cups, glasses, plates and cutlery."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lab.sounds.impacts import RATE_HZ
from lab.sounds.signals import (
    band_noise,
    bounces,
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
from lab.sounds.surroundings import Waveform

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
        drag = _slips(rng, lasts_s=lasts_s, rate_hz=rate_hz, jitter=jitter, width_s=width_s)
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


def _slips(rng: np.random.Generator, *, lasts_s: float, rate_hz: float, jitter: float, width_s: float) -> Waveform:
    """Return a train of slips whose rate glides by up to a fifth."""
    count = max(2, int(lasts_s * rate_hz))
    glide = 1 + 0.2 * rng.uniform(-1, 1) * np.linspace(-1, 1, count)
    gaps_s = glide * np.maximum(0.1, rng.normal(1, jitter, count)) / rate_hz
    return pulses(np.cumsum(gaps_s), rng.lognormal(0, jitter * 2, count), width_s, total_s=lasts_s)


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
