"""Rooms, microphones and recording devices: responses, codecs, noise suppression, gates, levelling and clipping.

Each alteration is a function with explicit parameters. A `draw_` function beside it returns it with random ones. All
take and return sounds at 16 kHz of the same length. `record` is a random chain of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lab.sounds.signals import RATE_HZ, Waveform, clip_softly, convolve, fast_length, quantize, uniform_log

Response: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Maps frequencies in Hz to gains in dB, both of shape (F,)."""

_BEND_OCTAVES = 0.35
# Responses are constant below the lowest frequency, as those of microphones are not straight lines there.
_LOWEST_HZ = 60.0
_MIDDLE_HZ = 1_000.0
# Lowest gain of a response. Real devices have noise and leaks instead of silence.
_MIN_DB = -60.0


def octaves(hz: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return frequencies in octaves above 1 kHz. Frequencies below 60 Hz are treated as 60 Hz."""
    return np.asarray(np.log2(np.maximum(hz, _LOWEST_HZ) / _MIDDLE_HZ))


def tilted(db_per_octave: float) -> Response:
    """Return a response with a constant slope. Positive values sound brighter, negative values duller."""
    return lambda hz: db_per_octave * octaves(hz)


def peaking(at_hz: float, by_db: float, *, width_octaves: float = _BEND_OCTAVES) -> Response:
    """Return a response with a Gaussian peak of *by_db* at *at_hz*. Negative values give a dip.

    Args:
        at_hz: Centre of the peak, from 60 Hz.
        width_octaves: Distance from the centre at which the gain falls to a third (1/e).
    """
    return lambda hz: by_db * np.exp(-(((octaves(hz) - np.log2(at_hz / 1_000)) / width_octaves) ** 2))


def low_pass(from_hz: float, *, order: int = 4) -> Response:
    """Return a Butterworth low-pass response that falls by 6 dB per octave and order above *from_hz*."""
    return lambda hz: -10 * np.log10(1 + (hz / from_hz) ** (2 * order))


def high_pass(to_hz: float, *, order: int = 2) -> Response:
    """Return a Butterworth high-pass response that falls by 6 dB per octave and order below *to_hz*."""
    return lambda hz: -10 * np.log10(1 + (to_hz / np.maximum(hz, 1.0)) ** (2 * order))


def combined(*responses: Response) -> Response:
    """Return the response of devices in series, at least -60 dB."""
    return lambda hz: np.maximum(_MIN_DB, np.sum([response(hz) for response in responses], axis=0))


def filtered(sound: Waveform, response: Response) -> Waveform:
    """Return a sound after a *response* without phase, so that it is not delayed, shape (N,)."""
    # Pad by half a second to keep the decay from wrapping around.
    count = fast_length(len(sound) + RATE_HZ // 2)
    gains_db = response(np.asarray(np.fft.rfftfreq(count, 1 / RATE_HZ)))
    return np.asarray(np.fft.irfft(np.fft.rfft(sound, count) * 10 ** (gains_db / 20), count)[: len(sound)])


def apply_response(samples: NDArray[np.float32], response: Response) -> NDArray[np.float32]:
    """Filter a recording with a *response*, without delay and with the same peak.

    Args:
        samples: Recording at 16 kHz, shape (N,).
        response: Response of another microphone relative to the recording's.
    """
    sound = filtered(np.asarray(samples, np.float64), response)
    return np.asarray(sound * (np.abs(samples).max() / max(1e-12, float(np.abs(sound).max()))), np.float32)


# Critical distance of a source without direction, in m per square root of m3/s (Kuttruff, Room Acoustics).
_CRITICAL_M = 0.057
# Bands of the reverberation, in Hz. High frequencies decay faster, by absorption in air and soft furniture.
_EDGES_HZ = (0, 400, 1_200, 3_500, 8_001)
# Spread of the reverberation time (share) and level (dB) of each band.
_TIME_SPREAD = 0.2
_LEVEL_SPREAD_DB = 2.0
# Longest response. Later reverberation is below the noise of a room.
_LONGEST_S = 0.9
_EXTRA = 400
_BUILD_UP_S = 0.004
# First and last early reflection after the direct sound: detours of 0.14 to 10 m.
_EARLY_S = (0.0004, 0.030)


@dataclass(frozen=True, slots=True)
class Acoustics:
    """A room with a sound source and a microphone.

    Attributes:
        reverberation_s: Time in which sound below 400 Hz decays by 60 dB.
        treble: Reverberation time above 3.5 kHz relative to that below 400 Hz.
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
    # Reverberation of any level, shape (count,).
    times_s = np.arange(count) / RATE_HZ
    length = fast_length(count)
    hz = np.fft.rfftfreq(length, 1 / RATE_HZ)
    white = np.fft.rfft(rng.standard_normal(length))
    late = np.zeros(count)
    for band, (low_hz, high_hz) in enumerate(pairwise(_EDGES_HZ)):
        noise = np.fft.irfft(white * ((hz >= low_hz) & (hz < high_hz)), length)[:count]
        decay_s = room.reverberation_s * room.treble ** (band / 3) * rng.uniform(1 - _TIME_SPREAD, 1 + _TIME_SPREAD)
        late += noise * 10 ** (rng.normal(0, _LEVEL_SPREAD_DB) / 20 - 3 * times_s / decay_s)
    late = late * np.clip((times_s - room.gap_s) / _BUILD_UP_S, 0, 1)
    response = late * 10 ** (-room.direct_to_reverberant_db / 20) / (np.sqrt((late**2).sum()) + 1e-12)
    response[0] += 1.0
    # Nearby surfaces reflect less than the direct sound, the more so as the direct path is short.
    strength = 0.5 * min(1.0, room.distance_m / 1.5 + 0.2)
    at = (rng.uniform(*_EARLY_S, room.reflections) * RATE_HZ).astype(np.int64)
    np.add.at(response, at, rng.normal(0, strength, room.reflections))
    return np.asarray(response)


def reverberate(sound: Waveform, response: Waveform) -> Waveform:
    """Return a sound in a room with an impulse *response*, cut to its length."""
    return convolve(sound, response)[: len(sound)]


Alteration: TypeAlias = Callable[[Waveform], Waveform]
"""Returns a sound as changed by a device."""

# RMS of a hit relative to its peak, to state levels relative to the hits of a recording.
_HIT_RMS = 0.25
# Steps of a gate's and of a leveller's envelope, in samples (2 and 4 ms).
_GATE_STEP = 32
_LEVEL_STEP = 64
_SUPPRESSOR_WINDOW = 512
# Bands in which a codec sets its quantisation noise.
_CODEC_BANDS = 21
_MU = 255


def draw_response(rng: np.random.Generator) -> Response:
    """Return a random frequency response: a tilt, up to five resonances, and band limits.

    The tilt is up to 6.5 dB per octave. Three of five devices have a lower limit of 30 to 500 Hz, and three of five an
    upper limit of 2.5 to 12 kHz.
    """
    parts = [tilted(float(np.clip(rng.normal(0, 2.2), -6.5, 6.5)))]
    parts += [_draw_peak(rng, spread_db=5, width_octaves=(0.05, 0.8)) for _ in range(int(rng.integers(0, 6)))]
    low_hz = uniform_log(rng, 30, 500) if rng.random() < 0.6 else 10.0
    parts.append(high_pass(low_hz, order=int(rng.integers(1, 5))))
    if rng.random() < 0.6:
        parts.append(low_pass(uniform_log(rng, 2_500, 12_000), order=int(rng.integers(1, 9))))
    return combined(*parts)


def _draw_peak(rng: np.random.Generator, *, spread_db: float, width_octaves: tuple[float, float]) -> Response:
    """Return a random peak or dip between 100 Hz and 7.5 kHz."""
    return peaking(
        1_000 * 2 ** rng.uniform(-3.3, 2.9), rng.normal(0, spread_db), width_octaves=uniform_log(rng, *width_octaves)
    )


def encode(
    sound: Waveform, *, window: int = 512, cut_hz: float = 6_000.0, snr_db: float = 8.0, floor_db: float = 45.0
) -> Waveform:
    """Return a sound after a lossy transform codec, which smears quantisation noise over its windows.

    Each of about 20 bands is quantised with a step relative to its own level.

    Args:
        window: Length of a window in samples: 256 to 1024.
        cut_hz: Upper limit of the codec: 3500 to 8000 Hz.
        snr_db: Level of a band above its quantisation noise, approximately: 3 to 18 dB.
        floor_db: Smallest quantisation step of a window below its strongest component: 30 to 60 dB.
    """
    spectra, shape = _analyse(sound, window)
    levels = np.abs(spectra)
    edges = np.unique(np.concatenate([[0], np.geomspace(2, window // 2 + 1, _CODEC_BANDS).astype(int)]))
    widths = np.diff(edges)
    powers = np.add.reduceat(levels**2, edges[:-1], axis=1) / widths
    # Real and imaginary part add a noise of step^2 / 12 each, so that the ratio is 1 dB less than *snr_db*.
    steps = np.repeat(np.sqrt(12 * powers) * 0.8 * 10 ** (-snr_db / 20), widths, axis=1)
    steps = np.maximum(steps, levels.max(axis=1, keepdims=True) * 10 ** (-floor_db / 20)) + 1e-9
    coded = steps * (np.round(spectra.real / steps) + 1j * np.round(spectra.imag / steps))
    return _synthesise(coded * (np.fft.rfftfreq(window, 1 / RATE_HZ) < cut_hz), shape, len(sound))


def draw_codec(rng: np.random.Generator) -> Alteration:
    """Return `encode` with random parameters."""
    return partial(
        encode,
        window=int(rng.choice([256, 512, 1024])),
        cut_hz=rng.uniform(3_500, 8_000),
        snr_db=rng.uniform(3, 18),
        floor_db=rng.uniform(30, 60),
    )


def suppress_noise(
    sound: Waveform,
    *,
    quantile: float = 0.3,
    oversubtract: float = 3.0,
    floor_db: float = 20.0,
    exponent: float = 0.75,
    smoothing: float = 0.4,
) -> Waveform:
    """Return a sound after spectral subtraction of its constant noise (Boll 1979).

    Args:
        quantile: Quantile over time of each frequency's power that is taken for noise: 0.1 to 0.5.
        oversubtract: Factor on the power of the noise: 1 to 6.
        floor_db: Greatest attenuation, for an exponent of 0.5: 8 to 40 dB. A larger exponent attenuates more.
        exponent: Exponent of the share of power that is kept: 0.5 (subtraction of powers) to 1 (Wiener filter).
        smoothing: Share of the last window's gain that remains, every 16 ms: 0 to 0.7.
    """
    spectra, shape = _analyse(sound, _SUPPRESSOR_WINDOW)
    powers = np.abs(spectra) ** 2
    noise = np.quantile(powers, quantile, axis=0) * oversubtract
    gains = np.maximum(1 - noise / (powers + 1e-12), 10 ** (-floor_db / 10)) ** exponent
    last = gains[0]
    for index, gain in enumerate(gains):
        gains[index] = last = smoothing * last + (1 - smoothing) * gain
    return _synthesise(spectra * gains, shape, len(sound))


def draw_suppressor(rng: np.random.Generator) -> Alteration:
    """Return `suppress_noise` with random parameters."""
    return partial(
        suppress_noise,
        quantile=rng.uniform(0.1, 0.5),
        oversubtract=rng.uniform(1.0, 6.0),
        floor_db=rng.uniform(8, 40),
        exponent=rng.uniform(0.5, 1.0),
        smoothing=rng.uniform(0.0, 0.7),
    )


def _analyse(sound: Waveform, window: int) -> tuple[NDArray[np.complex128], Waveform]:
    """Return the spectra of half-overlapping windows, shape (M, window / 2 + 1), and the shape of a window."""
    hop = window // 2
    shape = np.sin(np.pi * (np.arange(window) + 0.5) / window)
    padded = np.concatenate([np.zeros(hop), sound, np.zeros(window + hop - len(sound) % hop)])
    frames = np.lib.stride_tricks.sliding_window_view(padded, window)[::hop]
    return np.fft.rfft(frames * shape, axis=1), shape


def _synthesise(spectra: NDArray[np.complex128], shape: Waveform, count: int) -> Waveform:
    """Return the sound of the spectra of half-overlapping windows, shape (count,)."""
    hop = len(shape) // 2
    frames = np.fft.irfft(spectra, len(shape), axis=1) * shape
    total = np.zeros((len(frames) + 1, hop))
    total[:-1] += frames[:, :hop]
    total[1:] += frames[:, hop:]
    return total.ravel()[hop : hop + count]


def gate(
    sound: Waveform,
    *,
    threshold: float = 0.4,
    hold_s: float = 0.1,
    attack_s: float = 0.003,
    release_s: float = 0.05,
    floor_db: float = 40.0,
) -> Waveform:
    """Return a sound after a noise gate, which mutes what is quieter than a threshold.

    Args:
        threshold: Position of the threshold between the median level (0) and the peak (1), in dB: 0.15 to 0.6.
        hold_s: Time that the gate stays open: 0.01 to 0.3 s.
        attack_s: Time constant of opening: 0.0005 to 0.01 s. It cuts the start of sounds.
        release_s: Time constant of closing: 0.01 to 0.15 s.
        floor_db: Attenuation of the closed gate: 15 to 90 dB.
    """
    levels = _envelope(sound, _GATE_STEP)
    if not len(levels):
        return sound
    usual = float(np.median(levels)) + 1e-6
    limit = usual * max(1.0, float(levels.max()) / usual) ** threshold
    step_s = _GATE_STEP / RATE_HZ
    opens, closes = float(np.exp(-step_s / attack_s)), float(np.exp(-step_s / release_s))
    floor, hold = 10 ** (-floor_db / 20), int(hold_s / step_s)
    gains, gain, left = [], floor, 0
    for is_loud in (levels > limit).tolist():
        left = hold if is_loud else left - 1
        target = 1.0 if left > 0 or is_loud else floor
        gain = target + (gain - target) * (opens if target > gain else closes)
        gains.append(gain)
    return sound * _interpolated(np.array(gains, np.float64), _GATE_STEP, len(sound))


def draw_gate(rng: np.random.Generator) -> Alteration:
    """Return `gate` with random parameters. Half of the gates mute completely."""
    return partial(
        gate,
        threshold=rng.uniform(0.15, 0.6),
        hold_s=rng.uniform(0.01, 0.3),
        attack_s=rng.uniform(0.0005, 0.01),
        release_s=rng.uniform(0.01, 0.15),
        floor_db=rng.uniform(15, 40) if rng.random() < 0.5 else 90.0,
    )


def level(sound: Waveform, *, strength: float = 0.5, release_s: float = 0.3) -> Waveform:
    """Return a sound after automatic gain control, which reduces peaks at once and then recovers. Changes the peak.

    Args:
        strength: Share of level differences that is removed, in dB: 0.2 to 0.8.
        release_s: Time constant of the recovery: 0.05 to 0.8 s.
    """
    levels = _envelope(sound, _LEVEL_STEP)
    if not len(levels):
        return sound
    keeps, held = float(np.exp(-_LEVEL_STEP / RATE_HZ / release_s)), 0.0
    envelope = []
    for value in levels.tolist():
        held = max(value, held * keeps)
        envelope.append(held)
    # The gain stays below that of a sound 40 dB quieter than the peak.
    gains = (np.array(envelope) + 0.01 * levels.max() + 1e-6) ** -strength
    return sound * _interpolated(np.asarray(gains, np.float64), _LEVEL_STEP, len(sound))


def draw_leveller(rng: np.random.Generator) -> Alteration:
    """Return `level` with random parameters."""
    return partial(level, strength=rng.uniform(0.2, 0.8), release_s=rng.uniform(0.05, 0.8))


def _envelope(sound: Waveform, step: int) -> NDArray[np.float64]:
    """Return the peak of each whole step."""
    count = len(sound) // step
    return np.asarray(np.abs(sound[: count * step]).reshape(count, step).max(axis=1, initial=0.0))


def _interpolated(gains: NDArray[np.float64], step: int, count: int) -> Waveform:
    """Return gains given for the middle of each step, shape (count,)."""
    return np.asarray(np.interp(np.arange(count), np.arange(len(gains)) * step + step / 2, gains))


def telephone(sound: Waveform, *, low_hz: float = 300.0, high_hz: float = 3_400.0, is_mu_law: bool = True) -> Waveform:
    """Return a sound after a telephone line.

    Args:
        sound: Sound, shape (N,). It is clipped at full scale if *is_mu_law*.
        low_hz: Lower limit: 150 to 320 Hz. Below it, the response falls by 18 dB per octave.
        high_hz: Upper limit: 3200 to 3700 Hz. Above it, the response falls by 72 dB per octave.
        is_mu_law: Whether samples are rounded to 8 bits by the mu-law of ITU-T G.711.
    """
    line = filtered(sound, combined(high_pass(low_hz, order=3), low_pass(high_hz, order=12)))
    if not is_mu_law:
        return line
    clipped = np.clip(line, -1, 1)
    steps = np.round(127 * np.log1p(_MU * np.abs(clipped)) / np.log1p(_MU)) / 127
    return np.asarray(np.sign(clipped) * np.expm1(steps * np.log1p(_MU)) / _MU)


def draw_telephone(rng: np.random.Generator) -> Alteration:
    """Return `telephone` with random parameters."""
    return partial(
        telephone, low_hz=rng.uniform(150, 320), high_hz=rng.uniform(3_200, 3_700), is_mu_law=bool(rng.random() < 0.5)
    )


def coloured_noise(rng: np.random.Generator, count: int, *, slope: float, response: Response | None = None) -> Waveform:
    """Return constant noise with an RMS of 1, shape (count,).

    Args:
        slope: Exponent of the decrease of power with frequency, above 20 Hz: 0 white, 1 pink, 2 brown.
    """
    length = fast_length(count)
    hz = np.asarray(np.fft.rfftfreq(length, 1 / RATE_HZ), np.float64)
    gains = np.maximum(hz, 20.0) ** (-slope / 2)
    if response is not None:
        gains = gains * 10 ** (response(hz) / 20)
    noise = np.fft.irfft(np.fft.rfft(rng.standard_normal(length)) * gains, length)[:count]
    return np.asarray(noise / (noise.std() + 1e-12))


def draw_background(rng: np.random.Generator, count: int) -> Waveform:
    """Return random background noise with an RMS of 1, shape (count,).

    Its slope is 0 to 2.8 with up to three resonances. Some of it varies in level, and some has a tone of 50 Hz to 2 kHz
    with harmonics, as of mains, fans and motors.
    """
    peaks = [_draw_peak(rng, spread_db=8, width_octaves=(0.1, 1.0)) for _ in range(int(rng.integers(0, 4)))]
    response = combined(*peaks) if peaks else None
    noise = coloured_noise(rng, count, slope=rng.uniform(0, 2.8), response=response)
    if rng.random() < 0.3:
        knots = int(rng.integers(4, 30))
        noise *= np.interp(np.arange(count), np.linspace(0, count, knots), rng.lognormal(0, 0.5, knots))
    if rng.random() < 0.25:
        turns = uniform_log(rng, 50, 2_000) * np.arange(count) / RATE_HZ
        for harmonic in range(1, int(rng.integers(2, 8))):
            gain = noise.std() * rng.uniform(0, 1.2) / harmonic
            noise = noise + gain * np.sin(2 * np.pi * harmonic * turns + rng.uniform(0, 6))
    return np.asarray(noise / (noise.std() + 1e-12))


def add_background(sound: Waveform, background: Waveform, *, below_db: float) -> Waveform:
    """Return a sound with a *background* whose RMS is *below_db* below that of the loudest hit.

    The RMS of a hit is taken for a quarter of its peak. Training uses 6 to 50 dB.
    """
    rms = _HIT_RMS * float(np.abs(sound).max(initial=0.0)) * 10 ** (-below_db / 20)
    return sound + rms * background


def recorded_by_chance(rng: np.random.Generator, dry: Waveform) -> NDArray[np.float32]:
    """Return a dry recording in a random room as recorded by a random device.

    Args:
        dry: Sound at the source at 16 kHz, of any loudness, shape (N,).

    Returns:
        Samples of 16 bits from -1 to 1, shape (N,).
    """
    sound = np.asarray(dry, np.float64)
    if rng.random() < 0.75:
        sound = reverberate(sound, room_response(rng, draw_room(rng)))
    for _ in range(int(rng.choice([0, 1, 2], p=[0.3, 0.5, 0.2]))):
        sound = filtered(sound, draw_response(rng))
    if rng.random() < 0.6:
        sound = add_background(sound, draw_background(rng, len(sound)), below_db=rng.uniform(6, 50))
    sound = _to_full_scale(sound)
    for share, draw in ((0.25, draw_leveller), (0.12, draw_suppressor), (0.10, draw_gate)):
        if rng.random() < share:
            sound = _to_full_scale(draw(rng)(sound))
    # A third of the recordings are too loud.
    gain_db = rng.uniform(0, 26) if rng.random() < 0.33 else -rng.uniform(0, 30)
    sound = sound * 10 ** (gain_db / 20)
    sound = np.clip(sound, -1, 1) if rng.random() < 0.5 else clip_softly(sound, limit=rng.uniform(0.3, 1))
    for share, draw in ((0.10, draw_telephone), (0.22, draw_codec)):
        if rng.random() < share:
            sound = draw(rng)(sound)
    if rng.random() < 0.08:
        sound = quantize(sound * rng.uniform(0.2, 1), bits=8)
    return np.asarray(quantize(sound, bits=16), np.float32)


def _to_full_scale(sound: Waveform) -> Waveform:
    """Scale a sound to a peak of 1."""
    return np.asarray(sound / (np.abs(sound).max(initial=0.0) + 1e-9))
