"""Tests of the synthesis of voices: pitch, formants, whispers and friction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.sounds.signals import RATE_HZ
from lab.sounds.utterances import FRAME_S, HOP, Articulation, Speaker, synthesize

SPEAKER = Speaker(
    pitch_hz=120.0, size=1.0, open_share=0.6, breathiness=0.02, jitter=0.001, damping=1.0, upper_hz=(3_500.0, 4_500.0)
)
FRAMES = 60


def articulation(
    *, voice: float = 0.0, breath: float = 0.0, friction: float = 0.0, first_hz: float = 700
) -> Articulation:
    """Return a sustained sound with the formants of a vowel and friction at 5000 Hz."""
    flat = np.ones(FRAMES)
    formants_hz = np.tile([first_hz, 1_200.0, 2_600.0], (FRAMES, 1))
    return Articulation(flat, flat * voice, flat * breath, flat * friction, flat * 5_000, formants_hz)


def power_of(sound: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the frequencies of a spectrum and its power, smoothed over 100 Hz."""
    power = np.abs(np.fft.rfft(sound * np.hanning(len(sound)))) ** 2
    width = round(100 * len(sound) / RATE_HZ)
    return np.fft.rfftfreq(len(sound), 1 / RATE_HZ), np.convolve(power, np.ones(width), mode="same")


@pytest.mark.parametrize("pitch_hz", [90.0, 120.0, 250.0])
def test_a_voice_has_the_pitch_of_its_speaker(pitch_hz: float) -> None:
    speaker = replace(SPEAKER, pitch_hz=pitch_hz)
    sound = synthesize(np.random.default_rng(1), speaker, articulation(voice=1.0))[2_000:6_000]
    similar = np.correlate(sound, sound, mode="full")[len(sound) - 1 :]
    lags = slice(RATE_HZ // 400, RATE_HZ // 70)
    period = RATE_HZ // 400 + int(np.argmax(similar[lags]))
    assert RATE_HZ / period == pytest.approx(pitch_hz, rel=0.03)


@pytest.mark.parametrize("first_hz", [300.0, 500.0, 750.0])
def test_a_whisper_is_loudest_near_its_first_formants(first_hz: float) -> None:
    sound = synthesize(np.random.default_rng(2), SPEAKER, articulation(breath=1.0, first_hz=first_hz))
    hz, power = power_of(sound)
    low = hz < 950
    assert hz[low][np.argmax(power[low])] == pytest.approx(first_hz, abs=90)


def test_friction_sounds_brighter_than_breath() -> None:
    def centroid_hz(moves: Articulation) -> float:
        hz, power = power_of(synthesize(np.random.default_rng(3), SPEAKER, moves))
        return float((hz * power).sum() / power.sum())

    assert centroid_hz(articulation(friction=1.0)) > 2.5 * centroid_hz(articulation(breath=1.0))


def test_a_sound_follows_its_amplitudes() -> None:
    moves = articulation(voice=1.0)
    gate = np.where(np.arange(FRAMES) < 30, 1.0, 0.0)
    sound = synthesize(np.random.default_rng(4), SPEAKER, replace(moves, voice=gate))
    assert len(sound) == (FRAMES + 3) * HOP
    ends = round(30 * FRAME_S * RATE_HZ) + 4 * HOP
    assert np.abs(sound[ends:]).max() < 0.01 * np.abs(sound).max()
