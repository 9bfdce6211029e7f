"""A whole game at a table with zones, a noisy reader and a camera that may be blind for a while.

Places come from a scripted game. Corners have errors of a few pixels, and halves are read uncertainly or wrongly at
known rates. Tiles are nudged, several come at once, and each tile knocks as it is put down. Draws, reveals and deals
are not entered: the boneyard and the revealed hands lie in their zones, and every hand enters over a side, usually
that of its player. Players answer questions correctly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal

import numpy as np

import engine
from lab.matches.game_script import ScriptStep, answer_of, paths_of, play_out
from lab.matches.room import pick_table
from tallybone.session.feeding import feed
from tallybone.session.inputs import Button, KnockHeard, Press
from tallybone.session.observations import Outline, SeatZone, Zones
from tallybone.session.places import Footprint
from tallybone.session.session import Announcement, Input, Session
from tests.tallybone.truth_eye import PLAYERS_OF, game_of, hand_of
from vision.reading import Face, Half, SeenTile
from vision.tracking.settle import EntrySide, Side
from vision.tracking.table_view import Change, ChangeKind, TableView

SECOND_NS = 1_000_000_000
PX_PER_MM = 1.5
CENTRE_PX = 2000.0
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


@dataclass(frozen=True)
class Faults:
    """Fault rates of the reader and the players: shares of halves, plays, hands or views, and errors in pixels."""

    corner_px: float = 1.5
    unsure: float = 0.0
    wrong: float = 0.0
    nudged: float = 0.0
    at_once: float = 0.0
    side_right: float = 1.0
    wrong_is_clear: bool = False
    miscounted: float = 0.0
    pushed: float = 0.0


@dataclass
class Figures:
    """Results of a game."""

    plays: int = 0
    plays_right: int = 0
    questions: list[str] = field(default_factory=list)
    out_of_turn: int = 0
    is_right_at_end: bool = True
    is_flagged_at_end: bool = False

    @property
    def is_right_or_marked(self) -> bool:
        return self.is_right_at_end or self.is_flagged_at_end


class NoisyReader:
    """A simulated reader with faults."""

    def __init__(self, faults: Faults, rules: engine.Rules, rng: np.random.Generator) -> None:
        self.faults, self.rules, self.rng = faults, rules, rng
        self.tiles: list[SeenTile] = []

    def look(self, steps: Sequence[ScriptStep]) -> list[Change]:
        changes = [self._nudge()] if self.tiles and self.rng.random() < self.faults.nudged else []
        for step in steps:
            laid, node = step.laid[-1], game_of(step.state).layout.nodes[-1]
            tile = self.seen(laid.place, (node.inner, node.outer))
            self.tiles.append(tile)
            changes.append(Change(ChangeKind.PLACED, tile))
        return changes

    def seen(self, place: Footprint, pips: tuple[int, int]) -> SeenTile:
        def px(point: tuple[float, float]) -> tuple[float, float]:
            x, y = (CENTRE_PX + PX_PER_MM * value + self.rng.normal(0, self.faults.corner_px) for value in point)
            return (x, y)

        a, c = (1.0, 0.0) if place.lies_along else (0.0, 1.0)
        halves = [(pips[0], place.at(-a / 2, -c / 2)), (pips[1], place.at(a / 2, c / 2))]
        if self.rng.random() < 0.5:
            halves.reverse()
        first, second = (self.half(number, px(at)) for number, at in halves)
        p, q, r, s = (px(corner) for corner in place.outline())
        return SeenTile(Face.UP, (p, q, r, s), (first, second))

    def half(self, number: int, center_px: tuple[float, float]) -> Half:
        numbers = self.rules.max_pips + 1
        others = [other for other in range(numbers) if other != number]
        fault, sure, near = self.rng.random(), 0.9985, number
        if fault < self.faults.wrong:
            near = others[int(self.rng.integers(len(others)))]
        elif fault < self.faults.wrong + self.faults.unsure:
            sure = self.rng.uniform(0.45, 0.97)
            if self.rng.random() > sure:
                near = others[int(self.rng.integers(len(others)))]
        # If the first guess is wrong, the second is the truth. It gets most of the remaining probability.
        second = number if near != number else others[int(self.rng.integers(len(others)))]
        chances = [0.2 * (1 - sure) / (numbers - 2)] * numbers
        chances[near], chances[second] = sure, 0.8 * (1 - sure)
        return Half(near, sure, center_px, None, tuple(chances))

    def _nudge(self) -> Change:
        at = int(self.rng.integers(len(self.tiles)))
        old, far = self.tiles[at], self.rng.normal(0, 3.0, 2) * PX_PER_MM
        a, b, c, d = ((x + far[0], y + far[1]) for x, y in old.corners_px)
        first, second = (
            replace(half, center_px=(half.center_px[0] + far[0], half.center_px[1] + far[1])) for half in old.halves
        )
        self.tiles[at] = replace(old, corners_px=(a, b, c, d), halves=(first, second))
        return Change(ChangeKind.MOVED, self.tiles[at], old)


def back(at: int) -> SeenTile:
    """Return a tile of the boneyard, face down in its row."""
    x, y = 3240.0 + 58 * (at % TILES_IN_A_ROW), 40.0 + 90 * (at // TILES_IN_A_ROW)
    return SeenTile(Face.DOWN, ((x, y), (x + 36, y), (x + 36, y + 72), (x, y + 72)), ())


def laid_open(reader: NoisyReader, side: Side, tiles: tuple[engine.Tile, ...]) -> list[SeenTile]:
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


class ZonedTable:
    """A game at a table with zones."""

    def __init__(self, rules: engine.Rules, seed: int, faults: Faults | None = None, hands: int = 1) -> None:
        rng = np.random.default_rng(seed)
        board, players = pick_table(rng, rules).board, PLAYERS_OF[rules.name]
        self.steps = list(play_out(rng, rules=rules, players=players, table=board, hands=hands))
        self.truth = self.steps[0].state
        self.faults = faults or Faults()
        self.rng, self.side_rng = np.random.default_rng(seed + 10_000), np.random.default_rng(seed + 20_000)
        self.reader = NoisyReader(self.faults, rules, self.rng)
        self.zones, self.figures = zones_of(len(players)), Figures()
        self.session = Session(zones=self.zones)
        self.yard: list[SeenTile] = []
        self.open: list[SeenTile] = []
        self.inputs: list[tuple[int, Input]] = []
        self.announcements: list[tuple[Announcement, ...]] = []
        self.t_ns = 0

    def run(self) -> Figures:
        for steps in self._together():
            if steps[-1].is_seen:
                self._see(steps)
            else:
                self._press(steps[0])
            self.truth = steps[-1].state
        self._sum_up()
        return self.figures

    def feed(self, event: Input, after_s: float = 5.0) -> None:
        self.t_ns += int(after_s * SECOND_NS)
        self.inputs.append((self.t_ns, event))
        self.session, announcements = feed(self.session, event, t_ns=self.t_ns)
        self.announcements.append(announcements)

    def show(self, changes: Sequence[Change], sides: tuple[EntrySide, ...] = (), after_s: float = 5.0) -> None:
        self.feed(self.view((*self._yard_faults(), *changes), sides), after_s)

    def view(self, changes: Sequence[Change], sides: tuple[EntrySide, ...] = ()) -> TableView:
        return TableView(self.tiles_on_table, (), tuple(changes), True, self.t_ns, sides, size_px=SIZE_PX)

    @property
    def tiles_on_table(self) -> tuple[SeenTile, ...]:
        return (*self.reader.tiles, *self.yard, *self.open)

    @property
    def seats_right(self) -> int:
        """Number of tiles attributed to the right seat."""
        truth, now = (
            Counter((play.seat, play.tile) for play in plays_of(state)) for state in (self.truth, self.session.state)
        )
        return (truth & now).total()

    def _together(self) -> Iterator[list[ScriptStep]]:
        """Yield groups of steps that come at once: usually a single step, sometimes two or three plays."""
        for is_seen, run in groupby(self.steps, key=lambda step: step.is_seen):
            left = list(run)
            while left:
                many = 1
                while is_seen and many < min(3, len(left)) and self.rng.random() < self.faults.at_once:
                    many += 1
                yield left[:many]
                left = left[many:]

    def _came_from(self, seat: int, *others: int) -> tuple[EntrySide, ...]:
        """Return the reader's sides of entry for a hand of a seat. Players may reach across the table."""
        sides = [zone.side for zone in self.zones.seats]
        if {seat, *others} != {seat}:
            return (EntrySide(sides[seat], 0.5), EntrySide(sides[others[-1]], 0.5))
        if self.side_rng.random() < self.faults.side_right:
            return (EntrySide(sides[seat], 1.0),)
        wrong = [side for at, side in enumerate(sides) if at != seat]
        other = wrong[int(self.side_rng.integers(len(wrong)))]
        kind = 0.9 if self.faults.wrong_is_clear else self.side_rng.random()
        if kind < 0.4:
            return ()
        return (EntrySide(other, 0.6), EntrySide(sides[seat], 0.4)) if kind < 0.8 else (EntrySide(other, 1.0),)

    def _yard_faults(self) -> list[Change]:
        """Push a tile of the boneyard, or miss a tile for a moment without a hand in view."""
        changes = []
        if self.yard and self.side_rng.random() < self.faults.pushed:
            at = int(self.side_rng.integers(len(self.yard)))
            old = self.yard[at]
            a, b, c, d = ((x + 9, y + 7) for x, y in old.corners_px)
            self.yard[at] = replace(old, corners_px=(a, b, c, d))
            changes.append(Change(ChangeKind.MOVED, self.yard[at], old))
        if self.yard and self.side_rng.random() < self.faults.miscounted:
            seen = self.yard.pop()
            self.feed(self.view((Change(ChangeKind.REMOVED, seen),)), 0.5)
            self.yard.append(seen)
            self.feed(self.view((Change(ChangeKind.PLACED, seen),)), 0.5)
        return changes

    def _see(self, steps: list[ScriptStep]) -> None:
        self.feed(KnockHeard())
        seats = [step.event.seat for step in steps if isinstance(step.event, engine.Play)]
        before = len(self.session.state.log)
        self.show(self.reader.look(steps), self._came_from(*seats), 0.8)
        self._note_seats(before)
        self._answer(steps[-1])

    def _note_seats(self, before: int) -> None:
        """Count reports of plays out of turn. All are wrong, as every play is in turn."""
        irregular = [found for found in self.announcements[-1] if isinstance(found, engine.Irregular)]
        kinds = [found.problem.kind for found in irregular if found.seq >= before]
        self.figures.out_of_turn += kinds.count(engine.ProblemKind.WRONG_SEAT)

    def _press(self, step: ScriptStep) -> None:
        event = step.event
        match event:
            case engine.NewHand() | engine.Redeal():
                self._clear()
                if isinstance(event, engine.Redeal):
                    self.feed(event)
                    self._answer(step)
                self._lay_out(step)
            case engine.Lead() | engine.HandEnd():
                pass  # revealed tiles end the hand
            case engine.Draw(seat=seat, tiles=tiles):
                faults = self._yard_faults()
                gone = [self.yard.pop(int(self.rng.integers(len(self.yard)))) for _ in range(tiles)]
                removed = [Change(ChangeKind.REMOVED, tile) for tile in gone]
                self.feed(self.view((*faults, *removed), self._came_from(seat)))
                if tiles > 2:
                    self.show([])
            case engine.Reveal(seat=seat, tiles=tiles):
                self._lay_open(seat, tiles)
            case engine.Knock(seat=seat):
                self.feed(KnockHeard(seat if self.rng.random() < 0.5 else None))
                self.show([], (), 2.5)
            case engine.Call(seat=seat):
                self.feed(Press(Button.CALL, seat))
            case engine.Stack(seat=seat, tile=tile, on=on):
                at = [node.id for node in game_of(step.state).layout.nodes].index(on)
                self.feed(engine.Stack(seat, tile, game_of(self.session).layout.nodes[at].id))
            case _:
                self.feed(event)
        self._answer(step)

    def _answer(self, step: ScriptStep) -> None:
        """Answer questions with the truth."""
        for _ in range(12):
            answer = answer_of(self.session, step.state)
            if answer is None:
                return
            self.figures.questions.append(self.session.questions[-1].ambiguity.text)
            self.feed(answer, 1.0)

    def _clear(self) -> None:
        if self.reader.tiles or self.open:
            self._sum_up()
        gone = self.tiles_on_table
        self.reader.tiles, self.yard, self.open = [], [], []
        if gone:
            self.show([Change(ChangeKind.REMOVED, tile) for tile in gone], (EntrySide(Side.BOTTOM, 0.5),))

    def _lay_out(self, step: ScriptStep) -> None:
        """Show the tiles of the boneyard, and another motion."""
        self.yard = [back(at) for at in range(hand_of(step.state).boneyard)]
        self.show([Change(ChangeKind.PLACED, tile) for tile in self.yard])
        self.show([])

    def _lay_open(self, seat: int, tiles: tuple[engine.Tile, ...]) -> None:
        """Show the remaining tiles of a player, sometimes in two steps, and another motion."""
        fresh = laid_open(self.reader, self.zones.seats[seat].side, tiles)
        halfway = len(fresh) // 2 if self.side_rng.random() < 0.5 else 0
        for part in (fresh[:halfway], fresh[halfway:]):
            if part:
                self.open += part
                self.show([Change(ChangeKind.PLACED, tile) for tile in part], self._came_from(seat))
        self.show([])

    def _sum_up(self) -> None:
        """Count the plays of a hand, and check its final score."""
        truth, now = (Counter(paths_of(state).values()) for state in (self.truth, self.session.state))
        self.figures.plays += truth.total()
        self.figures.plays_right += (truth & now).total()
        totals = [game_of(state).totals for state in (self.truth, self.session.state)]
        self.figures.is_right_at_end &= truth == now and totals[0] == totals[1]
        is_provisional = self.session.is_provisional or bool(self.session.questions)
        self.figures.is_flagged_at_end |= is_provisional or bool(self.session.state.irregular)


