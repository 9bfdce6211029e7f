"""From what is seen to what happened: which open end a new tile was laid against, or why that cannot be told.

Each way in which a new tile can be joined is weighed by touch, alignment and number together: how well its edge meets
the end, how sure the eye is of the pips that this takes, and whether the rules allow the play. So the rules help the
eye where it is in doubt, and a play against the rules is still seen where it is not. What stays open between two ways
is asked, never guessed, and looked at again in every picture; what is laid after it waits, so that turns stay in order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from engine import Game, Node, NodeId, Phase, Play, Port, Seat, Spot, State, Tile, Weight, problem_with
from tallybone.contact import footprint_of, halves_of, leading, misfit, turns
from tallybone.footprint import Edge, Footprint, Laid, edges_at
from vision.perception import ChangeKind, TableView
from vision.reading import Face, Half
from vision.reading import Tile as SeenTile

# A way is believed when it has this share of the weight of all.
_SURE = 0.8
# How often players do what the rules forbid, against what they allow; an earlier fault that a play shows is likelier.
_LAWFUL = {Weight.IMPOSSIBLE: 0.0, Weight.DOUBTFUL: 0.005, Weight.ILLEGAL: 0.005, Weight.NOTED: 0.2}
# No eye is surer than this of a number; it leaves the rules something to say.
_MOST_SURE = 0.995
# A tile within this of another is the same one, in sides of a half.
_SAME_PLACE = 0.5


@dataclass(frozen=True, slots=True)
class Unclear:
    """A tile of which it cannot be told what was played.

    Attributes:
        tile: As it is seen.
        words: What to ask the table.
        holds_up: Whether it is part of the layout in some way, so that what is laid later has to wait for the answer.
    """

    tile: SeenTile
    words: str
    holds_up: bool


@dataclass(frozen=True, slots=True)
class Places:
    """What the referee keeps between pictures.

    Attributes:
        laid: Where each tile of the layout lies, in pixels.
        waiting: Tiles that lie open on the table and are not part of the layout yet.
        asked: Those of *waiting* about which the table was asked.
    """

    laid: tuple[Laid, ...] = ()
    waiting: tuple[SeenTile, ...] = ()
    asked: tuple[SeenTile, ...] = ()


@dataclass(frozen=True, slots=True)
class _Way:
    """One thing that may have happened.

    Attributes:
        play: The play.
        place: Where its tile lies then.
        weight: How much speaks for it.
    """

    play: Play
    place: Footprint
    weight: float


def observe(places: Places, view: TableView) -> Places:
    """Return what is kept after one more look at the table."""
    for change in view.changes:
        tile = change.tile
        match change.kind:
            case ChangeKind.PLACED:
                if tile.face is Face.UP and not any(_is_at(one.place, tile) for one in places.laid):
                    places = replace(places, waiting=(*places.waiting, tile))
            case ChangeKind.MOVED | ChangeKind.TURNED:
                places = places if change.before is None else _moved(places, change.before, tile)
            case ChangeKind.REMOVED:
                places = _without(places, tile)
            case ChangeKind.STACKED:
                places = replace(places, waiting=(*places.waiting, tile))
            case ChangeKind.REREAD:
                pass  # one that waits is looked at again below, one that was played stays what it was played as
            case _:
                assert_never(change.kind)
    return _looked_again(places, view.tiles)


def decide(places: Places, state: State) -> tuple[Places, Play | Unclear | None]:
    """Return the next thing that the waiting tiles tell: a play, a question that was not asked yet, or nothing.

    Call it until it tells nothing. A play has to be applied before the next call: its tile is the next node.
    """
    game = state.game
    if game is None or game.phase not in (Phase.LEAD, Phase.PLAY):
        return places, None
    question: Unclear | None = None
    for tile in places.waiting:  # the order in which they were laid
        found = _verdict(places, state, game, tile)
        if isinstance(found, _Way):
            laid = (*places.laid, Laid(NodeId(state.next_seq), found.place))
            return replace(_without(places, tile), laid=laid), found.play
        if question is None and tile not in places.asked:
            question = found
        if found.holds_up:
            break
    if question is None:
        return places, None
    return replace(places, asked=(*places.asked, question.tile)), question


def _verdict(places: Places, state: State, game: Game, tile: SeenTile) -> _Way | Unclear:
    """Return what happened with a waiting tile."""
    hand = game.hand
    if hand is None or hand.turn is None:
        return Unclear(tile, f"who leads the {_name(tile)}?", holds_up=True)
    ways = tuple(_ways(places, state, game, hand.turn, tile))
    ranked = sorted(ways, key=lambda way: -way.weight)
    total = math.fsum(way.weight for way in ways)
    if total == 0.0:
        return Unclear(tile, f"the {_name(tile)} touches no end of the layout", holds_up=False)
    if ranked[0].weight >= _SURE * total:
        return ranked[0]
    return Unclear(tile, _question(game, tile, ranked), holds_up=True)


def _ways(places: Places, state: State, game: Game, seat: Seat, tile: SeenTile) -> Iterator[_Way]:
    """Yield every play that a tile may have been, each once, with its weight."""
    first, second = halves_of(tile)
    numbers = range(game.rules.max_pips + 1)
    pairs = [(one, other) for one in numbers for other in numbers]
    joints = {is_double: _joints(places, game, tile, is_double=is_double) for is_double in (True, False)}
    for one, other in pairs:
        seen = _belief(first, one, game) * _belief(second, other, game)
        for joint in joints[one == other]:
            inner = (one, other)[joint.inner_half]
            play = Play(seat, Tile.of(one, other), joint.spot, inner)
            problem = problem_with(state, play)
            lawful = 1.0 if problem is None else _LAWFUL[problem.weight]
            yield _Way(play, joint.place, seen * lawful * math.exp(-joint.misfit))


@dataclass(frozen=True, slots=True)
class _Joint:
    """A place at which a tile may be joined, and how.

    Attributes:
        spot: The port; None for the first tile.
        inner_half: Which half of the tile touches it.
        place: Where the tile lies then.
        misfit: What speaks against it, see `contact.misfit`.
    """

    spot: Spot | None
    inner_half: int
    place: Footprint
    misfit: float


def _joints(places: Places, game: Game, tile: SeenTile, *, is_double: bool) -> tuple[_Joint, ...]:
    """Return the best way of meeting each port with each half."""
    if not game.layout.nodes:
        turn = leading(tile, is_double=is_double)
        return (_Joint(None, turn.inner_half, turn.place, 0.0),)
    best: dict[tuple[Spot, int], _Joint] = {}
    ways = tuple(turns(tile, is_double=is_double))
    for one in places.laid:
        node = game.layout.find(one.node)
        if node is None:
            continue
        for port, edge in _edges(game.layout.covered(node), node, one.place):
            for turn in ways:
                cost = misfit(one.place, edge, turn, is_double=is_double)
                inner_half = 0 if is_double else turn.inner_half
                key = (Spot(node.id, port), inner_half)
                if cost is not None and (key not in best or cost < best[key].misfit):
                    best[key] = _Joint(key[0], inner_half, turn.place, cost)
    return tuple(best.values())


def _edges(covered: tuple[Port, ...], node: Node, place: Footprint) -> Iterator[tuple[Port, Edge]]:
    """Yield where a tile can touch the uncovered ports of a node, those included that the rules keep closed."""
    is_double = node.tile.is_double
    if is_double and not node.branches and len(covered) < 2:
        # Its one free port is wherever players go on: straight, or round the corner at a tip.
        port = Port.W if Port.E in covered else Port.E
        yield from ((port, edge) for edge in edges_at(place, port, is_double=True, bends=True))
        return
    for port in node.ports:
        if port not in covered:
            yield from ((port, edge) for edge in edges_at(place, port, is_double=is_double))


def _belief(half: Half, number: int, game: Game) -> float:
    """Return how probable the eye holds it that a half shows a number."""
    sure = min(half.confidence, _MOST_SURE)
    return sure if half.pips == number else (1 - sure) / game.rules.max_pips


def _question(game: Game, tile: SeenTile, ranked: Sequence[_Way]) -> str:
    """Return what tells the two likeliest ways apart, as a question to the table."""
    first, second = ranked[0].play, ranked[1].play
    if first.tile != second.tile:
        return f"is this the {first.tile} or the {second.tile}?"
    hosts = [game.layout.find(play.at.host) for play in (first, second) if play.at is not None]
    names = [str(host.tile) for host in hosts if host is not None]
    if len(set(names)) == 2:
        return f"does the {first.tile} lie against the {names[0]} or the {names[1]}?"
    return f"which way round does the {first.tile} lie?"


def _moved(places: Places, before: SeenTile, now: SeenTile) -> Places:
    """Return what is kept after a tile was pushed to another place."""
    laid = tuple(
        replace(one, place=_turned_like(one.place, now)) if _is_at(one.place, before) else one for one in places.laid
    )
    if laid != places.laid:
        return replace(places, laid=laid)
    return replace(_without(places, before), waiting=(*_without(places, before).waiting, now))


def _turned_like(old: Footprint, tile: SeenTile) -> Footprint:
    """Return where a tile of the layout lies now, W and E where they were as nearly as it can be."""
    seen = footprint_of(tile)
    place = seen if old.lies_along else seen.crosswise()
    is_same = place.along[0] * old.along[0] + place.along[1] * old.along[1] > 0
    return place if is_same else place.reversed()


def _without(places: Places, tile: SeenTile) -> Places:
    """Return what is kept when a waiting tile waits no longer."""
    where = None if tile.face is Face.DOWN else footprint_of(tile)
    if where is None:
        return places
    waiting = tuple(one for one in places.waiting if not _is_at(where, one))
    return replace(places, waiting=waiting, asked=tuple(one for one in places.asked if one in waiting))


def _looked_again(places: Places, tiles: Sequence[SeenTile]) -> Places:
    """Return the waiting tiles as they are read now; one that is read differently may be asked about again."""
    waiting: list[SeenTile] = []
    asked: list[SeenTile] = []
    for old in places.waiting:
        where = footprint_of(old)
        now = next((tile for tile in tiles if tile.face is Face.UP and _is_at(where, tile)), old)
        waiting.append(now)
        if old in places.asked and _name(old) == _name(now):
            asked.append(now)
    return replace(places, waiting=tuple(waiting), asked=tuple(asked))


def _is_at(place: Footprint, tile: SeenTile) -> bool:
    """Return whether a tile lies where *place* is."""
    return math.dist(place.center, tile.center_px) < _SAME_PLACE * place.side


def _name(tile: SeenTile) -> str:
    """Return what a seen tile is called."""
    one, other = (half.pips for half in halves_of(tile))
    return f"{max(one, other)}-{min(one, other)}"
