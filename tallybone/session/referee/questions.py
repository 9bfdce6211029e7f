"""Define the verdicts of the referee: decisions, and questions to the table."""

from __future__ import annotations

from dataclasses import dataclass

from engine import Event
from tallybone.session.referee.places import Places
from vision.reading import SeenTile


@dataclass(frozen=True, slots=True)
class Unclear:
    """A doubt, as the table is asked about it.

    Attributes:
        tile: The tile in question, as it is seen; None where it is about none.
        words: The question.
        holds_up: Whether what is laid later has to wait for the answer.
        choices: The answers, in words; none where only hands on the table can answer.
    """

    tile: SeenTile | None
    words: str
    holds_up: bool
    choices: tuple[str, ...] = ()

    @property
    def topic(self) -> str:
        """Its subject: the same question, asked again in other words, has the same."""
        return " / ".join(sorted(self.choices)) if self.choices else self.words


@dataclass(frozen=True, slots=True)
class Decided:
    """What happened.

    Attributes:
        events: For the rules.
        places: Where the tiles lie after them.
        is_inferred: Whether nobody saw it, so that it is marked until the table confirms it.
    """

    events: tuple[Event, ...]
    places: Places
    is_inferred: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what follows from each answer, in the order of its choices."""

    unclear: Unclear
    answers: tuple[Decided, ...] = ()

    def __post_init__(self) -> None:
        if len(self.answers) != len(self.unclear.choices):
            raise ValueError(f"expected {len(self.unclear.choices)} answers, got {len(self.answers)}")
