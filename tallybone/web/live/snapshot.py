"""Convert a live game, or a table without one, to the snapshot that a page shows. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace

from engine import Game, HouseTally, Phase, ProblemKind, RowsTally, Seat, State, Weight, problem_with, turn
from engine.phrases import Phrase, phrase
from engine.state.outcomes import not_now
from tallybone.plain_text import names_of, plain
from tallybone.play.game import LiveState
from tallybone.session.inputs import Button, Press, event_of
from tallybone.session.observations import Zones, is_at
from tallybone.session.places import Places
from tallybone.session.questions import Ambiguity
from tallybone.session.session import Session
from tallybone.show.scoreboard import describe_pending
from tallybone.texts import in_language
from tallybone.web.live import shapes
from tallybone.web.live.plays import Story, irregular_of, layout_shown, plays_of, unseen_hands_of, unsure_shown

MAX_TOLD = 12
"""Maximum number of messages in a snapshot."""
_MAX_PROBLEMS = 8
# Kinds of players' actions, as opposed to corrections. A page shows the last such action separately.
_DONE = ("play", "stack", "draw", "knock", "decline", "call", "domino")

LOBBY = "lobby"
"""Phase of the snapshot while no match is played."""
NO_MATCH = phrase("no match is being played")
_NOTHING_PX = (1280, 720)
_USUAL_PIPS = 6


def snapshot_of(
    now: LiveState, messages: Sequence[shapes.MessageShown], story: Story, *, version: int
) -> shapes.Snapshot | None:
    """Return the snapshot of a game, or None before a match has begun. *messages* begin with the newest."""
    session, game = now.session, now.session.state.game
    if game is None:
        return None
    names = names_of(game.players)
    hands = story.hands()
    plays = plays_of(hands[-1] if hands else (), story, names)
    irregular = irregular_of(story, names)
    can, why = buttons_shown(session.state, irregular)
    return shapes.Snapshot(
        version,
        match_shown(game, is_provisional=session.is_provisional),
        tuple(player_shown(game, Seat(seat), name, session.zones) for seat, name in enumerate(names)),
        plain(describe_pending(replace(game, players=names))),
        None if session.open_question is None else _question(session.open_question, session.places, now.chosen),
        next((one for one in reversed(plays) if one.kind in _DONE), None),
        tuple(messages[:MAX_TOLD]),
        replace(layout_shown(game, session.places, session.zones, now.picture_px), unsure=unsure_shown(now.view)),
        plays,
        irregular,
        can,
        why,
        shapes.ReaderShown(plain(now.reader), _lost(now)),
        plain(now.recording),
        _problems(now),
        unseen_hands_of(hands[-2:], story, names),
    )


def as_json(shown: object, language: str = "en") -> bytes:
    """Encode a snapshot, or another value of the page's types, as JSON with its phrases in a language.

    Non-ASCII characters are escaped, so no name can break the JSON.
    """
    return json.dumps(_said(shown, language), allow_nan=False, separators=(",", ":")).encode("ascii")


def _said(shown: object, language: str) -> object:
    """Convert a value for `json.dumps`, with phrases translated to *language*."""
    match shown:
        case Phrase():
            return plain(in_language(shown, language))
        case tuple() | list():
            return [_said(one, language) for one in shown]
        case _ if is_dataclass(shown):
            return {one.name: _said(getattr(shown, one.name), language) for one in fields(shown)}
        case _:
            return shown


def buttons_shown(state: State, irregular: Iterable[shapes.IrregularShown]) -> tuple[shapes.CanShown, shapes.WhyShown]:
    """Return the buttons that currently have an effect, and the reasons against each button.

    A button that breaks a rule is offered with the reason, because the players may know better.
    """
    reasons = {button: _reason_against(button, state) for button in Button}
    can_stand = any(one.can_stand for one in irregular)
    reasons[Button.STANDS] = (can_stand, "" if can_stand else phrase("there is nothing to accept"))
    can = shapes.CanShown(**{button.value: is_on for button, (is_on, _) in reasons.items()})
    return can, shapes.WhyShown(**{button.value: plain(text) for button, (_, text) in reasons.items()})


def _reason_against(button: Button, state: State) -> tuple[bool, str]:
    """Return True if a button has an effect, and the reason against pressing it, "" for none."""
    game = state.game
    assert game is not None  # the caller shows a match
    if button is Button.TABLE:
        return True, ""
    if button is Button.STACK:
        text = "" if game.rules.cutthroat else phrase("{game} has no stacking", game=game.rules.name)
        text = text or ("" if game.phase is Phase.PLAY else not_now(game.phase).text)
        return not text, text
    turn_seat = None if game.hand is None else game.hand.turn
    event = event_of(Press(button), state) or event_of(Press(button, turn_seat or Seat(0)), state)
    if event is None:
        return False, phrase("there is nothing to undo") if button is Button.UNDO else not_now(game.phase).text
    problem = problem_with(state, event)
    if problem is None:
        return True, ""
    return problem.weight is not Weight.IMPOSSIBLE and problem.kind is not ProblemKind.NO_DRAWING, problem.text


def match_shown(game: Game, *, is_provisional: bool) -> shapes.MatchShown:
    """Convert the state of a match."""
    hand = game.hand
    return shapes.MatchShown(
        game.rules.name,
        game.rules.target,
        game.phase.value,
        None if hand is None else hand.number,
        None if hand is None else hand.boneyard,
        None if game.rules.unit is None or not game.layout.nodes else plain(str(game.count)),
        game.rules.max_pips,
        game.rules.copies,
        game.phase is Phase.MATCH_OVER,
        game.winner,
        is_provisional,
    )


def player_shown(game: Game, seat: Seat, name: str, zones: Zones) -> shapes.PlayerShown:
    """Convert the state of a player. *zones* gives the player's side of the image, if it has zones of seats."""
    whose, seats = turn(game), zones.seats
    team = next((at for at, side in enumerate(game.sides) if seat in side), None) if game.rules.partners else None
    return shapes.PlayerShown(
        seat,
        name,
        game.totals[seat],
        None if game.hand is None else game.hand.sizes[seat],
        whose is not None and whose.seat == seat,
        seats[seat].side.value if seat < len(seats) else None,
        team,
        _marks(game.tally(seat)),
    )


