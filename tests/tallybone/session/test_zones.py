"""Tests of the zones of a table: points, order of seats, and the file format."""

from __future__ import annotations

import pytest

from tallybone.session.zones import SeatZone, Zones, default_zones
from vision.tracking.settle import Side

TRIANGLE = ((0.5, 0.0), (1.0, 0.0), (1.0, 0.5))


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
