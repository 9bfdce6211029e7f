"""Choose the answer of a question with buttons, on tables without a page or terminal at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from engine.phrases import Phrase, phrase
from tallybone.plain_text import capitalized
from tallybone.session.inputs import Answer, Button, Press, event_of
from tallybone.session.questions import Ambiguity
from tallybone.session.session import Session

# Time for which a choice is shown on a small display. Afterwards, the call button no longer confirms the choice.
SHOWN_NS = 20_000_000_000
ButtonMeaning: TypeAlias = Press | Answer | None


@dataclass(frozen=True, slots=True)
class Choosing:
    """The choice of a question that is shown on displays. Only the answer is an input of the game.

    Attributes:
        topic: Topic of the question, or None if no choice is shown.
        choice: Index of the choice.
        until_ns: Time at which the display stops showing the choice.
    """

    topic: str | None = None
    choice: int = 0
    until_ns: int = 0

    def shown(self, session: Session, t_ns: int) -> int | None:
        """Return the index of the choice that is shown. None if no choice is shown, or the question has changed."""
        asked = _asked(session)
        is_shown = asked is not None and asked.topic == self.topic and t_ns < self.until_ns
        return self.choice if is_shown else None

    def after(
        self, press: Press, session: Session, t_ns: int, *, is_held: bool = False
    ) -> tuple[Choosing, ButtonMeaning]:
        """Return the choice to show after a press, and the input that the press means.

        The input is None if the press only shows another choice. Without an open question, it is the press itself.

        Args:
            press: The press.
            session: The session before the press.
            t_ns: Time of the press.
            is_held: Whether the button was held. A held `next` always shows a choice, even if it could deal or lead.
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
            case Button.STANDS:  # the likeliest answer is the first
                return Choosing(), Answer(shown or 0, asked.topic)
            case _:
                return self, press


def choice_words(asked: Ambiguity, shown: int) -> Phrase:
    """Return the choice at index *shown* as text for a display. A single choice has neither a number nor "Next".

    >>> choice_words(Ambiguity(None, "is this the 5-4 or the 6-4?", choices=("the 5-4", "the 6-4")), 1)
    '2/2 The 6-4? Call: yes. Next: another answer.'
    """
    count, choice = len(asked.choices), capitalized(asked.choices[shown])
    if count == 1:
        return phrase("{choice}? Call: yes.", choice=choice)
    return phrase("{number} {choice}? Call: yes. Next: another answer.", number=f"{shown + 1}/{count}", choice=choice)


def _asked(session: Session) -> Ambiguity | None:
    """Return the open question if it has choices, or None."""
    asked = session.open_question
    return asked if asked is not None and asked.choices else None
