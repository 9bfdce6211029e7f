"""A whole game at a table with zones and a noisy reader, without input of draws, reveals or deals.

The boneyard and the revealed hands lie in their zones. Every hand enters over a side, usually that of its player.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine import (
    Draw,
    HandEnd,
    Irregular,
    Knock,
    Lead,
    MatchStart,
    NewHand,
    Play,
    ProblemKind,
    Redeal,
    Reveal,
    Rules,
    Tile,
)
from lab.matches.game_script import ScriptStep
from tallybone.session.inputs import KnockHeard
from tallybone.session.observations import Outline, SeatZone, Zones
from tallybone.session.places import Footprint
from tallybone.session.session import Session
from tests.tallybone.session.noisy_table import CENTRE_PX, PX_PER_MM, Faults, Figures, NoisyReader, NoisyTable
from vision.reading import Face, SeenTile
from vision.tracking.settle import EntrySide, Side
from vision.tracking.table_view import Change, ChangeKind, TableView

SIZE_PX = (4000, 4000)
SIDES = {2: "bottom top", 3: "bottom left top", 4: "bottom left top right"}
FAR_MM = 1250.0
TILES_IN_A_ROW = 13


def box(left: float, top: float, right: float, bottom: float) -> Outline:
    return ((left, top), (right, top), (right, bottom), (left, bottom))


STRIPS = {
    Side.BOTTOM: box(0.1, 0.93, 0.9, 1.0),
    Side.TOP: box(0.1, 0.0, 0.8, 0.07),
    Side.LEFT: box(0.0, 0.1, 0.07, 0.9),
    Side.RIGHT: box(0.93, 0.35, 1.0, 0.9),
}
YARD = box(0.8, 0.0, 1.0, 0.33)


def zones_of(players: int) -> Zones:
    return Zones(tuple(SeatZone(Side(side), STRIPS[Side(side)]) for side in SIDES[players].split()), YARD)


def back(at: int) -> SeenTile:
    """Return a tile of the boneyard, face down in its row."""
    x, y = 3240.0 + 58 * (at % TILES_IN_A_ROW), 40.0 + 90 * (at // TILES_IN_A_ROW)
    return SeenTile(Face.DOWN, ((x, y), (x + 36, y), (x + 36, y + 72), (x, y + 72)), ())


def laid_open(reader: NoisyReader, side: Side, tiles: tuple[Tile, ...]) -> list[SeenTile]:
    """Return the tiles revealed by a player at *side*, in a row."""
    fresh = []
    for at, tile in enumerate(tiles):
        along = (at - len(tiles) / 2) * 1.3 * 24.0
        at_mm = {
            Side.BOTTOM: (along, FAR_MM),
            Side.TOP: (along, -FAR_MM),
            Side.LEFT: (-FAR_MM, along),
            Side.RIGHT: (FAR_MM, along),
        }[side]
        heading_rad = np.pi / 2 if side in (Side.BOTTOM, Side.TOP) else 0.0
        fresh.append(reader.seen(Footprint.square(at_mm, heading_rad, 24.0), (tile.low, tile.high)))
    return fresh


@dataclass(frozen=True)
class ZoneFaults(Faults):
    """Additional fault rates, as shares of hands and of views."""

    side_right: float = 1.0
    wrong_is_clear: bool = False
    miscounted: float = 0.0
    pushed: float = 0.0


@dataclass
class ZoneFigures(Figures):
    """Additional results."""

    out_of_turn: int = 0
    steps_with_wrong_hands: int = 0


class ZonedTable(NoisyTable):
    """One game at a table with zones."""

    def __init__(self, rules: Rules, seed: int, faults: ZoneFaults, hands: int = 1) -> None:
        super().__init__(rules, seed, faults, hands)
        start = self.steps[0].event
        assert isinstance(start, MatchStart)
        self.zones = zones_of(len(start.players))
        self.zone_faults = faults
        self.session, self.figures = Session(zones=self.zones), ZoneFigures()
        self.yard: list[SeenTile] = []
        self.open: list[SeenTile] = []
        self.side_rng = np.random.default_rng(seed + 20_000)

    def came_from(self, seat: int | None, *others: int) -> tuple[EntrySide, ...]:
        """Return the reader's sides of entry for a hand of a seat. Players may reach across the table."""
        sides = [zone.side for zone in self.zones.seats]
        if seat is None:
            return ()
        if others and {seat, *others} != {seat}:
            return (EntrySide(sides[seat], 0.5), EntrySide(sides[others[-1]], 0.5))
        if self.side_rng.random() < self.zone_faults.side_right:
            return (EntrySide(sides[seat], 1.0),)
        wrong = [side for at, side in enumerate(sides) if at != seat]
        other = wrong[int(self.side_rng.integers(len(wrong)))]
        kind = 0.9 if self.zone_faults.wrong_is_clear else self.side_rng.random()
        if kind < 0.4:
            return ()
        return (EntrySide(other, 0.6), EntrySide(sides[seat], 0.4)) if kind < 0.8 else (EntrySide(other, 1.0),)

    def view(self, changes: Sequence[Change], sides: tuple[EntrySide, ...]) -> TableView:
        tiles = (*self.reader.tiles, *self.yard, *self.open)
        return TableView(tiles, (), tuple(changes), True, self.t_ns, sides, size_px=SIZE_PX)

    def show(self, changes: Sequence[Change], sides: tuple[EntrySide, ...], after_s: float = 5.0) -> None:
        self.feed(self.view((*self._yard_faults(), *changes), sides), after_s)

    def _yard_faults(self) -> list[Change]:
        """Push a tile of the boneyard, or miss a tile for a moment without a hand in view."""
        changes = []
        if self.yard and self.side_rng.random() < self.zone_faults.pushed:
            at = int(self.side_rng.integers(len(self.yard)))
            old = self.yard[at]
            a, b, c, d = ((x + 9, y + 7) for x, y in old.corners_px)
            self.yard[at] = replace(old, corners_px=(a, b, c, d))
            changes.append(Change(ChangeKind.MOVED, self.yard[at], old))
        if self.yard and self.side_rng.random() < self.zone_faults.miscounted:
            seen = self.yard.pop()
            self.feed(self.view((Change(ChangeKind.REMOVED, seen),), ()), 0.5)
            self.yard.append(seen)
            self.feed(self.view((Change(ChangeKind.PLACED, seen),), ()), 0.5)
        return changes

    def _see(self, steps: list[ScriptStep]) -> None:
        if self.faults.knocks_heard:
            self.feed(KnockHeard())
        seats = [step.event.seat for step in steps if isinstance(step.event, Play)]
        changes = self.reader.look(steps).changes
        before = len(self.session.state.log)
        self.show(changes, self.came_from(*seats), 0.8)
        self._note_seats(before)
        self._answer(steps[-1])

    def _note_seats(self, before: int) -> None:
        """Count reports of plays out of turn. All are wrong, as every play is in turn."""
        assert isinstance(self.figures, ZoneFigures)
        wrong = [
            announcement
            for announcements in self.announcements[-1:]
            for announcement in announcements
            if isinstance(announcement, Irregular)
            and announcement.problem.kind is ProblemKind.WRONG_SEAT
            and announcement.seq >= before
        ]
        self.figures.out_of_turn += len(wrong)

    def _press(self, step: ScriptStep) -> None:
        event = step.event
        match event:
            case NewHand():
                self._clear()
                self._lay_out(step)
            case Redeal():
                self._clear()
                super()._press(step)
                self._lay_out(step)
            case Lead():
                pass
            case Draw(seat=seat, tiles=tiles):
                faults = self._yard_faults()
                gone = [self.yard.pop(int(self.rng.integers(len(self.yard)))) for _ in range(tiles)]
                removed = [Change(ChangeKind.REMOVED, tile) for tile in gone]
                self.feed(self.view((*faults, *removed), self.came_from(seat)))
                if tiles > 2:
                    self.show([], ())
            case Reveal(seat=seat, tiles=tiles):
                self._lay_open(seat, tiles)
            case HandEnd():
                pass  # revealed tiles end the hand
            case Knock() if self.faults.knocks_heard:
                self.feed(KnockHeard(event.seat if self.rng.random() < 0.5 else None))
                self.show([], (), 2.5)
            case _:
                self.feed(self._mapped(event, step.state))
        self._answer(step)

    def _clear(self) -> None:
        if self.reader.tiles or self.open:
            self._sum_up()
        gone = (*self.reader.tiles, *self.yard, *self.open)
        self.reader.tiles, self.yard, self.open = [], [], []
        if gone:
            self.show([Change(ChangeKind.REMOVED, tile) for tile in gone], (EntrySide(Side.BOTTOM, 0.5),))

    def _lay_out(self, step: ScriptStep) -> None:
        """Show the tiles of the boneyard, and another motion."""
        assert step.state.game is not None
        assert step.state.game.hand is not None
        self.yard = [back(at) for at in range(step.state.game.hand.boneyard)]
        self.show([Change(ChangeKind.PLACED, tile) for tile in self.yard], ())
        self.show([], ())

    def _lay_open(self, seat: int, tiles: tuple[Tile, ...]) -> None:
        """Show the remaining tiles of a player, sometimes in two steps, and another motion."""
        fresh = laid_open(self.reader, self.zones.seats[seat].side, tiles)
        halfway = len(fresh) // 2 if self.side_rng.random() < 0.5 else 0
        for part in (fresh[:halfway], fresh[halfway:]):
            if part:
                self.open += part
                self.show([Change(ChangeKind.PLACED, tile) for tile in part], self.came_from(seat))
        self.show([], ())

    def _compare(self, step: ScriptStep) -> None:
        super()._compare(step)
        assert isinstance(self.figures, ZoneFigures)
        truth, game = step.state.game, self.session.state.game
        if truth and game and truth.hand and game.hand:
            now, right = game.hand, truth.hand
            self.figures.steps_with_wrong_hands += (now.sizes, now.boneyard) != (right.sizes, right.boneyard)


assert CENTRE_PX + PX_PER_MM * FAR_MM < SIZE_PX[1]
