"""Feed views, knocks, presses and answers to a session, and return the announcements after each.

Pure: the same inputs give the same session and announcements. Times come with the inputs.
"""

from __future__ import annotations

from dataclasses import replace

import engine
from engine import Decline, Draw, Event, Inferred, ItStands, Knock, Phase, Revised, State, Undo, apply, problem_with
from tallybone.session.inputs import Answer, AnswerBack, Button, KnockHeard, Press, event_of
from tallybone.session.knocks import KNOCK_WAITS_NS, SURE_KNOCK, PendingKnock, joined, passes_among
from tallybone.session.referee import Resolution, decide, follow_changes, forgotten
from tallybone.session.referee.catching_up import is_ready
from tallybone.session.referee.corrections import settled
from tallybone.session.referee.observing import after_look, first_seen, observe
from tallybone.session.referee.passes import EnteredAction, earlier_answer, judge_before_entered, with_doubt
from tallybone.session.referee.places import Adoption, Pressed, Unseen, cleared
from tallybone.session.session import Announcement, Answered, Input, Sensed, Session, without_alike
from tallybone.session.taking_back import back_to, renamed
from tallybone.session.zones import SortedView, split
from vision.reader.custom_set import RecordedSet
from vision.tracking.table_view import TableView

# Minimum confidence of a sound while the table is hidden. Fainter ones explain neither a pass nor a tile.
_HEARD_HIDDEN = 0.5
# Time after a new tile in which knocks are ignored. A hand may touch the table again as it leaves.
TILE_ECHOES_NS = 300_000_000
# At a table with zones, an unchanged view counts as a second look after this time, once.
LINGERS_NS = 2_000_000_000
# Time without a settled view, due to missing pictures or an obstructed table, after which the order of actions is
# unknown.
BLIND_NS = 6_000_000_000
# After this time without a picture, a whole hand may have been played unseen.
A_HAND_NS = 40_000_000_000
# Maximum time that a press waits for the next look while something moves.
PRESS_WAITS_NS = 3_000_000_000
# Maximum time between a seen draw and a press that means the same draw.
ONE_DRAW_NS = 3_000_000_000
# After more looks and knocks than this, an answer can no longer be withdrawn. A withdrawal processes all of them again,
# at up to 19 ms a look.
MAX_SINCE = 30


def feed(session: Session, event: Input, *, t_ns: int | None = None) -> tuple[Session, tuple[Announcement, ...]]:
    """Return the session after the next input, and the announcements for the players.

    Args:
        session: The session before the input.
        event: A view, knock, press, answer, withdrawal of an answer or tile set, or an event entered by hand.
        t_ns: Its time in nanoseconds of a monotonic clock. None for the time of the previous input.
    """
    session = replace(session, t_ns=session.t_ns if t_ns is None else t_ns)
    if isinstance(event, RecordedSet):  # It only changes later views.
        return session, ()
    if isinstance(event, AnswerBack):
        return _withdrawn(session, event)
    after, announcements = _process(session, event)
    answered = _withdrawable(session, event, after)
    return after if answered is after.answered else replace(after, answered=answered), announcements


def _withdrawable(before: Session, event: Input, after: Session) -> Answered | None:
    """Return the answer that can be withdrawn after an input, or None.

    It is the last answer, until an input other than views and knocks changes the match, or more than MAX_SINCE views
    and knocks have followed.
    """
    answered = before.answered
    match event:
        case Answer() if _resolution_of(before, event) is not None:
            return Answered(replace(before, answered=None))
        case TableView() | KnockHeard() if answered is not None:
            if isinstance(event, TableView) and after.places.looks == before.places.looks:
                return answered
            since = (*without_alike(answered.since, event), (event, after.t_ns))
            return replace(answered, since=since) if len(since) <= MAX_SINCE else None
        case _:
            return answered if after.state is before.state and after.places == before.places else None


def _withdrawn(session: Session, back: AnswerBack) -> tuple[Session, tuple[Announcement, ...]]:
    """Return the session without its last answer, after processing all later looks and knocks again.

    The session is unchanged if *back* does not match that answer.
    """
    answered = session.answered
    if answered is None or answered.log != back.log:
        return session, ()
    state, outcomes, names = back_to(session.state, back.log)
    before, announcements = answered.before, tuple[Announcement, ...](outcomes)
    places = replace(renamed(before.places, names, state.next_seq), asked=())
    again, more = _settle(replace(before, state=state, places=places))
    announcements = (*announcements, *more)
    for sensed, at_ns in answered.since:
        again, more = _process(replace(again, t_ns=at_ns), sensed)
        announcements = (*announcements, *more)
    return replace(again, t_ns=session.t_ns), announcements


