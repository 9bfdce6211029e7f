"""Tests of the checks of sound from a microphone."""

from __future__ import annotations

import numpy as np
import pytest

from hardware.knock.sensor import SoundBlock
from tallybone.doctor.parts import Sounds, check_sound, sounds_of
from tallybone.finding import Grade
from tests.hardware.knock.faulty_sounds import Signal, at_8_bits, clipped, gated, knocks, telephone, with_gaps

RATE_HZ = 16_000


def blocks(level: float, *, seconds: float = 2.0, offset: float = 0.0) -> list[SoundBlock]:
    noise = np.random.default_rng(1).normal(0, 1, round(RATE_HZ * seconds)) * level + offset
    return [SoundBlock(np.clip(noise, -1, 1).astype(np.float32), 0, RATE_HZ)]


@pytest.mark.parametrize(
    ("level", "grade", "text"),
    [
        (0.0, Grade.PROBLEM, "digital silence"),
        (1e-5, Grade.PROBLEM, "silent"),
        (1e-3, Grade.OK, "hears (-60 dB"),
        (0.2, Grade.WARNING, "very loud"),
        (1.0, Grade.WARNING, "clipping"),
    ],
)
def test_silence_noise_and_a_good_level_are_distinguished(level: float, grade: Grade, text: str) -> None:
    (found,) = check_sound(sounds_of(blocks(level)))
    assert found.grade is grade
    assert found.text.startswith(text)
    (found,) = check_sound(sounds_of(blocks(0.0, offset=0.3)))
    assert found.text.startswith("digital silence")  # a constant offset


@pytest.mark.parametrize(
    ("seconds", "lost", "text"),
    [
        (0.6, 0, "sound is lost: 30% of it arrived"),
        (1.38, 9, "sound is lost: 69% of it arrived, lost 9 times"),
    ],
)
def test_lost_sound_is_a_warning_with_the_count_of_the_driver(seconds: float, lost: int, text: str) -> None:
    (found,) = check_sound(sounds_of(blocks(1e-3, seconds=seconds), lost=lost))
    assert (found.grade, found.text) == (Grade.WARNING, text)


def test_gaps_in_longer_recordings_are_found() -> None:
    (block,) = blocks(1e-3, seconds=1.0)
    late = SoundBlock(block.samples, 3_000_000_000, RATE_HZ)
    assert sounds_of([block, late, SoundBlock(block.samples, 4_000_000_000, RATE_HZ)]).share == pytest.approx(0.75)


def test_no_sound_and_a_missing_microphone_are_problems() -> None:
    assert sounds_of([]).error == "it opens, but delivers no sound"
    (found,) = check_sound(Sounds(error="the microphone cannot be opened"))
    assert found.grade is Grade.PROBLEM


@pytest.mark.parametrize(
    ("samples", "text"),
    [
        (clipped(knocks()), "clipping"),
        (gated(knocks()), "a noise gate cuts the sound"),
        (gated(knocks(), by_db=200), "a noise gate cuts the sound"),
        (with_gaps(knocks(), 0.7, 1.3), "sound is lost: it has gaps"),
        (at_8_bits(knocks()), "only 8 bits"),
        (telephone(knocks(noise_db=-45)), "nothing above 4 kHz, as on a telephone"),
    ],
    ids=["clipped", "gated", "digitally gated", "dropped", "8 bits", "telephone"],
)
def test_each_fault_of_a_microphone_is_a_warning_with_a_remedy(samples: Signal, text: str) -> None:
    (found,) = check_sound(sounds_of([SoundBlock(samples, 0, RATE_HZ)]))
    assert (found.grade, found.text.partition(" (")[0]) == (Grade.WARNING, text)
    assert found.remedy


def test_several_faults_are_all_reported() -> None:
    samples = clipped(knocks())
    found = check_sound(sounds_of([SoundBlock(samples, t_ns, RATE_HZ) for t_ns in (0, 7_000_000_000)]))
    assert [one.text.partition(" (")[0] for one in found] == ["clipping", "sound is lost: 74% of it arrived"]


def test_without_a_knock_it_says_what_it_could_not_check() -> None:
    (found,) = check_sound(sounds_of(blocks(1e-4)))
    assert "not checked without a louder sound: clipping, noise gates, bandwidth" in found.text
    (found,) = check_sound(sounds_of([SoundBlock(knocks(), 0, RATE_HZ)]))
    assert found.text.endswith("no clipping, no noise gate")
