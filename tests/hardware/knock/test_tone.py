"""Tests of removing the spectral tilt of a microphone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hardware.knock.classifier import load_classifier
from hardware.knock.detector import KnockDetector
from hardware.knock.features import AFTER, BEFORE
from hardware.knock.heard import Sound
from hardware.knock.onsets import RATE_HZ
from hardware.knock.tone import without_tilt
from synthetic.sounds.microphones import apply_response, tilted
from tests.hardware.knock.sounds import block, with_hits


@pytest.mark.parametrize(("tone_hz", "share"), [(250, 4.0), (1_000, 1.0), (4_000, 0.25)])
def test_six_decibels_per_octave_halve_each_higher_octave(tone_hz: int, share: float) -> None:
    times_s = np.arange(BEFORE + AFTER) / RATE_HZ
    tone = np.sin(2 * np.pi * tone_hz * times_s) * np.hanning(len(times_s))
    levelled = without_tilt(tone.astype(np.float32), 6.0206)
    assert np.abs(levelled).max() == pytest.approx(share, rel=0.01)


def test_adding_and_removing_tilt_cancel_out() -> None:
    click = np.zeros(BEFORE + AFTER, np.float32)
    click[BEFORE : BEFORE + 3] = 0.5, -0.7, 0.2
    brighter = without_tilt(click, -4.0)
    assert np.abs(brighter - click).max() > 0.1
    # About a thousandth is lost beyond the last sample.
    assert without_tilt(brighter, 4.0) == pytest.approx(click, abs=2e-3)


def test_a_batch_gives_the_same_result_and_zero_tilt_is_no_copy() -> None:
    sounds = np.random.default_rng(1).normal(0, 0.1, (3, BEFORE + AFTER)).astype(np.float32)
    separately = np.stack([without_tilt(sound, 3.0) for sound in sounds])
    assert without_tilt(sounds, 3.0) == pytest.approx(separately, abs=1e-6)
    assert without_tilt(sounds, 0.0) is sounds


def test_longer_sounds_are_refused() -> None:
    with pytest.raises(ValueError, match="up to 8192, but got 9000"):
        without_tilt(np.zeros(9_000, np.float32), 1.0)


def test_a_detector_corrects_a_bright_microphone() -> None:
    times_s = tuple(0.5 + 0.8 * at for at in range(12))
    samples = with_hits(Sound.KNOCK, times_s, seed=9)
    shipped = load_classifier()

    def knocks(of: np.ndarray, brighter_db: float) -> int:
        sounds = KnockDetector(replace(shipped, brighter_db=brighter_db)).feed(block(of))
        return sum(sound.kind is Sound.KNOCK for sound in sounds)

    bright = apply_response(samples, tilted(6.0))
    assert knocks(samples, 0.0) == 12
    assert knocks(bright, 0.0) <= 8
    assert knocks(bright, 6.0) >= 11
