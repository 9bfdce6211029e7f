"""Infer the actions of the rules from views of the table, or ask the table.

State. The match is the log of its events (`engine.State`). `Places` is all that is remembered beside it: where the
tiles of the layout lie, which tiles wait to be explained, the boneyard's count, the hands that lie open, what players
pressed, and the time that nobody saw (`Unseen`). `decide` looks at both and returns the next decision, or the open
questions; it is called until it only asks. Each decision is a few events and the places after them.

Evidence. A way in which a tile was laid is weighed in log odds: the numbers that the eye sees (`belief`), how well
its edge meets an end (`touching`), what the rules make of the play, the side from which the hand came (`seats`), when
the tile was first to be seen, the boneyard's count, knocks and presses. So the parts add up, and each doubt is as
large as what speaks for the other side.

Watched plays. A look that shows one new tile is explained alone (`plays`), if need be with another reading of an
earlier tile (`corrections`). All else is a gap: a look with several tiles, a press while something moved, six seconds
in which the table was not seen settled, a restart. One search explains every gap (`courses`): plays, draws, passes,
presses and leads in every order that the turn allows, up to what lies there now. It is told how the time was spent:
watched and heard, heard only, or neither. A hand whose tiles are gone while others lie there is over, whoever has
seen it end (`boneyard`).

Choice. What has 90 % of the weight, counted by what matters to the players, is taken; else the table is asked. A
question about a gap offers beginnings, so that each tap tells as much as it can, and stays as it is while tiles are
laid. Who has drawn how many tiles in a gap is not asked: the likeliest is taken, and corrected where somebody plays on
who should be out, or lays more tiles open than they should have (`boneyard`). Of too many tiles, and where the players
lay three more without an answer, the likeliest course is taken: a game never waits for its referee.

Marks. What was taken without having been seen, and what one tap has told about a gap, is marked in the log
(`Inferred`) until the table confirms it. Marks outlive the hand, a restart and a replay, and the totals that have
them are shown as provisional. Only a person corrects a hand that is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from engine import Node, Phase, State
from tallybone.session.referee.adopting import judge_table
from tallybone.session.referee.boneyard import judge_deal, judge_guessed, judge_yard
from tallybone.session.referee.catching_up import ask_to_confirm, caught_up, is_ready
from tallybone.session.referee.corrections import (
    ask_about_undone,
    judge_handled,
    judge_missing,
    judge_moved,
    judge_reread,
    judge_stack,
    settled,
)
from tallybone.session.referee.open_hands import judge_hands_in_play, judge_reveals
from tallybone.session.referee.places import Known, Places, Unseen, numbers_of
from tallybone.session.referee.plays import judge_laid
from tallybone.session.referee.questions import Decided, Question, Unclear
from tallybone.session.referee.seats import judge_lead, judge_maybe_passed, judge_seat
from tallybone.session.touching import Laid, footprint_of

__all__ = ["Decided", "Places", "Question", "Unclear", "decide", "follow_changes", "forgotten"]


def decide(places: Places, state: State) -> Decided | tuple[Question, ...]:
    """Return the next decision, or all open questions.

    Call it until it only asks. Apply each decision before the next call: its tiles are the next nodes.
    """
    questions: list[Question] = []
    for verdict in (one for one in _verdicts(places, state) if one is not None):
        if isinstance(verdict, Decided):
            if not verdict.events and verdict.places == places:
                continue  # it would be decided again and again
            return verdict
        unclear = verdict.unclear
        holds_up = unclear.holds_up and unclear.topic not in places.ignored
        if holds_up and places.is_played_on:  # nobody answers: until they do, the likelier reading stands
            return Decided((), replace(places, ignored=(*places.ignored, unclear.topic)))
        questions.append(replace(verdict, unclear=replace(unclear, holds_up=holds_up)))
        if holds_up:
            break
    return tuple(questions)


def follow_changes(places: Places, state: State, *, is_undone: bool = False) -> Places:
    """Return the places after the table itself has changed the plays.

    Tiles whose play is gone lie idle, or are asked about where the play was undone by hand; a tile that waited belongs
    to a play that was entered by hand.
    """
    nodes = () if state.game is None else state.game.layout.nodes
    names = {node.id for node in nodes}
    idle = tuple(one.tile for one in places.known if one.node not in names and not one.is_missing)
    known = tuple(one for one in places.known if one.node in names)
    if is_undone:
        places = replace(places, known=known, undone=(*places.undone, *idle))
    else:
        places = replace(places, known=known, dismissed=(*places.dismissed, *idle))
    lacking = [node for node in nodes if places.find(node.id) is None]
    for node in lacking:
        places = _found(places, state, node, is_only=len(lacking) == 1)
    return places


def forgotten(places: Places, state: State) -> Places:
    """Return the places after a deal was taken back: the tile that told it counts for nothing."""
    if state.game is None or state.game.phase in (Phase.LEAD, Phase.PLAY):
        return places
    left = (*places.undone, *(one.tile for one in places.waiting))
    return replace(places, waiting=(), undone=(), dismissed=(*places.dismissed, *left))


def _found(places: Places, state: State, node: Node, *, is_only: bool) -> Places:
    """Return the places after a play entered by hand has found its tile, if one that lies there can be it."""
    waiting = tuple(one.tile for one in places.waiting)
    idle = (*places.undone, *places.dismissed)
    alike = [one for one in (*waiting, *idle) if numbers_of(one) == (node.tile.low, node.tile.high)]
    tiles = alike or (waiting if is_only else ())
    if len(tiles) != 1:
        return places
    known = Known(Laid(node.id, footprint_of(tiles[0])), tiles[0])
    dismissed, undone = (tuple(one for one in of if one != tiles[0]) for of in (places.dismissed, places.undone))
    known_now = (*places.known, known)
    places = replace(places.without_waiting(tiles[0]), known=known_now, dismissed=dismissed, undone=undone)
    return settled(places, state, node.id)


def _verdicts(places: Places, state: State) -> Iterator[Decided | Question | None]:
    """Yield a verdict or None on each thing that was seen, in the order in which they have to be settled."""
    game = state.game
    if game is None:
        return
    if places.adoption is not None:
        yield judge_table(places, state, places.adoption)
        return
    if state.inferred:
        yield ask_to_confirm(places, state)
    yield judge_guessed(places, state)
    yield judge_deal(places, state)
    in_play = game.phase in (Phase.LEAD, Phase.PLAY)
    if in_play:
        yield from _of_layout(places, state)
    # Who laid the last tile stays open when that ends the hand.
    yield from (judge_seat(places, state, one) for one in places.known)
    if in_play:
        yield judge_hands_in_play(places, state)
    else:
        yield from judge_reveals(places, state)


def _of_layout(places: Places, state: State) -> Iterator[Decided | Question | None]:
    """Yield the verdicts on tiles, boneyard and knocks while the hand is played."""
    if places.undone:
        yield ask_about_undone(places)
    for one in places.known:
        if one.is_missing:
            yield judge_missing(places, state, one)
        elif one.was_at is not None:
            yield judge_moved(places, state, one)
    for one in places.known:
        if one.is_reread and not one.is_settled:
            yield judge_reread(places, state, one)
    if places.wants_stack:
        yield judge_stack(places, state)
    for one in places.known:
        if one.is_handled:
            yield judge_handled(places, state, one)
    if places.around.is_lead_doubted:
        yield judge_lead(places, state)
    if places.maybe_passed is not None:
        yield judge_maybe_passed(places, state, places.maybe_passed)
    yield from _in_order(places, state)


def _in_order(places: Places, state: State) -> Iterator[Decided | Question | None]:
    """Yield the verdicts on tiles that wait and on the boneyard, in the order in which they were seen."""
    unseen = places.unseen
    if unseen is not None and unseen.look <= places.looks and all(one.look >= unseen.look for one in places.waiting):
        if not places.is_swept:  # what lies there then is of another hand
            yield caught_up(places, state)
        return
    drawn_at = places.around.yard.since
    has_drawn = False
    for look, group in groupby(sorted(places.waiting, key=lambda one: one.look), key=lambda one: one.look):
        tiles = tuple(group)
        is_pressed = any(one.look < look for one in places.pressed)
        is_search = len(tiles) > 1 or is_pressed or places.is_played_on
        if is_search and drawn_at == look and not is_ready(places):
            return
        if not has_drawn and (drawn_at < look or (drawn_at == look and not is_search)):
            has_drawn = True
            yield judge_yard(places, state)
        if is_search:
            yield caught_up(replace(places, unseen=Unseen(look, is_watched=True)), state)
        for one in tiles:
            yield judge_laid(places, state, one.tile)
    if not has_drawn:
        yield judge_yard(places, state)
