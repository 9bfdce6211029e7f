"""Adopt the layout as it lies: "the table is right", from any state of the match.

A person says which hand lies there. Plays whose tile is gone are taken back, tiles that are not part of the layout are
laid by the likeliest course, and all other doubts are dropped. What nobody saw is marked until the table confirms it.
"""

from __future__ import annotations

from dataclasses import replace

from engine import (
    Abandon,
    Amend,
    Domino,
    Event,
    Game,
    HandEnd,
    ItStands,
    Layout,
    NewHand,
    NodeId,
    Phase,
    Play,
    Remove,
    Seat,
    Seq,
    State,
    Undo,
    apply,
    entries,
    problem_with,
)
from engine.phrases import phrase
from tallybone.session.referee.boneyard import after, ended_unseen
from tallybone.session.referee.corrections import amendments, settled
from tallybone.session.referee.courses import UnseenCourse, courses
from tallybone.session.referee.places import Adoption, Known, Places, Unseen, Waiting, cleared, numbers_of
from tallybone.session.referee.questions import Decided, Question, Unclear
from tallybone.session.touching import Laid, footprint_of


def judge_table(places: Places, state: State, adoption: Adoption) -> Decided | Question:
    """Return the next step of adopting the layout: a question, or what makes the match agree with the table."""
    game, done = state.game, replace(places, adoption=None)
    assert game is not None  # without a match nothing is judged
    in_play = game.phase in (Phase.LEAD, Phase.PLAY)
    match adoption:
        case Adoption.ASKED:
            return _ask_which_hand(places, state, game)
        case Adoption.NEW_HAND:
            ended = _ended(state, game) or ()
            fresh = replace(cleared(places), waiting=_lying(places), dismissed=(), adoption=Adoption.SAME_HAND)
            return Decided((*ended, NewHand()), fresh, is_inferred=bool(ended))
        case Adoption.DEALT_EARLY:
            dealt = max(one.seq for one in entries(state) if isinstance(one.action, NewHand))
            return Decided((Undo(dealt),), done)
        case Adoption.SAME_HAND if in_play:
            return _adopted(done, state)
        case Adoption.SAME_HAND | Adoption.HAND_BEFORE:
            reopened = _reopened(state)
            return Decided(reopened, replace(places, adoption=Adoption.SAME_HAND) if reopened else done)
        case Adoption.HAND_OVER:
            return _adopted(replace(places, adoption=Adoption.ENDED), state)
        case _:
            return _ask_how_it_ended(done, state, game) if in_play else Decided((), done)


def _ask_which_hand(places: Places, state: State, game: Game) -> Question:
    """Return the question which hand lies on the table, with the choices that the state of the match leaves."""
    number, phase = 0 if game.hand is None else game.hand.number, game.phase
    choices: dict[str, Adoption | None] = {}
    if number:
        choices[phrase("hand {number} goes on", number=number)] = Adoption.SAME_HAND
    if number > 1 and phase is Phase.LEAD:
        choices[phrase("hand {number} goes on", number=number - 1)] = Adoption.HAND_BEFORE
        choices[phrase("hand {number} is over", number=number - 1)] = Adoption.DEALT_EARLY
    if phase is Phase.PLAY:
        choices[phrase("hand {number} is over", number=number)] = Adoption.HAND_OVER
    ended = _ended(state, game)
    if phase is not Phase.LEAD and ended is not None and problem_with(after(state, ended), NewHand()) is None:
        choices[phrase("hand {number} has been dealt", number=number + 1)] = Adoption.NEW_HAND
    choices[phrase("leave everything as it was")] = None
    answers = tuple(Decided((), replace(places, adoption=one)) for one in choices.values())
    words = phrase("the table is right: which hand lies there?")
    return Question(Unclear(None, words, holds_up=True, choices=tuple(choices)), answers)


def _ended(state: State, game: Game) -> tuple[Event, ...] | None:
    """Return the events that end the current hand, none if it is over; None if they would end the match."""
    return () if game.phase in (Phase.DEAL, Phase.MATCH_OVER) else ended_unseen(state)


def _ask_how_it_ended(places: Places, state: State, game: Game) -> Question:
    """Return the question how the hand in play has ended: who is out, by the count of their tiles first."""
    assert game.hand is not None  # one is in play
    sizes = game.hand.sizes
    choices: dict[str, Event] = {
        phrase("{name} is out", name=game.players[seat]): Domino(Seat(seat))
        for seat in sorted(range(len(sizes)), key=lambda seat: sizes[seat])
    }
    choices |= {phrase("nobody can play"): HandEnd(), phrase("it does not count"): Abandon()}
    # The table knows better than the count of the tiles.
    stands = (ItStands(state.next_seq),)
    answers = tuple(Decided((one, *(stands if problem_with(state, one) else ())), places) for one in choices.values())
    words = phrase("how did the hand end?")
    return Question(Unclear(None, words, holds_up=True, choices=tuple(choices)), answers)