def _process(session: Session, event: Event | Sensed | Press | Answer) -> tuple[Session, tuple[Announcement, ...]]:
    """Return the session after an event at `session.t_ns`, and the announcements for the players."""
    view = event if isinstance(event, TableView) else None
    session = _update_view_times(session, view)
    if view is not None and _is_unchanged(session, view):
        return _pass_time(session, view)
    parts = None if view is None else _parts(session, view)
    session, announcements = _after_knocks(session, parts, view)
    more: tuple[Announcement, ...] = ()
    match event:
        case TableView():
            session = _after_look(session, event, parts)
        case KnockHeard():
            session = _queue_knock(session, event)
        case Answer():
            meant = _resolution_of(session, event)
            if meant is not None:
                session, more = _apply_resolution(session, meant)
        case Press(button=Button.TABLE) if session.state.game is not None:
            session = replace(session, places=replace(session.places, adoption=Adoption.ASKED))
        case Press(button=Button.STACK) if not session.places.wants_stack:
            session = replace(session, places=replace(session.places, wants_stack=True))
        case Press(button=Button.DRAW) if _is_drawn(session, event):
            pass
        case (
            Press(button=Button.CALL | Button.KNOCK | Button.DRAW | Button.DONE | Button.STACK)
            | engine.Call()
            | Knock()
            | Draw()
            | Decline()
        ):
            session = _queue_press(session, event)
        case _:
            session, more = _release_presses(session, is_asked=True)
            entered = event_of(event, session.state) if isinstance(event, Press) else event
            if isinstance(entered, engine.Play):
                session, last = _apply_by_player(session, entered, is_by_turn=False)
                more = (*more, *last)
            elif entered is not None:
                session, last = _apply_entered(session, entered)
                more = (*more, *last)
    session, last = _settle(session)
    session, released = _release_presses(session)
    return session, (*announcements, *more, *last, *released)


def _queue_press(session: Session, press: Press | engine.Call | Knock | Draw | Decline) -> Session:
    """Return the session with a press queued until the next look."""
    pressed = Pressed(press, session.t_ns, session.places.looks)
    return replace(session, places=replace(session.places, pressed=(*session.places.pressed, pressed)))


def _release_presses(session: Session, *, is_asked: bool = False) -> tuple[Session, tuple[Announcement, ...]]:
    """Apply the queued presses that need not wait for another look, and return the announcements.

    At a table at rest, a press is applied at once. If a play that has not been seen yet may make it legal, it waits for
    a look that shows something new, up to PRESS_WAITS_NS. No press is applied during a gap or while a question holds up
    the game, except before another input by hand (*is_asked*). Then presses are applied up to the first that must wait
    for such a play.
    """
    places = session.places
    is_unknown = session.blind_ns is not None or places.unseen is not None
    is_held_up = any(question.ambiguity.holds_up for question in session.questions)
    if not is_asked and (is_unknown or is_held_up or (places.waiting and not is_ready(places))):
        return session, ()
    announcements: tuple[Announcement, ...] = ()
    while session.places.pressed:
        first, *later = session.places.pressed
        if isinstance(first.press, Press) and first.press.button is Button.STACK:
            # Wait for the answer about the previous stack. This one may raise a question itself.
            if session.places.wants_stack:
                break
            places = replace(session.places, pressed=tuple(later), wants_stack=True)
            session, more = _settle(replace(session, places=places))
            return session, (*announcements, *more)
        meant = first.meant(session.state)
        is_allowed = meant is not None and not _may_be_early(problem_with(session.state, meant))
        is_late = first.look < session.places.looks or session.t_ns - first.t_ns >= PRESS_WAITS_NS
        is_due = session.seen is None or (session.is_at_rest and (is_allowed or is_late))
        if not (is_due or (is_asked and is_allowed)):
            break
        session = replace(session, places=replace(session.places, pressed=tuple(later)))
        if meant is not None:
            is_by_turn = isinstance(first.press, Press) and first.press.seat is None
            session, more = _apply_by_player(session, meant, is_by_turn=is_by_turn)
            announcements = (*announcements, *more)
            session, more = _settle(session)
            announcements = (*announcements, *more)
    return session, announcements


