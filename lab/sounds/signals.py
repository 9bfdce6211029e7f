"""Building blocks of modelled sounds: pulses, noise, ringing modes and mixing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.sounds.impacts import RATE_HZ
from lab.sounds.surroundings import Waveform

# Powers of each mode are split into coarse and fine steps, to sum all modes with a single matrix product.
_FINE = 64
# Longest sound and the fade of longer ones, in samples.
_LONGEST, _FADE = 4 * RATE_HZ, 400
# Length of the impulse response of `colour`, in samples.
_COLOUR_LENGTH = 1024


def uniform_log(rng: np.random.Generator, low: float, high: float) -> float:
    """Return a random number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def samples_of(seconds: float) -> int:
    """Return a duration in samples, at least 1."""
    return max(1, round(seconds * RATE_HZ))


def normalized(sound: Waveform) -> Waveform:
    """Scale a sound to a peak of 1, without its constant part and the silence after it (below -80 dB), at most 4 s."""
    centred = sound[:_LONGEST].copy()
    if len(sound) > _LONGEST:
        centred[-_FADE:] *= np.linspace(1, 0, _FADE)
    if abs(centred.sum()) > 1e-3 * np.abs(centred).sum():
        centred = _without_constant(centred)
    peak = np.abs(centred).max() + 1e-12
    last = int(np.flatnonzero(np.abs(centred) > 1e-4 * peak)[-1]) if peak > 1e-9 else 0
    cut = centred[: last + 1]
    return np.asarray(cut / (np.abs(cut).max() + 1e-12))


