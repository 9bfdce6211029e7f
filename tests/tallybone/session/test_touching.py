"""Tests of footprints, of distances between tiles, and of the limits and costs of joints."""

from __future__ import annotations

import math

import pytest

from engine import Port
from tallybone.session import places
from tests.tallybone.session.test_referee import seen

OBLIQUE = places.Footprint((100.0, 50.0), (30.0, 10.0), (0.0, 40.0))
HOST = places.footprint_of(seen((3, 5), (0, 0)))
DOUBLE = places.footprint_of(seen((5, 5), (0, 0), 90)).crosswise().reversed()


def test_a_frame_need_not_be_perpendicular() -> None:
    assert OBLIQUE.at(1.0, -0.5) == (130.0, 40.0)
    assert OBLIQUE.inside((130.0, 40.0)) == (1.0, -0.5)
    assert OBLIQUE.vector_inside((30.0, -10.0)) == (1.0, -0.5)
    assert (OBLIQUE.side, OBLIQUE.heading_rad) == (math.sqrt(1200), math.atan2(10, 30))
    assert OBLIQUE.outline() == ((70.0, 20.0), (130.0, 40.0), (130.0, 80.0), (70.0, 60.0))
    assert OBLIQUE.outline(0.5) == ((55.0, -5.0), (145.0, 25.0), (145.0, 105.0), (55.0, 75.0))
    assert [OBLIQUE.half_center(port) for port in (Port.W, Port.E)] == [(85.0, 45.0), (115.0, 55.0)]
    across = OBLIQUE.crosswise()
    assert (across.along, across.across, across.reach) == ((0.0, 40.0), (-30.0, -10.0), (0.5, 1.0))
    assert [across.half_center(port) for port in (Port.N, Port.S)] == [(115.0, 55.0), (85.0, 45.0)]
    assert (OBLIQUE.reversed().at(1.0, -0.5), OBLIQUE.reversed().lies_along) == ((70.0, 60.0), True)


@pytest.mark.parametrize("turn_deg", [0, 30, 90, 200, 300])
def test_a_footprint_runs_from_half_0_to_half_1(turn_deg: float) -> None:
    place = places.footprint_of(seen((3, 5), (1, 2), turn_deg))
    assert place.half_center(Port.W) == pytest.approx(places.halves_of(seen((3, 5), (1, 2), turn_deg))[0].center_px)
    assert (*place.center, place.side) == pytest.approx((440, 480, 40))
    assert math.degrees(place.heading_rad) % 360 == pytest.approx(turn_deg)
    assert place.across == pytest.approx((-place.along[1], place.along[0]))


@pytest.mark.parametrize(
    ("turn_deg", "is_double", "inner_half", "heading_deg"),
    [
        *((0, False, 0, 0), (180, False, 1, 0), (90, False, 0, 90), (270, False, 1, 90), (200, False, 1, 20)),
        *((90, True, 1, 0), (270, True, 0, 0), (0, True, 0, 90), (180, True, 1, 90)),
    ],
)
def test_a_first_tile_runs_to_the_right_or_the_bottom(
    turn_deg: float, is_double: bool, inner_half: int, heading_deg: float
) -> None:
    joint = places.leading(seen((5, 5) if is_double else (3, 5), (0, 0), turn_deg), is_double=is_double)
    assert (joint.spot, joint.number, joint.inner_half, joint.misfit) == (None, None, inner_half, 0.0)
    assert math.degrees(joint.place.heading_rad) == pytest.approx(heading_deg, abs=1e-9)
    assert joint.place.lies_along is not is_double


def square(x: float, y: float, side: float = 1.0) -> tuple[tuple[float, float], ...]:
    return ((x, y), (x + side, y), (x + side, y + side), (x, y + side))


@pytest.mark.parametrize(
    ("at", "apart", "overlaps"),
    [((0.5, 0.5), 0, True), ((1, 0), 0, False), ((4, 5), 5, False), ((-3, 0), 2, False), ((0, -2.5), 1.5, False)],
)
def test_outlines_are_apart_by_their_nearest_points(at: tuple[float, float], apart: float, overlaps: bool) -> None:
    one, other = square(0, 0), square(*at)
    for pair in ((one, other), (other, one)):
        assert places.overlap(*pair) is overlaps  # type: ignore[arg-type]  # four corners
        assert places.distance(*pair) == pytest.approx(apart)  # type: ignore[arg-type]  # four corners


