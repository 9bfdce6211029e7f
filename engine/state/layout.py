"""Layout graph: the joins of the tiles, and the open ends.

Every tile has a line port W and a line port E; a double has the tips N and S as well, the starter of the six-arm game
has arms instead. The first tile shows its first number at W. Every later tile lies with W against its host, so its far
side is E: an address stays right when an earlier play is corrected. docs/rules.md 2.1.
"""

from dataclasses import replace
from enum import StrEnum
from typing import NewType

from engine.errors import EngineError
from engine.phrases import phrase
from engine.rules.rules import BranchOrder, Rules, Spinner
from engine.tiles import Tile, bits_with, double_bits, set_bits
from engine.value import value

NodeId = NewType("NodeId", int)


class Port(StrEnum):
    """A side that a tile can lie against: W and E on the line, the tips N and S of a double, 1 to 8 of a starter."""

    W = "W"
    N = "N"
    E = "E"
    S = "S"
    ARM_1 = "1"
    ARM_2 = "2"
    ARM_3 = "3"
    ARM_4 = "4"
    ARM_5 = "5"
    ARM_6 = "6"
    ARM_7 = "7"
    ARM_8 = "8"


LINE = (Port.W, Port.E)
TIPS = (Port.N, Port.S)
DOUBLE_PORTS = (Port.W, Port.N, Port.E, Port.S)
ARMS = (Port.ARM_1, Port.ARM_2, Port.ARM_3, Port.ARM_4, Port.ARM_5, Port.ARM_6)
# Eight tiles have room around a starter, so hands can start a seventh arm, which no rule allows.
_BEYOND_ARMS = (Port.ARM_7, Port.ARM_8)
STARTER_PORTS = (*ARMS, *_BEYOND_ARMS)


@value
class Spot:
    """One port of one tile on the table."""

    host: NodeId
    port: Port


@value
class Node:
    """A tile on the table.

    Attributes:
        id: Its name for as long as the match is recorded: the place in the log of the play that laid it.
        tile: What it shows.
        inner: Number at W, which lies against the host; of the first tile the number on its west side.
        outer: Number at E.
        joins: Where it was attached; None for the first tile.
        arm: Which of the arms it lies on, as seen from the first tile and the spinner; None for the first tile.
        ports: The ports that it has, played on or not, legal or not.
        branches: Whether it is a spinner.
    """

    id: NodeId
    tile: Tile
    inner: int
    outer: int
    joins: Spot | None
    arm: Port | None
    ports: tuple[Port, ...]
    branches: bool

    def number_at(self, port: Port) -> int:
        """Return the number that *port* shows."""
        return self.inner if port is Port.W else self.outer

    def arm_at(self, port: Port) -> Port:
        """Return the arm on which a tile at *port* lies."""
        return port if self.arm is None or (self.branches and port in TIPS) else self.arm

    @property
    def is_starter(self) -> bool:
        """True if six arms start here."""
        return self.branches and self.ports == STARTER_PORTS

    @property
    def branch_ports(self) -> tuple[Port, ...]:
        """The ports on which a tile may be laid by the rules, before any is."""
        if not self.branches:
            return LINE
        return ARMS if self.is_starter else DOUBLE_PORTS


@value
class OpenEnd:
    """A place where a tile can go now, or could once the spinner is capped.

    Attributes:
        spot: Which port of which tile.
        number: What a tile needs to be played there.
        arm: Which arm it continues.
        playable: False for a tip that is closed until both sides are covered.
        fits: The tiles that can be played there, as bits: those with the number, and doubles where a spell can be.
        ways: Ends that its double had before anything lay against it: 2, a spinner 4, a starter 6; 0 for a single.
    """

    spot: Spot
    number: int
    arm: Port
    playable: bool
    fits: int
    ways: int


