"""Verdicts of the referee: resolutions, and questions to the players."""

from __future__ import annotations

from dataclasses import dataclass

from engine import Event, Seat
from tallybone.session.referee.places import Places
from vision.reading import SeenTile


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """An open point, as a question to the players.

    Attributes:
        tile: Tile in question, as read. None if the question is not about one tile.
        words: Text of the question.
        holds_up: Whether later tiles have to wait for the answer.
        choices: Texts of the answers. Empty if the players can only resolve the point at the table.
        seat: Player in question, or None if it is not about one player's turn.
    """

    tile: SeenTile | None
    words: str
    holds_up: bool
    choices: tuple[str, ...] = ()
    seat: Seat | None = None

    @property
    def topic(self) -> str:
        """Subject of the question, to recognise it: its choices, sorted, or its text if it has none."""
        return " / ".join(sorted(self.choices)) if self.choices else self.words


@dataclass(frozen=True, slots=True)
class Resolution:
    """A decision of the referee.

    Attributes:
        events: Events for the rules, in order.
        places: Tracked layout after the events.
        is_inferred: Whether the events were not seen. They are then marked until the players confirm them.
    """

    events: tuple[Event, ...]
    places: Places
    is_inferred: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the resolution for each of its choices, in the same order."""

    ambiguity: Ambiguity
    answers: tuple[Resolution, ...] = ()

    def __post_init__(self) -> None:
        if len(self.answers) != len(self.ambiguity.choices):
            raise ValueError(f"expected {len(self.ambiguity.choices)} answers, got {len(self.answers)}")
