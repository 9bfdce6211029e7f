"""Tiles of the layout that were taken away, put elsewhere, or covered by their copy."""

from __future__ import annotations

from dataclasses import replace

from engine import Call, Game, NodeId, Play, Seq, Stack, State, Undo, apply, entries, legal_stacks, unseen
from engine.phrases import phrase
from tallybone.session.referee.belief import shares
from tallybone.session.referee.decode import ways_of
from tallybone.session.referee.places import Known, Places, Waiting
from tallybone.session.referee.questions import Decided, Question, Unclear

# A tile that was moved is still joined where it was if that keeps this share of all that it may be.
_STILL_JOINED = 0.1


def judge_missing(places: Places, state: State, known: Known) -> Decided | Question:
    """Return what follows from a tile of the layout being taken away: the last play is taken back, others are asked."""
    seq, tile = Seq(known.node), _name(state, known.node)
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


def judge_moved(places: Places, state: State, known: Known) -> Decided:
    """Return what follows from a tile of the layout lying elsewhere: it was nudged, or taken back and laid anew."""
    nudged = Decided((), places.with_known(replace(known, was_at=None)))
    node = None if state.game is None else state.game.layout.find(known.node)
    if node is None or node.joins is None or _last_play(state) != known.node:
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
    """Return what follows from a hand that left the same tile in the same place: where that may steal, a question."""
    untouched = Decided((), places.with_known(replace(known, is_handled=False)))
    node = None if state.game is None else state.game.layout.find(known.node)
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
    """Return on which tile the stack lies of which the button has told."""
    done = replace(places, wants_stack=False, known=tuple(replace(one, is_handled=False) for one in places.known))
    game = state.game
    found = () if game is None else _stacks(places, state, game)
    if len(found) == 1:
        return Decided(found, done)
    choices = (*(phrase("on the {tile}", tile=stack.tile) for stack in found), phrase("nothing was stacked"))
    answers = (*(Decided((stack,), done) for stack in found), Decided((), done))
    return Question(Unclear(None, phrase("on which tile was its copy laid?"), holds_up=True, choices=choices), answers)


def _stacks(places: Places, state: State, game: Game) -> tuple[Stack, ...]:
    """Return what may have been stacked: what the rules allow, else what hands could do; seen ones before all."""
    legal = legal_stacks(state, dict.fromkeys(unseen(game)))
    if not legal and game.hand is not None and game.hand.turn is not None:
        hosts = dict.fromkeys(end.spot.host for end in game.layout.ends)
        nodes = [game.layout.find(host) for host in hosts if host not in game.layout.stacked]
        legal = tuple(Stack(game.hand.turn, node.tile, node.id) for node in nodes if node is not None)
    handled = {one.node for one in places.known if one.is_handled}
    return tuple(stack for stack in legal if stack.on in handled) or legal


def _last_play(state: State) -> NodeId | None:
    """Return the play after which nothing was done but calling its points; None where something else was."""
    for entry in reversed(entries(state)):
        if not isinstance(entry.action, Call):
            return NodeId(entry.seq) if isinstance(entry.action, Play) else None
    return None


def _name(state: State, name: NodeId) -> str:
    node = None if state.game is None else state.game.layout.find(name)
    return "tile" if node is None else str(node.tile)
