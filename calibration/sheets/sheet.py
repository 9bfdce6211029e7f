"""A printed sheet as a value: rectangles, lines and texts in millimetres from the top left corner, y down."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

BLACK, WHITE, GREY = 0.0, 1.0, 0.55


class Paper(StrEnum):
    """A paper size."""

    A4 = "a4"
    LETTER = "letter"

    @property
    def short_mm(self) -> float:
        """Length of the shorter edge."""
        return 210.0 if self is Paper.A4 else 215.9

    @property
    def long_mm(self) -> float:
        """Length of the longer edge."""
        return 297.0 if self is Paper.A4 else 279.4


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A filled rectangle. *grey* ranges from 0 (black) to 1 (white)."""

    left_mm: float
    top_mm: float
    width_mm: float
    height_mm: float
    grey: float = BLACK


@dataclass(frozen=True, slots=True)
class LineSegment:
    """A straight line, dashed if *dash_mm* is not 0."""

    from_mm: tuple[float, float]
    to_mm: tuple[float, float]
    width_mm: float = 0.3
    dash_mm: float = 0.0
    grey: float = BLACK


@dataclass(frozen=True, slots=True)
class Text:
    """A line of ASCII text.

    Attributes:
        start_mm: Left end of the baseline.
        text: Printable ASCII characters.
        height_mm: Font size.
        quarters: Clockwise rotation in quarter turns.
        grey: Colour from 0 (black) to 1 (white).
    """

    start_mm: tuple[float, float]
    text: str
    height_mm: float = 4.0
    quarters: int = 0
    grey: float = BLACK

    def __post_init__(self) -> None:
        if not self.text.isascii() or not self.text.isprintable():
            raise ValueError(f"text: expected printable ASCII, got {self.text!r}")


@dataclass(frozen=True, slots=True)
class Window:
    """A rectangular part of a larger drawing, clipped at its edges.

    Attributes:
        shapes: The whole drawing.
        from_mm: Point of the drawing at the top left of the window.
        at_mm: Top left of the window on the sheet.
        width_mm, height_mm: Size of the window.
    """

    shapes: tuple[Shape, ...]
    from_mm: tuple[float, float]
    at_mm: tuple[float, float]
    width_mm: float
    height_mm: float


Shape: TypeAlias = Rectangle | LineSegment | Text | Window


@dataclass(frozen=True, slots=True)
class Sheet:
    """A printed page.

    Attributes:
        width_mm, height_mm: Size of the paper.
        shapes: Shapes on the page. Later ones cover earlier ones.
    """

    width_mm: float
    height_mm: float
    shapes: tuple[Shape, ...]


def outline(
    left_mm: float, top_mm: float, width_mm: float, height_mm: float, dash_mm: float = 0.0
) -> tuple[LineSegment, ...]:
    """Return the edges of a rectangle as four lines."""
    right_mm, bottom_mm = left_mm + width_mm, top_mm + height_mm
    corners = ((left_mm, top_mm), (right_mm, top_mm), (right_mm, bottom_mm), (left_mm, bottom_mm))
    return tuple(LineSegment(a, b, dash_mm=dash_mm) for a, b in zip(corners, (*corners[1:], corners[0]), strict=True))