Cause = Literal["no picture", "in front", "off"]


class GappedTable(ZonedTable):
    """A game with several gaps, in which a few plays are unseen. Knocks are still heard.

    A gap is caused by missing pictures, by somebody in front of the camera, or by a machine that is off. Then knocks
    are not heard either.
    """

    def __init__(
        self,
        rules: engine.Rules,
        seed: int,
        *,
        gaps: int = 3,
        plays: int = 1,
        are_answered: bool = True,
        cause: Cause = "no picture",
        hands: int = 1,
    ) -> None:
        super().__init__(rules, seed, hands=hands)
        self.cause, self.are_answered, self.is_blind = cause, are_answered, False
        at = self.steps_of(engine.Play)
        rng = np.random.default_rng(seed + 30_000)
        # A play is seen before the first gap and after each, so the length of the game limits the number of gaps.
        many = min(gaps, (len(at) - 1) // (plays + 1))
        spare = len(at) - 1 - many * (plays + 1)
        before = np.sort(rng.integers(0, spare + 1, many))
        starts = [1 + int(spared) + number * (plays + 1) for number, spared in enumerate(before)]
        self.gap = {number for start in starts for number in range(at[start], at[start + plays - 1] + 1)}
        self.on_table_before: tuple[SeenTile, ...] = ()

    @classmethod
    def across_deal(cls, rules: engine.Rules, seed: int, *, before: int, plays: int, are_answered: bool) -> GappedTable:
        """Return two hands with a gap over the end of the first and the first plays of the second."""
        table = cls(rules, seed, gaps=0, are_answered=are_answered, hands=2)
        dealt = table.steps_of(engine.NewHand)[1]
        after = [number for number in table.steps_of(engine.Play) if number > dealt]
        table.gap = set(range(dealt - before, after[plays - 1] + 1 if plays else after[0]))
        return table

    def steps_of(self, kind: type[engine.Event]) -> list[int]:
        return [number for number, step in enumerate(self.steps) if isinstance(step.event, kind)]

    def run(self) -> Figures:
        self.go_on_until(len(self.steps))
        self._sum_up()
        return self.figures

    def run_until_seen_again(self, more: int = 1) -> None:
        """Run until *more* steps after the last gap."""
        self.go_on_until(min(max(self.gap) + 1 + more, len(self.steps)))

    def go_on_until(self, stop: int, start: int = 0) -> None:
        for number in range(start, stop):
            step, is_blind = self.steps[number], number in self.gap
            if is_blind and not self.is_blind:
                self.on_table_before = self.tiles_on_table
            elif self.is_blind and not is_blind:
                self._see_again(self.steps[number - 1])
            self.is_blind = is_blind
            if step.is_seen:
                self._see([step])
            else:
                self._press(step)
            self.truth = step.state

    def feed(self, event: Input, after_s: float = 5.0) -> None:
        if self.is_blind and (isinstance(event, TableView) or self.cause == "off"):
            self.t_ns += int(after_s * SECOND_NS)
            if self.cause == "in front":
                tiles = self.on_table_before
                super().feed(TableView(tiles, (), (), is_settled=False, moved_since_ns=0, size_px=SIZE_PX), 0.0)
            return
        if not self.is_blind and not isinstance(event, TableView):
            super().feed(self.view(()), after_s / 2)  # the camera sees the table continuously
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
        before = self.on_table_before
        gone = [Change(ChangeKind.REMOVED, tile) for tile in before if tile not in self.tiles_on_table]
        come = [Change(ChangeKind.PLACED, tile) for tile in self.tiles_on_table if tile not in before]
        for changes in ([*gone, *come], []):
            self.show(changes)
            self._answer(last)


def plays_of(state: engine.State) -> list[engine.Play]:
    """Return the plays in force."""
    return [entry.action for entry in engine.entries(state) if isinstance(entry.action, engine.Play)]
