"""Infer the actions of the rules from views of the table, or ask the table.

State. The match is the log of its events (`engine.State`). `Places` has everything else that is kept between looks:
the places of the layout's tiles, new tiles that are not explained yet, the boneyard's count, open hands, queued
presses, and the current gap (`Unseen`). `decide` takes both and returns the next resolution or the open questions. The
caller applies each resolution (events, and the places after them) and calls `decide` again until it returns questions.

Evidence. A possible play is weighted by a sum of log odds. They come from the pips as read (`belief`), the fit of its
edge to a port (`touching`), its legality, and the side of the hand (`seats`). In a gap, the time at which the tile
appeared, the boneyard's count, knocks and presses are added.

Watched plays. A look with one new tile is explained by itself (`plays`), if necessary with another reading of an
earlier tile (`corrections`).

Gaps. Everything else is a gap: a look with several tiles, a press during motion, six seconds without a settled view, or
a restart. One search explains all gaps (`courses`). It tries plays, draws, passes, presses and leads in every order
that the turn allows, up to the table as it is now. It takes into account if the gap was seen and heard, only heard, or
neither. A hand whose tiles are gone while others are on the table is over, even if its end was not seen (`boneyard`).

Choice. A result with 90 % of the weight is taken. Otherwise the players are asked. A question about a gap offers
beginnings with the most information per answer, and does not change while tiles are laid. Draws in a gap are not asked
about. The likeliest are taken, and corrected if a player plays on who should be out, or shows more tiles than expected
(`boneyard`). The likeliest course is also taken if there are too many tiles to ask about, or if the players lay three
more tiles without an answer. The game never waits for the referee.

Marks. Inferred actions, and gaps resolved by a single answer, are marked in the log (`Inferred`) until the players
confirm them. The marks survive the end of the hand, a restart and a replay, and make the totals provisional. Once a
hand is over, only the players correct it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from engine import Node, Phase, Seat, Seq, State
from tallybone.session.referee.adopting import judge_table
from tallybone.session.referee.boneyard import drawn, judge_deal, judge_guessed, judge_yard
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
from tallybone.session.referee.passes import (
    judge_before_draw,
    judge_before_tile,
    judge_maybe_passed,
    judge_undecided,
    judge_unheard,
    undecided_action,
)
from tallybone.session.referee.places import Known, Places, Unseen, Waiting, numbers_of
from tallybone.session.referee.plays import judge_laid
from tallybone.session.referee.questions import Ambiguity, Question, Resolution
from tallybone.session.referee.seats import judge_lead, judge_seat
from tallybone.session.touching import Laid, footprint_of

__all__ = ["Ambiguity", "Places", "Question", "Resolution", "decide", "follow_changes", "forgotten"]


def decide(places: Places, state: State) -> Resolution | tuple[Question, ...]:
    """Return the next resolution, or all open questions.

    Apply each resolution before the next call, because its plays become the next nodes. Stop once it returns questions.
    """
    questions: list[Question] = []
    for verdict in (verdict for verdict in _verdicts(places, state) if verdict is not None):
        if isinstance(verdict, Resolution):
            if not verdict.events and verdict.places == places:
                continue  # without effect: returning it would never end
            return verdict
        ambiguity = verdict.ambiguity
        holds_up = ambiguity.holds_up and ambiguity.topic not in places.ignored
        if holds_up and places.is_played_on:  # ignored by the players: go on with the likelier reading
            return Resolution((), replace(places, ignored=(*places.ignored, ambiguity.topic)))
        questions.append(replace(verdict, ambiguity=replace(ambiguity, holds_up=holds_up)))
        if holds_up:
            break
    # The last question is shown first. A question about a pass is urgent, because the next action answers it.
    return tuple(
        sorted(questions, key=lambda question: (question.ambiguity.holds_up, question.ambiguity.seat is not None))
    )


def follow_changes(places: Places, state: State, *, is_undone: bool = False) -> Places:
    """Return the places after events have changed the plays of the match.

    Tiles whose plays are no longer in force are dismissed. If *is_undone*, a person has undone the plays, so the
    players are asked about these tiles instead. A play that is in force again gets its tile back. A play entered by
    hand is matched with a tile on the table.
    """
    nodes = () if state.game is None else state.game.layout.nodes
    names = {node.id for node in nodes}
    former = tuple(known for known in places.known if known.node not in names and not known.is_missing)
    idle = tuple(known.tile for known in former)
    known = tuple(known for known in places.known if known.node in names)
    if is_undone:
        places = replace(places, known=known, undone=(*places.undone, *idle))
    else:
        places = replace(places, known=known, dismissed=(*places.dismissed, *idle))
    for old in places.former:
        off = places.undone, places.dismissed
        if old.node in names and places.find(old.node) is None and any(old.tile in tiles for tiles in off):
            undone, dismissed = (tuple(tile for tile in tiles if tile != old.tile) for tiles in off)
            places = replace(places, known=(*places.known, old), undone=undone, dismissed=dismissed)
    places = replace(places, former=(*places.former, *former))
    lacking = [node for node in nodes if places.find(node.id) is None]
    for node in lacking:
        places = _with_tile_of(places, state, node, is_only=len(lacking) == 1)
    return places


def forgotten(places: Places, state: State) -> Places:
    """Return the places after an undo. Between hands, dismiss the waiting tiles, or they would cause the deal again."""
    if state.game is None or state.game.phase in (Phase.LEAD, Phase.PLAY):
        return places
    left = (*places.undone, *(waiting.tile for waiting in places.waiting))
    return replace(places, waiting=(), undone=(), dismissed=(*places.dismissed, *left))


def _with_tile_of(places: Places, state: State, node: Node, *, is_only: bool) -> Places:
    """Return the places after matching a play entered by hand with a tile on the table, if possible.

    The tile must be the only waiting, undone or dismissed one with the numbers of the play. If no tile has these
    numbers and *is_only* (no other play lacks a tile), a single waiting tile is taken.
    """
    waiting = tuple(other.tile for other in places.waiting)
    idle = (*places.undone, *places.dismissed)
    alike = [tile for tile in (*waiting, *idle) if numbers_of(tile) == (node.tile.low, node.tile.high)]
    tiles = alike or (waiting if is_only else ())
    if len(tiles) != 1:
        return places
    known = Known(Laid(node.id, footprint_of(tiles[0])), tiles[0])
    dismissed, undone = (tuple(old for old in of if old != tiles[0]) for of in (places.dismissed, places.undone))
    layout = (*places.known, known)
    places = replace(places.without_waiting(tiles[0]), known=layout, dismissed=dismissed, undone=undone)
    return settled(places, state, node.id)


def _verdicts(places: Places, state: State) -> Iterator[Resolution | Question | None]:
    """Yield a verdict, or None if there is nothing to decide, on each piece of evidence, in the order of resolution."""
    game = state.game
    if game is None:
        return
    if places.adoption is not None:
        yield judge_table(places, state, places.adoption)
        return
    if state.inferred:
        yield ask_to_confirm(places, state)
    decided = judge_undecided(places, state)
    if places.maybe_passed is None or isinstance(decided, Resolution):  # one question about passes at a time
        yield decided
    yield judge_guessed(places, state)
    yield judge_deal(places, state)
    in_play = game.phase in (Phase.LEAD, Phase.PLAY)
    if in_play:
        yield from _of_layout(places, state)
    # The player of the last tile may still be in doubt after the hand has ended.
    asked = undecided_action(places, state)
    yield from (judge_seat(places, state, known) for known in places.known if Seq(known.node) != asked)
    if in_play:
        yield judge_hands_in_play(places, state)
    else:
        yield from judge_reveals(places, state)


def _of_layout(places: Places, state: State) -> Iterator[Resolution | Question | None]:
    """Yield verdicts on tiles, boneyard and knocks during a hand."""
    if places.undone:
        yield ask_about_undone(places)
    for known in places.known:
        if known.is_missing:
            yield judge_missing(places, state, known)
        elif known.was_at is not None:
            yield judge_moved(places, state, known)
    for known in places.known:
        if known.is_reread and not known.is_settled:
            yield judge_reread(places, state, known)
    if places.wants_stack:
        yield judge_stack(places, state)
    for known in places.known:
        if known.is_handled:
            yield judge_handled(places, state, known)
    if places.around.is_lead_doubted:
        yield judge_lead(places, state)
    if places.maybe_passed is not None:
        yield _of_doubt(places, state, places.maybe_passed)
    yield from _in_order(places, state)


def _of_doubt(places: Places, state: State, seat: Seat) -> Resolution | Question | None:
    """Return the passes of *seat* and the next players before the next action, or a question if there is none yet.

    None if the passes are explained together with the other actions of a gap.
    """
    if places.knocked_early is None:
        if places.unseen is not None:
            return None
        for look, group in groupby(sorted(places.waiting, key=_look_of), key=_look_of):
            tiles = tuple(group)
            if _is_search(places, look, tiles):
                return None
            found = judge_before_tile(places, state, tiles[0])
            if found is not None:
                return found
        draw = drawn(places, state)
        if draw is not None and not places.waiting:
            return judge_before_draw(places, state, draw)
    return judge_maybe_passed(places, state, seat)


def _is_search(places: Places, look: int, tiles: tuple[Waiting, ...]) -> bool:
    """Check whether the tiles of a look are explained by a search, because their order is unknown."""
    return len(tiles) > 1 or any(press.look < look for press in places.pressed) or places.is_played_on


def _in_order(places: Places, state: State) -> Iterator[Resolution | Question | None]:
    """Yield verdicts on waiting tiles and on the boneyard, in the order in which they were seen."""
    unseen, waiting = places.unseen, sorted(places.waiting, key=_look_of)
    if unseen is not None and unseen.look <= places.looks and all(tile.look >= unseen.look for tile in waiting):
        if not places.is_swept:  # if the layout is gone, the waiting tiles belong to another hand
            yield caught_up(places, state)
        return
    drawn_at = places.around.yard.since
    is_yard_judged = False
    for look, group in groupby(waiting, key=_look_of):
        tiles = tuple(group)
        is_search = _is_search(places, look, tiles)
        if is_search and drawn_at == look and not is_ready(places):
            return
        if not is_yard_judged and (drawn_at < look or (drawn_at == look and not is_search)):
            is_yard_judged = True
            yield judge_yard(places, state)
        if is_search:
            yield caught_up(replace(places, unseen=Unseen(look, is_watched=True)), state)
        for tile in tiles:
            yield judge_unheard(places, state, tile)
            yield judge_laid(places, state, tile.tile)
    if not is_yard_judged:
        yield judge_yard(places, state)


def _look_of(waiting: Waiting) -> int:
    return waiting.look