def _marks(tally: HouseTally | RowsTally | None) -> shapes.TallyShown:
    match tally:
        case HouseTally():
            houses = tuple(
                shapes.HouseShown(one.cross, tuple(mark.value for mark in one.quadrants)) for one in tally.houses
            )
            return shapes.TallyShown("houses", houses=houses, rest=tally.rest)
        case RowsTally():
            rows = tuple(
                tuple(shapes.StrokeShown(mark.stroke.value, mark.struck_out) for mark in row) for row in tally.rows
            )
            return shapes.TallyShown("rows", rows=rows, rest=tally.rest)
        case None:
            return shapes.TallyShown("none")


def _question(asked: Ambiguity, places: Places, chosen: int | None) -> shapes.QuestionShown:
    tile = asked.tile
    seqs = () if tile is None else tuple(int(one.node) for one in places.known if is_at(one.place, tile))
    return shapes.QuestionShown(
        topic_of(asked),
        plain(asked.text),
        tuple(plain(text) for text in asked.choices),
        seqs,
        chosen,
    )


def topic_of(asked: Ambiguity) -> str:
    """Return the topic of a question in the form used on pages, cleaned and shortened like all texts."""
    return plain(str(asked.topic))


def _lost(now: LiveState) -> str | None:
    return None if now.view is None or now.view.lost is None else Phrase(plain(now.view.lost))


def _problems(now: LiveState) -> tuple[str, ...]:
    """Return the problems that need somebody's attention, at most _MAX_PROBLEMS."""
    no_camera = phrase("the camera gives no pictures") if now.reader == "no camera" else None
    text = (_lost(now), no_camera, *now.parts)
    return tuple(plain(one) for one in text if one is not None)[:_MAX_PROBLEMS]


@dataclass(frozen=True, slots=True)
class Lobby:
    """State of a table at which no match is played.

    Attributes:
        problems: Problems that need somebody's attention, as text.
        last: Final state of the last match. None if there was no match.
    """

    camera: str
    problems: tuple[str, ...] = ()
    last: LiveState | None = None

    @property
    def session(self) -> Session | None:
        """Session of the last match. None if there was no match."""
        return None if self.last is None else self.last.session


def lobby_snapshot(
    lobby: Lobby, messages: Sequence[shapes.MessageShown], story: Story, *, version: int
) -> shapes.Snapshot:
    """Return the snapshot of a lobby. See `snapshot_of` for the other arguments."""
    last = None if lobby.last is None else snapshot_of(lobby.last, messages, story, version=version)
    shown = last or _empty(messages, version)
    return replace(
        shown,
        match=replace(shown.match, phase=LOBBY),
        players=tuple(replace(player, turn=False) for player in shown.players),
        waits_for=NO_MATCH,
        question=None,
        layout=replace(shown.layout, unsure=()),
        irregular=(),
        can=shapes.CanShown(),
        why=shapes.WhyShown(),
        reader=shapes.ReaderShown(plain(lobby.camera), None),
        problems=tuple(plain(text) for text in lobby.problems),
        unseen_hands=(),
    )


def _empty(messages: Sequence[shapes.MessageShown], version: int) -> shapes.Snapshot:
    """Return the snapshot before the first match."""
    return shapes.Snapshot(
        version,
        shapes.MatchShown(
            "", None, LOBBY, None, None, None, _USUAL_PIPS, 1, over=False, winner=None, provisional=False
        ),
        (),
        NO_MATCH,
        None,
        None,
        tuple(messages[:MAX_TOLD]),
        shapes.LayoutShown(_NOTHING_PX, (), (), (), (), ()),
        (),
        (),
        shapes.CanShown(),
        shapes.WhyShown(),
        shapes.ReaderShown("", None),
        "",
    )
