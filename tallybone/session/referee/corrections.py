"""Amend earlier readings, and handle tiles of the layout that are removed, moved or stacked.

The history with an amendment is compared with the one in force by log weight: the tile as read, and the legality of
everything played. The likelier one is taken if it is sure. Otherwise the players are asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import engine
from engine import Amend, Call, Game, Layout, Node, NodeId, Play, Seq, Stack, State, Undo, apply, entries, legal_stacks
from engine.phrases import either, listed, phrase
from engine.state.problems import the_tile
from tallybone.session.referee.belief import (
    SURE,
    Way,
    log_chances,
    log_history,
    plausible,
    shares,
    ways_of,
)
from tallybone.session.referee.places import Known, Places, Waiting, seen_name
from tallybone.session.referee.questions import Ambiguity, Question, Resolution
from tallybone.session.touching import Joint, Laid, halves_of, joints_at, leading, turns

# Maximum number of other readings of a tile to try. Each requires a replay of the match.
_MAX_READINGS = 4
# Minimum log odds of another reading to the one in force, by pips and touch alone. Less likely readings are not tried.
# Two illegal plays cost less than this, so the rules cannot make up for a lower value.
_MIN_GAIN = -12.0
# Above this share of missing tiles, the layout is covered or being cleared rather than taken back.
_CLEARED = 0.5
# Minimum share of the weight at the old port for a moved tile to remain joined there.
_STILL_JOINED = 0.1


@dataclass(frozen=True, slots=True)
class Amended:
    """The match with another reading of a tile of the layout.

    Attributes:
        event: The amendment.
        gain: Log odds of the amended history to the one in force.
        state: The match after the amendment.
        places: The tracked layout after the amendment.
    """

    event: Amend
    gain: float
    state: State
    places: Places


def amendments(
    places: Places, state: State, nodes: Iterable[NodeId], *, also: frozenset[int] = frozenset()
) -> Iterator[Amended]:
    """Yield the match with other readings of the given tiles, except those that the players have settled or accepted.

    Only the likeliest readings of each tile are tried.

    Args:
        places: The tracked layout.
        state: The match.
        nodes: Tiles of the layout.
        also: Numbers to try even if the reader finds them unlikely.
    """
    now: float | None = None
    accepted: set[int] = {entry.seq for entry in entries(state) if entry.accepted}
    for name in dict.fromkeys(nodes):
        known = places.find(name)
        if known is None or known.is_settled or name in accepted:
            continue
        current, others = _readings(places, state, known, also)
        for other in others:
            if current is None or other.log_weight - current.log_weight < _MIN_GAIN:
                continue
            now = log_history(state) if now is None else now
            event = Amend(name, other.play)  # type: ignore[arg-type]  # a node has the number of its play
            after, _ = apply(state, event)
            gain = other.log_weight - current.log_weight + log_history(after) - now
            at = places.with_known(replace(known, laid=Laid(name, other.place), is_reread=False))
            yield Amended(event, gain, after, at)


def judge_reread(places: Places, state: State, known: Known) -> Resolution | Question:
    """Return a verdict on a tile of the layout that is read differently: no change, an amendment, or a question."""
    unchanged = Resolution((), places.with_known(replace(known, is_reread=False)))
    ranked = sorted(amendments(places, state, [known.node]), key=lambda amended: -amended.gain)
    share = shares([0.0, *(amended.gain for amended in ranked)])
    if share[0] >= SURE:
        return unchanged
    if share[1] >= SURE:
        return Resolution((ranked[0].event,), ranked[0].places)
    return ask_about(places, state, known, ranked[0])


def ask_about(places: Places, state: State, known: Known, other: Amended) -> Question:
    """Return a question about the reading of a tile of the layout: the one in force, or *other*."""
    node = _node(state, known.node)
    play = other.event.action
    assert node is not None  # checked by the callers
    assert isinstance(play, Play)
    unchanged = Resolution((), places.with_known(replace(known, is_settled=True, is_reread=False)))
    reread = other.places.find(known.node)
    assert reread is not None  # an amendment does not move the tile
    amended = Resolution((other.event,), other.places.with_known(replace(reread, is_settled=True)))
    choices = (the_tile(node.tile), the_tile(play.tile))
    words = phrase("is the tile read as {tile} really {tiles}?", tile=node.tile, tiles=either(choices))
    ambiguity = Ambiguity(known.tile, words, holds_up=True, choices=choices)
    return Question(ambiguity, (unchanged, amended))


def settled(places: Places, state: State, name: NodeId) -> Places:
    """Return the places after the players have named a tile of the layout. Its footprint is updated to match.

    The places are unchanged if the tile or its place is unknown.
    """
    known, node = places.find(name), _node(state, name)
    if known is None or node is None:
        return places
    fitting = [way for way in _all_readings(places, state, known, node) if _shows(way, node)]
    best = max(fitting, key=lambda way: way.log_weight, default=None)
    laid = known.laid if best is None else Laid(name, best.place)
    return places.with_known(replace(known, laid=laid, is_settled=True, is_reread=False))


def _readings(places: Places, state: State, known: Known, also: frozenset[int]) -> tuple[Way | None, list[Way]]:
    """Return a tile's reading in force, None if it does not fit, and the likeliest others, by pips and touch alone.

    There are up to _MAX_READINGS others, plus as many less likely ones that contain a number of *also*.
    """
    node = _node(state, known.node)
    assert node is not None  # only tiles whose play is in force are known
    ranked = sorted(_all_readings(places, state, known, node, also), key=lambda way: -way.log_weight)
    current = next((way for way in ranked if _shows(way, node)), None)
    others = [way for way in ranked if not _shows(way, node)]
    extra = [way for way in others[_MAX_READINGS:] if also & {way.play.tile.low, way.play.tile.high}]
    return current, [*others[:_MAX_READINGS], *extra[:_MAX_READINGS]]


def _all_readings(
    places: Places, state: State, known: Known, node: Node, also: frozenset[int] = frozenset()
) -> Iterator[Way]:
    """Yield every possible reading of a tile of the layout, joined at its own port, weighted by pips and touch."""
    game = state.game
    play = next(entry.action for entry in entries(state) if NodeId(entry.seq) == node.id)
    assert game is not None
    assert isinstance(play, Play)
    chances = [log_chances(half, game.rules.max_pips) for half in halves_of(known.tile)]
    also |= {node.inner, node.outer}
    likely = [plausible(half_chances) | also for half_chances in chances]
    for is_double in (False, True):
        for joint in _own_joints(places, game.layout, known, node, is_double=is_double):
            needed = frozenset(() if joint.number is None else (joint.number,))
            firsts, seconds = (likely[half] | (needed if half == joint.inner_half else frozenset()) for half in (0, 1))
            for first, second in product(sorted(firsts), sorted(seconds)):
                if (first == second) is is_double:
                    read_as = Play(
                        play.seat, engine.Tile.of(first, second), node.joins, (first, second)[joint.inner_half]
                    )
                    yield Way(read_as, joint.place, chances[0][first] + chances[1][second] - joint.misfit)


def _own_joints(places: Places, layout: Layout, known: Known, node: Node, *, is_double: bool) -> Sequence[Joint]:
    """Return the possible joints of a tile of the layout at its own port. Empty if the place of its host is unknown."""
    if node.joins is None:
        return (_leading_again(known, is_double=is_double),)
    host, host_known = layout.find(node.joins.host), places.find(node.joins.host)
    if host is None or host_known is None:
        return ()
    covered = [port for port in layout.covered(host) if port is not node.joins.port]
    ways = tuple(turns(known.tile, is_double=is_double))
    host_joints = joints_at(host, host_known.place, covered, ways, is_double=is_double)
    return [joint for joint in host_joints if joint.spot == node.joins]


def _leading_again(known: Known, *, is_double: bool) -> Joint:
    """Return the joint of the first tile. W and E stay where they were unless the tile changes to or from a double."""
    is_turned = known.place.lies_along is is_double
    place = leading(known.tile, is_double=is_double).place if is_turned else known.place
    first = halves_of(known.tile)[0].center_px
    inner_half = 0 if is_double or place.inside(first)[0] < 0 else 1
    return Joint(None, None, inner_half, place, 0.0)


def _node(state: State, name: NodeId) -> Node | None:
    return None if state.game is None else state.game.layout.find(name)


def _shows(way: Way, node: Node) -> bool:
    return way.play.tile == node.tile and way.play.inner == node.inner


def judge_missing(places: Places, state: State, known: Known) -> Resolution | Question | None:
    """Return a verdict on a tile that is missing from the layout: undo the last action, ask about an earlier one.

    None if most of the layout is missing, because the table is covered or being cleared.
    """
    missing = sum(other.is_missing for other in places.known)
    if places.is_swept or missing > max(1.0, _CLEARED * len(places.known)):
        return None
    seq, node = Seq(known.node), _node(state, known.node)
    tile = "tile" if node is None else str(node.tile)
    rest = tuple(other for other in places.known if other != known)
    without = Resolution((Undo(seq),), replace(places, known=rest))
    if entries(state)[-1].seq == seq:
        return without
    stays = Resolution((), places.with_known(replace(known, is_missing=False)))
    words = phrase("the {tile} was removed: does it still count?", tile=tile)
    choices = (
        phrase("the {tile} counts", tile=tile),
        phrase("undo the {tile} and everything after it", tile=tile),
    )
    return Question(Ambiguity(known.tile, words, holds_up=False, choices=choices), (stays, without))


def ask_about_undone(places: Places) -> Resolution | Question:
    """Return a question about tiles that are still on the table although their plays were undone.

    If the players play on without an answer, returns the resolution that counts the tiles as played again.
    """
    tiles = listed([the_tile(seen_name(tile)) for tile in places.undone])
    words = phrase("still on the table: {tiles}. Count it again, or take it off the table?", tiles=tiles)
    choices = (phrase("count it again"), phrase("take it off the table"))
    # Give the undone tiles consecutive looks, in their earlier order and before all tiles laid since.
    first = min((waiting.look for waiting in places.waiting), default=places.looks) - len(places.undone)
    again = tuple(Waiting(tile, first + at) for at, tile in enumerate(places.undone))
    counted = Resolution((), replace(places, undone=(), waiting=(*again, *places.waiting)))
    if places.is_played_on:
        return counted
    removed = replace(places, undone=(), dismissed=(*places.dismissed, *places.undone))
    ambiguity = Ambiguity(places.undone[0], words, holds_up=True, choices=choices)
    return Question(ambiguity, (counted, Resolution((), removed)))


def judge_moved(places: Places, state: State, known: Known) -> Resolution:
    """Return a verdict on a tile of the layout that has moved: it was nudged, or taken back and played elsewhere.

    Only the last action except calls can be taken back. Its tile counts as nudged while it may still join the same
    port.
    """
    nudged = Resolution((), places.with_known(replace(known, was_at=None)))
    node = _node(state, known.node)
    if node is None or node.joins is None or _last_but_calls(state) != Seq(known.node):
        return nudged
    before, _ = apply(state, Undo(Seq(known.node)))
    without = replace(places, known=tuple(other for other in places.known if other != known))
    ways = ways_of(without, before, known.tile)
    weighed = zip(shares(way.log_weight for way in ways), ways, strict=True)
    if sum(share for share, way in weighed if way.play.at == node.joins) >= _STILL_JOINED:
        return nudged
    again = replace(without, waiting=(*without.waiting, Waiting(known.tile, places.looks)))
    return Resolution((Undo(Seq(known.node)),), again)


def judge_handled(places: Places, state: State, known: Known) -> Resolution | Question:
    """Return a verdict on a tile that a hand has touched without a visible change.

    Asks the players if a second copy may have been stacked on the tile legally. Otherwise, forgets the touch.
    """
    untouched = Resolution((), places.with_known(replace(known, is_handled=False)))
    node = _node(state, known.node)
    stacks = () if node is None else legal_stacks(state, (node.tile,))
    stack = next((legal for legal in stacks if legal.on == known.node), None)
    if stack is None:
        return untouched
    ambiguity = Ambiguity(
        known.tile,
        phrase("was a second {tile} stacked on the {tile}?", tile=stack.tile),
        holds_up=True,
        choices=(phrase("a second {tile}", tile=stack.tile), phrase("no, nothing was stacked there")),
    )
    return Question(ambiguity, (replace(untouched, events=(stack,)), untouched))


def judge_stack(places: Places, state: State) -> Resolution | Question:
    """Return the stack that the button has announced if only one is possible, or a question about its host."""
    done = replace(places, wants_stack=False, known=tuple(replace(known, is_handled=False) for known in places.known))
    game = state.game
    stacks = () if game is None else _stacks(places, state, game)
    if len(stacks) == 1:
        return Resolution(stacks, done)
    choices = (*(phrase("on the {tile}", tile=stack.tile) for stack in stacks), phrase("nothing was stacked"))
    answers = (*(Resolution((stack,), done) for stack in stacks), Resolution((), done))
    return Question(
        Ambiguity(None, phrase("which tile was its copy stacked on?"), holds_up=True, choices=choices), answers
    )


def _stacks(places: Places, state: State, game: Game) -> tuple[Stack, ...]:
    """Return the possible stacks: the legal ones, or if there are none, one on each tile with an open end.

    If a hand has touched any of these tiles, only stacks on touched ones.
    """
    legal = legal_stacks(state, dict.fromkeys(engine.unseen(game)))
    if not legal and game.hand is not None and game.hand.turn is not None:
        hosts = dict.fromkeys(end.spot.host for end in game.layout.ends)
        nodes = [game.layout.find(host) for host in hosts if host not in game.layout.stacked]
        legal = tuple(Stack(game.hand.turn, node.tile, node.id) for node in nodes if node is not None)
    handled = {known.node for known in places.known if known.is_handled}
    return tuple(stack for stack in legal if stack.on in handled) or legal


def _last_but_calls(state: State) -> Seq:
    """Return the event number of the last action that is not a call."""
    return next(entry.seq for entry in reversed(entries(state)) if not isinstance(entry.action, Call))
