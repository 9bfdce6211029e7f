"""Recording devices: frequency responses, codecs, noise suppression, gates, telephones, levelling and clipping.

Each alteration is a function with explicit parameters. A `draw_` function beside it returns it with random ones. All
take and return sounds at 16 kHz of the same length. `record` is a random chain of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from synthetic.sounds.impacts import RATE_HZ
from synthetic.sounds.microphones import Response, combined, filtered, high_pass, low_pass, peaking, tilted
from synthetic.sounds.rooms import draw_room, reverberate, room_response
from synthetic.sounds.signals import fast_length, uniform_log
from synthetic.sounds.surroundings import Waveform, clip_softly, quantize

Alteration: TypeAlias = Callable[[Waveform], Waveform]
"""Returns a sound as changed by a device."""

# RMS of a hit relative to its peak, to state levels relative to the hits of a recording.
_HIT_RMS = 0.25
# Steps of a gate's and of a leveller's envelope, in samples (2 and 4 ms).
_GATE_STEP, _LEVEL_STEP = 32, 64
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
        sound: Sound, shape (N,).
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
        sound: Sound, shape (N,).
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
        sound: Sound, shape (N,).
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
        sound: Sound, shape (N,).
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
        telephone,
        low_hz=rng.uniform(150, 320),
        high_hz=rng.uniform(3_200, 3_700),
        is_mu_law=bool(rng.random() < 0.5),
    )


def coloured_noise(rng: np.random.Generator, count: int, *, slope: float, response: Response | None = None) -> Waveform:
    """Return constant noise with an RMS of 1, shape (count,).

    Args:
        rng: Random generator.
        count: Number of samples.
        slope: Exponent of the decrease of power with frequency, above 20 Hz: 0 white, 1 pink, 2 brown.
        response: Further gains of the noise.
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
        rng: Random generator.
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
