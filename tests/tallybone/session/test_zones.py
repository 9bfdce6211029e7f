"""Where on the table what lies: points of the picture, seats in their order, and what is written of it."""

from __future__ import annotations

import pytest

from tallybone.session.zones import SeatZone, Zones, default_zones
from vision.tracking.settle import Side

TRIANGLE = ((0.5, 0.0), (1.0, 0.0), (1.0, 0.5))


@pytest.mark.parametrize(
    ("point", "is_in"),
    [((0.9, 0.1), True), ((0.95, 0.4), True), ((0.6, 0.4), False), ((0.4, 0.1), False), ((0.9, 0.9), False)],
)
def test_a_point_is_in_the_zone_whose_outline_is_around_it(point: tuple[float, float], is_in: bool) -> None:
    assert Zones(boneyard=TRIANGLE).is_boneyard(*point) is is_in
    assert Zones((SeatZone(Side.TOP, TRIANGLE),)).seat_at(*point) == (0 if is_in else None)


def test_what_is_in_no_zone_is_the_layout() -> None:
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
def test_seats_sit_clockwise_from_the_bottom(players: int, sides: list[Side]) -> None:
    zones = default_zones(players)
    assert [zone.side for zone in zones.seats] == sides
    middles = {Side.BOTTOM: (0.5, 0.95), Side.LEFT: (0.04, 0.5), Side.TOP: (0.5, 0.05), Side.RIGHT: (0.96, 0.5)}
    assert [zones.seat_at(*middles[side]) for side in sides] == list(range(len(sides)))
    assert zones.is_boneyard(0.9, 0.1)


@pytest.mark.slow
def test_the_usual_zones_do_not_overlap() -> None:
    zones = default_zones(4)
    for x in range(200):
        for y in range(200):
            point = (x / 199, y / 199)
            alone = [Zones((zone,)).seat_at(*point) is not None for zone in zones.seats]
            assert sum(alone) + zones.is_boneyard(*point) <= 1


def test_zones_are_read_as_they_were_written() -> None:
    assert Zones.parse(default_zones(3).format()) == default_zones(3)
    assert Zones.parse(Zones().format()) == Zones()
    said = '{"seats": [{"side": "left", "outline": [[0, 0], [0.1, 0], [0.1, 1]]}], "boneyard": null}'
    assert Zones.parse(said) == Zones((SeatZone(Side.LEFT, ((0.0, 0.0), (0.1, 0.0), (0.1, 1.0))),))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"seats": []}', "expected zones"),
        ("[]", "expected zones"),
        ('{"seats": [], "boneyard": [[0, 0], [1, 1]]}', "3 corners"),
        ('{"seats": [], "boneyard": [[0, 0], [1, 1], [2, 0]]}', "0 to 1"),
        ('{"seats": [], "boneyard": [[0, 0], [1, 1], [NaN, 0]]}', "0 to 1"),
        ('{"seats": [{"side": "north", "outline": []}], "boneyard": null}', "north"),
    ],
)
def test_what_is_no_zone_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Zones.parse(text)