@value
class Layout:
    """All tiles of the hand in the order in which they were played.

    Attributes:
        nodes: The tiles.
        ends: Where tiles can go, closed tips of a spinner included, arm by arm, clockwise from the west.
        once: Tiles of which at least one lies on the table, stacked ones included, as bits.
        twice: Tiles of which two or more do.
        stacked: The tiles that have their copy on top.
    """

    nodes: tuple[Node, ...] = ()
    ends: tuple[OpenEnd, ...] = ()
    once: int = 0
    twice: int = 0
    stacked: tuple[NodeId, ...] = ()

    def find(self, node: NodeId) -> Node | None:
        """Return the tile with that name, or None when it is not on the table."""
        for candidate in self.nodes:
            if candidate.id == node:
                return candidate
        return None

    def end_at(self, at: Spot) -> OpenEnd | None:
        """Return the open end at that port, or None; a place beyond the arms of a starter is one still free."""
        for end in self.ends:
            if end.spot.host == at.host and end.spot.port is at.port:
                return end
        if at.port in _BEYOND_ARMS:
            return next((end for end in self.ends if end.spot.host == at.host and end.ways == len(ARMS)), None)
        return None

    def covered(self, node: Node) -> tuple[Port, ...]:
        """Return the ports of *node* that have a neighbour, in the order in which they got it."""
        own = () if node.joins is None else (Port.W,)
        joins = (other.joins for other in self.nodes)
        return (*own, *(spot.port for spot in joins if spot is not None and spot.host == node.id))

    @property
    def spinner(self) -> Node | None:
        """The first double that branches, or None."""
        for node in self.nodes:
            if node.branches:
                return node
        return None

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """The tiles on the table, in the order of play; a stacked copy follows the tile it lies on."""
        return tuple(node.tile for node in self.nodes for _ in range(1 + self.stacked.count(node.id)))

    def used(self, tile: Tile) -> int:
        """Return the number of copies of *tile* on the table: 0, 1, or 2 for two and more."""
        return bool(self.once & tile.bit) + bool(self.twice & tile.bit)

    def gone(self, rules: Rules) -> int:
        """Return the tiles of which every copy lies on the table, as bits."""
        return self.once if rules.copies == 1 else self.twice


def attach(
    layout: Layout, tile: Tile, at: Spot | None, *, node: NodeId, rules: Rules, inner: int | None = None
) -> Layout:
    """Return the layout with *tile* laid on it, legal or not.

    Args:
        layout: What lies on the table.
        tile: The tile that is played.
        at: Port it is laid against; None for the first tile.
        node: Name of the new tile.
        rules: Says which doubles branch and when their tips open.
        inner: Number that touches the host, of the first tile the one at W; None for the one that fits, of the first
            tile the smaller.

    Raises:
        EngineError: If hands could not lay it there: no such port, taken, or nothing says which way round it lies.
    """
    fault = obstacle(layout, tile, at, rules=rules, inner=inner)
    if fault is not None:
        raise EngineError(f"{tile}: {fault}")
    return lay(layout, tile, at, node, rules, inner)


def lay(layout: Layout, tile: Tile, at: Spot | None, node: NodeId, rules: Rules, inner: int | None) -> Layout:
    """Return the layout like `attach`, for a tile that is known to have no obstacle."""
    bit, once, old = tile.bit, layout.once, layout.ends
    covered = None if at is None else layout.end_at(at)
    if covered is None:
        new, ends = _laid_elsewhere(layout, tile, at, node, rules, inner)
    else:
        if inner is None:
            inner = covered.number if tile.has(covered.number) else tile.low
        new = _node(layout, tile, covered.spot, node, rules, inner, covered.arm)
        place = 0
        while old[place] is not covered:
            place += 1
        ends = (*old[:place], *_ends_of(new, rules), *old[place + 1 :])
        if covered.ways == len(DOUBLE_PORTS):
            ends = _with_tips_open(ends, covered.spot.host)
        if new.branches:
            ends = tuple(sorted(ends, key=_arm_place))
    return Layout((*layout.nodes, new), ends, once | bit, layout.twice | (once & bit), layout.stacked)


def stack_on(layout: Layout, tile: Tile, node: NodeId) -> Layout:
    """Return the layout with *tile* laid on top of the tile *node*: ends and count stay as they are."""
    twice = layout.twice | (layout.once & tile.bit)
    return Layout(layout.nodes, layout.ends, layout.once | tile.bit, twice, (*layout.stacked, node))


def obstacle(layout: Layout, tile: Tile, at: Spot | None, *, rules: Rules, inner: int | None = None) -> str | None:
    """Return the reason why *tile* cannot physically lie there, or None; legality is not checked."""
    if at is None:
        return phrase("it must touch the layout") if layout.nodes and rules.refereed else None
    host = layout.find(at.host)
    if host is None:
        return phrase("the tile it should touch is not on the table")
    if at.port not in host.ports:
        if at.port in TIPS:
            return phrase("{tile} is no double and has no tips", tile=host.tile)
        return phrase("{tile} has no such side", tile=host.tile)
    if at.port in layout.covered(host):
        return phrase("another tile already lies there against {tile}", tile=host.tile)
    if inner is None and not tile.is_double and not tile.has(host.number_at(at.port)):
        lacking = host.number_at(at.port)
        return phrase("it has no {number}, and nobody saw which half lies outside", number=lacking)
    return None


