"""The sheets printed by `tallybone calibrate print`."""

from __future__ import annotations

from calibration.sheets.boards import BLOCK_MM, BLOCKS, BOARD_COLUMNS, SQUARE_MM, block_boxes, board_boxes
from calibration.sheets.mat import MAT_HEIGHT_MM, MAT_WIDTH_MM, SHEETS_ACROSS, SHEETS_DOWN, draw_mat
from calibration.sheets.sheet import LineSegment, Paper, Shape, Sheet, Text, Window, outline

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
    return (_corner_sheet(paper), _board_sheet(paper), *_mat_sheets(paper, players))


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


def _board_sheet(paper: Paper) -> Sheet:
    width_mm = BOARD_COLUMNS * SQUARE_MM
    left_mm, top_mm = (paper.long_mm - width_mm) / 2, BOARD_TOP_MM
    instructions = Text(
        (left_mm, 9.5), "Board for the lens: keep it flat, on cardboard. It can also be shown on a tablet.", 3.6
    )
    shapes: tuple[Shape, ...] = (instructions, *board_boxes(left_mm, top_mm))
    return Sheet(paper.long_mm, paper.short_mm, (*shapes, *_foot(paper.short_mm, left_mm)))


def _mat_sheets(paper: Paper, players: int) -> list[Sheet]:
    """Return the parts of the mat, row by row. The parts join edge to edge if they are cut along the marks."""
    whole = draw_mat(players)
    part_mm = (MAT_WIDTH_MM / SHEETS_ACROSS, MAT_HEIGHT_MM / SHEETS_DOWN)
    at_mm = ((paper.long_mm - part_mm[0]) / 2, (paper.short_mm - part_mm[1]) / 2 - 1.0)
    sheets = []
    for row in range(SHEETS_DOWN):
        for column in range(SHEETS_ACROSS):
            window = Window(whole, (column * part_mm[0], row * part_mm[1]), at_mm, *part_mm)
            name = f"Mat, row {row + 1} of {SHEETS_DOWN}, column {column + 1} of {SHEETS_ACROSS}"
            foot = _foot(paper.short_mm, at_mm[0], name)
            sheets.append(Sheet(paper.long_mm, paper.short_mm, (window, *_cut_marks(at_mm, part_mm), *foot)))
    return sheets


def _cut_marks(at_mm: tuple[float, float], part_mm: tuple[float, float]) -> tuple[LineSegment, ...]:
    """Return short lines outside the corners, aligned with the edges."""
    marks = []
    for x_mm, out_x in ((at_mm[0], -1), (at_mm[0] + part_mm[0], 1)):
        for y_mm, out_y in ((at_mm[1], -1), (at_mm[1] + part_mm[1], 1)):
            marks.append(LineSegment((x_mm + out_x, y_mm), (x_mm + 5 * out_x, y_mm), 0.15))
            marks.append(LineSegment((x_mm, y_mm + out_y), (x_mm, y_mm + 4 * out_y), 0.15))
    return tuple(marks)


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
