"""Infer who played, drew or leads: from the turn, and from the side of the table from which the hand came."""

from __future__ import annotations

from dataclasses import replace

from engine import (
    Amend,
    Draw,
    Event,
    Knock,
    Lead,
    NodeId,
    Play,
    ProblemKind,
    Seat,
    Seq,
    State,
    entries,
    problem_with,
)
from engine.phrases import phrase
from tallybone.session.referee.belief import SURE, log_lawful, log_side, shares
from tallybone.session.referee.places import Known, Places, seen_name
from tallybone.session.referee.questions import Decided, Question, Unclear
from vision.reading import SeenTile

# The turn tells the player of these, where nobody says it.
_BY_TURN = (Lead, Play, Draw, Knock)


def who_acted(
    places: Places, state: State, action: Play | Draw, came_from: tuple[Seat, ...]
) -> tuple[Seat, tuple[Seat, ...]]:
    """Return the seat that did something, and others that may have: then the table is asked.

    Args:
        places: Where the tiles lie.
        state: The match before it.
        action: The action, of the player whose turn it is.
        came_from: The seats at the side from which alone hands came; none where that is not clear.
    """
    seat = action.seat
    if not came_from or seat in came_from:
        return seat, ()
    own, not_own = places.around.came_from_own, places.around.came_from_other
    weights = {seat: log_side(own, not_own, is_own=False) + log_lawful(state, action)}
    for other in came_from:
        weights[other] = log_side(own, not_own, is_own=True) + log_lawful(state, replace(action, seat=other))
    by_share = dict(zip(weights, shares(weights.values()), strict=True))
    best = max(by_share, key=lambda one: by_share[one])
    return (best, ()) if by_share[best] >= SURE else (seat, came_from)


def who_leads(places: Places, state: State, tile: SeenTile) -> Decided | Question:
    """Return the leader where the rules name none: the player at the side from which the hand came, else a question."""
    waiting = next((one for one in places.waiting if one.tile == tile), None)
    if waiting is not None and len(waiting.came_from) == 1:
        led = replace(places.around, lead_by_side=state.next_seq, is_lead_doubted=False)
        return Decided((Lead(waiting.came_from[0]),), replace(places, around=led))
    players = () if state.game is None else state.game.players
    unclear = Unclear(tile, phrase("who leads the {tile}?", tile=seen_name(tile)), holds_up=True, choices=players)
    return Question(unclear, tuple(Decided((Lead(Seat(at)),), places) for at in range(len(players))))


def placed_by(places: Places, state: State, play: Play, known: Known) -> tuple[Play, Places]:
    """Return a play with its player, and the places with its tile, which waits no more.

    A play that came from where it should says that those before it were in turn too, or have been corrected.

    Args:
        places: Where the tiles lie; that of the play waits.
        state: The match before the play.
        play: The play, of the player whose turn it is.
        known: Its tile.
    """
    came_from = next((one.came_from for one in places.waiting if one.tile == known.tile), ())
    around, places = places.around, places.without_waiting(known.tile)
    with_it = replace(places, known=(*places.known, known))
    if not came_from or (play.at is None and around.lead_by_side is not None):
        return play, with_it
    if around.lead_by_side is not None and play.seat not in came_from:
        return play, replace(with_it, around=replace(around, is_lead_doubted=True))
    seat, others = who_acted(places, state, play, came_from)
    if seat not in came_from and _is_turned(places, state, play, came_from):
        led = next(one.seq for one in entries(state) if NodeId(one.seq) == places.known[0].node)
        return play, replace(with_it, around=replace(around, lead_by_side=led, is_lead_doubted=True))
    if seat not in came_from:
        around = replace(around, came_from_other=around.came_from_other + 1)
        named = (*places.known, replace(known, came_from=others))
        return play, replace(places, known=named, around=around)
    own = around.came_from_own + 1
    around = replace(around, came_from_own=own, lead_by_side=None, is_lead_doubted=False)
    cleared = tuple(replace(one, came_from=()) for one in places.known)
    return replace(play, seat=seat), replace(places, known=(*cleared, known), around=around)


def _is_turned(places: Places, state: State, play: Play, came_from: tuple[Seat, ...]) -> bool:
    """Return whether the second tile came from as far away from its turn as the first: then another may have led."""
    if len(places.known) != 1 or len(came_from) != 1 or state.game is None:
        return False
    first, seats = places.known[0], len(state.game.players)
    led = next((one.action for one in entries(state) if NodeId(one.seq) == first.node), None)
    if not isinstance(led, Play) or len(first.came_from) != 1:
        return False
    return (came_from[0] - play.seat) % seats == (first.came_from[0] - led.seat) % seats


