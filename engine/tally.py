"""The house tally of text 000 as a value that a terminal, a display or a page can draw.

A slash is 5, a circle is 10. Two slashes make a cross, each of its quadrants takes a circle or an X of two slashes,
and a full house is 50. RULES.md 3.1.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from engine.errors import EngineError

SLASH_POINTS = 5
CIRCLE_POINTS = 10


class Mark(StrEnum):
    """What stands in one quadrant of a house."""

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
        """What the marks are worth."""
        worth = {Mark.EMPTY: 0, Mark.SLASH: SLASH_POINTS, Mark.X: CIRCLE_POINTS, Mark.CIRCLE: CIRCLE_POINTS}
        return self.cross * SLASH_POINTS + sum(worth[mark] for mark in self.quadrants)

    @property
    def is_full(self) -> bool:
        """Whether the house is worth 50."""
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
    """All houses of one player; only the last may be unfinished."""

    houses: tuple[House, ...] = ()

    @classmethod
    def of(cls, scores: Iterable[int]) -> Self:
        """Return the marks that these scores leave when written one after the other."""
        tally = cls()
        for points in scores:
            tally = tally.add(points)
        return tally

    @property
    def points(self) -> int:
        """What all marks are worth."""
        return sum(house.points for house in self.houses)

    def add(self, points: int) -> Self:
        """Return the tally with *points* written on it.

        Raises:
            EngineError: If *points* is negative or no multiple of 5.
        """
        if points < 0 or points % SLASH_POINTS:
            raise EngineError(f"the house tally takes multiples of 5, got {points}")
        houses = list(self.houses)
        while points:
            if not houses or houses[-1].is_full:
                houses.append(House())
            houses[-1], points = houses[-1].marked(points)
        return replace(self, houses=tuple(houses))
