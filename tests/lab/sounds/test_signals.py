"""Tests of pulses, modes, filters and noise of which sounds are built."""

from __future__ import annotations

import wave
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from hardware.knock.sensor import Sound
from lab.packages import MissingPackagesError, files_of
from lab.sounds.devices import Response, apply_response, combined, high_pass, low_pass, peaking, tilted
from lab.sounds.signals import (
    COLLECTIONS,
    RATE_HZ,
    Impact,
    band_noise,
    bounces,
    colour,
    convolve,
    fist,
    force,
    frequencies,
    knock_times,
    knuckle,
    normalized,
    overlay,
    palm,
    panel,
    pulses,
    read_sound,
    recorded_sound,
    require_library,
    ringing,
    struck_again,
)
from lab.training.recordings import draw_recording


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


# Tests of hits by palm and fist, and of the rhythm of knocks.


def brightness(impacts: list[Impact]) -> float:
    """Return the share of energy above 500 Hz."""
    spectrum = np.abs(force(impacts)) ** 2
    return float(spectrum[frequencies() > 500].sum() / spectrum.sum())


def test_a_fist_sounds_duller_than_a_palm_and_a_palm_duller_than_a_knuckle() -> None:
    rng = np.random.default_rng(1)
    of_knuckle, of_palm, of_fist = (
        np.median([brightness(kind(rng)) for _ in range(200)]) for kind in (knuckle, palm, fist)
    )
    assert of_knuckle > 1.5 * of_palm > 2 * of_fist


def test_series_have_one_to_five_knocks_in_the_stated_shares() -> None:
    rng = np.random.default_rng(2)
    counts = Counter(len(knock_times(rng)) for _ in range(2_000))
    assert set(counts) == {1, 2, 3, 4, 5}
    assert counts[1] / 2_000 == pytest.approx(0.45, abs=0.04)
    assert counts[2] / 2_000 == pytest.approx(0.35, abs=0.04)


def test_gaps_between_knocks_are_human_and_nearly_even() -> None:
    rng = np.random.default_rng(3)
    series = [times_s for times_s in (knock_times(rng) for _ in range(500)) if len(times_s) > 1]
    gaps_s = [np.diff(times_s) for times_s in series]
    assert all(times_s[0] == 0 for times_s in series)
    assert min(gaps.min() for gaps in gaps_s) > 0.7 * 0.12
    assert max(gaps.max() for gaps in gaps_s) < 1.3 * 0.5
    jitters = [gaps.std() / gaps.mean() for gaps in gaps_s if len(gaps) == 4]
    assert 0.05 < np.mean(jitters) < 0.12


def test_the_next_hit_of_a_hand_resembles_the_last() -> None:
    low = frequencies() < 1_000
    of_again, of_others = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        first, other = knuckle(rng), knuckle(rng)
        again = struck_again(rng, first)
        assert len(again) == len(first)
        assert again != first
        level, level_again, level_of_other = (np.log(np.abs(force(hit))[low]) for hit in (first, again, other))
        of_again.append(np.abs(level_again - level).mean())
        of_others.append(np.abs(level_of_other - level).mean())
    assert np.mean(of_again) < 0.5 * np.mean(of_others)


# Tests of microphone responses: gains, and recordings that keep peak and timing.


HZ = np.array([125.0, 250.0, 1_000.0, 4_000.0])