def judge_lead(places: Places, state: State) -> Decided | Question:
    """Return the question who led, where the side of a hand told it and that of the next told otherwise."""
    around = replace(places.around, lead_by_side=None, is_lead_doubted=False)
    told = replace(places, around=around, known=tuple(replace(one, came_from=()) for one in places.known))
    lead = next((one.action for one in entries(state) if one.seq == places.around.lead_by_side), None)
    if not isinstance(lead, Lead | Play) or state.game is None or not state.game.layout.nodes:
        return Decided((), told)
    tile, players = state.game.layout.nodes[0].tile, state.game.players
    turns = [(at - lead.seat) % len(players) for at in range(len(players))]
    answers = tuple(Decided(_turned_round(places, state, by), told) for by in turns)
    choices = tuple(phrase("{name} led the {tile}", name=name, tile=tile) for name in players)
    return Question(Unclear(None, phrase("who led the {tile}?", tile=tile), holds_up=True, choices=choices), answers)


def _turned_round(places: Places, state: State, by: int) -> tuple[Event, ...]:
    """Return the amendments that give all actions by turn since the lead to the player *by* seats to the left."""
    assert state.game is not None  # somebody has led
    seats, led = len(state.game.players), places.around.lead_by_side
    events: list[Event] = []
    for one in entries(state) if by else ():
        is_told = led is not None and one.seq >= led and one.seq not in state.irregular
        if is_told and isinstance(one.action, _BY_TURN):
            seat = Seat((one.action.seat + by) % seats)
            events.append(Amend(one.seq, replace(one.action, seat=seat)))
    return tuple(events)


def judge_seat(places: Places, state: State, known: Known) -> Question | None:
    """Return the question who laid a tile of the layout; None where that is clear, or the play is in force no more."""
    play = next((one.action for one in entries(state) if NodeId(one.seq) == known.node), None)
    if not known.came_from or not isinstance(play, Play) or state.game is None:
        return None
    players = state.game.players
    told = places.with_known(replace(known, came_from=()))
    around = replace(
        told.around,
        came_from_own=told.around.came_from_own + 1,
        came_from_other=max(0, told.around.came_from_other - 1),
    )
    was_another = replace(told, around=around)
    amended = (Amend(Seq(known.node), replace(play, seat=other)) for other in known.came_from)
    answers = (Decided((), told), *(Decided((one,), was_another) for one in amended))
    names = [players[seat] for seat in (play.seat, *known.came_from)]
    said = {"name": names[0], "other": names[1], "tile": play.tile}
    words = phrase("it was {name}'s turn, but the {tile} came from {other}'s side: who laid it?", **said)
    choices = tuple(phrase("{name} laid the {tile}", name=name, tile=play.tile) for name in names)
    return Question(Unclear(known.tile, words, holds_up=False, choices=choices), answers)


def judge_maybe_passed(places: Places, state: State, seat: Seat) -> Decided | Question:
    """Return the question whether a player has passed, of whose knock nobody can be sure.

    A player who has to draw first has hardly knocked: that was a tile which the eye has not found yet, or a draw that
    it has not counted yet. So the turn stays theirs.
    """
    told = replace(places, maybe_passed=None, knocked_early=None)
    game, problem, was_early = state.game, problem_with(state, Knock(seat)), places.knocked_early
    is_early = problem is not None and problem.kind is ProblemKind.KNOCK_TOO_EARLY and was_early is not None
    if game is None or (problem is not None and not is_early):
        return Decided((), told)
    if problem is None and was_early is not None:
        # They had drawn: the boneyard was counted a look later.
        return Decided((Knock(seat),) if places.looks <= was_early + 1 else (), told)
    name = game.players[seat]
    choices = (phrase("{name} passes", name=name), phrase("no, nobody knocked"))
    words = phrase("was that a knock of {name}?", name=name)
    if problem is not None:
        words = phrase("{name} knocked? {problem}", name=name, problem=problem.words)
    unclear = Unclear(None, words, holds_up=problem is None, choices=choices)
    return Question(unclear, (Decided((Knock(seat),), told), Decided((), told)))
