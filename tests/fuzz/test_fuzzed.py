"""The parsers of foreign bytes with some damage, in seconds; `make fuzz` does the same for as long as you like."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.seeds import seeds
from tests.fuzz.targets import TARGETS

_DAMAGES = 60
SEEDS = seeds()


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Flip, cut out, repeat or insert somewhere."""
    at, length = rng.randrange(len(data) + 1), rng.randrange(1, 40)
    piece = data[at : at + length]
    kinds = (rng.randbytes(len(piece)), b"", 3 * piece, piece + rng.randbytes(4), b"\xff\xff\xff\xff", b"0", b"9" * 30)
    return data[:at] + rng.choice(kinds) + data[at + length :]


def test_every_target_has_seeds() -> None:
    assert SEEDS.keys() == TARGETS.keys()
    assert all(SEEDS.values())


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_bytes_raise_nothing_but_what_is_expected(name: str) -> None:
    rng = random.Random(name)
    for number in range(_DAMAGES):
        data = SEEDS[name][number % len(SEEDS[name])]
        for _ in range(rng.randrange(1, 4)):
            data = damaged(data, rng)
        TARGETS[name](data)


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_at_all_and_noise_are_survived(name: str) -> None:
    for length in (0, 1, 2, 100):
        TARGETS[name](random.Random(length).randbytes(length))
