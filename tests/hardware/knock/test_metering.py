"""Tests of the detector that also measures levels."""

from __future__ import annotations

import numpy as np
import pytest

from hardware.knock.detector import KnockDetector
from hardware.knock.heard import NS_PER_S, ClassifiedSound, Sound, SoundBlock
from hardware.knock.metering import MeteringDetector
from tests.hardware.knock.faulty_sounds import Signal, clipped, knocks
from tests.hardware.knock.sounds import RATE_HZ


def fed(detector: KnockDetector, samples: Signal, *, length: int = 1_024) -> list[ClassifiedSound]:
    blocks = (
        SoundBlock(samples[first : first + length], first * NS_PER_S // RATE_HZ, RATE_HZ)
        for first in range(0, len(samples), length)
    )
    return [sound for block in blocks for sound in detector.feed(block)]


@pytest.mark.parametrize("length", [160, 1_024, 4_000])
def test_it_detects_what_the_detector_does(length: int) -> None:
    detector = MeteringDetector()
    assert fed(detector, knocks(), length=length) == fed(KnockDetector(), knocks(), length=length)
    assert [metered.sound.kind for metered in detector.take_metered()] == [Sound.KNOCK] * 3
    assert detector.take_metered() == ()


def test_levels_are_those_of_the_samples() -> None:
    detector = MeteringDetector()
    assert (detector.level_db, detector.peak_db, detector.noise_db) == (None, None, None)
    samples = knocks()
    fed(detector, samples)
    assert detector.peak_db == pytest.approx(20 * np.log10(np.abs(samples).max()), abs=0.5)
    assert detector.noise_db == pytest.approx(-59, abs=1)  # -60 dB, and -66 dB of the hits
    assert detector.level_db == pytest.approx(-59, abs=1)
    assert [metered.above_noise_db for metered in detector.take_metered()] == pytest.approx([52] * 3, abs=2)


def test_the_peak_is_held_for_three_seconds() -> None:
    detector = MeteringDetector()
    quiet = np.random.default_rng(2).normal(0, 0.001, RATE_HZ * 6).astype(np.float32)
    quiet[100] = 0.5
    fed(detector, quiet[: 2 * RATE_HZ])
    assert detector.peak_db == pytest.approx(-6, abs=0.1)
    fed(detector, quiet)
    assert detector.peak_db is not None
    assert detector.peak_db < -40


def test_only_the_clipped_sound_is_marked() -> None:
    samples = knocks()
    first = round(0.9 * RATE_HZ)
    samples[first : first + 8_000] = clipped(samples[first : first + 8_000])
    detector = MeteringDetector()
    fed(detector, samples)
    marks = {round(metered.sound.t_ns / NS_PER_S, 1): metered.is_clipped for metered in detector.take_metered()}
    assert {t_s: marks[t_s] for t_s in (0.4, 1.0, 1.6)} == {0.4: False, 1.0: True, 1.6: False}


def test_the_last_sound_of_a_recording_is_completed_without_measuring_silence() -> None:
    detector = MeteringDetector()
    samples = knocks((0.6,))[: RATE_HZ * 7 // 10]
    assert detector.finish() == ()
    assert fed(detector, samples) == []
    (sound,) = detector.finish()
    assert sound.kind is Sound.KNOCK
    assert detector.level_db is not None
    assert detector.level_db > -70
