"""Feed views, knocks, presses and answers to a session, and return the announcements after each.

Pure: the same inputs give the same session and announcements. Times come with the inputs.

A look is a settled view with news, or sounds and presses that have waited long enough. Each look is decoded, and the
likeliest course of the match is written into the log (`written`). What people enter outranks every course: the decoder
then goes on from the log (`anchored`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import engine
from engine import Action, Confirmed, Event, Inferred, NodeId, Undo, apply, entries, problem_with
from engine.phrases import listed, phrase
from engine.state.outcomes import the_tile
from engine.value import changed
from tallybone.session.course import SURPRISING, Written, written_in
from tallybone.session.inputs import Answer, AnswerBack, Button, KnockHeard, Press, event_of
from tallybone.session.observations import Observation, SortedView, looked, seen_name, split
from tallybone.session.questions import (
    Adoption,
    Ambiguity,
    Doubt,
    Meaning,
    Question,
    adopting_events,
    ask_about_hand,
    ask_about_totals,
    doubtful_actions,
    guesses,
)
from tallybone.session.session import Announcement, Answered, Input, Session, anchored, in_play, with_places
from vision.reader.custom_set import RecordedSet
from vision.reading import SeenTile
from vision.tracking.table_view import TableView

# Time after a new tile in which sounds are ignored. A hand may touch the table again as it leaves.
TILE_ECHOES_NS = 300_000_000
# Time for which a sound waits for the tile that may have caused it.
KNOCK_WAITS_NS = 2_000_000_000
# Two sounds from the same seat, or two presses of the same button, that are less than this apart are one.
ONE_KNOCK_NS = 700_000_000
_ONE_PRESS_NS = 500_000_000
# An unchanged view counts as a second look after this time, once.
LINGERS_NS = 2_000_000_000
# Maximum time that a press waits for the next look that explains it, at a table at rest and otherwise.
PRESS_WAITS_NS = 3_000_000_000
_HIDDEN_WAITS_NS = 15_000_000_000
# Maximum time between a stack and the press that announces it.
_TOUCHED_NS = 6_000_000_000
# Time without a view after which presses and sounds wait for the next one.
_BLIND_NS = 2_000_000_000
# Time for which totals must be doubtful before the players are asked: a press may come late.
_ASKS_NS = 6_000_000_000
# Confidence below which a knock is not sure.
SURE_KNOCK = 0.6

Announcements = tuple[Announcement, ...]


def feed(session: Session, event: Input, *, t_ns: int | None = None) -> tuple[Session, Announcements]:
    """Return the session after the next input, and the announcements for the players.

    *t_ns* is on a monotonic clock; None for the time of the previous input.
    """
    session = replace(session, t_ns=session.t_ns if t_ns is None else t_ns)
    match event:
        case RecordedSet():  # It only changes later views.
            return session, ()
        case TableView():
            return _viewed(session, event)
        case KnockHeard():
            return _due(_heard(session, event))
        case Answer():
            return _answered(session, event)
        case AnswerBack():
            return _withdrawn(session, event)
        case Press(button=Button.TABLE):
            if session.decoder is None:
                return session, ()
            session, before = _flushed(session)
            session, asked = _with_questions(replace(session, adoption=Adoption.ASKED))
            return session, (*before, *asked)
        case Press(button=Button.UNDO) if session.pressed:  # nothing has shown the press that waits
            return replace(session, pressed=session.pressed[:-1]), ()
        case Press() if event.button in _AT_ONCE:
            session, before = _flushed(session)
            intended = event_of(event, session.state)
            session, after = (session, ()) if intended is None else feed(session, intended)
            return session, (*before, *after)
        case Press():
            return _pressed(session, event)
        case Confirmed():
            return _confirmed(session, event)
        case engine.MatchStart() | engine.Play() | engine.Stack():
            return _entered(session, event)
        case Undo() | engine.Amend() | engine.Insert() | engine.Remove() | engine.ItStands() | Inferred():
            return _entered(session, event)
        case _:
            return _pressed(session, event)


_AT_ONCE = (Button.UNDO, Button.STANDS, Button.NEXT)


# ---- views ----


def _viewed(session: Session, view: TableView) -> tuple[Session, Announcements]:
    is_trusted = view.is_settled and view.lost is None
    is_blind = session.viewed_ns is not None and session.t_ns - session.viewed_ns >= _BLIND_NS
    sighted_ns = session.t_ns if is_blind and not is_trusted else session.sighted_ns
    session = replace(session, is_at_rest=is_trusted, viewed_ns=session.t_ns, sighted_ns=sighted_ns)
    if session.decoder is None or not is_trusted:
        return session, ()
    seen = session.seen
    is_same = seen is not None and not view.changes and view.tiles == seen.tiles and view.size_px == seen.size_px
    lingers = session.looked_ns is not None and session.t_ns - session.looked_ns >= LINGERS_NS
    if is_same and not lingers:
        return _due(session)
    table, look = looked(session.table, _parts(session, view), Observation(session.t_ns))
    if not session.zones or session.zones.boneyard is None:
        look = replace(look, yard=None)
    last = session.look
    is_news = bool(look.pieces or look.gone or look.moved or look.back or look.touched)
    is_news = is_news or last is None or (look.yard, _counts(look)) != (last.yard, _counts(last))
    session = replace(session, seen=view, table=table)
    if not is_news and not lingers:
        return _due(session)
    is_pending = session.doubtful_ns is not None and session.t_ns - session.doubtful_ns < _ASKS_NS
    session = replace(session, looked_ns=session.t_ns if is_news or is_pending else None)
    if not is_news and not (any(look.shown) or session.questions or session.doubtful_ns is not None):
        return _due(session)
    return _decoded(session, look)


def _counts(look: Observation) -> tuple[tuple[tuple[float, float], ...], ...]:
    return tuple(tuple(tile.center_px for tile in tiles) for tiles in look.shown)


def _parts(session: Session, view: TableView) -> SortedView:
    """Return a view with its tiles sorted by zone. Without zones, all of them belong to the layout."""
    if not session.zones:
        return SortedView(view)
    layout = tuple(known.place for known in session.places.known)
    game = session.state.game
    return split(view, session.zones, layout, may_join=game is not None and game.phase is engine.Phase.PLAY)


# ---- sounds and presses ----


def _heard(session: Session, knock: KnockHeard) -> Session:
    """Return the session with a sound that waits for the next look. The second of a double knock is not another."""
    laid_ns = session.look.t_ns if session.look is not None and session.look.pieces else None
    is_echo = laid_ns is not None and session.t_ns - laid_ns < TILE_ECHOES_NS
    if not in_play(session.state) or is_echo:
        return session
    if session.heard and session.t_ns - session.heard[-1][0] < ONE_KNOCK_NS:
        at_ns, last = session.heard[-1]
        is_doubtful = min(last.confidence, knock.confidence) < SURE_KNOCK and None in (last.seat, knock.seat)
        if last.seat == knock.seat or is_doubtful:
            seat = knock.seat if last.seat is None else last.seat
            one = replace(last, seat=seat, confidence=max(last.confidence, knock.confidence))
            return replace(session, heard=(*session.heard[:-1], (at_ns, one)))
    return replace(session, heard=(*session.heard, (session.t_ns, knock)))


def _pressed(session: Session, press: Press | Action) -> tuple[Session, Announcements]:
    """Return the session after a press or entered action. The second of two equal presses at once is not another."""
    last = session.last_press
    if isinstance(press, Press):
        session = replace(session, last_press=(session.t_ns, press))
        if last is not None and last[1] == press and 0 < session.t_ns - last[0] < _ONE_PRESS_NS:
            return session, ()
    if session.decoder is None:
        intended = _intended(session, press)
        return (session, ()) if intended is None else _entered(session, intended)
    return _due(replace(session, pressed=(*session.pressed, (session.t_ns, press))))


def _due(session: Session, *, is_last: bool = False) -> tuple[Session, Announcements]:
    """Return the session after sounds and presses that need not wait for the next look."""
    # A press waits for it if nothing explains the press yet, because its tile may not have been seen. *is_last* decodes
    # all of them now.
    if not (session.heard or session.pressed) or session.decoder is None:
        return session, ()
    is_unseen = session.seen is None
    is_sound_due = bool(session.heard) and session.t_ns - session.heard[0][0] >= KNOCK_WAITS_NS
    is_blind = session.viewed_ns is not None and session.t_ns - session.viewed_ns >= _BLIND_NS
    waits_ns, since_ns = PRESS_WAITS_NS, 0
    if not session.is_at_rest:
        waits_ns, since_ns = _HIDDEN_WAITS_NS, session.sighted_ns
    is_press_due = any(
        not isinstance(press, Press) or (not is_blind and session.t_ns - max(t_ns, since_ns) >= waits_ns)
        for t_ns, press in session.pressed
    )
    is_still = session.is_at_rest and not is_blind
    if not (is_last or is_unseen or is_press_due or (is_still and (session.pressed or is_sound_due))):
        return session, ()
    look = _same(session)
    undue = () if is_sound_due or is_last else session.heard  # The tile that made a sound may not have been seen.
    if undue and not session.pressed:
        return session, ()
    is_decided = is_last or is_unseen or is_press_due
    if not (is_decided or look.touched) and Button.STACK in _buttons(session):
        return session, ()
    after, announcements = _decoded(replace(session, heard=() if undue else session.heard), look)
    assert after.decoder is not None
    is_explained = not session.pressed or after.decoder.beam[0].refused == session.decoder.beam[0].refused
    return (replace(after, heard=undue), announcements) if is_decided or is_explained else (session, ())


def _buttons(session: Session) -> list[Button]:
    return [press.button for _, press in session.pressed if isinstance(press, Press)]


def _same(session: Session) -> Observation:
    """Return a look at the unchanged table."""
    last = session.look
    if last is None:
        return Observation(session.t_ns)
    touched = last.touched if session.t_ns - last.t_ns < _TOUCHED_NS else frozenset[NodeId]()
    return Observation(
        session.t_ns, absent=last.absent, touched=touched, outside=last.outside, yard=last.yard, shown=last.shown
    )


def _flushed(session: Session) -> tuple[Session, Announcements]:
    """Return the session after everything that waits for the next look."""
    return _due(session, is_last=True)


# ---- decoding ----


def _decoded(session: Session, look: Observation) -> tuple[Session, Announcements]:
    """Return the session after a look, with the sounds and presses before it."""
    look = replace(
        look,
        sounds=tuple(sound for _, sound in session.heard),
        presses=tuple(press for _, press in session.pressed),
        is_deaf=session.is_deaf,
    )
    session = replace(session, look=look, heard=(), pressed=(), is_deaf=False)
    assert session.decoder is not None
    before = session.decoder.beam[0].refused
    announcements: Announcements
    session, announcements = _written(replace(session, decoder=session.decoder.added(look)))
    assert session.decoder is not None
    decoder = session.decoder
    if session.answered is not None and decoder.looks[0].t_ns > session.answered.before.t_ns:
        session = replace(session, answered=None)  # a later hand, and the looks after the answer are forgotten
    if decoder.beam[0].refused > before and look.presses:
        session, more = _refused(session, look.presses[-1])
        announcements = (*announcements, *more)
    session, asked = _with_questions(session)
    return session, (*announcements, *asked)


def _intended(session: Session, press: Press | Action) -> Event | None:
    return event_of(press, session.state) if isinstance(press, Press) else press


def _refused(session: Session, press: Press | Action) -> tuple[Session, Announcements]:
    """Return the session after a press or entered action that nothing explains."""
    # A press stays in the log as refused, and changes nothing. An action entered by hand counts unless it is
    # impossible.
    intended = _intended(session, press)
    problem = None if intended is None else problem_with(session.state, intended)
    is_refused = problem is not None and problem.weight in (engine.Weight.IMPOSSIBLE, engine.Weight.DOUBTFUL)
    if intended is None or (isinstance(press, Press) and not is_refused):
        return session, ()
    if not is_refused:
        return _entered(session, intended)
    state, announcements = apply(session.state, intended)
    return replace(session, state=state), announcements


def _written(session: Session) -> tuple[Session, Announcements]:
    """Return the session after the best course is written into the log, with its doubtful actions marked."""
    assert session.decoder is not None
    decoder = session.decoder
    state, announcements, path = written_in(session.state, session.path, decoder.beam[0])
    doubt = Doubt.of(decoder.beam)
    since_ns = None if doubt.is_certain else session.doubtful_ns or session.t_ns
    is_marked = since_ns is not None and session.t_ns - since_ns >= LINGERS_NS
    marked = {entry.seq for entry in entries(state) if entry.inferred}
    guessed = guesses(decoder.beam[0], decoder.looks)
    found = doubtful_actions(doubt, guessed) if is_marked else guessed
    wanted = {path[-1 - back].seqs[at] for back, at in found if back < len(path)}
    hand = len(decoder.beam[0].chain())
    ours = [seq for each in path[-hand:] for seq in each.seqs]
    if is_marked and not wanted:  # Something is odd, or only another course has additional actions.
        wanted = marked & session.marked & {*ours} or {*ours[-1:]}
    new = tuple(sorted(wanted - marked - session.confirmed))
    over = tuple(sorted((marked & {*ours} & session.marked) - wanted))
    for event in (Inferred(new), Confirmed(over)):
        if event.seqs:
            state, _ = apply(state, event)
    if since_ns is not None and session.doubtful_ns is None:  # look again to see whether the doubt stays
        session = replace(session, looked_ns=session.t_ns)
    own = (session.marked | {*new}) - {*over}
    session = replace(session, state=state, path=path, doubtful_ns=since_ns, marked=own)
    return with_places(session), announcements


def _with_questions(session: Session) -> tuple[Session, Announcements]:
    """Return the session with its open questions, and those that are new."""
    old = {question.ambiguity.topic for question in session.questions}
    questions = tuple(_questions(session))
    new = tuple(question.ambiguity for question in questions if question.ambiguity.topic not in old)
    return replace(session, questions=questions), new


def _questions(session: Session) -> Iterable[Question]:
    """Yield the open questions, the most urgent last."""
    if session.decoder is None:
        return
    left = [piece for piece in session.decoder.beam[0].left if piece.name in session.undone]
    if left and not session.decoder.beam[0].is_swept:
        yield _ask_about_undone(session, [piece.tile for piece in left])
    doubt = Doubt.of(session.decoder.beam)
    doubted_for_ns = 0 if session.doubtful_ns is None else session.t_ns - session.doubtful_ns
    if doubt.is_asked and (doubted_for_ns >= _ASKS_NS or session.questions):
        question = ask_about_totals(doubt, session.decoder.pieces)
        if question.ambiguity.topic not in session.rejected:
            yield question
    if session.adoption is not None:
        yield ask_about_hand(session.state, session.adoption)


def _ask_about_undone(session: Session, tiles: Sequence[SeenTile]) -> Question:
    """Return the question whether tiles whose plays were undone, and that are still on the table, count again."""
    names = listed([the_tile(seen_name(tile)) for tile in tiles])
    text = phrase("still on the table: {tiles}. Count it again, or take it off the table?", tiles=names)
    choices = (phrase("count it again"), phrase("take it off the table"))
    return Question(Ambiguity(tiles[0], text, choices), (Meaning(counts=True), Meaning(counts=False)))


# ---- answers and corrections ----


def _answered(session: Session, answer: Answer) -> tuple[Session, Announcements]:
    """Return the session after an answer. It is unchanged if no open question has that choice."""
    asked = [each for each in session.questions if answer.topic in (None, each.ambiguity.topic)]
    if not asked or not 0 <= answer.choice < len(asked[-1].answers):
        return session, ()
    meaning, before = asked[-1].answers[answer.choice], session
    announcements: Announcements
    if meaning.adoption is not None:
        return _adopted(session, meaning)
    if meaning.counts is not None:
        idle = session.idle if meaning.counts else session.idle | session.undone
        session = anchored(replace(session, idle=idle, undone=frozenset()))
        session, look = _laid_anew(session) if meaning.counts else (session, _same(session))
        return _decoded(replace(session, answered=None), look)
    if meaning.denied:
        session = replace(session, rejected=session.rejected | {asked[-1].ambiguity.topic})
    is_whole = session.state.game is not None and len(meaning.confirmed) == len(session.state.game.players)
    session = _with_surprise(session, 0.0) if is_whole else session
    look = replace(_same(session), confirmed=meaning.confirmed, denied=meaning.denied)
    session, announcements = _decoded(session, look)
    return replace(session, answered=Answered(len(before.state.log), replace(before, answered=None))), announcements


def _with_surprise(session: Session, surprise: float) -> Session:
    """Return the session with another cost of the most surprising look: none if the players vouch for the totals."""
    assert session.decoder is not None
    now = {id(course): changed(course, surprise=surprise) for course in session.decoder.beam}
    path = tuple(replace(each, course=now.get(id(each.course), each.course)) for each in session.path)
    return replace(session, decoder=replace(session.decoder, beam=tuple(now.values())), path=path)


def _is_of_hand(session: Session, seqs: Iterable[engine.Seq]) -> bool:
    """Return True if one of the actions belongs to the present hand."""
    return not {*seqs}.isdisjoint(seq for each in session.path for seq in each.seqs)


def _laid_anew(session: Session) -> tuple[Session, Observation]:
    """Return the session without its unexplained pieces, and a look at which they appear again."""
    assert session.decoder is not None
    course = session.decoder.beam[0]
    bare = replace(course, left=())
    path = (*session.path[:-1], Written(bare, session.path[-1].seqs))
    session = replace(session, decoder=replace(session.decoder, beam=(bare,)), path=path)
    return session, replace(_same(session), pieces=course.left, absent=frozenset())


_OVER = (
    Adoption.ENDED,
    Adoption.BLOCKED,
    Adoption.VOID,
    Adoption.BEFORE_OVER,
    Adoption.NOTHING,
)


def _adopted(session: Session, meaning: Meaning) -> tuple[Session, Announcements]:
    """Return the session after an answer about the hand on the table ("Put it right")."""
    is_asked = meaning.adoption is Adoption.HAND_OVER
    session = replace(session, adoption=meaning.adoption if is_asked else None, answered=None)
    announcements: Announcements = ()
    for event in adopting_events(session.state, session.places, meaning):
        state, outcomes = apply(session.state, event)
        session, announcements = replace(session, state=state), (*announcements, *outcomes)
    is_over = meaning.adoption in _OVER
    if meaning.adoption is not Adoption.NOTHING:
        session = anchored(session if is_over else replace(session, idle=frozenset(), undone=frozenset()))
    assert session.decoder is not None
    if not is_over:
        session, look = _laid_anew(session)
        turn = None if is_asked else meaning.turn
        session, more = _decoded(replace(session, is_deaf=True), replace(look, turn=turn))
        assert session.decoder is not None
        left = frozenset(piece.name for piece in session.decoder.beam[0].left)
        if left:  # tiles that no course explains do not count
            session = with_places(anchored(replace(session, idle=session.idle | left)))
        return session, (*announcements, *more)
    session, asked = _with_questions(with_places(session))
    return session, (*announcements, *asked)


def _withdrawn(session: Session, back: AnswerBack) -> tuple[Session, Announcements]:
    """Return the session without its last answer. All later looks are decoded again."""
    answered = session.answered
    if answered is None or answered.log != back.log or answered.before.decoder is None or session.decoder is None:
        return session, ()
    before, decoder = answered.before, answered.before.decoder
    for look in session.decoder.looks:
        if look.t_ns > before.t_ns:
            decoder = decoder.added(look)
    session = replace(session, decoder=decoder, answered=None, doubtful_ns=before.doubtful_ns, rejected=before.rejected)
    session, outcomes = _written(session)
    session, asked = _with_questions(session)
    return session, (*outcomes, *asked)


def _confirmed(session: Session, event: Confirmed) -> tuple[Session, Announcements]:
    """Return the session after the players have confirmed marked actions: if it is all of them, the totals too."""
    announcements: Announcements = ()
    session = replace(session, confirmed=session.confirmed | {*event.seqs})
    game = session.state.game
    if game is not None and session.decoder is not None:
        is_all = all(entry.seq in event.seqs for entry in entries(session.state) if entry.inferred)
        is_all = is_all and (session.doubtful_ns is None or _is_of_hand(session, event.seqs))
        totals = tuple((engine.Seat(at), total) for at, total in enumerate(game.totals)) if is_all else ()
        session = _with_surprise(session, 0.0) if is_all else session
        session, announcements = _decoded(session, replace(_same(session), confirmed=totals))
    state, outcomes = apply(session.state, event)
    return replace(session, state=state), (*announcements, *outcomes)


def _entered(session: Session, event: Event) -> tuple[Session, Announcements]:
    """Return the session after an event that was entered by hand."""
    session, told = _flushed(session)
    before = session
    state, outcomes = apply(session.state, event)
    nodes = set() if state.game is None else {node.id for node in state.game.layout.nodes}
    session = replace(session, state=state, answered=None)
    if isinstance(event, Inferred):
        seqs = {*event.seqs}
        session = replace(session, confirmed=session.confirmed - seqs, marked=session.marked - seqs)
    if isinstance(event, Undo | engine.Remove) and before.state.game is not None:
        off = {node.id for node in before.state.game.layout.nodes} - nodes
        names = frozenset(NodeId(known.name) for known in before.places.known if known.node in off)
        on = frozenset(piece.name for piece in session.table.pieces)
        session = replace(session, undone=(session.undone | names) & on)
    if isinstance(event, engine.Amend | engine.ItStands | engine.Play | engine.Insert):
        seq = event.seq if isinstance(event, engine.Amend | engine.ItStands) else before.state.next_seq
        session = replace(session, named=session.named | {int(seq)})
    session = with_places(anchored(session))
    is_amended = isinstance(event, engine.Amend) and not _is_of_hand(session, (event.seq,))
    if is_amended and before.doubtful_ns is not None and session.decoder is not None:
        session = _with_surprise(session, SURPRISING)  # An earlier hand resolves no doubt about this one.
    if session.decoder is None or not session.decoder.beam[0].is_odd:
        session = replace(session, doubtful_ns=None)
    session, asked = _with_questions(session)
    return session, (*told, *outcomes, *asked)