def _may_be_early(problem: engine.Problem | None) -> bool:
    """Check whether a play that has not been seen yet may solve the problem: a wrong turn, or an impossible action."""
    if problem is None:
        return False
    return problem.weight is engine.Weight.IMPOSSIBLE or problem.kind is engine.ProblemKind.WRONG_SEAT


def _update_view_times(session: Session, view: TableView | None) -> Session:
    """Return the session with the times of its views updated.

    After BLIND_NS without a settled view, *blind_ns* is set to the time of the last one.
    """
    last_ns = session.viewed_ns
    is_blind = session.blind_ns is None and last_ns is not None and session.t_ns - last_ns >= BLIND_NS
    blind_ns = last_ns if is_blind else session.blind_ns
    if view is None:
        return replace(session, blind_ns=blind_ns)
    is_seen, shown_ns = _is_trusted(view), session.shown_ns
    is_missed = session.is_hand_missed or (shown_ns is not None and session.t_ns - shown_ns >= A_HAND_NS)
    return replace(
        session,
        viewed_ns=session.t_ns if is_seen else last_ns,
        blind_ns=blind_ns,
        is_at_rest=is_seen,
        shown_ns=session.t_ns,
        is_hand_missed=is_missed,
    )


def _is_trusted(view: TableView) -> bool:
    """Check that a view shows the whole table: it is settled, and the camera pose is known."""
    return view.is_settled and view.lost is None


def _ends_blindness(session: Session, view: TableView) -> bool:
    """Check whether a view is the first trusted one after a time without settled views."""
    return session.blind_ns is not None and _is_trusted(view)


def _settle(session: Session) -> tuple[Session, tuple[Announcement, ...]]:
    """Apply every due resolution. Return the session and the announcements, with only those questions that are new."""
    announcements: tuple[Announcement, ...] = ()
    while isinstance(verdict := decide(session.places, session.state), Resolution):
        session, more = _apply_resolution(session, verdict)
        announcements = (*announcements, *more)
    topics = tuple(question.ambiguity.topic for question in verdict)
    new = tuple(question.ambiguity for question in verdict if question.ambiguity.topic not in session.places.asked)
    return replace(session, questions=verdict, places=replace(session.places, asked=topics)), (*announcements, *new)


def _apply_resolution(session: Session, resolution: Resolution) -> tuple[Session, tuple[Announcement, ...]]:
    """Return the session after a resolution by the referee or by an answer."""
    state, events = session.state, resolution.events
    actions = tuple(
        engine.Seq(state.next_seq + at) for at, event in enumerate(events) if not isinstance(event, engine.Revision)
    )
    marks = (Inferred(actions),) if resolution.is_inferred else ()
    announcements: tuple[Announcement, ...] = ()
    for event in (*events, *marks):
        state, outcomes = apply(state, event)
        announcements = (*announcements, *outcomes)
        if isinstance(event, Draw):
            session = replace(session, drawn=(event.seat, session.t_ns))
    after = replace(session, state=state, places=follow_changes(resolution.places, state))
    return after, _as_one_correction(announcements, state)


def _as_one_correction(announcements: tuple[Announcement, ...], state: State) -> tuple[Announcement, ...]:
    """Return the announcements with several corrections merged.

    Omits problems that the last correction has solved, and all turns but the last.
    """
    revised = [announcement for announcement in announcements if isinstance(announcement, Revised)]
    if len(revised) < 2:
        return announcements
    turns = [announcement for announcement in announcements if isinstance(announcement, engine.Turn)]
    others = (
        announcement
        for announcement in announcements
        if not isinstance(announcement, Revised | engine.Turn)
        and not (isinstance(announcement, engine.Irregular) and announcement.seq not in state.irregular)
    )
    return (Revised(revised[0].before, revised[-1].after), *others, *turns[-1:])


def _apply_by_player(
    session: Session, action: EnteredAction, *, is_by_turn: bool
) -> tuple[Session, tuple[Announcement, ...]]:
    """Return the session after an action of a player, and after the doubtful passes before it that it decides.

    Args:
        session: The session before the action.
        action: The action.
        is_by_turn: The player is unknown, so it is the one to move.
    """
    before = judge_before_entered(session.places, session.state, action, is_by_turn=is_by_turn)
    announcements: tuple[Announcement, ...] = ()
    if before is not None:
        session, announcements = _apply_resolution(session, before)
        game = session.state.game
        turn = None if game is None or game.hand is None else game.hand.turn
        if is_by_turn and turn is not None:
            action = replace(action, seat=turn)
    session, more = _apply_entered(session, action)
    return session, (*announcements, *more)


