"""Where a tile that is seen may be joined to the layout: every port it touches, with each half, and how badly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine import Layout, Node, Port, Spot
from tallybone.session.referee.contact import Turn, leading, misfit, misfit_at_starter, turns
from tallybone.session.referee.touching import Edge, Footprint, Laid, bends_of, edges_at
from vision.reading import Tile as SeenTile


@dataclass(frozen=True, slots=True)
class Joint:
    """A place at which a tile may be joined, and how.

    Attributes:
        spot: The port; None for the first tile.
        number: What that port shows; None for the first tile.
        inner_half: Which half of the tile touches it.
        place: Where the tile lies then.
        misfit: What speaks against it, see `contact.misfit`.
    """

    spot: Spot | None
    number: int | None
    inner_half: int
    place: Footprint
    misfit: float


def joints(layout: Layout, laid: Iterable[Laid], tile: SeenTile, *, is_double: bool) -> tuple[Joint, ...]:
    """Return the best way of meeting each port with each half."""
    if not layout.nodes:
        turn = leading(tile, is_double=is_double)
        return (Joint(None, None, turn.inner_half, turn.place, 0.0),)
    ways = tuple(turns(tile, is_double=is_double))
    found: list[Joint] = []
    for one in laid:
        node = layout.find(one.node)
        if node is not None:
            found += joints_at(node, one.place, layout.covered(node), ways, is_double=is_double)
    return tuple(found)


def joints_at(
    node: Node, place: Footprint, covered: Sequence[Port], ways: Iterable[Turn], *, is_double: bool
) -> tuple[Joint, ...]:
    """Return the best way of meeting each uncovered port of one tile, those included that the rules keep closed."""
    best: dict[tuple[Port, int], Joint] = {}
    for port, turn, cost in _contacts(node, place, covered, tuple(ways), is_double=is_double):
        inner_half = 0 if is_double else turn.inner_half
        old = best.get((port, inner_half))
        if cost is not None and (old is None or cost < old.misfit):
            joint = Joint(Spot(node.id, port), node.number_at(port), inner_half, turn.place, cost)
            best[(port, inner_half)] = joint
    return tuple(best.values())


def _contacts(
    node: Node, place: Footprint, covered: Sequence[Port], ways: Sequence[Turn], *, is_double: bool
) -> Iterator[tuple[Port, Turn, float | None]]:
    """Yield every port with every way of meeting it, and what that costs."""
    if node.is_starter:
        # Any tile that touches the starter is a new arm; arms are numbered in the order in which they are started.
        free = [port for port in node.ports if port not in covered]
        yield from ((free[0], turn, misfit_at_starter(place, turn, is_double=is_double)) for turn in ways if free)
        return
    for port, edge in _edges(covered, node, place):
        yield from ((port, turn, misfit(place, edge, turn, is_double=is_double)) for turn in ways)


def _edges(covered: Sequence[Port], node: Node, place: Footprint) -> Iterator[tuple[Port, Edge]]:
    """Yield where a tile can touch the uncovered ports of a node."""
    is_double = node.tile.is_double
    if is_double and not node.branches and len(covered) < 2:
        # A free port is wherever players go on: straight, or round the corner at a tip.
        for port in (Port.W, Port.E):
            if port not in covered:
                tips = bends_of(port, covered)
                yield from ((port, edge) for edge in edges_at(place, port, is_double=True, bends=tips))
        return
    for port in node.ports:
        if port not in covered:
            yield from ((port, edge) for edge in edges_at(place, port, is_double=is_double))
