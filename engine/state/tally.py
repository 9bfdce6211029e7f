"""Tally marks for Bones and Twoset, as values that a terminal, a display or a page can draw.

A slash is worth 5 and a circle 10. In Bones, two slashes form the cross of a house. Each of its quadrants takes a
circle or an X of two slashes, and a full house is worth 50. In Twoset, slashes, crosses and circles fill rows of 50,
and stolen marks are struck out. See docs/reference/rules.md 3.1 and 3.6. A remainder below 5 is kept as a number.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce
from typing import Self

from engine.errors import EngineError
from engine.value import replaced_at

SLASH_POINTS = 5
CIRCLE_POINTS = 10
ROW_POINTS = 50
_WORTH = {"": 0, "\\": SLASH_POINTS, "/": SLASH_POINTS, "X": CIRCLE_POINTS, "O": CIRCLE_POINTS}


class Mark(StrEnum):
    """Mark in a quadrant of a house."""

    EMPTY = ""
    SLASH = "\\"
    X = "X"
    CIRCLE = "O"


@dataclass(frozen=True, slots=True)
class House:
    """A house, which is worth 50 points when full.

    Attributes:
        cross: Number of strokes in the cross: 0, 1 (horizontal) or 2.
        quadrants: The four marks in reading order.
    """

    cross: int = 0
    quadrants: tuple[Mark, Mark, Mark, Mark] = (Mark.EMPTY, Mark.EMPTY, Mark.EMPTY, Mark.EMPTY)

    @property
    def points(self) -> int:
        """Points of the marks."""
        return self.cross * SLASH_POINTS + sum(_WORTH[mark] for mark in self.quadrants)

    @property
    def is_full(self) -> bool:
        """True if the house is worth 50."""
        return all(_WORTH[mark] == CIRCLE_POINTS for mark in self.quadrants)

    def marked(self, points: int) -> tuple[Self, int]:
        """Return the house with one more mark, and the rest of *points*, which are a multiple of 5 and at least 5.

        Raises:
            EngineError: If the house is full.
        """
        if self.cross < 2:
            return replace(self, cross=self.cross + 1), points - SLASH_POINTS
        if self.is_full:
            raise EngineError("a full house takes no more marks")
        place, old = next((at, old) for at, old in enumerate(self.quadrants) if _WORTH[old] < CIRCLE_POINTS)
        mark = Mark.X if old is Mark.SLASH else Mark.CIRCLE if points >= CIRCLE_POINTS else Mark.SLASH
        first, second, third, fourth = replaced_at(self.quadrants, place, mark)
        return replace(self, quadrants=(first, second, third, fourth)), points - _WORTH[mark] + _WORTH[old]

    def lines(self) -> tuple[str, str, str]:
        r"""Return the house as three rows of three characters.

        >>> print("\n".join(House(2, (Mark.X, Mark.X, Mark.CIRCLE, Mark.SLASH)).lines()))
        X|X
        -+-
        O|\
        """
        upright = "|" if self.cross == 2 else " "
        level = ("   ", "---", "-+-")[self.cross]
        marks = [mark.value or " " for mark in self.quadrants]
        return marks[0] + upright + marks[1], level, marks[2] + upright + marks[3]


@dataclass(frozen=True, slots=True)
class HouseTally:
    """All houses of a player. Only the last may be incomplete.

    Attributes:
        houses: Houses in the order in which they were drawn.
        rest: Points without a mark: a remainder of 1 to 4, or a negative total.
    """

    houses: tuple[House, ...] = ()
    rest: int = 0

    @classmethod
    def of(cls, scores: Iterable[int]) -> Self:
        """Return the tally after adding *scores* in order."""
        return reduce(cls.add, scores, cls())

    @property
    def points(self) -> int:
        """Points of all marks plus the rest."""
        return sum(house.points for house in self.houses) + self.rest

    def add(self, points: int) -> Self:
        """Return the tally with *points* added. A negative number redraws all marks for the new total."""
        if points < 0:
            return replace(self, houses=(), rest=min(0, self.points + points)).add(max(0, self.points + points))
        if self.rest + points < 0:
            return replace(self, rest=self.rest + points)
        marks, rest = divmod(self.rest + points, SLASH_POINTS)
        left, houses = marks * SLASH_POINTS, list(self.houses)
        while left:
            if not houses or houses[-1].is_full:
                houses.append(House())
            houses[-1], left = houses[-1].marked(left)
        return replace(self, houses=tuple(houses), rest=rest)


class Stroke(StrEnum):
    """One mark in a row."""

    SLASH = "/"
    X = "X"
    CIRCLE = "O"


@dataclass(frozen=True, slots=True)
class RowMark:
    """A mark in a row, struck out if its points were stolen."""

    stroke: Stroke
    struck_out: bool = False

    @property
    def points(self) -> int:
        """Points of the mark, 0 if it is struck out."""
        return 0 if self.struck_out else _WORTH[self.stroke]


@dataclass(frozen=True, slots=True)
class RowsTally:
    """All rows of a player, each worth up to 50.

    Attributes:
        rows: Marks of each row, from left to right.
        rest: Points without a mark: a remainder of 1 to 4, or a negative total.
    """

    rows: tuple[tuple[RowMark, ...], ...] = ()
    rest: int = 0

    @classmethod
    def of(cls, scores: Iterable[int]) -> Self:
        """Return the tally after adding *scores* in order."""
        return reduce(cls.add, scores, cls())

    @property
    def points(self) -> int:
        """Total points: those of the marks that are not struck out, plus `rest`, which may be negative."""
        return sum(mark.points for row in self.rows for mark in row) + self.rest

    def add(self, points: int) -> Self:
        r"""Return the tally with *points* added. A negative number strikes out marks, starting with the last.

        >>> print("\n".join(RowsTally.of([10, 5, -10, 20]).lines()))
        O- /- X O /
        """
        rows, rest = [list(row) for row in self.rows], self.rest + points
        while rest < 0 and (left := [(row, at) for row in rows for at, mark in enumerate(row) if mark.points]):
            row, at = left[-1]
            rest += row[at].points
            row[at] = RowMark(row[at].stroke, struck_out=True)
        while rest >= SLASH_POINTS:
            rest -= _mark_row(rows, rest)
        return replace(self, rows=tuple(tuple(row) for row in rows), rest=rest)

    def lines(self) -> tuple[str, ...]:
        """Return each row as text. A struck-out mark is followed by a dash."""
        return tuple(" ".join(mark.stroke + ("-" if mark.struck_out else "") for mark in row) for row in self.rows)


def _mark_row(rows: list[list[RowMark]], points: int) -> int:
    """Write one mark in the first row with room, or in a new row. Return the points that it adds."""
    row = next((row for row in rows if sum(mark.points for mark in row) < ROW_POINTS), None)
    if row is None:
        rows.append(row := [])
    if row and row[-1] == RowMark(Stroke.SLASH):
        row[-1] = RowMark(Stroke.X)
        return SLASH_POINTS
    has_room = ROW_POINTS - sum(mark.points for mark in row) >= CIRCLE_POINTS
    row.append(RowMark(Stroke.CIRCLE if points >= CIRCLE_POINTS and has_room else Stroke.SLASH))
    return row[-1].points
