"""Sheets of `tallybone calibrate print`: corner blocks, the board for the lens and the mat, as PDF and as pictures.

A sheet is a value, in millimetres from the top left corner, y down.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import TypeAlias, assert_never

import cv2
import numpy as np
from cv2 import aruco

from vision.arrays import Points

BLACK = 0.0
WHITE = 1.0
GREY = 0.55


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
    scale = _number(_POINTS_PER_MM)
    objects = [
        # Makes supporting viewers print at actual size by default.
        b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /PrintScaling /None >> >>",
        f"<< /Type /Pages /Kids [{pages}] /Count {len(sheets)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for at, sheet in enumerate(sheets):
        width, height = (_number(extent_mm * _POINTS_PER_MM) for extent_mm in (sheet.width_mm, sheet.height_mm))
        page = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents {first + 2 * at + 1} 0 R"
            " /Resources << /Font << /F 3 0 R >> >> >>"
        )
        # A transformation to millimetres from the top left, y down, then the shapes.
        content = "\n".join((f"{scale} 0 0 -{scale} 0 {height} cm", *_operators(sheet.shapes)))
        stream = zlib.compress(content.encode("ascii"))
        objects += [
            page.encode(),
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(stream), stream),
        ]
    # The objects are numbered from 1. Their cross-reference table follows.
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


# A block has two by two markers, so some are detected even if a hand or a glass covers half of it.
BLOCKS = 4
MARKERS_PER_BLOCK = 4
MARKER_MM = 36.0
# White margin around each marker, required for detection: the width of one of its six cells.
QUIET_MM = MARKER_MM / 6
BLOCK_MM = 2 * MARKER_MM + 3 * QUIET_MM
# The board fits both A4 and Letter, including printer margins.
BOARD_COLUMNS = 9
BOARD_ROWS = 6
SQUARE_MM = 28.0
BOARD_MARKER_MM = 21.0
BOARD_CORNERS = (BOARD_COLUMNS - 1) * (BOARD_ROWS - 1)


def corner_dictionary() -> aruco.Dictionary:
    """Return the marker dictionary of the corner blocks."""
    return aruco.getPredefinedDictionary(aruco.DICT_4X4_50)


def lens_board() -> aruco.CharucoBoard:
    """Return the lens board. Its markers differ from those of the corner blocks."""
    dictionary = aruco.getPredefinedDictionary(aruco.DICT_5X5_50)
    return aruco.CharucoBoard((BOARD_COLUMNS, BOARD_ROWS), SQUARE_MM, BOARD_MARKER_MM, dictionary)


def marker_corners_mm(place: int) -> Points:
    """Return the corners of a marker in its block, shape (4, 2), clockwise from its top left.

    Args:
        place: Position of the marker, 0 to 3: top left, top right, bottom right, bottom left.

    Returns:
        Positions in millimetres from the centre of the block, x right, y up.
    """
    right, down = ((0, 0), (1, 0), (1, 1), (0, 1))[place]
    step = MARKER_MM + QUIET_MM
    left, top = right * step - (MARKER_MM + QUIET_MM / 2), QUIET_MM / 2 + MARKER_MM - down * step
    far, low = left + MARKER_MM, top - MARKER_MM
    return np.array([(left, top), (far, top), (far, low), (left, low)])


def marker_outward() -> Points:
    """Return the displacement of each marker corner if black areas grow by 1 on each side, shape (4, 2), y up."""
    return np.array([(-1.0, 1.0), (1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)])


def block_boxes(block: int, left_mm: float, top_mm: float) -> tuple[Rectangle, ...]:
    """Return the rectangles of a corner block.

    Args:
        block: Corner of the table seen from the first seat, 0 to 3: top left, top right, bottom right, bottom left.
        left_mm, top_mm: Top left corner of its white square on the sheet.
    """
    boxes = [Rectangle(left_mm, top_mm, BLOCK_MM, BLOCK_MM, WHITE)]
    for place in range(MARKERS_PER_BLOCK):
        bits = aruco.generateImageMarker(corner_dictionary(), MARKERS_PER_BLOCK * block + place, 6)
        x_mm, y_mm = marker_corners_mm(place)[0]
        boxes += _bit_boxes(bits, left_mm + BLOCK_MM / 2 + x_mm, top_mm + BLOCK_MM / 2 - y_mm, MARKER_MM)
    return tuple(boxes)


def board_boxes(left_mm: float, top_mm: float) -> tuple[Rectangle, ...]:
    """Return the rectangles of the lens board, with its top left corner at the given position."""
    board = lens_board()
    boxes: list[Rectangle] = []
    marker = iter(np.asarray(board.getIds()).ravel().tolist())
    edge_mm = (SQUARE_MM - BOARD_MARKER_MM) / 2
    for row in range(BOARD_ROWS):
        for column in range(BOARD_COLUMNS):
            x_mm, y_mm = left_mm + column * SQUARE_MM, top_mm + row * SQUARE_MM
            if (row + column) % 2 == 0:
                boxes.append(Rectangle(x_mm, y_mm, SQUARE_MM, SQUARE_MM, BLACK))
                continue
            bits = aruco.generateImageMarker(board.getDictionary(), next(marker), 7)
            boxes += _bit_boxes(bits, x_mm + edge_mm, y_mm + edge_mm, BOARD_MARKER_MM)
    return tuple(boxes)


def _bit_boxes(bits: cv2.typing.MatLike, left_mm: float, top_mm: float, side_mm: float) -> list[Rectangle]:
    """Return the black cells of a marker. Adjacent cells of a row are merged."""
    cell_mm = side_mm / len(bits)
    boxes = []
    for row, line in enumerate(bits):
        # Alternating starts and ends of black runs.
        edges = np.flatnonzero(np.diff(np.concatenate([[0], (line == 0).astype(np.int8), [0]])))
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            boxes.append(
                Rectangle(left_mm + start * cell_mm, top_mm + row * cell_mm, (end - start) * cell_mm, cell_mm, BLACK)
            )
    return boxes


# Three by three sheets of A4 or Letter in landscape format, without their margins.
SHEETS_ACROSS = 3
SHEETS_DOWN = 3
MAT_WIDTH_MM = 759.0
MAT_HEIGHT_MM = 558.0
# Depth of a seat's zone. It fits an upright tile of 5 cm.
STRIP_MM = 62.0
_GAP_MM = 8.0
_BONEYARD_WIDTH_MM = 130.0
_LABEL_MM = 9.0
_EDGE_MM = 4.0
# Minimum size that fits a boneyard and four tiles in a row between the corner blocks.
MIN_WIDTH_MM = 520.0
MIN_HEIGHT_MM = 320.0


@dataclass(frozen=True, slots=True)
class MatZone:
    """A rectangle of the mat.

    Attributes:
        left_mm, top_mm: Top left corner, measured from the top left of the mat, y down.
        width_mm, height_mm: Size.
        quarters: Clockwise rotation of the name in quarter turns, to face the player.
    """

    name: str
    left_mm: float
    top_mm: float
    width_mm: float
    height_mm: float
    quarters: int = 0


def mat_zones(players: int) -> tuple[MatZone, ...]:
    """Return the zones of the printed mat: one for each seat, clockwise from the lower edge, then boneyard and layout.

    Args:
        players: Number of players, 2 to 4.

    Raises:
        ValueError: If *players* is out of range.
    """
    return zones_within(MAT_WIDTH_MM, MAT_HEIGHT_MM, players)


def zones_within(width_mm: float, height_mm: float, players: int) -> tuple[MatZone, ...]:
    """Return zones for a table with corner blocks in its corners, arranged as on the mat.

    Args:
        width_mm, height_mm: Size of the table, at least 520 x 320 mm.
        players: Number of players, 2 to 4.

    Raises:
        ValueError: If *players* is out of range, or the table is too small.
    """
    if players not in (2, 3, 4):
        raise ValueError(f"players: expected 2 to 4, got {players}")
    if width_mm < MIN_WIDTH_MM or height_mm < MIN_HEIGHT_MM:
        raise ValueError(
            f"zones need a table of {MIN_WIDTH_MM:.0f} x {MIN_HEIGHT_MM:.0f} mm or more, and this one has"
            f" {width_mm:.0f} x {height_mm:.0f} mm"
        )
    inset_mm = BLOCK_MM + _GAP_MM
    across_mm, down_mm = width_mm - 2 * inset_mm, height_mm - 2 * inset_mm
    low_mm, right_mm = height_mm - STRIP_MM - _EDGE_MM, width_mm - STRIP_MM - _EDGE_MM
    bottom = (inset_mm, low_mm, across_mm, STRIP_MM, 0)
    left = (_EDGE_MM, inset_mm, STRIP_MM, down_mm, 1)
    top = (inset_mm, _EDGE_MM, across_mm, STRIP_MM, 2)
    right = (right_mm, inset_mm, STRIP_MM, down_mm, 3)
    places = {2: (bottom, top), 3: (bottom, left, top), 4: (bottom, left, top, right)}[players]
    seats = [MatZone(f"Seat {at + 1}", *place) for at, place in enumerate(places)]
    yard_right_mm = right_mm - _GAP_MM if players == 4 else width_mm - _EDGE_MM
    yard_left_mm = yard_right_mm - _BONEYARD_WIDTH_MM
    boneyard = MatZone("Boneyard", yard_left_mm, inset_mm, _BONEYARD_WIDTH_MM, down_mm)
    top_mm = _EDGE_MM + STRIP_MM + _GAP_MM
    layout_mm = (yard_left_mm - _GAP_MM - inset_mm, low_mm - _GAP_MM - top_mm)
    layout = MatZone("Layout", inset_mm, top_mm, *layout_mm)
    return (*seats, boneyard, layout)


def block_places_mm() -> tuple[tuple[float, float], ...]:
    """Return the top left corner of each corner block on the mat, in block order."""
    right_mm, low_mm = MAT_WIDTH_MM - BLOCK_MM, MAT_HEIGHT_MM - BLOCK_MM
    return ((0.0, 0.0), (right_mm, 0.0), (right_mm, low_mm), (0.0, low_mm))


def draw_mat(players: int) -> tuple[Shape, ...]:
    """Return the drawing of the whole mat, relative to its top left corner."""
    shapes: list[Shape] = []
    for zone in mat_zones(players):
        shapes += outline(zone.left_mm, zone.top_mm, zone.width_mm, zone.height_mm, dash_mm=3.0)
        # The start of the name, in the corner that is the top left one for its reader.
        near_mm, deep_mm = 4.0, 4.0 + _LABEL_MM
        right_mm, low_mm = zone.left_mm + zone.width_mm, zone.top_mm + zone.height_mm
        label_start = (
            (zone.left_mm + near_mm, zone.top_mm + deep_mm),
            (right_mm - deep_mm, zone.top_mm + near_mm),
            (right_mm - near_mm, low_mm - deep_mm),
            (zone.left_mm + deep_mm, low_mm - near_mm),
        )[zone.quarters]
        shapes.append(Text(label_start, zone.name, _LABEL_MM, zone.quarters, GREY))
    for block, (left_mm, top_mm) in zip(range(BLOCKS), block_places_mm(), strict=True):
        shapes += block_boxes(block, left_mm, top_mm)
    return tuple(shapes)


RULER_MM = 100.0
BOARD_TOP_MM = 14.0
_CUT_DASH_MM = 2.0
# Distance from the lower edge of the paper. Most printers cannot print on the last 5 mm.
_FOOT_MM = 7.0
_NAMES = ("top left", "top right", "bottom right", "bottom left")


def draw_prints(paper: Paper, players: int) -> tuple[Sheet, ...]:
    """Return all sheets: corner blocks to cut out, the lens board, and the mat in nine parts.

    Args:
        paper: Size of the paper.
        players: Number of seats on the mat, 2 to 4.
    """
    left_mm = (paper.long_mm - BOARD_COLUMNS * SQUARE_MM) / 2
    instructions = "Board for the lens: keep it flat, on cardboard. It can also be shown on a tablet."
    board: tuple[Shape, ...] = (Text((left_mm, 9.5), instructions, 3.6), *board_boxes(left_mm, BOARD_TOP_MM))
    board_sheet = Sheet(paper.long_mm, paper.short_mm, (*board, *_foot(paper.short_mm, left_mm)))
    return (_corner_sheet(paper), board_sheet, *_mat_sheets(paper, players))


def _corner_sheet(paper: Paper) -> Sheet:
    """Return the four corner blocks with cutting lines, in portrait format."""
    gap_mm = 8.0
    left_mm, top_mm = (paper.short_mm - 2 * BLOCK_MM - gap_mm) / 2, 22.0
    shapes: list[Shape] = []
    step_mm = BLOCK_MM + gap_mm
    for block, (right, down) in zip(range(BLOCKS), ((0, 0), (1, 0), (1, 1), (0, 1)), strict=True):
        x_mm, y_mm = left_mm + right * step_mm, top_mm + down * step_mm
        shapes += block_boxes(block, x_mm, y_mm)
        shapes += outline(x_mm, y_mm, BLOCK_MM, BLOCK_MM, dash_mm=_CUT_DASH_MM)
        shapes.append(Text((x_mm + 2, y_mm + BLOCK_MM - 1.2), _NAMES[block], 3.0))
    instructions = (
        "Corners of the table: cut along the dashed lines. Lay each flat in its corner, this way up,",
        "as seen from seat 1. Their exact place does not matter. The mat already includes them.",
    )
    shapes += [Text((left_mm, 11.0 + 5 * at), line, 3.6) for at, line in enumerate(instructions)]
    return Sheet(paper.short_mm, paper.long_mm, (*shapes, *_foot(paper.long_mm, left_mm)))


def _mat_sheets(paper: Paper, players: int) -> list[Sheet]:
    """Return the parts of the mat, row by row. The parts join edge to edge if they are cut along the marks."""
    whole = draw_mat(players)
    part_mm = (MAT_WIDTH_MM / SHEETS_ACROSS, MAT_HEIGHT_MM / SHEETS_DOWN)
    at_mm = ((paper.long_mm - part_mm[0]) / 2, (paper.short_mm - part_mm[1]) / 2 - 1.0)
    # Cutting marks: short lines outside the corners, aligned with the edges.
    marks = []
    for x_mm, out_x in ((at_mm[0], -1), (at_mm[0] + part_mm[0], 1)):
        for y_mm, out_y in ((at_mm[1], -1), (at_mm[1] + part_mm[1], 1)):
            marks.append(LineSegment((x_mm + out_x, y_mm), (x_mm + 5 * out_x, y_mm), 0.15))
            marks.append(LineSegment((x_mm, y_mm + out_y), (x_mm, y_mm + 4 * out_y), 0.15))
    sheets = []
    for row in range(SHEETS_DOWN):
        for column in range(SHEETS_ACROSS):
            window = Window(whole, (column * part_mm[0], row * part_mm[1]), at_mm, *part_mm)
            name = f"Mat, row {row + 1} of {SHEETS_DOWN}, column {column + 1} of {SHEETS_ACROSS}"
            foot = _foot(paper.short_mm, at_mm[0], name)
            sheets.append(Sheet(paper.long_mm, paper.short_mm, (window, *marks, *foot)))
    return sheets


def _foot(height_mm: float, left_mm: float, name: str = "") -> tuple[Shape, ...]:
    """Return the ruler for checking the print scale, and the text beside it."""
    y_mm = height_mm - _FOOT_MM
    left_mm += 6.0
    ticks = [
        LineSegment((left_mm + at, y_mm - (2.5 if at % 50 == 0 else 1.2)), (left_mm + at, y_mm), 0.2)
        for at in range(0, round(RULER_MM) + 1, 10)
    ]
    label = f"This line must be {RULER_MM:.0f} mm long: print at 100 %, not scaled to fit.  {name}".strip()
    ruler = LineSegment((left_mm, y_mm), (left_mm + RULER_MM, y_mm), 0.2)
    return (ruler, *ticks, Text((left_mm + RULER_MM + 4, y_mm), label, 2.8))
