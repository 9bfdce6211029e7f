"""What the demo saw against what really happened, play by play."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from engine import Layout, Node, NodeId, Placed, Port, Reason, Revised, Scored, Tile
from tallybone.session.referee import Unclear
from tallybone.session.session import Said
from tallybone.session.touching import Footprint, Laid, Point


@dataclass(frozen=True, slots=True)
class Laying:
    """One play, as it was or as it was seen.

    Attributes:
        tile: What was laid.
        host: Which tile it touches, by the number of its play; None for the first tile of a hand.
        port: Where it touches it.
        inner: The number that touches.
        points: What it scored.
    """

    tile: Tile
    host: int | None
    port: Port | None
    inner: int
    points: int

    def __str__(self) -> str:
        """Return the play as the list of differences shows it."""
        where = "" if self.host is None else f" at the {self.port} of play {self.host}"
        return f"{self.tile}{where}, {self.points} points"


@dataclass(frozen=True, slots=True)
class Compared:
    """One play of the truth and what was made of it.

    Attributes:
        number: Counts plays from 1.
        truth: What was played.
        seen: What was seen, at once or later; None for nothing.
    """

    number: int
    truth: Laying
    seen: Laying | None = None

    @property
    def is_tile_right(self) -> bool:
        """Whether the pips are right."""
        return self.seen is not None and self.seen.tile == self.truth.tile

    @property
    def is_place_right(self) -> bool:
        """Whether it lies where it was laid, and the right way round."""
        seen, truth = self.seen, self.truth
        return seen is not None and (seen.host, seen.port, seen.inner) == (truth.host, truth.port, truth.inner)

    @property
    def are_points_right(self) -> bool:
        """Whether it scored what it should."""
        return self.seen is not None and self.seen.points == self.truth.points

    def __str__(self) -> str:
        """Return both sides in one line."""
        return f"play {self.number}: {self.truth}; seen: {self.seen or 'nothing'}"


@dataclass(slots=True)
class Comparison:
    """Takes what is played and what is seen, and pairs them by where the tiles lie in the picture.

    So a play that is understood late, or never, does not spoil those after it.
    """

    plays: list[Compared] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    _centers_px: dict[int, Point] = field(default_factory=dict)
    _true_numbers: dict[NodeId, int] = field(default_factory=dict)
    _seen_numbers: dict[NodeId, int] = field(default_factory=dict)

    def begin_hand(self) -> None:
        """Forget where tiles lay: the table is empty."""
        self._centers_px.clear()

    def add_truth(self, layout: Layout, center_px: Point, points: int) -> None:
        """Take the next play, the newest node of a layout, with where the picture shows it and what it scored."""
        number, node = len(self.plays) + 1, layout.nodes[-1]
        self._true_numbers[node.id] = number
        self._centers_px[number] = center_px
        self.plays.append(Compared(number, _laying(node, points, self._true_numbers)))

    def add_seen(self, layout: Layout, laid: Sequence[Laid], said: Sequence[Said]) -> None:
        """Take everything that was said after a picture, with the layout and the places that were made of it."""
        self.questions += [one.words for one in said if isinstance(one, Unclear)]
        places = {one.node: one.place for one in laid}
        for at, one in enumerate(said):
            node = layout.find(one.node) if isinstance(one, Placed) else None
            if node is None or node.id not in places:
                continue
            number = self._number_at(places[node.id])
            if number is not None:
                self._seen_numbers[node.id] = number
                seen = _laying(node, _points_after(said[at + 1 :]), self._seen_numbers)
                self.plays[number - 1] = replace(self.plays[number - 1], seen=seen)

        if any(isinstance(one, Revised) for one in said):
            self._revise(layout)

    def _revise(self, layout: Layout) -> None:
        """Take what is known now of plays that were seen before: a later one may have corrected them."""
        for node in layout.nodes:
            number = self._seen_numbers.get(node.id)
            seen = None if number is None else self.plays[number - 1].seen
            if number is not None and seen is not None:
                now = _laying(node, seen.points, self._seen_numbers)
                self.plays[number - 1] = replace(self.plays[number - 1], seen=now)

    def wrong(self) -> Iterator[Compared]:
        """Yield the plays that were not seen as they were."""
        return (play for play in self.plays if play.seen != play.truth)

    def _number_at(self, place: Footprint) -> int | None:
        """Return the play whose tile lies at a place in the picture, or None."""
        gaps = {number: math.dist(center, place.center) for number, center in self._centers_px.items()}
        nearest = min(gaps, key=lambda number: gaps[number], default=None)
        return nearest if nearest is not None and gaps[nearest] < place.side else None


def _points_after(said: Sequence[Said]) -> int:
    """Return what a play scored, given what was said after it was placed."""
    own = takewhile(lambda one: not isinstance(one, Placed), said)
    return sum(one.points for one in own if isinstance(one, Scored) and one.reason is Reason.PLAY)


def _laying(node: Node, points: int, numbers: dict[NodeId, int]) -> Laying:
    if node.joins is None:
        return Laying(node.tile, None, None, node.inner, points)
    return Laying(node.tile, numbers.get(node.joins.host), node.joins.port, node.inner, points)
