"""Which known tiles still lie there, told from what is seen and from where the picture differs."""

from __future__ import annotations

import numpy as np

from tests.vision.seen import seen_tile
from vision.arrays import Mask
from vision.reading import Join, Reading, SeenTile
from vision.tracking.changes import PictureDifference
from vision.tracking.matching import Match, joins_among, match_tracks, places_among
from vision.tracking.tracks import Track

A, B, NEW = seen_tile(3, 5), seen_tile(6, 1, x_px=200, y_px=60, degrees=90), seen_tile(2, 2, x_px=60, y_px=180)


def around(*tiles: SeenTile) -> Mask:
    mask = np.zeros((240, 320), bool)
    for tile in tiles:
        xs, ys = zip(*tile.corners_px, strict=True)
        mask[int(min(ys)) : int(max(ys)) + 1, int(min(xs)) : int(max(xs)) + 1] = True
    return mask


def found(seen: list[SeenTile], *, changed: tuple[SeenTile, ...] = (), hidden: tuple[SeenTile, ...] = ()) -> Match:
    change = PictureDifference(around(*changed), np.eye(2, 3), 1.0)
    return match_tracks([Track(A), Track(B)], seen, change, around(*hidden))


def test_a_tile_that_the_eye_missed_is_kept_where_nothing_differs_and_gone_where_it_does() -> None:
    assert [one.track.tile for one in found([A]).kept] == [A, B]
    assert found([A]).gone == ()
    assert found([A], changed=(B,)).gone == (B,)
    assert [one.track.tile for one in found([A], changed=(B,)).kept] == [A]


def test_under_a_hand_nothing_is_gone_and_what_is_seen_there_does_not_count() -> None:
    under = found([A, B], changed=(B,), hidden=(B,))
    assert under.gone == ()
    assert [one.seen for one in under.kept] == [A, None]
    assert found([A], changed=(B,), hidden=(B,)).gone == ()


def test_a_new_tile_is_fresh_where_it_differs_and_unexpected_where_not_or_under_a_hand() -> None:
    assert found([A, B, NEW], changed=(NEW,)).fresh == (NEW,)
    assert found([A, B, NEW]).fresh == ()
    assert found([A, B, NEW]).unexpected == (NEW,)
    assert found([A, B, NEW], changed=(NEW,), hidden=(NEW,)).unexpected == (NEW,)


def test_what_lies_across_a_known_tile_is_no_tile_beside_it() -> None:
    across = seen_tile(4, 4, degrees=90)
    assert found([across, B], changed=()).unexpected == ()
    over = found([across, B], changed=(A,))
    assert over.gone == (A,)


def test_joins_are_named_by_the_places_of_tiles() -> None:
    reading = Reading(320, 240, (NEW, A, B), (Join(0, 1, 2, None), Join(0, 0, 1, 0)))
    assert joins_among(reading.joins, places_among(reading.tiles, (B, NEW))) == (Join(1, 1, 0, None),)
