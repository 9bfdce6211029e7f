"""From a live game as it stands to the snapshot that a page shows: pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace

from engine import Game, HouseTally, Phase, ProblemKind, RowsTally, Seat, State, Weight, problem_with, turn
from engine.phrases import Phrase, phrase
from tallybone.plain_text import names_of, plain
from tallybone.play.game import Now
from tallybone.session.inputs import Button, Press, event_of
from tallybone.session.referee import Unclear
from tallybone.session.referee.places import Places, is_at
from tallybone.session.zones import Zones
from tallybone.show.scoreboard import waits_for
from tallybone.texts import in_language
from tallybone.web.layout_shown import layout_shown
from tallybone.web.plays import irregular_of, plays_of
from tallybone.web.shapes import (
    CanShown,
    EyeShown,
    HouseShown,
    MarksShown,
    MatchShown,
    PlayerShown,
    PlayShown,
    QuestionShown,
    Snapshot,
    StrokeShown,
    ToldShown,
)
from tallybone.web.story import Story

MOST_TOLD = 12
"""So many of the things that were said last are in a snapshot."""
_MOST_PROBLEMS = 8
# What a player has done, as opposed to what the table has said or put right.
_DONE = ("play", "stack", "draw", "knock", "decline", "call", "domino")


def snapshot_of(now: Now, told: Sequence[ToldShown], story: Story, *, version: int) -> Snapshot | None:
    """Return what a page shows; None before a match has begun.

    Args:
        now: How the game stands.
        told: What was said, the newest first.
        story: What followed from each action of the match of *now*.
        version: Number of the snapshot.
    """
    session, game = now.session, now.session.state.game
    if game is None:
        return None
    names = names_of(game.players)
    hands = story.hands()
    plays = plays_of(hands[-1] if hands else (), story, names)
    return Snapshot(
        version,
        match_shown(game),
        tuple(player_shown(game, Seat(seat), name, session.zones) for seat, name in enumerate(names)),
        plain(waits_for(replace(game, players=names))),
        None if session.open_question is None else _question(session.open_question, session.places, now.chosen),
        _last(plays),
        tuple(told[:MOST_TOLD]),
        layout_shown(game, session.places, session.zones, now.picture_px),
        plays,
        irregular_of(story, names),
        can(session.state),
        EyeShown(plain(now.eye), _lost(now)),
        plain(now.recording),
        _problems(now),
    )


def as_json(shown: object, language: str = "en") -> bytes:
    """Return a snapshot, or parts of one, as JSON with its sentences in a language.

    What is no ASCII is escaped, so that nothing in a name can harm it.
    """
    return json.dumps(_said(shown, language), allow_nan=False, separators=(",", ":")).encode("ascii")


def _said(shown: object, language: str) -> object:
    """Return what `json.dumps` takes."""
    match shown:
        case Phrase():
            return plain(in_language(shown, language))
        case tuple() | list():
            return [_said(one, language) for one in shown]
        case _ if is_dataclass(shown):
            return {one.name: _said(getattr(shown, one.name), language) for one in fields(shown)}
        case _:
            return shown


def can(state: State) -> CanShown:
    """Return which buttons mean something now: what is against the rules too, where players do it all the same."""
    return CanShown(**{button.value: _means_something(button, state) for button in Button})


def _means_something(button: Button, state: State) -> bool:
    game = state.game
    if button is Button.STACK:
        return game is not None and game.rules.cutthroat and game.phase is Phase.PLAY
    event = event_of(Press(button), state)
    if event is None:
        return False
    problem = problem_with(state, event)
    if problem is None or problem.kind is ProblemKind.KNOCK_TOO_EARLY:
        return True
    return problem.weight is Weight.NOTED


def match_shown(game: Game) -> MatchShown:
    """Return how a match stands."""
    hand = game.hand
    return MatchShown(
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
    )


def player_shown(game: Game, seat: Seat, name: str, zones: Zones) -> PlayerShown:
    """Return how a player stands, by the name that is shown; *zones* say where he sits."""
    whose, seats = turn(game), zones.seats
    team = next((at for at, side in enumerate(game.sides) if seat in side), None) if game.rules.partners else None
    return PlayerShown(
        seat,
        name,
        game.totals[seat],
        None if game.hand is None else game.hand.sizes[seat],
        whose is not None and whose.seat == seat,
        seats[seat].side.value if seat < len(seats) else None,
        team,
        _marks(game.tally(seat)),
    )


def _marks(tally: HouseTally | RowsTally | None) -> MarksShown:
    match tally:
        case HouseTally():
            houses = tuple(HouseShown(one.cross, tuple(mark.value for mark in one.quadrants)) for one in tally.houses)
            return MarksShown("houses", houses=houses, rest=tally.rest)
        case RowsTally():
            rows = tuple(tuple(StrokeShown(mark.stroke.value, mark.lined_out) for mark in row) for row in tally.rows)
            return MarksShown("rows", rows=rows, rest=tally.rest)
        case None:
            return MarksShown("none")


def _question(asked: Unclear, places: Places, chosen: int | None) -> QuestionShown:
    tile = asked.tile
    seqs = () if tile is None else tuple(int(one.node) for one in places.known if is_at(one.place, tile))
    return QuestionShown(
        topic_of(asked),
        plain(asked.words),
        tuple(plain(words) for words in asked.choices),
        seqs,
        asked.holds_up,
        chosen,
    )


def topic_of(asked: Unclear) -> str:
    """Return the topic of a question as pages know it."""
    return plain(str(asked.topic))


def _last(plays: Sequence[PlayShown]) -> PlayShown | None:
    """Return what a player did last."""
    return next((one for one in reversed(plays) if one.kind in _DONE), None)


def _lost(now: Now) -> str | None:
    return None if now.view is None or now.view.lost is None else Phrase(plain(now.view.lost))


def _problems(now: Now) -> tuple[str, ...]:
    """Return what somebody has to do something about."""
    lost = _lost(now)
    own = (
        *(() if lost is None else (lost,)),
        *((phrase("the camera gives no pictures"),) if now.eye == "no camera" else ()),
    )
    return tuple(plain(words) for words in (*own, *now.parts))[:_MOST_PROBLEMS]
