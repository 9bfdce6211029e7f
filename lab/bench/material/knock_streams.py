"""Streams of sound for benchmarks of the knock detector: modelled hits, everyday sounds, and alterations of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hardware.knock.sensor import Sound
from lab.sounds import devices
from lab.sounds.devices import (
    Response,
    apply_response,
    draw_room,
    high_pass,
    low_pass,
    peaking,
    reverberate,
    room_response,
    tilted,
)
from lab.sounds.impacts import RATE_HZ
from lab.sounds.scenes import LEAD, hit
from lab.sounds.surroundings import Waveform, draw_microphone, quantize
from lab.sounds.tables import random_table

_HIT_EVERY_S, _LEARN_EVERY_S = 1.5, 0.75
_FIRST_S = 1.0
# Peak of hits in a stream and level of its constant noise, relative to full scale.
_PEAK, _NOISE = 0.5, 10 ** (-70 / 20)
# Level of the noise of a room below the hits at 1 m, in dB: 65 dB sound pressure level and 25 dB.
_ROOM_NOISE_BELOW_DB = 40.0
# Pause after each everyday sound.
_PAUSE_S = 1.0
_LOUDNESS_DB = (-20.0, 0.0)

Altering = Callable[[np.random.Generator, Waveform], Waveform]
"""Returns a sound as changed by a device or room. Constant alterations ignore the random generator."""


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """A recording with known sounds.

    Attributes:
        samples: Samples at 16 kHz, shape (N,), float64.
        starts_s: Start of each sound in seconds.
        ends_s: End of each sound in seconds.
    """

    samples: Waveform
    starts_s: tuple[float, ...]
    ends_s: tuple[float, ...]

    def altered(self, rng: np.random.Generator, alter: Altering) -> Stream:
        """Return the stream after an alteration."""
        return replace(self, samples=alter(rng, self.samples))


def stream_of_hits(rng: np.random.Generator, kind: Sound, count: int, *, learned: int = 0) -> Stream:
    """Return hits at a random table, 1.5 s apart, by a microphone with a level response and no echoes.

    Args:
        rng: Random generator.
        kind: Kind of the hits.
        count: Number of hits.
        learned: Number of further hits before them, 0.75 s apart, for a table to learn from.
    """
    table, drawn = random_table(rng), draw_microphone(rng)
    microphone = replace(drawn, response=np.ones_like(drawn.response), smear_db=None)
    first_s = _FIRST_S + _LEARN_EVERY_S * learned
    starts_s = (
        *(_FIRST_S + _LEARN_EVERY_S * index for index in range(learned)),
        *(first_s + _HIT_EVERY_S * index for index in range(count)),
    )
    samples = rng.normal(0, _NOISE, round((first_s + _HIT_EVERY_S * count) * RATE_HZ))
    for start_s in starts_s:
        sound = hit(rng, kind, table, microphone)
        first = round(start_s * RATE_HZ) - LEAD
        samples[first : first + len(sound)] += _PEAK * sound / np.abs(sound).max()
    return Stream(samples, starts_s, tuple(start_s + 0.1 for start_s in starts_s))


def stream_of(rng: np.random.Generator, model: Callable[[np.random.Generator], Waveform], count: int) -> Stream:
    """Return sounds of a model with a peak of -26 to -6 dB, a second apart."""
    parts, starts_s, ends_s = [np.zeros(round(_FIRST_S * RATE_HZ))], [], []
    at = len(parts[0])
    for _ in range(count):
        sound = model(rng) * _PEAK * 10 ** (rng.uniform(*_LOUDNESS_DB) / 20)
        parts += [sound, np.zeros(round(_PAUSE_S * RATE_HZ))]
        starts_s.append(at / RATE_HZ)
        ends_s.append((at + len(sound)) / RATE_HZ)
        at += len(sound) + len(parts[-1])
    samples = np.concatenate(parts)
    return Stream(samples + rng.normal(0, _NOISE, len(samples)), tuple(starts_s), tuple(ends_s))


def at_distance(rng: np.random.Generator, sound: Waveform, *, distance_m: float) -> Waveform:
    """Return a sound in a random room with noise 40 dB below a hit at 1 m, so that the noise is louder farther away."""
    heard = reverberate(sound, room_response(rng, draw_room(rng, distance_m=distance_m)))
    noise = devices.draw_background(rng, len(sound))
    below_db = _ROOM_NOISE_BELOW_DB - 20 * float(np.log10(distance_m))
    return _scaled(heard + devices.add_background(sound, noise, below_db=below_db) - sound)


def _scaled(sound: Waveform) -> Waveform:
    return np.asarray(_PEAK * sound / (np.abs(sound).max() + 1e-12))


def _same(rng: np.random.Generator, sound: Waveform) -> Waveform:
    return sound


def _respond(rng: np.random.Generator, sound: Waveform, *, response: Response) -> Waveform:
    return np.asarray(apply_response(sound.astype(np.float32), response), np.float64)


def _overload(rng: np.random.Generator, sound: Waveform, *, by_db: float) -> Waveform:
    return np.asarray(np.clip(sound / np.abs(sound).max() * 10 ** (by_db / 20), -1, 1))


def _coarse(rng: np.random.Generator, sound: Waveform) -> Waveform:
    return quantize(sound, bits=8)


def _device(rng: np.random.Generator, sound: Waveform, *, alter: devices.Alteration) -> Waveform:
    return alter(sound)


def _noisy(rng: np.random.Generator, sound: Waveform, *, below_db: float) -> Waveform:
    """Add pink noise."""
    noise = devices.coloured_noise(rng, len(sound), slope=1.0)
    return devices.add_background(sound, noise, below_db=below_db)


def _record(rng: np.random.Generator, sound: Waveform) -> Waveform:
    return np.asarray(devices.recorded_by_chance(rng, sound), np.float64)


def _alterations() -> dict[str, Altering]:
    rows: dict[str, Altering] = {"none": _same}
    for db in (-6, -4, -2, 2, 4, 6):
        rows[f"{db:+d} dB per octave"] = partial(_respond, response=tilted(db))
    for at_hz in (500, 800, 1_500, 2_500, 4_000):
        for db in (-8, 8):
            rows[f"{db:+d} dB at {at_hz} Hz"] = partial(_respond, response=peaking(at_hz, db))
    for limit_hz in (3_000, 5_000):
        rows[f"low-pass {limit_hz} Hz"] = partial(_respond, response=low_pass(limit_hz))
    rows["high-pass 200 Hz"] = partial(_respond, response=high_pass(200))
    rows["20 dB clipped"] = partial(_overload, by_db=20)
    rows["8 bits"] = _coarse
    rows["telephone, 8 kHz"] = partial(_device, alter=devices.telephone)
    rows["noise suppression"] = partial(_device, alter=devices.suppress_noise)
    rows["noise gate"] = partial(_device, alter=devices.gate)
    rows["automatic gain"] = partial(_device, alter=lambda sound: _scaled(devices.level(sound)))
    rows["codec"] = partial(_device, alter=devices.encode)
    for db in (30, 20, 10, 6):
        rows[f"noise {db} dB below the hits"] = partial(_noisy, below_db=db)
    for distance_m in (0.5, 2.0):
        rows[f"room, {distance_m} m"] = partial(at_distance, distance_m=distance_m)
    rows["random rooms and devices"] = _record
    return rows


ALTERATIONS: Mapping[str, Altering] = _alterations()
"""Alterations of recordings by their description. The first one changes nothing."""


def concatenated(streams: Sequence[Stream]) -> Stream:
    """Return streams one after the other."""
    starts_s: list[float] = []
    ends_s: list[float] = []
    at_s = 0.0
    for stream in streams:
        starts_s += [at_s + start_s for start_s in stream.starts_s]
        ends_s += [at_s + end_s for end_s in stream.ends_s]
        at_s += len(stream.samples) / RATE_HZ
    return Stream(np.concatenate([stream.samples for stream in streams]), tuple(starts_s), tuple(ends_s))


def hit_times_s(samples: Waveform, *, share: float, gap_s: float) -> NDArray[np.float64]:
    """Return the times of hits in a recording in seconds: above a *share* of its peak, after a pause of *gap_s*."""
    at_s = np.flatnonzero(np.abs(samples) > share * np.abs(samples).max()) / RATE_HZ
    return np.asarray(at_s[np.diff(at_s, prepend=-gap_s - 1) > gap_s])
