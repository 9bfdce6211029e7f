"""Tests of the measurements of a microphone's signal, on modelled sound with one fault each."""

from __future__ import annotations

import numpy as np
import pytest

from hardware.knock.sensor import NS_PER_S, SoundBlock
from hardware.knock.signal_quality import SignalFault, SignalMonitor, SignalQuality, signal_quality
from lab.sounds.devices import gate
from tests.hardware.knock.faulty_sounds import (
    KNOCKS_S,
    Signal,
    at_8_bits,
    at_16_bits,
    clipped,
    gated,
    knocks,
    telephone,
    with_gaps,
)
from tests.hardware.knock.scenes import speech
from tests.hardware.knock.sounds import RATE_HZ, scene


def measured(samples: Signal, *, rate_hz: int = RATE_HZ) -> SignalQuality:
    quality = signal_quality([SoundBlock(samples, 0, rate_hz)])
    assert quality is not None
    return quality


def noise(level_db: float, seconds: float = 2.0) -> Signal:
    samples = np.random.default_rng(1).normal(0, 10 ** (level_db / 20), round(seconds * RATE_HZ))
    return at_16_bits(samples.astype(np.float32))


def test_a_good_recording_has_no_fault_and_its_levels_whatever_the_blocks() -> None:
    quality = measured(knocks())
    assert quality.faults() == ()
    assert (quality.sounds, quality.clipped_sounds, quality.is_band_limited) == (len(KNOCKS_S), 0, False)
    assert quality.noise_db == pytest.approx(-60, abs=1)
    assert quality.peak == pytest.approx(0.4, abs=0.02)
    samples = gated(knocks())
    monitor = SignalMonitor()
    for first in range(0, len(samples), 777):
        monitor.feed(SoundBlock(samples[first : first + 777], first * NS_PER_S // RATE_HZ, RATE_HZ))
    assert monitor.measure() == measured(samples)


def test_modelled_recordings_of_all_sounds_are_neither_gated_nor_faulty() -> None:
    faults = [fault for seed in range(4, 11) for fault in measured(scene(seed).samples).faults()]
    assert [fault for fault in faults if fault is not SignalFault.CLIPPED] == []


@pytest.mark.parametrize("ceiling", [1.0, 0.6])
def test_clipping_is_found_at_and_below_full_scale(ceiling: float) -> None:
    quality = measured(clipped(knocks(), ceiling=ceiling))
    assert quality.faults() == (SignalFault.CLIPPED,)
    assert quality.clipped_sounds == 3


def test_a_single_clipped_sound_is_no_fault_over_a_long_time() -> None:
    samples = knocks()
    first, end = round(0.95 * RATE_HZ), round(1.2 * RATE_HZ)
    samples[first:end] = clipped(samples[first:end])
    quality = measured(samples)
    assert (quality.sounds, quality.clipped_sounds) == (3, 1)
    assert quality.faults() == quality.faults(min_events=3) == ()


@pytest.mark.parametrize("by_db", [30.0, 40.0, 60.0, 200.0])
def test_a_noise_gate_is_found(by_db: float) -> None:
    assert SignalFault.GATED in measured(gated(knocks(), by_db=by_db)).faults()


@pytest.mark.parametrize("release_s", [0.01, 0.03, 0.06, 0.1])
@pytest.mark.parametrize("by_db", [40.0, 90.0])
def test_a_gate_that_closes_slowly_is_found(by_db: float, release_s: float) -> None:
    samples = knocks((0.6, 1.6, 2.6)).astype(np.float64)
    closed = gate(samples, threshold=0.35, hold_s=0.12, release_s=release_s, floor_db=by_db)
    assert SignalFault.GATED in measured(at_16_bits(closed.astype(np.float32))).faults()


def test_a_gate_shows_in_a_single_knock_and_gaps_are_counted() -> None:
    knock, silence = knocks((0.5,)), np.zeros(RATE_HZ // 2, np.float32)
    assert measured(np.concatenate([silence, knock, silence])).faults() == (SignalFault.GATED,)
    assert measured(np.concatenate([silence, knock])).faults() == ()
    assert measured(np.concatenate([knock, silence])).faults() == ()
    assert measured(with_gaps(knocks(), 0.7, 1.3, 2.1)).dropped == 3
    assert measured(with_gaps(knocks(), 0.7, 1.3)).faults() == (SignalFault.DROPPED,)
    assert measured(with_gaps(knocks(), 0.7, 1.3, gap_s=0.12)).dropped == 0  # so long is a gate


def test_a_weak_gate_is_no_fault_and_speech_none() -> None:
    assert measured(gated(knocks(), by_db=20)).faults() == ()
    for seed in range(6):
        rng = np.random.default_rng([6, seed])
        samples = noise(-70, 8.0)
        for first in range(4_000, len(samples) - 40_000, 28_000):
            voice = speech(rng)[:24_000]
            samples[first : first + len(voice)] += (0.3 * voice / np.abs(voice).max()).astype(np.float32)
        assert SignalFault.GATED not in measured(at_16_bits(samples)).faults()


def test_silence_muting_and_8_bits_are_told_apart() -> None:
    assert measured(np.full(RATE_HZ, 0.1, np.float32)).faults() == (SignalFault.MUTED,)
    assert measured(noise(-90)).faults() == (SignalFault.SILENT,)
    assert measured(noise(-80)).faults() == ()
    assert measured(at_8_bits(knocks())).faults() == (SignalFault.COARSE,)


def test_telephone_sound_is_found_in_louder_sounds() -> None:
    assert measured(telephone(knocks(noise_db=-45))).faults() == (SignalFault.BAND_LIMITED,)
    eight = knocks(noise_db=-45)[::2]
    assert measured(eight, rate_hz=8_000).is_band_limited
    quality = measured(noise(-75))
    assert (quality.sounds, quality.is_band_limited) == (0, None)
    assert measured(telephone(noise(-75))).is_band_limited is None


def test_the_monitor_forgets_older_sound_and_another_rate() -> None:
    monitor = SignalMonitor(window_s=2.0)
    for samples in (clipped(knocks()), noise(-60, 3.0)):
        monitor.feed(SoundBlock(samples, 0, RATE_HZ))
    quality = monitor.measure()
    assert quality is not None
    assert quality.faults() == ()
    assert quality.duration_s == pytest.approx(3.0, abs=0.02)  # the last block is longer than the window
    monitor = SignalMonitor()
    monitor.feed(SoundBlock(clipped(knocks()), 0, RATE_HZ))
    monitor.feed(SoundBlock(np.zeros(100, np.float32), 0, 44_100))
    assert monitor.measure() is None
