"""Result of reading a picture: tiles, their halves and their joins, as plain values."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

PointPx = tuple[float, float]
"""A place in a picture: x to the right and y down, in pixels."""
OutlinePx = tuple[PointPx, ...]
"""The corners of something flat in a picture, clockwise."""

# Of halves read with less than this, a third or more are wrong: they are said to be uncertain, with both numbers.
SURE = 0.8


class Face(StrEnum):
    """Which side of a tile the camera sees.

    `UNSURE`: what lies there looks like a tile, but cannot be read. It may be one face up, one face down, or none.
    """

    UP = "up"
    DOWN = "down"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Guess:
    """A number of pips, 0 to 18, and the probability that it is right, 0 to 1."""

    pips: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Half:
    """One half of a face-up tile.

    Attributes:
        pips: Number of pips, 0 to 18, read together with all other halves.
        confidence: Probability that *pips* is right, 0 to 1.
        center_px: Centre of the half in the upright picture, x right and y down.
        second: The likeliest other number; None where nothing else is known.
        chances: Probability of each number from 0 on as the half looks by itself, whatever its neighbours are; empty
            where that is not known.
    """

    pips: int
    confidence: float
    center_px: PointPx
    second: Guess | None = None
    chances: tuple[float, ...] = ()

    @property
    def written(self) -> str:
        """The pips as they are shown to people; with both numbers where they are uncertain.

        >>> Half(6, 0.99, (0, 0), Guess(5, 0.01)).written, Half(6, 0.6, (0, 0), Guess(5, 0.3)).written
        ('6', '6?5')
        """
        if self.is_sure:
            return str(self.pips)
        return f"{self.pips}?" if self.second is None else f"{self.pips}?{self.second.pips}"

    @property
    def is_sure(self) -> bool:
        """Whether it can be taken for read."""
        return self.confidence >= SURE

    @property
    def alone(self) -> Guess:
        """What is read from the half by itself."""
        if not self.chances:
            return Guess(self.pips, self.confidence)
        best = max(range(len(self.chances)), key=self.chances.__getitem__)
        return Guess(best, self.chances[best])


@dataclass(frozen=True, slots=True)
class SeenTile:
    """A tile as a picture shows it.

    Attributes:
        face: Whether its pips or its back are seen, or neither can be told.
        corners_px: The outline of its top face, clockwise as seen from the top left.
        halves: Both halves of a face-up tile, empty for all others.
    """

    face: Face
    corners_px: tuple[PointPx, PointPx, PointPx, PointPx]
    halves: tuple[Half, Half] | tuple[()]

    def __post_init__(self) -> None:
        if (self.face is Face.UP) != (len(self.halves) == 2):
            raise ValueError(f"a tile with face {self.face} cannot have {len(self.halves)} halves")

    @property
    def center_px(self) -> PointPx:
        """Centre of the tile in pixels."""
        return _middle(*self.corners_px)

    @property
    def half_centers_px(self) -> tuple[PointPx, PointPx]:
        """Centres of both halves in pixels, also of a tile that lies face down."""
        if self.halves:
            return (self.halves[0].center_px, self.halves[1].center_px)
        a, b, c, d = self.corners_px
        if math.dist(a, b) + math.dist(c, d) < math.dist(b, c) + math.dist(d, a):
            a, b, c, d = b, c, d, a
        middle = self.center_px
        return (_middle(_middle(a, d), middle), _middle(_middle(b, c), middle))


def _middle(*points: PointPx) -> PointPx:
    return (sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points))


@dataclass(frozen=True, slots=True)
class Contact:
    """Two tiles that touch, an end of one at the other.

    Attributes:
        a, b: Indices into the tiles of the reading.
        a_half, b_half: Index of the half that touches, or None for the side of a whole tile.
    """

    a: int
    a_half: int | None
    b: int
    b_half: int | None


@dataclass(frozen=True, slots=True)
class Join(Contact):
    """Two tiles that touch as in a play; None stands for the side of a crosswise double, or for a starter."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything that was read from one picture.

    Attributes:
        width_px, height_px: Size of the upright picture.
        tiles: From top to bottom, then from left to right; those of face `UNSURE` touch nothing.
        joins: Which of the tiles touch as in a play.
        contacts: Which others touch by accident.
    """

    width_px: int
    height_px: int
    tiles: tuple[SeenTile, ...]
    joins: tuple[Join, ...]
    contacts: tuple[Contact, ...] = ()

    @property
    def unsure(self) -> tuple[SeenTile, ...]:
        """What looks like a tile but cannot be read."""
        return tuple(tile for tile in self.tiles if tile.face is Face.UNSURE)

    def without_unsure(self) -> Reading:
        """Return the reading of the tiles that could be read."""
        if not self.unsure:
            return self
        return self._of(tuple(at for at, tile in enumerate(self.tiles) if tile.face is not Face.UNSURE))

    def with_unsure(self, unsure: tuple[SeenTile, ...]) -> Reading:
        """Return the reading with more of face `UNSURE` in it, all in their order.

        >>> square = ((0, 0), (1, 0), (1, 1), (0, 1))
        >>> Reading(9, 9, (), ()).with_unsure((SeenTile(Face.UNSURE, square, ()),)).tiles[0].face
        <Face.UNSURE: 'unsure'>
        """
        if not unsure:
            return self
        more = replace(self, tiles=(*self.tiles, *unsure))
        return more._of(tuple(sorted(range(len(more.tiles)), key=lambda at: more.tiles[at].center_px[::-1])))

    def _of(self, order: tuple[int, ...]) -> Reading:
        """Return the reading of the tiles with these indices, in this order; all that touch must be among them."""
        place = {old: new for new, old in enumerate(order)}
        return replace(
            self,
            tiles=tuple(self.tiles[at] for at in order),
            joins=tuple(replace(join, a=place[join.a], b=place[join.b]) for join in self.joins),
            contacts=tuple(replace(one, a=place[one.a], b=place[one.b]) for one in self.contacts),
        )