@pytest.mark.parametrize(
    ("response", "gains_db"),
    [
        (tilted(2.0), [-6.0, -4.0, 0.0, 4.0]),
        (peaking(250, -8), [-0.0, -8.0, 0.0, 0.0]),
        (low_pass(1_000), [0.0, 0.0, -3.0, -48.2]),
        (peaking(500, 6, width_octaves=1.0), [0.1, 2.2, 2.2, 0.0]),
        (low_pass(1_000, order=1), [-0.1, -0.3, -3.0, -12.3]),
        (high_pass(250, order=1), [-7.0, -3.0, -0.3, 0.0]),
        (combined(tilted(2.0), tilted(1.0)), [-9.0, -6.0, 0.0, 6.0]),
        (combined(low_pass(125, order=3), high_pass(125)), [-6.0, -18.4, -54.2, -60.0]),
        (high_pass(250), [-12.3, -3.0, 0.0, 0.0]),
    ],
    ids=[
        "tilted",
        "bent",
        "without above",
        "bent widely",
        "gently without above",
        "gently without below",
        "in series",
        "at least -60 dB",
        "without below",
    ],
)
def test_responses_have_the_nominal_gains(response: Response, gains_db: list[float]) -> None:
    assert response(HZ) == pytest.approx(gains_db, abs=0.1)


def test_a_filtered_recording_keeps_its_peak_and_timing() -> None:
    samples = np.zeros(5_000, np.float32)
    samples[3_000:3_004] = 0.3, -0.5, 0.4, -0.1
    filtered = apply_response(samples, tilted(-4.0))
    assert np.abs(filtered).max() == pytest.approx(0.5)
    assert abs(int(np.abs(filtered).argmax()) - 3_001) <= 2
    assert not np.allclose(filtered, samples, atol=0.05)


# Tests of recorded everyday sounds from installed packages.


def write_tone(path: Path, *, rate_hz: int, hz: float = 440.0, lasts_s: float = 0.4) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = 8_000 * np.sin(2 * np.pi * hz * np.arange(round(lasts_s * rate_hz)) / rate_hz)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        file.writeframes(samples.astype("<i2").tobytes())


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Return a folder with one tone for each collection. Libsndfile identifies formats by content, not by name."""
    for group in COLLECTIONS.values():
        for index, collection in enumerate(group):
            name = collection.files.replace("**/", "").replace("*", f"sound{index}")
            write_tone(tmp_path / name, rate_hz=8_000 * (index + 1))
    return tmp_path


def test_missing_packages_are_named_with_the_command_that_installs_them(library: Path) -> None:
    require_library(library)
    for file in (library / "buckle").rglob("*.wav"):
        file.unlink()
    files_of.cache_clear()
    with pytest.raises(MissingPackagesError, match="sounds are missing; they come with: apt install bucklespring-data"):
        require_library(library)


def test_sounds_of_any_rate_are_read_at_16_khz(tmp_path: Path) -> None:
    pytest.importorskip("soundfile", reason="recorded sounds are read with the extra `finder`")
    for rate_hz in (8_000, 16_000, 44_100):
        write_tone(tmp_path / f"{rate_hz}.wav", rate_hz=rate_hz, hz=1_000)
        samples = read_sound(tmp_path / f"{rate_hz}.wav")
        assert len(samples) >= 0.4 * RATE_HZ
        spectrum = np.abs(np.fft.rfft(samples[: round(0.4 * RATE_HZ)]))
        assert spectrum.argmax() / 0.4 == pytest.approx(1_000, abs=3)


@pytest.mark.parametrize("group", COLLECTIONS)
def test_recorded_sounds_follow_from_their_seeds(library: Path, group: str) -> None:
    pytest.importorskip("soundfile", reason="recorded sounds are read with the extra `finder`")
    first, repeated = (recorded_sound(np.random.default_rng(3), library, group) for _ in range(2))
    assert (first == repeated).all()
    assert np.abs(first).max() == pytest.approx(1)


def test_recordings_with_a_library_contain_its_sounds(library: Path) -> None:
    pytest.importorskip("soundfile", reason="recorded sounds are read with the extra `finder`")
    recordings = [draw_recording(np.random.default_rng([4, seed]), library) for seed in range(40)]
    modelled = [draw_recording(np.random.default_rng([4, seed])) for seed in range(40)]
    assert any(a.events != b.events for a, b in zip(recordings, modelled, strict=True))
    # Speech or other sounds in the background begin with the recording.
    starts = [recording.events[0] for recording in recordings]
    assert any(event.t_s == 0 and event.kind in (Sound.SPEECH, Sound.NOTHING) for event in starts)
