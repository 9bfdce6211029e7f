"""Draws a layout in character cells: each tile where it lies, its numbers legible, whatever the size of the terminal.

In colour the table is a patch of felt that brings its own background, so that it looks the same in light and dark
terminals. Without colour brackets say what colours say: ``[5|3]`` a tile, ``(5|3]`` with its 5 open, ``{5}`` a spinner.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from rich.style import Style
from rich.text import Text

from engine import Layout, Node, Port
from tallybone.session.touching import Footprint, Laid, Point

# Cells per side of a half: below the first two, tiles that touch would run into each other (a lying one is 5 cells
# wide, a standing one 3 wide and 2 high); above the last, nothing is gained.
_LEAST_COLUMNS, _LEAST_ROWS, _MOST_ROWS = 2.7, 1.03, 3.2
# A cell is about twice as high as wide.
_ASPECT_LEAST, _ASPECT_MOST = 2.1, 2.7

_FELT = "rgb(28,74,50)"
_IVORY, _FRESH, _OPEN = "rgb(236,229,210)", "rgb(255,255,255)", "rgb(255,205,70)"
_INK, _SPINNER_INK = "rgb(25,25,25)", "rgb(190,20,20)"


@dataclass(frozen=True, slots=True)
class Canvas:
    """What there is to draw on.

    Attributes:
        columns, rows: Its size in cells.
        picture_px: Width and height of the picture in which the tiles lie.
        in_color: Whether colours can be told apart; if not, brackets are drawn.
    """

    columns: int
    rows: int
    picture_px: tuple[int, int]
    in_color: bool = True


def draw_layout(layout: Layout, laid: Sequence[Laid], canvas: Canvas) -> Text:
    """Return the layout as lines of text that fill the canvas.

    Args:
        layout: What lies on the table.
        laid: Where its tiles lie in the picture.
        canvas: Where to draw.
    """
    places = {one.node: one.place for one in laid}
    shown = [node for node in layout.nodes if node.id in places]
    page = _Page(canvas.rows, canvas.columns, Style.parse(f"on {_FELT}") if canvas.in_color else Style())
    if shown:
        window = _window(canvas, [places[node.id] for node in shown])
        fresh = shown[-1].id
        for node in shown:
            halves = _halves(node, layout.covered(node), is_fresh=node.id == fresh)
            _draw_tile(page, window, node, places[node.id], halves, in_color=canvas.in_color)
    return page.text()


@dataclass(frozen=True, slots=True)
class _Window:
    """Which part of the picture is drawn, and how large."""

    columns_per_side: float
    rows_per_side: float
    side_px: float
    corner: Point  # cells, of the upper left cell of the canvas

    def cell(self, point_px: Point) -> Point:
        """Return where a point of the picture is drawn, column and row, not rounded."""
        return (
            point_px[0] / self.side_px * self.columns_per_side - self.corner[0],
            point_px[1] / self.side_px * self.rows_per_side - self.corner[1],
        )


def _window(canvas: Canvas, places: Sequence[Footprint]) -> _Window:
    """Return a window with the whole table where that is legible, else with the layout, else with its newest tile."""
    side_px = sorted(place.side for place in places)[len(places) // 2]
    wide, high = canvas.picture_px[0] / side_px, canvas.picture_px[1] / side_px
    columns = canvas.columns / wide
    rows = max(_LEAST_ROWS, min(canvas.rows / high, columns / _ASPECT_LEAST, _MOST_ROWS))
    columns = max(_LEAST_COLUMNS, min(columns, rows * _ASPECT_MOST))
    centers = [(p.center[0] / side_px * columns, p.center[1] / side_px * rows) for p in places]
    left = _corner(canvas.columns, wide * columns, [x for x, _ in centers], reach=columns)
    top = _corner(canvas.rows, high * rows, [y for _, y in centers], reach=rows)
    return _Window(columns, rows, side_px, (left, top))


def _corner(cells: int, table: float, centers: Sequence[float], *, reach: float) -> float:
    """Return the first cell of the table that is shown, along one axis, given where the middles of tiles are."""
    low, high = min(centers) - reach, max(centers) + reach
    if table <= cells:
        return (table - cells) / 2
    if high - low <= cells:
        # As little as possible away from the middle of the table: the drawing moves only when it must.
        return min(max((table - cells) / 2, high - cells), low)
    return min(max(centers[-1] - cells / 2, low), high - cells)


@dataclass(slots=True)
class _Page:
    """Cells with a character and a style each."""

    rows: int
    columns: int
    ground: Style
    cells: list[list[tuple[str, Style]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cells = [[(" ", self.ground)] * self.columns for _ in range(self.rows)]

    def put(self, row: int, column: int, character: str, style: Style) -> None:
        if 0 <= row < self.rows and 0 <= column < self.columns:
            self.cells[row][column] = (character, style)

    def text(self) -> Text:
        text = Text(no_wrap=True)
        for index, row in enumerate(self.cells):
            if index:
                text.append("\n")
            for style, run in groupby(row, key=lambda cell: cell[1]):
                text.append("".join(character for character, _ in run), style)
        return text


@dataclass(frozen=True, slots=True)
class _Half:
    """How a half of a tile is drawn."""

    number: int
    is_open: bool
    is_fresh: bool
    is_spinner: bool

    def style(self) -> Style:
        ground = _OPEN if self.is_open else _FRESH if self.is_fresh else _IVORY
        return Style(color=_SPINNER_INK if self.is_spinner else _INK, bgcolor=ground, bold=True)

    def edge_style(self) -> Style:
        """The style of a half block at the border of the tile."""
        ground = _FRESH if self.is_fresh else _OPEN if self.is_open else _IVORY
        return Style(color=ground, bgcolor=_FELT)

    def brackets(self) -> str:
        return "{}" if self.is_spinner else "()" if self.is_open else "[]"


def _halves(node: Node, covered: tuple[Port, ...], *, is_fresh: bool) -> tuple[_Half, _Half]:
    """Return the halves of a tile in the order in which they lie: of a single inner and outer, of a double N and S."""
    if node.tile.is_double:
        is_open = len(covered) < 2 or (node.branches and len(covered) < 4)
        half = _Half(node.tile.high, is_open, is_fresh, node.branches)
        return (half, half)
    first, second = (
        _Half(node.number_at(port), port not in covered, is_fresh, is_spinner=False) for port in (Port.W, Port.E)
    )
    return (first, second)


def _draw_tile(
    page: _Page, window: _Window, node: Node, place: Footprint, halves: tuple[_Half, _Half], *, in_color: bool
) -> None:
    first, second = halves
    ports = (Port.N, Port.S) if node.tile.is_double and not place.lies_along else (Port.W, Port.E)
    (x0, y0), (x1, y1) = (window.cell(place.half_center(port)) for port in ports)
    lies = abs(x1 - x0) / window.columns_per_side >= abs(y1 - y0) / window.rows_per_side
    if (x1 < x0) if lies else (y1 < y0):
        first, second = second, first
    middle = ((x0 + x1) / 2, (y0 + y1) / 2)
    draw = _draw_lying if lies else _draw_standing
    draw(page, window, middle, (first, second), in_color=in_color)


def _draw_lying(page: _Page, window: _Window, middle: Point, halves: tuple[_Half, _Half], *, in_color: bool) -> None:
    width, height = _odd(2 * window.columns_per_side), max(1, math.floor(window.rows_per_side))
    left, top = _start(middle[0], width), _start(middle[1], height)
    number_row, bar = top + (height - 1) // 2, left + width // 2
    for row in range(top, top + height):
        for column in range(left, left + width):
            half = halves[0] if column <= bar else halves[1]
            page.put(row, column, " ", half.style() if in_color else Style())
        _draw_edges(page, row, (left, left + width - 1), halves, in_color=in_color)
        page.put(row, bar, "│" if in_color else "|", halves[0].style() if in_color else Style())
    for half, column in ((halves[0], left + width // 4), (halves[1], left + width - 1 - width // 4)):
        _put_number(page, number_row, column, half, in_color=in_color)


def _draw_standing(page: _Page, window: _Window, middle: Point, halves: tuple[_Half, _Half], *, in_color: bool) -> None:
    width, height = max(3, _odd(window.columns_per_side)), _tall(2 * window.rows_per_side)
    left, top = _start(middle[0], width), _start(middle[1], height)
    has_bar = height >= 3
    for row in range(top, top + height):
        half = halves[0] if row - top < (height + 1) // 2 else halves[1]
        for column in range(left, left + width):
            page.put(row, column, " ", half.style() if in_color else Style())
        _draw_edges(page, row, (left, left + width - 1), (half, half), in_color=in_color)
        if has_bar and row == top + height // 2:
            for column in range(left + 1, left + width - 1):
                page.put(row, column, "─" if in_color else "-", half.style() if in_color else Style())
    for half, row in ((halves[0], top + (height - 1) // 4), (halves[1], top + height - 1 - (height - 1) // 4)):
        _put_number(page, row, left + width // 2, half, in_color=in_color)
    if not has_bar:
        page.put(
            top,
            left + width // 2,
            str(halves[0].number)[-1],
            (halves[0].style() if in_color else Style()) + Style(underline=True),
        )


def _draw_edges(
    page: _Page, row: int, columns: tuple[int, int], halves: tuple[_Half, _Half], *, in_color: bool
) -> None:
    """Draw the left and the right border of one row of a tile."""
    for side, (column, half) in enumerate(zip(columns, halves, strict=True)):
        if in_color:
            page.put(row, column, "▐▌"[side], half.edge_style())
        else:
            page.put(row, column, half.brackets()[side], Style())


def _put_number(page: _Page, row: int, column: int, half: _Half, *, in_color: bool) -> None:
    """Write a number; the second digit of a number of the large sets goes to the left."""
    style = half.style() if in_color else Style()
    for back, digit in enumerate(reversed(str(half.number))):
        page.put(row, column - back, digit, style)


def _start(middle: float, extent: int) -> int:
    """Return the first cell of something *extent* cells long around *middle*; it grows with *middle* without jumps."""
    return math.floor(middle - extent / 2 + 0.5)


def _odd(extent: float) -> int:
    """Return the largest odd number of whole cells in an extent."""
    cells = math.floor(extent)
    return cells if cells % 2 else cells - 1


def _tall(extent: float) -> int:
    """Return the height of a standing tile: 2, or an odd number that leaves a row for its bar."""
    return 2 if extent < 3 else _odd(extent)
