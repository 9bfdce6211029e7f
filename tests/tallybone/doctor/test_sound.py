"""What a microphone hears: measured on blocks of sound, and judged."""

from __future__ import annotations

import numpy as np
import pytest

from hardware.knock.heard import SoundBlock
from tallybone.doctor.parts import Ear, Sounds, check_sound, sounds_of
from tallybone.finding import Grade

RATE_HZ = 16_000


def blocks(level: float, *, seconds: float = 2.0, offset: float = 0.0) -> list[SoundBlock]:
    noise = np.random.default_rng(1).normal(0, 1, round(RATE_HZ * seconds)) * level + offset
    return [SoundBlock(np.clip(noise, -1, 1).astype(np.float32), 0, RATE_HZ)]


@pytest.mark.parametrize(
    ("level", "grade", "words"),
    [
        (0.0, Grade.PROBLEM, "silent"),
        (1e-5, Grade.PROBLEM, "silent"),
        (1e-3, Grade.OK, "hears (-60 dB"),
        (0.2, Grade.WARNING, "very loud"),
        (1.0, Grade.WARNING, "clipping"),
    ],
)
def test_silence_and_noise_are_told_from_a_good_level(level: float, grade: Grade, words: str) -> None:
    found = check_sound(sounds_of(blocks(level)))
    assert found.grade is grade
    assert found.words.startswith(words)


def test_a_microphone_that_stands_beside_zero_is_still_silent() -> None:
    assert sounds_of(blocks(0.0, offset=0.3)).level_db < -100


def test_sound_that_is_missing_is_a_warning() -> None:
    assert check_sound(sounds_of(blocks(1e-3, seconds=0.6))).words == "sound is lost: 30% of it arrived"


def test_a_third_of_the_sound_that_is_missing_is_a_warning_with_what_the_driver_said() -> None:
    found = check_sound(sounds_of(blocks(1e-3, seconds=1.38), lost=9))
    assert (found.grade, found.words) == (Grade.WARNING, "sound is lost: 69% of it arrived, lost 9 times")


def test_more_time_than_two_seconds_hides_no_gap() -> None:
    (block,) = blocks(1e-3, seconds=1.0)
    late = SoundBlock(block.samples, 3_000_000_000, RATE_HZ)
    assert sounds_of([block, late, SoundBlock(block.samples, 4_000_000_000, RATE_HZ)]).share == pytest.approx(0.75)


def test_no_sound_at_all_and_a_microphone_that_is_gone_are_problems() -> None:
    assert sounds_of([]).error == "it opens, but delivers no sound"
    assert check_sound(Sounds(error="the microphone cannot be opened")).grade is Grade.PROBLEM


def test_an_ear_keeps_all_it_hears_and_hears_no_knock() -> None:
    ear = Ear()
    (block,) = blocks(0.5)
    assert ear.feed(block) == ()
    assert ear.blocks == [block]
