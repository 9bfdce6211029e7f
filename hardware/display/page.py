"""Page of a score display: names, points, whose turn it is, and one message."""

from __future__ import annotations

from dataclasses import dataclass

_MOST_SCORES = 16


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One player's or team's line.

    Attributes:
        name: As the players wrote it; each display reduces it to what it can show.
        points: The total so far.
        is_turn: Whether it is their turn.
        is_provisional: Whether the points rely on plays that nobody saw or confirmed.
    """

    name: str
    points: int
    is_turn: bool = False
    is_provisional: bool = False


@dataclass(frozen=True, slots=True)
class DisplayPage:
    """Everything a display shows at one time.

    Attributes:
        scores: Clockwise from seat 0; at most 16.
        message: What happened or what is asked, in words; empty for nothing.
    """

    scores: tuple[ScoreLine, ...] = ()
    message: str = ""

    def __post_init__(self) -> None:
        if len(self.scores) > _MOST_SCORES:
            raise ValueError(f"a page shows at most {_MOST_SCORES} scores, but got {len(self.scores)}")
