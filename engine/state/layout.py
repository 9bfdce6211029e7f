"""Layout graph: joined tiles and open ends.

Every tile has the line ports W and E. A double also has the tips N and S. The starter of the six-arm game has numbered
arms instead. The first tile shows its inner number at W. Every later tile is attached with W against its host, so its
free side is E. Addresses are relative to the host and stay valid when an earlier play is corrected. See
docs/reference/rules.md 2.1. The count of a layout is the sum of its open ends: docs/reference/rules.md 2.2.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import NewType

from engine.errors import EngineError
from engine.phrases import phrase
from engine.rules.rules import BranchOrder, Rules, Spinner, SpinnerCount
from engine.tiles import Tile, bits_with, double_bits, set_bits
from engine.value import value

NodeId = NewType("NodeId", int)


class Port(StrEnum):
    """A side of a tile that another can be joined to: line W and E, tips N and S of a double, arms 1 to 8 of a starter.

    The rules use arms 1 to 6 only.
    """

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
# There is room for eight tiles around a starter, so players can start a seventh arm by mistake. It is never legal.
_BEYOND_ARMS = (Port.ARM_7, Port.ARM_8)
STARTER_PORTS = (*ARMS, *_BEYOND_ARMS)
ARM_PLACES = {port: place for place, port in enumerate((*DOUBLE_PORTS, *STARTER_PORTS))}
"""Order of the arms of a layout: clockwise from the west, then a starter's arms by number."""


@value
class Spot:
    """A port of a tile on the table."""

    host: NodeId
    port: Port


