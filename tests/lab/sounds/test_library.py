"""Tests of recorded everyday sounds from installed packages."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from hardware.knock.sensor import Sound
from lab.packages import MissingPackagesError, files_of
from lab.sounds.impacts import RATE_HZ
from lab.sounds.surroundings import COLLECTIONS, read_sound, recorded_sound, require_library
from lab.training.knock.examples import draw_recording


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