def _without_constant(sound: Waveform) -> Waveform:
    """Filter a sound by a high-pass of first order at 15 Hz, which keeps its start sharp and its silence silent."""
    # The pad of 0.1 s keeps the decay of the filter from wrapping around.
    length = fast_length(len(sound) + RATE_HZ // 10)
    delay = np.exp(-2j * np.pi * np.arange(length // 2 + 1) / length)
    gains = (1 - delay) / (1 - np.exp(-2 * np.pi * 15 / RATE_HZ) * delay)
    return np.asarray(np.fft.irfft(np.fft.rfft(sound, length) * gains, length)[: len(sound)])


def overlay(parts: Sequence[tuple[float, Waveform]]) -> Waveform:
    """Add sounds that start at given times in seconds, from 0 on."""
    starts = [round(at_s * RATE_HZ) for at_s, _ in parts]
    total = np.zeros(max(start + len(sound) for start, (_, sound) in zip(starts, parts, strict=True)))
    for start, (_, sound) in zip(starts, parts, strict=True):
        total[start : start + len(sound)] += sound
    return total


def pulses(times_s: ArrayLike, pushes: ArrayLike, lasts_s: ArrayLike, *, total_s: float) -> Waveform:
    """Return a train of force pulses shaped as a squared sine, the force of a soft contact.

    Args:
        times_s: Start of each pulse in seconds, shape (M,).
        pushes: Impulse of each pulse, shape (M,) or a single one.
        lasts_s: Duration of each pulse in seconds, shape (M,) or a single one. At least 1.2 samples are used.
        total_s: Duration of the train. Later parts are cut off.
    """
    starts = np.atleast_1d(np.asarray(times_s, np.float64)) * RATE_HZ
    widths = np.broadcast_to(np.maximum(np.asarray(lasts_s, np.float64) * RATE_HZ, 1.2), starts.shape)
    heights = np.broadcast_to(np.asarray(pushes, np.float64), starts.shape) / widths
    count = samples_of(total_s)
    if not len(starts):
        return np.zeros(count)
    at = np.floor(starts).astype(np.int64)[:, None] + np.arange(int(widths.max()) + 2)
    phase = (at - starts[:, None]) / widths[:, None]
    force = np.where((phase > 0) & (phase < 1), np.sin(np.pi * phase) ** 2, 0.0) * heights[:, None]
    is_inside = (at >= 0) & (at < count)
    return np.asarray(np.bincount(at[is_inside], force[is_inside], count), np.float64)


def ringing(
    modes_hz: NDArray[np.float64], decays: NDArray[np.float64], gains: NDArray[np.float64], *, count: int
) -> Waveform:
    """Return the sum of modes excited at the same time, shape (count,).

    Args:
        modes_hz: Frequency of each mode, shape (K,).
        decays: Decay rate of each mode in 1/s, shape (K,).
        gains: Amplitude of each mode, shape (K,).
        count: Number of samples.
    """
    turn = (2j * np.pi * modes_hz - decays) / RATE_HZ
    fine = _powers(np.exp(turn), _FINE)
    coarse = _powers(np.exp(_FINE * turn), -(-count // _FINE)) * gains.astype(np.float32)
    # Half the work of a product of complex numbers, because only its imaginary part is needed.
    imaginary = np.hstack([coarse.real, coarse.imag]) @ np.hstack([fine.imag, fine.real]).T
    return np.asarray(imaginary.ravel()[:count], np.float64)


def _powers(values: NDArray[np.complex128], count: int) -> NDArray[np.complex64]:
    """Return the powers 0 to *count* - 1 of each value, shape (count, K)."""
    rows = np.ones((count, len(values)), np.complex64)
    done, factor = 1, values
    while done < count:  # doubling: powers n to 2n - 1 are powers 0 to n - 1 times power n
        more = min(done, count - done)
        np.multiply(rows[:more], factor.astype(np.complex64), out=rows[done : done + more])
        done, factor = done + more, factor * factor
    return rows


def convolve(excitation: Waveform, response: Waveform) -> Waveform:
    """Return the response of a linear system to an excitation, shape (len(excitation) + len(response) - 1,)."""
    count = len(excitation) + len(response) - 1
    length = fast_length(count)
    spectrum = np.fft.rfft(excitation, length) * np.fft.rfft(response, length)
    # Inverse transforms take a third of the time in single precision, whose noise is 120 dB or more below the peak.
    return np.asarray(np.fft.irfft(spectrum.astype(np.complex64), length)[:count], np.float64)


def fast_length(count: int) -> int:
    """Return a length for fast Fourier transforms: a power of two, or three quarters of one."""
    power = 1 << max(3, (count - 1).bit_length())
    return power * 3 // 4 if count <= power * 3 // 4 else power


def band_noise(
    rng: np.random.Generator, count: int, *, low_hz: float = 20.0, high_hz: float = 8000.0, slope: float = 0.0
) -> Waveform:
    """Return Gaussian noise in a band with an RMS of 1.

    Args:
        rng: Random generator.
        count: Number of samples.
        low_hz: Lower edge of the band. Below it, the noise falls by 12 dB per octave.
        high_hz: Upper edge of the band. Above it, the noise falls by 12 dB per octave.
        slope: Exponent of the decrease of power with frequency: 0 white, 1 pink, 2 brown.
    """
    length = fast_length(count)
    hz = np.maximum(np.fft.rfftfreq(length, 1 / RATE_HZ), 10.0)
    gains = hz ** (-slope / 2) / ((1 + (low_hz / hz) ** 2) * (1 + (hz / high_hz) ** 2))
    gains = (gains * np.sqrt(length / 2 / (gains**2).mean())).astype(np.float32)
    spectrum = np.empty(len(hz), np.complex64)
    spectrum.real = rng.standard_normal(len(hz), np.float32) * gains
    spectrum.imag = rng.standard_normal(len(hz), np.float32) * gains
    return np.asarray(np.fft.irfft(spectrum, length)[:count], np.float64)


def wander(rng: np.random.Generator, count: int, *, rate_hz: float) -> Waveform:
    """Return a smooth random curve with values of about -1 to 1 and *rate_hz* knots per second, shape (count,)."""
    knots = rng.standard_normal(int(count / RATE_HZ * rate_hz) + 3) * 0.6
    return np.interp(np.arange(count) * rate_hz / RATE_HZ + rng.uniform(0, 1), np.arange(len(knots)), knots)


def colour(rng: np.random.Generator, sound: Waveform, *, spread_db: float) -> Waveform:
    """Filter a sound by a random smooth frequency response of minimum phase, which keeps onsets sharp.

    Bodies, cases and surroundings of a source change its spectrum by a few decibels per octave. The phase is computed
    from the gains by the real cepstrum (Oppenheim and Schafer, Discrete-Time Signal Processing, chapter 13).

    Args:
        rng: Random generator.
        sound: Sound, shape (N,).
        spread_db: Standard deviation of the gain at each knot. Knots are 0.6 to 1.4 octaves apart.
    """
    hz = np.maximum(np.fft.rfftfreq(_COLOUR_LENGTH, 1 / RATE_HZ), 20.0)
    knots = np.arange(-3, 8, rng.uniform(0.6, 1.4))
    gains_db = np.interp(np.log2(hz / 100), knots, rng.normal(0, spread_db, len(knots)))
    cepstrum = np.fft.irfft(gains_db * np.log(10) / 20, _COLOUR_LENGTH)
    cepstrum[1 : _COLOUR_LENGTH // 2] *= 2
    cepstrum[_COLOUR_LENGTH // 2 + 1 :] = 0
    response = np.fft.irfft(np.exp(np.fft.rfft(cepstrum)), _COLOUR_LENGTH)
    return convolve(sound, response[: _COLOUR_LENGTH // 2])


def panel(
    rng: np.random.Generator,
    *,
    from_hz: float,
    to_hz: float,
    count: int,
    loss: tuple[float, float],
    tilt: float = 0.0,
    lasts_s: float = 0.4,
) -> Waveform:
    """Return the impulse response of a plate: modes spread evenly over frequency, as plates have them.

    Args:
        rng: Random generator.
        from_hz: Frequency of the lowest mode.
        to_hz: Frequency of the highest mode.
        count: Number of modes.
        loss: Minimum and maximum loss factor (share of energy lost per radian).
        tilt: Exponent of the amplitude over frequency.
        lasts_s: Length of the response.
    """
    modes_hz = np.sort(np.append(rng.uniform(from_hz, to_hz, max(0, count - 1)), from_hz * rng.uniform(1, 1.3)))
    decays = np.pi * modes_hz * uniform_log(rng, *loss) * rng.lognormal(0, 0.3, len(modes_hz)) + rng.uniform(3, 20)
    gains = rng.normal(0, 1, len(modes_hz)) * (modes_hz / from_hz) ** tilt
    rings = ringing(modes_hz, decays, gains, count=samples_of(lasts_s))
    # Air does not carry a constant pressure: balance the response by an opposite push that fades within 1 to 4 ms.
    fade = np.exp(-np.arange(len(rings)) * uniform_log(rng, 250, 1000) / RATE_HZ)
    balanced = rings - fade * rings.sum() / fade.sum()
    # Modes that still ring at the end fade instead of ending with a click.
    last = len(balanced) // 3
    balanced[-last:] *= np.cos(np.linspace(0, np.pi / 2, last)) ** 2
    return levelled(balanced)


def levelled(sound: Waveform) -> Waveform:
    """Scale a sound to an energy of 1."""
    return np.asarray(sound / (np.sqrt((sound**2).sum()) + 1e-12))


def burst(
    rng: np.random.Generator, *, rise_s: float, decay_s: float, low_hz: float = 100.0, high_hz: float = 8000.0
) -> Waveform:
    """Return noise that rises within *rise_s* and falls by a factor e every *decay_s*, cut off at -60 dB."""
    count = samples_of(rise_s + 7 * decay_s)
    times_s = np.arange(count) / RATE_HZ
    swell = np.minimum(1, (times_s + 1 / RATE_HZ) / max(rise_s, 1 / RATE_HZ))
    return (
        band_noise(rng, count, low_hz=low_hz, high_hz=high_hz)
        * swell
        * np.exp(-np.maximum(0, times_s - rise_s) / decay_s)
    )


def thuds(
    rng: np.random.Generator, times_s: NDArray[np.float64], pushes: NDArray[np.float64], *, lasts_s: float
) -> Waveform:
    """Return the forces of a soft or heavy object that hits something hard, and of harder points on it, if any.

    Args:
        rng: Random generator.
        times_s: Start of each hit, shape (M,).
        pushes: Impulse of each hit, shape (M,).
        lasts_s: Mean duration of the soft contacts. Hard ones last 0.1 to 1 ms and have up to 30 % of the impulse.
    """
    total_s = float(times_s.max()) + 2 * lasts_s + 0.01
    force = pulses(times_s, pushes, lasts_s * rng.uniform(0.7, 1.4, len(times_s)), total_s=total_s)
    if rng.random() < 0.7:
        hard_s = times_s + rng.uniform(0, lasts_s, len(times_s))
        shares = uniform_log(rng, 0.003, 0.3) * rng.lognormal(0, 0.5, len(times_s))
        force += pulses(hard_s, pushes * shares, uniform_log(rng, 0.0001, 0.001), total_s=total_s)
    return force


def rhythm(rng: np.random.Generator, *, count: int, gap_s: float, jitter: float) -> NDArray[np.float64]:
    """Return *count* times from 0 on whose gaps vary by the share *jitter*."""
    gaps_s = gap_s * np.maximum(0.2, rng.normal(1, jitter, count - 1))
    return np.concatenate([[0.0], np.cumsum(gaps_s)])


def bounces(
    rng: np.random.Generator, *, gap_s: float, restitution: float, most: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the times and relative impulses of a bouncing or rocking object.

    Each flight lasts *restitution* times the one before, and so does the speed of the impact (Newton's law of
    restitution). Uneven objects vary from it by about a fifth.
    """
    shrink = np.cumprod(np.concatenate([[1.0], np.full(most - 1, restitution) * rng.normal(1, 0.08, most - 1)]))
    gaps_s = gap_s * shrink[:-1] * np.maximum(0.2, rng.normal(1, 0.1, most - 1))
    is_flight = gaps_s > 0.002
    times_s = np.concatenate([[0.0], np.cumsum(gaps_s[is_flight])])
    return times_s, np.concatenate([[1.0], shrink[1:][is_flight] * rng.lognormal(0, 0.25, int(is_flight.sum()))])
