"""Tests of the knock benchmark: times of hits, alterations, and a row for each thing measured."""

from __future__ import annotations

import numpy as np
import pytest

from hardware.knock.sensor import Sound
from lab.bench import knock
from lab.sounds.everyday import EVERYDAY


@pytest.fixture(name="knocks", scope="module")
def knocks_at_a_table() -> knock.Stream:
    return knock.stream_of_hits(np.random.default_rng(3), Sound.KNOCK, 4)


def test_hits_start_at_their_times(knocks: knock.Stream) -> None:
    assert knocks.starts_s == (1.0, 2.5, 4.0, 5.5)
    assert knock.hit_times_s(knocks.samples, share=0.15, gap_s=0.3) == pytest.approx(knocks.starts_s, abs=0.010)


@pytest.mark.parametrize("name", knock.ALTERATIONS)
def test_an_alteration_keeps_length_and_full_scale(knocks: knock.Stream, name: str) -> None:
    altered = knocks.altered(np.random.default_rng(4), knock.ALTERATIONS[name])
    assert altered.samples.shape == knocks.samples.shape
    assert np.isfinite(altered.samples).all()
    assert 0.005 < np.abs(altered.samples).max() <= 1
    assert (name == "none") == np.array_equal(altered.samples, knocks.samples)


def test_hits_to_learn_from_come_first_and_closer_together() -> None:
    stream = knock.stream_of_hits(np.random.default_rng(3), Sound.KNOCK, 2, learned=2)
    assert stream.starts_s == (1.0, 1.75, 2.5, 4.0)


def test_noise_is_louder_farther_away(knocks: knock.Stream) -> None:
    shares = []
    for distance_m in (0.3, 4.0):
        heard = knock.at_distance(np.random.default_rng(5), knocks.samples, distance_m=distance_m)
        shares.append(heard[:8_000].std() / np.abs(heard).max())
    assert shares[1] > 3 * shares[0]


def test_each_alteration_has_a_row() -> None:
    few = {name: knock.ALTERATIONS[name] for name in ("none", "noise 6 dB below the hits")}
    rows = list(knock.alteration_rows(1, 10, [], alterations=few))
    assert [name for name, _ in rows] == list(few)


@pytest.mark.slow
def test_each_group_has_a_row() -> None:
    rows = list(knock.other_rows(1, 1))
    assert [name for name, _ in rows][: len(EVERYDAY)] == list(EVERYDAY)
    assert [name for name, _ in rows][-1] == "shuffles at random tables"


def test_each_distance_has_a_row() -> None:
    assert [name for name, _ in knock.distance_rows(1, 1)] == [
        f"{distance_m} m" for distance_m in (0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
    ]


def test_the_load_has_two_references() -> None:
    rows = list(knock.load_rows(5))
    assert [name for name, _ in rows if name.startswith("reference")] == [
        "reference, FFT of 1024",
        "reference, product of 256 x 256",
    ]
