"""What cannot be read is said once it lies still, one thing in a place, until it is read or gone."""

from __future__ import annotations

import numpy as np
import pytest

from tests.vision.seen import seen_tile, unsure_tile
from vision.networks.refiner import DOWN, UP
from vision.reader.unsure import FARTHEST_BELOW, looks_like_a_tile
from vision.reading import PointPx, SeenTile
from vision.tracking.camera_motion.alignment import STRAIGHT_ON
from vision.tracking.unread import Unread

HERE, THERE = unsure_tile(x_px=100), unsure_tile(x_px=300)
NUDGED = unsure_tile(x_px=104)


def after(
    unread: Unread, *seen: SeenTile, known: tuple[SeenTile, ...] = (), hidden: tuple[PointPx, ...] = ()
) -> Unread:
    return unread.after(seen, known, STRAIGHT_ON.motion, lambda point: point not in hidden)


@pytest.mark.parametrize("face", [UP, DOWN])
def test_the_less_a_candidate_looks_like_a_tile_the_less_it_is_worth_saying(face: int) -> None:
    odds = np.array([-FARTHEST_BELOW - 0.1, -0.01, -np.inf])
    assert looks_like_a_tile(odds, np.full(3, face)).tolist() == [False, True, False]


def test_what_is_seen_once_may_be_a_hand() -> None:
    first = after(Unread(), HERE)
    assert (first.still, first.is_due) == ((), True)
    gone = after(first)
    assert (gone.once, gone.still, gone.is_due) == ((), (), False)


def test_what_lies_there_in_the_next_look_too_lies_still_where_it_was_seen_first() -> None:
    second = after(after(Unread(), HERE), NUDGED)
    assert (second.still, second.is_due) == ((HERE,), False)
    assert after(second, NUDGED).still == (HERE,)


def test_what_is_not_seen_any_more_is_gone() -> None:
    still = after(after(Unread(), HERE, THERE), HERE, THERE)
    assert still.still == (HERE, THERE)
    assert after(still, THERE).still == (THERE,)


def test_what_is_covered_stays_until_it_is_seen_that_nothing_is_there() -> None:
    still = after(after(Unread(), HERE), HERE)
    covered = after(still, hidden=(HERE.center_px,))
    assert covered.still == (HERE,)
    assert after(covered).still == ()


def test_what_is_read_at_last_is_not_unread() -> None:
    still = after(after(Unread(), HERE), HERE)
    tile = seen_tile(3, 4, x_px=100)
    assert after(still, known=(tile,)).still == ()
    assert after(still, HERE, known=(tile,)).still == ()
    assert after(still, known=(tile,), hidden=(HERE.center_px,)).still == ()
    assert after(Unread(), HERE, known=(tile,)) == Unread()


def test_of_two_seen_in_one_place_one_is_said() -> None:
    still = after(after(Unread(), HERE), HERE, NUDGED)
    assert still.still == (HERE,)


def test_what_flickers_is_not_looked_at_again_and_again() -> None:
    unread, due = Unread(), []
    for number in range(6):
        unread = after(unread, unsure_tile(x_px=100 + 100 * number))
        due.append(unread.is_due)
    assert due == [True, False, True, False, True, False]


def test_places_move_with_the_picture() -> None:
    shifted = np.array([[1.0, 0.0, 200.0], [0.0, 1.0, 0.0]])
    still = after(Unread(), HERE).after((THERE,), (), shifted, lambda _: True)
    assert still.still == (THERE,)
