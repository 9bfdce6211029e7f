"""The tallies of bones and twoset as values that a terminal, a display or a page can draw.

A slash is 5, a circle is 10. In the house of bones two slashes make a cross, each of its quadrants takes a circle or
an X of two slashes, and a full house is 50. In twoset slashes, crosses and circles stand in rows of 50, and what is
stolen is lined out. docs/rules.md 3.1 and 3.6. Points that make no 5 are kept beside the marks as a number.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from engine.errors import EngineError

SLASH_POINTS = 5
CIRCLE_POINTS = 10
ROW_POINTS = 50


class Mark(StrEnum):
    """Mark in one quadrant of a house."""

    EMPTY = ""
    SLASH = "\\"
    X = "X"
    CIRCLE = "O"


@dataclass(frozen=True, slots=True)
class House:
    """One unit of 50.

    Attributes:
        cross: Strokes of the cross: 0, 1 (the level one) or 2.
        quadrants: The four marks in reading order.
    """

    cross: int = 0
    quadrants: tuple[Mark, Mark, Mark, Mark] = (Mark.EMPTY, Mark.EMPTY, Mark.EMPTY, Mark.EMPTY)

    @property
    def points(self) -> int:
        """The points of the marks."""
        worth = {Mark.EMPTY: 0, Mark.SLASH: SLASH_POINTS, Mark.X: CIRCLE_POINTS, Mark.CIRCLE: CIRCLE_POINTS}
        return self.cross * SLASH_POINTS + sum(worth[mark] for mark in self.quadrants)

    @property
    def is_full(self) -> bool:
        """True if the house is worth 50."""
        return self._next_quadrant() is None

    def marked(self, points: int) -> tuple[Self, int]:
        """Return the house with its next single mark, and the points left over.

        Args:
            points: What is still to be written, a multiple of 5 and at least 5.
        """
        if self.cross < 2:
            return replace(self, cross=self.cross + 1), points - SLASH_POINTS
        place = self._next_quadrant()
        if place is None:
            raise EngineError("a full house takes no more marks")
        mark, worth = Mark.SLASH, SLASH_POINTS
        if self.quadrants[place] is Mark.SLASH:
            mark = Mark.X
        elif points >= CIRCLE_POINTS:
            mark, worth = Mark.CIRCLE, CIRCLE_POINTS
        first, second, third, fourth = (mark if at == place else old for at, old in enumerate(self.quadrants))
        return replace(self, quadrants=(first, second, third, fourth)), points - worth

    def _next_quadrant(self) -> int | None:
        """Return the first quadrant with room in it, or None."""
        for place, mark in enumerate(self.quadrants):
            if mark is Mark.EMPTY or mark is Mark.SLASH:
                return place
        return None

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
    """All houses of one player; only the last may be unfinished.

    Attributes:
        houses: The houses, in the order in which they were drawn.
        rest: Points that the marks do not say: 1 to 4 too many for a slash, or a total below zero.
    """

    houses: tuple[House, ...] = ()
    rest: int = 0

    @classmethod
    def of(cls, scores: Iterable[int]) -> Self:
        """Return the marks that these scores leave when written one after the other."""
        tally = cls()
        for points in scores:
            tally = tally.add(points)
        return tally

    @property
    def points(self) -> int:
        """The points of all marks and the rest."""
        return sum(house.points for house in self.houses) + self.rest

    def add(self, points: int) -> Self:
        """Return the tally with *points* written on it; what is taken away is wiped off and the rest drawn anew."""
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


_WORTH = {Stroke.SLASH: SLASH_POINTS, Stroke.X: CIRCLE_POINTS, Stroke.CIRCLE: CIRCLE_POINTS}


@dataclass(frozen=True, slots=True)
class RowMark:
    """One mark in a row, lined out when its points were stolen."""

    stroke: Stroke
    lined_out: bool = False

    @property
    def points(self) -> int:
        """The points of the mark; 0 if it is lined out."""
        return 0 if self.lined_out else _WORTH[self.stroke]


@dataclass(frozen=True, slots=True)
class RowsTally:
    """All rows of one player, each worth up to 50.

    Attributes:
        rows: The marks of each row, from left to right.
        rest: Points that the marks do not say: 1 to 4 too many for a slash, or a total below zero.
    """

    rows: tuple[tuple[RowMark, ...], ...] = ()
    rest: int = 0

    @classmethod
    def of(cls, scores: Iterable[int]) -> Self:
        """Return the marks that these scores leave when written one after the other."""
        tally = cls()
        for points in scores:
            tally = tally.add(points)
        return tally

    @property
    def points(self) -> int:
        """The points of all marks and the rest."""
        return sum(mark.points for row in self.rows for mark in row) + self.rest

    def add(self, points: int) -> Self:
        r"""Return the tally with *points* written on it, or, when they are below zero, lined out from the last mark.

        >>> print("\n".join(RowsTally.of([10, 5, -10, 20]).lines()))
        O- /- X O /
        """
        rows, rest = [list(row) for row in self.rows], self.rest + points
        while rest < 0 and any(mark.points for row in rows for mark in row):
            rest += _line_out_last(rows)
        while rest >= SLASH_POINTS:
            rest -= _mark_row(rows, rest)
        return replace(self, rows=tuple(tuple(row) for row in rows), rest=rest)

    def lines(self) -> tuple[str, ...]:
        """Return each row as text; what is lined out is followed by a dash."""
        return tuple(" ".join(mark.stroke + ("-" if mark.lined_out else "") for mark in row) for row in self.rows)


def _line_out_last(rows: list[list[RowMark]]) -> int:
    """Line out the last mark that still counts; return what it was worth."""
    row, at = max((row, at) for row, marks in enumerate(rows) for at, mark in enumerate(marks) if mark.points)
    points = rows[row][at].points
    rows[row][at] = replace(rows[row][at], lined_out=True)
    return points


def _mark_row(rows: list[list[RowMark]], points: int) -> int:
    """Write the next single mark in the first row with room; return what it adds."""
    row = next((row for row in rows if sum(mark.points for mark in row) < ROW_POINTS), None)
    if row is None:
        row = []
        rows.append(row)
    if row and row[-1] == RowMark(Stroke.SLASH):
        row[-1] = RowMark(Stroke.X)
        return SLASH_POINTS
    has_room = ROW_POINTS - sum(mark.points for mark in row) >= CIRCLE_POINTS
    stroke = Stroke.CIRCLE if points >= CIRCLE_POINTS and has_room else Stroke.SLASH
    row.append(RowMark(stroke))
    return _WORTH[stroke]
