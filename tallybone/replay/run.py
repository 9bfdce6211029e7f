"""Run a replay at a pace: load pictures ahead, read each, and feed the game, item by item as at a live table."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TextIO, TypeAlias

from rich.progress import track

from engine import EngineError, MatchStart, OptionsError
from hardware.camera.device import CameraTurn
from tallybone.choices import TileSet
from tallybone.json_values import JsonValueError
from tallybone.play.start import perception_of, session_of, set_changer
from tallybone.recording.format import Damage, Pictures, RecordingError
from tallybone.recording.reader import whole_only
from tallybone.session.sitting import Look, Sitting, Step, UseSet, opened
from tallybone.sources.source import GameOverrides, Item, RecordedInput, Shot, Source, match_of, recording, source_at
from tallybone.terminal import Output, silent_libraries
from vision import VisionError
from vision.arrays import Image
from vision.reader.custom_set import RecordedSet
from vision.tracking.perception import Perception, Start
from vision.tracking.settle import small_grey
from vision.tracking.table_view import TableView
from vision.tracking.tracks import PictureSizeError
from vision.tracking.watch import Watch

_NS_PER_S = 1_000_000_000
_SECONDS_PER_MINUTE = 60


@dataclass(frozen=True, slots=True)
class Pace:
    """Start time and speed of a replay.

    Attributes:
        from_ns: Start, in nanoseconds since the first item. Earlier items are fed at full speed and not printed.
        speed: 1 for real time, 2 for twice as fast, None for full speed.
    """

    from_ns: int = 0
    speed: float | None = None

    def __post_init__(self) -> None:
        """Reject negative start times, and speeds that are not positive."""
        if self.from_ns < 0 or (self.speed is not None and self.speed <= 0):
            raise ValueError(f"from_ns must be 0 or more and speed above 0, got {self.from_ns} and {self.speed}")


def at_pace(
    items: Iterable[Item], pace: Pace, clock_ns: Callable[[], int], wait: Callable[[float], object]
) -> Iterator[Item]:
    """Yield items at the times given by *pace*. Damage is yielded at once.

    Args:
        items: Items of a source.
        pace: Start time and speed.
        clock_ns: Returns the time in nanoseconds of a monotonic clock.
        wait: Waits for a number of seconds.
    """
    first_ns: int | None = None
    started_ns: int | None = None
    for item in items:
        if pace.speed is not None and not isinstance(item, Damage):
            first_ns = item.t_ns if first_ns is None else first_ns
            ahead_ns = item.t_ns - first_ns - pace.from_ns
            if ahead_ns >= 0:
                started_ns = clock_ns() if started_ns is None else started_ns
                left_ns = started_ns + ahead_ns / pace.speed - clock_ns()
                if left_ns > 0:
                    wait(left_ns / _NS_PER_S)
        yield item


def parse_time(text: str) -> int:
    """Parse a time since the start, written as minutes and seconds or as seconds, to nanoseconds.

    >>> parse_time("1:30"), parse_time("2.5")
    (90000000000, 2500000000)

    Raises:
        ValueError: If *text* is not such a time.
    """
    minutes, colon, seconds = text.rpartition(":")
    try:
        parsed = (int(minutes) if colon else 0, float(seconds))
    except ValueError:
        parsed = (-1, 0.0)
    is_time = parsed[0] >= 0 and 0 <= parsed[1] < (_SECONDS_PER_MINUTE if colon else float("inf"))
    if not is_time:
        raise ValueError(f"expected minutes and seconds such as 1:30, or seconds, got {text!r}")
    return round((parsed[0] * _SECONDS_PER_MINUTE + parsed[1]) * _NS_PER_S)


def progress(output: Output, source: Source, items: Iterator[Item]) -> Iterable[Item]:
    """Yield the items, and show the progress of the replay if the error stream is a terminal."""
    console = output.err_console
    return track(items, "Replaying", source.count, console=console, transient=True, disable=not console.is_terminal)


def run_command(work: Callable[[Output], int], out: TextIO | None = None, err: TextIO | None = None) -> int:
    """Run *work* with an output, and return the exit code: 1 after any complaint, 2 for an invalid game or option."""
    with silent_libraries(err or sys.stderr) as shown:
        output = Output.of("replay", out, shown)
        try:
            code = work(output)
        except EngineError as error:
            for fault in error.faults if isinstance(error, OptionsError) else (str(error),):
                output.complain(fault)
            return 2
        except (VisionError, OSError) as error:
            return output.complain(error)
        return code or output.exit_code


Through: TypeAlias = Callable[[Source, Iterator[Item]], Iterable[Item]]
"""Function that the items pass through, for example to show progress or to wait."""

_NO_EMPTY_TABLE = "it should show the empty table, to distinguish tiles from printed patterns"

# Maximum memory for pictures that are loaded ahead: 24 of 1280 x 720, about as many as arrive during a read.
_WAITING_BYTES = 64 << 20
_MAX_WAITING = 64


@dataclass(frozen=True, slots=True)
class ReplaySettings:
    """Settings of a replay.

    Attributes:
        tile_set: Tile set on the table. None for that of the recording, or if it has none, of the game.
        start: State of the table in the first settled picture. None for that of the recording.
        record: Path of a new recording of all inputs, or None.
        orientation: Correction of the pictures.
    """

    game: GameOverrides = field(default_factory=GameOverrides)
    tile_set: TileSet | None = None
    start: Start | None = None
    record: Path | None = None
    orientation: CameraTurn = field(default_factory=CameraTurn)


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay that is ready to run.

    Attributes:
        match: Start of the match, or None if no score is kept.
        steps: Iterator with a step for each item.
    """

    source: Source
    match: MatchStart | None
    steps: Iterator[ReplayStep]


