"""Since when a tile has lain where it lies, told from small pictures: in other light, past arms, in any format."""

from __future__ import annotations

import numpy as np
import pytest

from vision.arrays import GreyImage
from vision.tracking.observations import Observations
from vision.tracking.settle import HEIGHT_PX, WIDTH_PX, SettleGate

MS = 1_000_000
TABLE, TILE, ARM = 60, 200, 130
ONE, OTHER = (100, 80, 40, 20), (480, 240, 20, 40)
SIZE = (WIDTH_PX, HEIGHT_PX)


def picture(*shown: tuple[tuple[int, int, int, int], int], gain: float = 1.0) -> GreyImage:
    """A table with rectangles (x, y, width, height) on it, each of a grey level, and a little noise."""
    noise = np.random.default_rng(len(shown)).normal(0, 2, (HEIGHT_PX, WIDTH_PX))
    levels = np.full((HEIGHT_PX, WIDTH_PX), float(TABLE))
    for (x, y, width, height), level in shown:
        levels[y : y + height, x : x + width] = level
    return np.clip(levels * gain + noise, 0, 255).astype(np.uint8)


def corners(box: tuple[int, int, int, int], grow: tuple[float, float] = (1, 1)) -> list[tuple[float, float]]:
    x, y, width, height = box
    a, b = grow
    return [(a * u, b * v) for u, v in ((x, y), (x + width, y), (x + width, y + height), (x, y + height))]


def watched(pictures: list[GreyImage]) -> Observations:
    """What has seen pictures, ten a second from 0 on."""
    gate, sightings = SettleGate(), Observations()
    for at, grey in enumerate(pictures):
        sightings.feed(gate.feed(grey, at * 100 * MS), at * 100 * MS)
    return sightings


def arm(x: int) -> tuple[tuple[int, int, int, int], int]:
    return ((x, 0, 60, HEIGHT_PX), ARM)


BEFORE = [picture()] * 4
FIRST = [picture(arm(0)), picture(arm(80)), picture((ONE, TILE)), picture((ONE, TILE), arm(300))]
SECOND = [picture((ONE, TILE), arm(470)), *[picture((ONE, TILE), (OTHER, TILE))] * 4]


@pytest.mark.parametrize("size_px", [SIZE, (1296, 972)])
def test_each_of_two_tiles_has_lain_since_it_was_seen_first(size_px: tuple[int, int]) -> None:
    sightings = watched([*BEFORE, *FIRST, *SECOND])
    grow = (size_px[0] / WIDTH_PX, size_px[1] / HEIGHT_PX)
    assert sightings.since_ns(corners(ONE, grow), size_px) == 600 * MS
    assert sightings.since_ns(corners(OTHER, grow), size_px) == 900 * MS


def test_neither_an_arm_that_passes_over_a_tile_nor_other_light_makes_it_later() -> None:
    passing = [picture((ONE, TILE), arm(90), gain=0.8), picture((ONE, TILE), arm(300), gain=0.8)]
    dark = [picture((ONE, TILE), (OTHER, TILE), gain=0.8)] * 4
    sightings = watched([*BEFORE, *FIRST, *passing, *dark])
    assert sightings.since_ns(corners(ONE), SIZE) == 600 * MS
    assert sightings.since_ns(corners(OTHER), SIZE) == 1000 * MS


def test_nothing_is_told_without_a_motion_of_tiles_like_the_table_or_too_small_to_be_seen() -> None:
    assert watched(BEFORE).since_ns(corners(ONE), SIZE) is None
    pale = (ONE, TABLE + 6)
    assert watched([*BEFORE, picture(arm(80)), *[picture(pale)] * 4]).since_ns(corners(ONE), SIZE) is None
    assert watched([*BEFORE, *FIRST, *SECOND]).since_ns(corners((480, 240, 6, 3)), SIZE) is None


def test_the_next_motion_begins_with_the_table_as_it_lies_by_then() -> None:
    sightings = watched([*BEFORE, *FIRST, *SECOND, picture((ONE, TILE), arm(470)), *[picture((ONE, TILE))] * 4])
    assert sightings.since_ns(corners(ONE), SIZE) is None
    assert sightings.since_ns(corners(OTHER), SIZE) == 1400 * MS
