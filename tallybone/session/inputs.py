"""Define the inputs besides pictures and events: buttons, knocks and answers; translate a button into an event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from engine import (
    Call,
    Decline,
    Draw,
    Event,
    Game,
    HandEnd,
    ItStands,
    Knock,
    Lead,
    MatchStart,
    NewHand,
    Phase,
    Redeal,
    RedealReason,
    Seat,
    Seq,
    State,
    Undo,
    entries,
)


class Button(StrEnum):
    """The buttons of a table. docs/rules.md 5.2."""

    KNOCK = "knock"
    CALL = "call"
    NEXT = "next"
    UNDO = "undo"
    STANDS = "stands"
    HAND_END = "hand_end"
    REDEAL = "redeal"
    STACK = "stack"
    DRAW = "draw"
    DONE = "done"
    TABLE = "table"


# The buttons that a player can have too, and their events.
_BY_SEAT: dict[Button, Callable[[Seat], Event]] = {
    Button.KNOCK: Knock,
    Button.CALL: Call,
    Button.DRAW: Draw,
    Button.DONE: Decline,
}


@dataclass(frozen=True, slots=True)
class Press:
    """A button was pressed; *seat* is whose it is, None for one that all share."""

    button: Button
    seat: Seat | None = None


@dataclass(frozen=True, slots=True)
class KnockHeard:
    """Somebody knocked on the table, or a tile was put down hard.

    Attributes:
        seat: The seat whose side it came from; None if unknown.
        strength: How hard, against a usual knock.
        confidence: Probability that it was something on the table, and no door or dropped glass, 0 to 1.
    """

    seat: Seat | None = None
    strength: float = 1.0
    confidence: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.confidence <= 1.0:
            raise ValueError(f"confidence must be 0 to 1, got {self.confidence}")
        if not self.strength >= 0.0:
            raise ValueError(f"strength must be 0 or more, got {self.strength}")


@dataclass(frozen=True, slots=True)
class Answer:
    """A choice of an open question.

    Attributes:
        choice: Its place among the choices, 0 upwards.
        topic: Which question is answered; None for the one that was asked last.
    """

    choice: int
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerBack:
    """The answer that was given last was a mistake: it is asked again.

    Attributes:
        log: How long the log of the match was when it was answered.
    """

    log: int


def event_of(press: Press, state: State) -> Event | None:
    """Return the event that a button means just now; None for nothing, for a stack and for the table."""
    game = state.game
    match press.button:
        case Button.UNDO:
            return _undone(state)
        case Button.STANDS:
            return ItStands(state.irregular[-1]) if state.irregular else None
        case Button.NEXT:
            return None if game is None else _next(game)
        case Button.HAND_END:
            return HandEnd()
        case Button.REDEAL:
            return Redeal(RedealReason.MISDEAL)
        case Button.STACK | Button.TABLE:
            return None
        case Button.KNOCK | Button.CALL | Button.DRAW | Button.DONE:
            seat = press.seat if press.seat is not None or game is None else _meant(press.button, game)
            return None if seat is None else _BY_SEAT[press.button](seat)
        case _:
            assert_never(press.button)


def _meant(button: Button, game: Game) -> Seat | None:
    """Return the seat that a shared button means: that of the turn, or with a call that of the points."""
    hand = game.hand
    if hand is None:
        return None
    if button is Button.CALL:
        chance = hand.chance or hand.lapsed
        return None if chance is None else chance.seat
    return hand.turn


def _undone(state: State) -> Undo | None:
    """Return the undo of the last action; the start of the match stays."""
    kept = entries(state)
    return None if not kept or isinstance(kept[-1].action, MatchStart) else Undo(Seq(kept[-1].seq))


def _next(game: Game) -> Event | None:
    """Return the next event that only the table can announce: a new hand, or the next player as leader."""
    hand = game.hand
    match game.phase:
        case Phase.DEAL:
            return NewHand()
        case Phase.LEAD if hand is not None:
            return Lead(Seat(0 if hand.turn is None else (hand.turn + 1) % len(game.players)))
        case Phase.MATCH_OVER if game.rules.target is None:
            return NewHand()
        case _:
            return None
