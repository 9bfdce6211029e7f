"""A whole game with a simulated noisy reader, to compare the referee's result with the truth.

Places come from a scripted game. Corners have errors of a few pixels, and halves are read uncertainly or wrongly at
known rates. Tiles are nudged, several come at once, and each tile knocks as it is put down. Players answer questions
correctly, and make corrections that no answer offers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np

from engine import Amend, Call, Event, Knock, NewHand, NodeId, Play, Redeal, Rules, Seq, Spot, Stack, State
from lab.matches.game_script import ScriptStep, answer_of, paths_of, play_out
from lab.matches.room import pick_table
from tallybone.session.feeding import feed
from tallybone.session.inputs import Button, KnockHeard, Press
from tallybone.session.places import Footprint
from tallybone.session.session import Announcement, Input, Session
from tests.tallybone.truth_eye import PLAYERS_OF
from vision.reading import Face, Half, SeenTile
from vision.tracking.table_view import Change, ChangeKind, TableView

SECOND_NS = 1_000_000_000
PX_PER_MM = 1.5
CENTRE_PX = 2000.0


@dataclass(frozen=True)
class Faults:
    """Fault rates of the reader and the players: shares of halves or plays, and errors in pixels."""

    corner_px: float = 1.5
    unsure: float = 0.0
    wrong: float = 0.0
    nudged: float = 0.0
    at_once: float = 0.0
    knocks_heard: bool = True


@dataclass
class Figures:
    """Results of a game."""

    plays: int = 0
    tiles_right: int = 0
    plays_right: int = 0
    questions: list[str] = field(default_factory=list)
    amended: int = 0
    by_hand: int = 0
    looks_with_wrong_score: int = 0
    is_right_at_end: bool = True
    is_flagged_at_end: bool = False


class NoisyReader:
    """A simulated reader with faults."""

    def __init__(self, faults: Faults, rules: Rules, rng: np.random.Generator) -> None:
        self.faults, self.rules, self.rng = faults, rules, rng
        self.tiles: list[SeenTile] = []

    def look(self, steps: Sequence[ScriptStep]) -> TableView:
        changes = [self._nudge()] if self.tiles and self.rng.random() < self.faults.nudged else []
        for step in steps:
            assert step.state.game is not None
            laid, node = step.laid[-1], step.state.game.layout.nodes[-1]
            tile = self.seen(laid.place, (node.inner, node.outer))
            self.tiles.append(tile)
            changes.append(Change(ChangeKind.PLACED, tile))
        return TableView(tuple(self.tiles), (), tuple(changes))

    def clear(self) -> TableView:
        gone, self.tiles = self.tiles, []
        return TableView((), (), tuple(Change(ChangeKind.REMOVED, tile) for tile in gone))

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


class NoisyTable:
    """A game at a table with a noisy reader."""

    def __init__(self, rules: Rules, seed: int, faults: Faults, hands: int = 1) -> None:
        rng = np.random.default_rng(seed)
        table = pick_table(rng, rules)
        self.steps = list(play_out(rng, rules=rules, players=PLAYERS_OF[rules.name], table=table.board, hands=hands))
        self.faults, self.rng = faults, np.random.default_rng(seed + 10_000)
        self.reader = NoisyReader(faults, rules, self.rng)
        self.session, self.figures = Session(), Figures()
        self.inputs: list[tuple[int, Input]] = []
        self.announcements: list[tuple[Announcement, ...]] = []
        self.t_ns = 0

    def run(self) -> Figures:
        for steps in self._together():
            if steps[-1].is_seen:
                self._see(steps)
            else:
                self._press(steps[0])
            self._compare(steps[-1])
        self._sum_up()
        return self.figures

    def feed(self, event: Input, after_s: float = 5.0) -> None:
        self.t_ns += int(after_s * SECOND_NS)
        self.inputs.append((self.t_ns, event))
        self.session, announcements = feed(self.session, event, t_ns=self.t_ns)
        self.announcements.append(announcements)

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

    def _see(self, steps: list[ScriptStep]) -> None:
        if self.faults.knocks_heard:
            self.feed(KnockHeard())
        self.feed(self.reader.look(steps), 0.8)
        self._answer(steps[-1])

    def _press(self, step: ScriptStep) -> None:
        event = step.event
        if isinstance(event, NewHand | Redeal) and self.reader.tiles:
            self._sum_up()
            self.feed(self.reader.clear())
        if isinstance(event, Knock) and self.faults.knocks_heard:
            self.feed(KnockHeard(event.seat if self.rng.random() < 0.5 else None))
            self.feed(self.reader.look(()), 2.5)
        else:
            self.feed(self._mapped(event, step.state))
        self._answer(step)

    def _mapped(self, event: Event, truth: State) -> Input:
        """Return *event* with the node ids of this session. Calls are presses of the player's button."""
        if isinstance(event, Call):
            return Press(Button.CALL, event.seat)
        if isinstance(event, Stack):
            assert truth.game is not None
            at = [node.id for node in truth.game.layout.nodes].index(event.on)
            return Stack(event.seat, event.tile, self._nodes()[at])
        return event

    def _nodes(self) -> list[NodeId]:
        game = self.session.state.game
        return [] if game is None else [node.id for node in game.layout.nodes]

    def _answer(self, step: ScriptStep) -> None:
        """Answer questions with the truth."""
        for _ in range(12):
            answer = answer_of(self.session, step.state)
            if answer is None:
                return
            self.figures.questions.append(self.session.questions[-1].ambiguity.text)
            self.feed(answer, 1.0)

    def _correct_by_hand(self, truth: State) -> bool:
        """Correct the first wrong tile, or enter a missing play."""
        self.figures.by_hand += 1
        assert truth.game is not None
        now, right = paths_of(self.session.state), paths_of(truth)
        for node in truth.game.layout.nodes:
            if right[node.id] in now.values():
                continue
            play = truth.log[node.id]
            assert isinstance(play, Play)
            at = None
            if play.at is not None:
                hosts = [name for name, path in now.items() if path == right[play.at.host]]
                at = Spot(hosts[0], play.at.port)
            correct = replace(play, at=at, inner=node.inner)
            layout = self.session.state.game.layout if self.session.state.game else None
            there = [node.id for node in layout.nodes if node.joins == at] if layout else []
            self.feed(Amend(Seq(there[0]), correct) if there else correct, 3.0)
            return True
        return False

    def _compare(self, step: ScriptStep) -> None:
        truth, game = step.state.game, self.session.state.game
        if truth is not None and game is not None and game.totals != truth.totals:
            self.figures.looks_with_wrong_score += 1
        self._truth = step.state

    def _sum_up(self) -> None:
        """Count the plays of a hand, and check its final score."""
        truth, now = (Counter(paths_of(state).values()) for state in (self._truth, self.session.state))
        self.figures.plays += truth.total()
        self.figures.tiles_right += (
            Counter(p[-1][-10:] for p in truth.elements()) & Counter(p[-1][-10:] for p in now.elements())
        ).total()
        self.figures.plays_right += (truth & now).total()
        self.figures.amended = sum(isinstance(event, Amend) for event in self.session.state.log)
        assert self._truth.game is not None
        assert self.session.state.game is not None
        right = truth == now and self.session.state.game.totals == self._truth.game.totals
        self.figures.is_right_at_end &= right
        is_provisional = self.session.is_provisional or bool(self.session.questions)
        self.figures.is_flagged_at_end |= is_provisional or bool(self.session.state.irregular)
