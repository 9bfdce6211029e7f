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

from lab.sounds import backgrounds, furniture, utterances
from lab.sounds.impacts import RATE_HZ
from lab.sounds.signals import (
    band_noise,
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
    uniform_log,
    wander,
)
from lab.sounds.surroundings import Waveform


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


Model: TypeAlias = Callable[[np.random.Generator], Waveform]
"""Draws a random sound of a kind."""

GROUPS: Mapping[str, tuple[Model, ...]] = MappingProxyType(
    {
        "claps": (clap, clap, applause, finger_snap, rubbing),
        "coughs": (utterances.cough, utterances.throat_clearing, utterances.sneeze, utterances.laugh),
        "speech": (utterances.talk, utterances.talk, utterances.whisper, utterances.shout, utterances.pop),
        "cups": (furniture.put_down, furniture.clink, furniture.dishes, furniture.scrape_plate, furniture.stir),
        "chairs": (furniture.chair_scrape, furniture.creak, furniture.chair_down, furniture.footsteps),
        "doors": (furniture.door, furniture.drawer, furniture.dropped),
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
