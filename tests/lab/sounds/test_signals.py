"""Tests of pulses, modes, filters and noise of which sounds are built."""

from __future__ import annotations

import numpy as np
import pytest

from lab.sounds.impacts import RATE_HZ
from lab.sounds.signals import (
    band_noise,
    bounces,
    colour,
    convolve,
    normalized,
    overlay,
    panel,
    pulses,
    ringing,
)


def test_a_pulse_has_its_impulse_wherever_it_starts() -> None:
    for start_s in (0.0, 0.001, 0.00103, 0.0012345):
        force = pulses([start_s], [3.0], 0.002, total_s=0.01)
        assert force.sum() == pytest.approx(0.5 * 3.0, rel=0.01)  # the mean of a squared sine is a half
        centre_s = (force * np.arange(len(force))).sum() / force.sum() / RATE_HZ
        assert centre_s == pytest.approx(start_s + 0.001, abs=2e-5)


def test_pulses_add_up_and_later_ones_are_cut_off() -> None:
    both = pulses([0.001, 0.002], [1.0, 2.0], [0.001, 0.0005], total_s=0.01)
    assert both == pytest.approx(
        pulses([0.001], [1.0], 0.001, total_s=0.01) + pulses([0.002], [2.0], 0.0005, total_s=0.01)
    )
    assert not pulses([0.02], [1.0], 0.001, total_s=0.01).any()


def test_ringing_is_the_sum_of_decaying_sines() -> None:
    times_s = np.arange(1_000) / RATE_HZ
    expected = 2 * np.exp(-30 * times_s) * np.sin(2 * np.pi * 440 * times_s)
    expected -= 0.5 * np.exp(-200 * times_s) * np.sin(2 * np.pi * 7_000 * times_s)
    sound = ringing(np.array([440.0, 7_000.0]), np.array([30.0, 200.0]), np.array([2.0, -0.5]), count=1_000)
    assert sound == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("length", [1, 7, 100, 3_000])
def test_convolution_matches_the_direct_sum(length: int) -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(0, 1, 500), rng.normal(0, 1, length)
    assert convolve(first, second) == pytest.approx(np.convolve(first, second), abs=1e-4 * np.sqrt(length))


def test_noise_has_its_band_and_a_level_of_1() -> None:
    sound = band_noise(np.random.default_rng(2), 40_000, low_hz=1_000, high_hz=3_000)
    power = np.abs(np.fft.rfft(sound * np.hanning(len(sound)))) ** 2
    hz = np.fft.rfftfreq(len(sound), 1 / RATE_HZ)
    assert sound.std() == pytest.approx(1, abs=0.03)
    middle = power[(hz > 1_500) & (hz < 2_000)].mean()
    assert power[(hz > 100) & (hz < 200)].mean() < 0.003 * middle
    assert power[hz > 7_000].mean() < 0.1 * middle


@pytest.mark.parametrize("seed", range(5))
def test_a_coloured_click_still_starts_sharply(seed: int) -> None:
    click = np.zeros(400)
    click[100] = 1.0
    coloured = colour(np.random.default_rng(seed), click, spread_db=4.0)
    assert np.abs(coloured[:100]).max() < 1e-3 * np.abs(coloured).max()
    assert np.abs(coloured[100:110]).max() == np.abs(coloured).max()


def test_a_panel_is_balanced_and_ends_silently() -> None:
    for seed in range(10):
        plate = panel(np.random.default_rng(seed), from_hz=50, to_hz=900, count=20, loss=(0.005, 0.05), lasts_s=0.1)
        assert abs(plate.sum()) < 0.05 * np.abs(plate).sum()
        assert abs(plate[-1]) < 1e-6
        assert (plate**2).sum() == pytest.approx(1)


def test_a_ball_bounces_ever_faster_and_softer() -> None:
    times_s, pushes = bounces(np.random.default_rng(3), gap_s=0.3, restitution=0.6, most=8)
    assert len(times_s) == len(pushes) == 8
    gaps_s = np.diff(times_s)
    assert (np.diff(gaps_s) < 0).all()
    assert gaps_s[0] == pytest.approx(0.3, rel=0.4)
    assert pushes[0] == 1
    assert pushes[-1] < 0.2


def test_normalized_sounds_end_with_their_last_sound_and_after_4_s() -> None:
    sound = np.concatenate([np.sin(np.arange(1_600) * 0.5), np.zeros(5_000)])
    assert 1_590 < len(normalized(sound)) < 1_600 + RATE_HZ // 20  # the high-pass fades within 50 ms
    assert np.abs(normalized(100 * sound)).max() == pytest.approx(1)
    long = normalized(np.sin(np.arange(6 * RATE_HZ) * 0.5))
    assert 3.9 < len(long) / RATE_HZ <= 4
    assert abs(long[-1]) < 0.01


def test_overlaid_sounds_start_at_their_times() -> None:
    assert list(overlay([(0.0, np.ones(3)), (2 / RATE_HZ, np.ones(2))])) == [1, 1, 2, 1]
