"""A game at a table with zones whose camera is temporarily blind, so that several changes are seen at once."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import numpy as np

from engine import NewHand, Play, Rules, entries
from lab.matches.game_script import ScriptStep
from tallybone.session.session import Input, Session
from tests.tallybone.session.noisy_table import SECOND_NS
from tests.tallybone.session.zoned_table import SIZE_PX, ZonedTable, ZoneFaults, ZoneFigures
from vision.reading import SeenTile
from vision.tracking.table_view import Change, ChangeKind, TableView


class GappedTable(ZonedTable):
    """A game with several gaps, in which a few plays are unseen. Knocks are still heard.

    A gap is caused by missing pictures, by somebody in front of the camera, or by a machine that is off. Then knocks
    are not heard either.
    """

    def __init__(
        self,
        rules: Rules,
        seed: int,
        *,
        gaps: int = 3,
        plays: int = 1,
        are_answered: bool = True,
        cause: Literal["no picture", "in front", "off"] = "no picture",
    ) -> None:
        super().__init__(rules, seed, ZoneFaults())
        self.cause = cause
        self.are_answered, self.is_blind = are_answered, False
        at = [number for number, step in enumerate(self.steps) if isinstance(step.event, Play)]
        rng = np.random.default_rng(seed + 30_000)
        # A play is seen before the first gap and after each, so the length of the game limits the number of gaps.
        many = min(gaps, (len(at) - 1) // (plays + 1))
        spare = len(at) - 1 - many * (plays + 1)
        before = np.sort(rng.integers(0, spare + 1, many))
        starts = [1 + int(spared) + number * (plays + 1) for number, spared in enumerate(before)]
        self.gaps = many
        self.gap = {number for start in starts for number in range(at[start], at[start + plays - 1] + 1)}
        self.lay_before: tuple[SeenTile, ...] = ()

    def run(self) -> ZoneFigures:
        for number in range(len(self.steps)):
            self.go_on(number)
        self._sum_up()
        assert isinstance(self.figures, ZoneFigures)
        return self.figures

    def run_until_seen_again(self, more: int = 2) -> None:
        """Run until *more* steps after the last gap."""
        for number in range(min(max(self.gap) + 1 + more, len(self.steps))):
            self.go_on(number)

    def go_on(self, number: int) -> None:
        """Run a single step of the game."""
        step = self.steps[number]
        is_blind = number in self.gap
        if is_blind and not self.is_blind:
            self.lay_before = self.tiles_on_table
        elif self.is_blind and not is_blind:
            self._see_again(self.steps[number - 1])
        self.is_blind = is_blind
        if step.is_seen:
            self._see([step])
        else:
            self._press(step)
        self._truth = step.state

    @property
    def seats_right(self) -> int:
        """Number of tiles attributed to the right seat."""
        truth, now = (
            Counter(
                (entry.action.seat, entry.action.tile) for entry in entries(state) if isinstance(entry.action, Play)
            )
            for state in (self._truth, self.session.state)
        )
        return (truth & now).total()

    @property
    def tiles_on_table(self) -> tuple[SeenTile, ...]:
        return (*self.reader.tiles, *self.yard, *self.open)

    def feed(self, event: Input, after_s: float = 5.0) -> None:
        if self.is_blind and (isinstance(event, TableView) or self.cause == "off"):
            self.t_ns += int(after_s * SECOND_NS)
            if self.cause == "in front":
                tiles = self.lay_before
                super().feed(TableView(tiles, (), (), is_settled=False, moved_since_ns=0, size_px=SIZE_PX), 0.0)
            return
        if not self.is_blind and not isinstance(event, TableView):
            super().feed(self.view((), ()), after_s / 2)  # the camera sees the table continuously
            after_s /= 2
        super().feed(event, after_s)

    def _answer(self, step: ScriptStep) -> None:
        if self.are_answered and not self.is_blind:
            super()._answer(step)

    def _note_seats(self, before: int) -> None:
        if not self.is_blind:
            super()._note_seats(before)

    def _sum_up(self) -> None:
        if not self.is_blind:
            super()._sum_up()

    def _see_again(self, last: ScriptStep) -> None:
        """Show all changes at once after a gap, and then the same view again."""
        self.is_blind = False
        if self.cause == "off":
            now = self.session
            self.session = Session.resumed(now.state, now.places, t_ns=self.t_ns, zones=self.zones)
        before = self.lay_before
        gone = [Change(ChangeKind.REMOVED, tile) for tile in before if tile not in self.tiles_on_table]
        come = [Change(ChangeKind.PLACED, tile) for tile in self.tiles_on_table if tile not in before]
        for changes in ([*gone, *come], []):
            self.show(changes, ())
            self._answer(last)


class GapAcrossDeal(GappedTable):
    """Two hands with a gap over the end of the first and the first plays of the second."""

    def __init__(self, rules: Rules, seed: int, *, before: int, plays: int, are_answered: bool = True) -> None:
        super().__init__(rules, seed, gaps=0, are_answered=are_answered)
        ZonedTable.__init__(self, rules, seed, ZoneFaults(), hands=2)
        dealt = [number for number, step in enumerate(self.steps) if isinstance(step.event, NewHand)][1]
        after = [number for number in range(dealt, len(self.steps)) if isinstance(self.steps[number].event, Play)]
        self.gap = set(range(dealt - before, after[plays - 1] + 1 if plays else after[0]))
