"""A naive second implementation of the rules, independent of the engine: layouts and counts.

Tiles are pairs of numbers, low half first. There is no graph, port or node: each tile is stored under its path from the
first tile. A mistake in the engine's graph therefore shows as a difference. naive_game.py plays with this module, and
naive_super.py is the six-arm game.

A path is a string. "" is the first tile, and "W", "E", "N" and "S" are its neighbours ("N" and "S" on the short sides).
From any later tile, "+" leads outwards, and "N" and "S" lead to its short sides. "W+N" is on a short side of the double
that is second on the western arm. A free place has the path of a tile laid there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Pair = tuple[int, int]
Rules = Mapping[str, Any]


class Action(NamedTuple):
    """An action of a seat: "play" or "stack" a tile at a place, "draw", "knock", or "decline" an extra turn."""

    kind: str
    tile: Pair = (-1, -1)
    place: str = ""


DRAW = Action("draw")
KNOCK = Action("knock")
DECLINE = Action("decline")


def is_double(tile: Pair) -> bool:
    return tile[0] == tile[1]


def whole_set(rules: Rules) -> list[Pair]:
    """Return every tile of the game, once per set."""
    top: int = rules["set"]
    copies: int = rules.get("copies", 1)
    return [(low, high) for low in range(top + 1) for high in range(low, top + 1)] * copies


def all_out(number: int, on_table: Iterable[Pair], rules: Rules) -> bool:
    """Check that every tile with *number* is on the table."""
    top: int = rules["set"]
    copies: int = rules.get("copies", 1)
    return sum(number in tile for tile in on_table) == (top + 1) * copies


@dataclass
class HandState:
    """State common to all games. `over` is True once the hand has ended, and `out` is the seat without tiles."""

    rules: Rules
    hands: list[list[Pair]]
    boneyard: list[Pair]  # drawn from the end
    turn: int
    knocks: int = 0
    over: bool = False
    out: int | None = None


@dataclass
class Layout:
    """The layout of every game but the six-arm one.

    `laid` is in the order of play. Each pair is (inner half, outer half). The first number of a leading single is open
    at "W" and the second at "E".
    """

    spinner: str = "none"  # none | first | all
    branch_order: str = "any"  # any | sides_first
    spinner_count: str = "until_capped"  # until_capped | open_halves
    laid: dict[str, Pair] = field(default_factory=dict)
    stacked: list[Pair] = field(default_factory=list)

    def twin(self) -> Layout:
        return Layout(self.spinner, self.branch_order, self.spinner_count, dict(self.laid), list(self.stacked))

    def branches(self, at: str) -> bool:
        """Check that the tile at a path is a double that may have four neighbours."""
        doubles = [way for way, tile in self.laid.items() if is_double(tile)]
        if self.spinner == "all":
            return at in doubles
        return self.spinner == "first" and doubles[:1] == [at]

    def neighbours(self, at: str) -> int:
        before = 0 if at == "" else 1
        return before + sum(at + step in self.laid for step in "WENS+")

    def open_places(self) -> list[str]:
        """Return the places where a tile may be laid now, if its number matches."""
        places = []
        for at in self.laid:
            line = ["W", "E"] if at == "" else ["+"]
            free = [at + step for step in line if at + step not in self.laid]
            places += free
            if self.branches(at) and (self.branch_order == "any" or not free):
                places += [at + step for step in "NS" if at + step not in self.laid]
        return places

    def number(self, place: str) -> int:
        """Return the number that a tile at *place* has to match."""
        inner, outer = self.laid[place[:-1]]
        return inner if place == "W" else outer

    def plays(self, hand: Iterable[Pair]) -> list[Action]:
        """Return each distinct tile with each place that it matches."""
        return [
            Action("play", tile, place)
            for tile in dict.fromkeys(hand)
            for place in self.open_places()
            if self.number(place) in tile
        ]

    def play(self, tile: Pair, place: str) -> None:
        if self.laid:
            need = self.number(place)
            first, second = tile
            self.laid[place] = (need, second if first == need else first)
        else:
            self.laid[""] = tile

    def stacks(self, hand: Iterable[Pair]) -> list[Action]:
        """Return each distinct tile with the path of each equal tile on the table that has a free side."""
        return [
            Action("stack", tile, at)
            for tile in dict.fromkeys(hand)
            for at, (inner, outer) in self.laid.items()
            if tile in ((inner, outer), (outer, inner)) and self.neighbours(at) < (4 if self.branches(at) else 2)
        ]

    def count(self) -> int:
        """Return the sum of the open ends."""
        total = 0
        for at, (inner, outer) in self.laid.items():
            double, covered = inner == outer, self.neighbours(at)
            if not double and at == "":
                total += (0 if "W" in self.laid else inner) + (0 if "E" in self.laid else outer)
            elif not double and at + "+" not in self.laid:
                total += outer
            elif double and self.branches(at) and self.spinner_count == "open_halves":
                total += inner * min(2, 4 - covered)
            elif double and covered <= 1:
                total += 2 * inner
        return total

    def locked(self, rules: Rules) -> bool:
        """Check that no remaining tile of the set matches any open place."""
        on_table = [*self.laid.values(), *self.stacked]
        return all(all_out(self.number(place), on_table, rules) for place in self.open_places())
