"""Draw a layout in a terminal: as tiles in character cells where their places are known, else as text.

In colour the table is a patch of felt that brings its own background, so that it looks the same in light and dark
terminals. Without colour, brackets stand for colours: ``[5|3]`` a tile, ``(5|3]`` with its 5 open, ``{5}`` a spinner.

``3< 3-3 3-5 {5-5} 5-0 0-2 >2`` is a line with the ends 3 and 2 open and the spinner in braces; what branches from it
follows on lines of its own, and ``2-4x2`` has its copy on top.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from rich.style import Style
from rich.text import Text

from engine.state.layout import ARMS, STARTER_PORTS, TIPS, Layout, Node, NodeId, Port, Spot
from tallybone.session.touching import Footprint, Laid, Point

# Cells per side of a half: below the first two, tiles that touch would run into each other (a lying one is 5 cells
# wide, a standing one 3 wide and 2 high); above the last, nothing is gained.
_LEAST_COLUMNS, _LEAST_ROWS, _MOST_ROWS = 2.7, 1.03, 3.2
# A cell is about twice as high as wide.
_ASPECT_LEAST, _ASPECT_MOST = 2.1, 2.7
_FELT = "rgb(28,74,50)"
_IVORY, _FRESH, _OPEN = "rgb(236,229,210)", "rgb(255,255,255)", "rgb(255,205,70)"
_INK, _SPINNER_INK = "rgb(25,25,25)", "rgb(190,20,20)"

_LINE, _STARTER = "line", "starter"
_INDENT = 2
_SPINNER = re.compile(r"\{[^}]*\}")
_OPEN_END = re.compile(r"(?<= )>[0-9]+|\b[0-9]+<(?= )")
_STACKED = re.compile(r"[0-9]+-[0-9]+x2")


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
        layout: The layout on the table.
        laid: Where its tiles lie in the picture.
        canvas: Where to draw.
    """
    places = {one.node: one.place for one in laid}
    shown = [node for node in layout.nodes if node.id in places]
    page = _Page(canvas)
    if shown:
        window = _window(canvas, [places[node.id] for node in shown])
        fresh = shown[-1].id
        for node in shown:
            halves = _halves(node, layout.covered(node), is_fresh=node.id == fresh)
            _draw_tile(page, window, node, places[node.id], halves)
    return page.text()


def draw_legend(*, in_color: bool) -> Text:
    """Return a line that tells how an open end and a spinner are drawn."""
    text = Text(" ", no_wrap=True, overflow="ellipsis")
    if not in_color:
        return text.append("(5|3] the 5 is open   {5} spinner")
    open_end = _Half(5, is_open=True, is_fresh=False, is_spinner=False)
    spinner = _Half(5, is_open=False, is_fresh=False, is_spinner=True)
    for half, words in ((open_end, " open end   "), (spinner, " spinner")):
        text.append("▐", half.edge_style()).append("5", half.style()).append("▌", half.edge_style()).append(words)
    return text


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


def _draw_tile(page: _Page, window: _Window, node: Node, place: Footprint, halves: tuple[_Half, _Half]) -> None:
    first, second = halves
    ports = (Port.N, Port.S) if node.tile.is_double and not place.lies_along else (Port.W, Port.E)
    (x0, y0), (x1, y1) = (window.cell(place.half_center(port)) for port in ports)
    lies = abs(x1 - x0) / window.columns_per_side >= abs(y1 - y0) / window.rows_per_side
    if (x1 < x0) if lies else (y1 < y0):
        first, second = second, first
    middle = ((x0 + x1) / 2, (y0 + y1) / 2)
    draw = _draw_lying if lies else _draw_standing
    draw(page, window, middle, (first, second))


def _draw_lying(page: _Page, window: _Window, middle: Point, halves: tuple[_Half, _Half]) -> None:
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


def _draw_standing(page: _Page, window: _Window, middle: Point, halves: tuple[_Half, _Half]) -> None:
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
    """Draw the left and the right border of one row of a tile."""
    for side, (column, half) in enumerate(zip(columns, halves, strict=True)):
        if page.canvas.in_color:
            page.put(row, column, "▐▌"[side], half.edge_style())
        else:
            page.put(row, column, half.brackets()[side], Style())


def _put_number(page: _Page, row: int, column: int, half: _Half) -> None:
    """Write a number; the second digit of a number of the large sets goes to the left."""
    for back, digit in enumerate(reversed(str(half.number))):
        page.put(row, column - back, digit, page.style_of(half))


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


def draw_text(layout: Layout, width: int) -> Text:
    """Return `layout_lines` with a little colour: open ends, spinners, stacked tiles."""
    text = Text("\n".join(layout_lines(layout, width)))
    text.highlight_regex(_OPEN_END, Style(color="yellow", bold=True))
    text.highlight_regex(_SPINNER, Style(color="red", bold=True))
    text.highlight_regex(_STACKED, Style(color="magenta"))
    return text


