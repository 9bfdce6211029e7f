"""Adopt the layout from the table ("the table is right"), in any state of the match.

The players choose the hand that is on the table. Plays of missing tiles are removed, new tiles are played by the
likeliest course, and all other doubts are dropped. Inferred actions are marked until the players confirm them.
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
    replay,
)
from engine.phrases import phrase
from tallybone.session.referee.boneyard import ended_unseen
from tallybone.session.referee.corrections import amendments, settled
from tallybone.session.referee.courses import UnseenCourse, courses
from tallybone.session.referee.places import Adoption, Known, Places, Unseen, Waiting, cleared, numbers_of
from tallybone.session.referee.questions import Ambiguity, Question, Resolution
from tallybone.session.touching import Laid, footprint_of


def judge_table(places: Places, state: State, adoption: Adoption) -> Resolution | Question:
    """Return the next step of adopting the layout: a question, or events that make the match agree with the table."""
    game, done = state.game, replace(places, adoption=None)
    assert game is not None  # checked by the caller
    in_play = game.phase in (Phase.LEAD, Phase.PLAY)
    match adoption:
        case Adoption.ASKED:
            return _ask_which_hand(places, state, game)
        case Adoption.NEW_HAND:
            ended = _ended(state, game) or ()
            waiting = _all_tiles(places)
            fresh = replace(cleared(places), waiting=waiting, dismissed=(), adoption=Adoption.SAME_HAND)
            return Resolution((*ended, NewHand()), fresh, is_inferred=bool(ended))
        case Adoption.DEALT_EARLY:
            dealt = max(entry.seq for entry in entries(state) if isinstance(entry.action, NewHand))
            return Resolution((Undo(dealt),), done)
        case Adoption.SAME_HAND if in_play:
            return _adopted(done, state)
        case Adoption.SAME_HAND | Adoption.HAND_BEFORE:
            reopened = _reopened(state)
            return Resolution(reopened, replace(places, adoption=Adoption.SAME_HAND) if reopened else done)
        case Adoption.HAND_OVER:
            return _adopted(replace(places, adoption=Adoption.ENDED), state)
        case _:
            return _ask_how_it_ended(done, state, game) if in_play else Resolution((), done)


def _ask_which_hand(places: Places, state: State, game: Game) -> Question:
    """Return a question about the hand on the table, with the choices that are possible in this state of the match."""
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
    if phase is not Phase.LEAD and ended is not None and problem_with(replay(ended, state), NewHand()) is None:
        choices[phrase("hand {number} has been dealt", number=number + 1)] = Adoption.NEW_HAND
    choices[phrase("leave everything unchanged")] = None
    answers = tuple(Resolution((), replace(places, adoption=adoption)) for adoption in choices.values())
    words = phrase("which hand is on the table?")
    return Question(Ambiguity(None, words, holds_up=True, choices=tuple(choices)), answers)


def _ended(state: State, game: Game) -> tuple[Event, ...] | None:
    """Return events that end the current hand, empty if no hand is in progress. None if they would end the match."""
    return () if game.phase in (Phase.DEAL, Phase.MATCH_OVER) else ended_unseen(state)


def _ask_how_it_ended(places: Places, state: State, game: Game) -> Question:
    """Return a question about the end of the hand in play. Players with the fewest tiles come first."""
    assert game.hand is not None  # checked by the caller
    sizes = game.hand.sizes
    choices: dict[str, Event] = {
        phrase("{name} is out", name=game.players[seat]): Domino(Seat(seat))
        for seat in sorted(range(len(sizes)), key=lambda seat: sizes[seat])
    }
    choices |= {phrase("nobody can play"): HandEnd(), phrase("it does not count"): Abandon()}
    # The players overrule the tile count, so an end that contradicts it is accepted at once.
    accept = (ItStands(state.next_seq),)
    answers = tuple(
        Resolution((end, *(accept if problem_with(state, end) else ())), places) for end in choices.values()
    )
    words = phrase("how did the hand end?")
    return Question(Ambiguity(None, words, holds_up=True, choices=tuple(choices)), answers)


def _reopened(state: State) -> tuple[Event, ...]:
    """Return events that undo the end of the last hand. Empty if no hand has ended.

    If the hand ended because its last play went out, the play is kept and its player gets one more dealt tile, provided
    that the hand is then in play.
    """
    done, later = entries(state), tuple[Event, ...]()
    for last in reversed(done):
        if _is_in_play(apply(state, Undo(last.seq))[0]):
            break
        later = (Undo(last.seq),)
    else:
        return ()
    game, action = state.game, last.action
    dealt = next(
        (entry for entry in reversed(done) if entry.seq < last.seq and isinstance(entry.action, NewHand)), None
    )
    if game is not None and isinstance(action, Play) and dealt is not None and isinstance(dealt.action, NewHand):
        sizes = list(dealt.action.dealt or (game.rules.dealt(len(game.players)),) * len(game.players))
        sizes[action.seat] += 1
        events = (*later, Amend(dealt.seq, replace(dealt.action, dealt=tuple(sizes))))
        if _is_in_play(replay(events, state)):
            return events
    return (Undo(last.seq),)


def _is_in_play(state: State) -> bool:
    return state.game is not None and state.game.phase is Phase.PLAY


def _adopted(places: Places, state: State) -> Resolution:
    """Return corrections and the likeliest course that turn the recorded layout into the one on the table."""
    assert state.game is not None  # a hand is in play
    events = _removals(places, state)
    now = replay(events, state)
    places = _placed(places, now)
    for known in places.known:
        best = max(amendments(places, now, [known.node]), key=lambda amended: amended.gain, default=None)
        if known.is_reread and best is not None and best.gain > 0.0:
            events, now, places = (*events, best.event), best.state, best.places
    settled_tiles = tuple(replace(known, is_reread=False) for known in places.known)
    unseen = Unseen(places.looks, is_deaf=True)
    start = UnseenCourse.of(unseen, replace(places, known=settled_tiles), now, places.waiting)
    course = courses(start, unseen, is_long=True)[0]
    idle = tuple(waiting.tile for waiting in course.left)
    around = course.places.around
    # Adopt the boneyard's count and the leader without further questions.
    around = replace(around, yard=replace(around.yard, agreed=None), lead_by_side=None, is_lead_doubted=False)
    after_it = replace(course.places, waiting=(), dismissed=idle, around=around)
    return Resolution((*events, *course.actions), after_it, is_inferred=bool(course.actions))


def _removals(places: Places, state: State) -> tuple[Event, ...]:
    """Return events that take back the plays of missing tiles and of all tiles joined to them.

    If that would make other plays irregular, return an undo of the first of these plays and everything after it.
    """
    present = {known.node for known in _placed(places, state).known}
    gone: list[NodeId] = []
    for node in _layout(state).nodes:
        if node.id not in present or (node.joins is not None and node.joins.host in gone):
            gone.append(node.id)
    removals = tuple(Remove(Seq(node)) for node in reversed(gone))
    # If that makes other plays irregular, undo everything since the first and explain the remaining tiles again.
    is_consistent = len(replay(removals, state).irregular) <= len(state.irregular)
    return removals if is_consistent else (Undo(Seq(gone[0])),)


def _placed(places: Places, state: State) -> Places:
    """Return the places with the tiles of the layout that are on the table, without doubts. All other tiles wait.

    A missing tile is relocated if exactly one other tile has its numbers.
    """
    left = list(_all_tiles(places))
    tiles: list[Known] = []
    for node in _layout(state).nodes:
        known = places.find(node.id)
        if known is None or known.is_missing:
            alike = [other.tile for other in left if numbers_of(other.tile) == (node.tile.low, node.tile.high)]
            known = Known(Laid(node.id, footprint_of(alike[0])), alike[0]) if len(alike) == 1 else None
        if known is not None:
            tiles.append(Known(known.laid, known.tile, known.is_settled, known.is_reread))
            left = [other for other in left if other.tile != known.tile]
    updated = Places(tuple(tiles), tuple(left), looks=places.looks, around=places.around, adoption=places.adoption)
    for known in tiles:
        if places.find(known.node) is None:
            updated = settled(updated, state, known.node)
    return updated


def _all_tiles(places: Places) -> tuple[Waiting, ...]:
    """Return all face-up tiles on the table as waiting ones: first those of the layout, then those that waited."""
    first = min((waiting.look for waiting in places.waiting), default=places.looks) - len(places.known)
    known = (Waiting(known.tile, first + at) for at, known in enumerate(places.known) if not known.is_missing)
    idle = (Waiting(tile, places.looks) for tile in (*places.undone, *places.dismissed))
    return (*known, *places.waiting, *idle)


def _layout(state: State) -> Layout:
    assert state.game is not None  # a hand is in play
    return state.game.layout
