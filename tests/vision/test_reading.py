"""Tests of readings with unsure objects: order, joins and contacts."""

from __future__ import annotations

import pytest

from tests.vision.seen import seen_tile, unsure_tile
from vision.reading import Contact, Face, Join, Reading, SeenTile

FIRST, SECOND, THIRD = (seen_tile(4, pips, x_px=100, y_px=y) for pips, y in ((1, 50), (2, 150), (3, 250)))
READING = Reading(640, 480, (FIRST, SECOND, THIRD), (Join(0, 1, 2, 0),), (Contact(1, None, 2, 1),))
ABOVE, BETWEEN, BELOW = (unsure_tile(x_px=300, y_px=y) for y in (20, 100, 400))


def test_unsure_objects_are_sorted_among_the_tiles_and_joins_keep_theirs() -> None:
    reading = READING.with_unsure((BELOW, ABOVE, BETWEEN))
    assert reading.tiles == (ABOVE, FIRST, BETWEEN, SECOND, THIRD, BELOW)
    assert reading.unsure == (ABOVE, BETWEEN, BELOW)
    reading = READING.with_unsure((BELOW, ABOVE, BETWEEN))
    assert reading.joins == (Join(1, 1, 4, 0),)
    assert reading.contacts == (Contact(3, None, 4, 1),)
    assert reading.without_unsure() == READING
    assert READING.with_unsure(()) == READING
    assert READING.without_unsure() == READING
    assert READING.unsure == ()


@pytest.mark.parametrize("face", [Face.DOWN, Face.UNSURE])
def test_only_a_face_up_tile_has_halves(face: Face) -> None:
    with pytest.raises(ValueError, match=f"a tile with face {face} cannot have 2 halves"):
        SeenTile(face, FIRST.corners_px, FIRST.halves)