def _reopened(state: State) -> tuple[Event, ...]:
    """Return the events that take back the end of the last hand; none where there was none.

    A play that went out stays, if its player may have been dealt one more tile than the rules say.
    """
    done, later = entries(state), tuple[Event, ...]()
    for one in reversed(done):
        if _is_played(apply(state, Undo(one.seq))[0]):
            break
        later = (Undo(one.seq),)
    else:
        return ()
    game, action = state.game, one.action
    dealt = next((deal for deal in reversed(done) if deal.seq < one.seq and isinstance(deal.action, NewHand)), None)
    if game is not None and isinstance(action, Play) and dealt is not None and isinstance(dealt.action, NewHand):
        sizes = list(dealt.action.dealt or (game.rules.dealt(len(game.players)),) * len(game.players))
        sizes[action.seat] += 1
        events = (*later, Amend(dealt.seq, replace(dealt.action, dealt=tuple(sizes))))
        if _is_played(after(state, events)):
            return events
    return (Undo(one.seq),)


def _is_played(state: State) -> bool:
    return state.game is not None and state.game.phase is Phase.PLAY


def _adopted(places: Places, state: State) -> Decided:
    """Return the corrections and the likeliest course that turn the layout of the hand into the one on the table."""
    assert state.game is not None  # a hand is in play
    events = _taken_back(places, state)
    now = after(state, events)
    places = _placed(places, now)
    for one in places.known:
        best = max(amendments(places, now, [one.node]), key=lambda other: other.gain, default=None)
        if one.is_reread and best is not None and best.gain > 0.0:
            events, now, places = (*events, best.event), best.state, best.places
    known = tuple(replace(one, is_reread=False) for one in places.known)
    unseen = Unseen(places.looks, is_deaf=True)
    start = UnseenCourse.of(unseen, replace(places, known=known), now, places.waiting)
    course = courses(start, unseen, is_long=True)[0]
    idle = tuple(one.tile for one in course.left)
    around = course.places.around
    # What lies in the boneyard is right too, and so is who leads.
    around = replace(around, yard=replace(around.yard, agreed=None), lead_by_side=None, is_lead_doubted=False)
    after_it = replace(course.places, waiting=(), dismissed=idle, around=around)
    return Decided((*events, *course.actions), after_it, is_inferred=bool(course.actions))


def _taken_back(places: Places, state: State) -> tuple[Event, ...]:
    """Return the events that take back the plays whose tile does not lie there, and those of the tiles joined to it."""
    lying = {one.node for one in _placed(places, state).known}
    gone: list[NodeId] = []
    for node in _layout(state).nodes:
        if node.id not in lying or (node.joins is not None and node.joins.host in gone):
            gone.append(node.id)
    removed = tuple(Remove(Seq(node)) for node in reversed(gone))
    # Where the plays after it make no sense without it, all of them are explained anew.
    makes_sense = len(after(state, removed).irregular) <= len(state.irregular)
    return removed if makes_sense else (Undo(Seq(gone[0])),)


def _placed(places: Places, state: State) -> Places:
    """Return the places with the tiles of the layout that lie there, without doubts; all other tiles wait."""
    left = list(_lying(places))
    known: list[Known] = []
    for node in _layout(state).nodes:
        one = places.find(node.id)
        if one is None or one.is_missing:
            alike = [other.tile for other in left if numbers_of(other.tile) == (node.tile.low, node.tile.high)]
            one = Known(Laid(node.id, footprint_of(alike[0])), alike[0]) if len(alike) == 1 else None
        if one is not None:
            known.append(Known(one.laid, one.tile, one.is_settled, one.is_reread))
            left = [other for other in left if other.tile != known[-1].tile]
    asked = Places(tuple(known), tuple(left), looks=places.looks, around=places.around, adoption=places.adoption)
    for one in known:
        if places.find(one.node) is None:
            asked = settled(asked, state, one.node)
    return asked


def _lying(places: Places) -> tuple[Waiting, ...]:
    """Return all tiles that lie there, in the order in which they were seen."""
    first = min((one.look for one in places.waiting), default=places.looks) - len(places.known)
    known = (Waiting(one.tile, first + at) for at, one in enumerate(places.known) if not one.is_missing)
    return (*known, *places.waiting, *(Waiting(one, places.looks) for one in (*places.undone, *places.dismissed)))


def _layout(state: State) -> Layout:
    assert state.game is not None  # a hand is in play
    return state.game.layout
