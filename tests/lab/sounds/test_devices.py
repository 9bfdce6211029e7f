"""Tests of recording devices: every alteration keeps the length and changes what it is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from lab.sounds import devices
from lab.sounds.devices import Acoustics, Alteration, draw_room, reverberate, room_response
from lab.sounds.signals import RATE_HZ

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


# Tests of room responses: direct sound, distance, decay, and sounds that keep their length.


ROOM = Acoustics(distance_m=1.0, reverberation_s=0.6, volume_m3=60.0, treble=1.0, reflections=0)


def energy_after(response: np.ndarray, from_s: float) -> float:
    return float((response[round(from_s * RATE_HZ) :] ** 2).sum())


def direct_to_reverberant_db(response: np.ndarray) -> float:
    return 10 * float(np.log10(response[0] ** 2 / (response[1:] ** 2).sum()))


@pytest.mark.parametrize(("distance_m", "nominal_db"), [(0.3, 5.6), (0.57, 0.0), (4.0, -16.9)])
def test_the_direct_sound_dominates_nearby_and_the_reverberation_far_away(distance_m: float, nominal_db: float) -> None:
    room = replace(ROOM, distance_m=distance_m)
    assert room.direct_to_reverberant_db == pytest.approx(nominal_db, abs=0.1)
    response = room_response(np.random.default_rng(1), room)
    assert direct_to_reverberant_db(response) == pytest.approx(nominal_db, abs=0.1)


def test_reflections_are_weaker_nearby() -> None:
    shares = []
    for distance_m in (0.3, 4.0):
        room = Acoustics(distance_m=distance_m, gap_s=0.030, reflections=11)
        early = [room_response(np.random.default_rng(seed), room)[1:480] for seed in range(20)]
        shares.append(np.mean([(response**2).sum() for response in early]))
    assert shares[0] < 0.3 * shares[1]


def test_a_longer_reverberation_time_decays_more_slowly() -> None:
    shares = {}
    for reverberation_s in (0.3, 0.9):
        response = room_response(np.random.default_rng(2), replace(ROOM, reverberation_s=reverberation_s))
        shares[reverberation_s] = 10 * np.log10(energy_after(response, 0.21) / energy_after(response, 0.01))
    # 0.2 s are 40 dB of a decay of 60 dB in 0.3 s, and 13 dB of one in 0.9 s.
    assert shares[0.3] == pytest.approx(-40, abs=8)
    assert shares[0.9] == pytest.approx(-13, abs=4)


def test_high_frequencies_decay_faster_with_less_treble() -> None:
    response = room_response(np.random.default_rng(3), replace(ROOM, treble=0.35))
    late = np.abs(np.fft.rfft(response[round(0.25 * RATE_HZ) : round(0.4 * RATE_HZ)])) ** 2
    hz = np.fft.rfftfreq(round(0.15 * RATE_HZ), 1 / RATE_HZ)
    assert late[hz < 400].mean() > 100 * late[hz > 3_500].mean()


def test_a_sound_in_a_random_room_keeps_its_length_and_start() -> None:
    rng = np.random.default_rng(4)
    sound = np.zeros(RATE_HZ)
    sound[5_000] = 1.0
    for _ in range(20):
        heard = reverberate(sound, room_response(rng, draw_room(rng)))
        assert heard.shape == sound.shape
        assert np.isfinite(heard).all()
        assert np.abs(heard[:4_999]).max() < 1e-5
        assert heard[5_000] == pytest.approx(1.0, abs=1e-4)


def test_random_rooms_have_the_requested_distance_and_differ() -> None:
    rng = np.random.default_rng(5)
    rooms = [draw_room(rng, distance_m=2.0) for _ in range(50)]
    assert {room.distance_m for room in rooms} == {2.0}
    assert np.std([room.direct_to_reverberant_db for room in rooms]) > 1
    anywhere = [draw_room(rng).distance_m for _ in range(200)]
    assert 0.2 <= min(anywhere) < 0.4
    assert 2.5 < max(anywhere) <= 4.5
