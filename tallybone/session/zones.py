"""Where on the table what lies: before each seat the tiles that it lays open, the boneyard, and all else the layout."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from vision.settle import Side

Outline = tuple[tuple[float, float], ...]
"""Corners in shares of the picture's width and height, 0 to 1; the last is joined to the first."""


@dataclass(frozen=True, slots=True)
class SeatZone:
    """Where one seat lays its tiles open.

    Attributes:
        side: The side of the picture at which it sits.
        outline: What of the picture is its own.
    """

    side: Side
    outline: Outline

    def __post_init__(self) -> None:
        _check(self.outline, f"the zone of the seat at the {self.side}")


@dataclass(frozen=True, slots=True)
class Zones:
    """What lies where, fixed for a sitting; what is in no zone is the layout.

    Attributes:
        seats: By seat, clockwise seen from above; nothing where hands are not laid open in zones.
        boneyard: Where the tiles lie that are left to draw; None where they are not on the picture.
    """

    seats: tuple[SeatZone, ...] = ()
    boneyard: Outline | None = None

    def __post_init__(self) -> None:
        if self.boneyard is not None:
            _check(self.boneyard, "the boneyard")

    def __bool__(self) -> bool:
        """Return whether there is any zone."""
        return bool(self.seats) or self.boneyard is not None

    def is_boneyard(self, x_share: float, y_share: float) -> bool:
        """Return whether a point of the picture is of the boneyard."""
        return self.boneyard is not None and _is_inside(self.boneyard, x_share, y_share)

    def seat_at(self, x_share: float, y_share: float) -> int | None:
        """Return in which seat's zone a point of the picture is; None for in none."""
        return next((at for at, zone in enumerate(self.seats) if _is_inside(zone.outline, x_share, y_share)), None)

    def format(self) -> str:
        """Return it as JSON.

        >>> Zones(boneyard=((0.5, 0.0), (1.0, 0.0), (1.0, 0.5))).format()
        '{"seats": [], "boneyard": [[0.5, 0.0], [1.0, 0.0], [1.0, 0.5]]}'
        """
        seats = [{"side": zone.side.value, "outline": zone.outline} for zone in self.seats]
        return json.dumps({"seats": seats, "boneyard": self.boneyard})

    @classmethod
    def parse(cls, text: str) -> Zones:
        """Return what `format` has written.

        >>> Zones.parse('{"seats": [], "boneyard": [[0.5, 0], [1, 0], [1, 0.5]]}').boneyard
        ((0.5, 0.0), (1.0, 0.0), (1.0, 0.5))

        Raises:
            ValueError: If it is damaged, or a corner is not on the picture.
        """
        said = json.loads(text)
        try:
            seats = tuple(SeatZone(Side(zone["side"]), _outline(zone["outline"])) for zone in said["seats"])
            return cls(seats, None if said["boneyard"] is None else _outline(said["boneyard"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"expected zones of seats and of the boneyard, got {text}") from error


_BOX = tuple[float, float, float, float]
# Left, top, right, bottom. Of a picture that is 85 cm wide a strip is 6 cm deep: a tile of 5 cm lies there upright.
_BONEYARD: _BOX = (0.74, 0.0, 1.0, 0.34)
_STRIPS: dict[Side, _BOX] = {
    Side.BOTTOM: (0.12, 0.87, 0.88, 1.0),
    Side.LEFT: (0.0, 0.1, 0.08, 0.86),
    Side.TOP: (0.12, 0.0, 0.72, 0.13),
    Side.RIGHT: (0.92, 0.36, 1.0, 0.86),
}
_SITTING = {
    2: (Side.BOTTOM, Side.TOP),
    3: (Side.BOTTOM, Side.LEFT, Side.TOP),
    4: (Side.BOTTOM, Side.LEFT, Side.TOP, Side.RIGHT),
}


def default_zones(players: int) -> Zones:
    """Return a strip along the side of each seat, and the boneyard in the corner at the top right.

    Seats sit clockwise, the first at the bottom. More than four have no zones, because two would share a side.
    """
    seats = tuple(SeatZone(side, _corners(_STRIPS[side])) for side in _SITTING.get(players, ()))
    return Zones(seats, _corners(_BONEYARD))


def _corners(box: _BOX) -> Outline:
    left, top, right, bottom = box
    return ((left, top), (right, top), (right, bottom), (left, bottom))


def _outline(corners: Any) -> Outline:  # JSON that anybody may have written
    """Return the outline that JSON says."""
    return tuple((float(x_share), float(y_share)) for x_share, y_share in corners)


def _check(outline: Outline, whose: str) -> None:
    """Refuse what is no area of the picture."""
    if len(outline) < 3:
        raise ValueError(f"{whose} needs 3 corners or more, got {len(outline)}")
    if not all(0.0 <= share <= 1.0 for corner in outline for share in corner):
        raise ValueError(f"{whose} needs corners in shares of the picture, 0 to 1, got {outline}")


def _is_inside(outline: Outline, x_share: float, y_share: float) -> bool:
    """Return whether a line from the point to the right crosses the outline an odd number of times."""
    is_inside = False
    for at, (x, y) in enumerate(outline):
        before_x, before_y = outline[at - 1]
        if (y > y_share) != (before_y > y_share):
            crossing = x + (y_share - y) * (before_x - x) / (before_y - y)
            is_inside ^= x_share < crossing
    return is_inside
