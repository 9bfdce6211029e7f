"""Tests of recording devices: every alteration keeps the length and changes what it is for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lab.sounds import devices
from lab.sounds.devices import Alteration
from lab.sounds.impacts import RATE_HZ

HITS = np.arange(8_000, 64_000, 16_000)


@pytest.fixture(name="hits")
def hits_of_table() -> np.ndarray:
    """Four decaying hits of 4 s in all, with a peak of 1 over noise of -60 dB."""
    rng = np.random.default_rng(1)
    sound = rng.normal(0, 0.001, 4 * RATE_HZ)
    for first in HITS:
        sound[first : first + 1_600] += rng.normal(0, 0.25, 1_600) * np.exp(-np.arange(1_600) / 300)
    return np.asarray(sound / np.abs(sound).max())


def band_db(sound: np.ndarray, low_hz: float, high_hz: float) -> float:
    power = np.abs(np.fft.rfft(sound)) ** 2
    hz = np.fft.rfftfreq(len(sound), 1 / RATE_HZ)
    return 10 * float(np.log10(power[(hz >= low_hz) & (hz < high_hz)].mean() + 1e-30))


def between_hits_db(sound: np.ndarray) -> float:
    """Return the level 0.25 s before the hits."""
    return 20 * float(np.log10(np.concatenate([sound[at - 5_000 : at - 3_000] for at in HITS]).std() + 1e-30))


def hits_db(sound: np.ndarray) -> float:
    """Return the level of the first 50 ms of the hits."""
    return 20 * float(np.log10(np.concatenate([sound[at : at + 800] for at in HITS if at < len(sound)]).std()))


RANDOM = [
    devices.draw_codec,
    devices.draw_suppressor,
    devices.draw_gate,
    devices.draw_leveller,
    devices.draw_telephone,
]
FIXED = [devices.encode, devices.suppress_noise, devices.gate, devices.level, devices.telephone]


@pytest.mark.parametrize("draw", RANDOM)
def test_random_alterations_are_finite_and_keep_the_length(
    hits: np.ndarray, draw: Callable[[np.random.Generator], Alteration]
) -> None:
    rng = np.random.default_rng(2)
    for count in (64_000, 63_999, 33_000, 100):
        for sound in (hits[:count], np.zeros(count)):
            altered = draw(rng)(sound)
            assert altered.shape == (count,)
            assert np.isfinite(altered).all()


@pytest.mark.parametrize("alter", FIXED)
def test_alterations_neither_delay_nor_remove_loud_hits(hits: np.ndarray, alter: Alteration) -> None:
    altered = alter(hits)
    for first in HITS:
        excerpt = np.abs(altered[first - 100 : first + 400])
        assert excerpt.max() > 0.1
        assert excerpt[:60].max() < 0.5 * excerpt.max()


def test_a_codec_removes_what_is_above_its_limit_and_adds_noise_below(hits: np.ndarray) -> None:
    coded = devices.encode(hits, cut_hz=4_000, snr_db=10)
    assert band_db(coded, 5_000, 8_000) < band_db(hits, 5_000, 8_000) - 40
    assert abs(band_db(coded, 500, 3_500) - band_db(hits, 500, 3_500)) < 1.5
    error = band_db(coded - hits, 500, 3_500) - band_db(hits, 500, 3_500)
    assert error == pytest.approx(-10, abs=3)


def test_noise_suppression_lowers_the_noise_rather_than_the_hits(hits: np.ndarray) -> None:
    quiet = devices.suppress_noise(hits, oversubtract=6, floor_db=20, exponent=0.5)
    assert between_hits_db(hits) - 20.5 < between_hits_db(quiet) < between_hits_db(hits) - 10
    assert hits_db(quiet) == pytest.approx(hits_db(hits), abs=2)


@pytest.mark.parametrize("floor_db", [20.0, 40.0, 90.0])
def test_a_gate_lowers_the_time_between_hits_by_its_floor(hits: np.ndarray, floor_db: float) -> None:
    gated = devices.gate(hits, hold_s=0.05, release_s=0.01, floor_db=floor_db)
    assert between_hits_db(gated) == pytest.approx(between_hits_db(hits) - floor_db, abs=1)
    assert hits_db(gated) == pytest.approx(hits_db(hits), abs=2)


def test_a_slow_gate_cuts_the_start_of_hits(hits: np.ndarray) -> None:
    fast, slow = (devices.gate(hits, attack_s=attack_s) for attack_s in (0.0005, 0.01))
    assert np.abs(slow[HITS[1] : HITS[1] + 64]).max() < 0.6 * np.abs(fast[HITS[1] : HITS[1] + 64]).max()


def test_automatic_gain_brings_quiet_and_loud_hits_together(hits: np.ndarray) -> None:
    uneven = hits * np.repeat([1.0, 0.1, 1.0, 0.1], RATE_HZ)
    levelled = devices.level(uneven, strength=0.5, release_s=0.05)
    before, after = (hits_db(sound[:RATE_HZ]) - hits_db(sound[RATE_HZ : 2 * RATE_HZ]) for sound in (uneven, levelled))
    assert before == pytest.approx(20, abs=3)
    assert 0.3 * before < after < 0.7 * before


@pytest.mark.parametrize("is_mu_law", [False, True])
def test_a_telephone_passes_300_to_3400_hz(hits: np.ndarray, is_mu_law: bool) -> None:
    heard = devices.telephone(hits, is_mu_law=is_mu_law)
    assert band_db(heard, 500, 3_000) == pytest.approx(band_db(hits, 500, 3_000), abs=0.5)
    for low_hz, high_hz in ((4_500, 8_000), (20, 100)):
        assert band_db(heard, low_hz, high_hz) < band_db(hits, low_hz, high_hz) - 20


def test_mu_law_has_255_values(hits: np.ndarray) -> None:
    assert 100 < len(np.unique(devices.telephone(hits))) <= 255


@pytest.mark.parametrize("below_db", [6.0, 30.0])
def test_a_background_has_its_level_below_a_quarter_of_the_peak(hits: np.ndarray, below_db: float) -> None:
    noise = devices.draw_background(np.random.default_rng(3), len(hits))
    added = devices.add_background(hits, noise, below_db=below_db) - hits
    assert added.std() == pytest.approx(0.25 * 10 ** (-below_db / 20), rel=1e-3)


@pytest.mark.parametrize(("slope", "falls_db"), [(0.0, 0.0), (1.0, 9.0), (2.0, 18.1)])
def test_coloured_noise_falls_with_its_slope(slope: float, falls_db: float) -> None:
    noise = devices.coloured_noise(np.random.default_rng(4), 8 * RATE_HZ, slope=slope)
    assert noise.std() == pytest.approx(1)
    assert band_db(noise, 480, 520) - band_db(noise, 3_840, 4_160) == pytest.approx(falls_db, abs=1)


def test_random_responses_differ_and_are_at_least_minus_60_db() -> None:
    rng = np.random.default_rng(5)
    hz = np.array([30.0, 100, 1_000, 3_000, 7_900])
    gains_db = np.array([devices.draw_response(rng)(hz) for _ in range(200)])
    assert gains_db.min() >= -60
    assert (gains_db.std(axis=0) > [10, 5, 1, 2, 5]).all()
    assert gains_db.max() < 40


def test_recordings_are_16_bit_samples_of_the_same_length_and_all_differ(hits: np.ndarray) -> None:
    recordings = [devices.recorded_by_chance(np.random.default_rng([6, seed]), hits) for seed in range(40)]
    for samples in recordings:
        assert samples.shape == hits.shape
        assert samples.dtype == np.float32
        assert np.isfinite(samples).all()
        assert 0.005 < np.abs(samples).max() <= 1
        assert (samples * 32_768 == np.round(samples * 32_768)).all()
    assert len({samples.tobytes() for samples in recordings}) == len(recordings)


def test_the_same_seed_gives_the_same_recording(hits: np.ndarray) -> None:
    first, second = (devices.recorded_by_chance(np.random.default_rng(7), hits) for _ in range(2))
    assert (first == second).all()


def test_silence_can_be_recorded() -> None:
    for seed in range(20):
        assert np.isfinite(devices.recorded_by_chance(np.random.default_rng(seed), np.zeros(8_000))).all()