def joined(gap: float, slip: float, skew_deg: float, *, is_double: bool = False) -> places.Orientation:
    """Return a tile whose W end is *gap* and *slip* from the E end of *HOST*."""
    turn = math.radians(skew_deg)
    reach = 0.5 if is_double else 1.0
    at = (1 + gap + reach * math.cos(turn), slip + reach * math.sin(turn))
    tile = seen((5, 5) if is_double else (5, 4), at, skew_deg + (90 if is_double else 0))
    return next(
        each for each in places.turns(tile, is_double=is_double) if math.cos(each.place.heading_rad - turn) > 0.99
    )


@pytest.mark.parametrize(
    ("gap", "slip", "skew_deg", "cost"),
    [
        *((0, 0, 0, 0), (0.2, 0, 0, 0.5), (-0.4, 0, 0, 2), (0, 0.3, 0, 0.5), (0, -0.6, 0, 2), (0, 0, 12, 0.5)),
        *((0.2, 0.3, -24, 3), (0.74, 0, 0, 6.845), (0.76, 0, 0, None), (-0.74, 0, 0, 6.845), (-0.76, 0, 0, None)),
        *((0, 0.84, 0, 3.92), (0, 0.86, 0, None), (0, -0.86, 0, None), (0, 0, 39, 5.28125), (0, 0, 41, None)),
    ],
)
def test_a_joint_costs_its_gap_slip_and_skew(gap: float, slip: float, skew_deg: float, cost: float | None) -> None:
    (front, *_) = places.edges_at(HOST, Port.E, is_double=False)
    for is_double in (False, True):
        found = places.misfit(HOST, front, joined(gap, slip, skew_deg, is_double=is_double), is_double=is_double)
        assert found == (None if cost is None else pytest.approx(cost))


@pytest.mark.parametrize(
    ("at", "turn_deg", "cost"),
    [
        *(((1.5, 0), 0, 0), ((1.7, 0), 0, 0.5), ((2.24, 0), 0, 6.845), ((2.26, 0), 0, None), ((1.5, 0.8), 0, 0)),
        *(
            ((0, 2), 90, 0),
            ((0, 2.2), 90, 0.5),
            ((1, 0.5), 90, 0.3),
            ((1, 2), 90, 0),
            ((1.5, 1.3), 90, 3.425),
            ((1.5, 0), 180, 0),
        ),
    ],
)
def test_a_first_tile_of_an_arm_costs_its_gap_to_the_starter(
    at: tuple[float, float], turn_deg: float, cost: float | None
) -> None:
    starter = places.footprint_of(seen((7, 7), (0, 0), 90)).crosswise()
    costs = [
        places.misfit_at_starter(starter, turn, is_double=False)
        for turn in places.turns(seen((7, 4), at, turn_deg), is_double=False)
    ]
    best = min((each for each in costs if each is not None), default=None)
    assert best == (None if cost is None else pytest.approx(cost, abs=1e-6))


def test_ports_have_edges_ahead_and_beside() -> None:
    assert [(edge.middle, edge.outward, edge.is_front) for edge in places.edges_at(HOST, Port.W, is_double=False)] == [
        ((-1.0, 0.0), (-1.0, 0.0), True),
        ((-0.5, -0.5), (0.0, -1.0), False),
        ((-0.5, 0.5), (0.0, 1.0), False),
    ]
    assert [edge.middle for edge in places.edges_at(HOST, Port.E, is_double=False)] == [
        (1.0, 0.0),
        (0.5, -0.5),
        (0.5, 0.5),
    ]
    assert [edge.middle for edge in places.edges_at(DOUBLE, Port.E, is_double=True, bends=(Port.N, Port.S))] == [
        *((0.5, 0.0), (0.0, -1.0), (0.0, 1.0))
    ]
    assert [places.bends_of(port, covered) for port in (Port.W, Port.E) for covered in ((), (Port.W,))] == [
        *((Port.N,), (Port.N, Port.S), (Port.S,), (Port.N, Port.S))
    ]
