"""A game at a table with zones whose camera is gone now and then: what happened meanwhile is seen at once later."""

from __future__ import annotations

import numpy as np

from engine import NewHand, Play, Redeal, Rules
from tallybone.session.session import Input
from tallybone.simulate.game_script import ScriptStep
from tests.tallybone.session.noisy_table import SECOND_NS
from tests.tallybone.session.zoned_table import ZonedTable, ZoneFaults, ZoneFigures
from vision.reading import SeenTile
from vision.table_view import Change, ChangeKind, TableView


class GappedTable(ZonedTable):
    """Nobody sees the table while a few plays are made, three times in a game; knocks are heard all the time."""

    def __init__(self, rules: Rules, seed: int, *, gaps: int = 3, plays: int = 1, are_answered: bool = True) -> None:
        super().__init__(rules, seed, ZoneFaults())
        self.are_answered, self.is_blind = are_answered, False
        at = [number for number, step in enumerate(self.steps) if isinstance(step.event, Play)]
        rng = np.random.default_rng(seed + 30_000)
        starts = rng.choice(len(at) - plays - 1, gaps, replace=False) + 1
        self.gap = {number for one in starts.tolist() for number in range(at[one], at[one + plays - 1] + 1)}

    def run(self) -> ZoneFigures:
        before: tuple[SeenTile, ...] = ()
        last: ScriptStep | None = None
        for number, step in enumerate(self.steps):
            is_blind = number in self.gap and not isinstance(step.event, NewHand | Redeal)
            if is_blind and not self.is_blind:
                before = self.lying
            elif self.is_blind and not is_blind and last is not None:
                self._see_again(before, last)
            self.is_blind, last = is_blind, step
            if step.is_seen:
                self._see([step])
            else:
                self._press(step)
            self._truth = step.state
        self._sum_up()
        assert isinstance(self.figures, ZoneFigures)
        return self.figures

    @property
    def lying(self) -> tuple[SeenTile, ...]:
        return (*self.eye.tiles, *self.yard, *self.open)

    def feed(self, event: Input, after_s: float = 5.0) -> None:
        if self.is_blind and isinstance(event, TableView):
            self.t_ns += int(after_s * SECOND_NS)
        else:
            super().feed(event, after_s)

    def _answer(self, step: ScriptStep) -> None:
        if self.are_answered and not self.is_blind:
            super()._answer(step)

    def _note_seats(self, before: int) -> None:
        if not self.is_blind:
            super()._note_seats(before)

    def _see_again(self, before: tuple[SeenTile, ...], last: ScriptStep) -> None:
        """The camera is back: all that has changed is seen at once, then once more."""
        self.is_blind = False
        gone = [Change(ChangeKind.REMOVED, tile) for tile in before if tile not in self.lying]
        come = [Change(ChangeKind.PLACED, tile) for tile in self.lying if tile not in before]
        for changes in ([*gone, *come], []):
            self.show(changes, ())
            self._answer(last)
