"""Draws a layout as a few lines of text, from its graph alone: no picture says where its tiles lie.

``3< 3-3 3-5 {5-5} 5-0 0-2 >2`` is a line with the ends 3 and 2 open and the spinner in braces; what branches from it
follows on lines of its own, and ``2-4x2`` has its copy on top.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.style import Style
from rich.text import Text

from engine.layout import ARMS, STARTER_PORTS, TIPS, Layout, Node, NodeId, Port, Spot

_LINE, _STARTER = "line", "starter"
_INDENT = 2
_SPINNER = re.compile(r"\{[^}]*\}")
_OPEN = re.compile(r"(?<= )>[0-9]+|\b[0-9]+<(?= )")
_STACKED = re.compile(r"[0-9]+-[0-9]+x2")


def draw_text(layout: Layout, width: int) -> Text:
    """Return `layout_lines` with a little colour: open ends, spinners, stacked tiles."""
    text = Text("\n".join(layout_lines(layout, width)))
    text.highlight_regex(_OPEN, Style(color="yellow", bold=True))
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
class _Row:
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

    def rows(self) -> Iterator[_Row]:
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
        yield _Row(_LINE, (*words, *_arrow(right)))
        yield from self._branches([*reversed(west), first, *east], 1)
        for node in loose:  # no game is played: tiles lie where they lie
            chain = [node, *self._chain(node, Port.E)]
            yield _Row("apart", tuple(self._word(one) for one in chain))

    def starter_rows(self) -> Iterator[_Row]:
        """Yield the starter and its arms, each with its number."""
        starter = self._layout.nodes[0]
        yield _Row(_STARTER, (self._word(starter),))
        for port in STARTER_PORTS:
            chain = self._chain(starter, port)
            if chain or port in ARMS:
                open_end = self._end(chain[-1]) if chain else self._end(starter, port)
                yield _Row(port.value, (*(self._word(node) for node in chain), *_arrow(open_end)), 1)
                yield from self._branches(chain, 2)

    def _branches(self, chain: Sequence[Node], depth: int) -> Iterator[_Row]:
        """Yield what lies on the tips of the tiles of a line, and which tips are open, tile by tile."""
        for node in chain:
            shown: dict[str, list[str]] = {}
            for port in TIPS if node.tile.is_double else ():
                arm = self._chain(node, port)
                if arm:
                    words = (*(self._word(one) for one in arm), *_arrow(self._end(arm[-1])))
                    yield _Row(f"{node.tile} {port}", words, depth)
                    yield from self._branches(arm, depth + 1)
                    continue
                end = self._layout.end_at(Spot(node.id, port))
                if end is not None:
                    shown.setdefault(f">{end.number}" if end.playable else f"({end.number})", []).append(port.value)
            for word, ports in shown.items():
                yield _Row(f"{node.tile} {' '.join(ports)}", (word,), depth)

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
