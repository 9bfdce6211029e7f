"""A drawing as SVG: lines, boxes and texts, each text with the space it takes, so that a test can see what overlaps."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TypeAlias

Point: TypeAlias = tuple[float, float]
"""x to the right and y down, in units of the drawing."""

INK, FAINT, PAPER = "#1d1d1f", "#6b6b70", "#ffffff"
RED, BLACK, BLUE, GREEN, ORANGE, VIOLET, CYAN = (
    "#c62828",
    "#1d1d1f",
    "#1565c0",
    "#2e7d32",
    "#b85c00",
    "#7b1fa2",
    "#00798c",
)
# Share of the font's size that a letter takes in width: DejaVu Sans is the widest of the fonts that may be there.
_LETTER_WIDTH, _BOLD_WIDTH = 0.6, 0.68
_ASCENT, _DESCENT = 0.76, 0.24


@dataclass(frozen=True, slots=True)
class Extent:
    """The space that a text takes: its edges, and its words."""

    left: float
    top: float
    right: float
    bottom: float
    text: str

    def overlaps(self, other: Extent) -> bool:
        """Return True if two texts overlap."""
        apart = self.right <= other.left or other.right <= self.left or self.bottom <= other.top
        return not (apart or other.bottom <= self.top)


@dataclass(slots=True)
class Sheet:
    """A drawing that grows.

    Attributes:
        width: Of the paper.
        height: Of the paper.
        title: What it shows, for those who cannot see it too.
        extents: The space of each text.
    """

    width: int
    height: int
    title: str
    extents: list[Extent] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)

    def text(
        self, at: Point, text: str, *, size: float = 14, anchor: str = "start", bold: bool = False, colour: str = INK
    ) -> None:
        """Write one line; *at* is on its base line, at its begin, middle or end as *anchor* says."""
        x, y = at
        wide = len(text) * size * (_BOLD_WIDTH if bold else _LETTER_WIDTH)
        left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        self.extents.append(Extent(left, y - _ASCENT * size, left + wide, y + _DESCENT * size, text))
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}" fill="{colour}"{weight}>'
            f"{escape(text)}</text>"
        )

    def lines(self, at: Point, text: tuple[str, ...], *, size: float = 13, colour: str = INK) -> None:
        """Write lines below each other."""
        for number, line in enumerate(text):
            self.text((at[0], at[1] + number * size * 1.4), line, size=size, colour=colour)

    def wire(self, *points: Point, colour: str = INK, width: float = 2.0) -> None:
        """Draw a line through points."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>')

    def shape(self, *points: Point, fill: str = PAPER, colour: str = INK) -> None:
        """Draw a closed figure."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._parts.append(f'<polygon points="{path}" fill="{fill}" stroke="{colour}" stroke-width="2"/>')

    def box(
        self, at: Point, size: Point, *, fill: str = PAPER, colour: str = INK, radius: float = 4, width: float = 2
    ) -> None:
        """Draw a rectangle; *at* is its corner at the top left."""
        self._parts.append(
            f'<rect x="{at[0]:g}" y="{at[1]:g}" width="{size[0]:g}" height="{size[1]:g}" rx="{radius:g}" '
            f'fill="{fill}" stroke="{colour}" stroke-width="{width:g}"/>'
        )

    def disc(self, at: Point, radius: float, *, fill: str = PAPER, colour: str = INK, width: float = 2) -> None:
        """Draw a circle."""
        self._parts.append(
            f'<circle cx="{at[0]:g}" cy="{at[1]:g}" r="{radius:g}" fill="{fill}" stroke="{colour}" '
            f'stroke-width="{width:g}"/>'
        )

    def svg(self) -> str:
        """Return the file's text."""
        title = escape(self.title)
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" role="img" '
                'font-family="DejaVu Sans, Verdana, Arial, sans-serif">',
                f"<title>{title}</title>",
                f'<rect width="{self.width}" height="{self.height}" fill="{PAPER}"/>',
                *self._parts,
                "</svg>\n",
            )
        )
