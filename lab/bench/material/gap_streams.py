"""Script whole matches as streams of inputs, and hide or disturb parts of them.

A stream contains items in order of time: pictures with perfect readings, sounds and button presses. Each kind of gap is
a pure function from one stream to another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Protocol

import numpy as np

import engine
from lab.matches.game_script import ScriptStep, play_out
from lab.matches.room import pick_table
from tallybone.session.inputs import Button, KnockHeard, Press
from tallybone.session.observations import Zones
from tallybone.session.session import Input
from tallybone.sources.source import Shot
from tests.tallybone.session import simulated_table
from tests.tallybone.session.simulated_table import PX_PER_MM, SECOND_NS, SIZE_PX
from vision.arrays import Image
from vision.reading import Half, SeenTile
from vision.tracking.settle import EntrySide, Side
from vision.tracking.table_view import Change, TableView, came_and_went, kept
from vision.tracking.tracks import KeptTile, Track, in_place_of, moved_tile

PLAYERS = ("Ann", "Ben", "Cleo", "Dora")
SEATS = {"bones": (2, 3, 4), "draw": (2, 3, 4), "allfives": (2, 3, 4), "block": (2, 3, 4), "super": (2, 3, 4)}
GAMES = (*SEATS, "twoset", "cutthroat")
# Without a target, a match would be a single hand.
OPTIONS = {"super": "target=100"}
# Frame intervals with and without motion. They are longer than the 0.1 s of a camera, to save time.
_FRAME_S = 0.2
_IDLE_FRAME_S = 0.5
_HAND_FRAMES = 3
_SLAMMED = 0.3
_FROM_EVERYWHERE = tuple(EntrySide(side, 0.25) for side in Side)
# Approximate time of the settle gate after a motion.
_SETTLES_NS = 300_000_000
_SEEN_AT_LAST_NS = 5 * SECOND_NS
_MAX_TRIES = 50
# Share of draws, sounds and hands that are disturbed.
_MISCOUNTED = 0.125
Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Item:
    """A picture, sound or press.

    Attributes:
        event: Sound, press or event. None for a picture.
        is_settled: True without motion.
        moved_ns: Start of the latest motion. None before the first.
        entered: Sides that hands came from during this motion.
        is_hidden: True if a person covers the table.
        restarts: True if the table was restarted before this item.
        shot: Rendered picture, or None.
        edit: Function that disturbs the picture at its time, or None.
    """

    t_ns: int
    tiles: tuple[SeenTile, ...]
    done: int
    event: Input | None = None
    is_settled: bool = True
    moved_ns: int | None = None
    entered: tuple[EntrySide, ...] = ()
    is_hidden: bool = False
    restarts: bool = False
    shot: Shot | None = None
    edit: Callable[[Image, int], Image] | None = None


@dataclass(frozen=True, slots=True)
class Stream:
    """A match as a stream of inputs.

    Attributes:
        players: Names by seat.
        begins_ns: Start of each step's gesture.
        items: Items in order of time.
    """

    rules: engine.Rules
    players: tuple[str, ...]
    zones: Zones
    steps: tuple[ScriptStep, ...]
    begins_ns: tuple[int, ...]
    items: tuple[Item, ...]
    gaps: int = 0

    def truth(self, done: int) -> engine.State:
        """Return the state after *done* steps."""
        return self.steps[done - 1].state

    def at(self, *kinds: type) -> list[int]:
        """Return the indices of the steps with events of the given types."""
        return [number for number, step in enumerate(self.steps) if isinstance(step.event, kinds)]


Kind = Callable[[Stream, np.random.Generator], Stream]


def stream_of(game: str, seats: int, seed: int, *, presses: bool = False) -> Stream:
    """Return an undisturbed match of two hands.

    Args:
        presses: True to enter passes, the end of a hand and, at half of the tables, draws with buttons.
    """
    rules = engine.with_options(engine.profile(game), OPTIONS.get(game, ""))
    for tried in range(_MAX_TRIES):
        rng = np.random.default_rng([seed, tried])
        table = pick_table(rng, rules)
        steps = tuple(play_out(rng, rules=rules, players=PLAYERS[:seats], table=table.board, hands=2))
        if sum(isinstance(step.event, engine.NewHand) for step in steps) == 2 and steps[-1].state.game is not None:
            break
    zones = simulated_table.zones_of(seats)
    if presses and rng.random() < 0.5:
        zones = replace(zones, boneyard=None)
    filming = _Filming(rules, zones, rng, presses=presses)
    filming.film(steps)
    return Stream(rules, PLAYERS[:seats], zones, steps, tuple(filming.begins_ns), tuple(filming.items))


@dataclass(slots=True)
class _Filming:
    """Converts the steps of a match to items."""

    rules: engine.Rules
    zones: Zones
    rng: np.random.Generator
    presses: bool
    items: list[Item] = field(default_factory=list)
    begins_ns: list[int] = field(default_factory=list)
    t_ns: int = 0
    done: int = 0
    moved_ns: int | None = None
    entered: tuple[EntrySide, ...] = ()
    layout: tuple[SeenTile, ...] = ()
    yard: tuple[SeenTile, ...] = ()
    hands: tuple[SeenTile, ...] = ()
    reader: simulated_table.NoisyReader = field(init=False)

    def __post_init__(self) -> None:
        self.reader = simulated_table.NoisyReader(simulated_table.Faults(), self.rules, self.rng)

    def film(self, steps: Sequence[ScriptStep]) -> None:
        self.begins_ns.append(self.t_ns)
        self.done = 1  # the match has started
        self._still(1.5)
        for number, step in enumerate(steps[1:], start=1):
            self.begins_ns.append(self.t_ns)
            self._act(step, number)
            self.done = number + 1
        self._still(8.0)

    def _act(self, step: ScriptStep, number: int) -> None:
        match step.event:
            case engine.NewHand():
                self._deal(step)
            case engine.Redeal():
                self._say(Press(Button.REDEAL))
                self._deal(step)
            case engine.Lead():
                pass  # the side of the hand that plays the first tile identifies the leader
            case engine.Play(seat=seat):
                assert step.state.game is not None
                node = step.state.game.layout.nodes[-1]
                self.layout = (*self.layout, self.reader.seen(step.laid[-1].place, (node.inner, node.outer)))
                self._reach(seat, number, slams=self.rng.random() < _SLAMMED)
                self._still(self._drawn((0.8, 2.5)))
            case engine.Stack(seat=seat, on=on):
                self._say(Press(Button.STACK))
                assert step.state.game is not None
                at = [node.id for node in step.state.game.layout.nodes].index(on)
                node = step.state.game.layout.nodes[at]
                copy = self.reader.seen(step.laid[at].place, (node.inner, node.outer))
                self.layout = (*self.layout[:at], copy, *self.layout[at + 1 :])
                self._reach(seat, number)
                self._still(self._drawn((0.8, 2.5)))
            case engine.Draw(seat=seat, tiles=tiles, forced=forced):
                self._draw(seat, tiles, number, forced=forced)
            case engine.Knock(seat=seat) if self.presses:
                self._say(Press(Button.KNOCK, seat))
                self._still(self._drawn((0.6, 1.5)))
            case engine.Knock(seat=seat):
                self._say(KnockHeard(seat if self.rng.random() < 0.8 else None))
                self._still(self._drawn((2.3, 3.2)))
            case engine.Call(seat=seat):
                self._say(Press(Button.CALL, seat))
            case engine.Decline(seat=seat):
                self._say(Press(Button.DONE, seat))
            case engine.HandEnd():
                if self.presses:
                    self._say(Press(Button.HAND_END))
            case engine.Abandon():
                self._say(step.event)
            case engine.Reveal(seat=seat, tiles=tiles):
                fresh = tuple(simulated_table.laid_open(self.reader, self.zones.seats[seat].side, tiles))
                halfway = len(fresh) // 2 if self.rng.random() < 0.5 else 0
                for part in filter(None, (fresh[:halfway], fresh[halfway:])):
                    self.hands = (*self.hands, *part)
                    self._reach(seat, number if part[-1] is fresh[-1] else None)
                    self._still(self._drawn((0.8, 2.5)))
            case _:
                raise AssertionError(f"unexpected event in a script: {step.event}")

    def _deal(self, step: ScriptStep) -> None:
        """Clear the table, then lay out the boneyard."""
        tiles = [*self.layout, *self.yard, *self.hands]
        most = -(-len(tiles) // 3)
        for _ in range(3 if tiles else 0):
            left = {id(tile) for tile in tiles[most:]}
            tiles = tiles[most:]
            self.layout, self.yard, self.hands = (
                tuple(tile for tile in there if id(tile) in left) for there in (self.layout, self.yard, self.hands)
            )
            self._reach(int(self.rng.integers(len(self.zones.seats))), None)
        self._still(self._drawn((0.7, 1.2)))
        assert step.state.game is not None
        assert step.state.game.hand is not None
        if self.zones.boneyard is not None and step.state.game.hand.boneyard:
            whole = tuple(simulated_table.back(at) for at in range(step.state.game.hand.boneyard))
            for part in (whole[: len(whole) // 2], whole):
                self.yard = part
                self._reach(int(self.rng.integers(len(self.zones.seats))), None)
        self._still(self._drawn((1.3, 2.0)))

    def _draw(self, seat: engine.Seat, tiles: int, number: int, *, forced: bool) -> None:
        for drawn in range(tiles):
            if self.zones.boneyard is not None:
                at = int(self.rng.integers(len(self.yard)))
                self.yard = (*self.yard[:at], *self.yard[at + 1 :])
                self._reach(seat, number if drawn == tiles - 1 else None)
                self._still(self._drawn((0.8, 1.6)))
            elif not forced:  # the rules count forced draws
                self._say(Press(Button.DRAW, seat))

    def _reach(self, seat: int, number: int | None, *, slams: bool = False) -> None:
        """Add frames of a hand that changes the table. *number* is the step that this completes, or None."""
        side = self.zones.seats[seat].side
        before, self.moved_ns, self.entered = self._last_tiles, self.t_ns, (EntrySide(side, 1.0),)
        for _ in range(_HAND_FRAMES):
            self._frame(_FRAME_S, is_settled=False, tiles=before)
        self.done = self.done if number is None else number + 1
        if slams:
            self.items.append(Item(self.t_ns, self._tiles, self.done, KnockHeard(None)))
        for _ in range(_HAND_FRAMES):
            self._frame(_FRAME_S, is_settled=False, tiles=self._tiles)
        self._frame(_FRAME_S, is_settled=True, tiles=self._tiles)

    def _say(self, event: Input) -> None:
        self._still(self._drawn((0.7, 1.2)))
        self.items.append(Item(self.t_ns, self._tiles, self.done, event))

    def _still(self, seconds: float) -> None:
        for _ in range(max(1, round(seconds / _IDLE_FRAME_S))):
            self._frame(_IDLE_FRAME_S, is_settled=True, tiles=self._tiles)

    def _frame(self, seconds: float, *, is_settled: bool, tiles: tuple[SeenTile, ...]) -> None:
        self.t_ns += int(seconds * SECOND_NS)
        last = self._last_tiles
        same = last if len(last) == len(tiles) and all(a is b for a, b in zip(last, tiles, strict=True)) else tiles
        self.items.append(Item(self.t_ns, same, self.done, None, is_settled, self.moved_ns, self.entered))

    @property
    def _tiles(self) -> tuple[SeenTile, ...]:
        return (*self.layout, *self.yard, *self.hands)

    @property
    def _last_tiles(self) -> tuple[SeenTile, ...]:
        return self.items[-1].tiles if self.items else ()

    def _drawn(self, range_s: Range) -> float:
        return float(self.rng.uniform(*range_s))


def undisturbed(stream: Stream, _rng: np.random.Generator) -> Stream:
    """Return the stream unchanged."""
    return stream


def no_pictures(stream: Stream, rng: np.random.Generator) -> Stream:
    """Drop pictures for 1 to 30 s. Sounds and presses still arrive."""
    start = _somewhere(stream, rng)
    return without_pictures(stream, start, start + int(rng.uniform(1.0, 30.0) * SECOND_NS))


def gaps_of(seconds: int, many: int) -> Kind:
    """Return a kind that drops pictures for *seconds*, *many* times."""

    def kind(stream: Stream, rng: np.random.Generator) -> Stream:
        for start in sorted((_somewhere(stream, rng) for _ in range(many)), reverse=True):
            stream = without_pictures(stream, start, start + seconds * SECOND_NS)
        return stream

    return kind


def unsettled(stream: Stream, rng: np.random.Generator) -> Stream:
    """Cover the table by a person for 3 to 15 s. Pictures arrive, but none is settled."""
    start = _somewhere(stream, rng)
    # Cover the table for a period. The last 5 s stay visible.
    stop_ns = start + int(rng.uniform(3.0, 15.0) * SECOND_NS)
    stop_ns = min(stop_ns, stream.items[-1].t_ns - _SEEN_AT_LAST_NS)
    items = [
        replace(item, is_settled=False, is_hidden=True, moved_ns=start, entered=_FROM_EVERYWHERE)
        if item.event is None and start <= item.t_ns < stop_ns
        else item
        for item in stream.items
    ]
    after = next((at for at, item in enumerate(items) if item.t_ns >= stop_ns and item.event is None), None)
    kept = tuple(items) if after is None else _resettled(items, after, start, entered=_FROM_EVERYWHERE)
    return replace(stream, items=kept, gaps=stream.gaps + 1)


def restart(stream: Stream, rng: np.random.Generator) -> Stream:
    """Stop the table and resume it after 2 to 6 plays of a hand."""
    plays = stream.at(engine.Play)
    hands = [[at for at in plays if at < deal] for deal in stream.at(engine.NewHand)[1:]] or [plays]
    hands.append([at for at in plays if at > stream.at(engine.NewHand)[-1]])
    many = int(rng.integers(2, 7))
    long = [hand for hand in hands if len(hand) >= many + 2]
    plays_of_hand = long[int(rng.integers(len(long)))] if long else max(hands, key=len)
    many = min(many, len(plays_of_hand) - 2)
    first = int(rng.integers(1, len(plays_of_hand) - many))
    start = stream.begins_ns[plays_of_hand[first]]
    # The step after the last hidden play starts when that play has been visible for a while.
    after_last = plays_of_hand[first + many - 1] + 1
    stop = stream.begins_ns[after_last] if after_last < len(stream.steps) else start
    kept = [item for item in stream.items if not start <= item.t_ns < stop]
    after = next((at for at, item in enumerate(kept) if item.t_ns >= stop and item.event is None), None)
    if after is None:
        return stream
    return replace(stream, items=_resettled(kept, after, stop, restarts=True), gaps=1)


def early(stream: Stream, rng: np.random.Generator) -> Stream:
    """Keep pictures unsettled until up to 3 s after the next press, to make it arrive before its picture."""
    items, moved_ns = list(stream.items), 0
    for at, item in enumerate(items):
        if not isinstance(item.event, Press) or item.t_ns < moved_ns:
            continue
        begins = at
        while begins > 0 and (items[begins - 1].event is not None or items[begins - 1].is_settled):
            begins -= 1
        if begins == 0:
            continue
        moved_ns = item.t_ns + int(rng.uniform(0.0, 3.0) * SECOND_NS)
        for number in range(begins, len(items)):
            if items[number].t_ns >= moved_ns:
                break
            items[number] = replace(items[number], is_settled=False)
    presses = sum(isinstance(item.event, Press) for item in items)
    return replace(stream, items=tuple(items), gaps=presses)


def late(stream: Stream, rng: np.random.Generator) -> Stream:
    """Delay each press by up to 3 s, and swap one pair of neighbouring presses."""
    items = list(stream.items)
    presses = [at for at, item in enumerate(items) if isinstance(item.event, Press)]
    pairs = [(a, b) for a, b in pairwise(presses) if items[b].t_ns - items[a].t_ns < 3 * SECOND_NS]
    if pairs:
        a, b = pairs[int(rng.integers(len(pairs)))]
        items[a], items[b] = replace(items[a], event=items[b].event), replace(items[b], event=items[a].event)
    for at in presses:
        items[at] = replace(items[at], t_ns=items[at].t_ns + int(rng.uniform(0.0, 3.0) * SECOND_NS))
    return replace(stream, items=tuple(sorted(items, key=lambda item: item.t_ns)), gaps=len(presses))


def bump(stream: Stream, rng: np.random.Generator) -> Stream:
    """Shift all tiles together by 2 to 20 mm, twice."""
    items = list(stream.items)
    for _ in range(2):
        start = _somewhere(stream, rng)
        angle, far_px = rng.uniform(0.0, 2 * np.pi), rng.uniform(2.0, 20.0) * PX_PER_MM
        motion = np.array([[1.0, 0.0, far_px * np.cos(angle)], [0.0, 1.0, far_px * np.sin(angle)]])
        moved = _Each(lambda tile, motion=motion: moved_tile(tile, motion))  # type: ignore[misc]  # bound now
        until_ns = start + 2 * _SETTLES_NS
        old_ns = next((item.moved_ns for item in items if item.t_ns >= start), None)
        for at, item in enumerate(items):
            if item.t_ns < start:
                continue
            is_settled = item.is_settled and item.t_ns >= until_ns
            moved_ns = start if item.moved_ns == old_ns else item.moved_ns
            items[at] = replace(item, tiles=moved(item.tiles), is_settled=is_settled, moved_ns=moved_ns)
    return replace(stream, items=tuple(items), gaps=2)


def light(stream: Stream, rng: np.random.Generator) -> Stream:
    """Misread three tiles of the layout for 1 to 3 s, four times."""
    items, gaps = list(stream.items), 0
    for _ in range(4):
        start = _somewhere(stream, rng)
        stop = start + int(rng.uniform(1.0, 3.0) * SECOND_NS)
        first = next((item for item in items if item.t_ns >= start), None)
        open_tiles = [] if first is None else [tile for tile in first.tiles if tile.halves]
        if not open_tiles:
            continue
        chosen = {id(open_tiles[at]) for at in rng.permutation(len(open_tiles))[:3]}
        misread = _Each(lambda tile, chosen=chosen: _misread(tile, rng) if id(tile) in chosen else tile)  # type: ignore[misc]  # bound now
        for at, item in enumerate(items):
            if start <= item.t_ns < stop:
                items[at] = replace(item, tiles=misread(item.tiles))
        gaps += 1
    return replace(stream, items=tuple(items), gaps=gaps)


def deal(stream: Stream, rng: np.random.Generator) -> Stream:
    """Drop pictures from shortly before the end of a hand until up to three plays into the next one."""
    second = stream.at(engine.NewHand)[1]
    plays = [at for at in stream.at(engine.Play) if at > second]
    ends = [at for at in stream.at(engine.Reveal) if at < second] or [
        at for at in stream.at(engine.Play) if at < second
    ]
    first = ends[-1]
    last = plays[min(int(rng.integers(4)), len(plays) - 2)]
    return without_pictures(stream, stream.begins_ns[first], stream.begins_ns[last])


def hand(stream: Stream, rng: np.random.Generator) -> Stream:
    """Drop pictures for most of a hand or a whole hand."""
    second = stream.at(engine.NewHand)[1]
    plays = stream.at(engine.Play)
    before, after = [at for at in plays if at < second], [at for at in plays if at > second]
    match int(rng.integers(3)):
        case 0:  # from the first plays of the first hand until it is counted
            first, last = before[min(int(rng.integers(1, 4)), len(before) - 1)], second
        case 1:  # until the start of the next hand
            first = before[min(int(rng.integers(1, 4)), len(before) - 1)]
            last = after[min(int(rng.integers(1, 4)), len(after) - 1)]
        case _:  # from before the deal until nearly the end of the second hand
            first, last = second, after[max(1, len(after) - int(rng.integers(1, 4)))] if len(after) > 1 else after[0]
    return without_pictures(stream, stream.begins_ns[first], stream.begins_ns[last])


def undo(stream: Stream, rng: np.random.Generator) -> Stream:
    """Press Undo once after a play whose tile stays."""
    plays = [at for at in stream.at(engine.Play) if at + 1 < len(stream.steps)]
    at = plays[int(rng.integers(1, len(plays)))]
    done = at + 1
    seen = next(item for item in stream.items if item.done >= done and item.is_settled and item.event is None)
    pressed = Item(seen.t_ns + 400_000_000, seen.tiles, seen.done, Press(Button.UNDO))
    items = sorted((*stream.items, pressed), key=lambda item: item.t_ns)
    return replace(stream, items=tuple(items), gaps=1)


def miscounted(stream: Stream, rng: np.random.Generator) -> Stream:
    """Leave one in eight tiles that are drawn visible in the boneyard, until the next deal."""
    items, gaps = list(stream.items), 0
    before: tuple[SeenTile, ...] = ()
    left: list[SeenTile] = []
    kept: dict[int, tuple[tuple[SeenTile, ...], tuple[SeenTile, ...]]] = {}
    for at, item in enumerate(items):
        backs = tuple(tile for tile in item.tiles if not tile.halves)
        now = {id(tile) for tile in backs}
        taken = [tile for tile in before if id(tile) not in now]
        if len(backs) > len(before) or not backs:
            left = []
        elif 0 < len(taken) <= 2 and rng.random() < _MISCOUNTED:
            left, gaps = [*left, *taken], gaps + 1
        before = backs
        if left:
            key = hash((id(item.tiles), len(left)))
            if key not in kept:
                kept[key] = (item.tiles, (*item.tiles, *left))
            items[at] = replace(item, tiles=kept[key][1])
    return replace(stream, items=tuple(items), gaps=gaps)


def knocks(stream: Stream, rng: np.random.Generator) -> Stream:
    """Drop one sound in eight, and add three doubtful ones."""
    items = [item for item in stream.items if not (isinstance(item.event, KnockHeard) and rng.random() < _MISCOUNTED)]
    gaps = len(stream.items) - len(items) + 3
    for _ in range(3):
        start = _somewhere(stream, rng)
        at = next((at for at, item in enumerate(items) if item.t_ns >= start), len(items) - 1)
        heard = KnockHeard(None, confidence=float(rng.uniform(0.3, 0.8)))
        items.insert(at, replace(items[at], event=heard))
    return replace(stream, items=tuple(items), gaps=gaps)


def double(stream: Stream, _rng: np.random.Generator) -> Stream:
    """Repeat each press after 0.2 s."""
    again = [replace(item, t_ns=item.t_ns + 200_000_000) for item in stream.items if isinstance(item.event, Press)]
    items = sorted((*stream.items, *again), key=lambda item: item.t_ns)
    return replace(stream, items=tuple(items), gaps=len(again))


def reaching(stream: Stream, rng: np.random.Generator) -> Stream:
    """Let one hand in eight come from another side."""
    sides = [zone.side for zone in stream.zones.seats]
    chosen: dict[int | None, tuple[EntrySide, ...]] = {}
    items, gaps = list(stream.items), 0
    for at, item in enumerate(items):
        if item.moved_ns not in chosen:
            is_other = len(item.entered) == 1 and rng.random() < _MISCOUNTED
            others = [side for side in sides if not item.entered or side is not item.entered[0].side]
            other = (EntrySide(others[int(rng.integers(len(others)))], 1.0),) if is_other else ()
            chosen[item.moved_ns] = other or item.entered
            gaps += is_other
        items[at] = replace(item, entered=chosen[item.moved_ns])
    return replace(stream, items=tuple(items), gaps=gaps)


def corrected(stream: Stream, rng: np.random.Generator) -> Stream:
    """Correct a total by hand in the second hand, and take that back later."""
    plays = [at for at in stream.at(engine.Play) if at > stream.at(engine.NewHand)[1]]
    first, second = sorted(int(at) for at in rng.choice(len(plays), 2, replace=False)) if len(plays) > 1 else (0, 0)
    items = list(stream.items)
    for number, points in ((first, 5), (second, -5)):
        start = stream.begins_ns[plays[number]]
        at = next(at for at, item in enumerate(items) if item.t_ns >= start)
        items.insert(at, replace(items[at], event=engine.Adjust(engine.Seat(0), points, "")))
    return replace(stream, items=tuple(items), gaps=2)


KINDS: dict[str, Kind] = {
    "undisturbed": undisturbed,
    "nopicture": no_pictures,
    "unsettled": unsettled,
    "restart": restart,
    "burst": gaps_of(3, 6),
    "early": early,
    "late": late,
    "bump": bump,
    "light": light,
    "deal": deal,
    "hand": hand,
    "undo": undo,
    "miscounted": miscounted,
    "knocks": knocks,
    "double": double,
    "reaching": reaching,
    "corrected": corrected,
}
PRESSING = ("early", "late", "double")


def _somewhere(stream: Stream, rng: np.random.Generator) -> int:
    """Return a random time up to 2 s before the start of a step after the first deal."""
    first = stream.at(engine.NewHand)[0] + 1
    at = int(rng.integers(first, len(stream.steps)))
    return max(stream.begins_ns[first], stream.begins_ns[at] - int(rng.uniform(0.0, 2.0) * SECOND_NS))


def without_pictures(stream: Stream, start_ns: int, stop_ns: int) -> Stream:
    """Drop the pictures of a period. The last 5 s are kept."""
    stop_ns = min(stop_ns, stream.items[-1].t_ns - _SEEN_AT_LAST_NS)
    kept = [item for item in stream.items if item.event is not None or not start_ns <= item.t_ns < stop_ns]
    after = next((at for at, item in enumerate(kept) if item.t_ns >= stop_ns and item.event is None), None)
    items = tuple(kept) if after is None else _resettled(kept, after, stop_ns, entered=())
    return replace(stream, items=items, gaps=stream.gaps + 1)


def _resettled(
    items: Sequence[Item], after: int, moved_ns: int, *, entered: tuple[EntrySide, ...] = (), restarts: bool = False
) -> tuple[Item, ...]:
    """Change the motion at item *after* to start at *moved_ns* and to settle shortly after that item."""
    changed = list(items)
    first = items[after]
    last_motion_ns = first.moved_ns
    for at in range(after, len(items)):
        item = items[at]
        if item.event is not None:
            continue
        if item.moved_ns != last_motion_ns:  # the next motion
            break
        is_settled = item.is_settled and item.t_ns >= first.t_ns + _SETTLES_NS
        changed[at] = replace(item, moved_ns=moved_ns, entered=entered, is_settled=is_settled)
    changed[after] = replace(changed[after], restarts=restarts)
    return tuple(changed)


class _Each:
    """Changes tiles one by one, and caches the results to keep tile identities stable."""

    def __init__(self, change: Callable[[SeenTile], SeenTile]) -> None:
        self._change = change
        self._changed: dict[int, tuple[SeenTile, SeenTile]] = {}
        self._all: dict[int, tuple[tuple[SeenTile, ...], tuple[SeenTile, ...]]] = {}

    def __call__(self, tiles: tuple[SeenTile, ...]) -> tuple[SeenTile, ...]:
        if id(tiles) not in self._all:
            for tile in tiles:
                if id(tile) not in self._changed:
                    self._changed[id(tile)] = (tile, self._change(tile))
            self._all[id(tiles)] = (tiles, tuple(self._changed[id(tile)][1] for tile in tiles))
        return self._all[id(tiles)][1]


def _misread(tile: SeenTile, rng: np.random.Generator) -> SeenTile:
    """Return a tile with one half misread as another number, with low confidence."""
    at = int(rng.integers(2))
    assert tile.halves
    first, second = tile.halves
    half = (first, second)[at]
    numbers = len(half.chances)
    wrong = (half.pips + 1 + int(rng.integers(numbers - 1))) % numbers
    chances = [0.05 / (numbers - 2)] * numbers
    chances[wrong], chances[half.pips] = 0.65, 0.3
    other = Half(wrong, 0.65, half.center_px, None, tuple(chances))
    return replace(tile, halves=(other, second) if at == 0 else (first, other))


# Readers of the pictures of a stream: a perfect one, which reports changes like the real one.


class TableEye(Protocol):
    """Reads the pictures of a stream."""

    def resumed(self) -> TableEye:
        """Return the state after a restart of the table."""

    def view(self, item: Item) -> TableView:
        """Return the table after a picture."""


class PerfectEye:
    """Perfect reader that reports changes like the real one: by position, since the last settled picture."""

    def __init__(self) -> None:
        self._tracks: tuple[tuple[SeenTile, Track], ...] = ()  # with the true tile of each
        self._true_tiles: tuple[SeenTile, ...] | None = None
        self._tiles: tuple[SeenTile, ...] = ()
        self._first_ns: dict[int, tuple[SeenTile, int]] = {}

    def resumed(self) -> PerfectEye:
        """Return a reader with the same tiles, but without their observation counts."""
        again = PerfectEye()
        again._tracks = tuple((true, Track(track.tile)) for true, track in self._tracks)
        again._tiles = self._tiles
        return again

    def view(self, item: Item) -> TableView:
        """Return the view of a picture."""
        if not item.is_hidden:
            for tile in item.tiles:
                self._first_ns.setdefault(id(tile), (tile, item.t_ns))
        changes = self._changes(item.tiles) if item.is_settled and item.tiles is not self._true_tiles else ()
        dated = tuple(
            replace(change, since_ns=self._first_ns.get(id(change.tile), (None, None))[1])
            if change.kind.value == "placed"
            else change
            for change in changes
        )
        return TableView(self._tiles, (), dated, item.is_settled, item.moved_ns, item.entered, size_px=SIZE_PX)

    def _changes(self, tiles: tuple[SeenTile, ...]) -> tuple[Change, ...]:
        now = {id(tile) for tile in tiles}
        left = [tile for tile in tiles if id(tile) not in {id(old) for old, _ in self._tracks}]
        stayed: list[tuple[SeenTile, Track]] = []
        changes: list[Change] = []
        gone: list[SeenTile] = []
        for old, track in self._tracks:
            place = None if id(old) in now else in_place_of(track.tile, left)
            if id(old) in now:
                stayed.append((old, track))
            elif place is None or left[place].face is not old.face:
                gone.append(track.tile)
            else:
                new = left.pop(place)
                after, more = kept(KeptTile(track, new, differs=True))
                stayed.append((new, after))
                changes += more
        self._tracks = (*stayed, *((tile, Track(tile)) for tile in left))
        self._true_tiles, self._tiles = tiles, tuple(track.tile for _, track in self._tracks)
        return (*changes, *came_and_went(tuple(gone), tuple(left)))
