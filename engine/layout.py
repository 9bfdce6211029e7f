"""The layout graph: which tile lies against which, and where the next one may go.

Every tile has a line port W and a line port E; a double has the tips N and S as well. The first tile shows its
first number at W. Every later tile lies with W against its host, so its far side is E: an address stays right when
an earlier play is corrected. RULES.md 2.1.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NewType

from engine.errors import EngineError
from engine.rules import BranchOrder, Rules, Spinner
from engine.tiles import Tile

NodeId = NewType("NodeId", int)


class Port(StrEnum):
    """A side that another tile can lie against: W and E on the line, N and S the tips of a double."""

    W = "W"
    N = "N"
    E = "E"
    S = "S"


LINE = (Port.W, Port.E)
TIPS = (Port.N, Port.S)
ALL_PORTS = (Port.W, Port.N, Port.E, Port.S)


@dataclass(frozen=True, slots=True)
class Spot:
    """One port of one tile on the table."""

    host: NodeId
    port: Port


@dataclass(frozen=True, slots=True)
class Node:
    """A tile on the table.

    Attributes:
        id: Its name for as long as the match is recorded: the place in the log of the play that laid it.
        tile: What it shows.
        inner: Number at W, which lies against the host; of the first tile the number on its west side.
        outer: Number at E.
        joins: Where it was attached; None for the first tile.
        arm: Which of the four arms it lies on, as seen from the first tile and the spinner; None for the first tile.
        branches: Whether it is a spinner.
        covered: Ports that have a neighbour, in the order in which they got it.
    """

    id: NodeId
    tile: Tile
    inner: int
    outer: int
    joins: Spot | None
    arm: Port | None
    branches: bool
    covered: tuple[Port, ...] = ()

    @property
    def ports(self) -> tuple[Port, ...]:
        """The ports that the tile has, played on or not, legal or not."""
        return ALL_PORTS if self.tile.is_double else LINE

    def number_at(self, port: Port) -> int:
        """Return the number that *port* shows."""
        return self.inner if port is Port.W else self.outer

    def arm_at(self, port: Port) -> Port:
        """Return the arm on which a tile at *port* lies."""
        return port if self.arm is None or (self.branches and port in TIPS) else self.arm

    @property
    def is_capped(self) -> bool:
        """Whether both sides of the line are covered."""
        return Port.W in self.covered and Port.E in self.covered

    @property
    def is_closed(self) -> bool:
        """Whether nothing more goes on it: a line runs through, for a double even if it turns at a tip."""
        return len(self.covered) >= 2 and not self.branches


@dataclass(frozen=True, slots=True)
class OpenEnd:
    """A place where a tile can go now, or could once the spinner is capped.

    Attributes:
        spot: Which port of which tile.
        number: What a tile needs to be played there.
        arm: Which arm it continues.
        playable: False for a tip that is closed until both sides are covered.
    """

    spot: Spot
    number: int
    arm: Port
    playable: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """All tiles of the hand in the order in which they were played."""

    nodes: tuple[Node, ...] = ()

    def find(self, node: NodeId) -> Node | None:
        """Return the tile with that name, or None when it is not on the table."""
        for candidate in self.nodes:
            if candidate.id == node:
                return candidate
        return None

    @property
    def spinner(self) -> Node | None:
        """The first double that branches, or None."""
        for node in self.nodes:
            if node.branches:
                return node
        return None

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """What lies on the table, in the order of play."""
        return tuple(node.tile for node in self.nodes)


def attach(
    layout: Layout, tile: Tile, at: Spot | None, *, node: NodeId, rules: Rules, inner: int | None = None
) -> Layout:
    """Return the layout with *tile* laid on it, legal or not.

    Args:
        layout: What lies on the table.
        tile: The tile that is played.
        at: Port it is laid against; None for the first tile.
        node: Name of the new tile.
        rules: Says which doubles branch.
        inner: Number that touches the host, of the first tile the one at W; None for the one that fits, of the first
            tile the smaller.

    Raises:
        EngineError: If hands could not lay it there: no such port, taken, or nothing says which way round it lies.
    """
    fault = obstacle(layout, tile, at, inner=inner)
    if fault is not None:
        raise EngineError(f"{tile}: {fault}")
    host = None if at is None else layout.find(at.host)
    if inner is None:
        inner = tile.low if host is None or at is None or tile.is_double else host.number_at(at.port)
    new = Node(
        id=node,
        tile=tile,
        inner=inner,
        outer=tile.other(inner),
        joins=at,
        arm=None if host is None or at is None else host.arm_at(at.port),
        branches=_branches(layout, tile, rules.spinner),
        covered=() if at is None else (Port.W,),
    )
    if host is None or at is None:
        return Layout((new,))
    taken = replace(host, covered=(*host.covered, at.port))
    return Layout((*(taken if old is host else old for old in layout.nodes), new))


def obstacle(layout: Layout, tile: Tile, at: Spot | None, *, inner: int | None = None) -> str | None:
    """Return why *tile* cannot physically lie there, or None; whether it is legal is not asked."""
    if at is None:
        return "it must touch the layout" if layout.nodes else None
    host = layout.find(at.host)
    if host is None:
        return "the tile it should touch is not on the table"
    if at.port not in host.ports:
        return f"{host.tile} is no double and has no tips"
    if at.port in host.covered:
        return f"another tile already lies there against {host.tile}"
    if inner is None and not tile.has(host.number_at(at.port)) and not tile.is_double:
        return f"it has no {host.number_at(at.port)}, and nobody saw which half lies outside"
    return None


def _branches(layout: Layout, tile: Tile, spinner: Spinner) -> bool:
    """Return whether *tile*, played now, becomes a spinner."""
    if not tile.is_double or spinner is Spinner.NONE:
        return False
    return spinner is Spinner.ALL or layout.spinner is None


def open_ends(layout: Layout, branch_order: BranchOrder) -> tuple[OpenEnd, ...]:
    """Return where tiles can go, closed tips of a spinner included, in the order in which the hosts were played."""
    return tuple(end for node in layout.nodes if not node.is_closed for end in _ends_of(node, branch_order))


def playable_numbers(layout: Layout, branch_order: BranchOrder) -> frozenset[int]:
    """Return the numbers of which a tile needs one to be played now."""
    return frozenset(end.number for end in open_ends(layout, branch_order) if end.playable)


def _ends_of(node: Node, branch_order: BranchOrder) -> tuple[OpenEnd, ...]:
    """Return the open ends of *node*, which is not closed."""
    tips_open = branch_order is BranchOrder.ANY or node.is_capped
    return tuple(
        OpenEnd(Spot(node.id, port), node.number_at(port), node.arm_at(port), playable=tips_open or port not in TIPS)
        for port in (ALL_PORTS if node.branches else LINE)
        if port not in node.covered
    )
