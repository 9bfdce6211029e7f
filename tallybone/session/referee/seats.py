"""Infer who played, drew or led, from the turn and the side from which the hand came."""

from __future__ import annotations

from dataclasses import replace

from engine import Amend, Draw, Event, Knock, Lead, NodeId, Play, Seat, Seq, State, entries
from engine.phrases import phrase
from tallybone.session.referee.belief import SURE, log_legality, log_side, shares
from tallybone.session.referee.passes import with_side
from tallybone.session.referee.places import Known, Places, seen_name
from tallybone.session.referee.questions import Ambiguity, Question, Resolution
from vision.reading import SeenTile

# Actions that are credited to the player to move, and so depend on who led.
_BY_TURN = (Lead, Play, Draw, Knock)


def who_acted(
    places: Places, state: State, action: Play | Draw, came_from: tuple[Seat, ...]
) -> tuple[Seat, tuple[Seat, ...]]:
    """Return the seat that acted, and other candidates to ask about. There are no candidates if the seat is sure.

    Args:
        places: The tracked layout.
        state: The match before the action.
        action: The action, credited to the player whose turn it is.
        came_from: Seats at the only side from which hands came. Empty if that is ambiguous.
    """
    seat = action.seat
    if not came_from or seat in came_from:
        return seat, ()
    own, not_own = places.around.came_from_own, places.around.came_from_other
    weights = {seat: log_side(own, not_own, is_own=False) + log_legality(state, action)}
    for other in came_from:
        weights[other] = log_side(own, not_own, is_own=True) + log_legality(state, replace(action, seat=other))
    seat_shares = dict(zip(weights, shares(weights.values()), strict=True))
    best = max(seat_shares, key=lambda candidate: seat_shares[candidate])
    return (best, ()) if seat_shares[best] >= SURE else (seat, came_from)


def who_leads(places: Places, state: State, tile: SeenTile) -> Resolution | Question:
    """Return the lead if the rules name no leader: by the only player at the side of the hand, or a question."""
    lead = next((waiting for waiting in places.waiting if waiting.tile == tile), None)
    if lead is not None and len(lead.came_from) == 1:
        around = replace(places.around, lead_by_side=state.next_seq, is_lead_doubted=False)
        return Resolution((Lead(lead.came_from[0]),), replace(places, around=around))
    players = () if state.game is None else state.game.players
    ambiguity = Ambiguity(tile, phrase("who leads the {tile}?", tile=seen_name(tile)), holds_up=True, choices=players)
    return Question(ambiguity, tuple(Resolution((Lead(Seat(at)),), places) for at in range(len(players))))


def placed_by(places: Places, state: State, play: Play, known: Known) -> tuple[Play, Places]:
    """Return the play with its player, and the places with its tile moved from the waiting ones to the layout.

    A play from the expected side confirms the players of the earlier plays, so their open doubts are dropped.

    Args:
        places: The tracked layout, in which the tile still waits.
        state: The match before the play.
        play: The play, credited to the player whose turn it is.
        known: Its tile.
    """
    came_from = next((waiting.came_from for waiting in places.waiting if waiting.tile == known.tile), ())
    places, is_explained = with_side(places.without_waiting(known.tile), play, came_from)
    around, updated = places.around, replace(places, known=(*places.known, known))
    if is_explained:
        return play, updated
    if not came_from or (play.at is None and around.lead_by_side is not None):
        return play, updated
    if around.lead_by_side is not None and play.seat not in came_from:
        return play, replace(updated, around=replace(around, is_lead_doubted=True))
    seat, others = who_acted(places, state, play, came_from)
    if seat not in came_from and _is_lead_shifted(places, state, play, came_from):
        lead = next(entry.seq for entry in entries(state) if NodeId(entry.seq) == places.known[0].node)
        return play, replace(updated, around=replace(around, lead_by_side=lead, is_lead_doubted=True))
    if seat not in came_from:
        around = replace(around, came_from_other=around.came_from_other + 1)
        doubted = (*places.known, replace(known, came_from=others))
        return play, replace(places, known=doubted, around=around)
    own = around.came_from_own + 1
    around = replace(around, came_from_own=own, lead_by_side=None, is_lead_doubted=False)
    confirmed = tuple(replace(earlier, came_from=()) for earlier in places.known)
    return replace(play, seat=seat), replace(places, known=(*confirmed, known), around=around)


