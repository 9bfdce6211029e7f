"""Sounds of people's mouths: speech, whispers, shouts, coughs, sneezes, laughs and pops.

Voices are formant synthesis: glottal pulses and noise, shaped by a vocal tract that changes every 8 ms. The layout is
that of Klatt 1980, Software for a cascade/parallel formant synthesizer: the voice and breath pass through a cascade of
formants, friction at a constriction through a single resonance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lab.sounds.signals import (
    RATE_HZ,
    Waveform,
    band_noise,
    burst,
    colour,
    normalized,
    overlay,
    samples_of,
    uniform_log,
    wander,
)

# Time between two frames of an articulation, in samples and seconds.
HOP = 128
FRAME_S = HOP / RATE_HZ
_WINDOW = 2 * HOP
_TRANSFORM = 4 * HOP


@dataclass(frozen=True, slots=True)
class Speaker:
    """A person, or an animal, with a voice.

    Attributes:
        pitch_hz: Mean fundamental frequency. Men speak at 85 to 160 Hz, women at 150 to 260, children at 220 to 400.
        size: Factor on all formants: 0.9 for a long vocal tract, 1.3 for a short one.
        open_share: Share of a period in which the glottis is open: 0.4 for a pressed voice, 0.85 for a soft one.
        breathiness: Level of breath noise relative to the voice.
        jitter: Standard deviation of the period, as a share.
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
    # Add frames that start HOP samples apart.
    frames = np.asarray(np.fft.irfft(spectra, _TRANSFORM, axis=1), np.float32)
    blocks = frames.reshape(len(frames), _TRANSFORM // HOP, HOP)
    total = np.zeros((len(frames) + _TRANSFORM // HOP - 1, HOP))
    for index in range(_TRANSFORM // HOP):
        total[index : index + len(frames)] += blocks[:, index]
    return total.ravel()


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


def _cascade(rng: np.random.Generator, speaker: Speaker, formants_hz: NDArray[np.float64]) -> NDArray[np.complex64]:
    """Return the response of the vocal tract for each frame, shape (N, _TRANSFORM / 2 + 1)."""
    # Bandwidths start at 50 to 90 Hz and rise with frequency (Fujimura and Lindqvist 1971).
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


# First three formants of men's vowels in Hz (Peterson and Barney 1952, Control methods used in a study of the vowels).
_VOWELS = (
    (270, 2290, 3010), (390, 1990, 2550), (530, 1840, 2480), (660, 1720, 2410), (730, 1090, 2440),
    (570, 840, 2410), (440, 1020, 2240), (300, 870, 2240), (640, 1190, 2390), (490, 1350, 1690),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Phone:
    """A consonant. Durations are in seconds, amplitudes relative to a vowel.

    Attributes:
        lasts_s: Minimum and maximum duration.
        friction_hz: Minimum and maximum centre of the friction.
        formants_hz: Formants, or None for those of the next vowel.
        release: Amplitude of the burst after the closure of a plosive, 0 for others.
    """

    lasts_s: tuple[float, float]
    voice: float = 0.0
    breath: float = 0.0
    friction: float = 0.0
    friction_hz: tuple[float, float] = (1000, 2000)
    formants_hz: tuple[float, float, float] | None = None
    release: float = 0.0


_CONSONANTS = {
    "p": _Phone((0.03, 0.12), friction_hz=(500, 1500), formants_hz=(300, 800, 2200), release=0.5),
    "t": _Phone((0.03, 0.12), friction_hz=(3000, 5500), formants_hz=(300, 1800, 2700), release=0.6),
    "k": _Phone((0.03, 0.12), friction_hz=(1200, 3000), formants_hz=(300, 2200, 2500), release=0.6),
    "b": _Phone((0.02, 0.09), voice=0.15, friction_hz=(500, 1500), formants_hz=(250, 800, 2200), release=0.25),
    "d": _Phone((0.02, 0.09), voice=0.15, friction_hz=(3000, 5500), formants_hz=(250, 1800, 2700), release=0.3),
    "g": _Phone((0.02, 0.09), voice=0.15, friction_hz=(1200, 3000), formants_hz=(250, 2200, 2500), release=0.3),
    "s": _Phone((0.06, 0.20), friction=0.7, friction_hz=(4500, 7500), formants_hz=(320, 1700, 2600)),
    "sh": _Phone((0.06, 0.20), friction=0.8, friction_hz=(2000, 4000), formants_hz=(320, 1900, 2500)),
    "f": _Phone((0.05, 0.15), friction=0.15, friction_hz=(1500, 7500), formants_hz=(320, 1000, 2300)),
    "z": _Phone((0.05, 0.12), voice=0.3, friction=0.3, friction_hz=(4500, 7500), formants_hz=(250, 1700, 2600)),
    "v": _Phone((0.04, 0.10), voice=0.4, friction=0.08, friction_hz=(1500, 7500), formants_hz=(250, 1000, 2300)),
    "h": _Phone((0.03, 0.12), breath=0.3),
    "m": _Phone((0.04, 0.12), voice=0.35, formants_hz=(250, 1100, 2200)),
    "n": _Phone((0.04, 0.12), voice=0.35, formants_hz=(250, 1450, 2500)),
    "l": _Phone((0.03, 0.10), voice=0.6, formants_hz=(360, 1200, 2700)),
    "r": _Phone((0.03, 0.10), voice=0.6, formants_hz=(350, 1100, 1600)),
    "w": _Phone((0.03, 0.10), voice=0.6, formants_hz=(290, 650, 2200)),
    "j": _Phone((0.03, 0.10), voice=0.6, formants_hz=(270, 2300, 3000)),
    "": _Phone((0.0, 0.01)),
}


class _Score:
    """Movements under construction: a row of values for each frame, and bursts at given times."""

    def __init__(self) -> None:
        self._rows: list[NDArray[np.float64]] = []
        self._frames = 0
        self.bursts: list[tuple[float, float, float]] = []

    @property
    def t_s(self) -> float:
        """Current end in seconds."""
        return self._frames * FRAME_S

    def hold(
        self,
        lasts_s: float,
        formants_hz: tuple[float, ...],
        *,
        pitch: float = 1.0,
        voice: float = 0.0,
        breath: float = 0.0,
        friction: float = 0.0,
        friction_hz: float = 2000.0,
        fade: float = 1.0,
    ) -> None:
        """Append values that hold for *lasts_s*, rounded to frames. Amplitudes end at *fade* times their start."""
        frames = max(1, round(lasts_s / FRAME_S))
        rows = np.tile([pitch, voice, breath, friction, friction_hz, *formants_hz], (frames, 1))
        rows[:, 1:4] *= fade ** np.linspace(0, 1, frames)[:, None]
        self._rows.append(rows)
        self._frames += frames

    def moves(self, rng: np.random.Generator) -> Articulation:
        """Return the movements with gliding formants and pitch. Amplitudes change within a frame, and flutter."""
        rows = np.concatenate(self._rows)
        # A silent frame at the end lets all amplitudes fade.
        rows = np.concatenate([rows, rows[-1:] * [1, 0, 0, 0, 1, 1, 1, 1]])
        glide_frames = int(rng.integers(3, 9))
        for column in (0, 5, 6, 7):
            values = rows[:, column]
            padded = np.concatenate([np.full(glide_frames, values[0]), values, np.full(glide_frames, values[-1])])
            rows[:, column] = np.convolve(padded, np.ones(glide_frames) / glide_frames, mode="same")[
                glide_frames : glide_frames + len(values)
            ]
        rows[:, 1:4] *= np.exp(rng.uniform(0, 0.35) * rng.standard_normal((len(rows), 1)))
        return Articulation(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3], rows[:, 4], rows[:, 5:8])


def _speak(rng: np.random.Generator, speaker: Speaker, score: _Score) -> Waveform:
    """Return the sound of a score with the bursts of its plosives."""
    sound = synthesize(rng, speaker, score.moves(rng))
    level = np.abs(sound).max() + 1e-12
    parts = [(0.0, sound / level)]
    for at_s, amplitude, centre_hz in score.bursts:
        decay_s = uniform_log(rng, 0.001, 0.008)
        release = burst(rng, rise_s=0.0004, decay_s=decay_s, low_hz=centre_hz / 1.5, high_hz=centre_hz * 1.6)
        parts.append((at_s, release * amplitude / 3))
    return overlay(parts)


def talk(rng: np.random.Generator) -> Waveform:
    """Return one to eight syllables of a man, woman or child: spoken, and in one case of eight nearly sung.

    The pitch is 80 to 330 Hz. A syllable lasts 50 to 400 ms and has plosives, fricatives, nasals or glides around its
    vowel. See the module for the synthesis.
    """
    speaker = draw_speaker(rng)
    if rng.random() < 0.12:
        speaker = replace(speaker, jitter=0.003, damping=0.8)
    return normalized(colour(rng, _sentence(rng, speaker, voiced=1.0, most=9), spread_db=rng.uniform(0, 4)))


def whisper(rng: np.random.Generator) -> Waveform:
    """Return one to seven whispered syllables: breath passes through the vocal tract instead of a voice."""
    speaker = replace(draw_speaker(rng), damping=uniform_log(rng, 1.5, 4))
    return normalized(colour(rng, _sentence(rng, speaker, voiced=0.0, most=8), spread_db=rng.uniform(0, 4)))


def shout(rng: np.random.Generator) -> Waveform:
    """Return one to three shouted syllables: 1.4 to 2.5 times the pitch, a pressed voice and more open vowels."""
    speaker = draw_speaker(rng)
    louder = replace(speaker, pitch_hz=speaker.pitch_hz * rng.uniform(1.4, 2.5), open_share=rng.uniform(0.35, 0.5))
    return normalized(np.tanh(rng.uniform(0.5, 3) * _sentence(rng, louder, voiced=1.0, most=4, first_formant=1.3)))


def _sentence(
    rng: np.random.Generator, speaker: Speaker, *, voiced: float, most: int, first_formant: float = 1.0
) -> Waveform:
    """Return fewer than *most* syllables. The pitch falls, with accents, by up to a fourth (declination)."""
    score, count = _Score(), int(rng.integers(1, most))
    tempo, fall, melody = uniform_log(rng, 0.6, 1.5), rng.uniform(0, 0.35), rng.uniform(0.02, 0.2)
    for index in range(count):
        pitch = (1 - fall * index / count) * rng.lognormal(0, melody)
        vowel = tuple(hz * rng.normal(1, 0.06) for hz in _VOWELS[int(rng.integers(len(_VOWELS)))])
        vowel = (vowel[0] * first_formant, *vowel[1:])
        _consonant(rng, score, vowel, voiced, tempo)
        loud = rng.uniform(0.5, 1.0)
        held_s = uniform_log(rng, 0.05, 0.25) * tempo
        for share, factor in ((0.6, 1.0), (0.4, rng.uniform(0.85, 1.2))):
            score.hold(
                held_s * share,
                vowel,
                pitch=pitch * factor,
                voice=loud * voiced,
                breath=loud * (1 - voiced),
                fade=rng.uniform(0.5, 1.1),
            )
        if rng.random() < 0.35:
            _consonant(rng, score, vowel, voiced, tempo)
        if rng.random() < 0.15:
            score.hold(uniform_log(rng, 0.02, 0.2), vowel)
    return _speak(rng, speaker, score)


def _consonant(rng: np.random.Generator, score: _Score, vowel: tuple[float, ...], voiced: float, tempo: float) -> None:
    """Append a random consonant before or after a vowel."""
    phone = _CONSONANTS[str(rng.choice(list(_CONSONANTS)))]
    friction_hz = rng.uniform(*phone.friction_hz)
    loud = rng.uniform(0.5, 1.5)
    score.hold(
        rng.uniform(*phone.lasts_s) * tempo,
        phone.formants_hz or vowel,
        voice=phone.voice * voiced,
        breath=phone.breath + phone.voice * (1 - voiced),
        friction=phone.friction * loud,
        friction_hz=friction_hz,
    )
    if phone.release:
        score.bursts.append((score.t_s, phone.release * loud, friction_hz))
        if not phone.voice:  # breath follows before the vocal cords swing: 15 to 80 ms
            breath = rng.uniform(0.05, 0.4)
            score.hold(
                uniform_log(rng, 0.015, 0.08), vowel, breath=breath, friction=breath / 3, friction_hz=friction_hz
            )


def cough(rng: np.random.Generator) -> Waveform:
    """Return one to four coughs 0.15 to 0.8 s apart.

    A cough has an explosive burst of 20 to 60 ms, a noisy middle part of 50 to 250 ms, and often a voiced end
    (Korpas et al. 1996, Analysis of the cough sound: an overview).
    """
    speaker = replace(draw_speaker(rng), jitter=uniform_log(rng, 0.01, 0.06), damping=uniform_log(rng, 1.2, 4))
    vowel = tuple(hz * rng.normal(1, 0.1) for hz in _VOWELS[int(rng.choice([2, 3, 4, 5, 8]))])
    score, voiced = _Score(), rng.uniform(0, 0.9)
    for index in range(int(rng.integers(1, 5))):
        loud = rng.uniform(0.5, 1.0) * 0.85**index
        if rng.random() < 0.8:
            score.bursts.append((score.t_s, loud * rng.uniform(0.2, 2.0), uniform_log(rng, 500, 3000)))
        score.hold(
            rng.uniform(0.02, 0.06),
            vowel,
            breath=loud * 1.5,
            friction=loud * rng.uniform(0, 0.5),
            fade=rng.uniform(0.3, 1),
        )
        score.hold(
            uniform_log(rng, 0.05, 0.25),
            vowel,
            breath=loud * rng.uniform(0.2, 0.6),
            voice=voiced * rng.uniform(0, 0.3),
            fade=rng.uniform(0.1, 1),
        )
        if rng.random() < 0.6:
            score.hold(
                uniform_log(rng, 0.04, 0.15),
                vowel,
                pitch=rng.uniform(0.7, 1.8),
                voice=loud * voiced,
                breath=0.1,
                fade=rng.uniform(0.2, 1),
            )
        score.hold(uniform_log(rng, 0.08, 0.35), vowel)
    return normalized(colour(rng, _speak(rng, speaker, score), spread_db=rng.uniform(0, 4)))


def throat_clearing(rng: np.random.Generator) -> Waveform:
    """Return one to three rough, low bursts with a closed or open mouth, at 0.2 to 1.2 of the speaking pitch."""
    speaker = replace(draw_speaker(rng), jitter=uniform_log(rng, 0.03, 0.15), open_share=rng.uniform(0.3, 0.6))
    vowel = (rng.uniform(250, 650), rng.uniform(900, 1500), rng.uniform(2000, 2600))
    score, pitch = _Score(), uniform_log(rng, 0.3, 0.8)
    for _ in range(int(rng.integers(1, 4))):
        breath = rng.uniform(0.05, 0.6)
        for _ in range(int(rng.integers(1, 5))):
            score.hold(
                rng.uniform(0.03, 0.12),
                vowel,
                pitch=pitch * rng.uniform(0.7, 1.5),
                voice=rng.uniform(0.2, 1),
                breath=breath,
                fade=rng.uniform(0.3, 1.5),
            )
        score.hold(uniform_log(rng, 0.03, 0.3), vowel)
    return normalized(colour(rng, _speak(rng, speaker, score), spread_db=rng.uniform(0, 4)))


def sneeze(rng: np.random.Generator) -> Waveform:
    """Return a sneeze: up to two gasps, then an explosion of breath and friction of 90 to 420 ms, often voiced."""
    speaker = replace(draw_speaker(rng), damping=uniform_log(rng, 1, 3))
    vowel = tuple(hz * rng.normal(1, 0.08) for hz in _VOWELS[int(rng.choice([3, 4, 5, 8]))])
    score = _Score()
    for _ in range(int(rng.integers(0, 3))):
        score.hold(
            uniform_log(rng, 0.1, 0.3), vowel, voice=rng.uniform(0, 0.3), breath=rng.uniform(0.05, 0.3), pitch=1.2
        )
        score.hold(uniform_log(rng, 0.02, 0.25), vowel)
    friction_hz = uniform_log(rng, 1200, 6000)
    score.bursts.append((score.t_s, rng.uniform(0.3, 2.0), friction_hz))
    score.hold(
        uniform_log(rng, 0.03, 0.12),
        vowel,
        friction=rng.uniform(0.3, 1.5),
        friction_hz=friction_hz,
        breath=1.0,
        fade=rng.uniform(0.3, 1),
    )
    for fade in (1.0, 0.5):
        voice = fade * rng.choice([0.0, rng.uniform(0.1, 1.0)])
        friction = fade * rng.uniform(0, 0.8)
        score.hold(uniform_log(rng, 0.03, 0.15), vowel, pitch=rng.uniform(0.8, 1.8), voice=voice, breath=0.5 * fade,
                   friction=friction, friction_hz=friction_hz, fade=rng.uniform(0.2, 1))  # fmt: skip
    return normalized(colour(rng, _speak(rng, speaker, score), spread_db=rng.uniform(0, 4)))


def laugh(rng: np.random.Generator) -> Waveform:
    """Return two to twelve bursts of a laugh, 3.5 to 7 per second, with falling pitch and loudness.

    Laughs are voiced, mixed or voiceless, and their pitch is well above that of speech (Bachorowski et al. 2001, The
    acoustic features of human laughter). Here 70 % are voiced, at 1.2 to 3 times the pitch of speech. Breath fills 30
    to 70 % of the time.
    """
    speaker = draw_speaker(rng)
    vowel = tuple(hz * rng.normal(1, 0.08) for hz in _VOWELS[int(rng.integers(len(_VOWELS)))])
    score, pitch = _Score(), rng.uniform(1.2, 3.0) * min(1.0, 250 / speaker.pitch_hz)
    rate_hz, count = rng.uniform(3.5, 7), int(rng.integers(2, 13))
    voiced = float(rng.choice([1.0, 0.0, 0.5], p=[0.7, 0.15, 0.15]))
    for index in range(count):
        fade = 1 - rng.uniform(0.3, 0.8) * index / count
        share = rng.uniform(0.3, 0.7)
        breath = rng.uniform(0.1, 0.5) * fade
        score.hold((1 - share) / rate_hz, vowel, pitch=pitch * fade, breath=breath * rng.choice([0.1, 1.0]))
        falling = pitch * (1 - 0.3 * index / count) * rng.normal(1, 0.06)
        gasp = breath + (1 - voiced) * fade
        score.hold(share / rate_hz, vowel, pitch=falling, voice=voiced * fade, breath=gasp, fade=rng.uniform(0.15, 1))
    return normalized(colour(rng, _speak(rng, speaker, score), spread_db=rng.uniform(0, 4)))


def pop(rng: np.random.Generator) -> Waveform:
    """Return a plosive, kiss or smack next to the microphone: a gust below 200 Hz for 20 to 150 ms, and a click.

    Breath that hits a microphone has most energy at low frequencies (Blass and Pirolt 2014, Pop Sound Protection and
    Reduction for Small Microphone Enclosures).
    """
    parts = []
    at_s = 0.0
    for _ in range(int(rng.integers(1, 4))):
        lasts_s = uniform_log(rng, 0.02, 0.15)
        times_s = np.arange(samples_of(lasts_s * 3)) / RATE_HZ
        rise_s = uniform_log(rng, 0.0005, 0.01)
        swell = (1 - np.exp(-times_s / rise_s)) * np.exp(-4 * times_s / lasts_s)
        gust = np.sin(2 * np.pi * uniform_log(rng, 25, 120) * times_s + rng.uniform(0, 1)) + rng.uniform(
            0, 1
        ) * band_noise(rng, len(times_s), low_hz=30, high_hz=uniform_log(rng, 60, 400), slope=1)
        click = burst(
            rng,
            rise_s=0.0004,
            decay_s=uniform_log(rng, 0.001, 0.01),
            low_hz=uniform_log(rng, 300, 2000),
            high_hz=uniform_log(rng, 1500, 6000),
        )
        parts += [(at_s, gust * swell), (at_s, click * uniform_log(rng, 0.003, 0.5))]
        at_s += uniform_log(rng, 0.15, 0.6)
    return normalized(overlay(parts))
