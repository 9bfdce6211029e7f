"""Bones once more, written as plainly as possible and sharing nothing with the engine but the tile: the oracle.

The line is a list of pairs from west to east, the two tips are lists of pairs from the spinner outwards. There is no
graph, no port and no node, so that a mistake in those shows as a difference.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Pair = tuple[int, int]


@dataclass
class NaiveBones:
    line: list[Pair] = field(default_factory=list)
    tips: dict[str, list[Pair]] = field(default_factory=lambda: {"N": [], "S": []})
    spinner: int | None = None  # place in the line; a first double on a tip is not possible

    def numbers(self) -> dict[str, int]:
        """What each arm needs now."""
        if not self.line:
            return {}
        needs = {"W": self.line[0][0], "E": self.line[-1][1]}
        if self.spinner is not None and 0 < self.spinner < len(self.line) - 1:
            for arm, pairs in self.tips.items():
                needs[arm] = pairs[-1][1] if pairs else self.line[self.spinner][0]
        return needs

    def moves(self, hand: list[Pair]) -> list[tuple[Pair, str]]:
        """Each tile with each arm it fits."""
        return [(tile, arm) for tile in hand for arm, number in self.numbers().items() if number in tile]

    def play(self, tile: Pair, arm: str) -> None:
        one, other = tile
        if not self.line:
            self.line = [(one, other)]
            at = 0
        elif arm == "W":
            need = self.line[0][0]
            self.line.insert(0, (other if one == need else one, need))
            at = 0
            if self.spinner is not None:
                self.spinner += 1
        elif arm == "E":
            need = self.line[-1][1]
            self.line.append((need, other if one == need else one))
            at = len(self.line) - 1
        else:
            need = self.numbers()[arm]
            self.tips[arm].append((need, other if one == need else one))
            return
        if one == other and self.spinner is None:
            self.spinner = at

    def count(self) -> int:
        """Add up what lies open."""
        if len(self.line) == 1:
            return sum(self.line[0])
        open_pairs = [(self.line[0][1], self.line[0][0]), self.line[-1]]
        open_pairs += [pairs[-1] for pairs in self.tips.values() if pairs]
        return sum(2 * outer if inner == outer else outer for inner, outer in open_pairs)