def _is_lead_shifted(places: Places, state: State, play: Play, came_from: tuple[Seat, ...]) -> bool:
    """Return True if the first two tiles came from sides equally many seats away from the players to move.

    Then the wrong player may have been recorded as the leader.
    """
    if len(places.known) != 1 or len(came_from) != 1 or state.game is None:
        return False
    first, seats = places.known[0], len(state.game.players)
    lead = next((entry.action for entry in entries(state) if NodeId(entry.seq) == first.node), None)
    if not isinstance(lead, Play) or len(first.came_from) != 1:
        return False
    return (came_from[0] - play.seat) % seats == (first.came_from[0] - lead.seat) % seats


def judge_lead(places: Places, state: State) -> Resolution | Question:
    """Return a question about who led, because the sides that the first plays came from contradict each other.

    Drops the doubt without a question if the doubtful lead is no longer in force.
    """
    around = replace(places.around, lead_by_side=None, is_lead_doubted=False)
    confirmed = replace(places, around=around, known=tuple(replace(known, came_from=()) for known in places.known))
    lead = next((entry.action for entry in entries(state) if entry.seq == places.around.lead_by_side), None)
    if not isinstance(lead, Lead | Play) or state.game is None or not state.game.layout.nodes:
        return Resolution((), confirmed)
    tile, players = state.game.layout.nodes[0].tile, state.game.players
    shifts = [(at - lead.seat) % len(players) for at in range(len(players))]
    answers = tuple(Resolution(_shift_seats(places, state, by), confirmed) for by in shifts)
    choices = tuple(phrase("{name} led the {tile}", name=name, tile=tile) for name in players)
    return Question(Ambiguity(None, phrase("who led the {tile}?", tile=tile), holds_up=True, choices=choices), answers)


def _shift_seats(places: Places, state: State, by: int) -> tuple[Event, ...]:
    """Move the lead, and every regular play, draw and knock after it, *by* seats to the left.

    Returns amendments, empty if *by* is 0 or the event of the lead is unknown.
    """
    assert state.game is not None  # the hand has been led
    seats, lead = len(state.game.players), places.around.lead_by_side
    events: list[Event] = []
    for entry in entries(state) if by else ():
        is_by_turn = lead is not None and entry.seq >= lead and entry.seq not in state.irregular
        if is_by_turn and isinstance(entry.action, _BY_TURN):
            seat = Seat((entry.action.seat + by) % seats)
            events.append(Amend(entry.seq, replace(entry.action, seat=seat)))
    return tuple(events)


def judge_seat(places: Places, state: State, known: Known) -> Question | None:
    """Return a question about who played a tile, or None if that is known or the play is no longer in force."""
    play = next((entry.action for entry in entries(state) if NodeId(entry.seq) == known.node), None)
    if not known.came_from or not isinstance(play, Play) or state.game is None:
        return None
    players = state.game.players
    by_turn = places.with_known(replace(known, came_from=()))
    around = replace(
        by_turn.around,
        came_from_own=by_turn.around.came_from_own + 1,
        came_from_other=max(0, by_turn.around.came_from_other - 1),
    )
    by_side = replace(by_turn, around=around)
    amendments = (Amend(Seq(known.node), replace(play, seat=other)) for other in known.came_from)
    answers = (Resolution((), by_turn), *(Resolution((amendment,), by_side) for amendment in amendments))
    names = [players[seat] for seat in (play.seat, *known.came_from)]
    fields = {"name": names[0], "other": names[1], "tile": play.tile}
    words = phrase("it was {name}'s turn, but the {tile} came from {other}'s side: who played it?", **fields)
    choices = tuple(phrase("{name} played the {tile}", name=name, tile=play.tile) for name in names)
    return Question(Ambiguity(known.tile, words, holds_up=False, choices=choices), answers)
