"""Answers to what the table is asked, by its own buttons: which choice is shown, and which press takes it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from engine.phrases import Phrase, phrase
from tallybone.session.inputs import Answer, Button, Press, event_of
from tallybone.session.referee import Unclear
from tallybone.session.session import Session

# Long enough to read a choice on a small display; later on a call is a call again.
SHOWN_NS = 20_000_000_000

Meant: TypeAlias = Press | Answer | None


@dataclass(frozen=True, slots=True)
class Choosing:
    """Which choice of a question is shown; this is no part of the game, only the answer is.

    Attributes:
        topic: Of the question; None where no choice is shown.
        choice: Its place among the choices.
        until_ns: When it is shown no more.
    """

    topic: str | None = None
    choice: int = 0
    until_ns: int = 0

    def shown(self, session: Session, t_ns: int) -> int | None:
        """Return the place of the choice that is shown; None where none is, or something else is asked now."""
        asked = _asked(session)
        is_shown = asked is not None and asked.topic == self.topic and t_ns < self.until_ns
        return self.choice if is_shown else None

    def after(self, press: Press, session: Session, t_ns: int, *, is_held: bool = False) -> tuple[Choosing, Meant]:
        """Return which choice is shown after a press, and what is meant by it; None for nothing more than that.

        Args:
            press: Which button was pressed.
            session: Where the sitting stands.
            t_ns: When.
            is_held: Whether the button was held: then `next` shows a choice also where it would deal or lead.
        """
        asked = _asked(session)
        if asked is None:
            return Choosing(), press
        shown = self.shown(session, t_ns)
        match press.button:
            case Button.NEXT if is_held or event_of(press, session.state) is None:
                following = 0 if shown is None else (shown + 1) % len(asked.choices)
                return Choosing(asked.topic, following, t_ns + SHOWN_NS), None
            case Button.CALL if shown is not None:
                return Choosing(), Answer(shown, asked.topic)
            case Button.STANDS:  # the referee puts the likeliest first
                return Choosing(), Answer(shown or 0, asked.topic)
            case _:
                return self, press


def choice_words(asked: Unclear, shown: int) -> Phrase:
    """Return a choice as a display shows it.

    >>> choice_words(Unclear(None, "is this the 5-4 or the 6-4?", holds_up=True, choices=("the 5-4", "the 6-4")), 1)
    '2/2 the 6-4? Call: yes. Next: another.'
    """
    count = len(asked.choices)
    if count == 1:
        return phrase("{choice}? Call: yes.", choice=asked.choices[shown])
    said = {"number": f"{shown + 1}/{count}", "choice": asked.choices[shown]}
    return phrase("{number} {choice}? Call: yes. Next: another.", **said)


def _asked(session: Session) -> Unclear | None:
    """Return the question that a button can answer."""
    asked = session.open_question
    return asked if asked is not None and asked.choices else None
