"""What the eye alone makes of each tile when it is laid, with no rules to help it, against what was laid."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from tallybone.evaluate.truth import TrueLying
from tallybone.simulate.items import Zone
from vision.reading import Face, Tile
from vision.table_view import ChangeKind, TableView
from vision.tracks import moved_tile

# In sides of a half: a tile that is seen nearer than this to a true one is that.
_SAME_PLACE = 0.5


@dataclass(frozen=True, slots=True)
class EyeFigures:
    """How the tiles of layouts were read when they were first seen.

    Attributes:
        found: Where one lies.
        right: With the right pips, too.
        spare: Where none lies, or once more.
    """

    found: int = 0
    right: int = 0
    spare: int = 0


class EyeJudge:
    """Takes views of a table one after the other."""

    def __init__(self) -> None:
        """Start with an empty table."""
        self._known: Counter[tuple[int, ...]] = Counter()
        self._figures = EyeFigures()

    @property
    def figures(self) -> EyeFigures:
        """How it went so far."""
        return self._figures

    def begin_hand(self) -> None:
        """Forget which tiles lie there."""
        self._known.clear()

    def saw(self, view: TableView, lying: tuple[TrueLying, ...]) -> None:
        """Judge what was placed with a view, by how the tiles really lie."""
        for change in view.changes:
            if change.kind is ChangeKind.PLACED and change.tile.face is Face.UP:
                self._judge(moved_tile(change.tile, view.aim.motion), lying)

    def _judge(self, tile: Tile, lying: tuple[TrueLying, ...]) -> None:
        nearest = min(lying, key=lambda one: math.dist(one.center_px, tile.center_px), default=None)
        if nearest is not None and math.dist(nearest.center_px, tile.center_px) < _SAME_PLACE * nearest.side_px:
            if nearest.zone is Zone.LAYOUT:
                self._add(tile, nearest, lying)
            return
        self._figures = EyeFigures(self._figures.found, self._figures.right, self._figures.spare + 1)

    def _add(self, tile: Tile, true: TrueLying, lying: tuple[TrueLying, ...]) -> None:
        """Count a tile of the layout; a second time it is spare."""
        self._known[true.pips] += 1
        there = sum(one.pips == true.pips and one.zone is Zone.LAYOUT for one in lying)
        before = self._figures
        if self._known[true.pips] > there:
            self._figures = EyeFigures(before.found, before.right, before.spare + 1)
            return
        is_right = tuple(sorted(half.pips for half in tile.halves)) == true.pips
        self._figures = EyeFigures(before.found + 1, before.right + is_right, before.spare)