def _apply_entered(session: Session, event: Event) -> tuple[Session, tuple[Announcement, ...]]:
    """Return the session after an event that was entered by hand."""
    state, announcements = apply(session.state, event)
    is_hidden = session.viewed_ns is not None and session.t_ns - session.viewed_ns >= PRESS_WAITS_NS
    is_ended = _in_play(session.state) and not _in_play(state)
    if is_ended and (is_hidden or session.places.unseen is not None):  # Some actions may have been missed.
        state, _ = apply(state, Inferred((session.state.next_seq,)))
    # A new deal begins with an empty table, unless it is refused. It may be accepted later.
    is_refused = any(
        isinstance(outcome, engine.Irregular) and not outcome.stands and outcome.seq == session.state.next_seq
        for outcome in announcements
    )
    dealt = state.log[event.seq] if isinstance(event, ItStands) else event
    is_dealt = isinstance(dealt, engine.NewHand | engine.Redeal) and not is_refused
    is_undone = isinstance(event, Undo | engine.Remove)
    places = cleared(session.places) if is_dealt else follow_changes(session.places, state, is_undone=is_undone)
    if isinstance(event, Undo):
        places = forgotten(places, state)
    if isinstance(event, engine.Amend | ItStands):
        places = settled(places, state, engine.NodeId(event.seq))
    return replace(session, state=state, places=places), announcements


def _in_play(state: State) -> bool:
    return state.game is not None and state.game.phase in (Phase.LEAD, Phase.PLAY)


def _resolution_of(session: Session, answer: Answer) -> Resolution | None:
    """Return the resolution chosen by an answer, or None if it matches no open question with that choice."""
    questions = [
        question
        for question in session.questions
        if question.answers and answer.topic in (None, question.ambiguity.topic)
    ]
    if not questions or not 0 <= answer.choice < len(questions[-1].answers):
        return earlier_answer(session.places, session.state, answer.topic, answer.choice)
    return questions[-1].answers[answer.choice]


def _is_unchanged(session: Session, view: TableView) -> bool:
    """Check that a view shows nothing new, or is not settled and has no changes. This holds for nearly every frame."""
    if view.changes:
        return False
    if not view.is_settled:
        return True
    seen = session.seen
    if session.zones and session.looked_ns is not None and session.t_ns - session.looked_ns >= LINGERS_NS:
        return False
    return (
        seen is not None
        and view.moved_since_ns == seen.moved_since_ns
        and view.tiles == seen.tiles
        and view.size_px == seen.size_px
    )


def _pass_time(session: Session, view: TableView) -> tuple[Session, tuple[Announcement, ...]]:
    """Return the session after a view that shows nothing new: apply knocks and presses that have waited long enough."""
    if _ends_blindness(session, view):  # and nothing has changed
        session = replace(session, blind_ns=None)
    announcements: tuple[Announcement, ...] = ()
    if session.heard and session.t_ns - session.heard[0].t_ns >= KNOCK_WAITS_NS:
        session, announcements = _after_knocks(session, None, view)
        session, more = _settle(session)
        announcements = (*announcements, *more)
    session, more = _release_presses(session)
    return session, (*announcements, *more)


def _parts(session: Session, view: TableView) -> SortedView:
    """Return a view with its tiles sorted by zone. Without zones, all of them belong to the layout."""
    if not session.zones:
        return SortedView(view)
    layout = tuple(known.place for known in session.places.known)
    game = session.state.game
    in_play = game is not None and game.phase is Phase.PLAY
    return split(view, session.zones, layout, may_join=in_play)


