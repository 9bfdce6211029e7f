"""Tests of dating new tiles from small images, despite changes of light, arms and other formats."""

from __future__ import annotations

import numpy as np
import pytest

from vision.arrays import GreyImage
from vision.tracking.settle import HEIGHT_PX, WIDTH_PX, SettleGate
from vision.tracking.watch import Observations

MS = 1_000_000
TABLE, TILE, ARM = 60, 200, 130
ONE, OTHER = (100, 80, 40, 20), (480, 240, 20, 40)
SIZE = (WIDTH_PX, HEIGHT_PX)


def picture(*shown: tuple[tuple[int, int, int, int], int], gain: float = 1.0) -> GreyImage:
    """Return a noisy table with rectangles (x, y, width, height), each of a grey level."""
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
    """Return the observations of images at 10 Hz from time 0 on."""
    gate, observations = SettleGate(), Observations()
    for index, grey in enumerate(pictures):
        observations.feed(gate.feed(grey, index * 100 * MS), index * 100 * MS)
    return observations


def arm(x: int) -> tuple[tuple[int, int, int, int], int]:
    return ((x, 0, 60, HEIGHT_PX), ARM)


BEFORE = [picture()] * 4
FIRST = [picture(arm(0)), picture(arm(80)), picture((ONE, TILE)), picture((ONE, TILE), arm(300))]
SECOND = [picture((ONE, TILE), arm(470)), *[picture((ONE, TILE), (OTHER, TILE))] * 4]


@pytest.mark.parametrize("size_px", [SIZE, (1296, 972)])
def test_dates_each_of_two_tiles(size_px: tuple[int, int]) -> None:
    observations = watched([*BEFORE, *FIRST, *SECOND])
    grow = (size_px[0] / WIDTH_PX, size_px[1] / HEIGHT_PX)
    assert observations.since_ns(corners(ONE, grow), size_px) == 600 * MS
    assert observations.since_ns(corners(OTHER, grow), size_px) == 900 * MS


def test_arms_passing_over_and_changes_of_light_do_not_affect_the_date() -> None:
    passing = [picture((ONE, TILE), arm(90), gain=0.8), picture((ONE, TILE), arm(300), gain=0.8)]
    dark = [picture((ONE, TILE), (OTHER, TILE), gain=0.8)] * 4
    observations = watched([*BEFORE, *FIRST, *passing, *dark])
    assert observations.since_ns(corners(ONE), SIZE) == 600 * MS
    assert observations.since_ns(corners(OTHER), SIZE) == 1000 * MS


def test_no_date_without_motion_or_contrast_or_for_tiny_tiles() -> None:
    assert watched(BEFORE).since_ns(corners(ONE), SIZE) is None
    pale = (ONE, TABLE + 6)
    assert watched([*BEFORE, picture(arm(80)), *[picture(pale)] * 4]).since_ns(corners(ONE), SIZE) is None
    assert watched([*BEFORE, *FIRST, *SECOND]).since_ns(corners((480, 240, 6, 3)), SIZE) is None


def test_the_next_motion_starts_from_the_present_table() -> None:
    observations = watched([*BEFORE, *FIRST, *SECOND, picture((ONE, TILE), arm(470)), *[picture((ONE, TILE))] * 4])
    assert observations.since_ns(corners(ONE), SIZE) is None
    assert observations.since_ns(corners(OTHER), SIZE) == 1400 * MS
