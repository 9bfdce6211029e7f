"""Correct earlier readings that a later one contradicts; follow tiles that are taken, moved or stacked.

A history with an amendment and one without are compared by their log odds: what the eye sees of the tile, and what the
rules say about everything that was played. The surer one is taken; between two that are alike the table is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from engine import (
    Amend,
    Call,
    Game,
    Layout,
    Node,
    NodeId,
    Play,
    Seq,
    Stack,
    State,
    Tile,
    Undo,
    apply,
    entries,
    legal_stacks,
    unseen,
)
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
from tallybone.session.referee.questions import Decided, Question, Unclear
from tallybone.session.touching import Joint, Laid, halves_of, joints_at, leading, turns

# So many other readings of a tile are worth a replay of the game.
_MOST_READINGS = 4
# A reading that is less likely by so many log odds, by eye and touch alone, than the one in force is not worth one
# either: more than the rules say against two plays.
_LEAST_GAIN = -12.0
# More tiles than this share of the layout are not taken back.
_CLEARED = 0.5
# A tile that was moved is still joined where it was if that keeps this share of all that it may be.
_STILL_JOINED = 0.1


@dataclass(frozen=True, slots=True)
class Amended:
    """The game as it would stand if a tile of the layout were another.

    Attributes:
        event: The amendment.
        gain: How much more likely that history is than the one in force, in log odds.
        state: The match then.
        places: Where the tiles lie then.
    """

    event: Amend
    gain: float
    state: State
    places: Places


def amendments(
    places: Places, state: State, nodes: Iterable[NodeId], *, wanted: frozenset[int] = frozenset()
) -> Iterator[Amended]:
    """Yield the other readings of the tiles with these names, where the table has not settled them.

    Args:
        places: Where the tiles lie.
        state: The match.
        nodes: Tiles of the layout.
        wanted: Numbers that something else asks for: readings with them are tried however unlikely they seem.
    """
    now: float | None = None
    accepted: set[int] = {entry.seq for entry in entries(state) if entry.accepted}
    for name in dict.fromkeys(nodes):
        known = places.find(name)
        if known is None or known.is_settled or name in accepted:
            continue
        current, others = _readings(places, state, known, wanted)
        for other in others:
            if current is None or other.log_weight - current.log_weight < _LEAST_GAIN:
                continue
            now = log_history(state) if now is None else now
            event = Amend(name, other.play)  # type: ignore[arg-type]  # a tile is named by the place of its play
            after, _ = apply(state, event)
            gain = other.log_weight - current.log_weight + log_history(after) - now
            at = places.with_known(replace(known, laid=Laid(name, other.place), is_reread=False))
            yield Amended(event, gain, after, at)


def judge_reread(places: Places, state: State, known: Known) -> Decided | Question:
    """Return the verdict on another reading of a tile of the layout: an amendment, nothing, or a question."""
    as_it_is = Decided((), places.with_known(replace(known, is_reread=False)))
    ranked = sorted(amendments(places, state, [known.node]), key=lambda one: -one.gain)
    share = shares([0.0, *(one.gain for one in ranked)])
    if share[0] >= SURE:
        return as_it_is
    if share[1] >= SURE:
        return Decided((ranked[0].event,), ranked[0].places)
    return ask_about(places, state, known, ranked[0])


def ask_about(places: Places, state: State, known: Known, other: Amended) -> Question:
    """Return the question whether a tile of the layout is what it is taken for, or another."""
    node = _node(state, known.node)
    play = other.event.action
    assert node is not None  # the callers have looked
    assert isinstance(play, Play)
    told = Decided((), places.with_known(replace(known, is_settled=True, is_reread=False)))
    now = other.places.find(known.node)
    assert now is not None  # an amendment keeps the tile where it is
    amended = Decided((other.event,), other.places.with_known(replace(now, is_settled=True)))
    choices = (the_tile(node.tile), the_tile(play.tile))
    words = phrase("is the {tile} that lies there {tiles}?", tile=node.tile, tiles=either(choices))
    unclear = Unclear(known.tile, words, holds_up=True, choices=choices)
    return Question(unclear, (told, amended))


def settled(places: Places, state: State, name: NodeId) -> Places:
    """Return the places after the table itself has named a tile of the layout."""
    known, node = places.find(name), _node(state, name)
    if known is None or node is None:
        return places
    fitting = [way for way in _all_readings(places, state, known, node) if _shows(way, node)]
    best = max(fitting, key=lambda way: way.log_weight, default=None)
    laid = known.laid if best is None else Laid(name, best.place)
    return places.with_known(replace(known, laid=laid, is_settled=True, is_reread=False))


def _readings(places: Places, state: State, known: Known, wanted: frozenset[int]) -> tuple[Way | None, list[Way]]:
    """Return the reading of a tile that is in force, and the likeliest others, by eye and touch alone."""
    node = _node(state, known.node)
    assert node is not None  # tiles whose play is gone are no longer known
    ranked = sorted(_all_readings(places, state, known, node, wanted), key=lambda way: -way.log_weight)
    current = next((way for way in ranked if _shows(way, node)), None)
    others = [way for way in ranked if not _shows(way, node)]
    asked = [way for way in others[_MOST_READINGS:] if wanted & {way.play.tile.low, way.play.tile.high}]
    return current, [*others[:_MOST_READINGS], *asked[:_MOST_READINGS]]


def _all_readings(
    places: Places, state: State, known: Known, node: Node, wanted: frozenset[int] = frozenset()
) -> Iterator[Way]:
    """Yield every tile that may lie where a tile of the layout does, at its port."""
    game = state.game
    play = next(entry.action for entry in entries(state) if NodeId(entry.seq) == node.id)
    assert game is not None
    assert isinstance(play, Play)
    chances = [log_chances(half, game.rules.max_pips) for half in halves_of(known.tile)]
    also = wanted | {node.inner, node.outer}
    likely = [plausible(one) | also for one in chances]
    for is_double in (False, True):
        for joint in _own_joints(places, game.layout, known, node, is_double=is_double):
            asked = frozenset(() if joint.number is None else (joint.number,))
            firsts, seconds = (likely[half] | (asked if half == joint.inner_half else frozenset()) for half in (0, 1))
            for one, other in product(sorted(firsts), sorted(seconds)):
                if (one == other) is is_double:
                    read_as = Play(play.seat, Tile.of(one, other), node.joins, (one, other)[joint.inner_half])
                    yield Way(read_as, joint.place, chances[0][one] + chances[1][other] - joint.misfit)


def _own_joints(places: Places, layout: Layout, known: Known, node: Node, *, is_double: bool) -> Sequence[Joint]:
    """Return how a tile of the layout may be joined at its own port."""
    if node.joins is None:
        return (_leading_again(known, is_double=is_double),)
    host, lies = layout.find(node.joins.host), places.find(node.joins.host)
    if host is None or lies is None:
        return ()
    covered = [port for port in layout.covered(host) if port is not node.joins.port]
    ways = tuple(turns(known.tile, is_double=is_double))
    found = joints_at(host, lies.place, covered, ways, is_double=is_double)
    return [joint for joint in found if joint.spot == node.joins]


def _leading_again(known: Known, *, is_double: bool) -> Joint:
    """Return how the first tile lies, W and E where they were."""
    is_turned = known.place.lies_along is is_double
    place = leading(known.tile, is_double=is_double).place if is_turned else known.place
    first = halves_of(known.tile)[0].center_px
    inner_half = 0 if is_double or place.inside(first)[0] < 0 else 1
    return Joint(None, None, inner_half, place, 0.0)


def _node(state: State, name: NodeId) -> Node | None:
    return None if state.game is None else state.game.layout.find(name)


def _shows(way: Way, node: Node) -> bool:
    return way.play.tile == node.tile and way.play.inner == node.inner


def judge_missing(places: Places, state: State, known: Known) -> Decided | Question | None:
    """Return the verdict on a tile that was taken off the layout: the last play is undone, any other is asked about.

    Where most of the layout is gone it was covered, or the table is being cleared: nobody took back.
    """
    if places.is_swept or sum(one.is_missing for one in places.known) > max(1.0, _CLEARED * len(places.known)):
        return None
    seq, node = Seq(known.node), _node(state, known.node)
    tile = "tile" if node is None else str(node.tile)
    without = Decided((Undo(seq),), replace(places, known=tuple(one for one in places.known if one != known)))
    if entries(state)[-1].seq == seq:
        return without
    stays = Decided((), places.with_known(replace(known, is_missing=False)))
    words = phrase("the {tile} was taken away: does it count?", tile=tile)
    choices = (
        phrase("the {tile} counts", tile=tile),
        phrase("take back the {tile} and what came after it", tile=tile),
    )
    return Question(Unclear(known.tile, words, holds_up=False, choices=choices), (stays, without))


def ask_about_undone(places: Places) -> Decided | Question:
    """Return the question what is to be done with tiles that still lie there though their plays were undone.

    Where the players lay others without an answer, the tiles count again.
    """
    tiles = listed([the_tile(seen_name(one)) for one in places.undone])
    words = phrase("still on the table: {tiles}. Count it again, or will you remove it?", tiles=tiles)
    choices = (phrase("count it again"), phrase("it will be removed"))
    # One after the other, as they were laid before, and before what was laid since.
    first = min((one.look for one in places.waiting), default=places.looks) - len(places.undone)
    again = tuple(Waiting(one, first + at) for at, one in enumerate(places.undone))
    counted = Decided((), replace(places, undone=(), waiting=(*again, *places.waiting)))
    if places.is_played_on:
        return counted
    removed = replace(places, undone=(), dismissed=(*places.dismissed, *places.undone))
    unclear = Unclear(places.undone[0], words, holds_up=True, choices=choices)
    return Question(unclear, (counted, Decided((), removed)))


def judge_moved(places: Places, state: State, known: Known) -> Decided:
    """Return the verdict on a tile of the layout that lies elsewhere: it was nudged, or taken back and laid anew."""
    nudged = Decided((), places.with_known(replace(known, was_at=None)))
    node = _node(state, known.node)
    if node is None or node.joins is None or _last_but_calls(state) != Seq(known.node):
        return nudged
    before, _ = apply(state, Undo(Seq(known.node)))
    without = replace(places, known=tuple(one for one in places.known if one != known))
    ways = ways_of(without, before, known.tile)
    by_share = zip(shares(way.log_weight for way in ways), ways, strict=True)
    if sum(share for share, way in by_share if way.play.at == node.joins) >= _STILL_JOINED:
        return nudged
    again = replace(without, waiting=(*without.waiting, Waiting(known.tile, places.looks)))
    return Decided((Undo(Seq(known.node)),), again)


def judge_handled(places: Places, state: State, known: Known) -> Decided | Question:
    """Return the verdict on a hand that left the same tile in the same place: where that may steal, a question."""
    untouched = Decided((), places.with_known(replace(known, is_handled=False)))
    node = _node(state, known.node)
    stacks = () if node is None else legal_stacks(state, (node.tile,))
    mine = next((stack for stack in stacks if stack.on == known.node), None)
    if mine is None:
        return untouched
    unclear = Unclear(
        known.tile,
        phrase("was a second {tile} laid on the {tile}?", tile=mine.tile),
        holds_up=True,
        choices=(phrase("a second {tile}", tile=mine.tile), phrase("no, nothing was laid there")),
    )
    return Question(unclear, (replace(untouched, events=(mine,)), untouched))


def judge_stack(places: Places, state: State) -> Decided | Question:
    """Return the stack that the button has announced, or the question on which tile it lies."""
    done = replace(places, wants_stack=False, known=tuple(replace(one, is_handled=False) for one in places.known))
    game = state.game
    found = () if game is None else _stacks(places, state, game)
    if len(found) == 1:
        return Decided(found, done)
    choices = (*(phrase("on the {tile}", tile=stack.tile) for stack in found), phrase("nothing was stacked"))
    answers = (*(Decided((stack,), done) for stack in found), Decided((), done))
    return Question(Unclear(None, phrase("on which tile was its copy laid?"), holds_up=True, choices=choices), answers)


def _stacks(places: Places, state: State, game: Game) -> tuple[Stack, ...]:
    """Return the possible stacks: those of the rules, else all that hands could lay; only seen ones if any."""
    legal = legal_stacks(state, dict.fromkeys(unseen(game)))
    if not legal and game.hand is not None and game.hand.turn is not None:
        hosts = dict.fromkeys(end.spot.host for end in game.layout.ends)
        nodes = [game.layout.find(host) for host in hosts if host not in game.layout.stacked]
        legal = tuple(Stack(game.hand.turn, node.tile, node.id) for node in nodes if node is not None)
    handled = {one.node for one in places.known if one.is_handled}
    return tuple(stack for stack in legal if stack.on in handled) or legal


def _last_but_calls(state: State) -> Seq:
    """Return the name of the last action, apart from calls."""
    return next(entry.seq for entry in reversed(entries(state)) if not isinstance(entry.action, Call))
