"""Tests of matching detected tiles to known ones: kept, gone, fresh and unexpected tiles."""

from __future__ import annotations

import numpy as np

from tests.vision.seen import seen_tile
from vision.arrays import Mask
from vision.reading import Join, Reading, SeenTile
from vision.tracking.tracks import Match, PictureDifference, Track, joins_among, match_tracks, places_among

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


def test_a_missed_tile_is_kept_unless_its_place_changed() -> None:
    assert [kept.track.tile for kept in found([A]).kept] == [A, B]
    assert found([A]).gone == ()
    assert found([A], changed=(B,)).gone == (B,)
    assert [kept.track.tile for kept in found([A], changed=(B,)).kept] == [A]


def test_under_a_hand_no_tile_is_gone_and_detections_are_ignored() -> None:
    under = found([A, B], changed=(B,), hidden=(B,))
    assert under.gone == ()
    assert [kept.seen for kept in under.kept] == [A, None]
    assert found([A], changed=(B,), hidden=(B,)).gone == ()


def test_a_new_tile_is_fresh_only_where_the_image_changed_in_plain_view() -> None:
    assert found([A, B, NEW], changed=(NEW,)).fresh == (NEW,)
    assert found([A, B, NEW]).fresh == ()
    assert found([A, B, NEW]).unexpected == (NEW,)
    assert found([A, B, NEW], changed=(NEW,), hidden=(NEW,)).unexpected == (NEW,)


def test_a_detection_across_a_known_tile_is_ignored() -> None:
    across = seen_tile(4, 4, degrees=90)
    assert found([across, B], changed=()).unexpected == ()
    over = found([across, B], changed=(A,))
    assert over.gone == (A,)


def test_joins_are_renumbered_by_places() -> None:
    reading = Reading(320, 240, (NEW, A, B), (Join(0, 1, 2, None), Join(0, 0, 1, 0)))
    assert joins_among(reading.joins, places_among(reading.tiles, (B, NEW))) == (Join(1, 1, 0, None),)
