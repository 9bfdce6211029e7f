"""A printed sheet as a value, in millimetres from the top left corner, y down, and as a PDF with vector graphics."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import TypeAlias, assert_never

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


_POINTS_PER_MM = 72 / 25.4
# Rotation matrices of clockwise quarter turns, with y down.
_TURNS = ((1, 0, 0, 1), (0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0))


def format_pdf(sheets: Sequence[Sheet]) -> bytes:
    """Return a PDF file with one page for each sheet.

    Helvetica is available in every PDF reader, so no font is embedded.
    """
    first = 4
    pages = " ".join(f"{first + 2 * at} 0 R" for at in range(len(sheets)))
    objects = [
        # Makes supporting viewers print at actual size by default.
        b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /PrintScaling /None >> >>",
        f"<< /Type /Pages /Kids [{pages}] /Count {len(sheets)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for at, sheet in enumerate(sheets):
        objects += [_page(sheet, first + 2 * at + 1), _stream("\n".join(_content(sheet)))]
    return _file(objects)


def _file(objects: Sequence[bytes]) -> bytes:
    """Return a file with the objects, numbered from 1, and their cross-reference table."""
    data = bytearray(b"%PDF-1.4\n")
    offsets: list[int] = []
    for number, item in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, item)
    table_at = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(offsets) + 1)
    for offset in offsets:
        data += b"%010d 00000 n \n" % offset
    data += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(offsets) + 1, table_at)
    return bytes(data)


def _page(sheet: Sheet, content: int) -> bytes:
    width, height = (_number(extent_mm * _POINTS_PER_MM) for extent_mm in (sheet.width_mm, sheet.height_mm))
    return (
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents {content} 0 R"
        " /Resources << /Font << /F 3 0 R >> >> >>"
    ).encode()


def _stream(text: str) -> bytes:
    compressed = zlib.compress(text.encode("ascii"))
    return b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(compressed), compressed)


def _content(sheet: Sheet) -> Iterator[str]:
    """Yield the operators of a page: a transformation to millimetres from the top left, y down, then the shapes."""
    scale, height = _number(_POINTS_PER_MM), _number(sheet.height_mm * _POINTS_PER_MM)
    yield f"{scale} 0 0 -{scale} 0 {height} cm"
    yield from _operators(sheet.shapes)


def _operators(shapes: Iterable[Shape]) -> Iterator[str]:
    for (_, grey), group in groupby(shapes, key=lambda shape: (type(shape), getattr(shape, "grey", None))):
        similar = list(group)
        boxes = [shape for shape in similar if isinstance(shape, Rectangle)]
        if boxes:
            # A single path, because separately painted boxes would leave hairlines between them.
            yield f"{_number(grey or 0.0)} g"
            yield from (_numbers(b.left_mm, b.top_mm, b.width_mm, b.height_mm) + " re" for b in boxes)
            yield "f"
            continue
        for shape in similar:
            yield from _shape_operators(shape)


def _shape_operators(shape: Shape) -> Iterator[str]:
    match shape:
        case LineSegment():
            dash = _number(shape.dash_mm) if shape.dash_mm > 0 else ""
            yield f"{_number(shape.grey)} G {_number(shape.width_mm)} w [{dash}] 0 d"
            yield f"{_numbers(*shape.from_mm)} m {_numbers(*shape.to_mm)} l S"
        case Text():
            a, b, c, d = _TURNS[shape.quarters % 4]
            # Letters are upright if y points up, so the second axis is flipped.
            matrix = _numbers(a, b, -c, -d, *shape.start_mm)
            escaped = shape.text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            yield f"BT {_number(shape.grey)} g /F {_number(shape.height_mm)} Tf {matrix} Tm ({escaped}) Tj ET"
        case Window():
            left_mm, top_mm = shape.at_mm
            yield f"q {_numbers(left_mm, top_mm, shape.width_mm, shape.height_mm)} re W n"
            yield f"1 0 0 1 {_numbers(left_mm - shape.from_mm[0], top_mm - shape.from_mm[1])} cm"
            yield from _operators(shape.shapes)
            yield "Q"
        case Rectangle():
            yield from _operators([shape])
        case _:
            assert_never(shape)


def _numbers(*values: float) -> str:
    return " ".join(_number(value) for value in values)


def _number(value: float) -> str:
    """Return a number in PDF notation, rounded to four decimals.

    >>> _number(2.50), _number(0.0), _number(-1 / 3)
    ('2.5', '0', '-0.3333')
    """
    return f"{value:.4f}".rstrip("0").rstrip(".") if round(value, 4) else "0"