def layout_lines(layout: Layout, width: int = 80) -> tuple[str, ...]:
    """Return a layout as lines of at most *width* characters; nothing when no tile lies.

    The line from W to E comes first, then each branch with the tile and the side that it starts from; of a starter with
    six arms each has its line. A tip that is not yet open is written in parentheses.
    """
    if not layout.nodes:
        return ()
    graph = _Graph(layout)
    rows = list(graph.starter_rows() if layout.nodes[0].is_starter else graph.rows())
    margin = max(len(row.label) + row.depth * _INDENT for row in rows) + 2
    return tuple(line for row in rows for line in row.lines(margin, width))


@dataclass(frozen=True, slots=True)
class _BranchLine:
    """A line of tiles with its name; *depth* is how many branches it is away from the first tile's."""

    label: str
    words: tuple[str, ...]
    depth: int = 0

    def lines(self, margin: int, width: int) -> Iterator[str]:
        """Yield the row, broken between tiles where it is too long; all rows begin after the same margin."""
        line = (" " * (self.depth * _INDENT) + self.label).ljust(margin - 1)
        for at, word in enumerate(self.words):
            if at and len(line) + 1 + len(word) > width:
                yield line
                line = " " * (margin + 1) + word  # one further in: it goes on
            else:
                line += " " + word
        yield line


class _Graph:
    """The tiles of a layout by what they lie against."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._neighbours: dict[tuple[NodeId, Port], Node] = {}
        for node in layout.nodes:
            if node.joins is not None:
                self._neighbours[node.joins.host, node.joins.port] = node

    def rows(self) -> Iterator[_BranchLine]:
        """Yield the line through the first tile, then all that branches from it, depth first."""
        first = self._layout.nodes[0]
        loose = [node for node in self._layout.nodes[1:] if node.joins is None]
        west, east = self._chain(first, Port.W), self._chain(first, Port.E)
        words = (
            *reversed([self._word(node, is_turned=True) for node in west]),
            self._word(first),
            *(self._word(node) for node in east),
        )
        left, right = self._end((west or [first])[-1], Port.E if west else Port.W), self._end((east or [first])[-1])
        if left is not None:
            words = (f"{left}<", *words)
        yield _BranchLine(_LINE, (*words, *_arrow(right)))
        yield from self._branches([*reversed(west), first, *east], 1)
        for node in loose:  # no game is played: tiles lie where they lie
            chain = [node, *self._chain(node, Port.E)]
            yield _BranchLine("apart", tuple(self._word(one) for one in chain))

    def starter_rows(self) -> Iterator[_BranchLine]:
        """Yield the starter and its arms, each with its number."""
        starter = self._layout.nodes[0]
        yield _BranchLine(_STARTER, (self._word(starter),))
        for port in STARTER_PORTS:
            chain = self._chain(starter, port)
            if chain or port in ARMS:
                open_end = self._end(chain[-1]) if chain else self._end(starter, port)
                yield _BranchLine(port.value, (*(self._word(node) for node in chain), *_arrow(open_end)), 1)
                yield from self._branches(chain, 2)

    def _branches(self, chain: Sequence[Node], depth: int) -> Iterator[_BranchLine]:
        """Yield what lies on the tips of the tiles of a line, and which tips are open, tile by tile."""
        for node in chain:
            shown: dict[str, list[str]] = {}
            for port in TIPS if node.tile.is_double else ():
                arm = self._chain(node, port)
                if arm:
                    words = (*(self._word(one) for one in arm), *_arrow(self._end(arm[-1])))
                    yield _BranchLine(f"{node.tile} {port}", words, depth)
                    yield from self._branches(arm, depth + 1)
                    continue
                end = self._layout.end_at(Spot(node.id, port))
                if end is not None:
                    shown.setdefault(f">{end.number}" if end.playable else f"({end.number})", []).append(port.value)
            for word, ports in shown.items():
                yield _BranchLine(f"{node.tile} {' '.join(ports)}", (word,), depth)

    def _chain(self, node: Node, port: Port) -> list[Node]:
        """Return the tiles that follow one another from *port* of *node* outwards."""
        chain: list[Node] = []
        found = self._neighbours.get((node.id, port))
        while found is not None:
            chain.append(found)
            found = self._neighbours.get((found.id, Port.E))
        return chain

    def _end(self, node: Node, port: Port = Port.E) -> int | None:
        """Return the number that is open at a port, None if it is closed."""
        end = self._layout.end_at(Spot(node.id, port))
        return None if end is None else end.number

    def _word(self, node: Node, *, is_turned: bool = False) -> str:
        """Return a tile as it lies, its number nearer to the first tile in front, or behind when it is turned."""
        numbers = (node.outer, node.inner) if is_turned else (node.inner, node.outer)
        word = "{}-{}".format(*numbers) + ("x2" if node.id in self._layout.stacked else "")
        return f"{{{word}}}" if node.branches else word


def _arrow(number: int | None) -> tuple[str, ...]:
    """Return how an open end is marked."""
    return () if number is None else (f">{number}",)
