"""Inputs other than frames and events: presses, knocks and answers, and the event that a press means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

import engine
from engine import Call, Decline, Draw, Event, Game, HandEnd, Knock, NewHand, Phase, Redeal, Seat, State, Undo, entries


class Button(StrEnum):
    """The buttons of a table. docs/reference/rules.md 5.2."""

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


# Events of the buttons that may exist once per player as well as once for the whole table.
BY_SEAT: dict[Button, Callable[[Seat], Call | Knock | Draw | Decline]] = {
    Button.KNOCK: Knock,
    Button.CALL: Call,
    Button.DRAW: Draw,
    Button.DONE: Decline,
}


@dataclass(frozen=True, slots=True)
class Press:
    """A press of a button. *seat* is the player whose button it is, or None for a shared button."""

    button: Button
    seat: Seat | None = None


@dataclass(frozen=True, slots=True)
class KnockHeard:
    """A knock on the table, a tile put down hard, or a sound that may have been a knock.

    Attributes:
        seat: Seat from whose side the knock came, or None if unknown.
        strength: Strength relative to a typical knock.
        confidence: Probability from 0 to 1 that a player passed by the sound, not a door or a dropped glass.
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
    """An answer to an open question.

    Attributes:
        topic: Topic of the question, or None for the last one.
    """

    choice: int
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerBack:
    """Withdrawal of the last answer. The question is asked again.

    Attributes:
        log: Length of the match log before the answer.
    """

    log: int


def event_of(press: Press, state: State) -> Event | None:
    """Return the event that a press means in this state of the match.

    None if the button has no meaning now. Also None for `Button.STACK` and `Button.TABLE`, which are not events of the
    rules.
    """
    game = state.game
    match press.button:
        case Button.UNDO:
            # The undo of the last action in force, or None if that is the start of the match.
            kept = entries(state)
            return (
                None if not kept or isinstance(kept[-1].action, engine.MatchStart) else Undo(engine.Seq(kept[-1].seq))
            )
        case Button.STANDS:
            return engine.ItStands(state.irregular[-1]) if state.irregular else None
        case Button.NEXT:
            return None if game is None else _next(game)
        case Button.HAND_END:
            return HandEnd()
        case Button.REDEAL:
            return Redeal(engine.RedealReason.MISDEAL)
        case Button.STACK | Button.TABLE:
            return None
        case Button.KNOCK | Button.CALL | Button.DRAW | Button.DONE:
            seat = press.seat if press.seat is not None or game is None else _seat_of_button(press.button, game)
            return None if seat is None else BY_SEAT[press.button](seat)
        case _:
            assert_never(press.button)


def _seat_of_button(button: Button, game: Game) -> Seat | None:
    """Return the seat that a shared button means: the seat to move, or for a call the one that can call points."""
    # None if there is no such seat.
    hand = game.hand
    if hand is None:
        return None
    if button is Button.CALL:
        chance = hand.chance or hand.lapsed
        return None if chance is None else chance.seat
    return hand.turn


def _next(game: Game) -> Event | None:
    """Return the event of the "next" button: a new hand, or before the lead the next seat as leader. Otherwise None."""
    hand = game.hand
    match game.phase:
        case Phase.DEAL:
            return NewHand()
        case Phase.LEAD if hand is not None:
            return engine.Lead(Seat(0 if hand.turn is None else (hand.turn + 1) % len(game.players)))
        case Phase.MATCH_OVER if game.rules.target is None:
            return NewHand()
        case _:
            return None
