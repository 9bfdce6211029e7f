"""Sheets as a PDF: vectors at true scale, in the few operators of PDF 1.4 that boxes, lines and texts need."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import assert_never

from calibration.sheets.sheet import LineSegment, Rectangle, Shape, Sheet, Text, Window

_POINTS_PER_MM = 72 / 25.4
# Quarter turns clockwise, as they are seen, in a system whose y goes down.
_TURNS = ((1, 0, 0, 1), (0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0))


def format_pdf(sheets: Sequence[Sheet]) -> bytes:
    """Return a PDF file with one page for each sheet.

    Helvetica is one of the fonts that every PDF reader has, so none is embedded.
    """
    first = 4
    pages = " ".join(f"{first + 2 * at} 0 R" for at in range(len(sheets)))
    objects = [
        # Viewers that heed it offer to print at actual size.
        b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /PrintScaling /None >> >>",
        f"<< /Type /Pages /Kids [{pages}] /Count {len(sheets)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for at, sheet in enumerate(sheets):
        objects += [_page(sheet, first + 2 * at + 1), _stream("\n".join(_content(sheet)))]
    return _file(objects)


def _file(objects: Sequence[bytes]) -> bytes:
    """Return the objects, numbered from 1, with their table of places."""
    written = bytearray(b"%PDF-1.4\n")
    places: list[int] = []
    for number, one in enumerate(objects, start=1):
        places.append(len(written))
        written += b"%d 0 obj\n%b\nendobj\n" % (number, one)
    table_at = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
    for place in places:
        written += b"%010d 00000 n \n" % place
    written += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(places) + 1, table_at)
    return bytes(written)


def _page(sheet: Sheet, content: int) -> bytes:
    width, height = (_number(extent_mm * _POINTS_PER_MM) for extent_mm in (sheet.width_mm, sheet.height_mm))
    return (
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents {content} 0 R"
        " /Resources << /Font << /F 3 0 R >> >> >>"
    ).encode()


def _stream(text: str) -> bytes:
    packed = zlib.compress(text.encode("ascii"))
    return b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(packed), packed)


def _content(sheet: Sheet) -> Iterator[str]:
    """Yield the operators of a page: first millimetres from the top left, y down, then what is drawn."""
    scale, height = _number(_POINTS_PER_MM), _number(sheet.height_mm * _POINTS_PER_MM)
    yield f"{scale} 0 0 -{scale} 0 {height} cm"
    yield from _drawn(sheet.shapes)


def _drawn(shapes: Iterable[Shape]) -> Iterator[str]:
    for (_, grey), group in groupby(shapes, key=lambda one: (type(one), getattr(one, "grey", None))):
        several = list(group)
        boxes = [one for one in several if isinstance(one, Rectangle)]
        if boxes:
            # One path for all: boxes painted one by one would leave hairlines where they meet.
            yield f"{_number(grey or 0.0)} g"
            yield from (_numbers(b.left_mm, b.top_mm, b.width_mm, b.height_mm) + " re" for b in boxes)
            yield "f"
            continue
        for one in several:
            yield from _drawn_one(one)


def _drawn_one(shape: Shape) -> Iterator[str]:
    match shape:
        case LineSegment():
            dash = _number(shape.dash_mm) if shape.dash_mm > 0 else ""
            yield f"{_number(shape.grey)} G {_number(shape.width_mm)} w [{dash}] 0 d"
            yield f"{_numbers(*shape.from_mm)} m {_numbers(*shape.to_mm)} l S"
        case Text():
            a, b, c, d = _TURNS[shape.quarters % 4]
            # Letters stand upright in a system whose y goes up.
            place = _numbers(a, b, -c, -d, *shape.start_mm)
            said = shape.text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            yield f"BT {_number(shape.grey)} g /F {_number(shape.height_mm)} Tf {place} Tm ({said}) Tj ET"
        case Window():
            left_mm, top_mm = shape.at_mm
            yield f"q {_numbers(left_mm, top_mm, shape.width_mm, shape.height_mm)} re W n"
            yield f"1 0 0 1 {_numbers(left_mm - shape.from_mm[0], top_mm - shape.from_mm[1])} cm"
            yield from _drawn(shape.shapes)
            yield "Q"
        case Rectangle():
            yield from _drawn([shape])
        case _:
            assert_never(shape)


def _numbers(*values: float) -> str:
    return " ".join(_number(value) for value in values)


def _number(value: float) -> str:
    """Return a number as PDF takes it, to a ten-thousandth.

    >>> _number(2.50), _number(0.0), _number(-1 / 3)
    ('2.5', '0', '-0.3333')
    """
    return f"{value:.4f}".rstrip("0").rstrip(".") if round(value, 4) else "0"
