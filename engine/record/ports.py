"""Convert between written ports, such as "E" or "5-5:N", and spots in the layout."""

from dataclasses import dataclass

from engine.record.values import StackMove, TileMove
from engine.rules.rules import Rules
from engine.state.events import Play
from engine.state.layout import ARMS, LINE, STARTER_PORTS, TIPS, Layout, NodeId, OpenEnd, Port, Spot
from engine.tiles import Tile

_OPPOSITE = {Port.W: Port.E, Port.E: Port.W, Port.N: Port.S, Port.S: Port.N}
_NEW_ARM = "*"
_LATER = "'"  # Marks the second copy of a tile.
_SHORT = (*LINE, *TIPS, *ARMS)  # Arms with a short name.
_FITS = 2  # Best rank of an open end: the tile fits, and the end is playable.
_NO_NODE = NodeId(-1)  # Never on the table, so the judge rejects a play there with a reason.


@dataclass(frozen=True, slots=True)
class FoundSpot:
    """Result of resolving a written port.

    Attributes:
        spot: The spot. None for the first tile, and if the record gives no port and the tile does not fit exactly one.
        remark: Problem with the written port, as text. None if there is none.
    """

    spot: Spot | None
    remark: str | None = None


def find_spot(layout: Layout, rules: Rules, move: TileMove) -> FoundSpot:
    """Return the spot where a tile is laid. The spot may be covered or closed if the record names such a port."""
    tile = move.tile
    if not layout.nodes:
        return FoundSpot(None, f"there is nothing at {move.port}: this is the first tile" if move.port else None)
    if move.port is None:
        return _unwritten(layout, tile, move.inner) if rules.refereed else FoundSpot(None)
    named, colon, port = move.port.partition(":")
    if colon:
        return FoundSpot(_beside(layout, named, Port(port)))
    if move.port == _NEW_ARM:
        return FoundSpot(_new_arm(layout))
    arm = Port(move.port)
    ends = [end for end in layout.ends if end.arm is arm]
    if not ends:
        return FoundSpot(_closed(layout, arm))
    ranks = [_rank(end, tile, move.inner) for end in ends]
    highest = max(ranks)
    best = [end for end, rank in zip(ends, ranks, strict=True) if rank == highest]
    remark = None
    if len(best) > 1 and highest == _FITS:
        host = layout.find(best[0].spot.host)
        remark = f"{len(best)} ends are called {move.port}, taken for that of {'' if host is None else host.tile}"
    return FoundSpot(best[0].spot, remark)


def find_stacked(layout: Layout, move: StackMove) -> NodeId:
    """Return the tile under a stacked one. Prefers the equal tile if the port is ambiguous. -1 if there is none."""
    named, colon, port = move.port.partition(":")
    if colon:
        return _beside(layout, named, Port(port)).host
    hosts = [layout.find(end.spot.host) for end in layout.ends if end.arm.value == move.port]
    nodes = [host for host in hosts if host is not None] or layout.nodes
    equal = [node.id for node in nodes if node.tile == move.tile]
    if equal or nodes is layout.nodes:
        return equal[0] if equal else _NO_NODE
    return nodes[0].id


def port_of_play(layout: Layout, rules: Rules, play: Play, inner: int) -> str | None:
    """Return the shortest port that names the spot of *play* in the *layout* before it, or None for the first tile.

    If every port is ambiguous, return the last one tried. *inner* is the number of the tile against its host.
    """
    if play.at is None or not layout.nodes:
        return None
    names, outer = _names(layout, play.at), play.tile.low + play.tile.high - inner
    found = (name for name in names if find_spot(layout, rules, TileMove(inner, outer, name)) == FoundSpot(play.at))
    return next(found, names[-1])


def port_of_stack(layout: Layout, tile: Tile, node: NodeId) -> str:
    """Return the shortest port that names *node*, on which *tile* was stacked."""
    spots = [end.spot for end in layout.ends if end.spot.host == node] or [Spot(node, Port.E)]
    names = [name for spot in spots for name in _names(layout, spot)]
    found = (name for name in names if find_stacked(layout, StackMove(tile.high, tile.low, name)) == node)
    return next(found, names[-1])


def _rank(end: OpenEnd, tile: Tile, inner: int) -> int:
    fits = tile.bit & end.fits != 0 and (end.number == inner or not tile.has(end.number))
    return (_FITS if end.playable else 1) if fits else 0


def _unwritten(layout: Layout, tile: Tile, inner: int) -> FoundSpot:
    """Return the spot of a tile without a written port, if it fits only one open end."""
    fitting = [end for end in layout.ends if _rank(end, tile, inner) == _FITS]
    if len(fitting) != 1:
        return FoundSpot(None)
    (end,) = fitting
    return FoundSpot(end.spot, f"the place of the {tile} is missing, and only {end.arm} fits")


def _beside(layout: Layout, named: str, port: Port) -> Spot:
    """Return the free side of the tile *named*, at *port* or opposite.

    Of two copies, prefer the one with an open end. A name with ' means the later copy. If neither side is free, or the
    tile is not on the table, return a spot that the judge rejects.
    """
    tile = Tile.parse(named.removesuffix(_LATER))
    nodes = [node for node in layout.nodes if node.tile == tile]
    if named.endswith(_LATER):
        nodes = nodes[-1:]
    if not nodes:
        return Spot(_NO_NODE, port)
    ports = (port, _OPPOSITE[port])
    for side in ports:
        hosts = {end.spot.host for end in layout.ends if end.spot.port is side}
        for node in nodes:
            if node.id in hosts:
                return Spot(node.id, side)
    taken = layout.covered(nodes[0])
    free = [side for side in ports if side in nodes[0].ports and side not in taken]
    return Spot(nodes[0].id, free[0] if free else port)


def _new_arm(layout: Layout) -> Spot:
    """Return the first free arm of the starter. If all six are taken, return a seventh, which the judge rejects."""
    first = layout.nodes[0]
    if not first.is_starter:
        return Spot(first.id, Port.ARM_1)
    taken = layout.covered(first)
    return Spot(first.id, next((arm for arm in STARTER_PORTS if arm not in taken), Port.ARM_8))


def _closed(layout: Layout, port: Port) -> Spot:
    """Return the spot at *port*, where no end is open.

    A tip belongs to the spinner or else the first double, any other port to the first tile.
    """
    doubles = [node for node in layout.nodes if node.tile.is_double] if port in TIPS else []
    host = next((node for node in doubles if node.branches), (doubles or layout.nodes)[0])
    return Spot(host.id, port)


def _names(layout: Layout, spot: Spot) -> list[str]:
    """Return the ports that name *spot*, shortest first."""
    end, host = layout.end_at(spot), layout.find(spot.host)
    names: list[str] = [end.arm.value] if end is not None and end.arm in _SHORT else []
    if host is None:
        return names or [Port.E.value]
    if spot.port in _OPPOSITE:
        sides = (spot.port, _OPPOSITE[spot.port]) if spot.port in LINE else (spot.port,)
        twin = next(node for node in layout.nodes if node.tile == host.tile)
        marked = f"{host.tile}{'' if twin is host else _LATER}"
        names += [f"{name}:{side}" for name in (marked, str(host.tile)) for side in sides]
    return names if host.tile.is_double and spot.port in TIPS else [*names, _NEW_ARM]
