"""Result of reading an image: tiles, halves and joins, as plain values."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

PointPx = tuple[float, float]
"""Image point in pixels: x to the right, y down."""
OutlinePx = tuple[PointPx, ...]
"""Corners of a flat object in an image, clockwise, in pixels."""

# Below this confidence, at least a third of the halves are misread. They are reported as uncertain, with the second
# most likely number.
SURE = 0.8


class Face(StrEnum):
    """Visible side of a tile.

    `UNSURE`: an object that looks like a tile but cannot be read. It may be face up, face down, or no tile at all.
    """

    UP = "up"
    DOWN = "down"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Guess:
    """A number of pips, 0 to 18, and its probability, 0 to 1."""

    pips: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Half:
    """A half of a face-up tile.

    Attributes:
        pips: Number of pips, 0 to 18, decided jointly for all halves in the image.
        confidence: Probability that *pips* is correct, 0 to 1.
        center_px: Centre in the upright image.
        second: Most likely other number, and its probability. It can exceed *confidence*, because *pips* must be
            consistent with the other tiles. None if unknown; the reader always sets it.
        chances: Probability of each number from 0 upwards for this half alone, without regard to other tiles. Empty if
            unknown.
    """

    pips: int
    confidence: float
    center_px: PointPx
    second: Guess | None = None
    chances: tuple[float, ...] = ()

    @property
    def written(self) -> str:
        """The pips as text for people. If they are uncertain, `?` follows, and the second guess if there is one.

        >>> Half(6, 0.99, (0, 0), Guess(5, 0.01)).written, Half(6, 0.6, (0, 0), Guess(5, 0.3)).written
        ('6', '6?5')
        """
        if self.is_sure:
            return str(self.pips)
        return f"{self.pips}?" if self.second is None else f"{self.pips}?{self.second.pips}"

    @property
    def is_sure(self) -> bool:
        """True if the confidence is high enough to accept the pips without a question."""
        return self.confidence >= SURE

    @property
    def alone(self) -> Guess:
        """Most likely number for this half alone, without regard to other tiles."""
        if not self.chances:
            return Guess(self.pips, self.confidence)
        best = max(range(len(self.chances)), key=self.chances.__getitem__)
        return Guess(best, self.chances[best])


@dataclass(frozen=True, slots=True)
class SeenTile:
    """A tile in an image.

    Attributes:
        face: Visible side.
        corners_px: Corners of its top face, clockwise in the image.
        halves: Both halves of a face-up tile. Empty otherwise.
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
        """Centres of both halves in pixels. Also defined for a face-down tile."""
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
    """Two tiles that touch: an end of one against the other.

    Attributes:
        a, b: Indices into `Reading.tiles`.
        a_half, b_half: Index of the half that touches. None if it is a long side of the tile.
    """

    a: int
    a_half: int | None
    b: int
    b_half: int | None


@dataclass(frozen=True, slots=True)
class Join(Contact):
    """Two tiles that touch as in a play. A half of None means the side of a crosswise double, or a starter."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Result of reading an image.

    Attributes:
        width_px, height_px: Size of the upright image.
        tiles: Tiles from top to bottom, then from left to right. Those with face `UNSURE` have no joins or contacts.
        joins: Pairs of tiles that touch as in a play.
        contacts: Other pairs of tiles that touch.
    """

    width_px: int
    height_px: int
    tiles: tuple[SeenTile, ...]
    joins: tuple[Join, ...]
    contacts: tuple[Contact, ...] = ()

    @property
    def unsure(self) -> tuple[SeenTile, ...]:
        """Objects that look like tiles but cannot be read."""
        return tuple(tile for tile in self.tiles if tile.face is Face.UNSURE)

    def without_unsure(self) -> Reading:
        """Return the reading without tiles of face `UNSURE`."""
        if not self.unsure:
            return self
        return self._of(tuple(at for at, tile in enumerate(self.tiles) if tile.face is not Face.UNSURE))

    def with_unsure(self, unsure: tuple[SeenTile, ...]) -> Reading:
        """Return the reading with *unsure* tiles added, in sorted order.

        >>> square = ((0, 0), (1, 0), (1, 1), (0, 1))
        >>> Reading(9, 9, (), ()).with_unsure((SeenTile(Face.UNSURE, square, ()),)).tiles[0].face
        <Face.UNSURE: 'unsure'>
        """
        if not unsure:
            return self
        more = replace(self, tiles=(*self.tiles, *unsure))
        return more._of(tuple(sorted(range(len(more.tiles)), key=lambda at: more.tiles[at].center_px[::-1])))

    def _of(self, order: tuple[int, ...]) -> Reading:
        """Return the reading with the tiles at these indices, in this order. Must include all tiles that touch."""
        place = {old: new for new, old in enumerate(order)}
        return replace(
            self,
            tiles=tuple(self.tiles[at] for at in order),
            joins=tuple(replace(join, a=place[join.a], b=place[join.b]) for join in self.joins),
            contacts=tuple(replace(contact, a=place[contact.a], b=place[contact.b]) for contact in self.contacts),
        )
