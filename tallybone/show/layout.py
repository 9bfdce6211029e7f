"""Draw a layout in a terminal, as tiles in character cells if their positions are known, else as text; or as SVG.

In colour, the table has a felt background, to look the same in light and dark terminals. Without colour, brackets
replace colours: ``[5|3]`` is a tile, ``(5|3]`` a tile with its 5 open, and ``{5}`` a spinner.

As text, ``3< 3-3 3-5 {5-5} 5-0 0-2 >2`` is a line with the open ends 3 and 2 and a spinner in braces. Its branches
follow on separate lines. ``2-4x2`` is a tile with a copy stacked on it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby

from rich.style import Style
from rich.text import Text

from engine.state.layout import ARMS, STARTER_PORTS, TIPS, Layout, Node, NodeId, Port, Spot
from tallybone.session.places import Footprint, Laid, Point

# Minimum columns and rows, and maximum rows, per side of a half. Below the minima, touching tiles would overlap: a
# horizontal tile is 5 cells wide, a vertical tile 3 wide and 2 high. Above the maximum, legibility does not improve.
_MIN_COLUMNS = 2.7
_MIN_ROWS = 1.03
_MAX_ROWS = 3.2
# Range of the number of columns as long as a row is high. A cell is about twice as high as wide.
_MIN_ASPECT = 2.1
_MAX_ASPECT = 2.7
_FELT = "rgb(28,74,50)"
_IVORY = "rgb(236,229,210)"
_FRESH = "rgb(255,255,255)"
_OPEN = "rgb(255,205,70)"
_INK = "rgb(25,25,25)"
_SPINNER_INK = "rgb(190,20,20)"

_LINE = "line"
_STARTER = "starter"
_INDENT = 2
_SPINNER = re.compile(r"\{[^}]*\}")
_OPEN_END = re.compile(r"(?<= )>[0-9]+|\b[0-9]+<(?= )")
_STACKED = re.compile(r"[0-9]+-[0-9]+x2")
_TILE = re.compile(r"\{?([0-9]+)-([0-9]+)(x2)?\}?")
# Places of the pips of a half on a grid of three by three, by their number. A higher number is written.
_PIPS = ("", "4", "08", "048", "0268", "02468", "023568", "0234568", "01235678", "012345678")


@dataclass(frozen=True, slots=True)
class Canvas:
    """A drawing area in the terminal.

    Attributes:
        columns, rows: Size in cells.
        picture_px: Width and height of the picture that contains the tiles.
        in_color: True to draw in colour, False to draw brackets.
    """

    columns: int
    rows: int
    picture_px: tuple[int, int]
    in_color: bool = True


def draw_layout(layout: Layout, laid: Sequence[Laid], canvas: Canvas) -> Text:
    """Return the layout as lines of text that fill the canvas. Tiles outside it are cut off.

    Tiles without a position are not drawn.
    """
    places = {tile.node: tile.place for tile in laid}
    shown = [node for node in layout.nodes if node.id in places]
    page = _Page(canvas)
    if shown:
        window = _window(canvas, [places[node.id] for node in shown])
        fresh = shown[-1].id
        for node in shown:
            halves = _halves(node, layout.covered(node), is_fresh=node.id == fresh)
            place = places[node.id]
            first, second = halves
            ports = (Port.N, Port.S) if node.tile.is_double and not place.lies_along else (Port.W, Port.E)
            (x0, y0), (x1, y1) = (window.cell(place.half_center(port)) for port in ports)
            is_horizontal = abs(x1 - x0) / window.columns_per_side >= abs(y1 - y0) / window.rows_per_side
            if (x1 < x0) if is_horizontal else (y1 < y0):
                first, second = second, first
            middle = ((x0 + x1) / 2, (y0 + y1) / 2)
            draw = _draw_horizontal if is_horizontal else _draw_vertical
            draw(page, window, middle, (first, second))
    return page.text()


def draw_legend(*, in_color: bool) -> Text:
    """Return a line that explains how open ends and spinners are drawn."""
    text = Text(" ", no_wrap=True, overflow="ellipsis")
    if not in_color:
        return text.append("(5|3] the 5 is open   {5} spinner")
    open_end = _Half(5, is_open=True, is_fresh=False, is_spinner=False)
    spinner = _Half(5, is_open=False, is_fresh=False, is_spinner=True)
    for half, labels in ((open_end, " open end   "), (spinner, " spinner")):
        text.append("▐", half.edge_style()).append("5", half.style()).append("▌", half.edge_style()).append(labels)
    return text


@dataclass(frozen=True, slots=True)
class _Window:
    """Visible part of the picture, and its scale."""

    columns_per_side: float
    rows_per_side: float
    side_px: float
    corner: Point  # cells, of the upper left cell of the canvas

    def cell(self, point_px: Point) -> Point:
        """Return the column and row of a point of the picture, not rounded."""
        return (
            point_px[0] / self.side_px * self.columns_per_side - self.corner[0],
            point_px[1] / self.side_px * self.rows_per_side - self.corner[1],
        )


def _window(canvas: Canvas, places: Sequence[Footprint]) -> _Window:
    """Return a window on the whole table if that fits legibly, else on the layout, else on the newest tile."""
    side_px = sorted(place.side for place in places)[len(places) // 2]
    wide, high = canvas.picture_px[0] / side_px, canvas.picture_px[1] / side_px
    columns = canvas.columns / wide
    rows = max(_MIN_ROWS, min(canvas.rows / high, columns / _MIN_ASPECT, _MAX_ROWS))
    columns = max(_MIN_COLUMNS, min(columns, rows * _MAX_ASPECT))
    centers = [(p.center[0] / side_px * columns, p.center[1] / side_px * rows) for p in places]
    left = _corner(canvas.columns, wide * columns, [x for x, _ in centers], reach=columns)
    top = _corner(canvas.rows, high * rows, [y for _, y in centers], reach=rows)
    return _Window(columns, rows, side_px, (left, top))


def _corner(cells: int, table: float, centers: Sequence[float], *, reach: float) -> float:
    """Return the first visible cell along an axis, for *centers* with the newest last. All lengths are in cells."""
    low, high = min(centers) - reach, max(centers) + reach
    if table <= cells:
        return (table - cells) / 2
    if high - low <= cells:
        # Stay as close to the middle of the table as possible, to move the drawing only when necessary.
        return min(max((table - cells) / 2, high - cells), low)
    return min(max(centers[-1] - cells / 2, low), high - cells)


@dataclass(slots=True)
class _Page:
    """Grid of cells, each with a character and a style."""

    canvas: Canvas
    cells: list[list[tuple[str, Style]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        ground = Style.parse(f"on {_FELT}") if self.canvas.in_color else Style()
        self.cells = [[(" ", ground)] * self.canvas.columns for _ in range(self.canvas.rows)]

    def put(self, row: int, column: int, character: str, style: Style) -> None:
        if 0 <= row < self.canvas.rows and 0 <= column < self.canvas.columns:
            self.cells[row][column] = (character, style)

    def style_of(self, half: _Half) -> Style:
        return half.style() if self.canvas.in_color else Style()

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
    """Appearance of a half of a tile."""

    number: int
    is_open: bool
    is_fresh: bool
    is_spinner: bool

    def style(self) -> Style:
        ground = _OPEN if self.is_open else _FRESH if self.is_fresh else _IVORY
        return Style(color=_SPINNER_INK if self.is_spinner else _INK, bgcolor=ground, bold=True)

    def edge_style(self) -> Style:
        """Return the style of the half-block character at the border of the tile."""
        ground = _FRESH if self.is_fresh else _OPEN if self.is_open else _IVORY
        return Style(color=ground, bgcolor=_FELT)

    def brackets(self) -> str:
        return "{}" if self.is_spinner else "()" if self.is_open else "[]"


def _halves(node: Node, covered: tuple[Port, ...], *, is_fresh: bool) -> tuple[_Half, _Half]:
    """Return the halves of a tile: W and E, or for a double the same half twice."""
    if node.tile.is_double:
        is_open = len(covered) < 2 or (node.branches and len(covered) < 4)
        half = _Half(node.tile.high, is_open, is_fresh, node.branches)
        return (half, half)
    first, second = (
        _Half(node.number_at(port), port not in covered, is_fresh, is_spinner=False) for port in (Port.W, Port.E)
    )
    return (first, second)


def _draw_horizontal(page: _Page, window: _Window, middle: Point, halves: tuple[_Half, _Half]) -> None:
    width, height = _odd(2 * window.columns_per_side), max(1, math.floor(window.rows_per_side))
    left, top = _start(middle[0], width), _start(middle[1], height)
    number_row, bar = top + (height - 1) // 2, left + width // 2
    for row in range(top, top + height):
        for column in range(left, left + width):
            half = halves[0] if column <= bar else halves[1]
            page.put(row, column, " ", page.style_of(half))
        _draw_edges(page, row, (left, left + width - 1), halves)
        page.put(row, bar, "│" if page.canvas.in_color else "|", page.style_of(halves[0]))
    for half, column in ((halves[0], left + width // 4), (halves[1], left + width - 1 - width // 4)):
        _put_number(page, number_row, column, half)


def _draw_vertical(page: _Page, window: _Window, middle: Point, halves: tuple[_Half, _Half]) -> None:
    width, height = max(3, _odd(window.columns_per_side)), _tall(2 * window.rows_per_side)
    left, top = _start(middle[0], width), _start(middle[1], height)
    has_bar = height >= 3
    for row in range(top, top + height):
        half = halves[0] if row - top < (height + 1) // 2 else halves[1]
        for column in range(left, left + width):
            page.put(row, column, " ", page.style_of(half))
        _draw_edges(page, row, (left, left + width - 1), (half, half))
        if has_bar and row == top + height // 2:
            for column in range(left + 1, left + width - 1):
                page.put(row, column, "─" if page.canvas.in_color else "-", page.style_of(half))
    for half, row in ((halves[0], top + (height - 1) // 4), (halves[1], top + height - 1 - (height - 1) // 4)):
        _put_number(page, row, left + width // 2, half)
    if not has_bar:
        style = page.style_of(halves[0]) + Style(underline=True)
        page.put(top, left + width // 2, str(halves[0].number)[-1], style)


def _draw_edges(page: _Page, row: int, columns: tuple[int, int], halves: tuple[_Half, _Half]) -> None:
    """Draw the left and right border of a row of a tile."""
    for side, (column, half) in enumerate(zip(columns, halves, strict=True)):
        if page.canvas.in_color:
            page.put(row, column, "▐▌"[side], half.edge_style())
        else:
            page.put(row, column, half.brackets()[side], Style())


def _put_number(page: _Page, row: int, column: int, half: _Half) -> None:
    """Write a number with its last digit at *column*. A second digit goes to the left."""
    for back, digit in enumerate(reversed(str(half.number))):
        page.put(row, column - back, digit, page.style_of(half))


def _start(middle: float, extent: int) -> int:
    """Return the first cell of an object *extent* cells long around *middle*."""
    return math.floor(middle - extent / 2 + 0.5)


def _odd(extent: float) -> int:
    """Return the largest odd number of whole cells that fits into *extent*."""
    cells = math.floor(extent)
    return cells if cells % 2 else cells - 1


def _tall(extent: float) -> int:
    """Return the height of a vertical tile: 2, or an odd number with a row for its bar."""
    return 2 if extent < 3 else _odd(extent)


def draw_text(layout: Layout, width: int) -> Text:
    """Return `layout_lines` with coloured open ends, spinners and stacked tiles."""
    text = Text("\n".join(layout_lines(layout, width)))
    text.highlight_regex(_OPEN_END, Style(color="yellow", bold=True))
    text.highlight_regex(_SPINNER, Style(color="red", bold=True))
    text.highlight_regex(_STACKED, Style(color="magenta"))
    return text


def layout_text(layout: Layout, width: int = 80) -> str:
    """Return `layout_lines` as one text."""
    return "\n".join(layout_lines(layout, width))


def layout_svg(layout: Layout) -> str:
    """Return a layout as an SVG image, with the rows of `layout_lines`. Doubles stand upright, spinners are red."""
    rows = _rows(layout)
    left = max((0.4 * len(row.label) + 0.5 * row.depth for row in rows), default=0.0) + 0.5
    drawn, width = [f"<title>{escape(layout_text(layout))}</title>"], left
    for at, row in enumerate(rows):
        x, y = left, 1.2 + 2.4 * at
        drawn.append(_svg_text(0.5 * row.depth, y, row.label, "start"))
        for word in row.labels:
            tile = _TILE.fullmatch(word)
            if tile is None:  # an open end
                x += 0.9
                drawn.append(_svg_text(x - 0.45, y, escape(word)))
                continue
            across = 1 if tile[1] == tile[2] else 2
            drawn += _svg_tile(x, y, across, tile)
            x += across + 0.06
        width = max(width, x)
    height = 2.4 * len(rows)
    size = f'viewBox="-0.2 0 {width + 0.4:.2f} {height:.2f}" width="{40 * width:.0f}" height="{40 * height:.0f}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">{"".join(drawn)}</svg>'


def _svg_tile(x: float, y: float, across: int, tile: re.Match[str]) -> Iterator[str]:
    """Yield a tile *across* units wide, with its left edge at *x* and its centre at the height *y*."""
    down, ink = 3 - across if across == 1 else 1, "#be1414" if tile[0][0] == "{" else "#191919"
    box = f'x="{x:.2f}" y="{y - down / 2:.2f}" width="{across}" height="{down}" rx="0.12"'
    bar = f"M{x + 0.15:.2f} {y:.2f}h0.7" if across == 1 else f"M{x + 1:.2f} {y - 0.35:.2f}v0.7"
    yield f'<g stroke="#191919" stroke-width="0.04"><rect {box} fill="#ece5d2"/><path d="{bar}"/></g>'
    for half, pips in enumerate((int(tile[1]), int(tile[2]))):
        cx, cy = (x + 0.5, y - 0.5 + half) if across == 1 else (x + 0.5 + half, y)
        if pips >= len(_PIPS):
            yield _svg_text(cx, cy, str(pips), fill=ink)
        for place in _PIPS[pips] if pips < len(_PIPS) else "":
            column, row = int(place) % 3 - 1, int(place) // 3 - 1
            yield f'<circle cx="{cx + 0.25 * column:.2f}" cy="{cy + 0.25 * row:.2f}" r="0.1" fill="{ink}"/>'
    if tile[3]:
        yield _svg_text(x + across, y - down / 2, tile[3])


def _svg_text(x: float, y: float, text: str, anchor: str = "middle", fill: str = "#191919") -> str:
    place = f'x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}" dominant-baseline="central"'
    return f'<text {place} font-size="0.6" fill="{fill}">{text}</text>'


def layout_lines(layout: Layout, width: int = 80) -> tuple[str, ...]:
    """Return a layout as lines of at most *width* characters, if single tiles fit. Empty without tiles.

    The line from W to E comes first, then each branch, labelled with its tile and side. A starter with six arms has a
    line for each arm. A tip that is not yet playable is in parentheses.
    """
    rows = _rows(layout)
    margin = max((len(row.label) + row.depth * _INDENT for row in rows), default=0) + 2
    return tuple(line for row in rows for line in row.lines(margin, width))


def _rows(layout: Layout) -> list[_BranchLine]:
    graph = _Graph(layout)
    if not layout.nodes:
        return []
    return list(graph.starter_rows() if layout.nodes[0].is_starter else graph.rows())


@dataclass(frozen=True, slots=True)
class _BranchLine:
    """A labelled line of tiles. *depth* is the number of branchings between it and the main line."""

    label: str
    labels: tuple[str, ...]
    depth: int = 0

    def lines(self, margin: int, width: int) -> Iterator[str]:
        """Yield the row after a margin, wrapped between tiles at *width*."""
        line = (" " * (self.depth * _INDENT) + self.label).ljust(margin - 1)
        for at, word in enumerate(self.labels):
            if at and len(line) + 1 + len(word) > width:
                yield line
                line = " " * (margin + 1) + word  # continuation lines are indented by another column
            else:
                line += " " + word
        yield line


class _Graph:
    """Tiles of a layout by the port that they join."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._neighbours: dict[tuple[NodeId, Port], Node] = {}
        for node in layout.nodes:
            if node.joins is not None:
                self._neighbours[node.joins.host, node.joins.port] = node

    def rows(self) -> Iterator[_BranchLine]:
        """Yield the line through the first tile with its branches depth first, then those through loose tiles."""
        first, *others = self._layout.nodes
        yield from self._line(_LINE, first)
        for node in others:
            if node.joins is None:  # only without a game, where tiles need not be joined
                yield from self._line("apart", node)

    def _line(self, label: str, first: Node) -> Iterator[_BranchLine]:
        """Yield the line through a tile that joins no other, then its branches depth first."""
        west, east = self._chain(first, Port.W), self._chain(first, Port.E)
        labels = (
            *reversed([self._word(node, is_turned=True) for node in west]),
            self._word(first),
            *(self._word(node) for node in east),
        )
        left, right = self._end((west or [first])[-1], Port.E if west else Port.W), self._end((east or [first])[-1])
        if left is not None:
            labels = (f"{left}<", *labels)
        yield _BranchLine(label, (*labels, *_arrow(right)))
        yield from self._branches([*reversed(west), first, *east], 1)

    def starter_rows(self) -> Iterator[_BranchLine]:
        """Yield the starter, then each numbered arm with its branches."""
        starter = self._layout.nodes[0]
        yield _BranchLine(_STARTER, (self._word(starter),))
        for port in STARTER_PORTS:
            chain = self._chain(starter, port)
            if chain or port in ARMS:
                open_end = self._end(chain[-1]) if chain else self._end(starter, port)
                yield _BranchLine(port.value, (*(self._word(node) for node in chain), *_arrow(open_end)), 1)
                yield from self._branches(chain, 2)

    def _branches(self, chain: Sequence[Node], depth: int) -> Iterator[_BranchLine]:
        """Yield the branches and open tips of the doubles of a line, tile by tile."""
        for node in chain:
            shown: dict[str, list[str]] = {}
            for port in TIPS if node.tile.is_double else ():
                arm = self._chain(node, port)
                if arm:
                    labels = (*(self._word(each) for each in arm), *_arrow(self._end(arm[-1])))
                    yield _BranchLine(f"{node.tile} {port}", labels, depth)
                    yield from self._branches(arm, depth + 1)
                    continue
                end = self._layout.end_at(Spot(node.id, port))
                if end is not None:
                    shown.setdefault(f">{end.number}" if end.playable else f"({end.number})", []).append(port.value)
            for word, ports in shown.items():
                yield _BranchLine(f"{node.tile} {' '.join(ports)}", (word,), depth)

    def _chain(self, node: Node, port: Port) -> list[Node]:
        """Return the chain of tiles outwards from *port* of *node*."""
        chain: list[Node] = []
        following = self._neighbours.get((node.id, port))
        while following is not None:
            chain.append(following)
            following = self._neighbours.get((following.id, Port.E))
        return chain

    def _end(self, node: Node, port: Port = Port.E) -> int | None:
        """Return the open number at a port, or None if it is closed."""
        end = self._layout.end_at(Spot(node.id, port))
        return None if end is None else end.number

    def _word(self, node: Node, *, is_turned: bool = False) -> str:
        """Return the text of a tile, inner number first, or outer number first if *is_turned*."""
        numbers = (node.outer, node.inner) if is_turned else (node.inner, node.outer)
        word = "{}-{}".format(*numbers) + ("x2" if node.id in self._layout.stacked else "")
        return f"{{{word}}}" if node.branches else word


def _arrow(number: int | None) -> tuple[str, ...]:
    """Return the marker of an open end with this number. Empty if *number* is None."""
    return () if number is None else (f">{number}",)