def is_locked(layout: Layout, rules: Rules) -> bool:
    """Return True if it is proved that nobody can play: no tile outside *layout* fits an end. docs/rules.md 2.3 b."""
    fits = 0
    for end in layout.ends:
        if end.playable:
            fits |= end.fits
    return not fits & set_bits(rules.max_pips) & ~layout.gone(rules)


def _laid_elsewhere(
    layout: Layout, tile: Tile, at: Spot | None, node: NodeId, rules: Rules, inner: int | None
) -> tuple[Node, tuple[OpenEnd, ...]]:
    """Return a tile that covers no open end as it lies, and the ends then: the first tile, or one against the rules."""
    if at is None:
        new = _node(layout, tile, at, node, rules, tile.low if inner is None else inner, None)
        return new, (*layout.ends, *_ends_of(new, rules))
    host = layout.find(at.host)
    assert host is not None  # obstacle() has looked
    if inner is None:
        inner = tile.low if tile.is_double else host.number_at(at.port)
    new = _node(layout, tile, at, node, rules, inner, host.arm_at(at.port))
    # One way in, one way out: a third neighbour closes what is no spinner.
    closes = not host.branches and bool(layout.covered(host))
    left = tuple(end for end in layout.ends if not (closes and end.spot.host == host.id))
    return new, tuple(sorted((*left, *_ends_of(new, rules)), key=_arm_place))


def _node(
    layout: Layout, tile: Tile, at: Spot | None, node: NodeId, rules: Rules, inner: int, arm: Port | None
) -> Node:
    """Return the tile as it lies."""
    if tile.low != tile.high:
        return Node(node, tile, inner, tile.low + tile.high - inner, at, arm, LINE, branches=False)
    branches = _branches(layout, rules.spinner)
    ports = STARTER_PORTS if branches and rules.spinner is Spinner.STARTER_SIX else DOUBLE_PORTS
    return Node(node, tile, inner, inner, at, arm, ports, branches)


def _branches(layout: Layout, spinner: Spinner) -> bool:
    """Return True if a double, played now, becomes a spinner."""
    match spinner:
        case Spinner.NONE:
            return False
        case Spinner.ALL:
            return True
        case Spinner.FIRST:
            return layout.spinner is None
        case Spinner.STARTER_SIX:
            return not layout.nodes


def _with_tips_open(ends: tuple[OpenEnd, ...], spinner: NodeId) -> tuple[OpenEnd, ...]:
    """Return *ends* with the tips of *spinner* open if both of its sides are covered."""
    mine = [end for end in ends if end.spot.host == spinner]
    if any(end.spot.port in LINE for end in mine) or all(end.playable for end in mine):
        return ends
    return tuple(_opened(end) if end.spot.host == spinner else end for end in ends)


def _opened(end: OpenEnd) -> OpenEnd:
    """Return a tip that may be played on."""
    return replace(end, playable=True)


def _ends_of(node: Node, rules: Rules) -> tuple[OpenEnd, ...]:
    """Return the open ends of a tile that has just been laid."""
    number, is_double = node.outer, node.tile.low == node.tile.high
    if node.arm is not None and not node.branches:
        # Nearly every tile: the line goes on at its far side.
        end = OpenEnd(Spot(node.id, Port.E), number, node.arm, True, _fits(number, rules), 2 if is_double else 0)  # noqa: FBT003
        return (end,)
    own = None if node.joins is None else Port.W
    ways = len(node.branch_ports) if is_double else 0
    return tuple(
        OpenEnd(
            Spot(node.id, port),
            node.number_at(port),
            node.arm_at(port),
            playable=port not in TIPS or rules.branch_order is BranchOrder.ANY,
            fits=_fits(node.number_at(port), rules),
            ways=ways,
        )
        for port in node.branch_ports
        if port is not own
    )


def _fits(number: int, rules: Rules) -> int:
    """Return the tiles that can be played on *number*, as bits: with it, and doubles on the number of a spell."""
    if rules.effects is not None and number == rules.effects.spell_on:
        return bits_with(number) | double_bits()
    return bits_with(number)


def _arm_place(end: OpenEnd) -> int:
    """Return the sort key of an end."""
    return arm_place(end.arm)


def arm_place(arm: Port) -> int:
    """Return the place of an arm: clockwise from the west, then the arms of a starter by number."""
    return _ARM_PLACES[arm]


_ARM_PLACES = {port: place for place, port in enumerate((*DOUBLE_PORTS, *STARTER_PORTS))}
