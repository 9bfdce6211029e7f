"""Ports of a game record: the place on the table that `E`, `2`, `*` or `5-5:N` names, and the name of a place."""

from dataclasses import dataclass

from engine.events import Play
from engine.layout import ARMS, LINE, TIPS, Layout, Node, NodeId, OpenEnd, Port, Spot
from engine.record import StackMove, TileMove
from engine.rules import Rules
from engine.tiles import Tile

NO_NODE = NodeId(-1)
"""The name of a tile that is not on the table, so that what is said about it is refused in words."""

_OPPOSITE = {Port.W: Port.E, Port.E: Port.W, Port.N: Port.S, Port.S: Port.N}
_NEW_ARM = "*"
_SHORT = (*LINE, *TIPS, *ARMS)  # arms that have a name


@dataclass(frozen=True, slots=True)
class Found:
    """Where a written port is; *remark* says in words what had to be guessed.

    Attributes:
        spot: None for the first tile, and where the record does not say where a tile lies.
        remark: What is wrong with how it is written.
    """

    spot: Spot | None
    remark: str | None = None


def find_spot(layout: Layout, rules: Rules, move: TileMove) -> Found:
    """Return where a tile was laid; a place that is taken or closed when the record says so."""
    tile = Tile.of(move.inner, move.outer)
    if not layout.nodes:
        return Found(None, f"nothing lies at {move.port} yet, this is the first tile" if move.port else None)
    if move.port is None:
        return _unwritten(layout, tile, move.inner) if rules.refereed else Found(None)
    named, colon, port = move.port.partition(":")
    if colon:
        return Found(_beside(layout, named, Port(port)))
    if move.port == _NEW_ARM:
        return Found(_new_arm(layout))
    ends = [end for end in layout.ends if end.arm.value == move.port]
    if not ends:
        return Found(_closed(layout, Port(move.port)))
    ranks = [_rank(end, tile, move.inner) for end in ends]
    best = [end for end, rank in zip(ends, ranks, strict=True) if rank == max(ranks)]
    remark = None
    if len(best) > 1 and max(ranks) == _FITS:
        host = layout.find(best[0].spot.host)
        remark = f"{len(best)} ends are called {move.port}, taken for that of {'' if host is None else host.tile}"
    return Found(best[0].spot, remark)


def find_stacked(layout: Layout, move: StackMove) -> NodeId:
    """Return the tile that a tile was laid on, the equal one where the port leaves a choice; NO_NODE for none."""
    tile = Tile.of(move.inner, move.outer)
    named, colon, port = move.port.partition(":")
    if colon:
        return _beside(layout, named, Port(port)).host
    hosts = [layout.find(end.spot.host) for end in layout.ends if end.arm.value == move.port]
    nodes = [host for host in hosts if host is not None] or layout.nodes
    equal = [node.id for node in nodes if node.tile == tile]
    if equal or nodes is layout.nodes:
        return equal[0] if equal else NO_NODE
    return nodes[0].id


def port_of_play(layout: Layout, rules: Rules, play: Play, inner: int) -> str | None:
    """Return how the place of *play* is written, where *inner* lies against it; None for the first tile."""
    if play.at is None or not layout.nodes:
        return None
    names = _names(layout, play.at)
    for name in names:
        move = TileMove(inner, play.tile.low + play.tile.high - inner, name)
        if find_spot(layout, rules, move) == Found(play.at):
            return name
    return names[-1]


def port_of_stack(layout: Layout, tile: Tile, node: NodeId) -> str:
    """Return how the tile that *tile* was laid on is written."""
    spots = [end.spot for end in layout.ends if end.spot.host == node] or [Spot(node, Port.E)]
    names = [name for spot in spots for name in _names(layout, spot)]
    for name in names:
        if find_stacked(layout, StackMove(tile.high, tile.low, name)) == node:
            return name
    return names[-1]


# How well an open end suits a tile; what fits and may be played on goes first.
_FITS = 2


def _rank(end: OpenEnd, tile: Tile, inner: int) -> int:
    fits = tile.bit & end.fits != 0 and (end.number == inner or not tile.has(end.number))
    return (_FITS if end.playable else 1) if fits else 0


def _unwritten(layout: Layout, tile: Tile, inner: int) -> Found:
    """Return the one place where a tile can go of which it is not written where it lies, if there is only one."""
    fitting = [end for end in layout.ends if _rank(end, tile, inner) == _FITS]
    if len(fitting) != 1:
        return Found(None)
    (end,) = fitting
    return Found(end.spot, f"it is not written where the {tile} lies, only {end.arm} fits")


def _beside(layout: Layout, named: str, port: Port) -> Spot:
    """Return the port of the tile *named*, of two such tiles the one that is open, of two sides the free one."""
    tile = Tile.parse(named.removesuffix("'"))
    nodes = [node for node in layout.nodes if node.tile == tile]
    if named.endswith("'"):
        nodes.reverse()
    if not nodes:
        return Spot(NO_NODE, port)
    ports = (port, _OPPOSITE[port])
    for spot in (Spot(node.id, side) for side in ports for node in nodes):
        if layout.end_at(spot) is not None:
            return spot
    taken = layout.covered(nodes[0])
    free = [side for side in ports if side in nodes[0].ports and side not in taken]
    return Spot(nodes[0].id, free[0] if free else port)


def _new_arm(layout: Layout) -> Spot:
    """Return the first arm of the starter that is free; when all six are started, a seventh, which is reported."""
    first = layout.nodes[0]
    if not first.is_starter:
        return Spot(first.id, Port.ARM_1)
    taken = layout.covered(first)
    return Spot(first.id, next((arm for arm in (*ARMS, Port.ARM_7, Port.ARM_8) if arm not in taken), Port.ARM_8))


def _closed(layout: Layout, port: Port) -> Spot:
    """Return a place that is called *port* where no end is open: of a tip, that of the spinner or the first double."""
    doubles = [node for node in layout.nodes if node.tile.is_double] if port in TIPS else []
    host = next((node for node in doubles if node.branches), (doubles or layout.nodes)[0])
    return Spot(host.id, port)


def _names(layout: Layout, spot: Spot) -> list[str]:
    """Return how *spot* may be called, the shortest first."""
    end, host = layout.end_at(spot), layout.find(spot.host)
    names: list[str] = [end.arm.value] if end is not None and end.arm in _SHORT else []
    if host is None:
        return names or [Port.E.value]
    if spot.port in _OPPOSITE:
        sides = (spot.port, _OPPOSITE[spot.port]) if spot.port in LINE else (spot.port,)
        names += [f"{_name_of(layout, host)}:{side}" for side in sides]
        names += [f"{host.tile}:{side}" for side in sides]
    return names if host.tile.is_double and spot.port in TIPS else [*names, _NEW_ARM]


def _name_of(layout: Layout, node: Node) -> str:
    """Return a tile as a port names it, with ' where it is the second one of its kind."""
    twins = [other.id for other in layout.nodes if other.tile == node.tile]
    return f"{node.tile}'" if twins.index(node.id) else str(node.tile)