@contextmanager
def opened_replay(
    path: Path,
    settings: ReplaySettings,
    complain: Callable[[str], object],
    *,
    perception: Perception | None = None,
    through: Through = lambda _, items: items,
) -> Iterator[Replay]:
    """Yield a replay that is ready to run. Unusable items are passed to *complain* while it runs.

    Raises:
        EngineError: If there is no such game.
        VisionError: If there is no picture, or the models cannot be loaded.
        OSError: If the source cannot be opened, or the new recording cannot be written.
    """
    source = source_at(path, settings.orientation)
    match = match_of(settings.game, source.start)
    tile_set, start = _set_of(settings, source), _start_of(settings, source)
    perception = perception or _shipped_perception(tile_set, match, start, source, complain)
    look, use = look_at_kind(perception, source.pictures), set_changer(perception, complain)
    needs_first = source.pictures is Pictures.SETTLED and start is Start.EMPTY
    with (
        recording(source, settings.record, tile_set, match) as tapped,
        _loaded(tapped.items, source, settings) as loaded,
    ):
        items = through(source, loaded)
        if match is None:
            yield Replay(
                source, None, follow_items(items, _table_only(look, use), path, complain, needs_first=needs_first)
            )
            return
        game, opening = _whole_game(look, use, match, source)
        steps = follow_items(items, game, path, complain, needs_first=needs_first)

        def record(step: ReplayStep) -> None:
            if step.effects is not None:
                tapped.note(step.effects)

        yield Replay(source, match, passing(chain((opening,), steps), record))


def passing(steps: Iterable[ReplayStep], take: Callable[[ReplayStep], None]) -> Iterator[ReplayStep]:
    """Yield the steps, and call *take* with each before it is yielded."""
    for step in steps:
        take(step)
        yield step


def _loaded(items: Iterator[Item], source: Source, settings: ReplaySettings) -> AbstractContextManager[Iterator[Item]]:
    """Return a context manager for the items, loaded ahead unless they are recorded."""
    # A new recording must contain no items that were not fed.
    return closing(ahead(items, source.pictures)) if settings.record is None else nullcontext(items)


def _set_of(settings: ReplaySettings, source: Source) -> TileSet:
    """Return the tile set in the settings, or else in the recording."""
    if settings.tile_set is not None:
        return settings.tile_set
    return TileSet.AUTO if source.start is None else TileSet.named(source.start.tile_set)


def _start_of(settings: ReplaySettings, source: Source) -> Start:
    """Return the state of the table at the start, from the settings, or else from the recording."""
    if settings.start is not None:
        return settings.start
    return Start.IN_PLAY if source.start is not None and source.start.in_play else Start.EMPTY


def _shipped_perception(
    tile_set: TileSet, match: MatchStart | None, start: Start, source: Source, complain: Callable[[str], object]
) -> Perception:
    from tallybone.recording.own_tiles import as_recorded
    from vision.reader.reader import load_reader

    # As at a live table, the default is the tile set of the game.
    of_game = None if match is None else match.rules.max_pips
    reader = load_reader(tile_set.max_pips or of_game)
    if source.start is not None and source.start.own_set is not None:
        reader = as_recorded(reader, source.start.own_set, complain)
    return Perception(reader, start) if source.left is None else perception_of(source.left, reader)


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """The effects of an item.

    Attributes:
        t_ns: Time of the item.
        since_ns: Time since the first item.
        frame: Name of the picture, or "" for another item.
        view: View of the table, if the item is a picture that can be read.
        effects: Effects on the game, or None.
    """

    t_ns: int
    since_ns: int
    frame: str
    view: TableView | None = None
    effects: Step | None = None


