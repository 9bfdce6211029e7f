"""Tests of the zones of a table: points, order of seats, tiles by zone, sides of hands, and the file format."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.matches.room import default_zones
from tallybone.session.observations import SeatZone, SortedView, Zones, split
from tallybone.session.places import footprint_of
from tests.tallybone.session.test_referee import seen
from tests.tallybone.session.zone_views import SIZE_PX, ZONES, back, before
from vision.reading import Face, SeenTile
from vision.tracking.settle import EntrySide, Side
from vision.tracking.table_view import Change, ChangeKind, TableView

TRIANGLE = ((0.5, 0.0), (1.0, 0.0), (1.0, 0.5))


def down(tile: SeenTile) -> SeenTile:
    return SeenTile(Face.DOWN, tile.corners_px, ())


def test_tiles_are_sorted_by_zone() -> None:
    laid, joined, apart = seen((3, 5), (10, 25)), seen((5, 4), (12, 25)), seen((6, 6), (13, 25))
    beside, up_there = replace(laid, corners_px=seen((3, 5), (10.4, 25)).corners_px), seen((1, 1), (25, 5))
    anns, bens, stray = before(0, 0, (6, 6)), before(1, 1, (1, 0)), down(seen((0, 0), (2, 9)))
    tiles = (beside, joined, apart, anns, bens, down(before(0, 1, (2, 2))), back(0), back(1), up_there, stray)
    changes = tuple(Change(ChangeKind.REMOVED, tile) for tile in (back(2), back(3), down(seen((0, 0), (2, 7))), anns))
    view = TableView(tiles, (), changes, size_px=SIZE_PX)
    for may_join, (layout, hand) in (
        (True, ((beside, joined), (apart, anns))),
        (False, ((beside,), (joined, apart, anns))),
    ):
        parts = split(view, ZONES, (footprint_of(laid),), may_join=may_join)
        assert parts == SortedView(
            replace(view, tiles=(*layout, stray), changes=changes[2:3]), 3, 2, 1, (hand, (bens,)), is_by_hand=False
        )


def test_a_tile_moved_across_the_border_of_a_zone_is_placed_or_removed() -> None:
    inside, outside, other = before(0, 0, (6, 6)), seen((6, 6), (0, 0)), seen((6, 6), (1, 0))
    moves = [(outside, inside), (inside, outside), (outside, other), (inside, inside)]
    changes = tuple(Change(ChangeKind.MOVED, now, old) for now, old in moves)
    found = split(TableView((), (), changes, size_px=SIZE_PX), ZONES, (), may_join=True).layout.changes
    assert found == (Change(ChangeKind.PLACED, outside), Change(ChangeKind.REMOVED, outside), changes[2])


@pytest.mark.parametrize(
    ("weights", "seats"),
    [
        ({}, ()),
        ({"bottom": 1.0}, (0,)),
        ({"top": 0.9, "bottom": 0.1}, (1,)),
        ({"bottom": 0.05, "top": 0.95}, (1,)),
        ({"bottom": 0.89, "top": 0.11}, ()),
        ({"left": 1.0}, ()),
    ],
)
def test_a_hand_came_from_the_side_of_nearly_all_motion(weights: dict[str, float], seats: tuple[int, ...]) -> None:
    sides = tuple(EntrySide(Side(side), weight) for side, weight in weights.items())
    parts = split(TableView((), (), (), came_from=sides, size_px=SIZE_PX), ZONES, (), may_join=True)
    assert (parts.came_from, parts.is_by_hand) == (seats, bool(sides))
    corner = replace(ZONES, seats=(ZONES.seats[1], *ZONES.seats))  # two players at the top
    again = split(TableView((), (), (), came_from=sides, size_px=SIZE_PX), corner, (), may_join=True)
    assert again.came_from == {(): (), (0,): (1,), (1,): (0, 2)}[seats]


@pytest.mark.parametrize(
    ("point", "is_in"),
    [((0.9, 0.1), True), ((0.95, 0.4), True), ((0.6, 0.4), False), ((0.4, 0.1), False), ((0.9, 0.9), False)],
)
def test_a_point_inside_an_outline_is_in_its_zone(point: tuple[float, float], is_in: bool) -> None:
    assert Zones(boneyard=TRIANGLE).is_boneyard(*point) is is_in
    assert Zones((SeatZone(Side.TOP, TRIANGLE),)).seat_at(*point) == (0 if is_in else None)


def test_points_outside_all_zones_belong_to_the_layout() -> None:
    zones = default_zones(4)
    assert zones.seat_at(0.5, 0.5) is None
    assert not zones.is_boneyard(0.5, 0.5)
    assert not Zones()
    assert Zones(boneyard=TRIANGLE)


@pytest.mark.parametrize(
    ("players", "sides"),
    [
        (2, [Side.BOTTOM, Side.TOP]),
        (3, [Side.BOTTOM, Side.LEFT, Side.TOP]),
        (4, [Side.BOTTOM, Side.LEFT, Side.TOP, Side.RIGHT]),
        (6, []),
    ],
)
def test_seats_are_clockwise_from_the_bottom(players: int, sides: list[Side]) -> None:
    zones = default_zones(players)
    assert [zone.side for zone in zones.seats] == sides
    centres = {Side.BOTTOM: (0.5, 0.95), Side.LEFT: (0.04, 0.5), Side.TOP: (0.5, 0.05), Side.RIGHT: (0.96, 0.5)}
    assert [zones.seat_at(*centres[side]) for side in sides] == list(range(len(sides)))
    assert zones.is_boneyard(0.9, 0.1)


@pytest.mark.slow
def test_the_default_zones_do_not_overlap() -> None:
    zones = default_zones(4)
    for x in range(200):
        for y in range(200):
            point = (x / 199, y / 199)
            alone = [Zones((zone,)).seat_at(*point) is not None for zone in zones.seats]
            assert sum(alone) + zones.is_boneyard(*point) <= 1


def test_zones_are_parsed_as_formatted() -> None:
    assert Zones.parse(default_zones(3).format()) == default_zones(3)
    assert Zones.parse(Zones().format()) == Zones()
    text = '{"seats": [{"side": "left", "outline": [[0, 0], [0.1, 0], [0.1, 1]]}], "boneyard": null}'
    assert Zones.parse(text) == Zones((SeatZone(Side.LEFT, ((0.0, 0.0), (0.1, 0.0), (0.1, 1.0))),))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"seats": []}', "expected zones"),
        ("[]", "expected zones"),
        ('{"seats": [], "boneyard": [[0, 0], [1, 1]]}', "3 corners"),
        ('{"seats": [], "boneyard": [[0, 0], [1, 1], [2, 0]]}', "0 to 1"),
        ('{"seats": [], "boneyard": [[0, 0], [1, 1], [NaN, 0]]}', "0 to 1"),
        ('{"seats": [{"side": "north", "outline": []}], "boneyard": null}', "north"),
    ],
)
def test_invalid_zones_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Zones.parse(text)
