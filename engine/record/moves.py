"""Convert between a player's moves and those of a record, and write and read a move as text."""

from engine.errors import EngineError
from engine.library.moves import LegalMove
from engine.record import values as dgr
from engine.record.ports import find_spot, find_stacked, port_of_play, port_of_stack
from engine.record.text import move_text, parse_single_move
from engine.rules.rules import Rules
from engine.state.events import Decline, Draw, HandEnd, Knock, Play, Seat, Stack
from engine.state.layout import Layout
from engine.state.match import State


def written_move(layout: Layout, rules: Rules, move: LegalMove, inner: int) -> dgr.PlayerMove:
    """Return *move* as a record has it. *inner* is the number of a played tile against its host."""
    is_second = isinstance(move, Play | Stack) and rules.copies > 1 and layout.used(move.tile) > 0
    match move:
        case Play(tile=tile):
            port = port_of_play(layout, rules, move, inner)
            return dgr.TileMove(inner, tile.low + tile.high - inner, port, second=is_second)
        case Stack(tile=tile, on=on):
            return dgr.StackMove(tile.high, tile.low, port_of_stack(layout, tile, on), second=is_second)
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
            found = find_spot(layout, rules, written)
            return Play(seat, written.tile, found.spot, written.inner), found.remark
        case dgr.StackMove():
            return Stack(seat, written.tile, find_stacked(layout, written)), None
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
