"""Connect a live game with its page: publish its state, and handle requests in the game's thread."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from socket import socket
from typing import Any, TypeAlias, assert_never

from fastapi import APIRouter

import engine
from engine import Action as Happening
from engine import ActionResult, Adjust, Amend, Entry, Event, Play, Remove, Seat, Seq, Spot, State, Tile, Undo, apply
from engine.phrases import phrase
from engine.value import changed
from hardware.part import Clock
from tallybone.plain_text import MAX_NAME, plain
from tallybone.play.game import Listener, LiveGame, LiveState
from tallybone.recording.resume import Evidence
from tallybone.session.course import reversal_events
from tallybone.session.inputs import Answer, AnswerBack, Button, Press
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Step
from tallybone.web.access.access import Access, new_pin
from tallybone.web.access.serving import Address, Serving, listen_on
from tallybone.web.access.visitors import THIS_MACHINE, KnownHosts
from tallybone.web.live.actions import (
    AmendAction,
    AnswerQuestion,
    At,
    ConfirmInferred,
    GivePoints,
    InsertAction,
    LetStand,
    PageAction,
    PipNumbers,
    PressButton,
    Refusal,
    Refused,
    RemoveAction,
    RenamePlayer,
    RevealHand,
    SayLead,
    SayLeft,
    SingleAction,
    SwapPlaces,
    TakeBack,
)
from tallybone.web.live.app import make_app
from tallybone.web.live.feed import Acted, CameraPicture, LiveFeed, PagePictures, PageRequest
from tallybone.web.live.plays import Story, corrections, paid, why_of
from tallybone.web.live.snapshot import topic_of


def inputs_for(
    action: PageAction, session: Session, story: Story, since: Iterable[Event]
) -> tuple[ByHand, ...] | Refused:
    """Return the inputs of the session that carry out an action, in order, or a refusal.

    *since* are the events since the snapshot on which the action is based.
    """
    state = session.state
    game = state.game
    if game is None:
        return Refused(Refusal.SENSELESS, phrase("no match has begun"))
    seat: int | None = getattr(action, "seat", None)
    if seat is not None and seat >= len(game.players):
        return Refused(Refusal.SENSELESS, phrase("nobody sits at seat {seat}", seat=seat))
    if _is_overtaken(action, session, tuple(since)):
        return Refused(Refusal.CHANGED, phrase("the game has moved on: check again"))
    if isinstance(action, TakeBack):
        return reverting_inputs(action, session) or Refused(Refusal.CHANGED, phrase("that can no longer be undone"))
    intended = _input_for(action, session, story)
    return intended if isinstance(intended, Refused) else (intended,)


def _input_for(action: SingleAction, session: Session, story: Story) -> ByHand | Refused:
    """Return the input for an action, or a refusal."""
    state = session.state
    if isinstance(action, AmendAction | InsertAction):
        action = _with_seat_then(action, story)
    match action:
        case PressButton():
            return Press(Button(action.button), None if action.seat is None else Seat(action.seat))
        case AnswerQuestion():
            return _answer(action, session)
        case GivePoints():
            return Adjust(Seat(action.seat), action.points, plain(action.why) or "by hand")
        case SayLead():
            return _checked(engine.Lead(Seat(action.seat)), state)
        case SayLeft():
            return _checked(engine.RevealPips(Seat(action.seat), action.pips), state)
        case RevealHand():
            return _checked(engine.Reveal(Seat(action.seat), tuple(Tile.of(*pips) for pips in action.tiles)), state)
        case RenamePlayer():
            return _checked(engine.Rename(Seat(action.seat), plain(action.name, MAX_NAME).strip()), state)
        case SwapPlaces():
            return _checked(engine.Swap(Seat(action.seat), Seat(action.other)), state)
        case ConfirmInferred(seq=seq):
            seqs = tuple(inferred for inferred in state.inferred if seq in (None, inferred))
            return engine.Confirmed(seqs) if seqs else Refused(Refusal.CHANGED, phrase("already confirmed"))
        case InsertAction():
            return _inserted(action, state, story)
        case AmendAction() | RemoveAction() | LetStand():
            result = next((known for known in story.results if known.entry.seq == action.seq), None)
            if result is None:
                return Refused(Refusal.CHANGED, phrase("that is no longer part of the game"))
            return _corrected(action, result, state, story)
        case _:
            assert_never(action)


def _with_seat_then(action: AmendAction | InsertAction, story: Story) -> AmendAction | InsertAction:
    """Return a correction with the seat that its player had then. The page uses current seats."""
    # Unchanged if the action has no player, or its place in the match is unknown.
    at = action.seq if isinstance(action, AmendAction) else action.before
    seats = story.seats_now().get(Seq(-1 if at is None else at))
    if seats is None or action.seat is None:
        return action
    return action.model_copy(update={"seat": seats.index(Seat(action.seat))})


def _is_overtaken(action: PageAction, session: Session, since: tuple[Event, ...]) -> bool:
    """Check whether events since the snapshot affect an action. Taking back is never affected."""
    match action:
        case TakeBack():
            return False
        case GivePoints() | SayLeft() | RevealHand() | RenamePlayer():
            return any(isinstance(event, engine.Swap | Undo | Remove) for event in since)
        case AnswerQuestion():
            return not any(topic_of(question.ambiguity) == action.topic for question in session.questions)
        case ConfirmInferred(seq=None):
            return any(isinstance(event, engine.Inferred) for event in since)
        case AmendAction(seq=seq) | RemoveAction(seq=seq) | LetStand(seq=seq) | ConfirmInferred(seq=seq):
            return any(isinstance(event, Amend | Remove) and event.seq == seq for event in since)
        case InsertAction(before=before) if before is not None:
            return any(isinstance(event, Remove | Undo) for event in since)
        case _:
            return bool(since)


def _answer(action: AnswerQuestion, session: Session) -> ByHand | Refused:
    asked = next(known for known in reversed(session.questions) if topic_of(known.ambiguity) == action.topic)
    if action.choice >= len(asked.answers):
        text = phrase("not one of the question's {answers} answers", answers=len(asked.answers))
        return Refused(Refusal.SENSELESS, text)
    return Answer(action.choice, asked.ambiguity.topic)


def _corrected(
    action: AmendAction | RemoveAction | LetStand, result: ActionResult, state: State, story: Story
) -> ByHand | Refused:
    entry = result.entry
    match action:
        case LetStand():
            return engine.ItStands(entry.seq)
        case RemoveAction():
            if hasattr(entry.action, "seat"):
                return Remove(entry.seq)
            text = phrase("only a player's action can be removed; use undo for the rest")
            return Refused(Refusal.SENSELESS, text)
        case AmendAction(points=points) if points is not None and isinstance(entry.action, Play | engine.Stack):
            if action.pips is not None or action.seat is not None or action.at is not None:
                return Refused(Refusal.SENSELESS, phrase("points of a play cannot be combined with other changes"))
            return _points_of_play(points, result, story)
        case AmendAction():
            return _amended(action, entry, state)
        case _:
            assert_never(action)


def _points_of_play(points: int, result: ActionResult, story: Story) -> ByHand | Refused:
    """Return the input that sets the points of a play: a new, changed or removed adjustment. Or a refusal."""
    action, why = result.entry.action, why_of(result.entry)
    assert isinstance(action, Play | engine.Stack)  # ensured by the caller
    earlier, wanted = corrections(story).get(why), points - paid(result)
    if earlier is not None:
        given = Adjust(action.seat, wanted, why)
        return Remove(earlier.seq) if wanted == 0 else Amend(earlier.seq, given)
    if wanted == 0:
        return Refused(Refusal.SENSELESS, phrase("the play already scores {points}", points=points))
    return Adjust(action.seat, wanted, why)


def _amended(action: AmendAction, entry: Entry, state: State) -> ByHand | Refused:
    """Return the amendment of an action, or a refusal."""
    changes: dict[str, Any] = {}
    if action.seat is not None:
        changes["seat"] = Seat(action.seat)
    if action.points is not None:
        changes["pips" if isinstance(entry.action, engine.RevealPips) else "points"] = action.points
    if action.pips is not None:
        changes["tile"] = Tile.of(*action.pips)
        if isinstance(entry.action, Play):
            changes["inner"] = None
    if action.at is not None:
        changes |= {"at": _spot(action.at)}
    if not changes:
        return Refused(Refusal.SENSELESS, phrase("specify the correction: pips, seat, points or at"))
    lacking = sorted(name for name in changes if not hasattr(entry.action, name))
    if lacking:
        return Refused(Refusal.SENSELESS, phrase("this action has no {what} to change", what=lacking[0]))
    try:
        happened: Happening = changed(entry.action, **changes)
    except ValueError as error:
        return Refused(Refusal.SENSELESS, plain(str(error)))
    if isinstance(happened, Play) and (action.pips is not None or action.at is not None):
        happened = _oriented(happened, action.pips, lambda way: Amend(entry.seq, way), entry.seq, state)
    return Amend(entry.seq, happened)


def _inserted(action: InsertAction, state: State, story: Story) -> Event | Refused:
    """Return the event of an action that the camera missed, or a refusal."""
    before, seat = action.before, Seat(action.seat)
    if before is not None and not any(known.entry.seq == before for known in story.results):
        return Refused(Refusal.CHANGED, phrase("that is no longer part of the game"))
    happened: Happening | Refused
    match action.kind:
        case "knock":
            happened = engine.Knock(seat)
        case "draw":
            happened = engine.Draw(seat, action.tiles)
        case "play":
            happened = _missed_play(action, state)
        case _:
            assert_never(action.kind)
    if isinstance(happened, Refused):
        return happened
    return _checked(happened, state) if before is None else engine.Insert(Seq(before), happened)


def _missed_play(action: InsertAction, state: State) -> Play | Refused:
    """Return a missed play, or a refusal. Without a position, it is at the only end where the tile fits."""
    if action.pips is None:
        return Refused(Refusal.SENSELESS, phrase("specify the tile: pips"))
    seat, tile, before = Seat(action.seat), Tile.of(*action.pips), action.before
    then = state if before is None else apply(state, Undo(Seq(before)))[0]
    if action.at is None and then.game is not None and then.game.layout.nodes:
        spots = {end.spot for end in then.game.layout.ends if end.playable and end.fits & tile.bit}
        if len(spots) != 1:
            text = phrase("the {tile} fits at {ends} ends: specify which", tile=tile, ends=len(spots))
            return Refused(Refusal.SENSELESS, text)
        return Play(seat, tile, spots.pop())
    play = Play(seat, tile, None if action.at is None else _spot(action.at))
    as_event = (lambda way: way) if before is None else (lambda way: engine.Insert(Seq(before), way))
    return _oriented(play, action.pips, as_event, state.next_seq, state)


def _spot(at: At) -> Spot:
    return Spot(engine.NodeId(at.seq), engine.Port(at.port))


def _oriented(play: Play, pips: PipNumbers | None, as_event: Callable[[Play], Event], seq: int, state: State) -> Play:
    """Return a play with its inner number: the first of *pips* for a leading tile, else a possible one if any."""
    tile = play.tile
    first, second = pips or (tile.low, tile.high)
    if play.at is None:
        return replace(play, inner=first)
    ways = [replace(play, inner=inner) for inner in (None, first, second)]
    return next((way for way in ways if _can_be(as_event(way), seq, state)), ways[1])


def _can_be(event: Event, seq: int, state: State) -> bool:
    """Return True if the action number *seq* would not be impossible after *event*."""
    _, outcomes = apply(state, event)
    irregular = (outcome for outcome in outcomes if isinstance(outcome, engine.Irregular) and outcome.seq == seq)
    return all(outcome.problem.weight is not engine.Weight.IMPOSSIBLE for outcome in irregular)


def _checked(event: Event, state: State) -> Event | Refused:
    """Return an event, or a refusal if it is impossible now."""
    problem = engine.problem_with(state, event)
    if problem is not None and problem.weight is engine.Weight.IMPOSSIBLE:
        return Refused(Refusal.SENSELESS, plain(problem.text))
    return event


def taking_back(action: PageAction, session: Session, log: int) -> TakeBack | None:
    """Return the action that reverts *action*.

    *log* was the length of the log before it, and *session* is the state after.

    None if the action cannot be reverted. Reverting an answer cannot itself be reverted, because the question is asked
    again.
    """
    if isinstance(action, TakeBack) and action.answer:
        return None
    back = TakeBack(type="take_back", log=log, answer=isinstance(action, AnswerQuestion))
    return back if reverting_inputs(back, session) else None


def reverting_inputs(action: TakeBack, session: Session) -> tuple[ByHand, ...]:
    """Return the inputs that carry out *action*, which reverts an earlier one. Empty if that is no longer possible."""
    if not action.answer:
        return reversal_events(session.state, action.log)
    answered = session.answered
    return () if answered is None or answered.log != action.log else (AnswerBack(action.log),)


MoreRoutes: TypeAlias = Callable[[Access], Iterable[APIRouter]]

_CONTINUES = phrase("the match goes on")


class LivePage:
    """Page of a live game, served until it is closed."""

    def __init__(
        self,
        where: str | socket,
        clock: Clock,
        *,
        pin: str | None = None,
        feed: LiveFeed | None = None,
        language: Callable[[], str | None] = lambda: None,
        says_pin: bool = True,
        hosts: KnownHosts = THIS_MACHINE,
        more: MoreRoutes = lambda access: (),
    ) -> None:
        """Start serving.

        Args:
            where: A listening socket, or an address as for `serving.listen_on`: a port, an address and port, or "" for
                the default port on all interfaces.
            clock: Monotonic clock in nanoseconds.
            pin: PIN. None for a new one.
            feed: Source of the game. None for a new one.
            language: Returns the default language of the table.
            says_pin: Whether `text` contains the PIN. Set to False if `text` is logged.
            hosts: Allowed host names.
            more: Returns additional routes.

        Raises:
            OSError: If the page cannot be served at *where*.
        """
        listening = listen_on(where) if isinstance(where, str) else where
        self._says_pin = says_pin
        self.address, self.pin = Address.of(listening), pin or new_pin()
        self.feed = feed or LiveFeed(clock)
        self._access = Access(self.pin, secrets.token_bytes(32), clock)
        app = make_app(
            self.feed, self._access, PagePictures(clock), more=more(self._access), language=language, hosts=hosts
        )
        self._serving = Serving(app, listening, self.feed.run)

    def restart(self, pin: str | None = None) -> None:
        """Prepare for another match, with the PIN *pin* or a new one. All cookies become invalid."""
        self.pin = pin or new_pin()
        self._access.renew(self.pin, secrets.token_bytes(32))
        self.feed.restart()

    @property
    def url(self) -> str:
        """Current address of the page."""
        return self.address.url

    @property
    def text(self) -> str:
        """Address, state of the network, and the PIN if allowed, as text."""
        network = ("(no network yet)",) if self.address.is_alone else ()
        pin = (self.pin_text,) if self._says_pin else ()
        return "  ".join((f"page {self.url}", *network, *pin))

    @property
    def pin_text(self) -> str:
        """The PIN as text."""
        return f"PIN {self.pin}"

    @property
    def listener(self) -> Listener:
        """Listener that shows a game on the page."""
        return ShownOnPage(self.feed)

    def see_to(self, live: LiveGame) -> bool:
        """Handle pending requests, and answer each after its result is published. Always return True."""
        for wanted in self.feed.desk.pending():
            if wanted.done.set_running_or_notify_cancel():  # Otherwise the request was cancelled.
                outcome = self._do(wanted.request, live)
                live.show()
                wanted.done.set_result(outcome)
        return True

    def close(self) -> None:
        """Stop serving."""
        self._serving.close()

    def _do(self, wanted: PageRequest, live: LiveGame) -> Acted | Refused:
        session = live.session
        log, story = session.state.log, self.feed.story_of(session.state)
        intended = inputs_for(wanted.action, session, story, self.feed.log_since(wanted.if_version, log))
        if isinstance(intended, Refused):
            return intended
        for each in intended:
            live.feed(each, by=wanted.by)
        return Acted(taking_back(wanted.action, live.session, len(log)))


@dataclass(frozen=True, slots=True)
class ShownOnPage(Listener):
    """Publishes the state, words and images of a live game on its page."""

    feed: LiveFeed

    def picture(self, jpeg: bytes, t_ns: int) -> None:
        """Show a camera image."""
        self.feed.see(CameraPicture(jpeg, t_ns))

    def happened(self, happened: Step) -> None:
        """Show the words of a step, if any."""
        if happened.announcements:
            self.feed.say(happened)

    def evidence(self, evidence: Evidence) -> None:
        """Add a crop of the image from which a play or question was read."""
        self.feed.crops.add(evidence)

    def continues(self, session: Session) -> None:
        """Show that a match was resumed."""
        self.feed.say(_CONTINUES)

    def show(self, now: LiveState) -> None:
        """Show the state of the game."""
        self.feed.show(now)

    def note(self, text: str) -> None:
        """Show a note to players."""
        self.feed.say(text)
