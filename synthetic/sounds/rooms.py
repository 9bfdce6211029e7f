"""Random room responses: direct sound, early reflections and reverberation at a distance from the microphone."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from synthetic.sounds.impacts import RATE_HZ
from synthetic.sounds.signals import convolve, fast_length, uniform_log
from synthetic.sounds.surroundings import Waveform

# Critical distance of a source without direction, in m per square root of m3/s (Kuttruff, Room Acoustics).
_CRITICAL_M = 0.057
# Bands of the reverberation, in Hz. High frequencies decay faster, by absorption in air and soft furniture.
_EDGES_HZ = (0, 400, 1_200, 3_500, 8_001)
# Spread of the reverberation time (share) and level (dB) of each band.
_TIME_SPREAD, _LEVEL_SPREAD_DB = 0.2, 2.0
# Longest response. Later reverberation is below the noise of a room.
_LONGEST_S, _EXTRA = 0.9, 400
_BUILD_UP_S = 0.004
# First and last early reflection after the direct sound: detours of 0.14 to 10 m.
_EARLY_S = (0.0004, 0.030)


@dataclass(frozen=True, slots=True)
class Acoustics:
    """A room with a sound source and a microphone.

    Attributes:
        distance_m: Distance between source and microphone.
        reverberation_s: Time in which sound below 400 Hz decays by 60 dB.
        volume_m3: Volume of the room.
        treble: Reverberation time above 3.5 kHz relative to that below 400 Hz.
        reflections: Number of early reflections.
        gap_s: Time between the direct sound and the reverberation.
    """

    distance_m: float
    reverberation_s: float = 0.5
    volume_m3: float = 60.0
    treble: float = 0.7
    reflections: int = 6
    gap_s: float = 0.006

    @property
    def direct_to_reverberant_db(self) -> float:
        """Level of the direct sound relative to the reverberation, without early reflections, in dB.

        Both are equal at the critical distance of 0.057 sqrt(volume / reverberation time), and the direct sound falls
        by 6 dB per doubling of the distance, while the reverberation is as loud everywhere.
        """
        critical_m = _CRITICAL_M * float(np.sqrt(self.volume_m3 / self.reverberation_s))
        return 20 * float(np.log10(critical_m / self.distance_m))


def draw_room(rng: np.random.Generator, *, distance_m: float | None = None) -> Acoustics:
    """Return a random room: 20 to 150 m3, a reverberation time of 0.2 to 1.3 s, and by default 0.2 to 4.5 m away."""
    return Acoustics(
        distance_m=uniform_log(rng, 0.2, 4.5) if distance_m is None else distance_m,
        reverberation_s=uniform_log(rng, 0.2, 1.3),
        volume_m3=rng.uniform(20, 150),
        treble=rng.uniform(0.35, 1.1),
        reflections=int(rng.integers(2, 12)),
        gap_s=rng.uniform(0.001, 0.012),
    )


def room_response(rng: np.random.Generator, room: Acoustics) -> Waveform:
    """Return a random impulse response of a room, whose first sample is the direct sound of 1.

    Its reverberation is noise with an exponential decay in each of four bands (Moorer 1979, About this reverberation
    business). The first 4 ms of it fade in.
    """
    count = int(min(room.reverberation_s, _LONGEST_S) * RATE_HZ) + _EXTRA
    late = _reverberation(rng, room, count)
    response = late * 10 ** (-room.direct_to_reverberant_db / 20) / (np.sqrt((late**2).sum()) + 1e-12)
    response[0] += 1.0
    # Nearby surfaces reflect less than the direct sound, the more so as the direct path is short.
    strength = 0.5 * min(1.0, room.distance_m / 1.5 + 0.2)
    at = (rng.uniform(*_EARLY_S, room.reflections) * RATE_HZ).astype(np.int64)
    np.add.at(response, at, rng.normal(0, strength, room.reflections))
    return np.asarray(response)


def _reverberation(rng: np.random.Generator, room: Acoustics, count: int) -> Waveform:
    """Return reverberation of any level, shape (count,)."""
    times_s = np.arange(count) / RATE_HZ
    length = fast_length(count)
    hz = np.fft.rfftfreq(length, 1 / RATE_HZ)
    white = np.fft.rfft(rng.standard_normal(length))
    late = np.zeros(count)
    for band, (low_hz, high_hz) in enumerate(pairwise(_EDGES_HZ)):
        noise = np.fft.irfft(white * ((hz >= low_hz) & (hz < high_hz)), length)[:count]
        decay_s = room.reverberation_s * room.treble ** (band / 3) * rng.uniform(1 - _TIME_SPREAD, 1 + _TIME_SPREAD)
        late += noise * 10 ** (rng.normal(0, _LEVEL_SPREAD_DB) / 20 - 3 * times_s / decay_s)
    return late * np.clip((times_s - room.gap_s) / _BUILD_UP_S, 0, 1)


def reverberate(sound: Waveform, response: Waveform) -> Waveform:
    """Return a sound in a room with an impulse *response*, cut to its length."""
    return convolve(sound, response)[: len(sound)]