ItemFollower: TypeAlias = Callable[[Shot | RecordedInput], TableView | Step | None]
"""Function that loads an item and returns its effects, or None if it has none without a game."""


def look_at_kind(perception: Perception, pictures: Pictures) -> Look:
    """Return a function that reads every still picture, or moving pictures once they have settled."""
    match pictures:
        case Pictures.SETTLED:
            return lambda frame: perception.feed(frame.image)
        case Pictures.MOVING:
            return Watch(perception).feed


def _table_only(look: Look, use: UseSet) -> ItemFollower:
    """Return a follower that reads the table without keeping score."""

    def follow(item: Shot | RecordedInput) -> TableView | None:
        if isinstance(item, Shot):
            return look(item.frame)
        if isinstance(learned := item.load(), RecordedSet):
            use(learned)
        return None

    return follow


def _whole_game(look: Look, use: UseSet, match: MatchStart, source: Source) -> tuple[ItemFollower, ReplayStep]:
    """Return a follower of a new or resumed match, and the step before the first item."""
    left, zones = source.left, None if source.start is None else source.start.zones
    t_ns = 0 if left is None else left.t_ns
    if left is None:
        session, announcements = opened(match.rules, match.players, zones)
    else:
        session, announcements = session_of(left, match, t_ns=t_ns), ()
    sitting = Sitting(look, session, use)

    def feed(item: Shot | RecordedInput) -> Step:
        return sitting.feed(item.load() if isinstance(item, RecordedInput) else item.frame, item.t_ns)

    return feed, ReplayStep(t_ns, 0, "", None, Step(t_ns, session, announcements, tuple(session.state.log)))


def follow_items(
    items: Iterable[Item], follower: ItemFollower, path: Path, complain: Callable[[str], object], *, needs_first: bool
) -> Iterator[ReplayStep]:
    """Yield a step for each item. Items that cannot be used are passed to *complain*.

    Raises:
        RecordingError: If the new recording cannot be written.
    """
    first_ns: int | None = None
    is_first = needs_first
    whole: Iterator[Shot | RecordedInput] = whole_only(items, path, complain)
    for item in whole:
        first_ns = item.t_ns if first_ns is None else first_ns
        step = _step_of(item, first_ns, follower, complain)
        if step is None:
            continue
        yield step
        if is_first and isinstance(item, Shot):
            if step.view is None:
                complain(f"{item.where}: {_NO_EMPTY_TABLE}")
                return
            is_first = False


def _step_of(
    item: Shot | RecordedInput, first_ns: int, follower: ItemFollower, complain: Callable[[str], object]
) -> ReplayStep | None:
    """Return the step of an item, or None for an input without effects. A picture always has a step."""
    step = ReplayStep(item.t_ns, item.t_ns - first_ns, item.name if isinstance(item, Shot) else "")
    try:
        effects = follower(item)
    except RecordingError:
        raise
    except (VisionError, OSError, JsonValueError) as error:
        names_item = not isinstance(error, PictureSizeError | JsonValueError)
        complain(str(error) if names_item else f"{item.where}: {error}")
        return step if isinstance(item, Shot) else None
    if isinstance(effects, Step):
        return replace(step, view=effects.view, effects=effects)
    return None if effects is None else replace(step, view=effects)


def ahead(items: Iterator[Item], pictures: Pictures) -> Generator[Item, None, None]:
    """Yield the items in order, with pictures loaded ahead in a thread.

    If a picture cannot be loaded, its `load` raises the error. Close the generator to stop early.
    """
    waiting: deque[Future[tuple[Item | None, int]]] = deque()
    limit = 1
    pool = ThreadPoolExecutor(1, thread_name_prefix="pictures")
    try:
        while True:
            while len(waiting) < limit:
                waiting.append(pool.submit(_next_loaded, items, is_moving=pictures is Pictures.MOVING))
            item, size_bytes = waiting.popleft().result()
            if item is None:
                return
            if size_bytes:
                limit = max(1, min(_MAX_WAITING, _WAITING_BYTES // size_bytes))
            yield item
    finally:
        pool.shutdown(cancel_futures=True)


def _next_loaded(items: Iterator[Item], *, is_moving: bool) -> tuple[Item | None, int]:
    """Return the next item with its picture loaded, and the size of the picture. The item is None after the last."""
    item = next(items, None)
    if not isinstance(item, Shot):
        return item, 0
    try:
        image = item.load()
    except (VisionError, OSError) as error:
        return replace(item, load=_raising(error)), 0
    return replace(item, load=lambda: image, grey=small_grey(image) if is_moving else None), image.nbytes


def _raising(error: Exception) -> Callable[[], Image]:
    def load() -> Image:
        raise error

    return load