@value
class Node:
    """A tile on the table.

    Attributes:
        id: Log index of the play that laid it. It never changes during a match.
        tile: The tile.
        inner: Number at W, the side against the host, or the west side of the first tile.
        outer: Number at E.
        joins: Spot that it is attached to. None for the first tile.
        arm: Arm of the layout that it belongs to. None for the first tile.
        ports: All its ports, whether covered or not, legal or not.
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
        """Return the number at *port*."""
        return self.inner if port is Port.W else self.outer

    def arm_at(self, port: Port) -> Port:
        """Return the arm of a tile attached at *port*."""
        return port if self.arm is None or (self.branches and port in TIPS) else self.arm

    @property
    def is_starter(self) -> bool:
        """True for the starter of the six-arm game."""
        return self.branches and self.ports == STARTER_PORTS

    @property
    def branch_ports(self) -> tuple[Port, ...]:
        """Ports on which the rules allow play, covered or not."""
        if not self.branches:
            return LINE
        return ARMS if self.is_starter else DOUBLE_PORTS


@value
class OpenEnd:
    """A port where a tile can be played, now or once the spinner is capped.

    Attributes:
        spot: Port and its tile.
        number: Number that a tile must have to be played there.
        arm: Arm that a tile there continues.
        playable: False for a spinner's tip that is closed until both its sides are covered.
        fits: Bit mask of the tiles that can be played there: those with the number, and all doubles if a spell can be
            cast on the number.
        ways: Number of branch ports of the double: 2, 4 for a spinner, 6 for a starter. 0 if the tile is no double.
    """

    spot: Spot
    number: int
    arm: Port
    playable: bool
    fits: int
    ways: int


@value
class Layout:
    """All tiles played in a hand.

    Attributes:
        nodes: Tiles in order of play.
        ends: Open ends by arm, clockwise from the west. Includes the closed tips of a spinner.
        once: Bit mask of the tiles with at least one copy on the table, counting stacked ones.
        twice: Bit mask of the tiles with two or more copies on the table.
        stacked: Tiles that have their copy stacked on them.
    """

    nodes: tuple[Node, ...] = ()
    ends: tuple[OpenEnd, ...] = ()
    once: int = 0
    twice: int = 0
    stacked: tuple[NodeId, ...] = ()

    def find(self, node: NodeId) -> Node | None:
        """Return the tile with the id *node*, or None if it is not on the table."""
        return next((each for each in self.nodes if each.id == node), None)

    def end_at(self, at: Spot) -> OpenEnd | None:
        """Return the open end at a port, or None if there is none.

        Arms 7 and 8 of a starter are never legal, but players may start one by mistake. For these, return the starter's
        first free arm, or None.
        """
        for end in self.ends:
            if end.spot.host == at.host and end.spot.port is at.port:
                return end
        if at.port in _BEYOND_ARMS:
            return next((end for end in self.ends if end.spot.host == at.host and end.ways == len(ARMS)), None)
        return None

    def covered(self, node: Node) -> tuple[Port, ...]:
        """Return the ports of *node* that have a neighbour, in order of play."""
        own = () if node.joins is None else (Port.W,)
        joins = (other.joins for other in self.nodes)
        return (*own, *(spot.port for spot in joins if spot is not None and spot.host == node.id))

    @property
    def spinner(self) -> Node | None:
        """The first spinner, or None."""
        return next((node for node in self.nodes if node.branches), None)

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """Tiles on the table, in order of play. A stacked copy follows the tile below it."""
        return tuple(node.tile for node in self.nodes for _ in range(1 + self.stacked.count(node.id)))

    def used(self, tile: Tile) -> int:
        """Return the number of copies of *tile* on the table, at most 2."""
        return bool(self.once & tile.bit) + bool(self.twice & tile.bit)

    def gone(self, rules: Rules) -> int:
        """Return the bit mask of the tiles with all copies on the table."""
        return self.once if rules.copies == 1 else self.twice


def attach(
    layout: Layout, tile: Tile, at: Spot | None, *, node: NodeId, rules: Rules, inner: int | None = None
) -> Layout:
    """Return the layout after *tile* is laid. Legality is not checked.

    Args:
        layout: The layout before.
        tile: The tile to lay.
        at: Spot to attach it to. None for the first tile.
        node: Id of the new tile.
        rules: Rules that determine which doubles branch and when tips open.
        inner: Number against the host, or at W for the first tile. None for the matching number, or the smaller one of
            the first tile.

    Raises:
        EngineError: If it is physically impossible: the port does not exist or is covered, or the orientation is
            ambiguous because no number matches and *inner* is None.
    """
    fault = obstacle(layout, tile, at, rules=rules, inner=inner)
    if fault is not None:
        raise EngineError(f"{tile}: {fault}")
    return lay(layout, tile, at, node, rules, inner)


def lay(layout: Layout, tile: Tile, at: Spot | None, node: NodeId, rules: Rules, inner: int | None) -> Layout:
    """Return the layout like `attach`, without checking for obstacles."""
    covered = None if at is None else layout.end_at(at)
    if covered is None:
        new, ends = _lay_off_the_ends(layout, tile, at, node, rules, inner)
    else:
        if inner is None:
            inner = covered.number if tile.has(covered.number) else tile.low
        new = _node(layout, tile, covered.spot, node, rules, inner, covered.arm)
        old, place = layout.ends, 0
        while old[place] is not covered:
            place += 1
        ends = (*old[:place], *_ends_of(new, rules), *old[place + 1 :])
        if covered.ways == len(DOUBLE_PORTS):
            ends = _with_tips_open(ends, covered.spot.host)
        if new.branches:
            ends = _sorted(ends)
    twice = layout.twice | (layout.once & tile.bit)
    return Layout((*layout.nodes, new), ends, layout.once | tile.bit, twice, layout.stacked)


def stack_on(layout: Layout, tile: Tile, node: NodeId) -> Layout:
    """Return the layout after *tile* is stacked on the tile *node*. Open ends and count do not change."""
    twice = layout.twice | (layout.once & tile.bit)
    return Layout(layout.nodes, layout.ends, layout.once | tile.bit, twice, (*layout.stacked, node))


def obstacle(layout: Layout, tile: Tile, at: Spot | None, *, rules: Rules, inner: int | None = None) -> str | None:
    """Return the reason why *tile* cannot physically be laid at a spot, or None. Legality is not checked."""
    if at is None:
        return phrase("it must touch the layout") if layout.nodes and rules.refereed else None
    host = layout.find(at.host)
    if host is None:
        return phrase("the tile it should touch is not on the table")
    if at.port not in host.ports:
        if at.port in TIPS:
            return phrase("the {tile} is not a double and has no tips", tile=host.tile)
        return phrase("the {tile} has no such side", tile=host.tile)
    if at.port in layout.covered(host):
        return phrase("another tile already touches the {tile} there", tile=host.tile)
    if inner is None and not tile.is_double and not tile.has(host.number_at(at.port)):
        return phrase("it has no {number}, and its outer half was not visible", number=host.number_at(at.port))
    return None


def is_locked(layout: Layout, rules: Rules) -> bool:
    """Return True if nobody can play because no tile outside *layout* fits an open end.

    See docs/reference/rules.md 2.3 b.
    """
    fits = 0
    for end in layout.ends:
        if end.playable:
            fits |= end.fits
    return not fits & set_bits(rules.max_pips) & ~layout.gone(rules)


def _lay_off_the_ends(
    layout: Layout, tile: Tile, at: Spot | None, node: NodeId, rules: Rules, inner: int | None
) -> tuple[Node, tuple[OpenEnd, ...]]:
    """Return the node and open ends for a tile that covers no open end: the first tile, or an illegal play."""
    if at is None:
        new = _node(layout, tile, at, node, rules, tile.low if inner is None else inner, None)
        return new, (*layout.ends, *_ends_of(new, rules))
    host = layout.find(at.host)
    assert host is not None  # checked by obstacle()
    if inner is None:
        inner = tile.low if tile.is_double else host.number_at(at.port)
    new = _node(layout, tile, at, node, rules, inner, host.arm_at(at.port))
    # A tile that is no spinner has one entry and one exit: a third neighbour closes its remaining end.
    closes = not host.branches and bool(layout.covered(host))
    left = (end for end in layout.ends if not (closes and end.spot.host == host.id))
    return new, _sorted((*left, *_ends_of(new, rules)))


def _sorted(ends: tuple[OpenEnd, ...]) -> tuple[OpenEnd, ...]:
    return tuple(sorted(ends, key=lambda end: ARM_PLACES[end.arm]))


def _node(
    layout: Layout, tile: Tile, at: Spot | None, node: NodeId, rules: Rules, inner: int, arm: Port | None
) -> Node:
    if tile.low != tile.high:
        return Node(node, tile, inner, tile.low + tile.high - inner, at, arm, LINE, branches=False)
    is_starter = rules.spinner is Spinner.STARTER_SIX and not layout.nodes
    is_first = rules.spinner is Spinner.FIRST and layout.spinner is None
    ports = STARTER_PORTS if is_starter else DOUBLE_PORTS
    return Node(node, tile, inner, inner, at, arm, ports, is_starter or is_first or rules.spinner is Spinner.ALL)


def _with_tips_open(ends: tuple[OpenEnd, ...], spinner: NodeId) -> tuple[OpenEnd, ...]:
    """Return *ends* with the tips of *spinner* opened if both its sides are covered."""
    mine = [end for end in ends if end.spot.host == spinner]
    if any(end.spot.port in LINE for end in mine) or all(end.playable for end in mine):
        return ends
    return tuple(replace(end, playable=True) if end.spot.host == spinner else end for end in ends)


def _ends_of(node: Node, rules: Rules) -> tuple[OpenEnd, ...]:
    """Return the open ends that a newly laid tile adds."""
    number, is_double = node.outer, node.tile.low == node.tile.high
    if node.arm is not None and not node.branches:
        # Fast path for nearly every tile: its only open end is E.
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
    """Return the bit mask of tiles playable on *number*. Where spells are cast, it includes all doubles."""
    is_spell = rules.effects is not None and number == rules.effects.spell_on
    return bits_with(number) | double_bits() if is_spell else bits_with(number)


@value
class Term:
    """A term of the count.

    Attributes:
        spot: Half that counts: W or E of a single, N or S of a double, whose halves lie across the line.
        pips: Number that it adds.
        arm: Arm on which the half is displayed.
    """

    spot: Spot
    pips: int
    arm: Port


@value
class Count:
    """Sum of the open ends by arm, clockwise from the west. Computed on access.

    Attributes:
        ends: Open ends of the layout.
        spinner_count: Rule for the value of a capped spinner.

    >>> print(Count(()))
    0
    """

    ends: tuple[OpenEnd, ...]
    spinner_count: SpinnerCount = SpinnerCount.UNTIL_CAPPED

    @property
    def total(self) -> int:
        """Total of the open ends."""
        total = 0
        doubles: dict[NodeId, list[OpenEnd]] = {}
        for end in self.ends:
            if end.ways:
                doubles.setdefault(end.spot.host, []).append(end)
            else:
                total += end.number
        for free in doubles.values():
            total += free[0].number * _halves(free, self.spinner_count)
        return total

    @property
    def terms(self) -> tuple[Term, ...]:
        """Terms of the sum, one for each half that counts, in arm order."""
        terms = [Term(end.spot, end.number, end.arm) for end in self.ends if not end.ways]
        for double in dict.fromkeys(end.spot.host for end in self.ends if end.ways):
            terms += _double_terms([end for end in self.ends if end.spot.host == double], self.spinner_count)
        return tuple(sorted(terms, key=lambda term: ARM_PLACES[term.arm]))

    def __str__(self) -> str:
        """Return the sum as text, such as ``3 + 2 + 5 + 5 = 15``."""
        terms = self.terms
        return " + ".join(str(term.pips) for term in terms) + f" = {self.total}" if len(terms) > 1 else str(self.total)


def count(layout: Layout, spinner_count: SpinnerCount) -> Count:
    """Return the count of *layout*."""
    return Count(layout.ends, spinner_count)


def points_for(total: int, rules: Rules) -> int:
    """Return the points for a play after which the count is *total*. 0 if it does not score."""
    if rules.unit is None or total % rules.unit != 0:
        return 0
    return total // rules.play_divisor


def _halves(free: list[OpenEnd], spinner_count: SpinnerCount) -> int:
    """Return the number of halves of a double that count, if its open ends are *free*."""
    ways, covered = free[0].ways, free[0].ways - len(free)
    if covered <= 1 or ways == len(LINE):  # a double that is no spinner has one of its two ends left
        return 2
    if spinner_count is SpinnerCount.UNTIL_CAPPED or ways != len(DOUBLE_PORTS):
        return 0
    return min(2, len(free))


def _double_terms(free: list[OpenEnd], spinner_count: SpinnerCount) -> tuple[Term, ...]:
    """Return the terms of a double whose open ends are *free*."""
    end, host, pips, halves = free[0], free[0].spot.host, free[0].number, _halves(free, spinner_count)
    if halves < 2:
        return tuple(Term(each.spot, pips, each.arm) for each in free[:halves])
    north, south = Port.N, Port.S
    if end.ways - len(free) <= 1 or end.ways == len(LINE):
        # Both halves lie across the line, so both are displayed at its end.
        north = south = next((each.arm for each in free if each.spot.port in LINE), end.arm)
    return (Term(Spot(host, Port.N), pips, north), Term(Spot(host, Port.S), pips, south))