def _after_look(session: Session, view: TableView, parts: SortedView | None) -> Session:
    """Return the session after a look at the table: a view that shows something new."""
    assert parts is not None  # set for every view
    laid_ns = session.t_ns if parts.placed else session.laid_ns
    places = observe(session.places, parts)
    heard = session.heard
    if _ends_blindness(session, view):
        before = places.unseen or Unseen(places.looks)
        knocks = (*before.knocks, *(knock.seat for knock in heard if knock.confidence >= _HEARD_HIDDEN))
        unseen = replace(before, knocks=knocks, until=places.looks, boneyard=None)
        places = replace(places, unseen=replace(unseen, is_hand_missed=session.is_hand_missed))
        if session.is_hand_missed:
            session = replace(session, state=_perhaps_another_hand(session.state))
        places = first_seen(session.places, places, parts.layout)
        session, heard = replace(session, blind_ns=None, is_hand_missed=False), ()
    if session.zones and view.lost is None:
        places = replace(places, around=after_look(places.around, parts, session.state, places.looks))
    is_again = session.seen is not None and session.seen.tiles == view.tiles and not view.changes
    looked_ns = None if is_again else session.t_ns
    return replace(session, places=places, laid_ns=laid_ns, seen=view, looked_ns=looked_ns, heard=heard)


def _perhaps_another_hand(state: State) -> State:
    """Return the match. Before the lead, its last deal is marked as inferred: another may have been dealt since."""
    if state.game is None or state.game.phase is not Phase.LEAD:
        return state
    dealt = [entry.seq for entry in engine.entries(state) if isinstance(entry.action, engine.NewHand | engine.Redeal)]
    return apply(state, Inferred((dealt[-1],)))[0] if dealt else state


def _is_drawn(session: Session, press: Press) -> bool:
    """Check whether a press for a draw means a draw that was seen within the last ONE_DRAW_NS."""
    if session.drawn is None or session.t_ns - session.drawn[1] > ONE_DRAW_NS:
        return False
    return press.seat is None or press.seat == session.drawn[0]


def _queue_knock(session: Session, knock: KnockHeard) -> Session:
    """Return the session with a knock queued until it is known not to be a tile.

    Knocks outside play, and soon after a tile was laid, are dropped.
    """
    is_echo = session.laid_ns is not None and session.t_ns - session.laid_ns < TILE_ECHOES_NS
    if not _in_play(session.state) or is_echo:
        return session
    return replace(session, heard=joined(session.heard, knock, session.t_ns))


def _after_knocks(
    session: Session, parts: SortedView | None, view: TableView | None
) -> tuple[Session, tuple[Announcement, ...]]:
    """Return the session after the waiting knocks that are now known to be passes or tiles, before processing *parts*.

    While a question holds up the game the turn is unknown, so knocks keep waiting. Knocks during a time without settled
    views are explained together with the first view after it.
    """
    if session.blind_ns is not None or (view is None and not session.is_at_rest):
        return session, ()
    tiles = 0 if parts is None else parts.placed or int(_is_drawing(session, parts))
    game = session.state.game
    turn = None if game is None or game.hand is None else game.hand.turn
    came_from = () if parts is None else parts.came_from
    passes, doubtful = passes_among(session.heard, view, t_ns=session.t_ns, tiles=tiles, came_from=came_from, turn=turn)
    if any(question.ambiguity.holds_up for question in session.questions):
        return replace(session, heard=(*passes, *doubtful)), ()
    session = replace(session, heard=doubtful)
    announcements: tuple[Announcement, ...] = ()
    for heard in passes:
        session, more = _apply_knock(session, heard)
        announcements = (*announcements, *more)
    return session, announcements


def _is_drawing(session: Session, parts: SortedView) -> bool:
    """Check whether a hand has taken a tile from the boneyard, in a game with draws."""
    game = session.state.game
    draws = game is not None and game.rules.draw is not engine.Drawing.NONE
    return draws and parts.is_by_hand and parts.boneyard < session.places.around.yard.count


def _apply_knock(session: Session, heard: PendingKnock) -> tuple[Session, tuple[Announcement, ...]]:
    """Return the session after a knock that was not a tile.

    A confident knock is a pass, unless the player has to draw first. An unsure knock is ignored if a pass is illegal.
    Otherwise the referee asks whether the player passed. A knock without a known seat counts for the player to move.
    """
    game = session.state.game
    turn = None if game is None or game.hand is None else game.hand.turn
    seat = turn if heard.seat is None else heard.seat
    if seat is None:
        return session, ()
    if heard.confidence < SURE_KNOCK:
        places = with_doubt(session.places, session.state, heard.seat, heard.confidence)
        return replace(session, places=places), ()
    problem = problem_with(session.state, Knock(seat))
    if problem is None or problem.kind is not engine.ProblemKind.KNOCK_TOO_EARLY:
        return _apply_by_player(session, Knock(seat), is_by_turn=heard.seat is None)
    places = replace(session.places, maybe_passed=seat, knocked_early=session.places.looks)
    return replace(session, places=places), ()
