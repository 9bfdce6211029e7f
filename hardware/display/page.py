"""Page of a score display: names, points, turn mark, and a message."""

from __future__ import annotations

from dataclasses import dataclass

_MAX_SCORES = 16


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """Line of a player or team.

    Attributes:
        name: Name as entered. Each display reduces it to characters that it can show.
        points: Current total.
        is_turn: Whether it is their turn.
        is_provisional: Whether the points depend on plays that were neither seen nor confirmed.
    """

    name: str
    points: int
    is_turn: bool = False
    is_provisional: bool = False


@dataclass(frozen=True, slots=True)
class DisplayPage:
    """Content of a score display.

    Attributes:
        scores: Lines clockwise from seat 0, at most 16.
        message: Last event or open question in words, or "".
    """

    scores: tuple[ScoreLine, ...] = ()
    message: str = ""

    def __post_init__(self) -> None:
        if len(self.scores) > _MAX_SCORES:
            raise ValueError(f"a page shows at most {_MAX_SCORES} scores, but got {len(self.scores)}")
