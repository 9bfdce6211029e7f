"""Formant synthesis of voices: glottal pulses and noise, shaped by a vocal tract that changes every 8 ms.

The layout is that of Klatt 1980, Software for a cascade/parallel formant synthesizer: the voice and breath pass through
a cascade of formants, friction at a constriction through a single resonance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from synthetic.sounds.impacts import RATE_HZ
from synthetic.sounds.signals import band_noise, uniform_log, wander
from synthetic.sounds.surroundings import Waveform

# Time between two frames of an articulation, in samples and seconds.
HOP = 128
FRAME_S = HOP / RATE_HZ
_WINDOW, _TRANSFORM = 2 * HOP, 4 * HOP


@dataclass(frozen=True, slots=True)
class Speaker:
    """A person, or an animal, with a voice.

    Attributes:
        pitch_hz: Mean fundamental frequency. Men speak at 85 to 160 Hz, women at 150 to 260, children at 220 to 400.
        size: Factor on all formants: 0.9 for a long vocal tract, 1.3 for a short one.
        open_share: Share of a period in which the glottis is open: 0.4 for a pressed voice, 0.85 for a soft one.
        breathiness: Level of breath noise relative to the voice.
        jitter: Standard deviation of the period, as a share.
        damping: Factor on all bandwidths.
        upper_hz: Frequencies of the fourth and fifth formant, before *size*.
    """

    pitch_hz: float
    size: float
    open_share: float
    breathiness: float
    jitter: float
    damping: float
    upper_hz: tuple[float, float]


def draw_speaker(rng: np.random.Generator) -> Speaker:
    """Return a random man, woman or child in a random mood."""
    pitch_hz = uniform_log(rng, 80, 330)
    return Speaker(
        pitch_hz=pitch_hz,
        size=float(np.clip(0.9 * (pitch_hz / 100) ** 0.25 * rng.normal(1, 0.07), 0.75, 1.5)),
        open_share=rng.uniform(0.4, 0.85),
        breathiness=uniform_log(rng, 0.01, 0.5),
        jitter=uniform_log(rng, 0.003, 0.04),
        damping=uniform_log(rng, 0.7, 2.5),
        upper_hz=(rng.uniform(3000, 3900), rng.uniform(4000, 5200)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Articulation:
    """Movements of a voice, one value every 8 ms.

    Attributes:
        pitch: Fundamental frequency relative to the speaker's, shape (N,).
        voice: Amplitude of the voice, shape (N,).
        breath: Amplitude of noise at the glottis, shape (N,).
        friction: Amplitude of noise at a constriction of the mouth, shape (N,).
        friction_hz: Centre of that noise, shape (N,).
        formants_hz: First three formants of a man, shape (N, 3).
    """

    pitch: NDArray[np.float64]
    voice: NDArray[np.float64]
    breath: NDArray[np.float64]
    friction: NDArray[np.float64]
    friction_hz: NDArray[np.float64]
    formants_hz: NDArray[np.float64]


def synthesize(rng: np.random.Generator, speaker: Speaker, moves: Articulation) -> Waveform:
    """Return the sound of an articulation, not normalised, shape ((N + 3) * HOP,)."""
    count = len(moves.voice) * HOP
    at = np.arange(count) / HOP
    frames = np.arange(len(moves.voice))
    flow = glottal_flow(rng, speaker, np.interp(at, frames, moves.pitch) * speaker.pitch_hz)
    # Radiation at the lips differentiates the flow.
    voice = np.diff(flow, prepend=flow[:1])
    voice /= voice.std() + 1e-12
    # The breath rushes while the glottis is open.
    breath = band_noise(rng, count, low_hz=300, high_hz=6000, slope=0.3) * (0.4 + flow)
    is_voiced = np.interp(at, frames, moves.voice)
    excitation = (voice + speaker.breathiness * breath) * is_voiced + breath * np.interp(at, frames, moves.breath)
    friction = band_noise(rng, count, low_hz=400, high_hz=7900) * np.interp(at, frames, moves.friction)
    spectra = _frames(excitation) * _cascade(rng, speaker, moves.formants_hz)
    if moves.friction.any():
        spectra += _frames(friction) * _constriction(rng, moves.friction_hz)
    return _overlapped(np.asarray(np.fft.irfft(spectra, _TRANSFORM, axis=1), np.float32))


def glottal_flow(rng: np.random.Generator, speaker: Speaker, pitch_hz: Waveform) -> Waveform:
    """Return the air flow through the glottis, 0 to 1: it opens slowly and closes fast.

    The pulse is that of Rosenberg 1971, Effect of glottal pulse shape on the quality of natural vowels. Jitter changes
    the period, and shimmer (a tenth of a pulse's height for each hundredth of jitter) the height.
    """
    shaky = pitch_hz * (
        1 + 2 * speaker.jitter * wander(rng, len(pitch_hz), rate_hz=max(20.0, float(pitch_hz.mean()) / 2))
    )
    turns = np.cumsum(shaky) / RATE_HZ
    phase = turns % 1
    opens = speaker.open_share * 0.67
    closes = speaker.open_share - opens
    rising = 0.5 * (1 - np.cos(np.pi * phase / opens))
    falling = np.cos(0.5 * np.pi * np.minimum(1, (phase - opens) / closes))
    heights = rng.normal(1, min(0.3, 10 * speaker.jitter), int(turns[-1]) + 2)
    return np.asarray(np.where(phase < opens, rising, falling) * heights[turns.astype(np.int64)])


def _frames(sound: Waveform) -> NDArray[np.complex64]:
    """Return the spectra of windowed frames, shape (N, _TRANSFORM / 2 + 1)."""
    padded = np.concatenate([sound, np.zeros(HOP)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[::HOP]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(_WINDOW) + 0.5) / _WINDOW)
    return np.asarray(np.fft.rfft((windows * hann).astype(np.float32), _TRANSFORM, axis=1), np.complex64)


def _overlapped(frames: NDArray[np.float32]) -> Waveform:
    """Add frames that start HOP samples apart."""
    blocks = frames.reshape(len(frames), _TRANSFORM // HOP, HOP)
    total = np.zeros((len(frames) + _TRANSFORM // HOP - 1, HOP))
    for index in range(_TRANSFORM // HOP):
        total[index : index + len(frames)] += blocks[:, index]
    return total.ravel()


def _cascade(rng: np.random.Generator, speaker: Speaker, formants_hz: NDArray[np.float64]) -> NDArray[np.complex64]:
    """Return the response of the vocal tract for each frame, shape (N, _TRANSFORM / 2 + 1).

    Bandwidths start at 50 to 90 Hz and rise with frequency (Fujimura and Lindqvist 1971).
    """
    hz = np.fft.rfftfreq(_TRANSFORM, 1 / RATE_HZ).astype(np.float32)
    bandwidths_hz = np.array([60, 90, 150, 250, 350]) * speaker.damping * rng.uniform(0.8, 1.5)
    upper_hz = np.broadcast_to(np.array(speaker.upper_hz), (len(formants_hz), 2))
    poles_hz = np.minimum(np.concatenate([formants_hz, upper_hz], axis=1) * speaker.size, 7000).astype(np.float32)
    # Factors relative to each pole keep the product within single precision. One complex division is enough.
    product = np.ones((len(formants_hz), len(hz)), np.complex64)
    factor = np.empty_like(product)
    for index, width_hz in enumerate(bandwidths_hz.astype(np.float32)):
        inverse = 1 / poles_hz[:, index : index + 1] ** 2
        factor.real = 1 - hz**2 * inverse
        factor.imag = hz * width_hz * inverse
        product *= factor
    return np.asarray(1 / product, np.complex64)


def _constriction(rng: np.random.Generator, centres_hz: NDArray[np.float64]) -> NDArray[np.complex64]:
    """Return the response of the mouth in front of a constriction for each frame, shape (N, _TRANSFORM / 2 + 1)."""
    hz = np.maximum(np.fft.rfftfreq(_TRANSFORM, 1 / RATE_HZ), 1.0).astype(np.float32)
    ratio = hz / centres_hz[:, None].astype(np.float32)
    quality = np.float32(rng.uniform(0.7, 4))
    return np.asarray(1 / (1 + np.complex64(1j) * quality * (ratio - 1 / ratio)), np.complex64)
