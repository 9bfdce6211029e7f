"""Convert between a player's moves and those of a record, with spots as ports, such as "E" or "5-5:N"."""

from engine.errors import EngineError
from engine.library.moves import LegalMove
from engine.record import values as dgr
from engine.record.text import move_text, parse_single_move
from engine.rules.rules import Rules
from engine.state.events import Decline, Draw, HandEnd, Knock, Play, Seat, Stack
from engine.state.layout import ARMS, LINE, STARTER_PORTS, TIPS, Layout, NodeId, OpenEnd, Port, Spot
from engine.state.match import State
from engine.tiles import Tile

_OPPOSITE = {Port.W: Port.E, Port.E: Port.W, Port.N: Port.S, Port.S: Port.N}
_NEW_ARM = "*"
_LATER = "'"  # Marks the second copy of a tile.
_SHORT = (*LINE, *TIPS, *ARMS)  # Arms with a short name.
_FITS = 2  # Best rank of an open end: the tile fits, and the end is playable.
_NO_NODE = NodeId(-1)  # Never on the table, so the judge rejects a play there with a reason.


def written_move(layout: Layout, rules: Rules, move: LegalMove, inner: int) -> dgr.PlayerMove:
    """Return *move* as a record has it. *inner* is the number of a played tile against its host."""
    is_second = isinstance(move, Play | Stack) and rules.copies > 1 and layout.used(move.tile) > 0
    match move:
        case Play(tile=tile):
            port = _port_of_play(layout, rules, move, inner)
            return dgr.TileMove(inner, tile.low + tile.high - inner, port, second=is_second)
        case Stack(tile=tile, on=on):
            return dgr.StackMove(tile.high, tile.low, _port_of_stack(layout, tile, on), second=is_second)
        case Draw(tiles=tiles, forced=forced, faces=faces):
            known = tuple(dgr.RecordTile(face.high, face.low) for face in faces)
            return dgr.DrawMove(tiles, known or None, forced=forced)
        case Knock():
            return dgr.KnockMove()
        case Decline():
            return dgr.DeclineMove()


def move_from(layout: Layout, rules: Rules, written: dgr.PlayerMove, seat: Seat) -> tuple[LegalMove, str | None]:
    """Return the move of *seat* that a record has as *written*, and a problem with its port as text, or None."""
    match written:
        case dgr.TileMove():
            spot, remark = _find_spot(layout, rules, written)
            return Play(seat, written.tile, spot, written.inner), remark
        case dgr.StackMove():
            return Stack(seat, written.tile, _find_stacked(layout, written)), None
        case dgr.DrawMove(count=count, forced=forced, tiles=tiles):
            faces = tuple(tile.tile for tile in tiles or ())
            return Draw(seat, count, forced, faces if len(faces) == count else ()), None
        case dgr.KnockMove():
            return Knock(seat), None
        case dgr.DeclineMove():
            return Decline(seat), None


def format_move(state: State, move: LegalMove | HandEnd) -> str:
    """Return *move* as a game record writes it. `parse_move` returns the move again.

    >>> from engine import BONES, MatchStart, NewHand, Tile, replay
    >>> state = replay([MatchStart(BONES, ("Ann", "Ben")), NewHand(), Play(Seat(0), Tile(5, 5))])
    >>> move = parse_move(state, "5-3@W")
    >>> format_move(state, move), format_move(state, Draw(Seat(1), 2)), format_move(state, Knock(Seat(1)))
    ('5-3@W', 'd2', 'k')
    """
    layout, rules, _ = _hand(state)
    if isinstance(move, HandEnd):
        return "(end)"
    inner = 0
    if isinstance(move, Play):
        end = None if move.at is None else layout.end_at(move.at)
        matching = end.number if end is not None and move.tile.has(end.number) else move.tile.low
        inner = matching if move.inner is None else move.inner
    return move_text(written_move(layout, rules, move, inner))


