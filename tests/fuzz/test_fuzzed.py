"""Tests of the parsers with damaged bytes, for a few seconds. `make fuzz` runs them without limit."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.seeds import seeds
from tests.fuzz.targets import TARGETS

_RUNS = 60
SEEDS = seeds()


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Replace, remove, repeat or insert bytes at a random position."""
    position, length = rng.randrange(len(data) + 1), rng.randrange(1, 40)
    part = data[position : position + length]
    replacements = (
        rng.randbytes(len(part)),
        b"",
        3 * part,
        part + rng.randbytes(4),
        b"\xff\xff\xff\xff",
        b"0",
        b"9" * 30,
    )
    return data[:position] + rng.choice(replacements) + data[position + length :]


def test_every_target_has_seeds() -> None:
    assert SEEDS.keys() == TARGETS.keys()
    assert all(SEEDS.values())


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_bytes_raise_only_documented_exceptions(name: str) -> None:
    rng = random.Random(name)
    for index in range(_RUNS):
        data = SEEDS[name][index % len(SEEDS[name])]
        for _ in range(rng.randrange(1, 4)):
            data = damaged(data, rng)
        TARGETS[name](data)


@pytest.mark.parametrize("name", TARGETS)
def test_accepts_empty_input_and_noise(name: str) -> None:
    for length in (0, 1, 2, 100):
        TARGETS[name](random.Random(length).randbytes(length))
