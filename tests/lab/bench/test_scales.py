"""Tests of labelled photos at other sizes."""

from __future__ import annotations

import numpy as np
import pytest

from lab.bench.scales import SIZES, at_sizes, of_size
from lab.evaluate.labels import parse_labels
from lab.evaluate.photos import judge_photo
from vision.reading import Face, Half, Reading, SeenTile

HALVES = [{"c": [20, 30], "pips": 3}, {"c": [60, 30], "pips": 5}]


def test_labels_scale_with_their_picture() -> None:
    (label,) = parse_labels(
        [{"image": "a.png", "tiles": [{"face": "up", "halves": HALVES}], "ignore": [[0, 0, 9, 9]]}]
    ).photos
    image = np.zeros((60, 100, 3), np.uint8)
    image[28:33, 18:23] = image[28:33, 58:63] = 255
    seen = list(at_sizes(image, label))
    assert tuple(size for size, _, _ in seen) == SIZES
    for size, picture, scaled in seen:
        assert picture.shape == (round(60 * size), round(100 * size), 3)
        (tile,) = scaled.tiles
        for half in tile.halves:
            x, y = half.center_px
            assert picture[round(y), round(x), 0] > 127
        assert tile.half_px == pytest.approx(40 * size)
        assert scaled.ignored[0].right_px == pytest.approx(9.5 * size - 0.5)


@pytest.mark.parametrize(("size", "count"), [(0.25, 1), (0.2, 0)])
def test_only_halves_of_at_least_ten_pixels_count(size: float, count: int) -> None:
    halves = [{"c": [20 * size, 30 * size], "pips": 3}, {"c": [60 * size, 30 * size], "pips": 5}]
    (label,) = parse_labels([{"image": "a.png", "tiles": [{"face": "up", "halves": halves}]}]).photos
    first, second = Half(3, 1.0, (200.0, 5.0)), Half(5, 1.0, (200.0 + 40 * size, 5.0))
    corners = ((190.0, 0.0), (240.0, 0.0), (240.0, 10.0), (190.0, 10.0))
    reading = Reading(300, 60, (SeenTile(Face.UP, corners, (first, second)),), ())
    judged = of_size(judge_photo(label, reading))
    assert (len(judged.tiles), len(judged.spare)) == (count, count)