def parse_move(state: State, text: str, seat: Seat | None = None) -> LegalMove | HandEnd:
    """Return the move of *seat* for a text such as "5-3@W", "5-3", "d", "k", "n", "2-4'^E" or "(end)".

    The port may be missing if the tile fits only one open end. Legality is not checked.

    Args:
        state: State before the move.
        text: The move, as in a game record.
        seat: Seat of the player. None for the seat to move.

    Raises:
        EngineError: If *text* is not such a move, no tiles are dealt, or the place of the tile is ambiguous.
    """
    layout, rules, turn = _hand(state)
    written, who = parse_single_move(text), turn if seat is None else seat
    if written == dgr.note_of(HandEnd()):
        return HandEnd()
    if not isinstance(written, dgr.PlayerMove) or who is None:
        raise EngineError(f'expected a play, stack, draw, knock, decline or "(end)" of a seat, got "{text}"')
    move, remark = move_from(layout, rules, written, who)
    if isinstance(written, dgr.TileMove) and isinstance(move, Play):
        if written.port is None and layout.nodes and move.at is None:
            raise EngineError(
                f'expected the place of the {move.tile}, such as "{text}@W", because it does not fit one end'
            )
        if written.port is not None and remark is not None:
            raise EngineError(f"{text}: {remark}")
    return move


def _hand(state: State) -> tuple[Layout, Rules, Seat | None]:
    if state.game is None or state.game.hand is None:
        raise EngineError("a move is read and written during a hand, and no tiles have been dealt")
    return state.game.layout, state.game.rules, state.game.hand.turn


def _find_spot(layout: Layout, rules: Rules, move: dgr.TileMove) -> tuple[Spot | None, str | None]:
    """Return the spot where a tile is laid, and the problem with the written port, as text.

    The spot is None for the first tile, and for a tile without a port that does not fit exactly one end. It may be
    covered or closed if the record names such a port.
    """
    tile = move.tile
    if not layout.nodes:
        return None, f"there is nothing at {move.port}: this is the first tile" if move.port else None
    if move.port is None:
        return _unwritten(layout, tile, move.inner) if rules.refereed else (None, None)
    named, colon, port = move.port.partition(":")
    if colon:
        return _beside(layout, named, Port(port)), None
    if move.port == _NEW_ARM:
        return _new_arm(layout), None
    arm = Port(move.port)
    ends = [end for end in layout.ends if end.arm is arm]
    if not ends:
        return _closed(layout, arm), None
    ranks = [_rank(end, tile, move.inner) for end in ends]
    highest = max(ranks)
    best = [end for end, rank in zip(ends, ranks, strict=True) if rank == highest]
    remark = None
    if len(best) > 1 and highest == _FITS:
        host = layout.find(best[0].spot.host)
        remark = f"{len(best)} ends are called {move.port}, taken for that of {'' if host is None else host.tile}"
    return best[0].spot, remark


def _find_stacked(layout: Layout, move: dgr.StackMove) -> NodeId:
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


def _port_of_play(layout: Layout, rules: Rules, play: Play, inner: int) -> str | None:
    """Return the shortest port that names the spot of *play* in the *layout* before it, or None for the first tile.

    If every port is ambiguous, return the last one tried. *inner* is the number of the tile against its host.
    """
    if play.at is None or not layout.nodes:
        return None
    names, outer = _names(layout, play.at), play.tile.low + play.tile.high - inner
    found = (name for name in names if _find_spot(layout, rules, dgr.TileMove(inner, outer, name)) == (play.at, None))
    return next(found, names[-1])


def _port_of_stack(layout: Layout, tile: Tile, node: NodeId) -> str:
    """Return the shortest port that names *node*, on which *tile* was stacked."""
    spots = [end.spot for end in layout.ends if end.spot.host == node] or [Spot(node, Port.E)]
    names = [name for spot in spots for name in _names(layout, spot)]
    found = (name for name in names if _find_stacked(layout, dgr.StackMove(tile.high, tile.low, name)) == node)
    return next(found, names[-1])


def _rank(end: OpenEnd, tile: Tile, inner: int) -> int:
    fits = tile.bit & end.fits != 0 and (end.number == inner or not tile.has(end.number))
    return (_FITS if end.playable else 1) if fits else 0


def _unwritten(layout: Layout, tile: Tile, inner: int) -> tuple[Spot | None, str | None]:
    """Return the spot of a tile without a written port, if it fits only one open end, and the problem."""
    fitting = [end for end in layout.ends if _rank(end, tile, inner) == _FITS]
    if len(fitting) != 1:
        return None, None
    (end,) = fitting
    return end.spot, f"the place of the {tile} is missing, and only {end.arm} fits"


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
