"""Tests of unsure objects: reported when still, once per place, until read or gone."""

from __future__ import annotations

import numpy as np
import pytest

from tests.vision.seen import seen_tile, unsure_tile
from vision.networks.network import DOWN, UP
from vision.reader.reader import FARTHEST_BELOW, looks_like_a_tile
from vision.reading import PointPx, SeenTile
from vision.tracking.camera_motion import STRAIGHT_ON
from vision.tracking.perception import Unread

HERE, THERE = unsure_tile(x_px=100), unsure_tile(x_px=300)
NUDGED = unsure_tile(x_px=104)


def after(
    tracked: Unread, *seen: SeenTile, known: tuple[SeenTile, ...] = (), hidden: tuple[PointPx, ...] = ()
) -> Unread:
    return tracked.after(seen, known, STRAIGHT_ON.motion, lambda point: point not in hidden)


@pytest.mark.parametrize("face", [UP, DOWN])
def test_reports_only_candidates_that_resemble_a_tile(face: int) -> None:
    odds = np.array([-FARTHEST_BELOW - 0.1, -0.01, -np.inf])
    assert looks_like_a_tile(odds, np.full(3, face)).tolist() == [False, True, False]


def test_an_object_is_still_at_its_first_place_once_seen_twice() -> None:
    first = after(Unread(), HERE)
    assert (first.still, first.is_due) == ((), True)
    gone = after(first)
    assert (gone.once, gone.still, gone.is_due) == ((), (), False)
    second = after(after(Unread(), HERE), NUDGED)
    assert (second.still, second.is_due) == ((HERE,), False)
    assert after(second, NUDGED).still == (HERE,)
    still = after(after(Unread(), HERE), HERE, NUDGED)
    assert still.still == (HERE,)


def test_an_object_is_dropped_once_its_place_is_seen_empty() -> None:
    still = after(after(Unread(), HERE, THERE), HERE, THERE)
    assert still.still == (HERE, THERE)
    assert after(still, THERE).still == (THERE,)
    still = after(after(Unread(), HERE), HERE)
    covered = after(still, hidden=(HERE.center_px,))
    assert covered.still == (HERE,)
    assert after(covered).still == ()


def test_an_object_that_becomes_readable_is_dropped() -> None:
    still = after(after(Unread(), HERE), HERE)
    tile = seen_tile(3, 4, x_px=100)
    assert after(still, known=(tile,)).still == ()
    assert after(still, HERE, known=(tile,)).still == ()
    assert after(still, known=(tile,), hidden=(HERE.center_px,)).still == ()
    assert after(Unread(), HERE, known=(tile,)) == Unread()


def test_a_flickering_object_does_not_trigger_every_look() -> None:
    tracked, due = Unread(), []
    for index in range(6):
        tracked = after(tracked, unsure_tile(x_px=100 + 100 * index))
        due.append(tracked.is_due)
    assert due == [True, False, True, False, True, False]


def test_places_follow_the_image_motion() -> None:
    shifted = np.array([[1.0, 0.0, 200.0], [0.0, 1.0, 0.0]])
    still = after(Unread(), HERE).after((THERE,), (), shifted, lambda _: True)
    assert still.still == (THERE,)
